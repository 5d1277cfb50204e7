"""What an algorithm is: hyper-parameters and a few pure functions over explicit state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fedtheory.schedules import check_schedule, value_at
from fedtheory.selection import Selection
from synthetic.arrays import namespace
from synthetic.checks import whole

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
        object.__setattr__(self, "local_steps", whole("local_steps", self.local_steps))
        check_schedule("eta_l", self.eta_l)

    def step_size(self, moment: Moment):
        """Local step of this iteration, shaped to multiply (runs, clients, dim)."""
        return self.now(self.eta_l, moment)

    def now(self, schedule, moment: Moment):
        """A hyper-parameter (number, (runs,) array or schedule) now, shaped to multiply (runs, clients, dim)."""
        value = value_at(schedule, moment.federation.backend, moment.iteration, moment.round, moment.x.shape[0])
        return value[:, None, None] if getattr(value, "ndim", 0) == 1 else value

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
        xp = namespace(uploads)
        counted = xp.where(weight[..., None] != 0, uploads, 0)  # who does not count may have diverged
        return state._replace(x=xp.sum(weight[..., None] * counted, axis=1))

    def trains(self, moment: Moment):
        """Which clients take the local steps of a round, truth values (runs | 1, clients)."""
        return self.selection.trains(moment)

    def floats(self, moment: Moment, participation):
        """Floats sent (down to, up from) each client in a round, two arrays (runs, clients).

        One model each way for the clients that take part, and what the selection needs on top.
        """
        return self.selection.floats(moment, participation)
