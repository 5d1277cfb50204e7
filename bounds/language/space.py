"""Operators over R^dim: infima over all points and conditions at all pairs of points, and which of them can be computed."""

from collections.abc import Sequence

import sympy as sp

from bounds.language import operators
from bounds.language.operators import FurtherOperator

__all__ = ["at_all_points", "infimum", "not_by_coordinates", "points_of", "without_points"]

infimum = FurtherOperator.row(
    "infimum(u, a)", "the infimum over all points u of R^dim of the number a", r"\inf_{<0>} \left(<1>\right)",
    "inf_<0> (<1>)", binds=0, unit_powers=((1, 1),), takes=("vector", "number"), gives="number")


def at_all_points(points: Sequence[sp.Symbol], left, relation: str, right) -> tuple[sp.Expr, sp.Expr]:
    """Both sides of a relation, ``<=`` or ``>=``, that holds at all points, without these: a least or a largest value over
    them beside the other side."""
    def least(number):
        for u in reversed(points):
            number = infimum(u, number)
        return number

    small, large = (left, right) if relation == "<=" else (right, left)
    if large.free_symbols.isdisjoint(points):
        small = -least(-small)
    elif small.free_symbols.isdisjoint(points):
        large = least(large)
    else:
        small, large = sp.Integer(0), least(large - small)
    return (small, large) if relation == "<=" else (large, small)


def without_points(left, relation: str, right) -> tuple[sp.Expr, sp.Expr, tuple[sp.Symbol, ...]]:
    """Both sides of a relation at a point, and the points at all of which it holds: the inverse of :func:`at_all_points`.
    No points for a relation that has none, or is an equation."""
    small, large = (left, right) if relation == "<=" else (right, left)
    points: tuple[sp.Symbol, ...] = ()
    if relation != "==" and isinstance(large, infimum) and not small.has(infimum):
        points, large = points_of(large)
    elif relation != "==" and isinstance(-small, infimum) and not large.has(infimum):
        points, least = points_of(-small)
        small = -least
    return *((small, large) if relation == "<=" else (large, small)), points


def points_of(e: infimum) -> tuple[tuple[sp.Symbol, ...], sp.Expr]:
    """The points over which a least value is taken, one or two, and the formula."""
    u, body = e.args
    return ((u, body.args[0]), body.args[1]) if isinstance(body, infimum) else ((u,), body)


def not_by_coordinates(a, points: Sequence[sp.Symbol]) -> sp.Expr | None:
    """The part of a number ``a`` for which it is no sum over coordinates of functions of one coordinate of the points; None
    if there is none.

    Such are, of vectors that are sums of multiples of the points, of gradients at them and of vectors without them, squared
    norms and inner products; losses at the points; and sums of multiples of all these.
    """
    if not _has(a, points):
        return None
    if isinstance(a, sp.Add):
        return next((part for term in a.args if (part := not_by_coordinates(term, points)) is not None), None)
    if isinstance(a, sp.Mul):
        with_points = [factor for factor in a.args if _has(factor, points)]
        return not_by_coordinates(with_points[0], points) if len(with_points) == 1 else a
    if isinstance(a, sp.Sum):
        return a if _in_limits(a, points) else not_by_coordinates(a.function, points)
    if isinstance(a, operators.F | operators.objective):
        return None if _at_a_point(a, points) else a
    if isinstance(a, operators.norm2 | operators.dot):
        return next((vector for vector in a.args if not _linear(vector, points)), None)
    return a


def _has(e, points) -> bool:
    return not e.free_symbols.isdisjoint(points)


def _in_limits(e, points) -> bool:
    return any(_has(limit, points) for triple in e.limits for limit in triple[1:])


def _at_a_point(e, points) -> bool:
    """Whether the last argument is one of the points, and no other has one."""
    return e.args[-1] in points and not _has(sp.Tuple(*e.args[:-1]), points)


def _linear(v, points) -> bool:
    """Whether a vector is a sum of multiples of the points, of gradients at them and of vectors without them."""
    if v in points or not _has(v, points):
        return True
    if isinstance(v, sp.Add):
        return all(_linear(term, points) for term in v.args)
    if isinstance(v, sp.Mul):
        with_points = [factor for factor in v.args if _has(factor, points)]
        return len(with_points) == 1 and _linear(with_points[0], points)
    if isinstance(v, sp.Sum):
        return not _in_limits(v, points) and _linear(v.function, points)
    return isinstance(v, operators.grad | operators.objective_grad) and _at_a_point(v, points)
