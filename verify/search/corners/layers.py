"""Corners of single layers: some that start at 0, far from it or at their optimum, or reach that in one step; short runs
in which some layers are chosen and others are not.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY
from verify.claims.sizes import integer_variables, possible
from verify.instances.draw import draw_shape
from verify.instances.instance import federation_of, outcomes
from verify.instances.leaves import Leaves
from verify.instances.shape import Shape
from verify.search.corners.patterns import OF_MINIMA

__all__ = ["layer_corners", "layer_shapes"]

_SHARE = 0.5  # of the rows
_CORNERS = ("none", "zero", "far", "still", "lands")
_ODDS = (0.3, 0.25, 0.1, 0.1, 0.25)
_LONGEST = 6  # iterations of the short runs
_FAR = (2, 27)  # powers of two between which a layer is moved away from 0


def layer_shapes(claim: Claim, rng: np.random.Generator, most_outcomes: int, count: int) -> list[Shape]:
    """Up to ``count`` shapes of one or two clients, two or three rounds, and two or three layers of one coordinate, of which
    a number that the claim holds below the number of layers counts some but not all; none where it holds none below that."""
    if claim.setting != "run" or not (counting := _below_layers(claim)):
        return []
    found = []
    for _ in range(3 * count):
        layers, clients = (1,) * int(rng.integers(2, 4)), int(rng.integers(1, 3))
        drawn = draw_shape(claim, rng, most_outcomes, _LONGEST)
        own = {name: int(rng.integers(1, len(layers))) for name in counting}
        shape = replace(
            drawn, clients=clients, free=min(drawn.free, clients - 1), participants=min(drawn.participants, clients),
            layers=layers, dim=len(layers), rounds=int(rng.integers(2, 4)), local_steps=int(rng.choice([1, 1, 2])),
            noisy=drawn.noisy and (0,), sizes=tuple((dict(drawn.sizes) | own).items()))
        few = prod(outcomes(shape)) <= most_outcomes
        if few and len(found) < count and possible(claim, shape.as_sizes()):
            found.append(shape)
    return found


def _below_layers(claim: Claim) -> list[str]:
    """Names of the integers that conditions hold below the number of layers."""
    return [name for name in integer_variables(claim) if any(
        c.relation == "<=" and str(c.left) == name and str(c.right) == "layers" for c in claim.conditions)]


def layer_corners(claim: Claim, shape: Shape, leaves: Leaves, rng: np.random.Generator) -> Leaves:
    """The batch, in some rows of which each layer is in a corner of its own, or in none.

    A layer may start at 0, where it has no ratio of norms and no part in draws that go by it; have losses moved far from 0,
    which makes that ratio tiny; start at the optimum; or have the largest curvature a, which is a power of two and the same
    for all clients, with steps of 1/a where the claim leaves them open, so that one step ends at its optimum.
    """
    if claim.setting != "run" or shape.data is not None or not shape.layers:
        return leaves
    count = len(leaves["start_offset"])
    layer = np.repeat(np.arange(len(shape.layers)), shape.layers)
    corner = rng.choice(len(_CORNERS), (count, len(shape.layers)), p=_ODDS) * (rng.random((count, 1)) < _SHARE)
    zero, far, still, lands = (corner[:, layer] == _CORNERS.index(name) for name in _CORNERS[1:])
    found = dict(leaves)
    away = np.where(far, rng.choice([-1.0, 1.0], (count, 1)) * 2.0 ** rng.integers(*_FAR, (count, 1)), 0.0)
    for name in OF_MINIMA:
        if name in leaves:
            found[name] = leaves[name] + away.reshape(count, *(1,) * (leaves[name].ndim - 2), shape.dim)
    if "curvature" in leaves:
        _land(found, lands, rng)
    found["start_offset"] = np.where(still, 0.0, leaves["start_offset"])
    optimum = np.nan_to_num(federation_of(shape, found, NUMPY).x_star)
    found["start_offset"] = np.where(zero, -optimum, found["start_offset"])
    return found


def _land(leaves: Leaves, lands: np.ndarray, rng: np.random.Generator) -> None:
    """Give the coordinates that land the largest curvature of all, and steps its inverse."""
    curvature, some = leaves["curvature"], lands.any(axis=1)
    largest = 2.0 ** np.round(np.log2(curvature.max(axis=(1, 2))))[:, None, None]
    alike = np.where(lands[:, None], largest, np.minimum(curvature, largest))
    leaves["curvature"] = np.where(some[:, None, None], alike, curvature)
    if "eta" in leaves:
        step = (1 / largest).reshape(len(some), *(1,) * (leaves["eta"].ndim - 1))
        leaves["eta"] = np.where(some.reshape(step.shape), step, leaves["eta"])
