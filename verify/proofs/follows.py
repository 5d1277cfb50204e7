"""Whether a claim follows from the steps of its proof, by arithmetic on the printed formulas.

A link has a claim and its ``steps`` as premises, each in the claim's own reading where it has that. Measured quantities
become free numbers (``verify.free_numbers``); of a premise or hypothesis for every round there is its sum over the rounds.
z3 then looks for numbers that meet the claim's hypotheses and every premise and break the claim: there are none, and the
claim follows; or there are, and they are shown, as fractions. Where z3 has no answer, multiples of the premises that add up
to the claim are sought by linear algebra. That a claim does not follow says that its listed premises do not give it by
arithmetic, not that it is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain as joined
from itertools import combinations, islice, product

import sympy as sp

from bounds.language.claim import Claim, Condition, names_in
from bounds.registry.claims import all_claims, find_claim
from bounds.registry.papers import PAPERS, claims_of_paper
from verify.proofs.facts import as_numbers, broken_ways, decided, facts_of, own_ranges, ranged, with_values
from verify.proofs.free_numbers import FreeNumbers
from verify.prove.satisfiable import satisfiable

__all__ = ["ANSWERS", "Link", "chain", "check_link", "link", "premises_of"]

ANSWERS = ("follows", "does not follow", "not checkable")
_MOST_SIZES = 6  # of sizes that are tried for numbers that break a link
_MOST_UNDECIDED = 2  # questions about them that z3 may give up


@dataclass(frozen=True)
class Link:
    """What is found of one link.

    ``numbers`` (exact, by name) meet hypotheses and premises and break the claim, where it does not follow; ``quantities``
    says which measured quantity a name stands for; ``needs`` are conditions and assumptions of premises that the claim
    itself does not have.
    """

    conclusion: str
    premises: tuple[str, ...]
    answer: str
    text: str
    numbers: dict[str, str] = field(default_factory=dict)
    quantities: dict[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


def chain(claim: Claim) -> Iterator[Link]:
    """Every link below a claim, its own first; each claim once."""
    waiting, seen = [claim], set()
    while waiting:
        here = waiting.pop(0)
        if here.id not in seen and here.steps:
            seen.add(here.id)
            premises = premises_of(here)
            yield link(here, premises)
            waiting += premises


def premises_of(claim: Claim) -> list[Claim]:
    """The claims that a claim lists as its steps, in its own reading where they have that one."""
    reading = claim.id.partition("@")[2]
    known = claims_of_paper(claim.paper) if claim.paper in PAPERS else all_claims()
    return [find_claim(own if (own := f"{name}@{reading}") in known else name) for name in claim.steps]


def link(conclusion: Claim, premises: Sequence[Claim]) -> Link:
    """Whether the conclusion follows from the premises.

    It may follow from a part of them; without premises of which arithmetic cannot speak nothing is said to not follow.
    """
    names = tuple(p.id for p in premises)
    left_out = {p.id: reason for p in premises if (reason := _no_arithmetic(p) or _other_runs(p, conclusion))}
    reason = _no_arithmetic(conclusion) or (next(iter(left_out.values())) if len(left_out) == len(premises) else "")
    if reason:
        return Link(conclusion.id, names, "not checkable", reason)
    usable = [p for p in premises if p.id not in left_out]
    needs = tuple(_needs(conclusion, usable))
    values = _values_of_choices(conclusion, usable)
    statements = [with_values(decided(p).statement, values) for p in usable]
    conclusion = decided(conclusion)
    found = check_link(conclusion, statements)
    if found.answer == "not checkable":
        found = check_link(conclusion, statements, put_in=True)
    for put_in in (False, True) if found.answer != "follows" else ():
        with_more = check_link(conclusion, statements, put_in, more=True)
        if with_more.answer == "follows":
            found = with_more
            break
    open_choice = next(joined(left_out.values(), _chosen(conclusion, usable, values)), "")
    if found.answer == "does not follow" and open_choice:
        return Link(conclusion.id, names, "not checkable", open_choice, needs=needs)
    unused = f", without {', '.join(left_out)}" if found.answer == "follows" and left_out else ""
    return Link(conclusion.id, names, found.answer, found.text + unused, found.numbers, found.quantities, needs)


def _known(conclusion) -> set[str]:
    return {v.name for v in conclusion.variables}.union(
        *(names_in(side) for c in (conclusion.statement, *conclusion.hypotheses) for side in (c.left, c.right)))


def _values_of_choices(conclusion, premises) -> dict[sp.Symbol, sp.Expr]:
    """What a premise takes for a variable that the conclusion does not have, and that others leave open."""
    known, found = _known(conclusion), {}
    for c in (c for premise in premises for c in premise.conditions if c.relation == "==" and not c.over):
        if c.left.is_Symbol and c.left.name not in known and names_in(c.right) <= known:
            found.setdefault(c.left, set()).add(c.right)
    return {s: next(iter(values)) for s, values in found.items()
            if len(values) == 1 and (next(iter(values)).is_positive or not s.is_positive)}


def _chosen(conclusion, premises, values) -> Iterator[str]:
    """Which premises hold for every value of a variable that the conclusion does not have, so that one may be chosen."""
    known = _known(conclusion) | {s.name for s in values}
    for premise in premises:
        spoken = names_in(premise.statement.left) | names_in(premise.statement.right)
        for variable in premise.variables:
            if variable.name in spoken - known:
                yield f"{premise.id} holds for every {variable.name}, and which one is meant is not said"


def _no_arithmetic(claim) -> str:
    if claim.statement is None:
        return f"{claim.id} states no formula"
    return "" if claim.explicit else f"{claim.id} has a hidden constant"


def _other_runs(premise, conclusion) -> str:
    other = premise.setting == "run" and premise.procedure != conclusion.procedure
    return f"{premise.id} is about runs of another procedure" if other else ""


def _needs(conclusion, premises) -> Iterator[str]:
    """What premises suppose and the conclusion does not, and its own conditions on numbers do not imply."""
    own = {a.id for a in conclusion.assumptions}
    numbers = FreeNumbers(conclusion)
    facts = facts_of(conclusion, numbers)
    for premise in premises:
        yield from (f"{premise.id}: {a.id}" for a in premise.assumptions if a.id not in own)
        for condition in premise.conditions:
            if condition in conclusion.hypotheses:
                continue
            text = f"{premise.id}: {condition.left} {condition.relation} {condition.right}"
            if condition.over or not _implied(numbers.condition(condition), facts):
                yield text


def _implied(condition, facts) -> bool:
    return all(satisfiable([*facts, broken]).answer == "no" for broken in broken_ways(condition))


def check_link(conclusion: Claim, premises: Sequence[Condition], put_in: bool = False, more: bool = False) -> Link:
    """Whether the claim's statement follows from other statements and its own hypotheses, as numbers.

    ``put_in``: with definitions put in, rather than as quantities of their own. ``more``: also with what premises say in the
    mean, and at the times and over the ranges of which the claim speaks; then only whether it follows is told. Numbers that
    break the link are searched only where no two quantities have a measured part in common, since then arithmetic alone does
    not tell how they are tied.
    """
    facts, broken, numbers = as_numbers(conclusion, premises, FreeNumbers(conclusion, put_in), more)
    spoken = set().union(*(c.left.free_symbols | c.right.free_symbols for c in facts)) if facts else set()
    quantities = set(numbers.names.values())
    answers = [satisfiable([*facts, one]) for one in broken]
    if all(a.answer == "no" for a in answers):
        if not all(any("gap" in c for c in a.core) for a in answers):
            core = "; ".join(answers[0].core)
            return Link(conclusion.id, (), "not checkable", f"the hypotheses and premises exclude each other: {core}")
        return Link(conclusion.id, (), "follows", "no numbers meet the premises and break the claim")
    multipliers = _by_multiples(facts, numbers.condition(conclusion.statement), numbers)
    if multipliers is not None:
        return Link(conclusion.id, (), "follows", f"the premises, times {', '.join(map(str, multipliers))}, add up to it")
    if more:
        return Link(conclusion.id, (), "not checkable", "")
    alone = [e for e, s in numbers.names.items() if s in quantities - spoken and e not in numbers.transcendental
             and any(s in b.left.free_symbols | b.right.free_symbols for b in broken)]
    if alone:
        return Link(conclusion.id, (), "not checkable", f"no premise speaks of {alone[0]}")
    spoken_of = _measured(conclusion.statement).union(*map(_measured, premises))
    about_them = [c for c in ranged(conclusion) if _measured(c) & spoken_of]
    for premise in (*premises, *about_them):
        own = own_ranges(conclusion, premise)
        if len(own) > 1 or {triple[0] for triple in own} & {triple[0] for triple in conclusion.statement.over}:
            ranges = " and ".join(f"{index} = {low} .. {high}" for index, low, high in own)
            return Link(conclusion.id, (), "not checkable", f"a premise or hypothesis has ranges of its own: {ranges}")
    if not _independent(conclusion, numbers):
        return Link(conclusion.id, (), "not checkable", "its quantities have parts in common")
    lone = _lone(conclusion, premises, numbers)
    if lone is not None:
        return Link(conclusion.id, (), "not checkable", f"nothing bounds {lone}, of which a premise makes use")
    return _search_numbers(conclusion, premises, put_in)


def _lone(conclusion, premises, numbers: FreeNumbers):
    """A quantity on the larger side of a premise about the claim that stands nowhere else, so that the premise says nothing;
    None if there is none."""
    def spoken(*sides):
        return set().union(*(numbers.number(side).free_symbols for side in sides)) & set(numbers.names.values())

    claimed = spoken(conclusion.statement.left, conclusion.statement.right)
    sides = [(p.left, p.right) if p.relation == "<=" else (p.right, p.left) for p in premises
             if p.relation != "==" and not own_ranges(conclusion, p)]
    for small, large in sides:
        elsewhere = [part for pair in sides if pair != (small, large) for part in pair]
        alone = spoken(large) - claimed - spoken(small, *elsewhere)
        if alone and spoken(small) & claimed:
            return next(e for e, symbol in numbers.names.items() if symbol in alone)
    return None


def _shifted(one, other) -> bool:
    """Whether two sums are of one sequence, read at different times."""
    if not (isinstance(one, sp.Sum) and isinstance(other, sp.Sum) and one.limits == other.limits):
        return False
    return any(one.function.subs(index, index + 1) == other.function or other.function.subs(index, index + 1) == one.function
               for index, _, _ in one.limits)


def _independent(conclusion, numbers) -> bool:
    """Whether the formulas of any two quantities have no measured part in common, nor are sums of one sequence."""
    if any(_shifted(one, other) for one, other in combinations(numbers.names, 2)):
        return False
    inner = FreeNumbers(conclusion, put_in=True)
    parts = []
    for e in numbers.names:
        made_of = inner.number(e).free_symbols
        parts.append(set().union(*(inner.parts(q) for q, s in inner.names.items() if s in made_of)))
    return sum(map(len, parts)) == len(set().union(*parts))


def _measured(condition: Condition) -> set[str]:
    """Names of the indexed quantities of which a condition speaks."""
    return {str(a.base.label) for side in (condition.left, condition.right) for a in side.atoms(sp.Indexed)}


def _by_multiples(facts, claim: Condition, numbers: FreeNumbers):
    """Multiples of the facts, never negative ones of inequalities, whose sum is at most the claim; None if none is found.

    The quantities must cancel; what is left of the parameters alone must be of the right sign by the facts about them.
    """
    if claim.relation == "==" or not numbers.names:
        return None
    quantities = set(numbers.names.values())
    alone = [c for c in facts if not _spoken(c) & quantities]
    about = _that_can_cancel([c for c in facts if _spoken(c) & quantities], claim, quantities)
    quantities = sorted(quantities & _spoken(claim).union(*map(_spoken, about)), key=str)
    unknown = sp.symbols(f"multiple:{len(about)}", real=True)
    spans = [_at_least(c) for c in about]
    try:
        left = [sp.Poly(span, *quantities) for span in spans]
        rest = sp.Poly(_at_least(claim), *quantities) - sum(
            (u * p for u, p in zip(unknown, left, strict=True)), sp.Poly(0, *quantities))
    except sp.PolynomialError:
        return None
    still = [c for monomial, c in rest.terms() if any(monomial)]
    if not unknown or not still:
        return None
    (solution, *_) = list(sp.linsolve(still, *unknown)) or [None]
    if solution is None:
        return None
    free = dict.fromkeys(unknown, sp.Integer(0))
    found = [sp.factor(value.xreplace(free)) for value in solution]
    left_over = sp.together(rest.coeff_monomial(1).xreplace(dict(zip(unknown, found, strict=True))))
    signs = [m for m, c in zip(found, about, strict=True) if c.relation != "=="]
    if all(_implied(Condition(e, ">=", 0), alone) for e in (*signs, sp.factor(left_over)) if not e.is_nonnegative):
        return [m for m in found if m != 0]
    return None


def _that_can_cancel(facts, claim: Condition, quantities) -> list[Condition]:
    """The facts without those with a quantity of which neither the claim nor another fact speaks."""
    while True:
        times = Counter(s for c in (*facts, claim, claim) for s in _spoken(c) & quantities)
        kept = [c for c in facts if all(times[s] > 1 for s in _spoken(c) & quantities)]
        if len(kept) == len(facts):
            return kept
        facts = kept


def _spoken(c: Condition) -> set[sp.Symbol]:
    return c.left.free_symbols | c.right.free_symbols


def _at_least(c: Condition):
    """What a condition says to be at least 0, or equal to it."""
    return c.left - c.right if c.relation == ">=" else c.right - c.left


def _search_numbers(conclusion, premises, put_in) -> Link:
    """Exact numbers that break the link, with sizes that are whole numbers."""
    facts, broken, numbers = as_numbers(conclusion, premises, FreeNumbers(conclusion, put_in))
    spoken = {s for c in (*facts, *broken) for side in (c.left, c.right) for s in side.free_symbols}
    spoken |= {s for e in numbers.names for s in e.free_symbols}
    sizes = sorted((s for s in spoken if s.is_integer and s.is_positive), key=str)
    indices = [triple[0] for triple in conclusion.statement.over]
    equal = ((size,) * len(sizes) for size in (2, 3, 1))
    reason, undecided = "no exact numbers were found that break it, nor a proof that there are none", 0
    for values in islice(joined(equal, product((2, 1, 3), repeat=len(sizes))), _MOST_SIZES):
        pins = dict(zip(sizes, map(sp.Integer, values), strict=True))
        pins |= dict.fromkeys(indices, sp.Integer(min(values, default=1) - 1))
        facts, broken, numbers = as_numbers(conclusion, premises, FreeNumbers(conclusion, put_in, pins))
        facts, broken = ([Condition(c.left.xreplace(pins), c.relation, c.right.xreplace(pins)) for c in part]
                         for part in (facts, broken))
        if numbers.transcendental:
            reason = f"{numbers.transcendental[0]} is no rational function of its parameters"
            continue
        for one in broken:
            answer = satisfiable([*facts, one])
            undecided += answer.answer == "unknown"
            if undecided == _MOST_UNDECIDED:
                return Link(conclusion.id, (), "not checkable", reason)
            found = _fractions(answer.witness, pins) if answer.answer == "yes" else None
            if found is not None and _meets(found, [*facts, one]):
                shown = {name: str(value) for name, value in sorted(found.items()) if name != "gap"}
                return Link(conclusion.id, (), "does not follow", "these numbers meet every premise and break the claim",
                            shown, _said(numbers, " ".join(shown)))
    return Link(conclusion.id, (), "not checkable", reason)


def _fractions(witness, pins) -> dict[str, Fraction] | None:
    try:
        return {name: Fraction(text) for name, text in witness.items() if not name.startswith("root")} | {
            s.name: Fraction(int(v)) for s, v in pins.items()}
    except ValueError:  # an algebraic number that is no fraction
        return None


def _meets(numbers, conditions) -> bool:
    """Whether the numbers meet every condition, checked again without z3."""
    def value(side):
        put = {s: sp.Rational(numbers[s.name].numerator, numbers[s.name].denominator) for s in side.free_symbols}
        return side.xreplace(put)

    for c in conditions:
        gap = value(c.right) - value(c.left)
        if not {"<=": gap.is_nonnegative, ">=": gap.is_nonpositive, "==": gap.is_zero}[c.relation]:
            return False
    return True


def _said(numbers: FreeNumbers, text: str) -> dict[str, str]:
    """The quantities whose names stand in a text."""
    spoken = set(text.replace("*", " ").replace("(", " ").replace(")", " ").replace("/", " ").split())
    return {s.name: str(e) for e, s in numbers.names.items() if s.name in spoken}
