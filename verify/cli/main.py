"""The command ``fedtheory``: list, show, verify, run, check, report."""

import io
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from verify.cli import (
    demos,
    exports,
    formulas,
    methods,
    proofs,
    repair,
    runs,
    shared,
    stability,
    statements,
    sweeps,
    verify,
    worst,
)
from verify.cli.verify import Papers, Statement

__all__ = ["app", "main"]

app = typer.Typer(
    help="A referee for federated-learning theory: runs the algorithm, evaluates the bound, answers with evidence.",
    add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich",
)

for command in (verify.verify, verify.explain, verify.replay, verify.report,
                formulas.bound, formulas.compare, formulas.lint, proofs.chain, proofs.looseness, worst.worst, repair.repair,
                exports.export, stability.stability, methods.conform, runs.run, sweeps.sweep, demos.demo):
    app.command()(command)


#: the commands by purpose, in the order of use
GROUPS = {
    "Check a theorem": ("new-claim", "lint", "verify", "explain", "repair", "worst", "chain"),
    "Read a paper": ("claims", "show", "bound", "compare", "looseness", "report"),
    "Run methods": ("algorithms", "problems", "run", "sweep", "stability", "conform"),
    "Check the evidence": ("check", "replay", "export"),
    "Write a paper, teach": ("new-paper", "schema", "demo"),
}


class Notation(StrEnum):
    paper, code = "paper", "code"


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> int:
    if version:
        print("fedtheory", shared.versions()["fedtheory"])
    elif context.invoked_subcommand is None:
        print(context.get_help())
    return 0


@app.command()
def algorithms() -> int:
    """List the algorithms that `fedtheory run` knows."""
    from fedtheory.registry import ALGORITHMS
    from verify.cli import console

    rows = [(name, method.description, method.source) for name, method in ALGORITHMS.items()]
    console.out().print(console.names_table(("algorithm", "what it does", "source"), rows))
    return 0


@app.command()
def problems() -> int:
    """List the problems that `fedtheory run` knows."""
    from synthetic.registry import problem_names
    from verify.cli import console

    console.out().print(console.names_table(("problem", "what it is"), problem_names().items()))
    return 0


@app.command()
def claims(
    paper: Papers = None,
    kind: Annotated[str | None, typer.Option(help="Only claims of this kind, for example theorem.")] = None,
    algorithm: Annotated[str | None, typer.Option(help="Only claims about runs of this algorithm.")] = None,
    reading: Annotated[str | None, typer.Option(
        help="Only claims in this reading, as ids name it after @; 'default' for those without a name.")] = None,
    explicit: Annotated[bool | None, typer.Option(
        "--explicit/--order", help="Only claims with explicit constants, or only orders with hidden ones.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False,
) -> int:
    """List the claims.

    Each has an id, its number in the paper, its kind, and the reading of the print that it encodes.
    """
    from verify.cli import console

    chosen = shared.filter_claims(
        shared.choose_claims([], paper), kind, algorithm, explicit is True, reading, explicit is False)
    if json:
        print(shared.claims_as_json(chosen))
    else:
        rows = [(c.id, c.number, c.kind, c.procedure.base if c.procedure else "", "explicit" if c.explicit else "O(.)",
                 c.reading) for c in chosen]
        console.out().print(console.names_table(("claim", "number", "kind", "algorithm", "constants", "reading"), rows))
    return 0


@app.command()
def show(
    claim: Annotated[str, typer.Argument(help="A claim's id, as `fedtheory claims` lists them, or its file.")],
    letters: Annotated[Notation, typer.Option(help="The paper's letters, or the names of the code.")] = Notation.paper,
    statement: Annotated[bool, typer.Option("--statement", help="As JSON, for the stand-alone checker.")] = False,
    toml: Annotated[bool, typer.Option("--toml", help="As a claim of a file, to change and to verify.")] = False,
    source: Annotated[bool, typer.Option("--source", help="The lines of its claim file.")] = False,
) -> int:
    """Show a claim in full.

    Statement, hypotheses, definitions, reading and source, in readable mathematics.
    """
    chosen = shared.choose_claim(claim)
    if source:
        from bounds.registry.papers import source_of

        found = source_of(chosen)
        if found is None:
            raise ValueError(f"{chosen.id} stands in no .toml file; --toml writes it as one")
        print(f"# {found.path}, lines {found.first} to {found.last}\n{found.text}", end="")
        return 0
    if toml:
        from bounds.printing.claim_file import as_toml

        print(as_toml(chosen), end="")
        return 0
    if statement:
        print(statements.statement_text(chosen))
        return 0

    from bounds.printing.render import show as text_of
    from fedtheory.registry import find_algorithm

    method = find_algorithm(chosen.procedure.base) if chosen.procedure else None
    print(text_of(chosen, letters.value, method), end="")
    return 0


@app.command()
def new_claim(file: Annotated[Path, typer.Argument(help="A file to write, ending in .toml.")]) -> int:
    """Write a commented file of claims to start from; docs/claims.md has the language."""
    from bounds.registry.template import TEMPLATE

    if file.suffix != ".toml":
        raise ValueError(f"a file of claims that is written ends in .toml; got {file.name!r}")
    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(TEMPLATE)
    except FileExistsError:
        raise ValueError(f"{file} exists already; give a new name") from None
    print(f"wrote {file}; fedtheory verify {file} decides its claims")
    return 0


@app.command()
def schema() -> int:
    """Print the JSON Schema of claim files, by which editors complete fields and underline mistakes."""
    import json

    from bounds.registry import schema as claim_files

    print(json.dumps(claim_files.schema(), indent=2))
    return 0


@app.command()
def new_paper(folder: Annotated[Path, typer.Argument(help="A folder to make; its name is the paper's.")]) -> int:
    """Write the claim files of a paper to start from: letters, assumptions, a theorem with two readings."""
    from bounds.registry.papers import PAPERS
    from bounds.registry.template import PAPER

    name = folder.resolve().name
    if not name.isidentifier() or name in PAPERS:
        raise ValueError(f"a paper's name has letters, digits and _, and is none of {', '.join(PAPERS)}; got {name!r}")
    try:
        folder.mkdir()
    except FileExistsError:
        raise ValueError(f"{folder} exists already; give a new name") from None
    for file, text in PAPER.items():
        (folder / file).write_text(text, encoding="utf-8")
    print(f"wrote {' and '.join(str(folder / file) for file in PAPER)}; fedtheory verify {folder} decides its claims")
    return 0


@app.command()
def check(
    certificate: Annotated[Path, typer.Argument(help="A certificate, as reports contain them.")],
    statement: Statement = None,
) -> int:
    """Check a counterexample, a proof, or a proof that a claim is ill-posed.

    The certificate must state what the claim of its id states, or what --statement says. A checker that shares no code with
    the search then replays it in exact numbers.

    Exit status: 0 accepted: the claim is refuted, or proven at the numbers of the proof; 1 rejected; 2 not a readable
    certificate or statement, or a certificate about a claim that is not given.
    """
    from verify.api.check import check as check_certificate

    result = check_certificate(certificate, statement)
    print("accepted" if result.accepted else "rejected", "-", result.reason)
    if result.left and result.right:
        from verify.results.numerals import approximately

        for side, value in (("left ", result.left), ("right", result.right)):
            print(f"{side} = {value}  (about {approximately(value)})")
    return 0 if result.accepted else 1


def _group_commands() -> None:
    """Put the commands into their groups; a command without a group raises ValueError."""
    commands = {(info.name or info.callback.__name__).replace("_", "-"): info for info in app.registered_commands}
    for group, names in GROUPS.items():
        for name in names:
            commands[name].rich_help_panel = group
    app.registered_commands.sort(key=[commands[name] for names in GROUPS.values() for name in names].index)


_group_commands()


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Bad input is one line on standard error, of several wrong claims in a file one for each, and status 2; with
    FEDTHEORY_TRACEBACK set it raises instead. What it prints is UTF-8, as the files that it writes.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():  # a pipe has the code page of Windows
            stream.reconfigure(encoding="utf-8")
    try:
        return int(app(args=argv, prog_name="fedtheory", standalone_mode=False) or 0)
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stdout = None  # whoever read our output went away: nothing is left to say
        return 141
    except Exception as problem:
        message = shared.explain(problem)
        if message is None or os.environ.get("FEDTHEORY_TRACEBACK"):
            raise
        from verify.cli import console

        for slip in getattr(problem, "slips", (message,)):
            console.error(slip)
        return 2


if __name__ == "__main__":  # else `python -m verify.cli.main check FILE` would end with status 0, whatever the file is
    sys.exit(main())
