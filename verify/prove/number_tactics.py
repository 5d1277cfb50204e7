"""Tactics for goals about numbers: linear combinations of facts, squares of vectors, sums term by term, and lemmas about the
powers, exponentials, roots, maxima and norms that occur."""

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from math import ceil, floor

from verify.checker.index_sums import (
    combined,
    dot,
    length,
    new_index,
    of_vector,
    scaled,
    substitute,
    sum_of,
)
from verify.checker.intervals import as_interval as interval
from verify.checker.number_digits import interval_of
from verify.checker.polynomials import ONE, ZERO, Poly, constant, inverse, of_atom
from verify.prove.number_averages import by_averages
from verify.prove.number_deviations import by_deviations
from verify.prove.number_losses import by_losses, by_weighted_sums
from verify.prove.number_noise import by_noise
from verify.prove.number_objectives import by_objective
from verify.prove.number_runs import by_equations, by_mean_vectors, by_means
from verify.prove.number_search import REFUSALS, Search, atoms_of
from verify.prove.number_squares import by_squares_of_vectors
from verify.prove.number_terms import all_atoms, instantiate_ranged, is_closed

__all__ = ["RUN_TACTICS", "TACTICS", "by_combination"]


def by_combination(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Shows the goal as a sum of products of facts, first of single facts."""
    return any(search.combine(relation, p, degree) for degree in (1, 2))


def by_extremes(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Bounds a maximum from above, or a minimum from below, by bounding each of its arguments."""
    lemmas = {("Max", ">="): "at least all", ("Max", ">"): "above all",
              ("Min", ">="): "at most all", ("Min", ">"): "below all"}
    for a in sorted(atoms_of(p), key=repr):
        sign = {"Max": -1, "Min": 1}.get(a[0])
        if depth <= 0 or sign is None or p.terms.get(((a, 1),)) != sign or (a[0], relation) not in lemmas:
            continue
        q = of_atom(a) + p if sign < 0 else of_atom(a) - p
        if all(search.prove(relation, (q - r) * constant(-sign), depth - 1) for r in a[1:]):
            return search.lemma(lemmas[a[0], relation], q, *a[1:]) is not None
    return False


# vectors --------------------------------------------------------------------------------------------------------------
def by_lengths(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Bounds a norm by a sum of others: by squares, if need be after triangle inequalities."""
    if relation != ">=" or depth <= 0:
        return False
    lengths = {a: ZERO for a in sorted(atoms_of(p), key=repr) if a[0] == "norm"}
    for a in lengths:
        for m, c in p.terms.items():
            if dict(m).get(a) == 1:
                lengths[a] = lengths[a] + Poly({tuple(pair for pair in m if pair[0] != a): c})
    long = [a for a, c in lengths.items() if c == constant(-1)]
    if len(long) != 1:
        return False
    v, others = dict(long[0][1]), {a: c for a, c in lengths.items() if a != long[0]}
    bound = p + of_atom(long[0])
    for a in others:
        search.lemma("length squared", dict(a[1]))
    if search.prove(">=", bound, depth - 1) and search.prove(">=", bound * bound - dot(v, v), depth - 1) and search.lemma(
            "longer", v, bound):
        return True
    for a, c in others.items():
        for sign in (1, -1):
            part = scaled(dict(a[1]), c * constant(sign))
            rest = combined([v, scaled(part, constant(-1))])
            if not rest or len(rest) > len(v) or not search.prove(">=", c, depth - 1):
                continue
            search.lemma("multiple", dict(a[1]), c)
            if search.prove(">=", bound - c * of_atom(a) - length(rest), depth - 1) and search.lemma("triangle", rest, part):
                return search.known.implies(relation, p) or search.combine(relation, p, 1)
    return False


def by_jensen(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Adds that the sum of squared distances of vectors from their mean is at least 0, then combines facts."""
    wrote = False
    for a in sorted({a for a in all_atoms(p) if a[0] == "vsum" and is_closed(a)}, key=repr):
        _, weight, v, low, high, own = a
        if ("mean", a) in search.failed or depth <= 0:
            continue
        search.failed.add(("mean", a))
        index, name = new_index(), f"k{len(search.names)}"
        weight = substitute(search.known, weight, own, of_atom(index))
        mass = sum_of(search.known, index, weight, low, high)
        if not search.prove(">", mass, 0):
            continue
        away = combined([of_vector(search.known, {v: ONE}, own, of_atom(index)), scaled({a: ONE}, -inverse(mass))])
        within = search.branch(search.known.with_index(index, low, high, name), {**search.names, name: of_atom(index)})
        square, shows = within.lemma("square", away), within.shows(">=", weight * dot(away, away))
        if square and within.step("identity", shows=shows, terms=[{"facts": [square], "times": [within.formula(weight)]}]):
            wrote = search.sum_each(name, low, high, shows, within.steps) is not None or wrote
    return wrote and (search.known.implies(relation, p) or search.combine(relation, p, 1))


# sums --------------------------------------------------------------------------------------------------------------------
def by_terms(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Proves a sum over one range term by term; a rest outside of the sum is divided among the terms."""
    inside = any(name[0] == "k" and name[1:].isdigit() for name in search.names)
    if relation == ">" or depth <= 0 or (inside and search.reader.federation):
        return False
    ranges = {(a[2], a[3]) for a in atoms_of(p) if a[0] == "Sum"} | {
        (part[3], part[4]) for a in atoms_of(p) if a[0] == "dot" for part in a[1:] if part[0] == "vsum"}
    return any(_sum_over_range(search, relation, p, low, high, depth) for low, high in sorted(ranges, key=repr))


def _sum_over_range(search, relation, p, low, high, depth):
    index = new_index()
    inside, rest = ZERO, ZERO
    for m, c in p.terms.items():
        sums = [a for a, n in m if n == 1 and a[0] == "Sum" and a[2:4] == (low, high)]
        inner = [a for a, n in m if n == 1 and a[0] == "dot" and any(
            part[0] == "vsum" and part[3:5] == (low, high) for part in a[1:])]
        if sums:
            _, body, *_, own = sums[0]
            others = Poly({tuple(pair for pair in m if pair[0] != sums[0]): c})
            inside = inside + others * substitute(search.known, body, own, of_atom(index))
        elif inner:
            long, other = sorted(inner[0][1:], key=lambda part: (
                part[0] != "vsum" or part[3:5] != (low, high), part[0] == "vsum" and part[2][0] != "grad"))
            _, factor, v, *_, own = long
            others = Poly({tuple(pair for pair in m if pair[0] != inner[0]): c})
            term = dot({v: factor}, {other: ONE}) if own else ZERO
            inside = inside + others * substitute(search.known, term, own, of_atom(index))
        else:
            rest = rest + Poly({m: c})
    number = high - low + ONE
    ways = [inside] if not rest.terms or search.known.evident_sign(rest) else []
    if rest.terms and search.known.implies(">", number):
        ways.insert(0, inside + rest * inverse(number))
    for body in ways:
        name = _prove_each(search, relation, body, index, low, high, depth)
        if name is not None and (fact := search.step("sum", fact=name)) is not None:
            if search.known.implies(relation, p) or search.combine(relation, p, 1):
                return True
            del fact
    return False


def _prove_each(search, relation, body, index, low, high, depth):
    """Proves a goal for each index of a range; returns the name of the fact, or None."""
    name = f"k{len(search.names)}"
    within = search.branch(search.known.with_index(index, low, high, name), {**search.names, name: of_atom(index)})
    if not within.prove(relation, body, depth - 1):
        for _ in instantiate_ranged(within, body):
            if within.prove(relation, body, depth - 1):
                break
        else:
            return None
    return search.step("each", index=name, low=search.formula(low), high=search.formula(high),
                       shows=within.shows(relation, body), steps=within.steps)


def by_instances(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Instantiates facts for all indices at those that occur in the goal, then combines facts."""
    before = len(search.steps)
    for _ in instantiate_ranged(search, p):
        pass
    return len(search.steps) > before and (search.known.implies(relation, p) or any(
        search.combine(relation, p, degree) for degree in (1, 2)))


# lemmas ------------------------------------------------------------------------------------------------------------------
def by_lemmas(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Adds lemmas about the atoms of the goal, then combines facts: first lemmas whose premises follow, then those whose
    premises are combinations of facts, then all."""
    ways = (lambda r, q: False, lambda r, q: search.combine(r, q, 1), lambda r, q: search.prove(r, q, depth - 1))
    wrote = depth > 0 and _add_digits(search, p)
    for number, way in enumerate(ways if depth > 0 else ()):
        for lemma, premises, args in _lemma_instances(search, p):
            called = lemma, repr(args)
            if called in search.failed or (*called, number) in search.failed:
                continue
            search.failed.add((*called, number))
            if all(search.known.implies(r, q) or way(r, q) for r, q in premises) and (name := search.lemma(lemma, *args)):
                search.failed.add(called)
                wrote = _add_digits(search, search.known.facts[name].poly) or True
                if search.known.implies(relation, p) or (number and search.combine(relation, p, 1)):
                    return True
        if wrote and any(search.combine(relation, p, degree) for degree in (1, 2)):
            return True
    return False


def by_roots(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Compares a square root with another number by their squares."""
    for a in sorted(atoms_of(p), key=repr) if relation == ">=" and depth > 0 else ():
        if a[0] != "root" or a[2] != 2 or any(abs(dict(m).get(a, 0)) > 1 for m in p.terms):
            continue
        part = Poly({m: c for m, c in p.terms.items() if dict(m).get(a) == 1})
        rest = Poly({m: c for m, c in p.terms.items() if dict(m).get(a, 0) == 0})
        if len(part.terms) + len(rest.terms) < len(p.terms) or not part.terms:
            continue
        for less, more in ((-part, rest), (-rest, part)):
            if search.prove(">=", more, depth - 1) and search.prove(">=", more * more - less * less, depth - 1) and (
                    search.lemma("by squares", less, more)):
                return True
    return False


#: candidates for upper bounds of an exponent
_SIMPLE = [constant(Fraction(n, 4)) for n in (-4, -2, -1, 0, 1, 2, 3, 4, 5, 6, 8, 12, 16)]
_DIGITS = 10**6


def _add_digits(search: Search, p: Poly) -> bool:
    """Adds rational bounds of atoms without names; returns whether it added any."""
    wrote = False
    for a in sorted(atoms_of(p), key=repr):
        if a[0] not in ("exp", "log", "root", "pow") or ("digits", a) in search.failed:
            continue
        search.failed.add(("digits", a))
        try:
            found = interval(interval_of(of_atom(a)))
        except REFUSALS:
            continue
        low, high = (constant(Fraction(round_(end * _DIGITS), _DIGITS)) for round_, end in (
            (floor, found.low), (ceil, found.high)))
        for q in (high - of_atom(a), of_atom(a) - low):
            wrote = search.step("digits", shows=search.shows(">=", q)) is not None or wrote
    return wrote


def _lemma_instances(search: Search, p: Poly):
    """Yields (lemma, premises, arguments) for the atoms of a goal and of the facts that share some."""
    atoms = all_atoms(p)
    for fact in search.known.facts.values():
        if not fact.ranges and atoms_of(fact.poly) & atoms_of(p):
            atoms |= all_atoms(fact.poly)
    kinds: dict = {}
    for a in sorted(atoms, key=repr):
        if a[0] in ("Sum", "Product") or is_closed(a):
            kinds.setdefault(a[0], []).append(a)
    for a in [*kinds.get("entry", []), *kinds.get("name", [])]:
        q = of_atom(a)
        if any(fact.relation == "==" and fact.poly in (q * q - q, q - q * q) for fact in search.known.facts.values()):
            yield "binary below", [], (q,)
    for a in kinds.get("Max", []):
        for q in a[1:]:
            yield "largest", [], (q, *(r for r in a[1:] if r != q))
    for a in kinds.get("Min", []):
        for q in a[1:]:
            yield "least", [], (q, *(r for r in a[1:] if r != q))
    for a in kinds.get("Abs", []):
        yield "absolute", [], (a[1],)
        yield "absolute below", [], (a[1],)
        for q in [of_atom(b) for b in kinds.get("name", []) if search.known.sign_of_atom(b) > 0]:
            yield "absolute at most", [(">=", q - a[1]), (">=", q + a[1])], (a[1], q)
    roots = kinds.get("root", [])
    for _, x, degree in roots:
        for q, above in _plain_bounds(search, x):
            small, large = (x, q) if above else (q, x)
            yield "roots rise", [(">=", small)], (small, large, constant(degree))
    for a, b in permutations(roots, 2):
        if a[2] == b[2] and (atoms_of(a[1]) & atoms_of(b[1]) or search.known.implies(">=", b[1] - a[1])):
            yield "roots rise", [(">=", a[1]), (">=", b[1] - a[1])], (a[1], b[1], constant(a[2]))
    powers = kinds.get("pow", [])
    for _, b, e in powers:
        yield "power sign", [(">=", b), (">=", e)], (b, e)
        yield "bernoulli", [(">=", b), (">=", e - ONE)], (b, e)
        yield "bernoulli below", [(">=", b), (">=", e), (">=", ONE - e)], (b, e)
        yield "power at least one", [(">=", b - ONE), (">=", e)], (b, e)
        yield "power at most one", [(">=", b), (">=", ONE - b), (">=", e)], (b, e)
        yield "powers fall", [(">=", b), (">=", ONE - b), (">=", e - ONE)], (b, ONE, e)
        yield "powers rise", [(">=", b - ONE), (">=", e - ONE)], (b, ONE, e)
    for (_, b, e), (_, c, f) in permutations(powers, 2):
        if e == f:
            yield "bases rise", [(">=", b), (">=", c - b), (">=", e)], (b, c, e)
        if b == c:
            yield "powers rise", [(">=", b - ONE), (">=", f - e)], (b, e, f)
            yield "powers fall", [(">=", b), (">=", ONE - b), (">=", e), (">=", f - e)], (b, e, f)
    exponents = [a[1] for a in kinds.get("exp", [])]
    for e in exponents:
        yield "tangent", [], (e,)
        bound = None if e.number() is not None else next((q for q in _SIMPLE if search.prove(">=", q - e, 0)), None)
        if bound is not None:
            yield "exponentials rise", [], (e, bound)
    for e, f in permutations([*exponents, *([ZERO] if exponents else [])], 2):
        yield "exponentials rise", [(">=", f - e)], (e, f)
    for e in exponents:
        yield from (("exponentials rise", [], (e, q) if above else (q, e)) for q, above in _plain_bounds(search, e))
    for _, b, e in powers:
        yield "power below exponential", [(">=", b), (">=", e)], (b, e)
        bound = next((q for q in _SIMPLE if search.prove(">=", q - e * (b - ONE), 0)), None)
        if bound is not None:
            yield "exponentials rise", [], (e * (b - ONE), bound)
    for a in kinds.get("log", []):
        yield "logarithm below", [(">", a[1])], (a[1],)
        yield "logarithm above", [(">", a[1])], (a[1],)
        for q, above in _plain_bounds(search, a[1]):
            small, large = (a[1], q) if above else (q, a[1])
            yield "logarithms rise", [(">", small)], (small, large)
    for a, b in permutations(kinds.get("log", []), 2):
        yield "logarithms rise", [(">", a[1]), (">=", b[1] - a[1])], (a[1], b[1])
    for a in kinds.get("norm", []):
        v = dict(a[1])
        yield "length squared", [], (v,)
        if len(v) > 1:
            parts = [{u: c} for u, c in v.items()]
            yield "triangle", [], (parts[0], _merge_parts(parts[1:]))
        for u, c in v.items():
            if c != ONE:
                yield "multiple", [(">=", c)], ({u: ONE}, c)
    for a in kinds.get("dot", []):
        u, v = a[1:]
        if u != v:
            yield "Cauchy-Schwarz", [], ({u: ONE}, {v: ONE})
            if kinds.get("norm"):
                yield "product of lengths", [], ({u: ONE}, {v: ONE})
                yield "product of lengths", [], ({u: ONE}, {v: constant(-1)})
            yield "square", [], ({u: ONE, v: ONE},)
            yield "square", [], ({u: ONE, v: constant(-1)},)
    for a in kinds.get("Sum", []):
        yield "geometric", [], (of_atom(a),)
        arrays = {b[1] for b in atoms_of(a[1]) if b[0] == "entry"}
        for place in dict.fromkeys(b[2] for b in kinds.get("entry", []) if b[1] in arrays and len(b) == 3):
            yield "term of sum", [(">=", place - a[2]), (">=", a[3] - place)], (of_atom(a), place)


def _plain_bounds(search: Search, p: Poly):
    """Yields (number, whether it is an upper bound) of what facts say about a polynomial alone."""
    m = next((m for m in p.terms if m), None)
    for fact in [*search.known.facts.values()] if m else ():
        times = -fact.poly.terms.get(m, 0) / p.terms[m]
        if times and not fact.ranges and fact.relation in (">=", ">", "=="):
            number = (fact.poly * constant(1 / times) + p).number()
            for above in (True, False) if number is not None else ():
                if fact.relation == "==" or above == (times > 0):
                    yield constant(number), above


def _merge_parts(parts):
    return {u: c for part in parts for u, c in part.items()}


TACTICS: tuple[Callable[[Search, str, Poly, int], bool], ...] = (
    by_combination, by_extremes, by_roots, by_squares_of_vectors, by_instances, by_jensen, by_deviations, by_losses,
    by_lengths, by_terms, by_weighted_sums, by_lemmas)
#: for claims about runs: first those that use the method's equations
RUN_TACTICS: tuple[Callable[[Search, str, Poly, int], bool], ...] = (
    by_mean_vectors, by_equations, by_noise, by_means, by_averages, by_objective, by_combination, by_extremes,
    by_squares_of_vectors, by_instances, by_jensen, by_lengths)
