"""The parameters of an instance: a table that says what each is, and changes of whole batches along an axis.

In code they are ``leaves``, as JAX calls the arrays of a structure: name -> array, whose first axis counts instances.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bounds.language.claim import Claim, length_of, parts_of_size
from fedtheory.traits import CURVATURE, LENGTH, LOSS, SLOPE
from verify.claims.method import free_starts
from verify.claims.open_constants import ASSUMED
from verify.claims.sizes import once_by_claim

__all__ = [
    "LEAVES", "PIECES", "SLACK", "START", "Leaf", "Leaves", "floats", "halves", "joined", "leaf_of", "map_leaves",
    "number_of", "repeated", "take_rows", "taken", "within_domain",
]

Leaves = dict[str, np.ndarray]  # name -> (instances, ...), of floats or of Fractions

#: before the name of a constant of the problem class: the factor by which it exceeds its tightest value
SLACK = "slack:"
#: before the name of a method's array: where it starts
START = "start:"


@dataclass(frozen=True)
class Leaf:
    """What a parameter is: its ``domain``, what its ``axes`` after the first one count, and its ``unit``, powers of loss and
    length (None: none, or one that depends on the claim).

    Domains are those of a claim's variables, ``fraction`` (above 0, at most 1), ``factor`` (at least 1), and ``constant``:
    drawn positive, where the hypotheses say what it may be. An axis has one entry for each of its size, or one for all.
    """

    domain: str
    axes: tuple[str, ...] = ("1",)
    unit: tuple[int, int] | None = None


#: what instances have besides the variables of their claim and the names with a prefix (:func:`leaf_of`)
LEAVES = {
    "curvature": Leaf("positive", ("clients", "dim"), CURVATURE),
    "center": Leaf("vector", ("clients", "dim"), LENGTH),
    "offset": Leaf("real", ("clients",), LOSS),
    "weight": Leaf("positive", ("clients",)),
    "noise": Leaf("vector", ("noisy", "dim"), SLOPE),
    "half_tangent": Leaf("real"),
    # curvature beyond all pieces, and pieces
    "tail": Leaf("nonnegative", ("clients", "dim"), CURVATURE),
    "piece_slope": Leaf("real", ("clients", "pieces", "dim"), CURVATURE),
    "piece_center": Leaf("vector", ("clients", "pieces", "dim"), LENGTH),
    "piece_width": Leaf("nonnegative", ("clients", "pieces", "dim"), LENGTH),
    # the support of each client's distribution of samples, which no search rescales
    "sample_curvature": Leaf("nonnegative", ("clients", "atoms", "dim")),
    "sample_center": Leaf("vector", ("clients", "atoms", "dim")),
    "sample_slope": Leaf("real", ("clients", "atoms", "pieces", "dim")),
    "sample_knot": Leaf("vector", ("clients", "atoms", "pieces", "dim")),
    "sample_width": Leaf("nonnegative", ("clients", "atoms", "pieces", "dim")),
    "sample_offset": Leaf("nonnegative", ("clients", "atoms")),
    # of the run, or of the point
    "start_offset": Leaf("vector", ("dim",), LENGTH),
    "local_offset": Leaf("vector", ("clients", "dim"), LENGTH),
    "included": Leaf("binary", ("clients",)),
    "step_fraction": Leaf("fraction", ("iterations",)),
    "step_scale": Leaf("positive"),
    "epsilon": Leaf("nonnegative", ("rounds + 1",), LOSS),
    "available": Leaf("binary", ("rounds + 1", "clients")),
    "tie": Leaf("binary", ("clients",)),
}

#: parameters of piecewise clients
PIECES = ("tail", "piece_slope", "piece_center", "piece_width")


def leaf_of(claim: Claim, name: str) -> Leaf:
    """What the parameter ``name`` of the claim's instances is. Raises KeyError for a name that no draw makes."""
    if name in (own := _of_variables(claim)):
        return own[name]
    if name.startswith(SLACK):
        return Leaf("factor")
    if name.startswith(ASSUMED):
        return Leaf("constant")
    if name.startswith(START):  # gradients, or duals
        by_client = free_starts(claim.procedure).get(name.removeprefix(START))
        return Leaf("vector", ("clients", "dim") if by_client else ("dim",), SLOPE)
    return LEAVES[name]


@once_by_claim
def _of_variables(claim: Claim) -> dict[str, Leaf]:
    return {v.name: Leaf(v.domain, (*(size for _, size in v.indices), *["dim"] * (v.domain == "vector")))
            for v in claim.variables}


def within_domain(domain: str, values):
    """Changed values of a fraction or a factor, moved into their domain; others as they are. NumPy or torch."""
    if domain == "fraction":
        return values.clip(1e-6, 1.0)
    return values.clip(1.0, None) if domain == "factor" else values


# changes along an axis -------------------------------------------------------------------------------------------------
def taken(claim: Claim, leaves: Leaves, axis: str, numbers: Sequence[int], length: int) -> Leaves:
    """The entries ``numbers`` along an axis of this ``length``; arrays with one entry for all stay."""
    return _along(claim, leaves, lambda size, there: numbers if (size, there) == (axis, length) else None)


def repeated(claim: Claim, leaves: Leaves, lengths: Mapping[str, int]) -> Leaves:
    """The arrays with axes of other lengths, by name of their size: cut off, or with the last entry repeated."""
    return _along(claim, leaves, lambda size, there: (
        np.arange(length_of(size, lengths)).clip(max=there - 1) if parts_of_size(size)[0] in lengths else None))


def _along(claim: Claim, leaves: Leaves, entries: Callable) -> Leaves:
    """Of every axis, those entries that ``entries(size, length)`` answers; all of them where that is None."""
    def take(name, array):
        for place, size in enumerate(leaf_of(claim, name).axes, start=1):
            if (numbers := entries(size, array.shape[place])) is not None:
                array = np.take(array, numbers, axis=place)
        return array

    return map_leaves(leaves, take)


# batches ---------------------------------------------------------------------------------------------------------------
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
