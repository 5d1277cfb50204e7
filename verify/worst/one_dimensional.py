"""The points at which a statement is worst, projected on the direction in which a program's vectors differ most."""

from collections.abc import Mapping
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

import numpy as np

from bounds.language.claim import Claim
from verify.checker.limits import TooLarge, WorkLimit, bounded
from verify.checker.quadratic_forms import ORIGIN, NotQuadratic, QuadraticForm, SymbolicVector
from verify.exact.statement import statement_of
from verify.symbolic.symbolic_run import SymbolicRun
from verify.worst.configurations import Setting, Template, instantiate
from verify.worst.program import Program, Solution, programs
from verify.worst.worst_case import STEPS

__all__ = ["Worst", "WorstPoints", "worst", "worst_points"]

_TURNS = 3  # programs that bring the vectors onto a line
_NEARLY = 1 - 1e-5  # share of the worst factor that is kept by these
_STRAIGHT = 1e-6  # share of the length across the main direction that counts as none


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


class _Question(NamedTuple):
    """A program, and sides: the least of ``smaller`` and the ``others`` against the larger one."""

    program: Program
    smaller: QuadraticForm
    larger: QuadraticForm
    others: tuple[QuadraticForm, ...] = ()


class Worst(NamedTuple):
    """The factor at a setting, and the program that has it; ``on_a_line`` gives the points."""

    factor: float
    setting: Setting
    letters: SymbolicRun
    asked: _Question
    solution: Solution

    @property
    def factors(self) -> tuple[float]:
        """The factor of the worst pair of sides; the others are not kept."""
        return (self.factor,)

    def points_on_line(self) -> WorstPoints:
        """The points of a solution that is nearly as bad: the program's vectors projected on their main direction, which
        changes nothing where they lie on a line."""
        straight = _straighten(self.letters, self.asked, self.solution)
        return _points_on_line(self.letters, self.asked.program, self.setting, self.factor, straight)


def worst(claim: Claim, given: Mapping[str, Fraction] | None = None, template: Template | None = None,
          most: int | None = None, meter: WorkLimit | None = None) -> Worst | None:
    """The worst case of a statement about runs with full gradients; None if it is not known, or if no factor is enough.
    Numbers that bound only the noise are zero. ``meter``: counts the effort of the programs, which grows with the cube of
    their size; once it is used up, no program is solved.

    Raises:
        ImportError: the solver is not installed.
        LookupError, TypeError, ValueError: as :func:`verify.worst.worst_case.worst_case`.
    """
    stated = statement_of(claim)
    none, bounds = _without_noise(stated)
    setting = instantiate(claim, {**(given or {}), **dict.fromkeys(bounds, Fraction(0))}, template)
    try:
        meter = meter or WorkLimit(inf)
        meter.charge(0)
        letters = SymbolicRun({**stated, "hypotheses": [*stated["hypotheses"], none]}, *setting,
                          **({} if most is None else {"most": most, "steps": STEPS}))
        asked = _questions(letters, stated["statement"], most)
        meter.charge(sum(each.program.effective_size**3 for each in asked))
    except RecursionError as error:
        raise ValueError(f"{claim.id} has no worst case of this kind: a number is defined by itself") from error
    except (NotQuadratic, TooLarge) as error:
        raise ValueError(f"{claim.id} has no worst case of this kind: {error}") from error
    solved = [(one, each) for each in asked if (one := each.program.solve(each.smaller, each.larger, others=each.others))]
    solved = [pair for pair in solved if pair[0].factor < inf]
    if not solved:
        return None
    found, each = max(solved, key=lambda pair: pair[0].factor)
    if len(each.program.blocks) > 1:  # layers or worlds, each with vectors of its own
        return None
    return Worst(found.factor, setting, letters, each, found)


def worst_points(claim: Claim, given: Mapping[str, Fraction] | None = None, template: Template | None = None,
                 most: int | None = None) -> WorstPoints | None:
    """The points at which a statement about runs with full gradients is worst; None, and errors, as of :func:`worst`."""
    found = worst(claim, given, template, most)
    return found and found.points_on_line()


def _without_noise(stated: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The hypothesis that gradients are full, and the numbers that bound only the noise of clients."""
    bounds = [rule["right"] for rule in stated["hypotheses"] if SymbolicRun.bounds_client(rule) == "sigma_sq_client"]
    others = [rule for rule in stated["hypotheses"]
              if rule["left"] not in bounds and SymbolicRun.bounds_client(rule) != "sigma_sq_client"]
    plain = [name for name in bounds if isinstance(name, str) and stated["free"].get(name) == []]
    free = [name for name in plain if not _mentions(others, name)]
    return {"left": ["sigma_sq_client", "k"], "relation": "<=", "right": 0, "over": [["k", 0, ["+", -1, "clients"]]],
            "text": "sigma_sq_client[k] <= 0"}, free


def _mentions(of: Any, name: str) -> bool:
    if isinstance(of, dict):
        return any(_mentions(of[side], name) for side in ("left", "right"))
    return of == name or (isinstance(of, list) and any(_mentions(each, name) for each in of))


def _questions(letters: SymbolicRun, statement: dict[str, Any], most: int | None) -> list[_Question]:
    """A question for each pair of sides; a single one of a statement about the least of several numbers."""
    several = _split_minimum(statement)
    asked = [(given.whole, *pair) for given, *pair in programs(letters, several or [statement])]
    for program, *_ in asked:
        bounded(program.effective_size, most or inf, "letters")
    if any(len(program.blocks) != 1 for program, *_ in asked):  # layers have no points on one line
        return []
    if not several:
        return [_Question(*each) for each in asked]
    (program, smaller, larger), *more = asked
    alike = all(one is program and (other - larger).terms == {} for one, _, other in more)
    return [_Question(program, smaller, larger, tuple(each for _, each, _ in more))] if alike else []


def _split_minimum(statement: dict[str, Any]) -> list[dict[str, Any]]:
    """Splits a statement 'the least of several numbers <= bound' into one statement for each number; empty for others."""
    match statement:
        case {"left": ["*", -1, ["highest", index, low, high, ["*", -1, body]]], "relation": "<=", "over": []}:
            return [statement | {"left": body, "over": [[index, low, high]]}]
        case {"left": ["Min", *bodies], "relation": "<=", "over": []}:
            return [statement | {"left": body} for body in bodies]
    return []


def _straighten(letters: SymbolicRun, asked: _Question, solution: Solution) -> Solution:
    """Looks for a solution that is nearly as bad and whose vectors lie nearly on a line: a few programs, each of which
    minimises the length across the main direction of the last solution."""
    program, larger = asked.program, asked.larger
    near = {f"nearly {number}": side - larger * Fraction(solution.factor * _NEARLY)
            for number, side in enumerate((asked.smaller, *asked.others))}
    again = Program(letters, (program.inequalities | near, program.equalities), {*program.chosen})
    for _ in range(_TURNS):
        sizes, directions = np.linalg.eigh(solution.gram)
        if sizes[:-1].sum() <= _STRAIGHT * sizes[-1]:
            break
        main = directions[:, -1]
        across = np.eye(len(main)) - np.outer(main, main)
        places = ((i, j) for j in range(len(main)) for i in range(j + 1))
        length = QuadraticForm({(program.chosen[i], program.chosen[j]): Fraction(float(across[i, j]) * (1 if i == j else 2))
                       for i, j in places})
        turned = again.solve(-length, larger)
        if turned is None or turned.factor == inf:
            break
        solution = turned
    return solution


def _points_on_line(letters: SymbolicRun, program: Program, setting: Setting, factor: float,
                    solution: Solution) -> WorstPoints:
    sizes, directions = np.linalg.eigh(solution.gram)
    along = dict(zip(program.chosen, directions[:, -1] * max(sizes[-1], 0.0) ** 0.5, strict=True))

    def place(row: SymbolicVector) -> float:
        return sum(float(c) * along.get(letter, 0.0) for letter, c in row.terms.items() if letter != ORIGIN)

    points = [np.array([(place(x), place(g), sum(float(c) * solution.values.get(key, 0.0) for key, c in value.terms.items()))
                        for x, g, value in each]) for each in letters.points]
    steep, flat = (letters.bounds[name] for name in ("L_client", "mu_client"))
    steepest = [_steepest(each) if L is None else float(L) for each, L in zip(points, steep, strict=True)]
    return WorstPoints(factor, setting, place(letters.given["start_offset"]), points, steepest,
                       [-L if m is None else float(m) for m, L in zip(flat, steepest, strict=True)])


def _steepest(points: np.ndarray) -> float:
    """A curvature where nothing bounds it: ten times the largest slope between two of the points."""
    order = np.argsort(points[:, 0])
    steps = np.diff(points[order, :2], axis=0)
    steps = steps[steps[:, 0] > 1e-9]
    return 10 * max([1.0, *np.abs(steps[:, 1] / steps[:, 0])])
