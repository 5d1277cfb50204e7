"""FedProx (Li et al. 2018): FedAvg with a proximal term that pulls local models to the broadcast model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.algorithm import Algorithm
from fedtheory.schedules import check_schedule

__all__ = ["FedProx"]


@dataclass(frozen=True)
class FedProx(Algorithm):
    """FedProx with inexact local solves by gradient steps (FedALIGN, Appendix C.2, with ``rho_prox = 1``).

    ::

        x_k <- x_k - eta_l * (g_k(x_k) + rho_prox * (x_k - x))     local_steps times

    ``rho_prox = 0`` is FedAvg; with one local step it is FedAvg for every ``rho_prox``.

    Example:
        The second step on 1/2 (x - 1)^2, from 1/2, is pulled back by as much as the gradient pushes.

        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> run(FedProx(eta_l=0.5, local_steps=2), Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 0.5]
    """

    rho_prox: Any = 1.0  #: number, (runs,) array or Schedule

    def __post_init__(self):
        super().__post_init__()
        check_schedule("rho_prox", self.rho_prox)

    def client_step(self, x_local, gradient, moment):
        pull = self.now(self.rho_prox, moment) * (x_local - moment.x[:, None, :])
        return x_local - self.step_size(moment) * (gradient(x_local) + pull)
