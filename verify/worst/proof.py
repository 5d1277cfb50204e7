"""Proofs in rational numbers from a solver's multipliers."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import gcd, inf, lcm

import numpy as np

from verify.checker.limits import bits
from verify.checker.quadratic_forms import QuadraticForm, combined, nonnegative
from verify.worst.program import SMALL, Program, ProgramFamily, Solution, is_inner_product

__all__ = ["proof"]

_COSTS = (0.0, 1.0)
_ROUNDING = 1e-9  # of eigenvalues that may be zero
_SMALLER = 1e-10  # multipliers that are surely zero, in units of the largest
_NEAREST = (1, 12, 120)  # largest denominators of multipliers that are given the nearest fractions
_FINER = (10**4, 10**6, 10**9)  # denominators that all have in common, else largest ones
#: entries of a null space: the largest denominators, one after another, and how far off a fraction may be; first for a good
#: solution, then the simplest fractions near one that is less precise
_ENTRIES = (((1000,), 1e-4), ((10, 100, 1000), 5e-4))
_BITS = 2_500  # of numbers that elimination, whose numbers are as many times longer as there are letters, is given


def proof(given: ProgramFamily, smaller: QuadraticForm, larger: QuadraticForm, most: int | None = None,
          ) -> dict[str, Fraction] | None:
    """Finds multipliers with which ``larger - smaller`` is exactly a sum of known forms and squares; None if not found.

    First tries the facts about few basis vectors, then all facts, if there are at ``most`` so many basis vectors."""
    gap = larger - smaller
    if nonnegative(gap):
        return {}
    for part in given.parts(gap, most):
        if (found := _proof(part, gap)) is not None:
            return found
    return None


def _proof(program: Program, gap: QuadraticForm) -> dict[str, Fraction] | None:
    for cost in _COSTS:
        solution = program.solve(QuadraticForm({}), gap, cost)
        if solution and solution.factor == inf:  # whatever the cost
            return None
        for found in _candidate_multipliers(program, gap, solution) if solution else ():
            found = {name: number for name, number in found.items() if number}
            if any(number < 0 for name, number in found.items() if name in program.inequalities):
                continue
            if not _may_prove(program, gap, found):
                continue
            rest = gap - combined(program.forms, found, lambda steps: None)
            if _may_be_square(program, rest) and nonnegative(rest):
                return found
    return None


def _candidate_multipliers(program: Program, gap: QuadraticForm, solution: Solution) -> Iterator[dict[str, Fraction]]:
    """Yields rational multipliers near the solver's; also with smaller ones if the active ones solve no equations."""
    found = None
    for found in _round_multipliers(program, gap, solution):
        yield found
    if found is None:
        parts = dict(zip(program.names, program.coordinates[0], strict=True))
        parts = {name: abs(number) * parts[name] for name, number in solution.multipliers.items()}
        least = _SMALLER * max(parts.values(), default=0.0)
        active = [name for name, part in parts.items() if name in program.equalities or part > least]
        if len(active) > len(solution.active):
            yield from _round_multipliers(program, gap, solution._replace(active=active))


def _may_prove(program: Program, gap: QuadraticForm, multipliers: dict[str, Fraction]) -> bool:
    """Whether the rest may be a sum of squares and a nonnegative number, in floats, as exact sums take far longer."""
    sizes, known = program.arrays
    parts, whole = sizes * [float(multipliers.get(name, 0)) for name in program.names], program.column(gap)
    rest, exact = whole - known @ parts, _ROUNDING * max((abs(known) @ np.abs(parts)).max(), np.abs(whole).max())
    numbers, pairs = np.split(rest, [len(program.keys) + 1])
    plain = bool(numbers[-1] >= -exact and np.all(np.abs(numbers[:-1]) <= exact))
    return plain and _no_eigenvalue_below(program.from_upper(pairs), -exact)


def _may_be_square(program: Program, rest: QuadraticForm) -> bool:
    """Whether a form may be a sum of squares, in floats, and its numbers are short; exact elimination takes a thousand times
    as long."""
    if max(map(bits, rest.parts.values()), default=0) > _BITS:
        return False
    found = program.matrix(rest)
    return _no_eigenvalue_below(found, -_ROUNDING * np.abs(found).max(initial=0))


def _no_eigenvalue_below(matrix: np.ndarray, least: float) -> bool:
    return not matrix.size or bool(np.linalg.eigvalsh(matrix)[0] >= least)


def _round_multipliers(program: Program, gap: QuadraticForm, solution: Solution) -> Iterator[dict[str, Fraction]]:
    """Yields rational multipliers near the solver's that solve all equations: coefficients of symbolic numbers vanish, and
    so does the slack along its apparent null space."""
    near, simple = (_null_space(program, solution.slack, *fractions) for fractions in _ENTRIES)
    for directions in ([], near, *[simple] * (simple != near)) if near != [] else ([],):
        if directions is None:
            continue
        rows = [({n: c for n in solution.active if (c := program.forms[n].coefficient(key))}, gap.coefficient(key))
                for key in program.keys]
        for v in directions:
            applied = {n: _apply_form(program.forms[n], v) for n in solution.active}
            whole = _apply_form(gap, v)
            for i in program.chosen:
                rows.append(({n: applied[n][i] for n in solution.active if i in applied[n]}, whole.get(i, Fraction(0))))
        pivots = _eliminate(rows, solution.multipliers)
        for near in _ROUNDED if pivots is not None else ():
            free = {n: near(float(solution.multipliers[n])) for n in solution.active if n not in pivots}
            yield free | {n: value - sum((c * free[name] for name, c in row.items() if name != n), Fraction(0))
                          for n, (row, value) in pivots.items()}


def _nearest(most: int) -> Callable[[float], Fraction]:
    return lambda number: Fraction(number).limit_denominator(most)


def _with_denominator(denominator: int) -> Callable[[float], Fraction]:
    return lambda number: Fraction(round(number * denominator), denominator)


#: ways of rounding multipliers, one after another. With one denominator the numbers of an elimination are short: with many
#: their common multiple is as long as all of them together.
_ROUNDED = (*map(_nearest, _NEAREST), *(way(number) for number in _FINER for way in (_with_denominator, _nearest)))


def _null_space(program: Program, slack: np.ndarray, most: Sequence[int], within: float) -> list[dict[int, Fraction]] | None:
    """A rational basis of the apparent null space of the slack, block by block; None if a block has no convincing one."""
    found, start, largest = [], 0, max(1.0, np.linalg.eigvalsh(slack)[-1])
    for block in program.blocks:
        part = slack[start : start + len(block), start : start + len(block)]
        values, vectors = np.linalg.eigh(part)
        basis = _rational_basis(vectors[:, values < SMALL * largest].T, block, most, within)
        if basis is None:
            return None
        found += basis
        start += len(block)
    return found


def _apply_form(form: QuadraticForm, v: dict[int, Fraction]) -> dict[int, Fraction]:
    """The matrix of a form's inner products times a vector."""
    found: dict[int, Fraction] = {}
    for key, c in form.parts.items():
        if is_inner_product(key):
            for i, j in {key, key[::-1]}:
                if j in v:
                    found[i] = found.get(i, 0) + v[j] * Fraction(c, form.over * (1 if i == j else 2))
    return found


def _rational_basis(null: np.ndarray, letters: Sequence[int], most: Sequence[int],
              within: float) -> list[dict[int, Fraction]] | None:
    """A rational basis of a space that is given by rounded numbers: its reduced rows. None where that is not convincing."""
    rows, found = null.copy(), []
    for i in range(len(rows)):
        pivot = int(np.argmax(np.abs(rows[i:]).max(axis=0)))
        best = i + int(np.argmax(np.abs(rows[i:, pivot])))
        rows[[i, best]] = rows[[best, i]]
        rows[i] /= rows[i, pivot]
        for other in range(len(rows)):
            if other != i:
                rows[other] -= rows[other, pivot] * rows[i]
    for row in rows:
        entries = {i: _simple_fraction(float(number), most, within) for i, number in enumerate(row)}
        if None in entries.values():
            return None
        found.append({letters[i]: entry for i, entry in entries.items() if entry})
    return found


def _simple_fraction(number: float, most: Sequence[int], within: float) -> Fraction | None:
    """The nearest fraction with a denominator of at ``most`` this, the first one ``within`` a distance; None if none is."""
    near = (Fraction(number).limit_denominator(largest) for largest in most)
    return next((fraction for fraction in near if abs(float(fraction) - number) <= within), None)


def _eliminate(rows, numbers) -> dict[str, tuple[dict[str, Fraction], Fraction]] | None:
    """Solves linear equations for the names of large ``numbers``. Returns pairs (row, right side), each row with its own
    name and those that stay free; None if the equations contradict each other. Each equation has whole numbers, with its
    right side at ``None``."""
    pivots: dict[str, dict[str | None, int]] = {}
    for row, right in rows:
        over = lcm(right.denominator, *(c.denominator for c in row.values()))
        whole = {n: int(c * over) for n, c in [*row.items(), (None, right)] if c}
        for n in [n for n in pivots if n in whole]:
            whole = _cancel_name(n, whole, pivots[n])
        names = whole.keys() - {None}
        if not names and whole:
            return None
        if names:
            lead = max(sorted(names), key=lambda n: abs(numbers[n]))
            pivots = {n: _cancel_name(lead, other, whole) if lead in other else other for n, other in pivots.items()}
            pivots[lead] = whole
    return {n: ({m: Fraction(c, row[n]) for m, c in row.items() if m is not None}, Fraction(row.get(None, 0), row[n]))
            for n, row in pivots.items()}


def _cancel_name(name: str, row: dict[str | None, int], other: dict[str | None, int]) -> dict[str | None, int]:
    """A multiple of a row less a multiple of another one, so that a name of both cancels."""
    common = gcd(row[name], other[name])
    own, by = other[name] // common, row[name] // common
    found = {n: c * own for n, c in row.items()}
    for n, c in other.items():
        found[n] = found.get(n, 0) - c * by
    common = gcd(*found.values()) or 1
    return {n: c // common for n, c in found.items() if c}
