"""Tactics for goals about numbers: linear combinations of facts, squares of vectors, and sums term by term; and the order in
which all tactics are tried."""

from collections.abc import Callable

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
from verify.checker.number_proof import with_fact
from verify.checker.polynomials import ONE, ZERO, Poly, constant, inverse, of_atom
from verify.prove.number_averages import by_averages
from verify.prove.number_deviations import by_deviations
from verify.prove.number_induction import by_induction, by_sum_over_rounds, by_telescoping
from verify.prove.number_lemmas import by_lemmas, by_sums_and_extremes
from verify.prove.number_losses import by_losses, by_weighted_sums
from verify.prove.number_noise import by_noise
from verify.prove.number_objectives import by_objective
from verify.prove.number_runs import by_equations, by_mean_vectors, by_means
from verify.prove.number_search import Search, atoms_of
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
    number, ways = high - low + ONE, [inside] if not rest.terms or search.known.evident_sign(rest) else []
    ways += [inside + rest * of_atom(w) for w in _weights_of(search, inside, index, low, high)] if rest.terms else []
    each = rest * inverse(number) if rest.terms and number.terms else ZERO
    if each.terms and (search.known.implies(">", number) or (search.known.implies(">=", number) and all(
            n > 0 or search.known.implies("!=", of_atom(a)) for m in each.terms for a, n in m))):
        ways.insert(0, inside + each)
    for body in ways:
        name = _prove_each(search, relation, body, index, low, high, depth)
        if name is not None and (fact := search.step("sum", fact=name)) is not None:
            if search.known.implies(relation, p) or search.combine(relation, p, 1):
                return True
            del fact
    return False


def _weights_of(search, inside, index, low, high):
    """The entries in the terms of a sum of which facts say what all of them sum up to."""
    known = {a for fact in search.known.facts.values() if not fact.ranges for a in atoms_of(fact.poly) if a[0] == "Sum"}
    return [a for a in sorted(atoms_of(inside), key=repr) if a[0] == "entry" and atoms_of(
        sum_of(search.known, index, of_atom(a), low, high)) & known]


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


# roots and contradictions -----------------------------------------------------------------------------------------------
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


def by_contrary(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Shows the goal by contradiction: products of its contrary and of facts add up to a number below 0."""
    if depth < 2 or relation not in (">=", ">"):
        return False
    known = with_fact(search.known, "contrary", -p, ">" if relation == ">=" else ">=")
    within = search.branch(known, search.names)
    return within.combine(">", ZERO, about=p) and search.step(
        "contrary", shows=search.shows(relation, p), steps=within.steps) is not None


TACTICS: tuple[Callable[[Search, str, Poly, int], bool], ...] = (
    by_combination, by_extremes, by_roots, by_squares_of_vectors, by_instances, by_induction, by_telescoping, by_jensen,
    by_deviations, by_losses, by_lengths, by_sums_and_extremes, by_terms, by_weighted_sums, by_contrary, by_lemmas)
#: for claims about runs: first induction over rounds, then those that use the method's equations
RUN_TACTICS: tuple[Callable[[Search, str, Poly, int], bool], ...] = (
    by_induction, by_sum_over_rounds, by_mean_vectors, by_equations, by_noise, by_means, by_averages, by_objective,
    by_combination, by_extremes, by_squares_of_vectors, by_instances, by_jensen, by_lengths)
