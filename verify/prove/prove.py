"""Symbolic proofs of claims about plain numbers, free vectors and losses at points, for all numbers and sizes and in every
dimension.

Claims about losses at points become claims about numbers and vectors first (:mod:`verify.prove.losses_at_points`). Formulas
are brought into a normal form (:mod:`verify.prove.normal`). What is left of right - left must then follow from hypotheses
and lemmas about the powers, sums and lengths that occur (:mod:`verify.prove.lemmas`): by real arithmetic that z3 decides, or
as a sum of multiples (:mod:`verify.prove.multipliers`). Where a size is small, its first values may be looked at one by one.

Nothing is proven of a statement unless both sides certainly have a value, for all numbers that the hypotheses admit
(:mod:`bounds.language.values`).
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim, Condition, Variable, parts_of_size
from bounds.language.values import Need, changed, needs
from verify.prove.context import Context, Family
from verify.prove.lemmas import ADDED, SEARCHED
from verify.prove.losses_at_points import NotAtPoints, at_points
from verify.prove.normal import outermost
from verify.prove.real import never_negative
from verify.prove.satisfiable import Fact

__all__ = ["Proof", "prove"]

_NUMBERS = ("positive", "nonnegative", "real", "integer", "vector", "binary", "simplex")
_FIRST = 3  # values of a whole number that are looked at one by one


@dataclass(frozen=True)
class Proof:
    """A proof: the method in one line, and what follows from which facts, as text."""

    method: str
    expression: str


def prove(claim: Claim) -> Proof | None:
    """A proof of the claim; None if these methods find none, which proves nothing."""
    if claim.statement is None or claim.setting == "run":
        return None
    if claim.setting == "point":
        try:
            translated, needed = at_points(claim)
        except NotAtPoints:
            return None
        found = _by_arithmetic(translated, needed, (True, False))
        return found and replace(found, method=f"for every federation in every dimension, {found.method}")
    sides = (claim.statement.left, claim.statement.right, *(end for _, *ends in claim.statement.over for end in ends))
    needed = [need for side in sides for need in needs(side, _entries(claim), claim.definitions)]
    needed += [Need("whole", tuple(ends)) for _, *ends in claim.statement.over]
    return _by_arithmetic(claim, needed, (False, True))


def _by_arithmetic(claim: Claim, needed: Sequence[Need], ways: Sequence[bool]) -> Proof | None:
    """A proof, if all that is ``needed`` for the statement to have a value is certain; ``ways`` say in which order sums of
    multiples of facts are looked for, and z3 is asked (False)."""
    if any(v.domain not in _NUMBERS for v in claim.variables) or _two_meanings(claim):
        return None
    question = None
    for written in (False, True):
        asked = _Question(claim, written)
        if asked.unknown:
            return None
        if not any(asked.context.lacks(changed(need, asked.inserted)) for need in dict.fromkeys(needed)):
            question = asked
            if found := _at_once(question, ways):
                return found
        if question and question.goal.strict:
            return None
        if not asked.has_families:
            break
    for variable in claim.variables if question else ():
        if variable.domain == "integer" and not variable.indices and _is_length(question, variable):
            for way in (_by_induction, _by_cases):
                if found := way(question, variable):
                    return found
    return None


def _at_once(question: "_Question", ways: Sequence[bool]) -> Proof | None:
    """A proof for all sizes at once."""
    if found := _by_algebra(question):
        return found
    for adds, lemmas in ((way, each) for way in ways for each in (ADDED if way else SEARCHED)):
        used = None if question.goal.strict else replace(question.context, adds=adds).proof(question.goal, lemmas)
        if used is not None:
            return _proof(question.goal, used)
    return None


def _two_meanings(claim: Claim) -> set[str]:
    """Names of indices that are also those of something else."""
    def bound(*formulas):
        return {index.name for e in formulas for part in sp.preorder_traversal(e) for index in (
            [limit[0] for limit in part.limits] if isinstance(part, sp.Sum | sp.Product) else
            [part.args[part.binds]] if isinstance(part, operators.Operator) and part.binds is not None else [])}

    rules = claim.used_definitions().values()
    ranges = {index.name for c in claim.relations for index, *_ in c.over} | {i.name for rule in rules for i in rule.indices}
    statement = claim.statement
    inner = bound(statement.left, statement.right, *(rule.formula for rule in rules))
    named = {v.name for v in claim.variables} | {*claim.constants, *claim.definitions}
    return ((bound(*claim.formulas) | ranges) & named) | (inner & {index.name for index, *_ in statement.over})


def _families(claim: Claim) -> dict[str, Condition]:
    """Hypotheses that say what the entries of families of numbers are, by the families' names."""
    named = {v.name for v in claim.variables}
    return {name: c for name, c in claim.defining.items() if isinstance(c.left, sp.Indexed)
            and c.left.indices == tuple(index for index, *_ in c.over) and name not in named}


def _entries(claim: Claim, read: Callable[[sp.Expr], sp.Expr] = sp.sympify) -> dict[str, tuple]:
    """The first and last index along each axis of the arrays that a claim has, or whose entries its hypotheses give."""
    found = {v.name: tuple((sp.Integer(0), read(sp.Symbol(name)) + more - 1) for name, more in (
        parts_of_size(size) for _, size in v.indices)) for v in claim.variables}
    given = {name: (c.left.indices, [ends for _, *ends in c.over]) for name, c in _families(claim).items()}
    return found | {name: tuple(tuple(map(read, ends)) for ends in axes) for name, (indices, axes) in given.items()
                    if not any(end.has(*indices) for ends in axes for end in ends)}


def _proof(goal: Condition, used: Iterable[Fact], how: str = "") -> Proof:
    facts = dict.fromkeys(used)
    names = ", ".join(dict.fromkeys(fact.name for fact in facts))
    said = "; from ".join(map(str, (Fact("", goal), *facts)))
    return Proof(f"real arithmetic{how}" + (f" with: {names}" if names else ""), said)


def _by_algebra(question: "_Question") -> Proof | None:
    """A proof of a goal about single numbers alone: an identity, or what z3 says of it as it is written."""
    goal, context = question.goal, question.context
    gap = goal.right - goal.left
    if gap.atoms(sp.Indexed) or any(context.normal.is_vector(s) for s in gap.free_symbols):
        return None
    if goal.relation == "==":
        gap = _with_closed_forms(context.normal.number(gap), context)
        gap = gap.xreplace({part: sp.Dummy(real=True) for part in gap.atoms(sp.Sum, sp.Product)})
        numbers = {s: sp.Integer(sp.prime(3 + i)) for i, s in enumerate(sorted(gap.free_symbols, key=str))}
        value = gap.subs(numbers)
        same = not (value.is_Rational and value != 0) and sp.simplify(gap) == 0
        return Proof("symbolic identity: the difference simplifies to 0", _text(goal)) if same else None
    if gap.atoms(sp.Sum, sp.Product):
        return None
    known = [fact.conclusion for fact in context.facts if not any(
        side.atoms(sp.Indexed, sp.Sum, sp.Product, sp.Function) - side.atoms(sp.exp, sp.Max, sp.Min, sp.Abs)
        for side in (fact.conclusion.left, fact.conclusion.right))]
    method = never_negative(gap if goal.relation == "<=" else -gap, known, goal.strict)
    return Proof(method, _text(goal)) if method else None


def _with_closed_forms(e, context: Context) -> sp.Expr:
    """The formula with closed forms of sums and products. One is taken if it has a value up to every index, is 0 or 1 where
    the range is empty, and changes by the last term with every step."""
    put = {}
    for part in e.atoms(sp.Sum, sp.Product):
        index, low, high, body = outermost(part)
        if body.has(sp.Sum, sp.Product) or not context.holds(high - low + 1):
            continue
        inside, last = context.within(low - 1, high)
        closed = sp.gammasimp(part.func(body, (index, low, last)).doit())
        if closed.has(sp.Sum, sp.Product) or not inside.has_value(closed):
            continue
        before, term = closed.subs(last, last - 1), body.subs(index, last)
        empty, step = (0, before + term) if isinstance(part, sp.Sum) else (1, before * term)
        if sp.simplify(closed.subs(last, low - 1) - empty) == 0 and sp.simplify(closed - step) == 0:
            put[part] = closed.subs(last, high)
    return e.xreplace(put)


def _text(goal: Condition) -> str:
    return f"{goal.left} {goal.sign} {goal.right}"


def _is_length(question, variable: Variable) -> bool:
    """Whether a variable occurs in a power, or in the range of a sum or of an index."""
    own, statement = question.symbols[variable.name], (question.goal.left, question.goal.right)
    places = [part for side in statement for p in side.atoms(sp.Pow) if not p.exp.is_Number for part in p.args]
    places += [high for _, high in question.context.ranges.values()]
    places += [end for side in statement for s in side.atoms(sp.Sum, sp.Product) for _, *ends in s.limits for end in ends]
    places += [high for f in question.context.families for *_, high in f.over]
    return any(place.has(own) for place in places)


class _Question:
    """A claim as a goal and a context; ``written`` inserts what hypotheses say that families of numbers are."""

    def __init__(self, claim: Claim, written: bool):
        self.symbols = {v.name: _symbol(v) for v in claim.variables if not v.indices and v.domain != "vector"}
        self.scalars = {
            c.left: c.right for name, c in claim.defining.items() if c.left.is_Symbol and name not in self.symbols}
        self.families = _families(claim)
        self.written, self.claim = written, claim
        self.has_families = bool(self.families)
        facts = [_domain(self.symbols[v.name], ">=", v.low) for v in claim.variables
                 if v.domain == "integer" and not v.indices]
        facts += [_domain(self.symbols[v.name], "<=", v.high) for v in claim.variables
                  if v.domain == "integer" and not v.indices and v.high is not None]
        facts += [_domain(self.symbols[v.name], "<", v.below) for v in claim.variables if v.below is not None]
        families = []
        for c in claim.hypotheses:
            if c.relation == "==" and c.left in self.scalars and self.scalars[c.left] is c.right:
                continue
            if written and c in self.families.values():
                continue
            sides = [self.inserted(side) for side in (c.left, c.right)]
            if c.over:
                over = tuple((index, self.inserted(low), self.inserted(high)) for index, low, high in c.over)
                families.append(Family(Condition(sides[0], c.sign, sides[1]), over))
            else:
                facts.append(Fact("a hypothesis", Condition(sides[0], c.sign, sides[1])))
        for v in claim.variables:
            if v.domain in ("binary", "simplex") and v.indices:
                families.append(_at_most_one(v, self.inserted))
            if v.domain == "simplex" and v.indices:
                (c, over), = [(f.condition, f.over) for f in families[-1:]]
                facts.append(_domain(sp.Sum(c.left, *over), "==", 1))
        for index, low, _ in claim.statement.over:
            sign = True if self.inserted(low).is_nonnegative else None
            self.symbols[index.name] = sp.Symbol(index.name, integer=True, nonnegative=sign)
        for index, low, high in claim.statement.over:
            own = self.symbols[index.name]
            facts += [_domain(own, ">=", self.inserted(low)), _domain(own, "<=", self.inserted(high))]
        vectors = frozenset(v.name for v in claim.variables if v.domain == "vector")
        signs = {v.name: v.domain for v in claim.variables if v.indices}
        ranges = {self.symbols[index.name]: (self.inserted(low), self.inserted(high))
                  for index, low, high in claim.statement.over}
        self.context = Context(vectors, signs, facts, families, ranges=ranges, entries=_entries(claim, self.inserted))
        left, right = self.inserted(claim.statement.left), self.inserted(claim.statement.right)
        self.goal = Condition(left, claim.statement.sign, right)
        known = {*self.symbols, *claim.constants, *(v.name for v in claim.variables)}
        self.unknown = {s for side in (left, right) for s in side.free_symbols if s.is_Symbol and s.name not in known}

    def inserted(self, expression) -> sp.Expr:
        """The expression with definitions inserted, in the symbols of the variables."""
        claim = self.claim
        for _ in range(10):
            replaced = expression.replace(
                lambda e: e.is_Symbol and e.name in claim.definitions and not claim.definitions[e.name].indices,
                lambda e: claim.definitions[e.name].formula,
            ).subs(self.scalars)
            if self.written:
                replaced = replaced.replace(lambda e: isinstance(e, sp.Indexed) and e.base.label.name in self.families,
                                            self._entry)
            if replaced == expression:
                break
            expression = replaced
        free = {name: sp.Symbol(name, real=True) for name in claim.constants if name not in self.symbols}
        expression = expression.replace(lambda e: e.is_Symbol and e.name in free, lambda e: free[e.name])
        expression = expression.replace(lambda e: isinstance(e, sp.Indexed),
                                        lambda e: sp.IndexedBase(e.base.label.name)[e.indices])
        return expression.replace(lambda e: e.is_Symbol and e.name in self.symbols, lambda e: self.symbols[e.name])

    def _entry(self, entry):
        c = self.families[entry.base.label.name]
        return c.right.subs(dict(zip(c.left.indices, entry.indices, strict=True)), simultaneous=True)


def _at_most_one(v: Variable, inserted) -> Family:
    sizes = [(index, *parts_of_size(size)) for index, size in v.indices]
    over = tuple((sp.Symbol(index, integer=True), sp.Integer(0), inserted(sp.Symbol(name)) + more - 1)
                 for index, name, more in sizes)
    return Family(Condition(sp.IndexedBase(v.name)[tuple(index for index, *_ in over)], "<=", 1), over)


def _domain(left, relation, right) -> Fact:
    return Fact("a domain", Condition(left, relation, right))


def _symbol(variable):
    """The symbol of a variable, with the sign that its domain implies."""
    whole = variable.domain == "integer"
    above = variable.domain == "positive" or (whole and variable.low >= 1)
    below = variable.domain == "real" or (whole and variable.low < 0)
    return sp.Symbol(variable.name, integer=whole or None, positive=above or None,
                     nonnegative=None if below else True, real=True)


def _by_induction(question: _Question, variable: Variable) -> Proof | None:
    """A proof by induction on a size that occurs in no hypothesis but as the last index of a range."""
    own, context, goal = question.symbols[variable.name], question.context, question.goal
    if not any(high.has(own) for f in context.families for *_, high in f.over):
        return None
    range_of_own = [_domain(own, ">=", variable.low), _domain(own, "<=", variable.high or 0)]
    others = [c for c in context.facts if c not in range_of_own]
    if any(f.conclusion.left.has(own) or f.conclusion.right.has(own) for f in others):
        return None
    for f in context.families:
        fixed = (f.condition.left, f.condition.right, *(low for _, low, _ in f.over))
        if any(e.has(own) for e in fixed) or any(sp.diff(high, own) not in (0, 1) for *_, high in f.over):
            return None
    first = _with(context, goal, {own: sp.Integer(variable.low)})
    if first is None:
        return None
    step = [(own, own + 1)]
    families = [Family(f.condition, tuple((i, low, high.subs(step)) for i, low, high in f.over)) for f in context.families]
    later = Condition(goal.left.subs(step), goal.relation, goal.right.subs(step))
    facts = [range_of_own[0], *others, Fact("the statement before", goal)]
    after = replace(context, facts=facts, families=families, entries=_substitute_ranges(context.entries, step), kept={},
                    normals={})
    found = after.proof(later)
    return None if found is None else _proof(goal, (*first, *found), f", by induction on {variable.name}")


def _by_cases(question: _Question, variable: Variable) -> Proof | None:
    """A proof for each of the first values of a whole number, and one for all larger ones."""
    own, used = question.symbols[variable.name], []
    for number in range(variable.low, variable.low + _FIRST):
        found = _with(question.context, question.goal, {own: sp.Integer(number)})
        if found is None:
            return None
        used += found
    larger = [*question.context.facts, _domain(own, ">=", variable.low + _FIRST)]
    found = replace(question.context, facts=larger, kept={}, normals={}).proof(question.goal)
    last = variable.low + _FIRST - 1
    how = f", {variable.name} = {variable.low} to {last} one by one"
    return None if found is None else _proof(question.goal, (*used, *found), how)


def _with(context: Context, goal: Condition, put) -> tuple[Fact, ...] | None:
    """A proof in which numbers stand for symbols."""
    def substitute(c):
        return Condition(c.left.subs(put), c.relation, c.right.subs(put))

    families = [Family(substitute(f.condition), tuple((i, low.subs(put), high.subs(put)) for i, low, high in f.over))
                for f in context.families]
    ranges = {index: (low.subs(put), high.subs(put)) for index, (low, high) in context.ranges.items()}
    facts = [replace(f, conclusion=substitute(f.conclusion)) for f in context.facts]
    there = replace(context, facts=facts, families=families, ranges=ranges, kept={}, normals={},
                    entries=_substitute_ranges(context.entries, put))
    return there.proof(substitute(goal))


def _substitute_ranges(entries, put) -> dict:
    """The ranges of the indices of arrays where numbers or other symbols stand for some."""
    return {name: tuple((low.subs(put), high.subs(put)) for low, high in axes) for name, axes in entries.items()}


