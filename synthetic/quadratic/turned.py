"""Federations in rotated coordinates: losses that are separable in one basis are not in another."""

from functools import cached_property
from typing import Self

from synthetic.base.federation import Federation
from synthetic.numbers.arrays import Backend, namespace, to_numpy

__all__ = ["Turned", "as_given"]


def as_given(federation: Federation) -> Federation:
    """The federation in its own coordinates."""
    return federation.given if isinstance(federation, Turned) else federation


class Turned(Federation):
    """Clients G_k(x) = F_k(R' x); R rotates the plane of the first and the last coordinate by an angle phi.

    With tan(phi / 2) = ``half_tangent``, R is rational if ``half_tangent`` is. Weights, noise and constants are those of
    the given federation; a stochastic gradient is R times that of the given one.

    Args:
        federation: F, of at least two dimensions.
        half_tangent: (instances,), one for each of its instances.

    Raises:
        ValueError: fewer than two dimensions, another number of instances.

    Example:
        >>> from synthetic import Quadratic
        >>> federation = Turned(Quadratic([[[1.0, 3.0]]], [[[1.0, 0.0]]]), [1.0])
        >>> federation.x_star.tolist()
        [[0.0, 1.0]]
    """

    name = "turned"
    _arrays = ("weights", "priority", "half_tangent")

    def __init__(self, federation: Federation, half_tangent):
        self.given, backend = federation, federation.backend
        self.half_tangent = backend.array(half_tangent)
        if federation.dim < 2:
            raise ValueError(f"turning needs at least 2 dimensions; got {federation.dim}")
        if tuple(self.half_tangent.shape) != (federation.instances,):
            raise ValueError(f"half_tangent must be one number for each of {federation.instances} instances; got shape "
                             f"{tuple(self.half_tangent.shape)}")
        self.weights, self.priority, self.noise = federation.weights, federation.priority, federation.noise
        self.clients, self.dim, self.layer_sizes = federation.clients, federation.dim, federation.layer_sizes

    def turn(self, x, back: bool = False):
        """R x, or R' x, of vectors ``x`` (instances, ..., dim)."""
        xp, t = namespace(x), self.half_tangent.reshape(-1, *(1,) * (x.ndim - 2))
        cosine, sine = (1 - t * t) / (1 + t * t), (-2 if back else 2) * t / (1 + t * t)
        first, last = x[..., 0], x[..., -1]
        ends = xp.stack([cosine * first - sine * last, sine * first + cosine * last], axis=-1)
        shape = (*ends.shape[:-1], self.dim - 2)
        return xp.concat([ends[..., :1], xp.broadcast_to(x[..., 1:-1], shape), ends[..., 1:]], axis=-1)

    def value(self, x, clients=None):
        return self.given.value(self.turn(x, back=True), clients)

    def gradient(self, x, clients=None):
        return self.turn(self.given.gradient(self.turn(x, back=True), clients))

    def stochastic_gradient(self, x, draws, iteration: int, clients=None):
        return self.turn(self.given.stochastic_gradient(self.turn(x, back=True), draws, iteration, clients))

    def prox(self, linear, rho, center, clients=None):
        """argmin over v of G_k(v) + <linear_k, v> + rho/2 |v - center_k|^2, (runs, participants, dim)."""
        return self.turn(self.given.prox(self.turn(linear, back=True), rho, self.turn(center, back=True), clients))

    @cached_property
    def x_star(self):
        return self.turn(self.given.x_star)

    @property
    def F_star_client(self):
        return self.given.F_star_client

    def smoothness(self):
        return self.given.smoothness()

    def convexity(self):
        return self.given.convexity()

    @cached_property
    def constants(self):
        return self.given.constants

    def default_start(self, seed: int = 0):
        start = self.given.default_start(seed)
        return self.turn(namespace(start).broadcast_to(start, (self.instances, self.dim)))[0]

    def _copies(self, times: int) -> Self:
        return Turned(self.given._copies(times), namespace(self.half_tangent).repeat(self.half_tangent, times, axis=0))

    def select(self, rows) -> Self:
        """The instances numbered ``rows``."""
        return Turned(self.given.select(rows), self.half_tangent[rows])

    def _on(self, backend: Backend) -> Self:
        return Turned(self.given._on(backend), to_numpy(self.half_tangent))
