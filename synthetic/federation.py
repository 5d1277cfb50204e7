"""A federation: m clients, each a function F_k on R^d, with a law for stochastic gradients and known constants."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

from synthetic.arrays import Backend, backend_of, namespace
from synthetic.constants import Constant, Constants
from synthetic.heterogeneity import sigma_g_constants
from synthetic.noise import NoNoise

__all__ = ["Federation"]


class Federation(ABC):
    """A batch of problem instances that share their number of clients and their dimension.

    Arrays are ``(instances, clients, ...)``; ``instances`` is 1 where all runs share one problem. The objective is
    ``F(x) = sum over priority k of p_k F_k(x)``. Client weights ``p_k`` sum to one over the *priority* clients; free
    (non-priority) clients carry ``p_k`` on the same scale, so that all weights together may exceed one. Where every
    client is priority this is the usual weighted average.
    """

    weights: object  #: p_k, (instances, clients)
    priority: object  #: truth values, (instances, clients)
    noise: object = NoNoise()
    name: str = "federation"  #: a few words for tables
    clients: int
    dim: int

    def _set_weights(self, weights, priority) -> None:
        """Scale positive ``weights`` (instances | 1, clients) so that the priority clients' sum is one."""
        xp = namespace(weights)
        if bool(xp.any(weights < 0)):
            raise ValueError(f"client weights must be >= 0; got {float(xp.min(weights))}")
        total = xp.sum(weights * priority, axis=-1, keepdims=True)
        if not bool(xp.all(total > 0)):
            raise ValueError("every instance needs at least one priority client of positive weight; got none")
        self.weights, self.priority = weights / total, priority

    # what a problem says -------------------------------------------------------------------------------------------
    @abstractmethod
    def value(self, x, clients=None):
        """F_k at ``x`` (runs, participants, dim), as (runs, participants); ``clients`` (runs, participants) or all."""

    @abstractmethod
    def gradient(self, x, clients=None):
        """Gradient of F_k at ``x`` (runs, participants, dim), same shape."""

    @property
    @abstractmethod
    def x_star(self):
        """Minimiser of F, (instances, dim)."""

    @property
    @abstractmethod
    def F_star_client(self):
        """Minimum of each F_k, (instances, clients)."""

    @abstractmethod
    def smoothness(self) -> Constant:
        """Per-client smoothness constants L_k, (instances, clients)."""

    @abstractmethod
    def convexity(self) -> Constant:
        """Per-client strong-convexity constants mu_k, (instances, clients)."""

    @abstractmethod
    def repeat(self, times: int) -> Federation:
        """Each instance ``times`` times in a row (a federation with one shared instance stays as it is)."""

    @abstractmethod
    def select(self, rows) -> Federation:
        """The instances numbered ``rows``."""

    # what follows ----------------------------------------------------------------------------------------------------
    @property
    def backend(self) -> Backend:
        return backend_of(self.weights)

    @property
    def instances(self) -> int:
        return self.weights.shape[0]

    def stochastic_gradient(self, x, draws, iteration: int, clients=None):
        """One stochastic gradient per client at ``x`` (runs, participants, dim) for local iteration ``iteration``."""
        return self.gradient(x, clients) + self.noise.sample(draws, iteration, x, clients)

    def all_clients(self, x):
        """``x`` (runs, dim) laid out for every client, (runs, clients, dim), without copying."""
        return namespace(x).broadcast_to(x[:, None, :], (x.shape[0], self.clients, self.dim))

    def objective(self, x):
        """F at ``x`` (runs, dim), as (runs,)."""
        xp = namespace(x)
        return xp.sum(self.weights * self.priority * self.value(self.all_clients(x)), axis=-1)

    def objective_gradient(self, x):
        """Gradient of F at ``x`` (runs, dim), same shape."""
        xp = namespace(x)
        return xp.sum((self.weights * self.priority)[..., None] * self.gradient(self.all_clients(x)), axis=-2)

    @property
    def F_star(self):
        """Minimum of F, (instances,)."""
        return self.objective(self.x_star)

    @property
    def variance(self):
        """E|g_k - grad F_k|^2 per client, an exact value or a proven upper bound, (instances | 1, clients | 1)."""
        return self.noise.variance

    @cached_property
    def constants(self) -> Constants:
        """L, mu, sigma_sq, F_star, x_star, Gamma, ... with provenance; arrays are (instances,) or (instances, clients).
        """
        xp = namespace(self.weights)
        smoothness, convexity = self.smoothness(), self.convexity()
        at_optimum = self.all_clients(self.x_star)
        gradients = self.gradient(at_optimum)
        gaps = self.value(at_optimum) - self.F_star_client
        weights = self.weights * self.priority
        variance = self.variance + 0 * self.weights
        norm_sq = xp.sum(gradients**2, axis=-1)
        provenance = self.optimum_provenance
        entries = {
            "L": Constant(xp.max(smoothness.value, axis=-1), smoothness.provenance, "largest of the clients'"),
            "mu": Constant(xp.min(convexity.value, axis=-1), convexity.provenance, "smallest of the clients'"),
            "L_client": smoothness,
            "mu_client": convexity,
            "sigma_sq": Constant(xp.max(variance, axis=-1), self.variance_provenance, "largest client variance"),
            "sigma_sq_client": Constant(variance, self.variance_provenance, self.variance_note),
            "x_star": Constant(self.x_star, *provenance),
            "F_star": Constant(self.F_star, *provenance),
            "F_star_client": Constant(self.F_star_client, *provenance),
            "Gamma": Constant(xp.sum(weights * gaps, axis=-1), *provenance),
            "Gamma_client": Constant(gaps, *provenance),
        }
        if norm_sq.dtype != object:  # roots leave the fractions
            largest = xp.max(self.noise.bound + 0 * self.weights, axis=-1)
            if bool(xp.all(xp.isfinite(largest))):
                entries["noise_bound"] = Constant(xp.sqrt(largest), "upper", "|g_k - grad F_k| surely")
            entries |= sigma_g_constants(xp.sqrt(norm_sq), weights, "_at_optimum", provenance[0], "at the optimum")
        entries.update(self.extra_constants())
        return Constants(entries)

    variance_provenance = "exact"
    variance_note = "E|g_k - grad F_k|^2"
    optimum_provenance = ("exact", "closed form")

    def extra_constants(self) -> dict[str, Constant]:
        """Constants that only this family knows."""
        return {}

    def layers(self) -> tuple[slice, ...]:
        """Partition of the coordinates into layers; one layer unless a family says otherwise."""
        return (slice(0, self.dim),)
