"""Tactics for runs and all numbers: rewrite a goal by the equations of a method, and take its mean."""


from verify.checker.index_sums import combined, dot, expected, frozen, new_index, of_vector, scaled, substitute, sum_of
from verify.checker.number_runs import ROUND, STEP
from verify.checker.polynomials import ONE, ZERO, Poly, constant, key, of_atom
from verify.prove.number_search import Search
from verify.prove.number_terms import all_atoms

__all__ = ["by_equations", "by_mean_vectors", "by_means"]

_PASSES = 80  # over a goal that is rewritten


class Rewriting:
    """Rewrites a polynomial by equations of a run, and adds the steps that show both to be equal.

    ``search``: the state to which steps are added; ``own``: the indices at which equations are tried; ``kinds``: the kinds
    of atoms that are replaced."""

    def __init__(self, search: Search, own=None, kinds=("run", "grad", "mean")):
        self.search, self.run, self.kinds = search, search.reader.run, kinds
        self.own = tuple(search.names.values()) if own is None else own
        self.rules: dict = {}

    # vectors ---------------------------------------------------------------------------------------------------------------
    def equations_by_side(self):
        """(equation, round, step) by the left side of the equation: a name and its place."""
        tables = self.run.__dict__.setdefault("tables", {})
        if self.own not in tables:
            tables[self.own] = found = {}
            rounds, steps = self.candidate_places()
            for name, (indices, _, left, right) in self.run.equations.items():
                (atom,) = left
                if atom[0] != "run":
                    continue
                for r in rounds if self.run.r in indices and left != right else [None]:
                    for j in steps if self.run.j in indices else [None]:
                        place = self.number_at(atom[2], [(i, q) for i, q in ((ROUND, r), (STEP, j)) if q is not None])
                        found.setdefault((atom[1], place), []).append((name, r, j))
        return tables[self.own]

    def candidate_places(self) -> tuple[list[Poly], list[Poly]]:
        """Rounds and steps at which equations are tried."""
        run, own = self.run, self.own
        rounds = [*own, *(q + ONE for q in own), *(q - ONE for q in own), ZERO, run.R, run.R - ONE]
        steps = [ZERO, *own, *(q - ONE for q in own), *(q + ONE for q in own)]
        return [*dict.fromkeys(rounds)], [*dict.fromkeys(steps)]

    def rule_for(self, atom):
        """(name, places, right side) of an equation with the atom on its left side; None if there is none."""
        if atom not in self.rules:
            self.rules[atom] = self.find_rule(atom)
        return self.rules[atom]

    def find_rule(self, atom):
        run, known = self.run, self.search.known
        for name, r, j in self.equations_by_side().get(atom[1:3], ()):
            indices, premises, left, right = run.equations[name]
            if left == right:
                continue
            places = [atom[-1] if q == run.k else r if q == run.r else j for q in indices]
            pairs = [*zip((next(iter(q.terms))[0][0] for q in indices), places, strict=True)]
            if all(known.implies(">=", p) for p in (*(self.number_at(p, pairs) for p in premises), *(q for _, q in pairs))):
                return name, places, self.vector_at(right, pairs)
        return None

    def vector_at(self, v, pairs):
        for index, place in pairs:
            v = of_vector(self.search.known, v, index, place)
        return v

    def number_at(self, p, pairs):
        for index, place in pairs:
            p = substitute(self.search.known, p, index, place)
        return p

    def replace_in_product(self, atom, other):
        """(name of a fact, replacement) for <atom, other>; None if nothing rewrites ``atom``."""
        if atom[0] == "grad":
            return self.replace_gradient(atom, other)
        if atom[0] == "mean":
            fact = self.search.lemma("mean vector", dict(atom[1]), {other: ONE}, *atom[2:])
            return fact and (fact, dot({atom: ONE}, {other: ONE}) - self.search.known.facts[fact].poly)
        fact, found = None, self.rule_for(atom)
        if found is not None:
            fact = self.search.lemma(found[0], *found[1], {other: ONE})
        elif atom[1] == "g" and self.has_no_noise(atom[3]):
            fact = self.search.lemma("without noise", *atom[2:], {other: ONE})
        return fact and (fact, dot({atom: ONE}, {other: ONE}) - self.search.known.facts[fact].poly)

    def has_no_noise(self, k):
        """Whether a client surely has no noise."""
        p = -of_atom(("entry", "sigma_sq_client", k))
        if not self.search.known.implies(">=", p):
            for name, fact in [*self.search.known.facts.items()]:
                if len(fact.ranges) == 1 and "sigma_sq_client" in repr(fact.poly):
                    self.search.step("instance", fact=name, at=[self.search.formula(k)])
        return self.search.known.implies(">=", p)

    def find_same_point(self, point):
        """Another recorded vector that is shown to equal the point; None if there is none."""
        v = dict(point)
        if len(v) != 1:
            return None
        (atom, c), = v.items()
        found = self.rule_for(atom) if c == ONE and atom[0] == "run" else None
        if found is None or [(a[0], q) for a, q in found[2].items()] != [("run", ONE)]:
            return None
        d = combined([v, scaled(found[2], constant(-1))])
        rest, uses = self.rewrite(dot(d, d))
        return found[2] if not rest.terms and self.add_equality(dot(d, d), ZERO, uses) else None

    def replace_gradient(self, atom, other):
        new = self.find_same_point(atom[2])
        fact = new and self.search.lemma("same slope", atom[1], dict(atom[2]), new, {other: ONE})
        return fact and (fact, dot({atom: ONE}, {other: ONE}) - self.search.known.facts[fact].poly)

    def replace_loss(self, a):
        new = self.find_same_point(a[2])
        fact = new and self.search.lemma("same loss", a[1], dict(a[2]), new)
        return fact and (fact, of_atom(a) - self.search.known.facts[fact].poly)

    # numbers -----------------------------------------------------------------------------------------------------------
    def rewrite(self, p: Poly) -> tuple[Poly, list[tuple[Poly, str]]]:
        """(q, uses): p is q plus the sum over ``uses`` of a factor times a fact that is equal to 0."""
        uses: list[tuple[Poly, str]] = []
        for _ in range(_PASSES):
            step = self.rewrite_once(p)
            if step is None:
                break
            p, more = step
            uses += more
        return p, uses

    def rewrite_once(self, p):
        for a in dict.fromkeys(a for m in p.terms for a, _ in m):
            found = self.replacement(a)
            if found is not None and (step := self.replace_atom(p, a, *found)) is not None:
                return step
        return self.reduce_inclusion_powers(p)

    def reduce_inclusion_powers(self, p):
        """Reduces a power of a random number that is 0 or 1; returns (polynomial, uses), or None."""
        for m, c in p.terms.items():
            for a, n in m:
                if a[0] == "drawn" and n > 1 and (fact := self.search.lemma("drawn or not", *a[2:])):
                    rest = Poly({tuple((b, k if b != a else n - 2) for b, k in m if b != a or n > 2): c})
                    return p - rest * self.search.known.facts[fact].poly * constant(-1), [(-rest, fact)]
        return None

    def replace_atom(self, p, a, fact, new):
        """Replaces an atom in all terms that have its first power; returns (polynomial, uses), or None."""
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

    def replacement(self, a):
        """(fact, polynomial that an atom is equal to); None where nothing rewrites it."""
        if "run" not in self.kinds and "('mean'," not in key(a):
            return None
        if a[0] == "dot":
            for own, other in (a[1:], a[:0:-1]):
                if own[0] in self.kinds and (found := self.replace_in_product(own, other)):
                    return found
                if own[0] == "vsum" and (found := self.replace_vector_sum(a, own, other)):
                    return found
        if a[0] == "E" and "run" in self.kinds:
            return self.replace_mean(a)
        if a[0] == "F" and "run" in self.kinds:
            return self.replace_loss(a)
        if a[0] == "Sum":
            return self.known_value(a) or self.replace_sum(a)
        return None

    def known_value(self, a):
        """(fact, value) of a sum that a fact says is a number or a name; None if there is none."""
        for name, fact in self.search.known.facts.items():
            terms = fact.poly.terms
            if fact.relation == "==" and not fact.ranges and terms.get(((a, 1),)) == 1 and all(
                    m == ((a, 1),) or all(b[0] == "name" for b, _ in m) for m in terms):
                return name, of_atom(a) - fact.poly
        return None

    def enter_range(self, low, high):
        """(index, its name, a rewriting within a range)."""
        index, name = new_index(), f"k{len(self.search.names)}"
        within = self.search.branch(self.search.known.with_index(index, low, high, name), {
            **self.search.names, name: of_atom(index)})
        own = self.own if high == self.run.M - ONE else (*self.own, of_atom(index))
        return index, name, Rewriting(within, own, self.kinds)

    def add_equality(self, p, q, uses, search=None):
        """Adds p = q; returns the name of the fact, or None."""
        search = search or self.search
        return search.step("identity", shows=search.shows("==", p - q), terms=[
            {"facts": [fact], "times": [search.formula(factor)]} for factor, fact in uses])

    def replace_vector_sum(self, a, own, other):
        _, c, v, low, high, bound = own
        if v[0] not in self.kinds:
            return None
        index, name, within = self.enter_range(low, high)
        v = of_vector(self.search.known, {v: c}, bound, of_atom(index))
        return self.rewrite_each(a, dot(v, {other: ONE}), index, name, within, low, high)

    def replace_sum(self, a):
        _, body, low, high, bound = a
        index, name, within = self.enter_range(low, high)
        return self.rewrite_each(
            a, substitute(self.search.known, body, bound, of_atom(index)), index, name, within, low, high)

    def rewrite_each(self, a, body, index, name, within, low, high):
        new, uses = within.rewrite(body)
        if not uses or within.add_equality(body, new, uses) is None:
            return None
        search = self.search
        each = search.step("each", index=name, low=search.formula(low), high=search.formula(high), shows=within.search.shows(
            "==", body - new), steps=within.search.steps)
        fact = each and search.step("sum", fact=each)
        if not fact:
            return None
        return fact, of_atom(a) - search.known.facts[fact].poly

    def replace_mean(self, a):
        new, uses = self.rewrite(a[1])
        if not uses:
            return self.replace_noise(a) or self.replace_inclusion(a)
        fact = self.add_equality(a[1], new, uses)
        mean = fact and self.search.mean(fact, *a[2:])
        return mean and (mean, of_atom(a) - self.search.known.facts[mean].poly)

    def replace_noise(self, a):
        """Replaces a stochastic gradient by the gradient in a mean with a vector that is determined before it."""
        m, = a[1].terms
        if len(m) != 1 or m[0][1] != 1 or m[0][0][0] != "dot":
            return None
        for own, other in (m[0][0][1:], m[0][0][:0:-1]):
            if own[:2] == ("run", "g") and self.prove_time(own[2]) and (
                    fact := self.search.lemma("unbiased", *own[2:], {other: ONE}, *a[2:])):
                return fact, of_atom(a) - self.search.known.facts[fact].poly
        return None

    def prove_time(self, t) -> bool:
        """Whether a time is at most the last one, if need be after a step that shows it."""
        p = self.run.R * self.run.K - ONE - t
        return self.search.known.implies(">=", p) or self.search.combine(">=", p, 1)

    def replace_inclusion(self, a):
        """Replaces the mean of a number times whether a client is drawn."""
        m, = a[1].terms
        for drawn in [b for b, n in m if b[:2] == ("drawn", "sampled") and n == 1]:
            rest = Poly({tuple(pair for pair in m if pair[0] != drawn): 1})
            if fact := self.search.lemma("chance", *drawn[2:], rest, *a[2:]):
                return fact, of_atom(a) - self.search.known.facts[fact].poly
        return None


def by_equations(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Rewrites a goal by the equations of a run, and proves the result."""
    if search.reader.run is None or depth < 2 or ("equations", repr(p)) in search.failed:
        return False
    search.failed.add(("equations", repr(p)))
    for number in range(len(search.reader.run.divisors)):
        for r in search.names.values():
            search.lemma("divisor", constant(number), r, ZERO, ZERO)
    if search.reader.run.how["sampling"] != "full":
        for r in search.names.values():
            search.lemma("number drawn", r)
    q, uses = Rewriting(search).rewrite(p)
    return bool(uses) and search.prove(relation, q, depth) and add_back(search, relation, p, q, uses)


def add_back(search: Search, relation: str, p: Poly, q: Poly, uses) -> bool:
    """Adds p as the sum of q, which has been shown, and multiples of facts; returns whether it holds."""
    shown = search.step("evident", shows=search.shows(relation, q))
    return shown is not None and search.step("identity", shows=search.shows(relation, p), terms=[
        {"facts": [shown]}, *({"facts": [fact], "times": [search.formula(factor)]} for factor, fact in uses)]) is not None


def by_mean_vectors(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Rewrites means of vectors as means of inner products, and proves the result."""
    if search.reader.run is None or ("mean",) not in {a[:1] for a in all_atoms(p)}:
        return False
    q, uses = Rewriting(search, kinds=("mean",)).rewrite(p)
    return bool(uses) and search.prove(relation, q, depth) and add_back(search, relation, p, q, uses)


def by_means(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """Proves a goal without its means, for every outcome, after noise is removed from products with independent vectors."""
    goal = ("means", repr(p))
    if search.reader.run is None or goal in search.failed or not (rounds := conditioning_rounds(p)) or len(rounds) != 1:
        return False
    search.failed.add(goal)
    (given,) = rounds
    q = without_means(search.known, p)
    if q is None or expected(search.known, q, *given) != p:
        return False
    rest, quiet, uses = p, q, []
    for m, c in q.terms.items() if depth > 1 else ():
        for a, sides in [(b, pair) for b, n in m if b[0] == "dot" and n == 1 for pair in (b[1:], b[:0:-1])]:
            without = denoised_gradient(sides[0])
            if without is None or denoised_gradient(sides[1]) is not None:
                continue
            other = Poly({tuple(pair for pair in m if pair[0] != a): c})
            term = expected(search.known, Poly({m: c}), *given)
            new, more = Rewriting(search).rewrite(term)
            if more and new == expected(search.known, other * dot({without: ONE}, {sides[1]: ONE}), *given):
                rest, uses = rest - term + new, uses + more
                quiet = quiet - Poly({m: c}) + other * dot({without: ONE}, {sides[1]: ONE})
    if not search.prove(relation, quiet, depth):
        return False
    shown = search.step("evident", shows=search.shows(relation, quiet))
    mean = shown and search.mean(shown, *given)
    return bool(mean) and (not uses or search.step("identity", shows=search.shows(relation, p), terms=[
        {"facts": [mean]}, *({"facts": [fact], "times": [search.formula(factor)]} for factor, fact in uses)]) is not None)


def denoised_gradient(a):
    """A stochastic gradient, or a sum of such, without its noise; None for other atoms."""
    if a[:2] == ("run", "g"):
        return ("grad", a[3], frozen({("run", "x_local", *a[2:]): ONE}))
    inner = denoised_gradient(a[2]) if a[0] == "vsum" else None
    return inner and (*a[:2], inner, *a[3:])


def conditioning_rounds(p: Poly) -> set:
    """The rounds on whose past the means in a polynomial are conditioned: tuples that are empty or hold a round."""
    return {a[2:] for a in all_atoms(p) if a[0] == "E"}


def has_mean(part) -> bool:
    """Whether a mean occurs in an atom."""
    return (isinstance(part, tuple) and (part[:1] == ("E",) or any(map(has_mean, part)))) or (
        isinstance(part, Poly) and any(has_mean(a) for m in part.terms for a, _ in m))


def without_means(known, p):
    """A polynomial whose mean is p; None where means are multiplied."""
    found = ZERO
    for m, c in p.terms.items():
        means = [(a, n) for a, n in m if has_mean(a)]
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


def rewrite_fact(search: Search, name: str) -> str | None:
    """Adds a fact rewritten by the equations of a run; returns its name, or None where they change nothing."""
    fact = search.known.facts[name]
    q, uses = Rewriting(search).rewrite(fact.poly)
    return search.step("identity", shows=search.shows(fact.relation, q), terms=[{"facts": [name]}, *(
        {"facts": [one], "times": [search.formula(-factor)]} for factor, one in uses)]) if uses else None
