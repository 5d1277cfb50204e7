"""The simplest fraction in an interval, by which a measured number becomes one that a person would write."""

from fractions import Fraction
from math import floor

__all__ = ["complexity", "simplest"]


def simplest(low: float | Fraction, high: float | Fraction) -> Fraction:
    """The fraction with the least denominator in [low, high], where 0 < low <= high.

    Example:
        >>> simplest(0.66, 0.7)
        Fraction(2, 3)
    """
    low, high = Fraction(low), Fraction(high)
    if not 0 < low <= high:
        raise ValueError(f"an interval of positive numbers; got [{float(low):g}, {float(high):g}]")
    whole = floor(low)
    if whole == low:
        return low
    if whole + 1 <= high:
        return Fraction(whole + 1)
    return whole + 1 / simplest(1 / (high - whole), 1 / (low - whole))


def complexity(number: Fraction) -> int:
    """The number of binary digits of numerator and denominator."""
    return abs(number.numerator).bit_length() + number.denominator.bit_length()
