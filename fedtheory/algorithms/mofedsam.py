"""MoFedSAM (Qu et al. 2022): sharpness-aware gradients mixed with the last round's mean direction."""

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedcm import BroadcastMomentum, KeepsDirection
from fedtheory.algorithms.fedsam import SharpnessAware
from fedtheory.method import register, sampled
from fedtheory.traits import ISOTROPIC, LENGTH, NUMBER, STEP, Costs, Reduction

__all__ = ["mofedsam"]


def mofedsam(
    eta_l=0.1, local_steps=1, rho_sam=0.05, beta=0.1, eta_g=1.0, participants=None, sampling="without-replacement",
) -> Algorithm:
    """MoFedSAM (Qu et al. 2022; specification of FedMoSWA, 8: medium to high confidence; normalisations vary).

    ::

        x_k <- x_k - eta_l * (beta * g_k(x_k + rho_sam * g_k(x_k)/|g_k(x_k)|) + (1 - beta) * M)     local_steps times
        M   <- (x - x_bar) / (local_steps * eta_l)                                                  from 0
        x   <- x - eta_g * local_steps * eta_l * M                                                  with the new M

    The local steps start from x_k = x, and x_bar is the mean over sampled k of x_k, with the weights of ``fedavg``. The two
    gradients of a step are on the same samples; 0/0 = 0. ``rho_sam = 0`` is FedCM, ``beta = 1`` FedSAM. Two models go down,
    one up.

    Example:
        On 1/2 (x - 1)^2 from 0 the gradient at -1/2 is -3/2; half of it is M and the step. At 3/8 the gradient is taken at
        -1/8: the mean of -9/8 and -3/4 is -15/16.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> made = mofedsam(0.5, rho_sam=0.5, beta=0.5)
        >>> run(made, Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist()
        [0.0, 0.375, 0.84375]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), oracle=SharpnessAware(rho_sam),
                     client=BroadcastMomentum(beta), server=KeepsDirection(eta_g), name="MoFedSAM")


register(mofedsam, "mofedsam", "FedCM with sharpness-aware gradients", "Qu et al. 2022", "fedmoswa/mofedsam", **ISOTROPIC,
         units={"eta_l": STEP, "rho_sam": LENGTH, "beta": NUMBER},
         costs=Costs(2, 1, lambda local_steps: 2 * local_steps, kept=0),
         reductions=(Reduction("fedcm", {"rho_sam": 0.0}), Reduction("fedsam", {"beta": 1.0})))
