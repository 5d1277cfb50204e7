"""A claim and its premises as conditions on free numbers, and the ways in which the claim can fail."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, permutations, starmap

import sympy as sp

from bounds.language import operators
from bounds.language.claim import DISTINCT, Claim, Condition, Variable, parts_of_size
from bounds.language.names import row_of, symbol
from verify.proofs.abstraction import Abstraction, at_least, resolved
from verify.prove.satisfiable import Fact

__all__ = ["ORDERED", "as_numbers", "bounds_of_variables", "broken_ways", "decided", "defines", "facts_of", "ordered",
           "own_ranges", "powers_compared", "ranged", "signs_of_definitions", "with_values"]

_TRACKERS = sp.Symbol("trackers", integer=True, positive=True)
ORDERED = ((operators.mu, operators.L), (operators.participants, operators.clients), (_TRACKERS, operators.participants),
           (symbol("priority_clients"), operators.clients))
_GAP = sp.Symbol("gap", positive=True)
_RANDOM = (operators.E_round, operators.objective, operators.objective_grad, operators.norm2, operators.norm, operators.dot,
           sp.Indexed)


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
    """Substitute expressions in both sides of a condition, and in the ends of its ranges."""
    over = tuple((index, low.xreplace(values), high.xreplace(values)) for index, low, high in condition.over)
    return Condition(condition.left.xreplace(values), condition.sign, condition.right.xreplace(values), over)


def ordered(claim: Claim, numbers: Abstraction) -> list[Condition]:
    """Return the orders of ``ORDERED`` that a claim's setting gives: of constants that bound the clients' curvatures, and of
    sizes of runs in which nobody is drawn twice."""
    largest, least = numbers.curvatures
    procedure = claim.procedure
    distinct = claim.setting == "run" and procedure is not None and procedure.sampling in ("full", *DISTINCT)
    given = {operators.mu: (least, largest) == (operators.mu, operators.L), operators.participants: distinct,
             symbol("priority_clients"): claim.setting in ("run", "point")}
    return [Condition(small, "<=", large) for small, large in ORDERED if given.get(small)]


def broken_ways(condition: Condition) -> list[Condition]:
    """Return the ways in which a condition fails, each by a positive gap, or by nothing where it is strict."""
    if condition.strict:
        return [Condition(condition.left, {"<=": ">=", ">=": "<="}[condition.relation], condition.right)]
    low = Condition(condition.left + _GAP, "<=", condition.right)
    high = Condition(condition.left, ">=", condition.right + _GAP)
    return {"<=": [high], ">=": [low], "==": [low, high]}[condition.relation]


def facts_of(conclusion: Claim, numbers: Abstraction) -> list[Condition]:
    """Return the claim's hypotheses on numbers, and the ranges of its indices."""
    own = (*conclusion.hypotheses, *signs_of_definitions(conclusion, numbers), *bounds_of_variables(conclusion))
    facts = [numbers.condition(c) for c in own if not c.over and not defines(conclusion, c)]
    for index, low, high in conclusion.statement.over:
        facts += [Condition(index, ">=", numbers.number(low)), Condition(index, "<=", numbers.number(high))]
    return facts


def signs_of_definitions(conclusion: Claim, numbers: Abstraction) -> Iterator[Condition]:
    """Yield the signs of symbols and entries for which formulas stand, where the formulas do not show them. A number, as in
    ``eps == 0``, may be one that the sign of the symbol excludes."""
    for c in conclusion.hypotheses:
        if defines(conclusion, c) and not c.right.is_number:
            positive, nonnegative = numbers.declared_signs(c.left)
            if positive and not c.right.is_positive:
                yield Condition(c.right, ">", 0, c.over)
            elif nonnegative and not c.right.is_nonnegative:
                yield Condition(c.right, ">=", 0, c.over)


def bounds_of_variables(claim: Claim) -> Iterator[Condition]:
    """Yield the ends of the claim's whole and real variables, that binary ones are 0 or 1, and that the entries of a
    simplex sum to one."""
    parts = [part for c in claim.relations for part in (c.left, c.right, *sum(c.over, ()))]
    symbols = {s.name: s for part in parts for s in part.free_symbols if s.is_Symbol}
    bases = {str(a.base.label): a.base for part in parts for a in part.atoms(sp.Indexed)}
    for v in claim.variables:
        if v.indices:
            if v.domain == "simplex" and v.name in bases:
                yield _sums_to_one(v, bases[v.name], symbols)
        elif v.name in symbols:
            own = symbols[v.name]
            if v.domain == "integer":
                yield Condition(own, ">=", v.low)
            if v.domain == "binary":
                yield Condition(own * (1 - own), "==", 0)
            if v.high is not None:
                yield Condition(own, "<=", v.high)
            if v.below is not None:
                yield Condition(own, "<", v.below)


def _sums_to_one(v: Variable, base: sp.IndexedBase, symbols: Mapping[str, sp.Symbol]) -> Condition:
    ranges = []
    for name, size in v.indices:
        of, more = parts_of_size(size)
        known = symbol(of) if row_of(of) is not None else sp.Symbol(of, integer=True, positive=True)
        ranges.append((sp.Symbol(name, integer=True), sp.Integer(0), symbols.get(of, known) + more - 1))
    *outer, last = ranges
    return Condition(sp.Sum(base[tuple(index for index, _, _ in ranges)], last), "==", 1, tuple(outer))


def ranged(conclusion: Claim) -> list[Condition]:
    """Return the claim's hypotheses for all values of an index, except those that define a symbol."""
    return [c for c in conclusion.hypotheses if c.over and not defines(conclusion, c)]


def defines(claim: Claim, condition: Condition) -> bool:
    """Whether a hypothesis of a claim defines a name, which is put in everywhere."""
    return any(condition is one for one in claim.defining.values())


def own_ranges(conclusion: Claim, premise: Condition) -> list:
    """Return the ranges (index, low, high) of the premise that the conclusion's statement does not have."""
    return [triple for triple in premise.over if triple not in conclusion.statement.over]


def as_numbers(conclusion: Claim, premises: Sequence[Condition], numbers: Abstraction, consequences: bool = False,
               ) -> tuple[list[Condition], list[Condition]]:
    """Return the facts about the free numbers, and the ways in which the conclusion fails.

    A premise for all values of an index enters as its sum over them. With ``consequences``, also its mean, its sums over
    parts of the range, and its instances at the conclusion's times.
    """
    facts = facts_of(conclusion, numbers)
    for premise in (*premises, *ranged(conclusion)):
        own = own_ranges(conclusion, premise)
        if any(index in end.free_symbols for index, *_ in own for _, *ends in premise.over for end in ends):
            continue  # the values of one index depend on another one, which is summed over
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
    facts += [c for c in ordered(conclusion, numbers) if _symbols(c) <= free]
    facts += numbers.known_of_quantities() if operators.F_star in free else []
    return list(dict.fromkeys(facts)), broken


def powers_compared(numbers: Abstraction) -> list[Fact]:
    """Return what is known of the powers with free exponents among the quantities: their signs, their place beside 1,
    Bernoulli's inequality, and their order."""
    found = sorted((e for e in numbers.names if isinstance(e, sp.Pow)), key=sp.default_sort_key)
    known = chain(*map(_of_power, found), *starmap(_of_two_powers, permutations(found, 2)))
    return [Fact(f.name, numbers.condition(f.conclusion), (*map(numbers.condition, f.premises),)) for f in known]


def _of_power(p: sp.Pow) -> Iterator[Fact]:
    b, e = p.args
    yield _fact("a power of what is not negative is not negative", 0, p, (0, b), (0, e))
    yield _fact("a power of at least 1", 1, p, (1, b), (0, e))
    yield _fact("a power of at most 1", p, 1, (0, b), (b, 1), (0, e))
    yield _fact("Bernoulli", 1 + e * (b - 1), p, (0, b), (1, e))
    yield _fact("Bernoulli for exponents below 1", p, 1 + e * (b - 1), (0, b), (0, e), (e, 1))
    yield _fact("a higher power of at most 1 is smaller", p, b, (0, b), (b, 1), (1, e))
    yield _fact("a higher power of at least 1 is larger", b, p, (1, b), (1, e))
    yield Fact("the power zero", Condition(p, "==", 1), (Condition(e, "==", 0),))


def _of_two_powers(p: sp.Pow, q: sp.Pow) -> Iterator[Fact]:
    (b, e), (c, f) = p.args, q.args
    if e == f:
        yield _fact("powers rise with the base", p, q, (0, b), (b, c), (0, e))
    if b == c:
        yield _fact("powers of at least 1 rise", p, q, (1, b), (e, f))
        yield _fact("powers of at most 1 fall", q, p, (0, b), (b, 1), (0, e), (e, f))


def _fact(name: str, left, right, *premises: tuple) -> Fact:
    """The fact that left <= right where each of the premises (left, right) holds likewise."""
    return Fact(name, Condition(left, "<=", right), tuple(Condition(one, "<=", other) for one, other in premises))


def _symbols(c: Condition) -> set[sp.Symbol]:
    return c.left.free_symbols | c.right.free_symbols


def _sum(expression: sp.Expr, triple) -> sp.Expr:
    """Return the sum of an expression over a range; 0 where every term is."""
    return expression if expression == 0 else sp.Sum(expression, triple)


def _means(conclusion: Claim, premise: Condition, numbers: Abstraction) -> Iterator[Condition]:
    """Yield a premise about every outcome in the means that the conclusion mentions."""
    if not premise.left.has(*_RANDOM) and not premise.right.has(*_RANDOM):
        return
    sides = [numbers.written_out(side) for side in (conclusion.statement.left, conclusion.statement.right)]
    means = {(e.func, e.args[1:]) for side in sides for e in side.atoms(operators.E, operators.E_round)}
    for func, rest in sorted(means, key=str):
        if func is operators.E_round or not rest:
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
