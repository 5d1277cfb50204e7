"""Smaller instances: fewer clients, rounds, steps, coordinates, pieces, samples."""

from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np

from bounds.language.claim import Claim
from verify.instances.instance import outcomes
from verify.instances.parameters import Parameters, repeated, take_entries
from verify.instances.resize import without_client
from verify.instances.shape import Shape, with_participants, with_size, with_subset, with_times

__all__ = ["simpler"]

_MOST_OUTCOMES = 256  # of a simpler shape, where the shape itself has fewer


def simpler(claim: Claim, shape: Shape, params: Parameters) -> Iterator[tuple[Shape, Parameters]]:
    """Smaller instances: less noise, fewer clients, coordinates, rounds, steps, participants, smaller integers. Those with
    many more outcomes of chance are left out."""
    most = max(_MOST_OUTCOMES, prod(outcomes(shape)))
    for smaller, its_leaves in _simpler(claim, shape, params):
        if prod(outcomes(smaller)) <= most:
            yield smaller, its_leaves


def _simpler(claim: Claim, shape: Shape, params: Parameters) -> Iterator[tuple[Shape, Parameters]]:
    if shape.family.coupled:
        yield from shape.family.simpler(claim, shape, params)
    if shape.noisy:
        yield replace(shape, noisy=(), symmetric=False), {n: a for n, a in params.items() if n != "noise"}
        if shape.symmetric:
            yield replace(shape, symmetric=False), params
        for slot in range(len(shape.noisy)):
            kept = [s for s in range(len(shape.noisy)) if s != slot]
            if kept:
                noisy = tuple(shape.noisy[s] for s in kept)
                yield replace(shape, noisy=noisy), {**params, "noise": params["noise"][:, kept]}
    if not shape.family.coupled:
        yield from shape.family.simpler(claim, shape, params)
    if "half_tangent" in params:
        yield shape, {n: a for n, a in params.items() if n != "half_tangent"}
    for client in range(shape.clients if claim.setting != "algebra" else 0):
        smaller = without_client(claim, shape, params, client)
        if smaller:
            yield smaller
    if shape.layers and shape.family.any_coordinates:
        yield from _without_coordinates(claim, shape, params)
    elif shape.dim > 1 and shape.family.any_coordinates:
        for kept in _fewer_coordinates(shape.dim):
            yield replace(shape, dim=len(kept)), take_entries(claim, params, "dim", kept, shape.dim)
    if claim.setting == "run":
        for rounds in _smaller_numbers(shape.rounds):
            yield with_times(claim, shape, params, shape.local_steps, rounds)
        for steps in _smaller_numbers(shape.local_steps) if "local_steps" not in dict(shape.sizes) else ():
            yield with_times(claim, shape, params, steps, shape.rounds)
        for participants in sorted({1, 2, 10, 100, shape.participants // 2, shape.participants - 1}):
            if 1 <= participants < shape.participants:
                yield with_participants(shape, participants), params
        if shape.subset is not None and shape.subset < shape.taking_part:
            yield with_subset(shape, shape.taking_part), params
    for variable in claim.variables:
        size = dict(shape.sizes).get(variable.name)
        if size is not None and size > variable.low:
            above = size - variable.low
            for smaller in (size - (above >> halvings) for halvings in range(above.bit_length())):
                new = with_size(shape, variable.name, smaller)
                new = replace(new, local_steps=smaller) if variable.name == "local_steps" else new
                yield new, repeated(claim, params, {variable.name: smaller})


def _smaller_numbers(number: int) -> list[int]:
    """1, and the number reduced by a half, a quarter, an eighth ... of it, in increasing order."""
    less = [number >> halvings for halvings in range(1, number.bit_length())]
    return sorted({number - share for share in less} | {1}) if number > 1 else []


def _fewer_coordinates(dim: int) -> list[list[int]]:
    """One coordinate, half of them, or all but one."""
    halves = [[*range(dim // 2)], [*range(dim // 2, dim)]] if dim > 3 else []
    all_but = [[c for c in range(dim) if c != gone] for gone in range(dim)] if dim > 2 else []
    return [*([c] for c in range(dim)), *halves, *all_but]


def _without_coordinates(claim, shape, params):
    """The instance without one coordinate, and without its layer if no other coordinate is left in it."""
    ends = np.cumsum(shape.layers)
    for gone in range(shape.dim if shape.dim > 1 else 0):
        kept = [c for c in range(shape.dim) if c != gone]
        layer = int(np.searchsorted(ends, gone, side="right"))
        sizes = [size - (number == layer) for number, size in enumerate(shape.layers)]
        new = take_entries(claim, params, "dim", kept, shape.dim)
        if not sizes[layer]:
            new = take_entries(claim, new, "layers", [n for n in range(len(sizes)) if n != layer], len(sizes))
        yield replace(shape, dim=shape.dim - 1, layers=tuple(size for size in sizes if size)), new
