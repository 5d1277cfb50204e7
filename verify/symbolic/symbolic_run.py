"""Runs on letters: what a method does on every federation of a class at once.

A letter is a vector that nothing is known about but inequalities: the start, the gradient of a client at a point, the
noise of one draw. A model is a linear combination of letters, a side of a statement a linear combination of their
expected inner products, of the losses at the points, and of numbers without a value. What a class of functions allows are
inequalities between these (interpolation conditions, :func:`between`). All that follows holds in every dimension.

Expectations are conditional ones, given all noise that is drawn before some round: given nothing in a statement about
``E``, the past in one about ``E_round``, everything in one about every outcome of the noise.
"""

from fractions import Fraction

from verify.checker.limits import BASIS_VECTORS, WorkLimit, bounded
from verify.checker.operators import require
from verify.checker.quadratic_forms import (
    LAYER,
    LOSS,
    ORIGIN,
    NotQuadratic,
    QuadraticForm,
    SymbolicVector,
    effort,
    loss,
    pairing,
    plain,
    unknown,
)
from verify.symbolic.by_coordinate import BY_COORDINATE, ByCoordinate
from verify.symbolic.class_facts import CLASS
from verify.symbolic.comparisons import NOTHING, Comparisons, Length
from verify.symbolic.replay import Replay
from verify.symbolic.run import INDEPENDENT
from verify.symbolic.scenarios import Scenarios
from verify.symbolic.symbolic_outcome import SymbolicOutcome

#: words that mean the same of letters as of coordinates; the others have none
WORDS = {"+", "*", "^", "exp", "log", "Exp1", "Mod", "Max", "Min", "Abs", "share", "tau"}
OF_LETTERS = {"dot", "norm", "norm2", "F", "grad", "objective", "objective_grad", "layer_part", *BY_COORDINATE}


class SymbolicRun(Comparisons, ByCoordinate, Scenarios, Replay):
    """A claim's procedure on all federations of the class that its hypotheses describe, at given sizes, numbers and weights
    of clients: all of them priority clients, and an objective that has a minimum.

    The parts of a letter in each layer are orthogonal. ``points[k]`` has what was asked of client k: (where, gradient,
    value); the first is the optimum. ``without`` are names of numbers without a value. ``depends`` says of each letter on
    which draws of noise it depends, ``drawn`` of each draw in which round, ``noises`` what came of it: (noise, stochastic
    gradient, where). ``conditional`` has the means of letters given the past of a round, ``solved`` the answers of local
    problems, ``largest`` what is known of the largest and least of several numbers, ``shared`` letters
    that are the same for all clients, where one client stands for each.
    """

    numbering = ("Max", "Min", "largest_sum", "share")
    factored = False  # of models that are products of factors nothing is known

    def __init__(self, stated, sizes, values, without, weights, most=BASIS_VECTORS, steps=None, notes=None):
        require(stated["setting"] == "run" and "replaced" not in stated["procedure"], "only runs of clients without samples")
        lonely = stated["procedure"]["sampling"] in INDEPENDENT
        require(not lonely, "nobody may take part in a round, which letters do not know")
        count, self.most, self.notes = sizes["clients"], most, notes
        self.stated, self.hypotheses = stated, stated["hypotheses"]
        self.depends, self.points = [], [[] for _ in range(count)]
        self.noises, self.drawn, self.conditional, self.solved, self.without = {}, {}, {}, {}, without
        self.chosen, self.chosen_before, self.largest, self.extremes, self.loose, self.shared = set(), {}, {}, {}, 0, ()
        self.layers, self.found_of_two = range(sizes["layers"]), {}
        require(len(self.layers) < LAYER, "too many layers")
        self.given_past, self.certain, self.asked_given, self.inside, self.point = None, set(), set(), 0, None
        self.definers = {value["hypothesis"] for value in values.values() if isinstance(value, dict)}
        instance = {"client_weight": weights, "priority": [1] * count, "initial": {}}
        super().__init__({**stated, "sizes": sizes, "values": values, "instance": instance}, meter=WorkLimit(steps))
        self.ordered()

    # the class ------------------------------------------------------------------------------------------------------------
    def federation(self):
        given = self.given
        self.P, self.p, self.all = given["priority"], given["client_weight"], range(len(self.points))
        self.main, self.lines = self.p, None
        self.words = self.words | {"dot": self.dot, "norm": self.norm, "norm2": self.norm2, "^": self.power}
        self.nothing_made()
        for name in self.without:
            given[name] = self.by_client(name) if name.endswith("_client") else unknown(name)
        self.exact = any(self.bounds_client(rule) == "sigma_sq_client" and rule["relation"] in ("<=", "==")
                         and rule["right"] == 0 for rule in self.hypotheses)
        given["sigma_sq_client"] = [Fraction(0) for _ in self.all] if self.exact else self.by_client("sigma_sq_client")
        self.bounds = {name: [self.bound(name, k) for k in self.all] for name in CLASS}
        star = given["x_star"] = SymbolicVector.basis(ORIGIN)
        given["start_offset"] = self.basis_vector(shared=True)
        for k, gradient in enumerate(self.at_rest()):
            self.points[k].append((star, gradient, loss(k, 0)))
        given["F_star"] = given["F_inf"] = self.objective(star)
        given["F_star_client"] = self.by_client("least F")

    def by_client(self, name):
        """A number of each client that has no value."""
        return [unknown(f"{name} {k}") for k in self.all]

    def at_rest(self):
        """The clients' gradients at the optimum, of mean 0."""
        found = [self.basis_vector() for _ in self.all[:-1]]
        return [*found, sum((g * p for g, p in zip(found, self.p, strict=False)), SymbolicVector({})) / -self.p[-1]]

    @staticmethod
    def numbered(k):
        """A client as formulas name it."""
        return Fraction(k)

    def bound(self, name, k):
        """The bound that the hypotheses give to a client's constant; None where there is none."""
        found = []
        for rule in self.hypotheses:
            if self.bounds_client(rule) == name and rule["relation"].startswith(CLASS[name]):
                found.append(plain(self.value(rule["right"], {rule["left"][1]: self.numbered(k)}, None)))
        return (max if name == "mu_client" else min)(found, default=None)

    @staticmethod
    def bounds_client(rule):
        """The constant of all clients that a hypothesis bounds; None if it is of another kind."""
        left, over = rule["left"], rule["over"]
        if not (isinstance(left, list) and len(left) == 2 and left[0] in (*CLASS, "sigma_sq_client")):
            return None
        return left[0] if over in ([[left[1], 0, ["+", -1, "clients"]]], [[left[1], 0, ["+", "clients", -1]]]) else None

    # letters ---------------------------------------------------------------------------------------------------------------
    def basis_vector(self, depends=frozenset(), shared=False):
        """A new letter. ``shared``: one vector common to all clients (used where one client stands for each)."""
        bounded(len(self.depends) + 1 - len(self.functions), self.most, "letters")
        bounded(len(self.depends) + 1, BASIS_VECTORS, "letters")
        self.depends.append(frozenset(depends))
        return SymbolicVector.reduced({len(self.depends) - 1 + l * LAYER: 1 for l in self.layers}, 1)

    def anything(self):
        """A number of which nothing is known."""
        self.loose += 1
        return unknown(f"{LOSS}any {self.loose}")

    def part(self, l, v):
        """A vector with every layer but one set to zero."""
        if not isinstance(v, SymbolicVector) or (ORIGIN in v.parts and len(self.layers) > 1):
            raise NotQuadratic("a layer of what is no vector, or not measured from the optimum")
        return v if len(self.layers) == 1 else v.reduced({i: c for i, c in v.parts.items() if i // LAYER == l}, v.over)

    def layer_part(self, l, v):
        require(l in range(self.size["layers"]), f"{l} is no layer")
        return v if not isinstance(v, SymbolicVector) and plain(v) == 0 else self.whole_part(int(l), v)

    def whole_part(self, l, v):
        """A vector with every layer of the model but one set to zero."""
        return self.part(l, v)

    def first_states(self, free):
        """A letter for each first state of a method that is ``free``; the same in all runs."""
        for name in free:
            if name not in self.given["initial"]:
                many = name.startswith("client_")
                self.given["initial"][name] = (
                    [self.basis_vector() for _ in self.all] if many else self.basis_vector(shared=True))
        return self.given["initial"]

    def upstream(self, row):
        """The draws of noise on which a vector depends."""
        return frozenset().union(*(self.depends[i % LAYER] for i in row.parts if i != ORIGIN))

    def known_at(self, k, x):
        """(point, gradient, value) of client k at a point: one point has one gradient and one value."""
        if not isinstance(x, SymbolicVector):
            raise NotQuadratic("a loss at a vector that no run gives")
        points = self.points[k]
        for point in points:
            if point[0].equals(x):
                return point
        points.append((x, self.basis_vector(self.upstream(x)), loss(k, len(points))))
        return points[-1]

    def noise(self, k, x, gradient, draw, before=0):
        """The noise of one draw at a point, of mean zero given all that does not depend on the draw."""
        if self.exact:
            return SymbolicVector({})
        seen = self.noises.setdefault((k, *draw), [])
        for row, _, known in seen:
            if known.equals(x):
                return row
        first = next(iter(seen[0][0].parts)) if seen else len(self.depends)
        if first in self.upstream(x):
            raise NotQuadratic("the same samples are used at a point that depends on them")
        self.drawn[first], self.chosen_before[first] = draw[1], before
        row = self.basis_vector({first, *self.upstream(x)})
        seen.append((row, gradient + row, x))
        return row

    def solve(self, k, linear, pull, x):
        """The point v with gradient + linear + pull (v - x) = 0 of client k; of the same problem the same one."""
        moved = x - linear / pull
        key = k, pull, moved.key
        if key not in self.solved:
            gradient = self.basis_vector(self.upstream(moved))
            self.solved[key] = moved - gradient / pull
            self.points[k].append((self.solved[key], gradient, loss(k, len(self.points[k]))))
        return self.solved[key]

    def as_proven(self, smaller, larger):
        """The two sides in the form in which the certificate states them."""
        return smaller, larger

    # words -----------------------------------------------------------------------------------------------------------------
    def state(self):
        """The conditioning, and whether the value is one inside of a mean; None outside of both. Outside of means it is
        noted on what values depend."""
        return None if self.given_past is None or self.point is not None else (self.given_past, self.inside > 0)

    def make_run(self, method, outcome):
        return SymbolicOutcome(self, method, outcome)

    def meaning(self, word, args, index, outcome):
        if word in self.words and word not in WORDS and word not in OF_LETTERS:
            raise NotQuadratic(f"{word} is not a form")
        if word in ("Max", "Min", "largest_sum", "share"):
            return self.extreme(word, args, index, outcome)
        if word == "infimum":
            return self.at_the_point(*args, index)
        if word == "highest":
            name, low, high, body = args
            each = [{**index, name: i} for i in self.span([low, high], index, outcome)]
            return self.upper(*(self.value(body, one, outcome) for one in each))
        return super().meaning(word, args, index, outcome)

    def name(self, name, indices, outcome):
        if name == "dim":
            raise NotQuadratic(f"{name} is no number here")
        return super().name(name, indices, outcome)

    def mean(self, key, body, free, index, outcome):
        (word, r), outer = key, self.given_past
        if word == "E_step" or (r is not None and r.denominator != 1):
            raise NotQuadratic(f"a mean given the past of {r}, which is no round")
        past = {"E_sampling": outer, "E_round": r}.get(word, NOTHING)
        if not self.exact or self.choices:
            if past is None and self.choices:
                raise NotQuadratic("a mean over samples of clients outside of expectations, beside choices")
            past = self.size["rounds"] if past is None else past  # outside of expectations all noise is given
            if outer is not None and past < outer:
                raise NotQuadratic("a mean inside of a mean that is given more")
            if outer is None:
                self.asked_given.add(past)
        self.given_past = NOTHING if past is None else past
        self.inside += 1
        try:
            if not self.choices or word == "E_sampling":
                found = super().mean((word, past), body, free, index, outcome)
            elif word == "E_noise":
                raise NotQuadratic("a mean over noise, while choices depend on it")
            else:
                found = self.over_scenarios(body, free, index, outcome)
        finally:
            self.given_past, self.inside = outer, self.inside - 1
        if isinstance(found, SymbolicVector) and word != "E_sampling":  # a client's noise is the same whoever is drawn
            return sum((self.mean_of(letter, past) * c for letter, c in found.terms.items()), SymbolicVector({}))
        return found

    def mean_of(self, letter, past):
        """The mean of a letter given the past of a round."""
        whole, l = letter % LAYER, letter // LAYER
        later = {draw for draw in self.depends[whole] if self.drawn[draw] >= past} if letter != ORIGIN else ()
        if not later:
            return SymbolicVector.basis(letter)
        if any(letter in row.parts for seen in self.noises.values() for row, *_ in seen):  # of a draw that is later
            return SymbolicVector({})
        if (whole, past) not in self.conditional:
            self.conditional[whole, past] = self.basis_vector(self.depends[whole] - later, whole in self.shared)
        return self.part(l, self.conditional[whole, past])

    def random(self, *rows):
        """Outside of expectations, note on what it depends."""
        if self.given_past is None:
            self.certain |= frozenset().union(*map(self.upstream, rows))

    def grad(self, k, x):
        return self.known_at(self.client(k), x)[1]

    def F(self, k, x):
        value = self.known_at(self.client(k), x)[2]
        self.random(x)
        return value

    def client(self, k):
        if k not in self.all:
            raise IndexError(f"{k} is no client")
        return int(k)

    def dot(self, u, v):
        if not isinstance(u, SymbolicVector) or not isinstance(v, SymbolicVector):
            if all(isinstance(w, SymbolicVector) or plain(w) == 0 for w in (u, v)):
                return Fraction(0)
            raise NotQuadratic("an inner product is one of vectors")
        self.random(u, v)
        self.meter.charge(effort(u, v))
        return pairing(u, v)

    def norm2(self, v): return self.dot(v, v)

    def norm(self, v):
        """The norm of a deterministic vector. Norms of random vectors are refused: E|v| is not sqrt(E|v|^2)."""
        square = self.norm2(v) + QuadraticForm({})
        if self.choices or (self.inside and self.upstream(v)):
            raise NotQuadratic("a mean of lengths")
        return Length(square)
