"""Small layered networks on data: softmax classification by a perceptron with hidden layers."""

from math import inf

import numpy as np

from synthetic.base.checks import one_of, whole
from synthetic.base.constants import Constant
from synthetic.base.noise import SampleNoise
from synthetic.data.federation import DataFederation
from synthetic.data.logistic import SoftmaxScores
from synthetic.data.scalar_losses import softplus
from synthetic.numbers.arrays import namespace
from synthetic.optima.local_search import LocalMinima, difference_hessian
from synthetic.quadratic.products import outer_sums, products

__all__ = ["Perceptron"]


class Perceptron(SoftmaxScores, LocalMinima, DataFederation):
    """F_k(x) = 1/n_k sum_i -log softmax(net(a_ki))[y_ki] + ridge/2 |x|^2, a network with one hidden layer or more.

    ``x`` holds, layer by layer, the weights W (width, width before) row by row and then the biases; each such pair is a
    layer. Hidden values are activation(W a + b), the last layer is linear.

    Nothing is proven about such a function but ``F_inf = 0``: L is an estimate by power iteration at a few points, minibatch
    variance and optimum are estimates too, and no mu is given. The gradient vanishes in most coordinates at the origin, so
    runs should begin at :meth:`default_start`.

    Args:
        hidden: widths of the hidden layers.
        activation: ``tanh`` or ``softplus``.
        options: as in :class:`synthetic.data.federation.DataFederation`; ``ridge`` may be 0.

    Raises:
        ValueError: as there; no hidden layer, an unknown activation.
    """

    name = "perceptron"
    _minibatches_known = ("estimate", "value at the default start")

    def __init__(self, features, targets, counts, *, hidden=(16,), activation: str = "tanh", ridge: float = 0.0, **options):
        self.hidden = tuple(whole("hidden", width) for width in np.atleast_1d(hidden).tolist())
        if not self.hidden:
            raise ValueError("a perceptron needs one hidden layer or more; got none; allowed: task 'softmax'")
        self.activation = one_of("activation", activation, ("tanh", "softplus"))
        super().__init__(features, targets, counts, ridge=ridge, **options)

    # shape of the network -------------------------------------------------------------------------------------------
    @property
    def widths(self) -> tuple[int, ...]:
        """Inputs, hidden widths, outputs."""
        return (self.inputs, *self.hidden, self.outputs)

    def _own_layers(self):
        return tuple((before + 1) * width for before, width in zip(self.widths, self.widths[1:], strict=False))

    def _parameters(self):
        return sum(self._own_layers())

    def matrices(self, x):
        """Weights (runs, participants, width, width before) and biases (runs, participants, width) of every layer."""
        layers, start = [], 0
        for before, width in zip(self.widths, self.widths[1:], strict=False):
            middle, end = start + before * width, start + (before + 1) * width
            layers.append((x[..., start:middle].reshape(*x.shape[:2], width, before), x[..., middle:end]))
            start = end
        return layers

    def default_start(self, seed: int = 0):
        """Normal weights of variance 1/(width before), biases 0, (dim,)."""
        rng, parts = np.random.default_rng([whole("seed", seed, low=0), 11]), []
        for before, width in zip(self.widths, self.widths[1:], strict=False):
            parts += [rng.standard_normal(before * width) / before**0.5, np.zeros(width)]
        return self.backend.array(np.concatenate(parts))

    # forward and backward -------------------------------------------------------------------------------------------
    def _steepness(self, values):
        """Derivative of the activation, from its values."""
        return 1 - values**2 if self.activation == "tanh" else -namespace(values).expm1(-values)

    def _forward(self, features, x):
        """Values of the inputs and of every hidden layer, and the scores."""
        values, layers = [features], self.matrices(x)
        for number, (weights, bias) in enumerate(layers):
            scores = products(values[-1], weights) + bias[..., None, :]
            if number < len(layers) - 1:
                values.append(namespace(scores).tanh(scores) if self.activation == "tanh" else softplus(scores))
        return values, scores

    def _scores(self, features, x):
        return self._forward(features, x)[1]

    def _backward(self, x, values, slopes, each=False):
        """Gradient in ``x`` (runs, participants, dim) from ``slopes`` in the scores of the layer after the last ``values``.

        Summed over samples, or of ``each`` sample.
        """
        matrices, parts = self.matrices(x), []
        for number in range(len(values) - 1, -1, -1):
            if each:
                weights, bias = slopes[..., :, None] * values[number][..., None, :], slopes
            else:
                weights, bias = outer_sums(slopes, values[number]), namespace(x).sum(slopes, axis=-2)
            parts = [weights.reshape(*bias.shape[:-1], -1), bias, *parts]
            if number:
                slopes = namespace(x).matmul(slopes, matrices[number][0]) * self._steepness(values[number])
        if len(values) < len(matrices):  # zeros for the layers after it
            parts.append(0 * x[..., sum(self._own_layers()[: len(values)]):])
        return namespace(x).concat(parts, axis=-1)

    def _sum_of_gradients(self, x, features, targets, share=None):
        values, scores = self._forward(features, x)
        slopes = self.slope(scores, targets)
        return self._backward(x, values, slopes if share is None else share[..., None] * slopes)

    def _gradients(self, x, features, targets):
        values, scores = self._forward(features, x)
        return self._backward(x, values, self.slope(scores, targets), each=True)

    def representation(self, x, clients=None, data=None):
        """Values of the last hidden layer for every sample, (runs, participants, samples, width)."""
        return self._forward((self._data(clients) if data is None else data)[0], x)[0][-1]

    def representation_gradient(self, x, slopes, clients=None, data=None):
        values, _ = self._forward((self._data(clients) if data is None else data)[0], x)
        return self._backward(x, values[:-1], slopes * self._steepness(values[-1]))

    def hessian(self, x, clients=None):
        """A function that multiplies by the Hessians of F_k at ``x``, by central differences: an estimate."""
        return difference_hessian(lambda point: self.gradient(point, clients), x)

    # constants ------------------------------------------------------------------------------------------------------
    def extra_constants(self):
        lowest = Constant(0 * self.weights[:, 0], "lower", "the loss is at least 0")
        return super().extra_constants() | {"F_inf": lowest}

    def _sample_noise(self):
        x = self.all_clients(self.default_start()[None])
        each, xp = self.sample_gradients(x), namespace(x)
        mean = self.gradient(x)
        variance = xp.sum(self.share * xp.sum((each - mean[:, :, None]) ** 2, axis=-1), axis=-1)
        return SampleNoise(1, variance + 0 * self.weights, inf)
