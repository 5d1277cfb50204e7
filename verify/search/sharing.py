"""Runs that claims have in common: claims of one lemma's proof assume the same and are looked at on the same instances.

What is shared is what :func:`verify.environment.realise` answers for the very same instances, so no verdict depends on which
claims were decided before. Only the last claims' environments are kept, and only so many bytes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np

from bounds.language.claim import Claim, names_in
from synthetic.base.federation import Federation
from synthetic.numbers.arrays import Backend
from verify.claims.hypotheses import signs
from verify.claims.method import own_arguments
from verify.claims.needs import HETEROGENEITY, OVER_SPACE, speaks_of_samples
from verify.claims.open_constants import assumed_constants
from verify.claims.sizes import entries_of, names_of, once_by_claim, ranges
from verify.evaluation.environment import Environment
from verify.instances.instance import outcomes
from verify.instances.leaves import Leaves
from verify.instances.shape import Shape
from verify.measure.realise import realise

__all__ = ["RUNS", "Draws", "Known", "SharedRuns", "assume_the_same", "drawn_for"]

_MOST_BYTES = 192 * 2**20
_BYTES_OF_MODELS = 160  # a client's model, gradient and what methods keep beside it, for each coordinate and iteration
_CONSTANTS = frozenset({*HETEROGENEITY, *OVER_SPACE})


class SharedRuns:
    """The environments of the claims at hand, which :func:`assume_the_same`."""

    def __init__(self) -> None:
        self.leader: Claim | None = None
        self.entries: dict[str, int] = {}
        self.kept: dict[tuple, Environment] = {}
        self.bytes: dict[tuple, int] = {}
        self.last: tuple | None = None
        self.draws: dict[tuple, Known] = {}

    def forget(self) -> None:
        """Let go of all environments."""
        for environment in self.kept.values():
            _empty(environment)
        self.leader, self.entries, self.kept, self.bytes, self.last = None, {}, {}, {}, None
        self.draws = {}

    @contextmanager
    def aside(self) -> Iterator[None]:
        """While another claim is looked at in between: what is kept stays, and what that one keeps goes."""
        kept = self.__dict__.copy()
        self.__init__()
        try:
            yield
        finally:
            self.forget()
            self.__dict__.update(kept)

    def known_draws(self, claim: Claim, *circumstances) -> Known:
        """What claims that draw the same have drawn under these circumstances: see :class:`verify.shared_draws.Draws`."""
        own = drawn_for(claim)
        if own is None:
            return Known()
        if claim is not self.leader:
            self._welcome(claim)
        return self.draws.setdefault((own, repr(circumstances)), Known())

    def realise(self, claim: Claim, shape: Shape, leaves: Leaves, backend: Backend, most: int,
                federation: Federation | None = None) -> Environment:
        """What ``realise`` of the same arguments answers; from the second claim on, of which another one has asked it."""
        if claim.setting == "algebra" or shape.data is not None:
            return realise(claim, shape, leaves, backend, federation, most=most).remembering()
        if claim is not self.leader:
            self._welcome(claim)
        self._settle()
        self.last = key = (shape, backend.library, most, _digest(leaves), federation)
        if key not in self.kept:
            self.kept[key] = realise(claim, shape, leaves, backend, federation, most=most).remembering()
        return self.kept[key]

    def _welcome(self, claim: Claim) -> None:
        """Go on with what is kept where the claim can use it; else begin anew with this claim."""
        entries = entries_of(claim)
        if (self.leader is None or not assume_the_same(self.leader, claim)
                or any(self.entries.get(name, count) != count for name, count in entries.items())):
            self.forget()
        self.leader = claim
        self.entries |= entries

    def _settle(self) -> None:
        """Count what the environment asked for last has grown to, and let it go if that is too much."""
        if self.last is None or self.last not in self.kept:
            return
        self.bytes[self.last] = _bytes(self.last[0], self.kept[self.last])
        if sum(self.bytes.values()) > _MOST_BYTES:
            _empty(self.kept.pop(self.last))
            del self.bytes[self.last]


RUNS = SharedRuns()  #: those of this process


def assume_the_same(first: Claim, second: Claim) -> bool:
    """Whether all that :func:`verify.environment.realise` takes from the two claims is the same, but for the numbers of
    indices that formulas give to arrays (``entries_of``)."""
    return first.definitions == second.definitions and _taken(first) == _taken(second)


@once_by_claim
def _taken(claim: Claim) -> tuple:
    names = frozenset().union(*(names_in(side) for c in claim.hypotheses for side in (c.left, c.right)),
                              (v.name for v in claim.variables), own_arguments(claim.procedure))
    own = tuple(pair for pair in signs(claim) if pair[0] in names)
    return (claim.setting, claim.procedure, claim.variables, claim.hypotheses, assumed_constants(claim), own,
            names_of(claim) & _CONSTANTS)


def _empty(environment: Environment) -> None:
    """Let go of what it binds at once: what is still to be made refers to it, so that counting references never frees it."""
    environment.bound.clear()
    environment.known.clear()


def _digest(leaves: Leaves) -> bytes:
    """Of names, shapes and numbers of all leaves."""
    found = blake2b(digest_size=16)
    for name in sorted(leaves):
        array = np.ascontiguousarray(leaves[name])
        found.update(f"{name} {array.dtype} {array.shape} ".encode())
        found.update(array)
    return found.digest()


def _bytes(shape: Shape, environment: Environment) -> int:
    """What an environment holds: its arrays, and the record of its run, of which some are made later."""
    made = [value.data for value in dict.values(environment.bound) if not callable(value)]
    kept = [value.data for value in environment.known.values()]
    rows = max(array.shape[0] for array in made)
    record = _BYTES_OF_MODELS * rows * prod(outcomes(shape)) * shape.clients * shape.iterations * shape.dim
    return record + sum(getattr(array, "nbytes", 0) for array in (*made, *kept))


#: what draws ask whether a claim speaks of it
_SPOKEN_OF = frozenset({*HETEROGENEITY, *OVER_SPACE, "H_loss", "layers", "mu_client", "trackers"})
_MOST_BYTES_OF_DRAWS = 64 * 2**20


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
        if self.bytes + size <= _MOST_BYTES_OF_DRAWS:
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
        self.known.add(key, value, [generator.bit_generator.state for generator in self.generators], _bytes_of_arrays(value))
        return value


def _bytes_of_arrays(value: Any) -> int:
    """Of the arrays in shapes and leaves."""
    if isinstance(value, dict):
        return sum(array.nbytes for array in value.values())
    return sum(map(_bytes_of_arrays, value)) if isinstance(value, tuple | list) else 0
