"""Letters: vectors of which nothing is known but inequalities. A run on letters is what a method does on every federation.

A letter is the start, the gradient of a client at a point, or the noise of one draw. A model is a linear combination of
letters; a side of a statement is one of their expected inner products, of losses at points, and of numbers without a value.
"""

from fractions import Fraction

from verify.checker.limits import BASIS_VECTORS, bounded
from verify.checker.quadratic_forms import LAYER, LOSS, ORIGIN, NotQuadratic, QuadraticForm, SymbolicVector, loss, unknown

NOTHING = -1  # the first round in which anything is drawn: given that round's past, all noise is random
PAST = -2  # stands for all that is drawn before the first round


class SymbolicRun:
    """The letters of a run, and what was asked of its clients.

    ``clients`` are one by one, or one that stands for each. ``depends`` says of each letter on which draws of noise it
    depends, ``drawn`` of each draw in which round. ``points[k]`` has what was asked of client k: (where, gradient, value),
    the first of which is the optimum; ``noises`` what came of each draw: (noise, stochastic gradient, where); ``solved`` the
    answers of local problems; ``conditional`` the means of letters given the past of a round. ``functions`` has the letter
    of each function by coordinates, ``largest`` what is known of the largest and the least of several numbers. ``shared``
    are letters that are the same for all clients, where one stands for each. ``exact``: there is no noise.
    """

    def __init__(self, clients, layers, meter):
        self.clients, self.layers, self.parts, self.meter = clients, layers, clients.parts(range(layers)), meter
        self.depends, self.drawn, self.noises, self.solved, self.conditional = [], {}, {}, {}, {}
        self.points, self.functions, self.largest, self.loose = [[] for _ in clients.all], {}, {}, 0
        self.chosen, self.chosen_before, self.shared, self.exact = set(), {}, set(), False

    def basis_vector(self, depends=frozenset(), shared=False):
        """A new letter."""
        bounded(len(self.depends) + 1, BASIS_VECTORS, "letters")
        self.depends.append(frozenset(depends))
        row = SymbolicVector.reduced({len(self.depends) - 1 + part * LAYER: 1 for part in self.parts}, 1)
        if shared:
            self.shared.add(len(self.depends) - 1)
        return self.clients.common(row) if shared else row

    def anything(self):
        """A number of which nothing is known."""
        self.loose += 1
        return unknown(f"{LOSS}any {self.loose}")

    def part(self, part, v):
        """A vector with all parts but one set to zero."""
        if not isinstance(v, SymbolicVector) or (ORIGIN in v.parts and len(self.parts) > 1):
            raise NotQuadratic("a layer of what is no vector, or not measured from the optimum")
        return v if len(self.parts) == 1 else v.reduced({i: c for i, c in v.parts.items() if i // LAYER == part}, v.over)

    def layer(self, l, v):
        """A vector with every layer but one set to zero."""
        return v if self.layers == 1 else sum((self.part(part, v) for part in self.clients.parts([l])), SymbolicVector({}))

    def upstream(self, row):
        """The draws of noise on which a vector depends."""
        return self.clients.upstream(self.depends, row)

    def evaluation_at(self, k, x):
        """(where, gradient, value) of client k at a point: one point has one gradient and one value."""
        if not isinstance(x, SymbolicVector):
            raise NotQuadratic("a loss at a vector that no run gives")
        for point in self.points[k]:
            if point[0].equals(x):
                return point
        self.points[k].append((x, self.basis_vector(self.upstream(x)), loss(k, len(self.points[k]))))
        return self.points[k][-1]

    def noise(self, k, x, gradient, draw, before=0):
        """The noise of a draw at a point, of mean zero given all that does not depend on the draw. ``before``: how many
        choices were made before it."""
        if self.exact:
            return SymbolicVector({})
        seen = self.noises.setdefault((k, *draw), [])
        for row, _, known in seen:
            if known.equals(x):
                return row
        first = next(iter(seen[0][0].parts)) if seen else len(self.depends)
        if first in self.upstream(x):
            raise NotQuadratic("the same samples are used at a point that depends on them")
        self.drawn |= dict.fromkeys(self.clients.draws(first), draw[1])
        self.chosen_before[first] = before
        row = self.basis_vector({first, *self.upstream(x)})
        seen.append((row, gradient + row, x))
        return row

    def solution(self, k, linear, pull, x):
        """The point v with gradient + linear + pull (v - x) = 0 of client k; of the same problem the same one."""
        moved = x - linear / pull
        key = k, pull, moved.key
        if key not in self.solved:
            gradient = self.basis_vector(self.upstream(moved))
            self.solved[key] = moved - gradient / pull
            self.points[k].append((self.solved[key], gradient, loss(k, len(self.points[k]))))
        return self.solved[key]

    def mean(self, row, past):
        """The mean of a vector given the past of a round."""
        return sum((self.mean_of(letter, past) * c for letter, c in row.terms.items()), SymbolicVector({}))

    def mean_of(self, letter, past):
        whole, part = letter % LAYER, letter // LAYER
        later = {draw for draw in self.depends[whole] if self.drawn[draw] >= past} if letter != ORIGIN else ()
        if not later:
            return SymbolicVector.basis(letter)
        if any(letter in row.parts for seen in self.noises.values() for row, *_ in seen):  # of a draw that is later
            return SymbolicVector({})
        if (whole, past) not in self.conditional:
            self.conditional[whole, past] = self.basis_vector(self.depends[whole] - later, whole in self.shared)
        return self.part(part, self.conditional[whole, past])

    def first_of_draws(self, past=NOTHING - 1):
        """Returns, for each letter of noise that is drawn from a round on, the first letter of its draw."""
        return {next(iter(row.parts)): next(iter(seen[0][0].parts)) for (_, *draw), seen in self.noises.items()
                if draw[1] >= past for row, *_ in seen}

    def places(self):
        """The points that occur, of all clients, each once."""
        return [*{x.key: x for points in self.points for x, *_ in points}.values()]


class SeparateClients:
    """Clients one by one, with their weights."""

    one = any_weights = False

    def __init__(self, weights):
        self.weights, self.all = [*map(Fraction, weights)], range(len(weights))

    def counts(self): return {}
    def all_take_part(self, participants): return participants == len(self.all)
    def leave_out(self, run, rule): """Refuse to do without a hypothesis: never."""
    def recorded(self, record, layers): """Tell lists of clients from others: nothing to do."""
    def parts(self, layers): return layers
    def common(self, v): return v
    def upstream(self, depends, row): return frozenset().union(*(depends[i % LAYER] for i in row.parts if i != ORIGIN))
    def draws(self, first): return [first]
    def numbers(self, name): return [unknown(f"{name} {k}") for k in self.all]
    def index(self, k): return Fraction(k)
    def listed(self, entries): return entries

    def number(self, k):
        """The number of a client that a formula names."""
        if k not in self.all:
            raise IndexError(f"{k} is no client")
        return int(k)

    def at_rest(self, letters):
        """The clients' gradients at the optimum, of mean 0."""
        found = [letters.basis_vector() for _ in self.all[:-1]]
        return [*found,
                sum((g * p for g, p in zip(found, self.weights, strict=False)), SymbolicVector({})) / -self.weights[-1]]

    def objective(self, letters, x): return sum((letters.evaluation_at(k, x)[2] * p for k, p in enumerate(self.weights)),
                                                QuadraticForm({}))

    def objective_grad(self, letters, x):
        return sum((letters.evaluation_at(k, x)[1] * p for k, p in enumerate(self.weights)), SymbolicVector({}))
