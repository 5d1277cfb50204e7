"""Fractions and decimals for numbers that are known as balls."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from math import floor

import numpy as np

from synthetic.numbers.balls import Ball

__all__ = ["as_written", "beyond_balls", "certain", "enclosure", "rational_in", "simplest_between"]

_SHORT = Fraction(1, 10**6)  # chance that a random interval of this width contains so simple a fraction


def as_written(number: float) -> Fraction:
    """The shortest decimal that rounds to a float, as a fraction: the number that its author wrote.

    Example:
        >>> as_written(0.1)
        Fraction(1, 10)
    """
    return Fraction(repr(float(number)))


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of smallest denominator from ``low`` to ``high``, both included.

    Example:
        >>> simplest_between(Fraction(32, 100), Fraction(34, 100))
        Fraction(1, 3)
    """
    parts = []  # of its continued fraction
    while (whole := floor(low)) != low and whole + 1 > high:
        parts.append(whole)
        low, high = 1 / (high - whole), 1 / (low - whole)
    found = Fraction(low) if whole == low else Fraction(whole + 1)
    for part in reversed(parts):
        found = part + 1 / found
    return found


def rational_in(ball: Ball) -> Fraction | None:
    """The simplest fraction in a ball, if it is too simple to lie there by coincidence; else None.

    Example:
        >>> rational_in(Ball(Fraction(1, 3))), rational_in(Ball(2).sqrt())
        (Fraction(1, 3), None)
    """
    low, high = ball.ends
    if low == high:
        return low
    found = simplest_between(low, high)
    return found if found.denominator**2 * (high - low) < _SHORT else None


def enclosure(number: Ball | Fraction) -> str:
    """The text ``low to high``: decimals of twenty digits between which the number lies.

    Example:
        >>> enclosure(Ball(1))
        '1 to 1'
    """
    low, high = (number, number) if isinstance(number, Fraction) else number.ends
    return f"{_decimal(low, ROUND_FLOOR)} to {_decimal(high, ROUND_CEILING)}"


def _decimal(value: Fraction, rounding: str) -> Decimal:
    with localcontext(prec=20, rounding=rounding):
        return Decimal(value.numerator) / Decimal(value.denominator)


def certain(value) -> bool:
    """Whether every entry is known exactly: a fraction, or a ball of radius 0."""
    entries = np.asarray(value, dtype=object).ravel()
    return not any(isinstance(entry, Ball) and entry.ends[0] != entry.ends[1] for entry in entries)


def beyond_balls(value, upwards: bool):
    """A rational bound of each entry as text: certainly not below it (``upwards``), or not above it."""
    if isinstance(value, np.ndarray) and value.ndim:
        return [beyond_balls(entry, upwards) for entry in value]
    low, high = Ball(value.item() if isinstance(value, np.ndarray) else value).ends
    if low == high:
        return str(low)
    return str(simplest_between(high, 2 * high - low) if upwards else simplest_between(2 * low - high, low))
