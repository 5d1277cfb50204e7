"""A statement about norms at given sizes, numbers and weights, on symbolic runs: what it and its hypotheses compare."""

from fractions import Fraction
from itertools import product

from verify.checker.formulas import At, names
from verify.checker.instance import Instance
from verify.checker.length_clients import REPLACED, TWIN, SymbolicClients
from verify.checker.norm_expressions import SQUARE, Combination, NotLinear, lower, norm_of, number, positive, unknown, upper
from verify.checker.operators import MEANS, place, require
from verify.checker.run import INDEPENDENT
from verify.checker.schema import FUNCTIONS, coupled
from verify.checker.scope import ALL_CLIENTS, all_of

SIDES = ("left", "right")
#: words of formulas that mean the same here as of coordinates; of all others in FUNCTIONS nothing is known
PLAIN = ("+", "*", "^", "exp", "log", "Exp1", "Mod", "Max", "Min", "Abs", "share", "tau", "Sum", "Product")
CLASS = {"L_client": "<", "mu_client": ">", "sigma_sq_client": "<"}  # constants of clients, and which bounds of them count
GAPS = ("worst_mean_gap", "worst_mean_signed_gap", "worst_pair_gap", "worst_sample_gap")
COMMON = ("objective", "objective_grad", "F_pop", "client_weight", "priority")  # what other clients may change
RANDOM = ("norm", "norm2", "objective", "F_pop")  # words whose value is one number for every outcome of chance


class LengthStatement:
    """A statement on all federations of the class that its hypotheses describe; all clients are priority clients.

    ``pathwise``: it is about every outcome of chance, not about means. ``coupled``: about two runs on data that differ by
    one sample; ``given_data``: means are those given the data. ``each_gap``: a gap between losses is that for any sample and
    any two data sets, else the supremum of these. ``pairs`` are the pairs (smaller, larger) that the statement compares,
    ``assumed`` those of hypotheses: (name, relation, text, smaller, larger). ``points`` has of each function the points of
    runs and formulas, with gradients; ``across`` the gradients of both runs' functions at points of the second one;
    ``together`` what both runs ask for at the same time, and get.
    """

    def __init__(self, stated, sizes, values, vectors, weights):
        self.stated, self.hypotheses, self.vectors = stated, stated["hypotheses"], vectors
        self.everywhere, self.how, self.coupled = stated["everywhere"], stated["procedure"], coupled(stated)
        require(stated["setting"] in ("run", "point"), "only runs and points have symbolic vectors")
        require(not self.coupled or self.how["replaced"] in ("any", "random"), "which data are given is not known")
        self.given_data, self.swaps, self.together = self.coupled and self.how["replaced"] == "any", {}, set()
        data = {"client_weight": weights, "priority": [1 for _ in weights]}
        Instance({**stated, "sizes": sizes, "values": values, "instance": data}, clients=self.clients_of)
        self.outcomes = [outcome for _, outcome in self.instance.outcomes()]
        for run in self.runs() if self.coupled else ():
            self.read_pairs(run)
        self.pairs = self.compared(stated["statement"])
        self.assumed = [*self.hypotheses_compared({v["hypothesis"] for v in values.values() if isinstance(v, dict)})]
        self.points = {function: [*seen] for function, seen in self.clients.points.items()}
        second = [(tuple(draw), i, *call) for (whose, *draw), seen in self.points.items() if whose == TWIN
                  for i, call in enumerate(seen)]
        wanted = "G_lip" in self.everywhere and not self.pathwise
        self.across = {(*draw, i): (self.clients.sample_grad(draw, x), g) for draw, i, x, g in second if wanted}

    def clients_of(self, instance):
        """The clients of the instance, once its formulas have their words."""
        self.instance, self.size, self.given, self.formulas = instance, instance.size, instance.given, instance.formulas
        self.meant = {name: rule["formula"] for name, rule in (instance.rules | instance.defined).items()}
        statement, smaller = self.stated["statement"], {"<": "left", ">": "right"}
        sides = [statement[side] for side in SIDES]
        means, said = set().union(*map(self.in_means, sides)), self.named_in(*sides)
        if len(means) == 2:
            raise NotLinear("norms inside and outside of expectations in one statement")
        self.pathwise = means == {False}
        alone = self.stated["setting"] == "point" and not {*COMMON} & said
        require(alone or all_of(self.stated, "priority") == 1, "a federation may have clients that are no priority clients")
        require(self.how["sampling"] not in INDEPENDENT, "nobody may take part in a round, of which nothing is known here")
        others = [rule[side] for rule in self.hypotheses for side in SIDES]
        others += [statement[side] for side in SIDES if side != smaller.get(statement["relation"][0])]
        self.each_gap = not {*GAPS} & self.named_in(*others)  # only the smaller side has gaps
        norms = {"norm", "norm2", *GAPS} if self.each_gap else {"norm", "norm2"}
        if self.given_data and "E_data" in said and norms & said:
            raise NotLinear("an error over all data beside norms that have the data given")
        self.take_words()
        weights = self.given["client_weight"]
        require(not self.coupled or len({*weights}) == 1, "clients with samples have equal weights")
        self.clients = SymbolicClients(weights, {}, self.coupled, self.given_data)
        self.given |= {name: self.clients.basis_vector() for name in self.vectors}
        self.clients.bounds |= {name: [self.bound(name, k) for k in self.clients.clients] for name in CLASS}
        return self.clients

    def bound(self, name, k):
        """The bound that the hypotheses give to a client's constant; None where there is none."""
        found = [number(self.value(rule["right"], At({rule["left"][1]: Fraction(k)}, None))) for rule in self.hypotheses
                 if bounded_constant(rule) == name and rule["relation"].startswith((CLASS[name], "="))]
        least = name == "mu_client"
        return (max if least else min)(map(lower if least else upper, found), default=None)

    # words of formulas -----------------------------------------------------------------------------------------------------
    def take_words(self):
        """Give the formulas of the instance the meaning that their words have here."""
        own = {name: getattr(self, name) for name in ("norm", "norm2", "grad", "objective_grad", "F_pop", "objective")}
        refused = {word: refusal(word) for word in FUNCTIONS - {*PLAIN, *own}}
        self.instance.operators |= refused | own
        self.formulas.binders |= refused | {"E": self.expectation}
        if self.coupled:
            self.formulas.binders |= {"E_client": self.of_client, "E_data": self.generalisation}
            self.formulas.binders |= {word: lambda args, at, word=word: self.gap(word, args, at) for word in GAPS}

    def value(self, node, at): return self.formulas.value(node, at)
    def norm2(self, v): return self.norm(v, SQUARE)
    def grad(self, k, x): return self.clients.grad(k, x)
    def objective_grad(self, x): return self.mean_of([self.grad(k, x) for k in self.clients.clients])
    def F_pop(self, x): return unknown("F_pop", x.key)
    def objective(self, x): return unknown("objective", x.key)

    def norm(self, v, *power):
        if not isinstance(v, Combination):
            require(number(v) == 0, "a norm is one of a vector")
            return Fraction(0)
        return self.length(v, *power)

    def mean_of(self, vectors):
        """The mean of vectors, one for each client."""
        return sum((v * p for v, p in zip(vectors, self.clients.weights, strict=True)), Combination({}))

    def expectation(self, args, at):
        """The mean over all chance; of given data over all but these."""
        return self.mean("E", args[0], at, (lambda draw: draw != REPLACED) if self.given_data else (lambda draw: True))

    def of_client(self, args, at):
        """The mean where the replaced sample is one of a client."""
        client = place(number(self.value(args[0], at)), self.size["clients"], "a client")
        held = tuple(client if draw == REPLACED else 0 for draw, _ in self.instance.draws)
        return self.mean(("E_client", client), args[1], at._replace(outcome=held), lambda draw: draw != REPLACED)

    def mean(self, word, body, at, free):
        """The mean over outcomes. Noise, data and samples have none: of a vector that depends on them no mean is known."""
        found = self.instance.mean(word, body, at, free)
        if isinstance(found, Combination) and found.is_vector and self.clients.draws(found):
            raise NotLinear("the mean of a vector that depends on noise, data or samples")
        return found

    def generalisation(self, args, at):
        """E(F_pop(x) - F(x)) over all data and chance, x the server's model after some round; the same for all outcomes."""
        found = [Combination.as_combination(self.value(args[0], at._replace(outcome=case))).terms for case in self.outcomes]
        return unknown("generalisation", self.round_of(found, lambda record, r: (
            self.F_pop(record["x_round"][r]) - self.objective(record["x_round"][r])).terms))

    def gap(self, word, args, at):
        """The worst difference of losses at the server's models of both runs after some round."""
        found = [[self.value(side, at._replace(outcome=case)).terms for side in args] for case in self.outcomes]
        where = [self.instance.run(at.outcome).where] if self.each_gap and self.given_data else []
        return unknown(word, self.round_of(found, lambda record, r: [
            record[name][r].terms for name in ("x_round", "twin_x_round")]), *where)

    def round_of(self, found, of_run):
        """The round after which every run has the value that was ``found``, for each outcome."""
        for r in range(self.size["rounds"] + 1):
            if found == [of_run(run.record, r) for run in self.runs()]:
                return r
        raise NotLinear("of losses nothing is known but at the server's models after a round")

    def in_means(self, node, inside=False):
        """Whether a formula has norms outside of expectations (False), inside of one (True), or both."""
        word, *args = node if isinstance(node, list) else [node]
        found = {inside} if word in RANDOM else {True} if word in ("E_data", *GAPS) else set()
        args = [*args, self.meant[word]] if word in self.meant else args
        inside = inside or word in (*MEANS, "E_client", "E_data", *GAPS)
        return found.union(*(self.in_means(a, inside) for a in args))

    def named_in(self, *formulas):
        """All words and names in formulas, and in what these names mean."""
        found = set().union(*map(names, formulas))
        while more := set().union(*(names(self.meant[name]) for name in found & {*self.meant})) - found:
            found |= more
        return found

    # norms -----------------------------------------------------------------------------------------------------------------
    def length(self, vector, *power):
        """The expected norm of a vector, or of its square; of a statement without means the norm."""
        self.instance.meter.charge(1 + len(vector.terms))
        return norm_of(vector, self.representative, *power)

    def representative(self, items):
        """Picks, of a vector and what it becomes where the runs change places, one that stands for both: with the replaced
        sample and its replacement exchanged, every vector has the same law as before. With the data given it has not."""
        for swap in self.swaps.values() if not self.pathwise and not self.given_data else ():
            if all(i in swap for i, _ in items):
                other = positive((swap[i], c) for i, c in items)
                items = min(items, other, key=lambda these: ([i for i, _ in these], these))
        return items

    def read_pairs(self, run):
        """Note which basis vectors change places where the two runs do, and what both ask for at the same time."""
        swap = self.swaps.setdefault(run.where, {})
        for (draw, x, own), (_, y, twin) in run.pairs:
            (a,), (b,) = own.terms, twin.terms
            require(swap.setdefault(a, b) == b and swap.setdefault(b, a) == a, "runs change places in one way")
            self.together.add((draw, *(vector.key for vector in (x, own, y, twin))))

    def runs(self): return [self.instance.run(outcome) for outcome in self.outcomes]

    def apart(self, r, *where):
        """The expected distance of both runs' models after r rounds; where the replaced sample is one of a client."""
        cases = [(chance, self.instance.run(outcome)) for chance, outcome in self.instance.outcomes()]
        cases = [(chance, run.record) for chance, run in cases if not where or run.where == where[0]]
        lengths = [self.length(record["x_round"][r] - record["twin_x_round"][r]) for _, record in cases]
        whole = sum(chance for chance, _ in cases)
        return sum((one * (chance / whole) for one, (chance, _) in zip(lengths, cases, strict=True)), Combination({}))

    # what is compared ------------------------------------------------------------------------------------------------------
    def compared(self, rule):
        """The pairs (smaller, larger) of numbers that a condition compares."""
        sure = all(self.formulas.sure(rule[side], {name for name, *_ in rule["over"]}) for side in SIDES)
        found = {}
        for index, outcome in product(self.formulas.cases(rule), self.outcomes[: 1 if sure else None]):
            left, right = map(Combination.as_combination, self.instance.sides(rule, index, outcome))
            both = {"=": [(left, right), (right, left)], "<": [(left, right)], ">": [(right, left)]}
            for pair in both[rule["relation"][0]]:
                found.setdefault(tuple(side.key for side in pair), pair)
        return [*found.values()]

    def hypotheses_compared(self, definers):
        """Yields the pairs that hypotheses compare, without those that bound a constant of clients or define a name. One
        that is not linear in norms is left out, which assumes less; one with means is no help to a statement without."""
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


def refusal(word):
    def refuse(*_):
        raise NotLinear(f"nothing is known of {word} in expected norms")

    return refuse


def bounded_constant(rule):
    """The constant of all clients that a hypothesis bounds; None if it is of another kind."""
    name, *index = rule["left"] if isinstance(rule["left"], list) else [rule["left"]]
    every = len(index) == 1 and rule["over"] in [[[*index, 0, end]] for end in ALL_CLIENTS]
    return name if name in CLASS and every else None
