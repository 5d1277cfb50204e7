"""Index variables in scope during the evaluation of an expression, and the entries of arrays that they select."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Self

import numpy as np
import sympy as sp

from verify.evaluation.environment import NoEntry, UnboundName

__all__ = ["LEAD", "Scope", "enter_ranges", "positions", "slices"]

LEAD = 3  # axes before the index axes: instances, noise outcomes, sampling outcomes
_EVERYWHERE, _NONE = np.ones((), dtype=bool), MappingProxyType({})


class Scope:
    """Index variables in scope.

    Attributes:
        values: name -> integer array with ``depth`` axes.
        clip: whether a range depends on another index, so that some entries lie outside it.
        inside: which entries lie inside all ranges, with ``depth`` axes.
        ranges: name -> (first, last, axis) of the variables that take all integers of a range along an axis of their own.
        entered: scopes with one more variable, kept for one environment.
    """

    def __init__(self, values: dict[str, np.ndarray], depth: int = 0, clip: bool = False, inside: np.ndarray = _EVERYWHERE,
                 ranges: Mapping[str, tuple[int, int, int]] = _NONE):
        self.values, self.depth, self.clip, self.inside, self.ranges = values, depth, clip, inside, ranges
        self.entered: dict[tuple, tuple[Scope, np.ndarray]] = {}

    @cached_property
    def key(self) -> tuple:
        """A hashable key of the scope: equal for scopes in which every formula has the same value."""
        numbers = tuple((name, array.shape, array.tobytes()) for name, array in self.values.items())
        return numbers, self.depth, self.clip, self.inside.shape, self.inside.tobytes()

    def deeper(self, name: str, numbers: np.ndarray, inside: np.ndarray) -> Self:
        """The scope with one more variable, with these values along a new last axis."""
        values = {n: v[..., None] for n, v in self.values.items()}
        values[name] = numbers.reshape((1,) * self.depth + (-1,))
        ranges = dict(self.ranges)
        ranges.pop(name, None)
        if numbers.size:
            ranges[name] = int(numbers[0]), int(numbers[-1]), self.depth
        clip = self.clip or not bool(inside.all())
        return Scope(values, self.depth + 1, clip, self.inside[..., None] & inside, ranges)


def enter_ranges(evaluator, over, scope: Scope) -> tuple[Scope, np.ndarray]:
    """The scope with the index of each range (index, low, high), and where all of them are inside."""
    mask = np.ones((), dtype=bool)
    for index, low, high in over:
        scope, inside = evaluator.enter(index.name, low, high, scope)
        mask = mask[..., None] & inside
    return scope, mask


def slices(name: str, indices: Sequence[sp.Expr], scope: Scope, sizes: Sequence[int]) -> tuple[tuple, tuple] | None:
    """Slices of an array and the shape of their axes, if each index runs along its own axis, in order; else None."""
    places, shape, after = [slice(None)] * LEAD, [1] * scope.depth, -1
    for number, index in enumerate(indices):
        shift, variable = index.as_coeff_Add() if index.is_Add else (sp.S.Zero, index)
        if not shift.is_Integer or not variable.is_Symbol or variable.name not in scope.ranges:
            return None
        first, last, axis = scope.ranges[variable.name]
        first, last = first + int(shift), last + int(shift)
        if axis <= after:
            return None
        if first < 0 or last >= sizes[number]:
            raise NoEntry(f"index {number} of {name} must lie in 0..{sizes[number] - 1}; got {first}..{last}")
        places.append(slice(first, last + 1))
        shape[axis], after = last + 1 - first, axis
    return tuple(places), tuple(shape)


def positions(name: str, number: np.ndarray, times: tuple[int, ...]) -> np.ndarray:
    """The positions of the wanted times among the recorded ``times``."""
    missing = sorted(set(number.ravel().tolist()) - set(times))
    if missing:
        raise UnboundName(f"{name}[{missing[0]}] was not recorded; recorded: {len(times)} times up to {times[-1]}")
    return np.searchsorted(times, number)
