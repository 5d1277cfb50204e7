"""Patterns on some rows of a batch: clients alike or mirrored, starts within a few rounds' way of the optimum."""

from __future__ import annotations

import numpy as np

from bounds.claim import Claim
from verify.instances import Leaves, Shape
from verify.piecewise_instances import PIECES
from verify.procedures import by_coordinate

__all__ = ["patterned"]

_OF_LOSSES = ("curvature", "center", "offset", *PIECES)
_OF_MINIMA = ("center", "piece_center")
_ALIKE, _OPPOSITE = 0.08, 0.05  # shares of the rows in which clients have one loss, or each mirrors the one before
_FEW_STEPS = 0.3  # share of the rows in which a run starts a few rounds from the optimum
_STEPS = ("eta", "eta_l", "eta_g")  # variables that a step of the server is a multiple of


def patterned(claim: Claim, shape: Shape, leaves: Leaves, rng: np.random.Generator) -> Leaves:
    """The batch, in some rows of which all clients are alike, or each is the mirror image of the one before; and where
    methods take steps of about the same length everywhere, some runs start within a few rounds' way of the optimum.

    Points, numbers and samples stay as they are.
    """
    if claim.setting != "run" or shape.data is not None:
        return leaves
    return _within_reach(claim, shape, _related(shape, leaves, rng), rng)


def _related(shape: Shape, leaves: Leaves, rng: np.random.Generator) -> Leaves:
    if shape.clients == 1:
        return leaves
    draw, found = rng.random(len(leaves["weight"])), dict(leaves)
    related, opposite = draw < _ALIKE + _OPPOSITE, draw < _OPPOSITE
    sign = (-1.0) ** np.arange(shape.clients)
    for name in _OF_LOSSES:
        if name in leaves:
            row = (-1, *(1,) * (leaves[name].ndim - 1))
            first = leaves[name][:, :1]
            if name in _OF_MINIMA:
                first = first * np.where(opposite.reshape(row), sign.reshape(1, -1, *row[2:]), 1.0)
            found[name] = np.where(related.reshape(row), first, leaves[name])
    return found


def _within_reach(claim: Claim, shape: Shape, leaves: Leaves, rng: np.random.Generator) -> Leaves:
    steps = [leaves[v.name] for v in claim.variables if v.name in _STEPS and not v.indices]
    if not by_coordinate(claim.procedure) or not steps:
        return leaves
    count = len(leaves["start_offset"])
    way = shape.local_steps * np.prod([step.reshape(count, 1) for step in steps], axis=0)
    start = way * rng.uniform(0, 3, (count, 1)) * rng.choice([-1.0, 1.0], (count, shape.dim))
    near = rng.random((count, 1)) < _FEW_STEPS
    return leaves | {"start_offset": np.where(near, start, leaves["start_offset"])}
