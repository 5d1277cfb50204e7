"""The facts of a proof about numbers: p >= 0, p > 0, p == 0 or p != 0 for polynomials p, and what they imply without a step.

A relation is implied if it follows from the signs of atoms and the least values of names, term by term, or from one fact and
such signs. Everything else needs a step of a proof.
"""

from collections import namedtuple
from functools import lru_cache

from verify.checker.polynomials import (
    ONE,
    ZERO,
    Poly,
    cleared,
    common,
    constant,
    extreme,
    has,
    meter,
    of_atom,
    random,
    reciprocal,
    total,
    vanishes,
)

#: ``relation`` of ``poly`` to 0, for all values of the indices in ``ranges``: (index, low, high), high None without an end
Fact = namedtuple("Fact", "relation poly ranges")
NEGATIVE, NONNEGATIVE, POSITIVE = -1, 1, 2
SIGNS = {">=": NONNEGATIVE, ">": POSITIVE}


class KnownFacts:
    """Facts by name. ``signs``: NONNEGATIVE or POSITIVE for atoms; ``families``: the same for all entries of an array;
    ``least``: lower bounds of atoms; ``whole``: names of integers and of arrays of integers. ``around``: the sums around
    the formula that is read, (index, low, high), and ``base``: the facts outside of them. ``sure``: signs of polynomials
    that have been shown. ``is_past``: decides whether a part is determined by what a run draws before a round."""

    def __init__(self, other=None):
        self.facts, self.signs, self.families, self.least, self.whole = ({}, {}, {}, {}, set()) if other is None else (
            {**other.facts}, {**other.signs}, {**other.families}, {**other.least}, {*other.whole})
        self.around, self.base, self.sure = (), self, {} if other is None else {**other.sure}
        self.is_past = None if other is None else other.is_past
        self.forget()

    def forget(self):
        """Drops what holds until the next fact: what does not follow, signs of atoms, and the facts within ranges."""
        self.refused, self.sought, self.within = set(), {}, {}

    def add(self, name, fact):
        """Adds a fact, and the sign of an atom that follows from it alone."""
        self.facts[name] = fact
        self.forget()
        if not fact.ranges and fact.relation in SIGNS:
            self.sure[fact.poly] = max(self.sure.get(fact.poly, 0), SIGNS[fact.relation])
        if fact.ranges or len(fact.poly.terms) > 2 or fact.relation not in SIGNS:
            return
        terms = dict(fact.poly.terms)
        number = terms.pop((), 0)
        if len(terms) == 1 and number <= 0:
            (m, c), = terms.items()
            if len(m) == 1 and m[0][1] == 1 and c > 0:
                atom, sign = m[0][0], POSITIVE if number < 0 else SIGNS[fact.relation]
                self.signs[atom] = max(self.signs.get(atom, 0), sign)
                if number < 0:
                    self.least[atom] = max(self.least.get(atom, 0), -number / c)

    # signs -------------------------------------------------------------------------------------------------------------
    def sign_of_atom(self, atom):
        """The sign of an atom: NONNEGATIVE or POSITIVE, NEGATIVE for quotients alone, 0 if it is not evident."""
        meter.charge(4)
        known = self.signs.get(atom, 0)
        if known == POSITIVE:
            return known
        if atom[0] in ("entry", "drawn"):
            return max(known, self.families.get(atom[1], 0))
        if atom not in self.sought:
            self.sought[atom] = 0  # meanwhile, as facts that its sign follows from may have the atom
            self.sought[atom] = self.sign_of_parts(atom)
        return max(known, self.sought[atom]) if known else self.sought[atom]

    def sign_of_parts(self, atom):
        """The sign of an atom that follows from its parts."""
        kind = atom[0]
        if kind == "E":
            return self.evident_sign(atom[1])
        if kind == "exp":
            return POSITIVE
        if kind == "inv":
            signs = (atom[1], POSITIVE), (-atom[1], NEGATIVE)
            return next((sign for p, sign in signs if self.implies(">", p, alone=True)), 0)
        if kind == "root":
            return POSITIVE if self.evident_sign(atom[1]) == POSITIVE else NONNEGATIVE
        if kind in ("Abs", "norm") or (kind == "dot" and atom[1] == atom[2]):
            return NONNEGATIVE
        if kind == "pow":
            return self.evident_sign(atom[1])
        if kind in ("Max", "Min"):
            return (max if kind == "Max" else min)(map(self.evident_sign, atom[1:]))
        return self.sign_of_sum(*atom) if kind in ("Sum", "Product") else 0

    def sign_of_sum(self, kind, body, low, high, own):
        """The sign of a sum or product."""
        if has_no_evident_sign(body):
            return 0
        sign = self.with_index(own, low, high).evident_sign(body)
        some = kind == "Product" or (sign == POSITIVE and self.implies(">=", high - low))
        return sign if some else min(sign, NONNEGATIVE)

    def inside_sum(self, index, low, high):
        """The facts for reading the body of a sum, whose range may be empty."""
        inside = self.with_index(index, low, high)
        inside.around, inside.base = (*self.around, (index, low, high)), self.base
        return inside

    def for_indices_of(self, p):
        """The facts without the ranges of indices that do not occur in ``p``: it is moved out of their sums, which may be
        empty."""
        kept = []
        for index, low, high in reversed(self.around):
            if has(p, index) or any(has(end, index) for _, *ends in kept for end in ends):
                kept.append((index, low, high))
        ranges = tuple(reversed(kept))
        if ranges not in self.base.within:
            known = self.base
            for one in ranges:
                known = known.with_index(*one)
            self.base.within[ranges] = known
        return self.base.within[ranges]

    def with_index(self, index, low, high=None, label=None):
        """The facts with an index that is an integer of a range; ``label`` names the facts about the range."""
        inside, label = KnownFacts(self), label or index[1]
        if index[0] == "bound":  # other sums may have the same index
            inside.sure = {}
        inside.signs.pop(index, None)
        inside.least.pop(index, None)
        inside.whole.add(index)
        if low.number() is not None and low.number() > 0:
            inside.least[index] = low.number()
        inside.signs[index] = inside.evident_sign(low)
        inside.facts[f"{label} from"] = Fact(">=", of_atom(index) - low, ())
        if high is not None:
            inside.facts[f"{label} to"] = Fact(">=", high - of_atom(index), ())
        return inside

    def sign_of_term(self, m, c):
        """The sign of a term."""
        turned = [a for a, n in m if n % 2 and self.sign_of_atom(a) == NEGATIVE]
        if (c < 0) != len(turned) % 2:
            return 0
        signs = [POSITIVE if self.sign_of_atom(a) == NEGATIVE else max(self.sign_of_atom(a), NONNEGATIVE * (n % 2 == 0))
                 for a, n in m]
        return min([POSITIVE if sign and n < 0 else sign for sign, (_, n) in zip(signs, m, strict=True)], default=POSITIVE)

    def sign_as_written(self, p):
        """The sign of a polynomial from the signs of its terms."""
        signs = [self.sign_of_term(m, c) for m, c in p.terms.items()]
        return 0 if 0 in signs else max(signs, default=NONNEGATIVE)

    def evident_sign(self, p):
        """The sign of a polynomial, if need be after common factors are divided out or lower bounds are substituted."""
        if not p.terms or (found := self.sign_as_written(p)):
            return found if p.terms else NONNEGATIVE
        q, d = cleared(p)
        if not q.terms:
            return NONNEGATIVE
        factor = monomial(common(q))
        if (d != ONE and self.sign_as_written(d) != POSITIVE) or not (outside := self.sign_as_written(factor)):
            return 0
        q = q * reciprocal(common(q))
        if found := self.sign_as_written(q):
            return min(found, outside)
        for atom, least in self.least.items():
            if any(a == atom for m in q.terms for a, _ in m):
                shifted = ("above", atom)
                self.signs[shifted] = NONNEGATIVE
                q = total([shifted_term(m, c, atom, of_atom(shifted) + constant(least)) for m, c in q.terms.items()])
        return min(self.sign_as_written(q), outside)

    # relations ----------------------------------------------------------------------------------------------------
    def implies(self, relation, p, alone=False):
        """Whether a relation of a polynomial to 0 follows from signs, or from one fact. ``alone``: from a fact about the
        same polynomial only."""
        if relation == "!=":
            return any(self.implies(">", q, alone) for q in (p, -p)) or any(
                fact.relation == "!=" and not fact.ranges and is_multiple(fact.poly, p) for fact in self.facts.values())
        if relation == "==" and vanishes(p):
            return True
        if self.sure.get(p, 0) >= SIGNS.get(relation, POSITIVE + 1):
            return True
        if (relation, p, alone) in self.refused:
            return False
        found = (relation in SIGNS and self.evident_sign(p) >= SIGNS[relation]) or any(
            self.follows_from(relation, p, fact, alone) for fact in self.facts.values() if not fact.ranges)
        if found and relation in SIGNS:
            self.sure[p] = max(self.sure.get(p, 0), SIGNS[relation])
        if not found:
            self.refused.add((relation, p, alone))
        return found

    def follows_from(self, relation, p, fact, alone):
        """Whether the relation follows from one fact and signs."""
        ways = (fact.poly, -fact.poly) if fact.relation == "==" else (fact.poly,)
        if fact.relation == "!=" or (relation == "==" and fact.relation != "=="):
            return False
        for q in ways:
            if relation == "==":
                if vanishes(p - q):
                    return True
            elif is_multiple(p, q, positive=True) and (relation == ">=" or fact.relation == ">"):
                return True
            elif not alone and (not p.terms or {*p.terms} & {*q.terms}):  # 0 > 0 follows where facts exclude each other
                rest = self.evident_sign(p - q)
                if rest >= (NONNEGATIVE if fact.relation == ">" or relation == ">=" else POSITIVE):
                    return True
        return False

    def range_size(self, low, high):
        """The number of integers from ``low`` to ``high``: an atom, unless high - low + 1 >= 0 is implied."""
        number = high - low + ONE
        return number if self.for_indices_of(number).implies(">=", number) else extreme("Max", ZERO, number)

    def is_whole(self, p):
        """Whether a polynomial surely is an integer that is not random; a random number is no index."""
        return not random(p) and all(c.denominator == 1 and all(n > 0 and self.is_whole_atom(a) for a, n in m)
                                     for m, c in p.terms.items())

    def is_whole_atom(self, a):
        return a in self.whole or (a[0] == "entry" and a[1] in self.whole) or a[0] in ("floor", "ceiling") or (
            a[0] in ("Max", "Min") and all(map(self.is_whole, a[1:])))


@lru_cache(100_000)
def has_no_evident_sign(body):
    """Whether each term of a sum's body has an inner product of two different vectors, which has no sign of its own."""
    return all(any(n % 2 and ((a[0] == "dot" and a[1] != a[2]) or (a[0] in ("Sum", "E") and has_no_evident_sign(a[1])))
                   for a, n in m) for m in body.terms)


def monomial(m): return Poly({m: ONE.number()})


def shifted_term(m, c, atom, value):
    """A term with ``value`` in place of the powers of an atom that it is equal to, but not inside of other atoms."""
    n = dict(m).get(atom, 0)
    return Poly({tuple(pair for pair in m if pair[0] != atom): c}) * value**n if n > 0 else Poly({m: c})


def is_multiple(p, q, positive=False):
    """Whether ``p`` is a rational multiple of ``q``; a positive one if ``positive``."""
    if not p.terms or len(p.terms) != len(q.terms):
        return False
    m, c = next(iter(p.terms.items()))
    if m not in q.terms:
        return False
    ratio = c / q.terms[m]
    return p == q * constant(ratio) and (ratio > 0 or not positive)
