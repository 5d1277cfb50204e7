"""A world of random fractions in which FedSWA's and FedMoSWA's formulas are compared with plain Python.

Nothing in it is consistent: every name has a random value of its own for every choice of its indices, and expectations are
marked (``E(a)`` is an affine function of ``a``), so that two formulas agree only if they are the same formula.
"""

from __future__ import annotations

import math
import random
from fractions import Fraction as Q

from bounds.language import operators
from tests.bounds.chance import Max, Min
from tests.bounds.claim_values import Values, Vec, dot, sq

SIZES = {
    "clients": 5, "participants": 2, "local_steps": 3, "rounds": 4, "iterations": 12, "samples": 7, "length": 6, "terms": 3,
    "outcomes": 5,
}
VECTORS = frozenset((
    "x_round", "x_local", "x_before", "x_star", "g", "client_variate", "server_variate", "twin_x_round", "twin_x_local",
    "twin_x_before", "twin_g", "p1", "p2", "p3", "shift", "v1", "v2", "variates", "vectors", "outcome", "change", "u",
))
#: factors that keep powers and exponentials of one size with what is added to them
SMALL = {"eta": Q(1, 97), "rates": Q(1, 89), "power": Q(1, 31), "eta_g": Q(1, 11),
         **dict.fromkeys(("step", "largest_step"), Q(1, 53)), **dict.fromkeys(("swa_length", "lengths"), Q(1, 97))}


def norm(v):
    return math.sqrt(sq(v))


def marked(value, factor, offset):
    """``factor * value + offset`` for numbers and, entry by entry, for vectors."""
    return Vec(factor * x + offset for x in value) if isinstance(value, Vec) else factor * value + offset


class World:
    """Random values by name and indices; ``aliases`` lets a name stand for another one, ``fixed`` gives it a value."""

    def __init__(self, seed: int, aliases=None, given_round=None, one_client=False, meanings=None, fixed=None):
        self.seed, self.aliases, self.fixed = seed, aliases or {}, fixed or {}
        self.given_round, self.one_client, self.meanings = given_round, one_client, meanings or {}

    def read(self, **changes) -> World:
        """The same world under another reading."""
        return World(self.seed, **{
            "aliases": self.aliases, "given_round": self.given_round, "one_client": self.one_client,
            "meanings": self.meanings, "fixed": self.fixed} | changes)

    def value(self, name: str, *indices):
        if name in SIZES:
            return SIZES[name]
        if name in self.fixed:
            return self.fixed[name]
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
    def worst_sample_gap(v, u):
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
    def f_grad(v):
        return v * 3 + Vec((2, 1))

    @staticmethod
    def objective(v):
        return 7 * sq(v) + v[0] + 3

    @staticmethod
    def objective_grad(v):
        return v * 5 + Vec((1, 2))


def values(w: World) -> Values:
    """Values in a world: every word but those of plain geometry is one of its methods."""
    return Values(lambda name, places: w.value(name, *places), _Words(w), largest=Max, smallest=Min)


class _Words:
    """The words of a world, by class."""

    def __init__(self, w: World):
        self.w = w

    def __getitem__(self, word):
        plain = {operators.norm2: sq, operators.norm: norm, operators.dot: dot,
                 operators.tau: lambda t: t - t % SIZES["local_steps"]}
        assert word in plain or issubclass(word, operators.Operator), word
        return plain.get(word) or getattr(self.w, word.__name__)
