"""Whether a claim follows from the steps of its proof, by arithmetic on the printed formulas.

A link has a claim and, as premises, the claims of its ``steps``, in the claim's own reading if they have it. Measured
quantities become free numbers (:mod:`verify.proofs.abstraction`), with all definitions put in. The claim follows if no
numbers satisfy its hypotheses and every premise but violate it (by z3), or if multiples of the premises add up to it (by
linear algebra). It does not follow if there are small sizes and exact numbers at which every premise holds at every index
and the claim fails (:mod:`verify.proofs.refuting_numbers`). That says that the listed premises do not give the claim by
arithmetic, not that the claim is wrong. Everything else is not checkable, with the reason.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain as joined

import sympy as sp

from bounds.language.claim import Claim, Condition, Variable, names_in
from bounds.language.on_samples import speaks_of_samples
from bounds.registry.claims import claims_beside, find_claim
from verify.claims.related import block_of, options_of
from verify.proofs.abstraction import Abstraction, at_least
from verify.proofs.facts import as_numbers, broken_ways, decided, facts_of, ordered, powers_compared, with_values
from verify.proofs.refuting_numbers import RefutingNumbers, find_refuting_numbers
from verify.proofs.unrolled import unrolled
from verify.prove.defined import part_without_value
from verify.prove.satisfiable import Fact, satisfiable

__all__ = ["ANSWERS", "Link", "chain", "check_link", "link", "premises_of", "unusable"]

ANSWERS = ("follows", "does not follow", "not checkable")


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
    """Return the claims that a claim lists as its steps: of their readings, those with most of the claim's options beside
    the options that the list names. None of them is the claim itself. Raises LookupError for an unknown step.
    """
    known = {name: (block_of(name), options_of(name)) for name in claims_beside(claim) if name != claim.id}
    options, names = options_of(claim.id), []
    for name in claim.steps:
        block, named = block_of(name), options_of(name)
        readings = (other for other, (its, of) in known.items() if its == block and named <= of <= named | options)
        names.append(max(readings, key=lambda other: (len(known[other][1]), other), default=name))
    return [*map(find_claim, names)]


def link(conclusion: Claim, premises: Sequence[Claim]) -> Link:
    """Check whether the conclusion follows from the premises, or from some of them.

    Premises that arithmetic cannot use are left out; then the answer is never that the conclusion does not follow. Without
    a ``search`` for numbers that break the link the answer is never that either.
    """
    names = tuple(p.id for p in premises)
    if why := _unreadable(conclusion):
        return Link(conclusion.id, names, "not checkable", why)
    left_out = {p.id: reason for p in premises if (reason := unusable(p, conclusion) or _without_value(p, conclusion))}
    reason = (unusable(conclusion, conclusion) or _without_value(conclusion, conclusion)
              or (next(iter(left_out.values()), "") if len(left_out) == len(premises) else ""))
    if reason:
        return Link(conclusion.id, names, "not checkable", reason)
    usable = [p for p in premises if p.id not in left_out]
    needs = tuple(_needs(conclusion, usable))
    values = _values_of_choices(conclusion, usable) | _fixed_sizes(conclusion)
    conclusion = decided(replace(conclusion, statement=with_values(conclusion.statement, _fixed_sizes(conclusion))))
    stated = [with_values(decided(p).statement, values) for p in usable]
    open_choice = next(joined(left_out.values(), _premises_with_a_choice(conclusion, usable, values)), "")
    found = check_link(conclusion, stated, not open_choice)
    if found.answer == "not checkable" and open_choice:
        found = replace(found, text=open_choice)
    unused = f", without {', '.join(left_out)}" if found.answer == "follows" and left_out else ""
    return replace(found, premises=names, text=found.text + unused, needs=needs)


def _fixed_sizes(claim: Claim) -> dict[sp.Symbol, sp.Integer]:
    """Return the whole numbers that hypotheses give to sizes."""
    return {c.left: c.right for c in claim.hypotheses
            if c.relation == "==" and not c.over and c.left.is_Symbol and c.left.is_integer and c.right.is_Integer}


def _without_value(premise: Claim, conclusion: Claim) -> str:
    """Say which condition for a value of a premise, or of the claim itself, may fail under the claim's hypotheses."""
    numbers = Abstraction(conclusion)
    ranges = replace(conclusion, statement=replace(conclusion.statement, over=premise.statement.over))
    stated = numbers.condition(premise.statement)
    named = numbers.transcendental
    facts = facts_of(ranges, numbers)
    part = part_without_value((stated.left, stated.right), facts) or part_without_value(named, facts, numbers.number)
    shown = part
    for e, s in sorted(numbers.names.items(), key=lambda item: -len(item[1].name)):
        shown = shown.replace(s.name, str(e))
    return f"{premise.id}: {shown}" if part else ""


def _recursions(conclusion: Claim, premises: Sequence[Condition]) -> list[Condition]:
    """The conditions that follow by induction from premises that are recursions."""
    numbers = Abstraction(conclusion)
    facts = [*facts_of(conclusion, numbers), *ordered(conclusion, numbers)]

    def holds(condition):
        return _implied(numbers.condition(condition), facts)

    return [condition for premise in premises for condition in unrolled(premise, numbers, facts, holds)]


def _names_of(conclusion) -> set[str]:
    return {v.name for v in conclusion.variables}.union(
        *(names_in(side) for c in (conclusion.statement, *conclusion.hypotheses) for side in (c.left, c.right)))


def _values_of_choices(conclusion, premises) -> dict[sp.Symbol, sp.Expr]:
    """Return the values that premises choose for variables that the conclusion does not have, if they agree."""
    known, found = _names_of(conclusion), {}
    for c in (c for premise in premises for c in premise.conditions if c.relation == "==" and not c.over):
        if c.left.is_Symbol and c.left.name not in known and names_in(c.right) <= known:
            found.setdefault(c.left, set()).add(c.right)
    return {s: next(iter(values)) for s, values in found.items()
            if len(values) == 1 and (next(iter(values)).is_positive or not s.is_positive)}


def _premises_with_a_choice(conclusion, premises, values) -> Iterator[str]:
    """Name the premises about all values of a variable that the conclusion does not have: a proof may choose one."""
    known = _names_of(conclusion) | {s.name for s in values}
    for premise in premises:
        mentioned = names_in(premise.statement.left) | names_in(premise.statement.right)
        for variable in premise.variables:
            if variable.name in mentioned - known:
                yield f"{premise.id} holds for every {variable.name}, and no step chooses one"


def unusable(claim, conclusion) -> str:
    """The reason why arithmetic cannot use a claim as a premise; empty if it can."""
    if claim.statement is None:
        return f"{claim.id} states no formula"
    if claim.exists is not None:
        return f"{claim.id} says that there is a {claim.exists.name}, and no step chooses one"
    if not claim.explicit:
        return f"{claim.id} has a hidden constant"
    if claim.setting in {"run", conclusion.setting} - {"algebra"} and claim.procedure != conclusion.procedure:
        return f"{claim.id} is about {claim.setting}s of another procedure"
    if _alike(claim) and not _alike(conclusion):
        return f"{claim.id} is about clients of equal weights"
    if name := _narrower(claim, conclusion):
        return f"{claim.id} admits fewer values of {name}"
    own = conclusion.definitions
    for name, rule in claim.used_definitions().items():
        if name in own and (own[name].indices, own[name].formula) != (rule.indices, rule.formula):
            return f"{claim.id} means something else by {name}"
    return _unreadable(claim)


def _alike(claim: Claim) -> bool:
    """Whether a claim's procedure gives all clients the same weight."""
    return claim.procedure is not None and claim.procedure.equal_weights


def _unreadable(claim: Claim) -> str:
    """Return why free numbers cannot stand for what a claim speaks of; empty if they can. Times are read as whole numbers of
    at least 0, and what is known at the start has no mean, which is wrong of random data sets."""
    if speaks_of_samples(claim):
        return f"{claim.id} is about samples"
    conditions = [claim.statement] if claim.statement is not None else []
    for index, low, _ in (triple for c in (*conditions, *claim.hypotheses) for triple in c.over):
        if not at_least(low, sp.Integer(0)):
            return f"{claim.id}: {index} may be below 0"
    for v in claim.variables:
        if v.domain == "integer" and (v.indices or v.low < 0):
            return f"{claim.id}: {v.name} {'is an array of whole numbers' if v.indices else 'may be below 0'}"
    return ""


def _narrower(premise: Claim, claim: Claim) -> str:
    """Return a variable of which a premise admits fewer values than the claim does; empty if there is none."""
    own = {v.name: v for v in claim.variables}
    for v in premise.variables:
        if v.name in own and not _admits(v, own[v.name]):
            return v.name
        if v.name not in own and v.high is not None:
            return v.name
    sides = premise.statement.left, premise.statement.right
    positive = {s.name for side in sides for s in side.free_symbols if s.is_positive} - {v.name for v in premise.variables}
    return next((v.name for v in claim.variables if v.name in positive and v.domain in ("real", "nonnegative")), "")


def _admits(v: Variable, w: Variable) -> bool:
    """Whether a variable may be all that another may be."""
    wider = {"real": ("real", "nonnegative", "positive"), "nonnegative": ("nonnegative", "positive")}
    if w.domain not in wider.get(v.domain, (v.domain,)) or v.indices != w.indices:
        return False
    if v.below is not None and (w.below is None or w.below > v.below):
        return False
    return v.domain != "integer" or (v.low <= w.low and (v.high is None or (w.high is not None and w.high <= v.high)))


def _needs(conclusion, premises) -> Iterator[str]:
    """Name the assumptions and conditions of premises that the conclusion neither has nor implies."""
    own = {a.id for a in conclusion.assumptions}
    numbers = Abstraction(conclusion)
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
            text = f"{premise.id}: {condition.left} {condition.sign} {condition.right}"
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

    Recursions among the premises are unrolled. Numbers that break the link are searched only with ``search``.
    """
    for stated, how in ((premises, ""), ([*premises, *_recursions(conclusion, premises)], ", recursions unrolled")):
        if how and len(stated) == len(premises):
            continue
        for consequences in (True, False):  # z3 sometimes needs them, and is sometimes lost among them
            numbers = Abstraction(conclusion)
            facts, broken = as_numbers(conclusion, stated, numbers, consequences)
            found = _proved(facts, broken, numbers.condition(conclusion.statement), numbers)
            if found:
                return Link(conclusion.id, (), found[0], found[1] + how)
    found = find_refuting_numbers(conclusion, premises) if search else "no proof was found"
    if isinstance(found, RefutingNumbers):
        text = "these numbers satisfy every premise and violate the claim"
        return Link(conclusion.id, (), "does not follow", text, found.numbers, found.quantities)
    return Link(conclusion.id, (), "not checkable", found)


def _proved(facts, broken, claim: Condition, numbers: Abstraction) -> tuple[str, str] | None:
    """Prove that the claim follows from the facts, or that these exclude each other; None if neither is found."""
    of_powers = powers_compared(numbers)
    answers = [satisfiable([*facts, *of_powers, one]) for one in broken]
    if all(a.answer == "no" for a in answers):
        if all(str(Fact("", one)) in a.core for one, a in zip(broken, answers, strict=True)):
            return "follows", "no numbers satisfy the premises and violate the claim"
        return "not checkable", f"the hypotheses and premises exclude each other: {'; '.join(answers[0].core)}"
    multipliers = _by_multiples(facts, claim, numbers)
    if multipliers is None:
        return None
    return "follows", f"the premises, times {', '.join(map(str, multipliers))}, add up to it"


def _by_multiples(facts, claim: Condition, numbers: Abstraction):
    """Find multiples of the facts (nonnegative ones of inequalities) whose sum implies the claim; None if none is found.

    The quantities must cancel; the facts on parameters alone must give the sign of the rest, and no divisor may be 0.
    """
    if claim.relation == "==" or claim.strict or not numbers.names:
        return None
    quantities = set(numbers.names.values())
    alone = [c for c in facts if not _symbols(c) & quantities]
    about = _that_can_cancel([c for c in facts if _symbols(c) & quantities], claim, quantities)
    quantities = sorted(quantities & _symbols(claim).union(*map(_symbols, about)), key=str)
    if not quantities:
        return None
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
    divisors = {sp.fraction(sp.together(e))[1] for e in (*found, left_over)}
    if any(satisfiable([*alone, Condition(d, "==", 0)]).answer != "no" for d in divisors if not d.is_nonzero):
        return None
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
