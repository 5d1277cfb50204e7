"""Small federations for the tests of algorithms: quadratics of every kind, and ridge logistic regression."""

from fractions import Fraction

import numpy as np

from synthetic import NUMPY, TORCH, FiniteNoise, GaussianNoise, Quadratic, SphereNoise, make_quadratic, to_numpy
from tests.synthetic.families import make

__all__ = ["FEDERATIONS", "QUADRATICS", "gathered", "moved", "pair", "rational", "replica", "variant"]


def _quadratic(backend, **options):
    given = {"clients": 5, "dim": 3, "L": 4.0, "mu": 1.0, "priority": [0, 3], "weights": [3.0, 1.0, 2.0, 1.0, 4.0],
             "offset_spread": 1.0, "seed": 3, "backend": backend}
    return make_quadratic(**given | options)


QUADRATICS = {
    "no noise": lambda backend=TORCH: _quadratic(backend),
    "gaussian noise": lambda backend=TORCH: _quadratic(backend, sigma=0.5),
    "two-point noise": lambda backend=TORCH: _quadratic(backend, sigma=[0.1, 0.2, 0.3, 0.4, 0.5], noise="two-point"),
    "sphere noise, dense": lambda backend=TORCH: _quadratic(backend, sigma=0.5, noise="sphere", hessians="rotated"),
    "one instance per run": lambda backend=TORCH: _quadratic(backend, sigma=0.5, instances=4, offset_spread=2.0),
    "one priority client": lambda backend=TORCH: _quadratic(backend, sigma=0.5, priority=[2]),
    "all priority": lambda backend=TORCH: _quadratic(backend, sigma=0.5, priority=None),
}

FEDERATIONS = QUADRATICS | {
    "logistic": lambda backend=TORCH: make("binary", backend=backend),
    "logistic, minibatches": lambda backend=TORCH: make("binary", backend=backend, batch_size=2),
    "logistic, held out": lambda backend=TORCH: make("binary", backend=backend, batch_size=2, held_out=6),
    "softmax, sphere noise": lambda backend=TORCH: make(
        "softmax with intercept", backend=backend, noise=SphereNoise(backend.array(np.full((1, 4), 0.3)))),
}


def pair(backend=TORCH) -> Quadratic:
    """F_1 = (x - 1)^2 / 2 with priority and F_2 = 2 (x + 1)^2, free with p_2 = 1."""
    return Quadratic([[[1.0], [4.0]]], [[[1.0], [-1.0]]], priority=[[True, False]], backend=backend)


def rational(backend, noise: bool = False, clients: int = 4) -> Quadratic:
    """Quadratics of small rationals in two dimensions, clients 0 and 1 with priority; ``noise``: three atoms."""
    n = range(clients)
    curvature = [[[Fraction(1 + k % 3), Fraction(3 - k % 2)] for k in n]]
    center = [[[Fraction(k - 2, 2), Fraction(3 - 2 * k, 4)] for k in n]]
    offset = [[Fraction(-k, 8) for k in n]]
    weights = [[Fraction(k + 1, 3) for k in n]]
    law = None
    if noise:
        atoms = [[[[Fraction(k + 1, 8), Fraction(0)], [Fraction(0), Fraction(1, 4)], [Fraction(-k - 1, 8), Fraction(-1, 4)]]
                  for k in n]]
        law = FiniteNoise(backend.array(atoms), backend.array([Fraction(1, 3)] * 3))
    return Quadratic(np.array(curvature), np.array(center), np.array(offset), np.array(weights),
                     np.arange(clients)[None] < 2, law, backend)


def variant(federation: Quadratic, **changes) -> Quadratic:
    """The same quadratics with other ``curvature``, ``center``, ``offset``, ``weights``, ``priority`` or ``noise``."""
    names = ("curvature", "center", "offset", "weights", "priority", "noise")
    arguments = {name: changes.get(name, getattr(federation, name)) for name in names}
    return Quadratic(**arguments, backend=federation.backend)


def gathered(federation, order, weights=None):
    """The clients numbered ``order`` (a client may come twice), with other ``weights`` (instances, clients) if given.

    Additive noise is scaled client by client as before; its draws belong to places, not to clients.
    """
    order = list(order)
    weights = federation.weights[:, order] if weights is None else weights
    priority = federation.priority[:, order]
    noise = federation.noise
    if isinstance(noise, GaussianNoise):
        noise = type(noise)(noise.scale[:, order])
    if isinstance(federation, Quadratic):
        parts = {name: getattr(federation, name)[:, order] for name in ("curvature", "center", "offset")}
        return variant(federation, weights=weights, priority=priority, noise=noise, **parts)
    features, targets, counts = (to_numpy(getattr(federation, name))[:, order] for name in ("features", "targets", "counts"))
    return type(federation)(features, targets, counts, ridge=federation.ridge, weights=to_numpy(weights),
                            priority=to_numpy(priority), batch_size=federation.batch_size, backend=federation.backend)


def replica(seed: int, free: int, free_weights, backend=TORCH) -> Quadratic:
    """Two priority clients of one Hessian, and ``free`` clients that are exact copies of the objective."""
    base = make_quadratic(clients=2, dim=3, L=4.0, mu=1.0, hessian_spread=0.0, seed=seed, backend=NUMPY)
    mean = np.einsum("ik,ikd->id", base.weights, base.center)[:, None]
    floor = base.objective(mean[:, 0])[:, None]
    arrays = [np.concatenate([own, np.repeat(copy, free, axis=1)], axis=1) for own, copy in (
        (base.curvature, base.curvature[:, :1]), (base.center, mean), (base.offset, floor))]
    weights = np.concatenate([base.weights[0], free_weights])[None]
    return Quadratic(*arrays, weights, np.arange(2 + free)[None] < 2, backend=backend)


def moved(x) -> np.ndarray:
    """Any backend's array as float64 in NumPy."""
    return to_numpy(x).astype(float)
