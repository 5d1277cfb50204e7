"""Follows single instances along a limit: only its symbol moves."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import isfinite

import numpy as np
import sympy as sp

from bounds.language.claim import Claim
from synthetic.numbers.arrays import to_numpy
from verify.claims.needs import always_available
from verify.evaluation.environment import TooManyTerms
from verify.exact.confirm import violation_of
from verify.growth.fit import OCTAVES
from verify.growth.growth_search import LARGE, GrowthCurve, GrowthSearch, Member, growth_rank, too_many_at_once
from verify.growth.limits import FREE_WEIGHT, at_size, held_numbers, keeps_the_shape, small_sizes, without_chance
from verify.growth.members import within_exact_runs
from verify.growth.order import with_constant
from verify.instances.draw import draw_params, draw_shape
from verify.instances.parameters import Parameters, number_of, spec_of, take_rows, within_domain
from verify.instances.resize import RUN_SIZES
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.search.batch_evaluation import MOST_TERMS

__all__ = ["NOISE", "same_instance", "tame"]

_TRIALS = 60  # shapes that are drawn until one has free clients
_ROUNDS = 3  # drawn before the last one is repeated
_GRADIENTS = 8  # times as large as tame numbers may gradients on tame instances be
_FOLLOWED = 2  # instances of each batch that are followed along the limit
_FURTHER = 4  # times as long as others may runs be of which one does not know yet where they go
_LOOKS = 12  # tracks on which exact arithmetic looks for rounding
_STAGES = 20  # of a number, which costs nothing to move: up to beyond 1e11, where a constant of a million would show
NOISE = 1e-9  # on tame instances, a ratio below it is a left side of zero


def same_instance(trials: GrowthSearch, limit) -> list[GrowthCurve]:
    """Tracks of one instance each on which only the limit's symbol moves: the one whose ratio grows most, one on which the
    right side vanishes, and one on which it grows faster than float64 can follow, where there are such. Raises
    NotImplementedError if nothing moves that symbol."""
    name, effort = str(limit[0]), trials.effort
    found: dict[str, list[GrowthCurve]] = {}
    batches = [_batch(trials, name, limit[1]) for _ in range(effort.shapes)]
    for *_, ratios in batches:
        for first in [*ratios.values()][:1]:
            trials.note_level(name, first)
    order = sorted(range(len(batches)), key=lambda i: -_early_growth(batches[i][-1]))[: effort.followed // 2]
    for i in list(dict.fromkeys((*order, *range(len(batches)))))[: effort.followed]:
        for curve in _curves(trials, name, *batches[i]):
            kind = "vanishes" if curve.fit.infinite else "lost" if curve.lost else "followed"
            found.setdefault(kind, []).append(curve)
    best = (_best(trials, sorted(curves, key=_rank, reverse=True)) for curves in found.values())
    return [curve for curve in best if curve is not None]


def _best(trials: GrowthSearch, curves: list[GrowthCurve]) -> GrowthCurve | None:
    """The first track on which exact arithmetic does not contradict float64: where both sides are rounding errors, as at an
    optimum, the ratio may grow, too. Tracks that end level need no look."""
    for looks, curve in enumerate(curves):
        settled = curve.fit.infinite or (curve.fit.level and not curve.lost)
        if settled or looks >= _LOOKS or not _is_rounding(trials, curve):
            return curve
    return None


def _is_rounding(trials: GrowthSearch, curve: GrowthCurve) -> bool:
    """Whether exact arithmetic finds the ratio to be less than half as large, and of one without end less than ``LARGE``, on
    the last member that it can afford, and on one amid. Of a number that exists that takes too long."""
    members = within_exact_runs(curve).members
    if trials.original is None or trials.original.exists is not None or not members:
        return False
    for member in (members[-1], members[len(members) // 2]):
        stated = with_constant(trials.original, Fraction(member.ratio if isfinite(member.ratio) else 2 * LARGE) / 2)
        answer = violation_of(stated, member.shape, member.params)
        if answer not in ("holds", "unmet"):
            return False
    return True


def _rank(curve: GrowthCurve) -> tuple:
    """The sort key of a growth curve: growth that exact runs, which are short, can show comes first."""
    return within_exact_runs(curve).fit.is_sustained, within_exact_runs(curve, 2).fit.is_sustained, *growth_rank(curve)


def _batch(trials: GrowthSearch, name: str, towards) -> tuple[Shape, Parameters, list, dict]:
    """Tame instances of one shape, the sizes along a limit, and their ratios at a few of the small ones."""
    claim, rng, effort = trials.claim, trials.rng, trials.effort
    shape = next((shape for shape in (draw_shape(claim, rng, 64, 6) for _ in range(_TRIALS))
                  if shape.free or name != FREE_WEIGHT), Shape())
    number = name not in (*RUN_SIZES, *dict(shape.sizes), FREE_WEIGHT)
    quiet = not number or rng.random() < 0.5  # as many outcomes at all sizes may be enumerated
    shape = small_sizes(claim, without_chance(shape) if quiet else shape)
    shape = replace(shape, rounds=_ROUNDS) if name in ("rounds", "iterations") else shape
    params = tame(claim, draw_params(claim, shape, effort.rows, rng), rng)
    if keeps_the_shape(name, params):
        sizes = [4.0 ** (i if towards == sp.oo else -i) for i in range(_STAGES)]
    else:
        unit, most = shape.local_steps if name == "iterations" else 1, 6 if name in ("clients", "participants") else 9
        sizes = [unit * 2**i for i in range(most) if 2 ** (i + 1) <= effort.longest or i < OCTAVES]
    params = _with_room(trials, name, shape, params, sizes)
    return shape, params, sizes, _ratios_at(trials, name, shape, params, sizes[1:6:2])


def tame(claim: Claim, params: Parameters, rng: np.random.Generator) -> Parameters:
    """The instances with every number between 1/4 and 2 or zero, fractions and thresholds the same at all times; some
    thresholds are zero after a few rounds.

    Whatever happens on them happens soon: no time scale is longer than a few dozen steps.
    """
    found = {}
    for name, array in params.items():
        domain = spec_of(claim, name).domain
        if domain == "binary":
            found[name] = array if name != "available" or always_available(claim) else array[:, :1] + 0 * array
            continue
        size = np.clip(np.round(abs(array) * 8) / 8, 0.25, 2.0)
        value = np.where(array == 0, 0.0, np.sign(array) * size)
        if name in ("step_fraction", "epsilon"):
            value = value[:, :1] + 0 * value
        if name == "step_fraction":
            value = np.where(rng.random((len(value), 1)) < 0.5, 1.0, value)
        if name == "epsilon":
            value = np.where(array[:, :1] > 10, 1e9, value)
            open_for = rng.integers(1, 4, (len(value), 1))
            stopped = (np.arange(value.shape[1]) >= open_for) & (rng.random((len(value), 1)) < 0.5)
            value = np.where(stopped, 0.0, value)
        found[name] = within_domain(domain, _GRADIENTS * value if domain == "constant" else value)
    return found


def _with_room(trials: GrowthSearch, name: str, shape: Shape, params: Parameters, sizes: Sequence) -> Parameters:
    """The instances with numbers that meet the hypotheses at the first and the last size, as far as runs are looked at: a
    number that hypotheses move along the way is none that the instances share."""
    names = [n for n in held_numbers(trials.claim, name) if n in params] if trials.claim.constants_may_use is None else []
    for end in (sizes, reversed(sizes)) if names else ():
        for size in end:
            try:
                params = _within_bounds(trials, *at_size(trials.claim, shape, params, name, size), names, params)
                break
            except (ArithmeticError, LookupError, NotImplementedError, TooManyTerms, ValueError):
                continue
    return params


def _within_bounds(trials: GrowthSearch, shape: Shape, there: Parameters, names: Sequence[str],
                   params: Parameters) -> Parameters:
    """The instances with those numbers that hypotheses move ``there`` at the power of two beyond their bounds."""
    if too_many_at_once(shape, number_of(there)):
        raise TooManyTerms("too many runs to look at all of them")
    with np.errstate(all="ignore"):
        bound = simulate(trials.claim, shape, there, trials.backend, most=MOST_TERMS).bound
        found = {n: np.broadcast_to(to_numpy(bound[n].data).ravel(), params[n].shape) for n in names if n in bound}
        changed = {n: np.isfinite(v) & (v != 0) & (v != params[n]) for n, v in found.items()}
        return params | {n: np.where(changed[n], _power_beyond(v, abs(v) > abs(params[n])), params[n])
                         for n, v in found.items()}


def _power_beyond(values: np.ndarray, up: np.ndarray) -> np.ndarray:
    power = np.log2(abs(values))
    return np.sign(values) * 2.0 ** np.where(up, np.floor(power) + 1, np.ceil(power) - 1)


def _ratios_at(trials: GrowthSearch, name: str, shape: Shape, params: Parameters, sizes) -> dict:
    return dict(zip(sizes, trials.along(name, shape, params, sizes), strict=True))


def _growth(low, high) -> np.ndarray:
    """The factor by which the ratio grows between two sizes, 0 where there is none."""
    with np.errstate(all="ignore"):
        return np.where((low > NOISE) & (high > NOISE), high / low, 0.0)


def _early_growth(ratios: dict) -> float:
    """The largest factor by which the ratio of an instance grows between two neighbouring sizes; infinite where float64
    loses it."""
    return max((float(np.nanmax(_growth(*both), initial=0.0)) for both in pairwise(ratios.values())), default=0.0)


def _curves(trials: GrowthSearch, name: str, shape: Shape, params: Parameters, sizes: list,
            ratios: dict) -> list[GrowthCurve]:
    """The promising instances of a batch along the limit."""
    ratios = ratios | _ratios_at(trials, name, shape, params, dict.fromkeys(sizes[-3::2]).keys() - ratios)
    rows = _promising([ratios[size] for size in sizes if size in ratios])
    chosen = take_rows(params, rows)
    ratios = {size: array[rows] for size, array in ratios.items()}
    ratios |= _ratios_at(trials, name, shape, chosen, [s for s in sizes if s not in ratios] if rows else [])
    curves = [_curve(trials.claim, name, shape, take_rows(chosen, [i]), sizes, {n: a[i] for n, a in ratios.items()})
              for i in range(len(rows))]
    slow = [i for i, curve in enumerate(curves) if curve.fit.rising and not curve.fit.grows and not curve.lost]
    more = _longer_sizes(name, sizes[-1], shape, _FURTHER * trials.effort.longest) if slow else []
    further = _ratios_at(trials, name, shape, take_rows(chosen, slow), more)
    for place, i in enumerate(slow if more else ()):
        along = {n: a[i] for n, a in ratios.items()} | {n: a[place] for n, a in further.items()}
        curves[i] = _curve(trials.claim, name, shape, take_rows(chosen, [i]), sizes + more, along)
    return curves


def _longer_sizes(name: str, last: int, shape: Shape, longest: int) -> list:
    if name in ("clients", "participants") or name not in (*RUN_SIZES, *dict(shape.sizes)):
        return []
    per = {"rounds": shape.local_steps, "local_steps": shape.rounds}.get(name, 1)
    return [last * 2**i for i in range(1, 12) if last * 2**i * per <= longest]


def _promising(ratios) -> list[int]:
    """Rows that are worth following, of their ratios at growing sizes: where the right side vanishes in the end, where
    float64 loses a ratio between two sizes, and where the ratio grows most at small, middle and large sizes."""
    if len(ratios) < 2:
        return []
    rows = np.flatnonzero(np.isinf(ratios[-2]) & np.isinf(ratios[-1]))[:1].tolist()
    for low, high in pairwise(ratios):
        lost = np.flatnonzero((low > NOISE) & np.isfinite(low) & np.isinf(high))
        rows += lost[np.argsort(-low[lost], kind="stable")][:_FOLLOWED].tolist()
    for low, high in (*pairwise(ratios[:3]), ratios[-2:]):
        with np.errstate(divide="ignore"):
            growth = np.log(np.where(np.isfinite(high), _growth(low, high), 0.0))
        rows += [row for row in np.argsort(-growth, kind="stable")[:_FOLLOWED] if growth[row] > -np.inf]
    return list(dict.fromkeys(rows)) or np.flatnonzero(ratios[-1] == 0)[:1].tolist()


def _curve(claim: Claim, name: str, shape: Shape, params: Parameters, sizes: list, ratios: dict) -> GrowthCurve:
    """One instance along a limit from the first size at which it meets the hypotheses, as far as float64 resolves it."""
    members, lost = [], False
    for size in sizes:
        ratio = float(ratios[size])
        if np.isnan(ratio):
            if members:
                break
            continue  # the hypotheses ask for more
        lost = bool(members) and 0 < members[-1].ratio < np.inf and not 0 < ratio < np.inf
        if lost:
            break
        members.append(Member(size, ratio, *at_size(claim, shape, params, name, size)))
    return GrowthCurve(name, tuple(members), lost=lost)
