"""Settings in their natural units, in which programs are solved, and proofs in the units that they were asked in."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from math import frexp, isqrt
from typing import Any, NamedTuple

from bounds.formulas.units import Unit, check_units, units_of
from bounds.language.claim import Claim
from bounds.language.names import ONE
from fedtheory.registry import find_algorithm
from verify.checker.quadratic_forms import QuadraticForm
from verify.claims.normalisations import units_of_variables
from verify.claims.sizes import once_by_claim
from verify.worst.configurations import Setting
from verify.worst.program import is_inner_product

__all__ = ["NaturalUnits", "in_own_units", "natural_units", "units_of_forms"]


class NaturalUnits(NamedTuple):
    """A unit of curvature, and the square of a unit of length."""

    curvature: Fraction = Fraction(1)
    length_sq: Fraction = Fraction(1)

    def divisor(self, unit: Unit) -> Fraction:
        """The number by which a quantity of this unit, powers of loss and length, is divided."""
        of_loss, of_length = unit[0], 2 * unit[0] + unit[1]
        if of_length % 2 == 0:
            return self.curvature ** int(of_loss) * self.length_sq ** int(of_length / 2)
        length = _root(self.length_sq)
        if length is None:
            raise ValueError(f"the unit of length, the root of {self.length_sq}, is no fraction")
        return self.curvature ** int(of_loss) * length ** int(of_length)

    def divided(self, claim: Claim, setting: Setting) -> Setting:
        """A setting of the claim in these units."""
        known = _units(claim)
        return setting if known is None or self == NaturalUnits() else setting._replace(
            values={name: _each(value, 1 / self.divisor(known[name])) for name, value in setting.values.items()})


def natural_units(claim: Claim, setting: Setting) -> NaturalUnits:
    """The units in which L is 1, or without it the largest curvature that a number says, and the longest length that a
    number says. What no number says is 1, and both are where the claim is not the same in all units."""
    known, values = _units(claim), {name: [*_numbers(value)] for name, value in setting.values.items()}
    if known is None or not {name for name, numbers in values.items() if numbers} <= {*known}:
        return NaturalUnits()
    said = [(name, known[name], abs(number)) for name, numbers in values.items() for number in numbers if number]
    if any(power.denominator != 1 for _, unit, _ in said for power in unit):
        return NaturalUnits()
    curved = {name: number ** int(p) for name, (p, q), number in said if abs(p) == 1 and 2 * p + q == 0}
    curvature = curved.get("L") or max(curved.values(), default=None) or _by_lengths(said)
    squares, odd = [], False
    for _, (p, q), number in said:
        power, size = int(2 * p + q), number / curvature ** int(p)
        odd |= power % 2 == 1
        if abs(power) in (1, 2):
            squares.append(size ** (2 // power))
    length_sq = max(squares, default=Fraction(1))
    if odd and _root(length_sq) is None:
        length_sq = Fraction(4) ** round((frexp(length_sq.numerator)[1] - frexp(length_sq.denominator)[1]) / 2)
    return NaturalUnits(curvature, length_sq)


def _by_lengths(said: list[tuple[str, Unit, Fraction]]) -> Fraction:
    """The unit of curvature in which the longest length and the largest loss or slope are alike; 1 without both."""
    length_sq = max((number ** int(2 / q) for _, (p, q), number in said if p == 0 and q in (1, 2)), default=None)
    if length_sq is None:
        return Fraction(1)
    found = []
    for _, (p, q), number in said:
        power, root = int(2 * p + q), _root(length_sq)
        if p == 1 and (power % 2 == 0 or root is not None):
            found.append(number / (length_sq ** (power // 2) if power % 2 == 0 else root**power))
    return max(found, default=Fraction(1))


@once_by_claim
def _units(claim: Claim) -> Mapping[str, Unit] | None:
    """The units of a claim's names; None where its terms are not of the same unit, so that other units make it another
    claim, or where its method has a number with a unit."""
    if check_units(claim)[0]:
        return None
    how = claim.procedure
    of_method = (find_algorithm(how.base).traits.units or {}) if how else {}
    for name, value in how.options if how else ():
        is_number = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
        if is_number and value != 0 and tuple(of_method.get(name, ONE)) != ONE:
            return None
    return {**units_of_variables(claim), **units_of(claim)}


def _root(square: Fraction) -> Fraction | None:
    root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    return root if root**2 == square else None


def _numbers(value: Any) -> Iterator[Fraction]:
    """The numbers of a value of a setting; none of a definition."""
    if isinstance(value, list):
        for entry in value:
            yield from _numbers(entry)
    elif isinstance(value, str):
        yield Fraction(value)


def _each(value: Any, factor: Fraction) -> Any:
    if isinstance(value, list):
        return [_each(entry, factor) for entry in value]
    return str(Fraction(value) * factor) if isinstance(value, str) else value


def in_own_units(multipliers: Mapping[str, Fraction], natural: tuple[QuadraticForm, Mapping[str, QuadraticForm]],
                 own: tuple[QuadraticForm, Mapping[str, QuadraticForm]]) -> dict[str, Fraction] | None:
    """The multipliers with which what is known proves a gap in its own units, from those in ``natural`` ones; None where the
    forms are not the same in other units. Pairs: the gap, and what is known by name."""
    units = units_of_forms((natural[0], own[0]), multipliers, natural[1], own[1])
    return None if {*units} != {*multipliers} else {name: number / units[name] for name, number in multipliers.items()}


def units_of_forms(first: tuple[QuadraticForm, QuadraticForm], names: Iterable[str], natural: Mapping[str, QuadraticForm],
                   own: Mapping[str, QuadraticForm]) -> dict[str, Fraction]:
    """The units of forms, by name, from what they are in natural and in own units; that of the ``first`` one is 1. Only
    those that can be told; none where a form is another one in other units.

    A coefficient of a form changes by the unit of the form over that of what it is a coefficient of; both are read off the
    coefficients of form after form. The unit of an inner product is also that of two lengths."""
    units: dict[Any, Fraction] = {}  # of keys

    def of_key(key: Any) -> Fraction | None:
        if key not in units and is_inner_product(key) and all((i, i) in units for i in key):
            i, j = key
            return _root(units[i, i] * units[j, j])
        return units.get(key)

    def of_form(one: QuadraticForm, other: QuadraticForm, otherwise: set[Fraction]) -> Fraction | None:
        """The unit of a form, which its keys say, or else is the one in ``otherwise``; None where there is none."""
        if one.parts.keys() != other.parts.keys():
            raise ValueError("different forms")
        changes = {key: other.coefficient(key) / one.coefficient(key) for key in one.parts}
        found = {change * unit for key, change in changes.items() if (unit := of_key(key)) is not None} or otherwise
        if len(found) > 1:
            raise ValueError("a form of several units")
        for unit in found:
            units.update({key: unit / change for key, change in changes.items()})
            return unit
        return None

    found: dict[str, Fraction] = {}
    waiting, before = [*names], None
    try:
        of_form(*first, {Fraction(1)})
        while waiting and len(waiting) != before:
            before = len(waiting)
            found |= {n: unit for n in waiting if (unit := of_form(natural[n], own[n], set())) is not None}
            waiting = [name for name in waiting if name not in found]
    except (LookupError, ValueError):
        return {}
    return found
