"""Quadratic clients with diagonal Hessians."""

from dataclasses import dataclass

import numpy as np

from synthetic.numbers.arrays import namespace
from synthetic.quadratic.quadratic import Quadratic
from verify.claims.needs import needs_equal_curvatures
from verify.instances.family import Family, vectors
from verify.instances.outcomes import numbers_of_outcomes

__all__ = ["QUADRATIC", "QuadraticClients"]

_ONE_UNLIKE = 0.15  # share of instances of which one client has another curvature, or another center, than all others


@dataclass(frozen=True)
class QuadraticClients(Family):
    """F_k(v) = b_k + sum_j a_kj/2 (v_j - c_kj)^2."""

    name = "quadratic"
    written_as = "curvature"

    def outcomes(self, shape):
        return numbers_of_outcomes(shape)

    def draw(self, claim, shape, count, rng):
        one = np.ones((count, 1, 1))
        kappa = np.choose(rng.integers(0, 4, (count, 1, 1)), [one, 2 * one, 8 * one, 10 ** rng.uniform(0, 3, (count, 1, 1))])
        where = rng.random((count, shape.clients, shape.dim))
        where = np.where(rng.random((count, 1, 1)) < 0.5, where, np.round(where))  # half of them at the extremes only
        alone = np.arange(shape.clients)[:, None] == rng.integers(0, shape.clients, (count, 1, 1))  # one unlike all others
        where = np.where(rng.random((count, 1, 1)) < _ONE_UNLIKE, alone, where)
        weight = np.where(rng.random((count, 1)) < 0.5, 1.0, 10 ** rng.uniform(-2, 2, (count, shape.clients)))
        heavy = np.where(rng.random((count, 1)) < 0.3, 10 ** rng.uniform(0, 6, (count, 1)), 1.0)
        weight = np.where(shape.is_priority, weight, weight * heavy)
        offset = np.where(rng.random((count, 1)) < 0.6, 0.0, rng.normal(size=(count, shape.clients)))
        scale = np.where(rng.random((count, 1, 1)) < 0.7, 1.0, 10 ** rng.uniform(-4, 4, (count, 1, 1)))
        center = vectors((count, shape.clients, shape.dim), rng)
        center = center * np.where(rng.random((count, 1, 1)) < _ONE_UNLIKE, alone, 1.0)
        curvature = kappa**where * scale
        return {"curvature": curvature[:, :1] if needs_equal_curvatures(claim) else curvature, "center": center,
                "offset": offset, "weight": weight}

    def federation(self, shape, params, backend, **common):
        curvature = backend.array(params["curvature"])
        curvature = namespace(curvature).broadcast_to(curvature, tuple(params["center"].shape))
        return Quadratic(curvature, params["center"], backend=backend, layers=shape.layers or None, **common)

    def translated(self, params, by):
        return {"center": params["center"] + by}

    def write(self, params, text):
        return {"curvature": text(np.broadcast_to(params["curvature"][0], params["center"].shape[1:]))}

    @classmethod
    def read(cls, instance, sizes, numbers):
        return cls(), {"curvature": numbers(instance["curvature"])[None]}


QUADRATIC = QuadraticClients()
