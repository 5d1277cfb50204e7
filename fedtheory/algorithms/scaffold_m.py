"""SCAFFOLD-M (Cheng et al. 2023): control variates with broadcast momentum."""

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg_m import DirectionStep
from fedtheory.algorithms.fedcm import BroadcastMomentum
from fedtheory.algorithms.scaffold import MEAN, settled
from fedtheory.control_variates import ControlVariates
from fedtheory.method import register, sampled
from fedtheory.traits import ISOTROPIC, ONE_CLIENT, STEP, Costs, FixedPoint, Reduction, Tilt

__all__ = ["scaffold_m"]


def scaffold_m(
    eta_l=0.1, local_steps=1, beta=0.1, gamma=0.1, option="average-gradient", start="zero", participants=None,
    sampling="without-replacement",
) -> Algorithm:
    """SCAFFOLD-M (Cheng et al. 2023; specification fadamgc 3.7: low to medium confidence).

    ::

        x_k <- x_k - eta_l * (beta * (g_k(x_k) - c_k + c) + (1 - beta) * M)     local_steps times, from x_k = x
        c_k+ = mean of the g_k(x_k) of the round                                or ``option`` of SCAFFOLD
        M <- (x - x_bar) / (local_steps * eta_l)                                x_bar = mean over sampled k of x_k
        x <- x - gamma * M                                                      with the new M
        c <- c + 1/m * sum over sampled k of (c_k+ - c_k),   c_k <- c_k+        m: number of all clients

    M starts at zero. ``start`` and ``option`` of the variates, and the sum with unequal weights and for a client drawn
    twice, as in :func:`scaffold`; the weights of x_bar are those of ``fedavg``. The paper does not write out the change of
    c_k. ``beta = 1`` is SCAFFOLD with the server step ``gamma / (local_steps * eta_l)``; without variates it is FedAvg-M.
    Three models go down, two up.

    Example:
        One client on 1/2 (x - 1)^2 from 0: the variates cancel, so these are the numbers of FedAvg-M.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(scaffold_m(0.5, beta=0.5, gamma=1.0), Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist()
        [0.0, 0.5, 1.0]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), correction=ControlVariates(option, start),
                     client=BroadcastMomentum(beta), server=DirectionStep(gamma), name="SCAFFOLD-M")


register(scaffold_m, "scaffold-m", "SCAFFOLD with broadcast momentum", "Cheng et al. 2023", "fadamgc/scaffold-m",
         **ISOTROPIC, units={"eta_l": STEP, "gamma": STEP}, tilt=Tilt({"variate": 1.0}),
         fixed_point=FixedPoint(settled, attracts=False), costs=Costs(3, 2, kept=1),
         laws=(MEAN,),
         reductions=(Reduction("fedavg-m", where={"rounds": 1}), Reduction("fedavg-m", where=ONE_CLIENT),
             Reduction("scaffold", {"beta": 1.0, "gamma": 0.1}, where={"local_steps": 1})))
