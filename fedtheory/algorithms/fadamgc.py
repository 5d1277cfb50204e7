"""FAdamGC (Chen et al.): gradient tracking inside the moments of a local Adam."""

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.algorithms.fedsam import along
from fedtheory.algorithms.local_adam import COORDINATES, UNITS, Adam
from fedtheory.algorithms.scaffold import settled
from fedtheory.control_variates import ControlVariates
from fedtheory.fields import checked, word
from fedtheory.method import register, sampled
from fedtheory.round_context import mean_over_clients
from fedtheory.selection import WithoutReplacement
from fedtheory.traits import ONE_CLIENT, Costs, FixedPoint, Record, Reduction, Tilt, Variant, kept_mean
from synthetic.base.checks import whole
from synthetic.numbers.arrays import namespace
from synthetic.numbers.draws import TRACKERS

__all__ = ["Tracking", "fadamgc", "first_variates"]

def first_variates(start, federation, x):
    """The y_k (runs, clients, dim) before the first round: zero, full gradients at ``x``, or their directions."""
    models = federation.all_clients(x)
    if start == "zero":
        return 0 * models
    g = federation.gradient(models)
    return g if start == "gradient" else along(g, 1)


@dataclass(frozen=True)
class Tracking(ControlVariates):
    """SCAFFOLD's correction ``g - y_k + y``; in each round only ``trackers`` of the participants renew y_k.

    Trackers are drawn uniformly. The new y_k is the mean of the round's gradients. ``start``: all y_k zero, full gradients
    at the first model, or these divided by their norms; y starts at their mean. ``trackers``: at most the number of
    participants; None: all of them.
    """

    option: str = "average-gradient"
    start: str = word("zero", "gradient", "normalised-gradient", name="y_init")
    trackers: int | None = checked(None, lambda name, value: value is None or whole(name, value, 0))
    up = 0

    def client_state(self, federation, x, draws):
        if self.trackers is not None:
            whole("trackers", self.trackers, 0, federation.clients)
        return {"variate": first_variates(self.start, federation, x)}

    def server_state(self, federation, x, draws):
        return {"variate": mean_over_clients(federation, first_variates(self.start, federation, x))}

    def tracking(self, context):
        """Truth values (runs, participants): the participants that renew their y_k."""
        if self.trackers is None:
            return context.active
        numbers = context.numbers(context.federation.clients)
        return context.draws.subset_of(TRACKERS, context.round, numbers, context.active, self.trackers)

    def finish(self, local, context):
        if self.trackers is None:
            return super().finish(local, context)
        old = local.own["variate"]
        new = namespace(old).where(self.tracking(context)[..., None], self.renewed(local, context), old)
        return {"variate": new}, {"variate_change": new - old}

    def extra_up(self, context):
        return context.spread(context.federation.backend.array(self.tracking(context)))

    def check(self, algorithm):
        if algorithm.client.solves:
            raise ValueError("y_k is a mean over gradient steps, which a solved local problem does not have")
        sampling = algorithm.selection.sampling
        if self.trackers is not None and isinstance(sampling, WithoutReplacement):
            whole("trackers", self.trackers, 0, sampling.participants)


def fadamgc(
    eta_l=0.1, local_steps=1, beta1=0.9, beta2=0.99, eps=1e-8, eta_g=1.0, trackers=None, y_init="zero", vhat="reset",
    store="v", norm="elem", moment_index="immediate", v_init=0.0, participants=None, sampling="without-replacement",
) -> Algorithm:
    """FAdamGC (Chen et al., Algorithm 1): Adam on the clients, on gradients that tracking has corrected.

    ::

        x_k <- x;  m_k <- 0;  vhat_k <- v_k                            vhat: reset | carry | zero | none
        local_steps times:
            g      <- g_k(x_k)
            ghat   <- g + y - y_k
            m_k    <- beta1 * m_k + (1 - beta1) * ghat
            v_k    <- beta2 * v_k + (1 - beta2) * ghat * ghat          norm: elem | scalar
            vhat_k <- max(vhat_k, v_k)
            x_k    <- x_k - eta_l * m_k / (sqrt(vhat_k) + eps)         0/0 = 0; moment_index: immediate | delayed
        y_k+ = mean of the round's g                                   k among the trackers, else y_k
        client k keeps y_k+, v_k                                       store: v | vhat
        y <- y + 1/m * sum over the trackers of (y_k+ - y_k)           m: number of all clients; y_k <- y_k+
        x <- x + eta_g * (x_bar - x)                                   x_bar = mean over sampled k of x_k, as in fedavg

    In every round ``trackers`` of the sampled clients are drawn uniformly without replacement; None, or more than there are:
    all of them. With unequal weights the share p_k stands for 1/m; a client drawn twice is one client here. v_k starts at
    ``v_init``. ``y_init``: the first y_k are zero, gradient (full gradients at the first model), or normalised-gradient
    (these divided by their norms, 0/0 = 0); y starts at their mean over all k, with the shares p_k. Two models go down; a
    tracker sends two, another client one. :class:`fedtheory.algorithms.local_adam.Adam` has the formulas of ``vhat``,
    ``store``, ``norm`` and ``moment_index``. Without trackers from ``y_init`` zero it is LocalAdam; with ``beta1 = 0``,
    ``eta_l = eta * eps`` and large ``eps`` it tends to SCAFFOLD (average-gradient) with local step eta.

    Example:
        On 1/2 (x - 1)^2 and 2 (x + 1)^2, whose mean is smallest at -3/5, LocalAdam's local steps stop elsewhere.

        >>> from fedtheory import make_algorithm, run
        >>> from synthetic import make_problem
        >>> pair, options = make_problem("quadratic-1d-pair"), {"eta_l": 0.2, "local_steps": 2, "eps": 0.1}
        >>> methods = [make_algorithm(name, **options) for name in ("fadamgc", "local-adam")]
        >>> [round(run(method, pair, 400).dataset.x.values[0, -1, 0].item(), 6) for method in methods]
        [-0.6, -0.318368]
    """
    client = Adam(beta1, beta2, eps, vhat, store, norm, moment_index, v_init)
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), client=client, server=ServerStep(eta_g),
                     correction=Tracking(start=y_init, trackers=trackers), name="FAdamGC")


register(fadamgc, "fadamgc", "gradient tracking inside the moments of a local Adam", "Chen et al.: FAdamGC, Algorithm 1",
         "fadamgc/algorithm-1", "fadamgc/fadamgc", **COORDINATES, units=UNITS, costs=Costs(2, 2, kept=2),
         tilt=Tilt({"variate": 1.0}), laws=(kept_mean("y", "variate"),),
         reductions=(Reduction("local-adam", {"trackers": 0, "y_init": "zero"}), Reduction("local-adam", where=ONE_CLIENT)),
         variants=(Variant({"trackers": 1}, {"random": True, "costs": Costs(2, None, kept=2)}),
             Variant({"y_init": "gradient"}), Variant({"eps": 0.1}, {"fixed_point": FixedPoint(settled, attracts=False)})),
         records={"tracked": Record(nonnegative=True)}, subset="trackers")
