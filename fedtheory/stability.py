"""Algorithmic stability and generalisation of any method, measured on runs over neighbouring data sets.

Draws depend on the seed of a run alone. Two runs with one seed on neighbouring data sets therefore share their start, their
sampled clients and their sample numbers. A *test* is a federation in which each client has a single sample, so that its
values are the losses of fresh samples.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from fedtheory.registry import as_algorithm, as_federation
from fedtheory.run import run
from synthetic.base.checks import whole
from synthetic.base.display import RichDisplay, lines
from synthetic.base.noise import NoNoise
from synthetic.data.federation import pad
from synthetic.numbers.arrays import namespace, to_numpy

__all__ = [
    "Generalisation", "Stability", "coupled_runs", "generalisation", "random_replacements", "samples_of",
    "searched_replacement", "single_samples", "with_samples",
]


@dataclass(frozen=True)
class Stability(RichDisplay):
    """Gaps of coupled runs, a row for each of ``replacements`` and a column for each round from 0.

    ``parameter_gap``: E|x_r - x'_r|. ``loss_gap``: the supremum over the test samples z of E|l(x_r; z) - l(x'_r; z)|; nan
    without a test.
    """

    replacements: list
    parameter_gap: np.ndarray
    loss_gap: np.ndarray

    def _summary(self) -> str:
        return f"gaps of runs on {len(self.replacements)} neighbouring data sets, {self.parameter_gap.shape[1] - 1} rounds"

    def _table(self):
        client, sample, *_ = self.replacements[self.worst]
        yield "largest gap", f"by another sample {sample} of client {client}"
        yield "parameter gap in the end", float(self.parameter_gap[self.worst, -1])
        yield "loss gap in the end", float(self.loss_gap[self.worst, -1])

    def _svg(self):
        return lines(self.parameter_gap[self.worst])

    @property
    def worst(self) -> int:
        """Row with the largest final gap: of the losses, or of the parameters without a test."""
        last = self.parameter_gap[:, -1] if np.isnan(self.loss_gap).any() else self.loss_gap[:, -1]
        return int(np.argmax(last))


def _models(algorithm, federation, rounds, seeds, start=None):
    """Server models (runs, rounds + 1, dim)."""
    return run(algorithm, federation, rounds, seeds=seeds, start=start, record=("x",)).dataset["x"].values


def _losses(test, models):
    """Losses of all test samples at ``models`` (..., dim), as (..., samples)."""
    flat = test.backend.array(models.reshape(-1, models.shape[-1]))
    return to_numpy(test.value(test.all_clients(flat))).reshape(*models.shape[:-1], test.clients)


def coupled_runs(algorithm, federation, replacements, rounds: int, *, seeds: int | Sequence[int] = 1, start=None,
                 test=None, device: str | None = None, dtype: str | None = None) -> Stability:
    """Runs ``algorithm`` on a federation of data and on each of its neighbours, for each seed.

    Args:
        federation: data of one instance, see :class:`synthetic.data.DataFederation`.
        replacements: as in :func:`synthetic.neighbours.neighbours`: (client, sample, features, target) each.
        seeds: how many runs, or their seeds; one is enough for a deterministic method.
        test: a federation with one test sample per client, or None.
        device, dtype: where and in which numbers both federations compute, as for :func:`fedtheory.run`.

    Raises:
        ValueError: bad replacements, rounds or seeds, a device that this machine does not have.

    Example:
        >>> from fedtheory import fedavg
        >>> from synthetic import from_arrays
        >>> federation = from_arrays([[1.0], [1.0]], [0.0, 4.0], [0, 0])
        >>> coupled_runs(fedavg(eta_l=0.5), federation, [(0, 1, [1.0], 0.0)], 2).parameter_gap.tolist()
        [[0.0, 1.0, 1.5]]
    """
    algorithm, federation = as_algorithm(algorithm), as_federation(federation, device, dtype)
    test, replacements = None if test is None else as_federation(test, device, dtype), list(replacements)
    numbers = np.arange(whole("seeds", seeds)) if np.ndim(seeds) == 0 else np.asarray(seeds)
    count, each = len(replacements), len(numbers)
    own = _models(algorithm, federation, rounds, numbers, start)
    neighbours = federation.neighbours([entry for entry in replacements for _ in numbers])
    twin = _models(algorithm, neighbours, rounds, np.tile(numbers, count), start)
    twin = twin.reshape(count, each, *twin.shape[1:])
    gap = np.linalg.norm(twin - own, axis=-1).mean(axis=1)
    if test is None:
        return Stability(replacements, gap, np.full(gap.shape, np.nan))
    apart = abs(_losses(test, twin) - _losses(test, own)[None]).mean(axis=1)
    return Stability(replacements, gap, apart.max(axis=-1))


def samples_of(federation) -> list[tuple[int, int, np.ndarray, np.ndarray]]:
    """Every sample of a federation of data, as (client, sample, features, target)."""
    counts, features, targets = (to_numpy(getattr(federation, name))[0] for name in ("counts", "features", "targets"))
    return [(k, i, features[k, i], targets[k, i]) for k in range(len(counts)) for i in range(int(counts[k]))]


def with_samples(federation, rows: Sequence[tuple], batch_size: int | None = None):
    """The loss of a federation of data on other samples: ``rows`` of (client, features, target), clients numbered from 0.

    Clients have equal weights, and there is no additive noise. Nothing is held out.
    """
    backend, new = federation.backend, federation.select([0])
    client = np.array([row[0] for row in rows])
    xs, ys = (np.stack([np.asarray(row[i], dtype=float) for row in rows]) for i in (1, 2))
    new.clients = int(client.max()) + 1
    features, targets, counts = pad(xs, ys, client, new.clients)
    real = np.arange(features.shape[2]) < counts[..., None]
    new.batch_size, new._additive = batch_size, NoNoise()
    new.features, new.targets = backend.array(features), backend.array(targets)
    new.share, new.counts = backend.array(real / counts[..., None]), backend.integers(counts)
    new._set_weights(backend.array(np.ones(counts.shape)), backend.booleans(counts > 0))
    new._set_held_out(None, backend)
    for name in new._solved:
        new.__dict__.pop(name, None)  # optima of the old data
    return new


def single_samples(federation, samples: Sequence[tuple]):
    """A test for a federation of data: the same loss, with each of the ``samples`` (features, target) as its own client."""
    return with_samples(federation, [(i, *z) for i, z in enumerate(samples)])


def random_replacements(federation, count: int, seed: int = 0) -> list[tuple]:
    """``count`` replacements, spread evenly over the clients: a random sample becomes another random one of its client."""
    rng, samples = np.random.default_rng(seed), samples_of(federation)
    pools = [[z for z in samples if z[0] == k] for k in range(federation.clients)]
    clients = np.arange(whole("count", count)) % federation.clients
    pairs = [[pools[k][i] for i in rng.integers(len(pools[k]), size=2)] for k in clients]
    return [(*place[:2], *fresh[2:]) for place, fresh in pairs]


def searched_replacement(algorithm, federation, rounds: int, *, tries: int = 64, seed: int = 0, device: str | None = None,
                         dtype: str | None = None, **options) -> Stability:
    """Searches for the replacement with the largest final gap; the answer has this one row.

    The search first tries ``tries`` random pairs of a place and a new sample: one of the data, or its mirror image in the
    origin. Then it perturbs the features of the best one, in batches of eight and ``tries`` times in all, without making
    them longer than the longest in the data. Further arguments are those of :func:`coupled_runs`.
    """
    federation = as_federation(federation, device, dtype)
    options = options | {"device": device, "dtype": dtype}  # of the test
    rng, samples = np.random.default_rng(seed), samples_of(federation)
    fresh = [(sign * a, y) for _, _, a, y in samples for sign in (-1, 1)]
    numbers = rng.permutation(len(samples) * len(fresh))[: whole("tries", tries)]
    pairs = [(samples[n // len(fresh)], fresh[n % len(fresh)]) for n in numbers]
    best = _best_of(algorithm, federation, [(k, i, *z) for (k, i, *_), z in pairs], rounds, options)
    longest, size = max(np.linalg.norm(a) for _, _, a, _ in samples), 0.5
    for _ in range(tries // 8):
        k, i, features, target = best.replacements[0]
        length = np.linalg.norm(features)
        near = features + size * max(length, longest / 2) * rng.standard_normal((8, len(features))) / len(features) ** 0.5
        near *= np.minimum(longest / np.linalg.norm(near, axis=1, keepdims=True).clip(min=1e-300), 1)
        found = _best_of(algorithm, federation, [(k, i, a, target) for a in near], rounds, options)
        better = _final(found) > _final(best)
        best, size = (found, size * 1.5) if better else (best, size * 0.7)
    return best


def _best_of(algorithm, federation, replacements, rounds, options) -> Stability:
    tried = coupled_runs(algorithm, federation, replacements, rounds, **options)
    row = tried.worst
    return Stability([tried.replacements[row]], tried.parameter_gap[[row]], tried.loss_gap[[row]])


def _final(found: Stability) -> float:
    return float(found.parameter_gap[0, -1] if np.isnan(found.loss_gap).any() else found.loss_gap[0, -1])


@dataclass(frozen=True)
class Generalisation:
    """Expected population risk minus training loss of the output, measured in two ways over ``data_sets`` data sets.

    ``direct``: both terms evaluated. ``identity``: the mean over samples z_ij of l(A(S with z_ij replaced); z_ij) -
    l(A(S); z_ij). ``error``: the standard error of their difference; nan for one data set, 0 over all data sets.
    """

    direct: float
    identity: float
    data_sets: int
    error: float = float("nan")


def generalisation(
    algorithm, make: Callable[[list], Any], pools: Sequence[Sequence[tuple]], samples: int, rounds: int, *,
    seeds: int | Sequence[int] = 1, data_sets: int | None = None, seed: int = 0,
    device: str | None = None, dtype: str | None = None,
) -> Generalisation:
    """The generalisation gap of ``algorithm`` if the samples of client k are drawn uniformly from ``pools[k]``.

    Args:
        make: from a list of (client, features, target) to a federation, for example
            ``lambda rows: from_arrays([z[1] for z in rows], [z[2] for z in rows], [z[0] for z in rows])``; clients
            have equal weights and as many samples each.
        pools: for each client its equally likely samples, pairs (features, target).
        data_sets: how many data sets to draw; None for all of them, which is exact and needs few samples and small pools.
        device, dtype: where and in which numbers the federations compute, as for :func:`fedtheory.run`.

    Both ways agree exactly over all data sets, and up to sampling error otherwise.
    """
    def federation_of(rows):
        return as_federation(make(rows), device, dtype)

    clients, samples = len(pools), whole("samples", samples)
    population = federation_of([(k, *z) for k, pool in enumerate(pools) for z in pool])
    numbers = np.arange(whole("seeds", seeds)) if np.ndim(seeds) == 0 else np.asarray(seeds)
    rng = np.random.default_rng(seed)
    every: Iterable[Sequence[Sequence[int]]]
    if data_sets is None:
        every = product(*(product(range(len(pool)), repeat=samples) for pool in pools))
    else:
        count = whole("data_sets", data_sets)
        every = [[rng.integers(len(pool), size=samples).tolist() for pool in pools] for _ in range(count)]
    direct, identity = [], []
    for chosen in every:
        federation = federation_of([(k, *pools[k][a]) for k in range(clients) for a in chosen[k]])
        x = _models(algorithm, federation, rounds, numbers)[:, -1]
        at = federation.backend.array(x)
        direct.append(float(namespace(at).mean(population.objective(at) - federation.objective(at))))
        places = list(product(range(clients), range(samples)))
        fresh = {(k, j): range(len(pools[k])) if data_sets is None else [int(rng.integers(len(pools[k])))]
                 for k, j in places}
        entries = [(k, j, *pools[k][f]) for k, j in places for f in fresh[k, j]]
        neighbours = federation.neighbours([entry for entry in entries for _ in range(len(x))])
        models = _models(algorithm, neighbours, rounds, np.tile(numbers, len(entries)))[:, -1]
        models = models.reshape(len(entries), len(x), -1)
        for k, j in places:
            own = federation_of([(0, *pools[k][chosen[k][j]])])
            rows = [n for n, entry in enumerate(entries) if entry[:2] == (k, j)]
            identity.append(float(np.mean(_losses(own, models[rows]) - _losses(own, x)[None])))
    apart = np.array(direct) - np.reshape(identity, (len(direct), -1)).mean(axis=1)
    error = float(apart.std(ddof=1) / len(apart) ** 0.5) if len(apart) > 1 else float("nan")
    return Generalisation(float(np.mean(direct)), float(np.mean(identity)), len(direct), error)
