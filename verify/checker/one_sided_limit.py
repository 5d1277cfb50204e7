"""Numbers next to an end 0 that is left out, for the stand-alone checker: a power of a positive number, times a number."""

from fractions import Fraction

from verify.checker.intervals import Interval


class OneSidedLimit:
    """``x**power * factor`` for every x from 0, which is left out, to ``top``: ``factor`` contains what stands there for
    each of them. As x is positive, the sign is that of the factor. All of a formula are about the same x."""

    def __init__(self, power, factor, top):
        self.power, self.factor, self.top = power, factor, top

    def like(self, number):
        """A number, as one of these."""
        if isinstance(number, OneSidedLimit):
            return number
        if not isinstance(number, (Interval, Fraction, int)):
            raise TypeError(f"a number is joined with {type(number).__name__}")
        return OneSidedLimit(0, number if isinstance(number, Interval) else Fraction(number), self.top)

    def __add__(self, other):
        first, second = sorted((self, self.like(other)), key=lambda n: n.power)
        if surely_zero(first.factor):
            return second
        if surely_zero(second.factor):
            return first
        apart = second.power - first.power
        share = Interval(0, self.top**apart) if apart else 1  # x to that power
        return OneSidedLimit(first.power, first.factor + second.factor * share, self.top)

    def __mul__(self, other):
        other = self.like(other)
        return OneSidedLimit(self.power + other.power, self.factor * other.factor, self.top)

    def __pow__(self, times):
        if type(times) is not int:
            raise TypeError("a power is a whole number of times")
        return OneSidedLimit(self.power * times, self.factor**times, self.top)

    def __neg__(self): return OneSidedLimit(self.power, -self.factor, self.top)
    def __sub__(self, other): return self + -self.like(other)
    def __rsub__(self, other): return self.like(other) - self
    def __truediv__(self, other): return self * self.like(other) ** -1
    def __rtruediv__(self, other): return self.like(other) / self
    def __lt__(self, other): return (self - other).factor < 0
    def __le__(self, other): return (self - other).factor <= 0
    def __gt__(self, other): return (self - other).factor > 0
    def __ge__(self, other): return (self - other).factor >= 0
    def __eq__(self, other): raise TypeError("a number next to an end equals none for sure")
    def __bool__(self): raise TypeError("a number next to an end is no truth value")
    def __str__(self): return f"x^{self.power} times {self.factor}, x above 0 and at most {self.top}"

    __radd__, __rmul__, __ne__, __hash__ = __add__, __mul__, __eq__, None


def surely_zero(number):
    return number.low == number.high == 0 if isinstance(number, Interval) else number == 0
