"""Blocks of a sweep: points that run as one batch, in this process, in several, or on a cluster of dask."""

import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from typing import Any

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.batching import of_state
from fedtheory.cluster import cluster
from fedtheory.fingerprint import code_of, digest_of, fingerprint
from fedtheory.memory import all_memory, needed_by, runs_at_once
from fedtheory.observables import DEFAULT, OBSERVABLES
from fedtheory.run import run
from fedtheory.stacking import alike, stacked
from fedtheory.trajectory import Trajectory
from synthetic.numbers.arrays import backend_on, to_numpy, waits

__all__ = ["MEMORY", "Question", "blocks_of", "cards", "computed", "devices_of", "name_of"]

#: bytes of memory of a block on the processor, about, which its caches like; a block of one point takes what it needs
MEMORY = 2**27


def name_of(measure: str | Callable) -> str:
    """The name of a measure: an observable's, or a function's."""
    name = measure if isinstance(measure, str) else getattr(measure, "__name__", type(measure).__name__)
    return "measure" if name == "<lambda>" else name


@dataclass(frozen=True)
class Question:
    """The question that is answered at every point of a sweep: measures of runs on a federation."""

    federation: Any
    rounds: int
    seeds: np.ndarray
    start: np.ndarray | None
    measures: tuple[str | Callable, ...]

    @property
    def record(self) -> tuple[str, ...]:
        """The names of the observables that runs record: none where the last models are enough."""
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
            last = trajectory.dataset[measure].values[:, -1] if measure in self.record else self._at_the_end(
                measure, together, trajectory.state)
            found[measure] = last.reshape(points, own, *last.shape[1:])
        return found

    def _at_the_end(self, measure: str, together: Algorithm, state) -> np.ndarray:
        """An observable of the last models, of as many runs at once as fit the memory; their state may be on the host."""
        federation, x = self.federation, together.output(state)
        size = runs_at_once(together, federation, 1, (), len(x))

        def measured(rows: slice):
            here = federation if federation.instances == 1 else federation.select(rows)
            return to_numpy(OBSERVABLES[measure].measure(here, federation.backend.array(x[rows])))

        with np.errstate(all="ignore"):
            return np.concatenate([measured(slice(first, first + size)) for first in range(0, len(x), size)])


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
    rows, runs = slice(number * own, (number + 1) * own), trajectory.runs

    def part(array):
        return array[rows] if array.shape[0] == runs else array

    name = getattr(trajectory.federation, "name", type(trajectory.federation).__name__)
    return replace(
        trajectory, dataset=trajectory.dataset.isel(run=rows), seeds=trajectory.seeds[rows], algorithm=algorithm,
        state=of_state(trajectory.state, part),
        fingerprint=fingerprint(algorithm, trajectory.federation), description=f"{algorithm.name} on {name}",
        start=part(trajectory.start))


def blocks_of(question: Question, algorithms: Sequence[Algorithm], processes: int = 1) -> list[list[int]]:
    """The points, by number, that run as one batch: alike, and on the processor so many that they need about ``MEMORY``
    bytes. On a card they may fill its memory, but each of the ``processes`` has some of them.

    Exact numbers, and federations with one instance per run, run point by point.
    """
    federation, blocks = question.federation, []
    if federation.backend.library in ("exact", "balls") or federation.instances > 1:
        return [[number] for number in range(len(algorithms))]
    for group in alike(algorithms):
        needed = needed_by(algorithms[group[0]], federation, question.rounds, question.record, len(group) > 1)
        runs = needed.at_once(federation.backend, 1 / processes, all_memory) if waits(federation.weights) else (
            MEMORY // (needed.works + 2 * needed.recorded))
        size = max(1, runs // len(question.seeds))
        if waits(federation.weights):  # the same blocks again, so that a sweep with a path goes on
            size = 2 ** (min(size, -(-len(group) // processes)).bit_length() - 1)
        blocks += [group[first: first + size] for first in range(0, len(group), size)]
    return sorted(blocks)


# where blocks are computed -------------------------------------------------------------------------------------------------
def computed(question: Question, blocks: Mapping[Any, list[Algorithm]], workers: int = 1, client=None,
             devices: Sequence[str] = ()) -> Iterator[tuple[Any, dict[str, np.ndarray]]]:
    """The key of each block and its answer, as soon as it is known: here, from ``workers`` processes, at least one for each
    of several ``devices``, or on a cluster."""
    if client is not None:
        return _on_cluster(question, blocks, client)
    workers = max(workers, len(devices))
    if workers > 1 and len(blocks) > 1:
        return _in_processes(question, blocks, min(workers, len(blocks)), devices)
    return ((key, question.answer(block)) for key, block in blocks.items())


def cards() -> list[str]:
    """The names of the cards of this machine."""
    import torch

    return [f"cuda:{number}" for number in range(torch.cuda.device_count())]


def devices_of(device: str | Sequence[str] | None, several: bool = True) -> list[str]:
    """The names of the devices on which a sweep runs: those given; of ``cuda`` all cards, unless ``several`` cannot be.

    Raises ValueError for an empty list, and for a device that this machine does not have.
    """
    if device is None:
        return []
    if str(device) == "cuda" and several and len(cards()) > 1:
        return cards()
    if not isinstance(device, list | tuple):
        return [backend_on(str(device)).device]
    if not device or (len(device) > 1 and not several):
        raise ValueError(f"device must be a name, or several without a client; got {device!r}")
    return [backend_on(one).device for one in device]


def _in_processes(question, blocks, workers, devices):
    if devices:
        question = replace(question, federation=question.federation.to("cpu"))
    try:
        sent = pickle.dumps(question), {key: pickle.dumps(block) for key, block in blocks.items()}
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(f"other processes cannot be sent the method, the federation or the measure, which must stand in "
                         f"modules: {error}; allowed: workers=1") from error
    threads, spawn = max(1, (os.cpu_count() or 1) // workers), get_context("spawn")
    pool = ProcessPoolExecutor(workers, spawn, _begin, (sent[0], threads, devices, spawn.Value("i", 0)))
    try:
        waiting = {pool.submit(_answer, block): key for key, block in sent[1].items()}
        for future in as_completed(waiting):
            yield waiting[future], future.result()
    except BrokenProcessPool as error:
        raise RuntimeError("a process of the sweep died; with a path, the same call goes on with what is left") from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_ASKED: list[Question] = []  # of this worker process


def _begin(question: bytes, threads: int, devices: Sequence[str], begun) -> None:
    """Initialises a worker process; ``begun``: the number of processes before it, which is its own number."""
    import torch

    torch.set_num_threads(threads)
    asked: Question = pickle.loads(question)
    if devices:
        with begun.get_lock():
            number, begun.value = begun.value, begun.value + 1
        device = devices[number % len(devices)]
        if device.startswith("cuda"):
            torch.cuda.set_device(device)
        asked = replace(asked, federation=asked.federation.to(device))
    _ASKED[:] = [asked]


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
