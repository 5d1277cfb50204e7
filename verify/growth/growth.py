"""Claims whose constants are hidden in O(.): decided by the growth of the ratio of their sides along their limits.

``left <= A + C * B`` holds for some constant C if and only if ``(left - A) / B`` is bounded, over what C may not depend
on. Where C may depend on everything but the limits' symbols, the ratio must be bounded along every single instance; where
it may depend on nothing (or on listed quantities only), over all instances (that share those).

1. *The right side vanishes.* An instance with ``B <= 0`` and ``left > A`` leaves no constant. It is searched for like any
   counterexample. Where constants belong to an instance it must go on along a limit: an order says nothing about one size.
2. *The same instance.* Only the limit's symbol moves. The instance is tame (numbers between 1/4 and 2, no chance), so that
   whatever happens on it happens within a few dozen steps; an instance with scales apart may grow for as long as one
   wants before it levels off, and shows nothing.
3. *The worst of each size*, for constants that the instance must not enter: every size is searched on its own and from
   its neighbours in both directions. Where constants may depend on something made of sizes, these grow together, in
   proportions that leave it as it is (``growth_coupled``).
4. *Scales*, likewise: numbers move apart as powers of one factor, while sizes stay small. Here growth alone shows nothing
   either (a ratio may grow from 1e-6 to 1), so the ratio must reach 1e6, beyond the constants of any proof.

Where constants must not enter, 2 comes first: no constant of any kind explains growth on a single instance. Runs that stay
near their starts and get farther with every size show nothing (``growth_motion``), unless steps may be shorter still.

Growth is seen by the rule of ``growth_fit``: over at least four octaves, by a factor of 16 in all, with an exponent that
stays above 0.1 and does not fall. A refutation needs besides at least five members as exact instances, each of which
refutes the claim with an explicit constant by itself and is replayed by the stand-alone checker; the explicit constants
must grow from each to the next. What no finite sequence can give, the step from five growing constants to every constant, is
inference, and verdicts say so by printing the sequence. Everything short of this is ``consistent`` where the largest ratios
are level, and ``undecided`` where they grow and nothing confirms it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import prod

import numpy as np
import sympy as sp

from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY, Backend
from synthetic.numbers.balls import Ball
from verify.exact.confirm import Violation, violation_of
from verify.growth.effort import EFFORTS, Effort, Member, Seen, Track, ratios_of
from verify.growth.fit import OCTAVES, Fit, fit, outgrows_every_term
from verify.growth.members import ExactMember, exact_ratio_member, explicit_member, vanishing_member
from verify.growth.motion import begins_later, hardly_begun, slower_runs
from verify.growth.order import never_vanishes, vanishing, with_constant
from verify.growth.proportions import moves_together, worst_in_proportion
from verify.growth.same_instance import same_instance
from verify.growth.scales import scale_path
from verify.growth.sizes import moved, scaled
from verify.growth.worst_of_size import worst_of_each_size
from verify.instances.instance import outcomes
from verify.instances.leaves import floats, joined
from verify.instances.resize import RUN_SIZES
from verify.search.budget import Budget
from verify.search.search import search

__all__ = ["Growth", "described", "growth_of"]

_LEAST_RATIO = 1e6  # of a path along scales
_MEMBERS = OCTAVES + 1
_FACTOR, _STAGES = 16.0, 16  # between exact members of a path along scales, and how many there are at most
_SHORT = 128  # rounds, where float64 is of no use
_SCALE = "scale"
_LONGEST = 384  # iterations of an exact run
_LONGEST_IRRATIONAL = 48  # of one in intervals
_MOST_STEPS = 4000  # local steps of all clients over all outcomes of chance, in fractions
_ZERO_BUDGETS = {"quick": Budget(4, 96, 2, small=8), "standard": Budget(60, 192, 60), "thorough": Budget(300, 256, 300)}


@dataclass
class Growth:
    """What was found: the ``tracks`` that were followed, and the exact members of one that refutes the claim, if any.

    ``unconfirmed`` names a limit along which float64 sees growth and exact arithmetic does not follow; ``reasons`` says
    which limits could not be followed, and why; ``rejected`` is what refutes the claim but for the stand-alone checker.
    """

    seen: Seen = field(default_factory=Seen)
    tracks: list[Track] = field(default_factory=list)
    limit: str = ""
    members: tuple[ExactMember, ...] = ()
    unconfirmed: str = ""
    reasons: list[str] = field(default_factory=list)
    rejected: tuple[str, tuple[ExactMember, ...], Track] | None = None

    @property
    def vanishing(self) -> bool:
        return bool(self.members) and self.members[0].constant is None


def growth_of(claim: Claim, budget: str, seed: int, backend: Backend, accepts=None) -> Growth:
    """Follow the claim along its limits; ``accepts(limit, members)`` says whether the stand-alone checker, which knows
    irrational numbers less well, accepts what refutes the claim: else other tracks come first. Raises NotImplementedError
    for statements without a factor to bound, UnboundName for names that nothing supplies."""
    growth, effort, rng = Growth(), EFFORTS[budget], np.random.default_rng(seed)
    unit = with_constant(claim, 1)
    if unit.statement.relation == "<=":
        _where_it_vanishes(claim, growth, budget, seed, backend)
    if growth.members:
        return growth
    if claim.constants_may_use is None:
        runs = [(str(limit[0]), _follow_instance(unit, limit, effort, rng, backend)) for limit in claim.limits]
    else:
        runs = list(_uniform_runs(claim, unit, effort, rng, backend))
        single = _single_instances(claim, unit, effort, rng, backend, growth.seen)
        if any(_refutes(claim, growth, name, tracks, accepts) for name, tracks in single):
            return growth
    for name, run in runs:
        try:
            tracks = run(growth.seen)
        except NotImplementedError as reason:
            growth.reasons.append(f"{name}: {reason}")
            continue
        long_enough = [t for t in tracks if len(t.members) >= _MEMBERS]
        if not long_enough:
            growth.reasons.append(f"{name}: {_why_short(tracks, growth.seen)}")
        growth.tracks += long_enough[:1] if name == _SCALE else long_enough
        if _refutes(claim, growth, name, tracks, accepts):
            return growth
    if growth.rejected:
        growth.limit, growth.members, track = growth.rejected
        growth.tracks.append(track)
    return growth


def _refutes(claim: Claim, growth: Growth, name: str, tracks: list[Track], accepts) -> bool:
    """Whether exact members of one of the tracks refute the claim; what was seen is noted."""
    for track in tracks:
        members = _confirmed(claim, track)
        if members and accepts and isinstance(members[-1].violation.left, Ball) and not accepts(name, members):
            growth.rejected = growth.rejected or (name, members, track)
        elif members:
            growth.limit, growth.members = name, members
            growth.tracks.append(track)
            return True
        elif track.fit.grows and not track.fit.infinite and track.powers is None:
            growth.unconfirmed = name
    return False


def _confirmed(claim: Claim, track: Track) -> tuple[ExactMember, ...]:
    """Exact members by which the track refutes the claim; none if it does not."""
    if track.powers is not None:
        return _exact_path(claim, track) if track.fit.rising else ()
    if track.fit.grows:
        return _exact_members(claim, track)
    if not track.own_instances:
        return _exact_run(claim, track) if track.fit.rising or track.lost else ()
    for count in range(len(track.members) - 1, OCTAVES, -1):  # float64 loses the largest sizes of fast growth
        part = track.until(count)
        if part.fit.grows and part.ratios[-1] >= _LEAST_RATIO:
            return _exact_members(claim, part)
    return ()


def _why_short(tracks, seen: Seen) -> str:
    if not tracks or not tracks[0].members:
        return f"no instance met the hypotheses{f' ({seen.refused})' if seen.refused else ''}"
    return f"the hypotheses were met up to size {tracks[0].sizes[-1]:g} only"


def _follow_instance(unit, limit, effort: Effort, rng, backend):
    return lambda seen: same_instance(unit, limit, effort, rng, backend, seen)


def _uniform_runs(claim, unit, effort, rng, backend):
    """Searches over all instances that share what the constants may depend on."""
    domains = {v.name: v.domain for v in claim.variables}
    keep, fixed = {}, []
    for name in claim.constants_may_use:
        formula = _made_of_sizes(claim, name)
        if formula is None and domains.get(name) not in ("positive", "nonnegative"):
            raise NotImplementedError(f"constants may depend on {name}; only a number that the claim declares can be held")
        if formula is None:
            keep[name] = float(rng.choice([0.25, 0.5]))
        fixed += [formula] if formula is not None and formula.free_symbols else []
    sizes = [s for s, _ in claim.limits if str(s) in RUN_SIZES or domains.get(str(s)) == "integer"]
    yield _SCALE, lambda seen: scale_path(unit, keep, effort, rng, backend, seen)
    for name in () if fixed else map(str, sizes):
        yield name, lambda seen, n=name: worst_of_each_size(unit, n, keep, effort, rng, backend, seen)
    groups = {frozenset(names): names for names in (moves_together(fixed, str(s)) for s in sizes if fixed) if names}
    for names in groups.values():
        yield " and ".join(names), lambda seen, n=names: worst_in_proportion(
            unit, fixed, n, keep, effort, rng, backend, seen)


def _single_instances(claim, unit, effort, rng, backend, seen):
    """Single instances along each limit of a run on which the ratio grows, which no constant of any kind explains."""
    if claim.setting != "run" or any(_made_of_sizes(claim, name) is not None for name in claim.constants_may_use):
        return
    for limit in claim.limits:
        if str(limit[0]) not in RUN_SIZES:
            continue
        try:
            tracks = same_instance(unit, limit, effort, rng, backend, seen)
        except NotImplementedError:  # which is said where all instances of each size are searched
            continue
        yield str(limit[0]), [t for t in tracks if not t.fit.infinite and (t.fit.grows or t.lost)]


def _made_of_sizes(claim: Claim, name: str):
    """The formula of integers alone by which a condition defines the name, so that it is held where sizes are; or None."""
    for condition in claim.hypotheses:
        if condition.relation == "==" and condition.left.is_Symbol and condition.left.name == name:
            return condition.right if all(s.is_integer for s in condition.right.free_symbols) else None
    return None


# the right side vanishes ---------------------------------------------------------------------------------------------
def _where_it_vanishes(claim, growth: Growth, budget, seed, backend) -> None:
    if never_vanishes(claim):
        return
    nothing = vanishing(claim)
    found = search(nothing, _ZERO_BUDGETS[budget], seed, backend)
    growth.seen.tried += found.tried
    if not found.violation:
        return
    if claim.constants_may_use is not None:
        growth.members = (ExactMember(1, None, found.violation),)
        growth.limit = "vanishing right side"
        return
    for symbol, towards in claim.limits:
        members = _persists(nothing, found.violation, str(symbol), towards)
        if members:
            growth.limit, growth.members = str(symbol), members
            return


def _persists(nothing, violation: Violation, name, towards) -> tuple[ExactMember, ...]:
    """The violation along a limit, on the same instance; empty if it ends. One is enough where the limit is 0 and the
    instance is there."""
    members, shape, there = [], violation.shape, violation.environment.bound.get(name)
    if towards == 0 and there is not None and (there.data == 0).all():
        return (ExactMember(0.0, None, violation),)
    start = shape.as_sizes().get(name)
    for i in range(_MEMBERS):
        step = (start or 1) * 2**i if start or towards == sp.oo else Fraction(1, 2**i)
        try:
            larger, leaves = moved(nothing, shape, violation.leaves, name, step)
        except (NotImplementedError, ValueError):
            return ()
        there = violation_of(nothing, larger, leaves) if _affordable(larger) else None
        if not isinstance(there, Violation):
            return ()
        members.append(ExactMember(float(step), None, there))
    return tuple(members)


# exact members -------------------------------------------------------------------------------------------------------
def _exact_path(claim: Claim, track: Track) -> tuple[ExactMember, ...]:
    """The first neighbours on a path along scales so far out that no constant of a proof explains the ratio; only those that
    float64 sees there, or cannot tell, are taken to exact arithmetic."""
    factors = [_FACTOR**stage for stage in range(_STAGES)]
    seen, exact = _seen_along(claim, track, factors), cache(lambda factor: _member_along(claim, track, factor))
    far_enough = [last for last in range(_MEMBERS, _STAGES + 1) if not seen[last - 1] < _LEAST_RATIO / 2]
    for last in far_enough if _still_rising(seen, exact) else ():
        if exact(factors[last - 1]) is None:
            break
        members = _increasing_beyond(exact, factors[last - _MEMBERS:last])
        if members and _fitted(members).steady:
            return members
    return ()


def _increasing_beyond(exact, factors) -> tuple[ExactMember, ...]:
    """The exact members at these factors, with constants that grow beyond those of any proof; none if they do not, as the
    first to fail says, from the last on."""
    found: list[ExactMember] = []
    for factor in reversed(factors):
        member = exact(factor)
        if member is None or not (member.constant < found[0].constant if found else member.constant >= _LEAST_RATIO):
            return ()
        found = [member, *found]
    return tuple(found)


def _seen_along(claim: Claim, track: Track, factors) -> np.ndarray:
    """The ratios that float64 sees on the first member scaled by each factor, NaN where it sees none."""
    start, powers = track.members[0], track.powers
    leaves = floats(joined([scaled(start.leaves, powers, factor) for factor in factors]))
    seen = ratios_of(with_constant(claim, 1), start.shape, leaves, NUMPY, Seen())
    return np.where((seen > 0) & (seen < np.inf), seen, np.nan)


def _member_along(claim: Claim, track: Track, factor) -> ExactMember | None:
    start = track.members[0]
    return exact_ratio_member(claim, factor, start.shape, scaled(start.leaves, track.powers, factor))


def _still_rising(seen: np.ndarray, exact) -> bool:
    """Whether the ratio still grows far out: most that grow climb up to a bound."""
    far = [] if seen[_MEMBERS + 1] < seen[_MEMBERS] * 1.1 else [exact(_FACTOR**stage) for stage in (_MEMBERS, _MEMBERS + 1)]
    return bool(far) and all(far) and far[1].constant > far[0].constant * Fraction(5, 4)


def _exact_run(claim: Claim, track: Track) -> tuple[ExactMember, ...]:
    """One instance along a limit where its ratio grows so fast that float64 loses it: in fractions, from the start."""
    start, found = track.members[0], []
    for i in range(_MEMBERS + 2):
        if not isinstance(start.size, int) or start.size * 2**i > _SHORT:
            break
        there = moved(claim, start.shape, start.leaves, track.limit, start.size * 2**i)
        if not _affordable(there[0]):
            break
        member = exact_ratio_member(claim, start.size * 2**i, *there)
        if member is None and found:
            break
        found += [member] if member else []  # at the smallest size a hypothesis may hold with equality
    last = tuple(found[-_MEMBERS:])
    steady = len(last) == _MEMBERS and _increasing(last) and _fitted(last).steady
    enough = steady and last[-1].constant >= _LEAST_RATIO * last[0].constant
    return last if enough else ()


def _increasing(members) -> bool:
    return all(first.constant < second.constant for first, second in pairwise(members))


def _fitted(members) -> Fit:
    return fit([m.size for m in members], [float(m.constant) for m in members])


def _exact_members(claim, track: Track) -> tuple[ExactMember, ...]:
    """At least five neighbouring members of a track as exact violations of the claim with growing constants; empty if
    exact arithmetic does not confirm them."""
    if track.fit.infinite:
        found = [vanishing_member(claim, m) for m in track.members[-_MEMBERS:]]
        return tuple(found) if all(found) else ()
    found = _largest_confirmed(claim, _moderate(track), track.own_instances)
    if len(found) < _MEMBERS or _stops_later(claim, track, found):
        return ()
    sizes, constants = [m.size for m in found], [float(m.constant) for m in found]
    if not outgrows_every_term(claim, sizes, [m.violation.environment for m in found]):
        return ()
    return tuple(found) if _increasing(found) and fit(sizes, constants).rising else ()


def _stops_later(claim, track: Track, found: list[ExactMember]) -> bool:
    """Whether the growth may be that of runs that have hardly begun, and none are known that begin later still."""
    if not hardly_begun(track.limit, [m.violation.environment for m in found]):
        return False
    last = found[-1]
    if claim.constants_may_use is None:  # which then may depend on how long the steps are
        return True
    still = with_constant(claim, last.constant / 2)
    for leaves in slower_runs(claim, last.violation.leaves):
        slower = violation_of(still, last.violation.shape, leaves)
        if isinstance(slower, Violation) and begins_later(slower.environment, last.violation.environment):
            return False
    return True


def _largest_confirmed(claim, members: list[Member], rounded: bool) -> list[ExactMember]:
    """Neighbouring members as exact violations, the largest that there are; irrational numbers lose digits on long runs."""
    found: list[ExactMember] = []
    if len(members) < _MEMBERS:
        return found
    at_least = members[-_MEMBERS]
    middle = explicit_member(claim, at_least, rounded)
    if middle and isinstance(middle.violation.left, Ball):
        members = [m for m in members if m.shape.iterations <= _LONGEST_IRRATIONAL]
    for member in reversed(members):
        exact = middle if member is at_least else explicit_member(claim, member, rounded)
        if exact:
            found = [exact, *found]
        if len(found) == _MEMBERS or (found and not exact):
            break
    return found


def _moderate(track: Track) -> list[Member]:
    """The members whose runs are short enough for fractions."""
    return [m for m in track.members if _affordable(m.shape)]


def _affordable(shape) -> bool:
    """Whether runs of the shape are few and short enough for fractions."""
    return shape.iterations <= _LONGEST and prod(outcomes(shape)) * shape.iterations * shape.clients <= _MOST_STEPS


def described(track: Track) -> str:
    """The growth along one track, in words."""
    grown: Fit = track.fit
    if grown.infinite:
        return f"{track.limit}: the right side is zero"
    ends = f"ratio {track.ratios[0]:.3g} to {track.ratios[-1]:.3g}"
    return (f"{track.limit} {track.sizes[0]:g} to {track.sizes[-1]:g}: {ends}, exponent "
            f"{grown.slope:.2f} +- {grown.error:.2f}")
