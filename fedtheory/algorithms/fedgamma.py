"""FedGAMMA (Dai et al. 2023): SCAFFOLD with sharpness-aware gradients."""

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.algorithms.fedsam import SharpnessAware
from fedtheory.algorithms.scaffold import MEAN
from fedtheory.control_variates import ControlVariates
from fedtheory.method import register, sampled
from fedtheory.traits import ISOTROPIC, LENGTH, ONE_CLIENT, STEP, Costs, Reduction

__all__ = ["fedgamma"]


def fedgamma(
    eta_l=0.1, local_steps=1, rho_sam=0.05, eta_g=1.0, start="zero", participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedGAMMA (Dai et al. 2023; specification fedmoswa 8: medium to high confidence).

    ::

        x_k <- x_k - eta_l * (g_k(x_k + rho_sam * g_k(x_k)/|g_k(x_k)|) - c_k + c)     local_steps times, from x_k = x
        c_k+ = c_k - c + (x - x_k) / (local_steps * eta_l)
        x <- x + eta_g * (x_bar - x)                             x_bar = mean over sampled k of x_k, as in fedavg
        c <- c + 1/m * sum over sampled k of (c_k+ - c_k),   c_k <- c_k+             m: number of all clients

    The two gradients of a step are on the same samples; 0/0 = 0. ``start`` of the variates, and the sum with unequal weights
    and for a client drawn twice, as in :func:`scaffold` with option II. ``rho_sam = 0`` is SCAFFOLD with option II. Two
    gradients per step, two models each way.

    Example:
        One client on 1/2 (x - 1)^2: the variates cancel, and the steps are those of FedSAM.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(fedgamma(0.5, rho_sam=0.5), Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.75]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), oracle=SharpnessAware(rho_sam),
                     correction=ControlVariates("II", start), server=ServerStep(eta_g), name="FedGAMMA")


register(fedgamma, "fedgamma", "SCAFFOLD with sharpness-aware gradients", "Dai et al. 2023", "fedmoswa/fedgamma",
         **ISOTROPIC, units={"eta_l": STEP, "rho_sam": LENGTH},
         laws=(MEAN,),
         costs=Costs(2, 2, lambda local_steps: 2 * local_steps, kept=1),
         reductions=(Reduction("scaffold", {"rho_sam": 0.0}), Reduction("fedsam", where={"rounds": 1}),
             Reduction("fedsam", where=ONE_CLIENT)))
