"""FA-NT (Chen et al., Appendix C): a correction after the direction of a local Adam, for comparison with FAdamGC."""

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fadamgc import Tracking, first_variates
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.algorithms.local_adam import COORDINATES, UNITS, Adam
from fedtheory.fields import word
from fedtheory.method import register, sampled
from fedtheory.parts import Correction
from fedtheory.round_context import mean_over_clients
from fedtheory.selection import EveryPriority, PriorityOnly
from fedtheory.traits import EVERYONE, Costs, Law, Record, Reduction, Variant, kept_mean

__all__ = ["DirectionTracking", "KeptDifference", "fa_nt", "fa_nt_z"]


@dataclass(frozen=True)
class DirectionTracking(Tracking):
    """``direction + y - y_k``; a tracker's new y_k is ``y_k - y + (x - x_k) / sum of its steps``, its mean direction."""

    option: str = "II"

    def correct(self, g, local, context):
        return g, local

    def after(self, direction, local, context):
        return direction + self.shift(local, context)


@dataclass(frozen=True)
class KeptDifference(Correction):
    """``direction + z_k`` with ``z_k <- z_k + (x_k - x_next) / (eta_g * sum of steps)``, x_next the model after the round.

    The client updates z_k when it receives x_next; until then it keeps its last local model beside the old z_k.
    """

    start: str = word("zero", "gradient", "normalised-gradient", name="y_init")

    def client_state(self, federation, x, draws):
        y_k = first_variates(self.start, federation, x)
        y = mean_over_clients(federation, y_k)
        return {"difference": y[:, None, :] - y_k, "last_local": federation.all_clients(x)}

    def begin(self, local, context):
        before = max(context.round - 1, 0)
        past = context._replace(round=before, iteration=before * context.algorithm.local_steps)
        scale = context.algorithm.now(context.algorithm.server.eta_g, past) * context.algorithm.round_length(past)
        return local.with_own(difference=local.own["difference"] + (local.own["last_local"] - local.x) / scale)

    def after(self, direction, local, context):
        return direction + local.own["difference"]

    def finish(self, local, context):
        return {"difference": local.own["difference"], "last_local": local.x}, {}

    def check(self, algorithm):
        selection = algorithm.selection
        if not isinstance(selection.sampling, EveryPriority) or not isinstance(selection.matching, PriorityOnly):
            raise ValueError("the z-form updates z_k with the model of the next round, which only a client of every round "
                             "receives; allowed: full participation")
        if type(algorithm.server) is not ServerStep:
            raise ValueError(f"the z-form divides by ServerStep's eta_g; got {type(algorithm.server).__name__}")
        if algorithm.client.solves or not algorithm.upload.whole:
            raise ValueError("the z-form needs gradient steps, and models that are sent whole")


def fa_nt(
    eta_l=0.1, local_steps=1, beta1=0.9, beta2=0.99, eps=1e-8, eta_g=1.0, trackers=None, y_init="zero", vhat="reset",
    store="v", norm="elem", moment_index="immediate", v_init=0.0, participants=None, sampling="without-replacement",
) -> Algorithm:
    """FA-NT (Chen et al., Algorithm 2): local Adam whose direction, not its gradient, is corrected.

    ::

        x_k <- x;  m_k <- 0;  vhat_k <- v_k                            vhat: reset | carry | zero | none
        local_steps times:
            g      <- g_k(x_k)
            m_k    <- beta1 * m_k + (1 - beta1) * g
            v_k    <- beta2 * v_k + (1 - beta2) * g * g                norm: elem | scalar
            vhat_k <- max(vhat_k, v_k)
            x_k    <- x_k - eta_l * (m_k / (sqrt(vhat_k) + eps) + y - y_k)
        y_k+ = y_k - y + (x - x_k) / (local_steps * eta_l)             k among the trackers, else y_k
        y <- y + 1/m * sum over the trackers of (y_k+ - y_k),   y_k <- y_k+      m: number of all clients
        x <- x + eta_g * (x_bar - x)                    x_bar = mean over sampled k of x_k, weights as in fedavg

    0/0 = 0. It is FAdamGC with three lines changed. The y's are directions here, pure numbers, so that y_k+ is the client's
    mean direction of the round. v_k starts at ``v_init`` and is kept (``store``); y_k starts as ``y_init`` says, y at the
    mean over all k of y_k. ``y_init``, the trackers, the weights in the line of y, the arguments of the moments and the
    costs are those of :func:`fadamgc`. Without trackers from ``y_init`` zero it is LocalAdam.

    Example:
        At 0 the gradients are -1 and 4, their directions -1 and 1: from then on y_k = -1, 1 and y = 0 cancel every step.

        >>> from fedtheory import run
        >>> from synthetic import make_problem
        >>> made = fa_nt(0.25, beta1=0.0, beta2=0.0, eps=0.0, vhat="none")
        >>> trajectory = run(made, make_problem("quadratic-1d-pair"), 2)
        >>> trajectory.state.clients["variate"].ravel().tolist(), trajectory.dataset.x.values.ravel().tolist()
        ([-1.0, 1.0], [0.0, 0.0, 0.0])
    """
    client = Adam(beta1, beta2, eps, vhat, store, norm, moment_index, v_init)
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), client=client, server=ServerStep(eta_g),
                     correction=DirectionTracking(start=y_init, trackers=trackers), name="FA-NT")


def fa_nt_z(
    eta_l=0.1, local_steps=1, beta1=0.9, beta2=0.99, eps=1e-8, eta_g=1.0, y_init="zero", vhat="reset", store="v",
    norm="elem", moment_index="immediate", v_init=0.0,
) -> Algorithm:
    """FA-NT in the form (113)-(114) of Chen et al.: the client keeps ``z_k`` in place of ``y - y_k``; one model each way.

    ::

        x_k <- x_k - eta_l * (m_k / (sqrt(vhat_k) + eps) + z_k)        local_steps times, m_k and vhat_k as in FA-NT
        x   <- x + eta_g * (x_bar - x)                                 x_bar = mean over all k of x_k, with the weights p_k
        z_k <- z_k + (x_k - x) / (local_steps * eta_g * eta_l)         with this new x, once the client receives it

    z_k starts at y - y_k, with y_k as ``y_init`` of :func:`fadamgc` says and y their mean over
    all k. All clients take part in every round.
    For ``eta_g = 1`` it is FA-NT. For another ``eta_g`` it is not, as printed: the z_k then no longer sum to zero.

    Example:
        As in :func:`fa_nt` the z_k stop the clients at 0.

        >>> from fedtheory import run
        >>> from synthetic import make_problem
        >>> made = fa_nt_z(0.25, beta1=0.0, beta2=0.0, eps=0.0, vhat="none")
        >>> run(made, make_problem("quadratic-1d-pair"), 3).state.clients["difference"].ravel().tolist()
        [1.0, -1.0]
    """
    client = Adam(beta1, beta2, eps, vhat, store, norm, moment_index, v_init)
    return Algorithm(eta_l, local_steps, sampled(), client=client, server=ServerStep(eta_g),
                     correction=KeptDifference(y_init), name="FA-NT, z-form")


def differences(algorithm, federation, before, after):
    """The mean of the z_k, and zero."""
    return mean_over_clients(federation, after.clients["difference"]), 0 * after.x


register(fa_nt, "fa-nt", "a correction after the direction of a local Adam", "Chen et al.: FAdamGC, Algorithm 2",
         "fadamgc/algorithm-2", "fadamgc/fa-nt", **COORDINATES, units=UNITS, costs=Costs(2, 2, kept=2),
         laws=(kept_mean("y", "variate"),),
         reductions=(Reduction("local-adam", {"trackers": 0, "y_init": "zero"}),
             Reduction("local-adam", {"y_init": "zero"}, where={"rounds": 1})),
         variants=(Variant({"trackers": 1}, {"random": True, "costs": Costs(2, None, kept=2)}),
             Variant({"y_init": "normalised-gradient"})),
         records={"tracked": Record(nonnegative=True), "z_x_round": Record(method="fa-nt-z", array="x_round")},
         subset="trackers")
register(fa_nt_z, "fa-nt-z", "FA-NT with only models sent, for full participation", "Chen et al.: FAdamGC, (113)-(114)",
         "fadamgc/fa-nt-z", **COORDINATES, units=UNITS, costs=Costs(kept=3),
         reductions=(Reduction("fa-nt", {"eta_g": 1.0}, where=EVERYONE),),
         laws=(Law("the z_k sum to zero", differences, where={"free": 0}),))
