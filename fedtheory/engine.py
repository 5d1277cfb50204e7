"""The one loop that runs every algorithm."""

from __future__ import annotations

import numpy as np

from fedtheory.algorithm import Moment, State
from synthetic.arrays import to_numpy
from synthetic.checks import finite
from synthetic.draws import Draws

__all__ = ["Observer", "rounds_of", "starting_points"]


class Observer:
    """Sees a run while it happens. Override what is needed; every array is (runs, ...)."""

    def local_iteration(self, moment: Moment, participation, x_local, gradient) -> None:
        """Before local iteration ``moment.iteration``: local models and the stochastic gradients taken there."""

    def start_of_round(self, moment: Moment, participation) -> None:
        """After the selection, before the first local step."""

    def end_of_round(self, moment: Moment, participation, x_local, state: State) -> None:
        """After the aggregation: local models before it, participation used by it, state after it."""


def rounds_of(algorithm, federation, state: State, draws: Draws, first: int, rounds: int, observers=()):
    """Run rounds ``first .. first + rounds - 1`` and yield the state after each.

    Pure but for the observers: the same arguments give the same states, whatever the batch.
    """
    steps, matching = algorithm.local_steps, algorithm.selection.matching
    for number in range(first, first + rounds):
        start = number * steps
        moment = Moment(algorithm, federation, draws, number, start, state.x)
        x_local = algorithm.client_start(state, federation)
        if matching.indicator != "local-at-aggregation" or number == 0:
            participation = algorithm.selection.participate(federation, x_local, draws, number, start)
        else:
            participation = state.participation
        for observer in observers:
            observer.start_of_round(moment, participation)
        for j in range(steps):
            moment = Moment(algorithm, federation, draws, number, start + j, state.x)
            if matching.indicator == "local-every-step" and j:
                participation = algorithm.selection.participate(federation, x_local, draws, number, start + j)
            taken = {}

            def oracle(point, moment=moment, taken=taken):
                taken["gradient"] = federation.stochastic_gradient(point, draws, moment.iteration)
                return taken["gradient"]

            after = algorithm.client_step(x_local, oracle, moment)
            for observer in observers:
                observer.local_iteration(moment, participation, x_local, taken["gradient"])
            x_local = after
        if matching.indicator == "local-at-aggregation":
            participation = algorithm.selection.participate(federation, x_local, draws, number + 1, start + steps, number)
        upload = algorithm.client_final(x_local, moment)
        state = algorithm.server_step(state, upload, participation.weight, moment)
        if matching.indicator == "local-at-aggregation":
            state = state._replace(participation=participation)
        for observer in observers:
            observer.end_of_round(moment, participation, x_local, state)
        yield state


def starting_points(federation, start, runs: int):
    """The start as (runs, dim): zeros if None, one point (dim,) for all runs, or one per run."""
    backend = federation.backend
    start = backend.array(np.zeros(federation.dim) if start is None else start)
    if tuple(start.shape) not in ((federation.dim,), (1, federation.dim), (runs, federation.dim)):
        raise ValueError(f"start must be ({federation.dim},) or ({runs}, {federation.dim}); got {tuple(start.shape)}")
    if backend.library != "exact":
        finite("start", to_numpy(start))
    return start.reshape(-1, federation.dim) + backend.array(np.zeros((runs, 1)))
