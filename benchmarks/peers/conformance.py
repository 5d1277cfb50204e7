"""A peer's method as an algorithm of ours, so that ``fedtheory.testing.check_algorithm`` can be asked about it.

A peer is a black box that runs from a start. So a round of :class:`PeerMethod` runs the peer again from the recorded start
with the recorded participants, one round further than before, and takes over its last model and, where the peer shows
them, what its server and its clients keep.
"""

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.peers import make_job
from fedtheory.algorithm import Algorithm, State
from fedtheory.method import sampled
from fedtheory.moment import mean_over_clients
from fedtheory.selection import EveryPriority
from fedtheory.traits import (
    CURVATURE,
    EVERYONE,
    GRADIENT_DESCENT,
    ISOTROPIC,
    NUMBER,
    ONE_CLIENT,
    ONE_EXACT_STEP,
    STEP,
    FixedPoint,
    Law,
    Reduction,
    Traits,
    Variant,
    as_descent,
)
from synthetic.numbers.arrays import to_numpy

__all__ = ["DIVIDES", "EXEMPT", "OPTIMUM", "Answers", "PeerMethod", "maker", "traits_of"]

#: properties of every method that a package of its own cannot have, by reason
REASONS = {
    "the numbers come from the package's own process, in its own precision": (
        "dtype and device", "NumPy and torch", "exact fractions"),
    "the package is run again from the start for every round, each run and each start by itself": (
        "purity", "batch", "instances", "resume", "run and loop", "divergence", "one step size per run"),
    "equal questions have one answer, which is kept": ("determinism", "seeds"),
    "the suite draws the participants": ("number of participants", "one seed per run"),
    "local steps and uploads stay inside the package": (
        "own data only", "only participants are computed", "gradients counted", "fresh samples", "declared costs",
        "communication totals", "who sits out costs nothing", "everything sent is counted",
        "everything received is counted"),
    "the state holds the start": ("no dead state", "shapes"),
    "a package sees gradients, and no constant in a loss": ("loss offset",),
}
EXEMPT = {name: reason for reason, names in REASONS.items() for name in names}
OPTIMUM = {"optimum": "the package's control state cannot be set"}  #: of SCAFFOLD and FedDyn
DIVIDES = {"no step, no move": "the control variates are divided by the length of the steps"}  #: of SCAFFOLD


class Answers:
    """Results of jobs by ``ask(jobs)``, kept.

    A run with all clients is made 5, 20, 80, ... rounds long, and repeated if that is too short; its first rounds must agree
    up to rounding (Flower sums over clients in any order).
    """

    def __init__(self, ask: Callable[[list], list]):
        self.ask, self.kept, self.runs = ask, {}, 0

    def __call__(self, jobs) -> list[dict]:
        """For every job arrays of at least its rounds. Raises RuntimeError with the package's traceback where it fails."""
        keys, missing = [], {}
        for job in jobs:
            horizon = job["rounds"]
            key = json.dumps({**job, "rounds": None}, sort_keys=True)
            keys.append(key)
            if key not in self.kept or len(self.kept[key]["x"]) <= horizon:
                if job["participants"] is None:
                    horizon = next(longer for k in range(99) if (longer := 5 * 4**k) >= horizon)
                missing[key] = {**job, "rounds": horizon}
        self.runs += len(missing)
        for key, result in zip(missing, self.ask(list(missing.values())) if missing else (), strict=True):
            if isinstance(result, str):
                raise RuntimeError(result.strip().splitlines()[-1])
            arrays = {name: np.asarray(value, dtype=float) for name, value in result.items()}
            for name, before in self.kept.get(key, {}).items():
                if not np.allclose(before, arrays[name][: len(before)], 1e-6, 1e-6, equal_nan=True):
                    raise RuntimeError(f"{name} of the first rounds depends on how many rounds follow")
            self.kept[key] = arrays
        return [self.kept[key] for key in keys]


@dataclass(frozen=True)
class PeerMethod(Algorithm):
    """A method of a peer. ``hyper`` are its further arguments; ``keeps`` the names of the arrays that it shows besides the
    model: ``server_...`` (dim,) and ``client_...`` (clients, dim), zero before the first round."""

    answers: Any = None
    method: str = "FedAvg"
    hyper: Mapping[str, Any] = field(default_factory=dict)
    keeps: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()

    def refuses(self, federation):
        weights = to_numpy(federation.weights)
        if np.ptp(weights) > 1e-12 or not to_numpy(federation.priority).all():
            return "the adapters give every client the same weight"
        if np.any(to_numpy(federation.noise.variance)):
            return "the adapters take full gradients"
        return super().refuses(federation)

    def init(self, federation, x, draws=None) -> State:
        state, backend = super().init(federation, x, draws), federation.backend
        taken = backend.booleans(np.zeros((x.shape[0], 0, federation.clients), dtype=bool))
        zeros = {"server": 0 * x, "client": 0 * federation.all_clients(x)}
        server, clients = ({n: zeros[owner] for n in self.keeps if n.startswith(owner)} for owner in zeros)
        return state._replace(server={"start": x, "taken": taken} | server, clients=clients)

    def client_step(self, local, gradient, moment):
        """The package takes the local steps."""
        return local

    def server_step(self, upload, moment):
        state, federation, backend = moment.state, moment.federation, moment.federation.backend
        runs, clients = moment.x.shape[0], federation.clients
        active = np.broadcast_to(to_numpy(moment.participation.weight) != 0, (runs, clients))
        taken = np.concatenate([to_numpy(state.server["taken"]), active[:, None]], axis=1)
        rounds = taken.shape[1]
        results = self.answers([self.job(federation, state, taken[i], i) for i in range(runs)])
        arrays = {name: backend.array(np.stack([result[name][rounds] for result in results])) for name in ("x", *self.keeps)}
        mine = {owner: {n: arrays[n] for n in self.keeps if n.startswith(owner)} for owner in ("server", "client")}
        server = state.server | {"taken": backend.booleans(taken)} | mine["server"]
        return state._replace(x=arrays["x"], server=server, clients=state.clients | mine["client"])

    def job(self, federation, state, taken, i) -> dict:
        """Run ``i`` from its start over the rounds of ``taken`` (rounds, clients)."""
        instance = i % federation.center.shape[0]
        curvature, center = (to_numpy(a)[instance] for a in (federation.curvature, federation.center))
        everybody = isinstance(self.selection.sampling, EveryPriority)
        eta_l = float(np.broadcast_to(np.asarray(self.eta_l, dtype=float), (i + 1,))[i])
        return make_job(
            self.method, curvature, center, to_numpy(state.server["start"])[i], len(taken), self.local_steps, eta_l,
            None if everybody else [np.flatnonzero(row) for row in taken], self.corrections, **self.hyper)


def maker(answers, method, hyper: Mapping[str, Any], keeps=(), corrections=(), name=None):
    """A maker of :class:`PeerMethod` whose plain arguments are eta_l, local_steps, participants and those of ``hyper``."""
    def make(eta_l=0.1, local_steps=1, participants=None, **given):
        return PeerMethod(eta_l, local_steps, sampled(participants), answers=answers, method=method,
                          hyper=dict(hyper) | given, keeps=tuple(keeps), corrections=tuple(corrections))

    kind = inspect.Parameter.KEYWORD_ONLY
    defaults = {"eta_l": 0.1, "local_steps": 1, "participants": None} | dict(hyper)
    make.__signature__ = inspect.Signature([inspect.Parameter(n, kind, default=v) for n, v in defaults.items()])
    make.__name__ = name or method
    return make


# promises ----------------------------------------------------------------------------------------------------------------
UNITS = {"eta_g": NUMBER, "rho_prox": CURVATURE, "alpha": CURVATURE}
WHERE = {"sigma": 0.0, "data": False, "free": 0, "equal": True}


def mean(kind):
    """The server's control state is the mean of the clients'."""
    def sides(algorithm, federation, before, after):
        return after.server[f"server_{kind}"], mean_over_clients(federation, after.clients[f"client_{kind}"])

    return Law(f"the server's {kind} is the clients' mean", sides, where={"equal": True})


def gradients(algorithm, federation, before, after):
    """The clients' variates, and their full gradients at the model before the round."""
    return after.clients["client_variate"], federation.gradient(federation.all_clients(before.x))


def regularised(federation, x, algorithm):
    """The quadratics plus ``rho_prox/2 |. - x|^2``, for ``x`` (1, dim)."""
    rho = algorithm.hyper["rho_prox"]
    curvature = federation.curvature + rho
    center = (federation.curvature * federation.center + rho * x[:, None, :]) / curvature
    return type(federation)(curvature, center, weights=federation.weights, backend=federation.backend)


def traits_of(method: str, hyper: Mapping[str, Any], keeps=()) -> Traits:
    """What a package's FedAvg, FedProx, SCAFFOLD or FedDyn promises, with the arguments ``hyper``."""
    whole = {"eta_g": 1.0} if "eta_g" in hyper else {}
    common = {**ISOTROPIC, "units": {"eta_l": STEP} | {n: UNITS[n] for n in hyper if n in UNITS}, "where": WHERE}
    exact = EVERYONE | {"local_steps": 1}
    if method == "FedAvg":
        to = (*as_descent(**whole), Reduction("fedavg"))
        return Traits(**common, exempt=EXEMPT, fixed_point=FixedPoint(where=exact), reductions=to)
    if method == "FedProx":
        to = (Reduction("fedavg", {"rho_prox": 0.0}), Reduction("fedavg", where={"local_steps": 1}),
              Reduction("fedavg", where={"rounds": 1}, on=regularised), Reduction("fedprox", whole))
        return Traits(**common, exempt=EXEMPT, fixed_point=FixedPoint(where=exact), reductions=to)
    kind = {"SCAFFOLD": "variate", "FedDyn": "dual"}[method]
    laws = (mean(kind),) if {f"server_{kind}", f"client_{kind}"} <= set(keeps) else ()
    given = common | {"exempt": EXEMPT | OPTIMUM, "fixed_point": FixedPoint()}
    if method == "FedDyn":
        alpha = hyper["alpha"]
        return Traits(**given, laws=laws, reductions=(Reduction("feddyn", {"alpha": alpha}, {"rho_prox": alpha}),))
    to = (Reduction("fedavg", where={"rounds": 1}), Reduction("fedavg", where=ONE_CLIENT),
          Reduction(GRADIENT_DESCENT, whole, where=ONE_EXACT_STEP), Reduction("scaffold"))
    at_x = {"participants": None, "equal": True}
    after_one = Law("after one local step c_k is the gradient at x", gradients, where=at_x | {"local_steps": 1})
    always = Law("c_k is the gradient at the model of the round", gradients, where=at_x)
    given["exempt"] = given["exempt"] | DIVIDES
    return Traits(**given, laws=(*laws, after_one), reductions=to,
                  variants=(Variant({"option": "I"}, {"laws": (*laws, always)}),))
