"""Products, roots and real powers of arrays on every backend, exact where numbers are fractions; balls as rationals."""

from fractions import Fraction
from math import isqrt

import numpy as np

from synthetic.numbers.arrays import EXACT, backend_of, namespace
from synthetic.numbers.balls import Ball

__all__ = ["Irrational", "just_inside", "product_over", "real_power", "root_above", "square_root", "whole_power"]

_MOST_BITS = 1_000_000

_LONG, _SHORT = 1024, 192  # bits: of a fraction of many digits, and of a shorter one


class Irrational(ArithmeticError):
    """The result is irrational, or a fraction with too many digits."""


def product_over(data, axis):
    """The product along several axes."""
    xp = namespace(data)
    for a in sorted(axis, reverse=True):
        data = xp.prod(data, axis=a)
    return data


def square_root(data):
    """Square roots on every backend. Raises ArithmeticError if the root of a fraction is irrational."""
    if data.dtype != object:
        return namespace(data).sqrt(data)
    return np.frompyfunc(lambda value: value.sqrt() if hasattr(value, "sqrt") else _exact_root(value, 2), 1, 1)(data)


def root_above(squares):
    """Square roots on every backend; an irrational root of a fraction is rounded up, by less than a part in 10^12."""
    if backend_of(squares) != EXACT:
        return namespace(squares).sqrt(squares)
    return np.frompyfunc(_rational_root, 1, 1)(squares)


def _rational_root(square: Fraction) -> Fraction:
    top, bottom, shift = square.numerator * square.denominator, square.denominator, 10**12
    if isqrt(top) ** 2 == top:
        return Fraction(isqrt(top), bottom)
    return Fraction(isqrt(top * shift**2) + 1, bottom * shift)


def whole_power(base, exponent):
    """Fractions to whole powers. Raises Irrational for one of so many digits that a ball has to stand for it."""
    return np.frompyfunc(_whole_power, 2, 1)(base, exponent)


def real_power(base, exponent):
    """``base`` to a real power. A rational power of a rational ball is exact where it is rational."""
    if base.dtype != object:
        return base**exponent
    if backend_of(base).library == "balls":
        return np.frompyfunc(_ball_power, 2, 1)(base, exponent)
    return np.frompyfunc(lambda b, e: _whole_power(_exact_root(b, e.denominator), e.numerator), 2, 1)(base, exponent)


def _ball_power(base: Ball, exponent: Ball | Fraction) -> Ball:
    low, high = base.ends
    if low == high and isinstance(exponent, Fraction):
        try:
            return Ball(_whole_power(_exact_root(low, exponent.denominator), exponent.numerator))
        except Irrational:
            pass
    return Ball.wrap(base.ball ** Ball(exponent).ball)


def _whole_power(value: Fraction, exponent: int) -> Fraction:
    if abs(exponent) * max(value.numerator.bit_length() - 1, value.denominator.bit_length() - 1) > _MOST_BITS:
        raise Irrational(f"the power {exponent} of a number that is not 1 has more than {_MOST_BITS} binary digits")
    return value**exponent


def _exact_root(value: Fraction, degree: int) -> Fraction:
    if degree == 1:
        return value
    root = Fraction(_whole_root(value.numerator, degree), _whole_root(value.denominator, degree)) if value >= 0 else None
    if root is None or root**degree != value:
        raise Irrational(f"the root of degree {degree} of {value} is not rational")
    return root


def _whole_root(value: int, degree: int) -> int:
    """The largest integer whose power is at most ``value``."""
    if degree == 2:
        return isqrt(value)
    if degree >= value.bit_length():
        return min(value, 1)
    low, high = 0, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= value else (low, middle - 1)
    return low


def just_inside(array, up: bool):
    """Replaces each inexact ball by a rational number a little above (``up``) or below all numbers that it contains, and
    each fraction of many digits by a shorter one."""
    return np.frompyfunc(lambda value: _rational(value, up) if isinstance(value, Ball) else _shorter(value, up), 1, 1)(array)


def _shorter(value: Fraction, up: bool) -> Fraction:
    """A fraction a little above (``up``) or below one of many digits; the fraction itself if it has few."""
    value = Fraction(value)
    length = value.numerator.bit_length(), value.denominator.bit_length()
    return value if max(length) <= _LONG else _rounded(value, _SHORT - length[0] + length[1], up)


def _rounded(value: Fraction, bits: int, up: bool) -> Fraction:
    """The next multiple of ``1 / 2**bits`` above (``up``) or below."""
    scaled = value * Fraction(2) ** bits
    whole = -(-scaled.numerator // scaled.denominator) if up else scaled.numerator // scaled.denominator
    return Fraction(whole) / Fraction(2) ** bits


def _rational(ball: Ball, up: bool) -> Ball:
    low, high = ball.ends
    value = high if up else low
    if low == high or value == 0:
        return Ball(value)
    bits = 44 - (abs(value.numerator).bit_length() - value.denominator.bit_length())
    return Ball(_rounded(value, bits, up))
