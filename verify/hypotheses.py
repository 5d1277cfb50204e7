"""What a claim's hypotheses say of single names: equations that define them, and bounds on numbers."""

from __future__ import annotations

from typing import NamedTuple

import sympy as sp

from bounds.claim import Claim, Condition
from verify.sizes import once_by_claim

__all__ = ["BoundOnNumber", "bounds_on_numbers", "defined_numbers", "equations"]

_MIRRORED = {"<=": ">=", ">=": "<="}


class BoundOnNumber(NamedTuple):
    """``number relation other``, as a hypothesis ``condition`` says it from left to right or from right to left."""

    condition: Condition
    number: sp.Symbol
    relation: str
    other: sp.Expr


@once_by_claim
def equations(claim: Claim) -> tuple[Condition, ...]:
    """Hypotheses that are equations, in their order."""
    return tuple(condition for condition in claim.hypotheses if condition.relation == "==")


@once_by_claim
def defined_numbers(claim: Claim) -> frozenset[str]:
    """Names of the numbers without index that equations define."""
    return frozenset(c.left.name for c in equations(claim) if c.left.is_Symbol)


@once_by_claim
def bounds_on_numbers(claim: Claim) -> dict[str, list[BoundOnNumber]]:
    """The bounds on each number without index that hypotheses bound, in their order, by name; of products with the claim's
    own positive numbers, on each of these, where all else in the product is positive and the other side is free of it."""
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
