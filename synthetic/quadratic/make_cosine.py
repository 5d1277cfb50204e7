"""Random cosine-perturbed quadratic federations."""

from __future__ import annotations

import numpy as np

from synthetic.base.checks import flag, number, one_of, whole
from synthetic.numbers.arrays import TORCH, Backend, to_numpy
from synthetic.quadratic.cosine import CosineQuadratic
from synthetic.quadratic.make import make_quadratic

__all__ = ["make_cosine_quadratic"]


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
