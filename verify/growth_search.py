"""Looks for instances along which the ratio of a claim's sides grows: the same one, the worst of each size, or scales."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import prod

import numpy as np
import sympy as sp

from bounds.claim import Claim
from synthetic.arrays import Backend
from verify.environment import realise
from verify.growth_fit import OCTAVES, Fit, fit
from verify.growth_sizes import RUN_SIZES, moved, resized, scalable, scaled, tame, tame_shape
from verify.instances import Leaves, Shape, outcomes, take_rows
from verify.judge import judge
from verify.sampling import draw_leaves, draw_shape
from verify.search import offspring

__all__ = [
    "EFFORTS", "LARGE", "Effort", "Member", "Seen", "Track", "ratios_of", "same_instance", "scale_path",
    "worst_of_each_size",
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
    "quick": Effort(6, 2, 48, 2, 12, 256),
    "standard": Effort(24, 10, 96, 8, 80, 4096),
    "thorough": Effort(80, 40, 128, 24, 300, 16384),
}


LARGE = 1e3  # a ratio that hardly any constant of a proof explains
_REMEMBERED = 40
_MOST_NUMBERS = 4_000_000  # coordinates of models in one batch of runs


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
    instances (shape and leaves) on which float64 sees a larger one, which may be rounding."""

    tried: int = 0
    met: int = 0
    ratio: float = 0.0
    beyond: list[tuple[Shape, Leaves]] = field(default_factory=list)
    refused: str = ""


@dataclass(frozen=True)
class Track:
    """Members in the order of their sizes along ``limit``, with the fitted growth of their ratios.

    ``own_instances``: every member was found by itself; else they are one instance, moved along the limit, or with numbers
    multiplied by ``powers`` of a factor. ``lost``: float64 does not resolve the ratio beyond the last member.
    """

    limit: str
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


def ratios_of(claim: Claim, shape: Shape, leaves: Leaves, backend: Backend, seen: Seen) -> np.ndarray:
    """Ratio of the sides on every row; NaN where a hypothesis fails, or where no such instance exists."""
    count = len(next(iter(leaves.values())))
    if prod(outcomes(shape)) * count * shape.iterations * shape.clients * shape.dim > _MOST_NUMBERS:
        seen.refused = "too many outcomes of chance to enumerate"
        return np.full(count, np.nan)
    try:
        with np.errstate(all="ignore"):
            verdict = judge(claim, realise(claim, shape, leaves, backend))
    except ValueError as reason:
        seen.refused = str(reason)
        return np.full(count, np.nan)
    ratio = np.where(verdict.met, np.broadcast_to(verdict.ratio, (count,)), np.nan)
    seen.tried += count
    seen.met += int(np.isfinite(ratio).sum() + np.isinf(ratio).sum())
    seen.ratio = float(np.max(ratio[ratio <= LARGE], initial=seen.ratio))
    for row in np.flatnonzero((ratio > LARGE) & np.isfinite(ratio))[:1 if len(seen.beyond) < _REMEMBERED else 0]:
        seen.beyond.append((shape, take_rows(leaves, [row])))
    return ratio


# the same instance ---------------------------------------------------------------------------------------------------
def _sizes_along(name: str, towards, shape: Shape, leaves: Leaves, longest: int) -> list:
    if name in leaves:
        return [4.0 ** (i if towards == sp.oo else -i) for i in range(9)]
    unit = shape.local_steps if name == "iterations" else 1
    most = 6 if name in ("clients", "participants") else 9
    return [unit * 2**i for i in range(most) if 2 ** (i + 1) <= longest or i < OCTAVES]


def _longer_sizes(name: str, last: int, shape: Shape, longest: int) -> list:
    if name in ("clients", "participants") or name not in (*RUN_SIZES, *dict(shape.sizes)):
        return []
    per = {"rounds": shape.local_steps, "local_steps": shape.rounds}.get(name, 1)
    return [last * 2**i for i in range(1, 12) if last * 2**i * per <= longest]


def same_instance(claim: Claim, limit, effort: Effort, rng, backend: Backend, seen: Seen) -> list[Track]:
    """Tracks of one instance each on which only the limit's symbol moves: the one whose ratio grows most, one on which the
    right side vanishes, and one on which it grows faster than float64 can follow, where there are such. Raises
    NotImplementedError if nothing moves that symbol."""
    name, towards = str(limit[0]), limit[1]
    best: dict[str, Track] = {}
    batches = [_batch(claim, name, towards, effort, rng, backend, seen) for _ in range(effort.shapes)]
    order = sorted(range(len(batches)), key=lambda i: -_early_growth(batches[i][-1]))[: effort.followed // 2]
    for i in list(dict.fromkeys((*order, *range(len(batches)))))[: effort.followed]:
        for track in _tracks(claim, name, *batches[i], effort, backend, seen):
            kind = "vanishes" if track.fit.infinite else "lost" if track.lost else "followed"
            if kind not in best or _rank(track) > _rank(best[kind]):
                best[kind] = track
    return list(best.values())


def _batch(claim, name, towards, effort: Effort, rng, backend, seen) -> tuple[Shape, Leaves, list, dict]:
    """Tame instances of one shape, the sizes along a limit, and their ratios at a few of the small ones."""
    shape = _small(claim, tame_shape(claim, draw_shape(claim, rng, 64, 6)))
    shape = replace(shape, rounds=_ROUNDS) if name in ("rounds", "iterations") else shape
    leaves = tame(claim, draw_leaves(claim, shape, effort.rows, rng), rng)
    sizes = _sizes_along(name, towards, shape, leaves, effort.longest)
    return shape, leaves, sizes, _ratios_at(claim, name, shape, leaves, sizes[1:6:2], backend, seen)


def _early_growth(ratios: dict) -> float:
    """By which factor the ratio of an instance grows at most between two of the sizes; infinite where float64 loses it."""
    with np.errstate(all="ignore"):
        factors = [np.where((low > _NOISE) & (high > _NOISE), high / low, 0.0) for low, high in pairwise(ratios.values())]
    return max((float(np.nanmax(factor, initial=0.0)) for factor in factors), default=0.0)


def _tracks(claim, name, shape, leaves, sizes, ratios, effort, backend, seen) -> list[Track]:
    """The promising instances of a batch along the limit."""
    ratios = ratios | _ratios_at(claim, name, shape, leaves, dict.fromkeys(sizes[-3::2]).keys() - ratios, backend, seen)
    rows = _promising([ratios[size] for size in sizes if size in ratios])
    chosen = take_rows(leaves, rows)
    ratios = {size: array[rows] for size, array in ratios.items()}
    ratios |= _ratios_at(claim, name, shape, chosen, [s for s in sizes if s not in ratios] if rows else [], backend, seen)
    tracks = [_track(claim, name, shape, take_rows(chosen, [i]), sizes, {n: a[i] for n, a in ratios.items()})
              for i in range(len(rows))]
    slow = [i for i, track in enumerate(tracks) if track.fit.rising and not track.fit.grows and not track.lost]
    more = _longer_sizes(name, sizes[-1], shape, effort.longest) if slow else []
    further = _ratios_at(claim, name, shape, take_rows(chosen, slow), more, backend, seen)
    for place, i in enumerate(slow if more else ()):
        along = {n: a[i] for n, a in ratios.items()} | {n: a[place] for n, a in further.items()}
        tracks[i] = _track(claim, name, shape, take_rows(chosen, [i]), sizes + more, along)
    return tracks


_ROUNDS = 3  # drawn before the last one is repeated


def _ratios_at(claim, name, shape, leaves, sizes, backend, seen) -> dict:
    return {size: ratios_of(claim, *moved(claim, shape, leaves, name, size), backend, seen) for size in sizes}


def _promising(ratios) -> list[int]:
    """Rows that are worth following, of their ratios at growing sizes: where the right side vanishes in the end, where
    float64 loses a ratio between two sizes, and where the ratio grows most at small, middle and large sizes."""
    if len(ratios) < 2:
        return []
    rows = np.flatnonzero(np.isinf(ratios[-2]) & np.isinf(ratios[-1]))[:1].tolist()
    for low, high in pairwise(ratios):
        rows += _lost(low, high)[:_FOLLOWED].tolist()
    for low, high in (*pairwise(ratios[:3]), ratios[-2:]):
        rows += _most_growth(low, high)
    return list(dict.fromkeys(rows)) or np.flatnonzero(ratios[-1] == 0)[:1].tolist()


def _lost(low, high) -> np.ndarray:
    """Rows on which there is a ratio at the first size, the largest first, and only a left side at the second."""
    rows = np.flatnonzero((low > _NOISE) & np.isfinite(low) & np.isinf(high))
    return rows[np.argsort(-low[rows], kind="stable")]


_FOLLOWED = 2  # instances of each batch that are followed along the limit
_NOISE = 1e-9  # on tame instances, a ratio below it is a left side of zero


def _most_growth(low, high) -> list[int]:
    """The rows whose ratio grows most between two sizes."""
    with np.errstate(all="ignore"):
        growth = np.where((low > _NOISE) & (high > _NOISE) & np.isfinite(high), np.log(high / low), -np.inf)
    return [row for row in np.argsort(-growth, kind="stable")[:_FOLLOWED] if growth[row] > -np.inf]


def _rank(track: Track) -> tuple:
    with np.errstate(all="ignore"):
        steepest = np.log2(track.ratios[-1] / track.ratios[-2]) if track.lost and len(track.members) > 1 else 0.0
    return track.fit.grows, track.fit.slope, steepest


def _small(claim: Claim, shape: Shape) -> Shape:
    low = {v.name: v.low for v in claim.variables}
    sizes = tuple((n, min(s, low[n] + 2)) for n, s in shape.sizes)
    steps = dict(sizes).get("local_steps", min(shape.local_steps, 3))
    return replace(shape, sizes=sizes, local_steps=steps, rounds=min(shape.rounds, 3))


def _track(claim, name, shape, leaves, sizes, ratios) -> Track:
    """One instance along a limit from the first size at which it meets the hypotheses, as far as float64 resolves it."""
    members, lost = [], False
    for size in sizes:
        ratio = float(ratios[size])
        if not members and np.isnan(ratio):
            continue  # the hypotheses ask for more
        if np.isnan(ratio):
            break
        if members and 0 < members[-1].ratio < np.inf and not 0 < ratio < np.inf:
            lost = True
            break
        members.append(Member(size, ratio, *moved(claim, shape, leaves, name, size)))
    return Track(name, tuple(members), lost=lost)


# the worst of each size ----------------------------------------------------------------------------------------------
_POOL = 3
_POWERS = (-2.0, -1.0, -0.5, 0.0, 0.0, 0.0, 0.5, 1.0, 2.0)


def worst_of_each_size(claim: Claim, name: str, keep: dict, effort: Effort, rng, backend, seen: Seen) -> list[Track]:
    """The worst instance found of every size 1, 2, 4, ... called ``name``.

    Every size is searched by itself, and from the worst of its neighbours in both directions, stretched and shrunk: a
    small size that was searched less well than a large one would feign growth. ``keep`` holds numbers that all instances
    share.
    """
    sizes = [2**i for i in range(5 if name in ("clients", "participants") else 7 if claim.setting == "run" else 11)]
    pools: list[list[Member]] = [[] for _ in sizes]
    for turn in range(effort.passes):
        order = range(len(sizes)) if turn % 2 == 0 else reversed(range(len(sizes)))
        for place in order:
            for shape, leaves in _candidates(claim, name, sizes, place, pools, keep, effort, rng):
                if prod(outcomes(shape)) > effort.most_outcomes:
                    continue
                ratio = ratios_of(claim, shape, leaves, backend, seen)
                ratio = np.where(np.isinf(ratio), np.nan, ratio)  # below rounding; a right side of zero is sought elsewhere
                if np.isnan(ratio).all():
                    continue
                row = int(np.nanargmax(ratio))
                member = Member(sizes[place], float(ratio[row]), shape, take_rows(leaves, [row]))
                pools[place] = sorted([*pools[place], member], key=lambda m: -m.ratio)[:_POOL]
    return [Track(name, tuple(pool[0] for pool in pools if pool), own_instances=True)]


def _candidates(claim, name, sizes, place, pools, keep, effort, rng):
    """Batches of instances of one size: random ones, stretched neighbours, offspring of the worst."""
    size = sizes[place]
    shape = _small(claim, draw_shape(claim, rng, 16, 4))
    if name in RUN_SIZES or name in dict(shape.sizes):
        rows = _rows(effort, shape, size)
        shape, leaves = _of_size(claim, shape, name, size, rows, rng)
        if shape is not None:
            yield shape, _kept(leaves, keep)
    for near in (place - 1, place + 1):
        if 0 <= near < len(sizes) and pools[near]:
            parent = pools[near][int(rng.integers(len(pools[near])))]
            try:
                shape, leaves = resized(claim, parent.shape, parent.leaves, name, size)
            except ValueError:
                continue
            yield shape, _kept(_stretched(claim, leaves, size / sizes[near], _rows(effort, shape), rng), keep)
    for parent in pools[place][:2]:
        yield parent.shape, _kept(offspring(claim, parent.shape, parent.leaves, _rows(effort, parent.shape), rng), keep)


def _rows(effort: Effort, shape: Shape, times: int = 1) -> int:
    """As many instances of a shape as the effort allows, fewer where each has many outcomes or steps."""
    work = prod(outcomes(shape)) * shape.clients * shape.iterations * shape.dim * times
    return int(np.clip(500_000 // work, 1, effort.rows))


def _of_size(claim, shape, name, size, rows, rng):
    """Random instances of that size, drawn with few outcomes of chance first and resized then."""
    try:
        return resized(claim, shape, draw_leaves(claim, shape, rows, rng), name, size)
    except (ValueError, NotImplementedError):
        return None, None


def _kept(leaves, keep):
    return {n: np.full_like(a, keep[n]) if n in keep else a for n, a in leaves.items()}


def _stretched(claim, leaves, factor, rows, rng):
    """Copies of one instance with numbers multiplied by powers of the factor: the first as it is."""
    copies = {n: np.repeat(a, rows, axis=0) for n, a in leaves.items()}
    for name in scalable(claim, leaves):
        array = copies[name]
        wide = (rows, *(1,) * (array.ndim - 1))
        whole = rng.choice(_POWERS, wide) * (rng.random(wide) < 0.4)
        by_time = name in ("step_fraction", "epsilon")
        each = 0 if by_time else rng.choice(_POWERS, array.shape) * (rng.random(wide) < 0.25)
        powers = np.where(np.arange(rows).reshape(wide) == 0, 0.0, whole + each)
        copies[name] = array * factor**powers
        if name.startswith("slack:"):
            copies[name] = np.maximum(copies[name], 1.0)
    return copies


# scales --------------------------------------------------------------------------------------------------------------
_FACTOR = 4.0
_STAGES = (0, 2, 3, 4)
_PATHS = 8


def scale_path(claim: Claim, keep: dict, effort: Effort, rng, backend: Backend, seen: Seen) -> list[Track]:
    """Instances whose numbers move apart, each as a power of one factor, such that the ratio grows: the steepest first.
    Sizes stay small."""
    found: list[tuple[float, Shape, Leaves, Leaves]] = []
    for step in range(effort.shapes * 2 + effort.generations):
        if step < effort.shapes * 2 or not found:
            shape = _small(claim, draw_shape(claim, rng, 16, 4))
            if prod(outcomes(shape)) > 64:
                continue
            leaves = draw_leaves(claim, shape, effort.rows, rng)
            powers = _exponents(claim, leaves, None, rng)
        else:
            _, shape, parent, held = found[int(rng.integers(len(found)))]
            leaves = offspring(claim, shape, parent, effort.rows, rng)
            powers = _exponents(claim, leaves, held, rng)
        leaves, powers = _kept(leaves, keep), {n: a for n, a in powers.items() if n not in keep}
        rank = _steady_growth([ratios_of(claim, shape, scaled(leaves, powers, _FACTOR**i), backend, seen) for i in _STAGES])
        row = int(np.argmax(rank))
        if rank[row] > -np.inf:
            found = sorted([*found, (float(rank[row]), shape, take_rows(leaves, [row]), take_rows(powers, [row]))],
                           key=lambda entry: -entry[0])[:_PATHS]
    tracks = [_along(claim, shape, _round(leaves), powers, backend, seen) for _, shape, leaves, powers in found]
    return sorted((t for t in tracks if len(t.members) > OCTAVES), key=_rank, reverse=True)


def _steady_growth(ratios) -> np.ndarray:
    """By how many octaves the ratio grows with every stage, the least of all; of equal growth, the larger ratio counts."""
    with np.errstate(all="ignore"):
        logs = np.log2(np.stack(ratios))
        growth = np.diff(logs, axis=0) / np.diff(_STAGES)[:, None]
        rank = np.round(growth[1:].min(axis=0), 2) + 1e-4 * logs[-1]
    return np.where(np.isfinite(rank) & np.isfinite(logs).all(axis=0), rank, -np.inf)


def _exponents(claim, leaves, parent, rng):
    """Whole exponents of every number: those of a parent with few changed, else few that are not zero."""
    found = {}
    for name in scalable(claim, leaves):
        array = leaves[name]
        if name in ("step_fraction", "epsilon"):
            array = array[:, :1]
        start = np.zeros(array.shape) if parent is None or name not in parent else _first(parent[name], array)
        wide = (len(array), *(1,) * (array.ndim - 1))
        change = (rng.random(array.shape) < 0.5) & (rng.random(wide) < (0.4 if parent is None else 0.15))
        if parent is not None:
            change[0] = False
        powers = np.where(change, start + rng.choice([-2, -1, 1, 2], array.shape), start)
        if name.startswith("slack:"):
            powers = np.maximum(powers, 0)
        found[name] = np.broadcast_to(powers, leaves[name].shape).copy()
    return found


def _first(parent, array):
    """The exponents of one instance for every row of ``array``."""
    return np.repeat(parent[(slice(None), *map(slice, array.shape[1:]))], len(array), axis=0)


def _round(leaves):
    """The numbers with two digits, so that their multiples are exact and short."""
    def simple(array):
        with np.errstate(divide="ignore"):
            unit = np.where(array == 0, 1.0, 2.0 ** (np.floor(np.log2(np.abs(array))) - 3))
        return np.round(array / unit) * unit

    return {n: simple(a) for n, a in leaves.items()}


def _along(claim, shape, leaves, powers, backend, seen) -> Track:
    members = []
    for stage in range(9):
        here = scaled(leaves, powers, _FACTOR**stage)
        ratio = float(ratios_of(claim, shape, here, backend, seen)[0])
        if not np.isfinite(ratio) or ratio <= 0:
            break
        members.append(Member(_FACTOR**stage, ratio, shape, here))
    return Track("scale", tuple(members), powers=powers)
