"""Proofs about runs for all numbers: what a method's equations make of a goal, and what noise leaves in the mean."""


from verify.checker.index_sums import combined, dot, expected, frozen, new_index, of_vector, scaled, substitute, sum_of
from verify.checker.number_runs import ROUND, STEP
from verify.checker.polynomials import ONE, ZERO, Poly, constant, key, of_atom
from verify.prove.number_search import Search
from verify.prove.number_terms import all_atoms

__all__ = ["by_equations", "by_mean_vectors", "by_means"]

_PASSES = 80  # of rewriting a goal


class Rewriting:
    """Rewrites a polynomial by equations of a run, and writes the steps that show both to be equal.

    ``search``: where steps are written; ``uses``: (factor, fact) whose sum is the difference."""

    def __init__(self, search: Search, own=None, kinds=("run", "grad", "mean")):
        self.search, self.run, self.kinds = search, search.reader.run, kinds
        self.own = tuple(search.names.values()) if own is None else own
        self.rules: dict = {}

    # vectors ---------------------------------------------------------------------------------------------------------------
    def table(self):
        """(equation, round, step) by what is on its left side: a name and its place."""
        tables = self.run.__dict__.setdefault("tables", {})
        if self.own not in tables:
            tables[self.own] = found = {}
            rounds, steps = self.candidates()
            for name, (indices, _, left, right) in self.run.equations.items():
                (atom,) = left
                if atom[0] != "run":
                    continue
                for r in rounds if self.run.r in indices and left != right else [None]:
                    for j in steps if self.run.j in indices else [None]:
                        place = self.number_at(atom[2], [(i, q) for i, q in ((ROUND, r), (STEP, j)) if q is not None])
                        found.setdefault((atom[1], place), []).append((name, r, j))
        return tables[self.own]

    def candidates(self) -> tuple[list[Poly], list[Poly]]:
        """Rounds and steps at which equations are tried."""
        run, own = self.run, self.own
        rounds = [*own, *(q + ONE for q in own), *(q - ONE for q in own), ZERO, run.R, run.R - ONE]
        steps = [ZERO, *own, *(q - ONE for q in own), *(q + ONE for q in own)]
        return [*dict.fromkeys(rounds)], [*dict.fromkeys(steps)]

    def rule(self, atom):
        """(name of an equation, places, the other side) for an atom that an equation gives; None where there is none."""
        if atom not in self.rules:
            self.rules[atom] = self.find(atom)
        return self.rules[atom]

    def find(self, atom):
        run, known = self.run, self.search.known
        for name, r, j in self.table().get(atom[1:3], ()):
            indices, premises, left, right = run.equations[name]
            if left == right:
                continue
            places = [atom[-1] if q == run.k else r if q == run.r else j for q in indices]
            pairs = [*zip((next(iter(q.terms))[0][0] for q in indices), places, strict=True)]
            if all(known.shown(">=", p) for p in (*(self.number_at(p, pairs) for p in premises), *(q for _, q in pairs))):
                return name, places, self.at(right, pairs)
        return None

    def at(self, v, pairs):
        for index, place in pairs:
            v = of_vector(self.search.known, v, index, place)
        return v

    def number_at(self, p, pairs):
        for index, place in pairs:
            p = substitute(self.search.known, p, index, place)
        return p

    def rest_of(self, atom, other):
        """(name of a fact, what <atom, other> is): what an equation, or a run without noise, says of an inner product."""
        if atom[0] == "grad":
            return self.of_slope(atom, other)
        if atom[0] == "mean":
            fact = self.search.lemma("mean vector", dict(atom[1]), {other: ONE}, *atom[2:])
            return fact and (fact, dot({atom: ONE}, {other: ONE}) - self.search.known.facts[fact].poly)
        fact, found = None, self.rule(atom)
        if found is not None:
            fact = self.search.lemma(found[0], *found[1], {other: ONE})
        elif atom[1] == "g" and self.noiseless(atom[3]):
            fact = self.search.lemma("without noise", *atom[2:], {other: ONE})
        return fact and (fact, dot({atom: ONE}, {other: ONE}) - self.search.known.facts[fact].poly)

    def noiseless(self, k):
        """Whether a client surely has no noise."""
        p = -of_atom(("entry", "sigma_sq_client", k))
        if not self.search.known.shown(">=", p):
            for name, fact in [*self.search.known.facts.items()]:
                if len(fact.ranges) == 1 and "sigma_sq_client" in repr(fact.poly):
                    self.search.step("instance", fact=name, at=[self.search.formula(k)])
        return self.search.known.shown(">=", p)

    def same_point(self, point):
        """Another name of the point, by a step that shows it; None where it has none."""
        v = dict(point)
        if len(v) != 1:
            return None
        (atom, c), = v.items()
        found = self.rule(atom) if c == ONE and atom[0] == "run" else None
        if found is None or [(a[0], q) for a, q in found[2].items()] != [("run", ONE)]:
            return None
        d = combined([v, scaled(found[2], constant(-1))])
        rest, uses = self.rewritten(dot(d, d))
        return found[2] if not rest.terms and self.equal(dot(d, d), ZERO, uses) else None

    def of_slope(self, atom, other):
        new = self.same_point(atom[2])
        fact = new and self.search.lemma("same slope", atom[1], dict(atom[2]), new, {other: ONE})
        return fact and (fact, dot({atom: ONE}, {other: ONE}) - self.search.known.facts[fact].poly)

    def of_loss(self, a):
        new = self.same_point(a[2])
        fact = new and self.search.lemma("same loss", a[1], dict(a[2]), new)
        return fact and (fact, of_atom(a) - self.search.known.facts[fact].poly)

    # numbers -----------------------------------------------------------------------------------------------------------
    def rewritten(self, p: Poly) -> tuple[Poly, list[tuple[Poly, str]]]:
        """(q, uses): p is q plus the sum of factors times facts, which are equal to 0."""
        uses: list[tuple[Poly, str]] = []
        for _ in range(_PASSES):
            step = self.once(p)
            if step is None:
                break
            p, more = step
            uses += more
        return p, uses

    def once(self, p):
        for a in dict.fromkeys(a for m in p.terms for a, _ in m):
            found = self.of_atom(a)
            if found is not None and (step := self.all_of(p, a, *found)) is not None:
                return step
        return self.drawn_twice(p)

    def drawn_twice(self, p):
        """Powers of a number that is 0 or 1."""
        for m, c in p.terms.items():
            for a, n in m:
                if a[0] == "drawn" and n > 1 and (fact := self.search.lemma("drawn or not", *a[2:])):
                    rest = Poly({tuple((b, k if b != a else n - 2) for b, k in m if b != a or n > 2): c})
                    return p - rest * self.search.known.facts[fact].poly * constant(-1), [(-rest, fact)]
        return None

    def all_of(self, p, a, fact, new):
        """All terms of an atom rewritten at once, where it is in the first power."""
        kept, factor = {}, {}
        for m, c in p.terms.items():
            if dict(m).get(a) == 1:
                factor[tuple(pair for pair in m if pair[0] != a)] = c
            else:
                kept[m] = c
        factor = Poly(factor)
        if not factor.terms:
            return None
        return Poly(kept) + factor * new, [(factor, fact)]

    def of_atom(self, a):
        """(fact, what an atom is equal to); None where nothing rewrites it."""
        if "run" not in self.kinds and "('mean'," not in key(a):
            return None
        if a[0] == "dot":
            for own, other in (a[1:], a[:0:-1]):
                if own[0] in self.kinds and (found := self.rest_of(own, other)):
                    return found
                if own[0] == "vsum" and (found := self.of_joined(a, own, other)):
                    return found
        if a[0] == "E" and "run" in self.kinds:
            return self.of_mean(a)
        if a[0] == "F" and "run" in self.kinds:
            return self.of_loss(a)
        if a[0] == "Sum":
            return self.of_number(a) or self.of_sum(a)
        return None

    def of_number(self, a):
        """A sum that is known to be a number, or what a name stands for."""
        for name, fact in self.search.known.facts.items():
            terms = fact.poly.terms
            if fact.relation == "==" and not fact.ranges and terms.get(((a, 1),)) == 1 and all(
                    m == ((a, 1),) or all(b[0] == "name" for b, _ in m) for m in terms):
                return name, of_atom(a) - fact.poly
        return None

    def inside(self, low, high):
        """(index, a rewriting within a range)."""
        index, name = new_index(), f"k{len(self.search.names)}"
        within = self.search.inside(self.search.known.within(index, low, high, name), {
            **self.search.names, name: of_atom(index)})
        own = self.own if high == self.run.M - ONE else (*self.own, of_atom(index))
        return index, name, Rewriting(within, own, self.kinds)

    def equal(self, p, q, uses, search=None):
        """The name of the fact that p = q."""
        search = search or self.search
        return search.step("identity", shows=search.shows("==", p - q), terms=[
            {"facts": [fact], "times": [search.formula(factor)]} for factor, fact in uses])

    def of_joined(self, a, own, other):
        _, c, v, low, high, bound = own
        if v[0] not in self.kinds:
            return None
        index, name, within = self.inside(low, high)
        v = of_vector(self.search.known, {v: c}, bound, of_atom(index))
        return self.summed(a, dot(v, {other: ONE}), index, name, within, low, high)

    def of_sum(self, a):
        _, body, low, high, bound = a
        index, name, within = self.inside(low, high)
        return self.summed(a, substitute(self.search.known, body, bound, of_atom(index)), index, name, within, low, high)

    def summed(self, a, body, index, name, within, low, high):
        new, uses = within.rewritten(body)
        if not uses or within.equal(body, new, uses) is None:
            return None
        search = self.search
        each = search.step("each", index=name, low=search.formula(low), high=search.formula(high), shows=within.search.shows(
            "==", body - new), steps=within.search.steps)
        fact = each and search.step("sum", fact=each)
        if not fact:
            return None
        return fact, of_atom(a) - search.known.facts[fact].poly

    def of_mean(self, a):
        new, uses = self.rewritten(a[1])
        if not uses:
            return self.of_noise(a) or self.of_chance(a)
        fact = self.equal(a[1], new, uses)
        mean = fact and self.search.mean(fact, *a[2:])
        return mean and (mean, of_atom(a) - self.search.known.facts[mean].poly)

    def of_noise(self, a):
        """A noisy gradient in a mean with what was known before it."""
        m, = a[1].terms
        if len(m) != 1 or m[0][1] != 1 or m[0][0][0] != "dot":
            return None
        for own, other in (m[0][0][1:], m[0][0][:0:-1]):
            if own[:2] == ("run", "g") and self.is_time(own[2]) and (
                    fact := self.search.lemma("unbiased", *own[2:], {other: ONE}, *a[2:])):
                return fact, of_atom(a) - self.search.known.facts[fact].poly
        return None

    def is_time(self, t) -> bool:
        """Whether a time is shown to be at most the last, after a step that says so if need be."""
        p = self.run.R * self.run.K - ONE - t
        return self.search.known.shown(">=", p) or self.search.combine(">=", p, 1)

    def of_chance(self, a):
        """The mean of a number times whether a client is drawn."""
        m, = a[1].terms
        for drawn in [b for b, n in m if b[:2] == ("drawn", "sampled") and n == 1]:
            rest = Poly({tuple(pair for pair in m if pair[0] != drawn): 1})
            if fact := self.search.lemma("chance", *drawn[2:], rest, *a[2:]):
                return fact, of_atom(a) - self.search.known.facts[fact].poly
        return None


def by_equations(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """What the equations of a run make of a goal."""
    if search.reader.run is None or depth < 2 or ("equations", repr(p)) in search.failed:
        return False
    search.failed.add(("equations", repr(p)))
    for number in range(len(search.reader.run.divisors)):
        for r in search.names.values():
            search.lemma("divisor", constant(number), r, ZERO, ZERO)
    if search.reader.run.how["sampling"] != "full":
        for r in search.names.values():
            search.lemma("number drawn", r)
    q, uses = Rewriting(search).rewritten(p)
    return bool(uses) and search.prove(relation, q, depth) and add_back(search, relation, p, q, uses)


def add_back(search: Search, relation: str, p: Poly, q: Poly, uses) -> bool:
    """Write that p is what q, which is shown, and multiples of facts add up to."""
    shown = search.step("evident", shows=search.shows(relation, q))
    return shown is not None and search.step("identity", shows=search.shows(relation, p), terms=[
        {"facts": [shown]}, *({"facts": [fact], "times": [search.formula(factor)]} for factor, fact in uses)]) is not None


def by_mean_vectors(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """A goal about means of vectors as one about means of inner products."""
    if search.reader.run is None or ("mean",) not in {a[:1] for a in all_atoms(p)}:
        return False
    q, uses = Rewriting(search, kinds=("mean",)).rewritten(p)
    return bool(uses) and search.prove(relation, q, depth) and add_back(search, relation, p, q, uses)


def by_means(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """A goal about means as one that holds whatever is drawn, without the noise beside vectors that do not depend on it."""
    goal = ("means", repr(p))
    if search.reader.run is None or goal in search.failed or not (rounds := rounds_of(p)) or len(rounds) != 1:
        return False
    search.failed.add(goal)
    (given,) = rounds
    q = without_means(search.known, p)
    if q is None or expected(search.known, q, *given) != p:
        return False
    rest, quiet, uses = p, q, []
    for m, c in q.terms.items() if depth > 1 else ():
        for a, sides in [(b, pair) for b, n in m if b[0] == "dot" and n == 1 for pair in (b[1:], b[:0:-1])]:
            without = without_noise(sides[0])
            if without is None or without_noise(sides[1]) is not None:
                continue
            other = Poly({tuple(pair for pair in m if pair[0] != a): c})
            term = expected(search.known, Poly({m: c}), *given)
            new, more = Rewriting(search).rewritten(term)
            if more and new == expected(search.known, other * dot({without: ONE}, {sides[1]: ONE}), *given):
                rest, uses = rest - term + new, uses + more
                quiet = quiet - Poly({m: c}) + other * dot({without: ONE}, {sides[1]: ONE})
    if not search.prove(relation, quiet, depth):
        return False
    shown = search.step("evident", shows=search.shows(relation, quiet))
    mean = shown and search.mean(shown, *given)
    return bool(mean) and (not uses or search.step("identity", shows=search.shows(relation, p), terms=[
        {"facts": [mean]}, *({"facts": [fact], "times": [search.formula(factor)]} for factor, fact in uses)]) is not None)


def without_noise(a):
    """A noisy gradient, or sum of such, without its noise; None where it is something else."""
    if a[:2] == ("run", "g"):
        return ("grad", a[3], frozen({("run", "x_local", *a[2:]): ONE}))
    inner = without_noise(a[2]) if a[0] == "vsum" else None
    return inner and (*a[:2], inner, *a[3:])


def rounds_of(p: Poly) -> set:
    """What the means in a polynomial are given: nothing, or a round."""
    return {a[2:] for a in all_atoms(p) if a[0] == "E"}


def random_within(part) -> bool:
    """Whether a mean occurs in an atom."""
    return (isinstance(part, tuple) and (part[:1] == ("E",) or any(map(random_within, part)))) or (
        isinstance(part, Poly) and any(random_within(a) for m in part.terms for a, _ in m))


def without_means(known, p):
    """A number whose mean is p; None where means are multiplied."""
    found = ZERO
    for m, c in p.terms.items():
        means = [(a, n) for a, n in m if random_within(a)]
        if not means:
            found = found + Poly({m: c})
            continue
        ((a, n),) = means if len(means) == 1 else [(None, 0)]
        if n != 1 or a[0] not in ("E", "Sum"):
            return None
        rest = Poly({tuple(pair for pair in m if pair[0] != a): c})
        if a[0] == "E":
            found = found + rest * a[1]
            continue
        _, body, low, high, own = a
        index = new_index()
        inner = without_means(known, substitute(known, body, own, of_atom(index)))
        if inner is None:
            return None
        found = found + rest * sum_of(known, index, inner, low, high)
    return found


def rewritten_fact(search: Search, name: str) -> str | None:
    """The name of what equations make of a fact; None where they change nothing."""
    fact = search.known.facts[name]
    q, uses = Rewriting(search).rewritten(fact.poly)
    return search.step("identity", shows=search.shows(fact.relation, q), terms=[{"facts": [name]}, *(
        {"facts": [one], "times": [search.formula(-factor)]} for factor, one in uses)]) if uses else None
