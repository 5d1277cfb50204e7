"""A-FedPD (Sun et al. 2024): the server keeps all duals and updates those of absent clients virtually."""

from dataclasses import dataclass, replace

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedpd import EXACT, UNITS, Duals
from fedtheory.method import register, sampled
from fedtheory.parts import ServerOptimiser
from fedtheory.round_context import mean_over_clients
from fedtheory.solvers import local_solver
from fedtheory.traits import EVERYONE, ISOTROPIC, Costs, FixedPoint, Law, Record, Reduction, Tilt
from synthetic.base.checks import one_of

__all__ = ["OUTPUTS", "ReturnsAverage", "VirtualDuals", "afedpd"]


@dataclass(frozen=True)
class VirtualDuals(Duals):
    """Duals lam_k of all clients on the server, which sends each participant its own. After the local steps
    ``lam_k <- lam_k + rho_prox * (x_k - x)``, with the average ``x_bar`` in place of x_k for absent clients; the new model
    is ``x_bar + mean of lam_k / rho_prox``."""

    down = 1
    needs_whole = "the server computes the duals from the local models"

    def client_state(self, federation, x, draws):
        return {}

    def server_state(self, federation, x, draws):
        return {"duals": 0 * federation.all_clients(x), "x_bar": x}

    def begin(self, local, context):
        return local.with_own(dual=context.rows(context.state.server["duals"]))

    def finish(self, local, context):
        return {}, {}

    def aggregate(self, average, upload, context):
        duals, rho, x = context.state.server["duals"], self.pull(context), context.x[:, None, :]
        present = context.rows(duals) + rho * (upload.model - x)
        absent = duals + rho * (average[:, None, :] - x)
        duals = context.with_rows(absent, present)
        mean = context.mean_over_all(duals)
        return average + mean / self.server_pull(context), {"duals": duals, "x_bar": average}


@dataclass(frozen=True)
class ReturnsAverage(ServerOptimiser):
    """Returns the average of the local models, not the model that is sent."""

    def output(self, state):
        return state.server["x_bar"]

    def check(self, algorithm):
        if not isinstance(algorithm.correction, VirtualDuals):
            raise ValueError("only virtual duals keep an average besides the model; got the correction "
                             f"{type(algorithm.correction).__name__}, allowed: VirtualDuals, as in afedpd and afedpdsam")


#: the server optimisers that return either model
OUTPUTS = {"bar": ReturnsAverage, "server": ServerOptimiser}


def afedpd(
    eta_l=0.1, local_steps=1, rho_prox=0.1, output="bar", solver="gradient", epsilon=None, participants=None,
    sampling="without-replacement",
) -> Algorithm:
    """A-FedPD (Sun et al. 2024, Algorithm 1; specification afedpd 3.4): FedPD whose server keeps the duals of all clients.

    ::

        x_k   <- argmin over v of F_k(v) + <lam_k, v - x> + rho_prox/2 |v - x|^2     for the sampled k; solver as in FedPD
        x_bar <- mean over sampled k of x_k
        lam_k <- lam_k + rho_prox * (x_k - x)       for the sampled k
               | lam_k + rho_prox * (x_bar - x)     for the others: the virtual update, with the new x_bar
        x     <- x_bar + mean over all k of lam_k / rho_prox

    Every lam_k starts at zero, x_bar at x. The server sends x and lam_k, the client sends x_k. ``output``: ``bar`` returns
    (and records) x_bar, ``server`` the model x that is sent. With all clients it is FedPD, whose model is x. The paper has
    equal weights; with others x_bar has the weights of ``fedavg``, and the mean of the duals has the shares p_k. ``solver``
    and ``epsilon``: :func:`fedpd`.

    Example:
        On 1/2 (v - 1)^2 with rho_prox 1: to 1/2, lam = 1/2, sent 1; then v solves v - 1 + 1/2 + v - 1 = 0.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> both = [afedpd(rho_prox=1.0, solver="exact", output=output) for output in ("bar", "server")]
        >>> [run(method, Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist() for method in both]
        [[0.0, 0.5, 0.75], [0.0, 1.0, 1.0]]
    """
    server = OUTPUTS[one_of("output", output, OUTPUTS)]()
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), correction=VirtualDuals(rho_prox),
                     client=local_solver(solver, epsilon), server=server, name="A-FedPD")


def optimal(federation, x):
    """The duals at a minimiser ``x`` (runs, dim): minus every client's gradient."""
    return {"duals": -federation.gradient(federation.all_clients(x))}, {}


def identity_1(algorithm, federation, before, after):
    """The mean dual, and rho_prox times the step of x_bar."""
    step = after.server["x_bar"] - before.server["x_bar"]
    return mean_over_clients(federation, after.server["duals"]), algorithm.correction.rho_prox * step


register(afedpd, "afedpd", "primal-dual method with virtual dual updates of absent clients", "Sun, Shen, Tao 2024",
         "afedpd/afedpd", "afedpd/a-fedpd", **ISOTROPIC, units=UNITS, tilt=Tilt({"duals": -1.0}),
         fixed_point=FixedPoint(optimal), costs=Costs(2, 1, kept=0),
         laws=(Law("mean dual = rho_prox * step of x_bar", identity_1, where={"equal": True, "free": 0}),),
         reductions=(Reduction("fedpd", {"output": "server"}, where=EVERYONE), Reduction("fedprox", where={"rounds": 1})),
         variants=(replace(EXACT, changes=dict(EXACT.changes) | {"costs": Costs(2, 1, lambda local_steps: 0, kept=0)}),),
         records={"server_x_bar": Record(starts_at_model=True)})
