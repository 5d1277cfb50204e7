"""Numbers that depend on noise: polynomials in independent draws, where these have too many outcomes to be listed.

A draw z of two outcomes is centred: z = 1 - p with chance p, and z = -p else. So E z = 0 and z^2 = p (1 - p) + (1 - 2p) z,
every power of a draw is a sum of 1 and z, and as draws are independent, the mean of a polynomial is its constant term. What
is no polynomial (a root, a quotient, a whole number) is refused; a comparison counts if it is the same for every outcome.
"""

from fractions import Fraction

from verify.checker.intervals import Undecided, Vector
from verify.checker.limits import TERMS, bounded

PRODUCTS = 20 * TERMS  # of terms, in a product of two numbers


class RandomNumber:
    """``coefficients``, by sets of draws; a draw is a pair of its coordinates and the chance of its first outcome."""

    __hash__ = None

    def __init__(self, coefficients):
        self.coefficients = coefficients

    def __add__(self, other):
        found = dict(self.coefficients)
        for draws, c in terms_of(other).items():
            found[draws] = found[draws] + c if draws in found else c
        return number(found)

    def __mul__(self, other):
        others, found = terms_of(other), {}
        bounded(len(self.coefficients) * len(others), PRODUCTS, "products of terms")
        for left, a in self.coefficients.items():
            for right, b in others.items():
                for draws, c in squared(left & right).items():
                    draws, c = draws | (left ^ right), a * b * c
                    found[draws] = found[draws] + c if draws in found else c
        return number(found)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self): return self * -1
    def __sub__(self, other): return self + other * -1
    def __rsub__(self, other): return -self + other

    def __truediv__(self, other):
        if isinstance(other, RandomNumber):
            raise TypeError("a divisor that depends on noise of too many outcomes")
        return self * (Fraction(1) / other)

    def __pow__(self, exponent):
        if not isinstance(exponent, int) or exponent < 0:
            raise TypeError(f"the power {exponent} of a number that depends on noise of too many outcomes")
        found = Fraction(1)
        for _ in range(bounded(exponent, TERMS, "factors")):
            found = self * found
        return found

    # comparisons: a draw is from -1 to 1, and so is a product of some
    def __le__(self, other):
        rest = terms_of(other - self)
        middle, spread = rest.get(NONE, Fraction(0)), sum((abs(c) for draws, c in rest.items() if draws), Fraction(0))
        if middle >= spread:
            return True
        if middle < -spread:
            return False
        raise Undecided("a comparison that depends on noise")

    def __lt__(self, other):
        rest = terms_of(other - self)
        middle, spread = rest.get(NONE, Fraction(0)), sum((abs(c) for draws, c in rest.items() if draws), Fraction(0))
        if middle > spread:
            return True
        if middle <= -spread:
            return False
        raise Undecided("a comparison that depends on noise")

    def __ge__(self, other): return RandomNumber(terms_of(other)) <= self
    def __gt__(self, other): return RandomNumber(terms_of(other)) < self
    def __abs__(self): return self if self >= 0 else -self

    def __eq__(self, other):
        if isinstance(other - self, RandomNumber):
            raise Undecided("an equation that depends on noise")
        return other - self == 0

    def __ne__(self, other): return not self == other
    def __bool__(self): return self != 0


NONE = frozenset()  # no draw


def terms_of(value):
    """The terms of a number."""
    return value.coefficients if isinstance(value, RandomNumber) else {NONE: value}


def number(terms):
    """The number with these terms; one that depends on no draw is no random one."""
    terms = {draws: c for draws, c in terms.items() if not isinstance(c, Fraction) or c}
    return RandomNumber(terms) if terms.keys() - {NONE} else terms.get(NONE, Fraction(0))


def squared(draws):
    """The terms of the product of the squares of draws."""
    found = {NONE: Fraction(1)}
    for draw in draws:
        p, more = draw[1], {}
        for others, c in found.items():
            more[others] = c * p * (1 - p)
            if p != Fraction(1, 2):
                more[others | {draw}] = c * (1 - 2 * p)
        found = more
    return found


def drawn(coordinates, law):
    """The vector of a draw with two outcomes, pairs (chance, vector)."""
    (p, first), (_, second) = law
    z = RandomNumber({frozenset({(coordinates, p)}): Fraction(1)})
    return first * p + second * (1 - p) + (first - second) * z


def mean(value, free):
    """The mean of a number or vector over the draws of which ``free(coordinates)`` is true."""
    if isinstance(value, Vector):
        return Vector(mean(entry, free) for entry in value)
    if not isinstance(value, RandomNumber):
        return value
    return number({draws: c for draws, c in value.coefficients.items() if not any(free(draw) for draw, _ in draws)})
