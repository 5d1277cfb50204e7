"""Coordinates of federations: a turned basis, in which no client is separable, and coordinates that are all alike."""

import numpy as np

from bounds.language.claim import Claim
from verify.claims.method import by_coordinate
from verify.claims.needs import uses_coordinates
from verify.instances.parameters import Parameters, spec_of
from verify.instances.shape import Shape
from verify.search.transformations.transformation import Transformation, on_runs

__all__ = ["ALIKE", "TURNED", "basis_matters"]

_ALIKE = 0.25  # share of the instances whose coordinates are all alike


def basis_matters(claim: Claim, shape: Shape) -> bool:
    """The basis matters to methods that act by coordinate, and to claims about layers or about coordinates."""
    by_basis = bool(shape.layers) or by_coordinate(claim.procedure) or uses_coordinates(claim)
    about_losses = on_runs(claim, shape) or (claim.setting == "point" and not shape.family.coupled)
    return about_losses and not shape.free and shape.dim >= 2 and by_basis and shape.family.any_coordinates


def _turned(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Half of the instances are turned by about 45 degrees, the others by any angle whose sine is a short fraction."""
    count = (len(params["center"]), 1)
    return params | {"half_tangent": np.where(rng.random(count) < 0.5, 3 / 8, rng.integers(-8, 9, count) / 8)}


TURNED = Transformation("turned", basis_matters, _turned, share=0.3)


def _alike(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Copy the first coordinate to all others in some instances: a method that acts by coordinate then moves sqrt(dim) times
    as far as in one dimension. Turned batches stay as they are."""
    if "half_tangent" in params:
        return params
    chosen = rng.random(len(params["center"])) < _ALIKE
    return {name: np.where(chosen.reshape(-1, *(1,) * (array.ndim - 1)), array[..., :1], array)
            if spec_of(claim, name).axes[-1:] == ("dim",) and array.shape[-1] == shape.dim else array
            for name, array in params.items()}


ALIKE = Transformation("alike", lambda claim, shape: on_runs(claim, shape) and shape.dim >= 2
                       and by_coordinate(claim.procedure),
               _alike, of_mutations=True)
