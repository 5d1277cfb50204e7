"""Federations on data: per-client samples in padded arrays, losses of linear scores, minibatch noise."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from synthetic.arrays import TORCH, Backend, namespace, take_clients, to_numpy
from synthetic.checks import finite, number, whole
from synthetic.constants import Constant
from synthetic.draws import SAMPLES
from synthetic.federation import Federation
from synthetic.noise import NoNoise

__all__ = ["DataFederation", "SampleNoise", "pad"]


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


class DataFederation(Federation):
    """F_k(x) = 1/n_k sum_i loss(W a_ki, y_ki) + ridge/2 |x|^2 with x = W flattened by rows, W (outputs, features).

    Args:
        features: a_ki, (instances | 1, clients, samples, features), zero on padding.
        targets: y_ki, (instances | 1, clients, samples, outputs).
        counts: n_k, (instances | 1, clients); the first n_k samples are real, the others padding.
        ridge: weight of the squared norm, on every parameter.
        batch_size: minibatches drawn with replacement; None for full gradients.
        noise: an additive law instead of minibatches (:mod:`synthetic.noise`).
        weights: p_k up to scale, (instances | 1, clients); default the counts.
        priority: truth values, (instances | 1, clients); default all.

    Raises:
        ValueError: data that are not finite, shapes, empty clients, ``batch_size < 1``, an exact backend.
    """

    _solved = ()  #: cached properties that hold tuples of arrays by instance, kept when instances are selected
    _arrays = ("features", "targets", "share", "counts", "weights", "priority")

    def __init__(self, features, targets, counts, *, ridge=0.0, batch_size=None, noise=None, weights=None,
                 priority=None, name=None, backend: Backend = TORCH):
        if backend.library == "exact":
            raise ValueError("federations on data need an array library of floats; got 'exact', allowed: torch, numpy")
        if batch_size is not None and noise is not None:
            raise ValueError("gradient noise is either minibatches or an additive law; got batch_size and noise")
        features, targets, counts = finite("features", features), finite("targets", targets), np.asarray(counts)
        instances, self.clients, samples, self.inputs = features.shape
        self.outputs = targets.shape[-1]
        self.dim = self.outputs * self.inputs
        if targets.shape[:3] != features.shape[:3] or counts.shape != features.shape[:2]:
            raise ValueError(f"features {features.shape}, targets {targets.shape} and counts {counts.shape} must agree "
                             "in instances, clients and samples")
        if counts.min() < 1 or counts.max() > samples:
            raise ValueError(f"every client needs between 1 and {samples} samples; got {counts.min()}..{counts.max()}")
        self.ridge = number("ridge", ridge)
        self.batch_size = None if batch_size is None else whole("batch_size", batch_size)
        self.name = name or self.name
        real = np.arange(samples) < counts[..., None]
        self.features, self.targets = backend.array(features * real[..., None]), backend.array(targets)
        self.share = backend.array(real / counts[..., None])
        self.counts = backend.integers(counts)
        shape = (instances, self.clients)
        weights = np.broadcast_to(counts if weights is None else weights, shape)
        priority = np.broadcast_to(True if priority is None else priority, shape)
        self._set_weights(backend.array(finite("weights", weights)), backend.booleans(priority))
        self._additive = NoNoise() if noise is None else noise

    # what a loss says, on scores (..., outputs) ---------------------------------------------------------------------
    @abstractmethod
    def loss(self, scores, targets):
        """Loss per sample, (...,)."""

    @abstractmethod
    def slope(self, scores, targets):
        """Derivative of the loss in the scores, (..., outputs)."""

    @abstractmethod
    def bend(self, scores, targets):
        """The function that multiplies (..., outputs) with the second derivative of the loss in the scores."""

    @abstractmethod
    def _sample_noise(self) -> SampleNoise:
        """Variance and bound for minibatches of one sample."""

    # values and gradients -------------------------------------------------------------------------------------------
    def _scores(self, features, x):
        """W a for ``features`` (runs | 1, participants, samples, inputs) and ``x`` (runs, participants, dim)."""
        xp = namespace(x)
        runs, participants = x.shape[:2]
        matrices = x.reshape(runs, participants, self.outputs, self.inputs)
        if features.shape[0] == 1 and runs > 1:  # runs that share data are columns of one product
            columns = xp.permute_dims(matrices, (1, 3, 0, 2)).reshape(participants, self.inputs, -1)
            product = xp.matmul(features[0], columns)
            return xp.permute_dims(product.reshape(participants, -1, runs, self.outputs), (2, 0, 1, 3))
        return xp.matmul(features, xp.permute_dims(matrices, (0, 1, 3, 2)))

    def _combine(self, features, coefficients):
        """sum_i c_i a_i^T flattened, (runs, participants, dim), for c (runs, participants, samples, outputs)."""
        xp = namespace(coefficients)
        runs, participants = coefficients.shape[:2]
        if features.shape[0] == 1 and runs > 1:
            columns = xp.permute_dims(coefficients, (1, 2, 0, 3)).reshape(participants, coefficients.shape[2], -1)
            product = xp.matmul(xp.permute_dims(features[0], (0, 2, 1)), columns)
            product = xp.permute_dims(product.reshape(participants, self.inputs, runs, self.outputs), (2, 0, 3, 1))
        else:
            product = xp.matmul(xp.permute_dims(coefficients, (0, 1, 3, 2)), features)
        return product.reshape(runs, participants, self.dim)

    def _data(self, clients):
        return (take_clients(array, clients) for array in (self.features, self.targets, self.share))

    def value(self, x, clients=None):
        xp = namespace(x)
        features, targets, share = self._data(clients)
        losses = xp.sum(share * self.loss(self._scores(features, x), targets), axis=-1)
        return losses + self.ridge / 2 * xp.sum(x**2, axis=-1)

    def gradient(self, x, clients=None):
        features, targets, share = self._data(clients)
        slopes = self.slope(self._scores(features, x), targets)
        return self._combine(features, share[..., None] * slopes) + self.ridge * x

    def hessian(self, x, clients=None):
        """The function that multiplies (runs, participants, dim) with the Hessians of F_k at ``x``, same shape."""
        features, targets, share = self._data(clients)
        bend = self.bend(self._scores(features, x), targets)

        def product(direction):
            bent = share[..., None] * bend(self._scores(features, direction))
            return self._combine(features, bent) + self.ridge * direction

        return product

    def stochastic_gradient(self, x, draws, iteration, clients=None):
        """Gradient on ``batch_size`` samples per client, drawn for (iteration, client, slot); or additive noise."""
        if self.batch_size is None:
            return super().stochastic_gradient(x, draws, iteration, clients)
        numbers = draws.client_numbers(self.clients) if clients is None else clients
        slots = draws.client_numbers(self.batch_size)
        keys = (numbers[..., None] * self.batch_size + slots).reshape(numbers.shape[0], -1)
        population = namespace(keys).repeat(take_clients(self.counts, clients), self.batch_size, axis=-1)
        drawn = draws.integer(SAMPLES, population, iteration, keys).reshape(x.shape[0], -1, self.batch_size)
        instance = 0 if self.instances == 1 else draws.client_numbers(x.shape[0])[0][:, None, None]
        features = self.features[instance, numbers[..., None], drawn]
        targets = self.targets[instance, numbers[..., None], drawn]
        slopes = self.slope(self._scores(features, x), targets)
        return self._combine(features, slopes) / self.batch_size + self.ridge * x

    # noise and constants --------------------------------------------------------------------------------------------
    @cached_property
    def noise(self):
        if self.batch_size is None:
            return self._additive
        one = self._sample_noise()
        several, xp = self.counts > 1, namespace(self.features)
        variance, bound = one.variance / self.batch_size, one.bound + 0 * one.variance
        return SampleNoise(self.batch_size, *(xp.where(several, v, 0 * one.variance) for v in (variance, bound)))

    @property
    def variance(self):
        return self.noise.variance

    def gram(self):
        """A_k^T A_k / n_k, (instances, clients, inputs, inputs)."""
        xp = namespace(self.features)
        return xp.matmul(xp.permute_dims(self.features * self.share[..., None], (0, 1, 3, 2)), self.features)

    def _spectrum(self):
        """Eigenvalues of A_k^T A_k / n_k in ascending order, the same up to zeros if taken of A_k A_k^T / n_k."""
        xp = namespace(self.features)
        if self.features.shape[2] >= self.inputs:
            return xp.linalg.eigvalsh(self.gram())
        rows = self.features * xp.sqrt(self.share)[..., None]
        return xp.linalg.eigvalsh(xp.matmul(rows, xp.permute_dims(rows, (0, 1, 3, 2))))

    def _largest(self):
        return self._spectrum()[..., -1]

    def extra_constants(self):
        return {"samples": Constant(self.counts, "exact", "samples per client")}

    # instances ------------------------------------------------------------------------------------------------------
    def _with(self, change, noise, keep=()) -> DataFederation:
        new = object.__new__(type(self))
        cached = {n for n in dir(type(self)) if isinstance(getattr(type(self), n), cached_property)}
        new.__dict__ = {k: v for k, v in self.__dict__.items() if k not in cached}
        for name in self._arrays:
            setattr(new, name, change(getattr(self, name)))
        for name in keep:
            if name in self.__dict__:
                new.__dict__[name] = tuple(change(array) for array in self.__dict__[name])
        new._additive = noise
        return new

    def repeat(self, times):
        if self.instances == 1:
            return self
        return self._with(lambda a: namespace(a).repeat(a, times, axis=0), self._additive.repeat(times), self._solved)

    def select(self, rows):
        return self._with(lambda a: a[rows], self._additive.select(rows), self._solved)

    def to(self, backend: Backend) -> DataFederation:
        """The same federation on another backend (library, device, precision)."""

        def change(array):
            kind = str(array.dtype)
            if "bool" in kind:
                return backend.booleans(to_numpy(array))
            return backend.integers(to_numpy(array)) if "int" in kind else backend.array(to_numpy(array))

        noise = self._additive
        if is_dataclass(noise):
            arrays = {f.name: getattr(noise, f.name) for f in fields(noise)}
            noise = replace(noise, **{n: change(a) for n, a in arrays.items() if hasattr(a, "dtype")})
        return self._with(change, noise)


def pad(X, y, client, clients: int):
    """Rows of ``X`` (rows, inputs) and ``y`` (rows, outputs) by ``client`` (rows,), as padded arrays.

    Returns features (1, clients, samples, inputs), targets (1, clients, samples, outputs), counts (1, clients).
    """
    counts = np.bincount(client, minlength=clients)
    order = np.argsort(client, kind="stable")
    slot = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    features = np.zeros((1, clients, counts.max(), X.shape[1]))
    targets = np.zeros((1, clients, counts.max(), y.shape[1]))
    features[0, client[order], slot], targets[0, client[order], slot] = X[order], y[order]
    return features, targets, counts[None]
