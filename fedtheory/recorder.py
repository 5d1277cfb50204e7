"""The recorder of a run: it keeps the chosen observables on the device until a piece of the run is copied to the host."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any

import numpy as np

from fedtheory.algorithm import Algorithm, State
from fedtheory.engine import Observer
from fedtheory.observables import Observable, find_observable
from synthetic.numbers.arrays import namespace, to_numpy, waits

__all__ = ["PIECE", "TIME", "Recorder"]

#: the dimension of time of what is measured then
TIME = {
    "state": "round", "round": "step_round", "participation": "step_round", "aggregation": "step_round",
    "upload": "step_round", "step": "iteration", "iteration": "iteration",
}
PIECE = 2**28  #: bytes on a device that are copied to the host at once


class Recorder(Observer):
    """Measures and keeps the chosen observables during a run of ``algorithm``.

    ``rows``: the arrays (runs, ...) of each name since the last copy to the host, in the order of time; ``pieces``: what was
    copied, (runs, times, ...). What is constant in time is measured once and in ``constants``.
    """

    def __init__(self, names: Sequence[str], algorithm: Algorithm, federation):
        self.algorithm, self.federation = algorithm, federation
        self.observables = [find_observable(name) for name in dict.fromkeys(names)]
        self.rows: dict[str, list] = {}
        self.pieces: dict[str, list[np.ndarray]] = {}
        self.constants: dict[str, np.ndarray] = {}
        self.by_time = {when: [each for each in self.observables if each.when == when] for when in TIME}
        self.everyone = any(each.when == "iteration" for each in self.observables)
        self.sees_clients = any(each.when in ("iteration", "upload") for each in self.observables)
        self.once: set[str] = set()  # constant in time: measured once
        if algorithm.selection.fixed:
            self.once |= {"participation", "aggregation"}
        if algorithm.steps_alike:
            self.once |= {"step"}
        self._skipped = {name for part in algorithm.parts for name in part.may_be_infinite}
        self._bytes: float = 0  # of rows on a device

    # measuring ---------------------------------------------------------------------------------------------------------
    def _measure(self, when: str, runs: int, *arguments):
        for observable in self.by_time[when]:
            if when not in self.once:
                self._keep(observable.name, observable.measure(*arguments), runs)
            elif observable.name not in self.constants:
                self.constants[observable.name] = _of_all(to_numpy(observable.measure(*arguments)), runs)

    def _keep(self, name: str, value: Any, runs: int):
        self.rows.setdefault(name, []).append(_of_all(value, runs))
        if waits(value):
            self._bytes += value.numel() * value.element_size()

    def state(self, federation, x):
        """The global model at the start or after a round."""
        self._measure("state", x.shape[0], federation, x)

    def local_iteration(self, context, participation, x_local, gradient):
        self._measure("iteration", x_local.shape[0], context, participation, x_local, gradient)

    def start_of_round(self, context, participation):
        runs = context.x.shape[0]
        for when in ("round", "participation"):
            self._measure(when, runs, context, participation)
        for j in range(context.algorithm.local_steps if self.by_time["step"] else 0):
            self._measure("step", runs, context._replace(iteration=context.iteration + j))

    def uploads(self, context, local, upload):
        self._measure("upload", context.x.shape[0], context, upload)

    def end_of_round(self, context, participation, x_local, state):
        self._measure("aggregation", context.x.shape[0], context, participation)
        self.state(context.federation, context.algorithm.output(state))

    def after(self, state: State):
        """After every round: whether it is finite, and the model, unless the engine showed it."""
        if self.only_models:
            self.state(self.federation, self.algorithm.output(state))
        self._keep("finite", _finite(state, self._skipped), state.x.shape[0])
        if self._bytes > PIECE:
            self.collect()

    @property
    def only_models(self) -> bool:
        """Whether all observables follow from the models between rounds."""
        return all(observable.when == "state" for observable in self.observables)

    @contextmanager
    def aside(self) -> Iterator[dict[str, list]]:
        """Keeps rows that are recorded within in a table of their own, which it returns."""
        kept, self.rows, self._bytes = (self.rows, self._bytes), {}, -math.inf
        try:
            yield self.rows
        finally:
            self.rows, self._bytes = kept

    # what was measured ---------------------------------------------------------------------------------------------------
    def add(self, name: str, piece: np.ndarray):
        """Adds rows (runs, times, ...) of the host that come after those kept so far."""
        self.collect()
        self.pieces.setdefault(name, []).append(piece)

    def collect(self):
        """Copies the rows on a device to the host."""
        for name, rows in self.rows.items():
            if rows:
                self.pieces.setdefault(name, []).append(_stacked(rows))
        self.rows, self._bytes = {}, 0

    def values(self, name: str, times: int = 1) -> np.ndarray | None:
        """The values of an observable, (runs, times, ...); a constant is repeated ``times`` times."""
        if name in self.constants:
            return np.repeat(self.constants[name][:, None], times, axis=1)
        self.collect()
        pieces = self.pieces.get(name)
        if pieces is None or len(pieces) == 1:
            return None if pieces is None else pieces[0]
        import torch  # several pieces come from a device

        return torch.cat([torch.as_tensor(piece) for piece in pieces], dim=1).numpy()

    def variables(self, rounds: int) -> dict[str, tuple]:
        """The observables recorded in so many rounds by name: dimensions, values, and unit and meaning as attributes."""
        variables = {}
        for observable in self.observables:
            steps = self.algorithm.local_steps if observable.when == "step" else 1
            values = self.values(observable.name, rounds * steps)
            if values is not None:
                variables[observable.name] = _variable(observable, values)
        return variables


def _variable(observable: Observable, values) -> tuple:
    dims = ("run", TIME[observable.when], *observable.dims)
    return dims, values, {"units": observable.unit, "long_name": observable.meaning}


def _of_all(value, runs: int):
    """(1 | runs, ...) as (runs, ...)."""
    return value if value.shape[0] == runs else namespace(value).broadcast_to(value, (runs, *value.shape[1:]))


def _stacked(rows: list) -> np.ndarray:
    """Rows (runs, ...) as one array of NumPy, (runs, times, ...)."""
    stacked = namespace(rows[0]).stack(rows, axis=1)
    return on_host(stacked) if waits(stacked) else to_numpy(stacked)


def on_host(array) -> np.ndarray:
    """A NumPy copy of an array of a device, through memory that does not move."""
    import torch

    if not array.is_cuda:
        return to_numpy(array).copy()
    host = torch.empty(array.shape, dtype=array.dtype, pin_memory=True)
    return host.copy_(array).numpy()


def _finite(state: State, skipped: Set[str]):
    """Whether the model, and all arrays of the server and the clients but those ``skipped``, are finite, (runs,)."""
    kept = (array for arrays in (state.server, state.clients) for name, array in arrays.items() if name not in skipped)
    nothing = _nothing(state.x)
    for array in kept:
        if getattr(array, "ndim", 0) and "float" in str(array.dtype):
            nothing = nothing + _nothing(array)
    return nothing == 0


def _nothing(array):
    """An array (runs,): 0 for a run whose entries are all finite, else NaN; several times as fast as isfinite."""
    if array.dtype == object:
        return np.zeros(array.shape[0])
    with np.errstate(invalid="ignore"):
        nothing = array - array
    return namespace(array).sum(nothing, axis=tuple(range(1, array.ndim))) if array.ndim > 1 else nothing
