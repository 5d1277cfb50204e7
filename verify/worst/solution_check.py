"""Checks the answer of a conic solver: how far its primal and dual solutions are from proving each other optimal."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

__all__ = ["ConeProgram"]

_NOTHING = 1e-2  # errors of smaller values are shares of this
_ENDLESS = 1e-6  # share of what a ray gains up to which it may break conditions


class ConeProgram(NamedTuple):
    """The program ``min aim x`` with ``right - matrix x`` in the cones: so many ``zeros``, then numbers that are not
    negative, then triangles of positive semidefinite matrices of these ``sizes``."""

    aim: np.ndarray
    matrix: sparse.csc_matrix
    right: np.ndarray
    zeros: int
    sizes: Sequence[int]

    def error(self, x: np.ndarray, z: np.ndarray) -> float:
        """A bound on the difference of the least value from ``aim x``, by ``x`` and the dual solution ``z``: the duality
        gap, and the violations of the conditions of each times the multipliers that the other has for them."""
        rest = self.right - self.matrix @ x
        broken = np.abs(self.matrix.T @ z + self.aim) @ np.abs(x) + abs(self.aim @ x + self.right @ z)
        broken += np.abs(rest[: self.zeros]) @ np.abs(z[: self.zeros])
        plain = slice(self.zeros, len(rest) - sum(size * (size + 1) // 2 for size in self.sizes))
        broken += np.maximum(-rest[plain], 0) @ np.abs(z[plain]) + np.maximum(-z[plain], 0) @ np.abs(rest[plain])
        for one, other in zip(self._matrices(rest), self._matrices(z), strict=True):
            broken += max(-_least(one), 0.0) * np.trace(other) + max(-_least(other), 0.0) * max(np.trace(one), 0.0)
        return float(broken)

    def error_of(self, found) -> float:
        """The error of what the solver returned, as a share of the least value or of :data:`_NOTHING`; infinite where that
        is no solution."""
        status = "" if found is None else str(found.status)
        if "Infeasible" in status:
            return 0.0
        x, z = (np.array(side) for side in (found.x, found.z)) if "Solved" in status else (None, None)
        return np.inf if x is None else self.error(x, z) / max(abs(float(self.aim @ x)), _NOTHING)

    def is_endless(self, z: np.ndarray) -> bool:
        """Whether ``z`` shows that no ``x`` of moderate size meets the conditions: a ray of the dual program."""
        gain = -(self.right @ z)
        broken = [np.abs(self.matrix.T @ z).max(initial=0.0), *(-_least(matrix) for matrix in self._matrices(z))]
        return bool(gain > 0 and max(broken) <= _ENDLESS * gain)

    def _matrices(self, vector: np.ndarray) -> list[np.ndarray]:
        at, found = len(vector) - sum(size * (size + 1) // 2 for size in self.sizes), []
        for size in self.sizes:
            columns, rows = np.tril_indices(size)
            matrix, entries = np.zeros((size, size)), vector[at : at + len(rows)]
            matrix[rows, columns] = matrix[columns, rows] = np.where(rows == columns, 1.0, 0.5**0.5) * entries
            found.append(matrix)
            at += len(rows)
        return found


def _least(matrix: np.ndarray) -> float:
    return float(np.linalg.eigvalsh(matrix)[0]) if matrix.size else 0.0
