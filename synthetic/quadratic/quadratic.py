"""Quadratic federations: every constant is known exactly."""

from functools import cached_property

import numpy as np

from synthetic.base.checks import nonnegative
from synthetic.base.constants import Constant, of_quadratics
from synthetic.base.federation import Federation
from synthetic.numbers.arrays import TORCH, namespace, take_clients
from synthetic.quadratic.products import solve_shared

__all__ = ["Quadratic", "QuadraticObjective", "curved", "spectrum"]


def curved(curvature, v):
    """A v, shaped as ``v`` (..., dim), for A given by its diagonal or in full."""
    if curvature.ndim == 3:
        return curvature * v
    return namespace(v).matmul(curvature, v[..., None])[..., 0]


def spectrum(curvature):
    """Eigenvalues of A, (instances, clients, dim)."""
    return curvature if curvature.ndim == 3 else namespace(curvature).linalg.eigvalsh(curvature)


class QuadraticObjective:
    """Mixin of federations whose objective is a quadratic: computes F - F* without the clients and without cancellation."""

    def _objective_hessian(self):
        """Hessian of F: its diagonal (instances, dim), or blocks (instances, n, n) that repeat dim / n times."""
        raise NotImplementedError

    @cached_property
    def _expansion(self):
        """Gradient and half the Hessian of F at x*, and whether the latter is one block (n, n) for all instances; None in
        subclasses that override the loss."""
        owner = next(kind for kind in type(self).__mro__ if "_objective_hessian" in vars(kind))
        if any(getattr(type(self), name) is not getattr(owner, name) for name in ("value", "objective")):
            return None
        half = self._objective_hessian() / 2
        shared = half.ndim == 3 and half.shape[0] == 1
        return self.objective_gradient(self.x_star), half[0] if shared else half, shared

    def suboptimality(self, x):
        """F(x) - F* at ``x`` (runs, dim), as (runs,): <grad F(x*), x - x*> + 1/2 <x - x*, Hessian (x - x*)>."""
        if self._expansion is None:
            return super().suboptimality(x)
        slope, half, shared = self._expansion
        v, n = x - self.x_star, half.shape[-1]
        if shared:
            bent = v @ half if n == self.dim else (v.reshape(-1, n) @ half).reshape(v.shape)
        else:
            bent = half * v if half.ndim == 2 else (v.reshape(v.shape[0], -1, n) @ half).reshape(v.shape)
        return namespace(x).sum(v * (slope + bent), axis=-1)


class Quadratic(QuadraticObjective, Federation):
    """F_k(x) = 1/2 (x - c_k)^T A_k (x - c_k) + b_k.

    ``curvature`` is (instances, clients, dim) for diagonal A_k or (instances, clients, dim, dim) for symmetric
    positive definite ones; ``center`` c_k (instances, clients, dim); ``offset`` b_k (instances, clients), the minimum
    of F_k: it changes which clients a loss comparison selects, never a gradient. ``layers``: sizes of the layers, or a
    number of equal layers; default one layer.

    Raises:
        ValueError: shapes, a curvature that is not positive, dense curvature on exact arrays, layers that do not fit.
    """

    name = "quadratic"
    _arrays = ("curvature", "center", "offset", "weights", "priority")

    def __init__(self, curvature, center, offset=None, weights=None, priority=None, noise=None, backend=TORCH, layers=None):
        self.curvature, self.center = backend.array(curvature), backend.array(center)
        xp = namespace(self.center)
        self.diagonal = self.curvature.ndim == 3
        instances, self.clients, self.dim = self.center.shape
        shape = (instances, self.clients)
        if tuple(self.curvature.shape[:3]) != (instances, self.clients, self.dim):
            raise ValueError(f"curvature {tuple(self.curvature.shape)} does not fit center {tuple(self.center.shape)}")
        if not self.diagonal and self.center.dtype == object:
            raise ValueError(f"dense curvature needs an array library of floats; got {backend.library!r}, allowed: torch, "
                             "numpy")
        self.offset = 0 * self.center[..., 0] if offset is None else xp.broadcast_to(backend.array(offset), shape)
        self._set_common(backend, shape, weights, priority, noise, layers)
        smallest = xp.min(self.convexity().value)
        if not smallest > 0:
            raise ValueError(f"every curvature must be positive; got {float(smallest)}")

    def gradient(self, x, clients=None):
        return curved(take_clients(self.curvature, clients), x - take_clients(self.center, clients))

    def value(self, x, clients=None):
        v = x - take_clients(self.center, clients)
        quadratic = namespace(v).sum(v * curved(take_clients(self.curvature, clients), v), axis=-1) / 2
        return quadratic + take_clients(self.offset, clients)

    def prox(self, linear, rho, center, clients=None):
        """argmin over v of F_k(v) + <linear_k, v> + rho/2 |v - center_k|^2, solved exactly, (runs, participants, dim).

        It is (A_k + rho I)^-1 (A_k c_k + rho center_k - linear_k).

        Args:
            linear, center: (runs, participants, dim), or what broadcasts to it.
            rho: a number, or (runs, 1, 1); at least 0.

        Raises:
            ValueError: negative ``rho``.

        Example:
            >>> federation = Quadratic([[[1.0]]], [[[3.0]]])
            >>> zero = federation.all_clients(federation.default_start()[None])
            >>> federation.prox(linear=zero, rho=2.0, center=zero).tolist()
            [[[1.0]]]
        """
        nonnegative("rho", rho)
        own, curvature = take_clients(self.center, clients), take_clients(self.curvature, clients)
        if self.diagonal:
            return (curvature * own + rho * center - linear) / (curvature + rho)
        right = curved(curvature, own) + rho * center - linear
        shift = rho[..., None] if getattr(rho, "ndim", 0) else rho
        return solve_shared(curvature + shift * self.backend.array(np.eye(self.dim)), right[..., None])[..., 0]

    @cached_property
    def x_star(self):
        return self.minimiser(self.weights * self.priority)

    def minimiser(self, weights):
        """Minimiser of sum_k weights[:, k] F_k, (instances, dim), for any ``weights`` (instances, clients) >= 0."""
        xp = namespace(self.center)
        right = xp.sum(weights[..., None] * curved(self.curvature, self.center), axis=1)
        if self.diagonal:
            return right / xp.sum(weights[..., None] * self.curvature, axis=1)
        return xp.linalg.solve(xp.sum(weights[..., None, None] * self.curvature, axis=1), right[..., None])[..., 0]

    def _objective_hessian(self):
        p = self.weights * self.priority
        return namespace(p).sum(p.reshape(*p.shape, *(1,) * (self.curvature.ndim - 2)) * self.curvature, axis=1)

    @property
    def F_star_client(self):
        return self.offset

    def smoothness(self):
        return Constant(namespace(self.center).max(spectrum(self.curvature), axis=-1), "exact", "largest eigenvalue")

    def convexity(self):
        return Constant(namespace(self.center).min(spectrum(self.curvature), axis=-1), "exact", "smallest eigenvalue")

    def extra_constants(self):
        return {} if self.curvature.dtype == object else of_quadratics(self, self.curvature)
