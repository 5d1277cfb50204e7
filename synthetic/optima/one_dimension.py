"""Global minima of functions of one number, for many functions at once, proven by branch and bound."""

from collections.abc import Callable

import numpy as np

__all__ = ["global_minima"]

_TOLERANCE = 1e-13


def global_minima(value: Callable, slope: Callable, bend: Callable, low, high, least_bend, cells: int = 32):
    """Minimisers, minima and proven errors of functions f_p on the intervals [low_p, high_p], each (problems,).

    A cell of centre c and half-width h is dropped once f(c) - |f'(c)| h + min(m, 0) h^2/2, which bounds f in the cell from
    below, exceeds the best value found; other cells are halved until the bounds of all are within 1e-13 of it, relative to
    1 + |minimum|.

    Args:
        value, slope, bend: functions of (problem numbers, points), both (points,): f_p, its first and second derivative.
        low, high: ends of the intervals, (problems,), which must hold a minimiser.
        least_bend: m, lower bounds on the second derivatives, (problems,).
        cells: number of cells of each interval at the beginning.

    Raises:
        ValueError: an error above 1e-9 remains.

    Example:
        >>> found = global_minima(lambda p, x: np.cos(3 * x) + (x - 1) ** 2 / 2, lambda p, x: x - 1 - 3 * np.sin(3 * x),
        ...                       lambda p, x: 1 - 9 * np.cos(3 * x), np.array([-5.0]), np.array([6.0]), np.array([-8.0]))
        >>> [round(float(part[0]), 6) for part in found[:2]]
        [1.042478, -0.998998]
    """
    problems = len(low)
    owner = np.repeat(np.arange(problems), cells)
    half = np.repeat((high - low) / (2 * cells), cells)
    center = np.repeat(low, cells) + half * (2 * np.tile(np.arange(cells), problems) + 1)
    best, where, error = np.full(problems, np.inf), np.array(low, dtype=float), np.full(problems, np.inf)
    for _ in range(60):
        levels, steep = value(owner, center), slope(owner, center)
        order = np.lexsort((levels, owner))
        first = order[np.unique(owner[order], return_index=True)[1]]
        better = first[levels[first] < best[owner[first]]]
        best[owner[better]], where[owner[better]] = levels[better], center[better]
        floor = levels - np.abs(steep) * half + np.minimum(least_bend[owner], 0) * half**2 / 2
        keep = floor <= best[owner]
        lowest = np.array(best)
        np.minimum.at(lowest, owner[keep], floor[keep])
        going = error > _TOLERANCE * (1 + np.abs(best))  # a solved problem stays as it is, so that batches do not matter
        error = np.where(going, best - lowest, error)
        going = error > _TOLERANCE * (1 + np.abs(best))
        keep &= going[owner]
        if not going.any():
            break
        owner, center, half = np.repeat(owner[keep], 2), np.repeat(center[keep], 2), np.repeat(half[keep], 2) / 2
        center = center + half * np.tile([-1.0, 1.0], keep.sum())
        if len(owner) > 2000 * problems + 10**5:
            break
    if not (error <= 1e-9 * (1 + np.abs(best))).all():
        raise ValueError(f"a global minimum could not be proven to 1e-9; reached {error.max():.1e}")
    return _polished(value, slope, bend, best, where), best, error


def _polished(value, slope, bend, best, where):
    """Final Newton steps: a minimal value known to 1e-13 determines its place only to 1e-7."""
    number = np.arange(len(where))
    for _ in range(5):
        curvature = bend(number, where)
        trial = where - slope(number, where) / np.where(curvature > 0, curvature, np.inf)
        better = value(number, trial) <= best + 1e-14 * (1 + np.abs(best))
        closer = np.abs(slope(number, trial)) < np.abs(slope(number, where))
        where = np.where(better & closer, trial, where)
    return where
