"""Instances in the units of loss and length in which they meet equations of measured quantities with numbers."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from math import isqrt, prod

import numpy as np

from bounds.formulas.units import Unit
from bounds.language.claim import Claim
from fedtheory.traits import CURVATURE, LENGTH
from synthetic.numbers.arrays import backend_of, namespace, to_numpy
from synthetic.numbers.balls import Ball
from synthetic.numbers.roots import Irrational, real_power
from verify.claims.normalisations import LENGTHS, Normalisation, met_by, power_of
from verify.claims.sizes import allowed
from verify.instances.parameters import Parameters, spec_of, take_entries
from verify.instances.shape import Shape
from verify.instances.units import in_other_units, unit_of

__all__ = ["normalised"]

_NOTHING = 1e-24  # share of its natural size below which a square is a rounding error
_NEAR = 1000  # one over the error of a root
_LONGEST = 256  # bits of a number that is written as a sum of squares

#: of an instance, both sides of each equation, (instances,); None where they have no value
Measure = Callable[[Shape, Parameters], list[tuple] | None]


def normalised(claim: Claim, told: Sequence[Normalisation], shape: Shape, params: Parameters, measure: Measure,
                  ) -> tuple[Shape, Parameters]:
    """The instances with losses and lengths multiplied so that they meet the equations; those that no unit can help, as they
    are. What starts at the optimum, and meets them nowhere else, starts elsewhere.

    An exact instance stays exact. Where the unit of length would be irrational, one coordinate is replaced by copies of it,
    whose units of length have the squares' sum that is needed: every positive fraction is the sum of four squares.
    """
    pairs = measure(shape, params)
    if pairs is None:
        return shape, params
    params, pairs = _off_the_optimum(shape, params, pairs, measure)
    if pairs[0][0].dtype != object:
        return shape, _rescaled(claim, params, told, pairs)
    if not _can_be_met(pairs).all():
        return shape, params
    try:
        return shape, _rescaled_exactly(claim, params, told, pairs)
    except Irrational:
        return _of_copies(claim, told, shape, params, measure) or (shape, params)


def _can_be_met(pairs) -> np.ndarray:
    """The instances on which both sides of every equation are numbers of one sign."""
    return np.all([_sign(left) * _sign(right) > 0 for left, right in pairs], axis=0)


def _sign(side) -> np.ndarray:
    numbers = to_numpy(side)
    if numbers.dtype == object:  # 0 also of what is only known to be near a number
        return np.array([(number > 0) - (number < 0) for number in (_exact(number) or 0 for number in numbers)])
    return np.sign(np.where(np.isfinite(numbers), numbers, 0.0))


def _off_the_optimum(shape: Shape, params: Parameters, pairs, measure: Measure) -> tuple[Parameters, list[tuple]]:
    """The instances, and both sides of the equations, where those start elsewhere of which no others can meet them."""
    start = params.get("start_offset")
    if not isinstance(start, np.ndarray):
        return params, pairs
    lost = ~_can_be_met(pairs) & (start == 0).all(axis=1)
    found = measure(shape, params | {"start_offset": start + lost[:, None]}) if lost.any() else pairs
    lost = lost & _can_be_met(found)
    pairs = [tuple(np.where(lost, *map(to_numpy, sides)) for sides in zip(*both, strict=True)) for both in zip(
        found, pairs, strict=True)]
    return params | {"start_offset": start + lost[:, None]}, pairs


def _more_than_rounding(claim: Claim, params: Parameters, told: Normalisation, left) -> np.ndarray:
    """The instances on which the left side is no rounding error beside their numbers."""
    largest = {}
    for unit in (CURVATURE, LENGTH):
        arrays = [to_numpy(array) for name, array in params.items() if unit_of(claim, name) == unit]
        largest[unit] = np.max([0 * to_numpy(left), *(
            abs(array).reshape(len(array), -1).max(axis=1, initial=0.0) for array in arrays)], axis=0)
    of_loss, of_length = map(float, told.of_left)
    natural = (largest[CURVATURE] * largest[LENGTH] ** 2) ** of_loss * largest[LENGTH] ** of_length
    return abs(to_numpy(left)) > _NOTHING * natural


def _rescaled(claim: Claim, params: Parameters, told: Sequence[Normalisation], pairs) -> Parameters:
    fits = np.logical_and.reduce([_can_be_met(pairs), *(
        _more_than_rounding(claim, params, one, left) for one, (left, _) in zip(told, pairs, strict=True))])
    fits = backend_of(pairs[0][0]).booleans(fits)
    ratios = [namespace(left).where(fits, right, 1.0) / namespace(left).where(fits, left, 1.0) for left, right in pairs]

    def factor(name: str, unit: Unit):
        found = prod(ratio ** float(power_of(unit, one.powers)) for one, ratio in zip(told, ratios, strict=True))
        return found.reshape(-1, *(1,) * (params[name].ndim - 1))

    return in_other_units(claim, params, factor)


def _rescaled_exactly(claim: Claim, params: Parameters, told: Sequence[Normalisation], pairs) -> Parameters:
    """Rescale one exact instance. Raises Irrational."""
    ratios = [_exact(right[0]) / _exact(left[0]) for left, right in pairs]

    def factor(name: str, unit: Unit) -> Fraction:
        return prod(_power(ratio, power_of(unit, one.powers)) for one, ratio in zip(told, ratios, strict=True))

    return in_other_units(claim, params, factor)


def _exact(number) -> Fraction | None:
    if not isinstance(number, Ball):
        return Fraction(number)
    return number.ends[0] if number.exact else None


def _power(ratio: Fraction, power: Fraction) -> Fraction:
    return real_power(np.array([ratio], dtype=object), np.array([power], dtype=object))[0]


def _of_copies(claim: Claim, told: Sequence[Normalisation], shape: Shape, params: Parameters, measure: Measure):
    """The exact instance with a coordinate replaced by copies of it, so that it meets an equation of squares of lengths, and
    then in units that keep that and meet the other one. None where there is none."""
    for place, one in enumerate(told):
        def sides(shape: Shape, params: Parameters, place=place) -> tuple[Fraction | None, ...]:
            pairs = measure(shape, params)
            return (None, None) if pairs is None else tuple(_exact(side[0]) for side in pairs[place])

        found = _with_copies(claim, shape, params, sides) if one.of_lengths else None
        if found is not None and len(told) == 1:
            return found
        if found is not None:
            other, (p, q) = told[1 - place], one.unit
            pairs = measure(*found)
            with suppress(Irrational):
                if pairs is not None and _can_be_met(pairs).all():
                    return found[0], _rescaled_exactly(claim, found[1], [met_by((q, -p), other)], [pairs[1 - place]])
    return None


def _with_copies(claim: Claim, shape: Shape, params: Parameters, sides: Callable) -> tuple[Shape, Parameters] | None:
    """The exact instance in other units of length, whose largest coordinate is replaced by copies in units of their own, so
    that the left side, a sum over coordinates, is the right one."""
    left, right = sides(shape, params)
    if not shape.family.any_coordinates or None in (left, right) or min(left, right) <= 0:
        return None
    parts = [sides(*_only(claim, shape, params, number))[0] for number in range(shape.dim)] if shape.dim > 1 else [left]
    if None in parts or sum(parts) != left:
        return None
    copied = max(range(shape.dim), key=lambda number: parts[number])
    unit = _near_root(right / left)
    lengths = _squares((right - unit**2 * (left - parts[copied])) / parts[copied])
    if not lengths:
        return None
    numbers = [*range(copied), *[copied] * len(lengths), *range(copied + 1, shape.dim)]
    units = np.array([*[unit] * copied, *lengths, *[unit] * (shape.dim - copied - 1)], dtype=object)

    def factor(name: str, of: Unit):
        by_coordinate = spec_of(claim, name).axes[-1:] == ("dim",)
        return (units if by_coordinate else np.array(unit, dtype=object)) ** int(power_of(of, LENGTHS))

    params = in_other_units(claim, take_entries(claim, params, "dim", numbers, shape.dim), factor)
    layers = list(shape.layers)
    if layers:
        layers[int(np.searchsorted(np.cumsum(layers), copied, side="right"))] += len(lengths) - 1
    shape = replace(shape, dim=len(numbers), layers=tuple(layers))
    return (shape, params) if allowed(claim, shape.as_sizes()) else None


def _only(claim: Claim, shape: Shape, params: Parameters, number: int) -> tuple[Shape, Parameters]:
    """The instance with one of its coordinates."""
    return replace(shape, dim=1, layers=shape.layers and (1,)), take_entries(claim, params, "dim", [number], shape.dim)


def _near_root(square: Fraction) -> Fraction:
    """A short fraction near the root."""
    root = float(square) ** 0.5
    return Fraction(root).limit_denominator(_NEAR) if root > 1 else 1 / Fraction(1 / root).limit_denominator(_NEAR)


def _squares(number: Fraction) -> list[Fraction]:
    """Up to four positive fractions whose squares sum to the number; none for a number that is not positive, or too
    long."""
    whole = number.numerator * number.denominator
    if whole <= 0 or whole.bit_length() > _LONGEST:
        return []
    roots = (isqrt(whole),)
    if roots[0] ** 2 != whole:
        from sympy.solvers.diophantine.diophantine import sum_of_four_squares, sum_of_three_squares

        roots = sum_of_three_squares(whole) or sum_of_four_squares(whole)
    return [Fraction(int(root), number.denominator) for root in roots if root]
