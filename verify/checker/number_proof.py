"""Checks proofs about numbers and vectors with the standard library and the files of this folder alone.

A proof is a list of steps, each of which adds a fact to what the hypotheses say: an identity of polynomials, an instance of
a lemma, a sum of facts, a split into cases, an induction. At the end the statement must be a fact. So it holds for all
numbers, sizes and vectors that meet the hypotheses, and both of its sides have a value there.
"""

from verify.checker import number_classes, number_run_lemmas, polynomials
from verify.checker import number_federation as federation
from verify.checker.index_sums import expected, substitute, sum_of
from verify.checker.intervals import as_interval
from verify.checker.limits import WORK, WorkLimit, bounded
from verify.checker.number_digits import interval_of
from verify.checker.number_facts import SIGNS, Fact, KnownFacts
from verify.checker.number_hypotheses import compared_sides, definition_of, enter_range, read_hypotheses
from verify.checker.number_lemmas import NUMBERS, SUMS, VECTORS
from verify.checker.operators import require
from verify.checker.polynomials import ONE, ZERO, constant, of_atom, random, vanishes
from verify.checker.schema import STATED, keys, one_meaning, stated, texts

FORMAT = "fedtheory numbers 1"
SCOPE = "every number, size and vector that the hypotheses admit"
SCOPE_OF_RUNS = ("every function that the hypotheses admit and whose mean has a minimum; "
                 "every dimension, number, size, number of rounds and of clients that they admit")
CASES = 12  # of a whole number, each proven by itself


def check(certificate):
    """Returns (accepted, reason, "", "") for a certificate with a proof."""
    keys(certificate, ("format", *STATED, "proof"), "a certificate")
    require(certificate["format"] == FORMAT, f"not a {FORMAT}")
    stated(certificate)
    require("exists" not in certificate, "the claim says that a number exists")
    require(certificate["setting"] != "point" or certificate["procedure"]["base"] == "fedavg", "its losses are others")
    one_meaning({**certificate, "sizes": {}, "values": {}})
    polynomials.meter.spent = 0
    require_proven(certificate, certificate["proof"], {}, {})
    scope = SCOPE_OF_RUNS if certificate["setting"] == "run" else SCOPE
    return True, f"every step of the proof holds, and the last one is the statement; for {scope}", "", ""


def require_proven(certificate, proof, put, least):
    """Refuses a proof that does not prove the statement. ``put``: formulas that stand for names; ``least``: lower bounds of
    whole numbers, beyond those of the hypotheses."""
    if "cases" in proof:
        keys(proof, ("cases", "from", "first", "rest"), "a proof by cases")
        name, low = proof["cases"], proof["from"]
        bounded(len(proof["first"]), CASES, "cases")
        known = read_hypotheses(certificate, put, least)[0]
        place = of_atom(("name", name))
        require(type(low) is int and name not in put and known.is_whole(place) and known.implies(
            ">=", place - constant(low)), f"{name} is not known to be a whole number from {low} on")
        for number, first in enumerate(proof["first"]):
            require_proven(certificate, first, {**put, name: low + number}, least)
        return require_proven(certificate, proof["rest"], put, {**least, name: low + len(proof["first"])})
    keys(proof, ("put", "steps"), "a proof")
    put = {**put, **{name: definition_of(certificate, name, number) for name, number in proof["put"].items()}}
    known, reader = read_hypotheses(certificate, put, least)
    names = {}
    for name, low, high in certificate["statement"]["over"]:
        _, known, names = enter_range(reader, known, names, name, low, high)
    known = StepChecker(reader).run(proof["steps"], known, names)
    relation, p = reader.read_comparison(compared_sides(certificate["statement"]), known, names)
    require(known.implies(relation, p), f"no step shows the statement: {str(p)[:300]} {relation} 0")


class StepChecker:
    """Checks the steps of a proof."""

    def __init__(self, reader):
        self.reader, self.meter = reader, WorkLimit(WORK)

    def run(self, steps, known, names):
        """The facts after all steps."""
        known = KnownFacts(known)
        for step in steps:
            self.meter.charge(100)
            known.add(step["name"], RULES[step["by"]](self, step, known, names))
        return known

    def read_goal(self, step, known, names): return self.reader.read_comparison(step["shows"], known, names)

    def require_shown_by(self, steps, known, names, relation, p):
        """Refuses steps that do not show the goal."""
        found = self.run(steps, known, names)
        require(found.implies(relation, p), f"no step shows {str(p)[:300]} {relation} 0")

    def evident(self, step, known, names):
        """Shows a goal that follows from signs, or from one fact and signs."""
        relation, p = self.read_goal(step, known, names)
        require(known.implies(relation, p), f"it is not evident that {str(p)[:300]} {relation} 0")
        return Fact(relation, p, ())

    def identity(self, step, known, names):
        """Shows p >= 0 as d p is a sum of products of facts, numbers of at least 0 and squares, and d > 0."""
        relation, p = self.read_goal(step, known, names)
        d = self.product_of_factors(step, known, names, "!=" if relation == "==" else ">")
        total, positive = ZERO, False
        for term in step["terms"]:
            q, sign = self.term_value(term, known, names, relation)
            total, positive = total + q, positive or sign
        require(relation != ">" or positive, "no part of the sum is surely positive")
        require(vanishes(d * p - total), f"the identity fails: {str(d * p - total)[:300]} is left")
        return Fact(relation, p, ())

    def product_of_factors(self, data, known, names, sign=None):
        """The product of the numbers in ``times``; refuses a number without the given sign."""
        product = ONE
        for p in [self.reader.number(node, known, names) for node in data.get("times", [])]:
            require(sign is None or known.implies(sign, p), f"a factor is not known to be {sign} 0: {str(p)[:300]}")
            product = product * p
        return product

    def term_value(self, term, known, names, relation):
        """(product, whether it is positive) of a term."""
        keys(term, ("facts",), "a term", ("times", "square"))
        facts = [known.facts[name] for name in texts(term["facts"], "facts")]
        require(not any(fact.ranges or fact.relation == "!=" for fact in facts), "a fact for all indices needs an instance")
        equal, squared = any(fact.relation == "==" for fact in facts), "square" in term
        require(equal or relation != "==", "an equality follows from equalities alone")
        product = self.product_of_factors(term, known, names, None if equal else ">=")
        for fact in facts:
            product = product * fact.poly
        if squared:
            root_of = self.reader.number(term["square"], known, names)
            product = product * root_of * root_of
        if equal or squared or any(fact.relation != ">" for fact in facts):
            return product, False
        return product, all(known.implies(">", self.reader.number(node, known, names)) for node in term.get("times", []))

    def lemma(self, step, known, names):
        """Instantiates a lemma; refuses premises that do not follow."""
        name, args = step["lemma"], step["of"]
        if name in federation.FUNCTIONS or name in federation.OPTIMUM:
            lemma = federation.loss_lemma if name in federation.FUNCTIONS else federation.optimum_lemma
            premises, conclusion = lemma(name, args, self.reader, known, names)
        elif name in number_classes.LEMMAS:
            premises, conclusion = number_classes.LEMMAS[name](args, self.reader, known, names)
        elif self.reader.run and (name in number_run_lemmas.LEMMAS or name in self.reader.run.equations):
            premises, conclusion = number_run_lemmas.run_lemma(name, args, self.reader, known, names)
        elif name in VECTORS:
            lemma, vectors, numbers = VECTORS[name]
            require(len(args) == vectors + numbers, f"{name} is about {vectors + numbers} things")
            premises, conclusion = lemma(*(self.reader.vector(a, known, names) for a in args[:vectors]),
                                         *(self.reader.number(a, known, names) for a in args[vectors:]))
        else:
            numbers = [self.reader.number(a, known, names) for a in args]
            premises, conclusion = SUMS[name](known, *numbers) if name in SUMS else NUMBERS[name](*numbers)
        for relation, p in premises:
            held = known.is_whole(p) if relation == "whole" else known.implies(relation, p)
            require(held, f"{name} needs {str(p)[:300]} {relation} 0")
        return Fact(*conclusion, ())

    def instance(self, step, known, names):
        """Instantiates a fact for all indices of a range."""
        fact, places = known.facts[step["fact"]], [self.reader.number(a, known, names) for a in step["at"]]
        require(len(places) == len(fact.ranges), "one number for each index is asked for")
        p, ranges = fact.poly, [*fact.ranges]
        while ranges:
            (atom, low, high), place = ranges.pop(0), places.pop(0)
            within = known.is_whole(place) and known.implies(">=", place - low) and (
                high is None or self.reader.is_within_range(known, high - place))
            require(within, f"{str(place)[:200]} is not known to lie in the range")
            p = substitute(known, p, atom, place)
            ranges = [(a, substitute(known, lo, atom, place), hi and substitute(known, hi, atom, place))
                      for a, lo, hi in ranges]
        return Fact(fact.relation, p, ())

    def open_range(self, step, known, names):
        """(facts within the range of a step's index, names, range, relation and polynomial of the goal). The goal is read
        with the facts outside, so that it has a value at every index."""
        its_range, inside, within = enter_range(self.reader, known, names, step["index"], step["low"], step["high"])
        outside = inside if its_range[2] is None else known.inside_sum(*its_range)
        return inside, within, its_range, *self.reader.read_comparison(step["shows"], outside, within)

    def each(self, step, known, names):
        """Shows a goal for every index of a range."""
        inside, within, its_range, relation, p = self.open_range(step, known, names)
        self.require_shown_by(step["steps"], inside, within, relation, p)
        return Fact(relation, p, (its_range,))

    def summed(self, step, known, names):
        """Sums a fact over its range."""
        fact = known.facts[step["fact"]]
        require(len(fact.ranges) == 1 and fact.ranges[0][2] is not None, "a fact for all indices of one range is asked for")
        require(fact.relation in (">=", ">", "=="), "a sum is one of equalities or inequalities")
        (atom, low, high), = fact.ranges
        return Fact("==" if fact.relation == "==" else ">=", sum_of(known, atom, fact.poly, low, high), ())

    def induction(self, step, known, names):
        """Shows a goal for every index of a range by induction."""
        inside, within, (atom, low, high), relation, p = self.open_range(step, known, names)
        self.require_shown_by(step["base"], known if high is None else with_fact(known, "not empty", high - low), names,
                              relation, substitute(known, p, atom, low))
        inside.add("before", Fact(relation, p, ()))
        if high is not None:
            inside.add("not the last", Fact(">=", high - ONE - of_atom(atom), ()))
        self.require_shown_by(step["steps"], inside, within, relation, substitute(inside, p, atom, of_atom(atom) + ONE))
        return Fact(relation, p, ((atom, low, high),))

    def cases(self, step, known, names):
        """Shows a goal both where a number is at least 0 and where it is negative."""
        relation, p = self.read_goal(step, known, names)
        number = self.reader.number(step["of"], known, names)
        require(not random(number), "cases of a number that is drawn")
        self.require_shown_by(step["above"], with_fact(known, "above", number), names, relation, p)
        self.require_shown_by(step["below"], with_fact(known, "below", -number, ">"), names, relation, p)
        return Fact(relation, p, ())

    def contrary(self, step, known, names):
        """Shows a goal by contradiction."""
        relation, p = self.read_goal(step, known, names)
        require(relation in SIGNS and not random(p), "the contrary of an inequality is asked for, of what is not drawn")
        inside = with_fact(known, "contrary", -p, ">" if relation == ">=" else ">=")
        self.require_shown_by(step["steps"], inside, names, ">", ZERO)
        return Fact(relation, p, ())

    def mean(self, step, known, names):
        """Takes the mean of a fact, which holds for every outcome; the mean may be conditioned on the past of a round."""
        fact = known.facts[step["fact"]]
        require(fact.relation != "!=" and not fact.ranges, "a fact for all indices, or one that a number is not 0")
        given = [self.reader.round(step["given"], known, names)] if "given" in step else []
        return Fact(fact.relation, expected(known, fact.poly, *given), ())

    def digits(self, step, known, names):
        """Shows a comparison of two plain numbers by interval arithmetic."""
        relation, p = self.read_goal(step, known, names)
        number = as_interval(interval_of(p))
        require(relation in SIGNS and (number.low >= 0 if relation == ">=" else number.low > 0), "the digits do not show it")
        return Fact(relation, p, ())


def with_fact(known, name, p, relation=">="):
    found = KnownFacts(known)
    found.add(name, Fact(relation, p, ()))
    return found


RULES = {"evident": StepChecker.evident, "identity": StepChecker.identity, "lemma": StepChecker.lemma,
         "instance": StepChecker.instance, "each": StepChecker.each, "sum": StepChecker.summed,
         "induction": StepChecker.induction, "cases": StepChecker.cases, "contrary": StepChecker.contrary,
         "digits": StepChecker.digits, "mean": StepChecker.mean}
