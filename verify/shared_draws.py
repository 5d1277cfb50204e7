"""Draws that claims have in common: those that assume the same, and speak of the same constants, are looked at first on the
same instances, which are drawn once.

What is shared is what the very same draws would answer, and the generators of random numbers are left as these would leave
them, so no verdict depends on which claims were decided before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from bounds.claim import Claim
from verify.data_instances import speaks_of_samples
from verify.federation_constants import HETEROGENEITY
from verify.piecewise_instances import OVER_SPACE
from verify.sizes import names_of, ranges

__all__ = ["Draws", "Known", "drawn_for"]

#: what draws ask whether a claim speaks of it
_SPOKEN_OF = frozenset({*HETEROGENEITY, *OVER_SPACE, "H_loss", "layers", "mu_client", "trackers"})
_MOST_BYTES = 64 * 2**20


def drawn_for(claim: Claim) -> Hashable | None:
    """What draws take from a claim beyond what runs take (:func:`verify.shared_runs.assume_the_same`); None of claims about
    numbers or samples, whose draws are their own."""
    if claim.setting == "algebra" or speaks_of_samples(claim):
        return None
    return claim.conditions, names_of(claim) & _SPOKEN_OF, ranges(claim)


class Known:
    """What was drawn, up to so many bytes, by place and circumstances, with the states in which it left the generators."""

    def __init__(self) -> None:
        self.found: dict[Hashable, tuple[Any, list[dict]]] = {}
        self.bytes = 0

    def add(self, key: Hashable, value: Any, states: list[dict], size: int) -> None:
        """Keep a value of ``size`` bytes if there is room."""
        if self.bytes + size <= _MOST_BYTES:
            self.found[key] = value, states
            self.bytes += size


class Draws:
    """Draws one after the other, by generators of random numbers of which nobody else takes any."""

    def __init__(self, known: Known, generators: Sequence[np.random.Generator]) -> None:
        self.known, self.generators, self.place = known, generators, 0

    def __call__(self, draw: Callable[[], Any], *circumstances: Hashable) -> Any:
        """Shapes and leaves, as ``draw`` answers or as they are known from another claim in the same circumstances."""
        key = self.place, circumstances
        self.place += 1
        if key in self.known.found:
            value, states = self.known.found[key]
            for generator, state in zip(self.generators, states, strict=True):
                generator.bit_generator.state = state
            return value
        value = draw()
        self.known.add(key, value, [generator.bit_generator.state for generator in self.generators], _bytes(value))
        return value


def _bytes(value: Any) -> int:
    """Of the arrays in shapes and leaves."""
    if isinstance(value, dict):
        return sum(array.nbytes for array in value.values())
    return sum(map(_bytes, value)) if isinstance(value, tuple | list) else 0
