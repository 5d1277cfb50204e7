"""The result of a run: recorded observables as an xarray Dataset, and the state from which it can be resumed."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedtheory.algorithm import State
from fedtheory.fingerprint import fingerprint
from fedtheory.selection import Participation
from synthetic.base.checks import whole
from synthetic.base.display import RichDisplay, lines
from synthetic.numbers.arrays import EXACT, TORCH, to_numpy

if TYPE_CHECKING:  # imported where a data set is made
    import xarray as xr

__all__ = ["Trajectory", "load_trajectory", "on_backend"]

_FORMAT = "fedtheory run 2"
_TIMES = {"round": "round", "step_round": "round", "iteration": "local iteration"}


@dataclass(frozen=True)
class Trajectory(RichDisplay):
    """Recorded observables of a batch of runs.

    ``dataset`` has the dimension ``run``; ``round`` (0 .. rounds, for models between rounds), ``step_round``
    (0 .. rounds - 1, for quantities of a round) or ``iteration``; and, where they apply, ``client`` and ``dim``.
    Times have coordinates with names and variables have names and units, so that xarray's ``plot`` labels the axes.
    ``diverged`` (run) is the first round after which the global model or another array of the server's or the clients' state
    (control variates, duals, moments, ...) was not finite, -1 if there is none. ``start`` is (runs, dim).
    """

    dataset: xr.Dataset
    state: State
    seeds: np.ndarray
    fingerprint: str
    description: str = ""
    algorithm: Any = field(default=None, compare=False)
    federation: Any = field(default=None, compare=False)
    start: np.ndarray | None = field(default=None, compare=False)

    def __post_init__(self):
        import xarray as xr

        bare = {name: xr.IndexVariable(name, np.arange(self.dataset.sizes[name]), {"long_name": said})
                for name, said in _TIMES.items() if name in self.dataset.sizes and name not in self.dataset.coords}
        object.__setattr__(self, "dataset", self.dataset.assign_coords(bare))

    def _summary(self) -> str:
        return f"{self.description}; {self.rounds} rounds, {self.runs} run{'s' * (self.runs > 1)}"

    def _table(self):
        yield "records", ", ".join(map(str, self.dataset.data_vars))
        for name in ("suboptimality", "distance_sq"):
            if name in self.dataset:
                means = self.mean(name)
                yield f"{means.attrs.get('long_name', name)}, mean of the runs", (
                    f"{float(means[0]):.6g} at the start, {float(means[-1]):.6g} at the end")
        yield "diverged", f"{len(self.diverged)} of {self.runs} runs"
        yield "seeds", self.seeds.tolist()
        yield "fingerprint", self.fingerprint

    def _svg(self):
        """The suboptimality by round, or the first observable that is one number."""
        simple = [name for name, array in self.dataset.data_vars.items() if array.ndim == 2 and array.dtype.kind in "fiu"]
        first = "suboptimality" if "suboptimality" in simple else simple[0] if simple else None
        return lines(self.mean(first).values) if first else ""

    @property
    def runs(self) -> int:
        return self.dataset.sizes["run"]

    @property
    def rounds(self) -> int:
        return int(self.dataset.attrs["rounds"])

    @property
    def diverged(self) -> dict[int, int]:
        """The first round after which the model or another array was not finite, by the number of each diverged run."""
        rounds = self.dataset["diverged"].values
        return {int(i): int(rounds[i]) for i in np.flatnonzero(rounds >= 0)}

    def mean(self, name: str) -> xr.DataArray:
        """Mean over runs of an observable."""
        return self.dataset[name].mean("run", keep_attrs=True)

    def band(self, name: str, level: float = 0.95) -> tuple[xr.DataArray, xr.DataArray]:
        """Lower and upper end of Student's t interval for the mean over runs."""
        from scipy import stats

        samples = self.dataset[name]
        if self.runs < 2:
            raise ValueError(f"a band needs at least 2 runs; got {self.runs}")
        half = stats.t.ppf(0.5 + level / 2, self.runs - 1) * samples.std("run", ddof=1) / self.runs**0.5
        mean = self.mean(name)
        return (mean - half).assign_attrs(mean.attrs), (mean + half).assign_attrs(mean.attrs)

    def alignment(self, offset: float) -> float:
        """theta_T of FedALIGN, eq. (7): sum of E[chi_i] over local iterations i = 1 .. T-1, over T + offset - 2."""
        return self._sum_over_iterations("chi") / (self._iterations + offset - 2)

    def tunable_bias(self, L: float, mu: float, offset: float) -> float:
        """rho_T of FedALIGN, eq. (8), in units of the loss."""
        return 2 * L / mu * self._sum_over_iterations("psi") / (self._iterations + offset - 2)

    @property
    def _iterations(self) -> int:
        return self.rounds * int(self.dataset.attrs["local_steps"])

    def _sum_over_iterations(self, name):
        if self.dataset.attrs["indicator"] == "local-every-step":
            raise ValueError("theta_T and rho_T here need indicators that stay within a round; got indicator "
                             "'local-every-step', allowed: broadcast, local-at-aggregation")
        if name not in self.dataset:
            raise ValueError(f"this needs the observable {name!r}; recorded: {', '.join(map(str, self.dataset.data_vars))}")
        per_round = self.mean(name).values  # frozen within a round; iteration 0 is not counted
        return float(per_round.sum() * int(self.dataset.attrs["local_steps"]) - per_round[0])

    @property
    def narrow(self) -> str | None:
        """``float32`` where the runs were made in it; None where they were not, and of runs that were read from a file."""
        own = None if self.federation is None else self.federation.backend
        return "float32" if own is not None and own.library == "torch" and own.dtype == "float32" else None

    def to(self, device: str | None = None, dtype: str | None = None) -> Trajectory:
        """Returns the trajectory with its federation and its state on another device or in another dtype, where ``resume``
        and ``compare`` go on; what is recorded stays. Arguments are those of
        :meth:`synthetic.base.federation.Federation.to`.

        Raises:
            ValueError: a trajectory that was read from a file, a device or a dtype that is not there.
        """
        if device is None and dtype is None:
            return self
        if self.federation is None:
            raise ValueError("a trajectory that was read from a file has no federation to move; allowed: those of run")
        federation = self.federation.to(device, dtype)
        dataset = self.dataset.assign_attrs(made_in=self.narrow) if self.narrow else self.dataset
        return replace(self, dataset=dataset, state=on_backend(self.state, federation.backend), federation=federation,
                       fingerprint=fingerprint(self.algorithm, federation))

    def save(self, path: str | Path) -> Path:
        """Writes everything to one file, atomically; returns its path."""
        path = Path(path)
        arrays: dict[str, Any] = {}
        header: dict[str, Any] = {
            "format": _FORMAT, "fingerprint": self.fingerprint, "description": self.description,
            "attrs": dict(self.dataset.attrs), "dims": {}, "attributes": {}, "server": sorted(self.state.server),
            "clients": sorted(self.state.clients),
            "participation": self.state.participation is not None,
        }
        for name, variable in self.dataset.data_vars.items():
            arrays[f"data/{name}"] = variable.values
            header["dims"][str(name)] = list(variable.dims)
            header["attributes"][str(name)] = dict(variable.attrs)
        arrays["seeds"], arrays["state/x"] = self.seeds, to_numpy(self.state.x)
        if self.start is not None:
            arrays["start"] = self.start
        for owner in ("server", "clients"):
            for name, value in getattr(self.state, owner).items():
                arrays[f"state/{owner}/{name}"] = to_numpy(value)
        if self.state.participation is not None:
            for name in ("included", "virtual_weight", "weight"):
                arrays[f"state/participation/{name}"] = to_numpy(getattr(self.state.participation, name))
        header["fractions"] = [name for name, array in arrays.items() if array.dtype == object]
        arrays |= {name: arrays[name].astype(str) for name in header["fractions"]}
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
        try:
            with open(temporary, "wb") as file:
                np.savez(file, **arrays)
            os.replace(temporary, path)
        except OSError as error:
            raise ValueError(f"cannot write {path}: {error.strerror}") from error
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
        return path


def on_backend(state: State, backend) -> State:
    """The same state with its arrays on ``backend``."""
    part = state.participation
    if part is not None:
        weights = (backend.array(part.virtual_weight), backend.array(part.weight))
        part = Participation(backend.booleans(part.included), *weights)
    server, clients = ({n: _array(v, backend) for n, v in kept.items()} for kept in (state.server, state.clients))
    return State(backend.array(state.x), server, clients, part)


def _array(values, backend):
    """Truth values and integers stay what they are."""
    kind = str(values.dtype)
    if "bool" in kind:
        return backend.booleans(values)
    return backend.integers(values) if "int" in kind else backend.array(values)


def load_trajectory(path: str | Path, backend=None) -> Trajectory:
    """Reads a trajectory from a file written by :meth:`Trajectory.save`; its state is on ``backend`` (default: torch, CPU).

    Raises ValueError, with one clear line, for a missing, truncated or foreign file.
    """
    try:
        return _read(path, backend or TORCH)
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror or error}") from error
    except Exception as error:  # a damaged archive makes zipfile and NumPy raise almost anything
        reason = " ".join(str(error).split())
        raise ValueError(f"{path} is not a run file (truncated or of another kind): {reason}") from error


def _read(path, backend) -> Trajectory:
    import xarray as xr

    if Path(path).exists() and not Path(path).is_file():
        raise ValueError("it is no ordinary file")
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    header = json.loads(bytes(arrays.pop("header")).decode())
    if header["format"] != _FORMAT:
        raise ValueError(f"expected format {_FORMAT!r}, got {header['format']!r}")
    for name in header["fractions"]:
        arrays[name] = EXACT.array(arrays[name])
    dataset = xr.Dataset({
        name: (dims, arrays[f"data/{name}"], header["attributes"][name]) for name, dims in header["dims"].items()
    })
    dataset.attrs = attrs = header["attrs"]
    texts = (header["description"], header["fingerprint"], attrs["indicator"], attrs["path"], *attrs["record"])
    if not all(isinstance(text, str) for text in texts):
        raise ValueError(f"expected texts, got {str(texts)[:80]}")
    for name in ("rounds", "local_steps"):
        whole(name, attrs[name])
    server, clients = ({n: arrays[f"state/{owner}/{n}"] for n in header[owner]} for owner in ("server", "clients"))
    participation = None
    if header["participation"]:
        names = ("included", "virtual_weight", "weight")
        participation = Participation(*(arrays[f"state/participation/{name}"] for name in names))
    state = on_backend(State(arrays["state/x"], server, clients, participation), backend)
    found = Trajectory(dataset, state, arrays["seeds"], header["fingerprint"], header["description"],
                       start=arrays.get("start"))
    if "diverged" not in dataset or len(found.seeds) != found.runs:
        raise ValueError(f"expected {found.runs} seeds and the observable 'diverged', got {len(found.seeds)} seeds")
    return found
