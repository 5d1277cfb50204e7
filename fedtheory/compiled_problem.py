"""The problem that compiled local steps solve, on the processor (:mod:`fedtheory.fused`) or a card
(:mod:`fedtheory.card_steps`).

A step is a gradient step on F_k(x) = sum_i share_i loss(a_i x, b_i) + penalty, or on a quadratic, with a shift that is fixed
within a round and a pull to the broadcast model (:attr:`fedtheory.parts.Correction.fixed_in_round`).
"""

from typing import Any, NamedTuple

from fedtheory.plain import own_numbers, why_not_plain
from fedtheory.schedules import Schedule
from synthetic.base.noise import NoNoise
from synthetic.data.federation import DataFederation
from synthetic.data.generalised_linear import GeneralisedLinear
from synthetic.data.least_squares import LeastSquares
from synthetic.data.logistic import BinaryLogistic
from synthetic.quadratic.quadratic import Quadratic

__all__ = ["KINDS", "LOSSES", "SHAPES", "Problem", "fixed_numbers", "problem_of", "why_not_compiled"]

#: kinds of problems and losses, by their numbers in fused.c
KINDS = ("data", "dense", "diagonal")
LOSSES = ("square", "logistic", "log-cosh", "pseudo-huber", "huber", "softplus", "sigmoid", "geman-mcclure", "tanh-squared",
          "welsch", "cauchy", "cosine", "linear")
#: shapes of ``synthetic.data.scalar_losses`` as (loss, factor)
SHAPES = {name: (name, 1) for name in LOSSES if name != "logistic"} | {
    "root": ("pseudo-huber", 1), "one-minus-cosine": ("cosine", -1)}
_FAMILIES = {family: {name: getattr(family, name) for name in (
    "gradient", "stochastic_gradient", "slope", "_scores", "_combine", "_sum_of_gradients", "_penalty_slope", "_data")
    if hasattr(family, name)} for family in (LeastSquares, BinaryLogistic, GeneralisedLinear, Quadratic)}


class Problem(NamedTuple):
    """A federation as compiled steps see it; ``features`` are the curvatures and ``targets`` the centres of quadratics.

    ``n`` is the number of rows of a client's features; the loss is ``scale`` times its shape at ``1 / width``.
    """

    kind: str
    n: int
    features: Any
    targets: Any
    share: Any = None
    counts: Any = None
    loss: str = "square"
    scale: float = 1.0
    width: float = 1.0
    ridge: float = 0.0
    alpha: float = 0.0


def problem_of(federation) -> Problem:
    """The problem of a federation of one of the families."""
    if isinstance(federation, Quadratic):
        kind, n = ("diagonal", 1) if federation.diagonal else ("dense", federation.dim)
        return Problem(kind, n, federation.curvature, federation.center)
    loss, scale, width = "logistic" if isinstance(federation, BinaryLogistic) else "square", 1.0, 1.0
    if isinstance(federation, GeneralisedLinear):
        loss, factor = SHAPES[federation.phi.shape]
        scale, width = factor * federation.phi.scale, federation.phi.width
    return Problem("data", federation.features.shape[2], federation.features, federation.targets, federation.share,
                   federation.counts, loss, scale, width, federation.ridge, getattr(federation, "alpha", 0.0))


def why_not_compiled(algorithm, federation) -> str | None:
    """The reason, in words, why an algorithm or a federation has no compiled steps, whatever its arrays; None if it has."""
    if reason := why_not_plain(algorithm):
        return reason
    own = _FAMILIES.get(type(federation))
    if own is None or any(getattr(type(federation), name) is not function for name, function in own.items()):
        return f"{federation.name} is not among the families of the compiled steps"
    if isinstance(federation, DataFederation) and (federation.outputs > 1 or federation.batch_size is not None):
        return "the data have minibatches or several outputs"
    if not isinstance(federation.noise, NoNoise):
        return "gradients are noisy"
    return None


def fixed_numbers(algorithm) -> bool:
    """Whether the steps and pulls of all rounds are the same."""
    return not any(isinstance(number, Schedule) for number in own_numbers(algorithm))
