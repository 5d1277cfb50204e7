"""Blocks of a sweep: points that run as one batch, in this process, in several, or on a cluster of dask."""

import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from math import prod
from multiprocessing import get_context
from typing import Any

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.cluster import cluster
from fedtheory.fingerprint import code_of, digest_of, fingerprint
from fedtheory.observables import DEFAULT, OBSERVABLES
from fedtheory.run import memory_needed, run
from fedtheory.stacking import alike, stacked
from fedtheory.trajectory import Trajectory
from synthetic.numbers.arrays import to_numpy

__all__ = ["MEMORY", "Question", "blocks_of", "computed", "name_of"]

#: bytes of memory of a block, about; a block of one point takes what it needs
MEMORY = 2**27
_COPIES = 12  # of the local models, that a round works with


def name_of(measure: str | Callable) -> str:
    """The name of a measure: an observable's, or a function's."""
    name = measure if isinstance(measure, str) else getattr(measure, "__name__", type(measure).__name__)
    return "measure" if name == "<lambda>" else name


@dataclass(frozen=True)
class Question:
    """What is asked of every point of a sweep."""

    federation: Any
    rounds: int
    seeds: np.ndarray
    start: np.ndarray | None
    measures: tuple[str | Callable, ...]

    @property
    def record(self) -> tuple[str, ...]:
        """What runs record: nothing where the last models are enough."""
        named = [one for one in self.measures if isinstance(one, str) and OBSERVABLES[one].when != "state"]
        return tuple(dict.fromkeys([*named, *(DEFAULT if any(map(callable, self.measures)) else ())]))

    def digest(self, algorithms: Sequence[Algorithm]) -> str:
        """A digest of the question at these points, and of the code that answers it."""
        parts = [part for one in algorithms for part in (one, one.selection, *one.parts)]
        here = stacked(algorithms, self.federation.backend)
        return digest_of(len(algorithms), fingerprint(here, self.federation), self.rounds, self.seeds, self.start,
                         self.measures, code_of(self.federation, *parts))[:32]

    def answer(self, algorithms: Sequence[Algorithm]) -> dict[str, np.ndarray]:
        """Each measure at each point, (points, seeds, ...) or, of functions with one number, (points,); and ``diverged``."""
        points, own, federation = len(algorithms), len(self.seeds), self.federation
        start = self.start if self.start is None or self.start.ndim == 1 else np.tile(self.start, (points, 1))
        together = stacked(algorithms, federation.backend, own)
        trajectory = run(together, federation, self.rounds, start=start, seeds=np.tile(self.seeds, points),
                         record=self.record)
        found = {"diverged": trajectory.dataset["diverged"].values.reshape(points, own)}
        for measure in self.measures:
            if callable(measure):
                found[name_of(measure)] = _measured(measure, trajectory, algorithms, own)
                continue
            with np.errstate(all="ignore"):
                last = trajectory.dataset[measure].values[:, -1] if measure in self.record else to_numpy(
                    OBSERVABLES[measure].measure(federation, together.output(trajectory.state)))
            found[measure] = last.reshape(points, own, *last.shape[1:])
        return found


def _measured(measure: Callable, trajectory: Trajectory, algorithms: Sequence[Algorithm], own: int) -> np.ndarray:
    """A function of the trajectory of each point."""
    values = [np.asarray(measure(_of_point(trajectory, number, algorithm, own)), dtype=float)
              for number, algorithm in enumerate(algorithms)]
    for value in values:
        if value.shape not in ((), (own,)):
            raise ValueError(f"{name_of(measure)} must return one number, or one for each of {own} runs; got shape "
                             f"{value.shape}")
    return np.stack(values)


def _of_point(trajectory: Trajectory, number: int, algorithm: Algorithm, own: int) -> Trajectory:
    """The runs of one point, as :func:`fedtheory.run` gives them for it alone."""
    rows, runs, state = slice(number * own, (number + 1) * own), trajectory.runs, trajectory.state

    def part(array):
        return array[rows] if array.shape[0] == runs else array

    server, clients = ({name: part(array) for name, array in kept.items()} for kept in (state.server, state.clients))
    participation = state.participation
    if participation is not None:
        participation = replace(participation, **{name: part(array) for name, array in vars(participation).items()})
    name = getattr(trajectory.federation, "name", type(trajectory.federation).__name__)
    return replace(
        trajectory, dataset=trajectory.dataset.isel(run=rows), seeds=trajectory.seeds[rows], algorithm=algorithm,
        state=state._replace(x=part(state.x), server=server, clients=clients, participation=participation),
        fingerprint=fingerprint(algorithm, trajectory.federation), description=f"{algorithm.name} on {name}",
        start=part(trajectory.start))


def blocks_of(question: Question, algorithms: Sequence[Algorithm]) -> list[list[int]]:
    """The points, by number, that run as one batch: alike, and so many that they need about ``MEMORY`` bytes.

    Exact numbers, and federations with one instance per run, run point by point.
    """
    federation, blocks = question.federation, []
    if federation.backend.library in ("exact", "balls") or federation.instances > 1:
        return [[number] for number in range(len(algorithms))]
    for group in alike(algorithms):
        each = len(question.seeds) * _bytes(question, algorithms[group[0]])
        size = max(1, MEMORY // each)
        blocks += [group[first: first + size] for first in range(0, len(group), size)]
    return sorted(blocks)


def _bytes(question: Question, algorithm: Algorithm) -> int:
    """About how many bytes a run needs: what it works with, and what it records."""
    federation = question.federation
    working = _COPIES * federation.clients * federation.dim
    for name in ("features", "curvature"):  # scores of samples; affine maps of dense quadratics
        data: Any = getattr(federation, name, None)
        if hasattr(data, "shape"):
            working += 4 * prod(data.shape[1:-1]) * getattr(federation, "outputs", 1) * (
                federation.dim if name == "curvature" and data.ndim == 4 else 1)
    recorded = memory_needed(federation, question.rounds, algorithm.local_steps, 1, question.record)
    return 8 * working + recorded


# where blocks are computed -------------------------------------------------------------------------------------------------
def computed(question: Question, blocks: Mapping[Any, list[Algorithm]], workers: int = 1,
             client=None) -> Iterator[tuple[Any, dict[str, np.ndarray]]]:
    """The key of each block and its answer, as soon as it is known: here, from ``workers`` processes, or on a cluster."""
    if client is not None:
        return _on_cluster(question, blocks, client)
    if workers > 1 and len(blocks) > 1:
        return _in_processes(question, blocks, min(workers, len(blocks)))
    return ((key, question.answer(block)) for key, block in blocks.items())


def _in_processes(question, blocks, workers):
    try:
        sent = pickle.dumps(question), {key: pickle.dumps(block) for key, block in blocks.items()}
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(f"other processes cannot be sent the method, the federation or the measure, which must stand in "
                         f"modules: {error}; allowed: workers=1") from error
    threads = max(1, (os.cpu_count() or 1) // workers)
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _begin, (sent[0], threads))
    try:
        waiting = {pool.submit(_answer, block): key for key, block in sent[1].items()}
        for future in as_completed(waiting):
            yield waiting[future], future.result()
    except BrokenProcessPool as error:
        raise RuntimeError("a process of the sweep died; with a path, the same call goes on with what is left") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_ASKED: list[Question] = []  # of this worker process


def _begin(question: bytes, threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
    _ASKED[:] = [pickle.loads(question)]


def _answer(block: bytes):
    return _ASKED[0].answer(pickle.loads(block))


def _on_cluster(question, blocks, client):
    with cluster(client) as workers:
        import distributed

        asked = workers.submit(_same, question, pure=False)  # a task, so that it is made again if its worker dies
        waiting = {workers.submit(Question.answer, asked, block, pure=False): key for key, block in blocks.items()}
        for future in distributed.as_completed(list(waiting)):
            yield waiting[future], future.result()


def _same(question: Question) -> Question:
    return question
