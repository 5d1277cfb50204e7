"""Proves by z3 that no real numbers violate an inequality; powers and exponentials become positive unknowns."""

from collections.abc import Sequence

import sympy as sp

from bounds.language.claim import Condition
from verify.prove.satisfiable import satisfiable

__all__ = ["certainly_positive", "never_negative"]

_GAP = sp.Symbol("@gap", positive=True)


def never_negative(difference: sp.Expr, conditions: Sequence[Condition] = (), strict: bool = False) -> str | None:
    """A proof in one line that the difference is at least 0 wherever the conditions hold; None if none is found. ``strict``:
    that it is positive.

    Symbols have the signs that they declare, and integers from 1 are relaxed to real numbers of at least 1. Common factors
    that are never negative (``strict``: positive) are cancelled. Each power or exponential that is not algebraic in its
    symbols becomes a positive unknown, which is at least 1 where its base and exponent show it.
    """
    factors = sp.Mul.make_args(sp.factor_terms(sp.expand(difference)))
    rest = sp.Mul(*(f for f in factors if not (f.is_positive if strict else f.is_nonnegative)))
    terms = sp.Add.make_args(rest)
    if rest == 1 or (all(term.is_nonnegative for term in terms) and (not strict or any(term.is_positive for term in terms))):
        return f"every term of the difference is at least 0{', and one is positive' if strict else ''}"
    parts: dict[sp.Expr, sp.Symbol] = {}
    try:
        facts = [Condition(_algebraic(c.left, parts), c.sign, _algebraic(c.right, parts)) for c in conditions]
        facts.append(Condition(_algebraic(rest, parts), "<=", 0 if strict else -_GAP))
    except ValueError:
        return None
    facts += [Condition(symbol, ">=", 1) for part, symbol in parts.items() if _at_least_one(part)]
    if satisfiable(facts).answer != "no":
        return None
    named = "".join(f"; {symbol} = {part}" for part, symbol in parts.items())
    return f"no real numbers that meet the conditions make {rest} {'0 or negative' if strict else 'negative'} (z3){named}"


def _algebraic(e, parts: dict) -> sp.Expr:
    """Replaces every part that is not algebraic by a positive symbol; ValueError where it may not be positive."""
    if not e.args or (e.is_number and e.is_algebraic):
        return e
    if isinstance(e, sp.exp) or (isinstance(e, sp.Pow) and not e.exp.is_Rational):
        if not e.is_positive:
            raise ValueError(f"the sign of {e} is not known")
        return parts.setdefault(e, sp.Symbol(f"@{len(parts)}", positive=True))
    return e.func(*(_algebraic(a, parts) for a in e.args))


def _at_least_one(part) -> bool:
    base, exponent = part.as_base_exp()
    return bool((base - 1).is_nonnegative and exponent.is_nonnegative)


def certainly_positive(number) -> bool:
    """Whether an exact number is positive, from as many digits as tell it from 0; False where 1000 are not enough."""
    if number.is_Rational:
        return bool(number.is_positive)
    try:
        return bool(number.evalf(15, maxn=1000, strict=True) > 0)
    except sp.core.evalf.PrecisionExhausted:
        return False
