"""Decides by symbolic proof whether the hypotheses of a claim exclude each other.

There are three methods, none of which looks at the claim's id:

* An assumption printed for a function f at all points u, v is expanded at u = v + h along a line. If its first-order term
  in h is a non-zero multiple of f'(v), both signs of h force f' = 0 everywhere, so f is constant. The other assumptions
  are then tested on constant functions.
* A bound on a gradient or a loss at all points excludes strong convexity (:mod:`verify.prove.bounded_gradients`).
* Conditions on parameters alone are given to z3.
"""

from dataclasses import dataclass

import sympy as sp

from bounds.formulas.closed_form import side_conditions
from bounds.language import operators
from bounds.language.claim import Assumption, Claim, Condition
from bounds.language.functions import f, f_grad, u, v
from verify.prove.bounded_gradients import bounded_and_convex
from verify.prove.satisfiable import satisfiable

__all__ = ["Conflict", "conflict", "excluded"]

_h, _f0, _f1 = sp.Symbol("h", real=True), sp.Symbol("f(v)", real=True), sp.Symbol("f'(v)", real=True)


@dataclass(frozen=True)
class Conflict:
    """The reason why a claim is ill-posed: the conflicting assumptions or conditions, and the proof in words and
    formulas."""

    parts: tuple[str, ...]
    proof: str


def conflict(claim: Claim) -> Conflict | None:
    """The conflict that makes the claim ill-posed; None if none is found, which proves nothing."""
    if claim.statement is None:
        return None
    if found := excluded(claim):
        return found
    answer = satisfiable(side_conditions(claim))  # conditions on parameters, by z3
    if answer.answer != "no":
        return None
    return Conflict(answer.core, "no numbers meet these conditions together: " + "; ".join(answer.core))


def excluded(claim: Claim) -> Conflict | None:
    """Printed assumptions that exclude each other for all values of the parameters; None if none are found."""
    if found := _constants_only(claim.assumptions):
        return found
    unbounded = bounded_and_convex(claim)
    return None if unbounded is None else Conflict(unbounded[:2], unbounded[2])


def _slack(condition: Condition, constant: bool = False):
    """The expression that is non-negative if and only if the condition holds, on the line u = v + h to first order in h; for
    a constant function if ``constant``."""
    slope, difference = 0 if constant else _f1, condition.right - condition.left

    def on_line(e):
        if isinstance(e, f):
            return _f0 + slope * on_line(e.args[0] - v)
        if isinstance(e, f_grad):
            return slope  # to lowest order the gradient is the same at both points
        if isinstance(e, operators.dot):
            return on_line(e.args[0]) * on_line(e.args[1])
        if isinstance(e, operators.norm2):
            return on_line(e.args[0]) ** 2
        if e == u:
            return v + _h
        return e.func(*map(on_line, e.args)) if e.args else e

    return sp.expand(on_line(difference if condition.relation == "<=" else -difference))


def _constants_only(assumptions: tuple[Assumption, ...]) -> Conflict | None:
    printed = [a for a in assumptions if a.for_all_functions is not None]
    for forcing in printed:
        slack = _slack(forcing.for_all_functions)
        first = slack.coeff(_h, 1)
        if slack.coeff(_h, 0) != 0 or first == 0 or sp.simplify(first / _f1).free_symbols:
            continue
        forced = (f"{forcing.id} at u = v + h asks {first * _h} + o(h) >= 0 for small h of both signs, "
                  "so f' = 0 everywhere and f is constant")
        for other in printed:
            rest = _slack(other.for_all_functions, constant=True)
            if sp.simplify(rest.subs(_h, 1)).is_negative:  # for all admissible constants
                at = f"for a constant f, {other.id} asks {rest} >= 0 for all h, which fails at h = 1"
                return Conflict(tuple(dict.fromkeys((forcing.id, other.id))), f"{forced}; {at}")
        for other in assumptions:
            if any(_is_strong_convexity(c) for c in other.conditions):
                return Conflict((forcing.id, other.id), f"{forced}; a constant is not strongly convex")
    return None


def _is_strong_convexity(condition: Condition) -> bool:
    return condition.relation == ">=" and isinstance(condition.left, sp.Indexed) and (
        condition.left.base == operators.mu_client and condition.right == operators.mu
    )
