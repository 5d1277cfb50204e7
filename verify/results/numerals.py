"""Numbers as text for people."""

import math
from fractions import Fraction

__all__ = [
    "apart_from_one", "approximately", "counted", "exact_number", "fraction_of", "is_fraction", "middle_of", "significant",
    "typeset",
]

_LARGEST_POWER = 9999  # of ten, in a number as text

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def fraction_of(text: str) -> Fraction:
    """A number given as text, such as ``2``, ``0.1``, ``1e-3`` or ``1/3``, exactly.

    Raises:
        ValueError: no such number, or one whose power of ten is beyond 9999.
        ZeroDivisionError: a fraction over 0.
    """
    power = text.lower().partition("e")[2].strip().lstrip("+-")
    if not text.isascii() or len(power) > len(str(_LARGEST_POWER)):
        raise ValueError(f"{text[:60]!r} is no number, or its power of ten is beyond {_LARGEST_POWER}")
    return Fraction(text)


def is_fraction(text: str) -> bool:
    """Whether a text is a number that :func:`fraction_of` reads."""
    try:
        fraction_of(text)
    except (ValueError, ZeroDivisionError):
        return False
    return True


def exact_number(name: str, value) -> Fraction:
    """``value``, a number or a text such as ``"1/3"``, exactly; a float is the decimal that it prints as: 0.1 is a tenth.

    Raises ValueError, which says ``name``, for anything else.
    """
    try:
        if not isinstance(value, bool):
            return value if isinstance(value, Fraction) else fraction_of(str(value))
    except (ValueError, ZeroDivisionError):
        pass
    raise ValueError(f"{name} must be one number, such as 2, 0.1 or 1/3; got {repr(value)[:100]}")


def middle_of(text: str) -> str:
    """The middle of what encloses a number, ``0 to 1``, or the number itself, as text.

    Example:
        >>> middle_of("1 to 1"), middle_of("1.5 to 2.5"), middle_of("3/4")
        ('1', '2', '3/4')
    """
    low, _, high = text.partition(" to ")
    return low if high in ("", low) else str((fraction_of(low) + fraction_of(high)) / 2)


def approximately(value, digits: int = 3) -> str:
    """A number, or a rational given as text, with so many significant digits."""
    try:
        return significant(float(fraction_of(value)) if isinstance(value, str) else float(value), digits)
    except OverflowError:
        fraction = fraction_of(value) if isinstance(value, str) else Fraction(value)
        digits = len(str(abs(fraction.numerator))) - len(str(fraction.denominator))
        return f"{'−' if fraction < 0 else ''}10^{digits}"
    except (ValueError, ZeroDivisionError):
        return str(value)


def significant(value: float | None, digits: int = 3) -> str:
    """A number with so many significant digits: ``0.0123``, ``1.2·10⁻⁷``, ``∞``, and ``–`` for None or NaN."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        return f"{float(f'{value:.{digits}g}'):.10g}".replace("-", "−")
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = str(int(exponent)).translate(SUPERSCRIPT)
    return f"{float(mantissa):g}·10{power}".replace("-", "−")


def apart_from_one(value: float | None, digits: int = 4) -> str:
    """A ratio with so many significant digits, or as many as tell it from 1."""
    texts = (significant(value, more) for more in range(digits, 16))
    return next((text for text in texts if text != "1" or value == 1), "1")


def counted(number: int, noun: str) -> str:
    """A number of things in words.

    Example:
        >>> counted(1, "claim"), counted(0, "note")
        ('1 claim', '0 notes')
    """
    return f"{number} {noun}{'s' * (number != 1)}"


def typeset(text: str) -> str:
    """Plain text with mathematical signs: ``sigma^2 <= 1`` becomes ``sigma² ≤ 1``."""
    for plain, sign in (("^2", "²"), ("**2", "²"), ("<=", "≤"), (">=", "≥")):
        text = text.replace(plain, sign)
    return text
