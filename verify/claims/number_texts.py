"""Numbers that users write as text: exact ones, and formulas of other numbers, such as ``1/L``."""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from verify.results.numerals import exact_number, is_fraction

__all__ = ["formula_value", "is_formula_of", "numbers_from"]

_HIGHEST = 20  # exponent
_NAME = re.compile(r"[A-Za-z_]\w*")
_DECIMAL = re.compile(r"\d[\d.]*[eE][+-]?\d+")
_ARITHMETIC = re.compile(r"[\d.\s+*/()-]*\d[\d.\s+*/()-]*")


def is_formula_of(text: Any, known: Mapping[str, Any]) -> bool:
    """Whether a value is a formula, as text, in which every name is a known number; ``1/(2*3)`` is one without names."""
    return _is_formula(text) and {*_names(text)} - {"sqrt"} <= {*known}


def _is_formula(text: Any) -> bool:
    if not isinstance(text, str) or is_fraction(text):
        return False
    return bool(_names(text) or _ARITHMETIC.fullmatch(_DECIMAL.sub("0", text)))


def _names(text: str) -> list[str]:
    return _NAME.findall(_DECIMAL.sub("", text))


def formula_value(name: str, text: str, known: Mapping[str, Fraction], exact: bool = True) -> Fraction:
    """Returns the value of a formula of known numbers. It is parsed as formulas of claims are; no text is evaluated.

    Raises ValueError, which says ``name`` and the names that are known, for anything else; and if ``exact`` for a value that
    is no fraction, else it is rounded.

    Example:
        >>> formula_value("eta_l", "1/(2*L)", {"L": Fraction(4)})
        Fraction(1, 8)
    """
    import sympy as sp

    from bounds.registry.expressions import expression

    if not is_formula_of(text, known):
        raise ValueError(f"{name} must be a number such as 0.1 or 1/3, or a formula of {', '.join(sorted(known))}; "
                         f"got {text[:100]!r}")
    symbols = {each: sp.Symbol(each, positive=True) for each in known}
    try:
        formula = expression(text, symbols | {"sqrt": sp.sqrt})
        if any(not power.exp.is_Rational or abs(power.exp) > _HIGHEST for power in formula.atoms(sp.Pow)):
            raise ValueError(f"exponents are numbers up to {_HIGHEST}")
        value = formula.subs({symbols[each]: sp.Rational(str(number)) for each, number in known.items()})
    except (ArithmeticError, TypeError, ValueError) as error:
        raise ValueError(f"{name} is no number: {text[:100]!r}: {error}") from error
    if not value.is_Rational and not exact and value.is_real:
        return Fraction(str(float(value)))
    if not value.is_Rational:
        raise ValueError(f"{name} must be a fraction; {text[:100]} is {value}")
    return Fraction(int(value.p), int(value.q))


def numbers_from(values: Mapping[str, Any],
                 others: Callable[[dict[str, Fraction]], Mapping[str, Fraction]]) -> dict[str, Fraction]:
    """Returns exact numbers by name, each given as a number, a text such as ``"1/3"``, or a formula such as ``"1/(2*L)"``.

    Formulas may use the plain numbers among the ``values`` and what ``others`` returns for these.

    Raises ValueError for a value that is neither.
    """
    texts = {name: value for name, value in values.items() if _is_formula(value)}
    plain = {name: exact_number(name, value) for name, value in values.items() if name not in texts}
    if not texts:
        return plain
    known = {**others(plain), **plain}
    return plain | {name: formula_value(name, text, {n: v for n, v in known.items() if n != name})
                    for name, text in texts.items()}
