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

from bounds.claim import Claim
from synthetic.arrays import NUMPY, Backend
from verify.environment import realise
from verify.evaluate import TooManyTerms, UnboundName
from verify.extreme_numbers import extreme_numbers
from verify.instances import Leaves, Shape, admissible, halves, joined, number_of, outcomes, take_rows
from verify.judge import Judgement, judge, pairs
from verify.kin import handed_over, remember, remembered
from verify.knots_on_path import knots_on_path
from verify.layer_corners import layer_corners, layer_shapes
from verify.offspring import KINDS_OF_LEAVES, offspring
from verify.on_balls import violation_on_balls
from verify.other_sizes import neighbour
from verify.patterns import patterned
from verify.pools import CANDIDATE, Pools
from verify.refine import Coordinates, ascend, evolve
from verify.rescaled import rescaled
from verify.sampling import alike_in_all_coordinates, draw_leaves, draw_shape, turned
from verify.screen import alike
from verify.shared_draws import Draws
from verify.shared_runs import RUNS
from verify.shrink import Violation, confirm_or_why, shrink, simpler
from verify.small_shapes import extreme_shapes, small_shapes
from verify.within_conditions import within_conditions

__all__ = ["BUDGETS", "Budget", "Found", "search"]


@dataclass(frozen=True)
class Budget:
    """How hard to look: at all that the smaller budget ``before`` looks at, then ``small`` batches of the smallest shapes,
    random ``batches`` of up to ``size`` instances, ``generations`` of evolution, and last ``ascents`` from the tightest
    instances, and as many as there are from counterexamples of the claim's kin, by CMA-ES of ``climbs`` steps and by
    gradients of ``slopes`` steps. Large batches take little longer than small ones."""

    batches: int
    size: int
    generations: int
    work: int = 100_000  # at most of a batch: models that a step of all its instances and outcomes moves, times the steps
    most_outcomes: int = 64
    most_iterations: int = 40
    confirmations: int = 12  # candidates that are taken to exact arithmetic
    ascents: int = 0
    climbs: int = 0
    slopes: int = 0
    small: int = 40  # batches of the smallest shapes
    small_rows: int = 32  # instances of each
    most_rounds: tuple[int, ...] = (40,)  # of one local step, of a batch each
    on_data: tuple[int, int, int] = (1, 4, 1)  # federations of real data; starts, and lengths of runs, on each
    before: Budget | None = None

    @property
    def stages(self) -> tuple[Budget, ...]:
        """The budgets whose searches follow each other, from the smallest to this one."""
        return (*(self.before.stages if self.before else ()), self)


_QUICK = Budget(batches=2, size=256, generations=0, small=22, small_rows=128)
_STANDARD = Budget(
    batches=36, size=1024, generations=32, most_outcomes=128, most_iterations=100, confirmations=30, ascents=4, climbs=40,
    slopes=6, small=20, small_rows=768, most_rounds=(100, 300), on_data=(2, 8, 3), before=_QUICK)
_THOROUGH = Budget(
    batches=300, size=3072, generations=600, work=300_000, most_outcomes=256, most_iterations=300, confirmations=60,
    ascents=12, climbs=200, slopes=60, small=200, small_rows=1536, most_rounds=(100, 300, 1000, 3000), on_data=(2, 16, 3),
    before=_STANDARD)
BUDGETS = {"quick": _QUICK, "standard": _STANDARD, "thorough": _THOROUGH}


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
_OF_DATA = 60_000  # what claims about samples have for a budget's work
_LARGE = 24  # size beyond which an instance is made smaller before exact arithmetic takes it
_MOST_TERMS = 250_000  # entries of an array of terms
_MOVED_KNOTS = 0.3  # share of batches of piecewise clients in which pieces move onto the path
_TURNED = 0.3  # share of the batches in whose basis clients are not separable, of methods that act by coordinate
_CLIMBS_ON_SAMPLES = 2  # times as many, for as long as they get anywhere: atoms have many numbers
_PATIENCE, _PATIENT_ROUNDS = 10, (100, 300)  # how much longer where no run met the hypotheses; of how many rounds


def search(claim: Claim, budget: Budget, seed: int = 0, backend: Backend = NUMPY) -> Found:
    """Search for a violation; the first one that exact arithmetic confirms is shrunk and returned.

    The arrays of a batch are small: NumPy takes about half the time that torch takes for them on a processor.
    """
    found, pools = Found(), Pools()

    def look(shape: Shape, leaves: Leaves, confirmations: int) -> Violation | None:
        """Judge a batch; a violation that exact arithmetic confirms is returned, the most promising instances are kept."""
        try:
            leaves, verdict = _admitted(claim, shape, leaves, backend)
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
        for shape, leaves in chain(_instances(claim, stage, [seed, number] if number else seed, pools, backend), of_kin):
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
            verdict = _judged(claim, shape, leaves, backend)
        except UnboundName:  # these clients lack a constant
            continue
        nearest = int(np.argmax(np.where(verdict.met, verdict.score, -2.0)))
        yield from _climbs(claim, shape, take_rows(leaves, [nearest]), budget, rng, backend)


def _judged(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend) -> Judgement:
    """The judgement on a batch, in which instances that overflow or divide by zero are no errors; in halves where its sums
    have too many terms, and an instance of which alone has too many meets nothing."""
    try:
        with np.errstate(all="ignore"):
            return judge(claim, RUNS.realise(claim, shape, leaves, backend, _MOST_TERMS))
    except TooManyTerms:
        if number_of(leaves) == 1:
            return Judgement(*np.full((3, 1), -1.0), np.zeros(1, dtype=bool))
        parts = (_judged(claim, shape, half, backend) for half in halves(leaves))
        return Judgement(*map(np.concatenate, zip(*parts, strict=True)))


def _admitted(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend) -> tuple[Leaves, Judgement]:
    """The first of the instances, as many as may be judged at once, and the judgement on them."""
    count = number_of(leaves)
    while count > 1:
        try:
            with np.errstate(all="ignore"):
                return leaves, judge(claim, RUNS.realise(claim, shape, leaves, backend, _MOST_TERMS))
        except TooManyTerms:
            count //= 2
            leaves = take_rows(leaves, slice(count))
    return leaves, _judged(claim, shape, leaves, backend)


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
    enough, smaller = max(0.1 * float(_judged(claim, shape, leaves, backend).score[0]), CANDIDATE), None
    while _size(shape) > _LARGE and (simpler_one := _simpler_that_scores(claim, shape, leaves, backend, enough)):
        smaller = shape, leaves = simpler_one
    return smaller


def _simpler_that_scores(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend, enough: float):
    """The first simpler instance that meets the hypotheses and scores more than ``enough``; None if there is none."""
    for smaller, some in alike(c for c in simpler(claim, shape, leaves) if admissible(claim, *c)):
        try:
            verdict = _judged(claim, smaller, joined(some), backend)
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


def _instances(claim: Claim, budget: Budget, seeds: int | list[int], pools: Pools, backend: Backend):
    """Batches to look at, one after the other: the later ones follow from what was kept of the earlier ones."""
    rng = np.random.default_rng(seeds)
    longer, apart, moving = 1, *rng.spawn(2)
    once = Draws(RUNS.known_draws(claim, budget, seeds), (rng, apart, moving))

    def drawn(shape: Shape, rows: int) -> Leaves:
        return _drawn(claim, shape, min(rows, _batch_size(shape, budget)), apart, moving)

    def random(longer: int) -> tuple[Shape, Leaves]:
        shape = draw_shape(claim, rng, budget.most_outcomes, budget.most_iterations, longer)
        return shape, _drawn(claim, shape, _batch_size(shape, budget), rng, moving)

    for shape in once(partial(small_shapes, claim, apart, budget.most_outcomes, budget.small)):
        yield shape, once(partial(drawn, shape, budget.small_rows))
    most = budget.most_outcomes, budget.most_iterations, budget.most_rounds
    for shape in once(partial(extreme_shapes, claim, apart, *most)):
        yield shape, once(partial(drawn, shape, budget.small_rows // (10 if shape.data else 1)))
    for shape in once(partial(layer_shapes, claim, apart, budget.most_outcomes, budget.small // 2)):
        yield shape, once(partial(drawn, shape, budget.small_rows))
    waiting = not pools.filled
    for shape in once(partial(extreme_shapes, claim, apart, *most[:2], _PATIENT_ROUNDS), waiting) if waiting else ():
        yield shape, once(partial(drawn, shape, budget.size), waiting)
    for step in range(budget.batches + budget.generations):
        if step < budget.batches or not pools.filled:
            if step == budget.batches // 2 and not pools.filled:
                longer = _PATIENCE
            yield once(partial(random, longer), longer, waiting)
        else:
            shape, parent = pools.pick(step, rng)
            longest = budget.most_iterations * (_PATIENCE if shape.iterations > budget.most_iterations else 1)
            shape, parent = neighbour(claim, shape, parent, rng, budget.most_outcomes, longest)
            children = offspring(claim, shape, parent, _batch_size(shape, budget), rng)
            yield shape, _cornered(claim, shape, children, moving)
    for shape, leaves in pools.tightest(budget.ascents):
        yield from _climbs(claim, shape, leaves, budget, rng, backend)
    yield from extreme_numbers(claim, apart)


def _climbs(claim: Claim, shape: Shape, leaves: Leaves, budget: Budget, rng: np.random.Generator, backend: Backend):
    """Where climbs from one instance end."""
    coordinates, rows = Coordinates.of(claim, leaves, KINDS_OF_LEAVES), min(24, _batch_size(shape, budget))
    seed = int(rng.integers(1 << 30))
    for climb, steps in ((_evolved, budget.climbs), (_ascended, budget.slopes)):
        try:
            end = climb(claim, shape, coordinates, steps, rows, rng, seed, backend)
        except UnboundName:  # it came to clients that lack a constant, as those that differ without bound do
            continue
        if end is not None:
            yield shape, end


def _drawn(claim: Claim, shape: Shape, count: int, rng: np.random.Generator, moving: np.random.Generator) -> Leaves:
    """Leaves in one of the corners, now and then in turned coordinates where that matters."""
    leaves = patterned(claim, shape, draw_leaves(claim, shape, count, rng), moving)
    leaves = layer_corners(claim, shape, leaves, moving)
    leaves = turned(claim, shape, leaves, moving) if moving.random() < _TURNED else leaves
    leaves = rescaled(claim, shape, _cornered(claim, shape, leaves, moving), moving)
    return within_conditions(claim, shape, leaves, moving, partial(RUNS.realise, backend=NUMPY, most=_MOST_TERMS))


def _cornered(claim: Claim, shape: Shape, leaves: Leaves, moving: np.random.Generator) -> Leaves:
    """Leaves, some with all coordinates alike where that matters, now and then with pieces on the path."""
    leaves = alike_in_all_coordinates(claim, shape, leaves, moving)
    return knots_on_path(claim, shape, leaves, moving) if moving.random() < _MOVED_KNOTS else leaves


def _evolved(claim, shape, coordinates, climbs, rows, rng, seed, backend) -> Leaves | None:
    judged, patience, found = partial(_judged, claim, shape, backend=backend), climbs // 3, []
    if not shape.data:
        return evolve(judged, coordinates, climbs, rows, seed, patience)
    for again in range(2):  # the second time from the end of the first, as wide as that began
        end = evolve(judged, coordinates, _CLIMBS_ON_SAMPLES * climbs, max(rows, 24), seed + again, patience)
        if end is None:
            break
        found, coordinates = [*found, end], Coordinates.of(claim, end, KINDS_OF_LEAVES)
    return joined(found) if found else None


def _ascended(claim, shape, coordinates, climbs, rows, rng, seed, backend) -> Leaves | None:
    return ascend(claim, shape, coordinates, climbs, rows, rng)


def _batch_size(shape: Shape, budget: Budget) -> int:
    drawn = shape.rounds * shape.participants if shape.sampling != "full" else 0
    work = prod(outcomes(shape)) * shape.clients * (shape.iterations * shape.dim + drawn)
    work = max(work, 4 * (shape.clients * shape.pieces) ** 2)  # at both knots of every piece, all pieces are asked twice
    return int(np.clip((_OF_DATA if shape.data else budget.work) // max(work, 1), 8, budget.size))
