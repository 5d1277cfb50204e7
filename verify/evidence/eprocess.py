"""E-processes: anytime-valid evidence against ``E[X] <= limit`` for non-negative X, from independent samples of X.

Under the hypothesis, ``prod_i (1 + b (X_i / limit - 1))`` is a non-negative supermartingale with mean at most one for
every stake b in [0, 1]. So is its average over a grid of stakes. By Ville's inequality the average ever exceeds 1/alpha
with probability at most alpha, however often one looks (Waudby-Smith and Ramdas 2024).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

__all__ = [
    "REFUTES", "EProcess", "asymptotic_sequence", "confidence_band", "discoveries", "more_samples", "pooled",
]

REFUTES = 1e6  #: an e-value above this refutes; a true statement is refuted with probability below 1e-6
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
        """Takes in samples of X, each at least 0; returns the e-value. Raises ValueError for a negative sample."""
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


def more_samples(samples, limit: float) -> int | None:
    """Estimates how many more samples like the given ones refute ``E[X] <= limit``.

    Returns 0 where they refute it already, and None where more of the same never will. The logarithm of the capital of a
    constant stake grows linearly in expectation; the best stake of the grid counts.

    Example:
        >>> more_samples([1.0, 2.0, 1.5, 2.5], limit=1.0)
        31
        >>> more_samples([0.5, 1.0], limit=1.0) is None
        True
    """
    samples = np.asarray(samples, dtype=float)
    process = EProcess(limit)
    process.update(samples)
    if process.largest > REFUTES:
        return 0
    if limit == 0 or samples.size == 0:
        return None
    growth = max(np.log1p(b * (samples / limit - 1)).mean() for b in _STAKES)
    if growth <= 0:
        return None
    return max(math.ceil(math.log(REFUTES * len(_STAKES)) / growth) - samples.size, 1)


def pooled(values) -> float:
    """One e-value against the hypothesis that several claims are all true: the mean of theirs, whatever their dependence."""
    values = np.asarray(list(values), dtype=float)
    if values.size == 0 or (values < 0).any() or np.isnan(values).any():
        raise ValueError(f"e-values must be numbers of at least 0, one or more; got {values.tolist()}")
    return float(values.mean())


def discoveries(values, rate: float) -> list[int]:
    """Positions of the e-values that refute together at the false discovery rate ``rate`` (e-BH, Wang and Ramdas 2022).

    The k largest are discoveries, for the largest k for which each of them is at least ``len(values) / (k rate)``. The
    dependence of the e-values does not matter.

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


def confidence_band(samples):
    """Mean and the ends of a 95 % band for figures, per column of ``samples`` (runs, points). It decides nothing."""
    samples = np.asarray(samples, dtype=float)
    mean = samples.mean(axis=0)
    if samples.shape[0] < 2:
        return mean, mean, mean
    low, high = asymptotic_sequence(samples)
    return mean, low[-1], high[-1]


_NARROWEST = 64  # samples at which the confidence sequence is narrowest


def asymptotic_sequence(samples, level: float = 0.95):
    """Lower and upper ends after every sample, for the mean of independent samples of finite variance.

    The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024, Theorem 2.2). Its coverage
    at all large sample sizes at once tends to ``level``. After the first sample the ends are infinite.

    Args:
        samples: (samples,) or (samples, points).

    Raises:
        ValueError: a level outside (0, 1).
    """
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1; got {level}")
    alpha, x = 1 - level, np.asarray(samples, dtype=float)
    count = np.arange(1, len(x) + 1).reshape(-1, *(1,) * (x.ndim - 1))
    mean = np.cumsum(x, axis=0) / count
    away = x - x[:1]  # variances do not depend on the origin; near the samples they lose no digits
    square = np.cumsum(away**2, axis=0) / count - (np.cumsum(away, axis=0) / count) ** 2
    spread = np.sqrt(np.maximum(square, 0.0) * count / np.maximum(count - 1, 1))
    scale = count * _tuning(alpha) ** 2
    half = spread * np.sqrt(2 * (scale + 1) / (count * scale) * np.log(np.sqrt(scale + 1) / alpha))
    half = np.where(count == 1, math.inf, half)
    return mean - half, mean + half


def _tuning(alpha: float) -> float:
    """The parameter rho for which the sequence is narrowest after ``_NARROWEST`` samples."""
    def slope(scale):  # the derivative of the squared width by rho^2 vanishes at its root
        return scale - 2 * math.log(1 / alpha) - math.log1p(scale)

    return math.sqrt(brentq(slope, 2 * math.log(1 / alpha), 100 + 10 * math.log(1 / alpha)) / _NARROWEST)
