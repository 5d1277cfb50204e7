"""FedAvg-M (Cheng et al. 2023): broadcast momentum in the local steps, and a server step along it."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedcm import BroadcastMomentum, KeepsDirection
from fedtheory.fields import rate
from fedtheory.method import register, sampled
from fedtheory.parts import ClientOptimiser
from fedtheory.traits import ISOTROPIC, STEP, Costs, Reduction, Variant
from synthetic.base.checks import one_of

__all__ = ["DirectionStep", "HeavyBall", "fedavg_m"]

@dataclass(frozen=True)
class DirectionStep(KeepsDirection):
    """``x <- x - eta_g * M`` with M the round's mean direction; ``eta_g`` is the specification's gamma."""

    def step(self, average, context):
        direction = self.mean_direction(average, context)
        return context.x - context.server_number(self.eta_g) * direction, {"momentum": direction}


@dataclass(frozen=True)
class HeavyBall(ClientOptimiser):
    """``u <- (1 - beta) * u + g`` from zero in every round; the direction is ``u``."""

    beta: Any = rate(0.1)  #: number, (runs,) array or Schedule; 1 - beta is the momentum

    def begin(self, local, context):
        return local.with_own(velocity=0 * local.x)

    def direction(self, g, local, context):
        velocity = (1 - context.algorithm.now(self.beta, context)) * local.own["velocity"] + g
        return velocity, local.with_own(velocity=velocity)


def fedavg_m(
    eta_l=0.1, local_steps=1, beta=0.1, gamma=0.1, momentum="broadcast", participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedAvg-M (Cheng et al. 2023; specification fadamgc 3.6: low to medium confidence).

    ::

        x_k <- x_k - eta_l * (beta * g_k(x_k) + (1 - beta) * M)     local_steps times, from x_k = x
        M <- (x - x_bar) / (local_steps * eta_l)                    x_bar = mean over sampled k of x_k, as in fedavg
        x <- x - gamma * M                                          with the new M

    M starts at zero. ``momentum="heavy-ball"``: each client has a momentum of its own that starts at zero in every round,
    ``u <- (1 - beta) u + g_k(x_k)``, ``x_k <- x_k - eta_l u``, as the paper's words "SGD with momentum" may be read.
    ``beta = 1`` is FedAvg with the server step ``gamma / (local_steps * eta_l)``. Two models go down, one up.

    Example:
        On 1/2 (x - 1)^2 from 0 the mean directions are -1/2, then 1/2 (-1/2) + 1/2 (-1/2).

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(fedavg_m(0.5, beta=0.5, gamma=1.0), Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist()
        [0.0, 0.5, 1.0]
    """
    one_of("momentum", momentum, ("broadcast", "heavy-ball"))
    client = BroadcastMomentum(beta) if momentum == "broadcast" else HeavyBall(beta)
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), client=client, server=DirectionStep(gamma),
                     name="FedAvg-M")


register(fedavg_m, "fedavg-m", "FedAvg with broadcast momentum", "Cheng et al. 2023", "fadamgc/fedavg-m", **ISOTROPIC,
         units={"eta_l": STEP, "gamma": STEP}, costs=Costs(2, 1, kept=0),
         reductions=(Reduction("fedavg", {"beta": 1.0, "gamma": 0.1}, where={"local_steps": 1}),),
         variants=(Variant({"momentum": "heavy-ball"}, {"costs": Costs(kept=0)}),))
