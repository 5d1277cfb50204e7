"""FedSAM (Qu et al. 2022): local steps along the gradient at the point after an ascent step."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.fields import rate
from fedtheory.method import register, sampled
from fedtheory.parts import GradientOracle
from fedtheory.traits import ISOTROPIC, LENGTH, STEP, Costs, Reduction
from synthetic.numbers.arrays import namespace

__all__ = ["SharpnessAware", "along", "fedsam"]


def along(v, radius):
    """``radius * v / |v|`` for vectors (..., dim), and zero where v is zero."""
    xp = namespace(v)
    norm = xp.sqrt(xp.sum(v**2, axis=-1, keepdims=True))
    return radius * v / xp.where(norm > 0, norm, norm + 1)


@dataclass(frozen=True)
class SharpnessAware(GradientOracle):
    """The gradient at ``x_k + rho_sam * g/|g|`` with ``g = g_k(x_k)``, both on the same samples."""

    rho_sam: Any = rate(0.05)  #: radius, in units of the parameter: number, (runs,) array or Schedule
    evaluations = 2

    def gradient(self, local, gradient, context):
        return gradient(local.x + along(gradient(local.x), context.algorithm.now(self.rho_sam, context))), local


def fedsam(
    eta_l=0.1, local_steps=1, rho_sam=0.05, eta_g=1.0, participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedSAM (Qu et al. 2022).

    ::

        x_k <- x_k - eta_l * g_k(x_k + rho_sam * g_k(x_k)/|g_k(x_k)|)     local_steps times, from x_k = x; 0/0 = 0
        x   <- x + eta_g * (x_bar - x)              x_bar = mean over sampled k of x_k, weights as in fedavg

    The two gradients of a step are on the same samples. ``rho_sam = 0`` is FedAvg.

    Example:
        On 1/2 (x - 1)^2 from 0 the gradient -1 is replaced by the one at -1/2, which is -3/2.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(fedsam(0.5, rho_sam=0.5), Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.75]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), oracle=SharpnessAware(rho_sam),
                     server=ServerStep(eta_g), name="FedSAM")


register(fedsam, "fedsam", "FedAvg with sharpness-aware gradients", "Qu et al. 2022", "fedmoswa/fedsam", **ISOTROPIC,
         units={"eta_l": STEP, "rho_sam": LENGTH}, reductions=(Reduction("fedavg", {"rho_sam": 0.0}),),
         costs=Costs(gradients=lambda local_steps: 2 * local_steps, kept=0))
