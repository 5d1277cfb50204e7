"""Random quadratic federations with exactly set curvature, heterogeneity and noise."""

import numpy as np
from scipy.linalg import expm

from synthetic.base.checks import finite, number, one_of, per_client, whole
from synthetic.base.noise import FiniteNoise, GaussianNoise, NoNoise, SphereNoise
from synthetic.base.priority import priority_mask
from synthetic.numbers.arrays import NUMPY, TORCH, Backend
from synthetic.numbers.draws import PROBLEM, Draws
from synthetic.quadratic.quadratic import Quadratic

__all__ = ["make_quadratic"]

_CENTERS, _COMMON, _OFFSETS, _SPECTRA, _FRAMES, _COMMON_FRAME, _SWAPS, _DIRECTIONS = range(8)


def make_quadratic(
    clients: int = 10, dim: int = 5, L: float = 10.0, mu: float = 1.0, *,
    minimiser_spread: float | None = None, Gamma: float | None = None, sigma_g_1: float | None = None,
    sigma_g_2: float | None = None, free_spread: float | None = None, distance: float = 1.0,
    hessians: str = "diagonal", hessian_spread: float = 1.0, noise: str | None = None, sigma=0.0, offsets=None,
    offset_spread: float = 0.0, weights=None, free_weights=None, priority=None, layers=None, instances: int = 1,
    seed: int = 0, backend: Backend = TORCH,
) -> Quadratic:
    """Quadratic clients F_k(x) = 1/2 (x - c_k)^T A_k (x - c_k) + b_k, drawn at random.

    Every client has the smallest eigenvalue ``mu`` and the largest ``L``: as given if ``hessians="diagonal"``, up to
    rounding if ``"rotated"``. In one dimension a client has one curvature, so ``L > mu`` needs ``hessian_spread > 0``
    and two clients or more; the first client then has ``mu``, the last ``L``.

    Args:
        clients, dim: sizes; ``instances``: number of problems; problem i is what ``seed + i`` gives alone.
        L, mu: smoothness and strong convexity, ``0 < mu <= L``.
        minimiser_spread: root of E|c_k - c|^2 around the common point c, at distance ``distance`` from the origin;
            0 makes all minimisers equal. Default 1, if no target is given.
        Gamma, sigma_g_1, sigma_g_2: at most one, instead of ``minimiser_spread``: the exact value to reach, Gamma in
            units of the loss, sigma_g (first moment, root of the second moment) of a gradient, at the optimum. With
            equal Hessians sigma_g is the same everywhere.
        free_spread: None gives the free clients the same law as the priority clients; a number puts their minimisers
            around the optimum of the priority clients, with that root of E|c_k - x_star|^2 (0: Gamma_k = 0).
        hessians: ``diagonal`` or ``rotated`` (dense).
        hessian_spread: from 0, all Hessians equal, to 1, independent. The inner eigenvalues are interpolated on the
            log scale; a rotated client's frame is turned by an angle in proportion, a diagonal client's axes are
            permuted with this probability.
        noise: ``none``, ``gaussian``, ``two-point`` (finite support) or ``sphere``; default gaussian where sigma > 0.
        sigma: root of E|noise|^2, a number or (clients,) or (instances, clients).
        offsets: minima b_k, same shapes, default 0; ``offset_spread`` adds independent normal numbers of that scale.
        weights: sizes of the clients up to a common factor, same shapes, default equal. ``free_weights``: instead, p_k
            of the free clients on the scale on which the priority clients' sum is one.
        priority: see :func:`synthetic.base.priority.priority_mask`.
        layers: sizes of the layers, or a number of equal layers; default one layer.

    Raises:
        ValueError: sizes below 1, mu > L, more than one target, a target that no spread can meet, shapes.

    Example:
        >>> federation = make_quadratic(clients=4, dim=3, L=8.0, mu=1.0, Gamma=0.25, hessian_spread=0.0)
        >>> [round(float(federation.constants.value(name)[0]), 12) for name in ("L", "mu", "Gamma")]
        [8.0, 1.0, 0.25]
    """
    clients, dim, instances = whole("clients", clients), whole("dim", dim), whole("instances", instances)
    mu, L = number("mu", mu, strict=True), number("L", L, strict=True)
    if mu > L:
        raise ValueError(f"mu must be at most L = {L:g}; got {mu:g}")
    hessian_spread = number("hessian_spread", hessian_spread, high=1.0)
    draws = Draws(whole("seed", seed, low=-(2**62)) + np.arange(instances), NUMPY)
    if isinstance(priority, str):
        priority = np.stack([priority_mask(priority, clients, seed=seed + i) for i in range(instances)])
    mask = np.broadcast_to(priority_mask(priority, clients), (instances, clients))
    sizes = _weights(weights, free_weights, mask)
    curvature = _curvature(draws, clients, dim, L, mu, one_of("hessians", hessians, ("diagonal", "rotated")), hessian_spread)
    spread, target, value = _target(minimiser_spread, Gamma, sigma_g_1, sigma_g_2)
    center = _normal(draws, _CENTERS, clients, dim)
    if target:
        spread = _scale_for(target, value, Quadratic(curvature, center, None, sizes, mask, backend=NUMPY))
    direction = _unit(_normal(draws, _COMMON, 1, dim))
    common = number("distance", distance) * direction
    if free_spread is None:
        center = common + spread * center
    else:
        optimum = Quadratic(curvature, common + spread * center, None, sizes, mask, backend=NUMPY).x_star[:, None]
        free = optimum + number("free_spread", free_spread) * center
        center = np.where(mask[..., None], common + spread * center, free)
    b = per_client("offsets", 0.0 if offsets is None else offsets, instances, clients)
    b = b + number("offset_spread", offset_spread) * _normal(draws, _OFFSETS, clients, 1)[..., 0]
    law = _noise(noise, per_client("sigma", sigma, instances, clients, low=0.0), draws, clients, dim, backend)
    federation = Quadratic(curvature, center, b, sizes, mask, law, backend, layers)
    federation.name = f"{hessians} quadratics, {clients} clients, dim {dim}"
    return federation


def _normal(draws: Draws, purpose: int, clients: int, *shape: int) -> np.ndarray:
    """Normal numbers (instances, clients, *shape) of variance 1/prod(shape), drawn client by client."""
    ndim = 2 + len(shape)
    sizes = (clients, *shape)
    grid = [np.arange(n).reshape([-1 if i == axis else 1 for i in range(ndim)]) for axis, n in enumerate(sizes, 1)]
    return draws.normal(PROBLEM, purpose, *grid, ndim=ndim) / np.prod(shape) ** 0.5


def _uniform(draws: Draws, purpose: int, clients: int, dim: int) -> np.ndarray:
    return draws.uniform(PROBLEM, purpose, np.arange(clients)[None, :, None], np.arange(dim)[None, None, :], ndim=3)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _curvature(draws, clients, dim, L, mu, hessians, spread):
    """Hessians with extreme eigenvalues mu and L, (instances, clients, dim) or (instances, clients, dim, dim)."""
    if dim == 1:
        if mu < L and (clients == 1 or spread == 0):
            raise ValueError(f"in dim 1 every client has one curvature: L = {L:g} and mu = {mu:g} need dim of at least "
                             f"2, or hessian_spread above 0 and 2 clients; got {clients} clients, spread {spread:g}")
        position = _uniform(draws, _SPECTRA, clients, 1)
        position[:, 0], position[:, -1] = 0.0, 1.0
        spectrum = _between(mu, L, position)
        return spectrum if hessians == "diagonal" else spectrum[..., None]
    shared = _uniform(draws, _SPECTRA, clients + 1, dim)
    position = (1 - spread) * shared[:, :1] + spread * shared[:, 1:]
    position[..., 0], position[..., -1] = 0.0, 1.0
    spectrum = _between(mu, L, position)
    if hessians == "diagonal":
        keys = _uniform(draws, _FRAMES, clients, dim)
        swap = _uniform(draws, _SWAPS, clients, 1) < spread
        order = np.where(swap, np.argsort(keys, axis=-1), np.arange(dim))
        return np.take_along_axis(spectrum, order, axis=-1)
    frame = _rotations(draws, clients, dim, spread)
    dense = frame * spectrum[..., None, :] @ np.swapaxes(frame, -1, -2)
    return (dense + np.swapaxes(dense, -1, -2)) / 2


def _between(mu, L, position):
    """mu^(1 - position) L^position; exactly mu at 0 and L at 1."""
    inner = np.clip(mu * (L / mu) ** position, mu, L)
    return np.where(position == 0, mu, np.where(position == 1, L, inner))


def _rotations(draws, clients, dim, spread):
    """A common random frame, turned for each client by angles of the order of pi * spread."""
    common, _ = np.linalg.qr(_normal(draws, _COMMON_FRAME, 1, dim, dim))
    if spread == 0:
        return np.broadcast_to(common, (draws.runs, clients, dim, dim))
    gaussian = _normal(draws, _FRAMES, clients, dim, dim) * dim
    skew = (gaussian - np.swapaxes(gaussian, -1, -2)) * np.pi / (8 * dim) ** 0.5
    return common @ expm(spread * skew)


def _target(minimiser_spread, Gamma, sigma_g_1, sigma_g_2):
    targets = {"Gamma": Gamma, "sigma_g_1_at_optimum": sigma_g_1, "sigma_g_2_at_optimum": sigma_g_2}
    given = {name: value for name, value in targets.items() if value is not None}
    if len(given) + (minimiser_spread is not None) > 1:
        names = [name.removesuffix("_at_optimum") for name in given] + ["minimiser_spread"] * (minimiser_spread is not None)
        raise ValueError(f"at most one of minimiser_spread, Gamma, sigma_g_1, sigma_g_2 may be given; got "
                         f"{' and '.join(names)}")
    for name, value in given.items():
        return None, name, number(name.removesuffix("_at_optimum"), value)
    return number("minimiser_spread", 1.0 if minimiser_spread is None else minimiser_spread), None, None


def _scale_for(target: str, value: float, unit: Quadratic) -> np.ndarray:
    """Spread (instances, 1, 1) that gives ``target`` its ``value``, from the federation of spread one.

    For fixed Hessians minimisers and optimum scale with the spread: Gamma is quadratic in it, sigma_g linear.
    """
    at_one = unit.constants.value(target)
    if value > 0 and not np.all(at_one > 1e-14):
        raise ValueError(f"{target.removesuffix('_at_optimum')} can only be 0 with one priority client of positive "
                         f"weight; got {value:g}")
    ratio = value / np.where(at_one > 0, at_one, 1.0)
    return (np.sqrt(ratio) if target == "Gamma" else ratio)[:, None, None]


def _weights(weights, free_weights, mask):
    instances, clients = mask.shape
    sizes = np.broadcast_to(per_client("weights", 1.0 if weights is None else weights, instances, clients, low=0.0),
                            mask.shape)
    if free_weights is None:
        return sizes
    free = finite("free_weights", free_weights)
    if free.ndim == 1 and free.shape != (clients,):  # one number per free client
        counts = np.unique((~mask).sum(axis=-1))
        if counts.tolist() != [len(free)]:
            raise ValueError(f"free_weights must be one number or one per free client ({counts.tolist()} of them); "
                             f"got {len(free)}")
        full = np.zeros(mask.shape)
        full[~mask] = np.tile(free, instances)
        free = full
    free = per_client("free_weights", free, instances, clients, low=0.0)
    total = (sizes * mask).sum(axis=-1, keepdims=True)
    return np.where(mask, sizes / np.where(total > 0, total, 1.0), free)


def _noise(law, sigma, draws, clients, dim, backend):
    law = one_of("noise", law or ("gaussian" if sigma.any() else "none"), ("none", "gaussian", "two-point", "sphere"))
    if law == "none" or not sigma.any():
        if law == "none" and sigma.any():
            raise ValueError(f"sigma must be 0 without noise; got {sigma.max():g}")
        return NoNoise()
    if law == "two-point":
        atom = sigma[..., None] * _unit(_normal(draws, _DIRECTIONS, clients, dim))
        return FiniteNoise(backend.array(np.stack([atom, -atom], axis=-2)), backend.array([0.5, 0.5]))
    return (GaussianNoise if law == "gaussian" else SphereNoise)(backend.array(sigma))
