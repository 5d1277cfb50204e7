"""Partitions of the coordinates into layers."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from synthetic.base.checks import whole

__all__ = ["layer_sizes", "layer_slices"]


def layer_sizes(layers, dim: int) -> tuple[int, ...]:
    """Sizes of the layers of ``dim`` coordinates, in order.

    ``layers``: the sizes, or a number of layers of equal size.

    Raises:
        ValueError: sizes below 1, sizes that do not sum to ``dim``, a number that does not divide ``dim``.

    Example:
        >>> layer_sizes(3, 6), layer_sizes((1, 5), 6)
        ((2, 2, 2), (1, 5))
    """
    if np.ndim(layers) == 0:
        count = whole("layers", layers, 1, dim)
        if dim % count:
            raise ValueError(f"layers of equal size need a number that divides dim = {dim}; got {count}")
        return (dim // count,) * count
    sizes = tuple(whole("size of a layer", size) for size in layers)
    if sum(sizes) != dim:
        raise ValueError(f"sizes of layers must sum to dim = {dim}; got {sizes}, which sum to {sum(sizes)}")
    return sizes


def layer_slices(sizes: tuple[int, ...]) -> tuple[slice, ...]:
    """The coordinates of each layer.

    Example:
        >>> layer_slices((1, 5))
        (slice(0, 1, None), slice(1, 6, None))
    """
    return tuple(slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True))
