"""The least value of a formula over all points of R^dim, or over all pairs, for the stand-alone checker.

Allowed are sums of functions of one coordinate of the point: squared norms and inner products of vectors that are sums of
multiples of the point, of gradients there and of vectors without it; losses there; sums of multiples of these. With losses
that are quadratic between knots, such a function of one coordinate is quadratic between these knots. Of quadratic clients
with a basis each, such a formula is a quadratic function of all coordinates together.
"""

from fractions import Fraction

from verify.checker.intervals import Vector
from verify.checker.limits import TERMS, bounded
from verify.checker.operators import require


def infimum(instance, args, at):
    """The least value of a formula over all vectors that a point may be, of ``args``, the point's name and the formula; over
    all pairs of vectors where the formula is a least value itself. Minus infinity is refused."""
    (point, body), federation = args, instance.federation
    points = (point,)
    if isinstance(body, list) and body[0] == "infimum":
        points, body = (point, body[1]), body[2]
    require(all(isinstance(one, str) for one in points), "an infimum is one over points")
    require(len({*points}) == len(points), "both points of an infimum have one name")
    require(number(body, points), f"the least value over all {' and '.join(points)} is known of sums over coordinates alone")
    require(getattr(federation, "lines", None) and not federation.factored,
            "the least value over all points is known of clients without samples or factors")
    star, coordinates = instance.given["x_star"], federation.coordinates

    def value_at(*vectors):
        index = {**at.index, **dict(zip(points, vectors, strict=True))}
        return instance.formulas.value(body, at._replace(index=index))

    if not coordinates.one_basis:
        dim, count = len(star), len(star) * len(points)
        bounded(count**2, TERMS, "points at which a formula is evaluated")
        return least_of_quadratic(
            lambda moves: value_at(*(star + Vector(moves[i : i + dim]) for i in range(0, count, dim))), count)
    base = coordinates.model(star)

    def value_with(place, *values):
        return value_at(*(coordinates.parameters(Vector(value if i == place else entry for i, entry in enumerate(base)))
                    for value in values))

    first = total = value_at(*(star for _ in points))
    for place in range(len(base)):
        knots = sorted({knot for lines in federation.lines for knot in lines[place].knots()})
        bounded((3 * (len(knots) + 1)) ** len(points) * len(base), TERMS, "points at which a formula is evaluated")
        pieces = [*zip([None, *knots], [*knots, None], strict=True)]
        if len(points) == 1:
            total = total + min(least(lambda value, place=place: value_with(place, value), *ends) for ends in pieces) - first
        else:
            total = total + min(least_of_two(lambda x, y, place=place: value_with(place, x, y), one, other)
                                for one in pieces for other in pieces) - first
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


def least_of_two(function, first, second):
    """The least value of a quadratic function of two numbers, each from one end to another, of which at most one is None."""
    starts = [low if low is not None else high - 2 for low, high in (first, second)]
    steps = [Fraction(1) if None in ends else (ends[1] - ends[0]) / 2 for ends in (first, second)]
    values = [[function(starts[0] + steps[0] * a, starts[1] + steps[1] * b) for b in range(3)] for a in range(3)]
    found = []
    for place, end in ((0, first[0]), (2, first[1])):
        if end is not None:
            found.append(least(along(values[place], starts[1], steps[1]), *second))
    for place, end in ((0, second[0]), (2, second[1])):
        if end is not None:
            found.append(least(along([row[place] for row in values], starts[0], steps[0]), *first))
    c, a, b = values[1][1], (values[2][1] - values[0][1]) / 2, (values[1][2] - values[1][0]) / 2
    p, r = (values[2][1] + values[0][1]) / 2 - c, (values[1][2] + values[1][0]) / 2 - c
    q = (values[2][2] - values[2][0] - values[0][2] + values[0][0]) / 4
    determinant = 4 * p * r - q * q
    if p > 0 and determinant > 0:  # the only place where the function is level
        s, t = (q * b - 2 * r * a) / determinant, (q * a - 2 * p * b) / determinant
        if all((low is None or place >= -1) and (high is None or place <= 1)
               for place, (low, high) in ((s, first), (t, second))):
            found.append(c + (a * s + b * t) / 2)
    if None in first and None in second:  # it does not fall along any direction in which both numbers go to infinity
        up, across = (1 if high is None else -1 for _, high in (first, second))
        mixed = up * across * q
        falls = mixed < 0 and (determinant < 0 or (determinant == 0 and up * a * abs(q) + across * b * 2 * p < 0))
        require(not falls, "a formula is not bounded below over all pairs of points")
    return min(found)


def least_of_quadratic(function, count):
    """The least value of a quadratic function of so many numbers, each of which in turn is best for the later ones."""
    def value(*places): return function([Fraction((i in places) - (~i in places)) for i in range(count)])

    numbers, constant, up = range(count), value(), [value(i) for i in range(count)]
    down = [value(~i) for i in numbers]
    slopes = [(a - b) / 2 for a, b in zip(up, down, strict=True)]
    bends = [[up[i] + down[i] - 2 * constant if i == j else value(i, j) - up[i] - up[j] + constant for j in numbers]
             for i in numbers]
    for i in numbers:
        pivot, later = bends[i][i], range(i + 1, count)
        level = pivot == 0 and slopes[i] == 0 and all(bends[i][j] == 0 for j in later)
        require(level or pivot > 0, "a formula is not bounded below over all points")
        for j in () if level else later:
            share = bends[j][i] / pivot
            slopes[j] -= share * slopes[i]
            bends[j] = [a - share * b for a, b in zip(bends[j], bends[i], strict=True)]
        constant = constant if level else constant - slopes[i] * slopes[i] / (2 * pivot)
    return constant


def along(values, start, step):
    """The quadratic function with these values at ``start`` and one and two steps farther."""
    slope, bend = (values[2] - values[0]) / 2, (values[2] + values[0]) / 2 - values[1]
    return lambda y: values[1] + ((y - start) / step - 1) * (slope + bend * ((y - start) / step - 1))


def number(body, points):
    """Whether a number is a sum of functions of one coordinate of the points."""
    if not names(body, points):
        return True
    word, *args = body if isinstance(body, list) else [body]
    inside = [argument for argument in args if names(argument, points)]
    if word == "+":
        return all(number(argument, points) for argument in args)
    if word == "*":
        return len(inside) == 1 and number(inside[0], points)
    if word == "Sum":
        return args[1] not in points and inside == [args[0]] and number(args[0], points)
    if word in ("F", "objective"):
        return args[-1] in points and len(inside) == 1
    return word in ("norm2", "dot") and all(vector(argument, points) for argument in args)


def vector(body, points):
    """Whether a vector is a sum of multiples of the points, of gradients there, and of vectors without them."""
    if body in points or not names(body, points):
        return True
    word, *args = body if isinstance(body, list) else [body]
    inside = [argument for argument in args if names(argument, points)]
    if word == "+":
        return all(vector(argument, points) for argument in args)
    if word == "*":
        return len(inside) == 1 and vector(inside[0], points)
    if word == "Sum":
        return args[1] not in points and inside == [args[0]] and vector(args[0], points)
    return word in ("grad", "objective_grad") and args[-1] in points and len(inside) == 1


def names(body, points):
    """Whether a formula names one of the points."""
    return body in points or (isinstance(body, list) and any(names(part, points) for part in body[1:]))
