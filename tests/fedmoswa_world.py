"""A world of random fractions in which FedSWA's and FedMoSWA's formulas are compared with plain Python.

Nothing in it is consistent: every name has a random value of its own for every choice of its indices, and expectations are
marked (``E(a)`` is an affine function of ``a``), so that two formulas agree only if they are the same formula.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction as Q

import sympy as sp

from bounds import language as words
from bounds.fedmoswa import words as own

SIZES = {
    "clients": 3, "participants": 2, "local_steps": 3, "rounds": 4, "iterations": 12, "samples": 5, "length": 5, "terms": 3,
    "outcomes": 3,
}
VECTORS = frozenset((
    "x_round", "x_local", "x_before", "x_star", "g", "client_variate", "server_variate", "twin_x_round", "twin_x_local",
    "twin_x_before", "twin_g", "p1", "p2", "p3", "shift", "v1", "v2", "variates", "vectors", "outcome", "change",
))
#: factors that keep powers and exponentials of one size with what is added to them
SMALL = {"eta": Q(1, 97), "step": Q(1, 53), "rates": Q(1, 89), "power": Q(1, 31), "eta_g": Q(1, 11)}


class Vec(tuple):
    """A vector of numbers."""

    def __add__(self, other):
        return Vec(a + b for a, b in zip(self, other, strict=True))

    def __sub__(self, other):
        return self + other * -1

    def __mul__(self, number):
        return Vec(a * number for a in self)

    __rmul__ = __mul__

    def __truediv__(self, number):
        return self * (1 / Q(number) if not isinstance(number, float) else 1 / number)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def sq(v):
    """Squared norm."""
    return dot(v, v)


def norm(v):
    return math.sqrt(sq(v))


def total(terms):
    """Sum of numbers or of vectors; 0 if there are none."""
    terms = list(terms)
    return sum(terms[1:], terms[0]) if terms and not isinstance(terms[0], Vec) else _vector_sum(terms)


def _vector_sum(terms):
    if not terms:
        return 0
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def marked(value, factor, offset):
    """``factor * value + offset`` for numbers and, entry by entry, for vectors."""
    return Vec(factor * x + offset for x in value) if isinstance(value, Vec) else factor * value + offset


class World:
    """Random values by name and indices; ``aliases`` lets a name stand for another one."""

    def __init__(self, seed: int, aliases=None, given_round=None, one_client=False, meanings=None):
        self.seed, self.aliases = seed, aliases or {}
        self.given_round, self.one_client, self.meanings = given_round, one_client, meanings or {}

    def read(self, **changes) -> World:
        """The same world under another reading."""
        return World(self.seed, **{
            "aliases": self.aliases, "given_round": self.given_round, "one_client": self.one_client,
            "meanings": self.meanings} | changes)

    def value(self, name: str, *indices):
        if name in SIZES:
            return SIZES[name]
        if name in self.aliases:
            name, keep, shift = self.aliases[name]
            indices = tuple(i + shift for i in indices[:keep])
        if self.given_round is not None and name in self.meanings:
            return self.meanings[name](self, *indices)
        rng = random.Random(f"{self.seed} {name} {indices}")
        scale = SMALL.get(name, 1)
        if name in VECTORS:
            return Vec(Q(rng.randint(-40, 40), rng.randint(1, 9)) for _ in range(2))
        return scale * Q(rng.randint(1, 40), rng.randint(1, 12))

    # words -----------------------------------------------------------------------------------------------------------
    def E(self, a, coupled=None):
        """An expectation; of coupled runs where ``coupled`` says for which client."""
        if self.one_client and coupled is not None:
            return self.E_client(coupled, a)
        if self.given_round is not None:
            return self.E_round(a, self.given_round)
        return marked(a, Q(3, 2), Q(1, 5))

    @staticmethod
    def E_round(a, r):
        return marked(a, Q(5, 3), Q(1, 3) + r)

    @staticmethod
    def E_client(k, a):
        return marked(a, k + 2, Q(1, 3))

    @staticmethod
    def E_noise(a):
        return marked(a, Q(4, 5), Q(1, 7))

    @staticmethod
    def E_data(a):
        return marked(a, Q(7, 4), Q(2, 7))

    @staticmethod
    def F_pop(v):
        return 2 * sq(v) + 1

    @staticmethod
    def worst_mean_gap(v, u):
        return 3 * sq(v) + sq(u) + 2

    @staticmethod
    def worst_pair_gap(v, u):
        return 5 * sq(v) + sq(u) + 1

    def loss_grad(self, k, j, v):
        return v * (k + 2) + Vec((j, 1))

    def F(self, k, v):
        return self.value("curvature", k) * sq(v) / 2 + self.value("offset", k)

    def grad(self, k, v):
        return v * self.value("curvature", k) + Vec((k, 1))

    @staticmethod
    def objective(v):
        return 7 * sq(v) + v[0] + 3

    @staticmethod
    def objective_grad(v):
        return v * 5 + Vec((1, 2))


def value(expression, w: World, index=None):
    """Value of a claim's expression in the world."""
    e, index = sp.sympify(expression), index or {}

    def of(part):
        return value(part, w, index)

    if e.is_Rational:
        return Q(int(e.p), int(e.q))
    if e.is_Symbol:
        return index[e.name] if e.name in index else w.value(e.name)
    if isinstance(e, sp.Indexed):
        places = [int(of(i)) for i in e.indices]
        assert all(p >= 0 for p in places), f"negative index in {e}"
        return w.value(str(e.base.label), *places)
    if e.is_Add:
        return total(of(a) for a in e.args)
    if e.is_Mul:
        return _times([of(a) for a in e.args])
    if isinstance(e, sp.exp | sp.log):
        return getattr(math, type(e).__name__)(of(e.args[0]))
    if e.is_Pow:
        return power(of(e.base), of(e.exp))
    if isinstance(e, sp.Sum | sp.Product):
        parts = [value(e.function, w, inner) for inner in _ranges(e.limits, w, index)]
        return total(parts) if isinstance(e, sp.Sum) else math.prod(parts)
    if isinstance(e, sp.Max | sp.Min):
        return (max if isinstance(e, sp.Max) else min)(of(a) for a in e.args)
    if isinstance(e, sp.Abs):
        return abs(of(e.args[0]))
    plain = {words.norm2: sq, words.norm: norm, words.dot: dot, words.tau: lambda t: t - t % SIZES["local_steps"]}
    if type(e) in plain:
        return plain[type(e)](*map(of, e.args))
    assert isinstance(e, words._Word) or type(e).__module__ == own.__name__, e
    return getattr(w, type(e).__name__)(*map(of, e.args))


def power(base, exponent):
    if exponent == Q(1, 2):
        return math.sqrt(base)
    return base ** int(exponent) if exponent == int(exponent) else float(base) ** float(exponent)


def _times(factors):
    vectors = [f for f in factors if isinstance(f, Vec)]
    number = math.prod(f for f in factors if not isinstance(f, Vec))
    assert len(vectors) <= 1, "product of two vectors"
    return vectors[0] * number if vectors else number


def _ranges(limits, w, index):
    """Every value of the indices of a sum, the last one outermost."""
    found = [dict(index)]
    for name, low, high in reversed(limits):
        found = [
            inner | {name.name: i} for inner in found
            for i in range(int(value(low, w, inner)), int(value(high, w, inner)) + 1)
        ]
    return found


def cases(over, w):
    """Every value of the indices that a condition ranges over."""
    return _ranges(tuple(reversed(over)), w, {})


def same(a, b) -> bool:
    """Equal as fractions, or up to rounding where roots or exponentials occur."""
    if isinstance(a, float) or isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    return a == b
