"""A claim's conditions on integers: the sizes of an instance and the claim's own integer variables."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from math import ceil, floor

import numpy as np
import sympy as sp

from bounds.language.claim import HOLDS, Claim, Condition, names_in
from bounds.language.names import SIZE, names_from
from bounds.language.operators import Operator, local_steps
from verify.claims.method import solves_local_problems

__all__ = [
    "ABOVE", "allowed", "conditions_on_sizes", "ends_of_ranges", "entries_of", "first_possible", "integer_variables",
    "largest_sizes", "named_sizes", "once_by_claim", "possible", "ranges", "says_something", "values_of", "within_bounds",
    "within_sizes",
]

ABOVE = (0, 1, 2)  #: how far integer variables of the smallest shapes exceed their lowest values
#: sizes whose bounds :func:`largest_sizes` returns, up to which number
_BOUNDED, _LARGEST = ("clients", "dim", "local_steps", "participants", "rounds", "samples"), 2000
_SMALL = 3  # a size that small shapes have anyway
_TRIALS = 60  # draws of a shape until one is possible
_SIZES = frozenset(names_from(SIZE))


once_by_claim = lru_cache(maxsize=64)  #: makes a function of a claim keep its values for the last claims


@once_by_claim
def entries_of(claim: Claim) -> dict[str, int]:
    """The number of indices of each array in the claim's formulas."""
    return {str(entry.base.label): len(entry.indices) for formula in claim.formulas for entry in formula.atoms(sp.Indexed)}


def integer_variables(claim: Claim) -> dict:
    """The integer variables of a claim without index, by name."""
    return {v.name: v for v in claim.variables if v.domain == "integer" and not v.indices}


@once_by_claim
def conditions_on_sizes(claim: Claim) -> tuple[tuple[Condition, tuple[str, ...], object], ...]:
    """Conditions on integers alone, the ends of the claim's own included: each with its names and a function of them that
    gives both sides.

    A method whose clients solve their local problems adds that there is one local step.
    """
    own = integer_variables(claim)
    known, found = {*_SIZES, *own}, []
    one_step = [Condition(local_steps, "==", 1)] if claim.setting == "run" and solves_local_problems(claim.procedure) else []
    ends = [Condition(sp.Symbol(name), relation, end) for name, variable in own.items()
            for relation, end in ((">=", variable.low), ("<=", variable.high)) if end is not None]
    for condition in (*claim.hypotheses, *one_step, *ends):
        names = sorted(names_in(condition.left) | names_in(condition.right))
        if condition.over or not names or not known.issuperset(names) or condition.has(Operator):
            continue
        found.append((condition, tuple(names), _of_numbers(names, condition.left, condition.right)))
    return tuple(found)


def _of_numbers(names: list[str], *expressions):
    """The expressions as a function of numbers of these names."""
    symbols = {name: sp.Dummy() for name in names}
    put_in = [e.xreplace({a: symbols[a.name] for a in e.free_symbols}) for e in map(sp.sympify, expressions)]
    return sp.lambdify(list(symbols.values()), put_in, "math")


def values_of(names, function, sizes):
    """Both numbers that a function of sizes gives; None where it has no real value."""
    try:
        both = function(*(sizes[name] for name in names))
    except (ArithmeticError, KeyError, ValueError):
        return None
    return None if any(isinstance(side, complex) for side in both) else both  # Python's powers of negative numbers


def allowed(claim: Claim, sizes: Mapping[str, int]) -> bool:
    """Whether integers satisfy all conditions of the claim on them alone."""
    for condition, names, function in conditions_on_sizes(claim):
        if not sizes.keys() >= {*names}:
            continue
        both = values_of(names, function, sizes)
        if both is None:
            return False
        left, right = both
        if not HOLDS[condition.sign](left, right):
            return False
    return True


@once_by_claim
def ends_of_ranges(claim: Claim) -> tuple[tuple[tuple[str, ...], object], ...]:
    """The sizes of the ends of each index range of the statement, and a function of them that returns both ends."""
    known, found = {*_SIZES, *integer_variables(claim)}, []
    for _, low, high in claim.statement.over if claim.statement else ():
        names = sorted(names_in(low) | names_in(high))
        if known.issuperset(names):
            found.append((tuple(names), _of_numbers(names, low, high)))
    return tuple(found)


def ranges(claim: Claim) -> frozenset[tuple]:
    """Lowest and highest values of the statement's indices, without ranges that are never empty."""
    over = claim.statement.over if claim.statement else ()
    return frozenset((low, high) for _, low, high in over if low != 0 or getattr(high + 1, "name", None) not in _SIZES)


def says_something(claim: Claim, sizes: Mapping[str, int]) -> bool:
    """Whether every index of the statement has a value, as far as the sizes tell. Otherwise the statement is vacuous."""
    ends = (values_of(names, function, sizes) for names, function in ends_of_ranges(claim))
    return all(both is None or both[0] <= both[1] for both in ends)


def possible(claim: Claim, sizes: Mapping[str, int]) -> bool:
    """Whether integers satisfy the claim's conditions on them and the statement is not vacuous."""
    return allowed(claim, sizes) and says_something(claim, sizes)


def first_possible(claim: Claim, draw: Callable):
    """The first drawn shape whose sizes are possible, or the last one after many that are not."""
    for _ in range(_TRIALS):
        shape = draw()
        if possible(claim, shape.as_sizes()):
            break
    return shape


def _bounds(claim: Claim, name: str, sizes: Mapping[str, int]) -> Iterator[tuple[str, float]]:
    """The bounds that conditions put on one integer, given the others: pairs (relation, number)."""
    mirrored = {"<=": ">=", ">=": "<=", "==": "=="}
    for condition, names, function in conditions_on_sizes(claim):
        both = values_of(names, function, sizes)
        if both is None:
            continue
        if condition.left.is_Symbol and condition.left.name == name:
            yield condition.relation, both[1]
        if condition.right.is_Symbol and condition.right.name == name:
            yield mirrored[condition.relation], both[0]


@once_by_claim
def largest_sizes(claim: Claim) -> dict[str, int]:
    """The largest values that conditions on a size of instances alone admit, by its name, if they are not large."""
    found = {}
    for name in _BOUNDED:
        high = [floor(number) for relation, number in _bounds(claim, name, {name: 1}) if relation != ">="]
        if high and 1 < min(high) <= _LARGEST:  # a strict bound admits one less
            found[name] = min(high) - (not allowed(claim, {name: min(high)}))
    return found


@once_by_claim
def named_sizes(claim: Claim) -> dict[str, int]:
    """Sizes at which a part of the statement vanishes, or its minimum or maximum changes, as ``{"clients": 7}`` for
    ``(clients - 7)**2`` or ``Min(clients, 7)``; of several the largest, where it is neither small nor very large."""
    own, found = {*integer_variables(claim), *_BOUNDED}, {}
    sides = map(sp.sympify, (claim.statement.left, claim.statement.right))
    nodes = [node for side in sides for node in side.atoms(sp.Add, sp.Min, sp.Max)]
    differences = [node for node in nodes if node.is_Add]
    differences += [node.args[0] - node.args[1] for node in nodes if not node.is_Add and len(node.args) == 2]
    for difference in differences:
        for size in difference.free_symbols:
            slope = sp.diff(difference, size)
            root = size - difference / slope if size.name in own and slope.is_number and slope != 0 else None
            if root is not None and (root := sp.expand(root)).is_Integer and _SMALL < root <= _LARGEST:
                found[size.name] = max(int(root), found.get(size.name, 0))
    return dict(sorted(found.items()))


def within_bounds(claim: Claim, sizes: Mapping[str, int], rng: np.random.Generator) -> dict[str, int]:
    """The integer variables among ``sizes``; each that violates a condition is drawn again."""
    sizes, own = dict(sizes), {}
    for name, variable in integer_variables(claim).items():
        low, high = variable.low, None
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
    """The shape with integer variables that satisfy the claim's conditions."""
    sizes = dict(shape.sizes) | within_bounds(claim, shape.as_sizes(), rng)
    return replace(shape, sizes=tuple(sizes.items()), local_steps=sizes.get("local_steps", shape.local_steps))
