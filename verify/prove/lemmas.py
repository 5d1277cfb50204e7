"""Facts about powers, exponentials, sums, products and lengths that hold for all numbers, as far as a formula needs them.

Each function below is one lemma: it yields its instances for the terms that occur. An instance is an implication between
inequalities in which the terms stand for themselves; real arithmetic does the rest.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Condition
from verify.prove.normal import Normal, expanded, outermost
from verify.prove.satisfiable import Fact

__all__ = ["ADDED", "LEMMAS", "OF_NUMBERS", "OF_VECTORS", "SEARCHED", "Terms"]


class Terms:
    """The terms of formulas that are not made of sums, products and whole powers of symbols, each by its kind.

    ``over(e, index, low, high)`` says whether an expression is certainly at least 0 for all indices of a range;
    ``bounds(entry)`` gives what hypotheses say is at least an entry of a family; ``ranges`` has the ends of free indices.
    """

    def __init__(self, formulas: Iterable[sp.Expr], normal: Normal, over, bounds, ranges):
        self.normal, self.over, self.bounds, self.ranges = normal, over, bounds, ranges
        found: set[sp.Expr] = set()
        waiting = [sp.sympify(formula) for formula in formulas]
        while waiting:
            e = waiting.pop()
            if e is sp.E:
                found.add(e)
            if e in found or not e.args:
                continue
            if (isinstance(e, sp.Pow) and not e.exp.is_Number) or isinstance(
                    e, sp.exp | sp.Sum | sp.Product | operators.dot | operators.norm | sp.log):
                found.add(e)
            if not isinstance(e, sp.Sum | sp.Product | operators.dot | operators.norm | sp.Indexed):
                waiting += e.args
        ordered = sorted(found, key=sp.default_sort_key)
        self.powers = [e for e in ordered if isinstance(e, sp.Pow)]
        self.exponentials = [e for e in ordered if isinstance(e, sp.exp) or e is sp.E]
        self.logarithms = [e for e in ordered if isinstance(e, sp.log)]
        self.sums = [e for e in ordered if isinstance(e, sp.Sum)]
        self.products = [e for e in ordered if isinstance(e, sp.Product)]
        self.inner = [e for e in ordered if isinstance(e, operators.dot)]
        self.lengths = [e for e in ordered if isinstance(e, operators.norm)]
        self.squared = [s for s in self.sums if any(s**2 in sp.sympify(formula).atoms(sp.Pow) for formula in formulas)]
        self.vectors = sorted({v for e in self.inner for v in e.args}, key=sp.default_sort_key)


    def candidates(self, factor, index, low, high) -> Iterator[sp.Expr]:
        """Yield bounds, independent of the index, of a factor of the terms of a sum, from above or below."""
        if not factor.has(index):
            return
        if not factor.has(sp.Indexed):
            yield from (factor.xreplace({index: end}) for end in (low, high))
        for entry in sorted(factor.atoms(sp.Indexed), key=sp.default_sort_key):
            yield from (self.normal.number(factor.xreplace({entry: bound})) for bound in self.bounds(entry))
        lengths = {n: triangle(n, self.normal) for n in factor.atoms(operators.norm)
                   if len(self.normal.vector(n.args[0])) > 1}
        if lengths:
            yield self.normal.number(factor.xreplace(lengths))
        if isinstance(factor, sp.exp | sp.Product):
            yield from (e for e in self.exponentials if not any(s.name[0] in "$#" for s in e.free_symbols))


def triangle(n, normal) -> sp.Expr:
    """The sum of the lengths of the parts of a vector."""
    return sp.Add(*((c if normal.holds(c) else sp.Abs(c)) * operators.norm(v) for v, c in normal.vector(n.args[0]).items()))


_EACH = sp.Symbol("$0", integer=True)  # an index that no sum has, where terms of two sums are compared


def le(left, right): return Condition(left, "<=", right)


def fact(name, left, right, *premises) -> Fact:
    return Fact(name, le(left, right), premises)


# powers ------------------------------------------------------------------------------------------------------------------
def powers(terms: Terms) -> Iterator[Fact]:
    """Signs of powers, their place beside 1, and Bernoulli's inequality."""
    for p in terms.powers:
        b, e = p.args
        yield fact("a power of what is not negative is not negative", 0, p, le(0, b), le(0, e))
        yield fact("a power of at least 1", 1, p, le(1, b), le(0, e))
        yield fact("a power of at most 1", p, 1, le(0, b), le(b, 1), le(0, e))
        yield fact("Bernoulli", 1 + e * (b - 1), p, le(0, b), le(1, e))
        yield fact("Bernoulli for exponents below 1", p, 1 + e * (b - 1), le(0, b), le(0, e), le(e, 1))
        yield fact("a higher power of at most 1 is smaller", p, b, le(0, b), le(b, 1), le(1, e))
        yield fact("a higher power of at least 1 is larger", b, p, le(1, b), le(1, e))
        yield Fact("the power zero", Condition(p, "==", 1), (Condition(e, "==", 0),))
        for index, (low, high) in terms.ranges.items():
            if e.has(index) and not b.has(index):
                for end in (sp.expand(e.xreplace({index: end})) for end in (low, high)):
                    yield fact("powers of at least 1 rise", p, b**end, le(1, b), le(e, end))
                    yield fact("powers of at most 1 fall", p, b**end, le(0, b), le(b, 1), le(0, end), le(end, e))


def pairs_of_powers(terms: Terms) -> Iterator[Fact]:
    """Powers rise with the base, and with the exponent as the base is beside 1."""
    for p, q in permutations(terms.powers, 2):
        (b, e), (c, f) = p.args, q.args
        if e == f:
            yield fact("powers rise with the base", p, q, le(0, b), le(b, c), le(0, e))
        if b == c:
            yield fact("powers of at least 1 rise", p, q, le(1, b), le(e, f))
            yield fact("powers of at most 1 fall", q, p, le(0, b), le(b, 1), le(0, e), le(e, f))


# exponentials ------------------------------------------------------------------------------------------------------------
def exponentials(terms: Terms) -> Iterator[Fact]:
    """``exp(x)`` beside its tangent, and rational bounds of numbers."""
    for term in terms.exponentials:
        x = term.as_base_exp()[1]
        yield fact("1 + x <= exp(x)", 1 + x, term)
        yield fact("exp(x) > 0", 0, term)
        yield fact("exp(x) <= 1 where x <= 0", term, 1, le(x, 0))
        yield from _between(term)
        bound = None if x.is_number else next((q for q in _SIMPLE if terms.normal.holds(q - x)), None)
        if bound is not None:
            yield fact("exp rises", term, sp.exp(bound))
            yield from _between(sp.exp(bound))
    for one, other in permutations(terms.exponentials, 2):
        yield fact("exp rises", one, other, le(one.as_base_exp()[1], other.as_base_exp()[1]))


#: numbers that may be at least an exponent
_SIMPLE = [sp.Rational(n, 4) for n in (-4, -2, -1, 0, 1, 2, 3, 4, 5, 6, 8, 12, 16)]


def _between(term) -> Iterator[Fact]:
    """Rational bounds of an exact number."""
    if term.is_number and not term.is_Rational:
        low = sp.Rational(str(sp.floor(term * 10**6))) / 10**6
        yield fact(f"{term} has the digits", low, term)
        yield fact(f"{term} has the digits", term, low + sp.Rational(1, 10**6))


def powers_and_exponentials(terms: Terms) -> Iterator[Fact]:
    """``b**e <= exp(e (b - 1))``, beside the exponentials that occur, else beside the number that bounds it."""
    for p in terms.powers:
        b, e = p.args
        bound = sp.exp(terms.normal.number(sp.cancel(e * (b - 1))))
        yield fact("b**e <= exp(e (b - 1))", p, bound, le(0, b), le(0, e))


# sums and products -------------------------------------------------------------------------------------------------------
def geometric(terms: Terms) -> Iterator[Fact]:
    """The sum of a geometric sequence; a sum that is empty is 0."""
    for s in terms.sums:
        i, low, high, body = outermost(s)
        yield Fact("an empty sum", Condition(s, "==", 0), (le(high, low - 1),))
        if isinstance(body, sp.Pow) and not body.base.has(i):
            b, slope = body.base, sp.expand(body.exp).coeff(i, 1)
            rest = sp.expand(body.exp - slope * i)
            if slope in (1, -1) and not rest.has(i):
                first, last = (low, high) if slope == 1 else (-high, -low)
                closed = b ** sp.expand(rest + last + 1) - b ** sp.expand(rest + first)
                yield Fact("geometric sum", Condition(s * (b - 1), "==", closed), (le(low, high + 1),))


def logarithms(terms: Terms) -> Iterator[Fact]:
    """A logarithm lies between 1 - 1/x and x - 1, and grows with x."""
    for e in terms.logarithms:
        x = e.args[0]
        yield fact("log x <= x - 1", e, x - 1, Condition(0, "<", x))
        yield fact("log x >= 1 - 1/x", 1 - 1 / x, e, Condition(0, "<", x))
    for one, other in permutations(terms.logarithms, 2):
        yield fact("logarithms grow", one, other, Condition(0, "<", one.args[0]), le(one.args[0], other.args[0]))


def products(terms: Terms) -> Iterator[Fact]:
    """A product of factors ``1 + x`` that are not negative is at most ``exp`` of the sum of the ``x``."""
    for p in terms.products:
        i, low, high, body = outermost(p)
        if terms.over(body, i, low, high):
            yield fact("a product of what is not negative", 0, p)
            whole = terms.normal.sum(terms.normal.number(body - 1), i, low, high)
            yield fact("a product of 1 + x is at most exp of the sum", p, sp.exp(whole))
            if terms.over(1 - body, i, low, high):
                yield fact("a product of what is at most 1", p, 1)


def sums(terms: Terms) -> Iterator[Fact]:
    """Signs of sums, and sums beside those in which factors of the terms are replaced by what bounds them."""
    for s in terms.sums:
        i, low, high, body = outermost(s)
        if terms.over(body, i, low, high):
            yield fact("a sum of what is not negative", 0, s)
        for other in terms.sums:
            j, first, last, same = outermost(other)
            if other is not s and (j, same) == (i, body) and terms.over(body, i, first, last):
                yield fact("a longer sum of what is not negative is larger", s, other, le(first, low), le(high, last))
        factors = sp.Mul.make_args(body)
        if len(factors) > 1 and not all(terms.over(factor, i, low, high) for factor in factors):
            continue
        above = {f: [b for b in terms.candidates(f, i, low, high) if terms.over(b - f, i, low, high)] for f in factors}
        bounds = [body / f * b for f in factors for b in above[f]]
        if sum(map(bool, above.values())) > 1:
            bounds.append(sp.Mul(*(b[0] if b else f for f, b in above.items())))
        for bound in bounds:
            larger = terms.normal.sum(expanded(bound), i, low, high)
            yield fact("a sum is at most that of larger terms", s, larger)
        for end in (low, high):
            least = body.xreplace({i: end})
            if not body.has(sp.Indexed) and terms.over(body - least, i, low, high):
                yield fact("a sum is at least its number of terms times the least", terms.normal.count(low, high) * least, s)


def longer_sums(terms: Terms) -> Iterator[Fact]:
    """A sum with one more term, whose other terms are multiples of those of a shorter one."""
    for s, t in permutations(terms.sums, 2):
        (i, low, high, one), (j, first, last, other) = outermost(s), outermost(t)
        if low == first and expanded(last - high) == 1:
            end = terms.normal.number(other.xreplace({j: last}))
            one, other = one.xreplace({i: _EACH}), other.xreplace({j: _EACH})
            for p in other.atoms(sp.Product) - one.atoms(sp.Product):  # one factor more
                k, start, stop = p.limits[0]
                if len(p.limits) == 1 and terms.over(stop - start, _EACH, low, high):
                    shorter = sp.Product(p.function, (k, start, expanded(stop - 1)))
                    other = other.xreplace({p: shorter * p.function.xreplace({k: stop})})
            factor = sp.cancel(sp.powsimp(other / one))
            if not factor.has(_EACH):
                yield Fact("the last term of a sum", Condition(t, "==", factor * s + end), (le(low, high + 1),))


def pairs_of_sums(terms: Terms) -> Iterator[Fact]:
    """Sums over one range are compared term by term."""
    for one, other in permutations(terms.sums, 2):
        (i, low, high, small), (j, *ends, large) = outermost(one), outermost(other)
        if [low, high] == ends and terms.over(large.xreplace({j: _EACH}) - small.xreplace({i: _EACH}), _EACH, low, high):
            yield fact("sums are compared term by term", one, other)


def squared_sums(terms: Terms) -> Iterator[Fact]:
    """The square of a sum is at most its number of terms times the sum of their squares."""
    for s in terms.squared:
        i, low, high, body = outermost(s)
        squares = terms.normal.sum(expanded(body**2), i, low, high)
        yield fact("Cauchy-Schwarz of a sum", s**2, terms.normal.count(low, high) * squares, le(low, high + 1))


# vectors -----------------------------------------------------------------------------------------------------------------
def lengths(terms: Terms) -> Iterator[Fact]:
    """Lengths are not negative, and their squares are inner products."""
    for n in terms.lengths:
        u = terms.normal.vector(n.args[0])
        yield fact("a length is not negative", 0, n)
        yield Fact("a squared length", Condition(n**2, "==", terms.normal.inner(u, u)))
    for n in terms.lengths:
        u = terms.normal.vector(n.args[0])
        if len(u) > 1:
            yield fact("triangle inequality", n, triangle(n, terms.normal))
        for v, c in u.items() if len(u) == 1 else ():
            *limits, body = outermost(v) if isinstance(v, sp.Sum) else [0]
            inside = terms.normal.vector(body)
            for w, factor in inside.items() if len(inside) == 1 else ():
                size = factor if terms.over(factor, *limits) else sp.Abs(factor)
                yield fact("triangle inequality", n, sp.Abs(c) * terms.normal.sum(size * operators.norm(w), *limits))


def inner_products(terms: Terms) -> Iterator[Fact]:
    """Squares are not negative, and inner products are at most the product of the lengths."""
    for e in terms.inner:
        u, v = e.args
        if u == v:
            yield fact("a square is not negative", 0, e)
        else:
            yield fact("Cauchy-Schwarz", e**2, operators.dot(u, u) * operators.dot(v, v))
            for n, m in permutations(terms.lengths, 2):
                if (n.args[0], m.args[0]) == (u, v):
                    yield fact("Cauchy-Schwarz", e, n * m)
                    yield fact("Cauchy-Schwarz", -n * m, e)


def squares(terms: Terms) -> Iterator[Fact]:
    """The squares of sums and differences of pairs of vectors are not negative."""
    for e in terms.inner:
        u, v = e.args
        for sign in (2, -2) if u != v else ():
            yield fact("a square is not negative", 0, operators.dot(u, u) + sign * e + operators.dot(v, v))


def jensen(terms: Terms) -> Iterator[Fact]:
    """The squared length of a sum, or of a sum of sums, is at most the sum of the weights times the weighted sum of the
    squared lengths."""
    normal = terms.normal

    def total(e, ranges):
        for limits in reversed(ranges):
            e = normal.sum(e, *limits)
        return e

    for v in terms.vectors:
        u, weight, ranges = v, sp.Integer(1), []
        while isinstance(u, sp.Sum):
            *limits, body = outermost(u)
            inside = normal.vector(body)
            if len(inside) != 1:
                break
            (u, c), = inside.items()
            if not (c.is_nonnegative if ranges else terms.over(c, *limits)):
                break
            weight, ranges = weight * c, [*ranges, limits]
            square = normal.inner({u: sp.Integer(1)}, {u: sp.Integer(1)})
            yield fact("Jensen", operators.dot(v, v), total(weight, ranges) * total(weight * square, ranges))


OF_NUMBERS: Sequence = (powers, pairs_of_powers, exponentials, powers_and_exponentials, logarithms, lengths, inner_products)
OF_VECTORS: Sequence = (lengths, inner_products)
LEMMAS: Sequence = (*OF_NUMBERS, geometric, products, sums, longer_sums, pairs_of_sums, squared_sums, jensen)
#: what is added up, by how much is looked for in turn
ADDED: Sequence = ((), (*OF_VECTORS, squares), (*LEMMAS, squares))
#: what z3 is given, in turn: what is not needed makes a proof harder to find
SEARCHED: Sequence = ((), OF_VECTORS, LEMMAS)
