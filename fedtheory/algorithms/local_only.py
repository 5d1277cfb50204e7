"""Local training without communication: what a client reaches alone."""

from __future__ import annotations

from dataclasses import dataclass

from fedtheory.algorithm import Algorithm
from synthetic.arrays import namespace

__all__ = ["LocalOnly"]


@dataclass(frozen=True)
class LocalOnly(Algorithm):
    """Every client trains alone (FedALIGN, Appendix C.1, Fig. 3).

    ::

        x_k <- x_k - eta_l * g_k(x_k)     local_steps times per round, never averaged

    The recorded global model ``x`` is the selection's weighted average of the local models, which no client ever sees;
    the models themselves are ``state.extra["models"]`` (runs, clients, dim).

    Example:
        >>> from fedtheory import run
        >>> from synthetic import Quadratic
        >>> pair = Quadratic([[[1.0], [1.0]]], [[[1.0], [-1.0]]])
        >>> run(LocalOnly(eta_l=0.5), pair, 2).state.extra["models"].ravel().tolist()
        [0.75, -0.75]
    """

    def init(self, federation, x):
        models = federation.all_clients(x)
        return super().init(federation, x)._replace(extra={"models": models})

    def client_start(self, state, federation):
        return state.extra["models"]

    def server_step(self, state, uploads, weight, moment):
        return super().server_step(state, uploads, weight, moment)._replace(extra={"models": uploads})

    def trains(self, moment):
        return namespace(moment.x).ones_like(moment.federation.priority)

    def floats(self, moment, participation):
        nothing = namespace(participation.weight).zeros_like(participation.weight)
        return nothing, nothing
