"""Sums of squares from positive semidefinite forms, in fractions."""

from fractions import Fraction
from math import gcd, lcm

from verify.checker.operators import require

__all__ = ["squares"]


def squares(terms):
    """Pairs (number, {vector: integer}): the inner products of a form as a sum of positive multiples of squared lengths,
    by elimination (L D L^T), rows of few entries first.

    Raises ValueError where other numbers remain than inner products and 1, or where it is no such sum."""
    require(all(type(key) is tuple for key, c in terms.items() if c), "what is left has losses or numbers without a value")
    require(terms.get((), 0) >= 0, "what is left is a negative number")
    rows = {}
    for key, c in terms.items():
        if key and c:
            i, j = key
            rows.setdefault(i, {})[j] = c if i == j else Fraction(c) / 2
            rows.setdefault(j, {})[i] = rows[i][j]
    found = []
    while rows := {i: row for i, row in rows.items() if row}:
        require(all(row.get(i, 0) > 0 for i, row in rows.items()), "what is left is not a sum of squares")
        place = min(rows, key=lambda i: (len(rows[i]), i))
        lead = rows.pop(place)
        pivot = lead[place]
        for i, a in lead.items():
            if i != place:
                rows[i].pop(place)
                for j, b in lead.items():
                    if j != place and (entry := rows[i].get(j, 0) - a * b / pivot):
                        rows[i][j] = entry
                    elif j != place:
                        rows[i].pop(j, None)
        size = lcm(*((c / pivot).denominator for c in lead.values()))
        whole = {i: int(c / pivot * size) for i, c in sorted(lead.items())}
        common = gcd(*whole.values())
        found.append((pivot * Fraction(common, size)**2, {i: c // common for i, c in whole.items()}))
    return found
