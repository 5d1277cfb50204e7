"""Equations of measured quantities with numbers, and the units of loss and length in which an instance meets them."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import sympy as sp

from bounds.formulas.units import BASE, Unit, check_units, units_where
from bounds.language import operators
from bounds.language.claim import Claim, Condition, names_in
from bounds.language.names import FEDERATION, ONE, names_from
from bounds.language.space import infimum
from fedtheory import find_algorithm
from verify.claims.hypotheses import bounds_on_numbers, equations
from verify.claims.sizes import once_by_claim

__all__ = ["LENGTHS", "Normalisation", "met_by", "normalisations", "power_of", "signs_in_all_units", "units_of_variables"]

LENGTHS = (2, 1)  #: powers of a factor by which units of loss and length change, where curvatures stay
_OF_FEDERATIONS = frozenset({*names_from(FEDERATION), "L", "mu"})
_CHANGES = (LENGTHS, (1, 0), (0, 1), (1, 1))  # the others: lengths stay, losses stay, slopes stay


class Normalisation(NamedTuple):
    """A quantity that an equation tells: ``condition`` has it on the left, without roots.

    Both sides become equal where units of loss and length are multiplied by the right side over the left one, to the
    ``powers``. ``unit``: of the left side over the right one. ``of_lengths``: with curvatures fixed, the left side grows
    with the square of lengths, and the right side stays. ``of_left``: the unit of the left side.
    """

    condition: Condition
    unit: Unit
    of_left: Unit
    of_lengths: bool
    powers: Unit = ONE

    def __str__(self):
        return f"{self.condition.left} == {self.condition.right}"


@once_by_claim
def normalisations(claim: Claim, losses_change: bool = True) -> tuple[Normalisation, ...]:
    """The quantities that equations tell and that a change of units meets: at most two, which it meets together; of losses
    that do not change, one.

    The change that meets a single equation is the one that breaks the fewest other hypotheses; of these, one without a root.
    """
    telling = () if claim.setting == "algebra" else [c for c in equations(claim) if _may_normalise(claim, c)]
    if not telling:
        return ()
    known = _units_of_names(claim)
    if not losses_change:
        return tuple(one for c in telling if (one := _normalisation(claim, known, c, LENGTHS)))[:1]
    told = [one for c in telling if (one := _normalisation(claim, known, c))]
    for other in told[1:]:
        (a, b), (c, d) = told[0].unit, other.unit
        if size := a * d - b * c:
            return told[0]._replace(powers=(d / size, -c / size)), other._replace(powers=(-b / size, a / size))
    for condition in telling:
        changes = {change: one for change in _CHANGES if (one := _normalisation(claim, known, condition, change))}
        if changes:
            return (changes[_best(claim, known, changes)],)
    return ()


@once_by_claim
def signs_in_all_units(claim: Claim) -> tuple[Condition, ...]:
    """Hypotheses that compare with 0, at no point but those of the run, and hold in all units or in none."""
    known, zeros = _units_of_names(claim), [c for c in claim.hypotheses if 0 in (c.left, c.right)]
    return tuple(c for c in zeros if not c.left.has(infimum) and not c.right.has(infimum) and (
        c.relation != "==" or not any(_normalisation(claim, known, c, change) for change in _CHANGES)))


def _may_normalise(claim: Claim, condition: Condition) -> bool:
    """Whether an equation may tell a quantity: it defines no name, and is none at all points. Where a number is said to
    exist, only what every value of that leaves as it is."""
    left, right = condition.left, condition.right
    if _name(left) is not None or left.has(infimum) or right.has(infimum):
        return False
    return claim.exists is None or _names_but_of_the_start(left, right) <= _OF_FEDERATIONS


def _names_but_of_the_start(*sides: sp.Expr) -> set[str]:
    return set().union(*(names_in(side.xreplace({operators.x_round[0]: operators.x_star})) for side in sides))


def power_of(unit: Unit, change: Sequence) -> Fraction:
    """The power of a factor by which a quantity is multiplied where units of loss and length are by powers of that."""
    return unit[0] * change[0] + unit[1] * change[1]


def met_by(change: Sequence, told: Normalisation) -> Normalisation:
    """An equation that this change of units meets alone."""
    of = power_of(told.unit, change)
    return told._replace(powers=(change[0] / of, change[1] / of))


def _best(claim: Claim, known: dict[str, Unit], changes: dict[tuple, Normalisation]) -> tuple:
    rest = [c for c in claim.hypotheses if c.relation != "==" and 0 not in (c.left, c.right)]
    units = units_where(claim, known, [side for c in rest for side in (c.left, c.right)])
    gaps = [_quotient(*pair) for pair in zip(units[::2], units[1::2], strict=True) if None not in pair]
    return min(changes, key=lambda change: (
        sum(power_of(gap, change) != 0 for gap in gaps), abs(power_of(changes[change].unit, change)) != 1))


def _quotient(above: Unit, below: Unit) -> Unit:
    return above[0] - below[0], above[1] - below[1]


def _normalisation(claim: Claim, known: dict[str, Unit], condition: Condition,
          change: Sequence | None = None) -> Normalisation | None:
    """The normalisation that an equation gives, met by this change of units if there is one. None unless its terms have two
    different units, or grow with two different powers of the factor of the change."""
    terms = (*sp.Add.make_args(condition.left), *(-term for term in sp.Add.make_args(condition.right)))
    terms = [term for term in terms if term != 0]
    units = units_where(claim, known, terms)
    if None in units:
        return None
    kinds = [unit if change is None else power_of(unit, change) for unit in units]
    both = [[*filter(lambda pair, kind=kind: pair[0] == kind, zip(kinds, terms, units, strict=True))]
            for kind in dict.fromkeys(kinds)]
    if len(both) != 2:
        return None
    both.sort(key=lambda of: power_of(of[0][2], LENGTHS) == 0)
    left, right = (sp.Add(*(term for _, term, _ in of)) for of in both)
    sides = (-left, right) if (-right).could_extract_minus_sign() else (left, -right)
    left, right, power = _without_roots(*sides)
    lengths = [{power * power_of(unit, LENGTHS) for *_, unit in of} for of in both]
    of_left, of_right = ((power * of[0][2][0], power * of[0][2][1]) for of in both)
    found = Normalisation(Condition(left, "==", right, condition.over), _quotient(of_left, of_right), of_left,
                          lengths == [{2}, {0}])
    return found if change is None else met_by(change, found)


def _without_roots(left: sp.Expr, right: sp.Expr) -> tuple[sp.Expr, sp.Expr, int]:
    """Both sides, or their squares where a factor is a root or a length; and the power."""
    bare = [side.replace(operators.norm, lambda v: sp.sqrt(operators.norm2(v))) for side in (left, right)]
    if any(factor.is_Pow and factor.exp.is_Rational and factor.exp.q == 2 for side in bare
           for factor in sp.Mul.make_args(side)):
        return bare[0] ** 2, bare[1] ** 2, 2
    return left, right, 1


def _units_of_names(claim: Claim) -> dict[str, Unit]:
    """Units of names on the instances of a claim. A number that the claim leaves free is drawn, and has no unit unless it is
    among :func:`units_of_variables`; what an equation defines has the unit of its formula."""
    known = BASE | {v.name: ONE for v in claim.variables} | units_of_variables(claim)
    named = [(_name(c.left), c.right) for c in equations(claim) if _name(c.left)]
    bounded = [(name, bounds[0].other) for name, bounds in bounds_on_numbers(claim).items() if name not in known]
    for _ in range(len(named) + len(bounded)):
        units = units_where(claim, known, [formula for _, formula in (*named, *bounded)])
        found = {name: unit for (name, _), unit in zip((*named, *bounded), units, strict=True) if unit is not None}
        if found.items() <= known.items():
            break
        known |= found
    return known


def _name(side: sp.Expr) -> str | None:
    return side.name if side.is_Symbol else side.base.label.name if isinstance(side, sp.Indexed) else None


@once_by_claim
def units_of_variables(claim: Claim) -> dict[str, Unit]:
    """The known units, powers of loss and length, of the claim's variables and of names that its hypotheses leave free.
    Units that the statement derives do not count: draws depend only on what claims about the same runs share."""
    own = find_algorithm(claim.procedure.base).traits.units or {} if claim.procedure else {}
    known = BASE | own
    found = {v.name: known[v.name] for v in claim.variables if v.name in known}
    step, free = known["eta_l"], {v.name for v in claim.variables}
    for c in claim.hypotheses:
        if c.relation == "==" and isinstance(c.left, sp.Indexed) and c.left.base.label.name == "eta_l":
            own = [s for s in c.right.free_symbols if s.name in free and s.name not in known]
            if len(own) == 1 and not (c.right / own[0]).has(own[0]):  # a multiple of it, by pure numbers
                found[own[0].name] = step
    return found | _units_of_vectors(claim)


def _units_of_vectors(claim: Claim) -> dict[str, Unit]:
    """The units that hypotheses derive for the free vectors of a claim, if it has equations that may normalise a
    quantity."""
    vectors = {v.name for v in claim.variables if v.domain == "vector"}
    if not vectors or not any(_may_normalise(claim, c) for c in equations(claim)):
        return {}
    without = replace(claim, statement=Condition(sp.S.Zero, "<=", sp.S.Zero))
    return {name: unit for name, unit in check_units(without)[1].items() if name in vectors}
