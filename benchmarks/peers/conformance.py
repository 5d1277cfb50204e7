"""A peer's method as an algorithm of ours, so that ``fedtheory.testing.check_algorithm`` can be asked about it.

A peer is a black box that runs from a start (``fedtheory.testing.foreign``), in a process of its own; some show what their
server and their clients keep.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.peers import make_job
from fedtheory.round_context import mean_over_clients
from fedtheory.selection import EveryPriority
from fedtheory.testing import foreign
from fedtheory.testing.foreign import DIVIDES, EXEMPT, OPTIMUM, BlackBox
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

__all__ = ["Answers", "PeerMethod", "maker", "traits_of"]

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
class PeerMethod(BlackBox):
    """A method of a peer."""

    answers: Any = None
    method: str = "FedAvg"
    corrections: tuple[str, ...] = ()

    def refuses(self, federation):
        weights = to_numpy(federation.weights)
        if np.ptp(weights) > 1e-12 or not to_numpy(federation.priority).all():
            return "the adapters give every client the same weight"
        return super().refuses(federation)

    def results(self, federation, starts, taken):
        return self.answers([self.job(federation, *pair, i) for i, pair in enumerate(zip(starts, taken, strict=True))])

    def job(self, federation, start, taken, i) -> dict:
        """Run ``i`` from its start over the rounds of ``taken`` (rounds, clients)."""
        instance = i % federation.center.shape[0]
        curvature, center = (to_numpy(a)[instance] for a in (federation.curvature, federation.center))
        everybody = isinstance(self.selection.sampling, EveryPriority)
        return make_job(self.method, curvature, center, start, len(taken), self.local_steps, self.step(i),
                        None if everybody else [np.flatnonzero(row) for row in taken], self.corrections, **self.hyper)


def maker(answers, method, hyper: Mapping[str, Any], keeps=(), corrections=(), name=None):
    """A maker of :class:`PeerMethod` whose plain arguments are eta_l, local_steps, participants and those of ``hyper``."""
    return foreign.maker(None, hyper, name=name or method, make=PeerMethod, answers=answers, method=method,
                         keeps=tuple(keeps), corrections=tuple(corrections))


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
