"""Inequalities that are linear in unknown terms, as sums of multiples of known ones.

At sampled numbers a linear program finds which known inequalities are needed. Their multipliers are then found as rational
functions of the numbers, so that both sides agree exactly, and are proven to be at least 0. Program and samples are not
trusted.
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import product

import numpy as np
import sympy as sp
from scipy import sparse
from scipy.optimize import linprog
from sympy.polys.matrices import DomainMatrix

__all__ = ["multiples"]

_SAMPLES, _TRIALS, _PROGRAMS = 4, 4000, 4
_LEAST = 1e-7  # a multiplier that is larger is needed
_MOST = 24  # multipliers that are looked for as functions


def multiples(gap, known: Sequence[tuple[sp.Expr, bool]], given: Sequence[tuple[sp.Expr, bool]], terms: Sequence[sp.Symbol],
              holds: Callable[[sp.Expr], bool], positive: Callable[[sp.Expr], bool]) -> list[int] | None:
    """The places of the known inequalities from which it follows that ``gap`` is at least 0; None where none are found.

    Args:
        gap: a polynomial in ``terms``, whose coefficients are rational functions of numbers.
        known: polynomials in ``terms`` that are at least 0, or equal to 0 where the second entry says so.
        given: the same of the numbers alone, which samples meet.
        terms: those that stand for terms with a sign are at least 0.
        holds, positive: whether an expression in the numbers is certainly at least 0, or more than 0.
    """
    rows = [_coefficients(e, terms) for e, _ in known]
    goal = _coefficients(gap, terms)
    if goal is None or not any(any(powers) for powers in goal):
        return None
    kept = [i for i, row in enumerate(rows) if row is not None and any(any(powers) for powers in row)]
    signs = [{tuple(int(s == t) for t in terms): sp.Integer(1)} for s in terms if s.is_nonnegative]
    columns = [*(rows[i] for i in kept), *signs, {(0,) * len(terms): sp.Integer(1)}]
    equal = [*(known[i][1] for i in kept), *[False] * (len(signs) + 1)]
    monomials = sorted({powers for row in (goal, *columns) for powers in row})
    numbers = sorted({s for row in (goal, *columns) for c in row.values() for s in c.free_symbols}, key=str)
    entries = [[row.get(powers, sp.Integer(0)) for row in (*columns, goal)] for powers in monomials]
    at = sp.lambdify(numbers, [c for row in entries for c in row], "math")
    matrices = []
    for sample in _samples(numbers, given):
        with suppress(ArithmeticError, ValueError, TypeError):
            matrices.append(_scaled(np.array(at(*sample), dtype=float).reshape(len(monomials), len(columns) + 1)))
    if not matrices or any(_choose_columns([matrix], equal, 0) is None for matrix in matrices):
        return None
    tried: set[tuple[int, ...]] = set()
    for first in range(_PROGRAMS):
        common = _choose_columns(matrices, equal, first)
        for matrix, seed in product(matrices, range(_PROGRAMS)) if common else ():
            part = _choose_columns([matrix[:, [*common, -1]]], [equal[i] for i in common], seed)
            needed = tuple(common[i] for i in part or ())
            if needed in tried or len(needed) > _MOST or not all(_same_signs(m, needed, equal) for m in matrices):
                continue
            tried.add(needed)
            if _agree([[row[i] for i in (*needed, -1)] for row in entries], [equal[i] for i in needed], holds, positive):
                return [kept[i] for i in needed if i < len(kept)]
    return None


def _coefficients(e, terms) -> dict[tuple[int, ...], sp.Expr] | None:
    """The coefficients by the powers of the terms."""
    try:
        found = sp.Poly(sp.expand(e), *terms).as_dict()
    except sp.PolynomialError:
        return None
    if any(c.atoms(sp.Max, sp.Min, sp.Abs) or not c.is_rational_function(*c.free_symbols) for c in found.values()):
        return None
    return {powers: sp.sympify(c) for powers, c in found.items()}


def _samples(numbers, given) -> Iterator[list[float]]:
    """Random numbers, of different sizes, that meet what is given."""
    rng, found = np.random.default_rng(0), 0
    rules = []
    for e, equal in given:
        if {*e.free_symbols} <= {*numbers} and not equal and e.free_symbols:
            rules.append(sp.lambdify(numbers, e, "math"))
    for _ in range(_TRIALS):
        sample = [_random_value(s, rng) for s in numbers]
        try:
            meets = all(rule(*sample) >= 0 for rule in rules)
        except (ArithmeticError, ValueError, TypeError):
            continue
        if meets:
            yield sample
            found += 1
            if found == _SAMPLES:
                return


def _random_value(s, rng) -> float:
    if s.is_integer:
        return float(rng.integers(0 if s.is_positive is None else 1, 7))
    size = float(np.exp(rng.normal()))
    return size if s.is_nonnegative or rng.random() < 0.5 else -size


def _scaled(matrix):
    """The matrix with the largest entry of each column but the last one, and of each row, at 1."""
    for axis in (0, 1):
        scale = np.abs(matrix[:, :-1]).max(axis=axis, keepdims=True, initial=0)
        scale = np.append(scale, [[1.0]], axis=1) if axis == 0 else scale
        matrix = matrix / np.where(scale > 0, scale, 1)
    return matrix


def _choose_columns(matrices, equal, seed) -> tuple[int, ...] | None:
    """Choose few columns, for all matrices together, of which the last column of each matrix is a sum of multiples, each at
    least 0 where the column is no equality."""
    rows, count = len(matrices[0]), len(equal)
    lengths = 1 + (matrices[0][:, :-1] != 0).sum(axis=0)  # what is short is tried before what is long
    costs = lengths * 10.0 ** (2 * np.random.default_rng(seed).random(count) if seed else 0)
    if len(matrices) == 1:
        found = _program(np.where(equal, 0, costs), matrices[0][:, :-1], matrices[0][:, -1], equal)
        return None if found is None else tuple(i for i in range(count) if abs(found[i]) > _LEAST)
    each = sparse.block_diag([matrix[:, :-1] for matrix in matrices])
    above = sparse.hstack([sparse.identity(count * len(matrices)), -sparse.vstack([sparse.identity(count)] * len(matrices))])
    found = _program(
        np.concatenate([np.zeros(count * len(matrices)), np.where(equal, 0, costs)]),
        sparse.hstack([each, sparse.csr_matrix((rows * len(matrices), count))]),
        np.concatenate([matrix[:, -1] for matrix in matrices]), [*equal * len(matrices), *[False] * count], above)
    if found is None:
        return None
    largest = np.abs(found[: count * len(matrices)].reshape(len(matrices), count)).max(axis=0)
    return tuple(i for i in range(count) if largest[i] > _LEAST)


def _program(costs, matrix, right, equal, above=None):
    """The solution of a linear program; None where there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = linprog(costs, A_eq=matrix, b_eq=right, A_ub=above, b_ub=None if above is None else np.zeros(above.shape[0]),
                        bounds=[(None, None) if free else (0, None) for free in equal], method="highs-ds")
    return found.x if found.status == 0 else None


def _same_signs(matrix, needed, equal) -> bool:
    """Whether the columns have the last one as such a sum at another sample too."""
    part = matrix[:, [*needed]]
    found, *_ = np.linalg.lstsq(part, matrix[:, -1], rcond=None)
    return bool(np.allclose(part @ found, matrix[:, -1], atol=1e-6)) and all(
        equal[i] or number > -_LEAST for i, number in zip(needed, found, strict=True))


def _agree(entries, equal, holds, positive) -> bool:
    """Whether multipliers of the columns that are certainly at least 0 give the last column exactly."""
    try:
        matrix = DomainMatrix.from_list_sympy(len(entries), len(entries[0]), entries).to_field()
        reduced, pivots = matrix.rref()
    except (sp.PolynomialError, NotImplementedError, ValueError):
        return False
    if pivots and pivots[-1] == len(equal):
        return False
    values = reduced.to_Matrix()[:, -1]
    return all(_never_negative(values[place], free, holds, positive) for place, free in enumerate(
        equal[column] for column in pivots))


def _never_negative(e, free, holds, positive) -> bool:
    above, below = sp.fraction(sp.together(e))
    sign = next((s for s in (1, -1) if sp.sympify(s * below).is_positive or positive(sp.expand(s * below))), None)
    return sign is not None and (free or holds(sp.expand(sign * above)))
