"""FedSpeed (Sun et al. 2023): local duals with a pull, and gradients mixed with those after an ascent step."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedpd import UNITS, PrimalDual
from fedtheory.fields import rate
from fedtheory.method import register, sampled
from fedtheory.parts import GradientOracle
from fedtheory.traits import ISOTROPIC, STEP, Costs, Reduction

__all__ = ["QuasiGradient", "fedspeed"]


@dataclass(frozen=True)
class QuasiGradient(GradientOracle):
    """``(1 - alpha) g_k(x_k) + alpha g_k(x_k + rho_sam g_k(x_k))``, on the same samples, without a normalised step."""

    alpha: Any = rate(1.0)  #: number, (runs,) array or Schedule
    rho_sam: Any = rate(0.1)  #: a step size here, in units of parameter^2/loss: number, (runs,) array or Schedule
    evaluations = 2

    def gradient(self, local, gradient, context):
        g, now = gradient(local.x), context.algorithm.now
        alpha, ahead = now(self.alpha, context), gradient(local.x + now(self.rho_sam, context) * g)
        return (1 - alpha) * g + alpha * ahead, local


def fedspeed(
    eta_l=0.1, local_steps=1, rho_prox=0.1, rho_sam=0.1, alpha=1.0, participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedSpeed (Sun et al. 2023; specifications afedpd 8 and fedmoswa 8 with lambda = 1 / rho_prox: medium confidence).

    ::

        q_k   = (1 - alpha) * g_k(x_k) + alpha * g_k(x_k + rho_sam * g_k(x_k))
        x_k   <- x_k - eta_l * (q_k - h_k + rho_prox * (x_k - x))     both lines local_steps times, from x_k = x
        h_k   <- h_k - rho_prox * (x_k - x)
        x     <- mean over sampled k of (x_k - h_k / rho_prox)

    The mean has the weights of ``fedavg``. h_k starts at zero; the gradients of a step are on the same samples. The code
    keeps ``lam_k = -h_k`` (array ``dual``). ``alpha = 0`` or ``rho_sam = 0`` is FedADMM, variant eq6.

    Example:
        On 1/2 (x - 1)^2 the gradient at -1/2 is -3/2: to 3/4, h = -3/4, sent 3/2.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> method = fedspeed(0.5, rho_prox=1.0, rho_sam=0.5)
        >>> run(method, Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 1.5]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), oracle=QuasiGradient(alpha, rho_sam),
                     correction=PrimalDual(rho_prox), name="FedSpeed")


register(fedspeed, "fedspeed", "FedADMM with gradients after an ascent step", "Sun et al. 2023", "afedpd/fedspeed",
         "fedmoswa/fedspeed", **ISOTROPIC, units=UNITS | {"rho_sam": STEP},
         costs=Costs(1, 1, lambda local_steps: 2 * local_steps, kept=1),
         reductions=(Reduction("fedadmm", {"alpha": 0.0}), Reduction("fedadmm", {"rho_sam": 0.0})),
         arguments={"alpha": "weight of the gradient at the perturbed model"})
