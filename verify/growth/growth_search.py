"""Shared parts of the searches for growing ratios: their effort, their record, and the ratios of instances."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import Self

import numpy as np

from bounds.language.claim import Claim
from fedtheory.traits import LENGTH
from synthetic.numbers.arrays import NUMPY, Backend, to_numpy
from synthetic.quadratic.turned import Turned
from verify.claims.existential import position_of
from verify.evaluation.environment import Environment, TooManyTerms
from verify.evaluation.judge import Judgement, holds, judge
from verify.exact.existential_conditions import existential_conditions
from verify.growth.best_value import least_ratio
from verify.growth.fit import Fit, fit
from verify.growth.limits import Motion, Powers, at_size, keeps_the_shape
from verify.instances.instance import federation_of, outcomes
from verify.instances.parameters import PARAMETERS, Parameters, halves, joined, number_of, take_rows
from verify.instances.shape import Shape
from verify.measure.simulate import simulate

__all__ = ["EFFORTS", "LARGE", "Effort", "GrowthCurve", "GrowthSearch", "Member", "growth_rank", "too_many_at_once"]


@dataclass(frozen=True)
class Effort:
    """The effort of a growth search, in instances: ``shapes`` tried with ``rows`` each, of which so many are ``followed``
    far along a limit; ``passes`` over all sizes, ``generations``."""

    shapes: int
    followed: int
    rows: int
    passes: int
    generations: int
    longest: int  # iterations of the longest run
    most_outcomes: int = 4096


EFFORTS = {
    "quick": Effort(6, 2, 48, 2, 12, 512),
    "standard": Effort(16, 6, 96, 5, 60, 1024),
    "thorough": Effort(80, 40, 128, 24, 300, 16384),
}

LARGE = 1e3  # a ratio that hardly any constant of a proof explains
_ABOVE = 4.0  # times the largest ratio at the first sizes
_REMEMBERED = 40
_MOST_NUMBERS = 1_000_000  # coordinates of models in one batch of runs
_UNTOLD = 2.0  # error of an exponent that says nothing
_MOST_TERMS = 10_000_000  # entries of any one array of terms
_LENGTHS = tuple(name for name, leaf in PARAMETERS.items() if leaf.unit == LENGTH)
_NOTHING = 1e-200
_FINEST = 1e-14  # differences of lengths, relative to the longest one, that float64 resolves


@dataclass(frozen=True)
class Member:
    """One instance (a row of ``params``) of size ``size`` along a limit, and the ratio of the sides on it."""

    size: float
    ratio: float
    shape: Shape
    params: Parameters


@dataclass(frozen=True)
class GrowthCurve:
    """Members in the order of their sizes along ``limit``, with the fitted growth of their ratios.

    ``own_instances``: every member was found by itself; else they are one instance that moves. ``lost``: float64 does not
    resolve the ratio beyond the last member.
    """

    limit: Motion
    members: tuple[Member, ...]
    own_instances: bool = False
    lost: bool = False

    @property
    def sizes(self) -> list[float]:
        return [m.size for m in self.members]

    @property
    def ratios(self) -> list[float]:
        return [m.ratio for m in self.members]

    @property
    def fit(self) -> Fit:
        return fit(self.sizes, self.ratios)

    @property
    def along_scales(self) -> bool:
        return isinstance(self.limit, Powers)

    def until(self, count: int) -> Self:
        """The first ``count`` members."""
        return replace(self, members=self.members[:count])

    def __str__(self):
        """The growth in words."""
        sizes, ratios, grown = self.sizes, self.ratios, self.fit
        if grown.infinite:
            return f"{self.limit}: the right side is zero"
        place = int(np.argmax(ratios))
        peak = f", up to {ratios[place]:.3g} at {sizes[place]:g}" if ratios[place] > 2 * max(ratios[0], ratios[-1]) else ""
        exponent = f", exponent {grown.slope:.2f} +- {grown.error:.2f}" if grown.error <= _UNTOLD else ""
        return f"{self.limit} {sizes[0]:g} to {sizes[-1]:g}: ratio {ratios[0]:.3g} to {ratios[-1]:.3g}{peak}{exponent}"


def growth_rank(curve: GrowthCurve) -> tuple:
    """The sort key of a growth curve: whether it grows, how fast, and how fast where float64 loses it."""
    with np.errstate(all="ignore"):
        steepest = np.log2(np.divide(*curve.ratios[:-3:-1])) if curve.lost and len(curve.members) > 1 else 0.0
    return curve.fit.grows, curve.fit.slope, steepest


@dataclass
class GrowthSearch:
    """The instances of a claim that are judged, and what was seen.

    Attributes:
        claim: with 1 for its hidden constant. If a number is said to exist, by its place in its interval; ratios are then
            those at the best value.
        original: the claim with its hidden constant; None where nothing is looked at in exact arithmetic.
        keep: numbers that all instances share.
        tried, met, ratio: how many instances, how many of them met the hypotheses, the largest ratio up to ``LARGE``.
        beyond: some instances (shape and leaves) on which float64 sees a larger one, which may be rounding.
        level: along each limit, the largest ratio of any tame instance at its first sizes.
        refused: why instances were not judged.
    """

    claim: Claim
    effort: Effort = EFFORTS["quick"]
    rng: np.random.Generator | None = None
    backend: Backend = NUMPY
    original: Claim | None = None
    keep: dict[str, float] = field(default_factory=dict)
    tried: int = 0
    met: int = 0
    ratio: float = 0.0
    beyond: list[tuple[Shape, Parameters]] = field(default_factory=list)
    level: dict[Motion, float] = field(default_factory=dict)
    refused: str = ""

    def note_level(self, limit: Motion, ratios: np.ndarray) -> None:
        """Take in the ratios of tame instances at a first size along a limit."""
        self.level[limit] = max(self.level.get(limit, 0.0), float(np.max(ratios, initial=0.0, where=np.isfinite(ratios))))

    def is_above_the_level(self, curve: GrowthCurve, members: Sequence) -> bool:
        """Whether growth of a single instance, or of its exact ``members``, says something about a constant that all
        instances share: this must be large at the first sizes already, and an instance that begins far below, as its run
        has hardly begun, may end below."""
        if self.claim.constants_may_use is None or curve.own_instances or curve.lost or curve.fit.infinite:
            return True
        last = curve.ratios[-1] if not members or members[-1].constant is None else float(members[-1].constant)
        return last >= _ABOVE * self.level.get(curve.limit, 0.0)

    def with_shared_numbers(self, params: Parameters) -> Parameters:
        """The leaves with the numbers that all instances share."""
        return {n: np.full_like(a, self.keep[n]) if n in self.keep else a for n, a in params.items()}

    def ratios(self, shape: Shape, params: Parameters) -> np.ndarray:
        """Ratio of the sides on every row; NaN where a hypothesis fails, or where no such instance exists."""
        return next(self.ratios_of_each(shape, [params]))

    def along(self, motion: Motion, shape: Shape, params: Parameters, sizes: Collection) -> Iterator[np.ndarray]:
        """:meth:`ratios` of instances that move, at each of the sizes."""
        if sizes and keeps_the_shape(motion, params):
            yield from self.ratios_of_each(shape, [at_size(self.claim, shape, params, motion, size)[1] for size in sizes])
        else:
            yield from (self.ratios(*at_size(self.claim, shape, params, motion, size)) for size in sizes)

    def follow(self, motion: Motion, shape: Shape, params: Parameters, sizes: Collection,
               ) -> tuple[tuple[Member, ...], float]:
        """One instance along a limit while float64 resolves its ratio, and the last ratio that was seen."""
        members, ratio = [], np.nan
        try:
            for size, (ratio,) in zip(sizes, self.along(motion, shape, params, sizes), strict=True):
                if not 0 < ratio < np.inf:
                    break
                members.append(Member(size, float(ratio), *at_size(self.claim, shape, params, motion, size)))
        except (ValueError, NotImplementedError):  # it cannot have that size
            pass
        return tuple(members), float(ratio)

    def ratios_of_each(self, shape: Shape, batches: Sequence[Parameters]) -> Iterator[np.ndarray]:
        """:meth:`ratios` of several batches of one shape, which are judged together where that is not too much at once;
        what is counted are those that are asked for."""
        together = joined(batches)
        count = number_of(together)
        try:
            if too_many_at_once(shape, count):
                without_chance = prod(outcomes(shape)) == 1
                if count > 1 and len(batches) == 1 and without_chance:  # long runs, a few of which are not too much
                    yield np.concatenate([self.ratios(shape, half) for half in halves(together)])
                    return
                raise TooManyTerms("too many outcomes of chance to enumerate")
            ratios = self._ratios_of(shape, together)
        except (ValueError, TooManyTerms) as reason:
            if len(batches) > 1:
                yield from (self.ratios(shape, batch) for batch in batches)
            else:
                self.refused = str(reason)
                yield np.full(count, np.nan)
            return
        for batch, ratio in zip(batches, np.split(ratios, np.cumsum([number_of(b) for b in batches])[:-1]), strict=True):
            self._note(shape, batch, ratio)
            yield ratio

    def _ratios_of(self, shape: Shape, params: Parameters) -> np.ndarray:
        """The ratio on every row, NaN where a hypothesis fails; in halves where arrays would be too large, of which one
        instance alone raises TooManyTerms."""
        count, pieces = number_of(params), shape.clients * shape.family.knots
        try:
            if count > 1 and count * shape.dim * (2 * pieces + 1) * pieces > _MOST_TERMS:  # every knot beside every piece
                raise TooManyTerms(f"at most {_MOST_TERMS} comparisons with knots are admitted")
            if self.claim.exists is not None:
                return least_ratio(self.claim, partial(self._at_places, shape, params), count)
            verdict, _ = self._judgement(shape, params)
        except TooManyTerms:
            if count == 1:
                raise
            return np.concatenate([self._ratios_of(shape, half) for half in halves(params)])
        return np.where(verdict.met, np.broadcast_to(verdict.ratio, (count,)), np.nan)

    def _judgement(self, shape: Shape, params: Parameters) -> tuple[Judgement, Environment]:
        with np.errstate(all="ignore"):
            environment = simulate(self.claim, shape, _around_zero(shape, params), self.backend, most=_MOST_TERMS)
            judgement = judge(self.claim, environment, _least(params))
        return judgement._replace(met=judgement.met & self._kept_in(environment)), environment

    def _kept_in(self, environment: Environment) -> np.ndarray | bool:
        """Select the instances whose shared numbers have their values, and are not moved into the bounds of hypotheses."""
        kept = True
        for name in self.keep.keys() & environment.bound.keys():
            values = to_numpy(environment.bound[name].data)
            kept = kept & (values.reshape(len(values), -1) == self.keep[name]).all(axis=1)
        return kept

    def _at_places(self, shape: Shape, params: Parameters, places: np.ndarray) -> Iterator[tuple]:
        """Yield for each of several ``places`` (looks, instances) of the number that is said to exist: which instances meet
        the hypotheses, their ratios, and which meet every hypothesis that is no condition on the number. Looks are judged
        together where that is not too much at once."""
        looks, count = places.shape
        pieces = shape.clients * shape.family.knots
        models, knots = prod(outcomes(shape)) * shape.iterations * shape.clients, (2 * pieces + 1) * pieces // 8
        if looks > 1 and looks * count * shape.dim * max(models, knots) > _MOST_NUMBERS:
            for half in np.array_split(places, 2):
                yield from self._at_places(shape, params, half)
            return
        try:
            here, environment = self._judgement(shape, joined([params] * looks) | {position_of(self.claim): places.ravel()})
        except TooManyTerms:
            if looks == 1:
                raise
            for half in np.array_split(places, 2):
                yield from self._at_places(shape, params, half)
            return
        on, admitted = existential_conditions(self.claim), np.ones(places.size, dtype=bool)
        with np.errstate(all="ignore"):
            for condition in (*on.others, *on.every) if not here.met.all() else ():
                admitted &= holds(condition, environment, places.size)
        found = (np.broadcast_to(of, (places.size,)).reshape(places.shape) for of in (here.met, here.ratio, admitted))
        yield from zip(*found, strict=True)

    def _note(self, shape: Shape, params: Parameters, ratio: np.ndarray) -> None:
        self.tried += len(ratio)
        self.met += int((~np.isnan(ratio)).sum())
        self.ratio = float(np.max(ratio[ratio <= LARGE], initial=self.ratio))
        for row in np.flatnonzero((ratio > LARGE) & np.isfinite(ratio))[:1 if len(self.beyond) < _REMEMBERED else 0]:
            self.beyond.append((shape, take_rows(params, [row])))


def too_many_at_once(shape: Shape, count: int) -> bool:
    """Whether runs of so many instances have more models than are computed together."""
    return prod(outcomes(shape)) * count * shape.iterations * shape.clients * shape.dim > _MOST_NUMBERS


def _around_zero(shape: Shape, params: Parameters) -> Parameters:
    """The instances moved such that their optimum is zero, near which float64 is finest."""
    if shape.family.coupled or not shape.family.any_coordinates or "center" not in params:
        return params
    federation = federation_of(shape, params, NUMPY)
    by = -np.nan_to_num(federation.all_clients(federation.x_star))
    by = federation.turn(by, back=True) if isinstance(federation, Turned) else by
    return {**params, **shape.family.translated(params, by)}


def _least(params: Parameters) -> np.ndarray | float:
    """Below which numbers of an instance, (instances, 1), are rounding: squares of lengths, times curvatures."""
    if "start_offset" not in params:
        return _NOTHING
    rows = {name: abs(array).reshape(len(array), -1).max(axis=1, initial=0.0) for name, array in params.items()}
    length = np.max([rows[name] for name in _LENGTHS if name in rows], axis=0)
    return (_NOTHING + (_FINEST * length) ** 2 * np.maximum(rows.get("curvature", 1.0), 1.0))[:, None]
