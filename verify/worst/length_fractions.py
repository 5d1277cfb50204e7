"""Fractions near the numbers of a solver that make a proof about lengths."""

from fractions import Fraction
from typing import Any

from verify.checker.quadratic_forms import SymbolicVector
from verify.symbolic.length_rules import nonnegative
from verify.symbolic.norm_expressions import NormExpression, lower, number, upper
from verify.worst.length_columns import Column

__all__ = ["combination", "substituted"]

_PASSES = 2  # over all that is to be made up for
_FINEST = 10**18  # denominators of multipliers that are rounded up


def combination(parts: list[SymbolicVector], whole: SymbolicVector, near) -> list[Fraction] | None:
    """The coefficients, near the given ones, of which the parts sum to the whole; None where there are none."""
    letters = sorted({letter for row in (*parts, whole) for letter in row.terms})
    rows = [[row.terms.get(letter, Fraction(0)) for row in parts] + [whole.terms.get(letter, Fraction(0))]
            for letter in letters]
    pivots: dict[int, list[Fraction]] = {}
    for row in rows:
        for column, other in pivots.items():
            if row[column]:
                row = [a - row[column] * b for a, b in zip(row, other, strict=True)]
        lead = max((n for n in range(len(parts)) if row[n]), key=lambda n: abs(near[n]), default=None)
        if lead is None:
            if row[-1]:
                return None
            continue
        row = [a / row[lead] for a in row]
        for column, other in pivots.items():
            if other[lead]:
                pivots[column] = [a - other[lead] * b for a, b in zip(other, row, strict=True)]
        pivots[lead] = row
    free = {n: Fraction(float(near[n])).limit_denominator(10**4) for n in range(len(parts)) if n not in pivots}
    return [free[n] if n in free else pivots[n][-1] - sum((pivots[n][m] * c for m, c in free.items()), Fraction(0))
            for n in range(len(parts))]


def substituted(gap: NormExpression, columns: list[Column], weights: list[float]) -> list[Fraction] | None:
    """Multipliers of amounts that leave nothing negative of a gap: every negative coefficient is made up for by the amounts
    that bound it, in proportion to the weights; None where that does not end."""
    shares: dict[Any, dict[int, Fraction]] = {}
    for place, (column, weight) in enumerate(zip(columns, weights, strict=True)):
        for key in column.params:
            if key:
                shares.setdefault(key, {})[place] = Fraction(-column.numbers[key] * weight)
    for own in shares.values():
        total, rest, most = sum(own.values()), Fraction(1), max(own, key=lambda place: own[place])
        for place in own:
            own[place] = (own[place] / total).limit_denominator(1000)
        own[most] += rest - sum(own.values())
    times = [Fraction(0)] * len(columns)
    for key in _order(shares, columns) * _PASSES:
        short = -lower(gap.terms.get(key, Fraction(0)))
        for place, share in shares[key].items() if short > 0 else ():
            more = short * share / -upper(number(columns[place].amount.terms[key]))
            if more.denominator > _FINEST**2:
                more = Fraction(-(-more.numerator * _FINEST // more.denominator), _FINEST)
            times[place] += more
            gap = gap - columns[place].amount * more
    return times if nonnegative(gap) else None


def _order(shares, columns) -> list[Any]:
    """The keys, each before those that making up for it takes from, where these do not run in a circle."""
    found: list[Any] = []
    begun: set[Any] = set()
    waiting: list[tuple[Any, bool]] = [(key, False) for key in shares]
    while waiting:
        key, done = waiting.pop()
        if done:
            found.append(key)
        elif key not in begun:
            begun.add(key)
            waiting.append((key, True))
            waiting += [(other, False) for place in shares[key] for other in columns[place].takes
                        if other in shares and other not in begun]
    return found[::-1]
