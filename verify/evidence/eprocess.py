"""Anytime-valid evidence against statements about an expectation, from samples one after the other.

:class:`EProcess` tests ``E[X] <= limit`` for non-negative X, :class:`RangeProcess` all relations for X in a known range.

Under the hypothesis, ``prod_i (1 + b (X_i / limit - 1))`` is a non-negative supermartingale with mean at most one for
every stake b in [0, 1]; so is the average over a grid of stakes. By Ville's inequality it ever exceeds 1/alpha with
probability at most alpha, however often one looks (Waudby-Smith and Ramdas 2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

__all__ = [
    "REFUTES",
    "EProcess",
    "RangeProcess",
    "asymptotic_sequence",
    "bounded_sequence",
    "confidence_band",
    "discoveries",
    "more_samples",
    "pooled",
]

REFUTES = 1e6  # an e-value above this refutes: false with probability below 1e-6
_STAKES = np.array([0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])


@dataclass
class EProcess:
    """Evidence against ``E[X] <= limit``.

    Example:
        >>> process = EProcess(limit=1.0)
        >>> process.update([3.0] * 40) > REFUTES
        True
        >>> EProcess(limit=1.0).update([1.0] * 40)
        1.0
    """

    limit: float

    def __post_init__(self):
        if not self.limit >= 0:
            raise ValueError(f"limit must be at least 0; got {self.limit}")
        self._log_capital = np.zeros_like(_STAKES)
        self.samples, self.largest = 0, 1.0

    @property
    def value(self) -> float:
        """The current e-value."""
        top = self._log_capital.max()
        if np.isinf(top):
            return float("inf") if top > 0 else 0.0
        return float(np.exp(min(top, 700.0)) * np.mean(np.exp(self._log_capital - top)))

    def update(self, samples) -> float:
        """Take in samples of X, each at least 0; returns the e-value. Raises ValueError for a negative sample."""
        for sample in np.atleast_1d(np.asarray(samples, dtype=float)):
            if not sample >= 0:
                raise ValueError(f"samples must be at least 0; got {sample}")
            if self.limit == 0:
                if sample > 0:
                    self._log_capital[:] = np.inf
            else:
                self._log_capital += np.log1p(_STAKES * (sample / self.limit - 1))
            self.samples += 1
            self.largest = max(self.largest, self.value)
        return self.value


@dataclass
class RangeProcess:
    """Evidence against ``E[X] relation limit`` for X in [low, high].

    ``X - low`` and ``high - X`` are non-negative, so ``<=`` and ``>=`` are tested by one :class:`EProcess` each, and ``==``
    by their mean, which is an e-process again.

    Example:
        >>> process = RangeProcess(">=", limit=0.5, low=0.0, high=1.0)
        >>> process.update([0.0] * 40) > REFUTES
        True
    """

    relation: str
    limit: float
    low: float
    high: float

    def __post_init__(self):
        if self.relation not in ("<=", ">=", "=="):
            raise ValueError(f"unknown relation {self.relation!r}; allowed: <=, >=, ==")
        if not -math.inf < self.low < self.high < math.inf:
            raise ValueError(f"the range must be finite, low < high; got [{self.low}, {self.high}]")
        above = EProcess(self.limit - self.low) if self.low <= self.limit else None
        below = EProcess(self.high - self.limit) if self.limit <= self.high else None
        self._sides = {"<=": [above], ">=": [below], "==": [above, below]}[self.relation]
        self._shifts = {"<=": [self._up], ">=": [self._down], "==": [self._up, self._down]}[self.relation]

    def _up(self, samples):
        return np.maximum(samples - self.low, 0.0)

    def _down(self, samples):
        return np.maximum(self.high - samples, 0.0)

    @property
    def value(self) -> float:
        """The current e-value; infinite where the limit lies outside the range on the side that the claim excludes."""
        return float(np.mean([math.inf if side is None else side.value for side in self._sides]))

    def update(self, samples) -> float:
        """Take in samples of X; returns the e-value. Raises ValueError for one outside the range (up to rounding)."""
        samples = np.atleast_1d(np.asarray(samples, dtype=float))
        slack = 1e-9 * (self.high - self.low)
        inside = (samples >= self.low - slack) & (samples <= self.high + slack)
        if not inside.all():
            raise ValueError(f"samples must lie in [{self.low}, {self.high}]; got {samples[~inside][0]}")
        for side, shift in zip(self._sides, self._shifts, strict=True):
            if side is not None:
                side.update(shift(samples))
        return self.value


def more_samples(samples, limit: float, target: float = REFUTES) -> int | None:
    """About how many more samples like the given ones (each at least 0) bring the evidence against ``E[X] <= limit`` to
    ``target``; 0 if they do already, None if samples like these never will.

    The logarithm of the capital of a constant stake grows linearly; the best stake of the grid counts.

    Example:
        >>> more_samples([1.0, 2.0, 1.5, 2.5], limit=1.0)
        31
        >>> more_samples([0.5, 1.0], limit=1.0) is None
        True
    """
    samples = np.asarray(samples, dtype=float)
    process = EProcess(limit)
    process.update(samples)
    if process.largest > target:
        return 0
    if limit == 0 or samples.size == 0:
        return None
    growth = max(np.log1p(b * (samples / limit - 1)).mean() for b in _STAKES)
    if growth <= 0:
        return None
    return max(math.ceil(math.log(target * len(_STAKES)) / growth) - samples.size, 1)


def pooled(values) -> float:
    """One e-value against all of several claims being true: the mean of their e-values, whatever their dependence."""
    values = np.asarray(list(values), dtype=float)
    if values.size == 0 or (values < 0).any() or np.isnan(values).any():
        raise ValueError(f"e-values must be numbers of at least 0, one or more; got {values.tolist()}")
    return float(values.mean())


def discoveries(values, rate: float) -> list[int]:
    """Numbers of the claims that several e-values refute together, with at most the share ``rate`` of false ones expected
    among them, whatever their dependence (Wang and Ramdas 2022, e-BH): the k largest, for the largest k for which each of
    them is at least ``len(values) / (k rate)``.

    Example:
        >>> discoveries([1e4, 2.0, 100.0, 0.3], rate=0.05)
        [0, 2]
    """
    values = np.asarray(list(values), dtype=float)
    if not 0 < rate < 1:
        raise ValueError(f"rate must lie between 0 and 1; got {rate}")
    order = np.argsort(-values, kind="stable")
    enough = [k for k in range(1, values.size + 1) if values[order[k - 1]] >= values.size / (k * rate)]
    return sorted(order[: max(enough, default=0)].tolist())


def confidence_band(samples, level: float = 0.95):
    """Mean and a two-sided band for figures, per column of ``samples`` (runs, points): see :mod:`verify.sequences`.

    It is drawn, and decides nothing.
    """
    from verify.evidence.eprocess import asymptotic_sequence

    samples = np.asarray(samples, dtype=float)
    mean = samples.mean(axis=0)
    if samples.shape[0] < 2:
        return mean, mean, mean
    low, high = asymptotic_sequence(samples, level)
    return mean, low[-1], high[-1]


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
