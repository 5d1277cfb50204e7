"""Compares both sides of a claim, and checks its hypotheses, on a realised batch of instances."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import sympy as sp

from bounds.language.claim import HOLDS, Claim, Condition
from synthetic.numbers.arrays import namespace, to_numpy
from verify.claims.hypotheses import sign_of_steps, signs
from verify.evaluation.environment import Environment
from verify.evaluation.evaluate import sides
from verify.evaluation.term_sizes import sizes_of_sides

__all__ = [
    "Judgement", "exact_violation", "flat_sides", "holds", "in_range", "judge", "pairs", "seems_violated",
    "significant_sides", "unmet",
]

_ROUNDING = 1e-11  # rounding error of a few hundred operations in float64, relative to the terms that cancel
_SIGNED = ("positive", "nonnegative")  # domains of entries that have a sign
_EQUAL = 1e-7  # score of an instance on which a strict statement holds with equality only
_TOLERANCE = 1e-9  # rounding error of hypotheses; exact replay decides in the end
_LEAST, _LEAST_OF_RUNS = 1e-200, 1e-18  # numbers below count as zero, with the rounding errors of a run from larger ones on
_SMALL = 1e-15  # difference of sides that may be nothing but the rounding error of their terms


class Judgement(NamedTuple):
    """The judgement on each instance.

    Attributes:
        score: in [-1, 1], positive where the claim seems violated: the largest violation over all indices, relative to both
            sides.
        ratio: the largest ratio left/right.
        met: whether every hypothesis holds.
    """

    score: np.ndarray
    ratio: np.ndarray
    met: np.ndarray


def judge(claim: Claim, environment: Environment, least: float | None = None) -> Judgement:
    """Judge every instance of a batch in floating point; with two readings of an environment, by the milder judgement.

    Numbers below ``least`` count as zero: by default much smaller ones where nothing is run.
    """
    if least is None:
        least = _LEAST if claim.setting == "algebra" else _LEAST_OF_RUNS
    if environment.also is not None:
        first, second = judge(claim, replace(environment, also=None), least), judge(claim, environment.also, least)
        return Judgement(*(np.minimum(a, b) for a, b in zip(first[:2], second[:2], strict=True)), first.met & second.met)
    environment = environment.remembering()
    with np.errstate(all="ignore"):
        statement, both = claim.statement, None
        if environment.data_sets is None:  # suprema over data_sets may take a common term at different data_sets
            statement, both = _apart(statement)
        left, right, mask = _where_possible(environment, *sides(statement, environment))
        common = sides(both, environment)[0] if both else left != left
        like = namespace(left).broadcast_arrays(left, right, mask, common)[0]
        left, right, mask, common = _flat(left, right, mask, common)
        rows = max(len(left), environment.rows)
        if not mask.shape[1]:  # no index has a value: it holds
            return Judgement(np.full(rows, -1.0), np.zeros(rows), _all_hold(claim.hypotheses, environment, rows))
        sizes = _flat(*_where_possible(environment, *sizes_of_sides(statement, environment)), like)
        floor = _ROUNDING * (sizes[0] + sizes[1]) + least
        gap = {"<=": left - right, ">=": right - left, "==": abs(left - right)}[claim.statement.relation]
        score = np.where(mask, (gap - floor) / (abs(left) + abs(right) + floor), -1.0)
        if statement.strict:
            equal = np.where(gap == 0, 2 * _EQUAL, _EQUAL)  # of many that are equal up to rounding, those that are equal
            score = np.where(mask & (gap >= -floor), np.maximum(score, equal), score)
        finite = np.isfinite(score).all(axis=1)
        if environment.infinite is not None:
            finite = finite & ~to_numpy(environment.infinite)
        score = np.where(np.isfinite(score), score, -1.0)
        left, right = left + common, right + common
        big, small = (right, left) if claim.statement.relation == ">=" else (left, right)
        ratio = np.where(small > floor, big / small, np.where(big > 3 * floor, np.inf, 0.0))
        if claim.statement.relation == "==":
            ratio = np.where(gap <= floor, 1.0, np.maximum(abs(left), abs(right)) / np.minimum(abs(left), abs(right)))
        ratio = np.where(mask, ratio, 0.0)
        met = finite & _all_hold(claim.hypotheses, environment, rows) & in_range(claim, environment, rows)
    return Judgement(*(np.broadcast_to(of.max(axis=1), (rows,)) for of in (score, ratio)), met)


def seems_violated(claim: Claim, environment: Environment) -> np.ndarray:
    """Whether every hypothesis holds and the statement does not, per instance, in floating point.

    The answer is that of :func:`judge`, in less time if the statement holds on the whole batch.
    """
    statement = claim.statement if environment.data_sets is not None else _apart(claim.statement)[0]
    environment = environment.remembering()
    with np.errstate(all="ignore"):
        left, right, mask = flat_sides(statement, environment)
        beyond = {"<=": left > right, ">=": left < right, "==": left != right}[statement.relation] & mask
    if not beyond.any() and not statement.strict:
        return np.zeros(max(len(left), environment.rows), dtype=bool)
    verdict = judge(claim, environment)
    return verdict.met & (verdict.score > 0)


@cache
def _apart(statement: Condition) -> tuple[Condition, Condition | None]:
    """The statement without the terms that both sides share, in which small gaps would be lost; and these terms, if any."""
    terms = [Counter(sp.Add.make_args(side)) for side in (statement.left, statement.right)]
    shared = terms[0] & terms[1]
    if not shared:
        return statement, None
    left, right, both = (sp.Add(*part.elements()) for part in (terms[0] - shared, terms[1] - shared, shared))
    return replace(statement, left=left, right=right), replace(statement, left=both, right=both)


def _where_possible(environment: Environment, left, right, mask):
    """Both sides, and a mask that excludes outcomes of probability zero."""
    if environment.possible is None:
        return left, right, mask
    depth = mask.ndim
    possible = environment.possible.reshape(*environment.possible.shape, *(1,) * depth)
    return left, right, mask.reshape((1, 1, 1, *mask.shape)) & possible


def _flat(*arrays):
    """The arrays, broadcast together, as (instances, everything else)."""
    return tuple(to_numpy(a).reshape(a.shape[0], -1) for a in namespace(arrays[0]).broadcast_arrays(*arrays))


def _nearly(sign: str, left, right, more=0.0):
    """Whether ``left sign right`` holds up to rounding and ``more``, for numbers or arrays; of a strict relation, whether it
    holds."""
    if sign in ("<", ">"):
        return HOLDS[sign](left, right)
    slack = _TOLERANCE * (abs(left) + abs(right)) + more
    slack = np.where(slack < np.inf, slack, 0)  # infinite sides have no rounding error
    return {"<=": left <= right + slack, ">=": left >= right - slack, "==": abs(left - right) <= slack}[sign]


def flat_sides(condition: Condition, environment: Environment) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Both sides of a condition and its mask, as (instances | 1, everything else)."""
    return _flat(*_where_possible(environment, *sides(condition, environment)))


def significant_sides(condition: Condition, environment: Environment) -> tuple:
    """Both sides at the first indices and outcomes, (instances,); NaN where a side may be nothing but rounding errors."""
    found = [_first(side, environment.rows) for side in sides(condition, environment)[:2]]
    if found[0].dtype == object:
        return tuple(found)
    sizes = [_first(size, environment.rows) for size in sizes_of_sides(condition, environment)[:2]]
    return tuple(namespace(side).where(abs(side) > _ROUNDING * size, side, np.nan)
                 for side, size in zip(found, sizes, strict=True))


def _first(value, rows: int):
    value = value.reshape(value.shape[0], -1)[:, 0]
    return namespace(value).broadcast_to(value, (rows,))


def holds(condition: Condition, environment: Environment, count: int) -> np.ndarray:
    """Select the instances, of ``count``, that satisfy a condition at all indices, up to rounding: of the sides, or of terms
    that cancel where both sides are small. An infinite side, as 1/0 and log(0) are in floats, has no value."""
    left, right, mask = flat_sides(condition, environment)
    valued = (abs(left) < np.inf) & (abs(right) < np.inf)
    found = _nearly(condition.sign, left, right) & valued | ~mask
    if (~found & valued & _nearly(condition.sign, left, right, _SMALL)).any():
        sizes = _flat(*_where_possible(environment, *sizes_of_sides(condition, environment)))
        slack = np.minimum(_SMALL, _ROUNDING * (sizes[0] + sizes[1]))
        found = found | valued & _nearly(condition.sign, left, right, slack)
    return np.broadcast_to(found.all(axis=1), (count,))


def _all_hold(hypotheses, environment: Environment, count: int) -> np.ndarray:
    """Select the instances that satisfy all hypotheses of the environment's claim; the environment memoises the answer."""
    if environment.met is None or len(environment.met) != count:
        met = np.ones(count, dtype=bool)
        for condition in hypotheses:
            met &= holds(condition, environment, count)
        environment.met = met
    return environment.met


def _has_sign(values: np.ndarray, positive: bool) -> np.ndarray:
    return values > 0 if positive else values >= 0


def in_range(claim: Claim, environment: Environment, count: int) -> np.ndarray:
    """Select the admissible instances: a finite optimum, positive steps, finite constants with the required signs, and
    variables within their bounds and with the signs of their domains."""
    inside = np.ones(count, dtype=bool)
    if "x_star" in environment.bound and environment.bound["x_star"].data.dtype != object:
        optimum = to_numpy(environment.bound["x_star"].data)
        inside &= np.isfinite(optimum.reshape(optimum.shape[0], -1)).all(axis=1)
    steps = [("eta_l", sign_of_steps(claim) == ">")] if claim.setting == "run" else []
    for name, positive in (*signs(claim), *steps):
        if name in environment.bound and (environment.bound[name].indices == 0 or name == "eta_l"):
            values = to_numpy(environment.bound[name].data)
            values = values.reshape(values.shape[0], -1)
            admitted = _has_sign(values, positive) & (values < np.inf)
            inside &= np.asarray(admitted.all(axis=1), dtype=bool)
    for variable in (v for v in claim.variables if v.name in environment.bound):
        values = to_numpy(environment.bound[variable.name].data)
        values = values.reshape(values.shape[0], -1)
        if variable.below is not None:
            inside &= np.asarray((values < variable.below).all(axis=1), dtype=bool)
        if variable.indices and variable.domain in _SIGNED:  # bounds of hypotheses may move entries anywhere
            inside &= np.asarray(_has_sign(values, variable.domain == _SIGNED[0]).all(axis=1), dtype=bool)
    return inside


def unmet(hypotheses: Iterable[Condition], environment: Environment) -> str | None:
    """The first hypothesis that instance 0 violates, in words with both values; None if all hold."""
    for condition in hypotheses:
        left, right, mask = _flat(*sides(condition, environment))
        for value, limit, counts in zip(left[0], right[0], mask[0], strict=True):
            if counts and not _nearly(condition.sign, value, limit, _SMALL):
                asked = f"{condition.right}" if condition.right.is_number else f"{condition.right} = {float(limit):.6g}"
                return f"needs {condition.left} {condition.sign} {asked}, got {float(value):.6g}"
    return None


def _broken(condition: Condition, environment: Environment) -> list[tuple]:
    """The pairs (left, right) of instance 0 that violate the condition, compared exactly."""
    compare = HOLDS[condition.sign]
    return [(a, b) for a, b in pairs(condition, environment) if not compare(a, b)]


def pairs(condition: Condition, environment: Environment) -> list[tuple]:
    """The pairs (left, right) of instance 0 at all indices and outcomes of the condition."""
    left, right, mask = _flat(*_where_possible(environment, *sides(condition, environment)))
    return [(a, b) for a, b, counts in zip(left[0], right[0], mask[0], strict=True) if counts]


def exact_violation(claim: Claim, environment: Environment):
    """The pair (left, right) of the largest violation of instance 0, as fractions.

    Returns ``"unmet"`` if a hypothesis fails, and ``"holds"`` if the statement holds. The environment must hold exact
    fractions. If it has another reading, the statement must be violated there too.
    """
    if environment.also is not None:
        other = exact_violation(claim, environment.also)
        if isinstance(other, str):
            return other
    environment = environment.remembering()
    if any(_broken(condition, environment) for condition in claim.hypotheses) or not in_range(claim, environment, 1).all():
        return "unmet"
    broken = _broken(claim.statement, environment)
    return max(broken, key=lambda pair: abs(pair[0] - pair[1]), default="holds")
