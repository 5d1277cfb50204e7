"""Repeats promising instances with longer runs, since some statements fail only after many steps."""

from collections.abc import Iterator
from math import prod

import numpy as np

from verify.claims.sizes import allowed
from verify.instances.instance import outcomes
from verify.instances.offspring import offspring
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape, with_times
from verify.search.stage import State

__all__ = ["long_runs"]

_TIMES = 32  # times as many outcomes as those of other stages, at most
_KEPT, _STARTS = 99, 2  # instances of an archive, all of them; those with chance, and without, that are followed
_GENERATIONS = 2  # at each length
_OWN_SEED = 314


def long_runs(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """Longer and longer runs of the tightest instances, each from the worst near the one before: of those with chance by one
    step, of others twice as long. Not within the smallest budget."""
    if state.budget.before is None or state.claim.setting != "run":
        return
    rng = np.random.default_rng([*state.seeds, _OWN_SEED])
    kept = [one for one in state.archive.tightest(_KEPT) if not one[0].family.coupled]
    for chance in (True, False):
        for shape, params in [one for one in kept if (prod(outcomes(one[0])) > 1) == chance][:_STARTS]:
            for name in ("rounds", "local_steps"):
                yield from _along(state, name, shape, params, rng)


def _along(state: State, name: str, shape: Shape, params: Parameters, rng) -> Iterator[tuple[Shape, Parameters]]:
    claim, budget = state.claim, state.budget
    most = max(budget.most_iterations, *budget.most_rounds)
    while name == "rounds" or name not in dict(shape.sizes):
        length = getattr(shape, name)
        lengths = {"rounds": shape.rounds, "local_steps": shape.local_steps}
        lengths[name] = length + 1 if prod(outcomes(shape)) > 1 else 2 * length
        shape, params = with_times(claim, shape, params, lengths["local_steps"], lengths["rounds"])
        if prod(outcomes(shape)) > _TIMES * budget.most_outcomes or shape.iterations > most or not allowed(
                claim, shape.as_sizes()):
            return
        for _ in range(_GENERATIONS):
            yield shape, offspring(claim, shape, params, state.batch_size(shape), rng)
            params = state.archive.tightest_of(shape) or params
