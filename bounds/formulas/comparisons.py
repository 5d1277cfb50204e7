"""Statements that compare bounds: one claim's right side against another's, or against itself at another parameter."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import sympy as sp

from bounds.formulas.closed_form import closed_form, conditions_on
from bounds.language.claim import HIDDEN, Claim, Condition, Variable

__all__ = ["LARGER", "RightSide", "comparison", "monotone", "right_side"]

LARGER = "_larger"  #: ends the name of a larger value of a parameter


@dataclass(frozen=True)
class RightSide:
    """A claim's right side as a ``formula`` in numbers without hidden constants, and the ``conditions`` on these numbers."""

    claim: Claim
    formula: sp.Expr
    conditions: tuple[Condition, ...]

    def with_values(self, put_in: Mapping) -> Self:
        """The right side with formulas in place of parameters; ValueError for an unknown parameter."""
        if not put_in:
            return self
        known = self.formula.free_symbols.union(*(side.free_symbols for c in self.conditions for side in (c.left, c.right)))
        for symbol in put_in:
            if symbol not in known:
                allowed = ", ".join(sorted(map(str, known)))
                raise ValueError(f"{self.claim.id} has no parameter {symbol}; allowed: {allowed}")
        return RightSide(self.claim, self.formula.xreplace(put_in), _in_place(self.conditions, put_in))


def right_side(claim: Claim, nonnegative: Iterable[str] = ()) -> RightSide:
    """The right side of a claim for comparisons; ``nonnegative`` names measured quantities that are at least 0."""
    form, nonnegative = closed_form(claim), set(nonnegative)
    hidden = {v.name for v in claim.variables if v.domain in HIDDEN}
    put_in = {s: sp.S.One for s in form.parameters if s.name in hidden}
    put_in |= {s: sp.Symbol(s.name, nonnegative=True) for s in form.parameters if s.name in nonnegative}
    return RightSide(claim, form.formula.xreplace(put_in), _in_place(conditions_on(claim, form.parameters), put_in))


def comparison(
    claim_id: str, first: RightSide, second: RightSide, conditions: tuple[Condition, ...] = (), *, strict: bool = False,
    **fields,
) -> Claim:
    """The claim that the right side ``first`` is at most ``second``, or with ``strict`` less, as numbers.

    It covers all positive parameters that satisfy ``conditions`` and the conditions of both sides on parameters alone.
    Parameters of the same name are the same. Constants hidden in O(.) are left out. ``fields``: further fields of the
    claim.
    """
    needed = tuple(dict.fromkeys((*first.conditions, *second.conditions, *conditions)))
    statement = Condition(first.formula, "<" if strict else "<=", second.formula)
    spoken = set().union(*(side.free_symbols for c in (statement, *needed) for side in (c.left, c.right)))
    hidden = "" if first.claim.explicit and second.claim.explicit else ", without hidden constants"
    fields = {"reading": f"the right side of {first.claim.id} against that of {second.claim.id}{hidden}",
              "source": first.claim.source} | fields
    return Claim(
        id=claim_id, kind="comparison", setting="algebra", statement=statement, conditions=needed,
        variables=tuple(_variable(s) for s in sorted(spoken, key=str)), compares=(first.claim.id, second.claim.id), **fields)


def monotone(
    claim_id: str, side: RightSide, symbol: sp.Symbol, *, rises: bool, tied: Mapping | None = None, **fields,
) -> Claim:
    """The claim that a right side does not fall as ``symbol`` grows (``rises``), or does not rise.

    The other parameters are fixed, except ``tied`` ones, which are formulas in the symbol.
    """
    larger = sp.Symbol(symbol.name + LARGER, **symbol._assumptions_orig)
    tied = dict(tied or {})
    low = side.with_values(tied)
    high = side.with_values({symbol: larger} | {s: e.xreplace({symbol: larger}) for s, e in tied.items()})
    others = "".join(f", with {s} = {e}" for s, e in tied.items())
    hidden = "" if side.claim.explicit else "; hidden constants are left out"
    fields = {
        "reading": f"the right side of {side.claim.id} does not {'fall' if rises else 'rise'} as {symbol} grows{others}",
        "note": f"printed as a {'rise' if rises else 'fall'}{hidden}",
    } | fields
    return comparison(claim_id, *((low, high) if rises else (high, low)), (Condition(symbol, "<=", larger),), **fields)


def _in_place(conditions, put_in) -> tuple[Condition, ...]:
    """The conditions with ``put_in``, without those that then hold for all numbers of these signs."""
    found = []
    for c in (Condition(c.left.xreplace(put_in), c.sign, c.right.xreplace(put_in)) for c in conditions):
        difference = c.right - c.left if c.relation == "<=" else c.left - c.right
        one_sign = difference.is_positive if c.strict else difference.is_nonnegative
        found += [] if (difference.is_zero if c.relation == "==" else one_sign) else [c]
    return tuple(found)


def _variable(symbol: sp.Symbol) -> Variable:
    signs = {"integer": symbol.is_integer, "positive": symbol.is_positive, "nonnegative": symbol.is_nonnegative,
             "real": True}
    return Variable(symbol.name, next(domain for domain, so in signs.items() if so))
