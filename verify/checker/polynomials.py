"""Exact polynomials over atoms: the arithmetic of proofs about numbers and vectors.

A polynomial has rational coefficients; its monomials are products of whole powers of atoms. An atom is a tuple, of a kind
and its arguments: a name, an entry of an array, or a function of polynomials, such as ("exp", p). Equal formulas need not
have equal polynomials; ``vanishes`` multiplies by the denominators and inserts the powers of roots. A vector is a dictionary
from atoms of vectors to the polynomials that are their coefficients. Whoever makes 1/p or a root shows that it has a value.
"""

from fractions import Fraction
from functools import lru_cache

from verify.checker.limits import BITS, WorkLimit, bits, bounded

EXPONENT = 60  # of a power that is multiplied out
WORK = 4 * 10**6  # products of terms in one replay, and of their digits

meter = WorkLimit(WORK)


class Poly:
    """A polynomial: ``terms`` maps monomials, sorted tuples of (atom, whole power), to fractions other than 0."""

    __slots__ = ("_hash", "_text", "terms")

    def __init__(self, terms):
        self.terms, self._text = {m: c for m, c in terms.items() if c}, None
        self._hash = None

    def __repr__(self):
        if self._text is None:
            self._text = " + ".join(sorted(f"{c}*{m!r}" for m, c in self.terms.items())) or "0"
        return self._text

    def __eq__(self, other): return isinstance(other, Poly) and self.terms == other.terms

    def __hash__(self):
        if self._hash is None:
            self._hash = hash(repr(self))
        return self._hash

    def __add__(self, other):
        found = dict(self.terms)
        for m, c in other.terms.items():
            found[m] = found.get(m, 0) + c
        return Poly(found)

    def __neg__(self): return Poly({m: -c for m, c in self.terms.items()})
    def __sub__(self, other): return self + -other

    def __mul__(self, other):
        digits = sum(max(map(bits, p.terms.values()), default=0) for p in (self, other))
        meter.charge(1 + len(self.terms) * len(other.terms) * (1 + digits // 512))
        found = {}
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                both = times(m, n)
                found[both] = found.get(both, 0) + c * d
        for c in found.values():
            bounded(bits(c), BITS, "bits of a coefficient")
        return Poly(found)

    def __pow__(self, n):
        bounded(n, EXPONENT, "the exponent of a sum")
        found = ONE
        for _ in range(n):
            found = found * self
        return found

    def number(self):
        """The rational number that it is; None where it is none."""
        return self.terms.get((), Fraction(0)) if {*self.terms} <= {()} else None


def constant(number): return Poly({(): Fraction(number)})


ZERO, ONE = constant(0), constant(1)


@lru_cache(100_000)
def key(atom):
    """The sort key of atoms."""
    return repr(atom)


@lru_cache(100_000)
def times(one, other):
    """The product of two monomials."""
    powers = dict(one)
    for atom, n in other:
        powers[atom] = powers.get(atom, 0) + n
    return tuple(sorted(((a, n) for a, n in powers.items() if n), key=lambda pair: key(pair[0])))


def of_atom(atom, n=1): return Poly({((atom, n),): Fraction(1)})


@lru_cache(100_000)
def has(part, atom):
    """Whether an atom, a polynomial or a tuple of such contains an atom."""
    if isinstance(part, Poly):
        return any(has(a, atom) for m in part.terms for a, _ in m)
    return part == atom or (isinstance(part, tuple) and any(has(p, atom) for p in part))


@lru_cache(100_000)
def random(part):
    """Whether an atom, a polynomial or a tuple of such has what a run draws, outside of means over all draws."""
    if isinstance(part, Poly):
        return any(random(a) for m in part.terms for a, _ in m)
    if not isinstance(part, tuple) or (part[:1] == ("E",) and len(part) == 2):
        return False
    return part[:1] in (("run",), ("drawn",), ("E",)) or any(map(random, part))


@lru_cache(100_000)
def depth(part):
    """The nesting depth of sums and products."""
    if isinstance(part, Poly):
        return max((depth(a) for m in part.terms for a, _ in m), default=0)
    within = max(map(depth, part), default=0) if isinstance(part, tuple) else 0
    return within + (isinstance(part, tuple) and part[:1] in (("Sum",), ("Product",), ("vsum",)))


# quotients and roots -----------------------------------------------------------------------------------------------------
def cleared(p):
    """(p d, d) for a product d of denominators that have the value 0 nowhere: p d has no quotients by sums and no powers of
    roots that could be written without them."""
    d = ONE
    while True:
        found = {a for m in p.terms for a, n in m if a[0] == "inv" or (a[0] == "root" and not 0 <= n < a[2])}
        if not found:
            return p, d
        a = max(found, key=lambda one: (len(key(one)), key(one)))
        powers = [(dict(m).get(a, 0), Poly({tuple(pair for pair in m if pair[0] != a): c})) for m, c in p.terms.items()]
        if a[0] == "inv":
            most = max(n for n, _ in powers)
            d, p = d * a[1] ** max(most, 0), total(rest * a[1] ** (max(most, 0) - n) for n, rest in powers)
        else:
            least = max(0, max(-(n // a[2]) for n, _ in powers))
            d = d * a[1] ** least
            p = total(rest * a[1] ** (least + n // a[2]) * of_atom(a, n % a[2]) if n % a[2] else
                      rest * a[1] ** (least + n // a[2]) for n, rest in powers)


def total(parts):
    found = {}
    for p in parts:
        for m, c in p.terms.items():
            found[m] = found.get(m, 0) + c
    return Poly(found)


def vanishes(p):
    """Whether a polynomial is 0 wherever it has a value."""
    return not p.terms or not cleared(p)[0].terms


def common(p):
    """The largest monomial that divides all terms, as (atom, power)."""
    first, *others = [dict(m) for m in p.terms]
    names = {a for m in (first, *others) for a in m}
    return tuple(sorted(((a, least) for a in names if (least := min(m.get(a, 0) for m in (first, *others)))),
                        key=lambda pair: key(pair[0])))


def reciprocal(m):
    """One over a monomial."""
    return Poly({tuple((a, -n) for a, n in m): Fraction(1)})


def inverse(p):
    """1 / p."""
    p, d = cleared(p)
    if not p.terms:
        raise ZeroDivisionError("a divisor is 0")
    factor = reciprocal(common(p))
    p = p * factor
    lead = p.terms[min(p.terms, key=repr)]
    p = p * constant(1 / lead)
    return d * factor * constant(1 / lead) * (ONE if p == ONE else of_atom(("inv", p)))


def root(p, degree):
    """The root of a degree."""
    return ONE if p == ONE else of_atom(("root", p, degree)) if p.terms else ZERO


def power(b, e):
    """``b`` to the power ``e``; a whole or rational exponent is one of a power or a root."""
    n = e.number()
    if n is None:
        return ONE if b == ONE else of_atom(("pow", b, e))
    bounded(abs(n.numerator), EXPONENT, "an exponent")
    bounded(n.denominator, EXPONENT, "the degree of a root")
    if n.denominator > 1:
        b = root(b, n.denominator)
    if n >= 0 and len(b.terms) != 1:
        return b**n.numerator
    if n < 0 and len(b.terms) != 1:
        return inverse(b) ** -n.numerator
    (m, c), = b.terms.items()
    return Poly({tuple((a, k * n.numerator) for a, k in m) if n else (): c**n.numerator})


def exponential(e): return of_atom(("exp", e)) if e.terms else ONE
def logarithm(p): return ZERO if p == ONE else of_atom(("log", p))


def extreme(kind, *numbers):
    """The largest or the least of numbers."""
    if all(p.number() is not None for p in numbers):
        return constant((max if kind == "Max" else min)(p.number() for p in numbers))
    kept = sorted({*numbers}, key=repr)
    return kept[0] if len(kept) == 1 else of_atom((kind, *kept))
