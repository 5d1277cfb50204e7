"""Smaller instances: fewer clients, rounds, steps, coordinates, pieces, samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import prod

import numpy as np

from bounds.language.claim import Claim
from verify.instances.instance import outcomes
from verify.instances.leaves import Leaves, by_coordinates, map_leaves
from verify.instances.piecewise import simpler_pieces
from verify.instances.resize import without_client
from verify.instances.samples import simpler_data
from verify.instances.shape import Shape, with_participants, with_times, with_trackers

__all__ = ["simpler"]

_MOST_OUTCOMES = 256  # of a simpler shape, where the shape itself has fewer


def simpler(claim: Claim, shape: Shape, leaves: Leaves) -> Iterator[tuple[Shape, Leaves]]:
    """Smaller shapes with their leaves: less noise, fewer clients, dimensions, rounds, steps, participants, sizes; none that
    has many more outcomes of chance, as runs have in which fewer take part."""
    most = max(_MOST_OUTCOMES, prod(outcomes(shape)))
    for smaller, its_leaves in _simpler(claim, shape, leaves):
        if prod(outcomes(smaller)) <= most:
            yield smaller, its_leaves


def _simpler(claim: Claim, shape: Shape, leaves: Leaves) -> Iterator[tuple[Shape, Leaves]]:
    if shape.data is not None:
        yield from simpler_data(shape, leaves)
    if shape.noisy:
        yield replace(shape, noisy=()), {n: a for n, a in leaves.items() if n != "noise"}
        for slot in range(len(shape.noisy)):
            kept = [s for s in range(len(shape.noisy)) if s != slot]
            if kept:
                noisy = tuple(shape.noisy[s] for s in kept)
                yield replace(shape, noisy=noisy), {**leaves, "noise": leaves["noise"][:, kept]}
    yield from simpler_pieces(shape, leaves)
    for client in range(shape.clients if claim.setting != "algebra" else 0):
        smaller = without_client(claim, shape, leaves, client)
        if smaller:
            yield smaller
    if shape.layers:
        yield from _without_coordinates(claim, shape, leaves)
    elif shape.dim > 1:
        axes = by_coordinates(claim)
        for kept in _fewer_coordinates(shape.dim):
            yield replace(shape, dim=len(kept)), map_leaves(leaves, lambda n, a, c=kept: a[..., c] if n in axes else a)
    if claim.setting == "run":
        for rounds in _smaller_numbers(shape.rounds):
            yield with_times(shape, leaves, shape.local_steps, rounds, claim.variables)
        for steps in _smaller_numbers(shape.local_steps) if "local_steps" not in dict(shape.sizes) else ():
            yield with_times(shape, leaves, steps, shape.rounds, claim.variables)
        for participants in sorted({1, 2, 10, 100, shape.participants // 2, shape.participants - 1}):
            if 1 <= participants < shape.participants:
                yield with_participants(shape, participants), leaves
        if shape.trackers is not None and shape.trackers < shape.most_trackers:
            yield with_trackers(shape, shape.most_trackers), leaves
    for variable in claim.variables:
        size = dict(shape.sizes).get(variable.name)
        if size is not None and size > variable.low:
            for smaller in sorted({variable.low, (variable.low + size) // 2, size - 1}):
                yield _resized(claim, shape, leaves, variable.name, smaller)


def _smaller_numbers(number: int) -> list[int]:
    """One, and the number less a half, a quarter, an eighth ... of it, down to one less, from the smallest."""
    less = [number >> halvings for halvings in range(1, number.bit_length())]
    return sorted({number - share for share in less} | {1}) if number > 1 else []


def _fewer_coordinates(dim: int) -> list[list[int]]:
    """One coordinate, half of them, or all but one."""
    halves = [[*range(dim // 2)], [*range(dim // 2, dim)]] if dim > 3 else []
    all_but = [[c for c in range(dim) if c != gone] for gone in range(dim)] if dim > 2 else []
    return [*([c] for c in range(dim)), *halves, *all_but]


def _without_coordinates(claim, shape, leaves):
    """The instance without one coordinate; without the layer, if that was its last."""
    axes, ends = by_coordinates(claim), np.cumsum(shape.layers)
    for gone in range(shape.dim if shape.dim > 1 else 0):
        kept = [c for c in range(shape.dim) if c != gone]
        layer = int(np.searchsorted(ends, gone, side="right"))
        sizes = [size - (number == layer) for number, size in enumerate(shape.layers)]
        new = map_leaves(leaves, lambda n, a, kept=kept: a[..., kept] if n in axes else a)
        if not sizes[layer]:
            for variable in claim.variables:
                for axis, (_, size) in enumerate(variable.indices):
                    if size == "layers":
                        new[variable.name] = np.delete(new[variable.name], layer, axis=1 + axis)
        yield replace(shape, dim=shape.dim - 1, layers=tuple(size for size in sizes if size)), new


def _resized(claim, shape, leaves, name, size):
    sizes = tuple((n, size if n == name else s) for n, s in shape.sizes)
    new_shape = replace(shape, sizes=sizes, **({"local_steps": size} if name == "local_steps" else {}))
    numbers = new_shape.as_sizes()

    def cut(leaf, array):
        for variable in claim.variables:
            if variable.name == leaf:
                for axis, (_, size_name) in enumerate(variable.indices):
                    array = np.take(array, range(numbers[size_name]), axis=1 + axis)
        return array

    return new_shape, map_leaves(leaves, cut)
