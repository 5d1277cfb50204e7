"""Parameter sets of a bound: random numbers that meet the claim's conditions, and at which the bound has a value."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import sympy as sp

from bounds.language.claim import Condition
from verify.formulas.bound import Bound
from verify.formulas.compiled import compiled
from verify.prove.real import certainly_positive
from verify.prove.satisfiable import satisfiable

__all__ = ["exact_witness", "parameter_sets"]

_DECADES, _DRAWS, _PASSES = 3.0, 4000, 6


def parameter_sets(bound: Bound, count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Up to ``count`` sets of parameters, by name an array of (sets,), at each of which all conditions hold and the bound is
    a real number; at least one. A bound without parameters has no names.

    Numbers are positive, or not negative where their symbol says no more, between 10^-3 and 10^3 unless conditions ask for
    others; whole numbers from 1. A number that a condition bounds by others is moved within its bound. Where no draw meets
    the conditions, z3's witness is the one set.

    Raises:
        ValueError: conditions that exclude each other (named), or of which no numbers are found.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1; got {count}")
    rng, whole = np.random.default_rng(seed), _whole(bound)
    spread = rng.choice([1.0, 0.3], _DRAWS)
    sets = {name: _near(10.0 ** (spread * rng.uniform(-_DECADES, _DECADES, _DRAWS)), name in whole)
            for name in bound.parameters}
    bounds = [found for condition in bound.conditions for found in _bounded(condition)]
    with np.errstate(all="ignore"):
        for _ in range(_PASSES):
            for name, is_upper, limit in bounds:
                _move(sets, name, is_upper, limit, name in whole, rng)
        good = np.flatnonzero(_defined(bound, sets))[:count]
    if len(good):
        return {name: values[good] for name, values in sets.items()}
    return _witness(bound)


def _whole(bound: Bound) -> set[str]:
    spoken = bound.form.formula.free_symbols.union(
        *(side.free_symbols for c in bound.conditions for side in (c.left, c.right)))
    return {s.name for s in spoken if s.is_integer}


def _near(values, whole):
    return np.maximum(1.0, np.round(values)) if whole else values


def _bounded(c: Condition):
    """Numbers that a condition bounds by others: (name, whether from above, the bound)."""
    for symbol, other, upper in ((c.left, c.right, c.relation != ">="), (c.right, c.left, c.relation == ">=")):
        if symbol.is_Symbol and symbol not in other.free_symbols:
            yield symbol.name, upper, other


def _move(sets, name, is_upper, limit, whole, rng) -> None:
    """Numbers beyond their bound, to somewhere within it."""
    names = sorted(s.name for s in limit.free_symbols)
    limits = np.broadcast_to(compiled(names, limit)(*(sets[n] for n in names)), sets[name].shape)
    share = 1 - rng.random(limits.shape) ** 2
    within = limits * share if is_upper else limits / share
    if whole:
        within = np.maximum(1.0, np.floor(within) if is_upper else np.ceil(within))
    beyond = sets[name] > limits if is_upper else sets[name] < limits
    sets[name] = np.where(beyond & np.isfinite(within), within, sets[name])


def _defined(bound: Bound, sets):
    met = np.broadcast_to(bound.applies(**sets), (_size(sets),))
    names = {s.name for s in bound.form.parameters}
    value = bound.values(**{name: values for name, values in sets.items() if name in names})
    return met & np.isfinite(np.broadcast_to(value, met.shape))


def _size(sets) -> int:
    return max((len(values) for values in sets.values()), default=1)


def _witness(bound: Bound) -> dict[str, np.ndarray]:
    found = satisfiable(bound.conditions, bound.form.parameters)
    if found.answer == "no":
        raise ValueError(f"no numbers meet the conditions of {bound.claim.id}: {'; '.join(found.core)}")
    if found.answer == "yes":
        sets = {name: np.array([float(Fraction(found.witness.get(name, "1").rstrip("?")))])  # of a root, ten digits
                for name in bound.parameters}
        with np.errstate(all="ignore"):
            if _defined(bound, sets).all():
                return sets
    raise ValueError(f"no numbers were found that meet the conditions of {bound.claim.id} and give its bound a value"
                     + (f": {found.reason}" if found.reason else ""))


def exact_witness(bound: Bound) -> dict[str, Fraction] | None:
    """Fractions that certainly meet the conditions, those with unknown exponents included; None if none were found."""
    try:
        sets = parameter_sets(bound, 5)
    except ValueError:
        return None
    for place in range(_size(sets)):
        for denominator in (1000, 10**12):
            numbers = {name: _fraction(float(values[place]), denominator) for name, values in sets.items()}
            if all(_certain(condition, numbers) for condition in bound.conditions):
                return numbers
    return None


def _fraction(value: float, denominator: int) -> Fraction:
    if value < 1:
        return 1 / Fraction(1 / value).limit_denominator(denominator) if value else Fraction(0)
    return Fraction(value).limit_denominator(denominator)


def _certain(c: Condition, numbers) -> bool:
    """Whether a condition holds for these fractions, in exact arithmetic or by digits that tell the sides apart."""
    left, right = (side.xreplace({s: sp.Rational(numbers[s.name]) for s in side.free_symbols}).doit()
                   for side in (c.left, c.right))
    difference = left - right if c.relation == ">=" else right - left
    return difference == 0 or (c.relation != "==" and certainly_positive(difference))
