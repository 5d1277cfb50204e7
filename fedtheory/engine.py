"""The one loop that runs every algorithm."""

from dataclasses import replace
from typing import Any

import numpy as np

from fedtheory.returned import pair, returned, same_shape
from fedtheory.round_context import ClientState, Fixed, RoundContext, State, Upload, normalised, total_of
from synthetic.base.checks import finite
from synthetic.numbers.arrays import namespace, to_numpy
from synthetic.numbers.draws import Draws

__all__ = ["Observer", "fixed_participation", "one_round", "rounds_of", "starting_points"]


class Observer:
    """Watches a run. Override the methods that are needed; every array is (runs, ...)."""

    #: whether it needs local models of the clients that were not sampled; if no observer does, only participants run
    everyone = True
    #: whether it reads arrays or messages of clients; if no observer does, a round may be computed without them
    sees_clients = True

    def local_iteration(self, context: RoundContext, participation, x_local, gradient) -> None:
        """Called before local iteration ``context.iteration``, with local models and the first stochastic gradients
        there."""

    def start_of_round(self, context: RoundContext, participation) -> None:
        """Called after the selection, before the first local step."""

    def local_state(self, context: RoundContext, local: ClientState) -> None:
        """Called before each local step, and once after the last, with the participants' models and arrays."""

    def end_of_round(self, context: RoundContext, participation, x_local, state: State) -> None:
        """Called after the aggregation, with the local models before it, its participation, and the state after it."""

    def uploads(self, context: RoundContext, local: ClientState, upload) -> None:
        """Called after the local steps, with the participants' models, arrays and messages."""


def rounds_of(algorithm, federation, state: State, draws: Draws, first: int, rounds: int, observers=(), everyone=True,
              all_steps=None):
    """Run rounds ``first .. first + rounds - 1`` and yield the state after each.

    Pure except for the observers: the same arguments give the same states, whatever the batch. With ``everyone`` the
    clients that are not sampled are computed too, without any effect on the others; otherwise only those sampled are.
    ``all_steps``: see :func:`one_round`.
    """
    same = fixed_participation(algorithm, federation, state, draws)
    for number in range(first, first + rounds):
        state = one_round(algorithm, federation, state, draws, number, observers, everyone, all_steps, same)
        yield state


def fixed_participation(algorithm, federation, state: State, draws: Draws):
    """The participation of every round if it is the same in all rounds; else None."""
    selection = algorithm.selection
    if not selection.fixed_on(federation):
        return None
    part = selection.participate(federation, federation.all_clients(state.x), draws, 0, 0)
    shares = normalised(selection.weights(federation))
    fixed = Fixed(part.weight[..., None], shares[..., None], total_of(part.weight))
    return replace(part, everyone=bool(namespace(part.weight).all(part.weight != 0)), fixed=fixed)


def one_round(
    algorithm, federation, state: State, draws: Draws, number: int, observers=(), everyone=True, all_steps=None,
    participation=None,
) -> State:
    """The state after round ``number``.

    ``all_steps(local, context)`` computes all local steps at once; observers do not see them. ``participation``: that of the
    round if it is known beforehand (:func:`fixed_participation`).
    """
    steps, selection = algorithm.local_steps, algorithm.selection
    indicator, start = selection.matching.indicator, number * steps
    x = algorithm.broadcast(state)
    models = algorithm.client_models(state, x, federation)
    if participation is None:
        decided = indicator == "local-at-aggregation" and number > 0
        participation = state.participation if decided else selection.participate(federation, models, draws, number, start)
    chosen = None if everyone else selection.possible_participants(federation, draws, number)
    context = RoundContext(algorithm, federation, draws, number, start, x, state, chosen, participation)
    context = context._replace(models=context.rows(models))
    for observer in observers:
        observer.start_of_round(context, participation)
    kept = {name: context.rows(array) for name, array in state.clients.items()}
    local = returned(algorithm, "client_start", algorithm.client_start(ClientState(context.models, kept), context),
                     ClientState)
    if all_steps is not None:
        local, context = all_steps(local, context), context._replace(iteration=start + steps - 1)
    for j in range(steps if all_steps is None else 0):
        context = context._replace(iteration=start + j)
        if indicator == "local-every-step" and j:
            participation = selection.participate(federation, local.x, draws, number, start + j)
            context = context._replace(participation=participation)
        taken: list[Any] = []

        def oracle(point, context=context, taken=taken):
            taken.append(context.gradient(point))
            return taken[-1]

        after = returned(algorithm, "client_step", algorithm.client_step(local, oracle, context), ClientState)
        for observer in observers:
            observer.local_state(context, local)
            observer.local_iteration(context, participation, local.x, taken[0] if taken else 0 * local.x)
        local = algorithm.after_step(local, after, context)
    if indicator == "local-at-aggregation":
        participation = selection.participate(federation, local.x, draws, number + 1, start + steps, number)
    context = context._replace(participation=participation)
    upload, kept = pair(algorithm, "client_final", algorithm.client_final(local, context), "an Upload", dict)
    returned(algorithm, "client_final", upload, Upload)
    for observer in observers:
        observer.local_state(context, local)
        observer.uploads(context, local, upload)
    after = returned(algorithm, "server_step", algorithm.server_step(upload, context), State)
    same_shape(algorithm, "server_step", after.x, state.x)
    clients = state.clients | after.clients
    after = after._replace(clients=clients | {name: context.with_rows(clients[name], rows) for name, rows in kept.items()})
    if participation.nobody is not None:
        after = _unless_nobody(participation.nobody, state, after)
    if indicator == "local-at-aggregation":
        after = after._replace(participation=participation)
    for observer in observers:
        observer.end_of_round(context, participation, local.x, after)
    return after


def _unless_nobody(nobody, before: State, after: State) -> State:
    """``after`` a round, but ``before`` it in the runs in which nobody (runs | 1, 1) took part."""
    def old_or_new(old, new):
        return namespace(new).where(nobody.reshape(-1, *(1,) * (new.ndim - 1)), old, new)

    server, clients = ({name: old_or_new(old[name], new[name]) if hasattr(new[name], "shape") else new[name] for name in new}
                       for old, new in ((before.server, after.server), (before.clients, after.clients)))
    return after._replace(x=old_or_new(before.x, after.x), server=server, clients=clients)


def starting_points(federation, start, runs: int):
    """The start as (runs, dim), from one point (dim,), one per run, or None for the federation's ``default_start()``."""
    backend = federation.backend
    start = federation.default_start() if start is None else backend.array(start)
    if tuple(start.shape) not in ((federation.dim,), (1, federation.dim), (runs, federation.dim)):
        raise ValueError(f"start must be ({federation.dim},) or ({runs}, {federation.dim}); got {tuple(start.shape)}")
    if backend.library not in ("exact", "balls"):
        finite("start", to_numpy(start))
    return start.reshape(-1, federation.dim) + backend.array(np.zeros((runs, 1)))
