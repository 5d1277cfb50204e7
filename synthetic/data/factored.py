"""Federations whose model is a product of small factors (FedPara): the parameters are the factors."""

from __future__ import annotations

from functools import cached_property
from math import inf

import numpy as np

from synthetic.base.checks import whole
from synthetic.base.constants import Constant
from synthetic.base.federation import Federation
from synthetic.base.noise import NoNoise, SampleNoise
from synthetic.data.federation import DataFederation
from synthetic.numbers.arrays import namespace
from synthetic.optima.local_search import LocalMinima

__all__ = ["Factored", "factored"]


def factored(inner: Federation, rank: int, shape: tuple[int, int] | None = None) -> Factored:
    """``inner`` as a function of factors of its model; see :class:`Factored`. Its layers are the four factors.

    Args:
        inner: a federation whose x is a matrix W (n1, n2) row by row.
        rank: r, columns of every factor; W has rank at most r^2, with 2 r (n1 + n2) parameters.
        shape: (n1, n2); default (outputs, inputs) of a federation on data with linear scores.

    Raises:
        ValueError: a shape that does not fit ``inner``, rank below 1.

    Example:
        >>> from synthetic import make_problem
        >>> federation = factored(make_problem("digits", clients=2, rows=50), rank=2)
        >>> federation.inner.dim, federation.dim, [part.stop - part.start for part in federation.layers()]
        (640, 296, [20, 128, 20, 128])
    """
    if shape is None:
        if not isinstance(inner, DataFederation) or inner.dim != inner.outputs * inner.inputs:
            raise ValueError(f"shape must be given for {inner.name}, whose model is no matrix by itself; got None")
        shape = (inner.outputs, inner.inputs)
    rows, columns = (whole("shape", n) for n in shape)
    if rows * columns != inner.dim:
        raise ValueError(f"shape must have {inner.dim} entries, the dim of {inner.name}; got {rows} x {columns}")
    return Factored(inner, whole("rank", rank), (rows, columns))


class Factored(LocalMinima):
    """G_k(X1, Y1, X2, Y2) = F_k(W) with W = (X1 Y1^T) o (X2 Y2^T), the elementwise product (Hyeon-Woo et al. 2022, (2)).

    ``x`` holds X1 (n1, r), Y1 (n2, r), X2 (n1, r), Y2 (n2, r), each row by row and each a layer. Stochastic gradients are
    those of the inner federation by the chain rule. ``F_inf``, the minimum of F over all W, is proven where it is known;
    L, variance and optimum are estimates, and no mu is given. At the origin all gradients vanish: runs should begin at
    :meth:`default_start`.
    """

    factored = True

    def __init__(self, inner: Federation, rank: int, shape: tuple[int, int], layers=None):
        self._pristine = inner._with(lambda array: array, getattr(inner, inner._law))
        self.rank, self.shape = rank, shape
        self.clients, self.dim = inner.clients, 2 * rank * sum(shape)
        self.weights, self.priority = inner.weights, inner.priority
        self.name = f"{inner.name}, factors of rank {rank}"
        self._set_layers(layers)

    @cached_property
    def inner(self) -> Federation:
        """The federation of W, as a copy: its cached properties must not enter the fingerprint of a run."""
        return self._pristine._with(lambda array: array, getattr(self._pristine, self._pristine._law))

    def _own_layers(self):
        return tuple(self.rank * n for n in self.shape) * 2

    # the product and its derivative -----------------------------------------------------------------------------------
    def _factors(self, x):
        ends = np.cumsum([0, *self._own_layers()])
        return [x[..., a:b].reshape(*x.shape[:-1], n, self.rank)
                for a, b, n in zip(ends, ends[1:], self.shape * 2, strict=False)]

    def compose(self, x):
        """W (..., n1 n2) row by row from the factors ``x`` (..., dim)."""
        xp, (X1, Y1, X2, Y2) = namespace(x), self._factors(x)
        across = xp.linalg.matrix_transpose
        product = xp.matmul(X1, across(Y1)) * xp.matmul(X2, across(Y2))
        return product.reshape(*x.shape[:-1], -1)

    def _pull_back(self, x, slopes):
        """Gradient in the factors ``x`` (..., dim) from the gradient ``slopes`` (..., n1 n2) in W."""
        xp, (X1, Y1, X2, Y2) = namespace(x), self._factors(x)
        across = xp.linalg.matrix_transpose
        slopes = slopes.reshape(*slopes.shape[:-1], *self.shape)
        first, second = slopes * xp.matmul(X2, across(Y2)), slopes * xp.matmul(X1, across(Y1))
        parts = (xp.matmul(first, Y1), xp.matmul(across(first), X1), xp.matmul(second, Y2), xp.matmul(across(second), X2))
        return xp.concat([part.reshape(*part.shape[:-2], -1) for part in parts], axis=-1)

    def value(self, x, clients=None):
        return self.inner.value(self.compose(x), clients)

    def gradient(self, x, clients=None):
        return self._pull_back(x, self.inner.gradient(self.compose(x), clients))

    def stochastic_gradient(self, x, draws, iteration, clients=None):
        return self._pull_back(x, self.inner.stochastic_gradient(self.compose(x), draws, iteration, clients))

    def sample_values(self, x, clients=None, data=None):
        """Evaluate :meth:`synthetic.data.federation.DataFederation.sample_values` at W."""
        return self.inner.sample_values(self.compose(x), clients, data)

    def sample_gradients(self, x, clients=None, data=None):
        """Gradients of :meth:`sample_values`, (runs, participants, samples, dim)."""
        return self._pull_back(x[:, :, None], self.inner.sample_gradients(self.compose(x), clients, data))

    @property
    def has_classes(self) -> bool:
        """Whether samples have classes."""
        return self.inner.has_classes

    @property
    def held_out_size(self) -> int:
        """The number of samples that are held out of training."""
        return self.inner.held_out_size

    def held_out_loss(self, x):
        return self.inner.held_out_loss(self.compose(x))

    def held_out_accuracy(self, x):
        return self.inner.held_out_accuracy(self.compose(x))

    # starts -----------------------------------------------------------------------------------------------------------
    def default_start(self, seed: int = 0):
        """Normal factors, scaled so that the entries of W have variance 1/n2, (dim,)."""
        scale = (self.shape[1] * self.rank**2) ** -0.125
        rng = np.random.default_rng([whole("seed", seed, low=0), 12])
        return self.backend.array(scale * rng.standard_normal(self.dim))

    # constants ------------------------------------------------------------------------------------------------------
    @cached_property
    def noise(self):
        noise = self.inner.noise
        if isinstance(noise, NoNoise):
            return noise
        xp, start = namespace(self.weights), self.default_start()
        basis = self.backend.array(np.eye(self.inner.dim))
        size = xp.sum(self._pull_back(start, basis) ** 2) / self.inner.dim  # mean squared norm of a pulled-back unit vector
        return SampleNoise(getattr(self.inner, "batch_size", None) or 1, size * noise.variance, inf)

    @property
    def variance_known(self):
        known = "estimate", "at the default start, if the inner noise had no preferred direction"
        return super().variance_known if isinstance(self.noise, NoNoise) else known

    def extra_constants(self):
        inner = self.inner.constants
        name = "F_inf" if "F_inf" in inner else "F_star"
        known = inner[name].decides
        lowest = Constant(inner.value(name) + 0 * self.weights[:, 0], "lower" if known else "estimate", "minimum over all W")
        return {"F_inf": lowest} | ({"samples": inner["samples"]} if "samples" in inner else {})

    # other data and instances -----------------------------------------------------------------------------------------
    def _around(self, inner) -> Factored:
        return type(self)(inner, self.rank, self.shape, self.layer_sizes)

    def neighbours(self, replacements) -> Factored:
        """Neighbour data sets, one instance per replacement (client, sample, features, target)."""
        return self._around(self._pristine.neighbours(replacements))

    def _copies(self, times):
        return self._around(self._pristine._copies(times))

    def select(self, rows):
        return self._around(self._pristine.select(rows))

    def _on(self, backend):
        return self._around(self._pristine._on(backend))
