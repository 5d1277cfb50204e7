"""Vectors of a given length, and orthogonal ones, by reflections: rational where the vectors and lengths are."""

from collections.abc import Sequence
from fractions import Fraction
from math import frexp, ldexp

import numpy as np

from synthetic.numbers.arrays import namespace, to_numpy

__all__ = ["of_length"]

_BITS = 12  # of the estimate of a length


def of_length(vectors, length, orthogonal: Sequence[tuple] = ()):
    """Vectors of a given length, orthogonal to others, of nearly the same direction. One that is such a vector stays.

    The first unit vector is reflected at the middle between itself and nearly the direction of a vector, so that no root is
    taken; the others are reflected to the first axes before.

    Args:
        vectors: (..., dim).
        length: (..., 1).
        orthogonal: pairs (vectors, their length), of shapes like these, orthogonal to each other and of positive length;
            fewer than ``dim``.
    """
    xp, turns = namespace(vectors), []
    for other, size in orthogonal:
        for turn in turns:
            other = _reflected(other, turn)
        turns.append(other / size - _axis(other, len(turns)))
    for turn in turns:
        vectors = _reflected(vectors, turn)
    ends, first = vectors[..., len(turns) :], vectors[..., : len(turns)]
    squares = xp.sum(ends * ends, axis=-1, keepdims=True)
    near = xp.asarray(np.frompyfunc(_near_root, 1, 1)(to_numpy(squares)).astype(to_numpy(squares).dtype))
    middle = ends / near + _axis(ends, 0)
    ends = xp.where(squares == length * length, ends, -length * _reflected(_axis(ends, 0), middle))
    found = xp.concat([0 * first, ends], axis=-1)
    for turn in reversed(turns):
        found = _reflected(found, turn)
    return found


def _near_root(square):
    """A number of few digits near the root of a square; 1 for 0."""
    value = float(square)
    if not 0 < value < np.inf:
        return 1 + 0 * square
    fraction, exponent = frexp(value**0.5)
    whole = round(ldexp(fraction, _BITS))
    return type(square)(Fraction(whole) * Fraction(2) ** (exponent - _BITS))


def _axis(vectors, number: int):
    """The unit vector of an axis, like ``vectors``."""
    axis = 0 * vectors
    axis[..., number] = axis[..., number] + 1
    return axis


def _reflected(vectors, normal):
    """Vectors reflected at the plane with a normal; as they are where the normal is 0."""
    xp = namespace(vectors)
    squares = xp.sum(normal * normal, axis=-1, keepdims=True)
    inner = xp.sum(vectors * normal, axis=-1, keepdims=True)
    return vectors - normal * (2 * inner / xp.where(squares > 0, squares, 1 + 0 * squares))
