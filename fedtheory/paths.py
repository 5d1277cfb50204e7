"""The ways to compute rounds, and the choice among them."""

from collections.abc import Callable, Iterator

from fedtheory.affine import affine_local_steps, affine_round, mapped_round, mapped_rounds, why_not_affine
from fedtheory.engine import fixed_participation, one_round, rounds_of
from fedtheory.fused import compiled_steps, why_not_fused
from fedtheory.round_context import RoundContext, State
from synthetic.base.checks import one_of
from synthetic.numbers.arrays import waits

__all__ = ["PATHS", "captures", "choose_path", "round_on", "states_on"]

#: ``steps``: step by step, any method; ``affine``: quadratics, all local steps of a round at once; ``compiled``: all local
#: steps of a round in one function of C or one kernel of a card, for plain steps on linear scores and quadratics; ``graph``:
#: step by step, captured once on a card and replayed
PATHS = ("auto", "steps", "affine", "compiled", "graph")
_FAST = {"affine": why_not_affine, "compiled": why_not_fused}


def choose_path(path: str, algorithm, federation, sees_steps: bool) -> str:
    """``steps``, ``affine``, ``compiled`` or ``graph``; ``auto`` takes the fastest that applies.

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
    if path == "graph" and not _on_card(federation):
        raise ValueError(f"path 'graph' cannot be taken: the arrays are on {federation.backend.library}, "
                         f"{federation.backend.device}, and rounds are captured on CUDA devices only; allowed: auto, steps")
    return "graph" if path == "auto" and _on_card(federation) else path if path == "graph" else "steps"


def _on_card(federation) -> bool:
    return waits(federation.weights)


def captures(path: str, federation) -> bool:
    """Whether rounds on a path are captured and replayed."""
    return path != "steps" and _on_card(federation)


def states_on(path: str, algorithm, federation, state: State, draws, first, rounds, observers, everyone) -> Iterator[State]:
    """The states that :func:`fedtheory.rounds_of` yields, computed on ``path``.

    Where no observer looks at clients, the affine path takes a whole round as one map.
    """
    whole, context = _whole_round(path, algorithm, federation, state, draws, first, observers)
    if whole is not None:
        return mapped_rounds(whole, context, rounds, observers)
    all_steps = _all_steps(path, algorithm, federation)
    return rounds_of(algorithm, federation, state, draws, first, rounds, observers, everyone, all_steps)


def round_on(path: str, algorithm, federation, state: State, draws, first, observers, everyone) -> Callable[..., State]:
    """The function that returns the state after a round from its number and the state before it, as :func:`states_on`."""
    whole, context = _whole_round(path, algorithm, federation, state, draws, first, observers)
    same = fixed_participation(algorithm, federation, state, draws)
    if whole is not None:
        return lambda number, state: mapped_round(whole, context, number, state, observers, same)
    all_steps = _all_steps(path, algorithm, federation)
    return lambda number, state: one_round(algorithm, federation, state, draws, number, observers, everyone, all_steps, same)


def _whole_round(path, algorithm, federation, state, draws, first, observers):
    """The round as one map, or None; and the context of the first."""
    context = RoundContext(algorithm, federation, draws, first, first * algorithm.local_steps, state.x, state)
    blind = path == "affine" and not any(observer.sees_clients for observer in observers)
    return affine_round(algorithm, federation, context) if blind else None, context


def _all_steps(path, algorithm, federation):
    """The function that computes all local steps of a round at once, or None."""
    if path == "affine":
        return affine_local_steps(algorithm)
    return compiled_steps(algorithm, federation) if path == "compiled" else None
