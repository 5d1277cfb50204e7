"""Claims whose constants are hidden in O(.): decided by the growth of the ratio of their sides along their limits.

``left <= A + C * B`` holds for some constant C if and only if ``(left - A) / B`` is bounded, over what C may not depend
on. Where C may depend on everything but the limits' symbols, the ratio must be bounded along every single instance; where
it may depend on nothing (or on listed quantities only), over all instances (that share those).

1. *The right side vanishes.* An instance with ``B <= 0`` and ``left > A`` leaves no constant. It is searched for like any
   counterexample. Where constants belong to an instance it must go on along a limit: an order says nothing about one size.
2. *The same instance.* Only the limit's symbol moves. The instance is tame (numbers between 1/4 and 2, no chance unless the
   symbol is a number), so that whatever happens on it happens within a few dozen steps; an instance with scales apart may
   grow for as long as one wants before it levels off, and shows nothing.
3. *The worst of each size*, for constants that the instance must not enter: every size is searched on its own and from
   its neighbours in both directions. Where constants may depend on something made of sizes, these grow together, in
   proportions that leave it as it is.
4. *Scales*, likewise: numbers move apart as powers of one factor, while sizes stay small. Here growth alone shows nothing
   either (a ratio may grow from 1e-6 to 1), so the ratio must reach 1e6, beyond the constants of any proof.

Where constants must not enter, 2 comes first: no constant of any kind explains growth on a single instance. Runs that stay
near their starts and get farther with every size show nothing (``begun``), unless steps may be shorter still.

Growth is seen by the rule of ``fit``: over at least four octaves, by a factor of 16 in all, with an exponent that
stays above 0.1 and does not fall. A refutation needs besides at least five members as exact instances, each of which
refutes the claim with an explicit constant by itself and is replayed by the stand-alone checker; the explicit constants
must grow from each to the next. What no finite sequence can give, the step from five growing constants to every constant, is
inference, and verdicts say so by printing the sequence. Everything short of this is ``consistent`` where the largest ratios
are level, and ``undecided`` where they grow and nothing confirms it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial

import numpy as np
import sympy as sp

from bounds.language.claim import Claim
from synthetic.numbers.arrays import Backend
from verify.claims.existential import runs_for_every_value, with_position
from verify.claims.sizes import allowed
from verify.exact.confirm import Violation, violation_of
from verify.growth.growth_search import EFFORTS, Effort, GrowthCurve, GrowthSearch
from verify.growth.limits import SCALE, TOGETHER, Motion, at_size, coupled_limits, held_numbers
from verify.growth.long_runs import along_long_runs
from verify.growth.members import LONGEST_IRRATIONAL, MEMBERS, ExactMember, affordable, refuting_members
from verify.growth.order import never_vanishes, with_constant
from verify.growth.same_instance import same_instance
from verify.growth.scales import scale_path
from verify.growth.with_chance import along_chance, along_many_draws
from verify.growth.worst_of_size import worst_in_proportion, worst_of_each_size
from verify.instances.resize import RUN_SIZES
from verify.search.budget import Budget
from verify.search.search import search

__all__ = ["Growth", "growth_of"]

_UNBOUNDED = 2**20  # a size that conditions on it alone must admit, if it is followed though no limit names it
_ZERO_BUDGETS = {"quick": Budget(4, 96, 2, small=32), "standard": Budget(60, 192, 60), "thorough": Budget(300, 256, 300)}


@dataclass
class Growth:
    """Result of a growth search: the ``curves`` that were followed, and the exact members of one that refutes the claim, if
    any.

    ``unconfirmed`` names a limit along which float64 sees growth and exact arithmetic does not follow; ``reasons`` says
    which limits could not be followed, and why; ``rejected`` is what refutes the claim but for the stand-alone checker;
    ``with_chance`` is a curve that grows for as long as chance can be enumerated, ``chance_until`` the sizes up to which it
    was.
    """

    seen: GrowthSearch | None = None
    curves: list[GrowthCurve] = field(default_factory=list)
    limit: str = ""
    members: tuple[ExactMember, ...] = ()
    unconfirmed: str = ""
    reasons: list[str] = field(default_factory=list)
    rejected: tuple[str, tuple[ExactMember, ...], GrowthCurve] | None = None
    with_chance: GrowthCurve | None = None
    chance_until: dict[str, int] = field(default_factory=dict)

    @property
    def confirmed(self) -> bool:
        """Whether members refute the claim, and the checker does not object."""
        return bool(self.members) and (self.rejected is None or self.members is not self.rejected[1])

    @property
    def vanishing(self) -> bool:
        return bool(self.members) and self.members[0].constant is None


def growth_of(claim: Claim, budget: str, seed: int, backend: Backend, accepts=None) -> Growth:
    """Follow the claim along its limits; ``accepts(limit, members)`` says whether the stand-alone checker accepts what
    refutes the claim: else other curves come first; None where the growth ends beyond the last member.

    Raises:
        NotImplementedError: a statement without a factor to bound.
        UnboundName: a name that nothing supplies.
    """
    trials = GrowthSearch(with_position(with_constant(claim, 1)), _effort(claim, budget), np.random.default_rng(seed),
                          backend, claim)
    growth = Growth(trials)
    if trials.claim.statement.relation == "<=" and not never_vanishes(claim):
        _where_it_vanishes(claim, growth, budget, seed)
        if growth.members and (accepts is None or accepts(growth.limit, growth.members)):
            return growth
        growth.limit, growth.members = "", ()
    if claim.constants_may_use is None:
        runs = [(str(limit[0]), partial(same_instance, trials, limit)) for limit in claim.limits]
    else:
        try:
            runs = list(_over_all_instances(claim, trials))
        except NotImplementedError as reason:
            growth.reasons, runs = [str(reason)], []
        if any(_settles(claim, growth, name, curves, accepts) for name, curves in _single_instances(claim, trials, True)):
            return growth
    for name, run in runs:
        try:
            curves = run()
        except NotImplementedError as reason:
            growth.reasons.append(f"{name}: {reason}")
            continue
        long_enough = [t for t in curves if len(t.members) >= MEMBERS]
        if not long_enough:
            growth.reasons.append(f"{name}: {_why_short(curves, trials.refused)}")
        growth.curves += long_enough[:1] if name == SCALE else long_enough
        if _settles(claim, growth, name, curves, accepts):
            return growth
    if claim.constants_may_use is not None and any(
            _settles(claim, growth, name, curves, accepts) for name, curves in _single_instances(claim, trials, False)):
        return growth
    for name in (str(symbol) for symbol, _ in claim.limits):
        growth.chance_until[name], curves = along_many_draws(trials, name)
        growth.with_chance = growth.with_chance or next((curve for curve in curves if not curve.fit.grows), None)
        if _settles(claim, growth, name, [curve for curve in curves if curve.fit.grows], accepts):
            return growth
        for curve, members in along_long_runs(trials, claim) if name == "rounds" else ():
            if accepts is None or accepts(name, members):
                growth.limit, growth.members = name, members
                growth.curves.append(curve)
                return growth
    if growth.rejected:
        growth.limit, growth.members, curve = growth.rejected
        growth.curves.append(curve)
    for name in (str(symbol) for symbol, _ in claim.limits if claim.setting == "run" and not growth.members):
        until, curve = along_chance(trials, name)
        growth.chance_until[name] = max(until, growth.chance_until[name])
        growth.with_chance = growth.with_chance or curve
    return growth


def _effort(claim: Claim, budget: str) -> Effort:
    """The effort of a budget. One instance of a claim that a number exists is run for some thirty values of the number."""
    effort = EFFORTS[budget]
    if not runs_for_every_value(claim):
        return effort
    return replace(effort, rows=effort.rows // 8, passes=1, generations=effort.generations // 8, longest=effort.longest // 8)


def _settles(claim: Claim, growth: Growth, name: str, curves: list[GrowthCurve], accepts) -> bool:
    """Whether exact members of one of the curves refute the claim, or nothing can refute it once float64 sees growth; what
    was seen is noted."""
    for curve in curves:
        if claim.exists is not None:  # no member's sides tell how large a constant fails for every value
            if curve.fit.grows and not curve.along_scales:
                growth.unconfirmed, growth.curves = name, [curve]
                return True
            continue
        if _refutes(claim, growth, name, curve, accepts):
            return True
    return False


def _refutes(claim: Claim, growth: Growth, name: str, curve: GrowthCurve, accepts) -> bool:
    """Whether exact members of the curve refute the claim: of irrational runs the longer ones, or those that the checker, on
    its coarser intervals, can replay."""
    before: list[float] = []
    for longest in LONGEST_IRRATIONAL:
        members = refuting_members(claim, curve, longest)
        if not growth.seen.is_above_the_level(curve, members) or [m.size for m in members] == before != []:
            break
        if members and members[0].constant is not None and not _share(claim, members, curve.limit):
            break
        if not members:
            if curve.fit.grows and not curve.fit.infinite and not curve.along_scales:
                growth.unconfirmed = name
            break
        if not accepts or (accepted := accepts(name, members)):
            growth.limit, growth.members = name, members
            growth.curves.append(curve)
            return True
        if accepted is not None:
            growth.rejected = growth.rejected or (name, members, curve)
        before = [m.size for m in members]
    return False


def _share(claim: Claim, members: Sequence[ExactMember], limit: Motion) -> bool:
    """Whether the numbers on which constants may depend are the same on all members: a number may move into the bounds of
    hypotheses where an instance becomes exact, or where it leaves the sizes that were judged."""
    each, held = [m.violation.environment.bound for m in members], claim.constants_may_use
    if held is None:
        held = held_numbers(claim, limit) if isinstance(limit, str) else ()
    return all(len({str(bound[name].data) for bound in each if name in bound}) < 2 for name in held)


def _why_short(curves: list[GrowthCurve], refused: str) -> str:
    if not curves or not curves[0].members:
        return f"no instance met the hypotheses{f' ({refused})' if refused else ''}"
    return f"the hypotheses were met up to size {curves[0].sizes[-1]:g} only"


def _over_all_instances(claim: Claim, trials: GrowthSearch) -> Iterator[tuple[str, Callable[[], list[GrowthCurve]]]]:
    """Searches over all instances that share what the constants may depend on."""
    domains, fixed = {v.name: v.domain for v in claim.variables}, []
    for name in claim.constants_may_use:
        formula = _made_of_sizes(claim, name)
        if formula is None and domains.get(name) not in ("positive", "nonnegative"):
            raise NotImplementedError(f"constants may depend on {name}, which no instances share: only a number among the "
                                      f"claim's variables can be held, as {name} = \"positive\"")
        if formula is None:
            trials.keep[name] = float(trials.rng.choice([0.25, 0.5]))
        elif formula.free_symbols:
            fixed.append(formula)
    yield SCALE, partial(scale_path, trials)
    any_size = (*(TOGETHER if claim.setting == "run" else ()), *domains)  # where no limit is named
    named = [str(s) for s, _ in claim.limits] or [name for name in any_size if allowed(claim, {name: _UNBOUNDED})]
    sizes = [name for name in dict.fromkeys(named) if name in RUN_SIZES or domains.get(name) == "integer"]
    if not fixed:
        yield from ((name, partial(worst_of_each_size, trials, name)) for name in sizes)
        return
    groups = {frozenset(names): names for names in (coupled_limits(fixed, name) for name in sizes) if names}
    yield from ((" and ".join(names), partial(worst_in_proportion, trials, fixed, names)) for names in groups.values())


def _single_instances(claim: Claim, trials: GrowthSearch, of_sizes: bool) -> Iterator[tuple[str, list[GrowthCurve]]]:
    """Yields, for each limit of a run, single instances on which the ratio grows so that no constant explains it.

    ``of_sizes``: limits of sizes; otherwise limits of numbers."""
    if claim.setting != "run" or any(_made_of_sizes(claim, name) is not None for name in claim.constants_may_use):
        return
    for limit in claim.limits:
        if (str(limit[0]) in RUN_SIZES) != of_sizes:
            continue
        try:
            curves = same_instance(trials, limit)
        except NotImplementedError:  # which is said where all instances of each size are searched
            continue
        yield str(limit[0]), [t for t in curves if not t.fit.infinite and (t.fit.grows or t.lost)]


def _made_of_sizes(claim: Claim, name: str) -> sp.Expr | None:
    """The formula of integers alone by which a condition defines the name, so that it is held where sizes are."""
    condition = claim.defining.get(name)
    if condition is None or not condition.left.is_Symbol:
        return None
    return condition.right if all(s.is_integer for s in condition.right.free_symbols) else None


def _where_it_vanishes(claim: Claim, growth: Growth, budget: str, seed: int) -> None:
    """Looks for a violation where the right side is not positive, and follows it where constants belong to an instance."""
    nothing = with_constant(claim, None)
    found = search(nothing, _ZERO_BUDGETS[budget], seed, growth.seen.backend)
    growth.seen.tried += found.tried
    if not found.violation:
        return
    if claim.constants_may_use is not None:
        growth.limit, growth.members = "vanishing right side", (ExactMember(1, None, found.violation),)
        return
    for symbol, towards in claim.limits:
        if members := _persists(nothing, found.violation, str(symbol), towards):
            growth.limit, growth.members = str(symbol), members
            return


def _persists(nothing: Claim, violation: Violation, name: str, towards) -> tuple[ExactMember, ...]:
    """The violation along a limit, on the same instance; empty if it ends. One is enough where the limit is 0 and the
    instance is there."""
    members, shape, there = [], violation.shape, violation.environment.bound.get(name)
    if towards == 0 and there is not None and (there.data == 0).all():
        return (ExactMember(0.0, None, violation),)
    start = shape.as_sizes().get(name)
    for i in range(MEMBERS):
        step = (start or 1) * 2**i if start or towards == sp.oo else Fraction(1, 2**i)
        try:
            larger, params = at_size(nothing, shape, violation.params, name, step)
        except (NotImplementedError, ValueError):
            return ()
        there = violation_of(nothing, larger, params) if affordable(larger) else None
        if not isinstance(there, Violation):
            return ()
        members.append(ExactMember(float(step), None, there))
    return tuple(members)
