"""Letters of lengths on random federations: every outcome of data, replacement and samples, and the value of every letter.

Shares nothing with the checker but the letters' order, the points at which gradients are asked for, and the amounts.
"""

from itertools import product

import numpy as np

from verify.checker.quadratic_forms import ORIGIN
from verify.symbolic.length_runs import OWN, SHARED, TWIN
from verify.symbolic.norm_expressions import LENGTH, NormExpression, lower, upper

__all__ = ["Chance", "holds"]

_SAMPLES, _ATOMS = 2, 2
_DIM = 2


class Chance:
    """All outcomes for a coupled run, or of added noise for a single one, on losses whose slopes have values between
    ``low`` and ``high``, and that are at most ``steepest`` long where that is a number."""

    def __init__(self, rules, rng, low, high, steepest):
        self.rules, self.rng, clients = rules, rng, rules.all
        self.low, self.high = float(low), float(high)
        self.most = np.inf  # of noise: with it slopes are no steeper
        if steepest is not None and not rules.coupled:
            self.most = steepest = float(steepest) / 2
        self.steepest = None if steepest is None else float(steepest) / _DIM**0.5  # of each coordinate
        shape = len(clients), _ATOMS, _DIM
        ends = np.array([self.low, self.high])
        self.a = np.where(rng.random(shape) < 0.6, rng.choice(ends, shape), rng.uniform(self.low, self.high, shape))
        self.c = rng.normal(size=shape) * rng.choice([0.1, 1.0, 5.0])
        if rules.coupled:
            self._worlds()
        else:
            self._noise()
        self.values = {}
        self._letters()

    def _worlds(self):
        rules, clients = self.rules, len(self.rules.all)
        self.draws = sorted({function[1:] for function in rules.points if function[0] in (OWN, TWIN)}, key=str)
        axes = [range(_ATOMS)] * (_SAMPLES * clients) + [range(clients), range(_SAMPLES), range(_ATOMS)]
        axes += [range(_SAMPLES)] * len(self.draws)
        table = np.array([*product(*axes)])
        if len(table) > 40000:
            raise ValueError(f"{len(table)} outcomes are too many")
        cut = _SAMPLES * clients
        self.data = table[:, :cut].reshape(-1, clients, _SAMPLES)
        self.where, place, fresh = table[:, cut], table[:, cut + 1], table[:, cut + 2]
        self.twin = self.data.copy()
        self.twin[np.arange(len(table)), self.where, place] = fresh
        self.used = {draw: table[:, cut + 3 + i] for i, draw in enumerate(self.draws)}
        self.count = len(table)

    def _noise(self):
        draws = [*self.rules.noises]
        signs = np.array([*product((-1, 1), repeat=len(draws))]).reshape(-1, len(draws))
        self.count, self.where = len(signs), None
        self.sign = {draw: signs[:, [i]] for i, draw in enumerate(draws)}

    def slope(self, k, atoms, y):
        """Gradient of client k's atoms (outcomes,) at y (outcomes, dim)."""
        a, c = self.a[k, atoms], self.c[k, atoms]
        u = a * y + c
        if self.steepest is None:
            return u
        if self.low >= 0:
            return np.clip(u, -self.steepest, self.steepest)
        return self.steepest * np.sin(u / self.steepest)

    def gradient(self, function, y):
        kind, k = function[0], function[-1]
        if kind == SHARED:
            if not self.rules.coupled:
                return self.slope(k, np.zeros(self.count, dtype=int), y)
            return sum(self.slope(k, self.data[:, k, j], y) for j in range(_SAMPLES)) / _SAMPLES
        data = self.data if kind == OWN else self.twin
        return self.slope(k, data[np.arange(self.count), k, self.used[function[1:]]], y)

    def _letters(self):
        """Values of letters in their order; None where a letter belongs to a run that replaces another client's sample."""
        rules = self.rules
        asked = {next(iter(g.terms)): (function, x) for function, seen in rules.points.items() for x, g in seen}
        noises = {next(iter(row.terms)): draw for draw, row in rules.noises.items()}
        for letter in range(len(rules.upstream)):
            if letter in noises:
                draw = noises[letter]
                sigma = min(float(upper(rules.bounds["sigma_sq_client"][draw[-1]])) ** 0.5, self.most)
                direction = self.rng.normal(size=_DIM)
                self.values[letter] = sigma * self.sign[draw] * direction / np.linalg.norm(direction)
            elif letter in asked:
                function, x = asked[letter]
                self.values[letter] = self.gradient(function, self.row(x.terms.items()))
            else:
                self.values[letter] = np.broadcast_to(self.rng.normal(size=_DIM), (self.count, _DIM))

    def row(self, items):
        return sum((float(c) * self.values[letter] for letter, c in items if letter != ORIGIN), np.zeros((self.count, _DIM)))

    def clients(self, items):
        """Whose sample a vector's runs replace: None of one run alone."""
        twin = {function[-1] for function, seen in self.rules.points.items() if function[0] == TWIN for _, g in seen
                if {*g.terms} & self.closure(items)}
        return next(iter(twin)) if len(twin) == 1 else None if not twin else -1

    def closure(self, items):
        points = {next(iter(g.terms)): x for seen in self.rules.points.values() for x, g in seen}
        found, waiting = set(), [letter for letter, _ in items]
        while waiting:
            letter = waiting.pop()
            if letter != ORIGIN and letter not in found:
                found.add(letter)
                waiting += [*points[letter].terms] if letter in points else []
        return found

    def length(self, items):
        """The mean length of a vector, given whose sample is replaced if it is about that."""
        lengths, client = np.linalg.norm(self.row(items), axis=1), self.clients(items) if self.rules.coupled else None
        assert client != -1, "one vector of two coupled runs"
        return lengths.mean() if client is None else lengths[self.where == client].mean()


def holds(chance: Chance, amount: NormExpression, slack: float = 1e-9) -> bool:
    """Whether an amount of lengths is not negative."""
    terms = [(float(lower(c) + upper(c)) / 2, 1.0 if not key else chance.length(key[1])) for key, c in amount.terms.items()
             if not key or key[0] == LENGTH]
    return sum(c * value for c, value in terms) >= -slack * (1 + sum(abs(c * value) for c, value in terms))
