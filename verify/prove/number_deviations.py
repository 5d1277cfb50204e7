"""A tactic for goals about sums: weighted sums of squared deviations from a mean are at least 0."""

from collections.abc import Iterator

from verify.checker.index_sums import new_index, substitute, sum_of
from verify.checker.polynomials import ONE, Poly, inverse, of_atom
from verify.prove.number_search import Search, atoms_of
from verify.prove.number_terms import all_atoms, is_closed

__all__ = ["by_deviations"]


def by_deviations(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Adds sum w (x - mean)^2 >= 0 for weights and numbers of which the goal, or facts with the same range, have sum w x and
    sum w x^2; then combines facts."""
    if depth <= 0:
        return False
    own = _sums(p)
    ranges = {a[2:4] for a in own}
    facts = [fact.poly for fact in search.known.facts.values() if not fact.ranges]
    sums = {a for q in (p, *facts) for a in _sums(q) if a[2:4] in ranges}
    wrote = False
    for a in sorted(sums, key=repr):
        for weight, x in _weighted(a[1]):
            wrote = _add_deviations(search, sums, weight, x, a) or wrote
    return wrote and (search.known.implies(relation, p) or any(search.combine(relation, p, degree) for degree in (1, 2)))


def _sums(p: Poly) -> set:
    return {a for a in all_atoms(p) if a[0] == "Sum" and is_closed(a)}


def _weighted(body: Poly) -> Iterator[tuple[Poly, Poly]]:
    """Yields (weight, number) whose product is the term of a sum: the weight is 1, or an entry."""
    yield ONE, body
    if len(body.terms) == 1:
        (m,) = body.terms
        for atom, power in m if len(m) > 1 else ():
            if atom[0] == "entry" and power == 1:
                yield of_atom(atom), Poly({tuple(pair for pair in m if pair[0] != atom): body.terms[m]})


def _add_deviations(search: Search, sums: set, weight: Poly, x: Poly, a) -> bool:
    """Adds that the sum of squared deviations is at least 0, if what it is made of is known; returns whether it did."""
    _, _, low, high, own = a
    index, name = new_index(), f"k{len(search.names)}"
    k = of_atom(index)
    if ("deviations", repr(weight), repr(x), a[2:]) in search.failed:
        return False
    squares, mass = sum_of(search.known, own, weight * x * x, low, high), sum_of(search.known, own, weight, low, high)
    if not {b for b in atoms_of(squares) if b[0] == "Sum"} <= sums or not search.prove(">", mass, 0):
        return False
    search.failed.add(("deviations", repr(weight), repr(x), a[2:]))
    weight, x = (substitute(search.known, q, own, k) for q in (weight, x))
    away = x - of_atom(a) * inverse(mass)
    within = search.branch(search.known.with_index(index, low, high, name), {**search.names, name: k})
    shows, times = within.shows(">=", weight * away * away), [] if weight == ONE else [within.formula(weight)]
    if not within.step("identity", shows=shows, terms=[{"facts": [], "times": times, "square": within.formula(away)}]):
        return False
    return search.sum_each(name, low, high, shows, within.steps) is not None
