"""Numbers of the stand-alone checker: fractions while rational, else intervals that surely contain the number."""

from fractions import Fraction
from functools import cache
from math import ceil, floor, isqrt
from operator import mul

BITS = 256
LARGEST = 10**5  # what exp is taken of
LONG = 2**12  # bits of fractions beyond which roots become intervals: whoever divides by them doubles the digits each step


def rounded(number, toward):
    """A fraction of ``BITS`` significant bits next to ``number``, from below (``toward`` floor_of) or above (ceil_of)."""
    top, bottom = number.numerator, number.denominator
    if bottom == 1 and top.bit_length() <= BITS:
        return number
    shift = BITS - top.bit_length() + bottom.bit_length()
    left, right = max(shift, 0), max(-shift, 0)
    return Fraction(toward(top << left, bottom << right) << right, 1 << left)


def floor_of(top, bottom): return top // bottom


def ceil_of(top, bottom): return -(-top // bottom)


class Interval:
    """A real number between two fractions; comparisons hold only where they hold for every number in the interval."""

    def __init__(self, low, high):
        self.low, self.high = rounded(Fraction(low), floor_of), rounded(Fraction(high), ceil_of)
        if self.low > self.high:
            raise ValueError(f"an interval must not end before it begins; got {self.low} to {self.high}")

    def __add__(self, other):
        other = of(other)
        return Interval(self.low + other.low, self.high + other.high)

    def __neg__(self): return Interval(-self.high, -self.low)
    def __sub__(self, other): return self + -other
    def __rsub__(self, other): return other + -self

    def __mul__(self, other):
        if isinstance(other, Vector):
            return NotImplemented
        other = of(other)
        if self.low >= 0 and other.low >= 0:
            return Interval(self.low * other.low, self.high * other.high)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other): return self * (1 / of(other))

    def __rtruediv__(self, other):
        if self.low <= 0 <= self.high:
            raise ZeroDivisionError(f"the divisor {self} may be zero")
        return Interval(1 / self.high, 1 / self.low) * other

    def __pow__(self, power):
        if power < 0:
            return 1 / self**-power
        whole = abs(self) if power % 2 == 0 else self
        return Interval(whole.low**power, whole.high**power)

    def __abs__(self): return self if self.low >= 0 else -self if self.high <= 0 else Interval(0, max(-self.low, self.high))
    def __lt__(self, other): return self.high < of(other).low
    def __le__(self, other): return self.high <= of(other).low
    def __gt__(self, other): return self.low > of(other).high
    def __ge__(self, other): return self.low >= of(other).high
    def __eq__(self, other): return self.low == self.high == of(other).low == of(other).high
    def __ne__(self, other): return self < other or self > other
    def __str__(self): return f"{float(self.low)!r} to {float(self.high)!r}"

    __hash__ = None


def of(number):
    """The number as an interval."""
    return number if isinstance(number, Interval) else Interval(number, number)


def extreme(numbers, largest=True):
    """The largest (or smallest) of numbers; a fraction where one surely is, else an interval if any of them is one."""
    choose, intervals = max if largest else min, [n for n in numbers if isinstance(n, Interval)]
    if len(intervals) < len(numbers):
        best = choose(n for n in numbers if not isinstance(n, Interval))
        if all(n.high <= best if largest else n.low >= best for n in intervals):
            return best
    return Interval(choose(of(n).low for n in numbers), choose(of(n).high for n in numbers))


def whole_root(number, degree):
    """The largest whole number whose power is at most a whole ``number`` of at least 0."""
    if degree == 2:
        return isqrt(number)
    low, high = 0, 1 << (number.bit_length() // degree + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= number else (low, middle)
    return low


def root(number, degree=2):
    """The root of a number of at least 0; of an interval, of its part that is not negative."""
    if degree == 1:
        return number
    if isinstance(number, Interval):
        return Interval(of(root(max(number.low, Fraction(0)), degree)).low, of(root(number.high, degree)).high)
    if number < 0:
        raise ValueError(f"a root of {number} is not real")
    found = Fraction(whole_root(number.numerator, degree), whole_root(number.denominator, degree))
    if found**degree == number:
        return found if max(abs(found.numerator), found.denominator).bit_length() <= LONG else of(found)
    scale = 2 ** max(0, BITS + (number.denominator.bit_length() - number.numerator.bit_length()) // degree)
    below = whole_root(floor(number * scale**degree), degree)
    return Interval(Fraction(below, scale), Fraction(below + 1, scale))


def exp(number):
    """e to the power of a number."""
    if isinstance(number, Interval):
        return Interval(of(exp(number.low)).low, of(exp(number.high)).high)
    if abs(number) > LARGEST:
        raise ArithmeticError(f"exp is taken of numbers up to {LARGEST}; got {float(number)}")
    if number == 0:
        return Fraction(1)
    halvings = max(0, ceil(abs(number)).bit_length() + 4)
    small = of(number / 2**halvings)  # at most 1/16 in absolute value
    total, term, count = of(1), of(1), 0
    while term == 0 or max(abs(term.low), abs(term.high)) > Fraction(1, 2 ** (BITS + 8)):
        count += 1
        term = term * small / count
        total = total + term
    rest = max(abs(term.low), abs(term.high))  # the terms left out fall by 1/16 each
    total = total + Interval(-rest, rest)
    for _ in range(halvings):
        total = total**2
    return total


@cache
def _twice_artanh(z):
    """log((1 + z) / (1 - z)) for 0 <= z <= 1/3."""
    power, total, count = of(z), of(0), 1
    while power.high > Fraction(1, 2 ** (BITS + 8)):
        total, power, count = total + power * Fraction(2, count), power * z * z, count + 2
    return total + Interval(0, 3 * power.high)  # the terms left out fall by 1/9 each


def log(number):
    """The natural logarithm of a positive number."""
    if isinstance(number, Interval):
        return Interval(of(log(number.low)).low, of(log(number.high)).high)
    if number <= 0:
        raise ValueError(f"the logarithm of {number} is not real")
    if number == 1:
        return Fraction(0)
    if number < 1:
        return -log(1 / number)
    doublings = (number.numerator // number.denominator).bit_length() - 1
    scaled = number / 2**doublings  # from 1 to 2
    return _twice_artanh((scaled - 1) / (scaled + 1)) + doublings * _twice_artanh(Fraction(1, 3))


def power(base, exponent):
    """``base`` to a real exponent: exactly where it can be, by roots of small degree, else by exp and log."""
    if isinstance(exponent, Fraction) and exponent.denominator <= 6 and abs(exponent.numerator) <= LARGEST:
        return root(base, exponent.denominator) ** exponent.numerator
    return exp(exponent * log(base))


class Vector(tuple):
    """A vector of R^dim; also any list of numbers or of vectors that is read from a certificate."""

    def __add__(self, other): return each(lambda a, b: a + b, self, other)
    def __sub__(self, other): return each(lambda a, b: a - b, self, other)
    def __mul__(self, number): return Vector(a * number for a in self)
    def __truediv__(self, number): return Vector(a / number for a in self)

    __rmul__ = __mul__


def each(function, *vectors):
    """The vector of the function's values, coordinate by coordinate."""
    return Vector(function(*entries) for entries in zip(*vectors, strict=True))


def dot(a, b):
    """The inner product of vectors; of the number 0, a sum of no vectors, it is 0."""
    return Fraction(0) if a == 0 or b == 0 else sum(each(mul, a, b), Fraction(0))


def norm(v):
    return root(dot(v, v))


def quotient(above, below):
    """above / below with 0/0 = 0."""
    return above if above == 0 and below == 0 else above / below


def along(v, length):
    """The vector of a length along ``v``, zero for zero."""
    size = norm(v)
    return v if size == 0 else v * (length / size)


def agrees(value, text):
    """Whether a value is what was recorded: a fraction, or "low to high" that overlaps with it."""
    if not isinstance(text, str) or " to " not in text:
        return str(value) == text
    low, high = map(Fraction, text.split(" to "))
    return of(value).low <= high and low <= of(value).high


def shown(value):
    """As text; of a fraction with more digits than Python writes, about what it is, at most 1e300."""
    long = isinstance(value, Fraction) and max(value.numerator.bit_length(), value.denominator.bit_length()) > 10_000
    return f"about {float(max(-(10**300), min(value, 10**300)))}" if long else str(value)
