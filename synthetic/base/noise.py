"""Laws of additive, centred gradient noise with exact second moments.

Every law answers ``sample(draws, iteration, like, clients)`` with an array shaped as ``like`` (runs, participants,
dim), and ``variance``: E|noise|^2 per client, (instances | 1, clients | 1). Clients draw independently.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from synthetic.numbers.arrays import BALLS, backend_of, namespace, take_clients
from synthetic.numbers.draws import NOISE

__all__ = ["FiniteNoise", "GaussianNoise", "NoNoise", "SampleNoise", "SphereNoise"]


def _keys(draws, clients, like):
    return draws.client_numbers(like.shape[1]) if clients is None else clients


@dataclass(frozen=True)
class NoNoise:
    """Full gradients."""

    outcomes: int = 1
    bound = 0
    variance: Any = 0

    def sample(self, draws, iteration, like, clients=None):
        return 0 * like

    def repeat(self, times):
        return self

    def select(self, rows):
        return self


def _repeat(array, times):
    xp = namespace(array)
    return array if array.shape[0] == 1 else xp.repeat(array, times, axis=0)


def _middle(array):
    """The array; of balls their midpoints, as floats."""
    return array.astype(float) if backend_of(array) == BALLS else array


@dataclass(frozen=True)
class FiniteNoise:
    """Noise on finitely many points: client k draws ``atoms[:, k, a]`` with probability ``probabilities[a]``.

    ``atoms`` (instances | 1, clients, outcomes, dim) must be centred: ``sum_a probabilities[a] * atoms[..., a, :] = 0``
    (checked, exactly for fractions and to 1e-9 of the largest atom for floats). ``probabilities`` (outcomes,).
    """

    atoms: Any
    probabilities: Any

    def __post_init__(self):
        xp = namespace(self.atoms)
        mean = xp.sum(self.atoms * self.probabilities[None, None, :, None], axis=-2)
        worst, scale = (xp.max(xp.abs(_middle(values))) for values in (mean, self.atoms))
        if worst > 1e-9 * scale:
            raise ValueError(f"noise must have mean zero; got a mean of {float(worst)}")

    @property
    def outcomes(self) -> int:
        return self.atoms.shape[-2]

    @property
    def bound(self):
        """Largest possible squared norm per client, (instances | 1, clients)."""
        xp = namespace(self.atoms)
        return xp.max(xp.sum(self.atoms**2, axis=-1), axis=-1)

    @property
    def variance(self):
        xp = namespace(self.atoms)
        return xp.sum(xp.sum(self.atoms**2, axis=-1) * self.probabilities, axis=-1)

    def sample(self, draws, iteration, like, clients=None):
        xp = namespace(self.probabilities)
        probabilities = self.probabilities
        if probabilities.dtype == object:
            probabilities = probabilities.astype(float)
        cumulative = xp.cumsum(probabilities, axis=0)[None, None, :]
        index = draws.category(NOISE, cumulative, iteration, _keys(draws, clients, like))
        atoms = take_clients(self.atoms, clients)
        atoms = namespace(atoms).broadcast_to(atoms, (like.shape[0], *like.shape[1:2], *atoms.shape[2:]))
        rows = draws.client_numbers(like.shape[0])[0][:, None]
        columns = draws.client_numbers(like.shape[1])
        return atoms[rows, columns, index]

    def repeat(self, times):
        return FiniteNoise(_repeat(self.atoms, times), self.probabilities)

    def select(self, rows):
        return self if self.atoms.shape[0] == 1 else FiniteNoise(self.atoms[rows], self.probabilities)


@dataclass(frozen=True)
class GaussianNoise:
    """Gaussian noise with covariance ``scale^2 / dim`` times the identity, so that E|noise|^2 = scale^2.

    ``scale`` is (instances | 1, clients | 1).
    """

    scale: Any
    outcomes = None
    bound = float("inf")

    @property
    def variance(self):
        return self.scale**2

    def sample(self, draws, iteration, like, clients=None):
        scale = self.scale if self.scale.shape[1] == 1 else take_clients(self.scale, clients)
        keys = _keys(draws, clients, like)[..., None]
        coordinates = draws.client_numbers(like.shape[2])[None]
        normal = draws.normal(NOISE, iteration, keys, coordinates, ndim=3)
        return (scale[..., None] / like.shape[2] ** 0.5) * namespace(like).astype(normal, like.dtype)

    def repeat(self, times):
        return type(self)(_repeat(self.scale, times))

    def select(self, rows):
        return self if self.scale.shape[0] == 1 else type(self)(self.scale[rows])


class SphereNoise(GaussianNoise):
    """Noise uniform on the sphere of radius ``scale`` (instances | 1, clients | 1): |noise| = scale surely.

    This is the bounded law that makes the reading ``G-a-priori`` of bounded gradients checkable.
    """

    @property
    def bound(self):
        return self.scale**2

    def sample(self, draws, iteration, like, clients=None):
        gaussian = super().sample(draws, iteration, like, clients)
        xp = namespace(gaussian)
        scale = self.scale if self.scale.shape[1] == 1 else take_clients(self.scale, clients)
        norm = xp.sqrt(xp.sum(gaussian**2, axis=-1, keepdims=True))
        return scale[..., None] * gaussian / xp.where(norm > 0, norm, norm + 1)


@dataclass(frozen=True)
class SampleNoise:
    """Noise of minibatch gradients: ``batch_size`` samples of a client, uniform, with replacement.

    It depends on the point, so it is no additive law: :meth:`DataFederation.stochastic_gradient` draws it.
    ``variance`` (instances, clients): see :attr:`DataFederation.variance_note`; ``bound``: proven bound on the squared
    norm of a draw, infinite where there is none.
    """

    batch_size: int
    variance: Any
    bound: Any
    outcomes = None

    def sample(self, draws, iteration, like, clients=None):
        raise TypeError("sample noise depends on the point; use stochastic_gradient of the federation")
