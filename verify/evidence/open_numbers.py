"""Numbers of a claim that it leaves open beside runs: one that is said to exist, and constants hidden in O(.)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import sympy as sp

from bounds.language.claim import HIDDEN, Claim, Condition, Variable
from bounds.language.witness import witnessed
from synthetic.numbers.arrays import to_numpy
from verify.claims.existential import PLACES, excluded_positions, position_of, with_position
from verify.evidence.runs import Runs
from verify.growth.order import order_of

__all__ = ["AtAValue", "at_values", "hidden_constants", "least_constant", "order_statement"]


class AtAValue(NamedTuple):
    """A claim that a number exists, with a value put in: ``claim`` and ``values`` say which, ``text`` whose it is."""

    claim: Claim
    values: Mapping[str, float]
    text: str


def at_values(claim: Claim, runs_of: Callable[[Claim, Mapping[str, float]], Runs], values: Mapping[str, float]):
    """The claim with values of the number that it says to exist, as :class:`AtAValue`: the one that is given or that the
    runs have; else the witness, if there is one; else places of the interval, from end to end."""
    name = claim.exists.name
    alone = _as_variable(claim)
    if runs_of(alone, values).determines(name):
        yield AtAValue(alone, values, "as given" if name in values else "as in the runs")
    elif claim.exists.witness is not None:
        yield AtAValue(witnessed(claim), values, "the witness")
    else:
        anywhere = with_position(claim)
        for place in PLACES:
            if place not in excluded_positions(claim):
                yield AtAValue(anywhere, {**values, position_of(claim): place}, f"the best of {_count(claim)} values")


def _count(claim: Claim) -> int:
    return len(set(PLACES) - excluded_positions(claim))


def _as_variable(claim: Claim) -> Claim:
    """The claim for one value of the number: a variable that lies in the interval."""
    exists = claim.exists
    symbols = {s for formula in claim.formulas for s in formula.free_symbols if s.is_Symbol and s.name == exists.name}
    number = min(symbols, key=str, default=sp.Symbol(exists.name, real=True))
    within = (Condition(number, ">" if exists.open_low else ">=", exists.low),
              Condition(number, "<" if exists.open_high else "<=", exists.high))
    return replace(claim, exists=None, variables=(*claim.variables, Variable(exists.name, "real")),
                   conditions=(*claim.conditions, *within))


# constants hidden in O(.) --------------------------------------------------------------------------------------------------
def hidden_constants(claim: Claim, values: Mapping[str, float]) -> list[str]:
    """The constants of O(.) to which nobody gave a value."""
    return [v.name for v in claim.variables if v.domain in HIDDEN and v.name not in values]


def order_statement(claim: Claim) -> Condition:
    """The statement without its hidden constants: the measured side against the scale.

    Raises:
        NotImplementedError: they are no factors of the right side of an inequality.
    """
    order = order_of(claim)
    return Condition(order.measured, order.relation, order.scale, order.over)


def least_constant(relation: str, both: Iterable[tuple]) -> float:
    """The least constant with which ``left <= C right`` holds at all entries of pairs (left, right, mask), or the largest
    one with which ``left >= C right`` does. Infinite, or 0, where no positive constant does; 1 where any does."""
    upper, best = relation == "<=", []
    for left, right, mask in both:
        left, right, mask = np.broadcast_arrays(*map(to_numpy, (left, right, mask)))
        left, right = left[mask], right[mask]
        there = ~(np.isnan(left) | np.isnan(right))
        left, right = left[there], right[there]
        never = (right <= 0) & ((left > right) if upper else (left < right))
        best.append(np.where(right > 0, left / np.where(right > 0, right, 1.0), 0.0 if upper else np.inf))
        best.append(np.full(int(never.sum()), np.inf if upper else 0.0))
    found = np.concatenate(best) if best else np.array([])
    if not found.size:
        return 1.0
    if upper:
        return float(found.max()) if found.max() > 0 else 1.0
    least = float(max(found.min(), 0.0))
    return 1.0 if np.isinf(least) else least
