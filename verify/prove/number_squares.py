"""A tactic that writes quadratic forms in vectors as sums of squares."""

from fractions import Fraction
from math import sqrt

from verify.checker.index_sums import dot
from verify.checker.polynomials import ONE, ZERO, Poly, constant, inverse, total, vanishes
from verify.prove.number_search import Search, atoms_of

__all__ = ["add_squares_of_vectors", "by_squares_of_vectors"]

_MOST_VECTORS, _MOST_DENOMINATOR = 6, 1000


def add_squares_of_vectors(search: Search) -> None:
    """Adds that the square of a sum is not negative: of all vectors whose inner products the facts name, and of each two of
    them, of which one is scaled to the bound on the length of the other."""
    most, pairs = {}, {}
    for fact in (fact for fact in search.known.facts.values() if not fact.ranges and fact.relation in (">=", ">", "==")):
        dots = [a for a in atoms_of(fact.poly) if a[0] == "dot"]
        pairs |= {(u, v): None for _, u, v in dots}
        for sign in (1, -1) if fact.relation == "==" else (1,):
            factor = fact.poly.terms.get(((dots[0], 1),), 0) * sign if len(dots) == 1 and dots[0][1] == dots[0][2] else 0
            if factor < 0 and len(fact.poly.terms) <= 2 and (bound := fact.poly.terms.get((), 0) * sign / -factor) > 0:
                most[dots[0][1]] = min(bound, most.get(dots[0][1], bound))
    vectors = sorted({vector for pair in pairs for vector in pair}, key=repr)
    if 2 < len(vectors) <= _MOST_VECTORS:
        search.lemma("square", dict.fromkeys(vectors, ONE))
    for u, v in pairs:
        if u != v and {u, v} <= {*most}:
            scale = constant(Fraction(sqrt(most[v] / most[u])).limit_denominator(_MOST_DENOMINATOR))
            for sign in (ONE, -ONE):
                search.lemma("square", {u: scale, v: sign})


def by_squares_of_vectors(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Completes squares in a quadratic form in vectors, and shows the rest as a sum of multiples of facts."""
    if relation != ">=" or not any(a[0] == "dot" for a in atoms_of(p)):
        return False
    rest, used, wrote = p, [], False
    for _ in range(6):
        parts = _dot_coefficients(rest)
        if parts is None:
            return False
        lead = next((a for a in sorted({u for u, _ in parts}, key=repr) if (a, a) in parts and any(
            u != v and a in (u, v) for u, v in parts) and _is_positive(search, parts[a, a], depth)), None)
        if lead is None:
            break
        c = parts[lead, lead]
        try:
            v = {lead: ONE} | {(u if u != lead else w): q * inverse(c) * constant("1/2") for (u, w), q in parts.items()
                               if u != w and lead in (u, w)}
        except ArithmeticError:
            return False
        name = search.lemma("square", v)
        if name is None:
            return False
        used.append(name)
        wrote, rest = True, rest - c * dot(v, v)
        rest = total(
            [q * dot({u: ONE}, {w: ONE}) for (u, w), q in (_dot_coefficients(rest) or {}).items() if not vanishes(q)] +
            [total(Poly({m: x}) for m, x in rest.terms.items() if not any(a[0] == "dot" for a, _ in m))])
    return wrote and search.combine(relation, p, 1)


def _is_positive(search, c, depth):
    return search.known.implies(">", c) or (depth > 1 and not search.reader.federation and search.prove(">", c, depth - 1))


def _dot_coefficients(p):
    """The coefficients of inner products; None where inner products are multiplied."""
    found: dict = {}
    for m, c in p.terms.items():
        dots = [(a, n) for a, n in m if a[0] == "dot"]
        if not dots:
            continue
        if len(dots) > 1 or dots[0][1] != 1:
            return None
        (_, u, v), _ = dots[0]
        found[u, v] = found.get((u, v), ZERO) + Poly({tuple(pair for pair in m if pair[0] != dots[0][0]): c})
    return found
