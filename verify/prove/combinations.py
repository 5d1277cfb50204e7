"""Polynomials as sums of multiples of others, by a linear program and exact elimination."""

import warnings
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csc_matrix

__all__ = ["combination", "combine"]

_LEAST = 1e-9
_ITERATIONS = 4000  # of a linear program
_MOST = 100  # factors that are solved for exactly
_SIMPLE = 10**4  # denominator of a factor that is to be positive, where it is open


def combination(goal: dict, columns: Sequence[tuple[dict, bool]], strict: Sequence[bool] = ()) -> list[Fraction] | None:
    """Factors of the columns, at least 0 where the second entry of a column says so, that add up to the goal exactly.

    Args:
        goal: coefficients by monomial.
        columns: the same of each column, and whether its factor may not be negative.
        strict: which columns are positive; one of them is used if there are any.

    Returns:
        The factors; None where none are found.
    """
    rows = {m: n for n, m in enumerate(dict.fromkeys([*goal, *(m for column, _ in columns for m in column)]))}
    data, at, of = [], [], []
    for n, (column, _) in enumerate(columns):
        values = [c.numerator / c.denominator for c in column.values()]
        scale = max(map(abs, values))
        data += [value / scale for value in values]
        at += [rows[m] for m in column]
        of += [n] * len(column)
    matrix = csc_matrix((data, (at, of)), shape=(len(rows), len(columns)))
    right = np.zeros(len(rows))
    for m, c in goal.items():
        right[rows[m]] = float(c)
    costs = np.array([(1.0 + 0.01 * len(column)) * sign for column, sign in columns])
    below, above = None, None
    if any(strict):
        below, above = csc_matrix(-np.array([[float(s) for s in strict]])), np.array([-1e-3 * max(1.0, abs(right).max())])
    for attempt in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bounds = [(0, None) if sign else (None, None) for _, sign in columns]
            found = linprog(costs if attempt == 0 else costs * np.random.default_rng(1).uniform(0.5, 2, len(costs)),
                            A_eq=matrix, b_eq=right, A_ub=below, b_ub=above, bounds=bounds, method="highs-ds",
                            options={"maxiter": _ITERATIONS})
        if found.status != 0:
            return None
        used = [n for n, x in enumerate(found.x) if abs(x) > _LEAST]
        fixed = {n: Fraction(found.x[n]).limit_denominator(_SIMPLE) for n in used if any(strict) and strict[n]}
        for given in ({}, fixed)[: 1 + bool(fixed)] if len(used) <= _MOST else ():
            factors = _completed(goal, columns, used, given)
            if factors is not None and (not any(strict) or any(x > 0 and s for x, s in zip(factors, strict, strict=True))):
                return factors
    return None


def _completed(goal: dict, columns: Sequence[tuple[dict, bool]], used: Sequence[int],
               given: dict[int, Fraction]) -> list[Fraction] | None:
    """The factors of all columns, of which some are given and those that are not used are 0; None where one that may not be
    negative is."""
    rest = dict(goal)
    for n, x in given.items():
        for m, c in columns[n][0].items():
            rest[m] = rest.get(m, 0) - x * c
    open_ = [n for n in used if n not in given]
    exact = combine(rest, [columns[n][0] for n in open_])
    if exact is None or any(x < 0 and columns[n][1] for n, x in zip(open_, exact, strict=True)):
        return None
    factors = [Fraction(0)] * len(columns)
    for n, x in (*given.items(), *zip(open_, exact, strict=True)):
        factors[n] = x
    return factors


def combine(goal: dict, columns: Sequence[dict]) -> list[Fraction] | None:
    """Factors with which the columns add up to the goal, by elimination in fractions; 0 where they are free."""
    rows = dict.fromkeys([*goal, *(m for column in columns for m in column)])
    table = [[*(Fraction(column.get(m, 0)) for column in columns), Fraction(goal.get(m, 0))] for m in rows]
    pivots, width = [], len(columns)
    for column in range(width):
        line = next((r for r in range(len(pivots), len(table)) if table[r][column]), None)
        if line is None:
            continue
        here = len(pivots)
        table[here], table[line] = table[line], table[here]
        lead = table[here][column]
        table[here] = [x / lead for x in table[here]]
        for r, row in enumerate(table):
            if r != here and row[column]:
                factor = row[column]
                table[r] = [a - factor * b if b else a for a, b in zip(row, table[here], strict=True)]
        pivots.append(column)
    if any(row[width] for row in table[len(pivots):]):
        return None
    found = [Fraction(0)] * width
    for row, column in zip(table, pivots, strict=False):
        found[column] = row[width]
    return found
