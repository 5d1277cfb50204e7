"""Hypotheses on single names: equations that define them, bounds on numbers, signs."""

from collections.abc import Iterable
from typing import NamedTuple

import sympy as sp

from bounds.language.claim import Claim, Condition, constants_at_all_points
from bounds.language.space import infimum
from verify.claims.sizes import once_by_claim

__all__ = [
    "BoundOnNumber", "bounds_at_all_points", "bounds_on_entries", "bounds_on_numbers", "defined_numbers", "equations",
    "given_numbers", "signs",
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
    """Hypotheses that bound the entries of an array of the claim's own numbers, one after another, as a[t + 1] <= q a[t]."""
    own = {v.name for v in claim.variables if len(v.indices) == 1 and v.domain in ("positive", "nonnegative", "real")}
    return tuple(c for c in claim.hypotheses if c.relation in ("<=", ">=") and len(c.over) == 1 and not c.right.is_number
                 and isinstance(c.left, sp.Indexed) and c.left.base.label.name in own and len(c.left.indices) == 1)


@once_by_claim
def defined_numbers(claim: Claim) -> frozenset[str]:
    """Names of the numbers without index that equations define."""
    return frozenset(c.left.name for c in equations(claim) if c.left.is_Symbol)


@once_by_claim
def bounds_on_numbers(claim: Claim) -> dict[str, list[BoundOnNumber]]:
    """The bounds that hypotheses put on numbers without index, in their order, by name.

    A bound on a product is also one on a factor, if that is a positive variable of the claim, the rest of the product is
    positive, and the other side does not contain the factor.
    """
    found: dict[str, list[BoundOnNumber]] = {}
    own = {v.name for v in claim.variables if v.domain == "positive" and not v.indices}
    for c in claim.hypotheses:
        if c.relation == "==":
            continue
        for side, relation, other in ((c.left, c.relation, c.right), (c.right, _MIRRORED[c.relation], c.left)):
            if side.is_Symbol:
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
