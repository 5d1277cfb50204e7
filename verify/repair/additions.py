"""Conditions and terms that a claim may lack: products of its own quantities, with the number that the instances ask for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import sympy as sp
from scipy.optimize import linprog

from bounds.formulas.units import units_of, units_where
from bounds.language.claim import HOLDS, Claim, Condition
from bounds.language.names import ONE, Unit
from bounds.language.operators import local_steps
from bounds.printing.render import condition_text, letters_of, unicode
from verify.repair.atoms import Atom, Combination, Product, lengths, scalars, sums, terms_of_unit, unitless_products
from verify.repair.edits import Candidate, Edit
from verify.repair.pool import Pool, both_sides
from verify.repair.simple import complexity, simplest
from verify.repair.usual import is_usual_condition, is_usual_term

__all__ = ["conditions", "terms"]

_LEAST_KEPT = 0.1  # share of the instances on which the claim holds that a condition keeps
_MOST_ATOMS = 3
_CLOSE = Fraction(3, 2)  # by which factor a condition may be stricter than the instances ask for
_MOST_TERMS, _MOST_PAIRS = 8, 6
_MOST_SHARES = 10**6  # numbers that are compared at once
_TERM = 0.05  # what a term costs beside what it weakens
_OF_NOISE = {"sigma", "sigma_sq"}  # of which "without noise" is said
_LARGEST_SIZE = 4  # that a condition names
_LARGEST_OVER_SIZE = 2  # number of a term that is divided by a size
_FARTHEST = Fraction(100)  # number of a condition, and its inverse the nearest to 0
_LARGEST = 1e3  # number of a term, and its inverse the smallest
_ROUNDING = 1e-6  # relative
_ONLY_ONE = 1.9  # cost of a condition that leaves one of a size
_MOSTLY = 0.9
_NEARLY = 1.02  # by which factor a number may exceed what the instances ask for, and still be theirs


def conditions(claim: Claim, pool: Pool) -> Iterator[Candidate]:
    """Yield changes by one more condition, an inequality that separates the instances on which the claim is false from many
    on which it holds."""
    atoms = [atom for atom in scalars(claim) if pool.varies(atom)]
    run = claim.setting == "run"
    for one in unitless_products((*atoms, *sums(atoms)), _MOST_ATOMS):
        if str(one.formula) not in claim.constants:  # a bare bound would choose its value
            yield from _separations(claim, one)
    own = [atom for atom in atoms if not atom.over]
    for first, second in combinations(own, 2):
        if first.unit == second.unit and not run:
            for sign in (-1, 1):
                yield from _separations(claim, Combination(first, second, sign))
    for atom in own:
        if atom.unit != ONE and not (run and str(atom.formula) in _OF_NOISE):
            yield _Separation(claim, Product(((atom, 1),)), "<=", True)


def _separations(claim: Claim, one: Product | Combination) -> Iterator[Candidate]:
    for sign in ("<=", ">="):
        if claim.setting != "run" or is_usual_condition(one, sign):
            of_factors = isinstance(one, Product) and one.size > 1  # of which one is 0, or none
            for at_zero in (False,) if of_factors else (True, False):
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
                    self._cost(added) + 0.15 * self.quantity.size + 0.03 * complexity(number) + 0.5 * (1 - kept), keeps)

    def _cost(self, added: Condition) -> float:
        """The cost of a condition on a run by its kind: to leave one client, step or round leaves little of a method."""
        if self.claim.setting != "run" or added.over or self.quantity.size > 1:
            return 0.9
        return 1.4 if self.at_zero else _ONLY_ONE if (added.sign, added.right) == ("<=", 1) else 0.9

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
    number += tuple(Atom(a.formula - 1, ONE) for a in number if a.formula == local_steps)  # drift needs a second step
    number += tuple(_sums_of(claim))
    length = tuple(lengths(claim))
    length = tuple(_measured(claim, pool, length))
    false, true = _sides(claim, pool, (*number, *length))
    usual = [one for one in terms_of_unit(number, length, unit) if claim.setting != "run" or is_usual_term(claim, one)]
    found = []
    for one in usual:
        if mended := _numbers((one,), false, statement.relation, pool.slack):
            (value,), _ = mended
            found.append((_loosening(one, value, (*false, *true)) + 0.02 * (one.size + complexity(value)), len(found), one))
    for _, _, one in sorted(found)[:_MOST_TERMS]:
        yield _Terms(claim, (one,), (*number, *length))
    for pair in _pairs(usual, (*false, *true), false, statement.relation):
        yield _Terms(claim, pair, (*number, *length))


def _sums_of(claim: Claim) -> list[Atom]:
    """The sums of pure numbers that stand in the statement, such as those of powers of a contraction."""
    parts = {part for side in (claim.statement.left, claim.statement.right) for part in side.atoms(sp.Sum)}
    known = {index for index, *_ in claim.statement.over}
    parts = [part for part in sorted(parts, key=str) if not part.atoms(sp.Indexed) and not known & part.free_symbols]
    units = units_where(claim, units_of(claim), parts)
    return [Atom(part, ONE) for part, unit in zip(parts, units, strict=True) if unit == ONE]


@dataclass(frozen=True)
class _Terms:
    """One term or two more, with the numbers that the instances ask for."""

    claim: Claim
    products: tuple[Product, ...]
    atoms: tuple[Atom, ...]

    def __call__(self, pool: Pool) -> Edit | None:
        claim = self.claim
        false, true = _sides(claim, pool, self.atoms)
        mended = _numbers(self.products, false, claim.statement.relation, pool.slack)
        if mended is None:
            return None
        numbers, near = mended
        for number, one in zip(numbers, self.products, strict=True):
            if number > _LARGEST_OVER_SIZE and any(power < 0 and atom.unit == ONE for atom, power in one.powers):
                return None  # the largest size that was drawn decides
        larger = "left" if claim.statement.relation == ">=" else "right"
        added = sp.Add(*(sp.Rational(number.numerator, number.denominator) * one.formula
                         for number, one in zip(numbers, self.products, strict=True)))
        statement = replace(claim.statement, **{larger: getattr(claim.statement, larger) + added})
        loosening = sum(_loosening(one, number, (*false, *true)) for number, one in zip(numbers, self.products, strict=True))
        return Edit(replace(claim, statement=statement), f"{unicode(added, letters_of(claim))} more on the {larger} side",
                    (1.2 if near else 1.5) + 0.3 * (len(numbers) - 1) + 0.05 * sum(one.size for one in self.products)
                    + 0.03 * sum(map(complexity, numbers)) + 0.1 * loosening, numbers=numbers)


Sides = Sequence[tuple[np.ndarray, np.ndarray, np.ndarray, Mapping[Atom, np.ndarray]]]


def _sides(claim: Claim, pool: Pool, atoms: Sequence[Atom]) -> tuple[Sides, Sides]:
    """Both sides and the quantities, where the claim is false and where it holds, on the batches where all of them have
    values."""
    return tuple([found for batch in batches if (found := both_sides(claim, batch, atoms)) and len(found[-1]) == len(atoms)]
                 for batches in (pool.false, pool.true))


def _measured(claim: Claim, pool: Pool, atoms: Sequence[Atom]) -> Iterator[Atom]:
    """Yield the quantities that have values on most of the batches."""
    found = [sides[-1] for batch in pool.batches if (sides := both_sides(claim, batch, atoms))]
    for atom in atoms:
        if sum(atom in values for values in found) > _MOSTLY * len(found):
            yield atom


def _shares(products: Sequence[Product], sides: Sides, relation: str) -> np.ndarray:
    """The shares of each product in the gap between both sides, where it is wide: an array (gaps, products), with NaN where
    a product has no finite value, or one below 0. Of many products some of the gaps."""
    most = max(1, _MOST_SHARES // (len(products) * max(len(sides), 1)))  # gaps of a batch
    rows = [np.zeros((0, len(products)))]
    with np.errstate(all="ignore"):
        for left, right, mask, arrays in sides:
            gap = np.where(mask, right - left if relation == ">=" else left - right, 0)
            size = np.where(mask, abs(left) + abs(right), 0)
            wide = gap > np.maximum(_ROUNDING * size, _ROUNDING**2 * size.max(axis=1, keepdims=True))
            if wide.any():
                some = np.flatnonzero(wide)
                some = some[np.linspace(0, len(some) - 1, min(most, len(some))).astype(int)]
                there = {atom: np.broadcast_to(values, gap.shape).flat[some] for atom, values in arrays.items()}
                values = np.stack([np.broadcast_to(one.value_from(there)[0], some.shape) for one in products], axis=-1)
                rows.append(np.where((values >= 0) & np.isfinite(values), values, np.nan) / gap.flat[some][:, None])
    return np.concatenate(rows)


def _numbers(products: Sequence[Product], sides: Sides, relation: str, slack: Fraction,
             ) -> tuple[tuple[Fraction, ...], bool] | None:
    """The simple numbers with which the products, as terms, mend the claim on all instances, and whether they are about
    what these ask for; None if there are none."""
    shares = _shares(products, sides, relation)
    if not len(shares) or not np.isfinite(shares).all():
        return None
    if len(products) == 1:
        least = 1 / shares.min(axis=0) if (shares > 0).all() else np.zeros(1)
    else:
        found = linprog(np.median(shares, axis=0), A_ub=-shares, b_ub=-np.ones(len(shares)))
        least = found.x if found.success else np.zeros(len(products))
    if not all(1 / _LARGEST < number < _LARGEST for number in least):
        return None
    numbers = tuple(simplest(number * (1 - _ROUNDING), number * float(slack)) for number in least)
    return numbers, all(number <= value * _NEARLY for number, value in zip(numbers, least, strict=True))


def _pairs(products: Sequence[Product], sides: Sides, false: Sides, relation: str) -> Iterator[tuple[Product, ...]]:
    """Yield pairs of products that together mend the claim on the pool: of the combination of all products that weakens it
    least, and of each term of that with another product."""
    shares = _shares(products, false, relation) if products else ()
    if not len(shares):
        return
    most = shares.max(axis=0)  # NaN where a value is
    kept = np.flatnonzero((most > 1 / _MOST_SHARES) & (most < _MOST_SHARES))
    if not len(kept):
        return
    weights = np.array([_loosening(products[number], Fraction(1), sides) for number in kept])
    scale = most[kept]  # each product counts in units in which it mends one gap
    found = linprog(np.minimum(weights / scale, _LARGEST) + _TERM, A_ub=-shares[:, kept] / scale, b_ub=-np.ones(len(shares)))
    if found.success:
        order = [kept[number] for number in np.argsort(-found.x) if found.x[number] > _ROUNDING]
        for one, other in list(combinations(order, 2))[:_MOST_PAIRS]:
            yield products[one], products[other]


def _loosening(one: Product, number: Fraction, sides: Sides) -> float:
    """The mean, over instances and indices, of the logarithm by which the term makes both sides larger."""
    total, entries = 0.0, 0
    with np.errstate(all="ignore"):
        for left, right, mask, arrays in sides:
            share = float(number) * abs(np.broadcast_to(one.value_from(arrays), mask.shape)) / (abs(left) + abs(right))
            share = share[mask & np.isfinite(share)]
            total, entries = total + float(np.log1p(share).sum()), entries + share.size
    return total / max(entries, 1)
