"""Adds facts that follow from hypotheses about all indices, about whole numbers, and from recursions, in proofs that
hypotheses exclude each other."""

from math import ceil, floor, gcd, lcm

from verify.checker.index_sums import new_index, substitute
from verify.checker.number_facts import Fact
from verify.checker.polynomials import ONE, ZERO, Poly, constant, of_atom, power
from verify.prove.number_search import Search, atoms_of
from verify.prove.number_terms import all_atoms, instantiate_ranged

__all__ = ["add_instances", "add_recursions", "add_sums", "add_whole_bounds"]

_LARGEST = 12  # exponent with which a power of a number of at most 1 is compared


def ranged_facts(search: Search) -> list[tuple[str, Fact]]:
    return [(name, fact) for name, fact in search.known.facts.items() if fact.ranges]


def plain_facts(search: Search) -> list[tuple[str, Fact]]:
    return [(name, fact) for name, fact in search.known.facts.items() if not fact.ranges and fact.poly.terms]


def add_instances(search: Search) -> None:
    """Adds instances of facts for all indices: at the ends of their ranges, and at the indices of entries in other facts."""
    ranged = [pair for pair in ranged_facts(search) if pair[1].poly.terms]
    for name, fact in ranged:
        for places in dict.fromkeys((ends_of(search, fact, True), ends_of(search, fact, False))):
            if places:
                search.step("instance", fact=name, at=[search.formula(place) for place in places])
    seen: set = set()
    for _, fact in plain_facts(search):
        entries = {a for a in all_atoms(fact.poly) if a[0] == "entry"} - seen
        seen |= entries
        for a in sorted(entries, key=repr):
            for _ in instantiate_ranged(search, of_atom(a)):
                pass


def ends_of(search: Search, fact: Fact, first: bool) -> tuple[Poly, ...]:
    """The first or the last values of the indices of a fact; empty where a range has no end."""
    places: list = []
    for _, low, high in fact.ranges:
        end = low if first else high
        if end is None:
            return ()
        for (atom, *_), place in zip(fact.ranges, places, strict=False):
            end = substitute(search.known, end, atom, place)
        places.append(end)
    return tuple(places)


def add_sums(search: Search) -> None:
    """Adds the sum of each fact for all indices of one range, if other facts have a sum or a product of entries."""
    summed = {a[1] for _, fact in plain_facts(search) for b in all_atoms(fact.poly) if b[0] == "Sum"
              for a in all_atoms(b) if a[0] == "entry"}
    for name, fact in ranged_facts(search):
        if summed & {a[1] for a in all_atoms(fact.poly) if a[0] == "entry"}:
            search.step("sum", fact=name)


def add_whole_bounds(search: Search) -> None:
    """Rounds the bounds of whole numbers: a whole number above 3.2 is at least 4."""
    for name, fact in plain_facts(search):
        whole = Poly({m: c for m, c in fact.poly.terms.items() if m})
        if fact.relation == "!=" or not whole.terms or not all(
                search.known.is_whole(Poly({m: ONE.number()})) for m in whole.terms):
            continue
        factor = constant(lcm(*(c.denominator for c in whole.terms.values())))
        factor = factor * constant(1 / gcd(*(int(c) for c in (whole * factor).terms.values())))
        for p in (fact.poly, -fact.poly)[: 1 + (fact.relation == "==")]:
            scaled = p * factor
            low = -scaled.terms.get((), ZERO.number())  # the whole number is at least this, or more
            below = floor(low) if fact.relation == ">" else ceil(low) - 1
            if below + 1 == low:
                continue
            above = scaled + constant(low - below)
            terms = [{"facts": [name], "times": [search.formula(factor * constant(1 if p == fact.poly else -1))]}]
            terms += [{"facts": [], "times": [search.formula(constant(low - below))]}] * (low > below)
            if search.step("identity", shows=search.shows(">", above), terms=terms):
                search.lemma("whole step", above)


def add_recursions(search: Search) -> None:
    """Solves recursions a[i+1] >= b a[i] + c, or <=, with numbers b > 0 and c: a[i] - e >= b^i (a[low] - e) where
    b e + c = e, or a[i] >= a[low] + c i where b is 1."""
    for _, fact in ranged_facts(search):
        if len(fact.ranges) != 1 or fact.ranges[0][2] is None or fact.relation not in (">=", ">", "=="):
            continue
        (index, low, high), = fact.ranges
        for next_one in [a for a in atoms_of(fact.poly) if a[0] == "entry" and of_atom(index) + ONE in a[2:]]:
            times = fact.poly.terms.get(((next_one, 1),))
            (own, _), = next(iter(substitute(search.known, of_atom(next_one), index, of_atom(index) - ONE).terms))
            if times is None:
                continue
            rest = -(fact.poly * constant(1 / times) - of_atom(next_one))
            slope = rest.terms.get(((own, 1),), ZERO.number())
            more = (rest - constant(slope) * of_atom(own)).number()
            if more is None or slope <= 0:
                continue
            for sign in dict.fromkeys((1 if times > 0 else -1, -1 if fact.relation == "==" else 1 if times > 0 else -1)):
                _solve_recursion(search, of_atom(own), index, low, high, constant(slope), constant(more), constant(sign))


def _solve_recursion(search: Search, own: Poly, index, low: Poly, high: Poly, slope: Poly, more: Poly, sign: Poly) -> None:
    """Shows sign a[i] >= sign times the solution of a recursion, for all i from ``low`` to ``high`` + 1."""
    first, steps, fresh = substitute(search.known, own, index, low), of_atom(index) - low, new_index()
    if slope == ONE:
        solution = first + more * steps
    else:
        fixed = more * constant(1 / (1 - slope.number()))
        solution = fixed + power(slope, steps) * (first - fixed)
    goal = substitute(search.known, sign * (own - solution), index, of_atom(fresh))
    name = f"k{len(search.names)}"
    inside = search.known.with_index(fresh, low, high + ONE, name)
    names = {**search.names, name: of_atom(fresh)}
    inside.add("before", Fact(">=", goal, ()))
    inside.add("not the last", Fact(">=", high - of_atom(fresh), ()))
    within = search.branch(inside, names)
    following = substitute(inside, goal, fresh, of_atom(fresh) + ONE)
    for _ in instantiate_ranged(within, goal):
        pass
    if slope != ONE:
        within.lemma("next power", slope, substitute(inside, steps, index, of_atom(fresh)))
    if not within.known.implies(">=", following) and not within.combine(">=", following, 1):
        return
    shows = within.shows(">=", goal)
    solved = search.step("induction", index=name, low=search.formula(low), high=search.formula(high + ONE), shows=shows,
                         base=[], steps=within.steps)
    if solved is None:
        return
    search.step("instance", fact=solved, at=[search.formula(high + ONE)])
    length = high + ONE - low
    most = next((n for n in range(_LARGEST, 0, -1) if search.known.implies(">=", length - constant(n))), None)
    if slope != ONE and most and length.number() is None:
        order = "powers fall" if slope.number() < 1 else "powers rise"
        search.lemma(order, slope, constant(most), length)
