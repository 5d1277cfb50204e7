"""The worst instances of every size, each searched by itself and from its neighbours."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import prod

import numpy as np

from bounds.language.claim import Claim
from verify.growth.effort import Effort, Member, Seen, Track, growth_rank, kept, ratios_of, small_sizes
from verify.growth.sizes import moved, scalable, simple_shape
from verify.instances.draw import draw_leaves, draw_shape
from verify.instances.instance import outcomes
from verify.instances.leaves import SLACK, take_rows
from verify.instances.offspring import offspring
from verify.instances.resize import RUN_SIZES, Together, resized
from verify.instances.shape import Shape

__all__ = ["worst_of_each_size"]

_POOL = 3
_SMALL = slice(1, 4)  # places of the sizes from which single instances are followed
_STEEP = 4.0  # growth over two doublings that float64 may not follow for long
_SOON = 3  # sizes within which it is seen
_EXACT = 2  # such instances that are taken to exact arithmetic
_POWERS = (-2.0, -1.0, -0.5, 0.0, 0.0, 0.0, 0.5, 1.0, 2.0)


def worst_of_each_size(
    claim: Claim, name: str | Together, keep: dict, effort: Effort, rng, backend, seen: Seen,
) -> list[Track]:
    """The worst instance found of every size 1, 2, 4, ... called ``name``, or of sizes that grow together.

    Every size is searched by itself, and from the worst of its neighbours in both directions, stretched and shrunk: a
    small size that was searched less well than a large one would feign growth. ``keep`` holds numbers that all instances
    share.
    """
    sizes = [2**i for i in range(_doublings(claim, name))]
    pools: list[list[Member]] = [[] for _ in sizes]
    for turn in range(effort.passes):
        _turn(claim, name, sizes, range(len(sizes)) if turn % 2 == 0 else reversed(range(len(sizes))), pools, keep, effort,
              rng, backend, seen)
    track = _track(name, pools)
    while name in ("rounds", "local_steps") and sizes[-1] < effort.longest and _grows_late(track):
        sizes, pools = [*sizes, 2 * sizes[-1]], [*pools, []]
        for _ in range(-(-effort.passes // 2)):
            _turn(claim, name, sizes, (len(sizes) - 1, len(sizes) - 2), pools, keep, effort, rng, backend, seen)
        track = _track(name, pools)
    return [track, *_moved_on(claim, name, sizes, pools, backend, seen)]


def _doublings(claim: Claim, name: str | Together) -> int:
    if name in ("clients", "participants"):
        return 5
    return 6 if isinstance(name, Together) else 7 if claim.setting == "run" else 11


def _moved_on(claim, name, sizes, pools, backend, seen) -> list[Track]:
    """The worst instances of small sizes, without noise, each moved on along the limit, and that of the largest size, along
    all of it: where its own ratio grows, which the worst of each size shows less smoothly, or so fast that float64 may lose
    it. The steepest of each kind."""
    found: dict[bool, list[Track]] = {False: [], True: []}
    starts = [(pool[0], pool[0].size) for pool in pools[_SMALL] if pool]
    starts += [(pool[0], sizes[0]) for pool in pools[-1:] if pool]
    for start, first in starts:
        shape = replace(start.shape, noisy=())
        leaves = {n: a for n, a in start.leaves.items() if n != "noise"}
        if prod(outcomes(shape)) > 1:
            continue
        members, ratio = [], np.nan
        for size in [s for s in sizes if s >= first]:
            try:
                there = moved(claim, shape, leaves, name, size)
            except (ValueError, NotImplementedError):
                break
            ratio = float(ratios_of(claim, *there, backend, seen)[0])
            if not np.isfinite(ratio) or ratio <= 0:
                break
            members.append(Member(size, ratio, *there))
        if not members:
            continue
        track, soon = Track(name, tuple(members)), members[min(2, len(members) - 1)]
        if track.fit.grows:
            found[False].append(track)
        elif (len(members) < _SOON and ratio == np.inf) or soon.ratio > _STEEP * members[0].ratio:
            found[True].append(replace(track.until(_SOON), lost=True))
    return [track for tracks in found.values() for track in sorted(tracks, key=growth_rank, reverse=True)[:_EXACT]]


def _track(name, pools) -> Track:
    return Track(name, tuple(pool[0] for pool in pools if pool), own_instances=True)


def _grows_late(track: Track) -> bool:
    """Whether the ratio has begun to grow at the last sizes, so that larger ones tell more."""
    grows = len(track.members) > 2 and all(low > 0 and high > 1.2 * low for low, high in pairwise(track.ratios[-3:]))
    return grows and not track.fit.grows


def _turn(claim, name, sizes, places, pools, keep, effort: Effort, rng, backend, seen) -> None:
    """Look once more at the sizes at these places; what is worst of a size stays in its pool."""
    for place in places:
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


def _candidates(claim, name, sizes, place, pools, keep, effort, rng):
    """Batches of instances of one size: random ones, stretched neighbours, offspring of the worst."""
    size = sizes[place]
    shape = small_sizes(claim, draw_shape(claim, rng, 16, 4))
    if isinstance(name, Together):
        shape = simple_shape(claim, shape)
    if isinstance(name, Together) or name in RUN_SIZES or name in dict(shape.sizes):
        rows = _rows(effort, shape, size)
        shape, leaves = _of_size(claim, shape, name, size, rows, rng)
        if shape is not None:
            yield shape, kept(leaves, keep)
    for near in (place - 1, place + 1):
        if 0 <= near < len(sizes) and pools[near]:
            parent = pools[near][int(rng.integers(len(pools[near])))]
            try:
                shape, leaves = resized(claim, parent.shape, parent.leaves, name, size)
            except ValueError:
                continue
            yield shape, kept(_stretched(claim, leaves, size / sizes[near], _rows(effort, shape), rng), keep)
    for parent in pools[place][:2]:
        yield parent.shape, kept(offspring(claim, parent.shape, parent.leaves, _rows(effort, parent.shape), rng), keep)


def _rows(effort: Effort, shape: Shape, times: int = 1) -> int:
    """As many instances of a shape as the effort allows, fewer where each has many outcomes or steps."""
    work = prod(outcomes(shape)) * shape.clients * shape.iterations * shape.dim * times
    return int(np.clip(250_000 // work, 1, effort.rows))


def _of_size(claim, shape, name, size, rows, rng):
    """Random instances of that size, drawn with few outcomes of chance first and resized then."""
    try:
        return resized(claim, shape, draw_leaves(claim, shape, rows, rng), name, size)
    except (ValueError, NotImplementedError):
        return None, None


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
        if name.startswith(SLACK):
            copies[name] = np.maximum(copies[name], 1.0)
    return copies
