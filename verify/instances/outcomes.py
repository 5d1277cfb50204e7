"""What a method draws at random, and every outcome of it, ordered by time.

There are two axes of outcomes, each with the first draw slowest:

* gradient noise: every client with noise has an outcome before the first round, if the method takes gradients there; then
  in each round one for a gradient outside the local steps, if the method takes one, and one for each local step;
* the rest: in each round the clients that are sampled, then the order of the layers for the next round, then the order
  in which clients renew what they track; or which of them do, where the shape says how many.

Every round has equally many outcomes, on both axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, permutations, product
from math import comb, factorial, prod
from typing import Any, NamedTuple

import numpy as np

from bounds.language.claim import Procedure, Variable
from fedtheory.engine import one_round, starting_points
from synthetic.base.noise import FiniteNoise
from synthetic.numbers.arrays import NUMPY, Backend
from synthetic.numbers.draws import CLIENTS, LAYERS, NOISE, TRACKERS, Draws, EnumeratedDraws
from synthetic.piecewise.piecewise import Piecewise
from synthetic.quadratic.quadratic import Quadratic
from verify.claims.method import algorithm_of, free_starts, own_arguments, selection_of
from verify.instances.shape import NOTHING_MORE, Chance

__all__ = ["Outcomes", "chance_of", "enumerated", "gradients_outside", "numbers_of_outcomes"]


class Outcomes(NamedTuple):
    """``draws`` for ``instances * noise * sampling`` runs in that nesting; probabilities (1, noise) and (instances | 1,
    sampling), the latter without those of orders; how many noise outcomes there are before the first round."""

    draws: EnumeratedDraws
    noise_weight: Any
    sampling_weight: Any
    noise_start: int


# what a method draws ---------------------------------------------------------------------------------------------------
class _Listening(Draws):
    """Draws that note what was asked for, and always answer the first outcome."""

    def __init__(self):
        super().__init__([0], NUMPY)
        self.asked = set()

    def _note(self, stream, time):
        self.asked.add((stream, min(time, 0)))

    def category(self, stream, cumulative, time, keys):
        self._note(stream, time)
        return np.zeros((1, np.shape(keys)[-1]), dtype=np.int64)

    def subset(self, stream, time, population, size):
        self._note(stream, time)
        return np.arange(size)[None]

    def subset_of(self, stream, time, numbers, member, size):
        self._note(stream, time)
        return member & (np.cumsum(member, axis=-1) <= size)

    def order(self, stream, time, weights):
        self._note(stream, time)
        return np.arange(weights.shape[-1])[None]


@lru_cache(maxsize=1024)
def chance_of(procedure: Procedure, variables: tuple[Variable, ...] = ()) -> Chance:
    """What the procedure's method draws, found by one round of it; ``variables`` may be hyper-parameters of the method."""
    noise = FiniteNoise(np.array([[[[1.0, 1.0], [-1.0, -1.0]]]] * 1), np.array([0.5, 0.5]))
    federation = Quadratic(np.ones((1, 2, 2)), np.array([[[1.0, 0.0], [0.0, 1.0]]]), noise=noise, backend=NUMPY, layers=2)
    names, sizes = own_arguments(procedure), {"rounds": 1, "layers": 2, "clients": 2, "iterations": 1}
    own = {v.name: max(v.low, 1) if v.domain == "integer" and not v.indices
           else np.zeros([sizes.get(size, 1) for _, size in v.indices])
           for v in variables if v.name in names and (v.indices or v.domain == "integer")}
    own |= {name: np.zeros((1, *[2] * each, 2)) for name, each in free_starts(procedure).items()}
    draws = _Listening()
    try:
        algorithm = algorithm_of(procedure, 0.1, 1, selection_of(procedure, 1), own)
        state = algorithm.init(federation, starting_points(federation, None, 1), draws)
        one_round(algorithm, federation, state, draws, 0)
    except (ValueError, LookupError, NotImplementedError, ArithmeticError, TypeError):
        return NOTHING_MORE  # whoever runs it learns why
    asked = draws.asked
    streams = {stream for stream, _ in asked}
    return Chance((NOISE, -1) in asked, (NOISE, -2) in asked, LAYERS in streams, TRACKERS in streams)


# outcomes --------------------------------------------------------------------------------------------------------------
def _clients(shape) -> list[tuple[int, ...]]:
    """The clients that may be sampled in a round."""
    if shape.sampling == "full":
        return [()]
    if shape.sampling == "with-replacement":
        return list(product(range(shape.priority_clients), repeat=shape.participants))
    return list(combinations(range(shape.priority_clients), shape.participants))


def _orders(shape) -> list[tuple[int, ...]]:
    """The places that layers may take."""
    return list(permutations(range(max(len(shape.layers), 1)))) if shape.chance.layers else [()]


def _trackers(shape, clients) -> list[tuple[int, ...]]:
    """Orders in which the clients of a round would renew what they track; where their number is a size, who does."""
    if shape.trackers is not None and shape.sampling != "with-replacement":
        return list(combinations(sorted(clients) or range(shape.clients), shape.trackers))
    if not shape.chance.trackers:
        return [()]
    if shape.sampling == "with-replacement":
        raise NotImplementedError("who renews what it tracks is enumerated only for clients sampled without replacement")
    return list(permutations(sorted(set(clients)) or range(shape.clients)))


def _round(shape) -> Iterator[tuple]:
    """One outcome of a round each: clients, order of layers, order of trackers."""
    for clients in _clients(shape):
        yield from product([clients], _orders(shape), _trackers(shape, clients))


def _times(shape) -> tuple[list[int], list[list[int]]]:
    """The times of noisy gradients: before the first round, and of each round."""
    steps, rounds = shape.local_steps, []
    for r in range(shape.rounds):
        rounds.append([*([-2 - r] if shape.chance.extra else []), *range(r * steps, (r + 1) * steps)])
    return [-1] if shape.chance.start else [], rounds


def numbers_of_outcomes(shape) -> tuple[int, int]:
    """How many outcomes (noise, the rest) an exact expectation over this shape enumerates."""
    slots = shape.iterations + shape.chance.start + shape.chance.extra * shape.rounds
    sampled, there, replaced = shape.participants, shape.priority_clients, shape.sampling == "with-replacement"
    clients = 1 if shape.sampling == "full" else there**sampled if replaced else comb(there, sampled)
    orders = factorial(max(len(shape.layers), 1)) if shape.chance.layers else 1
    may_track = shape.clients if shape.sampling == "full" else sampled
    if shape.trackers is not None and not replaced:
        trackers = comb(may_track, shape.trackers)
    else:
        trackers = len(_trackers(shape, ())) if replaced or not shape.chance.trackers else factorial(may_track)
    return 2 ** (len(shape.noisy) * slots), (clients * orders * trackers) ** shape.rounds


def enumerated(shape, weights, backend: Backend) -> Outcomes:
    """Every outcome of chance of a shape; ``weights`` are the normalised p_k (instances, clients)."""
    instances, chance, (start, by_round) = weights.shape[0], shape.chance, _times(shape)
    times = [*start, *(time for each in by_round for time in each)]
    noise_rows = list(product((0, 1), repeat=len(shape.noisy) * len(times)))
    columns = shape.iterations + (shape.rounds + 1 if chance.start or chance.extra else 0)
    noise = np.zeros((len(noise_rows), columns, shape.clients), dtype=np.int64)
    if shape.noisy:
        values = np.array(noise_rows).reshape(len(noise_rows), len(times), len(shape.noisy))
        for slot, time in enumerate(times):
            noise[:, time, list(shape.noisy)] = values[:, slot]
    rare = [Fraction(shape.rare), 1 - Fraction(shape.rare)]
    noise_weight = np.array([[prod((rare[o] for o in row), start=Fraction(1)) for row in noise_rows]], dtype=object)

    paths = list(product(_round(shape), repeat=shape.rounds))
    clients, orders, trackers = (
        np.array([[each[part] for each in path] for path in paths], dtype=np.int64).reshape(len(paths), shape.rounds, -1)
        for part in range(3))
    if shape.sampling == "with-replacement":
        p = backend.array(weights)
        sampling_weight = np.stack([_product(p[:, int(c)] for c in path.reshape(-1)) for path in clients], axis=1)
    else:
        count = len(paths) // len(_orders(shape)) ** shape.rounds
        sampling_weight = np.full((1, len(paths)), Fraction(1, count), dtype=object)

    both = (instances, len(noise_rows), len(paths))
    tables = {NOISE: _spread(noise, both, 1)}
    if shape.sampling != "full":
        tables[CLIENTS] = _spread(clients, both, 2)
    if chance.layers:
        tables[LAYERS] = _spread(np.concatenate([orders[:, :1], orders], axis=1), both, 2)  # drawn for the round to come
    if chance.trackers or shape.trackers is not None:
        tables[TRACKERS] = _spread(trackers, both, 2)
    outside = frozenset(time for time in times if time < 0)
    return Outcomes(EnumeratedDraws(tables, backend, outside), backend.array(noise_weight), backend.array(sampling_weight),
                    2 ** (len(shape.noisy) * len(start)))


def _spread(table, both, axis):
    lead = [1, 1, 1]
    lead[axis] = table.shape[0]
    spread = np.broadcast_to(table.reshape(*lead, *table.shape[1:]), (*both, *table.shape[1:]))
    return spread.reshape(-1, *table.shape[1:])


def _product(factors):
    total: Any = 1
    for factor in factors:
        total = total * factor
    return total


class _ListeningToSamples(Draws):
    """Draws that note at which negative times samples are drawn."""

    def __init__(self):
        super().__init__([0], NUMPY)
        self.asked = set()

    def category(self, stream, cumulative, time, keys):
        self.asked |= {time} if time < 0 else set()
        return np.zeros((1, np.shape(keys)[-1]), dtype=np.int64)

    def integer(self, stream, population, time, keys):
        return self.category(stream, None, time, keys)


@lru_cache(maxsize=256)
def gradients_outside(procedure) -> tuple[bool, bool]:
    """Whether a method takes stochastic gradients before the first round, and outside the local steps of a round."""
    one = np.ones((1, 2, 1, 1))
    federation = Piecewise(one, one, one[..., None], one[..., None], one[..., None], backend=NUMPY, batch_size=1)
    draws = _ListeningToSamples()
    own = {name: np.zeros((1, *[2] * each, 1)) for name, each in free_starts(procedure).items()}
    try:
        algorithm = algorithm_of(procedure, 0.1, 1, selection_of(replace(procedure, sampling="full")), own)
        state = algorithm.init(federation, starting_points(federation, np.ones((1, 1)), 1), draws)
        one_round(algorithm, federation, state, draws, 0)
    except (ValueError, LookupError, NotImplementedError, ArithmeticError, TypeError):
        pass  # whoever runs it learns why
    return -1 in draws.asked, -2 in draws.asked
