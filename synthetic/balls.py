"""Real numbers as balls (midpoint and radius) that surely contain them: exact scalars for methods with roots and maxima.

A :class:`Ball` behaves like a number in NumPy object arrays. A comparison that its balls cannot decide raises
:class:`Undecided`; :func:`with_enough_precision` then tries again with more digits. A maximum of two balls contains
both candidates where it cannot tell them apart, so it never needs a comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np

__all__ = ["Ball", "Undecided", "with_enough_precision"]


class Undecided(ArithmeticError):
    """Two balls overlap, and a comparison of them was asked for."""


def _flint():
    try:
        import flint
    except ImportError:
        raise ImportError('balls need python-flint; install it with: pip install "fedtheory[balls]"') from None
    return flint


class Ball:
    """A real number known to lie in a ball.

    ``value``: a whole number, a float (taken as the fraction that it is), a Fraction, or a Ball.
    """

    __slots__ = ("ball",)

    def __init__(self, value):
        if isinstance(value, Ball):
            self.ball = value.ball
        elif isinstance(value, Real):
            flint, value = _flint(), value.item() if isinstance(value, np.generic) else value
            if isinstance(value, float) and math.isinf(value):
                self.ball = flint.arb(value)
                return
            fraction = Fraction(value)
            self.ball = flint.arb(flint.fmpq(fraction.numerator, fraction.denominator))
        else:
            raise TypeError(f"a ball is made of a real number; got {value!r}")

    @classmethod
    def of(cls, ball) -> Ball:
        """Wrap a number of flint's type ``arb``."""
        made = object.__new__(cls)
        made.ball = ball
        return made

    def __add__(self, other):
        return _apply(lambda a, b: a + b, self, other)

    def __sub__(self, other):
        return _apply(lambda a, b: a - b, self, other)

    def __mul__(self, other):
        if self is other:
            return Ball.of(_square(self.ball))
        return _apply(lambda a, b: a * b, self, other)

    def __truediv__(self, other):
        return _apply(lambda a, b: a / b, self, other)

    def __pow__(self, other):
        return Ball.of(_power(self.ball, int(other))) if other == int(other) else _apply(lambda a, b: a**b, self, other)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other):
        return _apply(lambda a, b: b - a, self, other)

    def __rtruediv__(self, other):
        return _apply(lambda a, b: b / a, self, other)

    def __neg__(self):
        return Ball.of(-self.ball)

    def __pos__(self):
        return self

    def __abs__(self):
        return Ball.of(abs(self.ball))

    def sqrt(self) -> Ball:
        """The root of the ball's part that is not negative."""
        return Ball.of(self.ball.nonnegative_part().sqrt())

    def exp(self) -> Ball:
        return Ball.of(self.ball.exp())

    def log(self) -> Ball:
        return Ball.of(self.ball.log())

    def maximum(self, other) -> Ball:
        """The larger of the two; where they overlap, a ball that contains the larger one."""
        return _apply(lambda a, b: a.max(b), self, other)

    def __gt__(self, other):
        return _decide(self, other, lambda a, b: a > b, lambda a, b: a <= b)

    def __ge__(self, other):
        return _decide(self, other, lambda a, b: a >= b, lambda a, b: a < b)

    def __lt__(self, other):
        return _decide(self, other, lambda a, b: a < b, lambda a, b: a >= b)

    def __le__(self, other):
        return _decide(self, other, lambda a, b: a <= b, lambda a, b: a > b)

    def __eq__(self, other):
        return _decide(self, other, lambda a, b: a == b, lambda a, b: a != b)

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __bool__(self):
        return self != 0

    def __float__(self):
        return float(self.ball.mid())

    @property
    def radius(self) -> float:
        """An upper bound of the distance between the number and :func:`float` of the ball's midpoint."""
        return float(self.ball.rad())

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The ball's lowest and highest number, exactly; Undecided where that is not known to be finite."""
        if not self.ball.is_finite():
            raise Undecided(f"{self!r} is not known to be finite")
        middle, radius = (_rational(part) for part in (self.ball.mid(), self.ball.rad()))
        return middle - radius, middle + radius

    def contains(self, value) -> bool:
        """Whether the ball contains a rational number; decided exactly."""
        low, high = self.ends
        return low <= Fraction(value) <= high

    def __repr__(self):
        return f"Ball({self.ball.str(10)})"


def _square(ball):
    """A square is not negative, which a product of two overlapping balls would not know."""
    return (ball * ball).nonnegative_part()


def _power(ball, exponent: int):
    """Whole powers by squares, so that a ball around 0 has them too (of flint's own, only positive and negative ones do)."""
    if exponent < 0:
        return 1 / _power(ball, -exponent)
    if exponent <= 1:
        return ball if exponent else _flint().arb(1)
    if exponent % 2:
        return ball * _power(ball, exponent - 1)
    return _square(_power(ball, exponent // 2))


def _rational(exact) -> Fraction:
    number = exact.fmpq()
    return Fraction(int(number.p), int(number.q))


def _apply(operation: Callable, one: Ball, other: Any):
    if isinstance(other, np.ndarray) or not isinstance(other, Ball | Real):
        return NotImplemented
    return Ball.of(operation(one.ball, Ball(other).ball))


def _decide(one: Ball, other, surely: Callable, surely_not: Callable) -> bool:
    if isinstance(other, np.ndarray) or not isinstance(other, Ball | Real):
        return NotImplemented
    a, b = one.ball, Ball(other).ball
    if surely(a, b):
        return True
    if surely_not(a, b):
        return False
    raise Undecided(f"{one!r} and {other!r} overlap")


def with_enough_precision(compute: Callable[[], Any], radius: float = 1e-15, start: int = 64, limit: int = 4096):
    """``compute()``, an array of balls or a Ball, at the first of the precisions ``start``, twice that, ... bits at which
    all comparisons are decided and no ball is wider than ``radius``.

    Raises:
        ArithmeticError: not reached at ``limit`` bits, with the reason.
    """
    context = _flint().ctx
    before, bits, reason = context.prec, start, ""
    try:
        while bits <= limit:
            context.prec = bits
            try:
                answer = compute()
                widest = max((ball.radius for ball in np.ravel(np.asarray(answer, dtype=object))), default=0.0)
                if widest <= radius:
                    return answer
                reason = f"the widest ball has radius {widest:g}, allowed {radius:g}"
            except Undecided as error:
                reason = str(error)
            bits *= 2
    finally:
        context.prec = before
    raise ArithmeticError(f"not decided with {limit} bits: {reason}")
