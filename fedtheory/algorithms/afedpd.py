"""A-FedPD (Sun et al. 2024): the server keeps all duals and updates those of absent clients virtually."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedpd import EXACT, UNITS, Duals
from fedtheory.method import method, sampled
from fedtheory.moment import mean_over_clients
from fedtheory.parts import ServerOptimiser
from fedtheory.solvers import local_solver
from fedtheory.traits import EVERYONE, ISOTROPIC, Costs, FixedPoint, Law, Reduction, Tilt, Traits
from synthetic.base.checks import one_of

__all__ = ["OUTPUTS", "ReturnsAverage", "VirtualDuals", "afedpd"]


@dataclass(frozen=True)
class VirtualDuals(Duals):
    """The server sends each participant its lam_k; afterwards ``lam_k <- lam_k + rho_prox * (x_k - x)``, where an absent
    client's x_k is the average ``x_bar``, and the model is ``x_bar + mean of lam_k / rho_prox``."""

    down = 1

    def client_state(self, federation, x, draws):
        return {}

    def server_state(self, federation, x, draws):
        return {"duals": 0 * federation.all_clients(x), "x_bar": x}

    def begin(self, local, moment):
        return local.with_own(dual=moment.rows(moment.state.server["duals"]))

    def finish(self, local, moment):
        return {}, {}

    def aggregate(self, average, upload, moment):
        duals, rho, x = moment.state.server["duals"], self.pull(moment), moment.x[:, None, :]
        present = moment.rows(duals) + rho * (upload.model - x)
        absent = duals + rho * (average[:, None, :] - x)
        duals = moment.put(absent, present)
        mean = moment.mean_over_all(duals)
        return average + mean / self.server_pull(moment), {"duals": duals, "x_bar": average}

    def check(self, algorithm):
        if not algorithm.upload.whole:
            raise ValueError("the server's duals are made of the models themselves, so they must arrive as they are; got "
                             f"{type(algorithm.upload).__name__}, allowed: no upload filter")


@dataclass(frozen=True)
class ReturnsAverage(ServerOptimiser):
    """The method returns the average of the local models rather than the model that is sent."""

    def output(self, state):
        return state.server["x_bar"]

    def check(self, algorithm):
        if not isinstance(algorithm.correction, VirtualDuals):
            raise ValueError("only virtual duals keep an average besides the model; got the correction "
                             f"{type(algorithm.correction).__name__}, allowed: VirtualDuals, as in afedpd and afedpdsam")


#: what is returned, by name
OUTPUTS = {"bar": ReturnsAverage, "server": ServerOptimiser}


def optimal(federation, x):
    """The duals at a minimiser ``x`` (runs, dim): minus every client's gradient."""
    return {"duals": -federation.gradient(federation.all_clients(x))}, {}


def identity_1(algorithm, federation, before, after):
    """The mean dual, and rho_prox times the step of x_bar."""
    step = after.server["x_bar"] - before.server["x_bar"]
    return mean_over_clients(federation, after.server["duals"]), algorithm.correction.rho_prox * step


@method("afedpd", "primal-dual method with virtual dual updates of absent clients", "Sun, Shen, Tao 2024", "afedpd/afedpd",
        "afedpd/a-fedpd", traits=Traits(
            **ISOTROPIC, units=UNITS, tilt=Tilt({"duals": -1.0}), fixed_point=FixedPoint(optimal), costs=Costs(2, 1, kept=0),
            laws=(Law("mean dual = rho_prox * step of x_bar", identity_1, where={"equal": True, "free": 0}),),
            reductions=(Reduction("fedpd", {"output": "server"}, where=EVERYONE), Reduction("fedprox", where={"rounds": 1})),
            variants=(replace(EXACT, changes=EXACT.changes | {"costs": Costs(2, 1, lambda local_steps: 0, kept=0)}),)))
def afedpd(
    eta_l=0.1, local_steps=1, rho_prox=0.1, output="bar", solver="gradient", epsilon=None, participants=None,
    replacement=False,
) -> Algorithm:
    """A-FedPD (afedpd 3.4, Algorithm 1).

    ::

        x_k   <- argmin over v of F_k(v) + <lam_k, v - x> + rho_prox/2 |v - x|^2     for the sampled k; solver as in FedPD
        x_bar <- mean over sampled k of x_k
        lam_k <- lam_k + rho_prox * (x_k - x)       for the sampled k
               | lam_k + rho_prox * (x_bar - x)     for the others
        x     <- x_bar + mean over all k of lam_k / rho_prox

    ``output``: ``bar`` returns (and records) x_bar, ``server`` the model x that is sent. With everybody it is FedPD, whose
    model is x. With unequal weights x_bar has the sampling's weights, the mean of the duals has the shares p_k.

    Example:
        On 1/2 (v - 1)^2 with rho_prox 1: to 1/2, lam = 1/2, sent 1; then v solves v - 1 + 1/2 + v - 1 = 0.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> both = [afedpd(rho_prox=1.0, solver="exact", output=output) for output in ("bar", "server")]
        >>> [run(method, Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist() for method in both]
        [[0.0, 0.5, 0.75], [0.0, 1.0, 1.0]]
    """
    server = OUTPUTS[one_of("output", output, OUTPUTS)]()
    return Algorithm(eta_l, local_steps, sampled(participants, replacement), correction=VirtualDuals(rho_prox),
                     client=local_solver(solver, epsilon), server=server, name="A-FedPD")
