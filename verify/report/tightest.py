"""Finds an instance on which a claim that holds is tight, in simple numbers, to say how loose it is."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp

from bounds.language.claim import Claim
from verify.evaluation.environment import UNMEASURED
from verify.exact.certificate import certificate
from verify.exact.confirm import confirm
from verify.exact.shrink import shrink
from verify.repair.simple import simplest
from verify.results.verdict import ratio
from verify.search.budget import BUDGETS
from verify.search.search import search

__all__ = ["tightest_instance"]

_SHARE = 0.9, 0.98  # of the largest ratio, that an instance in simple numbers keeps at least
_BROKEN = (ArithmeticError, LookupError, *UNMEASURED)


def tightest_instance(claim: Claim, budget: str = "quick", seed: int = 0) -> tuple[Mapping[str, Any], float] | None:
    """An instance with nearly the largest ratio, of the side that must be smaller to the other one, that a search finds: as
    data like a counterexample's; and its ratio.

    It is a counterexample, made simple like any, to the claim with its larger side times a number below that ratio.

    Returns:
        None where there is no such ratio: the claim hides constants, is an equation or about a number that exists; no
        instance met its hypotheses; a side is 0 or negative on all of them; or exact arithmetic cannot make one again.
    """
    statement = claim.statement
    if statement is None or not claim.explicit or claim.exists is not None or statement.relation == "==":
        return None
    with suppress(*_BROKEN):
        found = search(claim, BUDGETS[budget], seed)
        if found.violation is not None or found.worst is None or not 0 < found.ratio < 1 + _SHARE[0]:
            return None
        number = simplest(*(share * min(found.ratio, 1) for share in _SHARE))
        larger = "left" if statement.relation == ">=" else "right"
        side = sp.Rational(number.numerator, number.denominator) * getattr(statement, larger)
        stronger = replace(claim, id=f"{claim.id} times {number}", statement=replace(statement, **{larger: side}))
        if (violation := confirm(stronger, *found.worst)) is not None:
            tight = shrink(stronger, violation)
            sides = {"left": tight.left, "right": tight.right}
            sides[larger] = sides[larger] / (number if isinstance(sides[larger], Fraction) else float(number))
            sides = {name: float(side) for name, side in sides.items()}
            data = certificate(stronger, tight.environment, tight.left, tight.right)
            return data, ratio(*sides.values(), statement.relation)
    return None
