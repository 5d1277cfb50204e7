"""Whether a claim follows from the steps of its proof, by arithmetic on the printed formulas.

A link has a claim and, as premises, the claims of its ``steps``, in the claim's own reading if they have it. Measured
quantities become free numbers (:mod:`verify.proofs.free_numbers`), with all definitions put in. The claim follows if no
numbers satisfy its hypotheses and every premise but violate it (by z3), or if multiples of the premises add up to it (by
linear algebra). It does not follow if z3 finds such numbers, which are shown as fractions. That says that the listed
premises do not give the claim by arithmetic, not that the claim is wrong.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain as joined
from itertools import islice, permutations, product

import sympy as sp

from bounds.language.claim import Claim, Condition, names_in
from bounds.registry.claims import claims_beside, find_claim
from verify.formulas.points import certainly_holds
from verify.proofs.facts import ORDERED, as_numbers, broken_ways, decided, facts_of, own_ranges, ranged, with_values
from verify.proofs.free_numbers import FreeNumbers
from verify.proofs.unrolled import unrolled
from verify.prove.satisfiable import satisfiable

__all__ = ["ANSWERS", "Link", "chain", "check_link", "link", "premises_of", "unusable"]

ANSWERS = ("follows", "does not follow", "not checkable")
_MOST_SIZES = 6  # choices of sizes that are tried in the search for numbers
_MOST_UNDECIDED = 2  # questions in that search that z3 may leave undecided


@dataclass(frozen=True)
class Link:
    """The answer on one link.

    If the claim does not follow, ``numbers`` (exact, by name) satisfy the hypotheses and premises and violate the claim;
    ``quantities`` gives the measured quantity that a name stands for. ``needs`` lists conditions and assumptions of premises
    that the claim itself does not have.
    """

    conclusion: str
    premises: tuple[str, ...]
    answer: str
    text: str
    numbers: dict[str, str] = field(default_factory=dict)
    quantities: dict[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()


def chain(claim: Claim) -> Iterator[Link]:
    """Check a claim's own link and, breadth first, the links of its steps; each claim once."""
    waiting, seen = [claim], set()
    while waiting:
        here = waiting.pop(0)
        if here.id not in seen and here.steps:
            seen.add(here.id)
            premises = premises_of(here)
            yield link(here, premises)
            waiting += premises


def premises_of(claim: Claim) -> list[Claim]:
    """Return the claims that a claim lists as its steps, in its own reading if they have it."""
    reading = claim.id.partition("@")[2]
    known = claims_beside(claim)
    return [find_claim(own if (own := f"{name}@{reading}") in known else name) for name in claim.steps]


def link(conclusion: Claim, premises: Sequence[Claim], search: bool = True) -> Link:
    """Check whether the conclusion follows from the premises, or from some of them.

    Premises that arithmetic cannot use are left out; then the answer is never that the conclusion does not follow. Without
    a ``search`` for numbers that break the link the answer is never that either.
    """
    names = tuple(p.id for p in premises)
    left_out = {p.id: reason for p in premises if (reason := unusable(p, conclusion))}
    reason = unusable(conclusion, conclusion) or (next(iter(left_out.values())) if len(left_out) == len(premises) else "")
    if reason:
        return Link(conclusion.id, names, "not checkable", reason)
    usable = [p for p in premises if p.id not in left_out]
    needs = tuple(_needs(conclusion, usable))
    values = _values_of_choices(conclusion, usable)
    conclusion = decided(conclusion)
    stated = [with_values(decided(p).statement, values) for p in usable]
    found = check_link(conclusion, stated, search)
    if found.answer != "follows" and (more := _recursions(conclusion, stated)):
        again = check_link(conclusion, [*stated, *more], search)
        if again.answer == "follows":
            found = replace(again, text=f"{again.text}, recursions unrolled")
    open_choice = next(joined(left_out.values(), _chosen(conclusion, usable, values)), "")
    if found.answer == "does not follow" and open_choice:
        return Link(conclusion.id, names, "not checkable", open_choice, needs=needs)
    unused = f", without {', '.join(left_out)}" if found.answer == "follows" and left_out else ""
    return replace(found, premises=names, text=found.text + unused, needs=needs)


def _recursions(conclusion: Claim, premises: Sequence[Condition]) -> list[Condition]:
    """What follows by induction of premises that are recursions."""
    numbers = FreeNumbers(conclusion)
    facts = [*facts_of(conclusion, numbers), *(Condition(small, "<=", large) for small, large in ORDERED)]

    def holds(condition):
        return _implied(numbers.condition(condition), facts)

    return [condition for premise in premises for condition in unrolled(premise, numbers, holds)]


def _known(conclusion) -> set[str]:
    return {v.name for v in conclusion.variables}.union(
        *(names_in(side) for c in (conclusion.statement, *conclusion.hypotheses) for side in (c.left, c.right)))


def _values_of_choices(conclusion, premises) -> dict[sp.Symbol, sp.Expr]:
    """Return the values that premises choose for variables that the conclusion does not have, if they agree."""
    known, found = _known(conclusion), {}
    for c in (c for premise in premises for c in premise.conditions if c.relation == "==" and not c.over):
        if c.left.is_Symbol and c.left.name not in known and names_in(c.right) <= known:
            found.setdefault(c.left, set()).add(c.right)
    return {s: next(iter(values)) for s, values in found.items()
            if len(values) == 1 and (next(iter(values)).is_positive or not s.is_positive)}


def _chosen(conclusion, premises, values) -> Iterator[str]:
    """Name the premises about all values of a variable that the conclusion does not have: a proof may choose one."""
    known = _known(conclusion) | {s.name for s in values}
    for premise in premises:
        mentioned = names_in(premise.statement.left) | names_in(premise.statement.right)
        for variable in premise.variables:
            if variable.name in mentioned - known:
                yield f"{premise.id} holds for every {variable.name}, and no step chooses one"


def unusable(claim, conclusion) -> str:
    """Why arithmetic cannot use a claim as a premise; empty if it can."""
    if claim.statement is None:
        return f"{claim.id} states no formula"
    if claim.exists is not None:
        return f"{claim.id} says that there is a {claim.exists.name}, and no step chooses one"
    if not claim.explicit:
        return f"{claim.id} has a hidden constant"
    other = claim.setting == "run" and claim.procedure != conclusion.procedure
    return f"{claim.id} is about runs of another procedure" if other else ""


def _needs(conclusion, premises) -> Iterator[str]:
    """Name the assumptions and conditions of premises that the conclusion neither has nor implies."""
    own = {a.id for a in conclusion.assumptions}
    numbers = FreeNumbers(conclusion)
    facts = facts_of(conclusion, numbers)
    for premise in premises:
        yield from (f"{premise.id}: {a.id}" for a in premise.assumptions
                    if a.id not in own and not _says_no_more(a, conclusion))
        for condition in premise.conditions:
            if condition in conclusion.hypotheses:
                continue
            if condition.over and not condition.strict and any(
                    c == replace(condition, relation="==") for c in conclusion.hypotheses):
                continue
            text = f"{premise.id}: {condition.left} {condition.relation} {condition.right}"
            indices = {triple[0] for triple in condition.over}
            said = numbers.condition(condition)
            ranged = condition.over and _symbols(said) & (indices | {*numbers.names.values()})
            if ranged or not _implied(said, facts):
                yield text


def _says_no_more(assumption, conclusion) -> bool:
    """Whether an assumption is nothing but conditions that the conclusion has among its hypotheses."""
    more = assumption.for_all_functions or assumption.everywhere
    return not more and {*assumption.conditions} <= {*conclusion.hypotheses}


def _implied(condition, facts) -> bool:
    return all(satisfiable([*facts, broken]).answer == "no" for broken in broken_ways(condition))


def check_link(conclusion: Claim, premises: Sequence[Condition], search: bool = True) -> Link:
    """Check whether the claim's statement follows from other statements and its own hypotheses, as numbers.

    Numbers that break the link are searched, where there is to be a ``search``, only if no two quantities share a measured
    part, since arithmetic does not know how these depend on each other.
    """
    for consequences in (True, False):  # z3 sometimes needs them, and is sometimes lost among them
        numbers = FreeNumbers(conclusion)
        facts, broken = as_numbers(conclusion, premises, numbers, consequences)
        found = _proved(facts, broken, numbers.condition(conclusion.statement), numbers)
        if found and found[0] == "follows" and conclusion.statement.strict:
            return Link(conclusion.id, (), "not checkable", "it is strict, and follows with equality alone")
        if found:
            return Link(conclusion.id, (), *found)
    reason = _not_comparable(conclusion, premises, numbers, facts, broken) if search else "no proof was found"
    if reason:
        return Link(conclusion.id, (), "not checkable", reason)
    return _search_numbers(conclusion, premises, set().union(
        *map(_symbols, (*facts, *broken)), *(e.free_symbols for e in numbers.names)))


def _proved(facts, broken, claim: Condition, numbers: FreeNumbers) -> tuple[str, str] | None:
    """Prove that the claim follows from the facts, or that these exclude each other; None if neither is found."""
    answers = [satisfiable([*facts, one]) for one in broken]
    if all(a.answer == "no" for a in answers):
        if all(any("gap" in c for c in a.core) for a in answers):
            return "follows", "no numbers satisfy the premises and violate the claim"
        return "not checkable", f"the hypotheses and premises exclude each other: {'; '.join(answers[0].core)}"
    multipliers = _by_multiples(facts, claim, numbers)
    if multipliers is None:
        return None
    return "follows", f"the premises, times {', '.join(map(str, multipliers))}, add up to it"


def _not_comparable(conclusion, premises, numbers: FreeNumbers, facts, broken) -> str:
    """Explain why numbers that satisfy the premises and violate the claim would prove nothing; empty if they would."""
    in_facts, in_claim = (set().union(*map(_symbols, part)) for part in (facts, broken))
    alone = [e for e, s in numbers.names.items() if s in in_claim - in_facts and e not in numbers.transcendental]
    if alone:
        return f"no premise mentions {alone[0]}"
    measured = _measured(conclusion.statement).union(*map(_measured, premises))
    for premise in (*premises, *(c for c in ranged(conclusion) if _measured(c) & measured)):
        own = own_ranges(conclusion, premise)
        if len(own) > 1 or {triple[0] for triple in own} & {triple[0] for triple in conclusion.statement.over}:
            ranges = " and ".join(f"{index} = {low} .. {high}" for index, low, high in own)
            return f"a premise or hypothesis has ranges of its own: {ranges}"
    if not _independent(numbers):
        return "its quantities have parts in common"
    lone = _lone(conclusion, premises, numbers)
    return "" if lone is None else f"nothing bounds {lone}, which a premise uses"


def _lone(conclusion, premises, numbers: FreeNumbers):
    """Return a quantity on the larger side of a premise about the claim that occurs nowhere else and may be as large as one
    likes, so that the premise is vacuous for numbers; None if there is none."""
    def quantities(*sides):
        return set().union(*(numbers.number(side).free_symbols for side in sides)) & set(numbers.names.values())

    claimed = quantities(conclusion.statement.left, conclusion.statement.right)
    sides = [(p.left, p.right) if p.relation == "<=" else (p.right, p.left) for p in premises
             if p.relation != "==" and not own_ranges(conclusion, p)]
    for small, large in sides:
        elsewhere = [part for pair in sides if pair != (small, large) for part in pair]
        alone = quantities(large) - claimed - quantities(small, *elsewhere)
        if alone and quantities(small) & claimed:
            return next(e for e, symbol in numbers.names.items() if symbol in alone)
    return None


def _independent(numbers: FreeNumbers) -> bool:
    """Whether no two quantities share a measured part, and no two are sums over one sequence, one of them a step later."""
    for one, other in permutations((e for e in numbers.names if isinstance(e, sp.Sum)), 2):
        if one.limits == other.limits and any(
                one.function.subs(index, index + 1) == other.function for index, _, _ in one.limits):
            return False
    parts = [numbers.parts(e) for e in numbers.names]
    return sum(map(len, parts)) == len(set().union(*parts))


def _measured(condition: Condition) -> set[str]:
    """Return the names of the indexed quantities that a condition mentions."""
    return {str(a.base.label) for side in (condition.left, condition.right) for a in side.atoms(sp.Indexed)}


def _by_multiples(facts, claim: Condition, numbers: FreeNumbers):
    """Find multiples of the facts (nonnegative ones of inequalities) whose sum implies the claim; None if none is found.

    The quantities must cancel; the facts on parameters alone must give the sign of the rest.
    """
    if claim.relation == "==" or not numbers.names:
        return None
    quantities = set(numbers.names.values())
    alone = [c for c in facts if not _symbols(c) & quantities]
    about = _that_can_cancel([c for c in facts if _symbols(c) & quantities], claim, quantities)
    quantities = sorted(quantities & _symbols(claim).union(*map(_symbols, about)), key=str)
    unknown = sp.symbols(f"multiple:{len(about)}", real=True)
    try:  # what each condition says is at least 0, or equal to 0
        goal, *left = (sp.Poly(c.left - c.right if c.relation == ">=" else c.right - c.left, *quantities)
                       for c in (claim, *about))
        rest = goal - sum((u * p for u, p in zip(unknown, left, strict=True)), sp.Poly(0, *quantities))
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
    """Drop the facts with a quantity that neither the claim nor another fact mentions."""
    while True:
        times = Counter(s for c in (*facts, claim, claim) for s in _symbols(c) & quantities)
        kept = [c for c in facts if all(times[s] > 1 for s in _symbols(c) & quantities)]
        if len(kept) == len(facts):
            return kept
        facts = kept


def _symbols(c: Condition) -> set[sp.Symbol]:
    return c.left.free_symbols | c.right.free_symbols


def _search_numbers(conclusion, premises, symbols: set[sp.Symbol]) -> Link:
    """Search exact numbers that break the link; those of the ``symbols`` that are sizes get small whole numbers."""
    sizes = sorted((s for s in symbols if s.is_integer and s.is_positive), key=str)
    indices = [triple[0] for triple in conclusion.statement.over]
    equal = ((size,) * len(sizes) for size in (2, 3, 1))
    reason, undecided = "neither numbers that break it nor a proof were found", 0
    for values in islice(joined(equal, product((2, 1, 3), repeat=len(sizes))), _MOST_SIZES):
        pins = dict(zip(sizes, map(sp.Integer, values), strict=True))
        pins |= dict.fromkeys(indices, sp.Integer(min(values, default=1) - 1))
        numbers = FreeNumbers(conclusion, pins)
        facts, broken = ([with_values(c, pins) for c in part] for part in as_numbers(conclusion, premises, numbers))
        if numbers.transcendental:
            reason = f"{numbers.transcendental[0]} is no rational function of its parameters"
            continue
        for one in broken:
            answer = satisfiable([*facts, one])
            undecided += answer.answer == "unknown"
            if undecided == _MOST_UNDECIDED:
                return Link(conclusion.id, (), "not checkable", reason)
            found = _fractions(answer.witness, pins) if answer.answer == "yes" else None
            if found is not None and all(certainly_holds(c, found) for c in (*facts, one)):  # computed again without z3
                told = _that_matter((*facts, one)) | {s.name for s in pins}
                shown = {name: str(value) for name, value in sorted(found.items()) if name in told - {"gap"}}
                quantities = {s.name: str(e) for e, s in numbers.names.items() if s.name in shown}
                text = "these numbers satisfy every premise and violate the claim"
                return Link(conclusion.id, (), "does not follow", text, shown, quantities)
    return Link(conclusion.id, (), "not checkable", reason)


def _that_matter(conditions) -> set[str]:
    """The names on which some condition depends. One that cancels, as values in between do where differences are added up,
    may have any number, and its own condition at each index need not admit the one that z3 gives."""
    return {s.name for c in conditions for s in sp.expand(c.left - c.right).free_symbols}


def _fractions(witness, pins) -> dict[str, Fraction] | None:
    try:
        return {name: Fraction(text) for name, text in witness.items() if not name.startswith("root")} | {
            s.name: Fraction(int(v)) for s, v in pins.items()}
    except ValueError:  # an algebraic number that is no fraction
        return None
