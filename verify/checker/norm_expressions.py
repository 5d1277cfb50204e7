"""Symbolic vectors, and numbers that are linear combinations of their expected norms."""

from fractions import Fraction
from math import gcd, lcm

from verify.checker.intervals import Interval, root
from verify.checker.limits import bits
from verify.checker.words import kind, require

ORIGIN = -1  # the basis vector that stands for the start in points, of which nothing is known

#: how keys of numbers without a value begin: expected norms and their squares and absolute values are never negative, the
#: signed ones may be
NORM, SQUARE, ABSOLUTE, SIGNED = "norm", "square", "absolute", "signed"
NONNEGATIVE = (NORM, SQUARE, ABSOLUTE)


class NotLinear(TypeError):
    """Something is not linear in expected norms."""


def number(value):
    """The number, a fraction or an interval; an expression without norms is one."""
    if isinstance(value, NormExpression) and {*value.terms} <= {()}:
        return value.terms.get((), Fraction(0))
    if type(value) is not int and not isinstance(value, (Fraction, Interval)):
        raise NotLinear(f"a number must stand where there is {kind(value)}")
    return Fraction(value) if type(value) is int else value


def upper(value):
    """A fraction that is at least the number."""
    return value.high if isinstance(value, Interval) else value


def lower(value):
    """A fraction that is at most the number."""
    return value.low if isinstance(value, Interval) else value


def root_above(value):
    """A fraction that is at least the root of a number, or 0."""
    return upper(root(max(upper(value), Fraction(0))))


class SymbolicVector:
    """A linear combination of basis vectors: whole coefficients by number, over a denominator, in lowest terms."""

    def __init__(self, coefficients, denominator=1):
        common = gcd(denominator, *coefficients.values())
        self.coefficients = {i: c // common for i, c in coefficients.items() if c}
        self.denominator = denominator // common

    @staticmethod
    def of(fractions):
        """The vector with these fractions as coefficients, by number."""
        over = lcm(*(c.denominator for c in fractions.values()))
        return SymbolicVector({i: c.numerator * (over // c.denominator) for i, c in fractions.items()}, over)

    @property
    def key(self):
        """Equal for equal vectors alone."""
        return self.denominator, frozenset(self.coefficients.items())

    @property
    def numerator(self): return max(map(abs, self.coefficients.values()), default=0)

    def plus(self, other, sign):
        if not isinstance(other, SymbolicVector):
            require(fraction(other) == 0, "a vector and a number are not added")
            return self
        over = lcm(self.denominator, other.denominator)
        found = {i: c * (over // self.denominator) for i, c in self.coefficients.items()}
        for i, c in other.coefficients.items():
            found[i] = found.get(i, 0) + c * (over // other.denominator) * sign
        return SymbolicVector(found, over)

    def __mul__(self, factor):
        above, below = fraction(factor).as_integer_ratio()
        return SymbolicVector({i: c * above for i, c in self.coefficients.items()}, self.denominator * below)

    def __add__(self, other): return self.plus(other, 1)
    def __sub__(self, other): return self.plus(other, -1)
    def __rsub__(self, other): return (-self).plus(other, 1)
    def __neg__(self): return self * -1
    def __truediv__(self, factor): return self * (1 / fraction(factor))

    __radd__, __rmul__ = __add__, __mul__

    def refuse(self, *_):
        raise NotLinear("vectors have sums and multiples only")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __abs__ = __iter__ = __len__ = __rtruediv__ = __bool__ = refuse
    __getitem__ = __pow__ = refuse
    __hash__ = None


def fraction(value):
    """The number, if it is a fraction."""
    found = number(value)
    if isinstance(found, Interval):
        raise NotLinear("a multiple of a vector by a number of which the ends alone are known")
    return found


def direction(vector):
    """(factor, items): the vector as a positive factor times one of whole coefficients without a common factor, of which the
    first one is positive, up to its sign."""
    common = gcd(*vector.coefficients.values())
    return Fraction(common, vector.denominator), positive((i, c // common) for i, c in vector.coefficients.items())


def positive(items):
    """Pairs (number, coefficient) in ascending order, all with the other sign where the first coefficient is negative."""
    items = sorted(items)
    return tuple(items if items[0][1] > 0 else [(i, -c) for i, c in items])


class NormExpression:
    """A linear combination of expected norms: fractions or intervals by key, of the number 1 by ()."""

    def __init__(self, terms):
        self.terms = {key: c for key, c in terms.items() if lower(c) or upper(c)}

    @staticmethod
    def of(value):
        return value if isinstance(value, NormExpression) else NormExpression({(): number(value)})

    def __add__(self, other): return total((self, 1), (self.of(other), 1))
    def __sub__(self, other): return total((self, 1), (self.of(other), -1))
    def __rsub__(self, other): return total((self.of(other), 1), (self, -1))
    def __neg__(self): return self * -1

    def __mul__(self, other):
        if isinstance(other, NormExpression) and not {*other.terms} <= {()}:
            return other * number(self)
        factor = number(other)
        return NormExpression({key: c * factor for key, c in self.terms.items()})

    def __truediv__(self, other): return self * (1 / number(other))
    def __rtruediv__(self, other): return other / number(self)
    def __pow__(self, power): return self if power == 1 else number(self) ** power

    __radd__, __rmul__ = __add__, __mul__

    def __abs__(self):
        if all(c >= 0 for c in self.terms.values()) and all(not key or key[0] in NONNEGATIVE for key in self.terms):
            return self
        if len(self.terms) == 1 and (key := next(iter(self.terms))) and key[0] == SIGNED:
            return NormExpression({(ABSOLUTE, *key[1:]): abs(self.terms[key])})
        return abs(number(self))

    @property
    def longest(self):
        return max((end for c in self.terms.values() for end in (lower(c), upper(c))), key=bits, default=Fraction(0))

    @property
    def numerator(self): return self.longest.numerator

    @property
    def denominator(self): return self.longest.denominator

    def refuse(self, *_):
        raise NotLinear("norms have sums and multiples only")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __iter__ = __len__ = __bool__ = __getitem__ = refuse
    __hash__ = None


def total(*parts):
    """The sum of multiples of expressions, pairs (expression, factor)."""
    found = {}
    for expression, factor in parts:
        for key, c in expression.terms.items():
            c = c * factor
            found[key] = found[key] + c if key in found else c
    return NormExpression(found)


def norm_of(vector, power=NORM, representative=lambda items: items):
    """The expected norm of a vector, or of its square. Vectors of one ``representative`` have one expected norm."""
    if not vector.coefficients:
        return NormExpression({})
    if ORIGIN in vector.coefficients:
        raise NotLinear("a point has no norm, only differences of points have")
    factor, items = direction(vector)
    return NormExpression({(power, representative(items)): factor**2 if power == SQUARE else factor})


def nonnegative(expression):
    """Whether an expression is surely never negative: norms are not."""
    return all(c == 0 if key and key[0] not in NONNEGATIVE else lower(c) >= 0 for key, c in expression.terms.items())
