"""Runs an algorithm on a federation from many seeds, records while running, and resumes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fedtheory.algorithm import Algorithm, State
from fedtheory.arguments import refuses_arguments_of_methods
from fedtheory.batching import Batch, Piece, each_piece, joined
from fedtheory.engine import starting_points
from fedtheory.fingerprint import fingerprint
from fedtheory.graph import in_graphs
from fedtheory.memory import memory_needed
from fedtheory.observables import DEFAULT
from fedtheory.paths import captures, choose_path, round_on, states_on
from fedtheory.recorder import Recorder
from fedtheory.registry import as_algorithm, as_federation
from fedtheory.returned import returned
from fedtheory.trajectory import Trajectory, on_backend
from synthetic.base.checks import whole
from synthetic.numbers.arrays import kept_on_device, to_numpy
from synthetic.numbers.draws import Draws

__all__ = ["DIVERGED", "MOST_RUNS", "fingerprint", "memory_needed", "resume", "run", "seed_numbers"]

MOST_RUNS = 10**8  #: at once
#: what ``diverged`` says
DIVERGED = "first round after which the model or another array of the state was not finite, -1 if there is none"
_FEW = 8  # rounds: below, capturing one takes longer than it saves


@refuses_arguments_of_methods
def run(
    algorithm: Algorithm | str, federation, rounds: int, *, start=None, seeds: int | Sequence[int] | np.ndarray = 1,
    record: Sequence[str] = DEFAULT, progress: Callable[[int, int], None] | None = None, path: str = "auto",
    device: str | None = None, dtype: str | None = None,
) -> Trajectory:
    """Run ``algorithm`` on ``federation`` for ``rounds`` rounds, one run per seed.

    Runs that do not fit the free memory of the device at once are computed in pieces, some seeds after the others. The state
    of all runs then is on the host.

    Args:
        algorithm: a method, or the name of one with its default arguments.
        federation: a federation, or the name of a problem with its default options.
        start: starting model, (dim,) or (runs, dim); if None the federation's ``default_start()``, mostly zeros.
        seeds: how many runs (seeds 0, 1, ...), or the seeds themselves. A run depends on its own seed only.
        record: names of observables, see ``fedtheory.observables``.
        progress: called with (rounds done, rounds) after every round, where rounds are captured about a hundred times; of
            runs in pieces, rounds done on average.
        path: ``steps`` computes every local step; ``affine`` all local steps of a round as one affine map, for plain steps
            with full gradients on quadratics; ``compiled`` all local steps in C, or in one kernel on a card, for linear
            scores as well. They agree up to rounding. ``graph``, on a card: ``steps`` with the launches of a round
            captured once and replayed, with the same bits; every path but ``steps`` does so there. ``auto`` takes the
            fastest that applies, not ``affine`` or ``compiled`` if local models or gradients are recorded.
        device: where the federation is moved and runs: ``cpu``, ``cuda`` or ``cuda:1``; None: where it is.
        dtype: in which numbers: ``float32`` or ``float64``; None: in its own.

    Returns:
        The recorded observables, with the state from which :func:`resume` continues. Runs that are no longer finite are in
        ``diverged``, by number and round: those whose global model, or another array of the server's or the clients' state,
        is infinite or no number. They do not affect the others.

    Raises:
        ValueError: rounds below 1, no seeds or more than 10^8, a start of the wrong shape, a path that does not apply, or a
            device that this machine does not have. LookupError: unknown observable, method or problem. MemoryError: a single
            run needs more memory than there is.

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
    batch, said = Batch(algorithm, federation, numbers, start, path=path), _Progress(progress, rounds, len(numbers))

    def compute(part: Batch, rows: slice) -> Piece:
        x = starting_points(part.federation, part.start, len(part.seeds))
        draws = Draws(part.seeds, part.federation.backend)
        state = returned(part.algorithm, "init", part.algorithm.init(part.federation, x, draws), State)
        recorder = Recorder(record, part.algorithm, part.federation)
        recorder.state(part.federation, part.algorithm.output(state))
        state = _advance(part, state, 0, rounds, recorder, said.for_runs(rows))
        return _piece(recorder, rounds, state, to_numpy(x))

    found = joined(each_piece(batch, compute, rounds, record), len(numbers))
    return _trajectory(batch, found, rounds, np.full(len(numbers), -1), [*dict.fromkeys(record)])


def resume(trajectory: Trajectory, algorithm: Algorithm, federation, rounds: int, *, progress=None,
           device: str | None = None, dtype: str | None = None) -> Trajectory:
    """Continues for ``rounds`` more rounds, with bit for bit the result of one longer run.

    ``device`` and ``dtype`` are as for :func:`run`. Without a dtype, runs that were made in float32 go on in float32.

    Raises ValueError if ``algorithm`` or ``federation`` are not those of the trajectory, and for rounds below 1.
    """
    import xarray as xr

    rounds, federation = whole("rounds", rounds), as_federation(federation, device, dtype or trajectory.narrow)
    now = fingerprint(algorithm, federation)
    if now != trajectory.fingerprint:
        raise ValueError(f"this run was made by another algorithm or federation: expected {trajectory.fingerprint}, "
                         f"got {now}")
    first, path, record = trajectory.rounds, trajectory.dataset.attrs["path"], trajectory.dataset.attrs["record"]
    batch = Batch(algorithm, federation, trajectory.seeds, None, trajectory.state, path)
    said = _Progress(progress, rounds, trajectory.runs)

    def compute(part: Batch, rows: slice) -> Piece:
        recorder = Recorder(record, part.algorithm, part.federation)
        state = on_backend(part.state, part.federation.backend)
        return _piece(recorder, rounds, _advance(part, state, first, rounds, recorder, said.for_runs(rows)), None)

    found = joined(each_piece(batch, compute, rounds, record), trajectory.runs)
    more, earlier = xr.Dataset(found.variables), trajectory.dataset.drop_vars(trajectory.dataset.coords)
    together = {name: xr.concat([earlier[name], more[name]], dim=more[name].dims[1]).variable for name in found.variables}
    variables = {name: (each.dims, each.values, each.attrs) for name, each in together.items()}
    found = found._replace(variables=variables, start=trajectory.start)
    return _trajectory(batch, found, first + rounds, trajectory.dataset["diverged"].values, record)


def seed_numbers(seeds: int | Sequence[int] | np.ndarray) -> np.ndarray:
    """The seeds 0, 1, ... of so many runs, or those given, (runs,). Raises ValueError for anything else."""
    given = np.arange(whole("seeds", seeds, high=MOST_RUNS)) if np.ndim(seeds) == 0 else np.asarray(seeds)
    if given.ndim != 1 or not len(given) or not np.issubdtype(given.dtype, np.integer):
        raise ValueError(f"seeds must be a positive number or a list of integers; got {seeds!r}")
    return given.astype(np.int64)


class _Progress:
    """Tells how many rounds are done, on average over all runs."""

    def __init__(self, progress: Callable[[int, int], None] | None, rounds: int, runs: int):
        self.progress, self.rounds, self.runs, self.most = progress, rounds, runs, 0

    def for_runs(self, rows: slice) -> Callable[[int, int], None] | None:
        """The progress function of (rounds done, rounds) for these runs, which are computed after those before them."""
        return None if self.progress is None else lambda done, rounds: self._tell(rows, done)

    def _tell(self, rows: slice, done: int) -> None:
        self.most = max(self.most, (rows.start * self.rounds + (rows.stop - rows.start) * done) // self.runs)
        self.progress(self.most, self.rounds)  # type: ignore[misc]


def _advance(part: Batch, state, first, rounds, recorder, progress):
    algorithm, federation, path = part.algorithm, part.federation, part.path
    draws = Draws(part.seeds, federation.backend)
    observers = () if recorder.only_models else (recorder,)
    taken = choose_path(path, algorithm, federation, recorder.everyone)
    rest = algorithm, federation, state, draws, first
    with kept_on_device():
        if path == "graph" or (captures(taken, federation) and rounds >= _FEW):
            step = round_on(taken, *rest, observers, recorder.everyone)
            state = in_graphs(step, state, first, rounds, recorder, federation.backend, progress, path == "graph")
        else:
            states = states_on(taken, *rest, rounds, observers, recorder.everyone)
            for done, state in enumerate(states, start=1):
                recorder.after(state)
                if progress:
                    progress(done, rounds)
    return state


def _piece(recorder: Recorder, rounds: int, state, start) -> Piece:
    return Piece(recorder.variables(rounds), np.asarray(recorder.values("finite")), state, start)


def _trajectory(batch: Batch, found: Piece, rounds: int, diverged: np.ndarray, record: list[str]) -> Trajectory:
    import xarray as xr

    algorithm, federation, finite = batch.algorithm, batch.federation, found.finite
    first = rounds - finite.shape[1]
    broke = np.where(finite.all(axis=1), -1, first + finite.argmin(axis=1) + 1)
    dataset = xr.Dataset(found.variables)
    dataset["diverged"] = "run", np.where(diverged >= 0, diverged, broke), {"long_name": DIVERGED}
    dataset.attrs = {
        "rounds": rounds, "local_steps": algorithm.local_steps, "indicator": algorithm.selection.matching.indicator,
        "path": batch.path, "record": record,
    }
    name = getattr(federation, "name", type(federation).__name__)
    return Trajectory(
        dataset, found.state, batch.seeds, fingerprint(algorithm, federation), f"{algorithm.name} on {name}", algorithm,
        federation, found.start,
    )
