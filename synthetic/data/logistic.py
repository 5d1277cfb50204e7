"""Ridge logistic regression, binary and softmax: proven constants, optima solved by Newton's method."""

from abc import abstractmethod
from functools import cached_property

import numpy as np

from synthetic.base.checks import number, whole
from synthetic.base.constants import Constant
from synthetic.data.bounded_slopes import BoundedSlopes
from synthetic.numbers.arrays import namespace
from synthetic.optima.local_search import Solved
from synthetic.optima.newton import minimise

__all__ = ["BinaryLogistic", "SoftmaxLogistic", "SoftmaxScores"]


class Classifier:
    """Data federations whose targets are classes."""

    has_classes = True

    @abstractmethod
    def correct(self, scores, targets):
        """Whether the scores predict the right class, (...,)."""

    def accuracy(self, x, clients=None):
        """Share of each client's samples that the model ``x`` (runs, participants, dim) classifies correctly."""
        features, targets, share = self._data(clients)
        return namespace(x).sum(share * self.correct(self._scores(features, x), targets), axis=-1)

    def held_out_accuracy(self, x):
        if not self.held_out_size:
            return super().held_out_accuracy(x)
        correct = self.correct(self._scores(self.held_features, x[:, None]), self.held_targets)
        return self._held_out_mean(namespace(x).astype(correct, x.dtype))


class Logistic(Classifier, Solved, BoundedSlopes):
    """Binary or softmax regression; arguments as in :class:`DataFederation`, with ``ridge > 0``.

    The slopes of the loss in the scores lie in the convex hull of a few points. Over all of R^d this proves L, the
    variance of minibatch gradients and sigma_g; mu is the ridge. Minima are solved in float64 until
    ``|gradient|^2 / (2 ridge)``, which bounds the suboptimality, is at most 1e-12.
    """

    def __init__(self, features, targets, counts, *, ridge, **options):
        super().__init__(features, targets, counts, ridge=number("ridge", ridge, strict=True), **options)

    @abstractmethod
    def curvature(self, scores):
        """Second derivative of the loss in each score alone, (..., outputs)."""

    # optimum --------------------------------------------------------------------------------------------------------
    def _blocks(self, x):
        """Hessian of the data terms in each output's own parameters, (runs, clients, outputs, inputs, inputs)."""
        xp = namespace(x)
        bend = self.share[..., None] * self.curvature(self._scores(self.features, x))
        across = xp.permute_dims(self.features, (0, 1, 3, 2))
        each = (xp.matmul(across * bend[:, :, None, :, c], self.features) for c in range(self.outputs))
        return xp.stack(list(each), axis=2)

    def _block_inverse(self, blocks):
        """A function that multiplies by the inverse of ``blocks + ridge``, the preconditioner of Newton's method."""
        xp = namespace(blocks)
        inverse = xp.linalg.inv(blocks + self.ridge * self.backend.array(np.eye(self.inputs)))
        inverse = (inverse + xp.linalg.matrix_transpose(inverse)) / 2

        def apply(v):
            return xp.matmul(inverse, v.reshape(*v.shape[:-1], self.outputs, self.inputs, 1)).reshape(v.shape)

        return apply

    @property
    def _few_blocks(self) -> bool:
        return self.instances * self.clients * self.outputs * self.inputs**2 <= 2e7

    @cached_property
    def _solved_clients(self):
        double = self._double
        start = double.backend.array(np.zeros((self.instances, self.clients, self.dim)))
        precondition = (lambda x: double._block_inverse(double._blocks(x))) if self._few_blocks else None
        points, gap = minimise(double.value, double.gradient, double.hessian, start, self.ridge, precondition)
        return self.backend.array(points), gap

    def _solve(self, weights):
        double = self._double
        xp, p = namespace(double.features), double.backend.array(weights)
        p = p / xp.sum(p, axis=-1, keepdims=True)

        def mean(function):
            return double._mean(function, p)

        start = double.backend.array(np.zeros((self.instances, self.dim)))
        precondition = (lambda x: double._block_inverse(mean(double._blocks)(x))) if self._few_blocks else None
        point, gap = minimise(
            mean(double.value), mean(double.gradient), lambda x: mean(double.hessian(double.all_clients(x))), start,
            self.ridge, precondition)
        return self.backend.array(point), gap

    @cached_property
    def _solved_objective(self):
        return self._solve(self.weights * self.priority)

    def minimiser(self, weights):
        """Minimiser of sum_k weights[:, k] F_k, (instances, dim), for any ``weights`` (instances, clients) >= 0."""
        return self._solve(weights)[0]

    @property
    def optimum_provenance(self):
        gap = max(float(namespace(g).max(g)) for g in (self._solved_clients[1], self._solved_objective[1]))
        return "exact", f"solved by Newton's method: minima exceeded by at most |gradient|^2 / (2 mu) = {gap:.1e}"

    # constants ------------------------------------------------------------------------------------------------------
    def smoothness(self):
        note = f"{self.steepest} times the largest eigenvalue of A^T A / n, + ridge"
        return Constant(self.steepest * self._largest() + self.ridge, "upper", note)

    def convexity(self):
        return Constant(self.ridge + 0 * self.weights, "lower", "the ridge")

    def extra_constants(self):
        return super().extra_constants() | self._sample_smoothness()


class BinaryLogistic(Logistic):
    """F_k(x) = 1/n_k sum_i log(1 + exp(-y_i a_i^T x)) + ridge/2 |x|^2, labels y_i in {-1, 1} as ``targets``."""

    name = "binary logistic regression"
    steepest, radius = 0.25, 0.5

    def loss(self, scores, targets):
        xp = namespace(scores)
        margin = (targets * scores)[..., 0]
        return xp.log1p(xp.exp(-xp.abs(margin))) + xp.clip(-margin, min=0)

    def slope(self, scores, targets):
        return -targets * (1 - namespace(scores).tanh(targets * scores / 2)) / 2

    def bend(self, scores, targets):
        curvature = self.curvature(scores)
        return lambda direction: curvature * direction

    def curvature(self, scores):
        return (1 - namespace(scores).tanh(scores / 2) ** 2) / 4

    def hull(self):
        return namespace(self.targets).stack([0 * self.targets, -self.targets], axis=-2)

    def correct(self, scores, targets):
        return (targets * scores)[..., 0] > 0

    def check_target(self, target):
        target = super().check_target(target)
        if abs(target[0]) != 1:
            raise ValueError(f"target must be -1 or 1; got {target[0]:g}")
        return target


class SoftmaxScores(Classifier):
    """The loss -log softmax(scores)[y], labels as indicator vectors in ``targets``."""

    steepest = 0.5

    @staticmethod
    def _softmax(scores):
        xp = namespace(scores)
        powers = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
        return powers / xp.sum(powers, axis=-1, keepdims=True)

    def loss(self, scores, targets):
        xp = namespace(scores)
        top = xp.max(scores, axis=-1, keepdims=True)
        return top[..., 0] + xp.log(xp.sum(xp.exp(scores - top), axis=-1)) - xp.sum(targets * scores, axis=-1)

    def slope(self, scores, targets):
        return self._softmax(scores) - targets

    def bend(self, scores, targets):
        xp, shares = namespace(scores), self._softmax(scores)
        return lambda direction: shares * (direction - xp.sum(shares * direction, axis=-1, keepdims=True))

    def curvature(self, scores):
        shares = self._softmax(scores)
        return shares * (1 - shares)

    def correct(self, scores, targets):
        xp = namespace(scores)
        return xp.argmax(scores, axis=-1) == xp.argmax(targets, axis=-1)

    def check_target(self, target):
        """Indicator vector (outputs,) of a class, given as its number or as that vector."""
        if np.ndim(target) == 0:
            return np.eye(self.outputs)[whole("target", target, 0, self.outputs - 1)]
        target = super().check_target(target)
        if sorted(target)[-1] != 1 or np.abs(target).sum() != 1:
            raise ValueError(f"target must be a class or its indicator vector; got {target.tolist()}")
        return target


class SoftmaxLogistic(SoftmaxScores, Logistic):
    """F_k(x) = 1/n_k sum_i -log softmax(W a_i)[y_i] + ridge/2 |x|^2, labels as indicator vectors in ``targets``.

    ``x`` (dim = classes * inputs) holds W (classes, inputs) row by row.
    """

    name = "softmax regression"

    @property
    def radius(self):
        return (1 - 1 / self.outputs) ** 0.5

    def hull(self):
        corners = self.backend.array(np.eye(self.outputs))
        return corners - self.targets[..., None, :]
