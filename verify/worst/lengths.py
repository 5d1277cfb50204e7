"""Proofs about lengths: a linear program suggests which known inequalities to add, fractions make a proof of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import inf
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from verify.checker.quadratic_forms import ORIGIN, SymbolicVector
from verify.symbolic.length_rules import Rules, nonnegative
from verify.symbolic.length_runs import OWN, TWIN
from verify.symbolic.norm_expressions import GAP, LENGTH, SIGNED, SQUARE, NormExpression, lower, row_of, upper
from verify.worst.length_columns import Column, RunColumns, float_coefficient, largest_coefficients, unit_of_key
from verify.worst.length_fractions import combination, substituted

__all__ = ["LengthProof", "find_proofs"]

_ACTIVE, _PRESENT = 1e-9, 1e-7  # multipliers, and parts of triangles, that are none
_BELOW = 1 - 1e-6  # a smaller factor that is enough where one is not says that the larger side may be negative
_MOST = 150  # vectors of one program
_ITERATIONS, _TOLERANCE, _INFEASIBLE = 20_000, 1e-9, 2  # of the solver, and its word for no solution
_BROKEN = 1e-7  # by which a solution may break a condition, in units of its largest number
_COLUMN, _PART = 1e-3, 1e-2  # what multipliers cost


class LengthProof(NamedTuple):
    """The proof of one pair of sides, or None, and the least factor of the larger side that the program proves: NaN if it
    was not asked for, infinite if no factor is enough, None if the solver finds no answer."""

    proof: dict[str, Any] | None
    factor: float | None


def find_proofs(rules: Rules, known: dict[str, NormExpression], pairs: Sequence[tuple[NormExpression, NormExpression]],
                 factor: bool | None = False, proof: bool | None = True) -> list[LengthProof]:
    """Finds for each pair of sides a proof that the first is at most the second, or the factor by which the second would
    have to be larger. With ``factor`` None the factor is 1 if the program proves that but no fractions are found; with
    ``proof`` None no fractions are looked for.

    Raises:
        ValueError: the program of one pair is too large.
    """
    used = RunColumns(rules, known)
    programs = [None if nonnegative(larger - smaller) else _Program(used, smaller, larger) for smaller, larger in pairs]
    solved = _solve_programs([program for program in programs if program and program.lines]) if proof is not False else ()
    found, solved = [], iter(solved)
    for program in programs:
        if program is None:
            found.append(LengthProof({"known": {}, "steps": [], "hits": [], "triangles": []}, 1.0))
        elif not program.lines:
            found.append(LengthProof(None, inf))
        else:
            found.append(program.outcome(factor, proof, *next(solved, (None, False))))
    return found


def _solve_programs(programs: list["_Program"]) -> list[tuple[np.ndarray | None, bool]]:
    """Returns for each program the multipliers that prove its pair, or None, and whether there surely are none. Solves all
    programs at once, as starting the solver takes longer than a small program; then each alone if that has no answer."""
    asked = [program.linear_program() for program in programs]
    if len(programs) > 1:
        costs, gaps, A, E = zip(*asked, strict=True)
        A, E = (sparse.block_diag(each, "csc") for each in (A, E))
        together, _ = _solve_linear_program(np.concatenate(costs), np.concatenate(gaps), A, E)
        if together is not None:
            parts = np.split(together, np.cumsum([len(cost) for cost in costs])[:-1])
            return [(part, False) for part in parts]
    return [_solve_linear_program(*each) for each in asked]


def _solve_linear_program(cost, b, A, E) -> tuple[np.ndarray | None, bool]:
    """(solution, whether there surely is none) of a program with nonnegative variables; the solution is None if none is
    found that meets all conditions."""
    found = linprog(cost, A_ub=A, b_ub=b, A_eq=E, b_eq=np.zeros(E.shape[0]), method="highs-ds",
                    options={"maxiter": _ITERATIONS, "presolve": False, "primal_feasibility_tolerance": _TOLERANCE,
                             "dual_feasibility_tolerance": _TOLERANCE})
    if found.status != 0:
        return None, found.status == _INFEASIBLE
    broken = max((A @ found.x - b).max(initial=0.0), np.abs(E @ found.x).max(initial=0.0), -found.x.min(initial=0.0))
    return (found.x if broken <= _BROKEN * max(1.0, np.abs(found.x).max(initial=0.0)) else None), False


def _unit_size(b: np.ndarray) -> float:
    return np.abs(b).max(initial=0) or 1.0


class _Program:
    """The columns of a pair of sides, and the vectors of triangle inequalities: their items, ``lines``, and keys."""

    def __init__(self, used: RunColumns, smaller: NormExpression, larger: NormExpression):
        self.used, self.rules, self.smaller, self.larger, self.gap = used, used.rules, smaller, larger, larger - smaller
        self.letters = self._relevant_vectors(smaller, larger)
        self.columns: list[Column] = []
        self.lines = self._vectors()
        self.keys = [used.key(items) for items in self.lines]
        every = (smaller.terms, larger.terms, *(column.numbers for column in self.columns), self.keys)
        self.of_key = {key: place for place, key in enumerate(dict.fromkeys(chain.from_iterable(every)))}

    def outcome(self, factor: bool | None, proof: bool | None, solved: np.ndarray | None, none: bool) -> LengthProof:
        """The result of :func:`find_proofs` for the pair, from the multipliers ``solved``, or if there are ``none``."""
        found = self.exact_proof(solved) if proof and solved is not None else None
        if found is not None or factor is False:
            return LengthProof(found, float("nan"))
        if factor is None and solved is not None:
            return LengthProof(None, 1.0)
        least = self.factor()
        return LengthProof(None, inf if none and least is not None and least < _BELOW else least)

    def _relevant_vectors(self, *sides: NormExpression) -> set[int]:
        """The basis vectors of the sides, and those in the points at which their gradients are taken."""
        used, found = self.used, set[int]()
        keys = [key for side in sides for key in side.terms if key]
        waiting = [letter for kind, items, *_ in keys if kind in (LENGTH, SQUARE) for letter, _ in items]
        if any(kind in (SIGNED, GAP) for kind, *_ in keys):
            waiting += used.last_models
        while waiting:
            letter = waiting.pop()
            if letter in found or letter == ORIGIN:
                continue
            found.add(letter)
            waiting += [*used.points[letter].parts] if letter in used.points else []
            waiting += [*used.twins.get(letter, ())]
        both = {function[1:] for function, letters in used.letter.items() if function[0] == TWIN
                for letter in letters if letter in found}
        return found | {letter for function, letters in used.letter.items() if function[0] == OWN and function[1:] in both
                        for letter in letters if {*used.points[letter].parts} - {ORIGIN} <= found}

    def _largest_in_points(self) -> dict[int, Fraction]:
        """The largest coefficient of each basis vector in points and in both sides."""
        if self.rules.stated["setting"] == "run":
            return self.used.largest_coefficients
        keys = [key[1] for side in (self.smaller, self.larger) for key in side.terms if key and key[0] == LENGTH]
        return largest_coefficients([
            self.used.largest_coefficients, *({letter: Fraction(c, items[0][1]) for letter, c in items} for items in keys)])

    def _ratios(self, letters, sizes) -> set[tuple[Fraction, Fraction]]:
        """Pairs (a, s) for which a (x - y) - s (gradients) may occur."""
        found = {(Fraction(0), Fraction(1))}
        for letter in letters:
            s = sizes.get(letter, Fraction(0))
            if s:
                found.add((Fraction(1), s))
                for option in self.rules.how["options"].values():
                    if isinstance(option, dict):
                        pull = self.rules.given.get(option["symbol"])
                        if isinstance(pull, Fraction) and pull * s != 1:
                            found.add((1 - s * pull, s))
        return found

    def _gradient_columns(self) -> Iterator[Column]:
        rules, used, sizes = self.rules, self.used, self._largest_in_points()
        for function, letters in used.letter.items():
            here = [i for i, letter in enumerate(letters) if letter in self.letters]
            if not here or rules.curvatures(function) is None:
                continue
            for i in here:
                for j in here:
                    if i < j and used.apart(function, i, j):
                        for a, s in self._ratios([letters[i], letters[j]], sizes):
                            yield used.step(function, i, j, a, s)
            twin = (TWIN, *function[1:])
            if function[0] != OWN or twin not in rules.points or rules.pathwise:
                continue
            for i in here:
                for j, letter in enumerate(used.letter[twin]):
                    if letter not in self.letters or function[1:] in used.draws(function, i) | used.draws(twin, j):
                        continue
                    for a, s in self._ratios([letters[i], letter], sizes):
                        yield from filter(None, (used.hit(function, i, j, a, s, by) for by in used.bounded_by))

    def _vectors(self) -> list[tuple[tuple[int, int], ...]]:
        """Finds the columns, and the vectors with a norm, once up to sign and factor."""
        found: dict[tuple[tuple[int, int], ...], None] = {}

        def add(keys) -> None:
            for key in keys:
                if key and key[0] == LENGTH and key[1] not in found and all(letter in self.letters for letter, _ in key[1]):
                    found[key[1]] = None
            if len(found) > _MOST:
                raise ValueError(f"more than {_MOST} vectors")

        add([*self.smaller.terms, *self.larger.terms])
        named = (column for column, letters in self.used.names if letters <= self.letters)
        for column in chain(named, self._gradient_columns()):
            self.columns.append(column)
            add(column.numbers)
        add((LENGTH, ((letter, 1),)) for letter in sorted(self.letters))
        return [*found]

    def _triangle_places(self) -> tuple[np.ndarray, np.ndarray]:
        """The places of the vectors that triangle inequalities bound, and of their parts: norms with a negative and with a
        positive coefficient somewhere. A triangle of another vector could be merged with those of which it is a part, unless
        two vectors have the same norm."""
        signs = [(key, c) for side, sign in ((self.smaller, -1), (self.larger, 1)) for key, c in (side * sign).terms.items()]
        taken = {key for key, c in signs if lower(c) < 0} | {key for column in self.columns for key in column.takes}
        left = {key for key, c in signs if upper(c) > 0} | {key for column in self.columns for key in column.params}
        twice = {key for key, count in Counter(self.keys).items() if count > 1}
        return tuple(np.array([key in some or key in twice for key in self.keys]).nonzero()[0] for some in (taken, left))

    @cached_property
    def matrix(self):
        """The matrix of the keys in each column, and the equations of triangles: the parts of each vector, with either sign,
        less a multiple of it, sum to zero. Columns: those of ``columns``, multiples of vectors, their parts. Vectors are in
        units of their largest coefficients, and each of ``columns`` in a unit of its own."""
        first, letters = len(self.columns), {letter: place for place, letter in enumerate(sorted(self.letters))}
        vectors = np.zeros((len(self.lines), len(letters)))
        for place, (items, key) in enumerate(zip(self.lines, self.keys, strict=True)):
            for letter, c in items:
                vectors[place, letters[letter]] = c / unit_of_key(key)
        takes, numbers = [], []
        for column in self.columns:
            takes += map(self.of_key.__getitem__, column.numbers)
            numbers += column.numbers.values()
        counts = np.array([len(column.numbers) for column in self.columns], int)
        takes, numbers, places = np.array(takes, int), np.array(numbers), np.repeat(np.arange(first), counts)
        if () in self.of_key:
            one = takes == self.of_key[()]
            self.of_one = 1 / np.abs(numbers[one]).max(initial=0) if one.any() else 1.0
            numbers[one] *= self.of_one
        own = np.full(first, 1e-300)
        np.maximum.at(own, places, np.abs(numbers))
        self.own = 1 / own

        self.wholes, of_parts = self._triangle_places()
        turn, part = np.meshgrid(np.arange(len(self.wholes)), of_parts, indexing="ij")
        proper = self.wholes[turn] != part  # no vector is a part of itself
        self.turn, self.part = turn[proper], part[proper]
        of_line = np.array([self.of_key[key] for key in self.keys])
        after, pairs = first + len(self.wholes), len(self.part)
        width = after + 2 * pairs
        numbers = np.concatenate([numbers * self.own[places], np.full(len(self.wholes), -1.0), np.ones(2 * pairs)])
        takes = np.concatenate([takes, of_line[self.wholes], *[of_line[self.part]] * 2])
        places = np.concatenate([places, np.arange(first, width)])
        A = sparse.csc_matrix((numbers, (takes, places)), shape=(len(self.of_key), width))
        of_whole, in_whole = vectors[self.wholes].nonzero()
        of_part, in_part = vectors[self.part].nonzero()
        rows = np.concatenate([of_whole * len(letters) + in_whole, *[self.turn[of_part] * len(letters) + in_part] * 2])
        places = np.concatenate([first + of_whole, after + of_part, after + pairs + of_part])
        number = vectors[self.part[of_part], in_part]
        numbers = np.concatenate([-vectors[self.wholes[of_whole], in_whole], number, -number])
        return A, sparse.csc_matrix((numbers, (rows, places)), shape=(len(self.wholes) * len(letters), width))

    def _gap_vector(self, amount: NormExpression, end) -> np.ndarray:
        found = np.zeros(len(self.of_key))
        for key, c in amount.terms.items():
            found[self.of_key[key]] = float_coefficient(key, end(c)) * (1.0 if key else self.of_one)
        return found

    def linear_program(self):
        """The linear program of multipliers that prove the pair, in units of the largest coefficient of its gap."""
        A, E = self.matrix
        cost = np.full(A.shape[1], _PART)
        cost[: len(self.columns)] = _COLUMN
        gap = self._gap_vector(self.gap, lower)
        return cost, gap / _unit_size(gap), A, E

    def factor(self) -> float | None:
        """The least factor of the larger side that is proven: infinite if there is none, None if none is found."""
        A, E = self.matrix
        larger, smaller = self._gap_vector(self.larger, lower), self._gap_vector(self.smaller, upper)
        size, less = _unit_size(larger), _unit_size(smaller)
        cost = np.full(A.shape[1] + 1, 1e-9)
        cost[-1] = 1.0
        found, none = _solve_linear_program(
            cost, -smaller / less, sparse.hstack([A, sparse.csr_matrix(-larger[:, None] / size)]),
            sparse.hstack([E, sparse.csr_matrix((E.shape[0], 1))]))
        return inf if none else None if found is None else float(found[-1] * less) / size

    # fractions -------------------------------------------------------------------------------------------------------------
    def exact_proof(self, multipliers: np.ndarray) -> dict[str, Any] | None:
        """A proof in fractions from the solver's multipliers."""
        size = _unit_size(self._gap_vector(self.gap, lower))
        first, after = len(self.columns), len(self.columns) + len(self.wholes)
        active = [(column, float(times * size * own)) for column, times, own in zip(
            self.columns, multipliers[:first], self.own, strict=True) if times > _ACTIVE]
        plus, minus = multipliers[after:].reshape(2, -1)
        for turn, (v, times) in enumerate(zip(self.wholes, multipliers[first:after], strict=True)):
            if times <= _ACTIVE:
                continue
            own = (self.turn == turn).nonzero()[0]
            parts = (plus[own] - minus[own]) / times
            used = np.abs(parts) > _PRESENT
            row, rows = row_of(self.lines[v]), [row_of(self.lines[u]) for u in self.part[own[used]]]
            units = [float(Fraction(unit_of_key(self.keys[v]), unit_of_key(self.keys[u]))) for u in self.part[own[used]]]
            solved = combination(rows, row, parts[used] * units)
            if solved is None:
                return None
            made = [(part, c) for part, c in zip(rows, solved, strict=True) if c]
            entry = [_as_lists(row), [[_as_lists(part), str(c)] for part, c in made]]
            amount = self.rules.triangle(row, made)
            active.append((Column(amount, "triangles", entry), float(Fraction(times * size) / unit_of_key(self.keys[v]))))
        times = substituted(self.gap, [column for column, _ in active], [weight for _, weight in active])
        if times is None:
            return None
        proof: dict[str, Any] = {"known": {}, "steps": [], "hits": [], "triangles": []}
        for (column, _), number_ in zip(active, times, strict=True):
            if number_ == 0:
                continue
            if column.kind == "known":
                proof["known"][column.entry] = str(number_)
            else:
                proof[column.kind].append([*column.entry, str(number_)])
        return proof


def _as_lists(row: SymbolicVector):
    return [[letter, str(c)] for letter, c in sorted(row.terms.items())]
