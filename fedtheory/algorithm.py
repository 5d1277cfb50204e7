"""What an algorithm is: hyper-parameters and a few pure functions over explicit state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fedtheory.schedules import as_schedule
from fedtheory.selection import Selection
from synthetic.arrays import namespace

__all__ = ["Algorithm", "Moment", "State"]


class State(NamedTuple):
    """What the server keeps between rounds: the global model ``x`` (runs, dim), a method's own arrays by name, and the
    last round's participation where the selection looks back at it."""

    x: Any
    extra: dict = {}
    participation: Any = None


class Moment(NamedTuple):
    """Where a run stands: the algorithm, the federation, the draws, the round, the local iteration over all rounds, the
    broadcast model ``x`` (runs, dim)."""

    algorithm: Any
    federation: Any
    draws: Any
    round: int
    iteration: int
    x: Any


@dataclass(frozen=True)
class Algorithm:
    """A federated method: one frozen dataclass per method, its fields the hyper-parameters.

    The defaults below are FedAvg's; a method overrides the functions in which it differs. All are pure.
    """

    eta_l: Any = 0.1  #: local step size: number, (runs,) array or Schedule
    local_steps: int = 1
    selection: Selection = field(default_factory=Selection)

    def __post_init__(self):
        if not isinstance(self.local_steps, int) or self.local_steps < 1:
            raise ValueError(f"local_steps must be an integer of at least 1; got {self.local_steps!r}")
        if isinstance(self.eta_l, (int, float)) and not self.eta_l >= 0:
            raise ValueError(f"eta_l must be at least 0; got {self.eta_l}")

    def step_size(self, moment: Moment):
        """Local step of this iteration, shaped to multiply (runs, clients, dim)."""
        eta = as_schedule(self.eta_l)(moment.iteration, moment.round)
        return eta[:, None, None] if getattr(eta, "ndim", 0) == 1 else eta

    def init(self, federation, x) -> State:
        """State before the first round, from the start ``x`` (runs, dim)."""
        return State(x)

    def client_start(self, state: State, federation):
        """Models from which the clients start a round, (runs, clients, dim): the broadcast model."""
        return federation.all_clients(state.x)

    def client_step(self, x_local, gradient, moment: Moment):
        """One local step. ``gradient(point)`` answers the stochastic gradient of this iteration at ``point``."""
        return x_local - self.step_size(moment) * gradient(x_local)

    def client_final(self, x_local, moment: Moment):
        """What the clients upload after their local steps, (runs, clients, dim)."""
        return x_local

    def server_step(self, state: State, uploads, weight, moment: Moment) -> State:
        """State after the round from the uploads and the aggregation weights (runs, clients)."""
        return state._replace(x=namespace(uploads).sum(weight[..., None] * uploads, axis=1))

    def floats(self, moment: Moment, participation):
        """Floats sent (down to, up from) each client in a round, two arrays (runs, clients).

        One model each way for the clients that take part, and what the selection needs on top.
        """
        return self.selection.floats(moment, participation)
