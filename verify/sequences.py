"""Two-sided confidence sequences of a mean: bands that hold at all sample sizes at once."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import brentq

__all__ = ["asymptotic_sequence", "bounded_sequence"]


def bounded_sequence(samples, low: float, high: float, level: float = 0.95):
    """Lower and upper ends after every sample, for the mean of independent samples in [low, high].

    With probability at least ``level`` the mean lies between the ends after every sample: the predictable plug-in empirical
    Bernstein sequence of Waudby-Smith and Ramdas (2024, Theorem 2), intersected over time.

    Args:
        samples: (samples,) or (samples, points); the points are separate sequences.

    Returns:
        two arrays shaped as ``samples``.

    Raises:
        ValueError: a sample outside the range, or a level outside (0, 1).
    """
    alpha = 1 - _level(level)
    x = np.asarray(samples, dtype=float)
    if not low < high or (x < low).any() or (x > high).any():
        raise ValueError(f"samples must lie in the range [{low}, {high}]; got {x.min()} .. {x.max()}")
    x = (x - low) / (high - low)
    count = np.arange(1, len(x) + 1).reshape(-1, *(1,) * (x.ndim - 1))
    mean = (0.5 + np.cumsum(x, axis=0)) / (count + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2, axis=0)) / (count + 1)
    before_mean = np.concatenate([np.full_like(x[:1], 0.5), mean[:-1]])
    before_variance = np.concatenate([np.full_like(x[:1], 0.25), variance[:-1]])
    stake = np.minimum(np.sqrt(2 * math.log(2 / alpha) / (before_variance * count * np.log(count + 1))), 0.5)
    cost = (x - before_mean) ** 2 * (-np.log1p(-stake) - stake)
    total = np.cumsum(stake, axis=0)
    centre = np.cumsum(stake * x, axis=0) / total
    half = (math.log(2 / alpha) + np.cumsum(cost, axis=0)) / total
    lower = np.maximum.accumulate(np.clip(centre - half, 0, 1), axis=0)
    upper = np.minimum.accumulate(np.clip(centre + half, 0, 1), axis=0)
    return low + (high - low) * lower, low + (high - low) * upper


def asymptotic_sequence(samples, level: float = 0.95, narrowest: int = 64):
    """Lower and upper ends after every sample, for the mean of independent samples of finite variance.

    The asymptotic sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024, Theorem 2.2), narrowest for about
    ``narrowest`` samples: its coverage at all large sample sizes at once tends to ``level``. Before the second sample the
    ends are infinite.

    Args:
        samples: (samples,) or (samples, points).
    """
    alpha = 1 - _level(level)
    x = np.asarray(samples, dtype=float)
    count = np.arange(1, len(x) + 1).reshape(-1, *(1,) * (x.ndim - 1))
    mean = np.cumsum(x, axis=0) / count
    away = x - x[:1]  # variances do not depend on the origin; near the samples they lose no digits
    square = np.cumsum(away**2, axis=0) / count - (np.cumsum(away, axis=0) / count) ** 2
    spread = np.sqrt(np.maximum(square, 0.0) * count / np.maximum(count - 1, 1))
    scale = count * _tuning(alpha, narrowest) ** 2
    half = spread * np.sqrt(2 * (scale + 1) / (count * scale) * np.log(np.sqrt(scale + 1) / alpha))
    half = np.where(count == 1, math.inf, half)
    return mean - half, mean + half


def _tuning(alpha: float, narrowest: int) -> float:
    """The parameter rho for which the sequence is narrowest after ``narrowest`` samples."""
    def slope(scale):  # where the derivative of the squared width by rho^2 vanishes
        return scale - 2 * math.log(1 / alpha) - math.log1p(scale)

    return math.sqrt(brentq(slope, 2 * math.log(1 / alpha), 100 + 10 * math.log(1 / alpha)) / narrowest)


def _level(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1; got {level}")
    return level
