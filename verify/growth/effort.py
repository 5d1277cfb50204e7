"""What searches for growing ratios share: how hard they look, what they have seen, and the ratios of instances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

import numpy as np

from bounds.language.claim import Claim
from fedtheory.traits import LENGTH
from synthetic.base.federation import Federation
from synthetic.numbers.arrays import NUMPY, Backend
from verify.evaluation.environment import TooManyTerms
from verify.evaluation.judge import judge
from verify.growth.fit import Fit, fit
from verify.instances.instance import federation_of, outcomes
from verify.instances.leaves import LEAVES, Leaves, halves, joined, number_of, take_rows
from verify.instances.shape import Shape
from verify.measure.realise import realise

__all__ = [
    "EFFORTS",
    "LARGE",
    "Effort",
    "Member",
    "Seen",
    "Track",
    "growth_rank",
    "kept",
    "ratios_of",
    "ratios_of_each",
    "small_sizes",
]


@dataclass(frozen=True)
class Effort:
    """How hard to look, in instances: ``shapes`` tried with ``rows`` each, of which so many are ``followed`` far along a
    limit; ``passes`` over all sizes, ``generations``."""

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
_REMEMBERED = 40
_MOST_NUMBERS = 1_000_000  # coordinates of models in one batch of runs
_MOST_TERMS = 10_000_000  # entries of any one array of terms
_FEDERATIONS = 8  # that are kept, as instances are judged at many times
_OF_TIMES = frozenset(name for name, leaf in LEAVES.items() if {"iterations", "rounds + 1"} & set(leaf.axes))
_LENGTHS = tuple(name for name, leaf in LEAVES.items() if leaf.unit == LENGTH)
_NOTHING = 1e-200
_FINEST = 1e-14  # differences of lengths, relative to the longest one, that float64 resolves


@dataclass(frozen=True)
class Member:
    """One instance (a row of ``leaves``) of size ``size`` along a limit, and the ratio of the sides on it."""

    size: float
    ratio: float
    shape: Shape
    leaves: Leaves


@dataclass
class Seen:
    """What was tried: instances, how many met the hypotheses, the largest ratio up to ``LARGE`` among them, and some
    instances (shape and leaves) on which float64 sees a larger one, which may be rounding; and the last federations."""

    tried: int = 0
    met: int = 0
    ratio: float = 0.0
    beyond: list[tuple[Shape, Leaves]] = field(default_factory=list)
    refused: str = ""
    federations: dict[Any, tuple[Leaves, Federation]] = field(default_factory=dict, repr=False, compare=False)


@dataclass(frozen=True)
class Track:
    """Members in the order of their sizes along ``limit``, with the fitted growth of their ratios.

    ``own_instances``: every member was found by itself; else they are one instance, moved along the limit, or with numbers
    multiplied by ``powers`` of a factor. ``lost``: float64 does not resolve the ratio beyond the last member.
    """

    limit: Any  # the name of a size or a number, or sizes that grow together
    members: tuple[Member, ...]
    own_instances: bool = False
    powers: Leaves | None = None
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

    def until(self, count: int) -> Track:
        """The first ``count`` members."""
        return replace(self, members=self.members[:count])


def _around_zero(shape: Shape, leaves: Leaves, backend: Backend, seen: Seen) -> tuple[Leaves, Federation | None]:
    """The instances moved such that their optimum is zero, near which float64 is finest, and their federation where it is
    none of samples: that of other times is known."""
    if shape.family.coupled or "center" not in leaves:
        return leaves, None
    fixed = replace(shape, local_steps=1, rounds=1, participants=1, sizes=())
    arrays = {name: array for name, array in leaves.items() if name not in _OF_TIMES}
    key = backend, fixed, tuple((name, array.shape, array.tobytes()) for name, array in arrays.items())
    if key not in seen.federations:
        while len(seen.federations) >= _FEDERATIONS:
            del seen.federations[next(iter(seen.federations))]
        moved = shape.family.translated(leaves, -np.nan_to_num(federation_of(fixed, arrays, NUMPY).x_star))
        seen.federations[key] = moved, federation_of(fixed, {**arrays, **moved}, backend)
    moved, federation = seen.federations[key]
    return {**leaves, **moved}, federation


def _least(leaves: Leaves) -> np.ndarray | float:
    """Below which numbers of an instance, (instances, 1), are rounding: squares of lengths, times curvatures."""
    if "start_offset" not in leaves:
        return _NOTHING
    rows = {name: abs(array).reshape(len(array), -1).max(axis=1, initial=0.0) for name, array in leaves.items()}
    length = np.max([rows[name] for name in _LENGTHS if name in rows], axis=0)
    return (_NOTHING + (_FINEST * length) ** 2 * np.maximum(rows.get("curvature", 1.0), 1.0))[:, None]


def ratios_of(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend, seen: Seen) -> np.ndarray:
    """Ratio of the sides on every row; NaN where a hypothesis fails, or where no such instance exists."""
    return next(ratios_of_each(claim, shape, [leaves], backend, seen))


def ratios_of_each(
    claim: Claim, shape: Shape, batches: Sequence[Leaves], backend: Backend, seen: Seen,
) -> Iterator[np.ndarray]:
    """:func:`ratios_of` of several batches of one shape, which are judged together where that is not too much at once; what
    ``seen`` counts are those that are asked for."""
    together = joined(batches)
    count = number_of(together)
    if prod(outcomes(shape)) * count * shape.iterations * shape.clients * shape.dim > _MOST_NUMBERS:
        if count > 1 and len(batches) == 1 and prod(outcomes(shape)) == 1:  # long runs, a few of which are not too much
            parts = [ratios_of(claim, shape, half, backend, seen) for half in halves(together)]
            yield np.concatenate(parts)
            return
        yield from _one_by_one(claim, shape, batches, backend, seen, "too many outcomes of chance to enumerate")
        return
    try:
        ratios = _ratios(claim, shape, together, backend, seen)
    except (ValueError, TooManyTerms) as reason:
        yield from _one_by_one(claim, shape, batches, backend, seen, str(reason))
        return
    first = 0
    for batch in batches:
        last = first + number_of(batch)
        _note(seen, shape, batch, ratios[first:last])
        yield ratios[first:last]
        first = last


def _ratios(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend, seen: Seen) -> np.ndarray:
    """The ratio on every row, NaN where a hypothesis fails; in halves where arrays would be too large, of which one instance
    alone raises TooManyTerms."""
    count = number_of(leaves)
    try:
        if count > 1 and count * _compared_with_knots(shape) > _MOST_TERMS:
            raise TooManyTerms(f"at most {_MOST_TERMS} comparisons with knots are admitted")
        with np.errstate(all="ignore"):
            near, federation = _around_zero(shape, leaves, backend, seen)
            verdict = judge(claim, realise(claim, shape, near, backend, federation, most=_MOST_TERMS), _least(leaves))
    except TooManyTerms:
        if count == 1:
            raise
        return np.concatenate([_ratios(claim, shape, half, backend, seen) for half in halves(leaves)])
    return np.where(verdict.met, np.broadcast_to(verdict.ratio, (count,)), np.nan)


def _compared_with_knots(shape: Shape) -> int:
    """Entries by which the minimum of the objective is found on an instance: every knot beside every piece."""
    pieces = shape.clients * shape.family.knots
    return shape.dim * (2 * pieces + 1) * pieces


def _one_by_one(claim, shape, batches, backend, seen: Seen, refused: str) -> Iterator[np.ndarray]:
    """What :func:`ratios_of_each` answers where not all batches are judged together; of a single one, that it is refused."""
    if len(batches) == 1:
        seen.refused = refused
        yield np.full(number_of(batches[0]), np.nan)
        return
    for batch in batches:
        yield ratios_of(claim, shape, batch, backend, seen)


def _note(seen: Seen, shape: Shape, leaves: Leaves, ratio: np.ndarray) -> None:
    seen.tried += len(ratio)
    seen.met += int(np.isfinite(ratio).sum() + np.isinf(ratio).sum())
    seen.ratio = float(np.max(ratio[ratio <= LARGE], initial=seen.ratio))
    for row in np.flatnonzero((ratio > LARGE) & np.isfinite(ratio))[:1 if len(seen.beyond) < _REMEMBERED else 0]:
        seen.beyond.append((shape, take_rows(leaves, [row])))


def small_sizes(claim: Claim, shape: Shape) -> Shape:
    """The shape with few steps, and with the claim's own integers near their least values."""
    low = {v.name: v.low for v in claim.variables}
    sizes = tuple((n, min(s, low.get(n, 1) + 2)) for n, s in shape.sizes)
    steps = dict(sizes).get("local_steps", min(shape.local_steps, 3))
    return replace(shape, sizes=sizes, local_steps=steps, rounds=min(shape.rounds, 3))


def growth_rank(track: Track) -> tuple:
    """How promising a track is: whether it grows, how fast, and how fast where float64 loses it."""
    with np.errstate(all="ignore"):
        steepest = np.log2(track.ratios[-1] / track.ratios[-2]) if track.lost and len(track.members) > 1 else 0.0
    return track.fit.grows, track.fit.slope, steepest


def kept(leaves: Leaves, keep: dict[str, float]) -> Leaves:
    """The leaves with the numbers that all instances share."""
    return {n: np.full_like(a, keep[n]) if n in keep else a for n, a in leaves.items()}
