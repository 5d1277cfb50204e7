"""The stage of longer runs with chance: some noise shows only in more steps than the other stages enumerate."""

from collections.abc import Iterator
from math import prod

import numpy as np

from verify.claims.sizes import allowed
from verify.evaluation.environment import UnboundName
from verify.instances.instance import outcomes
from verify.instances.leaves import Leaves, take_rows
from verify.instances.offspring import offspring
from verify.instances.shape import Shape, with_times
from verify.search.judged import judged
from verify.search.stage import State

__all__ = ["longer"]

_TIMES = 32  # times as many outcomes as those of other stages, at most
_KEPT = 99  # more than an archive has
_STARTS = 3  # instances that are followed
_OWN_SEED = 314


def longer(state: State) -> Iterator[tuple[Shape, Leaves]]:
    """Longer and longer runs of the tightest instances with chance, each from the worst near the one before. Not within the
    smallest budget."""
    if state.budget.before is None or state.claim.setting != "run":
        return
    rng, most = np.random.default_rng([*state.seeds, _OWN_SEED]), _TIMES * state.budget.most_outcomes
    kept = [one for one in state.archive.tightest(_KEPT) if prod(outcomes(one[0])) > 1 and not one[0].family.coupled]
    for shape, leaves in kept[:_STARTS]:
        for name in ("rounds", "local_steps"):
            yield from _along(state, name, shape, leaves, most, rng)


def _along(state: State, name: str, shape: Shape, leaves: Leaves, most: int, rng) -> Iterator[tuple[Shape, Leaves]]:
    claim = state.claim
    while name == "rounds" or name not in dict(shape.sizes):
        lengths = {"rounds": shape.rounds, "local_steps": shape.local_steps} | {name: getattr(shape, name) + 1}
        shape, leaves = with_times(claim, shape, leaves, lengths["local_steps"], lengths["rounds"])
        if prod(outcomes(shape)) > most or not allowed(claim, shape.as_sizes()):
            return
        leaves = offspring(claim, shape, leaves, state.batch_size(shape), rng)
        yield shape, leaves
        try:
            verdict = judged(claim, shape, leaves, state.backend)
        except UnboundName:  # these clients lack a constant
            return
        leaves = take_rows(leaves, [int(np.argmax(np.where(verdict.met, verdict.score, -2.0)))])
