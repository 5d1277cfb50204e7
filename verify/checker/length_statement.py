"""A statement about norms at given sizes, numbers and weights, on symbolic runs: what it and its hypotheses compare."""

from fractions import Fraction
from itertools import product

from verify.checker.form import FUNCTIONS, coupled
from verify.checker.formulas import At
from verify.checker.instance import Instance
from verify.checker.length_clients import REPLACED, TWIN, Basis, SymbolicClients
from verify.checker.norm_expressions import (
    NORM,
    SIGNED,
    SQUARE,
    NormExpression,
    NotLinear,
    SymbolicVector,
    lower,
    norm_of,
    number,
    positive,
    upper,
)
from verify.checker.run import INDEPENDENT
from verify.checker.scope import ALL_CLIENTS, all_of
from verify.checker.words import MEANS, place, require

SIDES = ("left", "right")
#: words of formulas that mean the same here as of coordinates; of all others in FUNCTIONS nothing is known
PLAIN = ("+", "*", "^", "exp", "log", "Exp1", "Mod", "Max", "Min", "Abs", "share", "tau", "Sum", "Product")
CLASS = {"L_client": "<", "mu_client": ">", "sigma_sq_client": "<"}  # constants of clients, and which bounds of them count
GAPS = ("worst_mean_gap", "worst_mean_signed_gap", "worst_pair_gap", "worst_sample_gap")
COMMON = ("objective", "objective_grad", "F_pop", "client_weight", "priority")  # what other clients may change
RANDOM = ("norm", "norm2", "objective", "F_pop")  # words whose value is one number for every outcome of chance


class LengthStatement:
    """A statement on all federations of the class that its hypotheses describe; all clients are priority clients.

    ``pathwise``: it is about every outcome of chance, not about means. ``coupled``: about two runs on data that differ by one
    sample; ``given_data``: means are those given the data. ``each_gap``: a gap between losses is that for any sample and any
    two data sets, else the supremum of these. ``pairs`` are the pairs (smaller, larger) that the statement compares, ``assumed``
    those of hypotheses: (name, relation, text, smaller, larger). ``points`` has of each function the points of runs and
    formulas, with gradients; ``across`` pairs of gradients, by the draw and the point of the second run at which both are.
    """

    def __init__(self, stated, sizes, values, vectors, weights):
        self.stated, self.hypotheses, self.vectors = stated, stated["hypotheses"], vectors
        self.everywhere, self.how, self.coupled = stated["everywhere"], stated["procedure"], coupled(stated)
        require(stated["setting"] in ("run", "point"), "only runs and points have symbolic vectors")
        require(not self.coupled or self.how["replaced"] in ("any", "random"), "which data are given is not known")
        self.given_data = self.coupled and self.how["replaced"] == "any"
        self.swaps, data = {}, {"client_weight": weights, "priority": [1 for _ in weights]}
        Instance({**stated, "sizes": sizes, "values": values, "instance": data}, clients=self.clients_of)
        self.outcomes, basis = self.instance.outcomes(), self.federation.basis
        for run in self.runs() if self.coupled else ():
            self.exchange(run)
        self.pairs = self.compared(stated["statement"])
        self.assumed = [*self.hypotheses_compared({v["hypothesis"] for v in values.values() if isinstance(v, dict)})]
        self.points, self.across = {function: [*seen] for function, seen in basis.points.items()}, {}
        if self.coupled and "G_lip" in self.everywhere and not self.pathwise:
            for (kind, *draw), seen in self.points.items():
                for i, (x, g) in enumerate(seen if kind == TWIN else ()):
                    self.across[(*draw, i)] = self.federation.sample_gradient(tuple(draw), x), g

    def clients_of(self, instance):
        """The clients of the instance, once its formulas have their words."""
        self.instance, self.size, self.given, self.meter = instance, instance.size, instance.given, instance.meter
        self.meant = instance.rules | instance.defined  # what definitions and hypotheses say that a name is
        sides = [self.stated["statement"][side] for side in SIDES]
        means = set().union(*map(self.in_means, sides))
        if len(means) == 2:
            raise NotLinear("norms inside and outside of expectations in one statement")
        self.pathwise = means == {False}
        alone = self.stated["setting"] == "point" and not {*COMMON} & set().union(*map(self.heads, sides))
        require(alone or all_of(self.stated, "priority") == 1, "a federation may have clients that are no priority clients")
        require(self.how["sampling"] not in INDEPENDENT, "nobody may take part in a round, of which nothing is known here")
        if self.coupled:
            self.decide_gaps(*sides)
        del self.given["dim"], self.given["layers"]
        self.take_words()
        basis, weights = Basis(), self.given["client_weight"]
        require(not self.coupled or len({*weights}) == 1, "clients with samples have equal weights")
        self.given |= {name: basis.vector() for name in self.vectors}
        bounds = {name: [self.bound(name, k) for k in range(len(weights))] for name in CLASS}
        self.federation = SymbolicClients(self, basis, weights, bounds)
        return self.federation

    def bound(self, name, k):
        """The bound that the hypotheses give to a client's constant; None where there is none."""
        least, found = name == "mu_client", []
        for rule in self.hypotheses:
            if bounded_constant(rule) == name and rule["relation"].startswith((CLASS[name], "=")):
                value = number(self.instance.formulas.value(rule["right"], At({rule["left"][1]: Fraction(k)}, None)))
                found.append((lower if least else upper)(value))
        return (max if least else min)(found, default=None)

    def decide_gaps(self, *sides):
        """Only where the smaller side of the statement alone has gaps, one stands for any sample and data. An error over all
        data is not compared with norms that have the data given."""
        statement, smaller = self.stated["statement"], {"<": "left", ">": "right"}
        side = smaller.get(statement["relation"][0])
        others = [rule[end] for rule in (*self.hypotheses, statement) for end in SIDES if rule is not statement or end != side]
        self.each_gap = not {*GAPS} & set().union(*map(self.heads, others))
        heads = set().union(*map(self.heads, sides))
        given = self.given_data and ({"norm", "norm2"} & heads or (self.each_gap and {*GAPS} & heads))
        if "E_data" in heads and given:
            raise NotLinear("an error over all data beside norms that have the data given")

    # words of formulas -----------------------------------------------------------------------------------------------------
    def take_words(self):
        """Give the formulas of the instance the meaning that their words have here."""
        own = {name: getattr(self, name) for name in ("norm", "norm2", "grad", "objective_grad", "F_pop", "objective")}
        refused = {word: self.refusal(word) for word in FUNCTIONS - {*PLAIN, *own}}
        self.instance.operators |= refused | own
        binders = self.instance.formulas.binders
        binders |= refused | {"E": self.expectation}
        if self.coupled:
            binders |= {"E_client": self.of_client, "E_data": self.generalisation}
            binders |= {word: lambda args, at, word=word: self.gap(word, args, at) for word in GAPS}

    @staticmethod
    def refusal(word):
        def refuse(*_):
            raise NotLinear(f"nothing is known of {word} in expected norms")

        return refuse

    def norm2(self, v): return self.norm(v, SQUARE)
    def grad(self, k, x): return self.federation.grad(k, x)
    def F_pop(self, x): return NormExpression({(SIGNED, "F_pop", x.key): Fraction(1)})
    def objective(self, x): return NormExpression({(SIGNED, "objective", x.key): Fraction(1)})

    def norm(self, v, power=NORM):
        if not isinstance(v, SymbolicVector):
            require(number(v) == 0, "a norm is one of a vector")
            return Fraction(0)
        self.meter.spend(len(v.coefficients))
        return self.length(v, power)

    def objective_grad(self, x):
        return self.mean_of([self.grad(k, x) for k in self.federation.clients])

    def mean_of(self, vectors):
        """The mean of vectors, one for each client."""
        return sum((v * p for v, p in zip(vectors, self.federation.weights, strict=True)), SymbolicVector({}))

    def expectation(self, args, at):
        """The mean over all chance; of given data over all but these."""
        return self.mean("E", args[0], at, (lambda draw: draw != REPLACED) if self.given_data else (lambda draw: True))

    def of_client(self, args, at):
        """The mean where the replaced sample is one of a client."""
        client, body = args
        client = place(number(self.instance.formulas.value(client, at)), self.size["clients"], "a client")
        held = tuple(client if draw == REPLACED else 0 for draw, _ in self.instance.draws)
        return self.mean(("E_client", client), body, at._replace(outcome=held), lambda draw: draw != REPLACED)

    def mean(self, word, body, at, free):
        """The mean over outcomes. Noise, data and samples have none: of a vector that depends on them no mean is known."""
        found = self.instance.mean(word, body, at, free)
        if isinstance(found, SymbolicVector) and self.federation.basis.draws(found):
            raise NotLinear("the mean of a vector that depends on noise, data or samples")
        return found

    def generalisation(self, args, at):
        """E(F_pop(x) - F(x)) over all data and chance, x the server's model after some round; the same for all outcomes."""
        found = [NormExpression.of(self.instance.formulas.value(args[0], at._replace(outcome=outcome))).terms
                 for _, outcome in self.outcomes]
        for r in range(self.size["rounds"] + 1):
            models = [run.record["x_round"][r] for run in self.runs()]
            if found == [(self.F_pop(x) - self.objective(x)).terms for x in models]:
                return NormExpression({(SIGNED, "generalisation", r): Fraction(1)})
        raise NotLinear("only the generalisation error of a server's model is known")

    def gap(self, word, args, at):
        """The worst difference of losses at the server's models of both runs after some round."""
        ends = [[self.instance.formulas.value(side, at._replace(outcome=case)).key for side in args]
                for _, case in self.outcomes]
        where = [self.instance.run(at.outcome).where] if self.each_gap and self.given_data else []
        for r in range(self.size["rounds"] + 1):
            if ends == [[run.record[name][r].key for name in ("x_round", "twin_x_round")] for run in self.runs()]:
                return NormExpression({(SIGNED, word, r, *where): Fraction(1)})
        raise NotLinear("only the gap between the server's models of both runs is known")

    def in_means(self, node, inside=False, within=()):
        """Whether a formula has norms outside of expectations (False), inside of one (True), or both."""
        word, *args = node if isinstance(node, list) else [node]
        found = {inside} if word in RANDOM else {True} if word in ("E_data", *GAPS) else set()
        if word in self.meant and word not in within:
            found |= self.in_means(self.meant[word]["formula"], inside, (*within, word))
        inside = inside or word in (*MEANS, "E_client", "E_data", *GAPS)
        return found.union(*(self.in_means(a, inside, within) for a in args))

    def heads(self, node, within=()):
        """All words and names in a formula, and in what defines them."""
        word, *args = node if isinstance(node, list) else [node]
        found = {word}.union(*(self.heads(a, within) for a in args))
        more = word in self.meant and word not in within
        return found | self.heads(self.meant[word]["formula"], (*within, word)) if more else found

    # norms -----------------------------------------------------------------------------------------------------------------
    def length(self, vector, power=NORM):
        """The expected norm of a vector, or of its square; of a statement without means the norm."""
        return norm_of(vector, power, self.representative)

    def representative(self, items):
        """Of a vector and what it becomes where the runs change places, the one that stands for both: with the replaced
        sample and its replacement exchanged, every vector has the same law as before. With the data given it has not."""
        for swap in self.swaps.values() if not self.pathwise and not self.given_data else ():
            if all(i in swap for i, _ in items):
                other = positive((swap[i], c) for i, c in items)
                items = min(items, other, key=lambda these: ([i for i, _ in these], these))
        return items

    def exchange(self, run):
        """Note which basis vectors change places where the two runs do."""
        swap = self.swaps.setdefault(run.where, {})
        for (_, _, own), (_, _, twin) in run.pairs:
            (a,), (b,) = own.coefficients, twin.coefficients
            require(swap.setdefault(a, b) == b and swap.setdefault(b, a) == a, "runs change places in one way")

    def runs(self): return [self.instance.run(outcome) for _, outcome in self.outcomes]

    def apart(self, r, *where):
        """The expected distance of both runs' models after r rounds; where the replaced sample is one of a client."""
        cases = [(chance, self.instance.run(outcome)) for chance, outcome in self.outcomes]
        cases = [(chance, run.record) for chance, run in cases if not where or run.where == where[0]]
        whole = sum(chance for chance, _ in cases)
        return sum((self.length(record["x_round"][r] - record["twin_x_round"][r]) * (chance / whole)
                    for chance, record in cases), NormExpression({}))

    # what is compared ------------------------------------------------------------------------------------------------------
    def compared(self, rule):
        """The pairs (smaller, larger) of expressions that a condition compares."""
        formulas, bound, found = self.instance.formulas, {name for name, *_ in rule["over"]}, {}
        sure = all(formulas.sure(rule[side], bound) for side in SIDES)
        for index, (_, outcome) in product(formulas.cases(rule), self.outcomes[: 1 if sure else None]):
            left, right = map(NormExpression.of, self.instance.sides(rule, index, outcome))
            both = {"=": [(left, right), (right, left)], "<": [(left, right)], ">": [(right, left)]}
            for pair in both[rule["relation"][0]]:
                key = (frozenset((key, lower(c), upper(c)) for key, c in side.terms.items()) for side in pair)
                found.setdefault((*key,), pair)
        return [*found.values()]

    def hypotheses_compared(self, definers):
        """What hypotheses compare that bound no constant of clients and define no name; one that is not linear in norms is
        left out, which assumes less, and one with means is no help to a statement without."""
        for position, rule in enumerate(self.hypotheses):
            if bounded_constant(rule) or position in definers or (
                    self.pathwise and any(True in self.in_means(rule[side]) for side in SIDES)):
                continue
            try:
                pairs = self.compared(rule)
            except (NotLinear, LookupError):
                continue
            for count, pair in enumerate(pairs):
                yield f"hypothesis {position} {count}", rule["relation"], rule["text"], *pair


def bounded_constant(rule):
    """The constant of all clients that a hypothesis bounds; None if it is of another kind."""
    name, *index = rule["left"] if isinstance(rule["left"], list) else [rule["left"]]
    every = len(index) == 1 and rule["over"] in [[[*index, 0, end]] for end in ALL_CLIENTS]
    return name if name in CLASS and every else None
