"""Conditions and terms that a claim may lack: products of its own quantities, with the number that the instances ask for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import sympy as sp

from bounds.language.claim import HOLDS, Claim, Condition
from bounds.language.names import NAMES, ONE, SIZE, Unit
from bounds.printing.render import condition_text, letters_of, unicode
from verify.repair.atoms import Atom, Combination, Product, lengths, scalars, sums, terms_of_unit, unitless_products
from verify.repair.edits import Candidate, Edit
from verify.repair.pool import Pool, both_sides
from verify.repair.simple import complexity, simplest

__all__ = ["conditions", "terms"]

_LEAST_KEPT = 0.1  # share of the instances on which the claim holds that a condition keeps
_MOST_ATOMS = 3
_CLOSE = Fraction(3, 2)  # by which factor a condition may be stricter than the instances ask for
_SLACK = 1.25  # by how much the number of a term may exceed what the instances ask for
_MOST_TERMS = 8
_OF_NOISE = {"sigma", "sigma_sq"}  # of which "without noise" is said
_DRAWN = {"participants", "clients"}
_LARGEST_SIZE = 4  # that a condition names
_LARGEST_OVER_SIZE = 2  # number of a term that is divided by a size
_FARTHEST = Fraction(100)  # number of a condition, and its inverse the nearest to 0
_LARGEST = 1e3  # number of a term, and its inverse the smallest
_ROUNDING = 1e-6  # relative
_NEARLY = 1.02  # by which factor a number may exceed what the instances ask for, and still be theirs


def conditions(claim: Claim, pool: Pool) -> Iterator[Candidate]:
    """Yield changes by one more condition, an inequality that separates the instances on which the claim is false from many
    on which it holds."""
    atoms = [atom for atom in scalars(claim) if pool.varies(atom)]
    for one in unitless_products((*atoms, *sums(atoms)), _MOST_ATOMS):
        names = {str(atom.formula) for atom in one.atoms}
        of_sizes = all(name in NAMES and NAMES[name].source == SIZE for name in names)
        bound = str(one.formula) in claim.constants  # a bare bound would choose its value
        if not bound and (not of_sizes or one.size == 1 or names == _DRAWN):
            yield from _separations(claim, one)
    own = [atom for atom in atoms if not atom.over]
    for first, second in combinations(own, 2):
        if first.unit == second.unit and (claim.setting != "run" or first.unit != ONE):
            for sign in (-1, 1):
                yield from _separations(claim, Combination(first, second, sign))
    for atom in own:
        if atom.unit != ONE and (claim.setting != "run" or str(atom.formula) not in _OF_NOISE):
            yield _Separation(claim, Product(((atom, 1),)), "<=", True)


def _separations(claim: Claim, one: Product | Combination) -> Iterator[Candidate]:
    for sign in ("<=", ">="):
        for at_zero in (True, False):
            yield _Separation(claim, one, sign, at_zero)


@dataclass(frozen=True)
class _Separation:
    """A condition of this sign, with the limit 0 or with another one that the instances ask for."""

    claim: Claim
    quantity: Product | Combination
    sign: str
    at_zero: bool

    def __call__(self, pool: Pool) -> Edit | None:
        arrays = pool.arrays(self.quantity.atoms)
        if arrays is None:
            return None
        end = np.max if self.sign == "<=" else np.min
        with np.errstate(all="ignore"):
            false, true = (np.concatenate([np.zeros(0), *(end(self.quantity.value_from(one), axis=1) for one in side)])
                           for side in arrays)
        if not (len(false) and len(true) and np.isfinite(false).all() and np.isfinite(true).all()):
            return None
        sign, number = self._limit(float(false.min() if self.sign == "<=" else false.max()))
        whole = self.quantity.formula.is_integer and self.claim.setting == "run"
        if number is None or abs(number) > (_LARGEST_SIZE if whole else _FARTHEST) or 0 < abs(number) < 1 / _FARTHEST:
            return None
        limit = float(number)
        keeps = HOLDS[sign](true, limit)
        kept = float(keeps.mean())
        if kept < _LEAST_KEPT:
            return None
        over = tuple(dict.fromkeys(triple for atom in self.quantity.atoms for triple in atom.over))
        added = Condition(self.quantity.formula, sign, sp.Rational(number.numerator, number.denominator), over)
        changed = replace(self.claim, conditions=(*self.claim.conditions, added))
        return Edit(changed, f"if {condition_text(added, letters_of(self.claim))}",
                    (1.4 if self.claim.setting == "run" and not over and self.quantity.size == 1 and self.at_zero else 0.9)
                    + 0.15 * self.quantity.size + 0.03 * complexity(number) + 0.5 * (1 - kept), keeps)

    def _limit(self, limit: float) -> tuple[str, Fraction | None]:
        """The sign and the number of a condition that excludes ``limit`` and all beyond it."""
        beyond = limit > 0 if self.sign == "<=" else limit < 0  # of zero
        if self.at_zero:
            return (self.sign, Fraction(0)) if beyond else (self.sign[0], Fraction(0)) if limit == 0 else ("", None)
        if limit == 0:
            return "", None
        if self.quantity.formula.is_integer:
            return self.sign, Fraction(round(limit) + (1 if self.sign == ">=" else -1))
        size = Fraction(abs(limit))
        number = simplest(size / _CLOSE, size * (1 - Fraction(1, 10**9))) if beyond else simplest(
            size * (1 + Fraction(1, 10**9)), size * _CLOSE)
        return self.sign, number if limit > 0 else -number


def terms(claim: Claim, pool: Pool, unit: Unit | None) -> Iterator[Candidate]:
    """Yield changes by one more term, of the statement's unit, on the side that is to be larger: of the products that can
    mend the claim on the pool those that weaken it least."""
    statement = claim.statement
    if statement.relation == "==" or unit is None:
        return
    indices = {index for index, *_ in statement.over}
    number = tuple(a for a in scalars(claim) if pool.varies(a) and all(index in indices for index, *_ in a.over))
    length = tuple(lengths(claim))
    false, true = _sides(claim, pool, (*number, *length))
    found = []
    for one in terms_of_unit(number, length, unit):
        if mended := _number(one, false, statement.relation):
            value, _ = mended
            found.append((_loosening(one, value, (*false, *true)) + 0.02 * (one.size + complexity(value)), len(found), one))
    for _, _, one in sorted(found)[:_MOST_TERMS]:
        yield _Term(claim, one, (*number, *length))


@dataclass(frozen=True)
class _Term:
    claim: Claim
    product: Product
    atoms: tuple[Atom, ...]

    def __call__(self, pool: Pool) -> Edit | None:
        claim = self.claim
        false, true = _sides(claim, pool, self.atoms)
        mended = _number(self.product, false, claim.statement.relation)
        if mended is None:
            return None
        number, near = mended
        if number > _LARGEST_OVER_SIZE and any(power < 0 and atom.unit == ONE for atom, power in self.product.powers):
            return None  # the largest size that was drawn decides
        larger = "left" if claim.statement.relation == ">=" else "right"
        term = sp.Rational(number.numerator, number.denominator) * self.product.formula
        statement = replace(claim.statement, **{larger: getattr(claim.statement, larger) + term})
        return Edit(replace(claim, statement=statement), f"{unicode(term, letters_of(claim))} more on the {larger} side",
                    (1.2 if near else 1.5) + 0.05 * self.product.size + 0.03 * complexity(number)
                    + 0.1 * _loosening(self.product, number, (*false, *true)))


Sides = Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, Mapping[Atom, np.ndarray]]]


def _sides(claim: Claim, pool: Pool, atoms: Sequence[Atom]) -> tuple[Sides, Sides]:
    """Both sides and the quantities, where the claim is false and where it holds."""
    return tuple([found for batch in batches if (found := both_sides(claim, batch, atoms))]
                 for batches in (pool.false, pool.true))


def _number(one: Product, sides: Sides, relation: str) -> tuple[Fraction, bool] | None:
    """The simple number by which the product, as a term, mends the claim on all instances, and whether it is nearly what
    they ask for; None if there is none."""
    most = 0.0
    with np.errstate(all="ignore"):
        for left, right, mask, arrays in sides:
            gap = np.where(mask, right - left if relation == ">=" else left - right, 0)
            wide = gap > _ROUNDING * (abs(left) + abs(right))
            if wide.any():
                value = np.broadcast_to(one.value_from(arrays), gap.shape)[wide]
                if not ((value > 0) & np.isfinite(value)).all():
                    return None
                most = max(most, float((gap[wide] / value).max()))
    if not 1 / _LARGEST < most < _LARGEST:
        return None
    number = simplest(most * (1 - _ROUNDING), most * _SLACK)
    return number, number <= most * _NEARLY


def _loosening(one: Product, number: Fraction, sides: Sides) -> float:
    """The mean, over instances and indices, of the logarithm by which the term makes both sides larger."""
    total, entries = 0.0, 0
    with np.errstate(all="ignore"):
        for left, right, mask, arrays in sides:
            share = float(number) * abs(np.broadcast_to(one.value_from(arrays), mask.shape)) / (abs(left) + abs(right))
            share = share[mask & np.isfinite(share)]
            total, entries = total + float(np.log1p(share).sum()), entries + share.size
    return total / max(entries, 1)
