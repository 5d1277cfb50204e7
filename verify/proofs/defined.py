"""Whether every division and every root in a condition has a value wherever the hypotheses hold."""

from collections.abc import Callable, Iterable, Iterator, Sequence

import sympy as sp

from bounds.language.claim import Condition
from verify.proofs.free_numbers import FreeNumbers
from verify.prove.satisfiable import satisfiable

__all__ = ["name_without_value", "part_without_value"]


def part_without_value(condition: Condition, facts: Sequence[Condition]) -> str:
    """Name a division or a root in a condition that may have no value where the facts hold; empty if all have one.

    Both speak of plain numbers. Facts count as hypotheses: where a side of one has no value, it does not hold.
    """
    parts = {p for side in (condition.left, condition.right) for p in side.atoms(sp.Pow, sp.log)}
    return _first_without_value(parts, facts)


def name_without_value(named: Sequence[sp.Expr], numbers: FreeNumbers, facts: Sequence[Condition]) -> str:
    """Name a power or logarithm of parameters, among those that stand for free numbers, that may lack a value where the
    facts hold; empty if all have one. A power with a whole exponent has one unless the exponent is certainly negative."""
    parts = {p for e in named for p in e.atoms(sp.Pow, sp.log)
             if isinstance(p, sp.log) or not p.exp.is_integer or p.exp.is_negative}
    bound = {limits[0] for e in named for p in e.atoms(sp.Sum, sp.Product) for limits in p.limits}
    return _first_without_value({p for p in parts if not p.free_symbols & bound}, facts, numbers.number)


def _first_without_value(parts, facts, number: Callable[[sp.Expr], sp.Expr] = lambda e: e) -> str:
    for what, c in _needs(sorted(parts, key=sp.default_sort_key)):
        outside = Condition(number(c.left), c.sign, c.right)
        if satisfiable([*facts, outside], core=False).answer != "no":
            return what
    return ""


def _needs(parts: Iterable[sp.Expr]) -> Iterator[tuple[str, Condition]]:
    """Yield what each power and logarithm needs, in words, with the condition under which it has no value."""
    for p in parts:
        base, exponent = (*p.args, None)[:2]
        if exponent is None:
            if not base.is_positive:
                yield f"log({base}) may have no value", Condition(base, "<=", 0)
            continue
        if not exponent.is_integer and not base.is_nonnegative:
            yield f"{p} has no value where {base} is negative", Condition(base, "<", 0)
        if exponent.is_nonnegative is not True and base.is_zero is not False:
            yield f"it divides by {base}, which may be 0", Condition(base, "==", 0)
