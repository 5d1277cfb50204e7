"""Facts that follow from the hypotheses of a claim about plain numbers and free vectors, by lemmas and real arithmetic."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Condition
from bounds.language.values import NEVER, Need, changed, needs, ways
from verify.prove.lemmas import LEMMAS, OF_NUMBERS, OF_VECTORS, Terms
from verify.prove.lengths import shorter
from verify.prove.multipliers import multiples
from verify.prove.normal import Normal, NotLinear, expanded, outermost
from verify.prove.satisfiable import Fact, satisfiable
from verify.prove.z3_process import STEPS

__all__ = ["Context", "Family"]

_GAP = sp.Symbol("@gap", positive=True)
_LARGE = 250  # operations of a formula, beyond which no proof is looked for
_LONG = 120  # operations of a side of a fact, beyond which it is left out
_FACTS = 600  # of all questions on terms of sums for one claim
_MANY = 160  # facts of a question that z3 is not asked
_DEPTH = 2  # of proofs within proofs
_STEPS = STEPS // 4  # of z3 for the signs of terms


@dataclass(frozen=True)
class Family:
    """A hypothesis for all values of its indices."""

    condition: Condition
    over: tuple

    def facts_at(self, entry: sp.Indexed) -> Iterator[Fact]:
        """The hypothesis at the indices at which an entry of a family occurs in it."""
        indices = [index for index, *_ in self.over]
        for own in (self.condition.left - self.condition.right).atoms(sp.Indexed):
            if own.base != entry.base or len(own.indices) != len(entry.indices):
                continue
            found = {index: entry_index - (own_index - index) for own_index, entry_index in zip(
                own.indices, entry.indices, strict=True) for index in indices if own_index.has(index)}
            if {*found} != {*indices} or any(value.has(*indices) for value in found.values()):
                continue
            if any(sp.expand(a.xreplace(found) - b) != 0 for a, b in zip(own.indices, entry.indices, strict=True)):
                continue
            put = {index: sp.expand(value) for index, value in found.items()}
            sides = [side.subs(put, simultaneous=True) for side in (self.condition.left, self.condition.right)]
            limits = [le for index, low, high in self.over for le in (
                Condition(low.subs(put), "<=", put[index]), Condition(put[index], "<=", high.subs(put)))]
            yield Fact("a hypothesis", Condition(sides[0], self.condition.sign, sides[1]), tuple(limits))


    @cached_property
    def bases(self) -> set[sp.Expr]:
        """The families of numbers that it is about."""
        return {e.base for e in (self.condition.left - self.condition.right).atoms(sp.Indexed)}

    def first(self) -> Fact:
        """The hypothesis at the first indices."""
        put, limits = {}, []
        for index, low, high in self.over:
            put[index] = low.subs(put)
            limits.append(Condition(put[index], "<=", high.subs(put)))
        sides = [side.subs(put, simultaneous=True) for side in (self.condition.left, self.condition.right)]
        return Fact("a hypothesis", Condition(sides[0], self.condition.sign, sides[1]), tuple(limits))


@dataclass
class Context:
    """Known facts.

    Attributes:
        vectors: names of vectors and of families of vectors.
        signs: the domain of each family of numbers.
        facts: hypotheses on single numbers.
        families: hypotheses for all indices of a range.
        level: how many sums are around.
        ranges: of indices of the statement, their first and last values.
        asked: how many facts were given to each question, in this context and in those made from it.
        adds: whether the goal is looked for among the sums of multiples of facts, else z3 is asked.
        entries: the first and last index along each axis of the arrays.

    What is proven holds wherever the formulas have a value. Facts that lemmas give have premises for theirs.
    """

    vectors: frozenset
    signs: Mapping[str, str]
    facts: Sequence[Fact]
    families: Sequence[Family]
    level: int = 0
    kept: dict = field(default_factory=dict)
    normals: dict = field(default_factory=dict)
    asked: list = field(default_factory=list)
    ranges: dict = field(default_factory=dict)
    adds: bool = False
    entries: Mapping[str, tuple] = field(default_factory=dict)

    def __post_init__(self):
        totals = [(c.left, c.right) for c in (fact.conclusion for fact in self.facts if not fact.premises)
                  if c.relation == "==" and isinstance(c.left, sp.Sum) and len(c.left.limits) == 1 and not c.right.args]
        self.normal = Normal(self.vectors, self.holds, self.has_value, self._normal_within, totals)

    def _normal_within(self, low, high):
        inside, own = self.within(low, high)
        return inside.normal, own

    def within(self, low, high) -> "tuple[Context, sp.Symbol]":
        """The context of the terms of a sum, and a symbol for its index."""
        own = sp.Symbol(f"#{self.level}", integer=True, nonnegative=True if low.is_nonnegative else None)
        limits = [Fact("a range", Condition(low, "<=", own)), Fact("a range", Condition(own, "<=", high))]
        return replace(self, facts=[*self.facts, *limits], level=self.level + 1, kept={}, adds=False,
                       normals={**self.normals}), own

    # values --------------------------------------------------------------------------------------------------------------
    def has_value(self, e) -> bool:
        """Whether a formula certainly has a value, whatever numbers meet the facts."""
        return not self.lacking(e)

    def lacking(self, e, given: Sequence[Condition] = ()) -> tuple[Condition, ...]:
        """Conditions under which a formula has a value where ``given`` ones hold, but for those that certainly hold."""
        found = (c for need in dict.fromkeys(needs(e, self.entries)) for c in self.lacks(need, given))
        return tuple(dict.fromkeys(found))

    def lacks(self, need: Need, given: Sequence[Condition] = ()) -> tuple[Condition, ...]:
        """Conditions that meet a need where ``given`` ones hold, but for those that certainly hold."""
        key = need, tuple(given)
        if key not in self.kept:
            self.kept[key] = (NEVER,)  # a formula whose value this asks for in turn counts as one without
            inside, put = self, {}
            for index, low, high in need.over:
                inside, put[index] = inside.within(low.xreplace(put), high.xreplace(put))
            own = changed(replace(need, over=()), lambda part: part.xreplace(put))
            left = [[c for c in way if c not in given and not inside._certain(c)] for way in ways(own)]
            fewest = min(reversed(left), key=len)
            self.kept[key] = tuple(fewest if not need.over else (NEVER,) if fewest else ())
        return self.kept[key]

    def _certain(self, c: Condition) -> bool:
        return c != NEVER and self._sure(sp.sympify(c.right - c.left), c.strict)

    def _sure(self, e, strict: bool) -> bool:
        """Whether an expression is certainly at least 0, or (``strict``) more, also by the signs of its parts."""
        if (self._positive if strict else self.holds)(e):
            return True
        if isinstance(e, sp.Sum | sp.Product):
            index, low, high, body = outermost(e)
            inside, own = self.within(low, high)
            some = not strict or isinstance(e, sp.Product) or self.holds(high - low)
            return some and inside._sure(body.xreplace({index: own}), strict)
        if e.is_Add:
            return all(self._sure(part, False) for part in e.args) and (
                not strict or any(self._sure(part, True) for part in e.args))
        return e.is_Mul and all(self._sure(part, strict) for part in e.args)

    def holds(self, e) -> bool:
        """Whether an expression is certainly at least 0, from its sign or the facts on single numbers."""
        e = sp.sympify(e)
        if e.is_nonnegative or e.is_negative:
            return bool(e.is_nonnegative)
        if e not in self.kept:
            self.kept[e] = self._none(Condition(e, "<=", -_GAP))
        return self.kept[e]

    def _none(self, condition: Condition) -> bool:
        """Whether a condition contradicts the facts on single numbers."""
        negated = Fact("", condition)
        plain = [fact for fact in self.facts if not any(
            side.atoms(sp.Indexed, sp.Sum, sp.Product, sp.Function) for side in _sides(fact))]
        polynomials = _Polynomials(self.signs, self.has_value, [negated, *plain])
        try:
            asked = [polynomials.fact(fact) for fact in (negated, *plain)]
        except ValueError:
            return False
        return satisfiable(asked, core=False, steps=_STEPS).answer == "no"

    def nonnegative_over(self, e, index, low, high) -> bool:
        """Whether an expression is certainly at least 0 for all indices of a range."""
        key = e, index, low, high
        if key not in self.kept:
            if sum(self.asked) > _FACTS:
                return False
            inside, own = self.within(low, high)
            e = e.xreplace({index: own})
            lemmas = LEMMAS if e.has(sp.Sum, sp.Product) and self.level < _DEPTH else OF_NUMBERS
            self.kept[key] = inside.has_value(e) and inside.proof(Condition(0, "<=", e), lemmas, core=False) is not None
        return self.kept[key]

    def bounds(self, entry) -> list[sp.Expr]:
        """The upper bounds of a family's entry that hypotheses state."""
        return [fact.conclusion.right for family in self.families if family.condition.relation == "<="
                for fact in family.facts_at(entry) if fact.conclusion.left == entry]

    def proof(self, goal: Condition, lemmas=LEMMAS, core: bool = True) -> tuple[Fact, ...] | None:
        """The facts from which the goal follows in real arithmetic; None where no proof is found. Without ``core`` more
        facts than needed may be named."""
        parts = [Condition(goal.left, "<=", part) for part in goal.right.args] if isinstance(goal.right, sp.Min) else [
            Condition(part, "<=", goal.right) for part in goal.left.args] if isinstance(goal.left, sp.Max) else []
        if parts and goal.relation == "<=":
            each = [self.proof(part, lemmas, core) for part in parts]
            return None if None in each else tuple(dict.fromkeys(fact for facts in each for fact in facts))
        gap = sp.sympify(goal.right - goal.left)
        if gap.count_ops() > _LARGE:
            return None
        try:
            gap = self.normal.number(gap)
            if goal.relation == "==":
                both = [self.proof(Condition(0, "<=", sign * gap), lemmas, core) if gap != 0 else () for sign in (1, -1)]
                return None if None in both else tuple(dict.fromkeys(both[0] + both[1]))
            gap = gap if goal.relation == "<=" else -gap
            if gap.count_ops() > _LARGE:
                return None
            gap = self._without_factors(gap)
            if gap.is_nonnegative or all(term.is_nonnegative for term in sp.Add.make_args(gap)):
                return ()
            if self._is_square(gap):
                return (Fact("a sum of squares of vectors", Condition(0, "<=", gap)),)
            if self.adds:
                found = shorter(gap, self, lambda square: self.proof(Condition(0, "<=", square), lemmas, core))
                if found is not None:
                    return found
            facts = self._facts(gap, lemmas)
            self.asked.append(len(facts))
            negated = Fact("negated", Condition(gap, "<=", -_GAP))
            polynomials = _Polynomials(self.signs, self.has_value, [negated, *facts])
            asked = [polynomials.fact(fact) for fact in (negated, *facts)]
        except (NotLinear, ValueError):
            return None
        if self.adds:
            needed = self._multiples(gap, asked[1:], polynomials)
            return None if needed is None else tuple(facts[place] for place in needed)
        if len(asked) > _MANY:
            return None
        found = satisfiable(asked, core=core, steps=STEPS if core else _STEPS)
        if found.answer != "no":
            return None
        return tuple(fact for fact, text in zip(facts, map(str, asked[1:]), strict=True) if text in found.core)

    def _multiples(self, gap, asked, polynomials) -> list[int] | None:
        """The places of the facts of which sums of multiples are the goal, which is linear in their terms."""
        terms = [*polynomials.symbols.values()]
        gap, _ = _never_negative(polynomials.relation(Condition(0, "<=", gap)))
        if not {*terms} & gap.free_symbols:
            return None
        places = [place for place, fact in enumerate(asked) if all(
            self.holds(c.right - c.left) and not c.strict for c in fact.premises if c.relation == "<=") and all(
            c.relation == "<=" for c in fact.premises)]
        known = [_never_negative(asked[place].conclusion) for place in places]
        given = [row for row in known if not {*terms} & row[0].free_symbols]
        found = multiples(gap, known, given, terms, self.holds, self._positive)
        return None if found is None else [places[i] for i in found]

    def _is_square(self, gap) -> bool:
        """Whether a quadratic form in vectors is a sum of squares, by elimination."""
        entries = sorted({e for e in gap.atoms(operators.dot)}, key=sp.default_sort_key)
        if not entries or any(part.has(sp.Sum) or part.has(operators.dot) for e in entries for part in e.args):
            return False
        rows = sorted({v for e in entries for v in e.args}, key=sp.default_sort_key)
        names = {e: sp.Dummy() for e in entries}
        try:
            linear = sp.Poly(gap.xreplace(names), *names.values())
        except sp.PolynomialError:
            return False
        if linear.total_degree() != 1 or linear.has(sp.Indexed):
            return False
        parts = {e: linear.coeff_monomial(name) for e, name in names.items()}
        matrix = [[parts.get(_entry(u, v), sp.Integer(0)) / (1 if u == v else 2) for v in rows] for u in rows]
        if not self.holds(linear.coeff_monomial(1)):
            return False
        while matrix:
            place = next((n for n, row in enumerate(matrix) if self._positive(row[n])), None)
            if place is None:
                return all(sp.simplify(entry) == 0 for row in matrix for entry in row)
            lead = matrix[place]
            matrix = [[sp.cancel(a - row[place] * b / lead[place]) for m, (a, b) in enumerate(zip(row, lead, strict=True))
                       if m != place] for n, row in enumerate(matrix) if n != place]
        return True

    def _positive(self, e) -> bool:
        if e.is_positive or e.is_nonpositive:
            return bool(e.is_positive)
        key = e, "positive"
        if key not in self.kept:
            self.kept[key] = self._none(Condition(e, "<=", 0))
        return self.kept[key]

    @staticmethod
    def _without_factors(gap):
        factors = sp.Mul.make_args(sp.factor_terms(gap))
        return expanded(sp.Mul(*(f for f in factors if not f.is_nonnegative)))

    def _facts(self, gap, lemmas) -> list[Fact]:
        waiting = [*self._normal(self.facts)]
        facts: list[Fact] = []
        formulas = {gap}
        for _ in range(3 if lemmas is OF_VECTORS else 2):  # what one lemma brings in, others are about
            occurring = {e for f in formulas for e in _terms(f)}
            related = [fact for fact in waiting if all(
                not (own := _terms(side)) or own & occurring for side in _sides(fact))]
            facts += related
            waiting = [fact for fact in waiting if fact not in related]
            formulas |= {side for fact in related for side in _sides(fact)}
            found = {e for f in formulas for e in f.atoms(sp.Indexed)}
            bases = {e.base for e in found}
            known = [family.first() for family in self.families if family.bases & bases]
            known += [fact for family in self.families for entry in sorted(found, key=str)
                      if not _bound(entry) for fact in family.facts_at(entry)]
            terms = Terms(formulas, self.normal, self.nonnegative_over, self.bounds, self.ranges)
            known += [self._with_values(fact) for lemma in lemmas for fact in lemma(terms)]
            new = [fact for fact in dict.fromkeys(self._normal(known)) if fact not in facts and not _trivial(fact)]
            facts += new
            more = {side for fact in new for side in _sides(fact)}
            if not lemmas or more <= formulas:
                break
            formulas |= more
        return facts

    def _with_values(self, fact: Fact) -> Fact:
        """A fact with premises for what its formulas need to have a value."""
        more = (c for side in _sides(fact) for c in self.lacking(side, fact.premises))
        return replace(fact, premises=(*fact.premises, *dict.fromkeys(more)))

    def _normal(self, facts: Iterable[Fact]) -> Iterator[Fact]:
        """Facts in normal form, but for long ones."""
        def sides(c):
            return replace(c, left=self.normal.number(c.left), right=self.normal.number(c.right))

        for fact in facts:
            if _long(fact):
                continue
            if fact not in self.normals:
                found = replace(fact, conclusion=sides(fact.conclusion), premises=tuple(map(sides, fact.premises)))
                self.normals[fact] = self.normals[found] = found
            if not _long(self.normals[fact]):
                yield self.normals[fact]


def _never_negative(c: Condition) -> tuple[sp.Expr, bool]:
    """An expression that is at least 0 where a condition holds, and whether it is 0."""
    gap = sp.sympify(c.left - c.right if c.relation == ">=" else c.right - c.left)
    return gap, c.relation == "=="


def _long(fact: Fact) -> bool:
    return any(sp.sympify(side).count_ops() > _LONG for side in _sides(fact))


def _terms(e) -> set[sp.Expr]:
    """The compound terms of a formula: everything besides symbols and numbers."""
    found = {t for t in e.atoms(sp.Indexed, sp.Sum, sp.Product, sp.Function, sp.Pow)
             if not (isinstance(t, sp.Pow) and t.exp.is_Number)}
    return {t.base if isinstance(t, sp.Pow) else t for t in found}


def _entry(u, v) -> sp.Expr:
    return operators.dot(*sorted((u, v), key=sp.default_sort_key))


def _bound(entry) -> bool:
    return any(s.name.startswith("$") for s in entry.free_symbols if s.is_Symbol)


def _trivial(fact) -> bool:
    gap = fact.conclusion.right - fact.conclusion.left
    return bool(fact.conclusion.relation == "<=" and gap.is_nonnegative and (gap.free_symbols or gap.is_Rational))


def _sides(fact) -> Iterator[sp.Expr]:
    for c in (fact.conclusion, *fact.premises):
        yield from (c.left, c.right)


_SIGNS = {"positive": {"positive": True}, "nonnegative": {"nonnegative": True}, "binary": {"nonnegative": True},
          "simplex": {"nonnegative": True}, "integer": {"real": True}, "real": {"real": True}}


class _Polynomials:
    """Formulas with a symbol for each term that is no sum, product or whole power of others. A power is one of another power
    only where that ``has_value``: ``b**(2*x)`` may have one where ``b**x`` has none."""

    def __init__(self, signs, has_value: Callable[[sp.Expr], bool], facts):
        self.signs, self.has_value, self.symbols = signs, has_value, {}
        powers = {p for fact in facts for side in _sides(fact) for p in side.atoms(sp.Pow) if not p.exp.is_Number}
        self.least: dict = {}
        for p in powers:
            key, whole = self._exponent(p)
            self.least[key] = min(self.least.get(key, whole), whole)

    @staticmethod
    def _exponent(p):
        """The base with the exponent but for its whole part, and that part."""
        whole = sum((a for a in sp.Add.make_args(p.exp) if a.is_Integer), sp.Integer(0))
        return (p.base, p.exp - whole), whole

    def fact(self, fact: Fact) -> Fact:
        return replace(fact, conclusion=self.relation(fact.conclusion), premises=tuple(map(self.relation, fact.premises)))

    def relation(self, c: Condition) -> Condition:
        difference = self(c.right - c.left)
        divided = any(p.exp.is_negative for p in difference.atoms(sp.Pow))
        above, below = sp.fraction(sp.together(difference)) if divided else (difference, sp.Integer(1))
        if below.is_positive:
            return Condition(0, c.sign, sp.expand(above))
        return Condition(self(c.left), c.sign, self(c.right))

    def __call__(self, e) -> sp.Expr:
        if isinstance(e, sp.Pow) and not e.exp.is_Number:
            key, whole = self._exponent(e)
            count, rest = key[1].as_content_primitive()
            if count.is_Integer and count > 1 and self.has_value(e.base**rest) and self.has_value(e.base**whole):
                return self.symbol(e.base**rest) ** count * self(e.base) ** whole
            least = e.base ** (key[1] + self.least[key])
            if not self.has_value(least):
                return self.symbol(e)
            return self.symbol(least) * self(e.base) ** (whole - self.least[key])
        if e is not sp.E and (not e.args or (e.is_number and e.is_algebraic)):
            return e
        if isinstance(e, sp.Add | sp.Mul | sp.Pow | sp.Max | sp.Min | sp.Abs):
            return e.func(*map(self, e.args))
        return self.symbol(e)

    def symbol(self, e) -> sp.Symbol:
        if e not in self.symbols:
            sign: dict = {"real": True}
            if isinstance(e, sp.Indexed):
                sign = _SIGNS[self.signs.get(str(e.base.label), "real")]
            elif isinstance(e, sp.exp) or e is sp.E or (isinstance(e, sp.Pow) and e.base.is_positive):
                sign = {"positive": True}
            elif isinstance(e, operators.norm) or (isinstance(e, operators.dot) and e.args[0] == e.args[1]):
                sign = {"nonnegative": True}
            self.symbols[e] = sp.Symbol(f"@{len(self.symbols)}", **sign)
        return self.symbols[e]
