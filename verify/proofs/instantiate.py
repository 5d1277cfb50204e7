"""Conditions at given sizes: one for each value of their indices, with every sum and product written as its terms."""

from collections.abc import Iterator, Mapping

import sympy as sp

from bounds.language.claim import Condition

__all__ = ["NotFinite", "instances", "terms_written_out"]

_MOST = 200  # values of an index, and terms of an expression


class NotFinite(ValueError):
    """A range that has no whole numbers as its ends at the given sizes, or too many values."""


def instances(condition: Condition, sizes: Mapping[sp.Symbol, sp.Integer]) -> Iterator[Condition]:
    """Yield the condition at every value of its indices. Raises NotFinite."""
    def instances(left, right, over):
        if not over:
            yield Condition(left, condition.sign, right)
            return
        (index, low, high), *inner = over
        for value in _values(low, high):
            put = {index: value}
            yield from instances(left.subs(put), right.subs(put), [(i, a.subs(put), b.subs(put)) for i, a, b in inner])

    yield from instances(condition.left.subs(sizes), condition.right.subs(sizes),
                  [(index, low.subs(sizes), high.subs(sizes)) for index, low, high in condition.over])


def terms_written_out(e: sp.Expr) -> sp.Expr:
    """Write every sum and product in an expression as its terms, the outermost first; an empty one is 0 or 1. Raises
    NotFinite, also where these are too many."""
    count = 0

    def written_out(e):
        nonlocal count
        if not e.has(sp.Sum, sp.Product):
            return e
        if not isinstance(e, sp.Sum | sp.Product):
            return e.func(*map(written_out, e.args))
        kind, joined = (sp.Sum, sp.Add) if isinstance(e, sp.Sum) else (sp.Product, sp.Mul)
        *inner, (index, low, high) = e.limits
        body, values = kind(e.function, *inner) if inner else e.function, [*_values(low, high)]
        count += len(values)
        if count > _MOST:
            raise NotFinite(f"its sums have more than {_MOST} terms at small sizes")
        return joined(*(written_out(body.subs(index, value)) for value in values))

    return written_out(e)


def _values(low: sp.Expr, high: sp.Expr) -> Iterator[sp.Integer]:
    low, high = low.doit(), high.doit()
    if not (low.is_Integer and high.is_Integer):
        raise NotFinite(f"the range {low} .. {high} has no whole numbers as its ends at small sizes")
    if high - low >= _MOST:
        raise NotFinite(f"the range {low} .. {high} has more than {_MOST} values")
    return map(sp.Integer, range(int(low), int(high) + 1))
