"""Numbers that are linear combinations of expected lengths, with coefficients that are fractions or intervals."""

from fractions import Fraction
from functools import cached_property
from math import gcd

from verify.checker.intervals import Interval, root
from verify.checker.limits import bits
from verify.checker.operators import kind
from verify.checker.quadratic_forms import ORIGIN, NotQuadratic, SymbolicVector

#: how keys of numbers without a value begin: expected lengths and lengths squared are never negative, the others may be
LENGTH, SQUARE, GAP, SIGNED = "length", "square", "gap", "signed"
NONNEGATIVE = (LENGTH, SQUARE, GAP)


def number(value):
    """The number, a fraction or an interval; an amount without lengths is one."""
    if isinstance(value, NormExpression):
        if {*value.terms} <= {()}:
            return value.terms.get((), Fraction(0))
        raise NotQuadratic("a number must stand where there is a length")
    if isinstance(value, int):
        return Fraction(value)
    if not isinstance(value, (Fraction, Interval)):
        raise NotQuadratic(f"a number must stand where there is {kind(value)}")
    return value


class NormExpression:
    """Coefficients by key, of 1 by ()."""

    def __init__(self, terms):
        self.terms = {key: c for key, c in terms.items() if (c.low or c.high if isinstance(c, Interval) else c)}

    @staticmethod
    def like(other):
        return other if isinstance(other, NormExpression) else NormExpression({(): number(other)})

    def __add__(self, other):
        found = dict(self.terms)
        for key, c in self.like(other).terms.items():
            found[key] = found[key] + c if key in found else c
        return NormExpression(found)

    def __sub__(self, other):
        found = dict(self.terms)
        for key, c in self.like(other).terms.items():
            found[key] = found[key] - c if key in found else -c
        return NormExpression(found)

    def __mul__(self, other):
        own, other = (other, self) if isinstance(other, NormExpression) and not {*other.terms} <= {()} else (self, other)
        factor = number(other)
        return NormExpression({key: c * factor for key, c in own.terms.items()})

    def __truediv__(self, other): return self * (1 / number(other))
    def __neg__(self): return self * Fraction(-1)
    def __rsub__(self, other): return self.like(other) - self
    def __rtruediv__(self, other): return other / number(self)

    __radd__, __rmul__ = __add__, __mul__

    def __pow__(self, power):
        return self if power == 1 else number(self) ** power

    def __abs__(self):
        if all(c >= 0 for c in self.terms.values()) and all(not key or key[0] in NONNEGATIVE for key in self.terms):
            return self
        if len(self.terms) == 1:
            (key, c), = self.terms.items()
            if key and key[0] == SIGNED:
                return NormExpression({(GAP, *key[1:]): abs(c)})
        return abs(number(self))

    @cached_property
    def longest(self):
        return max((end for c in self.terms.values() for end in (lower(c), upper(c))), key=bits, default=Fraction(0))

    @property
    def numerator(self): return self.longest.numerator

    @property
    def denominator(self): return self.longest.denominator

    def refuse(self, *_):
        raise NotQuadratic("lengths have sums and multiples only")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __iter__ = __len__ = __bool__ = __getitem__ = refuse
    __hash__ = None


def total(*parts):
    """The sum of multiples of amounts, pairs (amount, factor)."""
    found = {}
    for amount, factor in parts:
        for key, c in amount.terms.items():
            c = c * factor
            found[key] = found[key] + c if key in found else c
    return NormExpression(found)


def scaled(row):
    """(factor, items): a vector as a positive factor times one of whole coefficients that have no factor in common, of which
    the first one is positive, up to its sign."""
    common = gcd(*row.parts.values())
    return Fraction(common, row.over), positive((letter, c // common) for letter, c in row.parts.items())


def positive(items):
    """Coefficients by letter in the order of letters, all with the other sign where the first one is negative."""
    items = sorted(items)
    return tuple(items if items[0][1] > 0 else [(letter, -c) for letter, c in items])


def length(row, kind=LENGTH, canonical=lambda items: items):
    """The expected length of a vector, or of kind SQUARE its expected square."""
    if not row.parts:
        return NormExpression({})
    if ORIGIN in row.parts:
        raise NotQuadratic("a point has no length, only differences of points have")
    factor, items = scaled(row)
    return NormExpression({(kind, canonical(items)): factor**2 if kind == SQUARE else factor})


def row_of(items):
    return SymbolicVector.reduced(dict(items), 1)


def upper(value):
    """A fraction that is at least the number."""
    return value.high if isinstance(value, Interval) else value


def lower(value):
    """A fraction that is at most the number."""
    return value.low if isinstance(value, Interval) else value


def root_above(value):
    """A fraction that is at least the root of the number."""
    return upper(root(max(upper(value), Fraction(0))))
