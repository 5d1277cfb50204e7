"""Limits on the numbers and sums that sympy computes while it builds a formula."""

from math import exp

import sympy as sp

from bounds.language import operators

__all__ = ["FEW_TERMS", "LOW", "MOST_TERMS", "bits", "magnitude", "soon_added", "without_names"]

MOST_TERMS = 10_000  #: of a sum or a range whose ends are numbers
FEW_TERMS, LOW = 100, 10  # terms and exponents of a sum without names: sympy may add it up
_SMALL = 5.0  # exponent of a number in an exponent


def bits(e) -> int:
    """An upper bound of the bits that sympy extracts from a power of the expression, per unit of the exponent."""
    if e.is_Rational:
        return int(e.p).bit_length() + int(e.q).bit_length()
    if e.is_Add:
        return max(map(bits, e.args))
    return sum(map(bits, e.args)) if e.is_Mul or e.is_Pow else 0


def without_names(e) -> bool:
    return not e.free_symbols and not e.has(operators.Operator)


def magnitude(e) -> float:
    """An upper bound of a number made of fractions, their roots, logarithms and small exponentials; infinity for others."""
    if e.is_Rational:
        return float(abs(e)) if bits(e) < 1000 else float("inf")
    if e.is_Add:
        return sum(map(magnitude, e.args))
    if e.is_Mul:
        product = 1.0
        for factor in e.args:
            product *= magnitude(factor)
        return product
    if e.is_Pow and e.base.is_Rational and e.exp.is_Rational and bits(e.base) * abs(e.exp) < 1000:
        return float(abs(e.base)) ** float(e.exp)
    if isinstance(e, sp.log) and e.args[0].is_Rational:
        return float(bits(e.args[0]))
    if e is sp.E or (isinstance(e, sp.exp) and magnitude(e.args[0]) <= _SMALL):
        return exp(magnitude(e.args[0]) if e.args else 1)
    return float("inf")


def soon_added(value, triples) -> bool:
    """Whether a sum or a product without names has few terms and small exponents."""
    terms = 1
    for _, low, high in triples:
        terms *= int(high - low) + 1 if (high - low).is_Integer else MOST_TERMS
    return terms <= FEW_TERMS and not value.has(sp.Sum, sp.Product, sp.exp) and all(
        power.exp.is_Rational and abs(power.exp) <= LOW for power in value.atoms(sp.Pow))
