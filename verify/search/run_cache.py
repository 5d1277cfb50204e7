"""Shares work between claims that assume the same, such as the steps of one proof: they are looked at on the same instances.

What is kept are values of functions without side effects, up to a number of bytes: no verdict depends on what was decided
before.
"""

from collections.abc import Callable, Hashable
from hashlib import blake2b
from math import prod
from typing import Any

import numpy as np

from bounds.language.claim import Claim, names_in
from fedtheory import ALGORITHMS
from synthetic.base.federation import Federation
from synthetic.numbers.arrays import Backend
from verify.claims.hypotheses import signs
from verify.claims.method import own_arguments
from verify.claims.needs import HETEROGENEITY, OVER_SPACE, needs_one_basis, speaks_of_samples, uses_coordinates
from verify.claims.open_constants import assumed_constants
from verify.claims.sizes import entries_of, once_by_claim, ranges
from verify.evaluation.environment import Environment
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.measure.simulate import simulate

__all__ = ["RUNS", "RunCache", "assume_the_same", "drawn_for"]

_MOST_BYTES = 192 * 2**20  # of environments
_MOST_BYTES_OF_DRAWS = 64 * 2**20
_BYTES_OF_MODELS = 160  # a client's model, gradient and what methods keep beside it, for each coordinate and iteration
#: how names of a method's own arrays begin; where layers are as many as coordinates, only formulas tell which are vectors
_STATES = ("server_", "client_", "local_")
_CONSTANTS = frozenset({*HETEROGENEITY, *OVER_SPACE})
#: names of which a draw asks whether the claim mentions them
_ASKED_BY_DRAWS = _CONSTANTS | {"H_loss", "layers", "mu_client", *(method.traits.subset for method in ALGORITHMS.values())}


class RunCache:
    """Draws and environments of the last claims, all of which assume the same (:func:`assume_the_same`)."""

    def __init__(self) -> None:
        self.leader: Claim | None = None
        self.entries: dict[str, int] = {}
        self.kept: dict[tuple, Environment] = {}
        self.bytes: dict[tuple, int] = {}
        self.last: tuple | None = None
        self.draws: dict[tuple, tuple[Any, list[dict]]] = {}
        self.bytes_of_draws = 0

    def forget(self) -> None:
        """Free all environments."""
        for environment in self.kept.values():
            _empty(environment)
        self.__init__()

    def draw(self, function: Callable, claim: Claim, *arguments: Hashable, rng: tuple[np.random.Generator, ...]) -> Any:
        """Return ``function(claim, *rng, *arguments)``: shapes, or arrays by name.

        For another claim that draws the same (:func:`drawn_for`), with generators in the same states, the value is looked
        up, and the generators are set to the states that the first draw left.
        """
        own = drawn_for(claim)
        if own is None:
            return function(claim, *rng, *arguments)
        self._welcome(claim)
        key = own, function, arguments, repr([generator.bit_generator.state for generator in rng])
        if key in self.draws:
            value, states = self.draws[key]
            for generator, state in zip(rng, states, strict=True):
                generator.bit_generator.state = state
            return value
        value = function(claim, *rng, *arguments)
        size = sum(array.nbytes for array in value.values()) if isinstance(value, dict) else 0
        if self.bytes_of_draws + size <= _MOST_BYTES_OF_DRAWS:
            self.bytes_of_draws += size
            self.draws[key] = value, [generator.bit_generator.state for generator in rng]
        return value

    def simulate(self, claim: Claim, shape: Shape, params: Parameters, backend: Backend, most: int,
                federation: Federation | None = None) -> Environment:
        """Return ``simulate`` of the same arguments, which is kept for the next claim that asks for the same instances."""
        if claim.setting == "algebra" or shape.family.coupled:
            return simulate(claim, shape, params, backend, federation, most=most).remembering()
        self._welcome(claim)
        self._settle()
        self.last = key = (shape, backend.library, most, _digest(params), federation)
        if key not in self.kept:
            self.kept[key] = simulate(claim, shape, params, backend, federation, most=most).remembering()
        return self.kept[key]

    def _welcome(self, claim: Claim) -> None:
        """Go on with what is kept if the claim can use it; else begin anew with this claim."""
        if claim is self.leader:
            return
        entries = entries_of(claim)
        if (self.leader is None or not assume_the_same(self.leader, claim)
                or any(self.entries.get(name, None if name.startswith(_STATES) else count) != count
                       for name, count in entries.items())):
            self.forget()
        self.leader = claim
        self.entries |= entries

    def _settle(self) -> None:
        """Count what the last environment has grown to; let it go if that is too much."""
        if self.last is None or self.last not in self.kept:
            return
        self.bytes[self.last] = _bytes(self.last[0], self.kept[self.last])
        if sum(self.bytes.values()) > _MOST_BYTES:
            _empty(self.kept.pop(self.last))
            del self.bytes[self.last]


RUNS = RunCache()  #: those of this process


def assume_the_same(first: Claim, second: Claim) -> bool:
    """Whether ``simulate`` takes the same from both claims, except the numbers of indices of arrays (``entries_of``)."""
    return first.definitions == second.definitions and _run_key(first) == _run_key(second)


@once_by_claim
def _run_key(claim: Claim) -> tuple:
    names = frozenset().union(*(names_in(side) for c in claim.hypotheses for side in (c.left, c.right)),
                              (v.name for v in claim.variables), own_arguments(claim.procedure))
    own = tuple(pair for pair in signs(claim) if pair[0] in names)
    return (claim.setting, claim.procedure, claim.variables, claim.hypotheses, assumed_constants(claim), own,
            claim.names & _CONSTANTS)


@once_by_claim
def drawn_for(claim: Claim) -> Hashable | None:
    """A key of the parts of a claim on which draws depend and runs do not; None for claims about numbers or samples, which
    share no draws."""
    if claim.setting == "algebra" or speaks_of_samples(claim):
        return None
    return claim.conditions, claim.names & _ASKED_BY_DRAWS, ranges(claim), uses_coordinates(claim), needs_one_basis(claim)


def _empty(environment: Environment) -> None:
    """Free an environment's arrays at once: its later arrays refer to it, so that counting references never frees it."""
    environment.bound.clear()
    environment.known.clear()


def _digest(params: Parameters) -> bytes:
    """A digest of the names, shapes and numbers of all parameters."""
    found = blake2b(digest_size=16)
    for name in sorted(params):
        array = np.ascontiguousarray(params[name])
        found.update(f"{name} {array.dtype} {array.shape} ".encode())
        found.update(array)
    return found.digest()


def _bytes(shape: Shape, environment: Environment) -> int:
    """The memory of an environment in bytes: its arrays, and the record of its run, some of which are made later."""
    made = [value.data for value in dict.values(environment.bound) if not callable(value)]
    kept = [value.data for value in environment.known.values()]
    rows = max(array.shape[0] for array in made)
    record = _BYTES_OF_MODELS * rows * prod(outcomes(shape)) * shape.clients * shape.iterations * shape.dim
    return record + sum(getattr(array, "nbytes", 0) for array in (*made, *kept))
