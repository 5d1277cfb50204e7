"""Corners of single layers: some start at 0, far from it or at their optimum, or reach that in one step."""

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY
from verify.instances.instance import federation_of
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape
from verify.search.transformations.transformation import Transformation, on_runs

__all__ = ["LAYERS"]

_OF_MINIMA = ("center", "piece_center")  # arrays that say where losses are least
_SHARE = 0.5  # of the instances
_CORNERS = ("none", "zero", "far", "still", "lands")
_ODDS = (0.3, 0.25, 0.1, 0.1, 0.25)
_FAR = (2, 27)  # powers of two between which a layer is moved away from 0


def _layer_by_layer(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Transform each layer of some instances on its own, or not at all.

    A layer starts at 0, where it has no ratio of norms and no part in draws that go by it; or its losses are moved far from
    0, which makes that ratio tiny; or it starts at the optimum; or its curvature is the largest of all, a power of two a and
    the same for all clients. Steps that the claim leaves open are then 1/a, so that one step ends at the layer's optimum.
    """
    count = len(params["start_offset"])
    layer = np.repeat(np.arange(len(shape.layers)), shape.layers)
    corner = rng.choice(len(_CORNERS), (count, len(shape.layers)), p=_ODDS) * (rng.random((count, 1)) < _SHARE)
    zero, far, still, lands = (corner[:, layer] == _CORNERS.index(name) for name in _CORNERS[1:])
    found = dict(params)
    away = np.where(far, rng.choice([-1.0, 1.0], (count, 1)) * 2.0 ** rng.integers(*_FAR, (count, 1)), 0.0)
    for name in _OF_MINIMA:
        if name in params:
            found[name] = params[name] + away.reshape(count, *(1,) * (params[name].ndim - 2), shape.dim)
    if "curvature" in params:
        _land(found, lands, rng)
    found["start_offset"] = np.where(still, 0.0, params["start_offset"])
    optimum = np.nan_to_num(federation_of(shape, found, NUMPY).x_star)
    found["start_offset"] = np.where(zero, -optimum, found["start_offset"])
    return found


LAYERS = Transformation("layers", lambda claim, shape: on_runs(claim, shape) and shape.layers
                        and shape.family.any_coordinates,
                _layer_by_layer)


def _land(params: Parameters, lands: np.ndarray, rng: np.random.Generator) -> None:
    """Give the largest curvature of all to the coordinates that land, and its inverse to steps."""
    curvature, some = params["curvature"], lands.any(axis=1)
    largest = 2.0 ** np.round(np.log2(curvature.max(axis=(1, 2))))[:, None, None]
    alike = np.where(lands[:, None], largest, np.minimum(curvature, largest))
    params["curvature"] = np.where(some[:, None, None], alike, curvature)
    if "eta" in params:
        step = (1 / largest).reshape(len(some), *(1,) * (params["eta"].ndim - 1))
        params["eta"] = np.where(some.reshape(step.shape), step, params["eta"])
