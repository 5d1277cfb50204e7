"""FedMoSWA (Liu et al. 2025): FedSWA with control variates; the server's is a moving average."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.algorithms.fedswa import local_rates
from fedtheory.algorithms.scaffold import settled
from fedtheory.control_variates import ControlVariates, given_start
from fedtheory.fields import rate, word
from fedtheory.method import register, sampled
from fedtheory.parts import Correction, GradientOracle
from fedtheory.round_context import mean_over_clients
from fedtheory.selection import EveryPriority
from fedtheory.traits import EVERYONE, ISOTROPIC, STEP, Costs, FixedPoint, Reduction, Tilt, Variant
from synthetic.base.checks import one_of

__all__ = ["FreshVariates", "MovingVariates", "SinceBroadcast", "fedmoswa"]

BATCHES = ("independent", "same")


@dataclass(frozen=True)
class MovingVariates(ControlVariates):
    """``g - c_k + m`` with c_k as in SCAFFOLD (``option`` I or II) and ``m <- m + gamma * mean of (c_k+ - m)``.

    The mean is over the sampled clients, who send ``c_k+ - m``; or, with ``all_clients``, over the stored c_k of all: the
    sampled clients send ``c_k+ - c_k``, and the server keeps the mean.
    """

    option: str = word("I", "II", default="II")
    gamma: Any = rate(0.2)  #: number, (runs,) array or Schedule
    all_clients: bool = False

    def server_state(self, federation, x, draws):
        state = super().server_state(federation, x, draws)
        if self.all_clients:
            state["variate_mean"] = mean_over_clients(federation, self.client_state(federation, x, draws)["variate"])
        return state

    def finish(self, local, context):
        new = self.renewed(local, context)
        known = local.own["variate"] if self.all_clients else context.server("variate")
        return {"variate": new}, {"variate_change": new - known}

    def aggregate(self, average, upload, context):
        m, gamma = context.state.server["variate"], context.server_number(self.gamma)
        change = upload.others["variate_change"]
        if not self.all_clients:
            return average, {"variate": m + gamma * context.weighted_sum(change)}
        mean = context.state.server["variate_mean"] + context.over_all(change)
        return average, {"variate": m + gamma * (mean - m), "variate_mean": mean}


@dataclass(frozen=True)
class FreshVariates(Correction):
    """Steps along ``g - c_k + m``, with ``c_k = g_k(x)`` and ``m <- (1 - gamma) m + gamma * mean of c_k`` before them.

    It costs one more exchange per round. ``m`` starts at ``server_variate`` ([runs,] dim), or at zero. With ``batch``
    same, c_k is left to :class:`SinceBroadcast`, which takes it on the samples of the local step.

    Example:
        One client on 1/2 (x - 1)^2 from 0: c = -1 and m = -1/2, so the first step of 1/2 is along -1 + 1 - 1/2.

        >>> from fedtheory import make_algorithm, run
        >>> from synthetic import Quadratic
        >>> method = make_algorithm("fedmoswa", eta_l=0.5, eta_g=1, gamma=0.5, variant="fresh")
        >>> run(method, Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.25]
    """

    gamma: Any = rate(0.2)
    batch: str = word(*BATCHES)
    server_variate: Any = None
    down, up, extra_evaluations = 1, 1, 1

    def server_state(self, federation, x, draws):
        return {"variate": given_start("server_variate", self.server_variate, 0 * x)}

    def next_variate(self, fresh, context):
        """m after the exchange, (runs, dim)."""
        m = context.state.server["variate"]
        return m + context.server_number(self.gamma) * (context.weighted_sum(fresh) - m)

    def begin(self, local, context):
        fresh = context.extra_gradient(context.x[:, None, :] + 0 * local.x)
        m = self.next_variate(fresh, context)[:, None, :] + 0 * fresh
        return local.with_own(fresh=fresh, steer=m - fresh if self.batch == "independent" else m)

    def shift(self, local, context):
        return local.own["steer"]

    def finish(self, local, context):
        return {}, {"fresh": local.own["fresh"]}

    def aggregate(self, average, upload, context):
        return average, {"variate": self.next_variate(upload.others["fresh"], context)}

    def check(self, algorithm):
        if not isinstance(algorithm.selection.sampling, EveryPriority):
            raise ValueError("in this variant every client renews its variate in every round; allowed: participants=None")
        if (self.batch == "same") != isinstance(algorithm.oracle, SinceBroadcast):
            raise ValueError("batch 'same' goes with the oracle SinceBroadcast, batch 'independent' without; got "
                             f"{self.batch!r} with {type(algorithm.oracle).__name__}")


@dataclass(frozen=True)
class SinceBroadcast(GradientOracle):
    """``g_k(x_k) - g_k(x)``, both on the samples of the local step."""

    evaluations = 2

    def gradient(self, local, gradient, context):
        return gradient(local.x) - gradient(context.x[:, None, :] + 0 * local.x), local


def fedmoswa(
    eta_l=0.1, local_steps=1, rho_decay=0.1, eta_g=1.5, gamma=0.2, option="II", start="zero", variant="canonical",
    batch="independent", schedule="cyclic-linear", client_variate=None, server_variate=None, participants=None,
    sampling="without-replacement",
) -> Algorithm:
    """FedMoSWA (Liu et al. 2025; specification fedmoswa 3.3), with the values of the paper's experiments.

    ::

        x_k <- x_k - eta_j * (g_k(x_k) - c_k + m)            j = 0 .. local_steps - 1 with the rates of FedSWA, from x_k = x
        c_k+ = g_k(x)                                        option I, on samples of its own
             | c_k - m + (x - x_k) / sum of eta_j            option II
        m <- m + gamma * mean over sampled k of (c_k+ - m)   the sum of w_k (c_k+ - m)
           | (1 - gamma) m + gamma * mean over all k of c_k+ variant all-clients, with the shares p_k
        x <- x + eta_g * (x_bar - x)                         x_bar = the sum of w_k x_k, weights w_k as in fedavg
        c_k <- c_k+                                          for the sampled k; the others keep c_k

    m in the lines of x_k and c_k+ is the one of the round. Under ``all-clients`` clients that are not sampled enter with the
    c_k that they keep. ``start`` of the c_k and of m, with ``client_variate`` and ``server_variate``: as of the c_k and c in
    :func:`scaffold`.

    Variant ``fresh`` (App. F): every client takes part. Before the local steps of a round ``c_k = g_k(x)``, on samples of
    its own, and ``m <- (1 - gamma) m + gamma * mean over all k of c_k``, in an exchange of its own; the local steps have
    this new m. With ``batch`` same they have ``g_k(x)`` on the samples of the step in place of c_k, while m keeps the c_k.
    Only m lasts: it starts at zero, or with ``start`` free at ``server_variate``.

    ``gamma = 1`` with all clients and ``m = mean of c_k`` at the start is SCAFFOLD; from zero its first round is FedSWA's.

    Example:
        One client on 1/2 (x - 1)^2 with constant rate 1/2: to 1/2; then c = -1 and m = -1/2, so the step is -1/2 + 1/2.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> method = fedmoswa(0.5, rho_decay=1, eta_g=1, gamma=0.5)
        >>> run(method, Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist()
        [0.0, 0.5, 0.5]
    """
    one_of("variant", variant, ("canonical", "all-clients", "fresh"))
    one_of("batch", batch, BATCHES)
    rates, chosen = local_rates(schedule, eta_l, rho_decay, local_steps), sampled(participants, sampling)
    oracle = GradientOracle()
    variates: Correction
    if variant == "fresh":
        if client_variate is not None or start != ("zero" if server_variate is None else "free"):
            raise ValueError("the variant 'fresh' starts from m alone: start must be 'zero', or 'free' with server_variate; "
                             f"got {start!r}")
        oracle = SinceBroadcast() if batch == "same" else oracle
        variates = FreshVariates(gamma, batch, server_variate)
    else:
        variates = MovingVariates(option, start, "standard", client_variate, server_variate, gamma, variant == "all-clients")
    return Algorithm(rates, local_steps, chosen, oracle=oracle, correction=variates, server=ServerStep(eta_g),
                     name="FedMoSWA")


def one_more(local_steps):
    """Gradients of a round with one besides those of the local steps."""
    return local_steps + 1


FRESH = {"tilt": Tilt({}), "fixed_point": FixedPoint(), "reductions": (), "exempt": {
    "own data only": "clients exchange their variates before the local steps"}}

register(fedmoswa, "fedmoswa", "FedSWA with a momentum control variate", "Liu et al. 2025", "fedmoswa/fedmoswa",
         "fedmoswa/moswa-ii", **ISOTROPIC, units={"eta_l": STEP}, tilt=Tilt({"variate": 1.0}, EVERYONE),
         fixed_point=FixedPoint(settled, EVERYONE), costs=Costs(2, 2, kept=1),
         reductions=(Reduction("scaffold", {"gamma": 1.0, "rho_decay": 1.0}, where=EVERYONE),
             Reduction("fedswa", where={"rounds": 1})),
         variants=(Variant({"option": "I"}, {"costs": Costs(2, 2, one_more, kept=1)}),
             Variant({"variant": "all-clients", "start": "gradient-clients-only"}, {"tilt": None, "reductions": ()}),
             Variant({"variant": "fresh"}, FRESH | {"costs": Costs(2, 2, one_more, kept=0)}),
             Variant({"variant": "fresh", "batch": "same"}, FRESH | {
                 "costs": Costs(2, 2, lambda local_steps: 2 * local_steps + 1, kept=0)})),
         arguments={"gamma": "weight of the new control variates in m"})
