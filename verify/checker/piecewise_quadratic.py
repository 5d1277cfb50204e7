"""Functions of one number that are quadratic between knots, for the stand-alone checker: least values, slopes, extremes."""

from fractions import Fraction
from itertools import pairwise

#: constants that bound something over all points
BOUNDS = ("G_lip", "sigma_g", "sigma_g_1", "sigma_g_2", "sigma_g_max", "sigma_g_client")


def moved_into(y, width):
    """``y`` moved into [-width, width]; an interval that may lie on both sides of an end becomes one."""
    if hasattr(y, "low"):
        return type(y)(moved_into(y.low, width), moved_into(y.high, width))
    return max(-width, min(y, width))


class Line:
    """f(y) = sum of a/2 (y - c)^2 over squares (a, c), and of s h(y - c) over pieces (s, c, w).

    h(u) = u^2/2 where |u| <= w, and w |u| - w^2/2 beyond. Every a and w is at least 0. Pieces with s = 0 are left out.
    """

    def __init__(self, squares, pieces=()):
        self.squares, self.pieces = [*squares], [piece for piece in pieces if piece[0] != 0]
        if any(a < 0 for a, _ in self.squares) or any(w < 0 for _, _, w in self.pieces):
            raise ValueError("curvatures beyond the pieces and widths of pieces must be at least 0")
        self.outer = sum((a for a, _ in self.squares), Fraction(0))

    def __add__(self, other):
        return Line(self.squares + other.squares, self.pieces + other.pieces)

    def __mul__(self, weight):
        return Line([(a * weight, c) for a, c in self.squares], [(s * weight, c, w) for s, c, w in self.pieces])

    def slope(self, y):
        return sum((a * (y - c) for a, c in self.squares), Fraction(0)) + sum(
            s * moved_into(y - c, w) for s, c, w in self.pieces)

    def value(self, y):
        inner = [moved_into(y - c, w) for _, c, w in self.pieces]
        return sum((a * (y - c) ** 2 / 2 for a, c in self.squares), Fraction(0)) + sum(
            s * (i * (y - c) - i**2 / 2) for (s, c, _), i in zip(self.pieces, inner, strict=True))

    def knots(self):
        """Points between which f is quadratic, ascending, at least one."""
        return sorted({c + sign * w for _, c, w in self.pieces for sign in (-1, 1)}) or [Fraction(0)]

    def bends(self):
        """Every second derivative that f has."""
        return [self.outer, *((self.slope(q) - self.slope(p)) / (q - p) for p, q in pairwise(self.knots()))]

    def bounded(self):
        """Whether f has a minimum: it grows on both sides, or does not fall."""
        knots = self.knots()
        return self.outer > 0 or self.slope(knots[0]) <= 0 <= self.slope(knots[-1])

    def least(self):
        """The least value of f, which is at a knot or where the slope between two knots, or beyond all, crosses zero."""
        if not self.bounded():
            raise ValueError("the loss is not bounded below")
        points = self.knots()
        first, last = (y - self.slope(y) / self.outer if self.outer else y for y in (points[0], points[-1]))
        crossings = [p + (q - p) * self.slope(p) / (self.slope(p) - self.slope(q))
                     for p, q in pairwise(points) if self.slope(p) < 0 < self.slope(q)]
        return min(map(self.value, [first, last, *points, *crossings]))

    def solution(self, linear, pull, center):
        """The minimiser of f(y) + linear y + pull/2 (y - center)^2, if that is strictly convex."""
        whole = self + Line([(pull, center)])
        if min(whole.bends()) <= 0:
            raise ValueError("a local problem that is not strictly convex is not replayed")
        knots, slope = whole.knots(), lambda y: whole.slope(y) + linear
        for end, before in ((knots[0], slope(knots[0]) >= 0), (knots[-1], slope(knots[-1]) <= 0)):
            if before:
                return end - slope(end) / whole.outer
        for p, q in pairwise(knots):
            if slope(p) <= 0 <= slope(q):
                return p + (q - p) * slope(p) / (slope(p) - slope(q))
        raise ValueError("a local problem is not decided")


def supremum(lines, function):
    """The largest value over all points of a convex function of the slopes of lines that are constant beyond all knots."""
    return max(function([line.slope(y) for line in lines]) for y in {y for line in lines for y in line.knots()})


class Bounds:
    """Least squares of bounds over all points, of clients' losses that are sums of lines by coordinate.

    ``lines[k][j]`` of client k and coordinate j, ``weights`` of the clients in the objective, ``laws[k]`` pairs (chance,
    vector) of noise.
    """

    def __init__(self, lines, weights, laws):
        self.coordinates, self.weights, self.laws = [*zip(*lines, strict=True)], weights, laws

    def steepest(self, k, shift):
        """The largest |grad F_k + shift|^2."""
        if any(lines[k].outer for lines in self.coordinates):
            raise ValueError("the loss is not Lipschitz")
        return sum(supremum([lines[k]], lambda slopes, z=z: (slopes[0] + z) ** 2)
                   for lines, z in zip(self.coordinates, shift, strict=True))

    def apart(self, function):
        """The sum over coordinates of the largest value of a function of the clients' slopes less the objective's."""
        if any(len({line.outer for line in lines}) > 1 for lines in self.coordinates):
            raise ValueError("the clients' gradients are not within any distance of each other")

        def of_slopes(slopes):
            mean = sum(w * d for w, d in zip(self.weights, slopes, strict=True))
            return function([d - mean for d in slopes])

        return sum(supremum(lines, of_slopes) for lines in self.coordinates)

    def square(self, name, k=None):
        """The square of the least number that is a bound of that name."""
        clients = range(len(self.weights))
        if name == "G_lip":
            return max(self.steepest(k, z) for k in clients for _, z in self.laws[k])
        if name == "sigma_g_client":
            return self.apart(lambda gaps: gaps[k] ** 2)
        if name == "sigma_g_max":
            return max(self.square("sigma_g_client", k) for k in clients if self.weights[k])
        if name == "sigma_g_2" or len(self.coordinates) > 1:
            return self.apart(lambda gaps: sum(w * gap**2 for w, gap in zip(self.weights, gaps, strict=True)))
        return self.apart(lambda gaps: sum(w * abs(gap) for w, gap in zip(self.weights, gaps, strict=True))) ** 2
