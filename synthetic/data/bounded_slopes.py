"""Losses whose derivatives in the scores are bounded: minibatch variance and sigma_g proven over all of R^d."""

from abc import abstractmethod
from functools import cached_property

from synthetic.base.constants import sigma_g_constants
from synthetic.base.noise import SampleNoise
from synthetic.data.federation import DataFederation
from synthetic.numbers.arrays import namespace

__all__ = ["BoundedSlopes"]


class BoundedSlopes(DataFederation):
    """Data federations with linear scores, where the loss's slopes lie in the convex hull of a few points.

    The penalty is the same for all clients and samples, so that it cancels in every difference of gradients.
    """

    steepest: float  #: bound on the magnitude of the eigenvalues of the loss's second derivative in the scores
    radius: float  #: bound on the distance between a slope and the central one
    _minibatches_known = ("upper", "over all of R^d, as slopes are bounded")

    @abstractmethod
    def hull(self):
        """Points whose convex hull holds every slope, (instances, clients, samples, points, outputs)."""

    def central(self):
        """A slope in the middle of the hull, (instances, clients, samples, outputs): the slope at score zero."""
        return self.slope(0 * self.targets, self.targets)

    @cached_property
    def _middle(self):
        """Gradients of the data terms if every slope were the central one, (instances, clients, dim)."""
        return self._combine(self.features, self.share[..., None] * self.central())

    def _distance_sq(self, center):
        """Largest squared distance of a sample's gradient from ``center`` over all x, (instances, clients, samples)."""
        xp, hull = namespace(center), self.hull()
        length = xp.sum(hull**2, axis=-1) * xp.sum(self.features**2, axis=-1)[..., None]
        inner = xp.sum(hull * self._scores(self.features, center)[..., None, :], axis=-1)
        return xp.max(length - 2 * inner, axis=-1) + xp.sum(center**2, axis=-1)[..., None]

    def _sample_noise(self):
        xp = namespace(self.features)
        variances, bounds = [], []
        for center in (0 * self._middle, self._middle):
            distance_sq = self._distance_sq(center)
            distance = xp.sqrt(distance_sq) * (self.share > 0)
            variances.append(xp.sum(self.share * distance_sq, axis=-1))
            bounds.append((xp.max(distance, axis=-1) + xp.sum(self.share * distance, axis=-1)) ** 2)
        return SampleNoise(1, xp.minimum(*variances), xp.minimum(*bounds))

    def extra_constants(self):
        """Adds sigma_g over all of R^d: the penalties cancel, the data terms differ by bounded slopes."""
        xp, weights = namespace(self.features), self.weights * self.priority
        middle = self._middle
        apart = middle - xp.sum(weights[..., None] * middle, axis=1, keepdims=True)
        length = xp.sum(self.share * xp.sqrt(xp.sum(self.features**2, axis=-1)), axis=-1)
        reach = self.radius * xp.minimum(length, xp.sqrt(self._largest()))  # |data gradient - middle| is at most this
        both = (1 - 2 * weights) * reach + xp.sum(weights * reach, axis=-1, keepdims=True)
        norm = xp.sqrt(xp.sum(apart**2, axis=-1)) + both
        return super().extra_constants() | sigma_g_constants(
            norm, weights, "", "upper", "over all of R^d, as slopes are bounded")
