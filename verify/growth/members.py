"""Exact instances that refute a claim with an explicit constant in place of its hidden one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import ceil, floor, log, log10, prod

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY
from synthetic.numbers.balls import Ball
from verify.evaluation.environment import Environment
from verify.evaluation.judge import exact_violation
from verify.exact.confirm import Violation, confirm, violation_of
from verify.growth.fit import OCTAVES, Fit, fit, outgrows_every_term
from verify.growth.growth_search import GrowthCurve, GrowthSearch, Member
from verify.growth.limits import at_size, keeps_the_shape, least_factor
from verify.growth.order import with_constant
from verify.growth.transients import has_longer_transient, is_transient, longer_transients
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters, map_params
from verify.instances.shape import Shape
from verify.measure.simulate import simulate

__all__ = ["LONGEST_IRRATIONAL", "MEMBERS", "TINY", "ExactMember", "affordable", "constant_refuted", "exact_ratio_member",
           "refuting_members", "within_exact_runs"]

MEMBERS = OCTAVES + 1
_STEP = 4.0  # between members along a number
TINY = Fraction(1, 10**30)  #: a constant that nearly everything refutes
_LEAST_RATIO = 1e6  # of a path along scales
_FACTOR, _STAGES = 16.0, 16  # between exact members of a path along scales, and how many there are at most
_SHORT = 128  # rounds, where float64 is of no use
_LONGEST = 384  # iterations of an exact run
LONGEST_IRRATIONAL = (64, 48)  #: of one in intervals; the checker's may be too wide for the longer ones
_MOST_STEPS = 4000  # local steps of all clients over all outcomes of chance, in fractions


@dataclass(frozen=True)
class ExactMember:
    """An exact instance of size ``size`` on which the claim fails with ``constant`` for its hidden one (None: with any)."""

    size: float
    constant: Fraction | None
    violation: Violation


def refuting_members(claim: Claim, curve: GrowthCurve, longest: int) -> tuple[ExactMember, ...]:
    """Exact members by which the track refutes the claim, of at most ``longest`` iterations where numbers are irrational;
    none if it does not."""
    if curve.along_scales:
        return _far_along_scales(claim, curve) if curve.fit.rising else ()
    if curve.fit.grows and (found := _of_curve(claim, curve, longest)):
        return found
    if curve.fit.grows and not curve.lost:
        return ()
    if not curve.own_instances:
        return _from_the_start(claim, curve) if curve.fit.rising or curve.lost else ()
    for count in range(len(curve.members) - 1, OCTAVES, -1):  # float64 loses the largest sizes of fast growth
        part = curve.until(count)
        if part.fit.grows and part.ratios[-1] >= _LEAST_RATIO:
            return _of_curve(claim, part, longest)
    return ()


def affordable(shape: Shape, times: int = 1) -> bool:
    """Whether runs of the shape are few and short enough for fractions, or so many times longer."""
    listed = 1 if shape.many_draws else prod(outcomes(shape))  # many draws stay letters
    steps = listed * shape.iterations * shape.clients
    return shape.iterations <= times * _LONGEST and steps <= times * _MOST_STEPS


def within_exact_runs(curve: GrowthCurve, times: int = 1) -> GrowthCurve:
    """The members of a track that are short enough for fractions, or so many times longer."""
    return replace(curve, members=tuple(member for member in curve.members if affordable(member.shape, times)))


def _increasing(members: Sequence[ExactMember]) -> bool:
    return all(first.constant < second.constant for first, second in pairwise(members))


def _fitted(members: Sequence[ExactMember]) -> Fit:
    return fit([m.size for m in members], [float(m.constant) for m in members])


# one instance that moves -------------------------------------------------------------------------------------------------
def _far_along_scales(claim: Claim, curve: GrowthCurve) -> tuple[ExactMember, ...]:
    """The first neighbours on a path along scales so far out that no constant of a proof explains the ratio; only those that
    float64 sees there, or cannot tell, are taken to exact arithmetic."""
    start, factors = curve.members[0], [_FACTOR**stage for stage in range(_STAGES)]
    seen = np.concatenate([*GrowthSearch(with_constant(claim, 1)).along(curve.limit, start.shape, start.params, factors)])
    seen = np.where((seen > 0) & (seen < np.inf), seen, np.nan)
    exact = cache(lambda factor: exact_ratio_member(
        claim, factor, *at_size(claim, start.shape, start.params, curve.limit, factor)))
    if seen[MEMBERS + 1] < seen[MEMBERS] * 1.1:  # most that grow climb up to a bound
        return ()
    least_factor = [exact(factor) for factor in factors[MEMBERS:MEMBERS + 2]]
    if not all(least_factor) or least_factor[1].constant <= least_factor[0].constant * Fraction(5, 4):
        return ()
    for last in (last for last in range(MEMBERS, _STAGES + 1) if not seen[last - 1] < _LEAST_RATIO / 2):
        if exact(factors[last - 1]) is None:
            break
        members = _increasing_beyond(exact, factors[last - MEMBERS:last])
        if members and _fitted(members).steady:
            return members
    return ()


def _increasing_beyond(exact: Callable[[float], ExactMember | None], factors: Sequence[float]) -> tuple[ExactMember, ...]:
    """The exact members at these factors, with constants that grow beyond those of any proof; none if they do not, as the
    first to fail says, from the last on."""
    found: list[ExactMember] = []
    for factor in reversed(factors):
        member = exact(factor)
        if member is None or not (member.constant < found[0].constant if found else member.constant >= _LEAST_RATIO):
            return ()
        found = [member, *found]
    return tuple(found)


def _from_the_start(claim: Claim, curve: GrowthCurve) -> tuple[ExactMember, ...]:
    """One instance along a limit where its ratio grows so fast that float64 loses it: in fractions, from the start."""
    start, found = curve.members[0], []
    if keeps_the_shape(curve.limit, start.params):
        return _far_along_a_number(claim, curve) if curve.lost else ()
    for size in (start.size * 2**i for i in range(MEMBERS + 2)):
        if not isinstance(size, int) or size > _SHORT:
            break
        there = at_size(claim, start.shape, start.params, curve.limit, size)
        member = exact_ratio_member(claim, size, *there) if affordable(there[0]) else None
        if member:
            found.append(member)
        elif found or not affordable(there[0]):  # at the smallest size a hypothesis may hold with equality
            break
    last = tuple(found[-MEMBERS:])
    steady = len(last) == MEMBERS and _increasing(last) and _fitted(last).steady
    return last if steady and last[-1].constant >= _LEAST_RATIO * last[0].constant else ()


def _far_along_a_number(claim: Claim, curve: GrowthCurve) -> tuple[ExactMember, ...]:
    """One instance along a number where float64 loses its sides before the number is small or large enough: in fractions."""
    start, falls = curve.members[0], curve.sizes[-1] < curve.sizes[0]
    sizes = [start.size * _STEP ** (-place if falls else place) for place in range(MEMBERS)]
    found = [exact_ratio_member(claim, size, *at_size(claim, start.shape, start.params, curve.limit, size / start.size))
             for size in sizes]
    return _that_grow(claim, curve, found) if all(found) else ()


def exact_ratio_member(claim: Claim, size: float, shape: Shape, params: Parameters) -> ExactMember | None:
    """The exact instance with nearly the largest constant that it refutes."""
    first = violation_of(with_constant(claim, TINY), shape, params)
    constant = constant_refuted(first)
    if constant is None:
        return None
    stated = with_constant(claim, constant)
    if isinstance(first.left, Ball):
        found = violation_of(stated, shape, params)
        return ExactMember(size, constant, found) if isinstance(found, Violation) else None
    sides = exact_violation(stated, first.environment)  # its run, and that it meets the hypotheses, are known
    return None if isinstance(sides, str) else ExactMember(size, constant, Violation(*first[:3], *sides))


def constant_refuted(found: Violation | str | float | None) -> Fraction | None:
    """Nearly the largest constant that an instance refutes, from what it says of ``TINY``; None where it refutes none."""
    if not isinstance(found, Violation) or not 0 < float(found.right) < np.inf:
        return None
    try:
        ratio = float(found.left) / float(found.right) * float(TINY) * 0.999
    except OverflowError:
        return None
    return _digits_down(ratio) if 0 < ratio < np.inf else None


# the members of a track --------------------------------------------------------------------------------------------------
def _of_curve(claim: Claim, curve: GrowthCurve, longest: int) -> tuple[ExactMember, ...]:
    """Five or more neighbouring members of a growth curve as exact violations of the claim with growing constants; empty if
    exact arithmetic does not confirm them."""
    if curve.fit.infinite:
        found = [_confirmed(claim, None, member) for member in curve.members[-MEMBERS:]]
        return tuple(found) if all(found) else ()
    usual, longer = (within_exact_runs(curve, times) for times in (1, 2))
    exact = longer if longer.fit.is_sustained and not usual.fit.is_sustained else usual
    return _that_grow(claim, curve, _largest_confirmed(claim, exact.members, curve.own_instances, longest))


def _that_grow(claim: Claim, curve: GrowthCurve, found: list[ExactMember]) -> tuple[ExactMember, ...]:
    """The exact members of a track, or those farther out along its number, if their growth shows something; else none."""
    found = _farther(claim, curve, found)
    if len(found) < MEMBERS or _stops_later(claim, curve, found):
        return ()
    outgrown = outgrows_every_term(claim, [m.size for m in found], [_with_run(claim, m.violation) for m in found])
    return tuple(found) if outgrown and _increasing(found) and _fitted(found).is_sustained else ()


def _largest_confirmed(claim: Claim, members: Sequence[Member], rounded: bool, longest: int) -> list[ExactMember]:
    """Neighbouring members as exact violations, the largest that there are; irrational numbers lose digits on long runs."""
    found: list[ExactMember] = []
    if len(members) < MEMBERS:
        return found
    exact = cache(lambda place: _just_below(claim, members[place], rounded))
    middle, last = len(members) - MEMBERS, len(members) - 1
    irrational = exact(middle) and isinstance(exact(middle).violation.left, Ball)
    for place in range(last, -1, -1):
        if irrational and members[place].shape.iterations > longest:
            continue
        if exact(place):
            found = [exact(place), *found]
        if len(found) == MEMBERS or (found and not exact(place)):
            break
    return found


def _farther(claim: Claim, curve: GrowthCurve, found: list[ExactMember]) -> list[ExactMember]:
    """The members of one instance along a number farther out, where only exact arithmetic tells its ratio, if these end
    before the number is so large or small that its growth counts; the members as they are, if it goes no farther."""
    start, name = curve.members[0], curve.limit
    if len(found) < MEMBERS or curve.own_instances or not isinstance(name, str) or name not in start.params:
        return found
    value = abs(float(found[-1].violation.environment.bound[name].data.reshape(-1)[0]))
    falls = curve.sizes[-1] < curve.sizes[0]
    enough = float(least_factor(claim))
    missing = log(value * enough if falls else enough / value, _STEP) if value > 0 else 0.0
    if missing <= 0:
        return found
    last = found[-1].size * _STEP ** (-ceil(missing) if falls else ceil(missing))
    sizes = [last * _STEP ** (place if falls else -place) for place in reversed(range(MEMBERS))]
    farther = [exact_ratio_member(claim, size, *at_size(claim, start.shape, start.params, name, size / start.size))
               for size in sizes]
    return farther if all(farther) else found


def _just_below(claim: Claim, member: Member, rounded: bool) -> ExactMember | None:
    """The instance as an exact violation of the claim with a constant just below its ratio, or None; ``rounded`` where
    :func:`confirm` may round it."""
    found = _confirmed(claim, _digits_down(member.ratio * 0.999), member, rounded) if member.ratio > 0 else None
    # a negative scale bounds constants from above, not from below
    return found if found and float(found.violation.right) >= 0 else None


def _confirmed(claim: Claim, constant: Fraction | None, member: Member, rounded: bool = True) -> ExactMember | None:
    found = confirm(with_constant(claim, constant), member.shape, member.params, rounded)
    return ExactMember(member.size, constant, found) if found else None


def _stops_later(claim: Claim, curve: GrowthCurve, found: list[ExactMember]) -> bool:
    """Whether the growth may be a transient that no longer run has ruled out."""
    if not is_transient(curve.limit, [_with_run(claim, m.violation) for m in found]):
        return False
    if claim.constants_may_use is None:  # which then may depend on how long the steps are
        return True
    last = found[-1].violation
    slower = (violation_of(with_constant(claim, found[-1].constant / 2), last.shape, params)
              for params in longer_transients(claim, last.params))
    here = _with_run(claim, last)
    return not any(isinstance(one, Violation) and has_longer_transient(_with_run(claim, one), here) for one in slower)


def _with_run(claim: Claim, violation: Violation) -> Environment:
    """The environment of a violation after its run; in float64 where the checker alone has computed the sides."""
    if not violation.shape.many_draws:
        return violation.environment
    params = map_params(violation.params, lambda name, a: a.astype(float))
    return simulate(with_constant(claim, 1), violation.shape, params, NUMPY)


def _digits_down(value: float) -> Fraction:
    """The value with four digits, rounded down."""
    power = floor(log10(value)) - 3
    return Fraction(floor(value / 10.0**power)) * Fraction(10) ** power
