"""Sizes that grow together: what constants may depend on is made of sizes, and stays where these keep their proportions.

Where a condition says ``beta1 == f(rounds / (local_steps clients))`` and constants may depend on beta1, more rounds alone
change beta1; rounds and clients together do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import prod

import numpy as np
import sympy as sp

from bounds.language.claim import Claim
from synthetic.numbers.arrays import Backend
from verify.claims.sizes import allowed
from verify.growth.effort import Effort, Seen, Track, growth_rank, kept, ratios_of
from verify.growth.sizes import simple_shape
from verify.growth.worst_of_size import worst_of_each_size
from verify.instances.draw import draw_leaves, draw_shape
from verify.instances.resize import Together, resized

__all__ = ["moves_together", "worst_in_proportion"]

_SIZES = ("rounds", "clients", "local_steps")  # that may be multiplied; all clients take part
_LEAST = (1, 2, 3, 4, 6)  # of a size at the smallest instance
_PROPORTIONS = 3  # that are followed


def moves_together(formulas: Sequence[sp.Expr], name: str) -> tuple[str, ...]:
    """The fewest sizes, ``name`` among them, that may be multiplied by one number without a change of the formulas; none
    where there are none."""
    factor = sp.Dummy(integer=True, positive=True)
    others = [size for size in _SIZES if size != name]
    for count in range(len(others) + 1):
        for more in combinations(others, count):
            names = tuple(sorted((name, *more), key=_place))
            if all(_stays(formula, names, factor) for formula in formulas):
                return names
    return ()


def _place(name: str) -> int:
    return _SIZES.index(name) if name in _SIZES else len(_SIZES)


def _stays(formula: sp.Expr, names: tuple[str, ...], factor: sp.Symbol) -> bool:
    larger = formula.xreplace({s: factor * s for s in formula.free_symbols if s.name in names})
    return larger == formula or sp.simplify(larger - formula) == 0


def worst_in_proportion(
    claim: Claim, formulas: Sequence[sp.Expr], names: tuple[str, ...], keep: dict, effort: Effort, rng, backend: Backend,
    seen: Seen,
) -> list[Track]:
    """The worst instances of every size (:func:`worst_of_each_size`) where the sizes ``names`` are multiplied together and
    all others in the formulas are fixed, for the smallest proportions in which hypotheses can be met: the track that grows
    most first. All clients take part, are quadratic, and have no noise."""
    tracks: list[Track] = []
    for motion in _proportions(claim, formulas, names, keep, effort, rng, backend, seen):
        tracks += worst_of_each_size(claim, motion, keep, effort, rng, backend, seen)
    return sorted(tracks, key=growth_rank, reverse=True)


def _proportions(claim, formulas, names, keep, effort, rng, backend, seen) -> Iterator[Together]:
    spoken_of = {symbol.name for formula in formulas for symbol in formula.free_symbols} | set(names)
    held = [size for size in _SIZES if size in spoken_of]
    found = 0
    for least in sorted(product(_LEAST, repeat=len(held)), key=lambda sizes: (prod(sizes), sizes)):
        motion = Together(names, tuple(zip(held, least, strict=True)))
        shape = simple_shape(claim, draw_shape(claim, rng, 16, 4))
        try:
            there = resized(claim, shape, draw_leaves(claim, shape, effort.rows // 4, rng), motion, 2)
        except (ValueError, NotImplementedError):
            continue
        if allowed(claim, there[0].as_sizes()) and np.isfinite(ratios_of(claim, there[0], kept(there[1], keep), backend,
                                                                         seen)).any():
            yield motion
            found += 1
            if found == _PROPORTIONS:
                return
