"""FedMo (Liu et al. 2025): FedMoSWA without its weight averaging."""

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedmoswa import MovingVariates
from fedtheory.algorithms.scaffold import settled
from fedtheory.method import register, sampled
from fedtheory.traits import EVERYONE, ISOTROPIC, STEP, Costs, FixedPoint, Reduction, Tilt

__all__ = ["fedmo"]


def fedmo(
    eta_l=0.1, local_steps=1, gamma=0.2, option="II", start="zero", participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedMo (Liu et al. 2025; specification fedmoswa 3.3): FedMoSWA with ``rho_decay = 1`` and ``eta_g = 1``.

    ::

        x_k <- x_k - eta_l * (g_k(x_k) - c_k + m)            local_steps times, from x_k = x
        c_k+ = g_k(x)                                        option I, on samples of its own
             | c_k - m + (x - x_k) / (local_steps * eta_l)   option II
        m <- m + gamma * mean over sampled k of (c_k+ - m)    the sum of w_k (c_k+ - m)
        x <- mean over sampled k of x_k                       the sum of w_k x_k, weights w_k as in fedavg
        c_k <- c_k+                                           for the sampled k; the others keep c_k

    m in the second and third line is the one of the round. ``start`` of the c_k and of m as of the c_k and c in
    :func:`scaffold`, zero unless told otherwise.

    Example:
        One client on 1/2 (x - 1)^2: to 1/2; then c = -1 and m = -1/2, so the second step is along -1/2 + 1 - 1/2.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(fedmo(0.5, gamma=0.5), Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist()
        [0.0, 0.5, 0.5]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling),
                     correction=MovingVariates(option, start, gamma=gamma), name="FedMo")


register(fedmo, "fedmo", "ablation: FedMoSWA with constant local rates and the plain average", "Liu et al. 2025",
         "fedmoswa/fedmo", **ISOTROPIC, units={"eta_l": STEP}, tilt=Tilt({"variate": 1.0}, EVERYONE),
         costs=Costs(2, 2, kept=1), fixed_point=FixedPoint(settled, EVERYONE),
         reductions=(Reduction("fedmoswa", given={"rho_decay": 1.0, "eta_g": 1.0}),
             Reduction("scaffold", {"gamma": 1.0}, where=EVERYONE), Reduction("fedavg", where={"rounds": 1})),
         arguments={"gamma": "weight of the new control variates in m"})
