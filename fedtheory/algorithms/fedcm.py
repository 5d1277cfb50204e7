"""FedCM (Xu et al. 2021): every local step mixes in the last round's mean direction, which the server broadcasts."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.fields import rate
from fedtheory.method import register, sampled
from fedtheory.parts import ClientOptimiser
from fedtheory.traits import ISOTROPIC, STEP, Costs, Reduction

__all__ = ["BroadcastMomentum", "KeepsDirection", "fedcm"]


@dataclass(frozen=True)
class BroadcastMomentum(ClientOptimiser):
    """The direction ``beta * g + (1 - beta) * M`` with M the mean direction of the last round, zero in the first.

    The server must keep M: :class:`KeepsDirection` or a subclass.
    """

    beta: Any = rate(0.1)  #: weight of the gradient: number, (runs,) array or Schedule
    down = 1

    def direction(self, g, local, context):
        beta = context.algorithm.now(self.beta, context)
        return beta * g + (1 - beta) * context.server("momentum"), local

    def check(self, algorithm):
        if not isinstance(algorithm.server, KeepsDirection):
            raise ValueError("broadcast momentum needs a server that keeps the mean direction; got "
                             f"{type(algorithm.server).__name__}, allowed: KeepsDirection")


@dataclass(frozen=True)
class KeepsDirection(ServerStep):
    """``x <- x + eta_g (average - x)``, and M becomes the round's mean direction ``(x - average) / sum of local steps``."""

    def server_state(self, federation, x, draws):
        return {"momentum": 0 * x}

    def mean_direction(self, average, context):
        """(x - average) / sum of the round's local steps, (runs, dim)."""
        return (context.x - average) / context.server_length()

    def step(self, average, context):
        x, _ = super().step(average, context)
        return x, {"momentum": self.mean_direction(average, context)}

    def check(self, algorithm):
        if algorithm.client_steps is not None or algorithm.client.solves:
            raise ValueError("the mean direction is per local step, so all clients must take ``local_steps`` gradient steps")


def fedcm(eta_l=0.1, local_steps=1, beta=0.1, eta_g=1.0, participants=None, sampling="without-replacement") -> Algorithm:
    """FedCM (Xu et al. 2021), as in public implementations (specification afedpd 8: medium confidence).

    ::

        x_k <- x_k - eta_l * (beta * g_k(x_k) + (1 - beta) * M)     local_steps times, from x_k = x
        M <- (x - x_bar) / (local_steps * eta_l)                    x_bar = mean over sampled k of x_k, as in fedavg
        x <- x - eta_g * local_steps * eta_l * M                    with the new M

    M starts at zero; the server sends it with x. ``beta`` is the paper's alpha. ``beta = 1`` is FedAvg with the server step
    ``eta_g``. The scaling of the server step varies between implementations: with the original paper's ``x - eta_g * M`` it
    is ``fedavg-m``.

    Example:
        On 1/2 (x - 1)^2 from 0 the directions are -1/2, then 1/2 (-3/4) + 1/2 (-1/2) = -5/8.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(fedcm(0.5, beta=0.5), Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist()
        [0.0, 0.25, 0.5625]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), client=BroadcastMomentum(beta),
                     server=KeepsDirection(eta_g), name="FedCM")


register(fedcm, "fedcm", "broadcast momentum in every local step", "Xu et al. 2021", "afedpd/fedcm", **ISOTROPIC,
         units={"eta_l": STEP}, costs=Costs(2, 1, kept=0), reductions=(Reduction("fedavg", {"beta": 1.0}),))
