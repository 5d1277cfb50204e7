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
from verify.checker.number_digits import value
from verify.checker.number_facts import SIGNS, Fact, Known
from verify.checker.number_hypotheses import begin, defining, ranged, sides
from verify.checker.number_lemmas import NUMBERS, SUMS, VECTORS
from verify.checker.operators import require
from verify.checker.polynomials import ONE, ZERO, constant, of_atom, random, vanishes
from verify.checker.schema import STATED, keys, one_meaning, stated, texts

FORMAT = "fedtheory numbers 1"
SCOPE = "every number, size and vector that the hypotheses admit"
SCOPE_OF_RUNS = ("every function that the hypotheses admit and whose mean has a minimum; "
                 "every dimension, number, size, number of rounds and of clients that they admit")
CASES = 12  # values of a whole number that are looked at one by one


def check(certificate):
    """(accepted, reason, "", "") of a proof."""
    keys(certificate, ("format", *STATED, "proof"), "a certificate")
    require(certificate["format"] == FORMAT, f"not a {FORMAT}")
    stated(certificate)
    require("exists" not in certificate, "the claim says that a number exists")
    require(certificate["setting"] != "point" or certificate["procedure"]["base"] == "fedavg", "its losses are others")
    one_meaning({**certificate, "sizes": {}, "values": {}})
    polynomials.meter.spent = 0
    proven(certificate, certificate["proof"], {}, {})
    scope = SCOPE_OF_RUNS if certificate["setting"] == "run" else SCOPE
    return True, f"every step of the proof holds, and the last one is the statement; for {scope}", "", ""


def proven(certificate, proof, put, least):
    """Refuse a proof that does not prove the statement. ``put``: formulas that stand for names; ``least``: of whole numbers
    that are larger than the hypotheses say."""
    if "cases" in proof:
        keys(proof, ("cases", "from", "first", "rest"), "a proof by cases")
        name, low = proof["cases"], proof["from"]
        bounded(len(proof["first"]), CASES, "cases")
        known = begin(certificate, put, least)[0]
        place = of_atom(("name", name))
        require(type(low) is int and name not in put and known.is_whole(place) and known.shown(
            ">=", place - constant(low)), f"{name} is not known to be a whole number from {low} on")
        for number, first in enumerate(proof["first"]):
            proven(certificate, first, {**put, name: low + number}, least)
        return proven(certificate, proof["rest"], put, {**least, name: low + len(proof["first"])})
    keys(proof, ("put", "steps"), "a proof")
    put = {**put, **{name: defining(certificate, name, number) for name, number in proof["put"].items()}}
    known, reader = begin(certificate, put, least)
    names = {}
    for name, low, high in certificate["statement"]["over"]:
        _, known, names = ranged(reader, known, names, name, low, high)
    known = Steps(reader).run(proof["steps"], known, names)
    relation, p = reader.compared(sides(certificate["statement"]), known, names)
    require(known.shown(relation, p), f"no step shows the statement: {str(p)[:300]} {relation} 0")


class Steps:
    """Follows the steps of a proof."""

    def __init__(self, reader):
        self.reader, self.meter = reader, WorkLimit(WORK)

    def run(self, steps, known, names):
        """What is known after all steps."""
        known = Known(known)
        for step in steps:
            self.meter.charge(100)
            known.add(step["name"], RULES[step["by"]](self, step, known, names))
        return known

    def goal(self, step, known, names): return self.reader.compared(step["shows"], known, names)

    def block(self, steps, known, names, relation, p):
        """Refuse steps after which a goal is not shown."""
        found = self.run(steps, known, names)
        require(found.shown(relation, p), f"no step shows {str(p)[:300]} {relation} 0")

    def evident(self, step, known, names):
        """What follows from signs, or from one fact and signs."""
        relation, p = self.goal(step, known, names)
        require(known.shown(relation, p), f"it is not evident that {str(p)[:300]} {relation} 0")
        return Fact(relation, p, ())

    def identity(self, step, known, names):
        """d p = the sum of products of facts, numbers of at least 0 and squares; d > 0."""
        relation, p = self.goal(step, known, names)
        d = self.factors(step, known, names, "!=" if relation == "==" else ">")
        total, positive = ZERO, False
        for term in step["terms"]:
            q, sign = self.term(term, known, names, relation)
            total, positive = total + q, positive or sign
        require(relation != ">" or positive, "no part of the sum is surely positive")
        require(vanishes(d * p - total), f"the identity fails: {str(d * p - total)[:300]} is left")
        return Fact(relation, p, ())

    def factors(self, data, known, names, sign=None):
        """The product of numbers, each of which has a sign."""
        product = ONE
        for p in [self.reader.number(node, known, names) for node in data.get("times", [])]:
            require(sign is None or known.shown(sign, p), f"a factor is not known to be {sign} 0: {str(p)[:300]}")
            product = product * p
        return product

    def term(self, term, known, names, relation):
        """(the product, whether it is positive)."""
        keys(term, ("facts",), "a term", ("times", "square"))
        facts = [known.facts[name] for name in texts(term["facts"], "facts")]
        require(not any(fact.ranges or fact.relation == "!=" for fact in facts), "a fact for all indices needs an instance")
        equal, squared = any(fact.relation == "==" for fact in facts), "square" in term
        require(equal or relation != "==", "an equality follows from equalities alone")
        product = self.factors(term, known, names, None if equal else ">=")
        for fact in facts:
            product = product * fact.poly
        if squared:
            root_of = self.reader.number(term["square"], known, names)
            product = product * root_of * root_of
        if equal or squared or any(fact.relation != ">" for fact in facts):
            return product, False
        return product, all(known.shown(">", self.reader.number(node, known, names)) for node in term.get("times", []))

    def lemma(self, step, known, names):
        """An instance of a lemma, whose premises are known."""
        name, args = step["lemma"], step["of"]
        if name in federation.FUNCTIONS or name in federation.OPTIMUM:
            lemma = federation.instance if name in federation.FUNCTIONS else federation.optimum
            premises, conclusion = lemma(name, args, self.reader, known, names)
        elif name in number_classes.LEMMAS:
            premises, conclusion = number_classes.LEMMAS[name](args, self.reader, known, names)
        elif self.reader.run and (name in number_run_lemmas.LEMMAS or name in self.reader.run.equations):
            premises, conclusion = number_run_lemmas.instance(name, args, self.reader, known, names)
        elif name in VECTORS:
            lemma, vectors, numbers = VECTORS[name]
            require(len(args) == vectors + numbers, f"{name} is about {vectors + numbers} things")
            premises, conclusion = lemma(*(self.reader.vector(a, known, names) for a in args[:vectors]),
                                         *(self.reader.number(a, known, names) for a in args[vectors:]))
        else:
            numbers = [self.reader.number(a, known, names) for a in args]
            premises, conclusion = SUMS[name](known, *numbers) if name in SUMS else NUMBERS[name](*numbers)
        for relation, p in premises:
            held = known.is_whole(p) if relation == "whole" else known.shown(relation, p)
            require(held, f"{name} needs {str(p)[:300]} {relation} 0")
        return Fact(*conclusion, ())

    def instance(self, step, known, names):
        """A fact for all indices of a range, at some."""
        fact, places = known.facts[step["fact"]], [self.reader.number(a, known, names) for a in step["at"]]
        require(len(places) == len(fact.ranges), "one number for each index is asked for")
        p, ranges = fact.poly, [*fact.ranges]
        while ranges:
            (atom, low, high), place = ranges.pop(0), places.pop(0)
            require(known.is_whole(place) and known.shown(">=", place - low) and (
                high is None or known.shown(">=", high - place)), f"{str(place)[:200]} is not known to lie in the range")
            p = substitute(known, p, atom, place)
            ranges = [(a, substitute(known, lo, atom, place), hi and substitute(known, hi, atom, place))
                      for a, lo, hi in ranges]
        return Fact(fact.relation, p, ())

    def opened(self, step, known, names):
        """(what is known within the range of a step's index, the names, the range, the goal). The goal is read by what is
        known outside, so that it has a value at every index."""
        its_range, inside, within = ranged(self.reader, known, names, step["index"], step["low"], step["high"])
        outside = inside if its_range[2] is None else known.summed(*its_range)
        return inside, within, its_range, *self.reader.compared(step["shows"], outside, within)

    def each(self, step, known, names):
        """What is shown for any index of a range."""
        inside, within, its_range, relation, p = self.opened(step, known, names)
        self.block(step["steps"], inside, within, relation, p)
        return Fact(relation, p, (its_range,))

    def summed(self, step, known, names):
        """The sum of what holds for each index."""
        fact = known.facts[step["fact"]]
        require(len(fact.ranges) == 1 and fact.ranges[0][2] is not None, "a fact for all indices of one range is asked for")
        require(fact.relation in (">=", ">", "=="), "a sum is one of equalities or inequalities")
        (atom, low, high), = fact.ranges
        return Fact("==" if fact.relation == "==" else ">=", sum_of(known, atom, fact.poly, low, high), ())

    def induction(self, step, known, names):
        """What holds at the first index, and at the next one wherever it holds at one."""
        inside, within, (atom, low, high), relation, p = self.opened(step, known, names)
        self.block(step["base"], known if high is None else with_fact(known, "not empty", high - low), names, relation,
                   substitute(known, p, atom, low))
        inside.add("before", Fact(relation, p, ()))
        if high is not None:
            inside.add("not the last", Fact(">=", high - ONE - of_atom(atom), ()))
        self.block(step["steps"], inside, within, relation, substitute(inside, p, atom, of_atom(atom) + ONE))
        return Fact(relation, p, ((atom, low, high),))

    def cases(self, step, known, names):
        """What holds where a number is at least 0, and where it is below."""
        relation, p = self.goal(step, known, names)
        number = self.reader.number(step["of"], known, names)
        require(not random(number), "cases of a number that is drawn")
        self.block(step["above"], with_fact(known, "above", number), names, relation, p)
        self.block(step["below"], with_fact(known, "below", -number, ">"), names, relation, p)
        return Fact(relation, p, ())

    def contrary(self, step, known, names):
        """What cannot fail, as that would contradict what is known."""
        relation, p = self.goal(step, known, names)
        require(relation in SIGNS and not random(p), "the contrary of an inequality is asked for, of what is not drawn")
        inside = with_fact(known, "contrary", -p, ">" if relation == ">=" else ">=")
        self.block(step["steps"], inside, names, ">", ZERO)
        return Fact(relation, p, ())

    def mean(self, step, known, names):
        """What holds whatever is drawn holds in the mean, also in one that is given the past of a round."""
        fact = known.facts[step["fact"]]
        require(fact.relation != "!=" and not fact.ranges, "a fact for all indices, or one that a number is not 0")
        given = [self.reader.round(step["given"], known, names)] if "given" in step else []
        return Fact(fact.relation, expected(known, fact.poly, *given), ())

    def digits(self, step, known, names):
        """A comparison of two numbers, by intervals."""
        relation, p = self.goal(step, known, names)
        number = as_interval(value(p))
        require(relation in SIGNS and (number.low >= 0 if relation == ">=" else number.low > 0), "the digits do not show it")
        return Fact(relation, p, ())


def with_fact(known, name, p, relation=">="):
    found = Known(known)
    found.add(name, Fact(relation, p, ()))
    return found


RULES = {"evident": Steps.evident, "identity": Steps.identity, "lemma": Steps.lemma, "instance": Steps.instance,
         "each": Steps.each, "sum": Steps.summed, "induction": Steps.induction, "cases": Steps.cases,
         "contrary": Steps.contrary, "digits": Steps.digits, "mean": Steps.mean}
