"""Finds parts of a claim that surely have no value at an end of a range: a division by 0, an entry beyond its array."""

from itertools import product

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim, parts_of_size
from bounds.language.names import NAMES
from bounds.language.values import Need, needs
from verify.claims.sizes import once_by_claim

__all__ = ["without_value"]

#: the last entries along the axes of what a run records; steps and gradients have one entry less
_LAST = {"t": operators.iterations, "r": operators.rounds, "k": operators.clients - 1}
_OF_STEPS = {"eta_l", "g"}


@once_by_claim
def without_value(claim: Claim) -> tuple[str, ...]:
    """Sentences, one for each condition that surely has no value at an end of the range of its indices. Definitions and
    formulas with cases are left out, as a case may exclude the end."""
    known = _entries(claim)
    stated = () if claim.statement is None else (claim.statement,)
    found = []
    for condition in (*claim.hypotheses, *stated):
        for side in (condition.left, condition.right):
            if not side.has(sp.Piecewise, operators.below):
                texts = (_text(need) for need in needs(side, known, over=condition.over))
                found += [f"{condition.left} {condition.sign} {condition.right}: {text}" for text in texts if text][:1]
    return tuple(dict.fromkeys(found))


def _entries(claim: Claim) -> dict[str, list[tuple[sp.Expr, sp.Expr]]]:
    """The first and the last index along each axis of the claim's arrays and of those that a run records."""
    found = {}
    for name, row in NAMES.items() if claim.setting != "algebra" else ():
        if row.indices and {*row.indices} <= _LAST.keys():
            less = int(name in _OF_STEPS)
            found[name] = [(sp.Integer(0), _LAST[letter] - less * (letter == "t")) for letter in row.indices]
    for v in claim.variables:
        if v.indices:
            sizes = (parts_of_size(size) for _, size in v.indices)
            found[v.name] = [(sp.Integer(0), sp.Symbol(name, integer=True) + more - 1) for name, more in sizes]
    return found


def _text(need: Need) -> str:
    """Words for what fails at an end of the ranges; empty if nothing surely does."""
    if need.kind not in ("entry", "divisor", "power", "logarithm"):
        return ""
    for ends in product((0, 1), repeat=len(need.over)):
        at, empty = {}, False
        for (index, low, high), end in zip(need.over, ends, strict=True):
            low, high = sp.sympify(low).xreplace(at), sp.sympify(high).xreplace(at)
            empty = empty or _by_name(high - low).is_negative
            at[index] = (low, high)[end]
        if empty:
            continue
        parts = [_by_name(sp.sympify(part).subs(at)) for part in need.parts]
        where = ", ".join(f"{index} = {value}" for index, value in at.items() if index in sp.Tuple(*need.parts).free_symbols)
        where = f" at {where}" if where else ""
        if need.kind == "entry":
            index, low, high = parts
            if (index - high).is_positive or (low - index).is_positive:
                return f"the index {need.parts[0]}{where} lies outside of {need.parts[1]}..{need.parts[2]}"
        if need.kind == "divisor" and parts[0].is_zero:
            return f"the divisor {need.parts[0]} is 0{where}"
        if need.kind == "power" and parts[1].is_negative and parts[0].is_zero:
            return f"the divisor {need.parts[0]} is 0{where}"
        if need.kind == "logarithm" and parts[0].is_nonpositive:
            return f"the logarithm of {need.parts[0]} has no value{where}"
    return ""


def _by_name(e: sp.Expr) -> sp.Expr:
    """The formula with every whole number, and the last communication, as a symbol of at least 0: one for each name."""
    whole = {s for s in e.free_symbols if s.is_Symbol and s.is_integer} | e.atoms(operators.tau)
    return sp.expand(e.xreplace({s: sp.Symbol(str(s), integer=True, nonnegative=True) for s in whole}))
