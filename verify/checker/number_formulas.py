"""Reads formulas as polynomials over atoms and as vectors, for proofs about numbers.

No formula is read that may have no value: each divisor, root, real power, logarithm, entry of an array and end of a range
asks for what it needs, which must be known then.
"""

from verify.checker.index_sums import (
    combined,
    dot,
    expected,
    expected_vector,
    length,
    new_index,
    product_of,
    scaled,
    sum_of,
    vector_sum,
)
from verify.checker.limits import WorkLimit
from verify.checker.number_classes import steepest
from verify.checker.number_facts import SIGNS, Fact
from verify.checker.number_federation import ARRAYS, RULES, loss, objective, objective_slope, slope
from verify.checker.operators import COMPARE, fitting, require
from verify.checker.polynomials import (
    ONE,
    ZERO,
    cleared,
    common,
    constant,
    exponential,
    extreme,
    logarithm,
    of_atom,
    power,
    random,
    reciprocal,
    total,
)

SIZES = ("clients", "iterations", "local_steps", "participants", "rounds", "dim", "layers")


class Reader:
    """The names of a statement. ``arrays``: the sizes of the free names; ``rules``: (indices, formula) of what is defined;
    ``put``: numbers and formulas that stand for names; ``assumed``: what formulas need is taken as known, and kept there.
    ``entries``: hypotheses that say what all entries of an array are. ``federation``: whether there are losses of clients,
    and ``infima`` of these; ``classes``: whether clients have losses at all points, ``everywhere``: names of bounds
    there; ``printed``: inequalities for all functions. ``recorded``: names of what a run records, of which ``run`` has the
    equations."""

    def __init__(self, arrays, rules, put, federation=False):
        self.arrays, self.rules, self.put, self.meter = arrays, rules, put, WorkLimit()
        self.assumed, self.federation, self.infima, self.entries = None, federation, False, {}
        self.classes, self.everywhere, self.printed = False, (), ()
        self.recorded, self.run = {}, None
        if federation:
            self.arrays, self.rules = {**arrays, **ARRAYS}, {**RULES, **rules}

    def needs(self, known, relation, p, what, sure=True):
        """Refuse a formula that may have no value, or keep what it needs, if it is ``sure`` to need that."""
        if known.where_it_counts(p).shown(relation, p) and (relation != "!=" or not known.around or all(
                known.where_it_counts(q).shown(relation, q) for q in factors(p))):
            return
        require(sure and self.assumed is not None, f"{what} is not shown: {str(p)[:300]} {relation} 0")
        self.assumed.append(Fact(relation, p, ()))

    def is_vector(self, node, around=()):
        """Whether a formula is a vector."""
        if isinstance(node, int):
            return False
        head, *args = [node] if isinstance(node, str) else node
        if head in self.rules and head not in around:
            return self.is_vector(self.rules[head][1], (*around, head))
        if head in ("+", "*"):
            return any(self.is_vector(a, around) for a in args)
        return head in ("grad", "objective_grad") or (head in ("Sum", *MEANS) and self.is_vector(args[0], around)) or (
            self.arrays.get(head) is not None and self.arrays[head][-1:] == ["dim"])

    def number(self, node, known, names):
        """A formula as a polynomial; ``names``: the atoms of indices around it."""
        self.meter.charge(1)
        if type(node) is int:
            return constant(node)
        head, *args = [node] if isinstance(node, str) else node
        fitting(head, len(args))
        if isinstance(node, str) and head in names:
            return names[head]
        require(head not in names, f"{head} is an index")
        if head in self.put and isinstance(node, str):
            return self.number(self.put[head], known, {})
        if head in self.rules:
            indices, formula = self.rules[head]
            require(len(indices) == len(args), f"{head} has {len(indices)} indices")
            return self.number(formula, known, dict(zip(indices, [self.number(a, known, names) for a in args], strict=True)))
        if head in self.entries:
            return self.entry(head, args, known, names)
        if head in ("Sum", "Product"):
            fresh, body, low, high = self.entered(self.number, args, known, names)
            return (sum_of if head == "Sum" else product_of)(known, fresh, body, low, high)
        if head in ("dot", "norm2", "norm"):
            vectors = [self.vector(a, known, names) for a in args]
            return length(*vectors) if head == "norm" else dot(vectors[0], vectors[-1])
        if head == "infimum" and self.classes:
            return constant(-1) * of_atom(("steepest", self.client(steepest(*args), known, names)))
        if head == "F" and self.federation:
            return loss(self.client(args[0], known, names), self.vector(args[1], known, names))
        if head == "objective" and self.federation:
            return objective(self, self.vector(args[0], known, names), known)
        if head == "Exp1":
            return exponential(ONE)
        if head in MEANS and self.recorded:
            return expected(known, self.number(args[0], known, names), *self.given(head, args, known, names))
        if head in OF_NUMBERS:
            return self.function(head, [self.number(a, known, names) for a in args], known)
        return self.of_name(head, args, known, names)

    def entry(self, head, args, known, names):
        """An entry of an array of which a hypothesis says what its entries are."""
        rule, inner = self.entries[head], {}
        require(len(args) == len(rule["over"]), f"{head} has {len(rule['over'])} indices")
        for a, (index, low, high) in zip(args, rule["over"], strict=True):
            place = self.number(a, known, names)
            require(known.is_whole(place), f"an index of {head} is no whole number")
            self.needs(known, ">=", place - self.number(low, known, inner), f"that an index of {head} is not too small")
            self.needs(known, ">=", self.number(high, known, inner) - place, f"that an index of {head} is not too large")
            inner[index] = place
        return self.number(rule["right"], known, inner)

    def of_name(self, head, args, known, names):
        require(head in self.arrays or (head in SIZES and not args), f"nothing is known of {head}")
        sizes = self.arrays.get(head, [])
        require(sizes is not None and len(sizes) == len(args) and sizes[-1:] != ["dim"], f"{head} is no number")
        kind = "drawn" if head in self.recorded else "entry"
        return of_atom((kind, head, *self.places(head, args, sizes, known, names)) if args else ("name", head))

    def places(self, head, args, sizes, known, names):
        """Indices of an entry, which lie within its array."""
        found = [self.number(a, known, names) for a in args]
        for place, size in zip(found, sizes, strict=True):
            name, _, more = size.partition(" + ")
            last = (constant(int(name)) if name.isdigit() else self.number(name, known, {})) + constant(int(more or 0) - 1)
            require(known.is_whole(place), f"an index of {head} is no whole number")
            self.needs(known, ">=", place, f"that an index of {head} is at least 0")
            if not (name == "iterations" and self.in_a_round(known, last - place, names)):
                self.needs(known, ">=", last - place, f"that an index of {head} is not too large")
        return found

    def in_a_round(self, known, p, names):
        """Whether p is surely at least 0 because it is at least (rounds - 1 - r) local_steps for a round r."""
        known, K = known.where_it_counts(p), self.number("local_steps", known, {})
        after = [self.number("rounds", known, {}) - ONE - r for r in names.values() if self.recorded]
        to = [ZERO, *(fact.poly for name, fact in known.facts.items()  # ends of ranges
                      if name.endswith(" to") and fact.relation in SIGNS and not fact.ranges)]
        return any(known.shown(">=", q) and any(known.shown(">=", p - q * K - rest) for rest in to) for q in after)

    def client(self, node, known, names):
        """The number of a client."""
        return self.places("the clients", [node], ["clients"], known, names)[0]

    def given(self, head, args, known, names):
        """The round whose past a mean is given, if any."""
        require(len(args) == MEANS[head], "a mean is one over all draws, or over those from a round on")
        return [self.round(a, known, names) for a in args[1:]]

    def round(self, node, known, names):
        """A round whose past is given: at most the number of rounds, which is when everything has been drawn."""
        r = self.number(node, known, names)
        require(known.is_whole(r), "a round is a whole number")
        self.needs(known, ">=", r, "that a round is at least 0")
        self.needs(known, ">=", self.number("rounds", known, {}) - r, "that a round is at most the last")
        return r

    def entered(self, read, args, known, names):
        """(index, body, first value, last value) of a sum or product. Nothing is assumed of the body, as the range may be
        empty."""
        body, index, low, high = args
        require(isinstance(index, str), "an index has a name")
        low, high = (self.number(end, known, names) for end in (low, high))
        require(known.is_whole(low) and known.is_whole(high), "a range goes from a whole number to one")
        require(not random(low) and not random(high), "a range whose end is drawn")
        fresh, assumed = new_index(), self.assumed
        self.assumed = None
        body = read(body, known.summed(fresh, low, high), {**names, index: of_atom(fresh)})
        self.assumed = assumed
        return fresh, body, low, high

    def function(self, head, args, known):
        """A function of numbers."""
        if head == "+":
            return total(args)
        if head == "*":
            found = ONE
            for a in args:
                found = found * a
            return found
        if head == "^":
            return self.power(*args, known)
        if head == "exp":
            return exponential(*args)
        if head == "log":
            self.needs(known, ">", args[0], "that a logarithm is of a positive number")
            return logarithm(*args)
        if head == "Abs":
            sign = next((s for s in (1, -1) if known.evident(args[0] * constant(s))), 0)
            return args[0] * constant(sign) if sign else of_atom(("Abs", *args))
        if head in ("Max", "Min"):
            return extreme(head, *args)
        return of_atom((head, *args))  # floor, ceiling

    def power(self, b, e, known):
        """A power. What it needs may depend on its exponent: where that is no number of its own, nothing is assumed."""
        n = e.number()
        above = n >= 0 if n is not None else known.where_it_counts(e).shown(">=", e)
        if (n is not None and n.denominator == 1) or (n is None and known.is_whole(e)):
            if not above:
                self.needs(known, "!=", b, "that a divisor is not 0", n is not None)
        elif above:
            self.needs(known, ">=", b, "that a root or real power is of a number of at least 0", n is not None)
        else:
            self.needs(known, ">", b, "that a real power is of a positive number", n is not None)
        return power(b, e)

    def vector(self, node, known, names):
        """A formula as a vector: coefficients of atoms."""
        self.meter.charge(1)
        if node == 0:
            return {}
        head, *args = [node] if isinstance(node, str) else node
        fitting(head, len(args))
        if head in self.rules:
            indices, formula = self.rules[head]
            return self.vector(formula, known, dict(zip(indices, [self.number(a, known, names) for a in args], strict=True)))
        if head == "+":
            return combined(self.vector(a, known, names) for a in args)
        if head == "*":
            inner = [a for a in args if self.is_vector(a)]
            require(len(inner) == 1, "a product with a vector has one vector")
            factor = self.function("*", [self.number(a, known, names) for a in args if a is not inner[0]], known)
            return scaled(self.vector(inner[0], known, names), factor)
        if head == "Sum":
            fresh, body, low, high = self.entered(self.vector, args, known, names)
            return vector_sum(known, fresh, body, low, high)
        if head in MEANS and self.recorded:
            return expected_vector(known, self.vector(args[0], known, names), *self.given(head, args, known, names))
        if head == "grad" and self.federation:
            return slope(self.client(args[0], known, names), self.vector(args[1], known, names))
        if head == "objective_grad" and self.federation:
            return objective_slope(self, self.vector(args[0], known, names), known)
        require(self.is_vector(node) and head in self.arrays, f"{head} is no vector")
        sizes = self.arrays[head][:-1]
        require(len(sizes) == len(args), f"{head} has {len(sizes)} indices")
        kind = "run" if head in self.recorded else "vector"
        return {(kind, head, *self.places(head, args, sizes, known, names)): ONE}

    def compared(self, condition, known, names):
        """(relation, polynomial) of a condition [left, relation, right]: the polynomial that is compared with 0."""
        left, relation, right = condition
        require(relation in COMPARE, f"the relation is one of {' '.join(COMPARE)}")
        left, right = (self.number(side, known, names) for side in (left, right))
        turned = {"<=": ">=", "<": ">"}
        return (turned[relation], right - left) if relation in turned else (relation, left - right)


MEANS = {"E": 1, "E_round": 2}  #: means over draws, and how many arguments they have
OF_NUMBERS = ("+", "*", "^", "exp", "log", "Abs", "Max", "Min", "floor", "ceiling")


def factors(p):
    """The factors of a divisor, each of which may leave a sum without the others."""
    q = cleared(p)[0]
    return [*(of_atom(a) for a, n in common(q) if n > 0), q * reciprocal(common(q))] if q.terms else [q]
