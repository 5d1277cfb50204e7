"""The search for proofs about numbers. Each step is tried on the stand-alone checker's own state before it is added."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

from verify.checker import polynomials
from verify.checker.number_facts import POSITIVE, KnownFacts
from verify.checker.number_proof import RULES, StepChecker
from verify.checker.polynomials import ONE, ZERO, Poly, constant, of_atom
from verify.prove.combinations import combination

__all__ = ["REFUSALS", "Search", "formula"]

REFUSALS = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError, StopIteration)
_COLUMNS = 1500  # of a linear program
_TERMS = 12  # of a polynomial whose squares are completed
_FACTS = 80  # in a linear program
_STEPS, _PROGRAM = 2500, 4  # the effort that a search and a linear program may take; a step takes 2
_ENTRIES = 100  # of a linear program per unit of effort


class Search:
    """A state of a proof that grows step by step.

    ``known``: the facts; ``names``: the indices; ``steps``: the steps so far; ``tactics``: functions that are tried on a
    goal, in turn.
    """

    def __init__(self, reader, known: KnownFacts, names: dict[str, Poly], count: Iterator[int], tactics: Sequence[Callable]):
        self.tactics = tactics
        self.reader, self.known, self.names, self.count = reader, KnownFacts(known), names, count
        self.steps: list[dict[str, Any]] = []
        self.failed: set = set()
        self.spreads: dict = {}

    def branch(self, known, names) -> "Search":
        return Search(self.reader, known, names, self.count, self.tactics)

    # writing ---------------------------------------------------------------------------------------------------------------
    def formula(self, p: Poly):
        return formula(p, self._indices())

    def vector(self, v):
        return vector(v, self._indices())

    def _indices(self):
        return {a: name for name, q in self.names.items() for m in q.terms for a, _ in m}

    def shows(self, relation: str, p: Poly) -> list:
        return [self.formula(p), relation, 0]

    def step(self, by: str, **data) -> str | None:
        """Adds a step if the checker accepts it; returns the name of its fact, or None."""
        self.charge(1)
        name = f"s{next(self.count)}"
        data = {"name": name, "by": by, **data}
        try:
            fact = RULES[by](StepChecker(self.reader), data, self.known, self.names)
        except REFUSALS:
            return None
        self.known.add(name, fact)
        self.steps.append(data)
        return name

    def sum_each(self, index: str, low: Poly, high: Poly, shows, steps) -> str | None:
        """Adds that steps show a goal for every index of a range, and its sum; returns the name of the sum, or None."""
        each = self.step("each", index=index, low=self.formula(low), high=self.formula(high), shows=shows, steps=steps)
        return each and self.step("sum", fact=each)

    def charge(self, effort: int) -> None:
        """Counts the effort of a search. Raises TimeoutError if it is too large."""
        for _ in range(effort):
            if next(self.count) > _STEPS:
                raise TimeoutError("too many steps")

    def lemma(self, name: str, *of) -> str | None:
        return self.step("lemma", lemma=name, of=[self.vector(a) if isinstance(a, dict) else self.formula(a) for a in of])

    def mean(self, fact: str, *given) -> str | None:
        """Adds the mean of a fact, perhaps conditioned on the past of the round ``given``; returns its name, or None."""
        return self.step("mean", fact=fact, **dict(zip(["given"], map(self.formula, given), strict=False)))

    # goals -----------------------------------------------------------------------------------------------------------------
    def prove(self, relation: str, p: Poly, depth: int = 2) -> bool:
        """Whether the goal is shown, if need be after steps that the tactics add."""
        if self.known.implies(relation, p):
            return True
        goal = relation, p, depth, len(self.known.facts)
        if goal in self.failed:
            return False
        if relation == "!=":
            return any(self.prove(">", q, depth) for q in (p, -p))
        for tactic in self.tactics:
            with suppress(*REFUSALS):
                if tactic(self, relation, p, depth) and self.known.implies(relation, p):
                    return True
        self.failed.add((relation, p, depth, len(self.known.facts)))
        return False

    def clear_denominators(self, p: Poly, depth: int = 1) -> tuple[Poly, list[Poly]] | None:
        """(p d, the factors of d) for a positive d such that p d has no denominators."""
        factors: list[Poly] = []
        while True:
            found = {a for m in p.terms for a, n in m if a[0] == "inv" or (a[0] == "root" and not 0 <= n < a[2])}
            if not found:
                break
            a = max(found, key=lambda one: (len(polynomials.key(one)), polynomials.key(one)))
            powers = [(dict(m).get(a, 0), Poly({tuple(pair for pair in m if pair[0] != a): c})) for m, c in p.terms.items()]
            whole = (lambda n: n) if a[0] == "inv" else (lambda n, degree=a[2]: -(n // degree))
            most = max(0, *(whole(n) for n, _ in powers))
            r = a[1]
            sign = next((s for s in (1, -1) if not most or self.known.implies(">", r * constant(s)) or (
                depth and self.prove(">", r * constant(s), depth - 1))), None)
            if sign is None:
                return None
            factors += [r * constant(sign)] * most
            parts = []
            for n, rest in powers:
                part = rest * r ** (most - whole(n))
                if a[0] == "root" and n % a[2]:
                    part = part * of_atom(a, n % a[2])
                parts.append(part)
            p = polynomials.total(parts) * constant(sign**most)
        below: dict = {}
        for m in p.terms:
            for a, n in m:
                below[a] = min(below.get(a, 0), n)
        for a, n in below.items():
            if n < 0:
                if not self.known.implies(">", of_atom(a)):
                    return None
                factors.append(of_atom(a, -n))
                p = p * of_atom(a, -n)
        return p, factors

    def combine(self, relation: str, p: Poly, degree: int = 2, facts: Sequence[str] | None = None,
                about: Poly | None = None) -> bool:
        """Adds an identity that shows the goal, if a linear program finds one: of facts with atoms of the goal, or ``about``
        another polynomial."""
        if relation == "!=":
            return False
        if degree == 1 and self._identity(relation, p, p, [], self.relevant_facts(about or p, facts, raw=True), 1):
            return True
        if (freed := self.clear_denominators(p)) is None:
            return False
        goal, factors = freed
        usable = self.relevant_facts(about or goal, facts)
        if self._identity(relation, p, goal, factors, usable, degree):
            return True
        return degree == 2 and any(self._identity(relation, p, goal * d, [*factors, d], usable, degree)
                                   for d in dict.fromkeys(factors) if len(d.terms) > 1)

    def _identity(self, relation, p, goal, factors, usable, degree) -> bool:
        squares = () if relation == "==" else dict.fromkeys((*completing_squares(goal), *squares_of_mixed_terms(goal)))
        return self.add_up(relation, p, goal, factors, [*self.fact_products(usable, degree)], [*squares])

    def add_up(self, relation, p, goal, factors, products, squares=(), late=False) -> bool:
        """Adds an identity that shows p, if multiples of products add up to the goal, which is p times factors. ``late``:
        whether equations are also tried at terms that only other facts bring in."""
        products = products + [((), ">=", u * u, []) for u in squares]
        found = self.solve_program(relation, goal, products, late)
        if found is None:
            return False
        terms = [{"facts": [*products[n][0]], "times": [*map(self.formula, [q, *products[n][3]])]} | (
            {"square": self.formula(squares[n - len(products)])} if n >= len(products) - len(squares) else {})
            for n, q in found]
        return self.step("identity", shows=self.shows(relation, p), times=[*map(self.formula, factors)],
                         terms=terms) is not None

    def relevant_facts(self, goal: Poly, only=None, raw: bool = False) -> list[tuple[str, str, Poly, list[Poly]]]:
        """(name, relation, polynomial without denominators, factors that cleared them) of facts with atoms of the goal."""
        atoms, kept, waiting = atoms_of(goal), [], []
        for name, fact in self.known.facts.items():
            if fact.ranges or fact.relation == "!=" or (only is not None and name not in only) or (
                    len(fact.poly.terms) == 1 and fact.relation != "==" and self.known.sign_as_written(fact.poly)):
                continue
            freed = (fact.poly, []) if raw else self.clear_denominators(fact.poly, 0)
            if freed is not None and freed[0].terms:
                waiting.append((name, fact.relation, *freed))
        for _ in range(3):
            more = [one for one in waiting if atoms_of(one[2]) & atoms]
            waiting = [one for one in waiting if one not in more]
            kept += more
            for one in more:
                atoms = atoms | atoms_of(one[2])
        return kept[:_FACTS]

    def fact_products(self, usable, degree):
        """Yields (names, relation, polynomial, factors): products of facts, with the factors that cleared denominators."""
        yield (), ">", ONE, []
        for count in range(1, degree + 1):
            if count > 1 and len(usable) > 12:
                usable = usable[:12]
            for several in combinations_with_replacement(usable, count):
                relations = [relation for _, relation, *_ in several]
                if count > 1 and "==" in relations:
                    continue
                p, d = ONE, []
                for _, _, q, e in several:
                    p, d = p * q, d + e
                relation = "==" if "==" in relations else ">" if set(relations) == {">"} else ">="
                yield tuple(name for name, *_ in several), relation, p, d

    def solve_program(self, relation, goal, products, late=False):
        """[(number of a product, factor)] that add up to the goal; None if there are none."""
        code: dict = {}
        self.charge(_PROGRAM)

        def coded(m):
            return tuple(sorted((code.setdefault(a, len(code)), n) for a, n in m))

        goal_terms = {coded(m): c for m, c in goal.terms.items()}
        terms = [{coded(m): c for m, c in p.terms.items()} for _, _, p, _ in products]
        atoms = [*code]
        nonzero = {fact.poly for fact in self.known.facts.values() if fact.relation == "!=" and not fact.ranges}
        divides = [a[0] != "inv" and (self.known.sign_of_atom(a) == POSITIVE or of_atom(a) in nonzero) for a in atoms]
        signs: dict = {}

        def decoded(m):
            return tuple(sorted(((atoms[a], n) for a, n in m), key=lambda pair: polynomials.key(pair[0])))

        def sign(m):
            if m not in signs:
                signs[m] = self.known.sign_of_term(decoded(m), 1)
            return signs[m]

        support = {*goal_terms} or {t for column in terms for t in column}
        columns, kinds = {}, [kind for _, kind, *_ in products]
        plain = [number for number, column in enumerate(terms) if column == {(): 1}][:1]
        quotients: dict = {t: {} for column in terms for t in column}  # t -> s -> s / t
        def multiples(equations: bool):
            """Yields the products, or the ``equations`` among them, and monomials that multiply them to terms of the
            support."""
            for number, column in enumerate(terms):
                if kinds[number] != "==" and (equations or relation == "=="):
                    continue
                for s in support:
                    for t in column:
                        if s not in (of := quotients[t]):
                            of[s] = quotient(s, t, divides)
                        m = of[s]
                        if m is not None and (number, m) not in columns and (kinds[number] == "==" or sign(m)):
                            yield number, m

        for equations in (False, False, True)[: 2 + late]:
            new: dict = {}
            for multiple in multiples(equations):
                if len(new) + len(columns) >= _COLUMNS:
                    break
                new[multiple] = None
            if equations and not new:
                return None
            for number, m in new:
                columns[number, m] = {product(m, t): c for t, c in terms[number].items()}
            if len(support) > len(goal_terms) and relation != "==" and not self.reader.run:  # what is left may be evident
                left = dict.fromkeys(m for column in columns.values() for m in column if m not in support and sign(m))
                columns |= {(one, m): {m: Fraction(1)} for one in plain for m in left}
            self.charge(sum(map(len, columns.values())) // _ENTRIES)
            rows = [(column, kinds[number] != "==") for (number, _), column in columns.items()]
            strict = [relation == ">" == kinds[n] and sign(m) == POSITIVE for n, m in columns]
            found = combination(goal_terms, rows, strict) if rows else None
            if found is not None:
                by_product: dict = {}
                for (n, m), x in zip(columns, found, strict=True):
                    if x:
                        by_product[n] = by_product.get(n, ZERO) + Poly({decoded(m): x})
                return [*by_product.items()]
            if len(columns) >= _COLUMNS:
                return None
            support |= {m for column in columns.values() for m in column}
        return None


def completing_squares(p: Poly) -> Iterator[Poly]:
    """Yields sums and differences of two monomials whose squares complete terms of a polynomial."""
    seen = set()
    for s, c in p.terms.items():
        for t, e in p.terms.items() if c > 0 and len(p.terms) <= _TERMS else ():
            powers = dict(s)
            for a, n in t:
                powers[a] = powers.get(a, 0) - n
            u, v = (tuple((a, abs(n)) for a, n in sorted(powers.items(), key=lambda pair: polynomials.key(pair[0]))
                          if n * sign > 0) for sign in (1, -1))
            for x in {Fraction(1 if e > 0 else -1), e / c / 2} if s != t else ():
                found = Poly({u: Fraction(1), v: x})
                if found not in seen and not any(a[0] in ("inv", "dot") for m in (u, v) for a, _ in m):
                    seen.add(found)
                    yield found


def squares_of_mixed_terms(p: Poly) -> Iterator[Poly]:
    """Yields, for products of two numbers among the terms of a polynomial, beside the squares of both, the sum or difference
    whose square has the term with its sign."""
    for m, c in p.terms.items() if len(p.terms) <= _TERMS else ():
        if len(m) == 2 and all(n == 1 and ((a, 2),) in p.terms and a[0] not in ("inv", "dot") for a, n in m):
            yield Poly({(m[0],): Fraction(1), (m[1],): Fraction(1 if c > 0 else -1)})


def product(s, t):
    powers = dict(s)
    for a, n in t:
        powers[a] = powers.get(a, 0) + n
    return tuple(sorted((a, n) for a, n in powers.items() if n))


def quotient(s, t, divides):
    """The monomial s / t; None where it has negative powers of atoms that may be 0, or of quotients."""
    powers = dict(s)
    for a, n in t:
        powers[a] = powers.get(a, 0) - n
    if any(n < 0 and not divides[a] for a, n in powers.items()):
        return None
    return tuple(sorted((a, n) for a, n in powers.items() if n))


def atoms_of(p: Poly) -> set:
    return {a for m in p.terms for a, _ in m}


# formulas ----------------------------------------------------------------------------------------------------------------
def formula(p: Poly, names):
    """A polynomial as nested lists."""
    terms = [_term(m, c, names) for m, c in sorted(p.terms.items(), key=repr)]
    return 0 if not terms else terms[0] if len(terms) == 1 else ["+", *terms]


def number(c):
    return c.numerator if c.denominator == 1 else ["*", c.numerator, ["^", c.denominator, -1]]


def _term(m, c, names):
    factors = [atom(a, names) if n == 1 else ["^", atom(a, names), n] for a, n in m]
    if not factors:
        return number(c)
    if c == 1:
        return factors[0] if len(factors) == 1 else ["*", *factors]
    return ["*", number(c), *factors]


def atom(a, names):
    """An atom as nested lists."""
    if a in names:
        return names[a]
    kind = a[0]
    if kind in ("bound", "index"):
        raise LookupError(f"{a} has no name here")
    if kind == "name":
        return a[1]
    if kind in ("entry", "drawn"):
        return [a[1], *(formula(i, names) for i in a[2:])]
    if kind == "inv":
        return ["^", formula(a[1], names), -1]
    if kind == "root":
        return ["^", formula(a[1], names), ["^", a[2], -1]]
    if kind == "pow":
        return ["^", formula(a[1], names), formula(a[2], names)]
    if kind in ("Sum", "Product"):
        _, body, low, high, own = a
        name = f"i{own[1]}"
        return [kind, formula(body, {**names, own: name}), name, formula(low, names), formula(high, names)]
    if kind == "dot":
        return ["dot", vector_atom(a[1], names), vector_atom(a[2], names)]
    if kind == "norm":
        return ["norm", vector(dict(a[1]), names)]
    if kind == "steepest":
        return ["*", -1, ["infimum", "v", ["*", -1, ["norm2", ["grad", formula(a[1], names), "v"]]]]]
    if kind == "F":
        return ["F", formula(a[1], names), vector(dict(a[2]), names)]
    if kind == "E" and len(a) > 2:
        return ["E_round", *(formula(p, names) for p in a[1:])]
    return [kind, *(formula(p, names) for p in a[1:])]


def vector_atom(a, names):
    if a[0] == "vsum":
        _, c, v, low, high, own = a
        name, inner = f"i{own[1]}", {**names, own: f"i{own[1]}"}
        body = vector({v: c}, inner)
        return ["Sum", body, name, formula(low, names), formula(high, names)]
    if a[0] == "mean":
        return ["E_round" if len(a) > 2 else "E", vector(dict(a[1]), names), *(formula(r, names) for r in a[2:])]
    if a[0] == "grad":
        return ["grad", formula(a[1], names), vector(dict(a[2]), names)]
    indices = [formula(i, names) for i in a[2:]]
    return [a[1], *indices] if indices else a[1]


def vector(v, names):
    """A vector as nested lists."""
    parts = [vector_atom(a, names) if c == ONE else ["*", formula(c, names), vector_atom(a, names)] for a, c in v.items()]
    return 0 if not parts else parts[0] if len(parts) == 1 else ["+", *parts]
