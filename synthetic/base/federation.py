"""A federation: m clients, each a function F_k on R^d, with a law for stochastic gradients and known constants."""

from abc import ABC, abstractmethod
from copy import copy
from dataclasses import fields, is_dataclass, replace
from functools import cache, cached_property
from itertools import accumulate
from typing import Self

import numpy as np

from synthetic.base.checks import whole
from synthetic.base.constants import Constant, Constants, by_client, sigma_g_constants
from synthetic.base.display import RichDisplay, bars
from synthetic.base.noise import NoNoise
from synthetic.numbers.arrays import Backend, add_up, backend_of, backend_on, largest, namespace, one_place, to_numpy

__all__ = ["Federation", "layer_sizes"]


@cache
def _solved_later(family: type) -> frozenset[str]:
    """Names of the cached properties of a family."""
    return frozenset(name for name in dir(family) if isinstance(getattr(family, name), cached_property))


def layer_sizes(layers, dim: int) -> tuple[int, ...]:
    """Sizes of the layers of ``dim`` coordinates, in order.

    ``layers``: the sizes, or a number of layers of equal size.

    Raises:
        ValueError: sizes below 1, sizes that do not sum to ``dim``, a number that does not divide ``dim``.

    Example:
        >>> layer_sizes(3, 6), layer_sizes((1, 5), 6)
        ((2, 2, 2), (1, 5))
    """
    if np.ndim(layers) == 0:
        count = whole("layers", layers, 1, dim)
        if dim % count:
            raise ValueError(f"layers of equal size need a number that divides dim = {dim}; got {count}")
        return (dim // count,) * count
    sizes = tuple(whole("size of a layer", size) for size in layers)
    if sum(sizes) != dim:
        raise ValueError(f"sizes of layers must sum to dim = {dim}; got {sizes}, which sum to {sum(sizes)}")
    return sizes


class Federation(RichDisplay, ABC):
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
    factored: bool = False  #: whether x are factors of a model, see :mod:`synthetic.data.factored`
    has_classes: bool = False  #: whether samples have classes, so that a model has an accuracy
    held_out_size: int = 0  #: how many samples are held out of training
    layer_sizes: tuple[int, ...] | None = None  #: layers that were given, in place of the family's own

    _arrays: tuple[str, ...] = ("weights", "priority")  #: attributes with an axis of instances
    _solved: tuple[str, ...] = ()  #: cached properties that hold tuples of arrays by instance, kept in selections
    _law = "noise"  #: the attribute that holds the law of additive noise

    def _set_weights(self, weights, priority) -> None:
        """Scale positive ``weights`` (instances | 1, clients) so that the priority clients' sum is one."""
        xp = namespace(weights)
        if bool(xp.any(weights < 0)):
            raise ValueError(f"client weights must be >= 0; got {float(xp.min(weights))}")
        total = xp.sum(weights * priority, axis=-1, keepdims=True)
        if not bool(xp.all(total > 0)):
            raise ValueError("every instance needs at least one priority client of positive weight; got none")
        self.weights, self.priority = weights / total, priority

    def _set_common(self, backend, shape, weights, priority, noise, layers) -> None:
        """Store the arguments that every constructor takes: weights (default equal) and priority (default all) of ``shape``
        (instances, clients) or what broadcasts to it, a law of additive noise (default none), layers (default the family's
        own)."""
        weights = np.broadcast_to(1 if weights is None else to_numpy(weights), shape)
        priority = np.broadcast_to(True if priority is None else to_numpy(priority), shape)
        self._set_weights(backend.array(weights), backend.booleans(priority))
        setattr(self, self._law, NoNoise() if noise is None else noise)
        self._set_layers(layers)

    # what a family defines -------------------------------------------------------------------------------------------
    @abstractmethod
    def value(self, x, clients=None):
        """F_k at ``x`` (runs, participants, dim), as (runs, participants); ``clients`` (runs, participants) or all."""

    @abstractmethod
    def gradient(self, x, clients=None):
        """Gradient of F_k at ``x`` (runs, participants, dim), same shape."""

    @property
    @abstractmethod
    def x_star(self):
        """Minimiser of F, (instances, dim); nan where there is none. ``optimum_provenance`` says how it is known."""

    @property
    @abstractmethod
    def F_star_client(self):
        """Minimum of each F_k, (instances, clients)."""

    @abstractmethod
    def smoothness(self) -> Constant:
        """Per-client smoothness constants L_k, (instances, clients)."""

    @abstractmethod
    def convexity(self) -> Constant | None:
        """Per client a number m_k, (instances, clients), such that F_k - m_k/2 |x|^2 is convex; None if unknown.

        Where all are at least 0 they are the strong-convexity constants ``mu_client``. Where one is negative no mu is
        given, as there is none; ``weak_convexity_client`` is then -m_k or 0.
        """

    # what follows ----------------------------------------------------------------------------------------------------
    def _summary(self) -> str:
        sizes = "" if "client" in self.name else f", {self.clients} clients, dim {self.dim}"
        return f"{self.name}{sizes}" + (f", {self.instances} instances" if self.instances > 1 else "")

    def _table(self):
        first, lowest, noise = self.priority[0], self.convexity(), getattr(self, self._law)
        yield "clients", f"{self.clients}, {int(first.sum())} of them with priority"
        layers = f" in layers of {', '.join(map(str, self.layer_sizes))}" if self.layer_sizes else ""
        yield "dimension", f"{self.dim}{layers}"
        yield "instances", self.instances
        yield "curvatures", (f"up to {float(largest(self.smoothness().value, -1)[0]):.6g}" + (
            "" if lowest is None else f", from {-float(largest(-lowest.value, -1)[0]):.6g}"))
        yield "noise", type(noise).__name__
        yield "arrays", f"{self.backend.library}, {self.backend.device}"

    def _svg(self):
        """The clients' smoothness constants."""
        return bars(self.smoothness().value[0].tolist(), (~self.priority[0]).tolist())

    @property
    def backend(self) -> Backend:
        return backend_of(self.weights)

    @property
    def instances(self) -> int:
        return self.weights.shape[0]

    def stochastic_gradient(self, x, draws, iteration: int, clients=None):
        """One stochastic gradient per client at ``x`` (runs, participants, dim) for local iteration ``iteration``."""
        gradient = self.gradient(x, clients)
        return gradient if isinstance(self.noise, NoNoise) else gradient + self.noise.sample(draws, iteration, x, clients)

    # the model behind the parameters: here they are the outputs of a linear model on the one feature 1 of one sample
    def minibatch(self, draws, iteration: int, clients=None):
        """The samples that :meth:`stochastic_gradient` uses: features, targets, and shares (runs, participants, samples)."""
        return None, None, self.backend.array(np.ones((1, 1, 1)))

    def representation(self, x, clients=None, data=None):
        """The model's representation of every sample, (runs, participants, samples, width); without samples the model."""
        return x[:, :, None, :]

    def representation_gradient(self, x, slopes, clients=None, data=None):
        """Gradient in ``x`` of the sum over samples of <slopes, representation>, (runs, participants, dim).

        ``slopes`` (runs, participants, samples, width) are derivatives in :meth:`representation`.
        """
        return slopes[:, :, 0]

    def all_clients(self, x):
        """``x`` (runs, dim) laid out for every client, (runs, clients, dim), without copying."""
        return namespace(x).broadcast_to(x[:, None, :], (x.shape[0], self.clients, self.dim))

    def objective(self, x):
        """F at ``x`` (runs, dim), as (runs,)."""
        return add_up(self.weights * self.priority * self.value(self.all_clients(x)))

    def suboptimality(self, x):
        """F(x) - F* at ``x`` (runs, dim), as (runs,)."""
        return self.objective(x) - self.F_star

    def held_out_loss(self, x):
        """Mean loss of the held-out samples, without the penalty, at ``x`` (runs, dim), as (runs,).

        A held-out sample counts as much as a training sample of its client does in F: all the same with the default weights,
        those of free clients not at all.

        Raises:
            ValueError: nothing is held out.
        """
        raise ValueError(f"nothing is held out of {self.name}; allowed: federations on data made with held_out, such as 0.2")

    def held_out_accuracy(self, x):
        """Share of the held-out samples that ``x`` (runs, dim) classifies correctly, as (runs,).

        Samples count as in :meth:`held_out_loss`.

        Raises:
            ValueError: nothing is held out, or samples have no classes.
        """
        raise ValueError(f"no samples with classes are held out of {self.name}; allowed: federations on classified data, "
                         "made with held_out, such as 0.2")

    def objective_gradient(self, x):
        """Gradient of F at ``x`` (runs, dim), same shape."""
        xp = namespace(x)
        return xp.sum((self.weights * self.priority)[..., None] * self.gradient(self.all_clients(x)), axis=-2)

    def _mean(self, function, weights):
        """sum_k weights_k function(x)_k of x (runs, dim), from a function of x (runs, clients, dim)."""

        def of_objective(x):
            values = function(self.all_clients(x))
            return namespace(x).sum(values * weights.reshape(*weights.shape, *(1,) * (values.ndim - 2)), axis=1)

        return of_objective

    @cached_property
    def priority_clients(self) -> int:
        """The number of clients with priority. Raises ValueError if instances have different numbers."""
        counts = to_numpy(self.priority).sum(axis=-1)
        if counts.min() != counts.max():
            raise ValueError("the priority clients of all instances must be equally many; got "
                             f"{counts.min()} to {counts.max()}")
        return int(counts[0])

    @cached_property
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
        smoothness, provenance = self.smoothness(), self.optimum_provenance
        entries = {
            "L": Constant(largest(smoothness.value, -1), smoothness.provenance, "largest of the clients'"),
            **self._convexity_constants(),
            "L_client": smoothness,
            **self._variance_constants(),
            "x_star": Constant(self.x_star, *provenance),
            "F_star": Constant(self.F_star, *provenance),
        }
        return Constants(entries, (self._minima_constants, self._distances_at_the_optimum, self.extra_constants))

    def _distances_at_the_optimum(self) -> dict[str, Constant]:
        xp, entries = namespace(self.weights), {}
        norm_sq = xp.sum(self.gradient(self.all_clients(self.x_star)) ** 2, axis=-1)
        if norm_sq.dtype != object:  # roots leave the fractions
            bound = xp.max(self.noise.bound + 0 * self.weights, axis=-1)
            if bool(xp.all(xp.isfinite(bound))):
                entries["noise_bound"] = Constant(xp.sqrt(bound), "upper", "|g_k - grad F_k| surely")
            entries |= sigma_g_constants(xp.sqrt(norm_sq), self.weights * self.priority, "_at_optimum",
                                         self.optimum_provenance[0], "at the optimum")
        return entries

    def _variance_constants(self) -> dict[str, Constant]:
        return by_client("sigma_sq", self.variance + 0 * self.weights, *self.variance_known)

    def _minima_constants(self) -> dict[str, Constant]:
        provenance, of_clients = self.optimum_provenance, self.client_optimum_provenance
        of_both = of_clients if "estimate" in of_clients[:1] else provenance
        gaps = self.value(self.all_clients(self.x_star)) - self.F_star_client
        total = add_up(self.weights * self.priority * gaps)
        return {
            "F_star_client": Constant(self.F_star_client, *of_clients),
            "Gamma": Constant(total, *of_both),
            "Gamma_client": Constant(gaps, *of_both),
        }

    def _convexity_constants(self) -> dict[str, Constant]:
        xp, lowest = namespace(self.weights), self.convexity()
        if lowest is None:
            return {}
        if bool(xp.all(lowest.value >= 0)):
            smallest = Constant(-largest(-lowest.value, -1), lowest.provenance, "smallest of the clients'")
            return {"mu": smallest, "mu_client": lowest}
        weak = xp.where(lowest.value < 0, -lowest.value, 0 * lowest.value)
        provenance = {"lower": "upper"}.get(lowest.provenance, lowest.provenance)
        return by_client("weak_convexity", weak, provenance, "F_k + this/2 |x|^2 is convex")

    variance_known = ("exact", "E|g_k - grad F_k|^2")
    optimum_provenance = ("exact", "closed form")

    @property
    def client_optimum_provenance(self) -> tuple[str, str]:
        """Provenance and note of the clients' minima, where they differ from the objective's."""
        return self.optimum_provenance

    def extra_constants(self) -> dict[str, Constant]:
        """Constants that only this family knows."""
        return {}

    # layers ----------------------------------------------------------------------------------------------------------
    def _own_layers(self) -> tuple[int, ...]:
        """Sizes of the layers that this family has by itself: one layer unless a family says otherwise."""
        return (self.dim,)

    def layers(self) -> tuple[slice, ...]:
        """Partition of the coordinates into layers: as given, or else the family's own."""
        sizes = self.layer_sizes or self._own_layers()
        return tuple(slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True))

    def with_layers(self, layers) -> Self:
        """Return the federation with other layers: their sizes, or a number of equal layers; None for the family's own.

        Raises:
            ValueError: sizes that do not sum to ``dim``, a number that does not divide it.
        """
        new = copy(self)
        new.__dict__.pop("layer_sizes", None)
        new._set_layers(layers)
        return new

    def _set_layers(self, layers) -> None:
        if layers is not None:
            self.layer_sizes = layer_sizes(layers, self.dim)

    # where runs may begin --------------------------------------------------------------------------------------------
    def default_start(self, seed: int = 0):
        """A start (dim,): zeros, or random numbers of ``seed`` in families whose gradient vanishes at zero."""
        return self.backend.array(np.zeros(self.dim))

    # instances -------------------------------------------------------------------------------------------------------
    def _with(self, change, noise, keep=()) -> Self:
        """A copy with every array changed by ``change``; it keeps the cached tuples named in ``keep`` and no other cache."""
        new = object.__new__(type(self))
        solved = _solved_later(type(self))
        new.__dict__ = {k: v for k, v in self.__dict__.items() if k not in solved}
        for name in self._arrays:
            setattr(new, name, change(getattr(self, name)))
        for name in keep:
            if name in self.__dict__:
                new.__dict__[name] = tuple(change(array) for array in self.__dict__[name])
        setattr(new, self._law, noise)
        return new

    def repeat(self, times: int) -> Self:
        """Each instance ``times`` times in a row. A federation with one shared instance stays as it is."""
        if self.instances == 1:
            return self
        return self._copies(times)

    def _copies(self, times: int) -> Self:
        noise = getattr(self, self._law).repeat(times)
        return self._with(lambda a: namespace(a).repeat(a, times, axis=0), noise, self._solved)

    def select(self, rows) -> Self:
        """The instances numbered ``rows``."""
        return self._with(lambda a: a[rows], getattr(self, self._law).select(rows), self._solved)

    def to(self, device: Backend | str | None = None, dtype: str | None = None) -> Self:
        """Return the federation elsewhere: on a torch device, in a dtype, or on a Backend of any library.

        Args:
            device: ``cpu``, ``cuda``, ``cuda:1``, or a Backend, which has a dtype of its own; None: where the arrays are.
            dtype: ``float32`` or ``float64``; None: as the arrays are. Arrays of another library become float64 tensors on
                the CPU unless these say otherwise.

        Raises:
            ValueError: another name, a device that this machine does not have, with the reason, or a Backend and a dtype.

        Example:
            >>> from synthetic import Quadratic
            >>> Quadratic([[[1.0]]], [[[1.0]]]).to(dtype="float32").backend.dtype
            'float32'
        """
        if isinstance(device, Backend):
            one_place(device, None, dtype)
            return self._on(device)
        if device is None and dtype is None:
            return self
        backend = backend_on(device, dtype, self.backend)
        return self if backend == self.backend else self._on(backend)

    def _on(self, backend: Backend) -> Self:
        """Return the federation on another backend (library, device, precision)."""

        def change(array):
            kind = str(array.dtype)
            if "bool" in kind:
                return backend.booleans(to_numpy(array))
            return backend.integers(to_numpy(array)) if "int" in kind else backend.array(to_numpy(array))

        noise = getattr(self, self._law)
        if is_dataclass(noise):
            arrays = {f.name: getattr(noise, f.name) for f in fields(noise)}
            noise = replace(noise, **{n: change(a) for n, a in arrays.items() if hasattr(a, "dtype")})
        return self._with(change, noise)

    @cached_property
    def _double(self) -> Self:
        """The federation in double precision, in which optima are computed."""
        if not str(self.weights.dtype).endswith("float32"):
            return self
        return self._on(Backend(self.backend.library, self.backend.device))
