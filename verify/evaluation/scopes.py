"""Index variables in scope while an expression is evaluated, and where indices made of them take an array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import numpy as np
import sympy as sp

from verify.evaluation.environment import UnboundName

__all__ = ["LEAD", "Scope", "positions", "slices"]

LEAD = 3  # axes before the index axes: instances, noise outcomes, sampling outcomes
_EVERYWHERE, _NONE = np.ones((), dtype=bool), MappingProxyType({})


class Scope:
    """Index variables in scope: name -> integer array of ``depth`` axes; ``clip`` inside sums of ragged length, of which
    ``inside`` says where (in as many axes) they have a term. ``ranges``: name -> (first, last, axis) of those variables
    that take all whole numbers between two along an axis of their own. ``entered``: scopes with one more variable, as they
    were made for one environment."""

    def __init__(self, values: dict[str, np.ndarray], depth: int = 0, clip: bool = False, inside: np.ndarray = _EVERYWHERE,
                 ranges: Mapping[str, tuple[int, int, int]] = _NONE):
        self.values, self.depth, self.clip, self.inside, self.ranges = values, depth, clip, inside, ranges
        self.entered: dict[tuple, tuple[Scope, np.ndarray]] = {}

    @cached_property
    def key(self) -> tuple:
        """What tells the scope apart from others: nothing that is evaluated in it depends on more."""
        numbers = tuple((name, array.shape, array.tobytes()) for name, array in self.values.items())
        return numbers, self.depth, self.clip, self.inside.shape, self.inside.tobytes()

    def deeper(self, name: str, numbers: np.ndarray, inside: np.ndarray) -> Scope:
        """Scope with one more variable, of these numbers, along a new last axis."""
        values = {n: v[..., None] for n, v in self.values.items()}
        values[name] = numbers.reshape((1,) * self.depth + (-1,))
        ranges = dict(self.ranges)
        ranges.pop(name, None)
        if numbers.size:
            ranges[name] = int(numbers[0]), int(numbers[-1]), self.depth
        clip = self.clip or not bool(inside.all())
        return Scope(values, self.depth + 1, clip, self.inside[..., None] & inside, ranges)


def slices(name: str, indices: Sequence[sp.Expr], scope: Scope, sizes: Sequence[int]) -> tuple[tuple, tuple] | None:
    """Where indices that run along axes of their own, in this order, take an array, and these axes' shape; else None."""
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
            raise IndexError(f"index {number} of {name} must lie in 0..{sizes[number] - 1}; got {first}..{last}")
        places.append(slice(first, last + 1))
        shape[axis], after = last + 1 - first, axis
    return tuple(places), tuple(shape)


def positions(name: str, number: np.ndarray, times: tuple[int, ...]) -> np.ndarray:
    """Where the recorded ``times`` hold each wanted one."""
    missing = sorted(set(number.ravel().tolist()) - set(times))
    if missing:
        raise UnboundName(f"{name}[{missing[0]}] was not recorded; recorded: {len(times)} times up to {times[-1]}")
    return np.searchsorted(times, number)
