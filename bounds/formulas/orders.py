"""The leading order of a formula in one of its symbols, by rules: ``coefficient * s**power * log(s)**logs * base**s``."""

from collections.abc import Callable
from functools import reduce
from typing import NamedTuple

import sympy as sp

__all__ = ["Order", "leading_order", "sign_of"]

Sign = Callable[[sp.Expr], int | None]
_S = sp.Dummy("s", positive=True)
_DEPTH = 2  # how often the derivative replaces terms that cancel; the derivative's may cancel again


class Order(NamedTuple):
    """``coefficient * s**power * log(s)**logs * base**s``; for a limit at zero ``base**(1/s)``. The coefficient and the base
    do not depend on s."""

    coefficient: sp.Expr
    power: sp.Expr = sp.S.Zero
    logs: sp.Expr | int = 0
    base: sp.Expr = sp.S.One
    at: sp.Expr = sp.oo

    def leading(self, symbol) -> sp.Expr:
        """The order without its coefficient."""
        return symbol**self.power * sp.log(symbol) ** self.logs * self.base ** (symbol if self.at == sp.oo else 1 / symbol)

    def text(self, symbol) -> str:
        """The order without its coefficient as text, for example ``T**(-1/2)*log(T)``; ``1`` if it does not depend on s."""
        return str(self.leading(symbol))


class _Less(NamedTuple):
    """A term of smaller order than ``s**power * log(s)**logs``, or than every power if ``power`` is -oo."""

    power: sp.Expr
    logs: sp.Expr | int = 0


_NOTHING = _Less(-sp.oo)


def sign_of(e: sp.Expr) -> int | None:
    """The sign 1, -1 or 0 that sympy derives from the symbols' signs, or None."""
    return 1 if e.is_positive else -1 if e.is_negative else 0 if e.is_zero else None


def leading_order(expression, symbol, at=sp.oo, sign: Sign = sign_of) -> Order | None:
    """The leading order of ``expression`` as the positive ``symbol`` tends to ``at`` (oo or 0), all else fixed and positive.

    Args:
        sign: gives the sign of a formula in the other symbols (1, -1 or 0), or None; all symbols in it are positive. It
            decides which of two powers of different bases grows faster, and which argument of a maximum.

    Returns:
        The order, or None where the rules do not apply: growth or decay beyond powers and ``base**s``, sums without a
        closed form.

    Example:
        >>> T, K = sp.symbols("T K", positive=True)
        >>> leading_order(3 * K / (T + 5) + 1 / sp.sqrt(T), T).text(T)
        '1/sqrt(T)'
    """
    if at not in (sp.oo, 0):
        raise ValueError(f"a limit must be oo or 0; got {at}")
    s, expression = _S, sp.sympify(expression)
    others = {a: sp.Symbol(a.name, positive=True, integer=a.is_integer)
              for a in expression.free_symbols if a != symbol and not a.is_positive}
    moved = expression.xreplace(others | {symbol: s if at == sp.oo else 1 / s})
    found = _Rules(s, sign).order(moved)
    if not isinstance(found, Order) and not (without := sp.expand(moved)).has(s):  # which cancels altogether
        found = _Rules(s, sign).order(without)
    if not isinstance(found, Order):
        return None
    back = {positive: a for a, positive in others.items()}
    coefficient, power, base = (part.xreplace(back) for part in (found.coefficient, found.power, found.base))
    if at == sp.oo:
        return Order(coefficient, power, found.logs, base)
    if not sp.sympify(found.logs).is_integer:
        return None
    return Order(coefficient * (-1) ** found.logs, -power, found.logs, base, sp.S.Zero)


def _vanishes(expression) -> bool:
    """Whether the value at some positive numbers is zero, up to rounding at 50 digits."""
    summed = expression.has(sp.Sum, sp.Product)  # whose ends are whole numbers: others cost sympy minutes
    point = {symbol: sp.Integer(n + 5) if summed and symbol.is_integer else sp.Rational(3 * n + 7, 2 * n + 3)
             for n, symbol in enumerate(sorted(expression.free_symbols, key=str))}
    value = expression.subs(point)
    value = value.doit() if summed else value
    return value == 0 or (value.is_number and abs(sp.N(value, 50, maxn=200, chop=True)) < sp.Float("1e-40"))


def _has_limit(order) -> bool:
    """Whether the limit is a number other than 0."""
    return isinstance(order, Order) and order.base == 1 and order.power == 0 and order.logs == 0


class _Rules:
    """Orders as ``s`` tends to infinity: an Order, a _Less, or None where no rule applies."""

    def __init__(self, s: sp.Symbol, sign: Sign):
        self.s, self._ask, self.depth = s, sign, 0

    def sign(self, e) -> int | None:
        known = sign_of(e)
        return self._ask(e) if known is None else known

    def generic_sign(self, e) -> int | None:
        """The sign of a coefficient, which does not vanish."""
        weak = 1 if e.is_nonnegative else -1 if e.is_nonpositive else None
        return self.sign(e) if weak is None or e.is_zero else weak

    def order(self, e):
        s = self.s
        if e == 0:
            return _NOTHING
        if not e.has(s):
            return Order(e)
        if e == s:
            return Order(sp.S.One, sp.S.One)
        if e.is_Add:
            return self.added(e)
        if e.is_Mul:
            return reduce(self.times, map(self.order, e.args))
        if e.is_Pow:
            return self.power(*e.as_base_exp())
        if isinstance(e, sp.exp):
            return self.power(sp.E, e.args[0])
        if isinstance(e, sp.log):
            return self.log(e.args[0])
        if isinstance(e, sp.Max | sp.Min):
            return self.extreme(e)
        if isinstance(e, sp.Abs):
            inner = self.order(e.args[0])
            return inner if not isinstance(inner, Order) else inner._replace(
                coefficient=sp.Abs(inner.coefficient), base=sp.Abs(inner.base))
        if isinstance(e, sp.Mod | sp.floor | sp.ceiling):
            return self.rounded(e)
        if isinstance(e, sp.Sum | sp.Product):
            done = e.doit()
            return None if done == e or done.has(sp.Sum, sp.Product) else self.order(done)
        return None

    # which is larger -------------------------------------------------------------------------------------------------
    def faster(self, a, b) -> int | None:
        """1 if |a| / |b| tends to infinity, -1 if to zero, 0 if neither; None if unknown."""
        if isinstance(a, Order) and isinstance(b, Order) and a.base != b.base:
            return self.steeper(a.base, b.base)
        geometric = next((o for o in (a, b) if isinstance(o, Order) and o.base != 1), None)
        if geometric is not None and not isinstance(a, type(b)):  # beside something of smaller order than a power
            grows = self.steeper(geometric.base, sp.S.One)
            return grows if grows is None or geometric is a else -grows
        if sp.S.NegativeInfinity in (a.power, b.power):
            return int(a.power != -sp.oo) - int(b.power != -sp.oo)
        difference = sp.expand(a.power - b.power)
        apart = self.sign(difference)
        return bool(a.logs > b.logs) - bool(a.logs < b.logs) if apart == 0 else apart

    def steeper(self, a, b) -> int | None:
        """The sign of |a| - |b|."""
        if isinstance(a, sp.exp) and (b == 1 or isinstance(b, sp.exp)):
            return self.sign(a.args[0] - (0 if b == 1 else b.args[0]))
        if isinstance(b, sp.exp) and a == 1:
            return self.sign(-b.args[0])
        larger = self.sign(a - b), self.sign(a + b)  # |a| < |b| if a - b and a + b are of unlike sign and b > 0
        if None in larger or 0 in larger:
            return None
        positive = self.sign(b)
        if positive == 1:
            return -1 if larger == (-1, 1) else 1
        return 1 if larger == (1, 1) and self.sign(a) == 1 else None

    # sums and products -----------------------------------------------------------------------------------------------
    def added(self, e):
        parts = [self.order(a) for a in e.args]
        if None in parts:
            return None
        top, same = parts[0], [parts[0]]
        for part in parts[1:]:
            faster = self.faster(part, top)
            if faster is None:
                top = self.at_least_as_fast(same, part)
                if top is None:
                    return None
                same = [top]
            elif faster > 0:
                top, same = part, [part]
            elif faster == 0 and isinstance(part, Order):
                top, same = (part, [part]) if isinstance(top, _Less) else (top, [*same, part])
        if isinstance(top, _Less) or len(same) == 1:
            return top
        total = sp.Add(*(part.coefficient for part in same))
        if not _vanishes(total):
            return top._replace(coefficient=total)
        if top.base != 1:
            return None
        return self.by_derivative(e, top) or _Less(top.power, top.logs)

    def at_least_as_fast(self, same, b):
        """The sum of equal powers ``same`` and ``b``, where one grows at least as fast as the other, and possibly equally
        fast, as powers with an integer symbol in the exponent do."""
        a = same[0]
        if not (isinstance(a, Order) and isinstance(b, Order)) or a.base != b.base or a.logs != b.logs:
            return None
        a = a._replace(coefficient=sp.Add(*(one.coefficient for one in same)))
        difference = sp.expand(a.power - b.power)
        if difference.is_nonpositive:
            a, b, difference = b, a, -difference
        if not difference.is_nonnegative or self.sign(a.coefficient) != 1 or self.sign(b.coefficient) != 1:
            return None
        both = sp.Piecewise((a.coefficient + b.coefficient, sp.Eq(difference, 0)), (a.coefficient, True))
        return a._replace(coefficient=both)

    def by_derivative(self, e, top):
        """The order of a sum whose leading terms cancel: with g the sum over its terms' power, g tends to 0, and
        g' ~ c s**q with q < -1 makes it c s**(q + 1) / (q + 1)."""
        if top.logs != 0 or not top.power.is_number or self.depth >= _DEPTH:
            return None
        slope = sp.diff(sp.Add(*(a * self.s**-top.power for a in e.args)), self.s)
        if slope.has(sp.Derivative, sp.Heaviside, sp.Piecewise, sp.Sum, sp.Product, sp.Subs):
            return None
        self.depth += 1
        found = self.order(slope)
        self.depth -= 1
        if not isinstance(found, Order) or found.base != 1 or not found.power.is_number or found.power >= -1:
            return None
        power = found.power + 1
        return Order(found.coefficient / power, power + top.power, found.logs)

    def times(self, a, b):
        if a is None or b is None:
            return None
        if isinstance(a, Order) and isinstance(b, Order):
            return Order(a.coefficient * b.coefficient, a.power + b.power, a.logs + b.logs, sp.powsimp(a.base * b.base))
        for one in (a, b):
            if isinstance(one, Order) and one.base != 1:
                return _NOTHING if self.steeper(one.base, sp.S.One) == -1 else None
        return _Less(a.power + b.power, a.logs + b.logs)

    # powers, exponentials, logarithms --------------------------------------------------------------------------------
    def power(self, base, exponent):
        if exponent.has(self.s):
            return self.exponential(base, exponent)
        inner = self.order(base)
        if isinstance(inner, _Less):
            return _Less(inner.power * exponent, inner.logs * exponent) if exponent.is_positive else None
        if inner is None or (not exponent.is_integer and -1 in (self.sign(inner.coefficient), self.sign(inner.base))):
            return None
        if inner.logs and not exponent.is_number:
            return None
        return Order(inner.coefficient**exponent, inner.power * exponent, inner.logs * exponent, inner.base**exponent)

    def exponential(self, base, exponent):
        """``base**exponent`` as the exponential of ``exponent * log(base)``."""
        growth = self.order(exponent)
        parted = self.parted(base, exponent, growth)
        if parted is not None:
            return self.times(*parted)
        if not base.has(self.s):
            slope = sp.expand(sp.diff(exponent, self.s))
            rest = exponent.subs(self.s, 0) if not slope.has(self.s) else sp.zoo
            if rest.is_finite is not False and not rest.has(sp.nan, sp.zoo, sp.oo, -sp.oo):
                return Order(base**rest, base=base**slope)
            logarithm = Order(sp.log(base))
        else:
            logarithm = self.log(base)
        total = None if growth is None or logarithm is None else self.times(growth, logarithm)
        if total is None or (isinstance(total, Order) and total.base != 1):
            return None
        flat = self.faster(total, Order(sp.S.One))
        if isinstance(total, _Less):
            return Order(sp.S.One) if flat in (0, -1) else None
        if flat == -1:
            return Order(sp.S.One)
        if flat == 0:
            return Order(base**growth.coefficient if not base.has(self.s) else sp.exp(total.coefficient))
        falls = flat == 1 and self.sign(total.power) == 1 and self.negative(total.coefficient)
        return _NOTHING if falls else None

    def parted(self, base, exponent, growth):
        """Both factors of a power if its base or exponent has a limit: that of the limit, and that of the rest, which tends
        to 1 or to 0."""
        inner = self.order(base) if base.has(self.s) else None
        if _has_limit(inner) and inner.coefficient != 1 and self.sign(inner.coefficient) == 1:
            rest = sp.expand(base / inner.coefficient)
            return self.exponential(inner.coefficient, exponent), self.exponential(rest, exponent)
        if base.has(self.s) and _has_limit(growth) and exponent != growth.coefficient:
            return self.power(base, growth.coefficient), self.exponential(base, exponent - growth.coefficient)
        return None

    def negative(self, coefficient) -> bool:
        """Whether a coefficient is negative; the sign of a logarithm follows from its argument."""
        signs = [self.sign(sp.together(f.args[0]) - 1) if isinstance(f, sp.log) else self.sign(f)
                 for f in sp.Mul.make_args(coefficient)]
        return None not in signs and sp.prod(signs) == -1

    def log(self, e):
        inner = self.order(e)
        if not isinstance(inner, Order) or self.sign(inner.coefficient) == -1:
            return None
        if inner.base != 1:
            return Order(sp.log(inner.base), sp.S.One) if self.sign(inner.base) == 1 else None
        if inner.power != 0:
            return Order(inner.power, sp.S.Zero, 1)
        if inner.logs != 0:
            return None
        if inner.coefficient == 1 or _vanishes(inner.coefficient - 1):
            return self.order(e - 1)  # log(1 + d) ~ d
        return Order(sp.log(inner.coefficient))

    # maxima and roundings to whole numbers ----------------------------------------------------------------------------
    def extreme(self, e):
        """The largest argument by value, not by size."""
        parts = [self.order(a) for a in e.args]
        return reduce(lambda a, b: self.larger(a, b, e.func), parts)

    def larger(self, a, b, function):
        if a is None or b is None:
            return None
        faster = self.faster(a, b)
        if faster is None:
            return None
        if faster == 0 and isinstance(a, Order) and isinstance(b, Order):
            return a._replace(coefficient=function(a.coefficient, b.coefficient))
        if faster == 0 and isinstance(a, _Less) and isinstance(b, _Less):
            return a
        first = faster > 0 or (faster == 0 and isinstance(a, Order))
        outgrows, other = (a, b) if first else (b, a)
        if isinstance(outgrows, _Less):
            return None
        sign = None if sign_of(outgrows.base) != 1 else self.generic_sign(outgrows.coefficient)
        if sign in (None, 0):
            return None
        return outgrows if (sign == 1) == (function is sp.Max) else other

    def rounded(self, e):
        """Remainders and whole parts, which differ from their argument by less than 1 or the divisor."""
        inner = self.order(e.args[0])
        if isinstance(e, sp.Mod):
            number, divisor = e.args
            if divisor.has(self.s):
                goes = self.order(divisor)
                apart = None if inner is None or goes is None else self.faster(inner, goes)
                positive = isinstance(goes, Order) and goes.base == 1 and self.sign(goes.coefficient) == 1
                return inner if apart == -1 and positive and number.is_nonnegative else None
            return _Less(sp.S.Zero, 1)  # bounded, so of smaller order than a logarithm
        grows = isinstance(inner, Order) and inner.base == 1 and self.sign(inner.power) == 1
        return inner if grows else None
