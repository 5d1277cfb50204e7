"""Paths along scales: instances whose numbers move apart as powers of one factor."""

from math import prod

import numpy as np

from bounds.language.claim import Claim
from verify.growth.fit import OCTAVES
from verify.growth.growth_search import GrowthCurve, GrowthSearch, growth_rank
from verify.growth.limits import Powers, scalable, small_sizes, unit_exponents
from verify.instances.draw import draw_params, draw_shape
from verify.instances.instance import outcomes
from verify.instances.offspring import offspring
from verify.instances.parameters import SLACK, Parameters, map_params, number_of, take_rows
from verify.instances.shape import Shape

__all__ = ["scale_path"]

_FACTOR = 4.0
_STAGES, _FAR = (0, 2, 3, 4), 10
_PATHS = 8
_STEEPEST = 4.0  # octaves with every stage
_LARGEST = 20.0  # octaves of the ratio after the stages that are looked at
_WHOLE = (-3, -2, -1, 1, 2, 3)  # exponents that are tried, and changes of them
_FINEST = 2.0**-10  # step of factors that begin at 1
_ALONG_UNITS = 0.5  # share of instances that begin with a change of units
_NUMBERS = 16  # times as many instances of plain numbers, which cost little


def scale_path(trials: GrowthSearch) -> list[GrowthCurve]:
    """Instances whose numbers move apart, each as a power of one factor, such that the ratio grows: the steepest first.
    Sizes stay small."""
    claim, effort, rng = trials.claim, trials.effort, trials.rng
    found: list[tuple[float, Shape, Parameters, Parameters]] = []
    rows = effort.rows * _NUMBERS if claim.setting == "algebra" else effort.rows
    for step in range(effort.shapes * 2 + effort.generations):
        if step < effort.shapes * 2 or not found:
            shape = small_sizes(claim, draw_shape(claim, rng, 16, 4))
            if prod(outcomes(shape)) > 64:
                continue
            params = _with_slack(draw_params(claim, shape, rows, rng), rng)
            powers = _exponents(claim, params, None, rng)
        else:
            _, shape, parent, held = found[int(rng.integers(len(found)))]
            params = offspring(claim, shape, parent, rows, rng)
            powers = _exponents(claim, params, held, rng)
        params, powers = trials.with_shared_numbers(params), {n: a for n, a in powers.items() if n not in trials.keep}
        if not powers:  # a claim about whole numbers alone
            return []
        rank = _rank(*trials.along(Powers(powers), shape, params, [_FACTOR**i for i in (*_STAGES, _FAR)]))
        row = int(np.argmax(rank))
        if rank[row] > -np.inf:
            found = sorted([*found, (float(rank[row]), shape, take_rows(params, [row]), take_rows(powers, [row]))],
                           key=lambda entry: -entry[0])[:_PATHS]
    curves = []
    for _, shape, params, powers in found:
        motion = Powers(powers)
        members, _ = trials.follow(motion, shape, _round(params), [_FACTOR**stage for stage in range(9)])
        curves += [GrowthCurve(motion, members)] if len(members) > OCTAVES else []
    return sorted(curves, key=growth_rank, reverse=True)


def _rank(*ratios) -> np.ndarray:
    """The rank of paths by their ratios at the stages, the last one far out.

    By how many octaves the ratio grows with every stage, the least of all, but no more than two; less where float64 soon
    loses it, and where it is far below 1 in the end, as it may well stop there. Of equal ones, the larger ratio counts. One
    more where it still grows by half an octave with each stage far out, as far as float64 follows it.
    """
    *near, far = ratios
    with np.errstate(all="ignore"):
        logs = np.log2(np.stack(near))
        growth = np.diff(logs, axis=0) / np.diff(_STAGES)[:, None]
        last = logs[-1]
        steady = np.minimum(growth[1:].min(axis=0), 2.0) - np.maximum(growth.max(axis=0) - _STEEPEST, 0.0)
        rank = np.round(steady + np.minimum(last, 0.0) / 8 - np.maximum(last - _LARGEST, 0.0) / 8, 2) + 1e-4 * last
        beyond = np.log2(far / near[-1]) / (_FAR - _STAGES[-1])
    rank = np.where(np.isfinite(rank) & np.isfinite(logs).all(axis=0), rank, -np.inf)
    return rank + np.where(np.isfinite(beyond) & (beyond >= 0.5), 1.0, 0.0)


def _with_slack(params: Parameters, rng: np.random.Generator) -> Parameters:
    """The instances, in half of which constants lie beyond their tightest values: a little can move with scales."""
    some = rng.random((number_of(params), 1)) < 0.5
    return map_params(params, lambda n, a: np.where((a == 1) & some, 1 + _FINEST, a) if n.startswith(SLACK) else a)


def _exponents(claim: Claim, params: Parameters, parent: Parameters | None, rng: np.random.Generator) -> Parameters:
    """Whole exponents of every number: those of a parent with few changed, else few that are not zero."""
    found = {}
    units, (loss, length) = unit_exponents(claim, params), rng.integers(-3, 4, (2, number_of(params)))
    along_units = rng.random(len(loss)) < (_ALONG_UNITS if parent is None else 0.0)
    for name in scalable(claim, params):
        array = params[name]
        if name in ("step_fraction", "epsilon"):
            array = array[:, :1]
        start = np.zeros(array.shape)
        if parent is not None and name in parent:  # the exponents of one instance for every row
            start = np.repeat(parent[name][(slice(None), *map(slice, array.shape[1:]))], len(array), axis=0)
        wide = (len(array), *(1,) * (array.ndim - 1))
        if parent is None and name in units:
            start = start + (along_units * (loss * units[name][0] + length * units[name][1])).reshape(wide)
        often = np.where(along_units, 0.1, 0.4) if parent is None else np.full(len(array), 0.15)
        change = (rng.random(array.shape) < 0.5) & (rng.random(wide) < often.reshape(wide))
        if parent is not None:
            change[0] = False
        powers = np.where(change, start + rng.choice(_WHOLE, array.shape), start)
        found[name] = np.broadcast_to(powers, params[name].shape).copy()
    return found


def _round(params: Parameters) -> Parameters:
    """The numbers with two digits, so that their multiples are exact and short; of factors from 1 on, in small steps."""
    def simple(name, array):
        if name.startswith(SLACK):
            return 1 + np.round((array - 1) / _FINEST) * _FINEST
        with np.errstate(divide="ignore"):
            unit = np.where(array == 0, 1.0, 2.0 ** (np.floor(np.log2(np.abs(array))) - 3))
        return np.round(array / unit) * unit

    return map_params(params, simple)
