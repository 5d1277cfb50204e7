"""Quadratics with cosines added: smooth and not convex, with known constants and, where separable, a proven optimum."""

from functools import cached_property

import numpy as np

from synthetic.base.checks import finite, flag, number, one_of, whole
from synthetic.base.constants import Constant, sigma_g_constants
from synthetic.numbers.arrays import TORCH, Backend, namespace, take_clients, to_numpy
from synthetic.optima.local_search import Solved, best_points, scattered
from synthetic.optima.one_dimension import global_minima
from synthetic.quadratic.make import make_quadratic
from synthetic.quadratic.quadratic import curved, spectrum

__all__ = ["CosineQuadratic", "make_cosine_quadratic"]


class CosineQuadratic(Solved):
    """F_k(x) = 1/2 (x - c_k)^T A_k (x - c_k) + b_k + sum_j amplitude_kj cos(w_kj.x + phase_kj).

    Where every A_k is diagonal and every w_kj lies along an axis the functions are sums over coordinates. L is then exact
    (if no two cosines share a coordinate), and global minima are found by branch and bound to a proven error; otherwise L
    is a proven upper bound, and minima are the best that several descents find: estimates.

    With equal A_k, sigma_g over all of R^d is exact where the clients' cosines are equal, and a proven bound where not.

    Args:
        curvature: A_k, (instances, clients, dim) or (instances, clients, dim, dim), positive definite.
        center, offset: c_k (instances, clients, dim), b_k (instances, clients) or None for 0.
        frequency: w_kj, (instances, clients, terms, dim); amplitude, phase: (instances, clients, terms).
        weights, priority, noise, layers, backend: as in :class:`synthetic.Quadratic`.

    Raises:
        ValueError: shapes, numbers that are not finite, a curvature that is not positive, exact backends.
    """

    name = "cosine-perturbed quadratic"
    _arrays = ("curvature", "center", "offset", "frequency", "amplitude", "phase", "weights", "priority")

    def __init__(self, curvature, center, frequency, amplitude, phase, offset=None, weights=None, priority=None, noise=None,
                 layers=None, backend=TORCH):
        if backend.library not in ("torch", "numpy"):
            raise ValueError(f"cosines need an array library of floats; got {backend.library!r}, allowed: torch, numpy")
        center = finite("center", to_numpy(center))
        instances, self.clients, self.dim = center.shape
        shape = (instances, self.clients)
        terms = np.shape(amplitude)[-1:]
        given = {"curvature": (curvature, None), "center": (center, (*shape, self.dim)),
                 "offset": (np.zeros(shape) if offset is None else offset, shape),
                 "frequency": (frequency, (*shape, *terms, self.dim)), "amplitude": (amplitude, (*shape, *terms)),
                 "phase": (phase, (*shape, *terms))}
        for name, (values, expected) in given.items():
            array = finite(name, to_numpy(values))
            if expected is None:
                expected = (*shape, self.dim) + (self.dim,) * (array.ndim == 4)
            if array.shape != expected:
                raise ValueError(f"{name} must have shape {expected}; got {array.shape}")
            setattr(self, name, backend.array(array))
        self._set_common(backend, shape, weights, priority, noise, layers)
        least = float(to_numpy(spectrum(self.curvature)).min())
        if not least > 0:
            raise ValueError(f"every curvature must be positive; got {least:g}")

    def _angles(self, x, clients):
        xp = namespace(x)
        frequency = take_clients(self.frequency, clients)
        return frequency, xp.matmul(frequency, x[..., None])[..., 0] + take_clients(self.phase, clients)

    def value(self, x, clients=None):
        xp = namespace(x)
        v = x - take_clients(self.center, clients)
        bowl = xp.sum(v * curved(take_clients(self.curvature, clients), v), axis=-1) / 2
        _, angles = self._angles(x, clients)
        waves = xp.sum(take_clients(self.amplitude, clients) * xp.cos(angles), axis=-1)
        return bowl + take_clients(self.offset, clients) + waves

    def gradient(self, x, clients=None):
        xp = namespace(x)
        bowl = curved(take_clients(self.curvature, clients), x - take_clients(self.center, clients))
        frequency, angles = self._angles(x, clients)
        slopes = take_clients(self.amplitude, clients) * xp.sin(angles)
        return bowl - xp.sum(slopes[..., None] * frequency, axis=-2)

    # constants ------------------------------------------------------------------------------------------------------
    @property
    def separable(self) -> bool:
        """Whether all functions are sums over coordinates."""
        xp = namespace(self.center)
        axes = xp.sum(xp.astype(self.frequency != 0, xp.int64), axis=-1)
        return self.curvature.ndim == 3 and bool(xp.all((axes <= 1) | (self.amplitude == 0)))

    def _waves_bend(self):
        """Bound on the Hessian of the cosines: by coordinate if separable, else its largest eigenvalue, (..., 1)."""
        xp, size = namespace(self.center), namespace(self.center).abs(self.amplitude)[..., None]
        if self.separable:
            return xp.sum(size * self.frequency**2, axis=-2)
        bend = xp.matmul(xp.permute_dims(size * self.frequency, (0, 1, 3, 2)), self.frequency)
        return xp.linalg.eigvalsh(bend)[..., -1:]

    @property
    def _alone(self) -> bool:
        """Whether no two cosines share a coordinate: then all second derivatives of a client are largest at one point."""
        xp = namespace(self.center)
        live = xp.astype((self.frequency != 0) & (self.amplitude != 0)[..., None], xp.int64)
        return self.separable and bool(xp.all(xp.sum(live, axis=-2) <= 1))

    def smoothness(self):
        value = namespace(self.center).max(spectrum(self.curvature) + self._waves_bend(), axis=-1)
        note = "largest eigenvalue of A + sum_j |amplitude_j| w_j w_j^T"
        return Constant(value, "exact" if self._alone else "upper", note)

    def convexity(self):
        value = namespace(self.center).min(spectrum(self.curvature) - self._waves_bend(), axis=-1)
        note = "smallest eigenvalue of A - sum_j |amplitude_j| w_j w_j^T"
        return Constant(value, "exact" if self._alone else "lower", note)

    def extra_constants(self):
        xp, p = namespace(self.center), self.weights * self.priority
        depth = xp.sum(xp.abs(self.amplitude), axis=-1)
        lowest = Constant(xp.sum(p * (self.offset - depth), axis=-1), "lower", "sum of p_k (b_k - sum_j |amplitude_kj|)")
        entries = {"F_inf": lowest}
        if not bool(xp.all(self.curvature == self.curvature[:, :1])):
            return entries
        pull = curved(self.curvature, self.center)
        apart = pull - xp.sum(p[..., None] * pull, axis=1, keepdims=True)
        norm = xp.sqrt(xp.sum(apart**2, axis=-1))
        waves = (self.frequency, self.amplitude, self.phase)
        if all(bool(xp.all(array == array[:, :1])) for array in waves):
            return entries | sigma_g_constants(norm, p, "", "exact", "the same everywhere: equal Hessians and cosines")
        steep = xp.sum(xp.abs(self.amplitude) * xp.sqrt(xp.sum(self.frequency**2, axis=-1)), axis=-1)
        both = (1 - 2 * p) * steep + xp.sum(p * steep, axis=-1, keepdims=True)
        return entries | sigma_g_constants(norm + both, p, "", "upper", "over all of R^d: equal Hessians, bounded cosines")

    # optimum --------------------------------------------------------------------------------------------------------
    @cached_property
    def _local_optima(self):
        spread = float(np.abs(to_numpy(self.center)).max()) + 1.0
        return best_points(self._double, scattered(self.dim, 12, 2 * spread * self.dim**0.5))

    def _by_coordinate(self, weights):
        """Global minimisers (problems, dim) and proven errors (problems,) of mixtures with ``weights`` (problems, clients)
        of the clients in (problems, clients, ...) arrays."""
        arrays = ("curvature", "center", "frequency", "amplitude", "phase")
        a, c, w, r, phase = (to_numpy(getattr(self._double, name)) for name in arrays)
        if weights.shape[0] != a.shape[0]:  # one problem for each client of each instance
            a, c, w, r, phase = (array.reshape(-1, 1, *array.shape[2:]) for array in (a, c, w, r, phase))
        bowl = (weights[..., None] * a).sum(axis=1)
        middle = (weights[..., None] * a * c).sum(axis=1) / bowl
        size = ((weights[..., None] * r)[..., None] * (w != 0)).swapaxes(1, 3).reshape(bowl.size, -1)
        frequency = w.swapaxes(1, 3).reshape(bowl.size, -1)
        angle = np.broadcast_to(phase[..., None], w.shape).swapaxes(1, 3).reshape(bowl.size, -1)
        bowl, middle, shape = bowl.ravel(), middle.ravel(), bowl.shape
        live = np.argsort(size == 0, axis=-1, kind="stable")[:, : max((size != 0).sum(axis=-1).max(), 1)]
        size, frequency, angle = (np.take_along_axis(array, live, axis=-1) for array in (size, frequency, angle))

        def value(n, x):
            return bowl[n] * (x - middle[n]) ** 2 / 2 + (size[n] * np.cos(frequency[n] * x[:, None] + angle[n])).sum(-1)

        def slope(n, x):
            waves = size[n] * frequency[n] * np.sin(frequency[n] * x[:, None] + angle[n])
            return bowl[n] * (x - middle[n]) - waves.sum(-1)

        def bend(n, x):
            return bowl[n] - (size[n] * frequency[n] ** 2 * np.cos(frequency[n] * x[:, None] + angle[n])).sum(-1)

        reach = np.abs(size * frequency).sum(-1) / bowl + 1e-9 * (1 + np.abs(middle))
        least = bowl - np.abs(size * frequency**2).sum(-1)
        points, _, error = global_minima(value, slope, bend, middle - reach, middle + reach, least)
        return points.reshape(shape), error.reshape(shape).sum(axis=-1)

    @cached_property
    def _solved_objective(self):
        if not self.separable:
            return self.backend.array(self._local_optima[0]), self.backend.array(np.full(self.instances, np.inf))
        points, error = self._by_coordinate(to_numpy(self._double.weights * self._double.priority))
        return self.backend.array(points), self.backend.array(error)

    @cached_property
    def _solved_clients(self):
        shape = (self.instances, self.clients)
        if not self.separable:
            return self.backend.array(self._local_optima[1]), self.backend.array(np.full(shape, np.inf))
        points, error = self._by_coordinate(np.ones((self.instances * self.clients, 1)))
        return self.backend.array(points.reshape(*shape, self.dim)), self.backend.array(error.reshape(shape))

    @property
    def optimum_provenance(self):
        if not self.separable:
            return "estimate", "best of several local minima; nothing is proven about it"
        error = max(float(to_numpy(part).max()) for part in (self._solved_objective[1], self._solved_clients[1]))
        return "exact", f"global minima by branch and bound on each coordinate, exceeded by at most {error:.1e}"


def make_cosine_quadratic(clients: int = 10, dim: int = 5, L: float = 10.0, mu: float = 1.0, *, amplitude: float = 1.0,
                          frequency: float = 3.0, directions: str = "axes", terms: int | None = None,
                          equal_waves: bool = False, instances: int = 1, seed: int = 0, backend: Backend = TORCH,
                          **options) -> CosineQuadratic:
    """The quadratics of :func:`synthetic.make_quadratic` plus amplitude_j cos(w_j.x + phase_j).

    Not convex where the cosines bend more than the bowl, on the axes: where amplitude * frequency^2 exceeds ``mu``.

    Args:
        L, mu: of the quadratics alone, whose other ``options`` are those of :func:`make_quadratic`.
        amplitude: of every cosine; frequency: the largest |w|, the others lie between half of it and it.
        directions: ``axes``, one cosine along each axis: with diagonal Hessians L is exact and minima are global;
            ``random``, ``terms`` cosines (default ``dim``) in random directions.
        equal_waves: the same cosines for all clients; together with ``hessian_spread=0`` sigma_g is exact everywhere.

    Raises:
        ValueError: as :func:`make_quadratic`; unknown directions; ``terms`` with axes.

    Example:
        >>> federation = make_cosine_quadratic(3, 2, amplitude=0.5, hessian_spread=0.0, equal_waves=True)
        >>> [federation.constants[name].provenance for name in ("L", "weak_convexity", "F_star", "sigma_g_max", "F_inf")]
        ['exact', 'exact', 'exact', 'exact', 'lower']
    """
    base = make_quadratic(clients, dim, L, mu, instances=instances, seed=seed, backend=backend, **options)
    amplitude, frequency = number("amplitude", amplitude), number("frequency", frequency, strict=True)
    axes = one_of("directions", directions, ("axes", "random")) == "axes"
    if axes and terms not in (None, dim):
        raise ValueError(f"terms along the axes are as many as coordinates, {dim}; got {terms}")
    terms = whole("terms", dim if terms is None else terms)
    parts = []
    for instance in range(instances):
        rng = np.random.default_rng([seed + instance, 7])
        shape = (1 if flag("equal_waves", equal_waves) else clients, terms)
        length = frequency * (1 + rng.random(shape)) / 2
        length[:, 0] = frequency
        frame = np.eye(dim) if axes else rng.standard_normal((*shape, dim))
        frame = frame / np.linalg.norm(frame, axis=-1, keepdims=True)
        wave = (length[..., None] * frame, np.full(shape, amplitude), 2 * np.pi * rng.random(shape))
        parts.append([np.broadcast_to(array, (clients, *array.shape[1:])) for array in wave])
    waves = [np.stack(arrays) for arrays in zip(*parts, strict=True)]
    federation = CosineQuadratic(
        to_numpy(base.curvature), base.center, *waves, offset=to_numpy(base.offset), weights=base.weights,
        priority=base.priority, noise=base.noise, layers=base.layer_sizes, backend=backend)
    federation.name = f"cosine-perturbed quadratics, {clients} clients, dim {dim}"
    return federation
