"""Instances with irrational numbers: the same code on balls, where only certain comparisons count."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from bounds.language.claim import HOLDS, Claim, Condition
from synthetic.numbers.arrays import BALLS
from synthetic.numbers.balls import Ball, Undecided
from verify.evaluation.environment import Environment, UnboundName
from verify.evaluation.judge import in_range, pairs
from verify.measure.simulate import simulate

__all__ = ["MOST_EXACT", "certain_violation", "violation_on_balls"]

PRECISIONS = (128, 512, 2048)  # bits; what none decides stays open
_BITS_A_STEP = 8  # by which balls of a run may grow, where differences of equal numbers feed the next step
MOST_EXACT = 400_000  # entries of an array of terms in exact arithmetic, a few seconds' worth
_NOTHING = Fraction(1, 10**30)  # sides nearer than this are equal, in units in which leaves are about 1


def violation_on_balls(claim: Claim, shape, params, nothing: Fraction = _NOTHING, judged: Claim | None = None,
                       ) -> tuple[Environment, Ball, Ball] | tuple[str, str]:
    """The certain violation by an exact instance: its environment and both sides, which are balls. Otherwise a word,
    ``unmet``, ``holds``, ``inadmissible`` or ``uncertain``, and the reason for the last one. Undecided sides that differ by
    less than ``nothing`` count as equal. ``judged``: a claim whose hypotheses and statement are looked at instead."""
    def run() -> Environment:
        return simulate(claim, shape, params, BALLS, most=MOST_EXACT)

    return certain_violation(judged or claim, run, shape.iterations, nothing)


def certain_violation(claim: Claim, run: Callable[[], Environment], iterations: int, nothing: Fraction = _NOTHING,
                      ) -> tuple[Environment, Ball, Ball] | tuple[str, str]:
    """The same of an environment that ``run`` makes on balls, at more and more bits; ``iterations``: of its run."""
    from flint import ctx

    before, word, reason = ctx.prec, "uncertain", ""
    try:
        for bits in _precisions(iterations):
            ctx.prec = bits
            try:
                environment = run()
                found = _certain(claim, environment, nothing)
            except _Undefined:
                word, reason = "inadmissible", ""
                continue
            except Undecided as overlap:
                word, reason = "uncertain", str(overlap)
                continue
            except ZeroDivisionError:
                return "inadmissible", ""
            except (ArithmeticError, UnboundName, ValueError, TypeError) as error:
                return "uncertain", f"{type(error).__name__}: {error}"
            if found in ("unmet", "holds"):
                return found, ""
            return (environment, *found)
    finally:
        ctx.prec = before
    return word, reason


def _precisions(iterations: int) -> tuple[int, ...]:
    """The precisions in bits to try one after the other; for a long run a single one that covers what it may lose."""
    enough = PRECISIONS[0] + _BITS_A_STEP * iterations
    return PRECISIONS if enough <= PRECISIONS[-1] else (enough,)


class _Undefined(Undecided):
    """A side of the statement is not known to be finite somewhere."""


def _certain(claim: Claim, environment: Environment, nothing: Fraction) -> str | tuple[Ball, Ball]:
    """The certain answer for instance 0: ``holds``, ``unmet``, or the violating sides. Raises Undecided without one. A
    condition that defines a name holds by definition."""
    environment = environment.remembering()
    if not all(Ball(side).finite for pair in pairs(claim.statement, environment) for side in pair):
        raise _Undefined("a side of the statement is not known to be finite")
    broken, open_pair = _broken(claim.statement, environment, False, nothing)
    if not broken and (not open_pair or _equal_in_effect(*open_pair, nothing)):
        return "holds"
    for condition in claim.hypotheses:
        if not any(condition is known for known in environment.by_definition) and _broken(condition, environment)[0]:
            return "unmet"
    if not in_range(claim, environment, 1).all():
        return "unmet"
    if not broken:
        raise Undecided(f"{open_pair[0]!r} and {open_pair[1]!r} overlap")
    return max(broken, key=lambda pair: abs(float(pair[0]) - float(pair[1])))


def _equal_in_effect(left: Ball, right: Ball, nothing: Fraction = _NOTHING) -> bool:
    """Whether both sides are so close that float64 saw only rounding errors."""
    low, high = (Ball(left) - Ball(right)).ends
    return max(abs(low), abs(high)) < nothing


def _broken(condition: Condition, environment: Environment, strict: bool = True, nothing: Fraction = _NOTHING,
            ) -> tuple[list, Any]:
    """Returns the pairs (left, right) of instance 0 that certainly violate the condition, and one undecided pair, preferably
    one whose sides differ by more than ``nothing``. With ``strict`` an undecided pair raises Undecided."""
    compare = HOLDS[condition.sign]
    broken, open_pair = [], None
    for left, right in pairs(condition, environment):
        try:
            if not compare(Ball(left), Ball(right)):
                broken.append((Ball(left), Ball(right)))
        except Undecided:
            if strict:
                raise
            if open_pair is None or _equal_in_effect(*open_pair, nothing):
                open_pair = (left, right)
    return broken, open_pair
