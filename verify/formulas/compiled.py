"""Compiles formulas to functions of arrays; limits of sums and products may differ from point to point."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from math import prod

import numpy as np
import sympy as sp
from sympy.printing.numpy import NumPyPrinter

__all__ = ["compiled"]

_AT_ONCE = 2**20  # terms times points that are evaluated together
_MOST_TERMS = 10**7


def compiled(names: Sequence[str], formula) -> Callable[..., np.ndarray]:
    """Return ``formula`` as a function of arrays that broadcast against each other, one for each of ``names``.

    An empty sum is 0 and an empty product 1; with a limit that is no integer they are nan. The function raises ValueError
    for more than 10^7 terms.
    """
    return _compiled(tuple(names), formula)


@lru_cache(maxsize=1024)
def _compiled(names, formula):
    plain = formula.xreplace({s: sp.Symbol(s.name) for s in formula.free_symbols})
    words = {"summed": _accumulated, "multiplied": partial(_accumulated, join=np.multiply, neutral=1.0),
             "tails_summed": _tails_summed, "powers_summed": _powers_summed}
    printer = _Printer({"fully_qualified_modules": False, "inline": True, "allow_unknown_functions": True})
    function = sp.lambdify([sp.Symbol(name) for name in names], plain, [words, "numpy"], printer=printer)

    def evaluate(*arrays):
        with np.errstate(all="ignore"):
            return np.asarray(function(*(np.asarray(a, dtype=float) for a in arrays)), dtype=float)

    return evaluate


class _Printer(NumPyPrinter):
    def _accumulation(self, word, e):
        text = self._print(e.function)
        for index, low, high in e.limits:
            text = f"{word}(lambda {self._print(index)}: {text}, {self._print(low)}, {self._print(high)})"
        return text

    def _print_Sum(self, e):
        (index, low, high), *more = e.limits
        if more:
            return self._accumulation("summed", e)
        at, ends = self._print(index), f"{self._print(low)}, {self._print(high)}"
        power = _power_of(e.function, index)
        if power is not None:
            factor, shift, exponent = map(self._print, power)
            return f"({factor})*powers_summed(lambda {at}: {at}, {ends}, {shift}, {exponent})"
        tails = [p for p in e.function.atoms(sp.Product) if _is_tail(p, index)]
        if len(tails) == 1:
            (tail,) = tails
            inner, product = tail.limits[0][0], sp.Dummy("tail")
            term, last = self._print(e.function.xreplace({tail: product})), self._print(tail.limits[0][2])
            return (f"tails_summed(lambda {at}, {self._print(product)}: {term}, "
                    f"lambda {self._print(inner)}: {self._print(tail.function)}, {ends}, {last})")
        return self._accumulation("summed", e)

    def _print_Product(self, e):
        return self._accumulation("multiplied", e)


def _is_tail(product, index) -> bool:
    """Whether a product starts at ``index`` and depends on it nowhere else."""
    (_, low, high), *more = product.limits
    return not more and low == index and not high.has(index) and not product.function.has(index)


def _power_of(body, index):
    """Return (factor, shift, exponent) if the body is factor * (index + shift)**(-exponent) in constants; else None."""
    factor, power = body.as_independent(index, as_Add=False)
    base, exponent = power.as_base_exp()
    if exponent.has(index):
        return None
    if base.is_Pow and base.exp == -1:
        base, exponent = base.base, -exponent
    shift = base - index
    return None if shift.has(index) else (factor, shift, -exponent)


def _accumulated(term, low, high, join=np.add, neutral=0.0):
    """Accumulate term(i) for i = low .. high at all points at once.

    If all points start alike and the terms take few different values, partial sums are computed once and looked up.
    Otherwise the terms are evaluated in blocks of indices.
    """
    low, high = np.broadcast_arrays(np.asarray(low, dtype=float), np.asarray(high, dtype=float))
    whole, asked, first, last = _places(low, high)
    total = np.where(whole, neutral, np.nan)
    if first > last:
        return total
    apart, places = np.shape(term(first)), np.arange(first, last + 1)
    shape = np.broadcast_shapes(low.shape, apart)
    if len(places) * prod(apart) <= _AT_ONCE < len(places) * prod(shape) and (low[asked] == first).all():
        column = (-1, *(1 for _ in shape))
        terms = np.broadcast_to(term(places.reshape(column)), (len(places), *(1,) * (len(shape) - len(apart)), *apart))
        so_far = join.accumulate(np.concatenate([np.full_like(terms[:1], neutral), terms]), axis=0)
        come = np.where(asked, high - first + 1, 0).astype(int).reshape(1, *(1,) * (len(shape) - low.ndim), *low.shape)
        return np.where(whole, np.take_along_axis(so_far, come, 0)[0], np.nan)
    for block in np.array_split(places, -(-len(places) * prod(shape) // _AT_ONCE)):
        i = block.reshape(-1, *(1 for _ in shape))
        terms = np.where((low <= i) & (i <= high), term(i), neutral)
        total = join(total, join.reduce(terms, axis=0))
    return total


def _places(low, high):
    """Return where both limits are whole, where there is also a term, and the first and last index over all points."""
    whole = np.isfinite(low) & np.isfinite(high) & (low == np.floor(low)) & (high == np.floor(high))
    asked = whole & (low <= high)
    first, last = np.min(low, where=asked, initial=np.inf), np.max(high, where=asked, initial=-np.inf)
    if last - first >= _MOST_TERMS:
        raise ValueError(f"a sum or product of {last - first + 1:.3g} terms; allowed: at most {_MOST_TERMS:.0e}")
    return whole, asked, first, last


def _tails_summed(term, factor, low, high, end):
    """Sum term(t, product of factor(j) for j = t .. end) over t = low .. high, from the last index down."""
    low, high, end = np.broadcast_arrays(*(np.asarray(limit, dtype=float) for limit in (low, high, end)))
    whole, asked, first, last = _places(low, high)
    whole &= (end == np.floor(end)) & np.isfinite(end)
    _, _, _, furthest = _places(low, np.where(asked, np.maximum(end, high), low - 1))
    total, product = np.where(whole, 0.0, np.nan), 1.0
    if first > last:
        return total
    for t in np.arange(furthest, first - 1, -1):
        product = product * np.where(t <= end, factor(t), 1.0)
        if t <= last:
            total = total + np.where((low <= t) & (t <= high), term(t, product), 0.0)
    return total


_DIRECT = 8  # terms that are added directly; the Euler-Maclaurin formula is accurate for the later ones
_BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160)  # B(2k) / (2k)!


def _powers_summed(itself, low, high, shift, exponent):
    """Sum (i + shift)**(-exponent) over i = low .. high; long sums of positive terms by the Euler-Maclaurin formula."""
    low, high = np.broadcast_arrays(np.asarray(low, dtype=float), np.asarray(high, dtype=float))
    whole, asked, first, last = _places(low, high)
    if first > last or last - first <= 3 * _DIRECT or not (np.asarray(first + shift) > 0).all():
        return _accumulated(lambda i: (itself(i) + shift) ** (-1.0 * exponent), low, high)
    total, start, end = np.where(whole, 0.0, np.nan), low + shift, high + shift
    for k in range(_DIRECT):
        total = total + np.where(asked & (low + k <= high), (start + k) ** (-1.0 * exponent), 0.0)
    start = np.where(asked, start + _DIRECT, 1.0)
    ratio = np.log(np.where(start <= end, end / start, 1.0))
    scaled = (1 - exponent) * ratio
    integral = np.where(np.abs(scaled) < 1e-12, 1.0, np.expm1(scaled) / np.where(scaled == 0, 1.0, scaled)) * ratio * start
    shrinks = np.exp(-exponent * ratio)  # the last term over the first one
    rest, slope, power = integral + (1 + shrinks) / 2, 1.0 * exponent / start, shrinks / np.exp(ratio)
    for k, weight in enumerate(_BERNOULLI):
        rest = rest + weight * slope * (1 - power)
        slope = slope * (exponent + 2 * k + 1) * (exponent + 2 * k + 2) / start**2
        power = power / np.exp(2 * ratio)
    return total + np.where(asked & (start <= end), rest * start ** (-1.0 * exponent), 0.0)
