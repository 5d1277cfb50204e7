"""Generalised linear federations: any scalar loss of linear scores, convex or not, with per-sample constants."""

from functools import cached_property
from math import inf

import numpy as np

from synthetic.base.checks import number
from synthetic.base.constants import Constant, by_client
from synthetic.data.bounded_slopes import BoundedSlopes
from synthetic.data.federation import AT_OPTIMUM, DataFederation
from synthetic.data.scalar_losses import ScalarLoss
from synthetic.numbers.arrays import namespace
from synthetic.optima.convex_optimum import has_minimiser, suboptimality
from synthetic.optima.local_search import Solved, best_points, scattered
from synthetic.optima.newton import minimise

__all__ = ["GeneralisedLinear"]


class GeneralisedLinear(Solved, BoundedSlopes):
    """F_k(x) = 1/n_k sum_i phi(a_ki.x - b_ki) + ridge/2 |x|^2 + alpha sum_j x_j^2/(1 + x_j^2).

    phi is scale * shape(u / width) for a shape of :data:`synthetic.data.scalar_losses.SHAPES`. For a loss of margins
    (``softplus``, ``sigmoid``) with labels y = -1, 1 give the features -y a and the targets 0. The term with ``alpha``
    is the usual penalty that makes logistic regression non-convex.

    Beside the common constants: ``L_sample``, ``G_lip`` (Lipschitz constant of a sample's loss; none with a ridge), ``G``
    (bound on |grad F_k|), ``H_loss`` (supremum of a sample's loss, where bounded), ``F_inf`` (proven lower bound on F) and
    ``weak_convexity`` where F_k may fail to be convex. Optima of convex losses are solved and proven; of others they are
    estimates, the best of several local minima. Where no minimiser exists ``x_star`` is nan, and ``F_star`` the least
    value found.

    Args:
        loss: a name of :data:`SHAPES`, or a :class:`ScalarLoss`; ``scale`` and ``width`` as there.
        alpha, ridge: at least 0. All further arguments as in :class:`synthetic.data.federation.DataFederation`.

    Raises:
        ValueError: as there; more than one output; a loss without lower bound and no ridge.
    """

    name = "generalised linear model"

    def __init__(self, features, targets, counts, *, loss="log-cosh", scale: float = 1.0, width: float = 1.0,
                 alpha: float = 0.0, ridge: float = 0.0, **options):
        self.phi = loss if isinstance(loss, ScalarLoss) else ScalarLoss(loss, scale, width)
        self.alpha = number("alpha", alpha)
        super().__init__(features, targets, counts, ridge=ridge, **options)
        if self.outputs != 1:
            raise ValueError(f"a loss of one number needs one target per sample; got {self.outputs}")
        if self.phi.range[0] == -inf and self.ridge == 0:
            raise ValueError(f"ridge must be above 0 for the loss {self.phi.shape!r}, which has no lower bound; got 0")
        self.steepest = self.phi.smoothness
        self.radius = (self.phi.slopes[1] - self.phi.slopes[0]) / 2

    def loss(self, scores, targets):
        return self.phi.value(scores - targets)[..., 0]

    def slope(self, scores, targets):
        return self.phi.slope(scores - targets)

    def bend(self, scores, targets):
        curvature = self.phi.bend(scores - targets)
        return lambda direction: curvature * direction

    def hull(self):
        low, high = self.phi.slopes
        return namespace(self.targets).stack([0 * self.targets + low, 0 * self.targets + high], axis=-2)

    def central(self):
        return 0 * self.targets + sum(self.phi.slopes) / 2

    def _penalty(self, x):
        if not self.alpha:
            return super()._penalty(x)
        return super()._penalty(x) + self.alpha * namespace(x).sum(x**2 / (1 + x**2), axis=-1)

    def _penalty_slope(self, x):
        return super()._penalty_slope(x) + (2 * self.alpha * x / (1 + x**2) ** 2 if self.alpha else 0)

    @property
    def _penalised(self):
        return self.ridge != 0 or self.alpha != 0

    def _penalty_bend(self, x):
        diagonal = self.ridge + (2 * self.alpha * (1 - 3 * x**2) / (1 + x**2) ** 3 if self.alpha else 0)
        return lambda direction: diagonal * direction

    # constants ------------------------------------------------------------------------------------------------------
    @property
    def _bounded(self) -> bool:
        return self.phi.lipschitz < inf

    @property
    def _minibatches_known(self):
        return super()._minibatches_known if self._bounded else AT_OPTIMUM

    def _sample_noise(self):
        return super()._sample_noise() if self._bounded else self._noise_at_optimum()

    def smoothness(self):
        (low, high), largest = self.phi.bends, self._largest()
        xp = namespace(largest)
        value = xp.maximum(high * largest + self.ridge + 2 * self.alpha, -low * largest - self.ridge + self.alpha / 2)
        note = f"{self.phi.smoothness:.6g} times the largest eigenvalue of A^T A / n, and the penalty's"
        return Constant(value, "exact" if self._smoothness_is_attained else "upper", note)

    @property
    def _smoothness_is_attained(self) -> bool:
        """Whether every sample is known to have its largest second derivative at one point, as at x = 0 with targets 0."""
        low, high = self.phi.bends
        if self.alpha or high < -low:
            return False
        here = float(self.phi.bend(np.zeros(1))[0])
        all_zero = bool((self.targets[self.share[..., None] > 0] == 0).all())
        return low == high or (here == high and all_zero) or bool((self.counts == 1).all())

    def convexity(self):
        low = self.phi.bends[0]
        value = low * (self._largest() if low < 0 else self._least()) + self.ridge - self.alpha / 2
        exact = low == self.phi.bends[1] and not self.alpha
        note = "least second derivative of the loss times an eigenvalue of A^T A / n, and the penalty's"
        return Constant(value, "exact" if exact else "lower", note)

    def extra_constants(self):
        xp = namespace(self.features)
        entries = super().extra_constants() if self._bounded else DataFederation.extra_constants(self)
        entries |= self._sample_smoothness()
        if self.phi.range[0] > -inf:
            entries["F_inf"] = Constant(self.phi.range[0] + 0 * self.weights[:, 0], "lower", "infimum of the loss")
        if self.ridge:
            return entries
        length = xp.sqrt(xp.sum(self.features**2, axis=-1))
        penalty = self.alpha * 3**1.5 / 8 * self.dim**0.5
        if self._bounded:
            each = self.phi.lipschitz * xp.max(length, axis=-1) + penalty
            mean = xp.minimum(xp.sum(self.share * length, axis=-1), xp.sqrt(self._largest()))
            whole = self.phi.lipschitz * mean + penalty
            entries |= by_client("G_lip", each, "upper" if self.alpha else "exact", "Lipschitz constant of a sample's loss")
            entries |= by_client("G", whole, "upper", "|grad F_k| over all of R^d")
        if self.phi.range[1] < inf:
            attained = "exact" if not self.alpha and bool(xp.all(xp.any(length > 0, axis=(-1, -2)))) else "upper"
            highest = self.phi.range[1] + self.alpha * self.dim
            entries["H_loss"] = Constant(highest + 0 * self.weights[:, 0], attained, "supremum of a sample's loss")
        return entries

    def _sample_smoothness(self):
        xp, (low, high) = namespace(self.features), self.phi.bends
        largest = xp.max(xp.sum(self.features**2, axis=-1), axis=-1)
        each = xp.maximum(high * largest + self.ridge + 2 * self.alpha, -low * largest - self.ridge + self.alpha / 2)
        return by_client("L_sample", each, "upper" if self.alpha else "exact", "smoothness of a sample's loss")

    # optimum --------------------------------------------------------------------------------------------------------
    @property
    def convex(self) -> bool:
        """Whether every F_k is known to be convex."""
        xp = namespace(self.features)
        return bool(xp.all(self.convexity().value >= 0))

    @cached_property
    def _local_optima(self):
        double = self._double
        starts = scattered(self.dim, 1 if self.convex else 8, 3.0)
        return best_points(double, starts)

    def _solution(self, points, value, gradient, hessian, weights=None):
        """Points (nan where there is no minimiser), values, and proven suboptimality (infinite where there is no proof)."""
        double, xp = self._double, namespace(points)
        levels = value(points)
        gap = 0 * levels + inf
        if self.convex:
            there = double.backend.booleans(has_minimiser(double, weights))
            if bool(xp.all(there)):
                mu = float(xp.min(double.convexity().value)) or 1.0
                points, _ = minimise(value, gradient, hessian, points, mu, tolerance=1e-6)
                levels = value(points)
            gap = xp.where(there, suboptimality(double, points, levels, gradient(points), weights), gap)
            points = xp.where(there[..., None], points, 0 * points + float("nan"))
        return self.backend.array(points), self.backend.array(levels), gap

    @cached_property
    def _solved_objective(self):
        double = self._double
        p = double.weights * double.priority
        return self._solution(
            self._local_optima[0], double._mean(double.value, p), double._mean(double.gradient, p),
            lambda x: double._mean(double.hessian(double.all_clients(x)), p), p)

    @cached_property
    def _solved_clients(self):
        double = self._double
        return self._solution(self._local_optima[1], double.value, double.gradient, double.hessian)

    F_star = property(lambda self: self._solved_objective[1])
    F_star_client = property(lambda self: self._solved_clients[1])
    optimum_provenance = property(lambda self: self._provenance(self._solved_objective[2]))
    client_optimum_provenance = property(lambda self: self._provenance(self._solved_clients[2]))

    def _provenance(self, gap):
        if not self.convex:
            return "estimate", "best of several local minima; nothing is proven about it"
        gap = float(namespace(gap).max(gap))
        if gap == inf:
            return "estimate", "best value found; a minimiser does not exist, or its distance is not bounded"
        return ("exact" if gap <= 1e-9 else "estimate"), f"solved by Newton's method: minima exceeded by at most {gap:.1e}"
