"""Anytime-valid evidence against ``E[X] <= limit`` for non-negative X, from samples one after the other.

Under the hypothesis, ``prod_i (1 + b (X_i / limit - 1))`` is a non-negative supermartingale with mean at most one for
every stake b in [0, 1]; so is the average over a grid of stakes. By Ville's inequality it ever exceeds 1/alpha with
probability at most alpha, however often one looks (Waudby-Smith and Ramdas 2024).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["REFUTES", "EProcess", "confidence_band"]

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


def confidence_band(samples, level: float = 0.95):
    """Mean and a two-sided band for figures, per column of ``samples`` (runs, points).

    The band is Student's t interval of the mean: it is drawn, and decides nothing.
    """
    from scipy import stats

    samples = np.asarray(samples, dtype=float)
    runs = samples.shape[0]
    mean = samples.mean(axis=0)
    if runs < 2:
        return mean, mean, mean
    half = stats.t.ppf(0.5 + level / 2, runs - 1) * samples.std(axis=0, ddof=1) / np.sqrt(runs)
    return mean, mean - half, mean + half
