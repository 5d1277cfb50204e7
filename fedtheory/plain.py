"""Methods whose local steps are plain gradient steps, for the paths that compute all steps of a round at once."""

from fedtheory.algorithm import Algorithm
from fedtheory.parts import ClientOptimiser, GradientOracle

__all__ = ["is_own", "own_numbers", "why_not_plain"]

_BASE = {name: getattr(Algorithm, name) for name in (
    "init", "client_step", "client_start", "client_models", "client_final", "broadcast",
    "server_step", "aggregate", "output", "step_size", "now", "after_step")}


def is_own(algorithm, *names: str) -> bool:
    """Whether a method does not override these functions of the base class."""
    return all(getattr(type(algorithm), name) is _BASE[name] for name in names)


def why_not_plain(algorithm: Algorithm) -> str | None:
    """The reason, in words, why local steps are not ``x_k -= eta (gradient + shift + pull (x_k - x))`` from the broadcast
    model x; None if they are."""
    if not is_own(algorithm, "client_step", "client_start", "step_size", "now", "after_step"):
        return f"{algorithm.name} has a local step of its own"
    if not is_own(algorithm, "client_models", "broadcast") or any(part.moves_start for part in algorithm.parts):
        return f"{algorithm.name} starts its local steps elsewhere than at the broadcast model"
    if algorithm.client_steps is not None:
        return "clients take different numbers of local steps"
    if type(algorithm.oracle) is not GradientOracle:
        return f"the gradient oracle is {type(algorithm.oracle).__name__}"
    if type(algorithm.client) is not ClientOptimiser:
        return f"the client optimiser is {type(algorithm.client).__name__}"
    if not algorithm.correction.fixed_in_round:
        return f"the correction {type(algorithm.correction).__name__} is not affine"
    if algorithm.selection.matching.indicator != "broadcast":
        return "the selection looks at local models"
    return None


def own_numbers(algorithm) -> list:
    """The hyper-parameters of a method with plain local steps."""
    return [algorithm.eta_l, *vars(algorithm.correction).values(), getattr(algorithm.server, "eta_g", 1.0)]
