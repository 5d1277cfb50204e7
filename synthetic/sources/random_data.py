"""Random data for linear models of every loss: clients with their own true parameters."""

import numpy as np

from synthetic.base.checks import number, whole
from synthetic.data.federation import DataFederation
from synthetic.data.from_arrays import from_arrays
from synthetic.data.scalar_losses import ScalarLoss

__all__ = ["random_generalised_linear", "random_least_squares", "random_logistic", "random_perceptron"]


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


def random_generalised_linear(
    clients: int = 10, samples: int = 50, dim: int = 5, *, spread: float = 1.0, loss: str = "log-cosh", scale: float = 1.0,
    width: float = 1.0, alpha: float = 0.0, target_noise: float = 0.1, outliers: float = 0.0, seed: int = 0, **options,
) -> DataFederation:
    """Generalised linear federation with any scalar loss, see :class:`synthetic.GeneralisedLinear`, on the data of the two
    functions above.

    Rows a are divided by sqrt(dim), so that a sample's constants do not grow with ``dim``. Regression losses have targets
    a.w_k + noise; losses of margins have labels y = -1, 1 drawn as in :func:`random_logistic`, hence features -y a and
    targets 0.

    Args:
        outliers: share of the samples whose target is moved by a normal number of standard deviation 10, or whose label is
            turned.
    """
    X, scores, client = _draw(clients, samples, dim, spread, seed)
    rng, outliers = np.random.default_rng([seed, 1]), number("outliers", outliers, high=1.0)
    odd = np.random.default_rng([seed, 2]).random(len(scores)) < outliers
    X = X / dim**0.5
    if options.pop("intercept", False):
        X = np.concatenate([X, np.ones((len(X), 1))], axis=1)  # here, as a label's margin has the sign of the label
    if ScalarLoss(loss, scale, width).margin:
        y = np.where(rng.random(len(scores)) < (1 + np.tanh(scores / 2)) / 2, 1.0, -1.0) * np.where(odd, -1, 1)
        X, y = -y[:, None] * X, 0 * y
    else:
        y = scores / dim**0.5 + number("target_noise", target_noise) * rng.standard_normal(len(scores))
        y = y + odd * 10 * np.random.default_rng([seed, 3]).standard_normal(len(scores))
    options.setdefault("name", f"{loss} loss, {clients} clients, dim {dim}")
    return from_arrays(X, y, client, task="generalised-linear", loss=loss, scale=scale, width=width, alpha=alpha, seed=seed,
                       **options)


def random_perceptron(clients: int = 4, samples: int = 30, dim: int = 4, *, classes: int = 3, hidden=(6,),
                      activation: str = "tanh", spread: float = 1.0, ridge: float = 1e-3, seed: int = 0,
                      **options) -> DataFederation:
    """A perceptron on normal rows a, labels the largest entry of W_k a, W_k = W + spread * (a normal matrix).

    ``hidden`` and ``activation`` as in :class:`synthetic.Perceptron`; the other arguments as in
    :func:`random_least_squares`.
    """
    X, _, client = _draw(clients, samples, dim, spread, seed)
    rng = np.random.default_rng([seed, 1])
    matrices = rng.standard_normal((1, classes, dim)) + spread * rng.standard_normal((clients, classes, dim))
    y = np.argmax((matrices[client] * X[:, None]).sum(axis=-1), axis=-1)
    options.setdefault("name", f"perceptron, {clients} clients, {dim} inputs")
    return from_arrays(X, y, client, task="perceptron", classes=whole("classes", classes, 2), hidden=hidden, ridge=ridge,
                       activation=activation, seed=seed, **options)


def _draw(clients, samples, dim, spread, seed):
    clients, samples, dim = whole("clients", clients), whole("samples", samples), whole("dim", dim)
    generator = np.random.default_rng([whole("seed", seed, low=0), 0])
    rows = generator.standard_normal((clients, samples, dim))
    truth = generator.standard_normal(dim) + number("spread", spread) * generator.standard_normal((clients, 1, dim))
    scores = (rows * truth).sum(axis=-1)
    return rows.reshape(-1, dim), scores.ravel(), np.repeat(np.arange(clients), samples)
