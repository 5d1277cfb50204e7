"""Proves that a witness is a value of the number that is said to exist: inside of its interval, as the conditions on it
require, and such that the statement has sides there.

A proof of the claim with its witness put in says that the statement holds there on every instance that meets the hypotheses
for that value. It proves the claim together with these.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import sympy as sp

from bounds.language.claim import HIDDEN, Claim, Condition, Variable, names_in
from bounds.language.names import DATA, FEDERATION, SIZE, row_of
from bounds.language.values import needs_of_numbers, ways
from bounds.language.witness import inside
from verify.claims.hypotheses import given_numbers
from verify.exact.existential_conditions import ExistentialConditions, existential_conditions
from verify.prove.number_certificates import number_certificate

__all__ = ["Requirement", "requirements", "without_the_number"]

_PLAIN = (sp.Number, sp.Symbol, sp.Add, sp.Mul, sp.Pow, sp.exp, sp.log, sp.Min, sp.Max, sp.Abs, sp.floor, sp.ceiling)
_INSERTIONS = 10  # of definitions in definitions


@dataclass(frozen=True)
class Requirement:
    """A requirement on a witness; ``ways``: lists of conditions without the number, of which those of any one suffice.
    ``proof``: what proves those of one, empty where nothing does."""

    text: str
    ways: tuple[tuple[Condition, ...], ...]
    proof: str = ""


def requirements(claim: Claim) -> tuple[Requirement, ...]:
    """All that the witness of a claim must meet, each with its proof if there is one."""
    on = existential_conditions(claim)
    return tuple(replace(one, proof=next(filter(None, (_proof_of_all(claim, on, way) for way in one.ways)), ""))
                 for one in dict.fromkeys(_requirements(claim, on)))


def without_the_number(claim: Claim, goal: Condition) -> Claim:
    """The claim that a condition without the number holds wherever the hypotheses do that do not depend on the number."""
    others = existential_conditions(claim).others
    kept = tuple(a for a in claim.assumptions if all(c in others for c in a.conditions))
    said = {c for a in kept for c in a.conditions}
    return replace(claim, exists=None, explicit=True, limits=(), constants_may_use=None, statement=goal, assumptions=kept,
                   conditions=tuple(c for c in others if c not in said),
                   variables=tuple(v for v in claim.variables if v.domain not in HIDDEN))


def _requirements(claim: Claim, on: ExistentialConditions) -> Iterator[Requirement]:
    exists = claim.exists
    named = [(condition, f"{exists.name} {condition.sign} {condition.right}") for condition in inside(claim)]
    named += [(condition, f"{condition.left} {condition.sign} {condition.right}") for condition in on.values]
    for condition, text in named:
        left, right = (_put_in(claim, on, side) for side in (condition.left, condition.right))
        used = left.free_symbols | right.free_symbols
        over = condition.over if any(index in used for index, *_ in condition.over) else ()
        yield Requirement(text, ((Condition(left, condition.sign, right, over),),))
    printed = (claim.statement.left, claim.statement.right, *(d.formula for d in claim.used_definitions().values()))
    everywhere = {need for formula in printed for need in needs_of_numbers(formula)
                  if all(_of_the_instance(claim, on, part) for part in need.parts)}
    for formula in (exists.witness, *printed, *(rule.right for rule in on.defining.values())):
        for need in needs_of_numbers(_put_in(claim, on, formula)):
            if need not in everywhere:
                yield Requirement(str(need), tuple(tuple(replace(c, over=need.over) for c in way) for way in ways(need)))


def _of_the_instance(claim: Claim, on: ExistentialConditions, part) -> bool:
    """Whether a part of a formula is the same for every value of the number: where it has no value, an instance has none."""
    own = {v.name for v in claim.variables} | {*claim.constants}
    return all(name != claim.exists.name and name not in on.defining and (
        name in own or ((row := row_of(name)) is not None and row.source in (SIZE, FEDERATION, DATA)))
        for name in names_in(part))


def _put_in(claim: Claim, on: ExistentialConditions, expression) -> sp.Expr:
    """The expression with the witness in place of the number, and with formulas in place of what the number determines."""
    found = sp.sympify(expression)
    for _ in range(_INSERTIONS):
        plain = {s: claim.exists.witness for s in found.free_symbols if s.is_Symbol and s.name == claim.exists.name}
        for s in found.free_symbols:
            if s.is_Symbol and s.name in on.defining:
                plain[s] = on.defining[s.name].right
        for entry in found.atoms(sp.Indexed):
            rule = on.defining.get(str(entry.base.label))
            if rule is not None and len(rule.left.indices) == len(entry.indices):
                plain[entry] = sp.sympify(rule.right).xreplace(dict(zip(rule.left.indices, entry.indices, strict=True)))
        if not plain:
            break
        found = found.xreplace(plain)
    return found


def _proof_of_all(claim: Claim, on: ExistentialConditions, goals: Sequence[Condition]) -> str:
    found = [_proof(claim, on, goal) for goal in goals]
    return "; ".join(dict.fromkeys(found)) if all(found) else ""


def _proof(claim: Claim, on: ExistentialConditions, goal: Condition) -> str:
    left, right = sp.sympify(goal.left), sp.sympify(goal.right)
    if not goal.over and (left - right).is_number:
        held = {"<=": (right - left).is_nonnegative, "<": (right - left).is_positive, ">": (left - right).is_positive,
                ">=": (left - right).is_nonnegative, "==": (left - right).is_zero}[goal.sign]
        return "a comparison of two numbers" if held else ""
    if claim.setting == "algebra":
        return _proof_method(_among(claim, without_the_number(claim, goal)))
    if not _of_plain_numbers(goal):
        return ""
    hypotheses = tuple(c for c in on.others if _of_plain_numbers(c))
    alone = replace(without_the_number(claim, goal), setting="algebra", procedure=None, assumptions=(),
                    conditions=hypotheses, variables=())
    return _proof_method(_among(claim, alone))


def _proof_method(goal: Claim) -> str:
    """The method of a proof, if there is one that the stand-alone checker accepts."""
    return "a proof that the checker accepts" if number_certificate(goal) is not None else ""


def _of_plain_numbers(condition: Condition) -> bool:
    return not condition.over and all(isinstance(node, _PLAIN) for side in (condition.left, condition.right)
                                      for node in sp.preorder_traversal(sp.sympify(side)))


def _among(claim: Claim, alone: Claim) -> Claim:
    """A claim about numbers whose symbols are its variables, with the signs that instances of ``claim`` give them."""
    given, known = given_numbers(claim.hypotheses), {v.name for v in alone.variables} | {*alone.definitions}
    known |= {index.name for c in (*alone.hypotheses, alone.statement) for index, *_ in c.over}
    own = {v.name: v for v in claim.variables if not v.indices}
    sides = [side for c in (*alone.hypotheses, alone.statement) for side in (c.left, c.right)]
    symbols = {s.name: s for side in sides for s in sp.sympify(side).free_symbols if s.is_Symbol and s.name not in known}
    return replace(alone, variables=(*alone.variables, *(own.get(n) or Variable(n, _domain(s, given), low=_low(s))
                                                         for n, s in sorted(symbols.items()))))


def _domain(symbol: sp.Symbol, given: Sequence[sp.Symbol] | set) -> str:
    if symbol in given:
        return "real"
    if symbol.is_integer and symbol.is_nonnegative:
        return "integer"
    return "positive" if symbol.is_positive else "nonnegative" if symbol.is_nonnegative else "real"


def _low(symbol: sp.Symbol) -> int:
    return 1 if symbol.is_positive or not symbol.is_integer else 0
