"""Formulas of plain numbers and free vectors in a form in which what is equal looks alike.

Squared lengths and inner products are expanded into inner products of single vectors; factors without the index of a sum
leave it, where they have a value also if it is empty; sums of terms without the index are counted; indices of sums are
renamed. Wherever a formula has a value its normal form has the same.
"""

from collections.abc import Callable, Iterable

import sympy as sp

from bounds.language import operators

__all__ = ["Normal", "NotLinear", "expanded", "outermost"]


class NotLinear(ValueError):
    """Vectors occur in another way than in sums, multiples, lengths and inner products."""


def expanded(e) -> sp.Expr:
    """Products of sums multiplied out; powers and exponentials keep their exponents together."""
    return sp.expand(e, power_exp=False, power_base=False, log=False, func=False, trig=False, complex=False)


def outermost(e) -> tuple[sp.Symbol, sp.Expr, sp.Expr, sp.Expr]:
    """The outermost index of a sum or product, its ends, and the terms. sympy writes sums of sums as one with several
    ranges, the last of which is the outermost."""
    *inner, limits = e.limits
    return *limits, (e.func(e.function, *inner) if inner else e.function)


class Normal:
    """The normal form of formulas.

    Args:
        vectors: names of vectors and of families of vectors.
        holds: whether an expression is certainly at least 0.
        has_value: whether an expression certainly has a value.
        within: of the ends of a range, the normal form within it and a new symbol for its index.
        totals: pairs (sum, number that it is known to be).
    """

    def __init__(self, vectors: frozenset[str], holds: Callable[[sp.Expr], bool], has_value: Callable[[sp.Expr], bool],
                 within: Callable, totals: Iterable[tuple[sp.Sum, sp.Expr]] = ()):
        self.vectors, self.holds, self.has_value, self.within = vectors, holds, has_value, within
        self.totals = {_named(sp.Sum, s.function, *s.limits[0]): total for s, total in totals}

    def number(self, e) -> sp.Expr:
        """A number in normal form."""
        e = sp.sympify(e)
        if not e.args:
            return e
        if isinstance(e, sp.Indexed):
            return e.base[tuple(map(self.number, e.indices))]
        if isinstance(e, operators.norm2):
            return self.inner(*[self.vector(e.args[0])] * 2)
        if isinstance(e, operators.dot):
            return self.inner(*map(self.vector, e.args))
        if isinstance(e, operators.norm):
            return self.length(self.vector(e.args[0]))
        if isinstance(e, sp.Sum | sp.Product):
            inside, body, ranges = self.entered(e)
            body = inside.number(body)
            for limits in reversed(ranges):
                body = (self.sum if isinstance(e, sp.Sum) else self.product)(body, *limits)
            return body
        if self.is_vector(e):
            raise NotLinear(f"{e} is a vector")
        if isinstance(e, sp.Pow) and not e.exp.is_Number:
            base, exponent = map(self.number, e.args)
            number, rest = base.as_coeff_Mul()
            return number**exponent * rest**exponent if number.is_positive else base**exponent
        return expanded(e.func(*map(self.number, e.args)))

    def entered(self, e):
        """The normal form within a sum or product, its terms with indices of their own, and the ranges of these."""
        inside, put, ranges = self, {}, []
        for index, low, high in reversed(e.limits):
            limits = [inside.number(end.xreplace(put)) for end in (low, high)]
            inside, put[index] = inside.within(*limits)
            ranges.append((put[index], *limits))
        return inside, e.function.xreplace(put), ranges

    # vectors: {vector: coefficient} --------------------------------------------------------------------------------------
    def is_vector(self, e) -> bool:
        if isinstance(e, sp.Symbol | sp.Indexed):
            return str(e.base.label if isinstance(e, sp.Indexed) else e) in self.vectors
        if isinstance(e, sp.Sum):
            return self.is_vector(e.function)
        return isinstance(e, sp.Add | sp.Mul) and any(map(self.is_vector, e.args))

    def vector(self, e) -> dict[sp.Expr, sp.Expr]:
        if e == 0:
            return {}
        if isinstance(e, sp.Add):
            return _merged(self.vector(part) for part in e.args)
        if isinstance(e, sp.Mul):
            inner = [part for part in e.args if self.is_vector(part)]
            if len(inner) != 1:
                raise NotLinear(f"{e} is no multiple of a vector")
            factor = self.number(sp.Mul(*(part for part in e.args if part is not inner[0])))
            return _merged([{v: expanded(c * factor) for v, c in self.vector(inner[0]).items()}])
        if isinstance(e, sp.Sum):
            inside, body, ranges = self.entered(e)
            found = inside.vector(body)
            for limits in reversed(ranges):
                found = self.vector_sum(found, *limits)
            return found
        if not self.is_vector(e):
            raise NotLinear(f"{e} is no vector")
        return {e if e.is_Symbol else e.base[tuple(map(self.number, e.indices))]: sp.Integer(1)}

    def vector_sum(self, found, index, low, high) -> dict[sp.Expr, sp.Expr]:
        if (values := _few(low, high)) is not None:
            return _merged({v.xreplace({index: value}): c.xreplace({index: value}) for v, c in found.items()}
                           for value in values)
        parts = []
        for v, factor in found.items():
            if not v.has(index):
                parts.append({v: self.sum(factor, index, low, high)})
                continue
            for term in sp.Add.make_args(expanded(factor)):
                outer, inner = self.taken_out(term, index)
                parts.append({_named(sp.Sum, inner * v, index, low, high): outer})
        return _merged(parts)

    def inner(self, one, other) -> sp.Expr:
        return expanded(sp.Add(*(a * b * _dot(u, v) for u, a in one.items() for v, b in other.items())))

    def length(self, found) -> sp.Expr:
        if not found:
            return sp.Integer(0)
        if len(found) == 1:
            (v, c), = found.items()
            return (c if self.holds(c) else sp.Abs(c)) * operators.norm(v)
        return operators.norm(sp.Add(*(c * v for v, c in found.items())))

    # sums and products ---------------------------------------------------------------------------------------------------
    def count(self, low, high) -> sp.Expr:
        number = expanded(high - low + 1)
        return number if self.holds(number) else operators.Max(0, number)

    def sum(self, body, index, low, high) -> sp.Expr:
        if (values := _few(low, high)) is not None:
            return expanded(sp.Add(*(self.number(body.xreplace({index: value})) for value in values)))
        found = []
        for term in sp.Add.make_args(expanded(body)):
            outer, inner = self.taken_out(term, index)
            if inner == 1:
                found.append(outer * self.count(low, high))
                continue
            products = [f for f in sp.Mul.make_args(inner) if isinstance(f, operators.dot)]
            one_sided = [f for f in products if sum(v.has(index) for v in f.args) == 1]
            if len(products) == 1 and one_sided:
                fixed, moving = sorted(one_sided[0].args, key=lambda v: v.has(index))
                whole = self.vector_sum({moving: inner / one_sided[0]}, index, low, high)
                found.append(outer * self.inner({fixed: sp.Integer(1)}, whole))
            else:
                whole = _named(sp.Sum, inner, index, low, high)
                found.append(outer * self.totals.get(whole, whole))
        return expanded(sp.Add(*found))

    def taken_out(self, term, index) -> tuple[sp.Expr, sp.Expr]:
        """The factors of a term that may stand before its sum, and the others: they do not have the index, and they have a
        value also where the sum is empty."""
        outer, inner = term.as_independent(index, as_Add=False)
        kept = [factor for factor in sp.Mul.make_args(outer) if not self.has_value(factor)]
        return outer / sp.Mul(*kept), inner * sp.Mul(*kept)

    def product(self, body, index, low, high) -> sp.Expr:
        if (values := _few(low, high)) is not None:
            return expanded(sp.Mul(*(self.number(body.xreplace({index: value})) for value in values)))
        if not body.has(index) and self.has_value(body):
            return body ** self.count(low, high)
        return _named(sp.Product, body, index, low, high)


def _few(low, high) -> list[sp.Expr] | None:
    """The values of an index whose range has a known length of at most 8."""
    length = sp.expand(high - low + 1)
    return [sp.expand(low + n) for n in range(length)] if length.is_Integer and length <= 8 else None


def _merged(parts) -> dict[sp.Expr, sp.Expr]:
    found: dict[sp.Expr, sp.Expr] = {}
    for part in parts:
        for v, c in part.items():
            found[v] = expanded(found.get(v, 0) + c)
    return {v: c for v, c in found.items() if c != 0}


def _dot(u, v) -> sp.Expr:
    return operators.dot(*sorted((u, v), key=sp.default_sort_key))


def _named(kind, body, index, low, high) -> sp.Expr:
    """A sum or product whose index has the name of its depth."""
    inside = [int(s.name[1:]) for part in body.atoms(sp.Sum, sp.Product) for s in part.bound_symbols]
    own = sp.Symbol(f"${max(inside, default=0) + 1}", integer=True)
    return kind(body.xreplace({index: own}), (own, low, high))
