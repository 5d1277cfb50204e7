"""The bound that a condition at all points puts on a number, found by bisection."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from synthetic.numbers.arrays import Backend, maximum, namespace
from synthetic.numbers.decimals import simplest_between

__all__ = ["bound_by_bisection"]

_OCTAVES, _HALVINGS = 40, 20  # from 2**-40 to 2**40, and then to a millionth


def bound_by_bisection(holds: Callable[[np.ndarray], np.ndarray], rows: int, best, backend: Backend):
    """``best`` (instances, 1, 1), or None, moved to where a condition holds that bounds a positive number from one side, to
    about a millionth of that bound, on the side where it holds.

    ``holds``: (instances,) numbers -> (instances,) whether the condition holds for them. Where it holds for all numbers,
    ``best`` stays as it is; where it holds for none, the bound is nan, or a number for which it does not hold if numbers are
    exact.
    """
    exact = backend.library in ("exact", "balls")
    two = np.full(rows, Fraction(2) if exact else 2.0)
    small, large = np.full(rows, -_OCTAVES), np.full(rows, _OCTAVES)
    below, above = holds(two ** small), holds(two ** large)
    while (large - small > 1).any():
        middle = (small + large) // 2
        good = holds(two ** middle) == below
        small, large = np.where(good, middle, small), np.where(good, large, middle)
    low, high = two ** small, two ** large
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        good = holds(middle) == below
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    if exact:
        short = np.array([simplest_between(a, b) for a, b in zip(low, high, strict=True)], dtype=object)
        good = holds(short) == below
        low, high = np.where(good, short, low), np.where(good, short, high)
    bound = np.where(below, low, high)
    if not exact:
        bound = np.where(below | above, bound, np.nan)
    bound = backend.array(bound).reshape(-1, 1, 1)
    decided = backend.booleans(~(below & above)).reshape(-1, 1, 1)
    if best is None:
        return bound
    upper, xp = backend.booleans(below).reshape(-1, 1, 1), namespace(bound)
    best, bound = xp.broadcast_arrays(best, bound)
    moved = xp.where(upper, -maximum(-best, -bound), maximum(best, bound))
    return xp.where(decided, moved, best)
