"""Follows single instances with chance along a size: with noise of which the checker knows the means, and with any chance
for as long as all outcomes can be enumerated."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import prod

import numpy as np

from bounds.language.claim import DISTINCT, Claim
from verify.claims.needs import speaks_of_samples
from verify.growth.fit import fit
from verify.growth.growth_search import GrowthCurve, GrowthSearch, Member, growth_rank
from verify.growth.limits import at_size, small_sizes
from verify.growth.same_instance import NOISE, tame
from verify.growth.transients import numbers_of_steps
from verify.instances.draw import draw_params, draw_shape
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters, take_rows
from verify.instances.piecewise import flattened
from verify.instances.resize import RUN_SIZES
from verify.instances.shape import Shape, with_participants
from verify.instances.shapes import shapes_of_many_draws
from verify.search.many_draws import rows_suffice, speaks_of_means_alone

__all__ = ["along_chance", "along_many_draws"]

_SIZES = (1, 2, 4, 8, 16)
_LEAST = 4  # sizes
_MANY, _COMPARED = (2, 4, 8, 16, 32, 64), 4  # sizes with many draws; one at which all outcomes can be listed, too
_MORE_STILL = (128, 256, 512, 1024)  # for one instance on which the ratio rises
_ROWS = 16
_SHORT = 2.0**-12  # of a step
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
            return reached, _curve(trials, name, shape, params, sizes, ratios, row)
    return reached, None


def _curve(trials: GrowthSearch, name: str, shape: Shape, params: Parameters, sizes: Sequence[int], ratios: np.ndarray,
           row: int) -> GrowthCurve:
    alone = take_rows(params, [row])
    members = (Member(size, float(ratio), *at_size(trials.claim, shape, alone, name, size))
               for size, ratio in zip(sizes, ratios[:, row], strict=True))
    return GrowthCurve(name, tuple(members))


def along_many_draws(trials: GrowthSearch, name: str) -> tuple[int, list[GrowthCurve]]:
    """Up to which size instances with noise in all clients met the hypotheses, 0 if none did; and, of each of some shapes,
    the instance whose ratio grows most along a size, if any grows, or one on which it rises too unsteadily to tell. Of
    claims about means that are polynomials of degree three in the noise, which the checker computes exactly."""
    claim, reached, found = trials.claim, 0, []
    if claim.setting != "run" or claim.exists is not None or speaks_of_samples(claim) or (
            name not in RUN_SIZES or not speaks_of_means_alone(claim)):
        return 0, []
    for shape, params in _noisy(trials):
        try:
            ratios = np.array([*_ratios_while_some_count(trials, name, shape, params)])
            trials.note_level(name, ratios[0])
            reached = max([reached, *(size for size, row in zip(_MANY, ratios, strict=False) if np.isfinite(row).any())])
            if len(ratios) < len(_MANY):
                continue
            if not rows_suffice(claim, *at_size(claim, shape, params, name, _COMPARED), trials.backend):
                break
        except (ValueError, NotImplementedError):
            continue
        rows = np.flatnonzero(((ratios > NOISE) & np.isfinite(ratios)).all(axis=0)).tolist()
        curves = [_curve(trials, name, shape, params, _MANY, ratios, row) for row in rows]
        open_still = sorted((curve for curve in curves if curve.fit.grows or curve.fit.rising), key=growth_rank)[-1:]
        found += [curve for curve in open_still if curve.fit.grows or _rises_on(trials, name, curve)]
    growing = [curve for curve in found if curve.fit.grows]
    return reached, growing or found[:1]


def _ratios_while_some_count(trials: GrowthSearch, name: str, shape: Shape, params: Parameters) -> Iterator[np.ndarray]:
    """The ratios at the sizes with many draws, as long as those of some instance are numbers above rounding."""
    counts = np.ones(_ROWS, dtype=bool)
    for ratio in trials.along(name, shape, params, _MANY):
        yield ratio
        counts &= (ratio > NOISE) & np.isfinite(ratio)
        if not counts.any():
            return


def _rises_on(trials: GrowthSearch, name: str, curve: GrowthCurve) -> bool:
    """Whether the ratio of one instance rises at larger sizes still, as far as these can be looked at."""
    last = curve.members[-1]
    further, _ = trials.follow(name, last.shape, last.params, _MORE_STILL)
    members = (*curve.members, *further)
    return not further or fit([m.size for m in members], [m.ratio for m in members]).rising


def _noisy(trials: GrowthSearch) -> Iterator[tuple[Shape, Parameters]]:
    """Tame instances of a few shapes with noise in all clients, quadratic ones and then constant ones."""
    claim, effort, rng = trials.claim, trials.effort, trials.rng
    for shape in shapes_of_many_draws(claim, rng, effort.most_outcomes, (_MANY[0],) * effort.shapes):
        if shape.sampling in DISTINCT:
            shape = with_participants(shape, shape.priority_clients)
        elif shape.sampling != "full":
            break
        params = tame(claim, draw_params(claim, shape, _ROWS, rng), rng)
        if claim.constants_may_use is not None:  # some of any instances hardly contract
            params |= _with_short_steps(claim, params, rng)
        yield from ((shape, params), flattened(shape, params))


def _with_short_steps(claim: Claim, params: Parameters, rng: np.random.Generator) -> Parameters:
    """The numbers that may make steps shorter, which are small in some instances."""
    return {name: params[name] * np.where(rng.random((_ROWS, *(1,) * (params[name].ndim - 1))) < 0.5, _SHORT, 1.0)
            for name in numbers_of_steps(claim, params)}


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
