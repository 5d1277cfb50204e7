"""Small federations of every data family, and helpers of the tests."""

import functools
import inspect

import numpy as np

from synthetic import BinaryLogistic, LeastSquares, SoftmaxLogistic, from_arrays, to_numpy

FAMILIES = ["least-squares", "least-squares with ridge", "binary", "softmax", "softmax with intercept"]
TASKS = {"least-squares": LeastSquares, "binary": BinaryLogistic, "softmax": SoftmaxLogistic}


def each(names, rows):
    """Decorator like ``pytest.mark.parametrize`` with all rows in one test; a failure names its row."""
    names = names.replace(" ", "").split(",") if isinstance(names, str) else list(names)

    def over_rows(test):
        @functools.wraps(test)
        def all_rows(**fixtures):
            for row in rows:
                try:
                    test(**dict(zip(names, row if len(names) > 1 else [row], strict=True)), **fixtures)
                except BaseException as error:
                    error.add_note(f"in the row {row!r}")
                    raise

        rest = [p for name, p in inspect.signature(test).parameters.items() if name not in names]
        all_rows.__signature__ = inspect.Signature(rest)
        return all_rows

    return over_rows


def make(family, seed=0, **options):
    """Four clients of 9, 5, 1 and 12 samples with three features, two of them free."""
    rng = np.random.default_rng(seed)
    X, client = rng.normal(size=(27, 3)) * [1.0, 3.0, 0.5], np.repeat(np.arange(4), [9, 5, 1, 12])
    y = {"l": rng.normal(size=27), "b": rng.integers(0, 2, 27), "s": np.arange(27) % 4}[family[0]]
    options = {"priority": [0, 3], "ridge": 0.0 if family == "least-squares" else 0.05} | options
    shuffled = rng.permutation(27)
    return from_arrays(X[shuffled], y[shuffled], client[shuffled], task=family.split(" with")[0],
                       intercept="intercept" in family, **options)


def several(family, instances, **options):
    """One federation whose instances are those of :func:`make` with seeds 0, 1, ..."""
    each = [make(family, seed) for seed in range(instances)]
    task = TASKS[family.split(" with")[0]]
    arrays = [np.concatenate([to_numpy(getattr(f, name)) for f in each])
              for name in ("features", "targets", "counts", "weights", "priority")]
    return task(*arrays[:3], weights=arrays[3], priority=arrays[4], ridge=each[0].ridge, **options)


def value(federation, name):
    return to_numpy(federation.constants.value(name))


def random_points(federation, runs, seed, scale=1.0):
    points = np.random.default_rng(seed).normal(size=(runs, federation.clients, federation.dim)) * scale
    return federation.backend.array(points)


def sample_gradients(federation, x):
    """Gradient of every single sample at ``x`` (runs, clients, dim) as (runs, clients, samples, dim)."""
    slopes = federation.slope(federation._scores(federation.features, x), federation.targets)
    each = slopes[..., :, None] * federation.features[..., None, :]
    return each.reshape(*each.shape[:3], -1) + federation.ridge * x[:, :, None]
