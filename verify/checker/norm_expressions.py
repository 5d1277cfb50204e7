"""Linear combinations of basis vectors, which are symbolic vectors, and of their expected norms, which are numbers."""

from fractions import Fraction
from math import gcd, lcm

from verify.checker.intervals import Interval, root
from verify.checker.limits import bits
from verify.checker.operators import kind

ORIGIN = -1  # the basis vector that stands for the start in points, of which nothing is known
#: how keys of numbers without a value begin: expected norms, and their squares and absolute values, are never negative
NORM, SQUARE, ABSOLUTE, SIGNED = "norm", "square", "absolute", "signed"


class NotLinear(TypeError):
    """Something is not linear in expected norms."""


def number(value):
    """The number, a fraction or an interval; a combination without norms is one."""
    if isinstance(value, Combination) and {*value.terms} <= {()}:
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


class Combination:
    """Coefficients by key: of a vector, fractions by the number of a basis vector; of a number, fractions or intervals by
    what has no value, as an expected norm, and of 1 by ()."""

    def __init__(self, terms):
        self.terms = {key: c for key, c in terms.items() if lower(c) or upper(c)}
        self.is_vector = any(type(key) is int for key in self.terms)
        if self.is_vector and not all(type(key) is int and isinstance(c, Fraction) for key, c in self.terms.items()):
            raise NotLinear("a vector has rational coefficients, and is not added to a number")

    @staticmethod
    def as_combination(value): return value if isinstance(value, Combination) else Combination({(): number(value)})

    @property
    def key(self):
        """A hashable key, equal exactly for equal combinations."""
        return frozenset((key, lower(c), upper(c)) for key, c in self.terms.items())

    def __add__(self, other): return total((self, 1), (other, 1))
    def __sub__(self, other): return total((self, 1), (other, -1))
    def __rsub__(self, other): return total((other, 1), (self, -1))
    def __neg__(self): return total((self, -1))

    def __mul__(self, other):
        if isinstance(other, Combination) and not {*other.terms} <= {()}:
            return other * number(self)
        return total((self, number(other)))

    def __truediv__(self, other): return self * (1 / number(other))
    def __rtruediv__(self, other): return other / number(self)
    def __pow__(self, power): return self if power == 1 else number(self) ** power

    __radd__, __rmul__ = __add__, __mul__

    def __abs__(self):
        if not self.is_vector and nonnegative(self):
            return self
        if len(self.terms) == 1 and (key := next(iter(self.terms))) and not self.is_vector and key[0] == SIGNED:
            return Combination({(ABSOLUTE, *key[1:]): abs(self.terms[key])})
        return abs(number(self))

    @property
    def longest(self):
        return max((end for c in self.terms.values() for end in (lower(c), upper(c))), key=bits, default=Fraction(0))

    @property
    def numerator(self): return self.longest.numerator

    @property
    def denominator(self): return self.longest.denominator

    def refuse(self, *_):
        raise NotLinear("vectors and norms have sums and multiples only")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __iter__ = __len__ = __bool__ = __getitem__ = refuse
    __hash__ = None


def unknown(*key, kind=SIGNED):
    """A symbolic number."""
    return Combination({(kind, *key): Fraction(1)})


def total(*parts):
    """The sum of multiples of vectors or of numbers, pairs (combination, factor)."""
    found = {}
    for part, factor in parts:
        for key, c in Combination.as_combination(part).terms.items():
            c = c * factor
            found[key] = found[key] + c if key in found else c
    return Combination(found)


def nonnegative(expression):
    """Whether a number is surely never negative."""
    return all(lower(c) >= 0 and (not key or key[0] != SIGNED) for key, c in expression.terms.items())


def norm_of(vector, representative=lambda items: items, power=NORM):
    """The expected norm of a vector, or of its square, as a multiple of that of a vector with whole coefficients without a
    common factor, up to its sign. Vectors of one ``representative`` have one expected norm."""
    if not vector.terms:
        return Combination({})
    if ORIGIN in vector.terms or not vector.is_vector:
        raise NotLinear("a number has no norm, and a point has none; differences of points have")
    over = lcm(*(c.denominator for c in vector.terms.values()))
    common = gcd(*(whole := {i: int(c * over) for i, c in vector.terms.items()}).values())
    factor, items = Fraction(common, over), positive((i, c // common) for i, c in whole.items())
    return Combination({(power, representative(items)): factor**2 if power == SQUARE else factor})


def positive(items):
    """Pairs (number, coefficient) in ascending order, all with the other sign where the first coefficient is negative."""
    items = sorted(items)
    return tuple(items if items[0][1] > 0 else [(i, -c) for i, c in items])
