"""Federations on data: per-client samples in padded arrays, losses of linear scores, minibatch noise."""

from abc import abstractmethod
from functools import cached_property
from typing import Self

import numpy as np

from synthetic.base.checks import finite, number, whole
from synthetic.base.constants import Constant, by_client
from synthetic.base.federation import Federation
from synthetic.base.noise import SampleNoise, drawn_samples
from synthetic.numbers.arrays import TORCH, Backend, namespace, take_clients, to_numpy
from synthetic.quadratic.products import outer_sums, products

__all__ = ["AT_OPTIMUM", "DataFederation", "pad"]


#: how the variance is known of losses without a bound over all of R^d
AT_OPTIMUM = ("estimate", "value at the optimum; no bound holds over all of R^d")


class DataFederation(Federation):
    """F_k(x) = 1/n_k sum_i loss(W a_ki, y_ki) + ridge/2 |x|^2 with x = W flattened by rows, W (outputs, features).

    Args:
        features: a_ki, (instances | 1, clients, samples, features), zero on padding.
        targets: y_ki, (instances | 1, clients, samples, outputs).
        counts: n_k, (instances | 1, clients); the first n_k samples are real, the others padding.
        ridge: weight of the squared norm, on every parameter.
        batch_size: minibatches drawn with replacement; None for full gradients.
        noise: an additive law instead of minibatches (:mod:`synthetic.base.noise`).
        weights: p_k up to scale, (instances | 1, clients); default the counts.
        priority: truth values, (instances | 1, clients); default all.
        layers: sizes of the layers, or a number of equal layers; default the family's own.
        held_out: samples on which no run trains: features (rows, features), targets (rows, outputs) and their clients
            (rows,); None for none.

    Functions that take ``data`` use those samples: features (runs | 1, participants, samples, inputs), targets
    (runs | 1, participants, samples, outputs) and the samples' shares (runs | 1, participants, samples), as
    :meth:`minibatch` returns them; by default all samples of the clients.

    Raises:
        ValueError: data that are not finite, shapes, empty clients, ``batch_size < 1``, an exact backend.
    """

    _arrays = ("features", "targets", "share", "counts", "weights", "priority", "held_features", "held_targets",
               "held_client")
    _law = "_additive"
    _minibatches_known: tuple[str, str]  #: how the variance of minibatch gradients is known: provenance and note

    def __init__(self, features, targets, counts, *, ridge=0.0, batch_size=None, noise=None, weights=None,
                 priority=None, layers=None, name=None, held_out=None, backend: Backend = TORCH):
        if backend.library not in ("torch", "numpy"):
            raise ValueError(f"federations on data need an array library of floats; got {backend.library!r}, allowed: "
                             "torch, numpy")
        if batch_size is not None and noise is not None:
            raise ValueError("gradient noise is either minibatches or an additive law; got batch_size and noise")
        features, targets, counts = finite("features", features), finite("targets", targets), np.asarray(counts)
        instances, self.clients, samples, self.inputs = features.shape
        self.outputs = targets.shape[-1]
        self.dim = self._parameters()
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
        weights = finite("weights", counts if weights is None else weights)
        self._set_common(backend, (instances, self.clients), weights, priority, noise, layers)
        self._set_held_out(held_out, backend)

    def _set_held_out(self, held_out, backend: Backend) -> None:
        features, targets, client = ([], [], []) if held_out is None else held_out
        rows, shared = len(client), (self.instances, 1, len(client))  # the axis of one participant
        features, targets = np.reshape(features, (rows, self.inputs)), np.reshape(targets, (rows, self.outputs))
        client = np.asarray(client, dtype=np.int64)
        self.held_features = backend.array(np.broadcast_to(finite("held_out features", features), (*shared, self.inputs)))
        self.held_targets = backend.array(np.broadcast_to(finite("held_out targets", targets), (*shared, self.outputs)))
        self.held_client = backend.integers(np.broadcast_to(client, (self.instances, rows)))

    def _parameters(self) -> int:
        """The number of parameters of a model."""
        return self.outputs * self.inputs

    # the loss, on scores (..., outputs) ---------------------------------------------------------------------
    @abstractmethod
    def loss(self, scores, targets):
        """Loss per sample, (...,)."""

    @abstractmethod
    def slope(self, scores, targets):
        """Derivative of the loss in the scores, (..., outputs)."""

    @abstractmethod
    def bend(self, scores, targets):
        """A function that multiplies (..., outputs) by the second derivative of the loss in the scores."""

    @abstractmethod
    def _sample_noise(self) -> SampleNoise:
        """Variance and bound for minibatches of one sample."""

    # models: linear scores; a family with other models overrides these ------------------------------------------------
    def _scores(self, features, x):
        """W a for ``features`` (runs | 1, participants, samples, inputs) and ``x`` (runs, participants, dim)."""
        return products(features, x.reshape(*x.shape[:2], self.outputs, self.inputs))

    def _combine(self, features, coefficients):
        """sum_i c_i a_i^T flattened, (runs, participants, dim), for c (runs, participants, samples, outputs)."""
        return outer_sums(coefficients, features).reshape(*coefficients.shape[:2], self.dim)

    def _sum_of_gradients(self, x, features, targets, share=None):
        """sum_i share_i times the gradient of the loss on sample i (``share=None``: ones), (runs, participants, dim)."""
        slopes = self.slope(self._scores(features, x), targets)
        return self._combine(features, slopes if share is None else share[..., None] * slopes)

    def _gradients(self, x, features, targets):
        """Gradient of the loss on every sample, (runs, participants, samples, dim)."""
        slopes = self.slope(self._scores(features, x), targets)
        each = slopes[..., :, None] * features[..., None, :]
        return each.reshape(*each.shape[:3], self.dim)

    # what is added to the loss, on parameters ---------------------------------------------------------------------------
    def _penalty(self, x):
        return self.ridge / 2 * namespace(x).sum(x**2, axis=-1)

    def _penalty_slope(self, x):
        return self.ridge * x

    @property
    def _penalised(self) -> bool:
        """Whether there is a penalty at all."""
        return self.ridge != 0

    def _and_penalty(self, slopes, x):
        """Gradients (runs, participants, dim) of the data terms, and the penalty's slope if there is any."""
        return slopes + self._penalty_slope(x) if self._penalised else slopes

    def _penalty_bend(self, x):
        """A function that multiplies (..., dim) by the penalty's Hessian at ``x``."""
        return lambda direction: self.ridge * direction

    # values and gradients -------------------------------------------------------------------------------------------
    def _data(self, clients):
        return tuple(take_clients(array, clients) for array in (self.features, self.targets, self.share))

    def value(self, x, clients=None):
        features, targets, share = self._data(clients)
        losses = namespace(x).sum(share * self.loss(self._scores(features, x), targets), axis=-1)
        return losses + self._penalty(x)

    def gradient(self, x, clients=None):
        return self._and_penalty(self._sum_of_gradients(x, *self._data(clients)), x)

    def hessian(self, x, clients=None):
        """A function that multiplies (runs, participants, dim) by the Hessians of F_k at ``x``."""
        features, targets, share = self._data(clients)
        bend, penalty = self.bend(self._scores(features, x), targets), self._penalty_bend(x)

        def product(direction):
            bent = share[..., None] * bend(self._scores(features, direction))
            return self._combine(features, bent) + penalty(direction)

        return product

    # samples --------------------------------------------------------------------------------------------------------
    def sample_values(self, x, clients=None, data=None):
        """Loss on every sample plus the penalty at ``x`` (runs, participants, dim), as (runs, participants, samples).

        With all samples of a client their mean is F_k; places that hold no sample are 0.
        """
        features, targets, share = self._data(clients) if data is None else data
        values = self.loss(self._scores(features, x), targets) + self._penalty(x)[..., None]
        return namespace(x).where(share > 0, values, 0 * values)

    def sample_gradients(self, x, clients=None, data=None):
        """Gradients of :meth:`sample_values`, (runs, participants, samples, dim)."""
        features, targets, share = self._data(clients) if data is None else data
        each = self._gradients(x, features, targets) + self._penalty_slope(x)[:, :, None]
        return namespace(x).where((share > 0)[..., None], each, 0 * each)

    def representation(self, x, clients=None, data=None):
        """Return the scores; see :meth:`Federation.representation <synthetic.base.federation.Federation.representation>`."""
        return self._scores((self._data(clients) if data is None else data)[0], x)

    def representation_gradient(self, x, slopes, clients=None, data=None):
        return self._combine((self._data(clients) if data is None else data)[0], slopes)

    def minibatch(self, draws, iteration: int, clients=None):
        """The samples that :meth:`stochastic_gradient` uses: features, targets and shares, see the class.

        ``batch_size`` samples per client, drawn with replacement for (iteration, client, slot); all samples if there are
        no minibatches.
        """
        if self.batch_size is None:
            return self._data(clients)
        features, targets = self._batch(draws, iteration, clients)
        return features, targets, 0 * features[..., 0] + 1 / self.batch_size

    def _batch(self, draws, iteration, clients):
        counts = take_clients(self.counts, clients)
        place = drawn_samples(self, lambda keys: namespace(keys).repeat(counts, self.batch_size, axis=-1), draws, iteration,
                              clients)
        return self.features[place], self.targets[place]

    def stochastic_gradient(self, x, draws, iteration, clients=None):
        """Gradient on :meth:`minibatch`; or additive noise."""
        if self.batch_size is None:
            return super().stochastic_gradient(x, draws, iteration, clients)
        return self._and_penalty(self._sum_of_gradients(x, *self._batch(draws, iteration, clients)) / self.batch_size, x)

    # held-out samples -----------------------------------------------------------------------------------------------
    @property
    def held_out_size(self) -> int:
        """The number of samples that are held out of training."""
        return self.held_client.shape[-1]

    def _held_out_mean(self, measured):
        """Mean of ``measured`` (runs, 1, rows) over the held-out rows, as (runs,)."""
        xp = namespace(measured)
        each = self.weights * self.priority / self.counts  # of a training sample in F
        share = xp.take_along_axis(each, self.held_client, axis=-1)
        share = share / xp.sum(share, axis=-1, keepdims=True)
        return xp.sum(share * measured[:, 0], axis=-1)

    def held_out_loss(self, x):
        if not self.held_out_size:
            return super().held_out_loss(x)
        return self._held_out_mean(self.loss(self._scores(self.held_features, x[:, None]), self.held_targets))

    # noise and constants --------------------------------------------------------------------------------------------
    @property
    def variance_known(self):
        return super().variance_known if self.batch_size is None else self._minibatches_known

    @cached_property
    def noise(self):
        if self.batch_size is None:
            return self._additive
        one = self._sample_noise()
        several, xp = self.counts > 1, namespace(self.features)
        variance, bound = one.variance / self.batch_size, one.bound + 0 * one.variance
        return SampleNoise(self.batch_size, *(xp.where(several, v, 0 * one.variance) for v in (variance, bound)))

    def _noise_at_optimum(self) -> SampleNoise:
        """Noise at the optimum of the objective, for losses without a bound over all of R^d."""
        xp = namespace(self.features)
        x = self.all_clients(self.x_star)
        slopes = self.slope(self._scores(self.features, x), self.targets)
        second = xp.sum(slopes**2, axis=-1) * xp.sum(self.features**2, axis=-1)
        mean = self.gradient(x) - self._penalty_slope(x)
        variance = xp.sum(self.share * second, axis=-1) - xp.sum(mean**2, axis=-1)
        return SampleNoise(1, xp.clip(variance, min=0), float("inf"))

    def _sample_smoothness(self) -> dict[str, Constant]:
        """Smoothness of single samples where ``steepest`` bounds the loss's second derivative and is approached."""
        xp = namespace(self.features)
        each = self.steepest * xp.max(xp.sum(self.features**2, axis=-1), axis=-1) + self.ridge
        return by_client("L_sample", each, "exact", "smoothness of a sample's loss")

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

    def _rank_tolerance(self, values):
        """Eigenvalues up to this are zeros with rounding errors."""
        precision = namespace(values).finfo(values.dtype).eps
        return values[..., -1:] * precision * max(self.inputs, self.features.shape[2])

    def _least(self):
        """Smallest eigenvalue of A_k^T A_k / n_k, 0 where it is a rounding error."""
        xp, spectrum = namespace(self.features), self._spectrum()
        full = self.features.shape[2] >= self.inputs
        least = spectrum[..., 0] if full else 0 * spectrum[..., 0]
        return xp.where(least <= self._rank_tolerance(spectrum)[..., 0], 0 * least, least)

    def _largest(self):
        return self._spectrum()[..., -1]

    def extra_constants(self):
        return {"samples": Constant(self.counts, "exact", "samples per client")}

    # other data -----------------------------------------------------------------------------------------------------
    def check_target(self, target) -> np.ndarray:
        """A sample's target as (outputs,). Raises ValueError if the loss is not defined for it."""
        target = finite("target", target).reshape(-1)
        if target.shape != (self.outputs,):
            raise ValueError(f"target must have {self.outputs} entries; got {len(target)}")
        return target

    def neighbours(self, replacements) -> Self:
        """A federation with one instance per replacement, each equal to this one but for one sample of one client.

        Draws depend on a run's seed and never on the data, so that a run on a neighbour uses the same sample numbers,
        clients and noise as the run of the same seed on this federation, which has one instance, or one per replacement.

        Args:
            replacements: (client, sample, features, target) each: numbers from 0, the new sample's features (inputs,),
                with a 1 at the end if there is an intercept, and its target (a class number for softmax regression).

        Raises:
            ValueError: no replacement, a client or sample that does not exist, shapes, entries that are not finite, a
                target that the loss does not know.

        Example:
            >>> from synthetic import from_arrays
            >>> federation = from_arrays([[1.0], [2.0], [3.0]], [1.0, 2.0, 6.0], [0, 0, 1])
            >>> federation.neighbours([(0, 1, [5.0], 7.0), (1, 0, [0.0], 0.0)]).features[..., 0].tolist()
            [[[1.0, 5.0], [3.0, 0.0]], [[1.0, 2.0], [0.0, 0.0]]]
        """
        replacements = list(replacements)
        count = len(replacements)
        if not count or self.instances not in (1, count):
            allowed = "at least one" if self.instances == 1 else f"as many as instances, {self.instances}"
            raise ValueError(f"replacements must be {allowed}; got {count}")
        counts = np.broadcast_to(to_numpy(self.counts), (count, self.clients))
        rows = [self._checked(counts[row], *entry) for row, entry in enumerate(replacements)]
        clients, samples = (np.array([row[i] for row in rows]) for i in (0, 1))
        new = self._copies(count if self.instances == 1 else 1)
        for name, i in (("features", 2), ("targets", 3)):
            array = to_numpy(getattr(new, name)).copy()
            array[np.arange(count), clients, samples] = np.stack([row[i] for row in rows])
            setattr(new, name, self.backend.array(array))
        for name in self._solved:
            new.__dict__.pop(name, None)  # optima of the old data
        return new

    def _checked(self, counts, client, sample, features, target):
        client = whole("client", client, 0, self.clients - 1)
        sample = whole(f"sample of client {client}", sample, 0, int(counts[client]) - 1)
        features = finite("features", features).reshape(-1)
        if features.shape != (self.inputs,):
            raise ValueError(f"features must have {self.inputs} entries; got {len(features)}")
        return client, sample, features, self.check_target(target)


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
