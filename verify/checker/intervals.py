"""Numbers of the stand-alone checker: fractions while rational, else intervals that surely contain the number."""

from fractions import Fraction
from functools import cache, lru_cache
from math import ceil, floor, isqrt
from operator import floordiv, mul

from verify.checker import limits
from verify.checker.limits import DECIMAL, EXPONENT, bits, bounded, parse_number

BITS = 256
LARGEST, HIGH = 10**5, 64  # what exp is taken of; exponent beyond which each product is rounded
LONG = 2**12  # bits of fractions beyond which roots become intervals: whoever divides by them doubles the digits each step


class Undecided(ArithmeticError):
    """Two intervals overlap, so that nothing says which number is larger, or whether they are equal."""


def rounded(number, toward):
    """A fraction of ``BITS`` significant bits next to ``number``, from below (``toward`` floordiv) or above (ceil_of)."""
    top, bottom = number.numerator, number.denominator
    if bottom == 1 and top.bit_length() <= BITS:
        return number
    shift = BITS - top.bit_length() + bottom.bit_length()
    left, right = max(shift, 0), max(-shift, 0)
    return Fraction(toward(top << left, bottom << right) << right, 1 << left)


def ceil_of(top, bottom): return -(-top // bottom)


class Interval:
    """A real number between two fractions. A comparison that the fractions do not decide raises Undecided."""

    def __init__(self, low, high):
        self.low, self.high = rounded(Fraction(low), floordiv), rounded(Fraction(high), ceil_of)
        if self.low > self.high:
            raise ValueError(f"an interval must not end before it begins; got {self.low} to {self.high}")

    def __add__(self, other):
        if not isinstance(other, (Interval, Fraction, int)):
            return NotImplemented
        other = as_interval(other)
        return Interval(self.low + other.low, self.high + other.high)

    def __neg__(self): return Interval(-self.high, -self.low)
    def __sub__(self, other): return self + -other
    def __rsub__(self, other): return other + -self

    def __mul__(self, other):
        if not isinstance(other, (Interval, Fraction, int)):
            return NotImplemented
        other = as_interval(other)
        if self.low >= 0 and other.low >= 0:
            return Interval(self.low * other.low, self.high * other.high)
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other): return self * (1 / as_interval(other))

    def __rtruediv__(self, other):
        if self.low <= 0 <= self.high:
            raise ZeroDivisionError(f"the divisor {self} may be zero")
        return Interval(1 / self.high, 1 / self.low) * other

    def __pow__(self, power):
        if power < 0 or power > HIGH:
            return 1 / self**-power if power < 0 else (self ** (power // 2)) ** 2 * (self if power % 2 else 1)
        whole = abs(self) if power % 2 == 0 else self
        return Interval(whole.low**power, whole.high**power)

    def __abs__(self): return self if self.low >= 0 else -self if self.high <= 0 else Interval(0, max(-self.low, self.high))

    def __lt__(self, other):
        return self._decided(self.high < as_interval(other).low, self.low >= as_interval(other).high, other)

    def __le__(self, other):
        return self._decided(self.high <= as_interval(other).low, self.low > as_interval(other).high, other)

    def __gt__(self, other): return as_interval(other) < self
    def __ge__(self, other): return as_interval(other) <= self

    def __eq__(self, other):
        if not isinstance(other, (Interval, Fraction, int)):
            raise TypeError(f"a number is compared with {type(other).__name__}")
        other = as_interval(other)
        equal = self.low == self.high == other.low == other.high
        return self._decided(equal, self.high < other.low or self.low > other.high, other)

    def __ne__(self, other): return not self == other

    def _decided(self, yes, no, other):
        if not yes and not no:
            raise Undecided(f"{self} and {other} are not told apart")
        return yes

    def __str__(self): return f"{_clipped_float(self.low)!r} to {_clipped_float(self.high)!r}"

    __hash__ = None


def _clipped_float(number):
    """A float near the number, at most 1e300."""
    return float(max(-(10**300), min(number, 10**300)))


def as_interval(number):
    """The number as an interval."""
    return number if isinstance(number, Interval) else Interval(number, number)


def extreme(numbers, largest=True):
    """The largest (or smallest) of numbers; a fraction where one surely is, else an interval if any of them is one."""
    choose, intervals = max if largest else min, [n for n in numbers if isinstance(n, Interval)]
    if len(intervals) < len(numbers):
        best = choose(n for n in numbers if not isinstance(n, Interval))
        if all(n.high <= best if largest else n.low >= best for n in intervals):
            return best
    return Interval(choose(as_interval(n).low for n in numbers), choose(as_interval(n).high for n in numbers))


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
    """The root of a number of at least 0."""
    if degree == 1:
        return number
    if isinstance(number, Interval):
        return Interval(as_interval(root(number.low, degree)).low, as_interval(root(number.high, degree)).high)
    if number < 0:
        raise ValueError(f"a root of {_clipped_float(number)} is not real")
    found = Fraction(whole_root(number.numerator, degree), whole_root(number.denominator, degree))
    if found**degree == number:
        return found if max(abs(found.numerator), found.denominator).bit_length() <= LONG else as_interval(found)
    scale = 2 ** max(0, BITS + (number.denominator.bit_length() - number.numerator.bit_length()) // degree)
    below = whole_root(floor(number * scale**degree), degree)
    return Interval(Fraction(below, scale), Fraction(below + 1, scale))


def increasing(function):
    """An increasing function of fractions, extended to intervals and memoised."""
    f = lru_cache(1024)(function)
    return lambda n: Interval(as_interval(f(n.low)).low, as_interval(f(n.high)).high) if isinstance(n, Interval) else f(n)


@increasing
def exp(number):
    """e to the power of a number."""
    bounded(abs(number), LARGEST, "the exponent of exp")
    if number == 0:
        return Fraction(1)
    halvings = max(0, ceil(abs(number)).bit_length() + 4)
    small = as_interval(number / 2**halvings)  # at most 1/16 in absolute value
    total, term, count = as_interval(1), as_interval(1), 0
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
    power, total, count = as_interval(z), as_interval(0), 1
    while power.high > Fraction(1, 2 ** (BITS + 8)):
        total, power, count = total + power * Fraction(2, count), power * z * z, count + 2
    return total + Interval(0, 3 * power.high)  # the terms left out fall by 1/9 each


@increasing
def log(number):
    """The natural logarithm of a positive number."""
    if number <= 0:
        raise ValueError(f"the logarithm of {_clipped_float(number)} is not real")
    if number == 1:
        return Fraction(0)
    if number < 1:
        return -log(1 / number)
    doublings = (number.numerator // number.denominator).bit_length() - 1
    scaled = number / 2**doublings  # from 1 to 2
    return _twice_artanh((scaled - 1) / (scaled + 1)) + doublings * _twice_artanh(Fraction(1, 3))


def power(base, exponent):
    """``base`` to a real exponent: exactly where it can be, by roots of small degree, else by exp and log. 0**0 is 1."""
    base = Fraction(base) if isinstance(base, int) else base  # Python's 2**-1 is a float
    if isinstance(exponent, Fraction) and exponent.denominator <= 6:
        found = root(base, exponent.denominator)
        times = bounded(abs(exponent.numerator), EXPONENT, "an exponent")
        return (found if times * bits(found) <= limits.BITS else as_interval(found)) ** exponent.numerator
    return Fraction(0) if zero(base) and exponent > 0 else exp(exponent * log(base))


class Vector(tuple):
    """A vector of R^dim; also any list of numbers or of vectors that is read from a certificate. It has no order."""

    __hash__ = tuple.__hash__

    def __add__(self, other): return each(lambda a, b: a + b, self, other)
    def __sub__(self, other): return each(lambda a, b: a - b, self, other)
    def __mul__(self, number): return Vector(a * number for a in self)
    def __truediv__(self, number): return Vector(a / number for a in self)

    __rmul__ = __mul__

    def __eq__(self, other):
        """Raises Undecided where no entry differs for sure, and not all are equal for sure."""
        if not isinstance(other, tuple) or len(other) != len(self):
            raise TypeError("a vector is compared with what is none of its length")
        undecided = None
        for a, b in zip(self, other, strict=True):
            try:
                if a != b:
                    return False
            except Undecided as error:
                undecided = error
        if undecided:
            raise undecided
        return True

    def __ne__(self, other): return not self == other
    def __lt__(self, other): raise TypeError("vectors have no order")

    __gt__ = __le__ = __ge__ = __lt__


def each(function, *vectors):
    """The vector of the function's values, coordinate by coordinate."""
    return Vector(function(*entries) for entries in zip(*vectors, strict=True))


def dot(a, b):
    """The inner product of vectors; of the number 0, a sum of no vectors, it is 0."""
    numbers = [c for c in (a, b) if not isinstance(c, (tuple, list))]
    if numbers:
        if not all(isinstance(c, (int, Fraction, Interval)) and zero(c) for c in numbers):
            raise TypeError("an inner product is one of vectors, which this one knows by their coordinates")
        return Fraction(0)
    return sum(each(mul, a, b), Fraction(0))


def norm(v): return root(dot(v, v))


def zero(number):
    """Whether the number is surely zero."""
    return as_interval(number).low == as_interval(number).high == 0


def quotient(above, below):
    """above / below with 0/0 = 0."""
    return above if zero(above) and zero(below) else above / below


def along(v, length):
    """The vector of a length along ``v``, zero for zero."""
    size = norm(v)
    return v if zero(size) else v * (length / size)


def agrees(value, text):
    """Whether a value is what was recorded: a fraction, or "low to high" that overlaps with it."""
    if isinstance(value, Vector) or not isinstance(text, str):
        raise TypeError(f"a recorded side is a number as text; got {text!r}")
    if " to " not in text:
        return isinstance(value, (Fraction, int)) and value == parse_number(text)
    low, high = (parse_number(end, DECIMAL) for end in text.split(" to "))
    return as_interval(value).low <= high and low <= as_interval(value).high


def number_text(value):
    """The value as text; a fraction with more digits than Python writes is rounded, to at most 1e300."""
    return f"about {_clipped_float(value)}" if isinstance(value, Fraction) and bits(value) > 20_000 else str(value)
