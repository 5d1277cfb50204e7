"""The ways in which rounds are computed, and which of them a run takes."""

from __future__ import annotations

from collections.abc import Iterator

from fedtheory.affine import affine_round, affine_rounds, why_not_affine
from fedtheory.engine import rounds_of
from fedtheory.moment import Moment, State
from synthetic.checks import one_of

__all__ = ["PATHS", "choose_path", "states_on"]

#: ``steps``: step by step, any method; ``affine``: quadratics, all local steps of a round at once
PATHS = ("auto", "steps", "affine")


def choose_path(path: str, algorithm, federation, sees_steps: bool) -> str:
    """``steps`` or ``affine``; ``auto`` takes the fastest that gives everything asked for.

    ``sees_steps``: whether anybody looks at single local steps. The choice depends on nothing that differs between a
    run alone and in a batch, or before and after it is resumed.

    Raises:
        ValueError: an unknown path, or one that cannot be taken, with the reason.
    """
    one_of("path", path, PATHS)
    if path == "steps":
        return path
    reason = "local models and gradients are recorded" if sees_steps else why_not_affine(algorithm, federation)
    if path == "affine" and reason:
        raise ValueError(f"path 'affine' cannot be taken: {reason}; allowed: auto, steps")
    return "steps" if reason else "affine"


def states_on(path: str, algorithm, federation, state: State, draws, first, rounds, observers, everyone) -> Iterator[State]:
    """What :func:`fedtheory.rounds_of` yields, computed on ``path``; without observers a whole run may be one map."""
    if path == "steps":
        yield from rounds_of(algorithm, federation, state, draws, first, rounds, observers, everyone)
    elif observers or algorithm.selection.chosen(federation, draws, first) is not None:
        yield from affine_rounds(algorithm, federation, state, draws, first, rounds, observers, everyone)
    else:
        moment = Moment(algorithm, federation, draws, first, first * algorithm.local_steps, state.x, state)
        whole = affine_round(algorithm, federation, moment)
        if whole is None:
            yield from affine_rounds(algorithm, federation, state, draws, first, rounds, (), everyone)
        else:
            yield from map(State, whole.models(state.x, rounds))
