"""FedASAM (Caldarola et al. 2022): adaptive sharpness-aware gradients, and averages of the last global models."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.algorithms.fedsam import SharpnessAware, along
from fedtheory.fields import check_fields, rate, size
from fedtheory.method import method, sampled
from fedtheory.schedules import Schedule
from fedtheory.traits import LENGTH, NUMBER, STEP, Costs, Reduction, Traits
from synthetic.numbers.arrays import namespace

__all__ = ["AdaptivelySharp", "CyclicRounds", "WeightAverage", "fedasam"]


@dataclass(frozen=True)
class AdaptivelySharp(SharpnessAware):
    """The gradient at ``x_k + rho_sam * T^2 g / |T g|``, T the diagonal matrix of ``|x_k| + nu``, g = g_k(x_k)."""

    nu: Any = rate(0.01)  #: in units of the parameter: number, (runs,) array or Schedule

    def gradient(self, local, gradient, context):
        now = context.algorithm.now
        scale = namespace(local.x).abs(local.x) + now(self.nu, context)
        ascent = scale * along(scale * gradient(local.x), now(self.rho_sam, context))
        return gradient(local.x + ascent), local


@dataclass(frozen=True)
class WeightAverage(ServerStep):
    """Returns the mean of the model after ``start`` rounds and of every ``cycle``-th model since.

    Until ``start`` it returns the model itself. Clients always receive the model.
    """

    start: int = size(0, low=0)
    cycle: int = size(1)

    def server_state(self, federation, x, draws):
        return {"mean_model": x}

    def output(self, state):
        return state.server["mean_model"]

    def step(self, average, context):
        x, mean = super().step(average, context)[0], context.state.server["mean_model"]
        since = context.round + 1 - self.start
        if since <= 0:
            return x, {"mean_model": x}
        models = since // self.cycle
        return x, {"mean_model": mean if since % self.cycle else (models * mean + x) / (models + 1)}


@dataclass(frozen=True)
class CyclicRounds(Schedule):
    """``value`` in the rounds before ``start``; then, in cycles of ``cycle`` rounds, linearly from ``value`` down to
    ``ratio * value`` in a cycle's last round. Cycles of one round keep ``value``.

    Example:
        >>> [CyclicRounds(1.0, 0.5, start=1, cycle=2)(iteration=0, round=r) for r in range(5)]
        [1.0, 0.75, 0.5, 0.75, 0.5]
    """

    value: Any = rate()
    ratio: Any = rate(high=1)
    start: int = size(low=0)
    cycle: int = size()

    def __post_init__(self):
        check_fields(self)

    def __call__(self, iteration, round):
        value = self.value(iteration, round) if isinstance(self.value, Schedule) else self.value
        if round < self.start or self.cycle == 1:
            return value
        return value * (1 - (1 - self.ratio) * ((round - self.start) % self.cycle + 1) / self.cycle)


@method("fedasam", "FedAvg with adaptive sharpness-aware gradients", "Caldarola, Caputo, Ciccone 2022", "fedmoswa/fedasam",
        traits=Traits(
            orthogonal="signed permutations", units={"eta_l": STEP, "rho_sam": NUMBER, "nu": LENGTH},
            reductions=(Reduction("fedavg", {"rho_sam": 0.0}),),
            costs=Costs(gradients=lambda local_steps: 2 * local_steps, kept=0)))
def fedasam(
    eta_l=0.1, local_steps=1, rho_sam=0.5, nu=0.01, eta_g=1.0, swa_start=None, swa_cycle=5, swa_ratio=0.1,
    participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedASAM (Caldarola et al. 2022), and with ``swa_start`` the average of late models.

    Rule: specification of FedMoSWA, 3.6 and 8 (high confidence; medium for the averages).

    ::

        g   <- g_k(x_k),   T <- diag(|x_k| + nu)
        x_k <- x_k - eta_l * g_k(x_k + rho_sam * T T g / |T g|)          local_steps times, same samples twice; 0/0 = 0
        x   <- x + eta_g * (x_bar - x)                                   x_bar = mean over sampled k of x_k, as in fedavg
        from round swa_start on, in cycles of swa_cycle rounds: eta_l falls linearly to swa_ratio * eta_l, and
        w   <- (n * w + x) / (n + 1) at the end of the n-th cycle, from w = the model at swa_start; returned is w

    Rounds count from 0, the initial w counts as one model (n = 1 at the end of the first cycle), and before ``swa_start`` x
    is returned. The j-th round of a cycle, j = 1 .. swa_cycle, has the local step ``eta_l * (1 - (1 - swa_ratio) * j /
    swa_cycle)``; cycles of one round keep ``eta_l``. Clients always receive x. ``rho_sam = 0`` without averages is FedAvg.
    Scaling a coordinate of the parameters scales the perturbation with it, up to ``nu``. Two gradients per step.

    Example:
        On 1/2 (x - 1)^2 from 2 with nu = 0: T is 2, the gradient is taken at 2 + 1/2 * 2.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> made = fedasam(0.25, rho_sam=0.5, nu=0.0)
        >>> run(made, Quadratic([[[1.0]]], [[[1.0]]]), 1, start=[2.0]).dataset.x.values.ravel().tolist()
        [2.0, 1.5]
    """
    oracle, selection = AdaptivelySharp(rho_sam, nu), sampled(participants, sampling)
    if swa_start is None:
        return Algorithm(eta_l, local_steps, selection, oracle=oracle, server=ServerStep(eta_g), name="FedASAM")
    return Algorithm(CyclicRounds(eta_l, swa_ratio, swa_start, swa_cycle), local_steps, selection, oracle=oracle,
                     server=WeightAverage(eta_g, swa_start, swa_cycle), name="FedASAM with averages")
