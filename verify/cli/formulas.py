"""The commands about formulas: ``fedtheory bound``, ``compare``, ``lint`` and ``chain``."""

from __future__ import annotations

import json as json_text
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from verify.cli.shared import choose_claim

__all__ = ["add_commands"]

MOST_ROWS = 12  # of a table of values
_WITNESSES_OF = 10  # claims, of which `lint` shows numbers that meet the conditions
Given = Annotated[list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="Values, as with --set.")]
Set = Annotated[list[str] | None, typer.Option(
    "--set", metavar="NAME=VALUE", help="A value, a list [1, 2], or a range first:last[:count][:log]; may be given again.")]


def add_commands(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(bound)
    app.command()(compare)
    app.command()(lint)
    app.command()(chain)


def bound(
    claim: Annotated[str, typer.Argument(help="A claim's id, as `fedtheory claims` lists them, or its file.")],
    given: Given = None,
    settings: Set = None,
    side: Annotated[str, typer.Option(help="Which side of the statement: right or left.")] = "right",
    against: Annotated[str | None, typer.Option(help="The parameter on the horizontal axis of --plot.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the bound; writes SVG, PDF and PNG of that name.")] = None,
    target: Annotated[float | None, typer.Option(help="Say how many rounds bring the bound to this value.")] = None,
    best: Annotated[str | None, typer.Option(metavar="STEP", help="Find the value of STEP at which it is smallest.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Evaluate a claim's bound.

    Shows the formula with everything put in, its rate in each parameter, and its values where they are given. Without
    values it says which parameters it has.
    """
    from verify.cli.settings import parse_numbers
    from verify.formulas.bound import MOST_POINTS, bound_of, ranges_of
    from verify.formulas.rates import LENGTHS, rates
    from verify.formulas.reach import reach

    form = bound_of(choose_claim(claim), side)
    whole = {name for name, one in ranges_of(form).items() if one.whole}
    numbers = parse_numbers([*(settings or []), *(given or [])], whole, MOST_POINTS)
    to_find = {best} if target is None else {best, *LENGTHS}
    form.check(numbers, [name for name in form.missing(numbers) if name not in to_find] if numbers else ())
    said = {"claim": claim, "side": side, "formula": str(form.form.formula), "parameters": _parameters(form),
            "conditions": [f"{c.left} {c.relation} {c.right}" for c in form.conditions], "rates": rates(form)}
    if best is not None:
        said["best"] = _best(form, best, _one_value(numbers, best))
        numbers = {best: said["best"][best]} | numbers
    if target is not None:
        numbers_there = _one_value(numbers, *LENGTHS)
        said["target"] = {"bound at most": target} | _target(form, target, numbers_there)
        said["reached"] = reach(form, target, **numbers_there).text()
    if numbers and not (target is not None and form.missing(numbers)):
        said["values"] = form.table(numbers)
        said["not applicable"] = form.unmet(**form.complete(numbers))
        said["not checked"] = form.unchecked(**form.complete(numbers))
    if plot is not None:
        said["figures"] = _draw(form, numbers, against, plot)
    if json:
        print(json_text.dumps(said, indent=1))
    else:
        _show(form, said)
    return 0


def _one_value(numbers, *left_out: str) -> dict:
    """The numbers but those that are looked for; ValueError where one has several values."""
    from numpy import size

    found = {name: value for name, value in numbers.items() if name not in left_out}
    for name, value in found.items():
        if size(value) > 1:
            raise ValueError(f"--best and --target take one value of {name}; got {size(value)}")
    return found


def _best(form, step: str, numbers) -> dict:
    found = form.best(step, **numbers)
    return {step: found.value, "bound": found.bound, "at the border of its conditions": found.at_border,
            "falls on towards": found.towards}


def _target(form, target: float, numbers) -> dict:
    from verify.formulas.reach import reach

    found = reach(form, target, **numbers)
    return {"length": found.first, "to": found.last, "counts": found.counts, "known": found.known, "why": found.why,
            "looked at": found.looked_at}


def _parameters(form) -> dict[str, str]:
    return {name: form.meaning(name) for name in form.parameters}


def _draw(form, numbers, against, plot) -> list[str]:
    from verify.formulas.figures import bound_curve
    from verify.results.drawing import save

    return [str(path) for path in save(bound_curve(form, numbers, against), plot.with_suffix("")).values()]


def _show(form, said) -> None:
    from bounds.printing.render import letters_of, unicode
    from verify.cli import console
    from verify.results.numerals import significant

    print(f"{said['claim']}, {said['side']} side\n\n    {unicode(form.form.formula, letters_of(form.claim))}\n")
    rows = [(name, meaning, *said["rates"].get(name, {"oo": "", "0": ""}).values())
            for name, meaning in said["parameters"].items()]
    console.out().print(console.names_table(("parameter", "meaning", "rate as it grows", "as it vanishes"), rows))
    for condition in said["conditions"]:
        print("needs", condition)
    for problem in said.get("not applicable", []):
        print("not applicable:", problem)
    for open_condition in said.get("not checked", []):
        print("not checked:", open_condition)
    if "best" in said:
        step, value = next(iter(said["best"].items()))
        border = ", at the border of its conditions" if said["best"]["at the border of its conditions"] else ""
        end = said["best"]["falls on towards"]
        edge = f", the last value looked at: it may fall on towards {end}" if end else ""
        print(f"smallest at {step} = {significant(value)}: {significant(said['best']['bound'])}{border}{edge}")
    if "reached" in said:
        print(said["reached"])
    if "values" in said:
        table = said["values"]
        rows = [tuple(map(significant, row)) for row in zip(*table.values(), strict=True)]
        console.out().print(console.names_table(tuple(table), rows[:MOST_ROWS]))
        if len(rows) > MOST_ROWS:
            print(f"... {len(rows)} values in all; --json prints them")
    for path in said.get("figures", []):
        print("figure:", path)


def compare(
    claims: Annotated[list[str], typer.Argument(metavar="CLAIM CLAIM... [NAME=VALUE]...", help="Claims, fixed values.")],
    settings: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Fix a parameter.")] = None,
    against: Annotated[str | None, typer.Option(help="The parameter on the horizontal axis of --plot.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw the bounds; writes SVG, PDF and PNG of that name.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Compare bounds: where in parameter space is one below another?

    Always, never, or in some places, with a witness on each side, between which values of each parameter that is so, and
    with --plot a map of both regions. Parameters of the same name are the same in both. A claim that is itself a comparison
    stands for its two sides.
    """
    from dataclasses import asdict
    from itertools import combinations

    from verify.cli.settings import exact_numbers
    from verify.formulas.bound import bound_of
    from verify.formulas.dominance import where_below
    from verify.formulas.regions import region_text

    ids = [text for text in claims if "=" not in text]
    fixed = exact_numbers([*(settings or []), *(text for text in claims if "=" in text)])
    bounds = [bound_of(claim, side) for claim in map(choose_claim, ids)
              for side in (("left", "right") if claim.compares else ("right",))]
    if len(bounds) < 2:
        raise ValueError(f"compare needs at least two claims; got {len(ids)}, and no comparison")
    found = [where_below(a, b, fixed, seed) for a, b in combinations(bounds, 2)]
    if json:
        print(json_text.dumps([asdict(one) for one in found], indent=1))
    for one in found if not json else []:
        print(one.text())
        for word, witness in (("below", one.below), ("above", one.above)):
            if witness:
                values = ", ".join(f"{name} = {value}" for name, value in witness["parameters"].items())
                sides = _told_apart(witness["first"], witness["second"])
                print(f"  {word} at {values}: {sides[0]} against {sides[1]}")
        if one.answer == "depends":
            print(f"  {region_text(one.region)}")
    if plot is not None:
        from verify.results.drawing import save

        paths = save(_compared(bounds, found[0], fixed, against), plot.with_suffix(""))
        print("figure:", ", ".join(map(str, paths.values())))
    return 0


def _compared(bounds, first, fixed, against):
    """The map of where each of two bounds is the smaller one, if that depends; else the bounds' curves."""
    from verify.formulas.dominance import space_of
    from verify.formulas.figures import bounds_around, region_map
    from verify.formulas.regions import map_of

    if first.answer == "depends" and len(bounds) == 2 and against in (None, *first.below["parameters"]):
        there = map_of(space_of(*bounds, fixed), first.below["parameters"], first.above["parameters"], against)
        if there is not None:
            return region_map(first, there)
    return bounds_around(bounds, first, against)


def _told_apart(first, second) -> list[str]:
    """Two exact numbers with as many digits as tell them apart, up to ten."""
    from verify.results.numerals import approximately, significant

    short = [approximately(str(number)) for number in (first, second)]
    if short[0] != short[1]:
        return short
    return [significant(float(Fraction(str(number))), 10) for number in (first, second)]


def lint(
    claims: Annotated[list[str] | None, typer.Argument(metavar="[CLAIM|FILE]...", help="Claims, files of claims.")] = None,
    paper: Annotated[list[str] | None, typer.Option("--paper", help="Only this paper's claims; may be given again.")] = None,
    all: Annotated[bool, typer.Option("--all", help="Every claim.")] = False,
    severity: Annotated[str, typer.Option(help="Show findings at least this severe: error, warning or note.")] = "note",
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Examine claims without running anything.

    Units, symbols, whether the conditions can hold together (with numbers that meet them), limits and the claims of special
    cases, monotonicity, and readings that disagree.

    Exit status: 0 no error was found; 1 one was; 2 bad input.
    """
    from dataclasses import asdict

    from synthetic.base.checks import one_of
    from verify.cli import console
    from verify.cli import shared as command_line
    from verify.lint.findings import SEVERITIES
    from verify.lint.lint import lint_all

    one_of("severity", severity, SEVERITIES)
    if not (claims or paper or all):
        raise ValueError("lint needs claims, files of claims, --paper or --all; got nothing")
    chosen = command_line.choose_claims(claims or [], paper)
    shown = SEVERITIES[: SEVERITIES.index(severity) + 1]
    found = [finding for finding in lint_all(chosen) if finding.severity in shown]
    if json:
        print(json_text.dumps([asdict(finding) for finding in found], indent=1))
    else:
        told = [f for f in found if len(chosen) <= _WITNESSES_OF or "witness" not in f.data]
        rows = [(f.claim, f.severity, f.check, f.text) for f in told]
        console.out().print(console.names_table(("claim", "severity", "check", "finding"), rows))
        counts = ", ".join(f"{sum(f.severity == s for f in found)} {s}s" for s in shown)
        print(f"{len(chosen)} claims: {counts}")
        if len(told) < len(found):
            print(f"{len(found) - len(told)} notes with numbers that meet the conditions are not shown; --json has them")
    return 1 if any(f.severity == "error" for f in found) else 0


def chain(
    claim: Annotated[str, typer.Argument(help="A claim's id, as `fedtheory claims` lists them, or its file.")],
    deep: Annotated[bool, typer.Option("--deep", help="Also each claim below it from its own steps.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Check whether a claim follows from the steps of its proof, by arithmetic on the printed formulas.

    Measured quantities are free numbers; where it does not follow, numbers show it.

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
