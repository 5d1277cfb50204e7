"""Where a statement is worst: the points of the clients that a program found, in the direction in which they differ most."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from bounds.language.claim import Claim
from verify.checker.forms import ORIGIN, NoForm, Row
from verify.checker.letters import Letters
from verify.checker.limits import TooLarge
from verify.exact.statement import statement_of
from verify.worst.program import Solution, programs
from verify.worst.setting import Place, Setting, setting_of

__all__ = ["WorstPoints", "worst_points"]


class WorstPoints(NamedTuple):
    """A run on one coordinate.

    Attributes:
        factor: by how much the larger side must be multiplied at the setting, over all functions.
        setting: sizes, numbers and weights.
        start: of the run, measured from the optimum, as all places.
        points: of each client (points, 3): where, gradient, value.
        steep, flat: the clients' largest and least curvature, by client.
    """

    factor: float
    setting: Setting
    start: float
    points: list[np.ndarray]
    steep: list[float]
    flat: list[float]


def worst_points(claim: Claim, given: Mapping[str, Fraction] | None = None, place: Place | None = None,
                 most: int | None = None) -> WorstPoints | None:
    """The points at which a statement about runs with full gradients is worst; None where nothing is known of them.

    The program has vectors; of these the part along their main direction is taken, which is all of them where they lie on
    a line.

    Raises:
        ImportError: the solver is not installed.
        LookupError, TypeError, ValueError: as :func:`verify.worst.worst_case.worst_case`.
    """
    stated, setting = statement_of(claim), setting_of(claim, given or {}, place)
    try:
        letters = Letters(stated, *setting)
        if not letters.exact:
            return None
        solved = [*_solved(letters, stated["statement"], most)]
    except (NoForm, TooLarge) as error:
        raise ValueError(f"{claim.id} has no worst case of this kind: {error}") from error
    found = max(filter(None, solved), key=lambda one: one.factor, default=None)
    return None if found is None else _on_a_line(letters, setting, found)


def _solved(letters: Letters, statement: dict[str, Any], most: int | None) -> Iterator[Solution | None]:
    """Of each pair of sides the solution; of a statement about the least over a range a single one."""
    least = _least(statement)
    asked = programs(letters, least or statement, most)
    if least is None:
        yield from (program.solve(*pair) for program, *pair in asked)
    elif len({(id(program), frozenset(larger.terms.items())) for program, _, larger in asked}) == 1:
        (program, smaller, larger), *more = asked
        yield program.solve(smaller, larger, others=[each for _, each, _ in more])


def _least(statement: dict[str, Any]) -> dict[str, Any] | None:
    """Of a statement that the least over a range is at most something the same about each; None if it is another one."""
    match statement:
        case {"left": ["*", -1, ["highest", index, low, high, ["*", -1, body]]], "relation": "<=", "over": []}:
            return statement | {"left": body, "over": [[index, low, high]]}
    return None


def _on_a_line(letters: Letters, setting: Setting, solution: Solution) -> WorstPoints:
    sizes, directions = np.linalg.eigh(solution.gram)
    along = directions[:, -1] * max(sizes[-1], 0.0) ** 0.5

    def place(row: Row) -> float:
        return sum(float(c) * along[letter] for letter, c in row.terms.items() if letter != ORIGIN)

    points = [np.array([(place(x), place(g), sum(float(c) * solution.values.get(key, 0.0) for key, c in value.terms.items()))
                        for x, g, value in each]) for each in letters.points]
    steep, flat = (letters.bounds[name] for name in ("L_client", "mu_client"))
    steepest = [_steepest(each) if L is None else float(L) for each, L in zip(points, steep, strict=True)]
    return WorstPoints(solution.factor, setting, place(letters.given["start_offset"]), points, steepest,
                       [-L if m is None else float(m) for m, L in zip(flat, steepest, strict=True)])


def _steepest(points: np.ndarray) -> float:
    """A curvature where nothing bounds it: ten times the largest slope between two of the points."""
    order = np.argsort(points[:, 0])
    steps = np.diff(points[order, :2], axis=0)
    steps = steps[steps[:, 0] > 1e-9]
    return 10 * max([1.0, *np.abs(steps[:, 1] / steps[:, 0])])
