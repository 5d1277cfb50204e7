"""``A or B``: several relations of which one holds, as one relation between numbers."""

from collections.abc import Sequence

import sympy as sp

from bounds.language.claim import Condition

__all__ = ["alternatives", "either"]


def either(parts: Sequence[Condition], over: tuple = ()) -> Condition:
    """A condition that holds where one of the parts holds: the product of their violations is 0.

    ``a <= b`` lacks max(a - b, 0), and ``a == b`` lacks |a - b|. No factor is negative, so that a product at most 0 is 0.

    Raises:
        ValueError: a strict relation, of which no such number says that it holds.
    """
    if any(part.strict for part in parts):
        raise ValueError("or stands between relations <=, >= and ==")
    return Condition(sp.Mul(*map(_lacking, parts)), "<=", 0, over)


def _lacking(c: Condition) -> sp.Expr:
    gap = c.left - c.right
    return sp.Abs(gap) if c.relation == "==" else sp.Max(gap if c.relation == "<=" else -gap, 0)


def alternatives(condition: Condition) -> tuple[Condition, ...]:
    """The parts of which one holds, each without ranges; empty for a condition that is no such relation."""
    factors = sp.Mul.make_args(condition.left)
    if condition.sign != "<=" or condition.right != 0 or len(factors) < 2:
        return ()
    found = tuple(part for factor in factors if (part := _part(factor)) is not None)
    return found if len(found) == len(factors) else ()


def _part(factor) -> Condition | None:
    """The relation that holds where a factor is 0."""
    if isinstance(factor, sp.Abs):
        return Condition(*_sides(factor.args[0], "=="))
    if isinstance(factor, sp.Max) and len(factor.args) == 2 and 0 in factor.args:
        return Condition(*_sides(next(a for a in factor.args if a != 0), "<="))
    return None


def _sides(gap, relation: str):
    """Both sides of ``gap relation 0``, neither with a minus sign in front of a term."""
    terms = sp.Add.make_args(gap)
    right = [term for term in terms if term.could_extract_minus_sign()]
    return sp.Add(*(term for term in terms if term not in right)), relation, -sp.Add(*right)
