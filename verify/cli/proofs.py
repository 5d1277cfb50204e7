"""The commands about the steps of proofs: ``fedtheory chain`` and ``looseness``."""

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from verify.cli.files import FIGURE, check_figure
from verify.cli.shared import choose_claim

__all__ = ["chain", "looseness"]


def chain(
    claim: Annotated[str, typer.Argument(help="A claim's id, as `fedtheory claims` lists them, or its file.")],
    deep: Annotated[bool, typer.Option("--deep", help="Also check each step from its own steps, and so on.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Check whether a claim follows from the steps of its proof, by arithmetic on the printed formulas.

    Measured quantities are free numbers, and recursions are unrolled. If a claim does not follow, exact numbers at small
    sizes show it: every step holds at every index, and the claim fails. A link that is neither proven nor broken in this way
    is not checkable, with the reason. No verdict rests on these answers: they help to find the step that is wrong.

    Exit status: 0 every link follows; 1 one does not follow; 2 bad input; 3 none is broken, and one is not checkable.
    """
    top = choose_claim(claim)
    if not top.steps:
        raise ValueError(f"{top.id} lists no steps: its paper derives it from no other claim")

    from dataclasses import asdict

    from verify.proofs.follows import chain as links_of
    from verify.proofs.follows import link, premises_of

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
    answers = {one.answer for one in links}
    return 1 if "does not follow" in answers else 3 if "not checkable" in answers else 0


def looseness(
    theorem: Annotated[str, typer.Argument(help="A claim that lists the steps of its proof.")],
    budget: Annotated[str, typer.Option(help="Effort of the search: quick, standard or thorough.")] = "quick",
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    out: Annotated[Path | None, typer.Option(help=FIGURE)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Measure the factor that each step of a theorem's proof loses.

    On the theorem's tightest instance and on a typical one; and, where a step has an exact worst case over a class of
    functions, the least factor over the class, at the sizes and numbers that `fedtheory worst STEP` names.
    """
    chosen = choose_claim(theorem)

    from dataclasses import asdict

    from verify.cli import console
    from verify.proofs.looseness import waterfall
    from verify.results.drawing import save_as

    check_figure("--out", out)
    found = waterfall(chosen, budget, seed)
    if json:
        print(json_text.dumps({"theorem": asdict(found.theorem), "steps": [asdict(step) for step in found.steps]}, indent=1))
    else:
        rows = [(link.id, link.number, *("" if f is None else f"{f:.4g}" for f in (link.worst, link.typical, link.least)),
                 link.reason)
                for link in (*found.steps, found.theorem)]
        head = ("step", "number", "right/left, tightest", "typical", "least of the class", "not measured because")
        console.out().print(console.names_table(head, rows))
    if out is not None:
        from verify.proofs.looseness_figure import waterfall_figure

        console.out().print("figure:", ", ".join(map(str, save_as(waterfall_figure(found), out).values())))
    return 0
