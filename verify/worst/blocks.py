"""The semidefinite program of a symbolic run: inner products of means and of deviations, and values of the functions."""

from functools import lru_cache
from math import inf
from typing import NamedTuple

import numpy as np
from scipy import sparse

from verify.worst.program import NotSolved, solve_cone_program, solver

__all__ = ["Block", "Maximiser", "flatten", "interpolation_products", "maximise_measures", "square"]

_TOLERANCES = 1e-9, 1e-8, 1e-7  # of the solver, each where the one before gives no answer that passes the check
_FINEST = 1e-12  # a tolerance that it reaches in few programs
_EXACT = 1e-6  # share of a value up to which its solution must be one
_ALONG = 1e-7  # share of what measures grow by along a direction, up to which all else may break there
_FAR = 1e9  # squared lengths, in units of what is bounded, of which no answer is accurate
_PERHAPS = "the worst case may be infinite, or numbers may be too far apart"


class Block(NamedTuple):
    """Coordinates and gradients of all points over the basis vectors of one block, (points, vectors)."""

    places: np.ndarray
    gradients: np.ndarray


class Maximiser(NamedTuple):
    """A solution that passed the check: the largest value, the Gram matrix of each block's basis vectors, the values at the
    points, and the multipliers (of pairs, limits and measures)."""

    value: float
    grams: list[np.ndarray]
    values: np.ndarray
    multipliers: np.ndarray


def flatten(matrices):
    """Symmetric matrices (..., n, n) as vectors (..., n (n + 1) / 2) with the same inner products."""
    rows, columns, factors = _lower_triangle(matrices.shape[-1])
    return matrices[..., rows, columns] * factors


@lru_cache(maxsize=64)
def _lower_triangle(size: int):
    """Rows, columns and factors of the entries of :func:`flatten`."""
    rows, columns = np.tril_indices(size)
    return rows, columns, np.where(rows == columns, 1.0, 2**0.5)


def square(vector):
    """The inner product of a combination of basis vectors (vectors,) with itself, as :func:`flatten` writes it."""
    return flatten(np.multiply.outer(vector, vector))


def interpolation_products(block: Block, one, other, L: float, m: float):
    """The inner products of the interpolation conditions between points ``one`` and ``other`` (pairs,), flattened: those of
    :func:`verify.checker.quadratic_forms.between`, without the values; ``L`` may be infinite."""
    x, g, part = block.places, block.gradients, 1 / (2 * (L - m))
    dx, dg = x[one] - x[other], g[one] - g[other]
    curved = dx * (m / 2 / (1 - m / L)) - dg * (2 * m * part)
    product = np.einsum("pi,pj->pij", g[other] + curved, dx) + np.einsum("pi,pj->pij", dg * part, dg)
    return -flatten((product + product.swapaxes(1, 2)) / 2)


def _to_sparse(matrix):
    """Converts a dense matrix to CSC, in a third of the time that SciPy takes."""
    columns, rows = np.nonzero(matrix.T)
    starts = np.zeros(matrix.shape[1] + 1, dtype=np.int32)
    np.cumsum(np.bincount(columns, minlength=matrix.shape[1]), out=starts[1:])
    return sparse.csc_matrix((matrix[rows, columns], rows.astype(np.int32), starts), shape=matrix.shape)


def maximise_measures(points: int, conditions, limits, bounds, measures, sizes, margin: float = 0.0,
            tolerances=_TOLERANCES) -> Maximiser | None:
    """The largest value of the least of ``measures``, over inner products and values for which all ``conditions`` are at
    least ``margin`` and ``limits`` at most ``bounds``; None if there is no largest.

    Conditions, limits and measures are rows: coefficients of the values at the ``points``, then for each block of ``sizes``
    basis vectors those of its inner products, :func:`flatten`.

    The program is solved in units in which the largest bound, each basis vector whose length is bounded alone, and each row
    are 1. Only an answer that passes the check (:meth:`_Program.agrees`) is returned. The solver refines the solutions of
    its linear systems, which takes a third of its time, only where it fails otherwise.

    Raises:
        NotSolved: the solver stops without an answer, or with one that does not pass the check.
    """
    rows = _Program(points, conditions, limits, bounds, measures, sizes, np.full(len(conditions), margin))
    units, status = rows.units(), ""
    program = rows.scaled(units)
    for tolerance, refined in [(tolerances[0], False), *((tolerance, True) for tolerance in (_FINEST, *tolerances))]:
        status, found = program.solve(tolerance, refined)
        if found is None:
            status = f"the solver stopped without an answer ({status})"
        elif found.value == inf:
            return None
        elif program.agrees(found):
            answer = rows.in_own_units(found, units)
            if max(np.trace(gram) for gram in answer.grams) > _FAR * bounds.max():
                raise NotSolved(f"the solver's points run away: {_PERHAPS}")
            return answer
        else:
            status = "the solver's answer does not pass the check"
    raise NotSolved(f"{status}: {_PERHAPS}")


class _Units(NamedTuple):
    """Units of squared lengths, values and measures, of the lengths of each block's basis vectors, and of the rows of
    conditions and of limits."""

    squares: float
    lengths: list[np.ndarray]
    conditions: np.ndarray
    limits: np.ndarray


def _unit_products(lengths: np.ndarray) -> np.ndarray:
    rows, columns, _ = _lower_triangle(len(lengths))
    return lengths[rows] * lengths[columns]


class _Program(NamedTuple):
    """The arguments of :func:`maximise_measures`, with a margin for each condition."""

    points: int
    conditions: np.ndarray
    limits: np.ndarray
    bounds: np.ndarray
    measures: np.ndarray
    sizes: list[int]
    margins: np.ndarray

    def units(self) -> _Units:
        """The units in which the largest bound, basis vectors whose length a limit bounds, and the largest coefficients of
        rows are 1."""
        squares = float(self.bounds.max())
        lengths = [np.full(size, squares**0.5) for size in self.sizes]
        for limit, bound in zip(self.limits[:, self.points :], self.bounds, strict=True):
            at = 0
            for own in lengths:
                rows, columns, _ = _lower_triangle(len(own))
                part, at = limit[at : at + len(rows)], at + len(rows)
                if np.count_nonzero(part) == 1 and np.count_nonzero(limit) == 1:
                    place = np.flatnonzero(part)[0]
                    if rows[place] == columns[place] and bound / part[place] > 0:
                        own[rows[place]] = min(own[rows[place]], (bound / part[place]) ** 0.5)
        of_columns = self._column_units(squares, lengths)
        conditions, limits = (np.abs(rows * of_columns).max(axis=1, initial=0.0) for rows in (self.conditions, self.limits))
        limits = np.where(self.bounds > 0, self.bounds, limits)
        return _Units(squares, lengths, *(np.where(own > 0, own, 1.0) for own in (conditions, limits)))

    def _column_units(self, squares: float, lengths: list[np.ndarray]) -> np.ndarray:
        return np.concatenate([np.full(self.points, squares), *map(_unit_products, lengths)])

    def scaled(self, units: _Units) -> "_Program":
        """The program in these units."""
        of_columns = self._column_units(units.squares, units.lengths)
        return self._replace(
            conditions=self.conditions * of_columns / units.conditions[:, None],
            limits=self.limits * of_columns / units.limits[:, None], bounds=self.bounds / units.limits,
            measures=self.measures * of_columns / units.squares, margins=self.margins / units.conditions)

    def in_own_units(self, found: Maximiser, units: _Units) -> Maximiser:
        """An answer of the program in other units."""
        grams = [gram * np.multiply.outer(own, own) for gram, own in zip(found.grams, units.lengths, strict=True)]
        each = np.concatenate([units.squares / units.conditions, units.squares / units.limits, np.ones(len(self.measures))])
        return Maximiser(found.value * units.squares, grams, found.values * units.squares, found.multipliers * each)

    def solve(self, tolerance: float, refined: bool) -> tuple[str, Maximiser | None]:
        """Returns the solver's status and its answer, or None. The value is infinite where the solver finds a direction
        along which the measures grow and nothing else does."""
        own, points, counts = solver(), self.points, (len(self.conditions), len(self.limits), len(self.measures))
        rows = np.concatenate([-self.conditions, self.limits, -self.measures]).T
        total = np.concatenate([np.zeros(counts[0] + counts[1]), np.ones(counts[2])])
        keep = np.flatnonzero(np.abs(rows[:points]).any(axis=1))
        cost = np.concatenate([-self.margins, self.bounds, np.zeros(counts[2])])
        number, zeros = len(cost), 1 + len(keep)
        A = _to_sparse(np.concatenate([total[None], rows[keep], -np.eye(number), -rows[points:]]))
        right = np.concatenate([[1.0], np.zeros(A.shape[0] - 1)])
        cones = [own.ZeroConeT(zeros), own.NonnegativeConeT(number), *(own.PSDTriangleConeT(size) for size in self.sizes)]
        settings = own.DefaultSettings()
        settings.verbose, settings.max_threads, settings.iterative_refinement_enable = False, 1, refined
        settings.equilibrate_enable = settings.presolve_enable = settings.chordal_decomposition_enable = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = 1e-6
        found = solve_cone_program(cost, A, right, cones, settings)
        status = "it broke down" if found is None else str(found.status)
        if status not in ("Solved", "AlmostSolved") and "PrimalInfeasible" not in status:
            return status, None
        z, values, grams = np.array(found.z), np.zeros(points), []
        values[keep], at = -z[1:zeros], zeros + number
        for size in self.sizes:
            grams.append(_matrix(z[at : at + size * (size + 1) // 2], size))
            at += size * (size + 1) // 2
        if "Solved" not in status:
            along = Maximiser(inf, grams, values, np.zeros(number))
            return status, along if self._is_direction(along) else None
        y = np.array(found.x)
        return status, Maximiser(float(cost @ y), grams, values, y)

    def agrees(self, found: Maximiser) -> bool:
        """Whether an answer is a solution, up to :data:`_EXACT` of its value: the multipliers prove that no value is larger,
        and the points meet all conditions and attain it.

        The residual of the multipliers counts by what it adds to the value at the points, and a violation by the points by
        what it changes the value according to the multipliers."""
        x, y, exact = self._flat(found), found.multipliers, _EXACT * found.value
        number = len(self.conditions), len(self.conditions) + len(self.limits)
        known, limited, shares = y[: number[0]], y[number[0] : number[1]], y[number[1] :]
        rest = limited @ self.limits - known @ self.conditions - shares @ self.measures  # of values and inner products
        undone = abs(shares.sum() - 1) * found.value + np.abs(rest[: self.points]) @ np.abs(x[: self.points])
        at = self.points
        for size, gram in zip(self.sizes, found.grams, strict=True):
            slack = _matrix(rest[at : at + size * (size + 1) // 2], size)
            undone += max(-np.linalg.eigvalsh(slack)[0], 0.0) * np.trace(gram)
            undone += max(-np.linalg.eigvalsh(gram)[0], 0.0) * max(np.trace(slack), 0.0)
            at += size * (size + 1) // 2
        broken = [np.maximum(self.margins - self.conditions @ x, 0.0), np.maximum(self.limits @ x - self.bounds, 0.0)]
        sizes = [np.abs(rows) @ np.abs(x) for rows in (self.conditions, self.limits)]
        undone += np.abs(known) @ broken[0] + np.abs(limited) @ broken[1] - np.minimum(y, 0.0).sum() * exact
        met = all((gap <= _EXACT * np.maximum(size, 1.0)).all() for gap, size in zip(broken, sizes, strict=True))
        return bool(met and undone <= exact and abs((self.measures @ x).min() - found.value) <= exact)

    def _is_direction(self, found: Maximiser) -> bool:
        """Whether inner products and values grow in a direction along which conditions and limits hold and measures grow."""
        x = self._flat(found)
        grows = (self.measures @ x).min()
        least = min(np.linalg.eigvalsh(gram)[0] for gram in found.grams)
        falls = max(-(self.conditions @ x).min(initial=0.0), (self.limits @ x).max(initial=0.0), -least)
        return bool(grows > 0 and falls <= _ALONG * grows)

    def _flat(self, found: Maximiser) -> np.ndarray:
        return np.concatenate([found.values, *map(flatten, found.grams)])


def _matrix(entries: np.ndarray, size: int) -> np.ndarray:
    """The symmetric matrix that :func:`flatten` turns into these entries."""
    (rows, columns, factors), found = _lower_triangle(size), np.zeros((size, size))
    found[rows, columns] = entries / factors
    return found + np.tril(found, -1).T
