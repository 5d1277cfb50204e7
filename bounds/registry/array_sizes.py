"""Finds the range of an index without one: the size of the arrays that it indexes."""

from collections.abc import Iterable, Mapping

import sympy as sp

from bounds.language.claim import parts_of_size

__all__ = ["size_of_index"]


def size_of_index(index: str, formulas: Iterable[sp.Expr], sizes: Mapping[str, tuple[str, ...]]) -> tuple[str, int] | None:
    """The name of a size, and what is added to it: of the arrays in ``formulas`` that have the bare index, by ``sizes``.

    None if no such array has it, or they differ in size.
    """
    symbol = sp.Symbol(index, integer=True)
    found = {parts_of_size(size) for formula in formulas for entry in formula.atoms(sp.Indexed)
             for place, size in zip(entry.indices, sizes.get(str(entry.base.label), ()), strict=False) if place == symbol}
    return found.pop() if len(found) == 1 else None
