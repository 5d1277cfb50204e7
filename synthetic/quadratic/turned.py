"""Federations in rotated coordinates: losses that are separable in one basis are not in another, and those of clients that
have a basis each are in none."""

from functools import cached_property
from typing import Self

from synthetic.base.federation import Federation
from synthetic.numbers.arrays import Backend, namespace, take_clients, to_numpy
from synthetic.quadratic.quadratic import Quadratic

__all__ = ["Turned", "as_given"]


def as_given(federation: Federation) -> Federation:
    """The federation in the basis of all clients; as it is where they have none in common."""
    return federation.given if isinstance(federation, Turned) and federation.one_basis else federation


class Turned(Federation):
    """Clients G_k(x) = F_k(R_k' x); R_k rotates the plane of the first and the last coordinate by an angle phi_k.

    With tan(phi_k / 2) = ``half_tangent``, R_k is rational if ``half_tangent`` is. Weights, noise and the clients' constants
    are those of the given federation; a stochastic gradient is R_k times that of the given one. Clients with a basis each
    are quadratic, and have no constants of the objective's curvature.

    Args:
        federation: F, of at least two dimensions.
        half_tangent: (instances,), one for all clients of each instance; or (instances, clients).

    Raises:
        ValueError: fewer than two dimensions, another number of instances or of clients, clients with a basis each whose
            Hessians are not given by their diagonals.

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
        self.one_basis = self.half_tangent.ndim == 1
        if federation.dim < 2:
            raise ValueError(f"turning needs at least 2 dimensions; got {federation.dim}")
        sizes = (federation.instances, federation.clients)
        if tuple(self.half_tangent.shape) not in (sizes[:1], sizes):
            raise ValueError(f"half_tangent must be one number for each of {sizes[0]} instances, or for each of their "
                             f"{sizes[1]} clients; got shape {tuple(self.half_tangent.shape)}")
        if not self.one_basis and not (isinstance(federation, Quadratic) and federation.diagonal):
            raise ValueError(f"clients with a basis each must be quadratics with diagonal Hessians; got {federation.name}")
        self.weights, self.priority, self.noise = federation.weights, federation.priority, federation.noise
        self.clients, self.dim, self.layer_sizes = federation.clients, federation.dim, federation.layer_sizes

    def turn(self, x, back: bool = False, clients=None):
        """R_k x, or R_k' x, of vectors ``x`` (instances, ..., dim); (runs, participants, dim) where clients have a basis
        each."""
        xp, t = namespace(x), self.half_tangent
        t = t.reshape(-1, *(1,) * (x.ndim - 2)) if self.one_basis else take_clients(t, clients)
        cosine, sine = (1 - t * t) / (1 + t * t), (-2 if back else 2) * t / (1 + t * t)
        first, last = x[..., 0], x[..., -1]
        ends = xp.stack([cosine * first - sine * last, sine * first + cosine * last], axis=-1)
        shape = (*ends.shape[:-1], self.dim - 2)
        return xp.concat([ends[..., :1], xp.broadcast_to(x[..., 1:-1], shape), ends[..., 1:]], axis=-1)

    def value(self, x, clients=None):
        return self.given.value(self.turn(x, True, clients), clients)

    def gradient(self, x, clients=None):
        return self.turn(self.given.gradient(self.turn(x, True, clients), clients), clients=clients)

    def stochastic_gradient(self, x, draws, iteration: int, clients=None):
        gradient = self.given.stochastic_gradient(self.turn(x, True, clients), draws, iteration, clients)
        return self.turn(gradient, clients=clients)

    def prox(self, linear, rho, center, clients=None):
        """argmin over v of G_k(v) + <linear_k, v> + rho/2 |v - center_k|^2, (runs, participants, dim)."""
        linear, center = self.turn(linear, True, clients), self.turn(center, True, clients)
        return self.turn(self.given.prox(linear, rho, center, clients), clients=clients)

    @cached_property
    def x_star(self):
        return self.turn(self.given.x_star) if self.one_basis else self._solution()

    def _solution(self):
        """Minimiser of the mean of quadratics with a basis each, (instances, dim): two equations in the plane of the first
        and the last coordinate, one for any other coordinate."""
        p, curvature, t = self.weights * self.priority, self.given.curvature, self.half_tangent
        xp, first, last = namespace(p), curvature[..., 0], curvature[..., -1]
        cosine, sine = (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)
        a = xp.sum(p * (cosine * cosine * first + sine * sine * last), axis=1)
        b = xp.sum(p * cosine * sine * (first - last), axis=1)
        c = xp.sum(p * (sine * sine * first + cosine * cosine * last), axis=1)
        right = xp.sum(p[..., None] * self.turn(curvature * self.given.center), axis=1)
        others = xp.sum(p[..., None] * curvature, axis=1)[:, 1:-1]
        y, z, determinant = right[:, :1], right[:, -1:], (a * c - b * b)[:, None]
        y, z = (c[:, None] * y - b[:, None] * z) / determinant, (a[:, None] * z - b[:, None] * y) / determinant
        return xp.concat([y, right[:, 1:-1] / others, z], axis=1)

    @property
    def F_star_client(self):
        return self.given.F_star_client

    def smoothness(self):
        return self.given.smoothness()

    def convexity(self):
        return self.given.convexity()

    @cached_property
    def constants(self):
        return self.given.constants if self.one_basis else super().constants

    def default_start(self, seed: int = 0):
        start = self.given.default_start(seed)
        if not self.one_basis:
            return start
        return self.turn(namespace(start).broadcast_to(start, (self.instances, self.dim)))[0]

    def _copies(self, times: int) -> Self:
        return Turned(self.given._copies(times), namespace(self.half_tangent).repeat(self.half_tangent, times, axis=0))

    def select(self, rows) -> Self:
        """The instances numbered ``rows``."""
        return Turned(self.given.select(rows), self.half_tangent[rows])

    def _on(self, backend: Backend) -> Self:
        return Turned(self.given._on(backend), to_numpy(self.half_tangent))
