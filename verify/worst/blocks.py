"""The semidefinite program of a run on letters: inner products of means and of deviations, and values of the functions."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import sparse

from verify.worst.program import solved, solver

__all__ = ["Block", "Largest", "flat", "largest", "pairs", "square"]

_TOLERANCES = 1e-9, 1e-8, 1e-7  # of the solver, each where it cannot reach the one before
_FAR = 1e9  # squared lengths, in units of what is bounded, of which no answer is accurate
_PERHAPS = "the worst case may be infinite, or numbers may be too far apart"


class Block(NamedTuple):
    """Places and gradients of all points over the letters of one block, (points, letters)."""

    places: np.ndarray
    gradients: np.ndarray


class Largest(NamedTuple):
    """What the solver found: the largest value, the inner products of each block's letters, the values at the points, and
    the multipliers (of pairs, limits and measures)."""

    value: float
    grams: list[np.ndarray]
    values: np.ndarray
    multipliers: np.ndarray


def flat(matrices):
    """Symmetric matrices (..., n, n) as vectors (..., n (n + 1) / 2) with the same inner products."""
    rows, columns, factors = _lower(matrices.shape[-1])
    return matrices[..., rows, columns] * factors


@lru_cache(maxsize=64)
def _lower(size: int):
    """Rows, columns and factors of the entries of :func:`flat`."""
    rows, columns = np.tril_indices(size)
    return rows, columns, np.where(rows == columns, 1.0, 2**0.5)


def square(vector):
    """The inner product of a combination of letters (letters,) with itself, flat."""
    return flat(np.multiply.outer(vector, vector))


def pairs(block: Block, one, other, L: float, m: float):
    """The inner products of the interpolation conditions between points ``one`` and ``other`` (pairs,), flat: those of
    :func:`verify.checker.forms.between`, without the values; ``L`` may be infinite."""
    x, g, part = block.places, block.gradients, 1 / (2 * (L - m))
    dx, dg = x[one] - x[other], g[one] - g[other]
    curved = dx * (m / 2 / (1 - m / L)) - dg * (2 * m * part)
    product = np.einsum("pi,pj->pij", g[other] + curved, dx) + np.einsum("pi,pj->pij", dg * part, dg)
    return -flat((product + product.swapaxes(1, 2)) / 2)


def _sparse(matrix):
    """What SciPy makes of a dense matrix by way of triples, in a third of the time."""
    columns, rows = np.nonzero(matrix.T)
    starts = np.zeros(matrix.shape[1] + 1, dtype=np.int32)
    np.cumsum(np.bincount(columns, minlength=matrix.shape[1]), out=starts[1:])
    return sparse.csc_matrix((matrix[rows, columns], rows.astype(np.int32), starts), shape=matrix.shape)


def largest(points: int, conditions, limits, bounds, measures, sizes, margin: float = 0.0,
            tolerances=_TOLERANCES) -> Largest | None:
    """The largest value of the least of ``measures``, over inner products and values for which all ``conditions`` are at
    least ``margin`` and ``limits`` at most ``bounds``; None if there is no largest.

    Conditions, limits and measures are rows: coefficients of the values at the ``points``, then for each block of ``sizes``
    letters those of its inner products, :func:`flat`.

    The solver refines the solutions of its linear systems, a third of its time, only where it cannot do without.

    Raises:
        ValueError: the solver stops without an answer.
    """
    own, counts = solver(), (len(conditions), len(limits), len(measures))
    rows = np.concatenate([-conditions, limits, -measures]).T
    total = np.concatenate([np.zeros(counts[0] + counts[1]), np.ones(counts[2])])
    keep = np.flatnonzero(np.abs(rows[:points]).any(axis=1))
    cost = np.concatenate([np.full(counts[0], -margin), bounds, np.zeros(counts[2])])
    number, zeros = len(cost), 1 + len(keep)
    A = _sparse(np.concatenate([total[None], rows[keep], -np.eye(number), -rows[points:]]))
    right = np.concatenate([[1.0], np.zeros(A.shape[0] - 1)])
    cones = [own.ZeroConeT(zeros), own.NonnegativeConeT(number), *(own.PSDTriangleConeT(size) for size in sizes)]
    for tolerance, refined in [(tolerances[0], False), *((tolerance, True) for tolerance in tolerances)]:
        settings = own.DefaultSettings()
        settings.verbose, settings.max_threads, settings.iterative_refinement_enable = False, 1, refined
        settings.equilibrate_enable = settings.presolve_enable = settings.chordal_decomposition_enable = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = 1e-6
        found = solved(cost, A, right, cones, settings)
        status = "it broke down" if found is None else str(found.status)
        if status == "Solved" or (refined and status == "AlmostSolved"):
            break
        if refined and "Infeasible" in status:
            return None
    else:
        raise ValueError(f"the solver stopped without an answer ({status}); {_PERHAPS}")
    z, values, grams = np.array(found.z), np.zeros(points), []
    values[keep], at = -z[1:zeros], zeros + number
    for size in sizes:
        (rows, columns, factors), gram = _lower(size), np.zeros((size, size))
        entries = z[at : at + len(rows)]
        gram[rows, columns] = entries / factors
        grams.append(gram + np.tril(gram, -1).T)
        at += len(entries)
    if max(np.trace(gram) for gram in grams) > _FAR * max(1.0, *bounds):
        raise ValueError(f"the solver's points run away, as {_PERHAPS}")
    return Largest(found.obj_val, grams, values, np.array(found.x))
