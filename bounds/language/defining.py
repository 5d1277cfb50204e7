"""Finds the conditions that define a name: ``name == formula``, or ``name[t] == formula`` for all entries of an array."""

from collections.abc import Callable, Mapping, Sequence

import sympy as sp

__all__ = ["defining"]

_BEYOND = 3  # entries behind the last one of an array that a range may name


def defining(conditions: Sequence, lengths: Mapping[str, Sequence[str]], names_of: Callable[..., set[str]],
             formulas: Mapping[str, sp.Expr]) -> dict[str, int]:
    """The place of the condition that defines each name.

    A condition with the bare name on its left defines it, or, of an array, one with plain indices whose ranges have all
    entries. A formula that leads back to the name, by itself or through other definitions, defines nothing: such an equation
    is a hypothesis as any other, and so is a second equation for one name.

    Args:
        conditions: in their order.
        lengths: the sizes of arrays of a known length, such as ``{"eta_l": ["iterations"]}``.
        names_of: the names in a formula.
        formulas: the formulas by which names of the language and of the claim are defined.
    """
    found: dict[str, int] = {}
    rests_on = {name: names_of(formula) for name, formula in formulas.items()}
    for place, condition in enumerate(conditions):
        name = _plain_name(condition, lengths) if condition.relation == "==" else None
        if name is None or name in found or name in formulas:
            continue
        names = names_of(condition.right)
        if name not in _reached(names, rests_on):
            found[name], rests_on[name] = place, names
    return found


def _reached(names: set[str], rests_on: Mapping[str, set[str]]) -> set[str]:
    """The names, and all on which they rest."""
    found, left = set(), set(names)
    while left:
        found |= left
        left = set().union(*(rests_on.get(name, ()) for name in left)) - found
    return found


def _plain_name(condition, lengths: Mapping[str, Sequence[str]]) -> str | None:
    """The name that a condition gives as a whole; None if it is about something else, or about some entries."""
    left = condition.left
    if left.is_Symbol:
        return None if condition.over else left.name
    if not isinstance(left, sp.Indexed) or not all(i.is_Symbol for i in left.indices):
        return None
    name, ranges = str(left.base.label), {index: (low, high) for index, low, high in condition.over}
    if len({*left.indices}) < len(left.indices):
        return None
    if name not in lengths:
        return name
    if {*ranges} != {*left.indices} or len(lengths[name]) != len(left.indices):
        return None
    every = all(_has_all(*ranges[index], size) for index, size in zip(left.indices, lengths[name], strict=True))
    return name if every else None


def _has_all(low, high, size: str) -> bool:
    """Whether a range has all entries of an array along an axis of this size: ``iterations``, or ``rounds + 1``."""
    name, _, more = size.partition(" + ")
    sizes = [symbol for symbol in sp.sympify(high).free_symbols if symbol.name == name]
    if low != 0 or len(sizes) != 1:
        return False
    beyond = high - sizes[0] - int(more or 0) + 1
    return bool(beyond.is_Integer and 0 <= beyond <= _BEYOND)
