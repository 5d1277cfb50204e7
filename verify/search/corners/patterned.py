"""Patterns among clients and short ways: clients alike, mirrored or against one; starts near the optimum; tiny steps."""

import numpy as np

from bounds.language.claim import Claim
from verify.claims.method import by_coordinate
from verify.instances.leaves import PIECES, Leaves
from verify.instances.shape import Shape
from verify.search.corners.corner import Corner, on_runs

__all__ = ["OF_MINIMA", "PATTERNED"]

_OF_LOSSES = ("curvature", "center", "offset", *PIECES)
OF_MINIMA = ("center", "piece_center")  # arrays that say where losses are least
_ALIKE, _OPPOSITE = 0.08, 0.05  # shares of the instances whose clients have one loss, or mirror the one before
_DOMINATED = 0.1  # share in which one client's gradient at the start is as large as all others', which point back
_FEW_STEPS = 0.3  # share of the instances that start a few rounds from the optimum
_TINY_STEPS = 0.15  # share of the instances whose local steps are shorter by up to eight decades
_TINY_STEPS_DOMINATED = 0.5  # the same where one client dominates: the mean of normalised steps may lead uphill
_STEPS = ("eta", "eta_l", "eta_g")  # variables of which the server's step is a multiple


def _patterned(claim: Claim, shape: Shape, leaves: Leaves, rng: np.random.Generator) -> Leaves:
    """In some instances all clients are alike, mirror the one before, or are dominated by one; some local steps are tiny.
    Where methods take steps of about one length everywhere, some runs start within a few rounds of the optimum."""
    dominated = rng.random(len(leaves["weight"])) < _DOMINATED
    leaves = _within_reach(claim, shape, _dominated(shape, _alike_or_mirrored(shape, leaves, rng), dominated, rng), rng)
    return _tiny_steps(claim, leaves, np.where(dominated, _TINY_STEPS_DOMINATED, _TINY_STEPS), rng)


PATTERNED = Corner("patterned", on_runs, _patterned)


def _alike_or_mirrored(shape: Shape, leaves: Leaves, rng: np.random.Generator) -> Leaves:
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


def _dominated(shape: Shape, leaves: Leaves, chosen: np.ndarray, rng: np.random.Generator) -> Leaves:
    """In the ``chosen`` instances the gradients of all other clients point against that of the first one, and their mean at
    the start is small beside it. A method that clips or normalises gradients then moves against the mean gradient."""
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
    """Some runs hardly move, so that terms of higher order in the step vanish: each with its ``share`` as probability."""
    for variable in claim.variables:
        if variable.name in _STEPS[:2] and not variable.indices:
            little = rng.random(len(leaves["weight"])) < share
            shorter = 10.0 ** np.where(little, rng.uniform(-8, 0, len(little)), 0.0)
            leaves = leaves | {variable.name: leaves[variable.name] * shorter.reshape(leaves[variable.name].shape)}
    return leaves
