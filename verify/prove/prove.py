"""Symbolic proofs of claims about plain numbers: identities, and inequalities between rational functions.

An inequality is proved as follows: right - left is written over a common denominator, and every variable is shifted by its
lower bound. If all coefficients of numerator and denominator are then non-negative, it holds for all admissible numbers.
Otherwise z3 is asked whether real numbers violate it (``verify.prove.real``).
"""

from dataclasses import dataclass

import sympy as sp

from bounds.language.claim import Claim, Condition
from verify.prove.real import never_negative

__all__ = ["Proof", "prove"]


@dataclass(frozen=True)
class Proof:
    """A proof: the method in one line, and the expression that it is about, as text."""

    method: str
    expression: str


def prove(claim: Claim) -> Proof | None:
    """A proof of the claim; None if these methods find none, which proves nothing."""
    if claim.setting != "algebra" or claim.statement is None or claim.statement.over:
        return None
    if any(v.domain not in ("positive", "nonnegative", "integer") or v.indices for v in claim.variables):
        return None
    symbols = {v.name: _symbol(v) for v in claim.variables}
    difference = _expand(claim, claim.statement.right - claim.statement.left, symbols)
    if difference is None:
        return None
    if claim.statement.relation == "==":
        if _differs_somewhere(difference):
            return None
        simple = sp.simplify(sp.gammasimp(difference))
        return Proof("symbolic identity: the difference simplifies to 0", str(difference)) if simple == 0 else None
    if claim.statement.relation == ">=":
        difference = -difference
    return _nonnegative(claim, difference, symbols) or _never_negative(claim, difference, symbols)


def _never_negative(claim, difference, symbols) -> Proof | None:
    """A proof over the real numbers, from those conditions of the claim that mention its variables only."""
    known = []
    for condition in claim.hypotheses:
        sides = [_expand(claim, side, symbols) for side in (condition.left, condition.right)]
        if not condition.over and None not in sides:
            known.append(Condition(sides[0], condition.relation, sides[1]))
    method = never_negative(difference, known)
    return Proof(method, f"{difference} >= 0") if method else None


def _symbol(variable):
    """The symbol of a variable, with the sign that its domain implies."""
    whole = variable.domain == "integer"
    above = variable.domain == "positive" or (whole and variable.low >= 1)
    return sp.Symbol(variable.name, integer=whole or None, positive=above or None, nonnegative=True if not whole
                     or variable.low >= 0 else None)


def _differs_somewhere(difference) -> bool:
    """Whether the difference is certainly not 0 at some integers. This is cheaper than a failed simplification."""
    numbers = {symbol: sp.Integer(sp.prime(3 + i)) for i, symbol in enumerate(sorted(difference.free_symbols, key=str))}
    value = difference.subs(numbers)
    return bool(value.is_Rational and value != 0)


def _expand(claim, expression, symbols):
    """The expression with definitions inserted, in the symbols of the variables; None if other symbols remain."""
    for _ in range(10):
        replaced = expression.replace(
            lambda e: e.is_Symbol and e.name in claim.definitions and not claim.definitions[e.name].indices,
            lambda e: claim.definitions[e.name].formula,
        )
        if replaced == expression:
            break
        expression = replaced
    defined = {c.left: c.right for c in claim.conditions if c.relation == "==" and c.left.is_Symbol and not c.over}
    expression = expression.subs(defined)
    if expression.atoms(sp.Indexed):
        return None
    expression = expression.replace(lambda e: e.is_Symbol and e.name in symbols, lambda e: symbols[e.name]).doit()
    known = set(symbols.values())
    if expression.free_symbols - known or expression.atoms(sp.Sum):
        return None
    return expression


def _nonnegative(claim, difference, symbols) -> Proof | None:
    if difference.atoms(sp.Max):
        return None
    numerator, denominator = sp.fraction(sp.together(difference))
    shift = {}
    for variable in claim.variables:
        symbol = symbols[variable.name]
        low = _lower_bound(claim, variable, symbols)
        shift[symbol] = low + sp.Symbol(f"{variable.name}'", nonnegative=True)
    parts = [sp.expand(part.subs(shift, simultaneous=True)) for part in (numerator, denominator)]
    fresh = sorted({s for part in parts for s in part.free_symbols}, key=str)
    try:
        coefficients = [sp.Poly(part, *fresh).coeffs() if fresh else [part] for part in parts]
    except sp.PolynomialError:
        return None
    for sign in (1, -1):
        if all((sign * c).is_nonnegative for part in coefficients for c in part):
            bounds = ", ".join(f"{s} = {e}" for s, e in shift.items())
            return Proof(f"all coefficients of numerator and denominator have one sign after {bounds}",
                         f"({parts[0]})/({parts[1]})")
    return None


def _lower_bound(claim, variable, symbols):
    low = sp.Integer(variable.low) if variable.domain == "integer" else sp.Integer(0)
    for condition in claim.conditions:
        if condition.relation == ">=" and condition.left.is_Symbol and condition.left.name == variable.name:
            value = condition.right.replace(lambda e: e.is_Symbol and e.name in symbols, lambda e: symbols[e.name])
            if value.is_number and value > low:
                low = value
    return low
