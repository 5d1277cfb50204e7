"""A claim and its premises as conditions on free numbers, and the ways in which the claim can fail."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import sympy as sp

from bounds.language import words
from bounds.language.claim import Claim, Condition
from verify.proofs.free_numbers import FreeNumbers, at_least, resolved

__all__ = ["ORDERED", "as_numbers", "broken_ways", "decided", "facts_of", "own_ranges", "ranged", "with_values"]

_TRACKERS = sp.Symbol("trackers", integer=True, positive=True)
ORDERED = ((words.mu, words.L), (words.participants, words.clients), (_TRACKERS, words.participants))
_GAP = sp.Symbol("gap", positive=True)
_RANDOM = (words.E_round, words.objective, words.objective_grad, words.norm2, words.norm, words.dot, sp.Indexed)


def decided(claim: Claim) -> Claim:
    """Replace max and min over times in the statement by the term that the claim's sizes select."""
    least, s = _least(claim), claim.statement
    over = tuple((index, resolved(low, least), resolved(high, least)) for index, low, high in s.over)
    return replace(claim, statement=Condition(resolved(s.left, least), s.sign, resolved(s.right, least), over))


def _least(claim: Claim) -> dict[sp.Symbol, int]:
    """Return the least values of sizes and of the statement's indices, as far as the claim gives them as numbers."""
    least = {}
    for c in claim.hypotheses:
        if not c.over and c.relation == ">=" and c.left.is_Symbol and c.left.is_integer and c.right.is_Integer:
            least[c.left] = int(c.right)
    for index, low, _ in claim.statement.over:
        low = resolved(low, least)
        least |= {index: int(low)} if low.is_Integer else {}
    return least


def with_values(condition: Condition, values: Mapping[sp.Expr, sp.Expr]) -> Condition:
    """Substitute expressions in both sides of a condition."""
    return Condition(condition.left.xreplace(values), condition.relation, condition.right.xreplace(values), condition.over)


def broken_ways(condition: Condition) -> list[Condition]:
    """Return the ways in which a condition fails, each by a positive gap."""
    low = Condition(condition.left + _GAP, "<=", condition.right)
    high = Condition(condition.left, ">=", condition.right + _GAP)
    return {"<=": [high], ">=": [low], "==": [low, high]}[condition.relation]


def facts_of(conclusion: Claim, numbers: FreeNumbers) -> list[Condition]:
    """Return the claim's hypotheses on numbers, and the ranges of its indices."""
    facts = []
    for condition in conclusion.hypotheses:
        if not condition.over and not defines(conclusion, condition):
            facts.append(numbers.condition(condition))
    for index, low, high in conclusion.statement.over:
        facts += [Condition(index, ">=", numbers.number(low)), Condition(index, "<=", numbers.number(high))]
    return facts


def ranged(conclusion: Claim) -> list[Condition]:
    """Return the claim's hypotheses for all values of an index, except those that define a symbol."""
    return [c for c in conclusion.hypotheses if c.over and not defines(conclusion, c)]


def defines(claim: Claim, condition: Condition) -> bool:
    """Whether a hypothesis of a claim defines a name, which is put in everywhere."""
    return any(condition is one for one in claim.defining.values())


def own_ranges(conclusion: Claim, premise: Condition) -> list:
    """Return the ranges (index, low, high) of the premise that the conclusion's statement does not have."""
    return [triple for triple in premise.over if triple not in conclusion.statement.over]


def as_numbers(conclusion: Claim, premises: Sequence[Condition], numbers: FreeNumbers, consequences: bool = False,
               ) -> tuple[list[Condition], list[Condition]]:
    """Return the facts about the free numbers, and the ways in which the conclusion fails.

    A premise for all values of an index enters as its sum over them. With ``consequences``, also its mean, its sums over
    parts of the range, and its instances at the conclusion's times.
    """
    facts = facts_of(conclusion, numbers)
    for premise in (*premises, *ranged(conclusion)):
        own = own_ranges(conclusion, premise)
        for stated in (premise, *(_means(conclusion, premise, numbers) if consequences else ())):
            if not own:
                facts.append(numbers.condition(stated))
            elif len(own) == 1:
                ranges = (own[0], *(_parts_of_range(conclusion, own[0]) if consequences else ()))
                sums = ((_sum(stated.left, triple), _sum(stated.right, triple)) for triple in ranges)
                facts += [numbers.condition(Condition(left, stated.relation, right)) for left, right in sums]
                facts += map(numbers.condition, _at_times(conclusion, premise, stated, own[0]) if consequences else ())
    broken = broken_ways(numbers.condition(conclusion.statement))
    free = {s for c in (*facts, *broken) for side in (c.left, c.right) for s in side.free_symbols}
    facts += [Condition(small, "<=", large) for small, large in ORDERED if {small, large} <= free]
    if words.F_star in free:
        facts += [Condition(words.F_star, "<=", s) for e, s in numbers.names.items()
                  if isinstance(e.args[0] if isinstance(e, words.E) else e, words.objective)]
    return list(dict.fromkeys(facts)), broken


def _sum(expression: sp.Expr, triple) -> sp.Expr:
    """Return the sum of an expression over a range; 0 where every term is."""
    return expression if expression == 0 else sp.Sum(expression, triple)


def _means(conclusion: Claim, premise: Condition, numbers: FreeNumbers) -> Iterator[Condition]:
    """Yield a premise about every outcome in the means that the conclusion mentions."""
    if not premise.left.has(*_RANDOM) and not premise.right.has(*_RANDOM):
        return
    sides = [numbers.written_out(side) for side in (conclusion.statement.left, conclusion.statement.right)]
    means = {(e.func, e.args[1:]) for side in sides for e in side.atoms(words.E, words.E_round)}
    for func, rest in sorted(means, key=str):
        if func is words.E_round or not rest:
            yield Condition(func(premise.left, *rest), premise.relation, func(premise.right, *rest), premise.over)


def _parts_of_range(conclusion: Claim, triple) -> Iterator:
    """Yield the ranges of sums in the conclusion that are parts of another range."""
    index, low, high = triple
    sums = {limit for side in (conclusion.statement.left, conclusion.statement.right) for a in side.atoms(sp.Sum)
            for limit in a.limits}
    for _, first, last in sorted(sums, key=str):
        if (first, last) != (low, high) and at_least(first, low) and at_least(high, last):
            yield index, first, last


def _at_times(conclusion: Claim, premise: Condition, stated: Condition, triple) -> Iterator[Condition]:
    """Yield a premise for all values of an index at those values at which it mentions quantities of the conclusion."""
    index, low, high = triple
    least, ranges = _least(conclusion), {i: (first, last) for i, first, last in conclusion.statement.over}
    entries = [a for side in (conclusion.statement.left, conclusion.statement.right) for a in side.atoms(sp.Indexed)]
    times = set()
    for a in {a for side in (premise.left, premise.right) for a in side.atoms(sp.Indexed)}:
        for other in entries if index in a.free_symbols else ():
            for own, theirs in zip(a.indices, other.indices, strict=False) if a.base == other.base else ():
                step = sp.expand(own).coeff(index)
                if step.is_Integer and step != 0:
                    times.add(sp.expand(index - (own - theirs) / step))
    for time in sorted(times, key=str):
        inner = {i for i in time.free_symbols if i in ranges}
        if (time.has(index) and index not in ranges) or any(time.coeff(i) != 1 for i in inner):
            continue
        if at_least(time, low, least) and at_least(high, time.xreplace({i: ranges[i][1] for i in inner}), least):
            yield Condition(stated.left.subs(index, time), stated.relation, stated.right.subs(index, time))
