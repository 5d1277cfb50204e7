"""Quadratic federations: every constant is known exactly."""

from __future__ import annotations

from functools import cached_property

from synthetic.arrays import TORCH, namespace, take_clients
from synthetic.constants import Constant
from synthetic.federation import Federation
from synthetic.heterogeneity import of_quadratics
from synthetic.noise import NoNoise

__all__ = ["Quadratic"]


class Quadratic(Federation):
    """F_k(x) = 1/2 (x - c_k)^T A_k (x - c_k) + b_k.

    ``curvature`` is (instances, clients, dim) for diagonal A_k or (instances, clients, dim, dim) for symmetric
    positive definite ones; ``center`` c_k (instances, clients, dim); ``offset`` b_k (instances, clients), the minimum
    of F_k: it changes which clients a loss comparison selects, never a gradient.
    """

    name = "quadratic"

    def __init__(self, curvature, center, offset=None, weights=None, priority=None, noise=None, backend=TORCH):
        self.curvature, self.center = backend.array(curvature), backend.array(center)
        xp = namespace(self.center)
        self.diagonal = self.curvature.ndim == 3
        instances, self.clients, self.dim = self.center.shape
        shape = (instances, self.clients)
        if tuple(self.curvature.shape[:3]) != (instances, self.clients, self.dim):
            raise ValueError(f"curvature {tuple(self.curvature.shape)} does not fit center {tuple(self.center.shape)}")
        zero = 0 * self.center[..., 0]
        self.offset = zero if offset is None else xp.broadcast_to(backend.array(offset), shape)
        priority = xp.broadcast_to(backend.booleans(True if priority is None else priority), shape)
        weights = zero + 1 if weights is None else xp.broadcast_to(backend.array(weights), shape)
        self._set_weights(weights, priority)
        self.noise = NoNoise() if noise is None else noise
        smallest = xp.min(self.convexity().value)
        if not smallest > 0:
            raise ValueError(f"every curvature must be positive; got {float(smallest)}")

    def _apply(self, curvature, v):
        if self.diagonal:
            return curvature * v
        return namespace(v).matmul(curvature, v[..., None])[..., 0]

    def gradient(self, x, clients=None):
        return self._apply(take_clients(self.curvature, clients), x - take_clients(self.center, clients))

    def value(self, x, clients=None):
        v = x - take_clients(self.center, clients)
        quadratic = namespace(v).sum(v * self._apply(take_clients(self.curvature, clients), v), axis=-1) / 2
        return quadratic + take_clients(self.offset, clients)

    @cached_property
    def x_star(self):
        return self.minimiser(self.weights * self.priority)

    def minimiser(self, weights):
        """Minimiser of sum_k weights[:, k] F_k, (instances, dim), for any ``weights`` (instances, clients) >= 0."""
        xp = namespace(self.center)
        right = xp.sum(weights[..., None] * self._apply(self.curvature, self.center), axis=1)
        if self.diagonal:
            return right / xp.sum(weights[..., None] * self.curvature, axis=1)
        return xp.linalg.solve(xp.sum(weights[..., None, None] * self.curvature, axis=1), right[..., None])[..., 0]

    @property
    def F_star_client(self):
        return self.offset

    def _spectrum(self):
        return self.curvature if self.diagonal else namespace(self.center).linalg.eigvalsh(self.curvature)

    def smoothness(self):
        return Constant(namespace(self.center).max(self._spectrum(), axis=-1), "exact", "largest eigenvalue")

    def convexity(self):
        return Constant(namespace(self.center).min(self._spectrum(), axis=-1), "exact", "smallest eigenvalue")

    def extra_constants(self):
        return {} if self.curvature.dtype == object else of_quadratics(self, self.curvature)

    def _with(self, change, noise):
        new = object.__new__(type(self))
        new.__dict__ = {k: v for k, v in self.__dict__.items() if k not in ("x_star", "constants")}
        for name in ("curvature", "center", "offset", "weights", "priority"):
            setattr(new, name, change(getattr(self, name)))
        new.noise = noise
        return new

    def repeat(self, times):
        if self.instances == 1:
            return self
        return self._with(lambda a: namespace(a).repeat(a, times, axis=0), self.noise.repeat(times))

    def select(self, rows):
        return self._with(lambda a: a[rows], self.noise.select(rows))
