"""Convex clients that are curved far out and flatter amid: a piece takes away curvature that is left beyond all pieces. Runs
may start at a minimum of such an objective."""

import numpy as np

from bounds.language.claim import Claim
from verify.claims.needs import needs_convex
from verify.instances.parameters import Parameters
from verify.instances.piecewise import PiecewiseClients
from verify.instances.shape import Shape
from verify.search.transformations.transformation import Transformation, on_runs

__all__ = ["PLATEAUS", "RESTING"]

_SHARE = 0.25  # of the instances of a batch
_FLAT = 0.7  # of these lose all curvature along the piece, the others a part
_OWN_SEED = 577
_RESTING = 0.1  # of the instances of a batch start at a minimum that is not x_star


def _flattened(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Bends one piece, of one client or of all, downwards by at most the curvature of the tail, in some instances."""
    slope = params["piece_slope"]
    count, clients, pieces = slope.shape[:3]
    row = (count, 1, 1, 1)
    chosen = (rng.random(row) < _SHARE) & (np.arange(pieces)[:, None] == rng.integers(0, pieces, row))
    chosen = chosen & ((np.arange(clients)[:, None, None] == rng.integers(0, clients, row)) | (rng.random(row) < 0.5))
    lost = params["tail"][:, :, None] * np.where(rng.random(row) < _FLAT, 1.0, rng.random(row))
    params = params | {"piece_slope": np.where(chosen & (lost > 0), -lost, slope)}
    return params if pieces == 1 else _with_kinks(params, rng)


def _resting(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Gives all clients of some instances one valley with a flat bottom, in which the run starts: the gradients are exactly
    zero there, and ``x_star`` is the lower end of the bottom."""
    width, count = params["piece_width"], len(params["piece_width"])
    rng = np.random.default_rng([_OWN_SEED, count])  # the other transformations draw what they would draw without this one
    chosen, first = rng.random((count, 1, 1, 1)) < _RESTING, np.arange(width.shape[2])[:, None] == 0
    center, bottom = params["center"][:, :1], width[:, :1, :1]
    tail = np.broadcast_to(params["tail"], params["center"].shape)[:, :, None]
    valley = {"center": np.broadcast_to(center, params["center"].shape), "piece_center": center[:, :, None],
              "piece_width": bottom, "piece_slope": np.where(first, -tail, 0.0),
              "start_offset": bottom[:, 0, 0] * 2.0 ** rng.integers(-2, 2, (count, 1))}
    return params | {name: np.where(chosen.reshape(count, *(1,) * (params[name].ndim - 1)), array, params[name])
                     for name, array in valley.items()}


def _with_kinks(params: Parameters, rng: np.random.Generator) -> Parameters:
    """Gives the clients of some instances one minimum, with a kink, from where they are linear to where their curvature
    begins."""
    width, count = params["piece_width"], len(params["piece_width"])
    chosen, number = rng.random((count, 1, 1, 1)) < _SHARE, np.arange(width.shape[2])[:, None]
    center = np.where(chosen[:, 0], params["center"][:, :1], params["center"])
    tail = np.broadcast_to(params["tail"], center.shape)[:, :, None]
    wide = width[:, :1, :1]
    narrow = wide * 10.0 ** rng.uniform(-3, -0.5, (count, 1, 1, 1))
    rises = tail * wide * rng.random((count, 1, 1, 1)) / narrow  # to less than the slope that the piece takes away
    found = {"piece_center": center[:, :, None], "piece_width": np.where(number == 0, wide, narrow),
             "piece_slope": np.where(number == 0, -tail, rises)}
    chosen = chosen & (number < 2) & (tail > 0)
    return params | {"center": center} | {name: np.where(chosen, array, params[name]) for name, array in found.items()}


def _convex_with_pieces(claim: Claim, shape: Shape) -> bool:
    return isinstance(shape.family, PiecewiseClients) and needs_convex(claim)


PLATEAUS = Transformation("plateaus", _convex_with_pieces, _flattened)
RESTING = Transformation(
    "resting", lambda claim, shape: on_runs(claim, shape) and _convex_with_pieces(claim, shape), _resting)
