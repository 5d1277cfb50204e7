"""An instance of a statement: its numbers, federation, definitions and runs, and the meaning of its formulas.

Chance is finite: a run makes draws, and an outcome says what each of them turns out as.
"""

from fractions import Fraction
from functools import cache
from math import prod

from verify.checker import random_numbers
from verify.checker.federation import Federation
from verify.checker.formulas import At, Formulas, acyclic, definition, names
from verify.checker.infimum import infimum
from verify.checker.intervals import Interval, Vector
from verify.checker.limits import LISTED, OUTCOMES, WorkLimit, bounded
from verify.checker.long_run import LongRun
from verify.checker.methods.adaptive import BESIDE
from verify.checker.one_sided_limit import OneSidedLimit
from verify.checker.operators import MEANS, WORDS, add, exact, require
from verify.checker.run import INDEPENDENT, METHODS
from verify.checker.samples import Samples
from verify.checker.schema import EACH_ROUND, coupled
from verify.checker.scope import ALL_CLIENTS

PLACE = "the place"  # where a number that is said to exist lies in its interval, from 0 to 1; no name has a space


def clients_of(instance):
    """The clients of a counterexample."""
    certificate = instance.certificate
    if coupled(certificate):
        return Samples(instance.given, instance.size, instance.free, certificate["everywhere"], instance.meter)
    found = Federation(instance.given, instance.size, certificate["everywhere"], instance.meter)
    require(not found.factored or instance.how["base"] == "fedpara", "only fedpara trains factors")
    return found


def entry(array, i, name):
    """An entry of an array that a formula names."""
    if hasattr(array, "entry"):
        return array.entry(i, name)
    require(i >= 0 and i.denominator == 1, f"{i} is no index of {name}")
    return array[int(i)]


class Instance:
    """The instance of a certificate.

    ``clients`` makes the federation of an instance. A number that is said to exist lies in a ``piece`` of its interval, from
    0 to 1; ``near``: 0 is the lower end of that piece, and is left out. ``reading``: more of what :class:`Formulas` takes.
    ``given`` has numbers, vectors and arrays by name, ``rules`` the definitions of the claim, ``defined`` the names that
    hypotheses define, ``draws`` the draws of a run, each with the number of its alternatives. ``lists_noise``: whether the
    outcomes of noise are listed, too, as they are where all outcomes are at most ``listed``; else noise is a
    :class:`~verify.checker.random_numbers.RandomNumber`. ``long``: whether states after many rounds are powers of a matrix
    (``long_run.py``).
    """

    def __init__(self, certificate, piece=None, meter=None, near=False, clients=clients_of, listed=LISTED, long=False,
                 **reading):
        self.certificate, self.meter, self.listed = certificate, meter or WorkLimit(), listed
        self.size, self.how, self.rules, self.free, values, hypotheses = (certificate[name] for name in (
            "sizes", "procedure", "definitions", "free", "values", "hypotheses"))
        numbers = {name: value for name, value in values.items() if not isinstance(value, dict)}
        self.given = {name: exact(value) for part in (certificate["instance"], self.size, numbers)
                      for name, value in part.items()}
        for name in {*EACH_ROUND} & {*certificate["instance"]}:
            if len(self.given[name]) == 1:
                self.given[name] = Vector([*self.given[name]] * (self.size["rounds"] + 1))
        self.defined = {name: definition(name, hypotheses[value["hypothesis"]], self.free[name])
                        for name, value in values.items() if isinstance(value, dict)}
        acyclic({**self.rules, **self.defined})
        if "exists" in certificate:
            self.defined[certificate["exists"]["name"]] = self.between(certificate["exists"], *piece, near)
        self.draws, self.measured, self.runs, self.means, self.kinds, self.lists_noise = (), (), {}, {}, (), True
        self.long = long
        self.defining_value = cache(self.defining_value)
        self.operators = WORDS | {"tau": lambda t: t - t % self.size["local_steps"]}
        binders = {"infimum": lambda args, at: infimum(self, args, at)}
        binders |= {word: lambda args, at, word=word: self.given_past(word, args, at) for word in MEANS}
        self.proves = clients is not clients_of  # of a counterexample, what nothing defines may be any number
        self.meant = {name for name in self.defined if self.has_means(name)}
        fixed = {*self.free, *self.size} - self.meant
        self.formulas = Formulas(self.operators, binders, self.named, fixed, self.meter, **reading)
        self.federation = None
        if certificate["setting"] != "algebra":
            self.federation = clients(self)
            self.operators |= self.federation.operators(self)
            binders |= self.federation.binders(self)
            self.given |= self.federation.constants(self)
        if certificate["setting"] == "run":
            self.chance()

    def between(self, exists, low, high, near):
        """The rule of a number that is said to exist, where it lies in a piece of its interval."""
        self.given[PLACE] = Interval(low, high) if low < high else Fraction(low)
        if near:
            require(low == 0 < high, "only the first piece lies next to the lower end")
            self.given[PLACE] = OneSidedLimit(1, Fraction(1), Fraction(high))
        width = ["+", exists["high"], ["*", -1, exists["low"]]]
        return {"indices": [], "formula": ["+", exists["low"], ["*", PLACE, width]]}

    # chance: an outcome is a tuple of numbers, one for each draw that a run makes; None where nothing has been drawn
    def chance(self):
        rounds, steps = self.size["rounds"], self.size["local_steps"]
        by_number = self.how["sampling"] not in ("full", *INDEPENDENT)
        require(by_number or self.federation.are_all(self.size["participants"]),
                "where all clients take part, or each by itself, participants is their number")
        require(self.how["indicator"] in ("broadcast", "local-at-aggregation", "local-every-step"), "unknown indicator")
        self.given["x_round"] = [self.federation.start]  # steps may depend on where runs start
        alike = self.long and "eta_l" in self.defined and not {*self.defined["eta_l"]["indices"]} & names(
            self.defined["eta_l"]["formula"])  # the same number at every time
        self.step_size = [self.parameter("eta_l", t) for t in range(steps if alike else rounds * steps)]
        if self.long:
            self.long = LongRun(self, self.federation, *METHODS[self.how["base"]])
            first, self.runs = self.long, {((), None): self.long}
        else:
            first = self.run(())
        self.kinds = {kind for kind, *_ in first.alternatives}
        if prod(first.alternatives.values()) > self.listed:
            self.lists_noise, self.runs = False, {}
            first = self.run(())
        self.draws, self.measured = (*first.alternatives.items(),), first.record.keys()
        self.runs = {(tuple(0 for _ in self.draws), None): first}
        twice = {*self.measured} & {*self.free, *self.rules, *self.size}
        require(not twice, f"runs record {', '.join(sorted(twice))}, which may not have another meaning")
        bounded(prod(count for _, count in self.draws), OUTCOMES, "outcomes of chance")

    def run(self, outcome, base=None):
        """Every quantity of one run, of the procedure's method or of the one named."""
        if (outcome, base) not in self.runs:
            method, _ = METHODS[base or self.how["base"]]
            named = dict(zip((draw for draw, _ in self.draws), outcome, strict=True))
            run = self.federation.run(self, method, named)
            require(not self.draws or self.draws == (*run.alternatives.items(),), "runs must make the same draws")
            self.runs[outcome, base] = run
        return self.runs[outcome, base]

    def outcomes(self, held=None, free=lambda draw: True):
        """All outcomes, pairs (chance, outcome); what is not ``free`` stays as it is ``held``, and has no chance."""
        if not self.draws:
            return [(Fraction(1), ())]
        known = held is not None or all(free(draw) for draw, _ in self.draws)
        require(known, "what is drawn is asked for before it is drawn")
        found = [(Fraction(1), ())]
        for place, (draw, count) in enumerate(self.draws):
            found = [(chance, (*outcome, i)) for chance, outcome in found
                     for i in (range(count) if free(draw) else [held[place]])]
        drawn = [draw for draw, _ in self.draws if free(draw)]
        chances = [(prod((self.run(outcome).chances[draw] for draw in drawn), start=Fraction(1)), outcome)
                   for _, outcome in found]
        return [(chance, outcome) for chance, outcome in chances if chance != 0]

    # formulas --------------------------------------------------------------------------------------------------------------
    def value(self, node, outcome=None): return self.formulas.value(node, At({}, outcome))

    def sides(self, rule, index, outcome): return self.sides_at(rule, At(index, outcome))

    def sides_at(self, rule, at):
        """Both sides of a condition."""
        return self.federation.sides(self, rule, at) if self.federation else self.formulas.sides(rule, at)

    def parameter(self, name, *indices):
        """The value of a name before anything is drawn."""
        return self.named(name, [Fraction(index) for index in indices], At({}, None))

    def defining_value(self, name, indices):
        rule = self.defined[name]
        return self.formulas.value(rule["formula"], At(dict(zip(rule["indices"], indices, strict=True)), None))

    def is_defined(self, name, indices):
        """Refuse an entry of which no hypothesis says what it is."""
        index = dict(zip(self.defined[name]["indices"], indices, strict=True))
        for i, low, high in self.defined[name].get("over", ()):
            place, at = index[i], At(index, None)
            inside = low == 0 and high in ALL_CLIENTS if not isinstance(place, (int, Fraction)) else (
                self.formulas.value(low, at) <= place <= self.formulas.value(high, at) and place.denominator == 1)
            require(inside, f"no hypothesis says what {name} is at {place}")

    def has_means(self, *found):
        """Whether a mean occurs in what names mean."""
        rules, found = self.rules | self.defined, {*found}
        while more := set().union(*(names(rules[name]["formula"]) for name in found & {*rules})) - found:
            found |= more
        return bool(found & {*MEANS})

    def named(self, name, indices, at):
        """The value of a name: of a definition, of a hypothesis that defines it, of a run, or a given one."""
        if self.federation:
            self.federation.may_name(self, name, indices)
        base, name = BESIDE.get(name, (None, name))
        if name in self.rules:
            rule = self.rules[name]
            index = dict(zip(rule["indices"], indices, strict=True))
            return self.formulas.value(rule["formula"], at._replace(index=index))  # noted and given as where it is named
        if name in self.defined and self.proves:
            self.is_defined(name, indices)
        if name in self.meant:  # on letters a mean stands for itself only where nothing else is given
            index = dict(zip(self.defined[name]["indices"], indices, strict=True))
            return self.formulas.value(self.defined[name]["formula"], at._replace(index=index, outcome=None))
        if name in self.defined:
            return self.defining_value(name, (*indices,))
        measured = name in self.measured and at.outcome is not None
        found = (self.run(at.outcome, base).record if measured else self.given)[name]
        by_round = name == "epsilon" and name not in self.free
        for i in [indices[0] // self.size["local_steps"]] if by_round else indices:
            found = entry(found, i, name)
        return found

    def given_past(self, word, args, at):
        """A mean: over all draws, those of sampling or of noise, or those from a round or an iteration on."""
        r = self.formulas.value(args[1], at) if len(args) > 1 else None
        r = self.within_round(r) if word == "E_step" else r
        return self.mean((word, r), args[0], at, lambda draw: MEANS[word](draw, r))

    def within_round(self, t):
        """The round and the step of an iteration, in runs that draw gradients of local steps and clients alone."""
        others = {*self.kinds} - {"noise", "start", "sampling"}
        require(not others and t.denominator == 1, f"a mean given iteration {t}, of runs that draw {sorted(others)}")
        return divmod(t, self.size["local_steps"])

    def mean(self, word, body, at, free):
        """The mean over the draws that are ``free``, the others as they are."""
        drawn = at.outcome or [None for _ in self.draws]
        held = (i for i, (draw, _) in zip(drawn, self.draws, strict=True) if not free(draw))
        key = (word, id(body), at.given, *at.index.items(), *held)
        if key not in self.means:
            found = add(*(self.formulas.value(body, at._replace(outcome=case)) * chance
                          for chance, case in self.outcomes(at.outcome, free)))
            self.means[key] = self.long.mean(found, word) if self.long else random_numbers.mean(found, free)
        known = at.outcome is not None or not random_numbers.is_random(self.means[key])
        require(known, "what is drawn is asked for before it is drawn")
        return self.means[key]
