"""Real numbers as balls (midpoint and radius) that certainly contain them: scalars for methods with roots and maxima.

A rational number stays a fraction. Only irrational numbers and very long fractions become balls. A :class:`Ball`
behaves like a number in NumPy object arrays. A comparison of overlapping balls raises :class:`Undecided`. The
maximum of overlapping balls is a ball that contains both candidates, so it needs no comparison.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from numbers import Real
from typing import Any

import numpy as np

__all__ = ["Ball", "Undecided"]


class Undecided(ArithmeticError):
    """Two balls overlap, and a comparison of them was asked for."""


@cache
def _flint():
    try:
        import flint
    except ImportError:
        raise ImportError('balls need python-flint; install it with: pip install "fedtheory[balls]"') from None
    return flint


def _comparison(surely: Callable, surely_not: Callable) -> Callable:
    """A comparison of balls that raises :class:`Undecided` where neither is sure."""
    def compare(one: Ball, other) -> bool:
        other = _as_ball(other)
        if other is None:
            return NotImplemented
        a, b = _both(one, other)
        if surely(a, b):
            return True
        if surely_not(a, b):
            return False
        raise Undecided(f"{one!r} and {other!r} overlap")

    return compare


def _operation(of: Callable) -> Callable:
    return lambda one, other: _apply(of, one, other)


class Ball:
    """A real number, known exactly as a fraction or known to lie in a ball.

    ``value``: a whole number, a float (taken as the fraction that it is), a Fraction, or a Ball.
    """

    __slots__ = ("number",)

    def __init__(self, value):
        if isinstance(value, Ball):
            self.number = value.number
        elif isinstance(value, Real):
            flint, value = _flint(), value.item() if isinstance(value, np.generic) else value
            if isinstance(value, float) and math.isinf(value):
                self.number = flint.arb(value)
                return
            fraction = Fraction(value)
            self.number = flint.fmpq(fraction.numerator, fraction.denominator)
        else:
            raise TypeError(f"a ball is made of a real number; got {value!r}")

    @classmethod
    def wrap(cls, number) -> Ball:
        """Wrap a number of flint's types ``arb`` or ``fmpq``."""
        made = object.__new__(cls)
        made.number = number
        return made

    @classmethod
    def between(cls, low: Fraction, high: Fraction) -> Ball:
        """A ball that contains all numbers between two fractions."""
        return cls.wrap(cls(low).ball.union(cls(high).ball))

    @property
    def exact(self) -> bool:
        """Whether the number is known as a fraction."""
        return type(self.number) is _flint().fmpq

    @property
    def finite(self) -> bool:
        """Whether the number is known to be finite."""
        return self.exact or bool(self.number.is_finite())

    @property
    def ball(self):
        """The number as flint's ``arb``, of the current precision."""
        return _flint().arb(self.number) if self.exact else self.number

    __add__ = __radd__ = _operation(operator.add)
    __sub__, __rsub__ = _operation(operator.sub), _operation(lambda a, b: b - a)
    __truediv__ = _operation(operator.truediv)

    def __mul__(self, other):
        if self is other:
            return self**2
        return _apply(operator.mul, self, other)

    __rmul__ = __mul__

    def __pow__(self, other):
        if other != int(other):
            return _apply(operator.pow, Ball.wrap(self.ball), other)
        if self.exact and (other >= 0 or self.number != 0):
            return _short(self.number ** int(other))
        return Ball.wrap(_power(self.ball, int(other)))

    def __rtruediv__(self, other):
        return NotImplemented if isinstance(other, np.ndarray) else Ball(other) / self

    def __neg__(self):
        return Ball.wrap(-self.number)

    def __pos__(self):
        return self

    def __abs__(self):
        return Ball.wrap(abs(self.number))

    def __mod__(self, other):
        """The rest of a number that is known as a fraction; Undecided of others."""
        if not self.exact:
            raise Undecided(f"{self!r} has no rest that is known")
        return Ball(_fraction(self.number) % other)

    def __int__(self):
        """The whole part of a number that is known as a fraction; Undecided of others."""
        if not self.exact:
            raise Undecided(f"{self!r} has no whole part that is known")
        return int(_fraction(self.number))

    def sqrt(self) -> Ball:
        """The square root of the nonnegative part of the ball."""
        if self.exact and self.number >= 0:
            roots = [part.sqrtrem() for part in (self.number.p, self.number.q)]
            if not any(rest for _, rest in roots):
                return Ball.wrap(_flint().fmpq(roots[0][0], roots[1][0]))
        return Ball.wrap(self.ball.nonnegative_part().sqrt())

    def exp(self) -> Ball:
        return Ball.wrap(self.ball.exp())

    def log(self) -> Ball:
        return Ball.wrap(self.ball.log())

    def maximum(self, other) -> Ball:
        """The larger of the two; where they overlap, a ball that contains the larger one."""
        return _apply(lambda a, b: max(a, b) if isinstance(a, _flint().fmpq) else a.max(b), self, other)

    __gt__, __le__ = _comparison(operator.gt, operator.le), _comparison(operator.le, operator.gt)
    __ge__, __lt__ = _comparison(operator.ge, operator.lt), _comparison(operator.lt, operator.ge)
    __eq__ = _comparison(operator.eq, operator.ne)

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __bool__(self):
        return self != 0

    def __float__(self):
        return float(_fraction(self.number)) if self.exact else float(self.number.mid())

    @property
    def radius(self) -> float:
        """An upper bound of the distance between the number and :func:`float` of the ball's midpoint."""
        return 0.0 if self.exact else float(self.number.rad())

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The ball's lowest and highest number, exactly; Undecided where that is not known to be finite."""
        if self.exact:
            return _fraction(self.number), _fraction(self.number)
        if not self.finite:
            raise Undecided(f"{self!r} is not known to be finite")
        middle, radius = (_fraction(part.fmpq()) for part in (self.number.mid(), self.number.rad()))
        return middle - radius, middle + radius

    def contains(self, value) -> bool:
        """Whether the ball contains a rational number; decided exactly."""
        low, high = self.ends
        return low <= Fraction(value) <= high

    def __repr__(self):
        return f"Ball({self.ball.str(10)})"


def _square(ball):
    """The square as a nonnegative ball; the product of a ball with itself may contain negative numbers."""
    return (ball * ball).nonnegative_part()


def _power(ball, exponent: int):
    """Integer powers by repeated squaring, also of balls that contain 0, for which flint's own are not finite."""
    if exponent < 0:
        return 1 / _power(ball, -exponent)
    if exponent <= 1:
        return ball if exponent else _flint().arb(1)
    if exponent % 2:
        return ball * _power(ball, exponent - 1)
    return _square(_power(ball, exponent // 2))


_LONGEST = 2048  # bits of the parts of a fraction that is kept


def _fraction(number) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def _short(number) -> Ball:
    """The number as a ball, of the current precision where it is a very long fraction."""
    flint = _flint()
    return Ball.wrap(flint.arb(number) if type(number) is flint.fmpq and number.height_bits() > _LONGEST else number)


def _both(one: Ball, other: Ball) -> tuple:
    """Both numbers as fractions if both are, else both as balls."""
    a, b = one.number, other.number
    return (a, b) if type(a) is type(b) else (one.ball, other.ball)


def _as_ball(other) -> Ball | None:
    """A real scalar as a ball; None for anything else."""
    if type(other) is Ball:
        return other
    return Ball(other) if isinstance(other, Real) and not isinstance(other, np.ndarray) else None


def _apply(operation: Callable, one: Ball, other: Any):
    other = _as_ball(other)
    if other is None:
        return NotImplemented
    a, b = _both(one, other)
    try:
        return _short(operation(a, b))
    except ZeroDivisionError:  # a quotient of balls is then unbounded
        return Ball.wrap(operation(one.ball, other.ball))
