"""The leading order of a formula in one of its symbols, by rules: ``coefficient * s**power * log(s)**logs``."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

import sympy as sp

__all__ = ["Order", "leading_order"]


class Order(NamedTuple):
    """``coefficient * s**power * log(s)**logs``; the coefficient does not depend on s."""

    coefficient: sp.Expr
    power: sp.Expr = sp.S.Zero
    logs: int = 0

    def text(self, symbol) -> str:
        """The order without its coefficient, for example ``T**(-1/2)*log(T)``; ``1`` if it does not depend on s."""
        return str(symbol**self.power * sp.log(symbol) ** self.logs)


def leading_order(expression, symbol, at=sp.oo) -> Order | None:
    """How ``expression`` behaves as the positive ``symbol`` tends to ``at`` (oo or 0), all else fixed and positive.

    None where the rules do not tell: exponential growth, leading terms that cancel, sums without a closed form.

    Example:
        >>> T, K = sp.symbols("T K", positive=True)
        >>> leading_order(3 * K / (T + 5) + 1 / sp.sqrt(T), T)
        Order(coefficient=1, power=-1/2, logs=0)
    """
    if at not in (sp.oo, 0):
        raise ValueError(f"a limit must be oo or 0; got {at}")
    s = sp.Symbol("s", positive=True)
    order = _order(sp.sympify(expression).subs(symbol, s if at == sp.oo else 1 / s), s)
    return order if order is None or at == sp.oo else Order(
        order.coefficient * (-1) ** order.logs, -order.power, order.logs)


def _order(e, s) -> Order | None:
    """The order as s tends to infinity."""
    if not e.has(s):
        return Order(e)
    if e == s:
        return Order(sp.S.One, sp.S.One)
    if e.is_Add:
        return _sum([_order(a, s) for a in e.args])
    if e.is_Mul:
        parts = [_order(a, s) for a in e.args]
        return None if None in parts else reduce(
            lambda a, b: Order(a.coefficient * b.coefficient, a.power + b.power, a.logs + b.logs), parts)
    if e.is_Pow:
        return _power(e, s)
    if isinstance(e, sp.Max | sp.Min):
        return _extreme(e, s)
    if isinstance(e, sp.log):
        inner = _order(e.args[0], s)
        if inner is None or inner.logs:
            return None
        return Order(inner.power, sp.S.Zero, 1) if inner.power != 0 else _limit(sp.log, inner)
    if isinstance(e, sp.exp | sp.Abs):
        inner = _order(e.args[0], s)
        if inner is None:
            return None
        if isinstance(e, sp.Abs):
            return Order(sp.Abs(inner.coefficient), inner.power, inner.logs)
        return _limit(sp.exp, inner)
    if isinstance(e, sp.Sum | sp.Product):
        done = e.doit()
        return None if done == e or done.has(sp.Sum, sp.Product) else _order(done, s)
    return None


def _sum(parts) -> Order | None:
    if None in parts:
        return None
    top = parts[0]
    for part in parts[1:]:
        difference = sp.expand(part.power - top.power)
        if not difference.is_number:
            return None
        if difference > 0 or (difference == 0 and part.logs > top.logs):
            top = part
    same = [p.coefficient for p in parts if p.power == top.power and p.logs == top.logs]
    total = sp.Add(*same)
    return None if len(same) > 1 and _vanishes(total) else Order(total, top.power, top.logs)


def _vanishes(expression) -> bool:
    """Whether the value at some positive numbers is zero, up to rounding at 50 digits."""
    point = {symbol: sp.Rational(3 * n + 7, 2 * n + 3) for n, symbol in enumerate(sorted(expression.free_symbols, key=str))}
    value = expression.subs(point)
    return value == 0 or (value.is_number and abs(sp.N(value, 50, maxn=200, chop=True)) < sp.Float("1e-40"))


def _power(e, s) -> Order | None:
    base, exponent = e.as_base_exp()
    if exponent.has(s):  # geometric in s
        growth = _order(exponent, s)
        if growth is None or base.has(s) or not growth.power.is_number or growth.power > 0 or growth.logs:
            return None
        return Order(base**growth.coefficient if growth.power == 0 else sp.S.One)
    inner = _order(base, s)
    if inner is None or (inner.logs and not exponent.is_Integer):
        return None
    return Order(inner.coefficient**exponent, inner.power * exponent, int(inner.logs * exponent) if inner.logs else 0)


def _extreme(e, s) -> Order | None:
    parts = [_order(a, s) for a in e.args]
    if None in parts or not all(p.power.is_number for p in parts):
        return None
    pick = max if isinstance(e, sp.Max) else min
    power, logs = pick((p.power, p.logs) for p in parts)
    return Order(e.func(*(p.coefficient for p in parts if (p.power, p.logs) == (power, logs))), power, logs)


def _limit(function, inner: Order) -> Order | None:
    """The limit of a continuous function of what tends to a constant, or of what vanishes."""
    if inner.power == 0 and inner.logs == 0:
        return Order(function(inner.coefficient))
    vanishing = function is sp.exp and inner.power.is_number and inner.power < 0
    return Order(sp.S.One) if vanishing else None
