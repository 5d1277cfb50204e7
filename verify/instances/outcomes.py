"""Every outcome of chance of a shape, on two axes, each with the first draw slowest.

* Gradient noise: every noisy client has an outcome before the first round, if the method takes gradients there; then in each
  round one for a gradient outside the local steps, if the method takes one, and one for each local step.
* The rest: in each round the sampled clients, then the order of the layers for the next round, then the order in which
  clients renew what they track, or, where the shape says how many do, which ones.

Every round has equally many outcomes on both axes.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, factorial, prod
from typing import Any, NamedTuple

import numpy as np

from synthetic.numbers.arrays import Backend
from synthetic.numbers.draws import CLIENTS, LAYERS, NOISE, TRACKERS, EnumeratedDraws

__all__ = ["Outcomes", "enumerated", "numbers_of_outcomes"]


class Outcomes(NamedTuple):
    """``draws`` for ``instances * noise * sampling`` runs in that nesting; probabilities (1, noise) and (instances | 1,
    sampling), the latter without those of orders of layers; the number of noise outcomes before the first round."""

    draws: EnumeratedDraws
    noise_weight: Any
    sampling_weight: Any
    noise_start: int


def _clients(shape) -> list[tuple[int, ...]]:
    """The clients that may be sampled in a round."""
    if shape.sampling == "full":
        return [()]
    if shape.sampling == "with-replacement":
        return list(product(range(shape.priority_clients), repeat=shape.participants))
    return list(combinations(range(shape.priority_clients), shape.participants))


def _orders(shape) -> list[tuple[int, ...]]:
    """The orders of the layers."""
    return list(permutations(range(max(len(shape.layers), 1)))) if shape.chance.layers else [()]


def _trackers(shape, clients) -> list[tuple[int, ...]]:
    """Orders in which the clients of a round would renew what they track; where their number is a size, the sets that do."""
    if shape.subset is not None and shape.sampling != "with-replacement":
        return list(combinations(sorted(clients) or range(shape.clients), shape.subset))
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
    slots = shape.chance.gradients(shape.iterations, shape.rounds)
    sampled, there, replaced = shape.participants, shape.priority_clients, shape.sampling == "with-replacement"
    clients = 1 if shape.sampling == "full" else there**sampled if replaced else comb(there, sampled)
    orders = factorial(max(len(shape.layers), 1)) if shape.chance.layers else 1
    if shape.subset is not None and not replaced:
        trackers = comb(shape.taking_part, shape.subset)
    else:
        trackers = len(_trackers(shape, ())) if replaced or not shape.chance.trackers else factorial(shape.taking_part)
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
    if chance.trackers or shape.subset is not None:
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
