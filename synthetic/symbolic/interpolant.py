"""Smooth functions through given points: where, gradient and value of each client at each point."""

from functools import cached_property

import numpy as np

from synthetic.base.constants import Constant
from synthetic.base.federation import Federation
from synthetic.numbers.arrays import NUMPY, Backend, backend_of, to_numpy

__all__ = ["Interpolant"]

_TINY = 1e-13


class Interpolant(Federation):
    """Clients with curvatures from ``m`` to ``L`` whose gradients and values at given points are given ones.

    With g_i - m x_i and f_i - m/2 |x_i|^2 in place of gradients and values and M = L - m it is, in client k,

        F(x) = m/2 |x|^2 + min over convex combinations a of  M/2 |x - sum_i a_i (x_i - g_i/M)|^2
                                                             + sum_i a_i (f_i - |g_i|^2 / (2 M)),

    the largest function of the class through the points, if one goes through them (Taylor, Hendrickx, Glineur 2017, section
    3.3). Whatever the points are, F - m/2 |x|^2 is a Moreau envelope: convex and M-smooth. The minimiser of the objective is
    taken to be 0.

    Args:
        places, gradients: (clients, points, dim); ``values``: (clients, points).

    Raises:
        ValueError: ``m`` is not below ``L``, or shapes do not fit.

    Example:
        Through gradient 0 at 0 and gradient 1 at 2, with curvatures from 0 to 1: flat up to 1, then x - 1.

        >>> from synthetic.symbolic.interpolant import Interpolant
        >>> federation = Interpolant([[[0.0], [2.0]]], [[[0.0], [1.0]]], [[0.0, 0.5]], L=1.0)
        >>> federation.gradient(federation.backend.array([[[1.5]], [[2.0]]])).ravel().round(9).tolist()
        [0.5, 1.0]
    """

    name = "functions through given points"
    optimum_provenance = ("estimate", "the points are rounded numbers")

    def __init__(self, places, gradients, values, L: float, m: float = 0.0, backend: Backend = NUMPY):
        places, gradients, values = (np.asarray(array, dtype=float) for array in (places, gradients, values))
        if places.ndim != 3 or gradients.shape != places.shape or values.shape != places.shape[:2]:
            raise ValueError(f"places and gradients must be (clients, points, dim) and values (clients, points); got "
                             f"{places.shape}, {gradients.shape}, {values.shape}")
        if not m < L:
            raise ValueError(f"m must be below L = {L:g}; got {m:g}")
        self.L, self.m, self.steep = float(L), float(m), float(L - m)
        self.clients, _, self.dim = places.shape
        slopes = gradients - m * places
        self.anchors = places - slopes / self.steep
        self.heights = values - m / 2 * (places**2).sum(-1) - (slopes**2).sum(-1) / (2 * self.steep)
        self._set_common(backend, (1, self.clients), None, None, None, None)

    def _each(self, x, clients, of_client, number=0.0):
        """``of_client(k, x, number)`` at each row of ``x`` (runs, participants, dim), stacked on its backend."""
        rows = to_numpy(x).astype(float)
        known = np.arange(rows.shape[1]) if clients is None else to_numpy(clients)
        number = np.broadcast_to(to_numpy(number), (*rows.shape[:2], 1))[..., 0]
        known = np.broadcast_to(known, rows.shape[:2])
        return backend_of(x).array(np.array([
            [of_client(*one) for one in zip(*run, strict=True)] for run in zip(known, rows, number, strict=True)]))

    def nearest(self, k, x, steep):
        """The combination of the anchors of client ``k`` with the least steep/2 |x - .|^2 + height, and that least value."""
        share = least_on_simplex(self.anchors[k], self.heights[k], x, steep)
        point = share @ self.anchors[k]
        return point, steep / 2 * ((x - point) ** 2).sum() + share @ self.heights[k]

    def value(self, x, clients=None):
        return self._each(x, clients, lambda k, v, _: self.m / 2 * (v**2).sum() + self.nearest(k, v, self.steep)[1])

    def gradient(self, x, clients=None):
        return self._each(x, clients, lambda k, v, _: self.m * v + self.steep * (v - self.nearest(k, v, self.steep)[0]))

    def prox(self, linear, rho, center, clients=None):
        """argmin over v of F_k(v) + <linear, v> + rho/2 |v - center|^2, (runs, participants, dim); ``rho`` is above -m, a
        number or an array that broadcasts."""
        def of_client(k, goal, rho):
            pull = self.m + rho
            point, _ = self.nearest(k, goal / pull, self.steep * pull / (self.steep + pull))
            return (self.steep * point + goal) / (self.steep + pull)

        return self._each(rho * center - linear, clients, of_client, rho)

    @cached_property
    def x_star(self):
        return self.backend.array(np.zeros((1, self.dim)))

    @cached_property
    def F_star_client(self):
        if self.m <= 0:
            least = self.heights.min(axis=1)
            return self.backend.array((least if self.m == 0 else np.full(self.clients, np.nan))[None])
        steep = self.steep * self.m / (self.steep + self.m)
        return self.backend.array([[self.nearest(k, np.zeros(self.dim), steep)[1] for k in range(self.clients)]])

    def smoothness(self):
        return Constant(0 * self.weights + max(self.L, -self.m), "upper", "curvatures are at most L")

    def convexity(self):
        return Constant(0 * self.weights + self.m, "lower", "curvatures are at least m")


def least_on_simplex(anchors, heights, x, steep):
    """The weights a >= 0 of sum 1 with the least steep/2 |x - a @ anchors|^2 + a @ heights, by an active-set method."""
    away = anchors - x  # then x is 0
    heights = heights - heights.min()
    size = max(steep / 2 * (away**2).sum(axis=1).max(), heights.max()) or 1.0  # in units of which all numbers are
    heights, steep = heights / size, steep / size
    alone = steep / 2 * (away**2).sum(axis=1) + heights
    shares = np.zeros(len(heights))
    shares[np.argmin(alone)] = 1.0
    held = [int(np.argmin(alone))]
    least, idle = np.inf, 0
    while idle < len(heights):  # rounding may add and remove the same points for ever
        while True:  # the least over the weights that are held
            count = len(held)
            matrix = np.ones((count + 1, count + 1))
            matrix[:count, :count], matrix[count, count] = steep * away[held] @ away[held].T, 0.0
            right = np.append(-heights[held], 1.0)
            found, *_ = np.linalg.lstsq(matrix, right, rcond=1e-14)
            rest = right - matrix @ found
            # a direction in which only the heights change, with a weight that falls along it; else it is rounding
            flat = np.abs(rest).max() > 1e-9 and (rest[:count] < -_TINY).any()
            step = rest[:count] if flat else found[:count] - shares[held]
            falling = step < -_TINY
            ratios = np.where(falling, shares[held] / np.where(falling, -step, 1.0), np.inf)
            length = ratios.min() if flat else min(1.0, ratios.min())
            shares[held] += length * step
            if not flat and ratios.min() >= 1.0:
                break
            gone = held[int(np.argmin(ratios))]
            shares[gone] = 0.0
            held.remove(gone)
        slopes = steep * away @ (shares @ away) + heights
        best, now = int(np.argmin(slopes)), steep / 2 * ((shares @ away) ** 2).sum() + shares @ heights
        if slopes[best] >= shares @ slopes - _TINY or best in held:
            break
        held.append(best)
        least, idle = min(least, now), 0 if now < least else idle + 1
    shares = np.maximum(shares, 0.0)
    return shares / shares.sum()
