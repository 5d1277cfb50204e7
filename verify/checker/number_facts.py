"""What is known in a proof about numbers: facts p >= 0, p > 0, p == 0 and p != 0 of polynomials, and what is evident.

Evident is what follows from the signs of atoms and the least values of names, term by term, or from one fact and such signs.
Everything else needs a step of a proof.
"""

from collections import namedtuple
from functools import lru_cache

from verify.checker.index_sums import substitute
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
    vanishes,
)

#: ``relation`` of ``poly`` to 0, for all values of the indices in ``ranges``: (index, low, high), high None without an end
Fact = namedtuple("Fact", "relation poly ranges")
NEGATIVE, NONNEGATIVE, POSITIVE = -1, 1, 2
SIGNS = {">=": NONNEGATIVE, ">": POSITIVE}


class Known:
    """Facts by name. ``signs``: NONNEGATIVE or POSITIVE of atoms; ``families``: of all entries of an array; ``least``: the
    least value of a name; ``whole``: names of whole numbers and of arrays of such. ``around``: the sums around what is read,
    (index, low, high), and ``base``: what is known outside of them. ``sure``: signs of polynomials that have been shown.
    ``past``: whether a part surely follows from what a run draws before a round."""

    def __init__(self, other=None):
        self.facts, self.signs, self.families, self.least, self.whole = ({}, {}, {}, {}, set()) if other is None else (
            {**other.facts}, {**other.signs}, {**other.families}, {**other.least}, {*other.whole})
        self.around, self.base, self.sure = (), self, {} if other is None else {**other.sure}
        self.past = None if other is None else other.past

    def add(self, name, fact):
        """Keep a fact, and the sign of an atom that it says."""
        self.facts[name] = fact
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
    def sign(self, atom):
        """NONNEGATIVE or POSITIVE where an atom surely is that, NEGATIVE where a quotient surely is, else 0."""
        kind = atom[0]
        meter.charge(4)
        if atom in self.signs:
            return self.signs[atom]
        if kind in ("entry", "drawn"):
            return self.families.get(atom[1], 0)
        if kind == "E":
            return self.evident(atom[1])
        if kind == "exp":
            return POSITIVE
        if kind == "inv":
            signs = (atom[1], POSITIVE), (-atom[1], NEGATIVE)
            return next((sign for p, sign in signs if self.shown(">", p, alone=True)), 0)
        if kind == "root":
            return POSITIVE if self.evident(atom[1]) == POSITIVE else NONNEGATIVE
        if kind in ("Abs", "norm") or (kind == "dot" and atom[1] == atom[2]):
            return NONNEGATIVE
        if kind == "pow":
            return self.evident(atom[1])
        if kind in ("Max", "Min"):
            return (max if kind == "Max" else min)(map(self.evident, atom[1:]))
        if kind in ("Sum", "Product"):
            _, body, low, high, own = atom
            if of_either_sign(body):
                return 0
            inside = self.within(own, low, high)
            sign = inside.evident(body)
            some = kind == "Product" or (sign == POSITIVE and self.shown(">=", high - low))
            return sign if some else min(sign, NONNEGATIVE)
        return 0

    def summed(self, index, low, high):
        """What is known in a sum."""
        inside = self.within(index, low, high)
        inside.around, inside.base = (*self.around, (index, low, high)), self.base
        return inside

    def where_it_counts(self, p):
        """What is known of a polynomial without the ranges of indices that it does not have. It leaves their sums, and these
        may be empty."""
        kept = []
        for index, low, high in reversed(self.around):
            if has(p, index) or any(has(end, index) for _, *ends in kept for end in ends):
                kept.append((index, low, high))
        known = self.base
        for index, low, high in reversed(kept):
            known = known.within(index, low, high)
        return known

    def within(self, index, low, high=None, label=None):
        """The same with an index that is a whole number of a range; facts about the range are called by ``label``."""
        inside, label = Known(self), label or index[1]
        if index[0] == "bound":  # other sums may have the same index
            inside.sure = {}
        inside.signs.pop(index, None)
        inside.least.pop(index, None)
        inside.whole.add(index)
        if low.number() is not None and low.number() > 0:
            inside.least[index] = low.number()
        inside.signs[index] = inside.evident(low)
        inside.facts[f"{label} from"] = Fact(">=", of_atom(index) - low, ())
        if high is not None:
            inside.facts[f"{label} to"] = Fact(">=", high - of_atom(index), ())
        return inside

    def term(self, m, c):
        """The sign of a term."""
        turned = [a for a, n in m if n % 2 and self.sign(a) == NEGATIVE]
        if (c < 0) != len(turned) % 2:
            return 0
        signs = [POSITIVE if self.sign(a) == NEGATIVE else max(self.sign(a), NONNEGATIVE * (n % 2 == 0)) for a, n in m]
        return min([POSITIVE if sign and n < 0 else sign for sign, (_, n) in zip(signs, m, strict=True)], default=POSITIVE)

    def direct(self, p):
        """The sign of a polynomial as it stands."""
        signs = [self.term(m, c) for m, c in p.terms.items()]
        return 0 if 0 in signs else max(signs, default=NONNEGATIVE)

    def evident(self, p):
        """The sign of a polynomial; also without common factors, and with least values put in."""
        if not p.terms or (found := self.direct(p)):
            return found if p.terms else NONNEGATIVE
        q, d = cleared(p)
        if not q.terms:
            return NONNEGATIVE
        factor = of_terms(common(q))
        if (d != ONE and self.direct(d) != POSITIVE) or not (outside := self.direct(factor)):
            return 0
        q = q * reciprocal(common(q))
        if found := self.direct(q):
            return min(found, outside)
        for atom, least in self.least.items():
            if any(a == atom for m in q.terms for a, _ in m):
                shifted = ("above", atom)
                self.signs[shifted] = NONNEGATIVE
                q = substitute(self, q, atom, of_atom(shifted) + constant(least))
        return min(self.direct(q), outside)

    # what is shown ------------------------------------------------------------------------------------------------
    def shown(self, relation, p, alone=False):
        """Whether a relation of a polynomial to 0 is evident, or follows from one fact. ``alone``: from one about the same
        polynomial."""
        if relation == "!=":
            return any(self.shown(">", q, alone) for q in (p, -p)) or any(
                fact.relation == "!=" and not fact.ranges and same(fact.poly, p) for fact in self.facts.values())
        if relation == "==" and vanishes(p):
            return True
        if self.sure.get(p, 0) >= SIGNS.get(relation, POSITIVE + 1):
            return True
        found = (relation in SIGNS and self.evident(p) >= SIGNS[relation]) or any(
            self.follows(relation, p, fact, alone) for fact in self.facts.values() if not fact.ranges)
        if found and relation in SIGNS:
            self.sure[p] = max(self.sure.get(p, 0), SIGNS[relation])
        return found

    def follows(self, relation, p, fact, alone):
        ways = (fact.poly, -fact.poly) if fact.relation == "==" else (fact.poly,)
        if fact.relation == "!=" or (relation == "==" and fact.relation != "=="):
            return False
        for q in ways:
            if relation == "==":
                if vanishes(p - q):
                    return True
            elif same(p, q, positive=True) and (relation == ">=" or fact.relation == ">"):
                return True
            elif not alone and (not p.terms or {*p.terms} & {*q.terms}):  # 0 > 0 follows where facts exclude each other
                rest = self.evident(p - q)
                if rest >= (NONNEGATIVE if fact.relation == ">" or relation == ">=" else POSITIVE):
                    return True
        return False

    def count(self, low, high):
        """How many whole numbers there are from ``low`` to ``high``: an atom, unless evidently the range does not end before
        it begins."""
        number = high - low + ONE
        return number if self.evident(number) else extreme("Max", ZERO, number)

    def is_whole(self, p):
        """Whether a polynomial surely is a whole number that is not drawn; what is drawn is no index."""
        return not random(p) and all(c.denominator == 1 and all(n > 0 and self.whole_atom(a) for a, n in m)
                                     for m, c in p.terms.items())

    def whole_atom(self, a):
        return a in self.whole or (a[0] == "entry" and a[1] in self.whole) or a[0] in ("floor", "ceiling") or (
            a[0] in ("Max", "Min") and all(map(self.is_whole, a[1:])))


@lru_cache(100_000)
def of_either_sign(body):
    """Whether each term of what is summed has an inner product of two vectors, and so no sign of its own."""
    return all(any(n % 2 and ((a[0] == "dot" and a[1] != a[2]) or (a[0] in ("Sum", "E") and of_either_sign(a[1])))
                   for a, n in m) for m in body.terms)


def of_terms(m): return Poly({m: ONE.number()})


def same(p, q, positive=False):
    """Whether two polynomials are the same up to a number, which is positive if it must be."""
    if not p.terms or len(p.terms) != len(q.terms):
        return False
    m, c = next(iter(p.terms.items()))
    if m not in q.terms:
        return False
    ratio = c / q.terms[m]
    return p == q * constant(ratio) and (ratio > 0 or not positive)
