"""Reads formulas as polynomials over atoms and as vectors, for proofs about numbers.

A formula that may have no value is refused: the condition under which a divisor, root, real power, logarithm, entry of an
array or range has a value must follow from the facts.
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
from verify.checker.number_classes import client_of_supremum
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
    """Reads formulas. ``arrays``: the sizes of the free names; ``rules``: (indices, formula) of definitions; ``put``: values
    and formulas for names; ``assumed``: None, or a list in which unproven conditions for values are collected.
    ``entries``: hypotheses that define all entries of an array. ``federation``: whether clients have losses, and ``infima``
    of these; ``classes``: whether they have losses at all points, ``everywhere``: names of bounds there; ``printed``:
    inequalities for all functions. ``recorded``: names of what a run records; ``run`` has its equations."""

    def __init__(self, arrays, rules, put, federation=False):
        self.arrays, self.rules, self.put, self.meter = arrays, rules, put, WorkLimit()
        self.assumed, self.federation, self.infima, self.entries = None, federation, False, {}
        self.classes, self.everywhere, self.printed = False, (), ()
        self.recorded, self.run = {}, None
        if federation:
            self.arrays, self.rules = {**arrays, **ARRAYS}, {**RULES, **rules}

    def require_or_assume(self, known, relation, p, what, sure=True):
        """Refuses a formula that may have no value; or collects the condition, if it is ``sure`` to be needed."""
        if relation == ">=" and self.is_within_range(known.for_indices_of(p), p):
            return
        if known.for_indices_of(p).implies(relation, p) and (relation != "!=" or not known.around or all(
                known.for_indices_of(q).implies(relation, q) for q in factors(p))):
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
            return self.defined_entry(head, args, known, names)
        if head in ("Sum", "Product"):
            fresh, body, low, high = self.read_range(self.number, args, known, names)
            return (sum_of if head == "Sum" else product_of)(known, fresh, body, low, high)
        if head in ("dot", "norm2", "norm"):
            vectors = [self.vector(a, known, names) for a in args]
            return length(*vectors) if head == "norm" else dot(vectors[0], vectors[-1])
        if head == "infimum" and self.classes:
            return constant(-1) * of_atom(("steepest", self.client(client_of_supremum(*args), known, names)))
        if head == "F" and self.federation:
            return loss(self.client(args[0], known, names), self.vector(args[1], known, names))
        if head == "objective" and self.federation:
            return objective(self, self.vector(args[0], known, names), known)
        if head == "Exp1":
            return exponential(ONE)
        if head in MEANS and self.recorded:
            return expected(known, self.number(args[0], known, names), *self.conditioning_rounds(head, args, known, names))
        if head in OF_NUMBERS:
            return self.apply_function(head, [self.number(a, known, names) for a in args], known)
        return self.named_number(head, args, known, names)

    def defined_entry(self, head, args, known, names):
        """The entry of an array whose entries are defined by a hypothesis."""
        rule, inner = self.entries[head], {}
        require(len(args) == len(rule["over"]), f"{head} has {len(rule['over'])} indices")
        for a, (index, low, high) in zip(args, rule["over"], strict=True):
            place = self.number(a, known, names)
            require(known.is_whole(place), f"an index of {head} is no whole number")
            self.require_or_assume(known, ">=", place - self.number(low, known, inner),
                                   f"that an index of {head} is not too small")
            self.require_or_assume(known, ">=", self.number(high, known, inner) - place,
                                   f"that an index of {head} is not too large")
            inner[index] = place
        return self.number(rule["right"], known, inner)

    def named_number(self, head, args, known, names):
        """A size, a free number, or an entry of an array of free numbers, as an atom."""
        require(head in self.arrays or (head in SIZES and not args), f"nothing is known of {head}")
        sizes = self.arrays.get(head, [])
        require(sizes is not None and len(sizes) == len(args) and sizes[-1:] != ["dim"], f"{head} is no number")
        kind = "drawn" if head in self.recorded else "entry"
        return of_atom((kind, head, *self.entry_indices(head, args, sizes, known, names)) if args else ("name", head))

    def entry_indices(self, head, args, sizes, known, names):
        """The indices of an entry; refuses those that may lie outside of its array."""
        found = [self.number(a, known, names) for a in args]
        for place, size in zip(found, sizes, strict=True):
            name, _, more = size.partition(" + ")
            last = (constant(int(name)) if name.isdigit() else self.number(name, known, {})) + constant(int(more or 0) - 1)
            require(known.is_whole(place), f"an index of {head} is no whole number")
            self.require_or_assume(known, ">=", place, f"that an index of {head} is at least 0")
            if not (name == "iterations" and self.is_within_rounds(known, last - place, names)):
                self.require_or_assume(known, ">=", last - place, f"that an index of {head} is not too large")
        return found

    def is_within_rounds(self, known, p, names):
        """Whether p is surely at least 0 because it is at least (rounds - 1 - r) local_steps for a round r."""
        known, K = known.for_indices_of(p), self.number("local_steps", known, {})
        after = [self.number("rounds", known, {}) - ONE - r for r in names.values() if self.recorded]
        return any(known.implies(">=", q) and self.is_within_range(known, p - q * K) for q in after)

    def is_within_range(self, known, p):
        """Whether p is surely at least 0, if need be because an index does not exceed the end of its range."""
        to = [fact.poly for name, fact in known.facts.items()
              if name.endswith(" to") and fact.relation in SIGNS and not fact.ranges]
        return any(known.implies(">=", p - rest) for rest in [ZERO, *to])

    def client(self, node, known, names):
        """The number of a client."""
        return self.entry_indices("the clients", [node], ["clients"], known, names)[0]

    def conditioning_rounds(self, head, args, known, names):
        """The rounds on whose past a mean is conditioned: one or none."""
        require(len(args) == MEANS[head], "a mean is one over all draws, or over those from a round on")
        return [self.round(a, known, names) for a in args[1:]]

    def round(self, node, known, names):
        """A round that a mean is conditioned on: at most the number of rounds, after which nothing is drawn."""
        r = self.number(node, known, names)
        require(known.is_whole(r), "a round is a whole number")
        self.require_or_assume(known, ">=", r, "that a round is at least 0")
        self.require_or_assume(known, ">=", self.number("rounds", known, {}) - r, "that a round is at most the last")
        return r

    def read_range(self, read, args, known, names):
        """(index, body, first value, last value) of a sum or product. Conditions of the body are not collected, as the range
        may be empty."""
        body, index, low, high = args
        require(isinstance(index, str), "an index has a name")
        low, high = (self.number(end, known, names) for end in (low, high))
        require(known.is_whole(low) and known.is_whole(high), "a range goes from a whole number to one")
        require(not random(low) and not random(high), "a range whose end is drawn")
        fresh, assumed = new_index(), self.assumed
        self.assumed = None
        body = read(body, known.inside_sum(fresh, low, high), {**names, index: of_atom(fresh)})
        self.assumed = assumed
        return fresh, body, low, high

    def apply_function(self, head, args, known):
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
            self.require_or_assume(known, ">", args[0], "that a logarithm is of a positive number")
            return logarithm(*args)
        if head == "Abs":
            sign = next((s for s in (1, -1) if known.evident_sign(args[0] * constant(s))), 0)
            return args[0] * constant(sign) if sign else of_atom(("Abs", *args))
        if head in ("Max", "Min"):
            return extreme(head, *args)
        return of_atom((head, *args))  # floor, ceiling

    def power(self, b, e, known):
        """A power. Its condition depends on the exponent: unless that is a plain number, the condition is not collected."""
        n = e.number()
        above = n >= 0 if n is not None else known.for_indices_of(e).implies(">=", e)
        if (n is not None and n.denominator == 1) or (n is None and known.is_whole(e)):
            if not above:
                self.require_or_assume(known, "!=", b, "that a divisor is not 0", n is not None)
        elif above:
            self.require_or_assume(known, ">=", b, "that a root or real power is of a number of at least 0", n is not None)
        else:
            self.require_or_assume(known, ">", b, "that a real power is of a positive number", n is not None)
        return power(b, e)

    def vector(self, node, known, names):
        """A formula as a vector: coefficients by atom."""
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
            factor = self.apply_function("*", [self.number(a, known, names) for a in args if a is not inner[0]], known)
            return scaled(self.vector(inner[0], known, names), factor)
        if head == "Sum":
            fresh, body, low, high = self.read_range(self.vector, args, known, names)
            return vector_sum(known, fresh, body, low, high)
        if head in MEANS and self.recorded:
            return expected_vector(known, self.vector(args[0], known, names),
                                   *self.conditioning_rounds(head, args, known, names))
        if head == "grad" and self.federation:
            return slope(self.client(args[0], known, names), self.vector(args[1], known, names))
        if head == "objective_grad" and self.federation:
            return objective_slope(self, self.vector(args[0], known, names), known)
        require(self.is_vector(node) and head in self.arrays, f"{head} is no vector")
        sizes = self.arrays[head][:-1]
        require(len(sizes) == len(args), f"{head} has {len(sizes)} indices")
        kind = "run" if head in self.recorded else "vector"
        return {(kind, head, *self.entry_indices(head, args, sizes, known, names)): ONE}

    def read_comparison(self, condition, known, names):
        """(relation, polynomial) of a condition [left, relation, right]: the polynomial that is compared with 0."""
        left, relation, right = condition
        require(relation in COMPARE, f"the relation is one of {' '.join(COMPARE)}")
        left, right = (self.number(side, known, names) for side in (left, right))
        turned = {"<=": ">=", "<": ">"}
        return (turned[relation], right - left) if relation in turned else (relation, left - right)


MEANS = {"E": 1, "E_round": 2}  #: means over draws, and how many arguments they have
OF_NUMBERS = ("+", "*", "^", "exp", "log", "Abs", "Max", "Min", "floor", "ceiling")


def factors(p):
    """The factors of a divisor; each may be moved out of a sum without the others."""
    q = cleared(p)[0]
    return [*(of_atom(a) for a, n in common(q) if n > 0), q * reciprocal(common(q))] if q.terms else [q]
