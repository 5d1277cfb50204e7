"""Proofs about runs for all numbers: averages over clients, local steps or rounds, by sums of squares."""

from itertools import combinations

from verify.checker.index_sums import combined, dot, frozen, of_vector, scaled, substitute, sum_of, vector_sum
from verify.checker.polynomials import ONE, Poly, constant, has, inverse, of_atom
from verify.prove.number_losses import curvature_bounds
from verify.prove.number_runs import Rewriting, add_back, conditioning_rounds, rewrite_fact, without_means
from verify.prove.number_search import Search, atoms_of
from verify.prove.number_terms import all_atoms

__all__ = ["by_averages", "subtract_facts"]

_NESTED = 4  # sums
_VECTORS = 6  # of one average, whose differences are tried


class Average:
    """Vectors that a goal sums over the same ranges, with the same weight.

    ``ranges``: (low, high) of nested sums, the outermost first; ``indices``: their indices."""

    def __init__(self, ranges, indices, weight):
        self.ranges, self.indices, self.weight, self.vectors = ranges, indices, weight, {}


def averages(p: Poly) -> list[Average]:
    """All averages of vectors, or of their inner products, in a polynomial."""
    found: dict = {}
    for a in sorted({a for a in all_atoms(p) if a and a[0] in ("Sum", "vsum")}, key=repr):
        ranges, own, weight, inner = [], [], ONE, a
        while inner[0] in ("Sum", "vsum"):
            *parts, low, high, bound = inner[1:]
            place = len(ranges)
            index = ("index", f"average {place}")
            ranges.append((low, high))
            own.append(index)
            opened = [substitute(None, q, bound, of_atom(index)) if isinstance(q, Poly) else next(iter(of_vector(
                None, {q: ONE}, bound, of_atom(index)))) for q in parts]
            factor = opened[0]
            if inner[0] == "vsum":
                weight, inner = weight * factor, opened[1]
            else:
                (m, _), = factor.terms.items()
                last = [b for b, n in m if b[0] in ("Sum", "dot") and n == 1]
                if len(last) != 1:
                    break
                weight, inner = weight * Poly({tuple(pair for pair in m if pair[0] != last[0]): ONE.number()}), last[0]
        else:
            vectors = inner[1:] if inner[0] == "dot" else (inner,)
            if any(b[0] in ("Sum", "vsum", "dot") for b in vectors) or any(
                    has(end, index) for pair in ranges for end in pair for index in own):
                continue
            key = tuple(ranges), weight
            average = found.setdefault(key, Average(ranges, own, weight))
            average.vectors |= dict.fromkeys(b for b in vectors if all(has(b, index) for index in own[-1:]))
    return [one for one in found.values() if one.vectors]


def average_indices(part) -> set:
    """The indices of averages in a part."""
    return {("index", f"average {n}") for n in range(_NESTED) if has(part, ("index", f"average {n}"))}


def add_nested_sum(search: Search, average: Average, weight: Poly, script) -> str | None:
    """Adds the nested sum of a weight times the fact that ``script`` adds for each index; returns its name, or None."""
    within, stack = search, []
    for low, high in average.ranges:
        index, name = average.indices[len(stack)], f"k{len(within.names)}"
        inside = within.branch(within.known.with_index(index, low, high, name), {**within.names, name: of_atom(index)})
        stack.append((within, name, low, high))
        within = inside
    fact = script(within)
    if fact is None:
        return None
    body = within.known.facts[fact].poly * weight
    if within.step("identity", shows=within.shows(">=", body), terms=[
            {"facts": [fact], "times": [within.formula(weight)]}]) is None:
        return None
    for outer, name, low, high in reversed(stack):
        fact = outer.sum_each(name, low, high, within.shows(">=", body), within.steps)
        if not fact:
            return None
        within, body = outer, outer.known.facts[fact].poly
    return rewrite_fact(search, fact) or fact


def nested_sum(search: Search, average: Average, v):
    """The nested sum of a weighted vector, or of a number."""
    for (low, high), index in zip(reversed(average.ranges), reversed(average.indices), strict=True):
        v = (vector_sum if isinstance(v, dict) else sum_of)(search.known, index, v, low, high)
    return v


def add_spread(search: Search, average: Average, v) -> str | None:
    """Adds that a weighted sum of squared distances from the mean is at least 0; returns its name, or None."""
    known = search.spreads.setdefault((repr(average.weight), *average.ranges), {})
    if (key := repr(frozen(v))) not in known:
        known[key] = _try_spread(search, average, v)
    return known[key]


def _try_spread(search: Search, average: Average, v) -> str | None:
    mass, _ = Rewriting(search).rewrite(nested_sum(search, average, average.weight))
    if not search.known.implies(">", mass):
        return None
    mean = scaled(nested_sum(search, average, scaled(v, average.weight)), inverse(mass))
    away = combined([v, scaled(mean, constant(-1))])
    return add_nested_sum(search, average, average.weight, lambda within: within.lemma("square", away))


def add_lipschitz(search: Search, k: Poly, u, v) -> str | None:
    """Adds |grad F_k(u) - grad F_k(v)|^2 <= L^2 |u - v|^2, from smoothness at both points; returns its name, or None."""
    highs, _ = curvature_bounds(search, k)
    for high in highs:
        both = [search.lemma("smoothness", k, *map(dict, pair), high) for pair in ((u, v), (v, u))]
        g, d = (combined([one, scaled(other, constant(-1))]) for one, other in (
            ({("grad", k, u): ONE}, {("grad", k, v): ONE}), (dict(u), dict(v))))
        if all(both):
            half = search.formula(constant("1/2"))
            return search.step("identity", shows=search.shows(">=", high * high * dot(d, d) - dot(g, g)), terms=[
                {"facts": [fact], "times": [half]} for fact in both])
    return None


def by_averages(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Bounds averages of vectors by averages of their squares, and gradients by distances of points."""
    goal = ("averages", repr(p))
    if search.reader.run is None or relation == "==" or depth < 1 or goal in search.failed:
        return False
    search.failed.add(goal)
    rounds, q = conditioning_rounds(p), p
    if rounds:
        q = without_means(search.known, p) if len(rounds) == 1 else None
        if q is None:
            return False
        q = Rewriting(search).rewrite(q)[0]
    found = averages(q)
    slopes, others = [], []
    everywhere = {b for a in all_atoms(q) if a[:1] == ("dot",) for b in a[1:] if b[0] == "grad"}
    for one in found:
        grads = sorted((b for b in {*everywhere, *(b for other in found for b in other.vectors)} if b[0] == "grad" and (
            average_indices(b) <= {*one.indices})), key=repr)
        own = [b for b in one.vectors if b[0] == "grad"]
        pairs = [(a, b) for a in own for b in grads if a != b and a[1] == b[1] and (b not in own or repr(a) < repr(b))]
        for a, b in pairs[:_VECTORS]:
            slopes.append(add_nested_sum(
                search, one, one.weight, lambda within, a=a, b=b: add_lipschitz(within, a[1], a[2], b[2])))
            others.append(add_spread(search, one, {a: ONE, b: constant(-1)}))
        vectors = [*one.vectors][:_VECTORS]
        others += [add_spread(search, one, {a: ONE}) for a in vectors]
        others += [add_spread(search, one, {a: ONE, b: constant(-1)}) for a, b in combinations(vectors, 2)]
    names = [name for name in (*slopes, *others) if name]
    if rounds:
        names = [rewrite_fact(search, name) or name for name in [
            search.mean(name, *next(iter(rounds))) for name in names] if name]
    if not names:
        return False
    if search.known.implies(relation, p) or search.combine(relation, p, 1):
        return True
    return subtract_facts(search, relation, p, names, depth - 1)


def subtract_facts(search: Search, relation: str, p: Poly, names, depth: int, sign: int = 1) -> bool:
    """Subtracts multiples of facts from the goal, each to cancel an atom, and proves the remainder."""
    rest, used = p, []
    for name in names:
        fact = search.known.facts[name].poly
        for lead in sorted(atoms_of(fact) & atoms_of(rest), key=repr):
            mine, own = coefficient_of(rest, lead), coefficient_of(fact, lead)
            if len(own.terms) != 1 or not mine.terms or next(iter(own.terms.values())) * sign < 0:
                continue
            factor = mine * inverse(own)
            if search.known.implies(">=", factor):
                rest, used = rest - factor * fact, [*used, (factor, name)]
                break
    return bool(used) and search.prove(relation, rest, depth) and add_back(search, relation, p, rest, used)


def coefficient_of(p: Poly, atom) -> Poly:
    """The coefficient of an atom in a polynomial."""
    return Poly({tuple(pair for pair in m if pair[0] != atom): c for m, c in p.terms.items() if dict(m).get(atom) == 1})
