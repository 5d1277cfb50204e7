"""Piecewise quadratic federations: convex or not, Lipschitz or not, with or without samples, exact on fractions."""

from functools import cached_property
from typing import Self

import numpy as np

from synthetic.base.checks import nonnegative, whole
from synthetic.base.constants import Constant, by_client
from synthetic.base.federation import Federation
from synthetic.base.noise import FiniteNoise, NoNoise, SampleNoise, drawn_samples
from synthetic.numbers.arrays import BALLS, EXACT, TORCH, add_up, largest, namespace, take_clients, to_numpy, values_where
from synthetic.numbers.roots import root_above
from synthetic.piecewise.huber_sums import HuberSum, cut

__all__ = ["Huber", "Piecewise"]


class Piecewise(Federation):
    """F_k(v) = b_k + sum_j [ a_kj/2 (v_j - c_kj)^2 + sum_p s_kjp h_p(v_j - d_kjp) ], or a mean over samples of such losses.

    h_p(u) = u^2/2 where |u| <= w_kjp, and w_kjp |u| - w_kjp^2/2 beyond, the Huber function. Every constant is exact.

    Args:
        curvature: a >= 0, (instances, clients, dim), or with samples (instances, clients, samples, dim).
        center: c, as ``curvature``.
        pieces_slope: s, of any sign, so that F_k need not be convex; one axis more than ``curvature``, for the pieces.
        pieces_center, pieces_width: d, and w >= 0, as ``pieces_slope``.
        offset: b, (instances, clients), or with samples (instances, clients, samples); default 0.
        weights, priority: p_k up to scale and truth values, (instances | 1, clients).
        noise: an additive law (:mod:`synthetic.base.noise`).
        batch_size: samples per stochastic gradient, drawn uniformly with replacement in place of ``noise``; None for full
            gradients. With a table of outcomes for the stream ``SAMPLES``, (runs, times, clients * batch_size), every
            draw can be enumerated.
        layers: sizes of the layers, or their number.

    ``x_star`` is a global minimiser of F; where F is unbounded below it is nan, in exact arithmetic an ArithmeticError.

    Raises:
        ValueError: shapes, a negative curvature or width, both ``noise`` and ``batch_size``, batches without samples.

    Example:
        >>> federation = Piecewise([[[0.0]]], [[[0.0]]], [[[[1.0, -2.0]]]], [[[[0.0, 1.0]]]], [[[[3.0, 0.5]]]])
        >>> federation.value(federation.backend.array([[[1.0]]])).tolist()
        [[0.5]]
    """

    name = "piecewise quadratic"
    optimum_provenance = ("exact", "least of the stationary points and knots, by coordinate")
    _arrays = ("curvature", "center", "slope", "knot", "width", "offset", "weights", "priority")
    _law = "_additive"

    def __init__(self, curvature, center, pieces_slope, pieces_center, pieces_width, offset=None, weights=None,
                 priority=None, noise=None, backend=TORCH, *, batch_size=None, layers=None):
        given = (curvature, center, pieces_slope, pieces_center, pieces_width)
        curvature, center, slope, knot, width = map(backend.array, given)
        self.with_samples = center.ndim == 4
        if center.ndim not in (3, 4):
            raise ValueError("center must be (instances, clients, dim) or (instances, clients, samples, dim); got shape "
                             f"{tuple(center.shape)}")
        for name, array, like in (("curvature", curvature, center), ("pieces_center", knot, slope),
                                  ("pieces_width", width, slope)):
            if tuple(array.shape) != tuple(like.shape):
                raise ValueError(f"{name} must have shape {tuple(like.shape)}; got {tuple(array.shape)}")
        if tuple(slope.shape[:-1]) != tuple(center.shape):
            raise ValueError(f"pieces_slope must have shape {(*center.shape, 'pieces')}; got {tuple(slope.shape)}")
        nonnegative("curvature", curvature)
        nonnegative("pieces_width", width)
        if batch_size is not None and (noise is not None or not self.with_samples):
            raise ValueError("batch_size needs samples, and no additive noise; got "
                             + ("noise" if noise is not None else "no axis of samples"))
        self.batch_size = None if batch_size is None else whole("batch_size", batch_size)
        if not self.with_samples:
            curvature, center, slope, knot, width = (a[:, :, None] for a in (curvature, center, slope, knot, width))
        self.curvature, self.center, self.slope, self.knot, self.width = curvature, center, slope, knot, width
        instances, self.clients, self.samples, self.dim = center.shape
        zero = 0 * center[..., 0]
        given_offset = zero if offset is None else backend.array(offset)
        self.offset = given_offset if given_offset.ndim == 3 else given_offset[..., None] + zero
        self._set_common(backend, (instances, self.clients), weights, priority, noise, layers)
        if backend == BALLS:  # knots are compared as fractions, so that every minimum is decided
            self._rational = Piecewise(*given, offset, to_numpy(weights) if weights is not None else None, priority,
                                       backend=EXACT)

    # samples and clients ------------------------------------------------------------------------------------------------
    def _losses_of(self, clients):
        return (take_clients(array, clients) for array in (self.curvature, self.center, self.slope, self.knot, self.width))

    def sample_values(self, x, clients=None):
        """Loss of every sample at ``x`` (runs, participants, dim), as (runs, participants, samples)."""
        curvature, center, slope, knot, width = self._losses_of(clients)
        xp, v = namespace(x), x[:, :, None]
        u = v[..., None] - knot
        inner = cut(u, width)
        pieces = add_up(slope * (u * inner - inner**2 / 2))
        return xp.sum(curvature * (v - center) ** 2 / 2 + pieces, axis=-1) + take_clients(self.offset, clients)

    def sample_gradients(self, x, clients=None):
        """Gradients of :meth:`sample_values`, (runs, participants, samples, dim)."""
        return _gradients(x[:, :, None], *self._losses_of(clients))

    @property
    def share(self):
        """The samples' shares of a client's loss, (instances, clients, samples)."""
        return 0 * self.center[..., 0] + self.backend.array(1) / self.samples

    def value(self, x, clients=None):
        return add_up(self.sample_values(x, clients)) / self.samples

    @cached_property
    def of_terms(self) -> Self:
        """The federation whose losses add the absolute values of all terms: a scale for rounding errors where pieces of
        both signs cancel. The federation itself if all terms are nonnegative."""
        if bool((self.slope >= 0).all()) and bool((self.offset >= 0).all()):
            return self
        terms = self.curvature, self.center, abs(self.slope), self.knot, self.width, abs(self.offset)
        return Piecewise(*terms, self.weights, self.priority, backend=self.backend)

    def gradient(self, x, clients=None):
        return namespace(x).sum(self.sample_gradients(x, clients), axis=2) / self.samples

    def stochastic_gradient(self, x, draws, iteration, clients=None):
        """Mean gradient of ``batch_size`` samples; or with additive noise."""
        if self.batch_size is None:
            return super().stochastic_gradient(x, draws, iteration, clients)
        place = drawn_samples(self, lambda keys: 0 * keys + self.samples, draws, iteration, clients)
        if self.samples == 1:  # there is no other
            return namespace(x).sum(self.sample_gradients(x, clients), axis=2)
        arrays = (array[place] for array in (self.curvature, self.center, self.slope, self.knot, self.width))
        return namespace(x).sum(_gradients(x[:, :, None], *arrays), axis=2) / self.batch_size

    # functions of one coordinate ----------------------------------------------------------------------------------------
    @cached_property
    def _of_samples(self) -> HuberSum:
        """The losses of samples by coordinate, (instances, clients, samples, dim)."""
        return HuberSum(self.curvature, self.curvature * self.center, self.slope, self.knot, self.width)

    @cached_property
    def _of_clients(self) -> HuberSum:
        """The losses of clients by coordinate, (instances, clients, dim)."""
        return _weighted(self._of_samples, self.share, 2)

    def _of_objective(self, weights) -> HuberSum:
        """The mixture sum_k weights[:, k] F_k by coordinate, (instances, dim)."""
        return _weighted(self._of_clients, weights, 1)

    @property
    def _decided(self) -> Self:
        """The federation on which knots are compared: fractions in place of balls."""
        return self.__dict__.get("_rational", self)

    def _with(self, change, noise, keep=()):
        new = super()._with(change, noise, keep)
        if "_rational" in new.__dict__:
            if new.backend == BALLS:
                new._rational = self._rational._with(change, NoNoise())
            else:
                del new.__dict__["_rational"]
        return new

    # optima -------------------------------------------------------------------------------------------------------------
    @cached_property
    def x_star(self):
        return self.backend.array(self._decided.minimiser(self._decided.weights * self.priority))

    def minimiser(self, weights):
        """A global minimiser of sum_k weights[:, k] F_k, (instances, dim), for any ``weights`` (instances, clients) >= 0."""
        return self._of_objective(weights).minimiser()

    @cached_property
    def client_minimisers(self):
        """A global minimiser of each F_k, (instances, clients, dim); nan, or ArithmeticError, where there is none."""
        return self.backend.array(self._decided._of_clients.minimiser())

    @cached_property
    def F_star_client(self):
        """Minimum of each F_k, (instances, clients), minus infinity where it is not bounded below."""
        xp, bounded = namespace(self.center), self._decided._of_clients.bounded_below()
        if bool(xp.all(bounded)):
            return self.value(self.client_minimisers)
        if self.center.dtype == object:
            raise ArithmeticError("a client's loss is not bounded below")
        values = self.value(self.client_minimisers)
        return xp.where(xp.all(bounded, axis=-1), values, 0 * xp.nan_to_num(values) - float("inf"))

    def prox(self, linear, rho, center, clients=None):
        """argmin over v of F_k(v) + <linear_k, v> + rho/2 |v - center_k|^2, solved exactly, (runs, participants, dim).

        Arguments as in :meth:`synthetic.Quadratic.prox`. Where F_k + rho/2 |v|^2 is not convex it is a global minimum.

        Raises:
            ValueError: negative ``rho``.
        """
        nonnegative("rho", rho)
        own = self._of_clients
        pieces = (take_clients(array, clients) for array in (own.slope, own.center, own.width))
        pull = rho * center - linear
        curvature = take_clients(own.curvature, clients) + rho + 0 * pull
        return HuberSum(curvature, take_clients(own.linear, clients) + pull, *pieces).minimiser()

    # constants ----------------------------------------------------------------------------------------------------------
    def _bends(self, function):
        """Least and largest second derivative over all points and coordinates."""
        xp, bends = namespace(self.center), function.second_derivatives()
        return xp.min(xp.min(bends, axis=-1), axis=-1), xp.max(xp.max(bends, axis=-1), axis=-1)

    def _smoothness_of(self, function):
        least, most = self._bends(function)
        return namespace(self.center).where(most > -least, most, -least)

    def smoothness(self):
        return Constant(self._exactly(lambda f: f._smoothness_of(f._of_clients)), "exact", "largest |F_k''| by coordinate")

    def convexity(self):
        return Constant(self._exactly(lambda f: f._bends(f._of_clients)[0]), "exact", "least F_k'' by coordinate")

    def _exactly(self, measure):
        return self.backend.array(measure(self._decided))

    @cached_property
    def noise(self):
        if self.batch_size is None:
            return self._additive
        variance, bound = map(self.backend.array, self._decided._spread_of_samples())
        return SampleNoise(self.batch_size, variance / self.batch_size, bound)

    def _spread_of_samples(self):
        """sup over v of the mean, and of the largest, squared distance of a sample's gradient from the client's."""
        xp = namespace(self.center)
        apart, equal = self._apart(self._of_samples, self.share, 2)
        mean = xp.sum(xp.max(xp.sum(apart**2, axis=2) / self.samples, axis=-1), axis=-1)
        most = xp.max(xp.sum(xp.max(apart**2, axis=-1), axis=-1), axis=2)
        return tuple(values_where(xp.all(equal, axis=-1), value, "the variance of samples has no bound")
                     for value in (mean, most))

    def _apart(self, functions, weights, axis):
        """f' minus its weighted mean along ``axis``, at the knots of all functions; whether it is constant beyond them."""
        xp = namespace(self.center)
        knots = xp.moveaxis(functions.knots(), axis, -1)
        knots = xp.expand_dims(knots.reshape(*knots.shape[:-2], -1), axis=axis)
        knots = xp.broadcast_to(knots, (*functions.curvature.shape, knots.shape[-1]))
        slopes, curvature = functions.derivative(knots), functions.curvature
        weights = weights.reshape(*weights.shape, *(1,) * (slopes.ndim - weights.ndim))
        mean = xp.sum(weights * slopes, axis=axis, keepdims=True)
        low, high = xp.min(curvature, axis=axis), xp.max(curvature, axis=axis)
        slack = 0 * high if high.dtype == object else 1e-12 * high
        return slopes - mean, high - low <= slack

    def _minima_constants(self):
        return _if_known(super()._minima_constants)

    def _variance_constants(self):
        return _if_known(super()._variance_constants)

    def extra_constants(self):
        """``L_objective``, ``mu_objective``, ``L_sample``; where they exist ``G``, ``G_lip`` and sigma_g over all of R^d.

        ``G`` bounds |grad F_k|; ``G_lip`` is the Lipschitz constant of the loss of every sample, and under additive noise
        of finite support z of F_k + <z, v>. On fractions, irrational constants are rounded up.
        """
        xp, each = namespace(self.center), self._exactly(lambda f: f._smoothness_of(f._of_samples))
        entries = {
            "F_inf": Constant(self.F_star, *self.optimum_provenance),
            "L_objective": Constant(self._exactly(
                lambda f: f._smoothness_of(f._of_objective(f.weights * f.priority))), "exact", "smoothness of F"),
            "mu_objective": Constant(self._exactly(
                lambda f: f._bends(f._of_objective(f.weights * f.priority))[0]), "exact", "least F'' by coordinate"),
            **by_client("L_sample", xp.max(each, axis=-1), "exact", "smoothness of a sample's loss"),
        }
        if bool(xp.all(self.curvature == 0)):
            steep = self._exactly(lambda f: root_above(namespace(f.center).sum(f._of_clients.largest_slope_sq(), axis=-1)))
            entries |= by_client("G", steep, "exact", "|grad F_k| over all of R^d") | self._lipschitz()
        return entries | _if_known(self._sigma_g)

    def _lipschitz(self):
        """sup over v, samples and the support of the noise of |stochastic gradient|; none for noise of infinite support."""
        slopes = self._decided._of_samples.derivative(self._decided._of_samples.knots())[:, :, None]
        if isinstance(self._additive, FiniteNoise):
            atoms = self._additive.atoms[:, :, :, None, :, None]  # instances, clients, outcomes, samples, dim, knots
            slopes = self.backend.array(slopes) + atoms
        elif not isinstance(self._additive, NoNoise):
            return {}
        squares = namespace(slopes).sum(largest(slopes**2, -1), axis=-1)
        steep = self.backend.array(root_above(largest(largest(squares, -1), -1)))
        return by_client("G_lip", steep, "exact", "Lipschitz constant of a sample's loss")

    def _sigma_g(self):
        rows = {}
        for name, (square, provenance, note) in self._decided._sigma_g_squares().items():
            rows[name] = Constant(self.backend.array(root_above(square)), provenance,
                                  f"{note} of |grad F_k - grad F|, over all of R^d")
        return rows

    def _sigma_g_squares(self):
        """Squares of the moments of |grad F_k - grad F|: by coordinate the difference is largest at a knot."""
        xp, p = namespace(self.center), self.weights * self.priority
        apart, equal = self._apart(self._of_clients, p, 1)
        finite, weights = xp.all(equal, axis=-1), p[:, :, None, None]
        if not bool(xp.any(finite)):
            return {}
        client = xp.sum(xp.max(apart**2, axis=-1), axis=-1)
        second = xp.sum(xp.max(xp.sum(weights * apart**2, axis=1), axis=-1), axis=-1)
        first = xp.max(xp.sum(weights * xp.abs(apart), axis=1), axis=-1)[:, 0] ** 2 if self.dim == 1 else second
        rows = {
            "sigma_g_1": (first, "exact" if self.dim == 1 else "upper", "first moment"),
            "sigma_g_2": (second, "exact", "root of the second moment"),
            "sigma_g_max": (xp.max(xp.where(p > 0, client, 0 * client), axis=-1), "exact", "largest"),
            "sigma_g_client": (client, "exact", "each client's"),
        }
        reason = "the clients' gradients are not within any distance of each other"
        return {name: (values_where(finite if square.ndim == 1 else finite[:, None], square, reason), *known)
                for name, (square, *known) in rows.items()}


class Huber(Piecewise):
    """F_k(x) = b_k + sum_j h(x_j - c_kj), h(u) = curvature/2 u^2 where |u| <= radius, and of curvature ``tail`` outside.

    With u_r = u cut to [-radius, radius], h(u) = tail/2 u^2 + (curvature - tail) (u u_r - u_r^2/2). ``tail=0`` gives
    linear ends: the Huber loss, Lipschitz with curvature * radius per coordinate. ``tail = curvature`` is a quadratic.

    All arguments are (instances, clients, dim), ``offset`` b_k (instances, clients); or what broadcasts to it. Constants
    are those of :class:`Piecewise`: L is the largest curvature, mu the least tail; sigma_g over all of R^d needs equal
    tails, ``G`` and ``G_lip`` need tails of 0.

    Raises:
        ValueError: shapes, a curvature that is not positive or below its tail, a negative tail or radius.

    Example:
        >>> federation = Huber(curvature=[[[1.0]]], radius=0.5, center=[[[0.0]]])
        >>> federation.value(federation.backend.array([[[2.0]]])).tolist()
        [[0.875]]
    """

    name = "huber"

    def __init__(self, curvature, radius, center, tail=0, offset=None, weights=None, priority=None, noise=None, layers=None,
                 backend=TORCH):
        center, arrays = to_numpy(center), []
        if center.ndim != 3:
            raise ValueError(f"center must be (instances, clients, dim); got shape {center.shape}")
        for name, values in (("curvature", curvature), ("radius", radius), ("tail", tail)):
            array = to_numpy(values)
            try:
                arrays.append(np.broadcast_to(array, center.shape))
            except ValueError:
                raise ValueError(f"{name} must broadcast to {center.shape}; got shape {array.shape}") from None
        curvature, radius, tail = arrays
        nonnegative("radius", radius)
        nonnegative("tail", tail)
        nonnegative("curvature less its tail", curvature - tail)
        if not (curvature > 0).all():
            raise ValueError(f"every curvature must be positive; got {float(curvature.min())}")
        pieces = (array[..., None] for array in (curvature - tail, center, radius))
        super().__init__(tail, center, *pieces, offset, weights, priority, noise, backend, layers=layers)


def _gradients(v, curvature, center, slope, knot, width):
    """Gradients at ``v`` (..., dim)."""
    return curvature * (v - center) + add_up(slope * cut(v[..., None] - knot, width))


def _weighted(functions: HuberSum, weights, axis: int) -> HuberSum:
    """The sum of ``functions`` along ``axis`` with ``weights``, whose axes are those up to ``axis``."""
    xp = namespace(functions.curvature)
    by_coordinate = weights[..., None]
    curvature, linear = (xp.sum(by_coordinate * a, axis=axis) for a in (functions.curvature, functions.linear))

    def side_by_side(pieces):
        moved = xp.moveaxis(pieces + 0 * functions.slope, axis, -2)
        return moved.reshape(*moved.shape[:-2], -1)

    slope = side_by_side(by_coordinate[..., None] * functions.slope)
    return HuberSum(curvature, linear, slope, side_by_side(functions.center), side_by_side(functions.width))


def _if_known(entries):
    """The constants ``entries()``; none if one of them is infinite, which exact arithmetic cannot hold."""
    try:
        return entries()
    except ArithmeticError:
        return {}
