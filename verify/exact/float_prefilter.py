"""Screens simpler instances in float64, many at once, before exact arithmetic, which is far slower."""

from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from itertools import groupby
from math import prod

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY
from verify.checker.limits import LISTED, MANY_ROUNDS
from verify.evaluation.judge import seems_violated
from verify.exact.balls import MOST_EXACT
from verify.instances.instance import admissible, outcomes
from verify.instances.parameters import Parameters, floats, joined, number_of
from verify.instances.shape import Shape
from verify.measure.simulate import simulate

__all__ = ["Change", "alike", "cost", "is_violated", "violated_instances", "violating_changes", "with_change"]

_AT_ONCE = 256  # instances that are looked at together
_DENOMINATORS = (2, 10, 100, 10**4)  # of simpler numbers
_DIGITS = (0, 2)  # behind the first digit of simpler numbers, which may be small
_CHANGES = 2000  # of numbers, that are looked at one by one

#: a leaf, indices in it, and the number that is put there
Change = tuple[str, tuple[tuple[int, ...], ...], Fraction]


def is_violated(claim: Claim, shape: Shape, candidates: list[Parameters]) -> np.ndarray:
    """Whether float64 sees each instance violated; true for all where it cannot tell."""
    seen = _seems_violated(claim, shape, floats(joined(candidates)))
    return np.broadcast_to(seen, (len(candidates),))  # instances of whole numbers alone have no arrays to count


def violated_instances(claim: Claim, candidates: Iterable[tuple[Shape, Parameters]]) -> Iterator[tuple[Shape, Parameters]]:
    """The instances that float64 sees violated."""
    for shape, some in alike(candidates):
        yield from ((shape, params) for params, yes in zip(some, is_violated(claim, shape, some), strict=True) if yes)


def alike(candidates: Iterable[tuple[Shape, Parameters]]) -> Iterator[tuple[Shape, list[Parameters]]]:
    """Groups neighbouring instances of the same shape, with arrays of the same shapes."""
    def sizes(candidate):
        shape, params = candidate
        return shape, {name: array.shape for name, array in params.items()}

    for (shape, _), group in groupby(candidates, key=sizes):
        yield shape, [params for _, params in group]


def _seems_violated(claim: Claim, shape: Shape, rows: Parameters) -> np.ndarray:
    count = number_of(rows)
    if shape.many_draws and (shape.rounds > MANY_ROUNDS or prod(outcomes(shape)) > LISTED):
        return np.ones(count, dtype=bool)
    try:
        with np.errstate(all="ignore"):
            violated = seems_violated(claim, simulate(claim, shape, rows, NUMPY, most=MOST_EXACT * count))
        return np.broadcast_to(violated, (count,))
    except (ArithmeticError, LookupError, TypeError, ValueError):
        return np.ones(count, dtype=bool)


def violating_changes(claim: Claim, shape: Shape, params: Parameters, refused: Collection[Change]) -> list[Change]:
    """Changes that simplify numbers of one instance, or equal numbers of it together, at most one of each number and none of
    the ``refused`` ones: float64 sees the violation under each of them with all those before it."""
    wanted = [(name, places, value) for name in sorted(params) for places in _places(params[name])
              for value in _simpler_values(params[name][places[0]])]
    wanted = [c for c in wanted if c not in refused][:_CHANGES]
    wanted = [c for c in wanted if _admissible(claim, shape, params, c)]
    alone: list[bool] = []
    for first in range(0, len(wanted), _AT_ONCE):
        alone += list(_seems_violated(claim, shape, _rows(params, wanted[first : first + _AT_ONCE], together=False)))
    wanted, taken = [change for change, yes in zip(wanted, alone, strict=True) if yes], []
    while wanted:
        one_of_each = {change[:2]: change for change in reversed(wanted)}  # the first, for each number
        some = [one_of_each[number] for number in dict.fromkeys(change[:2] for change in wanted)][:_AT_ONCE]
        kept = int(np.cumprod(_seems_violated(claim, shape, _rows(params, some, together=True))).sum())
        for change in some[:kept]:
            params = with_change(params, change)
        taken += some[:kept]
        done = {(name, place) for name, places, _ in some[:kept] for place in places}
        failed = some[kept : kept + 1]
        wanted = [change for change in wanted if change not in failed and not any((change[0], p) in done for p in change[1])]
    return taken


def _places(array: np.ndarray) -> list[tuple[tuple[int, ...], ...]]:
    """The places of one number each, then those of numbers that are equal, of several each."""
    equal: dict[Fraction, list[tuple[int, ...]]] = {}
    for index in np.ndindex(array.shape):
        equal.setdefault(array[index], []).append(index)
    return [*((index,) for index in np.ndindex(array.shape)), *(tuple(some) for some in equal.values() if len(some) > 1)]


def _admissible(claim: Claim, shape: Shape, params: Parameters, change: Change) -> bool:
    """Whether a change keeps an instance admissible; only its own parameter, and weights, can make a difference."""
    changed = with_change(params, change)
    return admissible(claim, shape, {name: changed[name] for name in (change[0], "weight") if name in changed})


def _rows(params: Parameters, changes: list[Change], together: bool) -> Parameters:
    """An instance per change, in floats; ``together``: with all previous changes too."""
    rows = {name: np.repeat(array, len(changes), axis=0) for name, array in floats(params).items()}
    for row, (name, places, value) in enumerate(changes):
        for _, *index in places:
            rows[name][(slice(row, None) if together else row, *index)] = value
    return rows


def with_change(params: Parameters, change: Change) -> Parameters:
    """A one-row instance with another number in the places of the change."""
    name, places, value = change
    changed = params[name].copy()
    for place in places:
        changed[place] = value
    return {**params, name: changed}


def _simpler_values(value: Fraction) -> Iterator[Fraction]:
    sign = 1 if value > 0 else -1
    small = [Fraction(n) for n in (2, 3, 5, 10, 100, 1000)]
    powers = [sign * n for n in small if n < abs(value)] + [sign / n for n in small if 1 / n > abs(value)]
    rounded = (Fraction(round(value)), *map(value.limit_denominator, _DENOMINATORS))
    rounded += tuple(Fraction(f"{float(value):.{digits}e}") for digits in _DIGITS)
    for candidate in dict.fromkeys((Fraction(0), Fraction(1), Fraction(-1), *rounded, *powers)):
        if cost(candidate) < cost(value):
            yield candidate


def cost(value: Fraction) -> int:
    """The length of a number as text, where denominators count twice, and zeros at the end of a whole number half."""
    if value in (0, 1):
        return int(value)
    return 4 + _digits(value.numerator) + 2 * _digits(value.denominator) + 2 * (value < 0)


def _digits(number: int) -> int:
    """Twice the digits of a whole number, but once the zeros at its end."""
    text = str(abs(number))
    return len(text) + len(text.rstrip("0"))
