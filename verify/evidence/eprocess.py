"""E-values: anytime-valid evidence against ``E[X] <= limit`` for non-negative X, from independent samples of X.

Under the hypothesis, ``prod_i (1 + b (X_i / limit - 1))`` is a non-negative supermartingale with mean at most one for
every stake b in [0, 1]. So is its average over a grid of stakes. By Ville's inequality the average ever exceeds 1/alpha
with probability at most alpha, however often one looks (Waudby-Smith and Ramdas 2024).
"""

import math

import numpy as np
from scipy.special import lambertw

__all__ = ["REFUTES", "confidence_band", "e_values", "more_samples"]

REFUTES = 1e6  #: an e-value above this refutes; a true statement is refuted with probability below 1e-6
_STAKES = np.array([0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])


def e_values(samples, limit: float) -> np.ndarray:
    """The e-value against ``E[X] <= limit`` after each sample, (samples,).

    Raises:
        ValueError: a negative limit or sample.

    Example:
        >>> e_values([3.0] * 40, limit=1.0)[-1] > REFUTES, e_values([1.0] * 40, limit=1.0)[-1]
        (np.True_, np.float64(1.0))
    """
    samples = np.atleast_1d(np.asarray(samples, dtype=float))
    if not limit >= 0:
        raise ValueError(f"limit must be at least 0; got {limit}")
    if not (samples >= 0).all():
        raise ValueError(f"samples must be at least 0; got {samples[~(samples >= 0)][0]}")
    if limit == 0:
        return np.where(np.cumsum(samples > 0) > 0, np.inf, 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        log_capital = np.cumsum(np.log1p(_STAKES * (samples[:, None] / limit - 1)), axis=0)
        top = log_capital.max(axis=1)
        values = np.exp(np.minimum(top, 700.0)) * np.mean(np.exp(log_capital - top[:, None]), axis=1)
    return np.where(np.isinf(top), np.inf, values)


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
    if (e_values(samples, limit) > REFUTES).any():
        return 0
    if limit == 0 or samples.size == 0:
        return None
    growth = max(np.log1p(b * (samples / limit - 1)).mean() for b in _STAKES)
    if growth <= 0:
        return None
    return max(math.ceil(math.log(REFUTES * len(_STAKES)) / growth) - samples.size, 1)


_ALPHA, _NARROWEST = 0.05, 64  # the band misses with this probability, and is narrowest after so many samples
#: the square of the parameter for which it is: where its derivative vanishes, s = 2 log(1/alpha) + log(1 + s)
_TUNING_SQ = (-1 - lambertw(-(_ALPHA**2) / math.e, -1).real) / _NARROWEST


def confidence_band(samples):
    """Mean and the ends of a 95 % band for figures, per column of ``samples`` (runs, points). It decides nothing.

    The last ends of the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas (2024, Theorem
    2.2), whose coverage at all large numbers of samples at once tends to 95 %.
    """
    samples = np.asarray(samples, dtype=float)
    mean, count = samples.mean(axis=0), len(samples)
    if count < 2:
        return mean, mean, mean
    scale = count * _TUNING_SQ
    width = math.sqrt(2 * (scale + 1) / (count * scale) * math.log(math.sqrt(scale + 1) / _ALPHA))
    half = samples.std(axis=0, ddof=1) * width
    return mean, mean - half, mean + half
