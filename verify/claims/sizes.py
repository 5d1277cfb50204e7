"""What a claim says about integers: the sizes of an instance and the claim's own integer variables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache, wraps
from math import ceil, floor

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, Condition, names_in

__all__ = [
    "ABOVE", "allowed", "entries_of", "first_possible", "integer_variables", "names_of", "once_by_claim", "possible",
    "ranges", "says_something", "within_bounds", "within_sizes",
]

ABOVE = (0, 1, 2)  #: how far the integer variables of the smallest shapes lie above the least that they may be
_TRIALS = 60  # shapes that are drawn until one is possible
_SIZES = ("clients", "dim", "iterations", "layers", "local_steps", "participants", "priority_clients", "rounds", "samples")


class _Same:
    """A claim that is looked up by identity."""

    def __init__(self, claim: Claim):
        self.claim = claim

    def __hash__(self):
        return id(self.claim)

    def __eq__(self, other):
        return self.claim is other.claim


def once_by_claim(function):
    """The function of a claim, computed once for each of the last claims."""
    kept = lru_cache(maxsize=64)(lambda same: function(same.claim))
    return wraps(function)(lambda claim: kept(_Same(claim)))


@once_by_claim
def names_of(claim: Claim) -> frozenset[str]:
    """Names of everything that the statement, the hypotheses and the definitions behind them speak of."""
    found = set()
    for condition in (*claim.hypotheses, *([claim.statement] if claim.statement else [])):
        found |= names_in(condition.left) | names_in(condition.right)
        for _, low, high in condition.over:
            found |= names_in(low) | names_in(high)
    for definition in claim.used_definitions().values():
        found |= names_in(definition.formula)
    return frozenset(found)


@once_by_claim
def entries_of(claim: Claim) -> dict[str, int]:
    """How many indices each array has in the claim's formulas."""
    formulas = [side for c in (*claim.hypotheses, claim.statement) for side in (c.left, c.right)]
    formulas += [definition.formula for definition in claim.used_definitions().values()]
    return {str(entry.base.label): len(entry.indices) for formula in formulas for entry in formula.atoms(sp.Indexed)}


def integer_variables(claim: Claim) -> dict:
    """The integer variables of a claim that have no index, by name."""
    return {v.name: v for v in claim.variables if v.domain == "integer" and not v.indices}


@once_by_claim
def _conditions(claim: Claim) -> tuple[tuple[Condition, tuple[str, ...], object], ...]:
    """Conditions on integers alone: each with its names and a function of them that answers both sides."""
    known, found = {*_SIZES, *integer_variables(claim)}, []
    for condition in claim.hypotheses:
        names = sorted(names_in(condition.left) | names_in(condition.right))
        if condition.over or not names or not known.issuperset(names):
            continue
        found.append((condition, tuple(names), _of_numbers(names, condition.left, condition.right)))
    return tuple(found)


def _of_numbers(names: list[str], *expressions):
    """A function of numbers of these names that answers the expressions."""
    symbols = {name: sp.Dummy() for name in names}
    put_in = [e.xreplace({a: symbols[a.name] for a in e.free_symbols}) for e in map(sp.sympify, expressions)]
    return sp.lambdify(list(symbols.values()), put_in, "math")


def _sides(names, function, sizes):
    try:
        return function(*(sizes[name] for name in names))
    except (ArithmeticError, KeyError, ValueError):
        return None


def allowed(claim: Claim, sizes: Mapping[str, int]) -> bool:
    """Whether integers meet all conditions of the claim that speak of these alone."""
    for condition, names, function in _conditions(claim):
        if not sizes.keys() >= {*names}:
            continue
        both = _sides(names, function, sizes)
        if both is None:
            return False
        left, right = both
        if not {"<=": left <= right, ">=": left >= right, "==": left == right}[condition.relation]:
            return False
    return True


@once_by_claim
def _ends(claim: Claim) -> tuple[tuple[tuple[str, ...], object], ...]:
    """Of each index of the statement whose range the sizes alone give: their names, and a function of them for both ends."""
    known, found = {*_SIZES, *integer_variables(claim)}, []
    for _, low, high in claim.statement.over if claim.statement else ():
        names = sorted(names_in(low) | names_in(high))
        if known.issuperset(names):
            found.append((tuple(names), _of_numbers(names, low, high)))
    return tuple(found)


def ranges(claim: Claim) -> frozenset[tuple]:
    """Lowest and highest values of the statement's indices, but for ranges that no sizes make empty."""
    over = claim.statement.over if claim.statement else ()
    return frozenset((low, high) for _, low, high in over if low != 0 or getattr(high + 1, "name", None) not in _SIZES)


def says_something(claim: Claim, sizes: Mapping[str, int]) -> bool:
    """Whether no index of the statement runs over an empty range, as far as the sizes tell: else it holds of itself."""
    ends = (_sides(names, function, sizes) for names, function in _ends(claim))
    return all(both is None or both[0] <= both[1] for both in ends)


def possible(claim: Claim, sizes: Mapping[str, int]) -> bool:
    """Whether integers meet the claim's conditions on them, and it says something at them."""
    return allowed(claim, sizes) and says_something(claim, sizes)


def first_possible(claim: Claim, draw: Callable):
    """The first of the shapes that ``draw`` answers whose sizes are possible; after many that are not, the last one."""
    for _ in range(_TRIALS):
        shape = draw()
        if possible(claim, shape.as_sizes()):
            break
    return shape


def _bounds(claim: Claim, name: str, sizes: Mapping[str, int]) -> Iterator[tuple[str, float]]:
    """What the claim's conditions say of an integer alone on one side, given the others: pairs (relation, number)."""
    mirrored = {"<=": ">=", ">=": "<=", "==": "=="}
    for condition, names, function in _conditions(claim):
        both = _sides(names, function, sizes)
        if both is None:
            continue
        if condition.left.is_Symbol and condition.left.name == name:
            yield condition.relation, both[1]
        if condition.right.is_Symbol and condition.right.name == name:
            yield mirrored[condition.relation], both[0]


def within_bounds(claim: Claim, sizes: Mapping[str, int], rng: np.random.Generator) -> dict[str, int]:
    """The integer variables among ``sizes``, each drawn anew where it lies outside what the conditions allow."""
    sizes, own = dict(sizes), {}
    for name, variable in integer_variables(claim).items():
        low, high = variable.low, variable.high
        for relation, number in _bounds(claim, name, sizes):
            if relation in ("<=", "=="):
                high = floor(number) if high is None else min(high, floor(number))
            if relation in (">=", "=="):
                low = max(low, ceil(number))
        value = sizes[name]
        if value < low or (high is not None and value > high):
            value = int(rng.integers(low, high + 1)) if high is not None and high >= low else max(low, value)
        own[name] = sizes[name] = value
    return own


def within_sizes(claim: Claim, shape, rng):
    """The shape with integer variables that the claim's conditions allow."""
    sizes = dict(shape.sizes) | within_bounds(claim, shape.as_sizes(), rng)
    return replace(shape, sizes=tuple(sizes.items()), local_steps=sizes.get("local_steps", shape.local_steps))
