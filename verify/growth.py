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
   its neighbours in both directions.
4. *Scales*, likewise: numbers move apart as powers of one factor, while sizes stay small. Here growth alone shows nothing
   either (a ratio may grow from 1e-6 to 1), so the ratio must reach 1e6, beyond the constants of any proof.

Growth is seen by the rule of ``growth_fit``: over at least four octaves, by a factor of 16 in all, with an exponent that
stays above 0.1 and does not fall. A refutation needs besides at least five members as exact instances, each of which
refutes the claim with an explicit constant by itself and is replayed by the stand-alone checker; the explicit constants
must grow by the same rule (the factor may be smaller, since exact runs are shorter). What no finite sequence can give, the
step from five growing constants to every constant, is inference, and verdicts say so by printing the sequence. Everything
short of this is ``consistent`` where the largest ratios are level, and ``undecided`` where they grow and nothing confirms it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import floor, log10

import numpy as np
import sympy as sp

from bounds.claim import Claim
from synthetic.arrays import Backend
from verify.growth_fit import OCTAVES, Fit, fit
from verify.growth_search import EFFORTS, Effort, Member, Seen, Track, same_instance, scale_path, worst_of_each_size
from verify.growth_sizes import RUN_SIZES, moved
from verify.hidden import vanishing, with_constant
from verify.search import Budget, search
from verify.shrink import Violation, confirm, violation_of

__all__ = ["ExactMember", "Growth", "growth_of"]

_LEAST_RATIO = 1e6  # of a path along scales
_MEMBERS = OCTAVES + 1
_LONGEST = 384  # iterations of an exact run
_ZERO_BUDGETS = {"quick": Budget(8, 96, 8), "standard": Budget(60, 192, 60), "thorough": Budget(300, 256, 300)}


@dataclass(frozen=True)
class ExactMember:
    """An exact instance of size ``size`` on which the claim fails with ``constant`` for its hidden one (None: with any)."""

    size: float
    constant: Fraction | None
    violation: Violation


@dataclass
class Growth:
    """What was found: the ``tracks`` that were followed, and the exact members of one that refutes the claim, if any.

    ``unconfirmed`` names a limit along which float64 sees growth and exact arithmetic does not follow; ``reasons`` says
    which limits could not be followed, and why.
    """

    seen: Seen = field(default_factory=Seen)
    tracks: list[Track] = field(default_factory=list)
    limit: str = ""
    members: tuple[ExactMember, ...] = ()
    unconfirmed: str = ""
    reasons: list[str] = field(default_factory=list)

    @property
    def vanishing(self) -> bool:
        return bool(self.members) and self.members[0].constant is None


def growth_of(claim: Claim, budget: str, seed: int, backend: Backend) -> Growth:
    """Follow the claim along its limits. Raises NotImplementedError for statements without a factor to bound, UnboundName
    for names that nothing supplies."""
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
    for name, run in runs:
        try:
            tracks = run(growth.seen)
        except NotImplementedError as reason:
            growth.reasons.append(f"{name}: {reason}")
            continue
        long_enough = [t for t in tracks if len(t.members) >= _MEMBERS]
        if not long_enough:
            growth.reasons.append(f"{name}: {_why_short(tracks, growth.seen)}")
        growth.tracks += long_enough
        for track in filter(None, map(_growing, long_enough)):
            growth.limit, growth.members = name, _exact_members(claim, track)
            if growth.members:
                return growth
            growth.unconfirmed = growth.unconfirmed if track.fit.infinite else name
    return growth


def _growing(track: Track) -> Track | None:
    """The track if it grows, or as much of it as does beyond all doubt: float64 loses the largest sizes of fast growth."""
    for count in range(len(track.members), OCTAVES, -1):
        part = track.until(count)
        beyond = part.ratios[-1] >= _LEAST_RATIO * (_first(part) if not part.own_instances else 1)
        if part.fit.grows and (beyond or (count == len(track.members) and track.limit != "scale")):
            return part
    return None


def _first(track: Track) -> float:
    return next((r for r in track.ratios if r > 0), 1.0)


def _why_short(tracks, seen: Seen) -> str:
    if not tracks or not tracks[0].members:
        return f"no instance met the hypotheses{f' ({seen.refused})' if seen.refused else ''}"
    return f"the hypotheses were met up to size {tracks[0].sizes[-1]:g} only"


def _follow_instance(unit, limit, effort: Effort, rng, backend):
    return lambda seen: same_instance(unit, limit, effort, rng, backend, seen)


def _uniform_runs(claim, unit, effort, rng, backend):
    """Searches over all instances that share what the constants may depend on."""
    domains = {v.name: v.domain for v in claim.variables}
    keep = {}
    for name in claim.constants_may_use:
        if domains.get(name) not in ("positive", "nonnegative"):
            raise NotImplementedError(f"constants that may depend on {name}: only a number that the claim declares can be held")
        keep[name] = float(rng.choice([0.25, 0.5]))
    for symbol, towards in claim.limits:
        if str(symbol) in RUN_SIZES or domains.get(str(symbol)) == "integer":
            yield str(symbol), lambda seen, n=str(symbol): worst_of_each_size(unit, n, keep, effort, rng, backend, seen)
    yield "scale", lambda seen: scale_path(unit, keep, effort, rng, backend, seen)


# the right side vanishes ---------------------------------------------------------------------------------------------
def _where_it_vanishes(claim, growth: Growth, budget, seed, backend) -> None:
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
    """The violation along a limit, on the same instance; empty if it ends."""
    members, shape = [], violation.shape
    start = shape.as_sizes().get(name)
    for i in range(_MEMBERS):
        step = (start or 1) * 2**i if start or towards == sp.oo else Fraction(1, 2**i)
        try:
            there = violation_of(nothing, *moved(nothing, shape, violation.leaves, name, step))
        except (NotImplementedError, ValueError):
            return ()
        if not isinstance(there, Violation):
            return ()
        members.append(ExactMember(float(step), None, there))
    return tuple(members)


# exact members -------------------------------------------------------------------------------------------------------
def _exact_members(claim, track: Track) -> tuple[ExactMember, ...]:
    """At least five neighbouring members of a track as exact violations of the claim with growing constants; empty if
    exact arithmetic does not confirm them."""
    if track.fit.infinite:
        found = [_vanishing_member(claim, m) for m in track.members[-_MEMBERS:]]
        return tuple(found) if all(found) else ()
    chosen = _moderate(track)
    found = [_explicit_member(claim, m, rounded=track.own_instances) for m in chosen]
    if len(found) < _MEMBERS or not all(found):
        return ()
    sizes, constants = [m.size for m in found], [float(m.constant) for m in found]
    return tuple(found) if fit(sizes, constants).rising else ()


def _moderate(track: Track) -> list[Member]:
    """The last members whose runs are short enough for fractions."""
    short = [m for m in track.members if m.shape.iterations <= _LONGEST]
    return short[-_MEMBERS:] if track.limit != "scale" else short


def _vanishing_member(claim, member: Member) -> ExactMember | None:
    found = confirm(vanishing(claim), member.shape, member.leaves)
    return ExactMember(member.size, None, found) if found else None


def _explicit_member(claim, member: Member, rounded: bool) -> ExactMember | None:
    below = _digits_down(member.ratio * 0.999)
    found = confirm(with_constant(claim, below), member.shape, member.leaves, rounded)
    if not found or found.right < 0:  # a negative scale bounds constants from above, not from below
        return None
    return ExactMember(member.size, below, found)


def _digits_down(value: float) -> Fraction:
    """The value with four digits, rounded down."""
    power = floor(log10(value)) - 3
    return Fraction(floor(value / 10.0**power)) * Fraction(10) ** power


def describe(track: Track) -> str:
    """The growth along one track, in words."""
    grown: Fit = track.fit
    if grown.infinite:
        return f"{track.limit}: the right side is zero"
    return (f"{track.limit} {track.sizes[0]:g} to {track.sizes[-1]:g}: ratio {track.ratios[0]:.3g} to {track.ratios[-1]:.3g}, "
            f"exponent {grown.slope:.2f} +- {grown.error:.2f}")
