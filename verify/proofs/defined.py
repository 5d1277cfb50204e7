"""Whether every division and every root in a condition has a value wherever the hypotheses hold."""

from collections.abc import Iterator, Sequence

import sympy as sp

from bounds.language.claim import Condition
from verify.prove.satisfiable import satisfiable

__all__ = ["part_without_value"]


def part_without_value(condition: Condition, facts: Sequence[Condition]) -> str:
    """Name a division or a root in a condition that may have no value where the facts hold; empty if all have one.

    Both speak of plain numbers. Facts count as hypotheses: where a side of one has no value, it does not hold.
    """
    for what, outside in _needs(condition):
        if satisfiable([*facts, outside], core=False).answer != "no":
            return what
    return ""


def _needs(condition: Condition) -> Iterator[tuple[str, Condition]]:
    """Yield each part that needs something, in words, with the condition under which it has no value."""
    powers = {p for side in (condition.left, condition.right) for p in side.atoms(sp.Pow)}
    for p in sorted(powers, key=sp.default_sort_key):
        base, exponent = p.args
        if exponent.is_Rational and exponent.q % 2 == 0 and not base.is_nonnegative:
            yield f"the root of {base} may have no value", Condition(base, "<", 0)
        if exponent.is_nonnegative is not True and base.is_zero is not False:
            yield f"it divides by {base}, which may be 0", Condition(base, "==", 0)
    for e in sorted({e for side in (condition.left, condition.right) for e in side.atoms(sp.log)}, key=sp.default_sort_key):
        if not e.args[0].is_positive:
            yield f"log({e.args[0]}) may have no value", Condition(e.args[0], "<=", 0)
