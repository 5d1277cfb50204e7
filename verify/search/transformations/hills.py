"""Nonconvex clients that are concave wherever a run goes: there a gradient grows by the largest factor with every step."""

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY
from verify.claims.needs import needs
from verify.instances.instance import federation_of
from verify.instances.parameters import Parameters
from verify.instances.piecewise import PiecewiseClients
from verify.instances.shape import Shape
from verify.search.transformations.transformation import Transformation, on_runs

__all__ = ["HILLS"]

_SHARE = 0.3  # of the instances of a batch
_WIDEST, _FLATTEST = 13, 13  # powers of 2 and of 1/2: the hill's width, and the curvature beyond it as a share
_NEAR = 1 / 16  # share of the width within which a run starts, and within which the clients' middles lie


def _on_hills(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Gives all clients of some instances one wide concave piece each, near whose middle the run starts: the same, where the
    claim's clients are alike. The objective is bounded from below by a little curvature that is left beyond."""
    (rng,), slope = rng.spawn(1), params["piece_slope"]  # the other transformations draw what they would without this one
    count, first = len(slope), np.arange(shape.family.knots)[:, None] == 0
    chosen = rng.random((count, 1, 1, 1)) < _SHARE
    width, flat = 2.0 ** rng.integers(1, _WIDEST, (count, 1, 1, 1)), 0.5 ** rng.integers(1, _FLATTEST, (count, 1, 1, 1))
    steepness = abs(slope[:, :1, :1]) + (slope[:, :1, :1] == 0)
    middle = params["piece_center"][:, :, :1]
    apart = 0.0 if needs(claim).alike else _NEAR
    middle = middle[:, :1] + _within(apart * width, middle - middle[:, :1])
    hill = {"tail": (flat * steepness)[:, 0], "center": middle[:, :, 0], "piece_center": middle, "piece_width": width,
            "piece_slope": np.where(first, -steepness, 0.0)}
    found = params | {name: np.where(chosen.reshape(count, *(1,) * (params[name].ndim - 1)), array, params[name])
                      for name, array in hill.items()}
    own = params["start_offset"]
    start = middle[:, 0, 0] + _within(_NEAR * width[:, 0, 0], own) - federation_of(shape, found, NUMPY).x_star
    return found | {"start_offset": np.where(chosen[:, 0, 0], start, own)}


def _within(most: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """The vectors of each instance, shortened by one factor so that no entry exceeds ``most``."""
    largest = abs(vectors).max(axis=tuple(range(1, vectors.ndim)), keepdims=True)
    return vectors * np.minimum(1.0, most / np.where(largest == 0, 1.0, largest))


def _admits_hills(claim: Claim, shape: Shape) -> bool:
    asked = needs(claim)
    return isinstance(shape.family, PiecewiseClients) and on_runs(claim, shape) and not (asked.convex or asked.lipschitz)


HILLS = Transformation("hills", _admits_hills, _on_hills)
