"""Sizes moved until they meet what a claim's conditions ask of them."""

from collections.abc import Callable, Mapping
from itertools import combinations
from math import ceil, floor, isfinite, log

import numpy as np

from bounds.language.claim import HOLDS, Claim
from verify.claims.sizes import conditions_on_sizes, ends_of_ranges, integer_variables, values_of

__all__ = ["repaired_sizes"]

_MOVES = 16  # of one size each
_USUAL, _LARGEST = 40, 10_000  # sizes up to which all are tried; the largest one that a condition may ask for
_SMALL = 12  # sizes up to which all pairs are tried

Sizes = dict[str, int]


def repaired_sizes(claim: Claim, sizes: Mapping[str, int], free: Mapping[str, int], derive: Callable[[Sizes], Sizes],
                   rng: np.random.Generator) -> Sizes | None:
    """The sizes, some of them changed so that all conditions of the claim on sizes hold and its statement says something;
    None if that is not reached. One size is changed at a time, or two where no one is enough: to values near the old ones
    that break the fewest conditions, among those at which the first broken condition holds.

    Args:
        sizes: all sizes that the claim may name.
        free: the sizes that may change, with their least values.
        derive: gives the other sizes their values.
    """
    sizes = derive(dict(sizes))
    broken = _broken(claim, sizes)
    for _ in range(_MOVES):
        if not broken:
            return sizes
        singles = ({name: value} for name in free for value in _values(claim, name, sizes, free[name]))
        pairs = ({one: n, other: m} for one, other in combinations(free, 2)
                 for n in range(free[one], _SMALL + 1) for m in range(free[other], _SMALL + 1))
        trials = []
        for changes in (singles, pairs):  # an equation may hold at some values of two sizes alone
            for change in changes:
                trial = derive(sizes | change)
                still = _broken(claim, trial)
                if broken[0] not in still:
                    far = sum(abs(log(value + 1) - log(sizes[name] + 1)) for name, value in change.items())
                    trials.append((len(still), far, rng.random(), trial, still))
            if trials:
                break
        else:
            return None
        *_, sizes, broken = min(trials, key=lambda trial: trial[:3])
    return None


def _broken(claim: Claim, sizes: Sizes) -> list[int]:
    """The places of the conditions that do not hold, those that have no value among them; then of the empty ranges."""
    found = []
    for place, (condition, names, function) in enumerate(conditions_on_sizes(claim)):
        if sizes.keys() >= {*names}:
            sides = values_of(names, function, sizes)
            if sides is None or not HOLDS[condition.sign](*sides):
                found.append(place)
    for place, (names, function) in enumerate(ends_of_ranges(claim)):
        ends = values_of(names, function, sizes)
        if ends is not None and ends[0] > ends[1]:
            found.append(-1 - place)
    return found


def _values(claim: Claim, name: str, sizes: Sizes, least: int) -> list[int]:
    """The values of a size that are tried: the small ones, and those at which a condition on it alone begins to hold."""
    found = {*range(least, _USUAL + 1)}
    for condition, names, function in conditions_on_sizes(claim):
        sides = values_of(names, function, sizes)
        for side, other in zip((condition.left, condition.right), (sides or ())[::-1], strict=False):
            if side.is_Symbol and side.name == name and isfinite(other):
                found |= {floor(other) - 1, floor(other), ceil(other), ceil(other) + 1}
    variable = integer_variables(claim).get(name)
    high = _LARGEST if variable is None or variable.high is None else variable.high
    return sorted(value for value in found if least <= value <= high)
