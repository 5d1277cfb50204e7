"""The least value of a formula over all points of R^dim, for the stand-alone checker.

Allowed are sums of functions of one coordinate of the point: squared norms and inner products of vectors that are sums of
multiples of the point, of gradients there and of vectors without it; losses there; sums of multiples of these. With losses
that are quadratic between knots, such a function of one coordinate is quadratic between these knots.
"""

from fractions import Fraction

from verify.checker.intervals import Vector
from verify.checker.limits import TERMS, bounded
from verify.checker.words import require


def infimum(replay, point, body, index, outcome):
    """The least value of the formula ``body`` over all vectors that ``point`` may be; minus infinity is refused."""
    require(isinstance(point, str) and not replay.factored, "an infimum is one over points, of losses without factors")
    require(number(body, point), f"the least value over all {point} is known of sums over coordinates alone")
    require(getattr(replay, "lines", None), "the least value over all points is known of clients without samples")
    base = replay.model(replay.given["x_star"])

    def at(place, value):
        moved = Vector(value if i == place else entry for i, entry in enumerate(base))
        return replay.value(body, {**index, point: replay.turn(moved)}, outcome)

    first = total = replay.value(body, {**index, point: replay.given["x_star"]}, outcome)
    for place in range(len(base)):
        knots = sorted({knot for lines in replay.lines for knot in lines[place].knots()})
        bounded(3 * len(knots) * len(base), TERMS, "points at which a formula is evaluated")
        pieces = zip([None, *knots], [*knots, None], strict=True)
        total = total + min(least(lambda value, place=place: at(place, value), *ends) for ends in pieces) - first
    return total


def least(function, low, high):
    """The least value of a function that is quadratic from ``low`` to ``high``; None is no end."""
    start = low if low is not None else high - 2
    step = (high - start) / 2 if high is not None else Fraction(1)
    values = [function(start + step * times) for times in range(3)]
    slope, bend = (values[2] - values[0]) / 2, (values[2] + values[0]) / 2 - values[1]
    ends = [value for value, end in ((values[0], low), (values[2], high)) if end is not None]
    if bend > 0:  # the bottom lies at -slope / (2 bend) steps from the middle
        inside = (low is None or slope < 2 * bend) and (high is None or -slope < 2 * bend)
        return values[1] - slope * slope / (4 * bend) if inside else min(ends)
    falls = (bend < 0 and len(ends) < 2) or (bend == 0 and ((low is None and slope > 0) or (high is None and slope < 0)))
    require(not falls, "a formula is not bounded below over all points")
    return min(ends)


def number(body, point):
    """Whether a number is a sum of functions of one coordinate of the point."""
    if not names(body, point):
        return True
    word, *args = body if isinstance(body, list) else [body]
    with_point = [argument for argument in args if names(argument, point)]
    if word == "+":
        return all(number(argument, point) for argument in args)
    if word == "*":
        return len(with_point) == 1 and number(with_point[0], point)
    if word == "Sum":
        return args[1] != point and with_point == [args[0]] and number(args[0], point)
    if word in ("F", "objective"):
        return args[-1] == point and len(with_point) == 1
    return word in ("norm2", "dot") and all(vector(argument, point) for argument in args)


def vector(body, point):
    """Whether a vector is a sum of multiples of the point, of gradients there, and of vectors without it."""
    if body == point or not names(body, point):
        return True
    word, *args = body if isinstance(body, list) else [body]
    with_point = [argument for argument in args if names(argument, point)]
    if word == "+":
        return all(vector(argument, point) for argument in args)
    if word == "*":
        return len(with_point) == 1 and vector(with_point[0], point)
    if word == "Sum":
        return args[1] != point and with_point == [args[0]] and vector(args[0], point)
    return word in ("grad", "objective_grad") and args[-1] == point and len(with_point) == 1


def names(body, point):
    """Whether a formula names the point."""
    return body == point or (isinstance(body, list) and any(names(part, point) for part in body[1:]))
