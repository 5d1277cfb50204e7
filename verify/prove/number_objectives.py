"""A tactic for runs and all numbers: facts about the objective at the points of a goal."""

from collections.abc import Iterator
from itertools import permutations

from verify.checker.index_sums import combined, frozen, new_index, scaled, substitute, vector_sum
from verify.checker.number_runs import CLIENT
from verify.checker.polynomials import ONE, Poly, constant, of_atom
from verify.prove.number_losses import CLIENTS, curvature_bounds
from verify.prove.number_runs import rewrite_fact
from verify.prove.number_search import Search, atoms_of
from verify.prove.number_terms import all_atoms, free_indices, instantiate_ranged

__all__ = ["by_objective"]

_POINTS = 4  # of a goal


def by_objective(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Adds weighted sums over clients of lemmas at the points of the goal, and facts about the optimum; then combines facts,
    each perhaps multiplied by another one about numbers."""
    goal = ("objective", repr(p))
    if search.reader.run is None or relation == "==" or depth < 2 or goal in search.failed:
        return False
    search.failed.add(goal)
    points = sorted({a[2] for a in all_atoms(p) if a and a[0] in ("F", "grad") and not free_indices(a[2])}, key=repr)
    if not points or len(points) > _POINTS:
        return False
    star = frozen({("vector", "x_star"): ONE})
    for _ in instantiate_ranged(search, p):
        pass
    optimum = ("vector", "x_star") in all_atoms(p)
    points += [star] * (optimum and star not in points)
    atoms = [a for a in all_atoms(p) if a]
    alone = {a[1] for a in atoms if a[0] in ("F", "grad") and not free_indices(a[1])}
    only = len(alone) == 1 and not any(a[0] in ("Sum", "vsum") for a in atoms)
    found = _facts_of_only_client(search, *alone, points) if only else _client_facts(search, points, optimum)
    facts = [rewrite_fact(search, name) or name for name in found if name]
    if optimum:
        facts += [name for name in _optimum_facts(search, p, points, star, facts) if name]
    return _add_up(search, relation, p, facts)


def _facts_of_only_client(search: Search, k, points) -> Iterator[str | None]:
    """Yields the names of lemmas about a client at pairs of points, and of squares of its gradient beside what strong
    convexity asks of it."""
    highs, lows = curvature_bounds(search, k)
    for u, v in permutations(map(dict, points), 2):
        yield from (search.lemma(lemma, k, u, v, h) for h in highs for lemma in ("smoothness", *["gap below"] * (not lows)))
        for low in lows:
            yield search.lemma("curvature", k, u, v, low)
            apart = scaled(combined([u, scaled(v, constant(-1))]), low * constant(-1))
            if apart:
                yield search.lemma("square", combined([{("grad", k, frozen(u)): ONE}, apart]))


def _client_facts(search: Search, points, optimum: bool) -> Iterator[str | None]:
    """Yields the names of weighted sums over clients of lemmas at pairs of points."""
    index = new_index()
    k, name = of_atom(index), f"k{len(search.names)}"
    low, high = CLIENTS
    weight = substitute(search.known, search.reader.run.weight, CLIENT, k)

    def enter_clients():
        return search.branch(search.known.with_index(index, low, high, name), {**search.names, name: k})

    def add_client_sum(within, fact=None):
        """Adds the sum over clients of the weight times a fact, or the last one; returns its name, or None."""
        fact = fact or within.steps[-1]["name"]
        body = within.known.facts[fact].poly * weight
        shows = within.shows(">=", body)
        within.step("identity", shows=shows, terms=[{"facts": [fact], "times": [within.formula(weight)]}])
        return search.sum_each(name, low, high, shows, within.steps)

    first = enter_clients()
    highs, lows = curvature_bounds(first, k)
    bounds = [(lemma, [h]) for h in highs for lemma in ["gap below", *["smoothness"] * (not lows)]]
    bounds += [("interpolation", [h, low]) for h in highs for low in lows] + [("curvature", [low]) for low in lows]
    for u, v in permutations(map(dict, points), 2):
        for lemma, numbers in bounds:
            within = enter_clients()
            curvature_bounds(within, k)
            if within.lemma(lemma, k, u, v, *numbers):
                yield add_client_sum(within)
    for h in highs if optimum else ():
        within = enter_clients()
        curvature_bounds(within, k)
        own = h - of_atom(("entry", "L_client", k))
        for name_of_bound in [n for n, fact in within.known.facts.items() if not fact.ranges and fact.poly == own][:1]:
            add_client_sum(within, name_of_bound)
        yield from (search.lemma("optimal descent", dict(u), h) for u in points)
    for u, v in permutations(points, 2):
        if u < v if repr(u) == repr(v) else repr(u) < repr(v):
            d = combined([{("grad", k, u): ONE}, {("grad", k, v): constant(-1)}])
            mean = vector_sum(search.known, index, scaled(d, weight), low, high)
            within = enter_clients()
            if within.lemma("square", combined([d, scaled(mean, constant(-1))])):
                yield add_client_sum(within)


def _optimum_facts(search: Search, p: Poly, points, star, facts) -> Iterator[str | None]:
    """Yields the names of facts about the optimum."""
    for u in points:
        if u != star:
            yield search.lemma("optimal loss", dict(u))
    known = [p, *(search.known.facts[name].poly for name in facts)]
    letters = {a for q in known for one in atoms_of(q) if one[0] == "dot" for a in one[1:] if not free_indices(a)}
    for a in sorted(letters, key=repr):
        yield search.step("lemma", lemma="optimal slope", of=[search.vector({a: ONE})])


def _add_up(search: Search, relation: str, p: Poly, facts) -> bool:
    freed = search.clear_denominators(p)
    if freed is None:
        return False
    losses = [(name, fact.relation, *found) for name in facts for fact in [search.known.facts[name]]
              if (found := search.clear_denominators(fact.poly, 0)) and found[0].terms]
    numbers = [(name, fact.relation, *found) for name, fact in search.known.facts.items()
               if name not in facts and not fact.ranges and fact.relation in (">=", ">") and len(fact.poly.terms) > 1
               and all(a[0] in ("name", "entry") for a in atoms_of(fact.poly))
               and atoms_of(fact.poly) & atoms_of(p) and (found := search.clear_denominators(fact.poly, 0))]
    products = [((), ">", ONE, [])] + [((name,), r, q, d) for name, r, q, d in [*losses, *numbers]]
    if search.add_up(relation, p, *freed, products, late=True):
        return True
    products += [((name, other), ">=", q * e, [*d, *f]) for name, r, q, d in losses if r != "=="
                 for other, _, e, f in numbers]
    return search.add_up(relation, p, *freed, products)
