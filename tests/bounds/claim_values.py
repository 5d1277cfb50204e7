"""The value of a claim's expression in a test's world of numbers and vectors, one walk for the tests of all papers.

A world says what names and words mean; nothing in it need be consistent, so that two formulas agree only if they are the
same formula.
"""

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np
import sympy as sp

__all__ = ["Values", "Vec", "dot", "entry", "name_of", "norm", "power", "reading_of", "same", "sq", "total"]


def name_of(claim) -> str:
    """The claim's number without its paper and its reading: ``lemma-1`` of ``paper/lemma-1@other``."""
    return claim.block.partition("/")[2]


def reading_of(claim) -> frozenset[str]:
    """What the claim's id says of its reading: ``{a, b}`` of ``paper/lemma-1@a+b``."""
    return frozenset(claim.id.partition("@")[2].split("+")) - {""}


class Vec(tuple):
    """A vector of numbers; the number 0 may be added to it, as sums start with it."""

    def __add__(self, other):
        return Vec(a + b for a, b in zip(self, other, strict=True)) if other != 0 else self

    __radd__ = __add__

    def __sub__(self, other):
        return self + other * -1

    def __mul__(self, number):
        return Vec(a * number for a in self)

    __rmul__ = __mul__

    def __truediv__(self, number):
        return self * (1 / number if isinstance(number, float) else 1 / Fraction(number))


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def sq(v):
    """Squared norm."""
    return dot(v, v)


def norm(v):
    return math.sqrt(sq(v))


def total(terms):
    """Sum of numbers or of vectors; 0 if there are none."""
    first, *rest = [*terms] or [0]
    for term in rest:
        first = first + term
    return first


def power(base, exponent):
    """A power, exact where the exponent is an integer."""
    if exponent == int(exponent):
        return (Fraction(base) if isinstance(base, int) else base) ** int(exponent)
    return math.sqrt(base) if exponent == Fraction(1, 2) else float(base) ** float(exponent)


def same(a, b, rel_tol=1e-9, abs_tol=1e-12) -> bool:
    """Equal as fractions, or up to rounding where roots or exponentials occur; vectors entry by entry."""
    if isinstance(a, Vec | np.ndarray):
        return len(a) == len(b) and all(same(x, y, rel_tol, abs_tol) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) or isinstance(b, float):
        return math.isclose(a, b, rel_tol=rel_tol, abs_tol=abs_tol)
    return a == b


def entry(data, places):
    """``data[place][place]...``, or ``data(*places)`` of a function."""
    if callable(data):
        return data(*places)
    for place in places:
        data = data[place]
    return data


class Values:
    """Values of expressions in one world.

    Args:
        of_name: ``of_name(name, places)`` is the value of a name with these indices, none for a symbol.
        words: by word, a function of its arguments' values.
        binding: by word with an index of its own, a function of ``(expression, of)``, where ``of(part, index)`` is a value
            under further values of indices.
        definitions: by name; their formulas are put in.
        number, power: how numbers are read and powers taken.
        largest, smallest: maximum and minimum of what is no index, as one of indices and numbers alone is.
    """

    def __init__(self, of_name: Callable, words: Mapping, *, binding: Mapping | None = None,
                 definitions: Mapping | None = None, number: Callable = Fraction, power: Callable = power,
                 largest: Callable = max, smallest: Callable = min):
        self.of_name, self.words, self.binding, self.power = of_name, words, binding or {}, power
        self.definitions, self.number, self.known = definitions or {}, number, {}
        self.largest, self.smallest, self.in_index = largest, smallest, False

    def of(self, expression, index: Mapping[str, int] | None = None):
        """The value of an expression under these values of its indices."""
        e, index = sp.sympify(expression), index or {}
        if e.is_Symbol:
            return index[e.name] if e.name in index else self._named(e.name, ())
        if isinstance(e, sp.Indexed):
            places = tuple(self.integer(i, index) for i in e.indices)
            return self._named(e.base.label.name, places)
        if e.is_Rational:
            return self.number(Fraction(int(e.p), int(e.q)))
        if not e.args and e.is_number:
            return float(e)
        if e.is_Add:
            return total(self.of(a, index) for a in e.args)
        if e.is_Mul:
            factors = [self.of(a, index) for a in e.args]
            assert sum(isinstance(f, Vec | np.ndarray) for f in factors) <= 1, f"product of two vectors in {e}"
            return math.prod(factors[1:], start=factors[0])
        if isinstance(e, sp.exp | sp.log):
            return getattr(math, type(e).__name__)(self.of(e.args[0], index))
        if e.is_Pow:
            return self.power(self.of(e.base, index), self.of(e.exp, index))
        if isinstance(e, sp.Sum | sp.Product):
            parts = [self.of(e.function, at) for at in self.cases(reversed(e.limits), index)]
            return math.prod(parts) if isinstance(e, sp.Product) else total(parts)
        if type(e) in self.binding:
            return self.binding[type(e)](e, lambda part, more=(): self.of(part, {**index, **dict(more)}))
        arguments = [self.of(a, index) for a in e.args]
        if isinstance(e, sp.Max | sp.Min):
            numbers = self.in_index or all(name.name in index for name in e.free_symbols)
            largest, smallest = (max, min) if numbers else (self.largest, self.smallest)
            return (largest if isinstance(e, sp.Max) else smallest)(*arguments)
        return abs(*arguments) if isinstance(e, sp.Abs) else self.words[type(e)](*arguments)

    def integer(self, expression, index: Mapping[str, int] | None = None) -> int:
        """The value of an index or of an end of a range, where maxima are what they are."""
        before, self.in_index = self.in_index, True
        try:
            return round(self.of(expression, index))
        finally:
            self.in_index = before

    def _named(self, name, places):
        if name not in self.definitions:
            assert all(place >= 0 for place in places), f"negative index in {name}{places}"
            return self.of_name(name, places)
        if (name, places) not in self.known:
            definition = self.definitions[name]
            at = dict(zip((i.name for i in definition.indices), places, strict=True))
            self.known[name, places] = self.of(definition.formula, at)
        return self.known[name, places]

    def cases(self, over, index: Mapping[str, int] | None = None) -> list[dict[str, int]]:
        """Every value of the indices in ``over``: triples (index, lowest, highest), later ones from earlier ones."""
        found = [dict(index or {})]
        for name, low, high in over:
            found = [at | {name.name: i} for at in found
                     for i in range(self.integer(low, at), self.integer(high, at) + 1)]
        return found
