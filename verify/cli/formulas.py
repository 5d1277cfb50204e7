"""The commands about formulas: ``fedtheory bound``, ``compare`` and ``lint``."""

import json as json_text
import sys
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from verify.cli.files import FIGURE, check_figure
from verify.cli.shared import choose_claim, choose_claims
from verify.cli.verify import Device, Dtype

__all__ = ["bound", "compare", "lint"]

MOST_ROWS = 12  # of a table of values
_SHOW_WITNESSES = 10  # claims, up to which `lint` shows numbers at which the conditions hold
Given = Annotated[list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="Values, as with --set.")]
Set = Annotated[list[str] | None, typer.Option(
    "--set", metavar="NAME=VALUE", help="A value, a list [1, 2], or a range first:last[:count][:log]; may be given again.")]


def bound(
    claim: Annotated[str, typer.Argument(help="A claim's id, as `fedtheory claims` lists them, or its file.")],
    given: Given = None,
    settings: Set = None,
    side: Annotated[str, typer.Option(help="Which side of the statement: right or left.")] = "right",
    against: Annotated[str | None, typer.Option(help="The parameter on the horizontal axis of --plot.")] = None,
    plot: Annotated[Path | None, typer.Option(help=f"Of the bound. {FIGURE}")] = None,
    target: Annotated[float | None, typer.Option(help="Find how many rounds bring the bound to this value.")] = None,
    best: Annotated[str | None, typer.Option(metavar="STEP", help="Find the value of STEP at which it is smallest.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Evaluate a claim's bound.

    Shows the formula in its parameters, its rate in each of them, and its values at the numbers given. Without numbers it
    lists the parameters. --best and --target take one value of every other parameter.
    """
    check_figure("--plot", plot)
    chosen = choose_claim(claim)

    from dataclasses import asdict

    from verify.cli.settings import parse_numbers
    from verify.formulas.best_step import best_step
    from verify.formulas.bound import MOST_POINTS, bound_of, ranges_of
    from verify.formulas.rates import LENGTHS, rates
    from verify.formulas.reach import reach

    form = bound_of(chosen, side)
    whole = {name for name, one in ranges_of(form).items() if one.whole}
    numbers = parse_numbers([*(settings or []), *(given or [])], whole, MOST_POINTS)
    to_find = {best} if target is None else {best, *LENGTHS}
    form.check(numbers, [name for name in form.missing(numbers) if name not in to_find] if numbers else ())
    said = {"claim": claim, "side": side, "formula": str(form.form.formula),
            "parameters": {name: form.meaning(name) for name in form.parameters},
            "conditions": [f"{c.left} {c.relation} {c.right}" for c in form.conditions], "rates": rates(form)}
    smallest = reached = None
    if best is not None:
        smallest = best_step(form, best, **_single_values(numbers, best))
        said["best"] = {best: smallest.value, "bound": smallest.bound, "at the border of its conditions": smallest.at_border,
                        "falls on towards": smallest.towards}
        numbers = {best: smallest.value} | numbers
    if target is not None:
        reached = reach(form, target, **_single_values(numbers, *LENGTHS))
        names = {"target": "bound at most", "first": "length", "last": "to", "looked_at": "looked at"}
        said["target"] = {names.get(key, key): value for key, value in asdict(reached).items()}
    if numbers and (target is None or not form.missing(numbers)):
        said["values"] = form.table(numbers)
        said["not applicable"] = form.unmet(**form.complete(numbers))
        said["not checked"] = form.unchecked(**form.complete(numbers))
    if plot is not None:
        from verify.formulas.figures import bound_curve
        from verify.results.drawing import save_as

        said["figures"] = [str(path) for path in save_as(bound_curve(form, numbers, against), plot).values()]
    if json:
        print(json_text.dumps(said, indent=1))
    else:
        _show(form, said, best, smallest, reached)
    return 0


def _single_values(numbers, *left_out: str) -> dict:
    """Return the numbers without those that are searched; ValueError if one has several values."""
    from numpy import size

    found = {name: value for name, value in numbers.items() if name not in left_out}
    for name, value in found.items():
        if size(value) > 1:
            raise ValueError(f"--best and --target allow one value of {name}; got {size(value)}")
    return found


def _show(form, said, best, smallest, reached) -> None:
    from bounds.printing.render import letters_of, unicode
    from verify.cli import console
    from verify.results.numerals import significant

    print(f"{said['claim']}, {said['side']} side\n\n    {unicode(form.form.formula, letters_of(form.claim))}\n")
    rows = [(name, meaning, *said["rates"].get(name, {"oo": "", "0": ""}).values())
            for name, meaning in said["parameters"].items()]
    console.out().print(console.names_table(("parameter", "meaning", "rate as it grows", "as it vanishes"), rows))
    for words, listed in (("needs", "conditions"), ("not applicable:", "not applicable"), ("not checked:", "not checked")):
        for text in said.get(listed, []):
            print(words, text)
    if smallest:
        border = ", at the border of its conditions" if smallest.at_border else ""
        edge = f", the last value tried: it may fall on towards {smallest.towards}" if smallest.towards else ""
        print(f"smallest at {best} = {significant(smallest.value)}: {significant(smallest.bound)}{border}{edge}")
    if reached:
        print(reached.text())
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
    plot: Annotated[Path | None, typer.Option(help=f"Of the bounds. {FIGURE}")] = None,
    run: Annotated[Path | None, typer.Option(help="A file of `fedtheory run`, along whose runs to compare.")] = None,
    algorithm: Annotated[str | None, typer.Option(metavar="FILE.py:NAME", help="The method of --run, if yours.")] = None,
    worst: Annotated[bool, typer.Option("--worst", help="With --run: draw the exact worst case too.")] = False,
    device: Annotated[Device | None, typer.Option(help="Of --run, made again; by default that of the file.")] = None,
    dtype: Annotated[Dtype | None, typer.Option(help="Of --run, made again; runs in float32 decide nothing.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the search.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Compare a claim's bound with other bounds, or with runs.

    With other claims: whether one bound is below the other for all parameters (always, never, or depends, with a witness on
    each side). Parameters of the same name are the same in both. A claim that is itself a comparison stands for its two
    sides. With --run FILE: both sides of one claim along the runs of a file; values are those of its free numbers.
    """
    check_figure("--plot", plot)
    chosen = [choose_claim(text) for text in claims if "=" not in text]
    if run is not None:
        given = [*(settings or []), *(text for text in claims if "=" in text)]
        return _compare_with_runs(chosen, given, run, algorithm, plot, json, worst, device, dtype)
    for option, value in (("--device", device), ("--dtype", dtype)):
        if value is not None:
            raise ValueError(f"{option} is that of runs; it needs --run FILE")

    from dataclasses import asdict
    from itertools import combinations

    from verify.cli.settings import exact_numbers
    from verify.formulas.bound import bound_of
    from verify.formulas.dominance import where_below

    fixed = exact_numbers([*(settings or []), *(text for text in claims if "=" in text)])
    bounds = [bound_of(claim, side) for claim in chosen
              for side in (("left", "right") if claim.compares else ("right",))]
    if len(bounds) < 2:
        raise ValueError(f"compare needs at least two claims; got {len(chosen)}, and no comparison")
    found = [where_below(a, b, fixed, seed) for a, b in combinations(bounds, 2)]
    if json:
        print(json_text.dumps([asdict(one) for one in found], indent=1))
    for one in found if not json else []:
        print(one.text())
        for word, witness in (("below", one.below), ("above", one.above)):
            if witness:
                values = ", ".join(f"{name} = {value}" for name, value in witness["parameters"].items())
                sides = _distinct_digits(witness["first"], witness["second"])
                print(f"  {word} at {values}: {sides[0]} against {sides[1]}")
    if plot is not None:
        from verify.formulas.figures import bounds_around
        from verify.results.drawing import save_as

        paths = save_as(bounds_around(bounds, found[0], against), plot)
        print("figure:", ", ".join(map(str, paths.values())))
    return 0


def _compare_with_runs(
    claims: list, given: list[str], run: Path, algorithm: str | None, plot: Path | None, json: bool, worst: bool,
    device: Device | None, dtype: Dtype | None,
) -> int:
    """Print how a claim compares with the runs of a file, and draw it; status 1 if they refute it."""
    from dataclasses import asdict

    from verify.cli.runs import rerun
    from verify.cli.settings import exact_numbers
    from verify.evidence.beside_runs import compare

    if len(claims) != 1:
        raise ValueError(f"--run compares one claim; got {len(claims)}")
    values = {name: float(value) for name, value in exact_numbers(given).items()}
    where = (None if each is None else each.value for each in (device, dtype))
    found = compare(claims[0], rerun(run, algorithm, *where), values=values, worst=worst)
    if json:
        print(json_text.dumps(asdict(found), indent=1, default=float))
    else:
        print(f"{found.claim}: {found.verdict}; {found.reason}")
    if plot is not None:
        paths = found.plot(plot)
        print("figure:", ", ".join(map(str, paths.values())), file=sys.stderr if json else sys.stdout)
    return int(found.verdict == "refuted")


def _distinct_digits(first, second) -> list[str]:
    """Write two exact numbers with enough digits to tell them apart, up to ten."""
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
    """Check claims without running anything.

    Units, symbols, and whether the hypotheses can hold together, with numbers at which the conditions hold.

    Exit status: 0 no error was found; 1 one was; 2 bad input.
    """
    if not (claims or paper or all):
        raise ValueError("lint needs claims, files of claims, --paper or --all; got nothing")
    chosen = choose_claims(claims or [], paper)

    from dataclasses import asdict

    from synthetic.base.checks import one_of
    from verify.cli import console
    from verify.lint.lint import SEVERITIES, lint_all
    from verify.results.numerals import counted

    one_of("severity", severity, SEVERITIES)
    shown = SEVERITIES[: SEVERITIES.index(severity) + 1]
    found = [finding for finding in lint_all(chosen) if finding.severity in shown]
    if json:
        print(json_text.dumps([asdict(finding) for finding in found], indent=1))
    else:
        listed = [f for f in found if len(chosen) <= _SHOW_WITNESSES or "witness" not in f.data]
        rows = [(f.claim, f.severity, f.check, f.text) for f in listed]
        if rows:
            console.out().print(console.names_table(("claim", "severity", "check", "finding"), rows))
        counts = ", ".join(counted(sum(f.severity == s for f in found), s) for s in shown)
        print(f"{counted(len(chosen), 'claim')}: {counts if found else 'nothing was found'}")
        if more := len(found) - len(listed):
            print(f"{counted(more, 'note')} with numbers that meet the conditions {'is' if more == 1 else 'are'} left out; "
                  "--json has all findings")
    return 1 if any(f.severity == "error" for f in found) else 0
