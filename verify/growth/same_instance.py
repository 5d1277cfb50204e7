"""Follows single instances along a limit: only its symbol moves."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import sympy as sp

from bounds.language.claim import Claim
from synthetic.numbers.arrays import Backend
from verify.growth.effort import Effort, Member, Seen, Track, growth_rank, ratios_of, ratios_of_each, small_sizes
from verify.growth.fit import OCTAVES
from verify.growth.sizes import FREE_WEIGHT, moved, tame, tame_shape
from verify.instances.draw import draw_leaves, draw_shape
from verify.instances.leaves import Leaves, take_rows
from verify.instances.resize import RUN_SIZES
from verify.instances.shape import Shape

__all__ = ["same_instance"]


def _sizes_along(name: str, towards, shape: Shape, leaves: Leaves, longest: int) -> list:
    if name in leaves or name == FREE_WEIGHT:
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
            if kind not in best or growth_rank(track) > growth_rank(best[kind]):
                best[kind] = track
    return list(best.values())


def _batch(claim, name, towards, effort: Effort, rng, backend, seen) -> tuple[Shape, Leaves, list, dict]:
    """Tame instances of one shape, the sizes along a limit, and their ratios at a few of the small ones."""
    shape = next((shape for shape in (draw_shape(claim, rng, 64, 6) for _ in range(_TRIALS))
                  if shape.free or name != FREE_WEIGHT), Shape())
    shape = small_sizes(claim, tame_shape(claim, shape))
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
    more = _longer_sizes(name, sizes[-1], shape, _FURTHER * effort.longest) if slow else []
    further = _ratios_at(claim, name, shape, take_rows(chosen, slow), more, backend, seen)
    for place, i in enumerate(slow if more else ()):
        along = {n: a[i] for n, a in ratios.items()} | {n: a[place] for n, a in further.items()}
        tracks[i] = _track(claim, name, shape, take_rows(chosen, [i]), sizes + more, along)
    return tracks


_TRIALS = 60  # shapes that are drawn until one has free clients
_FURTHER = 4  # times as long as others may runs be of which one does not know yet where they go
_ROUNDS = 3  # drawn before the last one is repeated


def _ratios_at(claim, name, shape, leaves, sizes, backend, seen) -> dict:
    if (name in leaves or name == FREE_WEIGHT) and sizes:  # the shape stays
        batches = [moved(claim, shape, leaves, name, size)[1] for size in sizes]
        return dict(zip(sizes, ratios_of_each(claim, shape, batches, backend, seen), strict=True))
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
