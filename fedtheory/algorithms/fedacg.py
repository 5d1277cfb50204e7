"""FedACG (Kim et al. 2024): clients start from a look-ahead along the server's momentum."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedprox import Proximal
from fedtheory.fields import rate
from fedtheory.method import register, sampled
from fedtheory.parts import ServerOptimiser
from fedtheory.schedules import value_at
from fedtheory.traits import CURVATURE, EVERYONE, ISOTROPIC, NUMBER, STEP, Costs, FixedPoint, Reduction
from synthetic.numbers.arrays import backend_of

__all__ = ["LookAhead", "fedacg"]


@dataclass(frozen=True)
class LookAhead(ServerOptimiser):
    """Sends ``z = x + lam u``; after the round ``u <- lam u + (average - z)`` and ``x <- x + u``, which is the average."""

    lam: Any = rate(0.85, high=1)  #: number or (runs,) array, at most 1

    def __post_init__(self):
        super().__post_init__()
        if callable(self.lam):
            raise ValueError(f"lam must be a number or a (runs,) array; got {self.lam!r}")

    def server_state(self, federation, x, draws):
        return {"server_momentum": 0 * x}

    def ahead(self, state):
        """``lam u``, (runs, dim)."""
        u = state.server["server_momentum"]
        lam = value_at(self.lam, backend_of(u), 0, 0, u.shape[0])
        return (lam[:, None] if getattr(lam, "ndim", 0) == 1 else lam) * u

    def broadcast(self, state):
        return state.x + self.ahead(state)

    def step(self, average, context):
        return average, {"server_momentum": self.ahead(context.state) + (average - context.x)}


def fedacg(
    eta_l=0.1, local_steps=1, lam=0.85, rho_prox=0.01, participants=None, sampling="without-replacement",
) -> Algorithm:
    """FedACG (Kim et al. 2024; specifications of FedMoSWA and FedLUAR, 8: medium to high confidence).

    ::

        z   <- x + lam * u                                         what clients receive
        x_k <- x_k - eta_l * (g_k(x_k) + rho_prox * (x_k - z))     local_steps times, from x_k = z
        u   <- lam * u + (x_bar - z)                               x_bar = mean over sampled k of x_k, as in fedavg
        x   <- x + u                                               that is, x_bar

    u starts at zero. ``lam = 0`` is FedProx, with ``rho_prox = 0`` FedAvg. One model each way. Momentum decides where
    gradients are taken, as Nesterov's does; FedAvgM's is added afterwards.

    Example:
        On 1/2 (x - 1)^2 from 0: x and u are 1/2, so z is 3/4, and half the way from there to 1 is 7/8.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(fedacg(0.5, lam=0.5), Quadratic([[[1.0]]], [[[1.0]]]), 2).dataset.x.values.ravel().tolist()
        [0.0, 0.5, 0.875]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), correction=Proximal(rho_prox),
                     server=LookAhead(lam), name="FedACG")


register(fedacg, "fedacg", "clients start from a look-ahead along the server's momentum", "Kim et al. 2024",
         "fedmoswa/fedacg", "fedluar/fedacg", **ISOTROPIC, units={"eta_l": STEP, "lam": NUMBER, "rho_prox": CURVATURE},
         costs=Costs(kept=0), fixed_point=FixedPoint(where=EVERYONE | {"local_steps": 1}, attracts=False),
         reductions=(Reduction("fedprox", {"lam": 0.0}), Reduction("fedprox", where={"rounds": 1})))
