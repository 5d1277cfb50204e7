"""Outcomes of the data draw: every data set that clients may have drawn, with every way to replace one sample.

Client k draws its samples from the uniform distribution on finitely many atoms, each a loss. An outcome of the data draw, in
code a *world*, is a data set (every client's samples, drawn independently), the client whose sample is replaced (uniform),
and the fresh sample (from that client's distribution). Samples of a client are exchangeable, so the first one is replaced.
The coupled run has the same start, clients and sample numbers.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from typing import Any

import numpy as np

from bounds.language.samples import worst_mean_gap, worst_mean_signed_gap
from synthetic.numbers.arrays import Backend, largest, namespace
from synthetic.numbers.draws import CLIENTS, SAMPLES, EnumeratedDraws
from verify.instances.chance import Chance
from verify.instances.family import Family
from verify.instances.outcomes import spread

__all__ = ["DataSets", "data_sets_of"]

#: words with a supremum over neighbouring data sets inside
SUPREMA = (worst_mean_gap, worst_mean_signed_gap)


class _AtAllTimes(EnumeratedDraws):
    """Draws whose tables hold the negative times at their ends."""

    def category(self, stream, cumulative, time, keys):
        row = self._table(stream)[:, time]
        return namespace(row).take_along_axis(row, keys + 0 * row[:, :1], axis=1)


@dataclass(frozen=True)
class DataSets:
    """All outcomes of chance of coupled runs; the sample numbers vary fastest, within a data set.

    ``data``, ``twin``: atoms of the run's and the coupled run's data, (data_sets, clients, samples). ``replaced``: the
    client whose first sample is replaced, (data_sets,). ``used``: sample numbers of the local steps, (drawn, iterations,
    clients). ``outside``: those of gradients outside the local steps, (drawn, rounds + 1, clients), of the start last, of
    round 0 before that, and so on. ``taking_part``: which clients are sampled, (paths, rounds, clients). ``fixed``: whether
    expectations are given the data sets and the replaced sample. ``law`` is the clients' distribution as a federation (as
    many samples as atoms), ``each`` has every atom as a client of its own; both of ``rows`` instances.
    """

    data: np.ndarray
    twin: np.ndarray
    replaced: np.ndarray
    used: np.ndarray
    paths: np.ndarray
    taking_part: np.ndarray
    outside: np.ndarray
    fixed: bool = False
    law: Any = None
    each: Any = None

    @property
    def count(self) -> int:
        return len(self.replaced)

    @property
    def sample_draws(self) -> int:
        return len(self.used)

    @property
    def rows(self) -> int:
        return self.law.instances

    @property
    def atoms(self) -> int:
        return self.law.samples

    def draws(self, rows: int, backend: Backend) -> EnumeratedDraws:
        """Draws of both runs of ``rows`` instances, nested as run, instance, world, samples drawn, clients sampled."""
        both = (2 * rows * self.count, self.sample_draws, len(self.paths))
        tables = {SAMPLES: spread(np.concatenate([self.used, self.outside], axis=1), both, 1)}
        if self.paths.shape[2]:
            tables[CLIENTS] = spread(self.paths, both, 2)
        return _AtAllTimes(tables, backend)

    def weights(self, backend: Backend):
        """Probabilities of data_sets with samples drawn, (1, data_sets * drawn), and of the clients sampled, (1, paths)."""
        return tuple(
            backend.array(np.ones((1, size))) / size for size in (self.count * self.sample_draws, len(self.paths)))

    def mean_given(self, data):
        """Mean over the samples drawn and the clients sampled, every world for itself, shaped as ``data``."""
        xp = namespace(data)
        data = xp.sum(data, axis=2, keepdims=True) / data.shape[2]
        if data.shape[1] == 1:
            return data
        return self._spread(xp.sum(self._split(data), axis=2, keepdims=True) / self.sample_draws)

    def mean_unused(self, data, r: int):
        """Mean over the samples drawn and the clients sampled, given that the replaced sample is not used in the rounds
        before ``r``; 0/0 where it always is."""
        xp = namespace(data)
        data = xp.broadcast_to(data, (data.shape[0], self.count * self.sample_draws, len(self.paths), *data.shape[3:]))
        unused = 1 - self._use[..., :r].any(axis=-1).astype(int)  # data_sets, drawn, paths
        chances = self.law.backend.array(unused).reshape(1, *unused.shape, *(1,) * (data.ndim - 3))
        split = self._split(data)
        total = xp.sum(xp.sum(split * chances, axis=3, keepdims=True), axis=2, keepdims=True)
        mean = total / xp.sum(xp.sum(chances, axis=3, keepdims=True), axis=2, keepdims=True)
        return self._spread(mean)

    def mean_of_client(self, data, clients: np.ndarray, noise_weight, sampling_weight, vector: bool):
        """Mean over all outcomes, given that the replaced sample belongs to client ``clients`` (one axis per index)."""
        xp = namespace(data)
        of_world = np.repeat(self.replaced, self.sample_draws).reshape(1, -1, 1, *(1,) * clients.ndim)
        chosen = (of_world == clients[None, None, None]).astype(int)
        chosen = self.law.backend.array(chosen[..., None] if vector else chosen)
        weight = noise_weight.reshape(1, -1, *(1,) * (data.ndim - 2))
        total = xp.sum(data * chosen * weight, axis=1, keepdims=True) / xp.sum(chosen * weight, axis=1, keepdims=True)
        return xp.sum(total * sampling_weight.reshape(1, 1, -1, *(1,) * (data.ndim - 3)), axis=2, keepdims=True)

    def _split(self, data):
        return data.reshape(data.shape[0], self.count, self.sample_draws, *data.shape[2:])

    def _spread(self, mean):
        """(rows, data_sets, 1, paths | 1, ...) as (rows, data_sets * drawn, paths | 1, ...)."""
        xp = namespace(mean)
        wide = xp.broadcast_to(mean, (*mean.shape[:2], self.sample_draws, *mean.shape[3:]))
        return wide.reshape(mean.shape[0], -1, *mean.shape[3:])

    @property
    def _use(self) -> np.ndarray:
        """Whether the replaced sample is used, (data_sets, drawn, paths, rounds)."""
        rounds = self.taking_part.shape[1]
        first = (self.used == 0).reshape(self.sample_draws, rounds, -1, self.used.shape[-1]).any(axis=2)
        both = first[:, None] & self.taking_part[None]  # drawn, paths, rounds, clients
        return np.moveaxis(both[..., self.replaced], -1, 0)

    def lead(self, lead: tuple[int, ...], federation) -> tuple[int, ...]:
        """Axes of chance of a federation's values at points with the axes ``lead``: its instances are rows, or rows and
        data_sets."""
        if federation.instances == self.rows:
            return (self.rows, *lead[1:])
        return (self.rows, self.count * self.sample_draws, lead[2])

    def compared(self, condition, left, right):
        """Both sides of a condition; their suprema over outcomes where one side is a supremum over neighbouring data
        sets."""
        if not any(side.has(*SUPREMA) for side in (condition.left, condition.right)):
            return left, right
        return tuple(namespace(side).expand_dims(largest(side, 1), axis=1) for side in (left, right))

    def indicators(self) -> dict[str, tuple[np.ndarray, int]]:
        """Arrays about samples that claims may name: name -> (array (outcomes, indices...), number of indices)."""
        clients = np.arange(self.data.shape[1])
        of_world = np.repeat(self.replaced, self.sample_draws)
        used = np.tile(self.used, (self.count, 1, 1))
        differing = of_world[:, None] == clients
        return {"used_sample": (used, 2), "differing": (differing.astype(int), 1),
                "replaced": (((used == 0) & differing[:, None]).astype(int), 2)}


@lru_cache(maxsize=64)
def data_sets_of(data: Family, chance: Chance, clients: int, iterations: int, rounds: int,
                 participants: int | None) -> DataSets:
    """Every world and every outcome of the runs in it; ``participants`` drawn without replacement, or None."""
    rows = product(range(data.atoms), repeat=clients * data.samples)
    sets = [np.array(row).reshape(clients, data.samples) for row in rows]
    cases = list(product(sets, range(clients), range(data.atoms)))
    before = np.array([case[0] for case in cases])
    replaced = np.array([case[1] for case in cases])
    after = before.copy()
    after[np.arange(len(cases)), replaced, 0] = [case[2] for case in cases]
    gradients = chance.gradients(iterations, rounds)
    drawn = np.array(list(product(range(data.samples), repeat=gradients * clients))).reshape(-1, gradients, clients)
    used, outside = drawn[:, :iterations], np.zeros((len(drawn), rounds + 1, clients), dtype=np.int64)
    if chance.start:
        outside[:, -1] = drawn[:, -1]
    if chance.extra:
        outside[:, :-1] = drawn[:, iterations : iterations + rounds]
    subsets = [()] if participants is None else list(combinations(range(clients), participants))
    paths = np.array(list(product(subsets, repeat=rounds)), dtype=np.int64).reshape(len(subsets) ** rounds, rounds, -1)
    taking = np.ones((len(paths), rounds, clients), dtype=bool)
    if participants is not None:
        taking = (paths[..., None] == np.arange(clients)).any(axis=2)
    return DataSets(before, after, replaced, used, paths, taking, outside)
