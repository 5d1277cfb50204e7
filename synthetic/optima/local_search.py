"""The best local minima found from several starts: estimates, for federations that are not convex."""

from __future__ import annotations

import numpy as np

from synthetic.base.constants import Constant
from synthetic.numbers.arrays import namespace
from synthetic.optima.descent import best_of, descend

__all__ = ["best_points", "difference_hessian", "estimated_smoothness", "scattered"]

_POWER_STEPS = 20


def best_points(federation, starts, iterations: int = 500, tolerance: float = 1e-11):
    """Best points found for the objective (instances, dim) and for every client (instances, clients, dim).

    ``starts`` (candidates, dim) are where the descents begin. The best point of the objective is one more start for the
    clients, so that no client's value is above its value there.
    """
    backend = federation.backend
    starts = backend.array(starts)
    xp, candidates, instances = namespace(starts), starts.shape[0], federation.instances
    weights = federation.weights * federation.priority
    settings = {"iterations": iterations, "tolerance": tolerance}

    def search(value, gradient, points):  # points (candidates, instances, ..., dim)
        if instances == 1:  # candidates take the place of runs
            found = descend(value, gradient, points[:, 0], **settings)[:, None]
        else:
            found = xp.stack([descend(value, gradient, point, **settings) for point in points], axis=0)
        return best_of(value, found)

    points = xp.broadcast_to(starts[:, None], (candidates, instances, federation.dim))
    objective, slope = federation._mean(federation.value, weights), federation._mean(federation.gradient, weights)
    best = search(objective, slope, points)
    each = xp.broadcast_to(starts[:, None, None], (candidates, instances, federation.clients, federation.dim))
    beside = xp.broadcast_to(best[None, :, None], (1, *each.shape[1:]))
    return best, search(federation.value, federation.gradient, xp.concat([each, beside], axis=0))


def scattered(dim: int, count: int, scale: float) -> np.ndarray:
    """``count`` starts (count, dim): the origin, then normal points of root mean square norm ``scale``."""
    rng = np.random.default_rng(0)
    return np.concatenate([np.zeros((1, dim)), rng.normal(size=(count - 1, dim)) * scale / dim**0.5])


def difference_hessian(gradient, x):
    """A function that multiplies by the Hessian at ``x`` (..., dim), by central differences of ``gradient``."""

    def product(direction):
        xp = namespace(x)
        size = xp.sqrt(xp.sum(direction**2, axis=-1, keepdims=True))
        small = 1e-5 / xp.where(size > 0, size, 0 * size + 1)
        return (gradient(x + small * direction) - gradient(x - small * direction)) / (2 * small)

    return product


def estimated_smoothness(federation, points) -> Constant:
    """Largest |Hessian| of each client at ``points`` (each (instances | 1, dim)), by power iteration: an estimate of L_k."""
    double = federation._double
    xp, backend, largest = namespace(double.weights), double.backend, 0 * double.weights
    shape = (double.instances, double.clients, double.dim)
    direction = backend.array(np.random.default_rng(0).standard_normal(shape[1:]))
    for point in points:
        x = xp.broadcast_to(double.all_clients(backend.array(point)), shape)
        hessian, v = difference_hessian(double.gradient, x), xp.broadcast_to(direction, shape)
        for _ in range(_POWER_STEPS):
            size = xp.sqrt(xp.sum(v**2, axis=-1, keepdims=True))
            v = hessian(v / xp.where(size > 0, size, size + 1))
        largest = xp.maximum(largest, xp.sqrt(xp.sum(v**2, axis=-1)))
    note = f"largest |Hessian| at {len(points)} points, by power iteration"
    return Constant(federation.backend.array(largest), "estimate", note)
