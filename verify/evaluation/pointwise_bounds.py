"""Evaluates the least value of a formula over all points of R^dim, for clients whose losses are sums over coordinates.

Along a coordinate the formula is quadratic between the knots of the losses, so that three values between two knots, and
three beyond the last ones, determine it. :func:`bounds.language.space.not_by_coordinates` says for which formulas. Where
quadratic clients have a basis each, such a formula is a quadratic function of all coordinates together.
"""

import numpy as np
import sympy as sp

from bounds.language.space import infimum, points_of
from synthetic.numbers.arrays import namespace, to_numpy
from synthetic.piecewise.piecewise import Piecewise
from synthetic.quadratic.quadratic import Quadratic
from synthetic.quadratic.turned import Turned, as_given
from verify.evaluation.environment import NamedArray, UnboundName
from verify.evaluation.evaluate import WORDS, Evaluator, Value
from verify.evaluation.quadratic_bounds import least_of_quadratic, moves_that_determine
from verify.evaluation.scopes import LEAD
from verify.evaluation.term_sizes import SizeEvaluator

__all__ = ["least_of_quadratics", "probes"]

_ROUNDING = 1e-10  # relative to the values, of float64
_NOTHING = 1e-26  # squares of rounding errors, in units in which leaves are about 1
_OF_TERMS = 1e-11  # relative to the sizes of terms, of float64
_MOST_PAIRS = 12_000  # of points at which a formula is evaluated


def probes(federation):
    """Points that determine a sum of functions of one coordinate which are quadratic between the knots of the losses:
    (instances, 1 + dim * intervals * 3, dim). First any point; then, by coordinate and interval, that point with three other
    values of the coordinate, evenly spaced. The first interval ends at the first knot, the last one begins at the last."""
    given = as_given(federation)
    if isinstance(given, Piecewise):
        ends = [to_numpy(sign * given.width + given.knot) for sign in (-1, 1)]  # (instances, clients, samples, dim, pieces)
        knots = np.moveaxis(np.concatenate(ends, axis=-1), 3, 1).reshape(given.instances, given.dim, -1)
    elif isinstance(given, Quadratic) and given.diagonal:
        knots = np.zeros((given.instances, given.dim, 0), dtype=to_numpy(given.center).dtype)
    else:
        raise UnboundName(f"the least value over all points is known of quadratic and piecewise quadratic clients alone, "
                          f"whose losses are sums over coordinates; got {given.name}")
    base = to_numpy(given.x_star)
    base = base if base.dtype == object else np.nan_to_num(base)
    knots = np.sort(np.concatenate([knots, base[..., None]], axis=-1), axis=-1)
    beyond = 1 + knots[..., -1:] - knots[..., :1]
    ends = np.concatenate([knots[..., :1] - 2 * beyond, knots, knots[..., -1:] + 2 * beyond], axis=-1)
    values = np.stack([ends[..., :-1], (ends[..., :-1] + ends[..., 1:]) / 2, ends[..., 1:]], axis=-1)
    rows, dim = base.shape
    points = np.broadcast_to(base[:, None, None, None, :], (*values.shape, dim)).copy()
    for coordinate in range(dim):
        points[:, coordinate, :, :, coordinate] = values[:, coordinate]
    points = np.concatenate([base[:, None], points.reshape(rows, -1, dim)], axis=1)
    points = federation.backend.array(points)
    return federation.turn(points) if isinstance(federation, Turned) else points


def least_of_quadratics(values, first_open: int = 0, last_open: int = -1):
    """The least value of a piecewise quadratic function from three evenly spaced ``values`` on each piece, (..., pieces, 3).
    The piece ``first_open`` goes on to minus infinity, ``last_open`` to infinity."""
    xp = namespace(values)
    low, middle, high = values[..., 0], values[..., 1], values[..., 2]
    slope, bend = (high - low) / 2, (high + low) / 2 - middle
    some = 0 if values.dtype == object else _ROUNDING * (abs(low) + abs(middle) + abs(high)) + _NOTHING
    ends = xp.where(low < high, low, high)
    convex = bend > some
    divisor = xp.where(convex, 4 * bend, 0 * bend + 1)
    at_the_bottom = middle - slope * slope / divisor
    inside = xp.where(convex & (abs(slope) < 2 * bend), at_the_bottom, ends)
    falls, opening = np.full(bend.shape, -np.inf, dtype=object) if bend.dtype == object else 0 * bend - np.inf, {}
    for piece, outward, end in ((first_open, -slope, high), (last_open, slope, low)):
        flat = ~convex & (bend >= -some)
        turns = convex & (outward < 2 * bend)  # the bottom lies on the piece
        found = xp.where(turns, at_the_bottom, end)
        found = xp.where((~convex & ~flat) | (flat & (outward < -some)), falls, found)
        opening[piece % values.shape[-2]] = found[..., piece]
    pieces = [opening.get(piece, inside[..., piece]) for piece in range(values.shape[-2])]
    least = pieces[0]
    for piece in pieces[1:]:
        least = xp.where(piece < least, piece, least)
    return least


def probes_of_pairs(federation):
    """Pairs of points that determine a sum of functions of one coordinate of both: all first points, all second ones, each
    (instances, 1 + dim * (intervals * 3)^2, dim), and the number of intervals. First the point of :func:`probes` twice, then
    by coordinate every pair of its values."""
    points, dim = probes(federation), federation.dim
    count = (points.shape[1] - 1) // dim
    first, second = [np.zeros(1, dtype=int)], [np.zeros(1, dtype=int)]
    for coordinate in range(dim):
        own = 1 + coordinate * count + np.arange(count)
        first.append(np.repeat(own, count))
        second.append(np.tile(own, count))
    if dim * count**2 > _MOST_PAIRS:
        raise UnboundName(f"at most {_MOST_PAIRS} pairs of points are looked at; got {dim * count**2}")
    return points[:, np.concatenate(first)], points[:, np.concatenate(second)], count // 3


def least_on_rectangles(values, booleans=np.asarray):
    """The least value of a function that is quadratic on each rectangle, from its values on three times three evenly spaced
    points of each, (..., pieces, 3, pieces, 3). The first and the last pieces go on to infinity. ``booleans`` makes NumPy's
    truth values those of the backend."""
    xp, exact = namespace(values), values.dtype == object
    f = [[values[..., :, a, :, b] for b in range(3)] for a in range(3)]
    some = 0 if exact else _ROUNDING * sum(abs(f[a][b]) for a in range(3) for b in range(3)) + _NOTHING
    c, a, b = f[1][1], (f[2][1] - f[0][1]) / 2, (f[1][2] - f[1][0]) / 2
    p, r = (f[2][1] + f[0][1]) / 2 - c, (f[1][2] + f[1][0]) / 2 - c
    q = (f[2][2] - f[2][0] - f[0][2] + f[0][0]) / 4
    pieces = values.shape[-2]
    along = [np.arange(pieces).reshape(shape) for shape in ((-1, 1), (1, -1))]
    open_ends = {(axis, sign): booleans(np.broadcast_to(along[axis] == (0 if sign < 0 else pieces - 1), (pieces, pieces)))
                 for axis in (0, 1) for sign in (-1, 1)}
    found = None
    for axis, sign in open_ends:  # the edges that are there
        start, slope, bend = ((c + sign * a + p, b + sign * q, r) if axis == 0 else (c + sign * b + r, a + sign * q, p))
        convex = bend > some
        bottom = -slope / xp.where(convex, 2 * bend, 0 * bend + 1)
        inside = convex
        for side in (-1, 1):
            inside = inside & (open_ends[1 - axis, side] | (side * bottom < 1))
        least = xp.where(inside, start + slope * bottom / 2, _infinite(start, 1))
        for side in (-1, 1):
            end, outward = start + side * slope + bend, side * slope
            falls = (bend < -some) | (~convex & (outward < -some))
            least = _least(least, xp.where(open_ends[1 - axis, side], xp.where(falls, _infinite(end, -1), least), end))
        least = xp.where(open_ends[axis, sign], _infinite(start, 1), least)  # no edge
        found = least if found is None else _least(found, least)
    determinant, scale = 4 * p * r - q * q, 0 if exact else _ROUNDING * (abs(p) + abs(q) + abs(r)) ** 2
    definite = (p > some) & (r > some) & (determinant > scale)
    divisor = xp.where(definite, determinant, 0 * determinant + 1)
    s, t = (q * b - 2 * r * a) / divisor, (q * a - 2 * p * b) / divisor
    inside = definite
    for axis, place in ((0, s), (1, t)):
        for side in (-1, 1):
            inside = inside & (open_ends[axis, side] | (side * place <= 1))
    found = _least(found, xp.where(inside, c + (a * s + b * t) / 2, found))
    for first in (-1, 1):  # rectangles that go on to infinity along both coordinates
        for second in (-1, 1):
            both, mixed = open_ends[0, first] & open_ends[1, second], first * second * q
            falls = (mixed < -some) & (determinant < -scale)
            flat = (mixed < -some) & ~falls & (determinant <= scale)
            falls = falls | (flat & (first * a * abs(q) + second * b * 2 * p < -some * (abs(q) + abs(p))))
            found = xp.where(both & falls, _infinite(found, -1), found)
    return xp.min(xp.min(found, axis=-1), axis=-1)


def _infinite(like, sign: int):
    return namespace(like).full_like(like, sign * np.inf)


def _least(one, other):
    return namespace(one).where(other < one, other, one)


def _over_pairs(evaluator: Evaluator, points, body, scope) -> Value:
    """The least value over all pairs of points."""
    federation, bound = evaluator.env.federation, evaluator.env.bound
    names, index = [f"pairs {point}" for point in points], sp.Symbol("number of pairs", integer=True)
    *probed, intervals = probes_of_pairs(federation)
    for name, points_of_name in zip(names, probed, strict=True):
        bound[name] = NamedArray(points_of_name[:, None, None], 1, True)
    count = probed[0].shape[1]
    inner, _ = evaluator.enter(index.name, 0, count - 1, scope)
    put = {point: sp.IndexedBase(name, real=True)[index] for point, name in zip(points, names, strict=True)}
    value = evaluator.value(body.xreplace(put), inner).data
    xp = namespace(value)
    value = xp.broadcast_to(value, (*value.shape[:-1], count))
    if evaluator.of_sizes:
        return Value(xp.max(value, axis=-1))
    first, others = value[..., 0], value[..., 1:]
    others = others.reshape(*first.shape, federation.dim, intervals, 3, intervals, 3)
    least = least_on_rectangles(others, evaluator.env.backend.booleans)
    return Value(first + xp.sum(least - first[..., None], axis=-1))


def _over_all_coordinates(evaluator: Evaluator, points, body, scope) -> Value:
    """The least value over all points, or all pairs of points, of a quadratic function of all their coordinates."""
    federation, bound, dim = evaluator.env.federation, evaluator.env.bound, evaluator.env.federation.dim
    moves, index = moves_that_determine(len(points) * dim), sp.Symbol("number of moves", integer=True)
    inner, _ = evaluator.enter(index.name, 0, len(moves) - 1, scope)
    put = {}
    for place, point in enumerate(points):
        move = evaluator.env.backend.array(moves[:, place * dim : (place + 1) * dim])
        bound[f"moves of {point}"] = NamedArray((federation.x_star[:, None] + move)[:, None, None], 1, True)
        put[point] = sp.IndexedBase(f"moves of {point}", real=True)[index]
    formula = body.xreplace(put)
    value, some = evaluator.value(formula, inner).data, 0
    xp = namespace(value)
    value = xp.broadcast_to(value, (*value.shape[:-1], len(moves)))
    if evaluator.of_sizes:
        return Value(xp.max(value, axis=-1))
    if value.dtype != object:
        some = _OF_TERMS * xp.max(SizeEvaluator(evaluator.env).value(formula, inner).data, axis=-1) + _NOTHING
    return Value(least_of_quadratic(value, moves.shape[1], some))


def _infimum(evaluator: Evaluator, node, scope) -> Value:
    (u, *more), body = points_of(node)
    federation, bound = evaluator.env.federation, evaluator.env.bound
    if federation is None:
        raise UnboundName(f"a condition for all {u} is one on losses, and no federation is bound")
    if not scope.inside.size:  # an index around it has no value
        return Value(evaluator.env.backend.array(np.zeros((*(1,) * LEAD, *scope.inside.shape), dtype=object)))
    if as_given(federation) is federation and isinstance(federation, Turned):
        return _over_all_coordinates(evaluator, (u, *more), body, scope)
    if more:
        return _over_pairs(evaluator, (u, *more), body, scope)
    name, index = f"points {u}", sp.Symbol(f"number of {u}", integer=True)
    if name not in bound:
        bound[name] = NamedArray(probes(federation)[:, None, None], 1, True)
    count = bound[name].data.shape[LEAD]
    inner, _ = evaluator.enter(index.name, 0, count - 1, scope)
    value = evaluator.value(body.xreplace({u: sp.IndexedBase(name, real=True)[index]}), inner).data
    xp = namespace(value)
    value = xp.broadcast_to(value, (*value.shape[:-1], count))
    if evaluator.of_sizes:
        return Value(xp.max(value, axis=-1))
    first, others = value[..., 0], value[..., 1:]
    values = others.reshape(*first.shape, federation.dim, -1, 3)
    least = least_of_quadratics(values)
    return Value(first + xp.sum(least - first[..., None], axis=-1))


WORDS[infimum] = _infimum
