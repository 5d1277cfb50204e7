"""The stage of long runs in one dimension, where all clients have one loss: a Huber function, down whose linear part a run
goes until its end, or a parabola with a flatter part, in which a method that is tuned for parabolas may never rest."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import sympy as sp

from bounds.language.claim import Claim
from verify.instances.parameters import Parameters
from verify.instances.piecewise import PiecewiseClients
from verify.instances.quadratic import QUADRATIC
from verify.instances.shape import Shape
from verify.instances.shapes import extreme_shapes
from verify.search.stage import State

__all__ = ["of_slopes"]

_OWN_SEED = 613
_LENGTHS = (10, 24, 60, 150)  # rounds
_MANY = 6  # iterations from which on other stages draw few pieces
_ROWS = 48
#: the start is so many widths of the bend beyond it, per step: with steps of 1/L the last gradient is largest for 1, and the
#: last loss for 2 (Drori and Teboulle 2014)
_PER_STEP = (0.5, 1.0, 2.0)
_GRID = 4  # middles and starts per half of a flat part
_PART, _STARTS = (-10, 11), (-36, 37)  # the middle of a flat part; the starts, from the optimum
_LEAST_FLAT = 40  # times as steep as the flat part is the rest, at most
_CURVATURES = ("L", "L_client", "L_objective")
_MU, _FLATTEST = "mu", 13  # name of a positive curvature; power of 1/2 of what is left beyond the bend


def of_slopes(state: State) -> Iterator[tuple[Shape, Parameters]]:
    """Runs of many steps of which all but about the last one see a constant gradient: no smooth convex losses are slower."""
    if state.claim.setting != "run":
        return
    own = replace(state, seeds=[*state.seeds, _OWN_SEED])  # draws of its own: those of the other stages stay
    for shape in own.shapes(extreme_shapes, state.budget.most_iterations, _LENGTHS):
        if shape.family is QUADRATIC and shape.iterations > _MANY and shape.dim == 1:
            long = PiecewiseClients().fitting(shape)
            yield long, _on_a_slope(state.claim, long, own.draw_batch(long, _ROWS), own.rng)
            if shape.iterations > _LENGTHS[0]:
                yield long, _over_a_flat_part(state.claim, own.draw_batch(long, 4 * _ROWS), own.rng)


def _on_a_slope(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Gives all clients the same Huber function, and a start on its linear part."""
    count = len(params["piece_slope"])
    slope, center, width = (params[name][:, :1] for name in ("piece_slope", "piece_center", "piece_width"))
    steepness = abs(slope) + (slope == 0)
    flat = 0.5 ** rng.integers(1, _FLATTEST, (count, 1, 1)) if _MU in claim.names else 0.0
    away = 1 + rng.choice(_PER_STEP, (count, 1)) * shape.iterations
    found = {"tail": flat * steepness[:, :, 0], "center": center[:, :, 0], "piece_center": center, "piece_width": width,
             "piece_slope": steepness, "start_offset": away * width[:, 0, 0]}
    return params | {name: np.broadcast_to(array, params[name].shape).copy() for name, array in found.items()}


def _over_a_flat_part(claim: Claim, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Gives all clients the same parabola with a flatter part, half of which is one long, and starts on both sides of it."""
    count = len(params["piece_slope"])
    flat, middle = 1 / rng.integers(1, _LEAST_FLAT, (count, 1, 1, 1)), rng.integers(*_PART, (count, 1, 1, 1)) / _GRID
    steep = _largest_curvature(claim)
    found = {"tail": steep, "center": 0.0, "piece_slope": steep * (flat - 1), "piece_width": 1.0, "piece_center": middle,
             "start_offset": rng.integers(*_STARTS, (count, 1)) / _GRID}
    return params | {name: np.broadcast_to(array, params[name].shape).copy() for name, array in found.items()}


def _largest_curvature(claim: Claim) -> float:
    """The number that hypotheses give as the largest curvature; 1 where there is none."""
    named = [c for c in claim.hypotheses if c.relation != ">=" and c.right.is_Rational and c.right > 0
             and str(c.left.base.label if isinstance(c.left, sp.Indexed) else c.left) in _CURVATURES]
    return float(min((c.right for c in named), default=1))
