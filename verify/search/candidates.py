"""Confirms candidates, instances on which float64 sees a violation, in exact arithmetic."""

from fractions import Fraction
from math import isfinite, prod

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import Backend
from verify.claims.existential import runs_for_every_value
from verify.claims.needs import speaks_of_pairs
from verify.evaluation.environment import UnboundName
from verify.evaluation.judge import pairs
from verify.exact.balls import violation_on_balls
from verify.exact.confirm import Violation, confirm_or_why
from verify.exact.float_prefilter import alike
from verify.instances.instance import admissible, outcomes
from verify.instances.parameters import Parameters, joined
from verify.instances.shape import Shape
from verify.instances.simpler import simpler
from verify.measure.simulate import simulate
from verify.search.archive import CANDIDATE
from verify.search.batch_evaluation import evaluate_batch

__all__ = ["confirmed", "describe_unconfirmed", "effort_of"]

_NOTHING = 1e-12  # what float64 may take for a difference where terms of about one cancel
_LONG = 10  # iterations, beyond which exact fractions take longer than balls
_SHARE = Fraction(1, 10**6)  # of the gap that float64 saw; where balls leave less, there is no gap
_EFFORT = 5_000  # numbers of an instance times its iterations, which confirm as fast as a small one
_ON_INTERVALS = 3  # confirmations of small instances that the intervals of a number that is said to exist take
_AT_PAIRS = 6  # confirmations of small instances that a hypothesis at all pairs of points takes
_LARGE = 24  # size beyond which an instance is made smaller before exact arithmetic takes it


def confirmed(claim: Claim, shape: Shape, params: Parameters, backend: Backend) -> Violation | str:
    """The violation in exact arithmetic, or why there is none.

    A smaller instance is tried first where float64 sees the same on it, because large ones take a thousand times longer.
    """
    if _only_rounding(claim, shape, params, backend):
        return "holds"
    smaller = _smaller(claim, shape, params, backend)
    if smaller is not None and not _only_rounding(claim, *smaller, backend):
        violation = confirm_or_why(claim, *smaller)
        if isinstance(violation, Violation):
            return violation
    return confirm_or_why(claim, shape, params)


def describe_unconfirmed(claim: Claim, shape: Shape, params: Parameters, backend: Backend, why: str) -> str:
    """Describe what float64 sees and why nothing more is known; empty where both sides are equal up to rounding. A number
    that is said to exist takes the value that breaks the statement least; the sides are those at the end of its interval."""
    gap, left, right = _widest(claim, shape, params, backend)
    if gap < _NOTHING and (claim.exists is None or evaluate_batch(claim, shape, params, backend).score[0] <= CANDIDATE):
        return ""
    return f"float64 sees left side {left:.6g} against right side {right:.6g}, and exact arithmetic cannot tell ({why})"


def _only_rounding(claim: Claim, shape: Shape, params: Parameters, backend: Backend) -> bool:
    """Whether balls say, of a long run, that the gap which float64 sees is rounding."""
    if shape.iterations <= _LONG or shape.many_draws:
        return False
    gap, *_ = _widest(claim, shape, params, backend)
    return isfinite(gap) and violation_on_balls(claim, shape, params, Fraction(gap) * _SHARE)[0] == "holds"


def _smaller(claim: Claim, shape: Shape, params: Parameters, backend: Backend) -> tuple[Shape, Parameters] | None:
    """A large instance with less of everything, as far as float64 sees the violation; None if it stays as it is."""
    if _size(shape) <= _LARGE:
        return None
    enough, smaller = max(0.1 * float(evaluate_batch(claim, shape, params, backend).score[0]), CANDIDATE), None
    while _size(shape) > _LARGE and (simpler_one := _simpler_that_scores(claim, shape, params, backend, enough)):
        smaller = shape, params = simpler_one
    return smaller


def _simpler_that_scores(claim: Claim, shape: Shape, params: Parameters, backend: Backend, enough: float):
    """The first simpler instance that is feasible and scores more than ``enough``; None if there is none."""
    for smaller, some in alike(c for c in simpler(claim, shape, params) if admissible(claim, *c)):
        try:
            verdict = evaluate_batch(claim, smaller, joined(some), backend)
        except UnboundName:  # a constant that clients of the simpler family do not have
            continue
        scores = np.flatnonzero(verdict.met & (verdict.score > enough))
        if scores.size:
            return smaller, some[scores[0]]
    return None


def effort_of(claim: Claim, shape: Shape) -> int:
    """The cost of a confirmation in confirmations of small instances: numbers get longer with every step, so that a run
    takes the square of its iterations; a hypothesis at all pairs of points looks at every pair of pieces; and a run is
    replayed on many intervals of a number that is said to exist."""
    more = _AT_PAIRS * speaks_of_pairs(claim) + _ON_INTERVALS * runs_for_every_value(claim)
    return 1 + more + _size(shape) * shape.iterations * max(shape.family.knots, 1) // _EFFORT


def _size(shape: Shape) -> int:
    return prod(outcomes(shape)) * shape.clients * shape.iterations * shape.dim


def _widest(claim: Claim, shape: Shape, params: Parameters, backend: Backend) -> tuple[float, float, float]:
    """The widest gap by which float64 sees one side beyond the other on an instance, and both sides there."""
    with np.errstate(all="ignore"):
        both = pairs(claim.statement, simulate(claim, shape, params, backend))
    sign = -1 if claim.statement.relation == ">=" else 1
    return max((float(abs(a - b)) if claim.statement.relation == "==" else sign * float(a - b), float(a), float(b))
               for a, b in both)
