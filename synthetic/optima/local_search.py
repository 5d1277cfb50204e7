"""Federations whose optima are computed once, and the best local minima found from several starts, which are estimates."""

from functools import cached_property

import numpy as np

from synthetic.base.constants import Constant
from synthetic.base.federation import Federation
from synthetic.numbers.arrays import namespace, to_numpy
from synthetic.optima.newton import line_search

__all__ = ["LocalMinima", "Solved", "best_points", "descend", "difference_hessian", "scattered"]

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


class Solved(Federation):
    """A family defines ``_solved_objective`` and ``_solved_clients``: tuples that begin with the points found."""

    _solved = ("_solved_objective", "_solved_clients")

    @property
    def x_star(self):
        return self._solved_objective[0]

    @property
    def client_minimisers(self):
        """Minimiser of each F_k, (instances, clients, dim), or the best point found."""
        return self._solved_clients[0]

    @cached_property
    def F_star_client(self):
        return self.value(self.client_minimisers)


class LocalMinima(Solved):
    """A family without proofs: optima are local minima found from the default start, L is an estimate."""

    _solved = ("_local_optima",)
    optimum_provenance = ("estimate", "local minima found from the default start; nothing is proven about them")

    @cached_property
    def _local_optima(self):
        double = self._double
        found = best_points(double, to_numpy(double.default_start())[None], iterations=150, tolerance=1e-8)
        return tuple(map(self.backend.array, found))

    _solved_objective = property(lambda self: self._local_optima[:1])
    _solved_clients = property(lambda self: self._local_optima[1:])

    def smoothness(self):
        return estimated_smoothness(self, (self.default_start()[None], self.x_star))

    def convexity(self):
        return None


# L-BFGS -------------------------------------------------------------------------------------------------------------------
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
    """The point of least ``value`` of each problem among ``points`` (candidates, ..., dim), as (..., dim)."""
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
