"""Vectors and numbers that are polynomials in the number of clients m and in 1/m, and what is never negative for every m."""

from fractions import Fraction
from math import comb

from verify.checker.quadratic_forms import LAYER, LinearCombination, NotQuadratic, QuadraticForm, SymbolicVector, plain

ONE = LAYER - 2  # the letter that stands for 1 where a form is looked at on several ends
END = 20 * LAYER  # letter i has the number i + e * END at end e
MOST = 12  # of powers


class Laurent:
    """Mixin of linear combinations; must precede their class in the bases. Keys are pairs (power of m, key)."""

    with_powers = True

    @classmethod
    def reduced(cls, parts, over):
        if all(power == 0 for (power, _), c in parts.items() if c):
            return cls.without.reduced({key: c for (_, key), c in parts.items()}, over)
        return super().reduced(parts, over)

    @classmethod
    def lifted(cls, linear):
        if isinstance(linear, cls):
            return linear
        found = cls.__new__(cls)
        found.parts, found.over = {(0, key): c for key, c in linear.parts.items()}, linear.over
        return found

    @property
    def of_what(self): return {key for _, key in self.parts}

    def replaced(self, keys):
        return super().replaced(lambda key: [(key[0], new) for new in keys(key[1])])

    def like(self, other):
        return other if isinstance(other, type(self)) else self.lifted(self.without({}).like(other))

    def __mul__(self, other):
        mine, others = polynomial(self), polynomial(other)
        if mine is None and others is None:
            raise NotQuadratic("a product of numbers that are no polynomials in the number of clients")
        factor, whole = (others, self) if others is not None else (mine, other)
        kind, found = LaurentVector if isinstance(whole, SymbolicVector) else LaurentForm, {}
        for (p, key), c in kind.lifted(whole if isinstance(whole, LinearCombination)
                                       else QuadraticForm({(): plain(whole)})).terms.items():
            for q, d in factor.items():
                power = as_whole(p + q)
                if abs(power) > MOST:
                    raise NotQuadratic("a power of the number of clients that is too large")
                found[power, key] = found.get((power, key), 0) + c * d
        made = kind(found)
        return kind.reduced(made.parts, made.over)

    # of two operands the one with powers is asked first
    def __radd__(self, other): return self + other
    def __rsub__(self, other): return self.like(other) + -self
    def __rmul__(self, other): return self * other

    def __pow__(self, power):
        factor = polynomial(self)
        if power == 1:
            return self
        if factor is not None and [*factor.values()] == [1]:  # m^p, whose roots are powers too
            ((p, _),) = factor.items()
            return LaurentForm({(0, ()): Fraction(1)}) * LaurentForm({(as_whole(p * power), ()): Fraction(1)})
        if factor is None or power != int(power) or abs(power) > MOST or (power < 0 and len(factor) > 1):
            raise NotQuadratic("a power that is no polynomial in the number of clients")
        if power < 0:
            ((p, c),) = factor.items()
            return LaurentForm({(-p, ()): 1 / c}) ** -power
        found = Fraction(1)
        for _ in range(int(power)):
            found = self * found
        return found


class LaurentVector(Laurent, SymbolicVector):
    without = SymbolicVector


class LaurentForm(Laurent, QuadraticForm):
    without = QuadraticForm


CLIENTS = LaurentForm({(1, ()): Fraction(1)})


def as_whole(power):
    """The power, as a whole number if it is one."""
    return int(power) if power == int(power) else power


def polynomial(number):
    """{power of m: coefficient} of a number; None of what is more than a number."""
    if isinstance(number, LaurentForm):
        return {p: c for (p, _), c in number.terms.items()} if {key for _, key in number.parts} <= {()} else None
    if isinstance(number, SymbolicVector) or (isinstance(number, LinearCombination) and not {*number.parts} <= {()}):
        return None
    return {0: plain(number)}


def coefficients(form):
    """Forms c_0, ..., c_d with which the form is sum_j c_j / m^j, times a power of m."""
    found = {}
    for (p, key), c in LaurentForm.lifted(form).terms.items():
        found.setdefault(p, {})[key] = c
    if any(p != int(p) for p in found):
        raise NotQuadratic("a root of the number of clients")
    high, low = max(found, default=0), min(found, default=0)
    return [QuadraticForm(found.get(high - j, {})) for j in range(high - low + 1)]


def ends(form, least):
    """Forms b_0, ..., b_d with which a form, times a power of m, is sum_e b_e B_e(least / m), where the Bernstein
    polynomials B_e(v) = (d over e) v^e (1 - v)^(d - e) are never negative and sum to one for m >= least."""
    found = coefficients(form)
    d = len(found) - 1
    return [sum((c * Fraction(comb(e, j), comb(d, j) * least**j) for j, c in enumerate(found[: e + 1])), QuadraticForm({}))
            for e in range(d + 1)]


def on_ends(form, least, degree):
    """The form times each Bernstein polynomial of the degree that is left to it: forms of its coefficients at all ends, each
    with letters and numbers of its own. Such a form is never negative for m >= least where its coefficients are not."""
    found = ends(form, least)
    d = len(found) - 1
    each = []
    for q in range(degree - d + 1):
        parts = {}
        for e, b in enumerate(found):
            share = Fraction(comb(degree - d, q) * comb(d, e), comb(degree, e + q))
            parts |= {at_end(key, e + q, degree): c * share for key, c in b.terms.items()}
        each.append(QuadraticForm(parts))
    return each


def at_end(key, e, degree):
    """A key of a form as it stands at an end."""
    if degree == 0:
        return key
    if isinstance(key, str):
        return f"{key} at {e}"
    return tuple(i + e * END for i in key or (ONE, ONE))


def holds(relation, gap, least):
    """Whether ``0 relation gap`` surely holds for every m >= least, of a number that is a polynomial."""
    found = [plain(b) for b in ends(gap, least)]
    if relation[0] == "=":
        return not any(found)
    return min(found) >= 0 and (relation in ("<=", ">=") or found[-1] > 0)
