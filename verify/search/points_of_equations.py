"""Points with fractions as coordinates that satisfy equations and lie near a given point.

Linear equations are put into the others. One equation of degree 2 may be left: the lines through one of its points that have
fractions as slopes meet it once more, each in a point with fractions (as for Pythagorean triples).
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import isqrt

import sympy as sp

from bounds.language.claim import Condition

__all__ = ["points_of_equations"]

_DENOMINATORS = (10, 30, 100, 300)  # of slopes
_FINEST = 10**6  # denominator of a number that a violation may have, when floats are made fractions again
_SMALL = (0, 1, -1, 2, -2)  # coordinates of the point through which the lines go
_MOST = 4  # variables of the equation of degree 2


def points_of_equations(conditions: Sequence[Condition], near: Mapping[str, float]) -> Iterator[dict[str, float]]:
    """Yield points on the equations among the conditions, nearer and nearer to ``near``, which nearly satisfies them; the
    other conditions may fail there. Yields nothing where no equation has degree 2, or more than one is left.

    Args:
        near: the value of each variable, by its name.
    """
    gaps = [c.left - c.right for c in conditions if c.relation == "=="]
    if any(not gap.is_polynomial(*gap.free_symbols) for gap in gaps):
        return
    put: dict[sp.Symbol, sp.Expr] = {}
    gaps = [sp.expand(gap) for gap in gaps]
    while (found := next(filter(None, map(_linear, gaps)), None)) is not None:
        variable, formula = found
        put = {s: sp.expand(f.subs(variable, formula)) for s, f in put.items()} | {variable: formula}
        gaps = [gap for each in gaps if (gap := sp.expand(each.subs(variable, formula))) != 0]
    names = sorted(set().union(*(gap.free_symbols for gap in gaps)), key=str)
    if len(gaps) != 1 or not 2 <= len(names) <= _MOST or any(s.name not in near for s in names):
        return
    quadric = sp.Poly(gaps[0], *names)
    start = _small_point(quadric) if quadric.total_degree() == 2 and quadric.domain in (sp.ZZ, sp.QQ) else None
    if start is None:
        return
    for denominator in _DENOMINATORS:
        slopes = [sp.Rational(round((near[s.name] - float(x)) * denominator), denominator)
                  for s, x in zip(names, start, strict=True)]
        step = sp.Symbol("step")
        line = sp.Poly(quadric.as_expr().subs({s: x + step * d for s, x, d in zip(names, start, slopes, strict=True)},
                                              simultaneous=True), step)
        if line.degree() == 2:
            along = -line.coeff_monomial(step) / line.coeff_monomial(step**2)
            point = {s: x + along * d for s, x, d in zip(names, start, slopes, strict=True)}
            others = {s: sp.Rational(str(value)) for s, value in ((s, near.get(s.name)) for f in put.values()
                                                                  for s in f.free_symbols - {*point}) if value is not None}
            point |= {s: f.subs({**point, **others}) for s, f in put.items()}
            if all(x.is_Rational and x.q <= _FINEST for x in point.values()):
                yield {**near, **{s.name: float(x) for s, x in point.items()}}


def _linear(gap: sp.Expr) -> tuple[sp.Symbol, sp.Expr] | None:
    """A variable that a linear equation, whose ``gap`` is 0, gives by the other variables, and its formula; None if the
    equation is not linear."""
    names = sorted(gap.free_symbols, key=str)
    if not names or sp.Poly(gap, *names).total_degree() != 1:
        return None
    return names[0], sp.expand(names[0] - gap / gap.coeff(names[0], 1))


def _small_point(quadric: sp.Poly) -> tuple[sp.Rational, ...] | None:
    """A point with fractions, of which all coordinates but one are small whole numbers, and not the apex of a cone, through
    which no line meets the cone once more; None if there is none."""
    for place, last in enumerate(quadric.gens):
        others = [s for s in quadric.gens if s != last]
        for values in product(_SMALL, repeat=len(others)):
            line = sp.Poly(quadric.as_expr().subs(dict(zip(others, values, strict=True))), last)
            root = _root(line)
            if root is None:
                continue
            point = *values[:place], root, *values[place:]
            if any(quadric.diff(s)(*point) != 0 for s in quadric.gens):
                return point
    return None


def _root(line: sp.Poly) -> sp.Rational | None:
    """A fraction at which a polynomial of degree 1 or 2 vanishes; None if there is none."""
    if line.degree() == 1:
        return -line.nth(0) / line.nth(1)
    if line.degree() != 2:
        return None
    a, b, c = line.nth(2), line.nth(1), line.nth(0)
    square = sp.Rational(b * b - 4 * a * c)
    if square < 0 or isqrt(square.p) ** 2 != square.p or isqrt(square.q) ** 2 != square.q:
        return None
    return (sp.Rational(isqrt(square.p), isqrt(square.q)) - b) / (2 * a)
