"""Random data for least squares and logistic regression: clients with their own true parameters."""

from __future__ import annotations

import numpy as np

from synthetic.checks import number, whole
from synthetic.data import DataFederation
from synthetic.from_arrays import from_arrays

__all__ = ["random_least_squares", "random_logistic"]


def random_least_squares(clients: int = 10, samples: int = 50, dim: int = 20, *, spread: float = 1.0,
                         target_noise: float = 0.1, seed: int = 0, **options) -> DataFederation:
    """Least squares with standard normal rows and b_k = A_k w_k + noise, w_k = w + spread * (a normal vector).

    Args:
        clients, samples, dim: sizes; every client has ``samples`` rows.
        spread: scale of the differences between the clients' parameters, per coordinate.
        target_noise: standard deviation of the noise in the targets.
        options: passed to :func:`from_arrays` (``ridge``, ``batch_size``, ``priority``, ``backend``, ...).
    """
    X, scores, client = _draw(clients, samples, dim, spread, seed)
    noise = np.random.default_rng([seed, 1]).standard_normal(len(scores))
    y = scores + number("target_noise", target_noise) * noise
    options.setdefault("name", f"least squares, {clients} clients, dim {dim}")
    return from_arrays(X, y, client, task="least-squares", seed=seed, **options)


def random_logistic(clients: int = 10, samples: int = 50, dim: int = 20, *, spread: float = 1.0,
                    ridge: float = 1e-2, seed: int = 0, **options) -> DataFederation:
    """Binary logistic regression: standard normal rows a, label 1 with probability 1 / (1 + exp(-w_k^T a)).

    Arguments as in :func:`random_least_squares`.
    """
    X, scores, client = _draw(clients, samples, dim, spread, seed)
    uniform = np.random.default_rng([seed, 1]).random(len(scores))
    y = np.where(uniform < (1 + np.tanh(scores / 2)) / 2, 1, -1)
    options.setdefault("name", f"binary logistic regression, {clients} clients, dim {dim}")
    return from_arrays(X, y, client, task="binary", ridge=ridge, seed=seed, **options)


def _draw(clients, samples, dim, spread, seed):
    clients, samples, dim = whole("clients", clients), whole("samples", samples), whole("dim", dim)
    generator = np.random.default_rng([whole("seed", seed, low=0), 0])
    rows = generator.standard_normal((clients, samples, dim))
    truth = generator.standard_normal(dim) + number("spread", spread) * generator.standard_normal((clients, 1, dim))
    scores = (rows * truth).sum(axis=-1)
    return rows.reshape(-1, dim), scores.ravel(), np.repeat(np.arange(clients), samples)
