"""Lengths in runs on letters: one run, or two coupled ones on neighbouring data sets.

A letter is a vector that nothing is known about but inequalities: the gradient of a function at a point, the noise of a
draw, a first state. A model is a linear combination of letters, a side of a statement one of expected lengths
(:mod:`verify.symbolic.norm_expressions`). Functions are the clients' losses, or of clients with samples the loss of each
draw.
"""

from fractions import Fraction
from functools import cached_property
from itertools import product

from verify.checker.limits import BASIS_VECTORS, bounded
from verify.checker.operators import MEANS, require
from verify.checker.quadratic_forms import ORIGIN, NotQuadratic, SymbolicVector
from verify.checker.schema import FUNCTIONS
from verify.symbolic.length_runs import REPLACED, SHARED, Coupled, NormOutcome
from verify.symbolic.loss_differences import GAPS, LossDifferences
from verify.symbolic.norm_expressions import SIGNED, SQUARE, NormExpression, length, lower, number, positive, upper
from verify.symbolic.replay import Replay
from verify.symbolic.run import INDEPENDENT

#: words that mean the same of letters as of coordinates; the others have none
WORDS = ("+", "*", "^", "exp", "log", "Exp1", "Mod", "Max", "Min", "Abs", "share", "tau")
OF_LETTERS = ("norm", "norm2", "grad", "objective_grad", "F_pop", "objective")
CLASS = {"L_client": "<", "mu_client": ">", "sigma_sq_client": "<"}
OF_SAMPLES = ("E_client", "E_data", *GAPS)
DATA = ("data",)  # the draw of all data
COMMON = ("objective", "F_pop", "client_weight", "priority")
RANDOM = ("norm", "norm2", "objective", "F_pop")  # words whose value is one number for every outcome of chance


class Lengths(LossDifferences, Replay):
    """A claim's procedure on all federations of the class that its hypotheses describe, at given sizes, numbers and weights;
    all clients are priority clients.

    ``points[function]`` has what was asked of a function: (where, gradient). ``upstream`` says of each letter on which draws
    it depends, ``noises`` has the noise of each draw, ``swaps[k]`` the letters that change places where the two runs do,
    the replaced sample being client k's.
    """

    def __init__(self, stated, sizes, values, vectors, weights):
        self.stated, self.hypotheses, self.vectors = stated, stated["hypotheses"], vectors
        self.upstream, self.points, self.noises, self.states = [], {}, {}, {}
        self.swaps, self.gaps, self.formulas, self.of_models, self.runs = {}, {}, {}, {}, {}
        require(stated["setting"] in ("run", "point"), "only runs and points have letters")
        self.pathwise, self.coupled = False, stated["setting"] == "run" and "replaced" in stated["procedure"]
        self.definers = {value["hypothesis"] for value in values.values() if isinstance(value, dict)}
        instance = {"client_weight": weights, "priority": [1] * sizes["clients"]}
        super().__init__({**stated, "sizes": sizes, "values": values, "instance": instance})
        found = set().union(*(self.places(stated["statement"][side]) for side in ("left", "right")))
        if len(found) == 2:
            raise NotQuadratic("lengths inside and outside of expectations in one statement")
        self.pathwise = found == {False}
        self.all_take_part()
        if self.coupled:
            self.apart()
            for _, outcome in self.outcomes():
                self.exchange(self.run(outcome))

    def all_take_part(self):
        """Refuse what other weights or clients may change, unless hypotheses say that all clients are priority clients."""
        heads = set().union(*(self.heads(self.stated["statement"][side]) for side in ("left", "right")))
        said = any(rule["left"] == ["priority", "k"] and rule["relation"] == "==" and rule["right"] == 1
                   and bounds_client({**rule, "left": ["L_client", "k"]}) for rule in self.hypotheses)
        alone = self.stated["setting"] == "point" and not {"objective_grad", *COMMON} & heads
        require(said or alone, "a federation may have clients that are no priority clients")
        require(self.how["sampling"] not in INDEPENDENT, "nobody may take part in a round, which lengths do not know")

    # the class -------------------------------------------------------------------------------------------------------------
    def federation(self):
        self.all, self.p = range(self.size["clients"]), self.given["client_weight"]
        if self.coupled:
            require(len({*self.p}) == 1, "clients with samples have equal weights")
        self.words = {name: self.words[name] for name in WORDS} | {
            name: getattr(self, name) for name in OF_LETTERS}
        for name in self.vectors:
            self.given[name] = self.basis_vector()
        self.bounds = {name: [self.bound(name, k) for k in self.all] for name in CLASS}

    def bound(self, name, k):
        """The bound that the hypotheses give to a client's constant; None where there is none."""
        found = []
        for rule in self.hypotheses:
            if bounds_client(rule) == name and rule["relation"].startswith((CLASS[name], "=")):
                value = number(self.value(rule["right"], {rule["left"][1]: Fraction(k)}, None))
                found.append(lower(value) if name == "mu_client" else upper(value))
        return (max if name == "mu_client" else min)(found, default=None)

    def curvatures(self, function):
        """(least, largest) curvature of a function; None where it has no bound."""
        k = function[-1]
        L, m = self.bounds["L_client"][k], self.bounds["mu_client"][k]
        if L is None:
            return None
        require(m is None or m <= L, "curvatures must lie in an interval")
        return (-L if m is None else m), L

    def start(self):
        return SymbolicVector({ORIGIN: Fraction(1)})

    # letters ---------------------------------------------------------------------------------------------------------------
    def basis_vector(self, upstream=frozenset()):
        bounded(len(self.upstream) + 1, 2 * BASIS_VECTORS, "letters")
        self.upstream.append(frozenset(upstream))
        return SymbolicVector({len(self.upstream) - 1: Fraction(1)})

    def depends(self, row):
        """The draws on which a vector depends."""
        return frozenset().union(*(self.upstream[i] for i in row.parts if i != ORIGIN))

    def first_states(self, free):
        for name in free:
            if name not in self.states:
                many = name.startswith("client_")
                self.states[name] = [self.basis_vector() for _ in self.all] if many else self.basis_vector()
        return self.states

    def gradient_at(self, function, x):
        """The gradient of a function at a point; one point has one gradient."""
        seen = self.points.setdefault(function, [])
        for point, gradient in seen:
            if point.equals(x):
                return gradient
        drawn = {DATA} if self.coupled and self.how["replaced"] == "random" else set()
        own = {function[1:]} if function[0] != SHARED else drawn
        seen.append((x, self.basis_vector(self.depends(x) | own)))
        return seen[-1][1]

    def noise(self, draw):
        """The noise of a draw, the same wherever its gradient is taken."""
        if self.bounds["sigma_sq_client"][draw[-1]] == 0:
            return SymbolicVector({})
        if draw not in self.noises:
            self.noises[draw] = self.basis_vector({draw})
        return self.noises[draw]

    def solve(self, k, linear, pull, x):
        """The point v with gradient + linear + pull (v - x) = 0 of client k."""
        gradient = self.basis_vector(self.depends(x) | self.depends(linear))
        point = x - (linear + gradient) / number(pull)
        self.points.setdefault((SHARED, k), []).append((point, gradient))
        return point

    def exchange(self, run):
        """Note which letters change places where the two runs do."""
        swap = self.swaps.setdefault(run.where, {})
        for (_, _, own), (_, _, twin) in run.pairs:
            (a,), (b,) = own.parts, twin.parts
            require(swap.setdefault(a, b) == b and swap.setdefault(b, a) == a, "runs change places in one way")

    def canonical(self, items):
        """The representative of a vector and its image under the exchange of the runs: with the replaced sample and its
        replacement exchanged, every vector has the same law as before."""
        if self.how["replaced"] == "any":
            return items
        for swap in self.swaps.values():
            if all(letter in swap for letter, _ in items):
                other = positive((swap[letter], c) for letter, c in items)
                items = min(items, other, key=lambda these: ([letter for letter, _ in these], these))
        return items

    def length(self, row, kind="length"):
        """The expected length of a vector; of a statement without expectations its length."""
        if self.coupled and not self.pathwise:
            return length(row, kind, self.canonical)
        return length(row, kind)

    # words -----------------------------------------------------------------------------------------------------------------
    def state(self): return ()

    def make_run(self, method, outcome):
        return (Coupled if self.coupled else NormOutcome)(self, method, outcome)

    def value(self, node, index, outcome):
        if not self.coupled or not isinstance(node, list) or node[:1] == [] or node[0] not in OF_SAMPLES:
            return super().value(node, index, outcome)
        word, *args = node
        if word == "E_data":
            return self.generalisation(args[0], index)
        if word in GAPS:
            return self.gap(word, node, index, outcome)
        client = number(self.value(args[0], index, outcome))
        place = next(i for i, (draw, _) in enumerate(self.draws) if draw == REPLACED)
        held = [int(client) if i == place else 0 for i in range(len(self.draws))]
        return self.mean((word, client), args[1], lambda draw: draw != REPLACED, index, tuple(held))

    def mean(self, key, body, free, index, outcome):
        """The mean over outcomes. Noise, data and samples have none: of a vector that depends on them there is no form."""
        found = super().mean(key, body, free, index, outcome)
        if isinstance(found, SymbolicVector) and self.depends(found):
            raise NotQuadratic("the mean of a vector that depends on noise, data or samples")
        return found

    def meaning(self, word, args, index, outcome):
        if self.coupled and word == "E":
            free = (lambda draw: True) if self.how["replaced"] == "random" else (lambda draw: draw != REPLACED)
            return self.mean((word, None), args[0], free, index, outcome)
        if word in FUNCTIONS and word not in self.words and word not in ("Sum", "Product", "E"):
            raise NotQuadratic(f"{word} has no form in lengths")
        return super().meaning(word, args, index, outcome)

    def name(self, name, indices, outcome):
        if name in ("dim", "layers"):
            raise NotQuadratic(f"{name} is no number here")
        return super().name(name, indices, outcome)

    def norm(self, v, kind="length"):
        if not isinstance(v, SymbolicVector):
            require(number(v) == 0, "a length is one of a vector")
            return Fraction(0)
        self.meter.charge(len(v.parts))
        return self.length(v, kind)

    def norm2(self, v):
        return self.norm(v, SQUARE)

    def grad(self, k, x):
        require(k in self.all, f"{k} is no client")
        return self.gradient_at((SHARED, int(k)), x)

    def objective_grad(self, x):
        return sum((self.grad(k, x) * p for k, p in zip(self.all, self.p, strict=True)), SymbolicVector({}))

    def F_pop(self, x):
        return NormExpression({(SIGNED, "F_pop", x.key): Fraction(1)})

    def objective(self, x):
        return NormExpression({(SIGNED, "objective", x.key): Fraction(1)})

    def places(self, node, expected=False, within=()):
        """Whether a formula has lengths outside of expectations (False), inside of one (True), or both."""
        word, *args = node if isinstance(node, list) else [node]
        found = {expected} if word in RANDOM else {True} if word in ("E_data", *GAPS) else set()
        if word in self.meant and word not in within:
            found |= self.places(self.meant[word]["formula"], expected, (*within, word))
        inside = expected or word in (*MEANS, "E_client", "E_data", *GAPS)
        return found.union(*(self.places(a, inside, within) for a in args))

    def heads(self, node, within=()):
        """All words and names in a formula, and in what defines them."""
        word, *args = node if isinstance(node, list) else [node]
        found = {word}.union(*(self.heads(a, within) for a in args))
        more = word in self.meant and word not in within
        return found | self.heads(self.meant[word]["formula"], (*within, word)) if more else found

    @cached_property
    def meant(self):
        """The meaning that definitions and hypotheses give to a name."""
        return self.rules | self.defined

    @cached_property
    def every_outcome(self):
        return [outcome for _, outcome in self.outcomes()]

    # what is compared ------------------------------------------------------------------------------------------------------
    def compared(self, rule):
        """The pairs (smaller, larger) of amounts that a condition compares."""
        seen, pairs, bound = set(), [], {name for name, *_ in rule["over"]}
        sure = all(self.is_sure(rule[side], bound) for side in ("left", "right"))
        for index, outcome in product(self.cases(rule), self.every_outcome[: 1 if sure else None]):
            left, right = (NormExpression.like(side) for side in self.sides(rule, index, outcome))
            both = {"=": [(left, right), (right, left)], "<": [(left, right)], ">": [(right, left)]}
            for pair in both[rule["relation"][0]]:
                said = tuple(frozenset((key, lower(c), upper(c)) for key, c in side.terms.items()) for side in pair)
                if said not in seen:
                    seen.add(said)
                    pairs.append(pair)
        return pairs


def bounds_client(rule):
    """The constant of all clients that a hypothesis bounds; None if it is of another kind."""
    left, over = rule["left"], rule["over"]
    if not (isinstance(left, list) and len(left) == 2 and left[0] in CLASS):
        return None
    return left[0] if over in ([[left[1], 0, ["+", -1, "clients"]]], [[left[1], 0, ["+", "clients", -1]]]) else None
