"""Huber federations: piecewise quadratic clients, exact on fractions, from which tight lower bounds are built."""

from __future__ import annotations

from functools import cached_property

from synthetic.base.checks import nonnegative
from synthetic.base.constants import Constant
from synthetic.base.federation import Federation
from synthetic.base.heterogeneity import sigma_g_constants
from synthetic.base.noise import NoNoise
from synthetic.numbers.arrays import TORCH, maximum, namespace, take_clients

__all__ = ["Huber"]


def _clip(values, bound):
    """``values`` cut to [-bound, bound], on every backend."""
    return -maximum(-maximum(values, -bound), -bound)


class Huber(Federation):
    """F_k(x) = b_k + sum_j h(x_j - c_kj), h(u) = curvature/2 u^2 where |u| <= radius, and of curvature ``tail`` outside.

    With u_r = u cut to [-radius, radius], h(u) = tail/2 u^2 + (curvature - tail) (u u_r - u_r^2/2). ``tail=0`` gives
    linear ends: the Huber loss, Lipschitz with curvature * radius per coordinate. ``tail = curvature`` is a quadratic.

    All arguments are (instances, clients, dim), ``offset`` b_k (instances, clients); or what broadcasts to it. L is the
    largest curvature, mu the least tail. With equal tails sigma_g over all of R^d is exact (in more than one dimension
    the first moment is a bound). ``G`` bounds |grad F_k|, ``G_lip`` is the Lipschitz constant of F_k; both need tails of 0.

    Raises:
        ValueError: shapes, a curvature that is not positive or below its tail, a negative tail or radius.

    Example:
        >>> federation = Huber(curvature=[[[1.0]]], radius=0.5, center=[[[0.0]]])
        >>> federation.value(federation.backend.array([[[2.0]]])).tolist()
        [[0.875]]
    """

    name = "huber"
    optimum_provenance = ("exact", "root of a piecewise linear function, by coordinate")
    _arrays = ("curvature", "radius", "tail", "center", "offset", "weights", "priority")

    def __init__(self, curvature, radius, center, tail=0, offset=None, weights=None, priority=None, noise=None, layers=None,
                 backend=TORCH):
        self.center = backend.array(center)
        xp = namespace(self.center)
        if self.center.ndim != 3:
            raise ValueError(f"center must be (instances, clients, dim); got shape {tuple(self.center.shape)}")
        instances, self.clients, self.dim = self.center.shape
        shape = (instances, self.clients)
        for name, values in (("curvature", curvature), ("radius", radius), ("tail", tail)):
            array = backend.array(values)
            if len(array.shape) > 3 or any(n not in (1, full) for n, full in zip(
                    reversed(array.shape), reversed(self.center.shape), strict=False)):
                raise ValueError(f"{name} must broadcast to {tuple(self.center.shape)}; got shape {tuple(array.shape)}")
            setattr(self, name, xp.broadcast_to(array, self.center.shape) + 0 * self.center)
        nonnegative("radius", self.radius)
        nonnegative("tail", self.tail)
        nonnegative("curvature less its tail", self.curvature - self.tail)
        if not bool((self.curvature > 0).all()):
            raise ValueError(f"every curvature must be positive; got {float(self.curvature.min())}")
        zero = 0 * self.center[..., 0]
        self.offset = zero if offset is None else xp.broadcast_to(backend.array(offset), shape)
        priority = xp.broadcast_to(backend.booleans(True if priority is None else priority), shape)
        self._set_weights(zero + 1 if weights is None else xp.broadcast_to(backend.array(weights), shape), priority)
        self.noise = NoNoise() if noise is None else noise
        self._set_layers(layers)

    def _parts(self, clients):
        return (take_clients(array, clients) for array in (self.curvature, self.radius, self.tail, self.center))

    def value(self, x, clients=None):
        curvature, radius, tail, center = self._parts(clients)
        u = x - center
        cut = _clip(u, radius + 0 * u)
        terms = tail * u**2 / 2 + (curvature - tail) * (u * cut - cut**2 / 2)
        return namespace(x).sum(terms, axis=-1) + take_clients(self.offset, clients)

    def gradient(self, x, clients=None):
        curvature, radius, tail, center = self._parts(clients)
        u = x - center
        return tail * u + (curvature - tail) * _clip(u, radius + 0 * u)

    def prox(self, linear, rho, center, clients=None):
        """argmin over v of F_k(v) + <linear_k, v> + rho/2 |v - center_k|^2, solved exactly, (runs, participants, dim).

        Arguments as in :meth:`synthetic.Quadratic.prox`. Where a tail is 0 ``rho`` must be positive.

        Raises:
            ValueError: ``rho`` negative, or 0 with a tail of 0.
        """
        nonnegative("rho", rho)
        curvature, radius, tail, own = self._parts(clients)
        if not bool((tail + rho > 0).all()):
            raise ValueError("rho must be above 0 where a tail is 0; got 0")
        pull = rho * (center - own) - linear
        inner = _clip(pull, (curvature + rho) * radius + 0 * pull)
        return own + inner / (curvature + rho) + (pull - inner) / (tail + rho)

    # optimum: the derivative by coordinate is piecewise linear between the points center +- radius ----------------------
    def _breaks(self):
        """Sorted points where a client's second derivative changes, (instances, 2 clients, dim)."""
        xp = namespace(self.center)
        return xp.sort(xp.concat([self.center - self.radius, self.center + self.radius], axis=1), axis=1)

    def _slopes_at(self, breaks):
        """Derivatives (instances, breaks, clients, dim) of every client by coordinate at ``breaks``."""
        u = breaks[:, :, None] - self.center[:, None]
        tail, curvature = self.tail[:, None], self.curvature[:, None]
        return tail * u + (curvature - tail) * _clip(u, self.radius[:, None] + 0 * u)

    @cached_property
    def x_star(self):
        return self.minimiser(self.weights * self.priority)

    def minimiser(self, weights):
        """Minimiser of sum_k weights[:, k] F_k, (instances, dim), the least where there are several."""
        xp, breaks = namespace(self.center), self._breaks()
        slopes = xp.sum(weights[:, None, :, None] * self._slopes_at(breaks), axis=2)
        after = xp.argmax(xp.astype(slopes >= 0, xp.int64), axis=1)[:, None]
        before = xp.clip(after - 1, min=0)
        (p, q), (low, high) = ([xp.take_along_axis(array, i, axis=1)[:, 0] for i in (before, after)]
                               for array in (breaks, slopes))
        rise = high - low
        return xp.where(rise > 0, p - (q - p) * low / xp.where(rise > 0, rise, rise + 1), q)

    @property
    def client_minimisers(self):
        """Minimiser of each F_k, (instances, clients, dim)."""
        return self.center

    @property
    def F_star_client(self):
        return self.offset

    # constants ------------------------------------------------------------------------------------------------------
    def smoothness(self):
        inside = namespace(self.center).where(self.radius > 0, self.curvature, self.tail)
        return Constant(namespace(self.center).max(inside, axis=-1), "exact", "largest curvature")

    def convexity(self):
        return Constant(namespace(self.center).min(self.tail, axis=-1), "exact", "smallest curvature of a tail")

    def extra_constants(self):
        xp, entries = namespace(self.center), {}
        if self.center.dtype == object:
            return entries  # norms have roots, which leave the fractions
        if bool((self.tail == 0).all()):
            steep = xp.sqrt(xp.sum((self.curvature * self.radius) ** 2, axis=-1))
            for name, note in (("G", "|grad F_k| over all of R^d"), ("G_lip", "Lipschitz constant of F_k")):
                entries[name] = Constant(xp.max(steep, axis=-1), "exact", f"{note}, largest of the clients'")
                entries[f"{name}_client"] = Constant(steep, "exact", note)
        return entries | (self._sigma_g() if bool((self.tail == self.tail[:, :1]).all()) else {})

    def _sigma_g(self):
        """With equal tails grad F_k - grad F is piecewise linear by coordinate and constant far out: largest at a break."""
        xp, p = namespace(self.center), self.weights * self.priority
        slopes = self._slopes_at(self._breaks())
        apart = slopes - xp.sum(p[:, None, :, None] * slopes, axis=2, keepdims=True)
        norm = xp.sqrt(xp.sum(xp.max(apart**2, axis=1), axis=-1))
        entries = sigma_g_constants(norm, p, "", "exact", "over all of R^d, at a point where a tail begins")
        second = xp.sum(xp.max(xp.sum(p[:, None, :, None] * apart**2, axis=2), axis=1), axis=-1)
        first = xp.max(xp.sum(p[:, None, :, None] * xp.abs(apart), axis=2), axis=1)[:, 0]
        entries["sigma_g_2"] = Constant(xp.sqrt(second), "exact", entries["sigma_g_2"].note)
        if self.dim == 1:
            entries["sigma_g_1"] = Constant(first, "exact", entries["sigma_g_1"].note)
        else:
            entries["sigma_g_1"] = Constant(xp.sqrt(second), "upper", "by the second moment")
        return entries
