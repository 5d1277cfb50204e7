"""FedProx (Li et al. 2018): FedAvg with a proximal term that pulls local models to the broadcast model."""

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.fields import rate
from fedtheory.method import register, sampled
from fedtheory.parts import Correction
from fedtheory.traits import CURVATURE, EVERYONE, ISOTROPIC, STEP, Costs, FixedPoint, Reduction

__all__ = ["Proximal", "fedprox"]


@dataclass(frozen=True)
class Proximal(Correction):
    """``g + rho_prox * (x_k - x)``: the gradient of ``F_k + rho_prox/2 |. - x|^2`` with x the broadcast model."""

    rho_prox: Any = rate(1.0)  #: number, (runs,) array or Schedule

    def pull(self, context):
        return context.algorithm.now(self.rho_prox, context)


def fedprox(eta_l=0.1, local_steps=1, rho_prox=1.0, participants=None, sampling="without-replacement") -> Algorithm:
    """FedProx (Li et al. 2018), its local problems solved inexactly by gradient steps, as in FedALIGN, Appendix C.2.

    ::

        x_k <- x_k - eta_l * (g_k(x_k) + rho_prox * (x_k - x))     local_steps times, from x_k = x
        x   <- mean over sampled k of x_k                          weights as in fedavg

    FedALIGN has ``rho_prox = 1``. ``rho_prox = 0`` is FedAvg; with one local step it is FedAvg for every ``rho_prox``.

    Example:
        The second step on 1/2 (x - 1)^2, from 1/2, is pulled back by as much as the gradient pushes.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(fedprox(eta_l=0.5, local_steps=2), Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.5]
    """
    return Algorithm(eta_l, local_steps, sampled(participants, sampling), correction=Proximal(rho_prox), name="FedProx")


def regularised(federation, x, algorithm):
    """The quadratics plus ``rho_prox/2 |. - x|^2``, for ``x`` (1, dim)."""
    rho = algorithm.correction.rho_prox
    curvature = federation.curvature + rho
    center = (federation.curvature * federation.center + rho * x[:, None, :]) / curvature
    return type(federation)(curvature, center, None, federation.weights, federation.priority, federation.noise,
                            federation.backend, federation.layer_sizes)


TRAITS = dict(**ISOTROPIC, units={"eta_l": STEP, "rho_prox": CURVATURE}, costs=Costs(kept=0),
    fixed_point=FixedPoint(where=EVERYONE | {"local_steps": 1}),
    reductions=(Reduction("fedavg", {"rho_prox": 0.0}), Reduction("fedavg", where={"local_steps": 1}),
        Reduction("fedavg", where={"rounds": 1}, on=regularised)))

register(fedprox, "fedprox", "FedAvg with a proximal term", "Li et al. 2018", **TRAITS)
register(fedprox, "fedprox-priority", "baseline: FedProx on the priority clients", "Ravi, Shomorony: FedALIGN, C.2",
         "fedalign/fedprox-priority", **TRAITS)
