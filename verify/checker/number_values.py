"""Symbolic numbers and vectors on which the pseudocode of methods runs in proofs for all numbers."""

from fractions import Fraction

from verify.checker.index_sums import combined, scaled
from verify.checker.operators import require
from verify.checker.polynomials import ONE, constant


class Number:
    """A symbolic number of a run: a polynomial with the arithmetic that methods use."""

    __slots__ = ("p", "run")

    def __init__(self, p, run): self.p, self.run = p, run
    def wrap(self, p): return Number(p, self.run)
    def __add__(self, other): return self.wrap(self.p + poly(other))
    def __sub__(self, other): return self.wrap(self.p - poly(other))
    def __rsub__(self, other): return self.wrap(poly(other) - self.p)
    def __mul__(self, other): return other * self if isinstance(other, Vector) else self.wrap(self.p * poly(other))
    def __truediv__(self, other): return self.wrap(self.p * self.run.one_over(poly(other)))
    def __rtruediv__(self, other): return self.wrap(poly(other) * self.run.one_over(self.p))
    def __neg__(self): return self.wrap(-self.p)
    def refuse(self, *_): raise TypeError("a number without a value is compared")

    __radd__, __rmul__ = __add__, __mul__
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __iter__ = __pow__ = __rpow__ = __float__ = refuse
    __hash__ = None


class Vector:
    """A symbolic vector of a run: a linear combination of atoms."""

    __slots__ = ("run", "v")

    def __init__(self, v, run): self.v, self.run = v, run
    def wrap(self, v): return Vector(v, self.run)
    def __add__(self, other): return self.wrap(combined([self.v, other.v]))
    def __sub__(self, other): return self.wrap(combined([self.v, scaled(other.v, constant(-1))]))
    def __mul__(self, other): return self.wrap(scaled(self.v, poly(other)))
    def __truediv__(self, other): return self.wrap(scaled(self.v, self.run.one_over(poly(other))))
    def __neg__(self): return self * -1
    def refuse(self, *_): raise TypeError("a vector without a value is compared")

    __rmul__ = __mul__
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __iter__ = __float__ = refuse
    __hash__ = None


class AnyLayers:
    """Unspecified layers: the applied update is an atom about which nothing else is known."""

    all = ()

    def __init__(self, run): self.run = run
    def marks(self, layers): return ()
    def select(self, *_): return Vector(self.run.state("server_applied_update", self.run.r + ONE), self.run)


class StepSizes:
    """The sizes of the local steps of a round: that of step j."""

    def __init__(self, size): self.size = size


def poly(value):
    """A number of a method as a polynomial."""
    require(isinstance(value, (Number, Fraction)) or type(value) is int, "a number is asked for")
    return value.p if isinstance(value, Number) else constant(value)
