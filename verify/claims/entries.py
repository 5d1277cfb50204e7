"""Equations that give entries of arrays which an instance leaves free: ``eta_l[t] == eta_l[0]``, ``a[t + 1] == q*a[t]``."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import sympy as sp

from bounds.language.claim import Claim, Condition
from verify.claims.sizes import once_by_claim

__all__ = [
    "AffineRecursion", "Entry", "affine_recursion", "are_given_one_by_one", "at_once", "bounds_on_single_entries",
    "entries_of_equation", "entry_equations", "free_arrays",
]


class Entry(NamedTuple):
    """One case of an equation: the entry at ``position`` is the ``formula``, in which the equation's index has the value
    that ``over`` says. ``rests_on``: the positions of the entries of the same array in the formula."""

    position: int
    formula: sp.Expr
    over: tuple
    rests_on: frozenset[int]


class AffineRecursion(NamedTuple):
    """The formulas of ``a[n + 1] = factor * a[n] + summand``, of the equation's index."""

    factor: sp.Expr
    summand: sp.Expr


@once_by_claim
def free_arrays(claim: Claim) -> frozenset[str]:
    """Names of the arrays with one index that an instance leaves free: variables of the claim, and the steps of a run."""
    own = {v.name for v in claim.variables if len(v.indices) == 1}
    return frozenset(own | ({"eta_l"} if claim.setting == "run" else set())) - claim.defining.keys()


@once_by_claim
def entry_equations(claim: Claim) -> tuple[Condition, ...]:
    """The equations of a claim with an entry of a free array alone on the left; equations with one on the right alone are
    turned around. Those of single entries, from which others may go on, come first."""
    free, found = free_arrays(claim), []
    for c in claim.hypotheses:
        if c.relation == "==" and len(c.over) <= 1 and not any(c is one for one in claim.defining.values()):
            if _entry_of(c.left) in free:
                found.append(c)
            elif _entry_of(c.right) in free:
                found.append(Condition(c.right, "==", c.left, c.over))
    return tuple(sorted(found, key=lambda c: len(c.over)))


@once_by_claim
def bounds_on_single_entries(claim: Claim) -> tuple[Condition, ...]:
    """The conditions that bound one entry of a free array, such as ``eta_l[0] <= 1/L``."""
    free = free_arrays(claim)
    return tuple(c for c in claim.hypotheses if c.relation != "==" and not c.over and _entry_of(c.left) in free)


def _entry_of(side) -> str | None:
    """The name of the array of which a side is one entry."""
    return side.base.label.name if isinstance(side, sp.Indexed) and len(side.indices) == 1 else None


@lru_cache(maxsize=512)
def entries_of_equation(equation: Condition, sizes: tuple[tuple[str, int], ...]) -> tuple[tuple[Entry, ...], bool]:
    """The entries that an equation gives, at these sizes, in an order in which each comes after those on which it rests; and
    whether these are all that it says. Of two entries of one array that are equal the later one is given by the earlier one.
    An entry that rests on itself, or is given twice, is left out."""
    given: dict[int, Entry] = {}
    everything = True
    for entry in _cases(equation, dict(sizes)):
        if entry is None or (entry.position in given and entry.position not in entry.rests_on):
            everything = False
        elif entry.position not in entry.rests_on:
            given[entry.position] = entry
        elif entry.formula != _entry_at(equation.left, entry.position):
            everything = False
    ordered, waiting = [], [*given.values()]
    while waiting:
        left, open_ones = [], {entry.position for entry in waiting}
        for entry in waiting:
            if entry.rests_on & open_ones:
                left.append(entry)
            else:
                ordered.append(entry)
                open_ones.discard(entry.position)
        if len(left) == len(waiting):  # a circle
            return (*ordered,), False
        waiting = left[::-1]
    return (*ordered,), everything


def _entry_at(entry: sp.Indexed, position: int) -> sp.Indexed:
    return entry.base[sp.Integer(position)]


def _cases(equation: Condition, sizes: dict[str, int]) -> Iterator[Entry | None]:
    """The entry that an equation gives for each value of its index; None where that is no entry."""
    def number(formula, **more) -> int | None:
        known = sizes | more
        value = sp.sympify(formula).subs({s: known[s.name] for s in formula.free_symbols if s.name in known})
        return int(value) if value.is_Integer else None

    left, right = equation.left, sp.sympify(equation.right)
    own = [entry for entry in right.atoms(sp.Indexed) if entry.base == left.base]
    ends = [(index, *map(number, map(sp.sympify, (low, high)))) for index, low, high in equation.over]
    if any(None in end for end in ends):
        yield None
        return
    for value in range(ends[0][1], ends[0][2] + 1) if ends else (None,):
        at = {} if value is None else {ends[0][0].name: value}
        over = () if value is None else ((ends[0][0], value, value),)
        position = number(left.indices[0], **at)
        rests_on = {number(entry.indices[0], **at) for entry in own}
        if position is None or position < 0:
            yield None
        elif isinstance(right, sp.Indexed) and right.base == left.base and None not in rests_on:
            (other,) = rests_on
            first, last = sorted((position, other))
            yield Entry(last, _entry_at(left, first), (), frozenset({first}))
        else:  # entries inside of a sum may be all that come before this one
            before = range(position) if None in rests_on else ()
            yield Entry(position, right, over, frozenset({*before, *rests_on} - {None}))


def at_once(entries: Sequence[Entry]) -> list[tuple[Entry, ...]]:
    """Entries in groups that one evaluation gives: all of them, where none rests on another and all have one formula, at
    following values of its index; else one by one."""
    given = {entry.position for entry in entries}
    values = [entry.over[0][1] for entry in entries if entry.over]
    together = (not any(entry.rests_on & given for entry in entries) and len({entry.formula for entry in entries}) == 1
                and (not values or values == [*range(values[0], values[0] + len(entries))]))
    return [tuple(entries)] if together else [(entry,) for entry in entries]


def affine_recursion(equation: Condition, entries: Sequence[Entry]) -> AffineRecursion | None:
    """The recursion by which an equation gives its entries; None where one of them does not follow from the one before it
    alone, or not by an affine formula."""
    first = entries[0] if entries else None
    if len(entries) < 2 or not first.over or first.position < 1:
        return None
    own = [entry for entry in first.formula.atoms(sp.Indexed) if entry.base == equation.left.base]
    in_order = all(
        entry.formula == first.formula and entry.rests_on == {entry.position - 1} and entry.position == first.position + n
        and entry.over[0][1] == first.over[0][1] + n for n, entry in enumerate(entries))
    return _affine_in(own[0], first.formula) if in_order and len(own) == 1 else None


@once_by_claim
def are_given_one_by_one(claim: Claim) -> bool:
    """Whether an equation gives entries from earlier ones by no affine recursion, so that each takes an evaluation."""
    for equation in entry_equations(claim):
        right = sp.sympify(equation.right)
        own = [entry for entry in right.atoms(sp.Indexed) if entry.base == equation.left.base] if equation.over else []
        if own and not isinstance(right, sp.Indexed) and (len(own) > 1 or _affine_in(own[0], right) is None):
            return True
    return False


def _affine_in(unknown: sp.Expr, formula: sp.Expr) -> AffineRecursion | None:
    """The factor and the summand of a formula that sums and products make of an unknown; None for others."""
    if formula == unknown:
        return AffineRecursion(sp.S.One, sp.S.Zero)
    if not formula.has(unknown):
        return AffineRecursion(sp.S.Zero, formula)
    parts = [_affine_in(unknown, part) for part in formula.args]
    if None in parts:
        return None
    if formula.is_Add:
        return AffineRecursion(*(sp.Add(*some) for some in zip(*parts, strict=True)))
    with_it = [part for part in parts if part.factor != 0]
    if not formula.is_Mul or len(with_it) != 1:
        return None
    others = sp.Mul(*(part.summand for part in parts if part.factor == 0))
    return AffineRecursion(*(others * side for side in with_it[0]))
