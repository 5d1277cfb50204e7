"""The parameters of an instance: a table that says what each is, and changes of whole batches along an axis.

In code they are ``params``, as JAX calls the arrays of a structure: name -> array, whose first axis counts instances.
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
    "PARAMETERS",
    "PIECES",
    "SLACK",
    "START",
    "ParameterSpec",
    "Parameters",
    "floats",
    "halves",
    "joined",
    "map_params",
    "number_of",
    "repeated",
    "spec_of",
    "take_entries",
    "take_rows",
    "within_domain",
]

Parameters = dict[str, np.ndarray]  # name -> (instances, ...), of floats or of Fractions

#: before the name of a constant of the problem class: the factor by which it exceeds its tightest value
SLACK = "slack:"
#: before the name of a method's array: where it starts
START = "start:"


@dataclass(frozen=True)
class ParameterSpec:
    """The specification of a parameter: its ``domain``, what its ``axes`` after the first one count, and its ``unit``,
    powers of loss and length (None: none, or one that depends on the claim).

    Domains are those of a claim's variables, ``fraction`` (above 0, at most 1), ``factor`` (at least 1), and ``constant``:
    drawn positive, where the hypotheses say what it may be. An axis has one entry for each of its size, or one for all.
    """

    domain: str
    axes: tuple[str, ...] = ("1",)
    unit: tuple[int, int] | None = None


#: what instances have besides the variables of their claim and the names with a prefix (:func:`spec_of`)
PARAMETERS = {
    "curvature": ParameterSpec("positive", ("clients", "dim"), CURVATURE),
    "center": ParameterSpec("vector", ("clients", "dim"), LENGTH),
    "offset": ParameterSpec("real", ("clients",), LOSS),
    "weight": ParameterSpec("positive", ("clients",)),
    "noise": ParameterSpec("vector", ("noisy", "dim"), SLOPE),
    "half_tangent": ParameterSpec("real", ("clients",)),
    # curvature beyond all pieces, and pieces
    "tail": ParameterSpec("nonnegative", ("clients", "dim"), CURVATURE),
    "piece_slope": ParameterSpec("real", ("clients", "pieces", "dim"), CURVATURE),
    "piece_center": ParameterSpec("vector", ("clients", "pieces", "dim"), LENGTH),
    "piece_width": ParameterSpec("nonnegative", ("clients", "pieces", "dim"), LENGTH),
    # the support of each client's distribution of samples, which no search rescales
    "sample_curvature": ParameterSpec("nonnegative", ("clients", "atoms", "dim")),
    "sample_center": ParameterSpec("vector", ("clients", "atoms", "dim")),
    "sample_slope": ParameterSpec("real", ("clients", "atoms", "pieces", "dim")),
    "sample_knot": ParameterSpec("vector", ("clients", "atoms", "pieces", "dim")),
    "sample_width": ParameterSpec("nonnegative", ("clients", "atoms", "pieces", "dim")),
    "sample_offset": ParameterSpec("nonnegative", ("clients", "atoms")),
    # of the run, or of the point
    "start_offset": ParameterSpec("vector", ("dim",), LENGTH),
    "local_offset": ParameterSpec("vector", ("clients", "dim"), LENGTH),
    "included": ParameterSpec("binary", ("clients",)),
    "step_fraction": ParameterSpec("fraction", ("iterations",)),
    "step_scale": ParameterSpec("positive"),
    "epsilon": ParameterSpec("nonnegative", ("rounds + 1",), LOSS),
    "available": ParameterSpec("binary", ("rounds + 1", "clients")),
    "tie": ParameterSpec("binary", ("clients",)),
}

#: parameters of piecewise clients
PIECES = ("tail", "piece_slope", "piece_center", "piece_width")


def spec_of(claim: Claim, name: str) -> ParameterSpec:
    """The specification of the parameter ``name`` of the claim's instances. Raises KeyError for a name that no draw
    makes."""
    if name in (own := _of_variables(claim)):
        return own[name]
    if name.startswith(SLACK):
        return ParameterSpec("factor")
    if name.startswith(ASSUMED):
        return ParameterSpec("constant")
    if name.startswith(START):  # gradients, or duals
        by_client = free_starts(claim.procedure).get(name.removeprefix(START))
        return ParameterSpec("vector", ("clients", "dim") if by_client else ("dim",), SLOPE)
    return PARAMETERS[name]


@once_by_claim
def _of_variables(claim: Claim) -> dict[str, ParameterSpec]:
    return {v.name: ParameterSpec(v.domain, (*(size for _, size in v.indices), *["dim"] * (v.domain == "vector")))
            for v in claim.variables}


def within_domain(domain: str, values):
    """Changed values of a fraction or a factor, moved into their domain; others as they are. NumPy or torch."""
    if domain == "fraction":
        return values.clip(1e-6, 1.0)
    return values.clip(1.0, None) if domain == "factor" else values


# changes along an axis -------------------------------------------------------------------------------------------------
def take_entries(claim: Claim, params: Parameters, axis: str, numbers: Sequence[int], length: int) -> Parameters:
    """The entries ``numbers`` along an axis of this ``length``; arrays with one entry for all stay."""
    return _along(claim, params, lambda size, there: numbers if (size, there) == (axis, length) else None)


def repeated(claim: Claim, params: Parameters, lengths: Mapping[str, int]) -> Parameters:
    """The arrays with axes of other lengths, by name of their size: cut off, or with the last entry repeated."""
    return _along(claim, params, lambda size, there: (
        np.arange(length_of(size, lengths)).clip(max=there - 1) if parts_of_size(size)[0] in lengths else None))


def _along(claim: Claim, params: Parameters, entries: Callable) -> Parameters:
    """Select along every axis the entries that ``entries(size, length)`` returns; all of them where that is None."""
    def take(name, array):
        for place, size in enumerate(spec_of(claim, name).axes, start=1):
            if (numbers := entries(size, array.shape[place])) is not None:
                array = np.take(array, numbers, axis=place)
        return array

    return map_params(params, take)


# batches ---------------------------------------------------------------------------------------------------------------
def map_params(params: Parameters, change: Callable[[str, np.ndarray], np.ndarray]) -> Parameters:
    """The leaves with ``change(name, array)`` in place of each array."""
    return {name: change(name, array) for name, array in params.items()}


def take_rows(params: Parameters, rows) -> Parameters:
    """The instances numbered ``rows``."""
    return {name: array[rows] for name, array in params.items()}


def joined(batches: Sequence[Parameters]) -> Parameters:
    """The instances of several batches, at least one, whose arrays have the same shapes but for their number."""
    return {name: np.concatenate([batch[name] for batch in batches]) for name in batches[0]}


def floats(params: Parameters) -> Parameters:
    """The instances in float64."""
    return {name: np.asarray(array, dtype=np.float64) for name, array in params.items()}


def number_of(params: Parameters) -> int:
    """The number of instances; one where they have no parameters."""
    return next((len(array) for array in params.values()), 1)


def halves(params: Parameters) -> tuple[Parameters, Parameters]:
    """The first half of the instances, and the others."""
    middle = number_of(params) // 2
    return take_rows(params, slice(middle)), take_rows(params, slice(middle, None))
