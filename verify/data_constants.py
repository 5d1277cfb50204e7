"""Constants over all of R^dim of clients with samples: Lipschitz constants, and how far the clients' gradients lie apart."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np

from synthetic.arrays import namespace, values_where
from synthetic.piecewise import Piecewise
from verify.roots import Irrational

__all__ = ["distance_of_clients", "largest_slope", "mean_distance", "root_mean_square_distance"]


def largest_slope(federation: Piecewise):
    """Largest |grad F_k| over all clients and points, (instances,): their Lipschitz constant."""
    known = federation._decided
    xp = namespace(known.weights)
    squares = xp.sum(known._of_clients.largest_slope_sq(), axis=-1)
    bounded = xp.all(xp.all(known._of_clients.curvature == 0, axis=-1), axis=-1)
    squares = xp.max(values_where(bounded[:, None], squares, "the loss is not Lipschitz"), axis=-1)
    return _root(federation.backend.array(squares))


def _apart(federation: Piecewise):
    """grad F_k - grad F by coordinate at all knots, beyond which it is constant, (instances, clients, dim, knots)."""
    apart, equal = federation._apart(federation._of_clients, federation.weights, 1)
    return values_where(equal[:, None, :, None], apart, "the clients' gradients are not within any distance of each other")


def distance_of_clients(federation: Piecewise):
    """sup over v of |grad F_k(v) - grad F(v)|, (instances, clients)."""
    apart = _apart(federation._decided)
    xp, array = namespace(apart), federation.backend.array
    if federation.dim == 1:
        return array(xp.max(xp.abs(apart), axis=-1)[..., 0])
    return _root(array(xp.sum(xp.max(apart**2, axis=-1), axis=-1)))


def mean_distance(federation: Piecewise):
    """sup over v of the clients' mean of |grad F_k(v) - grad F(v)|, (instances,); in more than one dimension a bound."""
    known = federation._decided
    xp = namespace(known.weights)
    if federation.dim > 1:
        return xp.sum(federation.weights * distance_of_clients(federation), axis=-1)
    means = xp.sum(known.weights[:, :, None, None] * xp.abs(_apart(known)), axis=1)
    return federation.backend.array(xp.max(means, axis=-1)[:, 0])


def root_mean_square_distance(federation: Piecewise):
    """Root of sup over v of the clients' mean of |grad F_k(v) - grad F(v)|^2, (instances,)."""
    known = federation._decided
    xp, apart = namespace(known.weights), _apart(known)
    squares = xp.sum(known.weights[:, :, None, None] * apart**2, axis=1)
    return _root(federation.backend.array(xp.sum(xp.max(squares, axis=-1), axis=-1)))


def _root(squares):
    """Square roots; of fractions only where they are rational, else Irrational."""
    if squares.dtype != object:
        return namespace(squares).sqrt(squares)
    roots = squares.copy()
    for place, square in np.ndenumerate(squares):
        if not isinstance(square, Fraction):
            return namespace(squares).sqrt(squares)
        roots[place] = Fraction(isqrt(square.numerator), isqrt(square.denominator))
        if roots[place] ** 2 != square:
            raise Irrational(f"the root of {square} is not rational")
    return roots
