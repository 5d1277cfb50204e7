"""Numbers per layer: sums and norms over each layer's coordinates, and back to coordinates."""

from synthetic.numbers.arrays import namespace

__all__ = ["by_coordinate", "layer_norms", "layer_sums", "share_of", "sizes_of"]


def sizes_of(layers) -> list[int]:
    """Number of coordinates of each layer, from slices."""
    return [layer.stop - layer.start for layer in layers]


def layer_sums(values, layers):
    """Sums over each layer, (..., layers), of ``values`` (..., dim); ``layers`` are slices that partition the coordinates.

    Example:
        >>> import numpy as np
        >>> layer_sums(np.array([[1.0, 2.0, 4.0]]), (slice(0, 1), slice(1, 3))).tolist()
        [[1.0, 6.0]]
    """
    xp, sizes = namespace(values), sizes_of(layers)
    if len(set(sizes)) == 1:
        return xp.sum(xp.reshape(values, (*values.shape[:-1], len(sizes), sizes[0])), axis=-1)
    return xp.stack([xp.sum(values[..., layer], axis=-1) for layer in layers], axis=-1)


def layer_norms(values, layers):
    """Euclidean norm of each layer, (..., layers)."""
    return namespace(values).sqrt(layer_sums(values**2, layers))


def by_coordinate(values, layers):
    """Repeats each layer's number at all coordinates of the layer: (..., dim) from ``values`` (..., layers).

    Example:
        >>> import numpy as np
        >>> by_coordinate(np.array([[1.0, 6.0]]), (slice(0, 1), slice(1, 3))).tolist()
        [[1.0, 6.0, 6.0]]
    """
    xp, sizes = namespace(values), sizes_of(layers)
    if len(set(sizes)) == 1:
        wide = xp.broadcast_to(values[..., None], (*values.shape, sizes[0]))
        return xp.reshape(wide, (*values.shape[:-1], len(sizes) * sizes[0]))
    pieces = [xp.broadcast_to(values[..., l, None], (*values.shape[:-1], size)) for l, size in enumerate(sizes)]
    return xp.concat(pieces, axis=-1)


def share_of(chosen, like):
    """The share of chosen coordinates, (runs, 1), from truth values (runs, dim); ``like`` are numbers (runs, dim)."""
    xp = namespace(like)
    return xp.sum(xp.where(chosen, xp.ones_like(like), 0), axis=-1)[:, None] / like.shape[-1]
