"""Laws of additive, centred gradient noise with exact second moments, and the draw of minibatches.

Every law answers ``sample(draws, iteration, like, clients)`` with an array shaped as ``like`` (runs, participants,
dim), and ``variance``: E|noise|^2 per client, (instances | 1, clients | 1). Clients draw independently.
"""

from dataclasses import dataclass, replace
from typing import Any

from synthetic.numbers.arrays import BALLS, backend_of, namespace, take_clients
from synthetic.numbers.draws import NOISE, SAMPLES

__all__ = ["FiniteNoise", "GaussianNoise", "NoNoise", "SampleNoise", "SphereNoise", "drawn_samples"]


class Law:
    """Repeats and selects instances: ``_arrays`` names the arrays with an axis of instances."""

    _arrays: tuple[str, ...] = ()

    def repeat(self, times):
        """The law of each instance ``times`` times in a row."""
        return self._changed(lambda array: namespace(array).repeat(array, times, axis=0))

    def select(self, rows):
        """The law of the instances numbered ``rows``."""
        return self._changed(lambda array: array[rows])

    def _changed(self, change):
        arrays = {name: getattr(self, name) for name in self._arrays}
        changed = {name: change(array) for name, array in arrays.items() if array.shape[0] > 1}
        return replace(self, **changed) if changed else self


@dataclass(frozen=True)
class NoNoise(Law):
    """Full gradients."""

    outcomes: int = 1
    bound = 0
    variance: Any = 0

    def sample(self, draws, iteration, like, clients=None):
        return 0 * like


def _middle(array):
    """The array itself; the midpoints, as floats, of an array of balls."""
    return array.astype(float) if backend_of(array) == BALLS else array


@dataclass(frozen=True)
class FiniteNoise(Law):
    """Noise with finite support: client k draws ``atoms[:, k, a]`` with probability ``probabilities[a]``.

    ``atoms`` (instances | 1, clients, outcomes, dim) must be centred: ``sum_a probabilities[a] * atoms[..., a, :] = 0``
    (checked, exactly for fractions and to 1e-9 of the largest atom for floats). ``probabilities`` (outcomes,).
    """

    atoms: Any
    probabilities: Any
    _arrays = ("atoms",)

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
        probabilities = self.probabilities.astype(float) if self.probabilities.dtype == object else self.probabilities
        cumulative = namespace(probabilities).cumsum(probabilities, axis=0)[None, None, :]
        index = draws.category(NOISE, cumulative, iteration, draws.numbers_of(clients, like.shape[1]))
        atoms = take_clients(self.atoms, clients)
        atoms = namespace(atoms).broadcast_to(atoms, (like.shape[0], *like.shape[1:2], *atoms.shape[2:]))
        rows = draws.client_numbers(like.shape[0])[0][:, None]
        columns = draws.client_numbers(like.shape[1])
        return atoms[rows, columns, index]


@dataclass(frozen=True)
class GaussianNoise(Law):
    """Gaussian noise with covariance ``scale^2 / dim`` times the identity, so that E|noise|^2 = scale^2.

    ``scale`` is (instances | 1, clients | 1).
    """

    scale: Any
    outcomes = None
    bound = float("inf")
    _arrays = ("scale",)

    @property
    def variance(self):
        return self.scale**2

    def _scale_of(self, clients):
        """``scale`` of the participants, (runs | 1, participants | 1, 1)."""
        return (self.scale if self.scale.shape[1] == 1 else take_clients(self.scale, clients))[..., None]

    def sample(self, draws, iteration, like, clients=None):
        keys = draws.numbers_of(clients, like.shape[1])[..., None]
        coordinates = draws.client_numbers(like.shape[2])[None]
        normal = draws.normal(NOISE, iteration, keys, coordinates, ndim=3)
        return (self._scale_of(clients) / like.shape[2] ** 0.5) * namespace(like).astype(normal, like.dtype)


class SphereNoise(GaussianNoise):
    """Noise uniform on the sphere of radius ``scale`` (instances | 1, clients | 1): |noise| = scale surely.

    Its bound holds for every draw, so the reading ``G-a-priori`` of bounded gradients can be checked on it.
    """

    @property
    def bound(self):
        return self.scale**2

    def sample(self, draws, iteration, like, clients=None):
        gaussian = super().sample(draws, iteration, like, clients)
        xp = namespace(gaussian)
        norm = xp.sqrt(xp.sum(gaussian**2, axis=-1, keepdims=True))
        return self._scale_of(clients) * gaussian / xp.where(norm > 0, norm, norm + 1)


@dataclass(frozen=True)
class SampleNoise:
    """Noise of minibatch gradients: ``batch_size`` samples of a client, uniform, with replacement.

    It depends on the point, so it is no additive law: ``stochastic_gradient`` of the federation draws it. ``variance``
    (instances, clients): see ``variance_known`` of the federation; ``bound``: proven bound on the squared norm of a draw,
    infinite where there is none.
    """

    batch_size: int
    variance: Any
    bound: Any
    outcomes = None

    def sample(self, draws, iteration, like, clients=None):
        raise TypeError("sample noise depends on the point; use stochastic_gradient of the federation")


def drawn_samples(federation, population, draws, iteration: int, clients):
    """Draw the positions of minibatches in arrays (instances | 1, clients, samples, ...).

    Each of the participants ``clients`` (runs, participants), or each client if None, draws ``federation.batch_size`` of
    its samples with replacement; a draw belongs to (iteration, client, slot). ``population(keys)`` answers how many samples
    there are to draw from for each of the ``keys`` (runs | 1, participants * batch_size).
    """
    size = federation.batch_size
    numbers = draws.numbers_of(clients, federation.clients)
    keys = (numbers[..., None] * size + draws.client_numbers(size)).reshape(numbers.shape[0], -1)
    drawn = draws.integer(SAMPLES, population(keys), iteration, keys)
    drawn = drawn.reshape(drawn.shape[0], -1, size)
    instance = 0 if federation.instances == 1 else draws.client_numbers(drawn.shape[0])[0][:, None, None]
    return instance, numbers[..., None], drawn
