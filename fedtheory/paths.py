"""The ways to compute rounds, and the choice among them."""

from collections.abc import Iterator

from fedtheory.affine import affine_local_steps, affine_round, mapped_rounds, why_not_affine
from fedtheory.engine import rounds_of
from fedtheory.fused import compiled_steps, why_not_fused
from fedtheory.round_context import RoundContext, State
from synthetic.base.checks import one_of

__all__ = ["PATHS", "choose_path", "states_on"]

#: ``steps``: step by step, any method; ``affine``: quadratics, all local steps of a round at once; ``compiled``: all local
#: steps of a round in one function of C, or in one kernel on a card, for plain steps on linear scores and quadratics
PATHS = ("auto", "steps", "affine", "compiled")
_FAST = {"affine": why_not_affine, "compiled": why_not_fused}


def choose_path(path: str, algorithm, federation, sees_steps: bool) -> str:
    """``steps``, ``affine`` or ``compiled``; ``auto`` takes the fastest that applies.

    ``sees_steps``: whether local models or gradients are observed. The choice is the same for a run alone and in a batch,
    before and after it is resumed; but ``compiled`` needs a C compiler, or on a card Triton.

    Raises:
        ValueError: an unknown path, or one that does not apply, with the reason.
    """
    one_of("path", path, PATHS)
    for name, why_not in _FAST.items() if path == "auto" else [(path, _FAST[path])] if path in _FAST else ():
        reason = "local models and gradients are recorded" if sees_steps else why_not(algorithm, federation)
        if reason is None:
            return name
        if path == name:
            raise ValueError(f"path {path!r} cannot be taken: {reason}; allowed: auto, steps")
    return "steps"


def states_on(path: str, algorithm, federation, state: State, draws, first, rounds, observers, everyone) -> Iterator[State]:
    """The states that :func:`fedtheory.rounds_of` yields, computed on ``path``.

    Where no observer looks at clients, the affine path takes a whole round as one map.
    """
    rest = (algorithm, federation, state, draws, first, rounds, observers, everyone)
    if path == "steps":
        return rounds_of(*rest)
    if path == "compiled":
        return rounds_of(*rest, compiled_steps(algorithm, federation))
    context = RoundContext(algorithm, federation, draws, first, first * algorithm.local_steps, state.x, state)
    blind = not any(observer.sees_clients for observer in observers)
    whole = affine_round(algorithm, federation, context) if blind else None
    if whole is None:
        return rounds_of(*rest, affine_local_steps(algorithm))
    return mapped_rounds(whole, context, rounds, observers)
