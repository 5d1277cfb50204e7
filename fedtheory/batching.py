"""Batches of runs, which are computed in pieces, some runs after the others, and joined where they do not fit the memory."""

import gc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from fedtheory.affine import forget
from fedtheory.engine import starting_points
from fedtheory.memory import free_memory, in_words, needed_by, runs_at_once
from fedtheory.round_context import State
from fedtheory.stacking import for_runs
from synthetic.numbers.arrays import is_torch_array

__all__ = ["Batch", "Piece", "each_piece", "joined", "of_state"]

_SAYS = ("OutOfMemory", "out of memory", "ALLOC_FAILED", "allocate memory")  # libraries, of memory that is not there


class Piece(NamedTuple):
    """The results of some runs: variables by name as (dims, values (runs, ...), attributes), whether each run is finite
    after each round (runs, rounds), the state after the last, and the start (runs, dim) or None."""

    variables: dict[str, tuple]
    finite: np.ndarray
    state: State
    start: np.ndarray | None


@dataclass(frozen=True)
class Batch:
    """Runs of ``seeds`` (runs,), which can be computed together or in parts. ``start``: (dim,), (runs, dim) or None;
    ``state``: from which they go on, or None. ``path``: as for :func:`fedtheory.run`."""

    algorithm: Any
    federation: Any
    seeds: np.ndarray
    start: Any = None
    state: Any = None
    path: str = "auto"

    def part(self, rows: slice) -> "Batch":
        """The batch of some of the runs; for all runs the batch itself. Raises ValueError if the method cannot be cut."""
        runs = len(self.seeds)
        if (rows.start, rows.stop) == (0, runs):
            return self
        algorithm = for_runs(self.algorithm, rows, runs)
        if algorithm is None:
            raise ValueError(f"{self.algorithm.name} has arrays of which it is not known whether they are of the runs")
        federation = self.federation if self.federation.instances == 1 else self.federation.select(rows)

        def own(array):
            return array[rows] if array.shape[0] == runs else array

        start = self.start
        if np.ndim(start) == 2:
            start = own(start if hasattr(start, "shape") else np.asarray(start))
        state = None if self.state is None else of_state(self.state, own)
        return Batch(algorithm, federation, self.seeds[rows], start, state, self.path)


def of_state(state: State, change: Callable[[Any], Any]) -> State:
    """The state with every array (runs | 1, ...) changed."""
    def changed(table):
        return {name: change(value) if getattr(value, "ndim", 0) else value for name, value in table.items()}

    part = state.participation
    if part is not None:
        part = replace(part, **changed(vars(part)))
    return State(change(state.x), changed(state.server), changed(state.clients), part)


def each_piece(batch: Batch, compute: Callable[[Batch, slice], Piece], rounds: int, record,
               size: int | None = None) -> Iterator[tuple[slice, Piece]]:
    """Yields the numbers of some runs and the piece that ``compute(part, rows)`` returns for them, until all are computed.

    Computes as many at once as fit the memory, or ``size``; half as many where it runs out all the same. Pieces that were
    computed before are kept.

    Raises:
        MemoryError: one run, or a batch that cannot be cut, needs more than there is.
    """
    runs = len(batch.seeds)
    size, first = size or _size(batch, rounds, record), 0
    while first < runs:
        rows = slice(first, min(runs, first + size))
        found, reason = _compute_part(compute, batch, rows)
        if found is None:
            _let_go(batch.federation)
            size = _halved(batch, rows, rounds, record, reason)
            continue
        first = rows.stop
        if len(found.finite) < runs:
            found = found._replace(state=of_state(found.state, _to_host))
        yield rows, found
        found = None  # before the next are computed


def _halved(batch: Batch, rows: slice, rounds: int, record, reason: str) -> int:
    """Half as many runs as ``rows``; raises MemoryError where they cannot be cut."""
    count, backend = rows.stop - rows.start, batch.federation.backend
    half = (count + 1) // 2
    if half < count and _may_be_cut(batch, half):
        return half
    needed = count * sum(needed_by(batch.algorithm, batch.federation, rounds, record, _apart(batch), len(batch.seeds)))
    what = f"one run of {batch.algorithm.name} needs" if count == 1 else (
        f"{count} runs of {batch.algorithm.name}, which cannot be cut, need")
    raise MemoryError(f"{what} about {in_words(needed)} of memory on {backend.device}, where "
                      f"{in_words(free_memory(backend.device))} are free: {reason}")


def _may_be_cut(batch: Batch, size: int) -> bool:
    exact = batch.federation.backend.library in ("exact", "balls")
    return not exact and for_runs(batch.algorithm, slice(0, size), len(batch.seeds)) is not None


def _apart(batch: Batch) -> bool:
    """Whether runs have hyper-parameters of their own, and may have affine maps of their own therefore."""
    runs = len(batch.seeds)
    return batch.path in ("auto", "affine") and for_runs(batch.algorithm, slice(0, 1), runs) is not batch.algorithm


def _size(batch: Batch, rounds: int, record) -> int:
    """The number of runs that are computed at once."""
    runs = len(batch.seeds)
    size = runs_at_once(batch.algorithm, batch.federation, rounds, record, runs, lambda: _apart(batch))
    if size >= runs or not _may_be_cut(batch, size):
        return runs
    if np.ndim(batch.start) == 2 and len(batch.start) not in (1, runs):
        starting_points(batch.federation, batch.start, runs)  # says what it must be
    pieces = -(-runs // size)
    return -(-runs // pieces)


def _compute_part(compute, batch: Batch, rows: slice):
    """Computes a part; returns (piece, None), or (None, the reason) if the memory was not enough."""
    try:
        return compute(batch.part(rows), rows), None
    except (RuntimeError, MemoryError) as error:
        said = f"{type(error).__name__}: {error}".removesuffix(": ")
        if not isinstance(error, MemoryError) and not any(word in said for word in _SAYS):
            raise
        return None, said.splitlines()[0]


def _let_go(federation) -> None:
    """Frees memory, here and on a card."""
    forget(federation)
    gc.collect()
    if federation.backend.device.startswith("cuda"):
        import torch

        torch.cuda.empty_cache()


def _to_host(array):
    """Copies an array of some of the runs to the host, where it waits for the others."""
    return array.cpu() if is_torch_array(array) else array


# all runs ------------------------------------------------------------------------------------------------------------------
def joined(pieces: Iterable[tuple[slice, Piece]], runs: int) -> Piece:
    """Joins pieces into one of all ``runs``. Each is copied to its place at once, so that no piece waits for the others.

    Raises MemoryError if the host has no memory for all.
    """
    whole: Piece | None = None
    for rows, piece in pieces:
        if rows.stop - rows.start == runs:
            return piece
        if whole is None:
            whole = _places(piece, runs)
        for place, array in zip(_arrays(whole), _arrays(piece), strict=True):
            if place.shape[0] == runs:  # others, (1, ...), are of all runs
                place[rows] = array
        part, own = whole.state.participation, piece.state.participation
        if part is not None:
            whole = whole._replace(state=whole.state._replace(
                participation=replace(part, everyone=part.everyone and own.everyone)))
        del piece  # before the next are computed
    assert whole is not None
    return whole


def _places(piece: Piece, runs: int) -> Piece:
    """An empty piece for all runs with the arrays of this one; arrays that are not by run are shared."""
    own = len(piece.finite)

    def place(array):
        if array.shape[0] != own:
            return array
        shape = (runs, *array.shape[1:])
        return array.new_empty(shape) if is_torch_array(array) else np.empty(shape, array.dtype)

    try:
        variables = {name: (dims, place(values), said) for name, (dims, values, said) in piece.variables.items()}
        return Piece(variables, place(piece.finite), of_state(piece.state, place),
                     None if piece.start is None else place(piece.start))
    except (RuntimeError, MemoryError) as error:
        raise MemoryError(f"the host has no memory for what is recorded of {runs} runs and for their state: "
                          f"{str(error).splitlines()[0]}") from error


def _arrays(piece: Piece) -> list:
    """All arrays of a piece, in a fixed order."""
    state, part = piece.state, piece.state.participation
    tables = [state.server, state.clients, {} if part is None else vars(part)]
    found = [*(values for _, values, _ in piece.variables.values()), piece.finite, piece.start, state.x,
             *(table[name] for table in tables for name in sorted(table))]
    return [array for array in found if getattr(array, "ndim", 0)]
