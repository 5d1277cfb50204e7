"""Looks for violations of a claim: smallest, random and corner instances, an evolution of the worst, ascents from there.

The search knows what a claim is about, never which one it is. Its effort is counted in instances, so that its outcome
does not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain
from math import isfinite, prod

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY, Backend
from verify.evaluation.environment import UnboundName
from verify.evaluation.judge import pairs
from verify.exact.balls import violation_on_balls
from verify.exact.confirm import Violation, confirm_or_why
from verify.exact.screen import alike
from verify.exact.shrink import shrink
from verify.instances.instance import admissible, outcomes
from verify.instances.leaves import Leaves, joined, take_rows
from verify.instances.shape import Shape
from verify.instances.simpler import simpler
from verify.measure.realise import realise
from verify.search.budget import Budget
from verify.search.judged import admitted, judged_in_parts
from verify.search.kin import handed_over, remember, remembered
from verify.search.pools import CANDIDATE, Pools
from verify.search.sharing import RUNS
from verify.search.stages import climbs_from, instances

__all__ = ["Found", "search"]


@dataclass
class Found:
    """What a search saw: ``tried`` instances, of which ``met`` the hypotheses; the worst ratio and its instance.

    Of the violations that float64 saw, ``unconfirmed`` were none in exact arithmetic, or could not be decided: then
    ``uncertain`` says which and why.
    """

    tried: int = 0
    met: int = 0
    ratio: float = 0.0
    worst: tuple[Shape, Leaves] | None = None
    violation: Violation | None = None
    unconfirmed: int = 0
    uncertain: str = ""


_NOTHING = 1e-12  # what float64 may take for a difference where terms of about one cancel
_KIN_FROM, _HANDED_OVER = 1, 271  # the first stage that ends with counterexamples of kin, which take long; their seed
_LONG = 10  # iterations, beyond which exact fractions take longer than balls
_SHARE = Fraction(1, 10**6)  # of the gap that float64 saw, which is none where balls leave less of it
_LARGE = 24  # size beyond which an instance is made smaller before exact arithmetic takes it


def search(claim: Claim, budget: Budget, seed: int = 0, backend: Backend = NUMPY) -> Found:
    """Search for a violation; the first one that exact arithmetic confirms is shrunk and returned.

    The arrays of a batch are small: NumPy takes about half the time that torch takes for them on a processor.
    """
    found, pools = Found(), Pools()

    def look(shape: Shape, leaves: Leaves, confirmations: int) -> Violation | None:
        """Judge a batch; a violation that exact arithmetic confirms is returned, the most promising instances are kept."""
        try:
            leaves, verdict = admitted(claim, shape, leaves, backend)
        except UnboundName:
            if found.met:  # then it is these clients that lack a constant
                return None
            raise
        found.tried += len(verdict.met)
        found.met += int(verdict.met.sum())
        if not verdict.met.any():
            return None
        holds = verdict.met & (verdict.score <= CANDIDATE)  # beyond that, only exact arithmetic can say
        if holds.any():
            worst = int(np.argmax(np.where(holds, verdict.ratio, -1.0)))
            if found.worst is None or verdict.ratio[worst] > found.ratio:
                ratio = min(float(verdict.ratio[worst]), 1.0)  # more than one is rounding: these instances hold
                found.ratio, found.worst = ratio, (shape, take_rows(leaves, [worst]))
        score = np.where(verdict.met, verdict.score, -2.0)
        best = int(np.argmax(score))
        if score[best] > CANDIDATE and found.unconfirmed < confirmations:
            violation = _confirmed(claim, shape, take_rows(leaves, [best]), backend)
            if isinstance(violation, Violation):
                return violation
            found.unconfirmed += 1
            if violation.startswith("uncertain"):
                found.uncertain = found.uncertain or _told(claim, shape, take_rows(leaves, [best]), backend, violation)
            verdict = verdict._replace(met=holds)
        pools.add(shape, leaves, verdict)
        return None

    for number, stage in enumerate(budget.stages):
        of_kin = _of_kin(claim, stage, [seed, number], backend) if number >= _KIN_FROM else ()
        for shape, leaves in chain(instances(claim, stage, [seed, number] if number else seed, pools, backend), of_kin):
            if violation := look(shape, leaves, stage.confirmations):
                found.violation = shrink(claim, violation)
                break
        if number == 0:
            remember(claim, (stage, seed, backend), found.violation)
        if found.violation:
            break
    return found


def _of_kin(claim: Claim, budget: Budget, seeds: list[int], backend: Backend) -> Iterator[tuple[Shape, Leaves]]:
    """Instances made of the counterexamples that the smallest budget finds for the claim's kin, and climbs from these."""
    smallest, rng = budget.stages[0], np.random.default_rng([*seeds, _HANDED_OVER])

    def found(other: Claim) -> Violation | None:
        try:
            with RUNS.aside():
                return search(other, smallest, seeds[0], backend).violation
        except (ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError):  # it cannot be measured
            return None

    known = partial(remembered, circumstances=(smallest, seeds[0], backend), find=found)
    for shape, leaves in handed_over(claim, known, rng, budget.most_outcomes):
        yield shape, leaves
        try:
            verdict = judged_in_parts(claim, shape, leaves, backend)
        except UnboundName:  # these clients lack a constant
            continue
        nearest = int(np.argmax(np.where(verdict.met, verdict.score, -2.0)))
        yield from climbs_from(claim, shape, take_rows(leaves, [nearest]), budget, rng, backend)


def _confirmed(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend) -> Violation | str:
    """What exact arithmetic says of an instance; first of a smaller one where float64 sees the same, because on large ones
    it takes a thousand times longer."""
    if _only_rounding(claim, shape, leaves, backend):
        return "holds"
    smaller = _smaller(claim, shape, leaves, backend)
    if smaller is not None and not _only_rounding(claim, *smaller, backend):
        violation = confirm_or_why(claim, *smaller)
        if isinstance(violation, Violation):
            return violation
    return confirm_or_why(claim, shape, leaves)


def _only_rounding(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend) -> bool:
    """Whether balls say, of a long run, that what float64 saw between both sides was its own rounding."""
    if shape.iterations <= _LONG:
        return False
    gap, *_ = _widest(claim, shape, leaves, backend)
    return isfinite(gap) and violation_on_balls(claim, shape, leaves, Fraction(gap) * _SHARE)[0] == "holds"


def _smaller(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend) -> tuple[Shape, Leaves] | None:
    """A large instance with less of everything, as far as float64 sees the claim violated; None if it stays as it is."""
    if _size(shape) <= _LARGE:
        return None
    enough, smaller = max(0.1 * float(judged_in_parts(claim, shape, leaves, backend).score[0]), CANDIDATE), None
    while _size(shape) > _LARGE and (simpler_one := _simpler_that_scores(claim, shape, leaves, backend, enough)):
        smaller = shape, leaves = simpler_one
    return smaller


def _simpler_that_scores(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend, enough: float):
    """The first simpler instance that meets the hypotheses and scores more than ``enough``; None if there is none."""
    for smaller, some in alike(c for c in simpler(claim, shape, leaves) if admissible(claim, *c)):
        try:
            verdict = judged_in_parts(claim, smaller, joined(some), backend)
        except UnboundName:  # a constant that clients of the simpler family do not have
            continue
        scores = np.flatnonzero(verdict.met & (verdict.score > enough))
        if scores.size:
            return smaller, some[scores[0]]
    return None


def _size(shape: Shape) -> int:
    return prod(outcomes(shape)) * shape.clients * shape.iterations * shape.dim


def _told(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend, why: str) -> str:
    """In words, what float64 saw and why nothing more is known; nothing where both sides are equal up to rounding."""
    gap, left, right = _widest(claim, shape, leaves, backend)
    if gap < _NOTHING:
        return ""
    return f"float64 sees left side {left:.6g} against right side {right:.6g}, and exact arithmetic cannot tell ({why})"


def _widest(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend) -> tuple[float, float, float]:
    """Where float64 sees one side furthest beyond the other on an instance: by how much, and both sides."""
    with np.errstate(all="ignore"):
        both = pairs(claim.statement, realise(claim, shape, leaves, backend))
    sign = -1 if claim.statement.relation == ">=" else 1
    return max((float(abs(a - b)) if claim.statement.relation == "==" else sign * float(a - b), float(a), float(b))
               for a, b in both)
