"""Numbers that depend on what is drawn: polynomials in letters, where all outcomes are too many to be listed.

A letter is a draw of noise, or an entry of the state after many rounds (``long_run.py``). A draw z of two outcomes is
centred: z = 1 - p with chance p, and z = -p else. So E z = 0 and z^2 = p (1 - p) + (1 - 2p) z, every power of a draw is a
sum of 1 and z, and as draws are independent, the mean of a polynomial in them is its constant term. What is no polynomial (a
root, a quotient, a whole number) is refused; a comparison counts if it is the same for every outcome.
"""

from collections import namedtuple
from fractions import Fraction

from verify.checker.intervals import Undecided, Vector
from verify.checker.limits import TERMS, WorkLimit, bits, bounded

PRODUCTS, DEGREE = 20 * TERMS, 2  # terms of a product of two numbers; entries of a state in a term

#: a product of different draws, a set, and of entries of a state, sorted; a draw is a pair of its coordinates and the chance
#: of its first outcome
Term = namedtuple("Term", "draws entries", defaults=(frozenset(), ()))
ONE = Term()


class RandomNumber:
    """``coefficients`` of terms. The ``meter`` counts the work of products."""

    __hash__ = None

    def __init__(self, coefficients, meter=None):
        self.coefficients, self.meter = coefficients, meter or WorkLimit()

    def __add__(self, other):
        found = dict(self.coefficients)
        for term, c in terms_of(other).items():
            found[term] = found[term] + c if term in found else c
        return number(found, self.meter)

    def __mul__(self, other):
        others, found = terms_of(other), {}
        pairs = bounded(len(self.coefficients) * len(others), PRODUCTS, "products of terms")
        if isinstance(other, RandomNumber):
            self.meter.charge(1 + pairs * (1 + (bits(self) + bits(other)) // 512) // 2)
        for left, a in self.coefficients.items():
            for right, b in others.items():
                entries = (*sorted(left.entries + right.entries),)
                bounded(len(entries), DEGREE, "entries of a state in a product")
                for draws, c in squared(left.draws & right.draws).items():
                    term, c = Term(draws | (left.draws ^ right.draws), entries), a * b * c
                    found[term] = found[term] + c if term in found else c
        return number(found, self.meter)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self): return self * -1
    def __sub__(self, other): return self + other * -1
    def __rsub__(self, other): return -self + other

    def __truediv__(self, other):
        if isinstance(other, RandomNumber):
            raise TypeError("a divisor that depends on what is drawn")
        return self * (Fraction(1) / other)

    def __pow__(self, exponent):
        if not isinstance(exponent, int) or exponent < 0:
            raise TypeError(f"the power {exponent} of a number that depends on what is drawn")
        found = Fraction(1)
        for _ in range(bounded(exponent, TERMS, "factors")):
            found = self * found
        return found

    # comparisons: a draw is from -1 to 1, and so is a product of some; entries of a state may be any numbers
    def range_below(self, other):
        """The middle and half the width of a range that contains ``other`` less this number."""
        rest = terms_of(other - self)
        if any(term.entries for term in rest):
            raise Undecided("a comparison that depends on the state after many rounds")
        return rest.get(ONE, Fraction(0)), sum((abs(c) for term, c in rest.items() if term.draws), Fraction(0))

    def __le__(self, other):
        middle, spread = self.range_below(other)
        return decided(middle >= spread, middle < -spread)

    def __lt__(self, other):
        middle, spread = self.range_below(other)
        return decided(middle > spread, middle <= -spread)

    def __ge__(self, other): return RandomNumber(terms_of(other)) <= self
    def __gt__(self, other): return RandomNumber(terms_of(other)) < self
    def __abs__(self): return self if self >= 0 else -self

    def __eq__(self, other):
        if isinstance(other - self, RandomNumber):
            raise Undecided("an equation that depends on what is drawn")
        return other - self == 0

    def __ne__(self, other): return not self == other
    def __bool__(self): return self != 0


def decided(yes, no):
    if not yes and not no:
        raise Undecided("a comparison that depends on what is drawn")
    return yes


def terms_of(value):
    """The coefficients of a number."""
    return value.coefficients if isinstance(value, RandomNumber) else {ONE: value}


def is_random(value):
    """Whether a number or vector depends on what is drawn."""
    return any(map(is_random, value)) if isinstance(value, Vector) else isinstance(value, RandomNumber)


def number(coefficients, meter):
    """The number with these coefficients; one that has no letter is no random one."""
    found = {term: c for term, c in coefficients.items() if not isinstance(c, Fraction) or c}
    return RandomNumber(found, meter) if found.keys() - {ONE} else found.get(ONE, Fraction(0))


def squared(draws):
    """The product of the squares of draws: coefficients by sets of draws."""
    found = {frozenset(): Fraction(1)}
    for draw in draws:
        p, more = draw[1], {}
        for others, c in found.items():
            more[others] = c * p * (1 - p)
            if p != Fraction(1, 2):
                more[others | {draw}] = c * (1 - 2 * p)
        found = more
    return found


def vector_of_draw(coordinates, law, meter=None):
    """The vector of a draw with two outcomes, pairs (chance, vector)."""
    (p, first), (_, second) = law
    z = RandomNumber({Term(frozenset({(coordinates, p)})): Fraction(1)}, meter)
    return first * p + second * (1 - p) + (first - second) * z


def mean(value, free):
    """The mean of a number or vector over the draws of which ``free(coordinates)`` is true."""
    return mapped(value, lambda term, c: None if any(free(draw) for draw, _ in term.draws) else {term: c})


def mapped(value, change):
    """A number or vector with other terms in place of each: ``change(term, coefficient)``, coefficients or None."""
    if isinstance(value, Vector):
        return Vector(mapped(entry, change) for entry in value)
    if not isinstance(value, RandomNumber):
        return value
    found = {}
    for term, c in value.coefficients.items():
        for new, b in (change(term, c) or {}).items():
            found[new] = found[new] + b if new in found else b
    return number(found, value.meter)
