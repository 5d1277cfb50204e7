"""Describes a function that breaks a claim, as bad as the worst case over the class says."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import groupby
from math import inf

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY
from verify.evaluation.judge import judge
from verify.measure.simulate import simulate
from verify.search.worst_points import at_points, shape_at
from verify.worst.coordinate_ascent import ERRORS
from verify.worst.one_dimensional import WorstPoints, worst_points
from verify.worst.worst_case import WorstCase

__all__ = ["attained"]

_NEARLY = 0.999  # share of the worst ratio that the run on the function must reach
_MOST_OUTCOMES = 64


def attained(claim: Claim, given: Mapping[str, Fraction], found: WorstCase) -> str:
    """Describes a function of one variable at which the claim is as wrong as ``found`` says: the start and its slopes.

    Empty where none is known: the worst functions need more variables, or noise, or a run on them does not confirm it.
    """
    if found.ratio is None or found.ratio == inf:
        return ""
    try:
        points = worst_points(claim, given)
        if points is None or not _confirmed(claim, points, found.ratio):
            return ""
    except ERRORS:
        return ""
    slopes = [_slopes(each) for each in points.points]
    if len({*slopes}) == 1:
        return f"{_start(points)}, {slopes[0]}"
    return f"{_start(points)}; " + "; ".join(f"client {k}: {text}" for k, text in enumerate(slopes))


def _confirmed(claim: Claim, points: WorstPoints, ratio: float) -> bool:
    """Whether the method's ordinary run on functions through the points meets the hypotheses and breaks the statement as
    much."""
    shape = shape_at(claim, points.setting, _MOST_OUTCOMES)
    if shape is None:
        return False
    shape, leaves = at_points(claim, shape, points, np.random.default_rng(0))
    with np.errstate(all="ignore"):  # instances without a value do not meet the hypotheses
        verdict = judge(claim, simulate(claim, shape, leaves, NUMPY))
    return bool((verdict.met & (verdict.ratio >= _NEARLY * ratio)).any())


def _start(points: WorstPoints) -> str:
    return f"one variable, x_0 - x_* = {points.start:.3g}"


def _slopes(points: np.ndarray) -> str:
    """The slopes along the run, such as ``F' = 0.553 at 3.87, 3.32 and 0 at 0``, the farthest from the optimum first."""
    smallest = 1e-3 * max(np.abs(points[:, 1]).max(), 1e-300)
    rows = [(f"{x:.3g}", f"{0.0 if abs(slope) < smallest else slope:.3g}")
            for x, slope, _ in points[np.argsort(-np.abs(points[:, 0]))]]
    texts = []
    for slope, row in groupby(dict.fromkeys(rows), key=lambda one: one[1]):
        texts.append(f"{slope} at {', '.join(x for x, _ in row)}")
    return f"F' = {'; '.join(texts)}"
