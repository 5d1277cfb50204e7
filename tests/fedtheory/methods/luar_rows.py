"""Layered federations, forced layers and a look into every round, for the tests of FedLUAR."""

from types import SimpleNamespace

import numpy as np

from fedtheory import make_algorithm
from synthetic import TORCH, Quadratic
from synthetic.quadratic.layered import layered_quadratic
from tests.fedtheory.federations import variant
from tests.fedtheory.methods.common import watch

__all__ = [
    "SIZES", "START", "Constantly", "isotropic", "layered", "looked_into", "luar", "masks_of", "rescaled_losses",
]

SIZES = (1, 3, 2, 4)
START = np.array([1.5, -2.0, 0.5, 1.0, 2.0, -1.0, 0.25, 3.0, -1.5, 0.75])


def layered(backend=TORCH, **options) -> Quadratic:
    """Six clients, four layers of ten coordinates."""
    given = {"clients": 6, "sizes": SIZES, "L": [4.0, 3.0, 2.0, 5.0], "mu": 0.5, "seed": 4, "backend": backend}
    return layered_quadratic(**given | options)


def luar(**options):
    """FedLUAR with two local steps; options as of ``fedluar``."""
    return make_algorithm("fedluar", **{"eta_l": 0.1, "local_steps": 2, "recycled": 2} | options)


def masks_of(layers, recycled, rounds, seed=0):
    """A sequence of recycled layers, truth values (rounds, layers), none in round 0."""
    rng = np.random.default_rng(seed)
    rows = [np.isin(np.arange(layers), rng.permutation(layers)[:recycled]) for _ in range(rounds)]
    return np.array([np.zeros(layers, dtype=bool), *rows[1:]])


def looked_into(method, federation, rounds, **options) -> SimpleNamespace:
    """A run by round: ``x`` (rounds + 1, runs, dim), ``recycled`` R_t and ``age`` and ``score`` (rounds, runs, layers),
    ``applied`` (rounds, runs, dim) and ``fresh``, the mean change of those sampled in all layers, as if all were sent."""
    seen = watch(method, federation, rounds, **options)
    fresh = []
    for t in range(rounds):
        weight = seen.active[t] / seen.active[t].sum(axis=-1, keepdims=True)
        fresh.append(np.einsum("nk,nkd->nd", weight, seen.ends[t] - seen.x[t][:, None]))
    after = seen.arrays[1:]
    return SimpleNamespace(
        x=np.stack(seen.x), fresh=np.stack(fresh), recycled=np.stack([a["recycle_set"] for a in seen.arrays[:-1]]) > 0,
        **{name: np.stack([a[key] for a in after]) for name, key in (
            ("applied", "applied_update"), ("age", "age"), ("score", "score"))}, watched=seen)


class Constantly(Quadratic):
    """Linear losses: every client's gradient is the same vector everywhere."""

    def gradient(self, x, clients=None):
        return super().gradient(0 * x, clients)


# other problems ------------------------------------------------------------------------------------------------------------
def isotropic(coefficients, sizes, clients=1, backend=TORCH) -> Quadratic:
    """Layers centred at 0 on which one local step of size 1/10 gives Delta_l = -c_l x_l."""
    curvature = np.repeat(np.asarray(coefficients, dtype=float) * 10, sizes)
    shape = (1, clients, len(curvature))
    return Quadratic(np.broadcast_to(curvature, shape).copy(), np.zeros(shape), backend=backend, layers=sizes)


def rescaled_losses(federation, factor) -> Quadratic:
    """``factor * F`` with Gaussian noise scaled alike."""
    noise = type(federation.noise)(federation.noise.scale * factor)
    return variant(federation, curvature=federation.curvature * factor, noise=noise).with_layers(federation.layer_sizes)
