"""The least ratio of both sides over the values of a number that is said to exist."""

from collections.abc import Callable, Iterable

import numpy as np

from bounds.language.claim import Claim
from verify.claims.existential import PLACES, Bracket, excluded_positions

__all__ = ["least_ratio"]

#: places that are looked at, from 0 to 1; a good step of a long run may be far below the largest one
_GRID = tuple(sorted({*PLACES, 1e-14, 1e-16}))
_HALVINGS = 8  # of the way to the next place of the grid, on both sides of the best


def least_ratio(claim: Claim, look: Callable[[np.ndarray], Iterable[tuple]], count: int) -> np.ndarray:
    """The least ratio of each of ``count`` instances over the places of a grid, and then around the best of them; NaN for an
    instance on which no value meets the conditions, or a hypothesis fails that must hold for every value.

    It is at least the least ratio over all values. A ratio of 0, by which both sides may be lost in rounding, counts where
    there is no other. ``look`` takes places, (looks, instances), and says for each look which instances meet the hypotheses,
    their ratios, and on which of them every hypothesis holds that is no condition on the number.
    """
    grid = np.array([place for place in _GRID if place not in excluded_positions(claim)])
    best, at, counts = np.full(count, np.inf), np.ones(count), np.ones(count, dtype=bool)
    met, nothing = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)

    def take(looks: np.ndarray) -> None:
        for places, (here, ratio, admitted) in zip(looks, look(looks), strict=True):
            less = here & (ratio != 0) & (ratio < best)
            best[less], at[less] = ratio[less], places[less]
            met[:] |= here
            nothing[:] &= ~here | (ratio == 0)
            counts[:] &= admitted

    take(np.repeat(grid[:, None], count, axis=1))
    bracket, rows = Bracket(grid, at), np.arange(count)
    for _ in range(_HALVINGS):
        take(np.stack(bracket.sides(rows)))
        bracket.step(rows, at)
    return np.where(counts & met, np.where(nothing, 0.0, np.maximum(best, 0.0)), np.nan)
