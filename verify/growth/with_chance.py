"""Follows single instances with chance along a size, for as long as all outcomes can be enumerated."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from math import prod

import numpy as np

from bounds.language.claim import DISTINCT, Claim
from verify.growth.growth_search import GrowthCurve, GrowthSearch, Member
from verify.growth.limits import at_size, small_sizes
from verify.growth.same_instance import NOISE, tame
from verify.instances.draw import draw_params, draw_shape
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters, take_rows
from verify.instances.resize import RUN_SIZES
from verify.instances.shape import Shape, with_participants

__all__ = ["along_chance"]

_SIZES = (1, 2, 4, 8, 16)
_LEAST = 4  # sizes
_DRAWS = 8  # shapes with chance that are drawn, times the effort's
_MORE = 2.0  # times as large as without chance is a ratio that grows by chance
_STEADY = 0.95  # share of the largest exponent that every other one has at least: those of a sum that fills up fall faster


def along_chance(trials: GrowthSearch, name: str) -> tuple[int, GrowthCurve | None]:
    """Up to which size tame instances with chance met the hypotheses, 0 if none did; and the track of one of them on which
    the ratio grows like a power of the size by chance, as far as its outcomes can be enumerated. It refutes nothing."""
    claim, reached = trials.claim, 0
    for shape, params, sizes in islice(_with_chance(trials, name), trials.effort.shapes):
        ratios = np.array([*trials.along(name, shape, params, sizes)])
        reached = max(reached, sizes[-1] if np.isfinite(ratios[-1]).any() else 0)
        quiet = trials.ratios(*at_size(claim, *_without(shape, params), name, sizes[-1]))
        for row in _steady(sizes, np.where(quiet > ratios[-1] / _MORE, np.nan, ratios))[:1]:
            alone = take_rows(params, [row])
            members = (Member(size, float(ratio), *at_size(claim, shape, alone, name, size))
                       for size, ratio in zip(sizes, ratios[:, row], strict=True))
            return reached, GrowthCurve(name, tuple(members))
    return reached, None


def _with_chance(trials: GrowthSearch, name: str) -> Iterator[tuple[Shape, Parameters, list[int]]]:
    """Tame instances of one shape with chance, and the sizes at which its outcomes can be enumerated, if these are many."""
    claim, effort, rng = trials.claim, trials.effort, trials.rng
    for _ in range(_DRAWS * effort.shapes if name in RUN_SIZES else 0):
        shape = small_sizes(claim, draw_shape(claim, rng, 64, 6))
        shape = replace(shape, rounds=1) if name != "rounds" else shape
        shape = shape if name == "local_steps" or "local_steps" in dict(shape.sizes) else replace(shape, local_steps=1)
        params = tame(claim, draw_params(claim, shape, effort.rows, rng), rng)
        counts = [_outcomes(claim, shape, params, name, size) for size in _SIZES]
        sizes = [size for size, count in zip(_SIZES, counts, strict=True) if 0 < count <= effort.most_outcomes]
        if len(sizes) < _LEAST or counts[_SIZES.index(sizes[-1])] == 1:
            continue
        if _outcomes(claim, *_without(shape, params), name, sizes[-1]) == 1:
            yield shape, params, sizes


def _without(shape: Shape, params: Parameters) -> tuple[Shape, Parameters]:
    """The instances without noise, and with as many participants as clients."""
    participants = shape.priority_clients if shape.sampling in DISTINCT else shape.participants
    return with_participants(replace(shape, noisy=()), participants), {n: a for n, a in params.items() if n != "noise"}


def _outcomes(claim: Claim, shape: Shape, params: Parameters, name: str, size: int) -> int:
    """The number of outcomes of instances of another size; 0 where there are no such instances."""
    try:
        return prod(outcomes(at_size(claim, shape, params, name, size)[0]))
    except (ValueError, NotImplementedError):
        return 0


def _steady(sizes: list[int], ratios: np.ndarray) -> list[int]:
    """Rows of ratios (sizes, rows) whose exponents are all nearly the same, and not near 0: the steepest first."""
    with np.errstate(all="ignore"):
        exponents = np.diff(np.log2(ratios), axis=0) / np.diff(np.log2(sizes))[:, None]
    least, largest = exponents.min(axis=0), exponents.max(axis=0)
    rows = np.flatnonzero((ratios[0] > NOISE) & (least > 0.1) & (least >= _STEADY * largest))
    return sorted(rows.tolist(), key=lambda row: -least[row])
