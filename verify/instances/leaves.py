"""The numbers of an instance: arrays by name; rows selected, joined, halved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from bounds.language.claim import Claim
from verify.claims.method import free_starts

__all__ = [
    "CURVATURE",
    "DOMAINS",
    "KINDS",
    "KINDS_OF_LEAVES",
    "PIECES",
    "POSITIVE",
    "UNITS_OF_LEAVES",
    "Leaves",
    "by_coordinates",
    "floats",
    "halves",
    "joined",
    "map_leaves",
    "number_of",
    "take_rows",
]

#: leaves that must be positive
POSITIVE = frozenset({"curvature", "weight", "step_fraction", "step_scale"})
Leaves = dict[str, np.ndarray]  # name -> (instances, ...), of floats or of Fractions


def by_coordinates(claim: Claim) -> set[str]:
    """Names of the leaves whose last axis has an entry for each coordinate."""
    vectors = {v.name for v in claim.variables if v.domain == "vector"}
    of_samples = set(KINDS) - {"sample_offset"}
    return vectors | of_samples | {"curvature", "center", "noise", "start_offset", "local_offset", *PIECES} | {
        f"start:{name}" for name in free_starts(claim.procedure)}


#: leaves of clients' atoms: (instances, clients, atoms, [pieces,] [dim]), the curvature the same for all atoms of a client
KINDS = {
    "sample_curvature": "nonnegative", "sample_center": "vector", "sample_slope": "real", "sample_knot": "vector",
    "sample_width": "nonnegative", "sample_offset": "nonnegative",
}

#: leaves: curvature beyond all pieces (instances, clients or 1, dim), and pieces (instances, clients, pieces, dim)
PIECES = {"tail": "nonnegative", "piece_slope": "real", "piece_center": "vector", "piece_width": "nonnegative"}
DOMAINS = KINDS | {"epsilon": "nonnegative", "included": "binary", "available": "binary", "tie": "binary"} | PIECES


def map_leaves(leaves: Leaves, change: Callable[[str, np.ndarray], np.ndarray]) -> Leaves:
    """The leaves with ``change(name, array)`` in place of each array."""
    return {name: change(name, array) for name, array in leaves.items()}


def take_rows(leaves: Leaves, rows) -> Leaves:
    """The instances numbered ``rows``."""
    return {name: array[rows] for name, array in leaves.items()}


def joined(batches: Sequence[Leaves]) -> Leaves:
    """The instances of several batches, at least one, whose arrays have the same shapes but for their number."""
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def floats(leaves: Leaves) -> Leaves:
    """The instances in float64."""
    return {name: np.asarray(array, dtype=np.float64) for name, array in leaves.items()}


def number_of(leaves: Leaves) -> int:
    """How many instances there are; one where they have no leaves."""
    return next((len(array) for array in leaves.values()), 1)


def halves(leaves: Leaves) -> tuple[Leaves, Leaves]:
    """The first half of the instances, and the others."""
    middle = number_of(leaves) // 2
    return take_rows(leaves, slice(middle)), take_rows(leaves, slice(middle, None))


#: domains of the leaves that are no variables of a claim, where they are not positive
KINDS_OF_LEAVES = KINDS | {
    "center": "vector", "offset": "real", "noise": "vector", "start_offset": "vector", "local_offset": "vector",
    "epsilon": "nonnegative", "step_fraction": "fraction", "included": "binary", "available": "binary",
    "tie": "binary", "start": "vector", "half_tangent": "real",
} | PIECES

CURVATURE = (1, -2)

#: units of the leaves of clients and starts: powers of loss and length
UNITS_OF_LEAVES = {
    **dict.fromkeys(("curvature", "tail", "piece_slope"), CURVATURE),
    **dict.fromkeys(("center", "start_offset", "local_offset", "piece_center", "piece_width"), (0, 1)),
    **dict.fromkeys(("offset", "epsilon"), (1, 0)),
    **dict.fromkeys(("noise", "start"), (1, -1)),  # a start is what methods track: gradients, and duals
}
