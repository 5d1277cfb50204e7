"""The commands about a paper's own proofs: ``fedtheory chain`` and ``looseness``."""

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from verify.cli.shared import choose_claim

__all__ = ["add_commands"]


def add_commands(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(chain)
    app.command()(looseness)
    app.command()(worst)


def chain(
    claim: Annotated[str, typer.Argument(help="A claim's id, as `fedtheory claims` lists them, or its file.")],
    deep: Annotated[bool, typer.Option("--deep", help="Also check each step from its own steps, and so on.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Check whether a claim follows from the steps of its proof, by arithmetic on the printed formulas.

    Measured quantities are free numbers. If a claim does not follow, numbers show it.

    Exit status: 0 every link follows or cannot be checked; 1 one does not follow; 2 bad input.
    """
    from dataclasses import asdict

    from verify.proofs.follows import chain as links_of
    from verify.proofs.follows import link, premises_of

    top = choose_claim(claim)
    if not top.steps:
        raise ValueError(f"{top.id} lists no steps: its paper derives it from no other claim")
    links = list(links_of(top)) if deep else [link(top, premises_of(top))]
    if json:
        print(json_text.dumps([asdict(one) for one in links], indent=1))
    for one in links if not json else []:
        print(f"{one.conclusion}: {one.answer}: {one.text}")
        print("  from", ", ".join(one.premises))
        for need in one.needs:
            print("  needs", need)
        if one.numbers:
            print("  at", ", ".join(f"{name} = {value}" for name, value in one.numbers.items()))
        for name, meaning in one.quantities.items():
            print(f"  {name} is {meaning}")
    return 1 if any(one.answer == "does not follow" for one in links) else 0


def looseness(
    theorem: Annotated[str, typer.Argument(help="A claim that lists the steps of its proof.")],
    budget: Annotated[str, typer.Option(help="Effort of the search: quick, standard or thorough.")] = "quick",
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    out: Annotated[Path | None, typer.Option(help="A figure: .png, .svg or .pdf.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Measure the factor that each step of a theorem's proof loses, on its tightest and on a typical instance."""
    from dataclasses import asdict

    from verify.cli import console
    from verify.proofs.looseness import waterfall
    from verify.results.drawing import FORMATS, save

    if out is not None and out.suffix.lstrip(".") not in FORMATS:
        raise ValueError(f"--out must end in {', '.join('.' + f for f in FORMATS)}; got {out}")
    found = waterfall(choose_claim(theorem), budget, seed)
    if json:
        print(json_text.dumps({"theorem": asdict(found.theorem), "steps": [asdict(step) for step in found.steps]}, indent=1))
    else:
        rows = [(link.id, link.number, *("" if f is None else f"{f:.4g}" for f in (link.worst, link.typical)), link.reason)
                for link in (*found.steps, found.theorem)]
        head = ("step", "number", "right/left, tightest", "typical", "not measured because")
        console.out().print(console.names_table(head, rows))
    if out is not None:
        from verify.proofs.looseness_figure import waterfall_figure

        save(waterfall_figure(found), out.with_suffix(""), [out.suffix.lstrip(".")])
        console.out().print(f"wrote {out}")
    return 0


def worst(
    claim: Annotated[str, typer.Argument(help="A claim about runs: its id, or its file.")],
    given: Annotated[list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="Sizes and numbers.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="File for the proof.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Find the worst case of a claim over every function of its class.

    Sizes and numbers are given, or defaults that the output names. A proof in rational numbers is written to --out;
    `fedtheory check` checks it.

    Exit status: 0 proven at these sizes and numbers; 1 not; 2 bad input, or a claim that is not of this kind.
    """
    from verify.cli import console
    from verify.cli.settings import exact_numbers
    from verify.results.files import write_json
    from verify.worst.worst_case import worst_case

    found = worst_case(choose_claim(claim), exact_numbers(given or []))
    if found.certificate and out:
        write_json(out, found.certificate)
    said = {"claim": found.claim, "scope": found.scope, "without a value": found.setting.unknown, "letters": found.letters,
            "factors": found.factors, "proven": found.certificate is not None, "reason": found.reason}
    if json:
        print(json_text.dumps(said, indent=1))
    else:
        rows = [(str(number), "-" if factor is None else f"{factor:.6f}") for number, factor in enumerate(found.factors)]
        console.out().print(console.names_table(("pair of sides", "least factor of the larger side"), rows))
        print("proven" if found.certificate else f"not proven: {found.reason}", "for", found.scope)
    return 0 if found.certificate else 1
