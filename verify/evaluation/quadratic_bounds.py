"""The least value of a quadratic function of several numbers, from its values at a few places."""

from itertools import combinations

import numpy as np

from synthetic.numbers.arrays import namespace

__all__ = ["least_of_quadratic", "moves_that_determine"]


def moves_that_determine(count: int) -> np.ndarray:
    """Places (places, count) at which the values determine a quadratic function of ``count`` numbers: none is moved, one is
    moved forward, one is moved back, two are moved forward."""
    one = np.eye(count, dtype=int)
    both = [one[i] + one[j] for i, j in combinations(range(count), 2)]
    return np.concatenate([np.zeros((1, count), dtype=int), one, -one, np.array(both, dtype=int).reshape(-1, count)])


def least_of_quadratic(values, count: int, some=0):
    """The least value of a quadratic function of ``count`` numbers, minus infinity where it has none: each number in turn is
    best for the later ones.

    Args:
        values: (..., places), at :func:`moves_that_determine`.
        some: rounding errors of the values, (...) or a number.
    """
    xp, numbers = namespace(values), range(count)
    least, up = values[..., 0], [values[..., 1 + i] for i in numbers]
    down = [values[..., 1 + count + i] for i in numbers]
    slopes, bends = [(a - b) / 2 for a, b in zip(up, down, strict=True)], {}
    for i in numbers:
        bends[i, i] = up[i] + down[i] - 2 * least
    for place, (i, j) in enumerate(combinations(numbers, 2), 1 + 2 * count):
        bends[i, j] = bends[j, i] = values[..., place] - up[i] - up[j] + least
    falls = least != least
    for i in numbers:
        convex = bends[i, i] > some
        falls = falls | (bends[i, i] < -some)
        for other in (slopes[i], *(bends[i, j] for j in range(i + 1, count))):
            falls = falls | (~convex & (abs(other) > some))
        pivot = xp.where(convex, bends[i, i], 0 * least + 1)
        shares = {j: xp.where(convex, bends[i, j] / pivot, 0 * least) for j in range(i + 1, count)}
        least = least - xp.where(convex, slopes[i] * slopes[i] / (2 * pivot), 0 * least)
        for j, share in shares.items():
            slopes[j] = slopes[j] - share * slopes[i]
            for other in range(j, count):
                bends[j, other] = bends[other, j] = bends[j, other] - share * bends[i, other]
    return xp.where(falls, xp.full_like(least, -np.inf), least)
