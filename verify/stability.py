"""Stability and generalisation of any method: runs on neighbouring data sets, and what a fresh sample costs.

Runs on neighbouring data sets share their start, their clients and their sample numbers, because draws depend on a run's
seed alone. A *test* is a federation whose clients are single samples: its values are the losses of fresh samples.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from fedtheory.run import run
from synthetic.arrays import namespace, to_numpy
from synthetic.checks import whole

__all__ = ["Generalisation", "Stability", "coupled_runs", "generalisation", "worst_replacement"]


@dataclass(frozen=True)
class Stability:
    """Gaps of coupled runs, one row per replacement: ``parameter_gap`` E|x_r - x'_r| by round, (replacements, rounds + 1);
    ``loss_gap`` sup over the test samples z of E|l(x_r; z) - l(x'_r; z)|, same shape, nan without a test."""

    replacements: list
    parameter_gap: np.ndarray
    loss_gap: np.ndarray

    @property
    def worst(self) -> int:
        """Number of the replacement with the largest gap at the end: of losses, or of parameters without a test."""
        last = self.parameter_gap[:, -1] if np.isnan(self.loss_gap).any() else self.loss_gap[:, -1]
        return int(np.argmax(last))


def _models(algorithm, federation, rounds, seeds, start):
    """Server models (runs, rounds + 1, dim)."""
    return run(algorithm, federation, rounds, seeds=seeds, start=start, record=("x",)).dataset["x"].values


def _losses(test, models):
    """Losses of all test samples at ``models`` (..., dim), as (..., samples)."""
    flat = test.backend.array(models.reshape(-1, models.shape[-1]))
    return to_numpy(test.value(test.all_clients(flat))).reshape(*models.shape[:-1], test.clients)


def coupled_runs(algorithm, federation, replacements, rounds: int, *, seeds: int | Sequence[int] = 1, start=None,
                 test=None) -> Stability:
    """Run ``algorithm`` on a federation of data, and on its neighbours, for each seed.

    Args:
        federation: data of one instance, see :class:`synthetic.data.DataFederation`.
        replacements: as in :func:`synthetic.neighbours.neighbours`: (client, sample, features, target) each.
        seeds: how many runs, or their seeds; one is enough for methods without chance.
        test: a federation with one test sample per client, or None.

    Raises:
        ValueError: bad replacements, rounds or seeds.

    Example:
        >>> from fedtheory import fedavg
        >>> from synthetic import from_arrays
        >>> federation = from_arrays([[1.0], [1.0]], [0.0, 4.0], [0, 0])
        >>> coupled_runs(fedavg(eta_l=0.5), federation, [(0, 1, [1.0], 0.0)], 2).parameter_gap.tolist()
        [[0.0, 1.0, 1.5]]
    """
    replacements = list(replacements)
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


def worst_replacement(algorithm, federation, candidates, rounds: int, *, samples: Sequence[tuple[int, int]] | None = None,
                      **options) -> Stability:
    """The worst of all ways to put one of the ``candidates``, pairs (features, target), in place of a sample.

    ``samples``: the (client, sample) that may be replaced; default the first sample of every client. Further arguments as
    in :func:`coupled_runs`; the answer has the one row of the worst replacement.
    """
    places = [(k, 0) for k in range(federation.clients)] if samples is None else samples
    replacements = [(*place, *z) for place, z in product(places, candidates)]
    tried = coupled_runs(algorithm, federation, replacements, rounds, **options)
    row = tried.worst
    return Stability([tried.replacements[row]], tried.parameter_gap[[row]], tried.loss_gap[[row]])


@dataclass(frozen=True)
class Generalisation:
    """Expected population risk minus training loss of the output: ``direct``, and by the replace-one ``identity``, the mean
    over samples z_ij of l(A(S with z_ij replaced); z_ij) - l(A(S); z_ij); ``data_sets`` over which both are means."""

    direct: float
    identity: float
    data_sets: int


def generalisation(
    algorithm, make: Callable[[list], Any], pools: Sequence[Sequence[tuple]], samples: int, rounds: int, *,
    seeds: int | Sequence[int] = 1, start=None, data_sets: int | None = None, seed: int = 0,
) -> Generalisation:
    """The generalisation gap of ``algorithm`` where client k's samples are drawn uniformly from ``pools[k]``.

    Args:
        make: from a list of (client, features, target) to a federation, for example
            ``lambda rows: from_arrays([z[1] for z in rows], [z[2] for z in rows], [z[0] for z in rows])``; clients
            have equal weights and as many samples each.
        pools: per client its equally likely samples, pairs (features, target).
        data_sets: None for all data sets (exact; few samples and small pools), else how many to draw.

    Both ways agree exactly over all data sets, and up to sampling otherwise.
    """
    clients, samples = len(pools), whole("samples", samples)
    population = make([(k, *z) for k, pool in enumerate(pools) for z in pool])
    every = product(*(product(range(len(pool)), repeat=samples) for pool in pools))
    rng = np.random.default_rng(seed)
    if data_sets is not None:
        count = whole("data_sets", data_sets)
        every = [[rng.integers(len(pool), size=samples).tolist() for pool in pools] for _ in range(count)]
    direct, identity = [], []
    for chosen in every:
        federation = make([(k, *pools[k][a]) for k in range(clients) for a in chosen[k]])
        x = _models(algorithm, federation, rounds, seeds, start)[:, -1]
        at = federation.backend.array(x)
        direct.append(float(namespace(at).mean(population.objective(at) - federation.objective(at))))
        for k, j in product(range(clients), range(samples)):
            fresh = range(len(pools[k])) if data_sets is None else [int(rng.integers(len(pools[k])))]
            models = [_models(algorithm, make([
                (i, *pools[i][f if (i, s) == (k, j) else a]) for i in range(clients) for s, a in enumerate(chosen[i])
            ]), rounds, seeds, start)[:, -1] for f in fresh]
            own = make([(0, *pools[k][chosen[k][j]])])
            identity.append(float(np.mean([_losses(own, model) - _losses(own, x) for model in models])))
    return Generalisation(float(np.mean(direct)), float(np.mean(identity)), len(direct))
