"""Evaluates the least value of a formula over all points of R^dim, for clients whose losses are sums over coordinates.

Along a coordinate the formula is quadratic between the knots of the losses, so that three values between two knots, and
three beyond the last ones, determine it. :func:`bounds.language.space.not_by_coordinates` says for which formulas.
"""

import numpy as np
import sympy as sp

from bounds.language.space import infimum
from synthetic.numbers.arrays import namespace, to_numpy
from synthetic.piecewise.piecewise import Piecewise
from synthetic.quadratic.quadratic import Quadratic
from synthetic.quadratic.turned import Turned
from verify.evaluation.environment import NamedArray, UnboundName
from verify.evaluation.evaluate import WORDS, Evaluator, Value
from verify.evaluation.scopes import LEAD

__all__ = ["least_of_quadratics", "probes"]

_ROUNDING = 1e-10  # relative to the values, of float64


def probes(federation):
    """Points that determine a sum of functions of one coordinate which are quadratic between the knots of the losses:
    (instances, 1 + dim * intervals * 3, dim). First any point; then, by coordinate and interval, that point with three other
    values of the coordinate, evenly spaced. The first interval ends at the first knot, the last one begins at the last."""
    given = federation.given if isinstance(federation, Turned) else federation
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
    some = 0 if values.dtype == object else _ROUNDING * (abs(low) + abs(middle) + abs(high))
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


def _infimum(evaluator: Evaluator, node, scope) -> Value:
    u, body = node.args
    federation, bound = evaluator.env.federation, evaluator.env.bound
    if federation is None:
        raise UnboundName(f"a condition for all {u} is one on losses, and no federation is bound")
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
