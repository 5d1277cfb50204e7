"""Runs an algorithm on a federation from many seeds, records while running, and resumes."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from fedtheory.algorithm import Algorithm, State
from fedtheory.engine import Observer, starting_points
from fedtheory.fingerprint import fingerprint
from fedtheory.observables import DEFAULT, Observable, find_observable
from fedtheory.paths import choose_path, states_on
from fedtheory.registry import as_algorithm, as_federation
from fedtheory.returned import returned
from fedtheory.trajectory import Trajectory, on_backend
from synthetic.base.checks import whole
from synthetic.numbers.arrays import namespace, to_numpy
from synthetic.numbers.draws import Draws

if TYPE_CHECKING:  # imported where a data set is made
    import xarray as xr

__all__ = ["DIVERGED", "MOST_RUNS", "fingerprint", "memory_needed", "resume", "run", "seed_numbers"]

MOST_RUNS = 10**8  #: at once
#: what ``diverged`` says
DIVERGED = "first round after which the model or another array of the state was not finite, -1 if there is none"
_PER_ROW = 128  # bytes of an array besides its numbers

_TIME = {
    "state": "round", "round": "step_round", "participation": "step_round", "aggregation": "step_round",
    "upload": "step_round", "step": "iteration", "iteration": "iteration",
}


def memory_needed(federation, rounds: int, local_steps: int = 1, runs: int = 1, record: Sequence[str] = DEFAULT) -> int:
    """About how many bytes of memory a run needs for what it records; what it computes with comes on top.

    Example:
        >>> from synthetic import Quadratic
        >>> memory_needed(Quadratic([[[1.0]]], [[[1.0]]]), 1000, runs=32)
        4160000
    """
    sizes = {"client": federation.clients, "dim": federation.dim}
    times = {"round": rounds, "step_round": rounds, "iteration": rounds * local_steps}
    numbers = sum(times[_TIME[each.when]] * prod(sizes[name] for name in each.dims) * (1 if each.name == "included" else 8)
                  for each in map(find_observable, record))
    return 2 * runs * numbers + _PER_ROW * rounds * (len(record) + 1)  # twice, while they are put together


class Recorder(Observer):
    """Measures and keeps the chosen observables during a run of ``algorithm``."""

    def __init__(self, names: Sequence[str], algorithm: Algorithm):
        self.observables = [find_observable(name) for name in dict.fromkeys(names)]
        self.rows: dict[str, list[np.ndarray]] = {observable.name: [] for observable in self.observables}
        self.by_time = {when: [each for each in self.observables if each.when == when] for when in _TIME}
        self.everyone = any(each.when == "iteration" for each in self.observables)
        self.sees_clients = any(each.when in ("iteration", "upload") for each in self.observables)
        self.once: set[str] = set()  # constant in time: measured once
        if algorithm.selection.fixed:
            self.once |= {"participation", "aggregation"}
        if algorithm.steps_alike:
            self.once |= {"step"}

    def _measure(self, when: str, runs: int, *arguments):
        for observable in self.by_time[when]:
            rows = self.rows[observable.name]
            if rows and when in self.once:
                rows.append(rows[-1])
                continue
            value = to_numpy(observable.measure(*arguments))
            rows.append(value if value.shape[0] == runs else np.broadcast_to(value, (runs, *value.shape[1:])))

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

    @property
    def only_models(self) -> bool:
        """Whether all observables follow from the models between rounds."""
        return all(observable.when == "state" for observable in self.observables)

    def dataset(self) -> xr.Dataset:
        """The recorded observables, with unit and meaning as attributes."""
        import xarray as xr

        variables = {}
        for observable in self.observables:
            rows = self.rows[observable.name]
            if rows:
                variables[observable.name] = _variable(observable, np.stack(rows, axis=1))
        return xr.Dataset(variables)


def _variable(observable: Observable, values) -> tuple:
    dims = ("run", _TIME[observable.when], *observable.dims)
    return dims, values, {"units": observable.unit, "long_name": observable.meaning}


def run(
    algorithm: Algorithm | str, federation, rounds: int, *, start=None, seeds: int | Sequence[int] | np.ndarray = 1,
    record: Sequence[str] = DEFAULT, progress: Callable[[int, int], None] | None = None, path: str = "auto",
    device: str | None = None, dtype: str | None = None,
) -> Trajectory:
    """Run ``algorithm`` on ``federation`` for ``rounds`` rounds, one run per seed.

    Args:
        algorithm: a method, or the name of one with its default arguments.
        federation: a federation, or the name of a problem with its default options.
        start: starting model, (dim,) or (runs, dim); if None the federation's ``default_start()``, mostly zeros.
        seeds: how many runs (seeds 0, 1, ...), or the seeds themselves. A run depends on its own seed only.
        record: names of observables, see ``fedtheory.observables``.
        progress: called with (rounds done, rounds) after every round.
        path: ``steps`` computes every local step; ``affine`` all local steps of a round as one affine map, for plain steps
            with full gradients on quadratics; ``compiled`` all local steps in C, for linear scores as well. They agree up
            to rounding. ``auto`` takes the fastest that applies, ``steps`` if local models or gradients are recorded.
        device: where the federation is moved and runs: ``cpu``, ``cuda`` or ``cuda:1``; None: where it is.
        dtype: in which numbers: ``float32`` or ``float64``; None: in its own.

    Returns:
        The recorded observables, with the state from which :func:`resume` continues. Runs that are no longer finite are in
        ``diverged``, by number and round: those whose global model, or another array of the server's or the clients' state,
        is infinite or no number. They do not affect the others.

    Raises:
        ValueError: rounds below 1, no seeds or more than 10^8, a start of the wrong shape, a path that does not apply, or a
            device that this machine does not have. LookupError: unknown observable, method or problem.

    Example:
        >>> from fedtheory import fedavg
        >>> from synthetic import Quadratic
        >>> trajectory = run(fedavg(eta_l=0.5), Quadratic([[[1.0]]], [[[1.0]]]), 3, seeds=2)
        >>> trajectory.mean("suboptimality").values.tolist()
        [0.5, 0.125, 0.03125, 0.0078125]
    """
    rounds, numbers = whole("rounds", rounds), seed_numbers(seeds)
    algorithm, federation = as_algorithm(algorithm), as_federation(federation, device, dtype)
    if federation.instances not in (1, len(numbers)):
        raise ValueError(f"{federation.instances} instances need as many seeds, or a federation of one; got {len(numbers)}")
    x = starting_points(federation, start, len(numbers))
    state = returned(algorithm, "init", algorithm.init(federation, x, Draws(numbers, federation.backend)), State)
    recorder = Recorder(record, algorithm)
    recorder.state(federation, algorithm.output(state))
    state = _advance(algorithm, federation, state, numbers, 0, rounds, recorder, progress, path)
    diverged = np.full(len(numbers), -1)
    dataset = recorder.dataset()
    return _trajectory(algorithm, federation, dataset, state, numbers, rounds, diverged, recorder, path, to_numpy(x))


def resume(trajectory: Trajectory, algorithm: Algorithm, federation, rounds: int, *, progress=None,
           device: str | None = None, dtype: str | None = None) -> Trajectory:
    """Continues for ``rounds`` more rounds, with bit for bit the result of one longer run.

    ``device`` and ``dtype`` are as for :func:`run`. Without a dtype, runs that were made in float32 go on in float32.

    Raises ValueError if ``algorithm`` or ``federation`` are not those of the trajectory, and for rounds below 1.
    """
    import xarray as xr

    rounds, federation = whole("rounds", rounds), as_federation(federation, device, dtype or trajectory.narrow)
    found = fingerprint(algorithm, federation)
    if found != trajectory.fingerprint:
        raise ValueError(f"this run was made by another algorithm or federation: expected {trajectory.fingerprint}, "
                         f"got {found}")
    recorder = Recorder(trajectory.dataset.attrs["record"], algorithm)
    first, state = trajectory.rounds, on_backend(trajectory.state, federation.backend)
    path = trajectory.dataset.attrs["path"]
    state = _advance(algorithm, federation, state, trajectory.seeds, first, rounds, recorder, progress, path)
    more = recorder.dataset()
    earlier = trajectory.dataset.drop_vars(trajectory.dataset.coords)
    joined = {name: xr.concat([earlier[name], more[name]], dim=more[name].dims[1]) for name in more.data_vars}
    dataset = xr.Dataset(joined)
    old = trajectory.dataset["diverged"].values
    return _trajectory(algorithm, federation, dataset, state, trajectory.seeds, first + rounds, old, recorder, path,
                       trajectory.start)


def seed_numbers(seeds: int | Sequence[int] | np.ndarray) -> np.ndarray:
    """The seeds 0, 1, ... of so many runs, or those given, (runs,). Raises ValueError for anything else."""
    given = np.arange(whole("seeds", seeds, high=MOST_RUNS)) if np.ndim(seeds) == 0 else np.asarray(seeds)
    if given.ndim != 1 or not len(given) or not np.issubdtype(given.dtype, np.integer):
        raise ValueError(f"seeds must be a positive number or a list of integers; got {seeds!r}")
    return given.astype(np.int64)


def _advance(algorithm, federation, state, seeds, first, rounds, recorder, progress, path):
    draws = Draws(seeds, federation.backend)
    observers = () if recorder.only_models else (recorder,)
    path = choose_path(path, algorithm, federation, recorder.everyone)
    states = states_on(path, algorithm, federation, state, draws, first, rounds, observers, recorder.everyone)
    skipped = {name for part in algorithm.parts for name in part.may_be_infinite}
    for done, state in enumerate(states, start=1):
        if not observers:
            recorder.state(federation, algorithm.output(state))
        recorder.rows.setdefault("finite", []).append(to_numpy(_finite(state, skipped)))
        if progress:
            progress(done, rounds)
    return state


def _finite(state: State, skipped: Set[str]):
    """Whether the model, and all arrays of the server and the clients but those ``skipped``, are finite, (runs,)."""
    kept = (array for arrays in (state.server, state.clients) for name, array in arrays.items() if name not in skipped)
    found = _finite_rows(state.x)
    for array in kept:
        if getattr(array, "ndim", 0) and "float" in str(array.dtype):
            found = found & _finite_rows(array)
    return found


def _finite_rows(array):
    """Whether all entries of each run are finite, (runs,)."""
    if array.dtype == object:
        return np.ones(array.shape[0], dtype=bool)
    with np.errstate(invalid="ignore"):
        nothing = (array - array).reshape(array.shape[0], -1)  # 0, or no number: several times as fast as isfinite
        return namespace(array).sum(nothing, axis=-1) == 0


def _trajectory(algorithm, federation, dataset, state, seeds, rounds, diverged, recorder, path, start):
    finite = np.stack(recorder.rows["finite"], axis=1)
    first = rounds - finite.shape[1]
    broke = np.where(finite.all(axis=1), -1, first + finite.argmin(axis=1) + 1)
    dataset["diverged"] = "run", np.where(diverged >= 0, diverged, broke), {"long_name": DIVERGED}
    dataset.attrs = {
        "rounds": rounds, "local_steps": algorithm.local_steps, "indicator": algorithm.selection.matching.indicator,
        "path": path,
        "record": [observable.name for observable in recorder.observables],
    }
    name = getattr(federation, "name", type(federation).__name__)
    return Trajectory(
        dataset, state, seeds, fingerprint(algorithm, federation), f"{algorithm.name} on {name}", algorithm, federation,
        start,
    )
