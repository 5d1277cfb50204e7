"""Every outcome of chance of a shape on two axes, noise and the rest, each with the first draw slowest.

docs/architecture.md ("Chance") says what is drawn when. Every round has equally many outcomes on both axes.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb, factorial, prod
from typing import Any, NamedTuple

import numpy as np

from bounds.language.claim import INDEPENDENT
from synthetic.numbers.arrays import Backend
from synthetic.numbers.draws import CLIENTS, COMMUNICATION, LAYERS, LOST, MUTATION, NOISE, TRACKERS, EnumeratedDraws

__all__ = ["Outcomes", "enumerated", "numbers_of_outcomes", "signs", "spread"]


class Outcomes(NamedTuple):
    """``draws`` for ``instances * noise * sampling`` runs in that nesting; probabilities (1, noise) and (instances | 1,
    sampling), the latter without those that depend on the run (of orders of layers, of tosses and coins); how many outcomes
    of noise there are before the first round."""

    draws: EnumeratedDraws
    noise_weight: Any
    sampling_weight: Any
    noise_start: int


#: samplings under which the number of different participants varies
_VARYING = ("with-replacement", *INDEPENDENT)


def _clients(shape) -> list[tuple[int, ...]]:
    """The clients that may be sampled in a round; where each decides by itself, 1 for those that take part, 0 for the
    others, and -1 for free clients."""
    if shape.sampling == "full":
        return [()]
    if shape.sampling in INDEPENDENT:
        return [(*row, *[-1] * shape.free) for row in product((1, 0), repeat=shape.priority_clients)]
    if shape.sampling == "with-replacement":
        return list(product(range(shape.priority_clients), repeat=shape.participants))
    return list(combinations(range(shape.priority_clients), shape.participants))


def _orders(shape) -> list[tuple[int, ...]]:
    return list(permutations(range(max(len(shape.layers), 1)))) if shape.chance.layers else [()]


def _trackers(shape, clients) -> list[tuple[int, ...]]:
    """Orders in which the clients of a round would renew what they track; where their number is a size, the sets that do."""
    if shape.subset is not None and shape.sampling not in _VARYING:
        return list(combinations(sorted(clients) or range(shape.clients), shape.subset))
    if not shape.chance.trackers:
        return [()]
    if shape.sampling in _VARYING:
        raise NotImplementedError("who renews what it tracks is enumerated only for clients sampled without replacement")
    return list(permutations(sorted(set(clients)) or range(shape.clients)))


def _present(shape, clients) -> list[int]:
    """The numbers of the clients of a round, free ones included. Raises NotImplementedError where these differ in number."""
    if shape.sampling in _VARYING or (shape.free and MUTATION in shape.chance.tosses):
        raise NotImplementedError("what participants toss is enumerated only where these are always equally many")
    return [*clients, *range(shape.priority_clients, shape.clients)] if clients else [*range(shape.clients)]


def _by_toss(shape) -> dict[int, int]:
    """The number of coin tosses of a participant in a round, by stream; of mutations, one for each layer."""
    sizes = {LOST: 1, MUTATION: max(len(shape.layers), 1)}
    return {stream: sizes.get(stream, shape.dim) for stream in shape.chance.tosses}


def _tosses(shape, clients) -> list[tuple[int, ...]]:
    """Enumerate the coin tosses of the clients of a round, (tosses, clients), -1 for the others; of mutations the positions
    of signs 1, 0, -1."""
    if not shape.chance.tosses:
        return [()]
    present, parts = _present(shape, clients), []
    for stream, count in _by_toss(shape).items():
        each = [*_halves(len(present))] if stream == MUTATION else [*product((0, 1), repeat=len(present))]
        for _ in range(count):
            rows = (dict(zip(present, row, strict=True)) for row in each)
            parts.append([tuple(row.get(k, -1) for k in range(shape.clients)) for row in rows])
    return [sum(rows, ()) for rows in product(*parts)]


def _coins(shape) -> list[tuple[int, ...]]:
    return [(1,), (0,)] if shape.chance.coin else [()]


def _halves(count: int) -> Iterator[tuple[int, ...]]:
    """0 for one half of so many, 2 for another, 1 for an odd one."""
    for first in combinations(range(count), count // 2):
        for last in combinations([place for place in range(count) if place not in first], count // 2):
            yield tuple(0 if place in first else 2 if place in last else 1 for place in range(count))


def _round(shape) -> Iterator[tuple]:
    """One outcome of a round each: clients, order of layers, order of trackers, tosses, whether it communicates."""
    for clients in _clients(shape):
        yield from product([clients], _orders(shape), _trackers(shape, clients), _tosses(shape, clients), _coins(shape))


def _times(shape) -> tuple[list[int], list[list[int]]]:
    """The times of noisy gradients: before the first round, and of each round."""
    steps, rounds = shape.local_steps, []
    for r in range(shape.rounds):
        rounds.append([*([-2 - r] if shape.chance.extra else []), *range(r * steps, (r + 1) * steps)])
    return [*([-1] if shape.chance.start else []), *shape.chance.alone], rounds


def numbers_of_outcomes(shape) -> tuple[int, int]:
    """The number of outcomes (noise, the rest) that an exact expectation over this shape enumerates."""
    slots = shape.chance.gradients(shape.iterations, shape.rounds)
    sampled, there, replaced = shape.participants, shape.priority_clients, shape.sampling in _VARYING
    clients = 1 if shape.sampling == "full" else 2**there if shape.sampling in INDEPENDENT else comb(there, sampled)
    clients = there**sampled if shape.sampling == "with-replacement" else clients
    orders = factorial(max(len(shape.layers), 1)) if shape.chance.layers else 1
    if shape.subset is not None and not replaced:
        trackers = comb(shape.taking_part, shape.subset)
    else:
        trackers = len(_trackers(shape, ())) if replaced or not shape.chance.trackers else factorial(shape.taking_part)
    present, tosses = len(_present(shape, ())) if shape.chance.tosses else 0, 1
    present = shape.taking_part + (shape.free if shape.sampling != "full" else 0) if present else 0
    for stream, count in _by_toss(shape).items():
        half = present // 2
        tosses *= (comb(present, half) * comb(present - half, half) if stream == MUTATION else 2**present) ** count
    each = clients * orders * trackers * tosses * len(_coins(shape))
    drawn = len(shape.noisy) * slots
    return 2 * _columns(drawn) if shape.many_draws and drawn else len(shape.noise_law) ** drawn, each**shape.rounds


def _columns(draws: int) -> int:
    """The least power of two that is at least a number of draws."""
    return 1 << max(draws - 1, 0).bit_length()


def signs(draws: int) -> np.ndarray:
    """An orthogonal array of strength three, (rows, draws), of 0 and 1: on any three draws all eight outcomes are equally
    frequent. Its rows are those of a Hadamard matrix (Sylvester 1867) and of its negative."""
    number = np.arange(_columns(draws))
    half = np.array([[(int(i) & int(j)).bit_count() % 2 for j in number[:draws]] for i in number]).reshape(-1, draws)
    return np.concatenate([half, 1 - half])


def enumerated(shape, weights, backend: Backend) -> Outcomes:
    """Every outcome of chance of a shape; ``weights`` are the normalised p_k (instances, clients)."""
    instances, chance, (start, by_round) = weights.shape[0], shape.chance, _times(shape)
    times = [*start, *(time for each in by_round for time in each)]
    drawn = len(shape.noisy) * len(times)
    by_rows = shape.many_draws and drawn
    noise_rows = signs(drawn).tolist() if by_rows else [*product(range(len(shape.noise_law)), repeat=drawn)]
    outside = frozenset(time for time in times if time < 0)
    place = EnumeratedDraws({}, backend, outside).place
    noise = np.zeros((len(noise_rows), shape.iterations + len(outside), shape.clients), dtype=np.int64)
    if shape.noisy:
        values = np.array(noise_rows).reshape(len(noise_rows), len(times), len(shape.noisy))
        for slot, time in enumerate(times):
            noise[:, place(time), list(shape.noisy)] = values[:, slot]
    law = [chance for chance, _ in shape.noise_law]
    chances = [Fraction(1, len(noise_rows)) if shape.many_draws else prod(law[atom] for atom in row) for row in noise_rows]
    noise_weight = np.array([chances], dtype=object)

    paths = list(product(_round(shape), repeat=shape.rounds))
    clients, orders, trackers, tosses, coins = (
        np.array([[each[part] for each in path] for path in paths], dtype=np.int64).reshape(len(paths), shape.rounds, -1)
        for part in range(5))
    if shape.sampling == "with-replacement":
        p = backend.array(weights)
        sampling_weight = np.stack([prod(p[:, int(c)] for c in path.reshape(-1)) for path in clients], axis=1)
    else:
        own = sum(_by_toss(shape)[stream] for stream in chance.tosses if stream != MUTATION)
        given = len(_orders(shape)) * (2 ** (own * len(_present(shape, _clients(shape)[0]))) if own else 1)
        given *= len(_coins(shape)) * (len(_clients(shape)) if shape.sampling in INDEPENDENT else 1)
        count = len(paths) // given**shape.rounds
        sampling_weight = np.full((1, len(paths)), Fraction(1, count), dtype=object)

    both = (instances, len(noise_rows), len(paths))
    tables = {NOISE: spread(noise, both, 1)}
    if shape.sampling != "full":
        tables[CLIENTS] = spread(clients[..., None] if shape.sampling in INDEPENDENT else clients, both, 2)
    if chance.coin:
        tables[COMMUNICATION] = spread(coins[..., None], both, 2)
    if chance.layers:
        tables[LAYERS] = spread(np.concatenate([orders[:, :1], orders], axis=1), both, 2)  # drawn for the round to come
    if chance.trackers or shape.subset is not None:
        tables[TRACKERS] = spread(trackers, both, 2)
    tosses, first = tosses.reshape(len(paths), shape.rounds, -1, shape.clients).swapaxes(2, 3), 0
    for stream, count in _by_toss(shape).items():
        tables[stream], first = spread(tosses[..., first : first + count], both, 2), first + count
    return Outcomes(EnumeratedDraws(tables, backend, outside), backend.array(noise_weight), backend.array(sampling_weight),
                    len(law) ** (len(shape.noisy) * len(start)))


def spread(table: np.ndarray, both: tuple[int, int, int], axis: int) -> np.ndarray:
    """A table of draws whose rows belong to one of the axes ``both``, for runs in the nesting of all three."""
    lead = [1, 1, 1]
    lead[axis] = table.shape[0]
    return np.broadcast_to(table.reshape(*lead, *table.shape[1:]), (*both, *table.shape[1:])).reshape(-1, *table.shape[1:])
