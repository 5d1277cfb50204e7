"""The command that asks what would be true: ``fedtheory repair``."""

from pathlib import Path
from typing import Annotated

import typer

from verify.cli.shared import choose_claim
from verify.cli.verify import Budget

__all__ = ["repair"]


def repair(
    claim: Annotated[str, typer.Argument(help="A claim's id, as `fedtheory claims` lists them, or its file.")],
    budget: Annotated[Budget, typer.Option(help="Effort of the referee on each statement that survives a quick search.")] = (
        Budget.standard),
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    most: Annotated[int, typer.Option(help="Statements to find.")] = 5,
    out: Annotated[Path | None, typer.Option(help="A claim file for the statements found.")] = None,
) -> int:
    """Find the nearest statements that survive where a claim is refuted.

    Each changes one place: a coefficient, an exponent, an index, a range or a quantity; or has one more condition or factor,
    or one or two more terms, or excludes an ingredient of the counterexample. It is searched for violations, then refereed.
    The smallest change comes first. Below each stand the claims that rest on the refuted one: whether they follow from it as
    repaired, and the quick verdict on those that do not.

    Exit status: 0 statements were found; 1 none was; 2 bad input.
    """
    chosen = choose_claim(claim)
    if most < 1:
        raise ValueError(f"--most must be at least 1; got {most}")

    from bounds.language.claim import Condition
    from bounds.printing.claim_file import NotInFiles, as_toml
    from bounds.printing.render import condition_text, letters_of
    from verify.api.repair import repair as nearest
    from verify.cli import console
    from verify.report.sentences import clauses

    with console.working("searching for violations") as now:
        found = nearest(chosen, budget.value, seed, most, watch=now)
    for number, one in enumerate(found, start=1):
        print(f"{number}. {one.change}: {one.verdict.verdict}")
        print("  ", condition_text(one.claim.statement, letters_of(chosen)))
        for name, definition in one.claim.used_definitions().items():
            if chosen.definitions.get(name) != definition:
                left = definition.symbol[definition.indices] if definition.indices else definition.symbol
                print("  ", condition_text(Condition(left, "==", definition.formula), letters_of(chosen)))
        print("  ", clauses(one.verdict.evidence, chosen))
        for conclusion in one.conclusions:
            print("  ", conclusion.words)
    if not found:
        print(f"no change of one place of {chosen.id} survives the search")
    if out is not None and found:
        texts = []
        for one in found:
            try:
                texts.append(f"# {one.change}\n{as_toml(one.claim)}")
            except NotInFiles as reason:
                console.note(f"{one.claim.id} is not written: {reason}")
        out.write_text("\n".join(texts), encoding="utf-8")
        print("wrote", out)
    return 0 if found else 1
