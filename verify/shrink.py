"""Makes a violating instance exact, and then as small and as simple as it can be while it still violates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import NamedTuple

import numpy as np

from bounds.claim import Claim
from synthetic.arrays import EXACT
from synthetic.balls import Ball
from verify.assumed import ASSUMED
from verify.client_numbers import without_client
from verify.data_instances import simpler_data
from verify.environment import realise
from verify.evaluate import Environment, TooManyTerms, UnboundName
from verify.instances import (
    POSITIVE,
    Leaves,
    Shape,
    admissible,
    by_coordinates,
    map_leaves,
    outcomes,
    with_participants,
    with_times,
    with_trackers,
)
from verify.judge import exact_violation
from verify.on_balls import MOST_EXACT, violation_on_balls
from verify.piecewise_instances import simpler_pieces
from verify.roots import Irrational
from verify.screen import seen, seen_changes, those_seen, with_change

__all__ = ["Violation", "confirm", "confirm_or_why", "shrink", "simpler", "violation_of"]

_LONG = 40  # iterations
_MOST_OUTCOMES = 256  # of a simpler shape, where the shape itself has fewer
_DENOMINATORS = (1, 2, 4, 10, 16, 100, 1000, 10**4, 10**6)


class Violation(NamedTuple):
    """An exact instance that meets every hypothesis and breaks the claim by ``left`` against ``right``: fractions, or balls
    that surely contain both sides."""

    shape: Shape
    leaves: Leaves
    environment: Environment
    left: Fraction | Ball
    right: Fraction | Ball


def confirm(claim: Claim, shape: Shape, leaves: Leaves, rounded: bool = True) -> Violation | None:
    """The violation of a one-row instance in exact arithmetic, None if float64 only saw rounding errors.

    The instance is taken exactly as it is first; then, where asked for, ``rounded`` to the smallest denominators that keep
    the violation.
    """
    found = confirm_or_why(claim, shape, leaves, rounded)
    return found if isinstance(found, Violation) else None


def confirm_or_why(claim: Claim, shape: Shape, leaves: Leaves, rounded: bool = True) -> Violation | str:
    """The confirmed violation, or why there is none: ``holds`` or ``unmet`` in exact arithmetic, ``inadmissible``, or
    ``uncertain: `` and a reason where the numbers are too large or irrational to tell."""
    exact = violation_of(claim, shape, map_leaves(leaves, lambda name, a: _each(a, Fraction)))
    if exact == "holds" or not rounded:
        return exact
    candidates = [map_leaves(leaves, lambda name, a, q=q: _round(claim, name, a, q)) for q in _DENOMINATORS]
    for candidate, promising in zip(candidates, seen(claim, shape, candidates), strict=True):
        found = violation_of(claim, shape, candidate) if promising else exact
        if isinstance(found, Violation):
            return found
    return exact


def violation_of(claim: Claim, shape: Shape, leaves: Leaves) -> Violation | str:
    """The violation by an instance of rational leaves, or why there is none, as :func:`confirm_or_why` says it.

    Where fractions do not suffice, balls decide what is certain. Leaves may be floats; they are taken exactly as they are.
    """
    leaves = map_leaves(leaves, lambda name, a: a if a.dtype == object else _each(a, Fraction))
    if not admissible(claim, shape, leaves):
        return "inadmissible"
    try:
        environment = realise(claim, shape, leaves, EXACT, most=MOST_EXACT)
        pair = exact_violation(claim, environment)
        return pair if isinstance(pair, str) else Violation(shape, leaves, environment, *pair)
    except TooManyTerms as error:
        return f"uncertain: {error}"
    except (Irrational, TypeError, ValueError):  # a root of a quantity, or a method that takes roots
        pass
    except (ArithmeticError, UnboundName):  # a division by zero, a constant that is infinite here
        return "inadmissible"
    found = violation_on_balls(claim, shape, leaves)
    if len(found) == 2:
        return ": ".join(part for part in found if part)
    return Violation(shape, leaves, *found)


def _each(array, change):
    out = np.empty(array.shape, dtype=object)
    for index, value in np.ndenumerate(array):
        out[index] = change(value)
    return out


def _round(claim, name, array, q):
    positive = name in POSITIVE or name.startswith(("slack:", ASSUMED)) or any(
        v.name == name and v.domain == "positive" for v in claim.variables
    )

    def simple(value):
        rounded = Fraction(value).limit_denominator(q)
        if positive and rounded <= 0:
            return Fraction(1, max(1, round(1 / Fraction(value))))
        return rounded

    return _each(array, simple)


def shrink(claim: Claim, violation: Violation, most_trials: int = 400) -> Violation:
    """Greedily take every simplification under which the claim is still violated exactly; on balls and on long runs, which
    are slow, with a quarter of the trials."""
    slow = isinstance(violation.left, Ball) or violation.shape.iterations > _LONG
    most_trials = most_trials // 4 if slow else most_trials
    violation = _simpler_shape(claim, violation, most_trials, screened=slow)
    violation = _simpler_numbers(claim, violation, most_trials)
    return _simpler_shape(claim, violation, most_trials, screened=True)  # noise of size zero, say, can go now


def _simpler_shape(claim, violation, most_trials, screened):
    """The violation on the smallest shape that is found step by step; ``screened``: only where float64 sees it there too."""
    trials, progress = 0, True
    while progress and trials < most_trials:
        progress = False
        candidates = simpler(claim, violation.shape, violation.leaves)
        for shape, leaves in those_seen(claim, candidates) if screened else candidates:
            trials += 1
            found = violation_of(claim, shape, leaves)
            if isinstance(found, Violation):
                violation, progress = found, True
                break
            if trials >= most_trials:
                break
    return violation


def _simpler_numbers(claim, violation, most_trials):
    """The violation with simpler numbers: all changes that float64 sees to do at once, or by halves where exact arithmetic
    refuses them."""
    refused, left = set(), most_trials

    def with_changes(violation, changes):
        nonlocal left
        if not left:
            return violation
        left -= 1
        leaves = violation.leaves
        for change in changes:
            leaves = with_change(leaves, change)
        found = violation_of(claim, violation.shape, leaves)
        if isinstance(found, Violation):
            return found
        if len(changes) == 1:
            refused.add(changes[0])
            return violation
        middle = len(changes) // 2
        return with_changes(with_changes(violation, changes[:middle]), changes[middle:])

    while left:  # one number may become simpler only after another one has
        changes = seen_changes(claim, violation.shape, violation.leaves, refused)
        if not changes:
            break
        violation = with_changes(violation, changes)
    return violation


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
