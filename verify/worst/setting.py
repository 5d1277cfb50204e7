"""The sizes and numbers at which a statement is looked at on letters."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import sympy as sp

from bounds.language.claim import Claim
from verify.checker.form import SIZES
from verify.exact.statement import definition_of, free_names

__all__ = ["Setting", "setting_of"]

DEFAULTS = {"clients": 2, "rounds": 2, "local_steps": 2, "L": Fraction(1), "mu": Fraction(1, 10)}
_STEP = Fraction(1, 2)  # of a step size that nothing bounds, in units of 1/L


class Setting(NamedTuple):
    """What a certificate says of an instance: sizes, values of free names, and free names without a value."""

    sizes: dict[str, int]
    values: dict[str, Any]
    unknown: tuple[str, ...]


def setting_of(claim: Claim, given: Mapping[str, Fraction]) -> Setting:
    """Sizes and numbers for a claim: those ``given``; else what hypotheses define; else the lower end of the interval that
    conditions leave, or the upper one where it has no lower end; else no value.

    Raises:
        LookupError: ``given`` has a name that is neither a size nor a free name of the claim.
        ValueError: a size that is no whole number of at least 1.
    """
    free = free_names(claim)
    settable = [*SIZES[:1], "local_steps", "participants", "rounds", *(n for n in free if n not in SIZES)]
    if unknown := sorted({*given} - {*settable}):
        raise LookupError(f"{claim.id} has no {', '.join(unknown)}; allowed: {', '.join(settable)}")
    sizes = _sizes(claim, given, free)
    known = {name: sp.Rational(str(number)) for name, number in {**sizes, **given}.items()}
    values: dict[str, Any] = {}
    waiting = [name for name in free if name not in sizes]
    for name in waiting:
        if name in given:
            values[name] = _written(given[name], free[name], sizes)
    for name in waiting:
        definition = definition_of(claim, name)
        if name not in values and definition is not None:
            values[name] = definition
    for _ in waiting:  # bounds may wait for each other
        for name in (n for n in waiting if n not in values):
            number = DEFAULTS.get(name, _bound(claim, name, known))
            if number is not None:
                values[name], known[name] = _written(number, free[name], sizes), sp.Rational(str(number))
    if "eta_l" in waiting and "eta_l" not in values:
        values["eta_l"] = _written(_STEP / Fraction(values.get("L", "1")), free["eta_l"], sizes)
    return Setting(sizes, values, tuple(name for name in waiting if name not in values))


def _sizes(claim: Claim, given, free) -> dict[str, int]:
    found = {name: given.get(name, DEFAULTS.get(name, 1)) for name in ("clients", "rounds", "local_steps")}
    for variable in claim.variables:
        if variable.domain == "integer" and not variable.indices:
            number = given.get(variable.name, max(variable.low, found.get(variable.name, variable.low)))
            found[variable.name] = number if variable.high is None else min(number, variable.high)
    everyone = (claim.procedure.sampling if claim.procedure else "full") == "full"
    found |= {"participants": given.get("participants", found["clients"] if everyone else 1), "dim": 1, "layers": 1}
    if wrong := [name for name, number in found.items() if number != int(number) or number < 1]:
        raise ValueError(f"{wrong[0]} must be a whole number of at least 1; got {found[wrong[0]]}")
    sizes = {name: int(number) for name, number in found.items() if name in SIZES or name in free}
    return sizes | {"iterations": sizes["rounds"] * sizes["local_steps"]}


def _written(number, lengths, sizes) -> Any:
    """A number as text, in as many places as its array has."""
    text = str(Fraction(number))
    for length in reversed(lengths or []):
        text = [text] * sizes[length]
    return text


def _bound(claim: Claim, name: str, known) -> Fraction | None:
    """The lower bound that conditions on known numbers put on a name, else the upper one; None where there is neither."""
    ends: dict[str, list[Fraction]] = {"<=": [], ">=": []}
    for condition in claim.conditions:
        left = condition.left.base.label.name if isinstance(condition.left, sp.Indexed) else str(condition.left)
        if left == name and condition.relation in ends:
            number = condition.right.subs({s: known[s.name] for s in condition.right.free_symbols if s.name in known})
            if number.is_Rational:
                ends[condition.relation].append(Fraction(int(number.p), int(number.q)))
    if ends[">="]:
        return max(ends[">="])
    return min(ends["<="], default=None)
