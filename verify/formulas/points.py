"""Draws parameters of a bound at which the claim's conditions hold and the bound has a value."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import sympy as sp

from bounds.language.claim import Condition
from verify.formulas.bound import Bound
from verify.formulas.compiled import compiled
from verify.prove.real import certainly_positive
from verify.prove.satisfiable import satisfiable

__all__ = ["certainly_holds", "exact_witness", "near_fraction", "parameter_sets"]

_DECADES, _DRAWS, _PASSES = 3.0, 4000, 6


def parameter_sets(bound: Bound, count: int, seed: int = 0) -> dict[str, np.ndarray]:
    """Draw between 1 and ``count`` sets of parameters at which all conditions hold and the bound is a real number.

    Returns an array (sets,) for each parameter's name. Numbers are drawn between 10^-3 and 10^3, whole ones from 1; one that
    violates a condition ``name <= formula`` or ``name >= formula`` moves to where it holds. If no draw meets the conditions,
    z3's witness is the only set.

    Raises:
        ValueError: the conditions exclude each other (named), or no numbers were found.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1; got {count}")
    rng, whole = np.random.default_rng(seed), bound.whole
    spread = rng.choice([1.0, 0.3], _DRAWS)
    sets = {name: _round_if_whole(10.0 ** (spread * rng.uniform(-_DECADES, _DECADES, _DRAWS)), name in whole)
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


def _round_if_whole(values, whole):
    return np.maximum(1.0, np.round(values)) if whole else values


def _bounded(c: Condition):
    """Yield the parameters that a condition bounds by a formula in others: (name, whether from above, formula)."""
    for symbol, other, upper in ((c.left, c.right, c.relation != ">="), (c.right, c.left, c.relation == ">=")):
        if symbol.is_Symbol and symbol not in other.free_symbols:
            yield symbol.name, upper, other


def _move(sets, name, is_upper, limit, whole, rng) -> None:
    """Move the numbers that lie beyond their limit to random places within it."""
    names = sorted(s.name for s in limit.free_symbols)
    limits = np.broadcast_to(compiled(names, limit)(*(sets[n] for n in names)), sets[name].shape)
    share = 1 - rng.random(limits.shape) ** 2
    within = limits * share if is_upper else limits / share
    if whole:
        within = np.maximum(1.0, np.floor(within) if is_upper else np.ceil(within))
    beyond = sets[name] > limits if is_upper else sets[name] < limits
    sets[name] = np.where(beyond & np.isfinite(within), within, sets[name])


def _defined(bound: Bound, sets):
    """Return at which sets all conditions hold and the bound is finite."""
    holds = np.broadcast_to(bound.applies(**sets), (_size(sets),))
    value = bound.values(**{s.name: sets[s.name] for s in bound.form.parameters})
    return holds & np.isfinite(np.broadcast_to(value, holds.shape))


def _size(sets) -> int:
    return max((len(values) for values in sets.values()), default=1)


def _witness(bound: Bound) -> dict[str, np.ndarray]:
    found = satisfiable(bound.conditions, bound.form.parameters)
    if found.answer == "no":
        raise ValueError(f"no numbers meet the conditions of {bound.claim.id}: {'; '.join(found.core)}")
    if found.answer == "yes":
        sets = {name: np.array([float(Fraction(found.witness.get(name, "1").rstrip("?")))])  # z3 gives ten digits of a root
                for name in bound.parameters}
        with np.errstate(all="ignore"):
            if _defined(bound, sets).all():
                return sets
    raise ValueError(f"no numbers were found that meet the conditions of {bound.claim.id} and give its bound a value"
                     + (f": {found.reason}" if found.reason else ""))


def exact_witness(bound: Bound) -> dict[str, Fraction] | None:
    """Return fractions at which all conditions certainly hold, transcendental ones too; None if none were found."""
    try:
        sets = parameter_sets(bound, 5)
    except ValueError:
        return None
    for place in range(_size(sets)):
        for denominator in (1000, 10**12):
            numbers = {name: near_fraction(float(values[place]), denominator) for name, values in sets.items()}
            if all(certainly_holds(condition, numbers) for condition in bound.conditions):
                return numbers
    return None


def near_fraction(value: float, denominator: int) -> Fraction:
    """Return the nearest fraction whose denominator, or numerator below 1, is at most ``denominator``."""
    if value < 1:
        return 1 / Fraction(1 / value).limit_denominator(denominator) if value else Fraction(0)
    return Fraction(value).limit_denominator(denominator)


def certainly_holds(c: Condition, numbers: Mapping[str, Fraction]) -> bool:
    """Whether a condition holds at these fractions, by exact arithmetic or by enough digits of both sides."""
    left, right = (side.xreplace({s: sp.Rational(numbers[s.name]) for s in side.free_symbols}).doit()
                   for side in (c.left, c.right))
    difference = left - right if c.relation == ">=" else right - left
    return (difference == 0 and not c.strict) or (c.relation != "==" and certainly_positive(difference))
