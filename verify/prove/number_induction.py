"""Tactics for goals about a whole number: induction, in which sums, products and powers lose their last term or factor, and
sums of facts whose neighbouring terms cancel."""

from contextlib import suppress
from itertools import permutations

from verify.checker.index_sums import new_index, substitute
from verify.checker.number_proof import with_fact
from verify.checker.polynomials import ONE, ZERO, Poly, constant, has, of_atom
from verify.prove.number_losses import curvature_bounds
from verify.prove.number_search import REFUSALS, Search, atoms_of
from verify.prove.number_terms import all_atoms, instantiate_ranged, is_closed

__all__ = ["by_induction", "by_sum_over_rounds", "by_telescoping"]

_ROUNDS = "name", "rounds"


def by_induction(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Shows the goal for all whole numbers from 0, 1 or the least value on, in place of one that sums, products or entries
    go up to."""
    if relation == "!=" or depth < 2:
        return False
    grown = [a for a in all_atoms(p) if a[0] in ("Sum", "Product", "entry") and is_closed(a)]
    numbers = {n for a in grown for n in all_atoms(a) if n[0] in ("name", "index") and n in search.known.whole}
    if search.reader.run:
        numbers = {_ROUNDS} & {n for a in all_atoms(p) if a[:2] == ("run", "x_round") for n in atoms_of(a[2])}
    for number in sorted(numbers, key=repr):
        for low in dict.fromkeys((ZERO, ONE, _least(search, number))[: 1 if search.reader.run else None]):
            with suppress(*REFUSALS):  # the goal may have no value there
                if _shown_up_to(search, relation, p, number, low, depth):
                    return True
    return False


def _shown_up_to(search: Search, relation: str, p: Poly, number: tuple, low: Poly, depth: int) -> bool:
    if not search.known.implies(">=", of_atom(number) - low):
        return False
    high, index, name = of_atom(number), new_index(), f"k{len(search.names)}"
    goal, names = substitute(search.known, p, number, of_atom(index)), {**search.names, name: of_atom(index)}
    if has(goal, number):
        return False
    base = _branch(search, with_fact(search.known, "not empty", high - low), search.names)
    if not base.prove(relation, substitute(search.known, goal, index, low), depth - 1):
        return False
    known = with_fact(search.known.with_index(index, low, high, name), "before", goal, relation)
    within = _branch(search, with_fact(known, "not the last", high - ONE - of_atom(index)), names)
    following = substitute(within.known, goal, index, of_atom(index) + ONE)
    _unfold(within, following, index)
    for fact in [*within.known.facts.values()]:
        if fact.relation == "==" and not fact.ranges:
            any(instantiate_ranged(within, fact.poly))
    one_round = search.reader.run and _by_one_round(within, relation, goal, following, index, depth)
    if not one_round and not within.prove(relation, following, depth - 1):
        return False
    found = search.step("induction", index=name, low=search.formula(low), high=search.formula(high),
                        shows=within.shows(relation, goal), base=base.steps, steps=within.steps)
    return found is not None and search.step("instance", fact=found, at=[search.formula(high)]) is not None


def _by_one_round(search: Search, relation: str, before: Poly, following: Poly, index: tuple, depth: int) -> bool:
    """Shows what follows by the goal of the round before, times the factor of a power of the index, and by one round."""
    _add_order_of_curvatures(search)
    for a in sorted((a for a in all_atoms(before) if a[0] == "pow" and a[2] == of_atom(index)), key=repr):
        least = _fact(search, ">=", a[1], depth)
        equation = least and search.lemma("next power", a[1], of_atom(index))
        later = "pow", a[1], of_atom(index) + ONE
        if equation and _follows(search, relation, following, before * a[1], [least], [(later, equation)], depth):
            return True
    sums = {a: search.lemma("last term", of_atom(a)) for a in sorted(all_atoms(following), key=repr)
            if a[0] == "Sum" and is_closed(a) and has(a[3], index)}
    return bool(sums) and None not in sums.values() and _follows(
        search, relation, following, before, [], [*sums.items()], depth)


def _follows(search: Search, relation: str, following: Poly, before: Poly, least: list[str], equations, depth: int) -> bool:
    """Shows what follows as the goal of the round before, times what is ``least`` at least 0, plus a goal of one round, by
    equations that give atoms: pairs of an atom and the name of a fact."""
    rest, terms = following - before, [{"facts": ["before", *least]}]
    for atom, name in equations:
        p = search.known.facts[name].poly
        times = Poly({tuple(pair for pair in m if pair[0] != atom): c for m, c in rest.terms.items() if (atom, 1) in m})
        times = times * constant(1 / p.terms.get(((atom, 1),), 1))
        rest = rest - times * p
        terms.append({"facts": [name], "times": [search.formula(times)]})
    one_round = _fact(search, relation, rest, depth)
    return one_round is not None and search.step(
        "identity", shows=search.shows(relation, following), terms=[*terms, {"facts": [one_round]}]) is not None


def by_sum_over_rounds(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Shows a bound on a sum over rounds by what one round takes from the start: for A(x_0) + N c - Sum b(r) it shows
    A(x_0) - A(x_N) + N c - Sum b(r) by induction, and that what is left is at least 0."""
    rounds, start = _ROUNDS, ("run", "x_round", ZERO)
    high = of_atom(rounds) - ONE
    if depth < 2 or relation != ">=" or not any(a[0] == "Sum" and a[3] == high and has(a, "x_round") for a in all_atoms(p)):
        return False
    freed = p * of_atom(rounds) if any((has(a, rounds) and a[0] == "inv") or (a == rounds and n < 0)
                                       for m in p.terms for a, n in m) else p
    once = {m: c for m, c in freed.terms.items() if not any(a[0] == "Sum" or a == rounds for a, _ in m)}
    of_start = Poly({m: c for m, c in once.items() if any(has(a, start) for a, _ in m)})
    if not of_start.terms:
        return False
    end = _at_end(search, of_start)
    left = Poly(once) - of_start + end
    last = _fact(search, relation, left, depth)
    if last is None or not _shown_up_to(search, relation, freed - left, rounds, ZERO, depth):
        return False
    whole = _fact(search, relation, freed - left, 0)
    times = {} if freed is p else {"times": [search.formula(of_atom(rounds))]}
    return whole is not None and search.step("identity", shows=search.shows(relation, p), **times, terms=[
        {"facts": [last]}, {"facts": [whole]}]) is not None


def _at_end(search: Search, p: Poly) -> Poly:
    """The polynomial at the last model of a run in place of the first."""
    def to_end(node):
        if node == ["x_round", 0]:
            return ["x_round", "rounds"]
        return [*map(to_end, node)] if isinstance(node, list) else node

    return search.reader.read_comparison([to_end(search.formula(p)), ">=", 0], search.known, search.names)[1]


def _add_order_of_curvatures(search: Search) -> None:
    highs, lows = curvature_bounds(search, ZERO)
    for high in highs:
        for low in lows:
            search.lemma("curvatures", ZERO, high, low)


def _fact(search: Search, relation: str, p: Poly, depth: int) -> str | None:
    """The name of a fact that shows the goal, if it can be proven."""
    if not search.prove(relation, p, depth):
        return None
    return next((name for name, fact in search.known.facts.items() if fact.poly == p and not fact.ranges
                 and fact.relation in (relation, ">")), None) or search.step("evident", shows=search.shows(relation, p))


def _branch(search: Search, known, names) -> Search:
    tactics = [*search.tactics]
    return Search(search.reader, known, names, search.count, tactics[: tactics.index(by_induction)] or tactics[1:])


def _least(search: Search, number: tuple) -> Poly:
    """The least value of a whole number that is evident."""
    known = search.known
    lows = [fact.poly for fact in known.facts.values() if fact.relation == ">=" and not fact.ranges]
    lows = [of_atom(number) - p for p in lows if p.terms.get(((number, 1),)) == 1 and not has(p - of_atom(number), number)]
    return next((low for low in lows if known.is_whole(low)), ZERO)


def _unfold(search: Search, p: Poly, index: tuple) -> None:
    """Adds what the sums, products and powers that go up to an index are without their last term or factor."""
    for a in sorted(all_atoms(p), key=repr):
        if a[0] in ("Sum", "Product") and is_closed(a) and has(a[3], index):
            search.lemma("last term" if a[0] == "Sum" else "last factor", of_atom(a))
    for a in sorted(all_atoms(p), key=repr):
        if a[0] == "exp" and is_closed(a) and has(a[1], index):
            _unfold_exponential(search, a[1], index)
        elif a[0] == "pow" and is_closed(a) and has(a[2], index):
            search.lemma("next power", a[1], a[2] - ONE)


def _unfold_exponential(search: Search, e: Poly, index: tuple) -> None:
    """Adds that the exponential is at least that of the index before it, times the tangent of what is added."""
    before = [a[1] for a in all_atoms(search.known.facts["before"].poly) if a[0] == "exp" and has(a[1], index)]
    written = e
    for fact in [*search.known.facts.values()]:
        sums = [m for m in fact.poly.terms if m in e.terms and m and m[0][0][0] == "Sum"]
        if fact.relation == "==" and not fact.ranges:
            written = written - fact.poly * constant(sum(written.terms.get(m, 0) / fact.poly.terms[m] for m in sums))
    if written != e:
        search.lemma("exponentials rise", written, e)
    for part in before:
        search.lemma("exponentials add", part, written - part)
        search.lemma("tangent", written - part)


def by_telescoping(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Sums facts about entries of the goal over their ranges, with what sums of neighbouring entries have in common, then
    combines facts."""
    arrays, wrote = _arrays(p), False
    for name, fact in [*search.known.facts.items()] if depth > 1 else ():
        one_range = len(fact.ranges) == 1 and fact.ranges[0][2] is not None
        if not one_range or ("summed", name) in search.failed or not arrays & _arrays(fact.poly):
            continue
        search.failed.add(("summed", name))
        if (whole := search.step("sum", fact=name)) is not None:
            wrote = True
            _add_next_terms(search, search.known.facts[whole].poly)
    return wrote and (search.known.implies(relation, p) or any(search.combine(relation, p, degree) for degree in (1, 2)))


def _arrays(p: Poly) -> set:
    return {a[1] for a in all_atoms(p) if a[0] == "entry"}


def _add_next_terms(search: Search, p: Poly) -> None:
    """Adds how two sums differ, one of which has the next term of each of the other."""
    sums = [a for a in sorted(all_atoms(p), key=repr) if a[0] == "Sum" and is_closed(a)]
    for a, b in permutations(sums, 2):
        if a[2:] == b[2:] and substitute(search.known, a[1], a[4], of_atom(a[4]) + ONE) == b[1]:
            search.lemma("next terms", of_atom(a))
