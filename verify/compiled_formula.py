"""Formulas as functions of arrays of numbers; sums and products whose limits differ from point to point included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod

import numpy as np
import sympy as sp
from sympy.printing.numpy import NumPyPrinter

__all__ = ["compiled"]

_AT_ONCE = 2**20  # numbers that the terms of a sum take together
_MOST_TERMS = 10**7


def compiled(names: Sequence[str], formula) -> Callable[..., np.ndarray]:
    """``formula`` as a function of arrays, one for each of ``names``, which broadcast against each other.

    A sum or product whose upper limit lies below its lower one is 0 or 1; where a limit is no integer it is nan. The
    function raises ValueError for one of more than 10^7 terms.
    """
    return _compiled(tuple(names), formula)


@lru_cache(maxsize=1024)
def _compiled(names, formula):
    plain = formula.xreplace({s: sp.Symbol(s.name) for s in formula.free_symbols})
    words = {"summed": _summed, "multiplied": _multiplied}
    printer = _Printer({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": True})
    function = sp.lambdify([sp.Symbol(name) for name in names], plain, [words, "numpy"], printer=printer)

    def of(*arrays):
        with np.errstate(all="ignore"):
            return np.asarray(function(*(np.asarray(a, dtype=float) for a in arrays)), dtype=float)

    return of


class _Printer(NumPyPrinter):
    def _accumulation(self, word, e):
        text = self._print(e.function)
        for index, low, high in e.limits:
            text = f"{word}(lambda {self._print(index)}: {text}, {self._print(low)}, {self._print(high)})"
        return text

    def _print_Sum(self, e):
        return self._accumulation("summed", e)

    def _print_Product(self, e):
        return self._accumulation("multiplied", e)


def _summed(term, low, high):
    return _accumulated(term, low, high, np.add, 0.0)


def _multiplied(term, low, high):
    return _accumulated(term, low, high, np.multiply, 1.0)


def _accumulated(term, low, high, join, neutral):
    """``join`` of term(i) for i = low .. high, at all points at once, in blocks of indices."""
    low, high = np.broadcast_arrays(np.asarray(low, dtype=float), np.asarray(high, dtype=float))
    whole = np.isfinite(low) & np.isfinite(high) & (low == np.floor(low)) & (high == np.floor(high))
    asked = whole & (low <= high)
    first, last = np.min(low, where=asked, initial=np.inf), np.max(high, where=asked, initial=-np.inf)
    if last - first >= _MOST_TERMS:
        raise ValueError(f"a sum or product of {last - first + 1:.3g} terms; allowed: at most {_MOST_TERMS:.0e}")
    total = np.where(whole, neutral, np.nan)
    if first > last:
        return total
    shape, places = np.broadcast_shapes(low.shape, np.shape(term(first))), np.arange(first, last + 1)
    for block in np.array_split(places, -(-len(places) * prod(shape) // _AT_ONCE)):
        i = block.reshape(-1, *(1 for _ in shape))
        terms = np.where((low <= i) & (i <= high), term(i), neutral)
        total = join(total, join.reduce(terms, axis=0))
    return total
