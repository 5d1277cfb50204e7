"""A claim and its premises as facts about numbers: what holds of them, and the ways in which the claim can fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import sympy as sp

from bounds.language import words
from bounds.language.claim import Claim, Condition
from verify.proofs.free_numbers import FreeNumbers, at_least, resolved

__all__ = ["as_numbers", "broken_ways", "decided", "facts_of", "own_ranges", "ranged", "with_values"]

_TRACKERS = sp.Symbol("trackers", integer=True, positive=True)
_ORDERED = ((words.mu, words.L), (words.participants, words.clients), (_TRACKERS, words.participants))
_GAP = sp.Symbol("gap", positive=True)
_BY_CHANCE = (words.E_round, words.objective, words.objective_grad, words.norm2, words.norm, words.dot, sp.Indexed)


def decided(claim: Claim) -> Claim:
    """The claim whose statement has no largest or smallest of several times, where its sizes decide which it is."""
    least, s = _least(claim), claim.statement
    over = tuple((index, resolved(low, least), resolved(high, least)) for index, low, high in s.over)
    return replace(claim, statement=Condition(resolved(s.left, least), s.relation, resolved(s.right, least), over))


def _least(claim: Claim) -> dict[sp.Symbol, int]:
    """The least values of sizes, and of the indices of the statement, as far as the claim gives them as numbers."""
    least = {}
    for c in claim.hypotheses:
        if not c.over and c.relation == ">=" and c.left.is_Symbol and c.left.is_integer and c.right.is_Integer:
            least[c.left] = int(c.right)
    for index, low, _ in claim.statement.over:
        low = resolved(low, least)
        least |= {index: int(low)} if low.is_Integer else {}
    return least


def with_values(condition: Condition, values: Mapping[sp.Expr, sp.Expr]) -> Condition:
    """The condition with other expressions in place of some, by their own."""
    return Condition(condition.left.xreplace(values), condition.relation, condition.right.xreplace(values), condition.over)


def broken_ways(condition: Condition) -> list[Condition]:
    """Ways in which a condition fails, each with a gap above 0."""
    low = Condition(condition.left + _GAP, "<=", condition.right)
    high = Condition(condition.left, ">=", condition.right + _GAP)
    return {"<=": [high], ">=": [low], "==": [low, high]}[condition.relation]


def facts_of(conclusion: Claim, numbers: FreeNumbers) -> list[Condition]:
    """The claim's hypotheses on numbers, ranges of its indices, and what is so of every federation."""
    facts = []
    for condition in conclusion.hypotheses:
        put_in = condition.relation == "==" and (isinstance(condition.left, sp.Indexed) or condition.left in numbers.values)
        if not condition.over and not put_in:
            facts.append(numbers.condition(condition))
    for index, low, high in conclusion.statement.over:
        facts += [Condition(index, ">=", numbers.number(low)), Condition(index, "<=", numbers.number(high))]
    return facts


def ranged(conclusion: Claim) -> list[Condition]:
    """The claim's hypotheses for every value of an index, without those that say what a symbol is."""
    return [c for c in conclusion.hypotheses
            if c.over and not (c.relation == "==" and (isinstance(c.left, sp.Indexed) or c.left.is_Symbol))]


def own_ranges(conclusion: Claim, premise: Condition) -> list:
    """The ranges (index, low, high) of the premise's indices that are not those of the conclusion's statement."""
    ranges = {triple[0]: triple for triple in conclusion.statement.over}
    return [triple for triple in premise.over if ranges.get(triple[0]) != triple]


def as_numbers(conclusion: Claim, premises: Sequence[Condition], numbers: FreeNumbers, more: bool = False,
               ) -> tuple[list[Condition], list[Condition], FreeNumbers]:
    """Facts, the ways in which the conclusion fails, and the numbers of which both speak.

    ``more``: also what premises say in the mean, at the conclusion's times and over parts of their ranges, and with
    definitions of quantities put in.
    """
    facts = facts_of(conclusion, numbers)
    for premise in (*premises, *ranged(conclusion)):
        own = own_ranges(conclusion, premise)
        for stated in (premise, *(_means(conclusion, premise, numbers) if more else ())):
            if not own:
                facts.append(numbers.condition(stated))
            elif len(own) == 1:  # for every value of an index: so is the sum
                ranges = (own[0], *(_parts_of_range(conclusion, own[0]) if more else ()))
                facts += [_summed(stated, triple, numbers) for triple in ranges]
                facts += [numbers.condition(one) for one in _at_times(conclusion, premise, stated, own[0])] if more else []
    broken = broken_ways(numbers.condition(conclusion.statement))
    if more:
        meant = numbers.definitions_of_names()
        facts, broken = ([with_values(c, meant) for c in part] for part in (facts, broken))
    free = {s for c in (*facts, *broken) for side in (c.left, c.right) for s in side.free_symbols}
    facts += [Condition(small, "<=", large) for small, large in _ORDERED if {small, large} <= free]
    if words.F_star in free:
        facts += [Condition(words.F_star, "<=", s) for e, s in numbers.names.items()
                  if isinstance(e.args[0] if isinstance(e, words.E) else e, words.objective)]
    return list(dict.fromkeys(facts)), broken, numbers


def _summed(condition: Condition, triple, numbers) -> Condition:
    sides = (numbers.number(sp.Sum(side, triple)) for side in (condition.left, condition.right))
    return Condition(next(sides), condition.relation, next(sides))


def _means(conclusion: Claim, premise: Condition, numbers) -> Iterator[Condition]:
    """What holds for every outcome of chance holds in the means of which the conclusion speaks."""
    if not premise.left.has(*_BY_CHANCE) and not premise.right.has(*_BY_CHANCE):
        return
    spoken = [numbers.written_out(side) for side in (conclusion.statement.left, conclusion.statement.right)]
    means = {(e.func, e.args[1:]) for side in spoken for e in side.atoms(words.E, words.E_round)}
    for func, rest in sorted(means, key=str):
        if func is words.E_round or not rest:
            yield Condition(func(premise.left, *rest), premise.relation, func(premise.right, *rest), premise.over)


def _parts_of_range(conclusion: Claim, triple) -> Iterator:
    """Ranges of sums in the conclusion that lie within another range, of the same index."""
    index, low, high = triple
    sums = {limit for side in (conclusion.statement.left, conclusion.statement.right) for a in side.atoms(sp.Sum)
            for limit in a.limits}
    for _, first, last in sorted(sums, key=str):
        if (first, last) != (low, high) and at_least(first, low) and at_least(high, last):
            yield index, first, last


def _at_times(conclusion: Claim, premise: Condition, stated: Condition, triple) -> Iterator[Condition]:
    """What is stated for every value of an index, at the values at which it speaks of the conclusion's quantities."""
    index, low, high = triple
    least, ranges = _least(conclusion), {i: (first, last) for i, first, last in conclusion.statement.over}
    spoken = [a for side in (conclusion.statement.left, conclusion.statement.right) for a in side.atoms(sp.Indexed)]
    times = set()
    for a in {a for side in (premise.left, premise.right) for a in side.atoms(sp.Indexed)}:
        for other in spoken if index in a.free_symbols else ():
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
