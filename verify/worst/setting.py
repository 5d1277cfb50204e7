"""The sizes and numbers at which a statement is looked at on letters."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import sympy as sp

from bounds.language.claim import Claim
from verify.checker.form import SIZES
from verify.claims.needs import speaks_of_samples
from verify.exact.statement import definition_of, free_names

__all__ = ["Place", "Setting", "setting_of"]


class Place(NamedTuple):
    """Where to look.

    ``near``: how near numbers lie to the ends of their intervals, in turn, 1 at an end. ``step``: a step size that nothing
    bounds, in units of 1/L. ``numbers``: of free names that nothing bounds, in turn; without any these have no value.
    ``weights``: of clients, in turn, up to a factor, where these may differ.
    """

    clients: int = 2
    rounds: int = 2
    local_steps: int = 2
    L: Fraction = Fraction(1)
    mu: Fraction = Fraction(1, 10)
    near: tuple[Fraction, ...] = (Fraction(1),)
    step: Fraction = Fraction(1, 2)
    numbers: tuple[Fraction, ...] = ()
    weights: tuple[int, ...] = (1,)


class Setting(NamedTuple):
    """What a certificate says of an instance: sizes, values of free names, free names without a value, clients' weights."""

    sizes: dict[str, int]
    values: dict[str, Any]
    unknown: list[str]
    weights: list[str]


def setting_of(claim: Claim, given: Mapping[str, Fraction], place: Place | None = None) -> Setting:
    """Sizes and numbers for a claim: those ``given``; else what hypotheses define; else a number in the interval that
    domain and conditions leave, near its lower end, or its upper one where conditions give no lower one; else one of the
    place's numbers, or no value.

    Raises:
        LookupError: ``given`` has a name that is neither a size nor a free name of the claim.
        ValueError: a size that is no whole number, or below its least value.
    """
    place, free = place or Place(), free_names(claim)
    settable = [*SIZES[:1], "local_steps", "participants", "rounds", *(n for n in free if n not in SIZES)]
    settable += ["samples"] * speaks_of_samples(claim)
    if unknown := sorted({*given} - {*settable}):
        raise LookupError(f"{claim.id} has no {', '.join(unknown)}; allowed: {', '.join(settable)}")
    sizes = _sizes(claim, given, free, place)
    known = {name: sp.Rational(str(number)) for name, number in {**sizes, **given}.items()}
    values: dict[str, Any] = {}
    waiting = [name for name in free if name not in sizes]
    numbers = {name: given[name] for name in waiting if name in given}
    for name in waiting:
        definition = definition_of(claim, name)
        if name not in given and definition is not None:
            values[name] = definition
    for _ in waiting:  # bounds may wait for each other
        for i, name in enumerate(waiting):
            if name in values or name in numbers:
                continue
            near = place.near[i % len(place.near)]
            number = place._asdict()[name] if name in ("L", "mu") else _bounded(claim, name, known, near)
            if number is not None:
                numbers[name], known[name] = number, sp.Rational(str(number))
    if "eta_l" in waiting and not {"eta_l"} & {*values, *numbers}:
        numbers["eta_l"] = place.step / numbers.get("L", place.L)
    left = [name for name in waiting if name not in values and name not in numbers]
    if place.numbers:
        numbers |= {name: place.numbers[i % len(place.numbers)] for i, name in enumerate(left)}
    values |= {name: _written(number, free[name], sizes) for name, number in numbers.items()}
    alike = claim.procedure is None or claim.procedure.equal_weights
    parts = [1 if alike else place.weights[k % len(place.weights)] for k in range(sizes["clients"])]
    weights = [str(Fraction(part, sum(parts))) for part in parts]
    return Setting(sizes, values, [name for name in left if name not in values], weights)


def _sizes(claim: Claim, given, free, place) -> dict[str, int]:
    least = dict.fromkeys(("clients", "rounds", "local_steps"), 1)
    found = {name: given.get(name, getattr(place, name)) for name in least}
    for variable in claim.variables:
        if variable.domain == "integer" and not variable.indices:
            name, least[variable.name] = variable.name, variable.low
            number = given.get(name, max(variable.low, found.get(name, variable.low)))
            found[name] = number if variable.high is None else min(number, variable.high)
    everyone = (claim.procedure.sampling if claim.procedure else "full") == "full"
    if speaks_of_samples(claim):
        found["samples"] = given.get("samples", 1 + place.clients)
    for condition in claim.conditions:  # a size that a number bounds, or says
        name, right = str(condition.left), sp.sympify(condition.right)
        if name in found and name not in given and right.is_Integer:
            choose = {"<": min, ">": max}.get(condition.relation[0], lambda now, number: number)
            found[name] = choose(found[name], int(right))
    found |= {"participants": given.get("participants", found["clients"] if everyone else 1), "dim": 1, "layers": 1}
    for name, number in found.items():
        if number != int(number) or number < least.get(name, 1):
            raise ValueError(f"{name} must be a whole number of at least {least.get(name, 1)}; got {number}")
    sizes = {name: int(number) for name, number in found.items() if name in (*SIZES, "samples") or name in free}
    return sizes | {"iterations": sizes["rounds"] * sizes["local_steps"]}


def _written(number, lengths, sizes) -> Any:
    """A number as text, in as many places as its array has."""
    text = str(Fraction(number))
    for length in reversed(lengths or []):
        text = [text] * sizes[length]
    return text


def _bounded(claim: Claim, name: str, known, near: Fraction) -> Fraction | None:
    """A number between the bounds that conditions on known numbers put on a name, ``near`` the lower one, or the upper one
    where that is only its sign; None where no condition puts one."""
    lows, highs = ([*_bounds(claim, name, known, relation)] for relation in (">=", "<="))
    if not lows and not highs:
        return None
    of_sign = [Fraction(0) for v in claim.variables if v.name == name and v.domain in ("positive", "nonnegative")]
    high = min(highs, default=None)
    if not lows:  # signs are no bounds to be met with equality
        return high - (1 - near) * (high - max(of_sign, default=Fraction(0)) if high > 0 else 1)
    low = max(lows)
    return low + (1 - near) * (high - low if high is not None else max(low, 1))


def _bounds(claim: Claim, name: str, known, relation: str) -> Iterator[Fraction]:
    """The numbers right of ``name relation ...`` in the conditions, of which all else is known."""
    for condition in claim.conditions:
        left = condition.left.base.label.name if isinstance(condition.left, sp.Indexed) else str(condition.left)
        if left == name and condition.relation == relation:
            number = condition.right.subs({s: known[s.name] for s in condition.right.free_symbols if s.name in known})
            if number.is_Rational:
                yield Fraction(int(number.p), int(number.q))
