"""Patterns on some rows of a batch: clients alike, mirrored or outvoted, starts within a few rounds' way of the optimum."""

from __future__ import annotations

import numpy as np

from bounds.language.claim import Claim
from verify.claims.method import by_coordinate
from verify.instances.leaves import PIECES, Leaves, by_coordinates
from verify.instances.shape import Shape

__all__ = ["OF_MINIMA", "alike_in_all_coordinates", "patterned", "turned"]

_OF_LOSSES = ("curvature", "center", "offset", *PIECES)
OF_MINIMA = ("center", "piece_center")  # leaves that say where losses are least
_ALIKE, _OPPOSITE = 0.08, 0.05  # shares of the rows in which clients have one loss, or each mirrors the one before
_OUTVOTED = 0.1  # share in which one client's gradient at the start is as large as all others' together, which point back
_FEW_STEPS = 0.3  # share of the rows in which a run starts a few rounds from the optimum
_TINY_STEPS = 0.15  # share of the rows in which local steps are shorter by up to eight decades
_TINY_STEPS_UPHILL = 0.5  # the same of rows in which, of three clients or more, the mean of steps may lead uphill
_STEPS = ("eta", "eta_l", "eta_g")  # variables that a step of the server is a multiple of


def patterned(claim: Claim, shape: Shape, leaves: Leaves, rng: np.random.Generator) -> Leaves:
    """The batch, in some rows of which all clients are alike, or each is the mirror image of the one before; and where
    methods take steps of about the same length everywhere, some runs start within a few rounds' way of the optimum.

    Points, numbers and samples stay as they are.
    """
    if claim.setting != "run" or shape.data is not None:
        return leaves
    outvoted = rng.random(len(leaves["weight"])) < _OUTVOTED
    leaves = _within_reach(claim, shape, _outvoted(shape, _related(shape, leaves, rng), outvoted, rng), rng)
    return _tiny_steps(claim, leaves, np.where(outvoted, _TINY_STEPS_UPHILL, _TINY_STEPS), rng)


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
            if name in OF_MINIMA:
                first = first * np.where(opposite.reshape(row), sign.reshape(1, -1, *row[2:]), 1.0)
            found[name] = np.where(related.reshape(row), first, leaves[name])
    return found


def _outvoted(shape: Shape, leaves: Leaves, chosen: np.ndarray, rng: np.random.Generator) -> Leaves:
    """In the ``chosen`` rows clients of one curvature; the others pull against the first one, and the mean gradient at the
    start is a small part of its own. What shortens large gradients more than small ones then goes uphill."""
    if shape.clients < 3 or "curvature" not in leaves:
        return leaves
    count, others = len(leaves["weight"]), shape.clients - 1
    row = (count, 1, 1)
    sign = np.where(rng.random(row) < 0.5, 1.0, rng.choice([-1.0, 1.0], (count, 1, shape.dim)))
    pull = 10.0 ** rng.uniform(-3, 1, row) * sign
    against = (1 - 10.0 ** rng.uniform(-2, -0.3, row)) / others * np.ones((count, others, shape.dim))
    center = np.concatenate([-pull, pull * against], axis=1)
    chosen = chosen.reshape(row)
    curvature = np.where(chosen, leaves["curvature"][:, :1], leaves["curvature"])
    weight = np.where(chosen[:, 0], 1.0, leaves["weight"])
    start = np.where(chosen[:, 0], -center.mean(axis=1), leaves["start_offset"])
    return leaves | {"curvature": curvature, "weight": weight, "center": np.where(chosen, center, leaves["center"]),
                     "start_offset": start}


def _within_reach(claim: Claim, shape: Shape, leaves: Leaves, rng: np.random.Generator) -> Leaves:
    steps = [leaves[v.name] for v in claim.variables if v.name in _STEPS and not v.indices]
    if not by_coordinate(claim.procedure) or not steps:
        return leaves
    count = len(leaves["start_offset"])
    way = shape.local_steps * np.prod([step.reshape(count, 1) for step in steps], axis=0)
    start = way * rng.uniform(0, 3, (count, 1)) * rng.choice([-1.0, 1.0], (count, shape.dim))
    near = rng.random((count, 1)) < _FEW_STEPS
    return leaves | {"start_offset": np.where(near, start, leaves["start_offset"])}


def _tiny_steps(claim: Claim, leaves: Leaves, share: np.ndarray, rng: np.random.Generator) -> Leaves:
    """Rows of runs that hardly move, in which terms of higher order in the step vanish: each with its ``share`` as
    probability."""
    for variable in claim.variables:
        if variable.name in _STEPS[:2] and not variable.indices:
            little = rng.random(len(leaves["weight"])) < share
            shorter = 10.0 ** np.where(little, rng.uniform(-8, 0, len(little)), 0.0)
            leaves = leaves | {variable.name: leaves[variable.name] * shorter.reshape(leaves[variable.name].shape)}
    return leaves


_ALIKE_COORDINATES = 0.25  # share of instances whose coordinates are all alike, of methods that act by coordinate


def turned(claim: Claim, shape: Shape, leaves: Leaves, rng: np.random.Generator) -> Leaves:
    """The batch in a turned basis, in which no client is separable by coordinate, by about 45 degrees or any angle of which
    the sine is a short fraction; as it is where the basis does not matter, because neither the method acts by coordinate nor
    the claim speaks of layers."""
    by_basis = bool(shape.layers) or by_coordinate(claim.procedure)
    if claim.setting != "run" or shape.data is not None or shape.free or shape.dim < 2 or not by_basis:
        return leaves
    count = (len(leaves["center"]), 1)
    return leaves | {"half_tangent": np.where(rng.random(count) < 0.5, 3 / 8, rng.integers(-8, 9, count) / 8)}


def alike_in_all_coordinates(claim: Claim, shape: Shape, leaves: Leaves, rng: np.random.Generator) -> Leaves:
    """The batch, in some of whose rows all coordinates are as the first one: there a method that acts by coordinate moves
    sqrt(dim) times as far as in one dimension. As it is where there is one coordinate, or the method has none of its own, or
    coordinates are turned."""
    if claim.setting != "run" or shape.data is not None or shape.dim < 2 or not by_coordinate(claim.procedure):
        return leaves
    if "half_tangent" in leaves:
        return leaves
    vectors = by_coordinates(claim)
    chosen = rng.random(len(leaves["center"])) < _ALIKE_COORDINATES
    return {name: np.where(chosen.reshape(-1, *(1,) * (array.ndim - 1)), array[..., :1], array)
            if name in vectors and array.shape[-1] == shape.dim else array
            for name, array in leaves.items()}
