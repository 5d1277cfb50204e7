"""Whether formulas in plain numbers have a value everywhere where facts hold."""

from collections.abc import Callable, Iterable, Sequence

import sympy as sp

from bounds.language.claim import Condition
from bounds.language.values import Need, changed, needs_of_numbers, ways
from verify.prove.satisfiable import satisfiable

__all__ = ["part_without_value"]

_OPPOSITE = {"<": ">=", "<=": ">"}  # of the signs that conditions for a value have


def part_without_value(formulas: Iterable[sp.Expr], facts: Sequence[Condition],
                       number: Callable[[sp.Expr], sp.Expr] = lambda e: e) -> str:
    """Name a condition for the formulas to have a value that may fail where the facts hold; empty if none may.

    Facts count as hypotheses: where a side of one has no value, it does not hold. ``number`` reads a formula of numbers
    as one of those in the facts.
    """
    for need in _needs(formulas, number):
        around = [*facts, *_ranges(need)]
        if not any(all(_follows(c, around) for c in way) for way in ways(need)):
            return f"it needs {need}, which may fail"
    return ""


def _needs(formulas, number) -> list[Need]:
    found = dict.fromkeys(changed(need, number) for e in formulas for need in needs_of_numbers(e))
    return sorted((need for need in found if [] not in ways(need)), key=str)


def _ranges(need: Need) -> list[Condition]:
    return [c for index, low, high in need.over for c in (Condition(low, "<=", index), Condition(index, "<=", high))]


def _follows(c: Condition, facts: Sequence[Condition]) -> bool:
    return satisfiable([*facts, Condition(c.left, _OPPOSITE[c.sign], c.right)], core=False).answer == "no"
