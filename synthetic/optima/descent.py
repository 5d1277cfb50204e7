"""Local minima of smooth functions, for a batch of problems at once: L-BFGS with an Armijo line search."""

from __future__ import annotations

from synthetic.numbers.arrays import namespace
from synthetic.optima.newton import line_search

__all__ = ["best_of", "descend"]


def descend(value, gradient, start, iterations: int = 500, tolerance: float = 1e-11, memory: int = 10):
    """Points (..., dim) of small gradient, reached from ``start`` (..., dim); nothing is proven about them.

    Args:
        value, gradient: of points (..., dim), as (...) and (..., dim).
        iterations: at most so many; a problem stops once |gradient| is at most ``tolerance`` or it no longer moves.
        memory: number of steps in the estimate of the inverse Hessian (Nocedal and Wright 2006, algorithm 7.4).

    Example:
        >>> import numpy as np
        >>> descend(lambda x: (x[..., 0] - 3) ** 2, lambda x: 2 * (x - 3), np.array([[0.0], [7.0]])).ravel().tolist()
        [3.0, 3.0]
    """
    xp = namespace(start)
    x, level, slope = start, value(start), gradient(start)
    pairs: list[tuple] = []
    for _ in range(iterations):
        moving = _dot(slope, slope) > tolerance**2
        if not bool(xp.any(moving)):
            break
        step = _two_loops(slope, pairs)
        bad = _dot(step, slope) >= 0
        step = xp.where(bad[..., None], -slope, step)
        step = xp.where(moving[..., None], step, 0 * step)
        trial, trial_level = line_search(value, x, level, slope, step)
        better = (trial_level <= level + 1e-14 * (1 + xp.abs(level))) & moving
        trial = xp.where(better[..., None], trial, x)
        trial_slope = gradient(trial)
        moved, turned = trial - x, trial_slope - slope
        if not bool(xp.any(moved != 0)):
            break
        pairs = [*pairs[-memory + 1:], (moved, turned)]
        x, slope = trial, trial_slope
        level = xp.where(better, trial_level, level)
    return x


def best_of(value, points):
    """For each problem the point of least ``value`` among ``points`` (candidates, ..., dim), as (..., dim)."""
    xp = namespace(points)
    values = xp.stack([value(point) for point in points], axis=0)
    values = xp.where(xp.isfinite(values), values, xp.inf)
    index = xp.argmin(values, axis=0)[None, ..., None]
    return xp.take_along_axis(points, xp.broadcast_to(index, (1, *points.shape[1:])), axis=0)[0]


def _dot(a, b):
    return namespace(a).sum(a * b, axis=-1)


def _two_loops(slope, pairs):
    """Minus the L-BFGS inverse Hessian, from ``pairs`` (step, change of gradient), times ``slope``."""
    xp = namespace(slope)
    direction, kept = -slope, []
    scale = 1 + 0 * slope[..., 0]
    for moved, turned in reversed(pairs):
        curvature = _dot(moved, turned)
        good = curvature > 1e-12 * _dot(turned, turned) ** 0.5 * _dot(moved, moved) ** 0.5
        inverse = xp.where(good, 1.0, 0.0 * curvature) / xp.where(good, curvature, 0 * curvature + 1)
        share = inverse * _dot(moved, direction)
        direction = direction - share[..., None] * turned
        kept.append((moved, turned, inverse, share))
    if pairs:
        moved, turned = pairs[-1]
        size = _dot(turned, turned)
        scale = xp.where(size > 0, xp.abs(_dot(moved, turned)) / xp.where(size > 0, size, 0 * size + 1), scale)
        scale = xp.where(scale > 0, scale, 0 * scale + 1)
    direction = scale[..., None] * direction
    for moved, turned, inverse, share in reversed(kept):
        direction = direction + (share - inverse * _dot(turned, direction))[..., None] * moved
    return direction
