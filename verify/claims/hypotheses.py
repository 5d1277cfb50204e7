"""Hypotheses on single names: equations that define them, bounds on numbers, signs."""

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

import sympy as sp

from bounds.language.claim import Claim, Condition, constants_at_all_points
from bounds.language.space import infimum
from verify.claims.sizes import once_by_claim

__all__ = [
    "BoundOnNumber", "bounds_at_all_points", "bounds_on_entries", "bounds_on_numbers", "defined_numbers", "equations",
    "given_numbers", "sign_of_steps", "signs",
]

_MIRRORED = {"<=": ">=", ">=": "<="}


class BoundOnNumber(NamedTuple):
    """``number relation other``: a hypothesis ``condition`` read from left to right or from right to left."""

    condition: Condition
    number: sp.Symbol
    relation: str
    other: sp.Expr


@once_by_claim
def equations(claim: Claim) -> tuple[Condition, ...]:
    """Hypotheses that are equations, in their order."""
    return tuple(condition for condition in claim.hypotheses if condition.relation == "==")


@once_by_claim
def bounds_on_entries(claim: Claim) -> tuple[Condition, ...]:
    """Hypotheses that bound the entries of an array of the claim's own numbers, one after another, as a[t + 1] <= q a[t] or,
    solved for one of its entries, (1 + q) a[t + 1]^2 + b[t] <= a[t]^2."""
    own = {v.name: v.domain != "real" for v in claim.variables
           if len(v.indices) == 1 and v.domain in ("positive", "nonnegative", "real")}
    candidates = (c for c in claim.hypotheses if c.relation in ("<=", ">=") and len(c.over) == 1)
    return tuple(bound for c in candidates if (bound := _solved_for_an_entry(c, own)) is not None)


def _solved_for_an_entry(condition: Condition, own: dict[str, bool]) -> Condition | None:
    """The condition with an entry of an array ``own`` (name -> whether its entries are at least 0) alone on the left: of an
    array that has no other entry in it, if possible, else the last one; None where there is none."""
    if isinstance(condition.left, sp.Indexed) and condition.left.base.label.name in own and len(condition.left.indices) == 1:
        return None if condition.right.is_number else condition
    index, difference = condition.over[0][0], condition.left - condition.right
    places: dict[str, dict[sp.Expr, sp.Indexed]] = {}
    for entry in difference.atoms(sp.Indexed):
        if (name := entry.base.label.name) in own:
            places.setdefault(name, {})[entry.indices[0] - index] = entry
    steady = {name: entries for name, entries in places.items() if all(shift.is_Integer for shift in entries)}
    for name, entries in sorted(steady.items(), key=lambda item: (len(item[1]), item[0])):
        entry, number = entries[max(entries)], sp.Dummy(nonnegative=True)
        try:
            terms = dict(sp.Poly(difference.xreplace({entry: number}), number).terms())
        except sp.PolynomialError:  # it stands inside of a sum or a function
            continue
        rest, powers = terms.pop((0,), sp.Integer(0)), list(terms.items())
        if len(powers) != 1 or powers[0][1].is_positive is powers[0][1].is_negative:
            continue
        (power,), factor = powers[0]
        if power == 1 or own[name]:
            bound = -rest / factor if power == 1 else sp.Max(0, -rest / factor, evaluate=False) ** sp.Rational(1, power)
            relation = condition.relation if factor.is_positive else _MIRRORED[condition.relation]
            return Condition(entry, relation, bound, condition.over)
    return None


@once_by_claim
def defined_numbers(claim: Claim) -> frozenset[str]:
    """Names of the numbers without index that equations define."""
    return frozenset(name for name, c in claim.defining.items() if c.left.is_Symbol)


@once_by_claim
def bounds_on_numbers(claim: Claim) -> dict[str, list[BoundOnNumber]]:
    """The bounds that hypotheses put on numbers without index, in their order, by name.

    A bound on a product is also one on a factor, if that is a positive variable of the claim, the rest of the product is
    positive, and the other side does not contain the factor. An equation of a product bounds such a factor on both sides.
    """
    found: dict[str, list[BoundOnNumber]] = {}
    own = {v.name for v in claim.variables if v.domain == "positive" and not v.indices}
    for c in claim.hypotheses:
        relations = ("<=", ">=") if c.relation == "==" else (c.relation,)
        for relation, turned in product(relations, (False, True)):
            side, other = (c.right, c.left) if turned else (c.left, c.right)
            relation = _MIRRORED[relation] if turned else relation
            if side.is_Symbol and c.relation != "==":
                found.setdefault(side.name, []).append(BoundOnNumber(c, side, relation, other))
            for factor in side.args if side.is_Mul else ():
                alone = factor.is_Symbol and factor.name in own and not other.has(factor)
                if alone and (side / factor).is_positive:
                    found.setdefault(factor.name, []).append(BoundOnNumber(c, factor, relation, other * factor / side))
    return found


@once_by_claim
def bounds_at_all_points(claim: Claim) -> dict[str, list[Condition]]:
    """The conditions at all points that bound numbers without index by what stands beside these: the claim's own positive
    variables and constants of the language, by name. A bare symbol is none of these."""
    own = {v.name for v in claim.variables if v.domain in ("positive", "nonnegative") and not v.indices}
    found: dict[str, list[Condition]] = {}
    for c in claim.hypotheses:
        if c.relation == "==" or c.left.is_Symbol or c.right.is_Symbol:
            continue
        words = c.left.atoms(infimum) | c.right.atoms(infimum)
        inside = {s.name for word in words for s in word.free_symbols if s.is_Symbol}
        for name in sorted(inside & own | constants_at_all_points(c)):
            found.setdefault(name, []).append(c)
    return found


def given_numbers(conditions: Iterable[Condition]) -> set[sp.Symbol]:
    """Symbols that a condition sets to a number, even to one that the symbol's sign excludes (``eps == 0``)."""
    return {c.left for c in conditions if c.relation == "==" and c.left.is_Symbol and c.right.is_number}


@once_by_claim
def signs(claim: Claim) -> tuple[tuple[str, bool], ...]:
    """Names of the claim's real numbers that are at least 0 on every instance, and whether they are positive."""
    conditions = (*claim.hypotheses, claim.statement)
    symbols = set().union(*(side.free_symbols for c in conditions for side in (c.left, c.right)))
    numbers = [s for s in symbols - given_numbers(conditions) if s.is_Symbol and s.is_nonnegative and not s.is_integer]
    return tuple(sorted((s.name, bool(s.is_positive)) for s in numbers))


@once_by_claim
def sign_of_steps(claim: Claim) -> str:
    """The relation of step sizes to 0: ``>``, or ``>=`` where an equation of the claim gives them by a formula that may be
    0, such as t/(L T)."""
    given = claim.defining.get("eta_l")
    return ">" if given is None or given.right.is_positive else ">="
