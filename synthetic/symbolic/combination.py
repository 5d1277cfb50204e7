"""Numbers that may be added to each other and multiplied by plain numbers, and nothing else."""

from fractions import Fraction
from numbers import Real

__all__ = ["Combination", "NotLinear"]


class NotLinear(TypeError):
    """A method computes something that is not linear in the start and the gradients, or depends on chance or on losses."""


class Combination:
    """A linear combination of numbers without a value, given by its ``row`` of coefficients, floats or fractions.

    Only linear operations may touch it. Zero times it is a plain zero, so that what methods set to zero may be a number too.
    """

    __slots__ = ("row",)

    def __init__(self, row):
        self.row = row

    def __add__(self, other):
        if type(other) is Combination:
            return Combination(self.row + other.row)
        return self if isinstance(other, Real) and other == 0 else self.refuse()

    def __sub__(self, other):
        if type(other) is Combination:
            return Combination(self.row - other.row)
        return self if isinstance(other, Real) and other == 0 else self.refuse()

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, number):
        factor = self.like(number)
        return Combination(self.row * factor) if factor else factor

    def __truediv__(self, number):
        return Combination(self.row / self.like(number))

    def __neg__(self):
        return Combination(-self.row)

    def __repr__(self):
        return f"Combination({self.row})"

    __radd__, __rmul__ = __add__, __mul__

    def like(self, number):
        """A plain number of the coefficients' kind; with fractions a float becomes the fraction that it is."""
        if not isinstance(number, Real):
            return self.refuse()
        return Fraction(number) if self.row.dtype == object else float(number)

    def refuse(self, *_):
        raise NotLinear("an operation on models or gradients that is not linear")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = __int__ = __abs__ = refuse
    __pow__ = __rpow__ = __rtruediv__ = __mod__ = __rmod__ = __floordiv__ = __rfloordiv__ = refuse
    __hash__ = None
