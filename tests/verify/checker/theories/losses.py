"""Random losses of one coordinate in exact numbers: quadratic between knots, with all that theories say of their class.

Shares no code with the checker.
"""

from fractions import Fraction as Q
from itertools import pairwise

__all__ = ["Curve", "clients", "mean"]


class Curve:
    """A function of one number, of which ``bends`` are the second derivatives between ascending ``knots``, that is 0 at 0
    and has the slope ``tilt`` there."""

    def __init__(self, knots, bends, tilt=Q(0), level=Q(0)):
        assert len(bends) == len(knots) + 1 and knots == sorted(knots)
        self.knots, self.bends, self.tilt, self.level = knots, bends, tilt, level

    def steps(self, y):
        """From 0 to y: (length, with its sign, and bend) of each part."""
        ends = [0, *(knot for knot in self.knots if 0 < knot < y), y] if y >= 0 else [
            0, *(knot for knot in reversed(self.knots) if y < knot < 0), y]
        for start, end in pairwise(ends):
            middle = (start + end) / Q(2)
            yield end - start, self.bends[sum(knot <= middle for knot in self.knots)]

    def slope(self, y): return self.tilt + sum(length * bend for length, bend in self.steps(y))

    def value(self, y):
        slope, value = self.tilt, self.level
        for length, bend in self.steps(y):
            value += slope * length + bend * length * length / 2
            slope += bend * length
        return value

    def crossings(self, pull=Q(0), push=Q(0)):
        """Where the slope, plus pull y + push, is 0: each such point that is alone, and the knots where it is so."""
        places = [None, *self.knots, None]
        for bend, (low, high) in zip(self.bends, pairwise(places), strict=True):
            base = low if low is not None else high if high is not None else Q(0)
            rate = bend + pull
            here = self.slope(base) + pull * base + push
            y = base if here == 0 else base - here / rate if rate else None
            if y is not None and (low is None or low <= y) and (high is None or y <= high):
                yield y

    def infimum(self):
        """The least value; None where there is none."""
        if min(self.bends[0], self.bends[-1]) < 0:
            return None
        knots = self.knots or [Q(0)]
        if (self.bends[0] == 0 and self.slope(knots[0]) > 0) or (self.bends[-1] == 0 and self.slope(knots[-1]) < 0):
            return None
        return min(self.value(y) for y in (*knots, *self.crossings()))

    def solution(self, pull, push):
        """Where the slope plus pull y + push is 0, if the slope then only rises."""
        assert min(self.bends) + pull > 0
        return next(self.crossings(pull, push))

    def steepest(self):
        """The largest absolute value of the slope, of a function that is straight at both ends."""
        assert self.bends[0] == self.bends[-1] == 0
        return max(abs(self.slope(y)) for y in (*self.knots, Q(0)))

    def moved(self, y, tilt=Q(0)):
        """The function with the point y at 0, and another slope added."""
        return Curve([knot - y for knot in self.knots], self.bends, self.slope(y) + tilt, self.value(y))


def mean(weights, curves):
    """The weighted mean of functions."""
    knots = sorted({knot for curve in curves for knot in curve.knots})
    places = [-(10**9), *((a + b) / Q(2) for a, b in pairwise(knots)), 10**9]
    places = places if knots else [0]
    bends = [sum(p * curve.bends[sum(knot <= y for knot in curve.knots)] for p, curve in zip(weights, curves, strict=True))
             for y in places]
    return Curve(knots, bends, sum(p * curve.slope(Q(0)) for p, curve in zip(weights, curves, strict=True)),
                 sum(p * curve.value(Q(0)) for p, curve in zip(weights, curves, strict=True)))


def bends_of(rng, kind, count, unit):
    """Second derivatives of a kind of function, or those that are a number.

    Both ends of the class, the unit and the least that the kind has, are reached.
    """
    if isinstance(kind, Q):
        return [unit * kind] * (count + 1)
    low = {"quadratic": Q(1, 4), "convex": Q(0), "strongly convex": Q(1, 4), "weakly convex": Q(-1), "Huber": Q(0)}[kind]
    if kind == "quadratic":
        return [unit * rng.choice([low, Q(1), Q(1, 2)])] * (count + 1)
    found = [unit * rng.choice([low, Q(1), low + (1 - low) * Q(rng.randint(0, 4), 4)]) for _ in range(count + 1)]
    if kind == "Huber":
        found[0] = found[-1] = Q(0)
    if kind == "weakly convex":
        found[0], found[-1] = abs(found[0]), abs(found[-1])
    return found


def curve(rng, kind, unit=1, fine=2):
    """A random function of a kind, without a tilt."""
    count = 0 if kind == "quadratic" or isinstance(kind, Q) else rng.choice([2, 3] if kind == "Huber" else [1, 2, 3])
    knots = sorted({Q(rng.randint(-3 * fine, 3 * fine), fine) for _ in range(count)})
    return Curve(knots, bends_of(rng, kind, len(knots), unit), Q(rng.randint(-2, 2)))


def clients(rng, kinds, weights, unit=1):
    """Functions of one coordinate, one of each client, whose weighted mean is least at 0."""
    while True:
        curves = [curve(rng, kind, unit) for kind in kinds]
        whole = mean(weights, curves)
        least = whole.infimum()
        if least is None:
            continue
        bottom = next((y for y in (*whole.knots, Q(0), *whole.crossings()) if whole.value(y) == least), None)
        found = [curve.moved(bottom) for curve in curves]
        assert sum(p * one.slope(Q(0)) for p, one in zip(weights, found, strict=True)) == 0
        return found
