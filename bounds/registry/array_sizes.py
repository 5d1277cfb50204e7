"""Finds the range of an index without one: the size of the arrays that it indexes."""

from collections.abc import Iterable, Mapping

import sympy as sp

from bounds.language.claim import parts_of_size

__all__ = ["size_of_index"]


def size_of_index(index: str, formulas: Iterable[sp.Expr], sizes: Mapping[str, tuple[str, ...]]) -> tuple[str, int] | None:
    """The name of a size, and what is added to it: of the arrays in ``formulas`` that have the bare index, by ``sizes``.
    Where an array has a later entry, as in a[i + 1] <= a[i], it is less, so that every entry is there.

    None if no array has the bare index, or they differ in size.
    """
    symbol = sp.Symbol(index, integer=True)
    entries = [(place - symbol, *parts_of_size(size)) for formula in formulas for entry in formula.atoms(sp.Indexed)
               for place, size in zip(entry.indices, sizes.get(str(entry.base.label), ()), strict=False)]
    found = {(size, more) for shift, size, more in entries if shift == 0}
    if len(found) != 1:
        return None
    (own, most), = found
    return own, min([most, *(more - int(shift) for shift, size, more in entries if size == own and shift.is_Integer)])
