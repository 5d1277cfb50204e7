"""The memory that runs need, where they are computed and where they are kept, and the memory that is free."""

import os
from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from fedtheory.affine import why_not_affine
from fedtheory.observables import DEFAULT, find_observable
from fedtheory.recorder import PIECE, TIME
from fedtheory.selection import PriorityOnly, WithoutReplacement
from fedtheory.stacking import for_runs
from synthetic.numbers.arrays import Backend, namespace, waits
from synthetic.numbers.draws import Draws

__all__ = ["SHARES", "MemoryNeed", "all_memory", "free_memory", "in_words", "memory_needed", "needed_by", "runs_at_once"]

#: the share of free memory that runs may take that are computed at once: on the processor, and on a card
SHARES = {"cpu": 0.5, "cuda": 0.8}
_LITTLE = 2**28  # bytes that are there: below, nothing is looked up
_COPIES = 12  # of the local models, that a round works with
_STATES = 4  # of the arrays between rounds: before, after, on the way, and where a card keeps them
_MOST = 10**9  # runs at once
_PER_ROW = 128  # bytes of an array besides its numbers


class MemoryNeed(NamedTuple):
    """About how many bytes a run needs: for a round's work and the arrays between rounds (``works``, on the device), and for
    the records of all rounds (``recorded``, at last on the host)."""

    works: int
    recorded: int

    def at_once(self, backend: Backend, share: float = 1.0, memory: Callable[[str], float] | None = None) -> int:
        """The number of runs, at least 1, that fit a ``share`` of the ``memory`` of a device, by default the free memory."""
        kind, memory = backend.device.partition(":")[0], memory or free_memory
        there = share * SHARES[kind] * memory(backend.device)
        alone = there / (self.works + 2 * self.recorded)  # twice, while it is put together
        if kind != "cpu":  # what is recorded is copied in pieces
            host = share * SHARES["cpu"] * memory("cpu") / (2 * self.recorded)
            alone = min(host, max(alone, (there - 2 * PIECE) / self.works))
        return int(max(1, min(alone, _MOST)))


def memory_needed(federation, rounds: int, local_steps: int = 1, runs: int = 1, record: Sequence[str] = DEFAULT) -> int:
    """About how many bytes of memory a run needs for what it records; what it computes with comes on top.

    Example:
        >>> from synthetic import Quadratic
        >>> memory_needed(Quadratic([[[1.0]]], [[[1.0]]]), 1000, runs=32)
        4160000
    """
    numbers = _recorded(federation, rounds, local_steps, record)
    return 2 * runs * numbers + _PER_ROW * rounds * (len(record) + 1)  # twice, while they are put together


def _recorded(federation, rounds: int, local_steps: int, record: Sequence[str]) -> int:
    """Bytes that a run records."""
    sizes = {"client": federation.clients, "dim": federation.dim}
    times = {"round": rounds, "step_round": rounds, "iteration": rounds * local_steps}
    return sum(times[TIME[each.when]] * prod(sizes[name] for name in each.dims) * (1 if each.name == "included" else 8)
               for each in map(find_observable, record))


def needed_by(algorithm, federation, rounds: int, record: Sequence[str] = DEFAULT, apart: bool = False,
              runs: int = 1) -> MemoryNeed:
    """The memory that a run of ``algorithm`` needs. ``apart``: whether runs have hyper-parameters of their own; then the
    algorithm may be that of a batch of so many ``runs``."""
    size = 4 if federation.backend.dtype == "float32" else 8
    works = size * _numbers(algorithm, federation, apart) + _STATES * _state(algorithm, federation, runs)
    recorded = _recorded(federation, rounds, algorithm.local_steps, record) + rounds
    return MemoryNeed((1 + waits(federation.weights)) * works, recorded)  # a round is tried before a card captures it


def _numbers(algorithm, federation, apart: bool) -> int:
    """The count of numbers that a round works with."""
    clients, dim, selection = federation.clients, federation.dim, algorithm.selection
    outputs, batch = getattr(federation, "outputs", 1), getattr(federation, "batch_size", None)
    features: Any = getattr(federation, "features", None)
    samples = features.shape[2] if hasattr(features, "shape") else 0
    few = type(selection.matching) is PriorityOnly and type(selection.sampling) is WithoutReplacement
    few = few and federation.priority_clients == clients
    taking = min(clients, selection.sampling.participants) if few else clients
    working = _COPIES * taking * dim + 2 * clients * (2 * samples * outputs + few * dim)
    if batch is not None:  # a minibatch of each client
        working += 3 * taking * batch * (features.shape[3] + 2 * outputs)
    elif few and samples:  # the data of the participants
        working += taking * samples * (features.shape[3] + outputs)
    if not getattr(federation, "diagonal", True):  # products with the Hessians of quadratics
        working += taking * dim**2
    if apart and why_not_affine(algorithm, federation) is None and not getattr(federation, "diagonal", False):
        working += 4 * clients * dim**2
    return working


def _state(algorithm, federation, runs: int) -> int:
    """Bytes of the arrays of a run between rounds."""
    first = for_runs(algorithm, slice(0, 1), runs)
    rows = runs if first is None else 1  # an algorithm that cannot be cut begins as a whole
    one = federation if federation.instances == 1 else federation.select(slice(0, 1))
    x = one.default_start().reshape(1, -1)
    x = x if rows == 1 else namespace(x).broadcast_to(x, (rows, x.shape[1]))
    state = (algorithm if first is None else first).init(one, x, Draws(np.zeros(rows, dtype=np.int64), one.backend))
    arrays = [state.x, *state.server.values(), *state.clients.values()]
    return sum(prod(array.shape) * (array.element_size() if hasattr(array, "element_size") else array.itemsize)
               for array in arrays if hasattr(array, "shape")) // rows


def runs_at_once(algorithm, federation, rounds: int, record: Sequence[str], runs: int,
                 apart: Callable[[], bool] = lambda: False) -> int:
    """The number of ``runs`` that are computed at once: all of them with exact numbers. ``apart``: see :func:`needed_by`."""
    if runs == 1 or federation.backend.library in ("exact", "balls"):
        return runs
    rough = 16 * federation.clients * federation.dim**2  # of maps
    rough += 8 * _numbers(algorithm, federation, False) + 2 * _recorded(federation, rounds, algorithm.local_steps, record)
    if runs * rough <= _LITTLE:
        return runs
    return min(runs, needed_by(algorithm, federation, rounds, record, apart(), runs).at_once(federation.backend))


def free_memory(device: str) -> float:
    """The free bytes of a device: on a card also those that torch keeps for later; infinite if unknown."""
    if device.startswith("cuda"):
        import torch

        return torch.cuda.mem_get_info(device)[0] + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    try:
        with open("/proc/meminfo") as lines:
            return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError, IndexError):
        return float("inf")


def all_memory(device: str) -> float:
    """The bytes of memory of a device, free or not; infinite if unknown."""
    if device.startswith("cuda"):
        import torch

        return torch.cuda.mem_get_info(device)[1]
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return float("inf")


def in_words(size: float) -> str:
    """A number of bytes in GB or MB."""
    return f"{size / 10**9:.3g} GB" if size >= 10**9 else f"{size / 10**6:.3g} MB"
