"""FedProx (Li et al. 2018): FedAvg with a proximal term that pulls local models to the broadcast model."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm

__all__ = ["FedProx"]


@dataclass(frozen=True)
class FedProx(Algorithm):
    """FedProx with inexact local solves by gradient steps (FedALIGN, Appendix C.2, with ``rho_prox = 1``).

    ::

        x_k <- x_k - eta_l * (g_k(x_k) + rho_prox * (x_k - x))     local_steps times

    ``rho_prox = 0`` is FedAvg; with one local step it is FedAvg for every ``rho_prox``.
    """

    rho_prox: float = 1.0

    def __post_init__(self):
        super().__post_init__()
        if not self.rho_prox >= 0:
            raise ValueError(f"rho_prox must be at least 0; got {self.rho_prox}")

    def client_step(self, x_local, gradient, moment):
        pull = self.rho_prox * (x_local - moment.x[:, None, :])
        return x_local - self.step_size(moment) * (gradient(x_local) + pull)
