"""Mutations of an instance: the next generation of a search."""

import numpy as np

from bounds.language.claim import Claim
from verify.claims.needs import always_available
from verify.instances.cardinality import with_counts
from verify.instances.parameters import Parameters, spec_of, within_domain
from verify.instances.shape import Shape

__all__ = ["offspring"]


def offspring(claim: Claim, shape: Shape, parent: Parameters, count: int, rng: np.random.Generator) -> Parameters:
    """``count`` copies of one instance: the first unchanged, in the others some parameters change, a little or a lot."""
    below = {v.name: v.below for v in claim.variables if v.below is not None}
    strength = 10 ** rng.uniform(-3, 0.3, (count, 1))
    params = {}
    for name, array in parent.items():
        value = np.repeat(array, count, axis=0)
        if not value.size:
            params[name] = value
            continue
        if name == "weight" and claim.procedure is not None and claim.procedure.equal_weights:
            params[name] = value
            continue
        s = strength.reshape(-1, *(1,) * (value.ndim - 1))
        change = (rng.random(value.shape) < 0.5) & (rng.random((count, *(1,) * (value.ndim - 1))) < 0.5)
        change[0] = False
        scaled = value * np.exp(s * rng.normal(size=value.shape))
        kind = spec_of(claim, name).domain
        if kind == "binary":
            if name == "available" and always_available(claim):
                params[name] = value
                continue
            flipped = np.where(change & (rng.random(value.shape) < 0.3), 1 - value, value)
            params[name] = np.where(shape.is_priority, 1.0, flipped) if name == "included" else flipped
            continue
        if kind in ("real", "vector"):
            spread = np.abs(value).max(axis=tuple(range(1, value.ndim)), keepdims=True) + 1e-3
            scaled = np.where(rng.random(value.shape) < 0.5, scaled, value + s * spread * rng.normal(size=value.shape))
        if kind in ("real", "vector", "nonnegative", "simplex"):
            scaled = np.where(rng.random(value.shape) < 0.05, 0.0, scaled)
        value = np.where(change & (scaled < below.get(name, np.inf)), scaled, value)
        if kind == "simplex":
            value[..., 0] = np.where(value.sum(-1) == 0, 1.0, value[..., 0])
        params[name] = within_domain(kind, value)
    return with_counts(claim, shape, params, rng)
