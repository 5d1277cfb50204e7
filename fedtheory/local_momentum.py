"""Momentum in the local steps, reset in every round or kept by each client."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fedtheory.parts import ClientOptimiser
from fedtheory.schedules import check_schedule
from synthetic.base.checks import flag

__all__ = ["LocalMomentum"]


@dataclass(frozen=True)
class LocalMomentum(ClientOptimiser):
    """``u <- momentum * u + g``, and the direction is ``u``; from zero in every round, or ``kept`` by the client.

    Example:
        On 1/2 (x - 1)^2 with steps of 1/2: u is -1, then -1/2 * 1 - 1/2.

        >>> from fedtheory import Algorithm, run
        >>> from synthetic import Quadratic
        >>> made = Algorithm(0.5, 2, client=LocalMomentum(0.5))
        >>> run(made, Quadratic([[[1.0]]], [[[1.0]]]), 1).dataset.x.values.ravel().tolist()
        [0.0, 1.0]
    """

    momentum: Any = 0.9  #: number, (runs,) array or Schedule, at most 1
    kept: bool = False

    def __post_init__(self):
        check_schedule("momentum", self.momentum, high=1)
        flag("kept", self.kept)

    def client_state(self, federation, x, draws):
        return {"local_velocity": 0 * federation.all_clients(x)} if self.kept else {}

    def begin(self, local, moment):
        return local if self.kept else local.with_own(local_velocity=0 * local.x)

    def direction(self, g, local, moment):
        u = moment.algorithm.now(self.momentum, moment) * local.own["local_velocity"] + g
        return u, local.with_own(local_velocity=u)

    def finish(self, local, moment):
        return {"local_velocity": local.own["local_velocity"]} if self.kept else {}
