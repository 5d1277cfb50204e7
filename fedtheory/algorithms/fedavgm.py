"""FedAvgM (Hsu et al. 2019): heavy-ball momentum on the server."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.fields import rate
from fedtheory.method import register, sampled
from fedtheory.parts import ServerOptimiser
from fedtheory.traits import EVERYONE, ISOTROPIC, NUMBER, STEP, Costs, FixedPoint, Reduction

__all__ = ["ServerMomentum", "fedavgm"]


@dataclass(frozen=True)
class ServerMomentum(ServerOptimiser):
    """``u <- beta1 u + (average - x)``, ``x <- x + eta_g u``, from u = 0."""

    beta1: Any = rate(0.9, high=1)  #: number, (runs,) array or Schedule, at most 1
    eta_g: Any = rate(1.0)

    def server_state(self, federation, x, draws):
        return {"server_momentum": 0 * x}

    def step(self, average, context):
        u = context.server_number(self.beta1) * context.state.server["server_momentum"] + (average - context.x)
        return context.x + context.server_number(self.eta_g) * u, {"server_momentum": u}


def fedavgm(eta_l=0.1, local_steps=1, beta1=0.9, eta_g=1.0, participants=None, sampling="without-replacement") -> Algorithm:
    """FedAvgM (Hsu et al. 2019; specification of FedMoSWA, 8: high confidence).

    ::

        x_k <- x_k - eta_l * g_k(x_k)                   local_steps times, from x_k = x
        u   <- beta1 * u + (x_bar - x)                  x_bar = mean over sampled k of x_k, weights as in fedavg
        x   <- x + eta_g * u

    u starts at zero. ``beta1 = 0`` is FedAvg with the server step ``eta_g``. Momentum is a sum, not an average: under a
    constant change the model moves in the end ``1 / (1 - beta1)`` times as far per round.

    Example:
        On 1/2 (x - 1)^2 from 0: u is 1/2, then 1/2 * 1/2 + 1/4.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(fedavgm(0.5, beta1=0.5), Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist()
        [0.0, 0.5, 1.0]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), server=ServerMomentum(beta1, eta_g),
                     name="FedAvgM")


register(fedavgm, "fedavgm", "FedAvg with momentum on the server", "Hsu, Qi, Brown 2019", "fedmoswa/fedavgm", **ISOTROPIC,
         units={"eta_l": STEP, "beta1": NUMBER, "eta_g": NUMBER}, costs=Costs(kept=0),
         fixed_point=FixedPoint(where=EVERYONE | {"local_steps": 1}, attracts=False),
         reductions=(Reduction("fedavg", {"beta1": 0.0}), Reduction("fedavg", where={"rounds": 1})))
