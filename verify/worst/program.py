"""The semidefinite program of a symbolic statement: the multipliers of a proof, or how far the statement is from true."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import groupby
from math import inf
from threading import Lock
from typing import NamedTuple

import numpy as np
from scipy import sparse

from verify.checker.quadratic_forms import LAYER, QuadraticForm, SymbolicVector
from verify.symbolic.lazy import LazyMapping
from verify.symbolic.symbolic_run import SymbolicRun
from verify.worst.solution_check import ConeProgram

__all__ = [
    "EXACT", "SMALL", "UNSURE", "NotSolved", "Program", "ProgramFamily", "Solution", "is_inner_product", "programs",
    "solve_cone_program", "solver", "vectors_in",
]

_ROUGH, _LONGEST = 1e-6, 50  # tolerance and iterations of the solver for a rough factor
_FINEST = 1e-11  # tolerance where the solver's own one leaves a factor too few digits
_SURE = ("Solved", "PrimalInfeasible", "DualInfeasible")
SMALL = 1e-6  # multipliers and eigenvalues that count as zero
EXACT = 1e-5  #: share of itself by which a factor that is shown may be wrong
UNSURE = 1e-4  #: share by which one may be that decides whether a proof is looked for


class NotSolved(ValueError):
    """A program whose solver has no answer, or one that does not pass the check."""

    def __init__(self, reason: str):
        super().__init__(f"not solved reliably: {reason}")


class Solution(NamedTuple):
    """A solution of a program.

    Attributes:
        factor: the least number that the larger side may be multiplied by; one where the statement itself was asked for;
            infinite where none is enough, and nothing else is known, as with a rough one.
        multipliers: of the known inequalities and equalities, by name.
        active: names of those that are not near zero.
        slack: what remains, a symmetric matrix (letters, letters) in units of the statement's largest coefficient.
        sure: whether the solver reached its own precision, and the factor that of :data:`UNSURE`.
        error: by how much of itself a factor that is not rough may be wrong, as far as the solution shows
            (:meth:`verify.worst.solution_check.Asked.error`).
        gram, values: inner products of the letters (letters, letters) and numbers without a value, by name, at which the
            smaller side is ``factor`` and the larger one is one.
    """

    factor: float
    multipliers: dict[str, float]
    active: list[str]
    slack: np.ndarray
    gram: np.ndarray
    values: dict[str, float]
    sure: bool = True
    error: float = 0.0


def solver():
    """The solver's package. Raises ImportError with what to install."""
    try:
        import clarabel
    except ImportError:
        raise ImportError('worst cases need clarabel; install it with: pip install "fedtheory[worst]"') from None
    return clarabel


def solve_cone_program(aim, rows, right, cones, settings):
    """Returns the solver's solution of ``min aim x, right - rows x in cones``; None where it breaks down.

    Its Rust code panics where a step is so far off that eigenvalues are no longer finite. The panic is caught, and the trace
    that it writes by itself is not shown."""
    own, size = solver(), len(aim)
    with _SILENCE:
        try:
            return own.DefaultSolver(_zero_matrix(size), aim, rows, right, cones, settings).solve()
        except BaseException as error:  # a panic of its Rust code is no Exception
            if type(error).__name__ != "PanicException":
                raise
            return None


@lru_cache(64)
def _zero_matrix(size: int) -> sparse.csc_matrix:
    return sparse.csc_matrix((size, size))


def _solve_checked(asked: ConeProgram, cones, settings, again: bool, checked: bool):
    """Returns the solver's solution, and the relative error of its least value if that is ``checked``. Solves it ``again``
    with refined steps if the solver is not sure, and with a finer tolerance if it is but the error is large."""
    given = asked.aim, asked.matrix, asked.right, cones, settings
    found = solve_cone_program(*given)
    sure, error = found is not None and str(found.status) in _SURE, asked.error_of(found) if checked else 0.0
    if again and (not sure or error > EXACT):
        settings.iterative_refinement_enable = True
        if sure:
            settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _FINEST
        other = solve_cone_program(*given)
        of_other = asked.error_of(other) if checked else 0.0
        if of_other < error or not checked:
            return other, of_other
    return found, error


class _Silence:
    """A context in which whatever is written to the process's standard error, in any language, is discarded."""

    def __init__(self):
        self.lock, self.inside, self.kept = Lock(), 0, None

    def __enter__(self):
        with self.lock:
            self.inside += 1
            if self.inside == 1:
                self.kept = _silence_descriptor(2)

    def __exit__(self, *_):
        with self.lock:
            self.inside -= 1
            if self.inside == 0 and self.kept is not None:
                os.dup2(self.kept, 2)
                os.close(self.kept)


def _silence_descriptor(number: int) -> int | None:
    """Redirects a file descriptor to nowhere; returns a duplicate of it, or None if it was not open."""
    try:
        kept = os.dup(number)
    except OSError:
        return None
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)
    return kept


_SILENCE = _Silence()


class Program:
    """Known inequalities ``c >= 0`` and equalities ``c == 0`` as arrays, to write ``factor * larger - smaller`` as a sum of
    multiples of them and of a square. ``chosen``: the basis vectors that are used, with the facts about these alone."""

    def __init__(self, letters: SymbolicRun, known: tuple[Mapping[str, QuadraticForm], Mapping[str, QuadraticForm]],
                 chosen: set[int]):
        self.letters, self.chosen = letters, sorted(chosen)
        self.inequalities, self.equalities = (
            {name: form for name, form in _forms_about(forms, chosen).items() if vectors_in(form) <= chosen}
            for forms in known)
        self.forms = self.inequalities | self.equalities
        self.count, self.names = len(self.chosen), [*self.forms]
        self.keys = sorted(filter(_is_name, set().union(*(form.parts for form in self.forms.values()))))
        self.blocks = [[*block] for _, block in groupby(self.chosen, lambda i: i // LAYER)]
        self.pairs = [(i, j) for block in self.blocks for b, j in enumerate(block) for i in block[: b + 1]]
        self.rows = {key: row for row, key in enumerate((*self.keys, (), *self.pairs))}

    @property
    def effective_size(self) -> float:
        """The number of basis vectors of a program with one block that is as large."""
        return sum(len(block) ** 2 for block in self.blocks) ** 0.5

    @cached_property
    def units(self) -> np.ndarray:
        """The factor of a coefficient in each row: off-diagonal entries of a matrix occur twice."""
        return np.array([1.0] * (len(self.keys) + 1) + [1.0 if i == j else 0.5**0.5 for i, j in self.pairs])

    @cached_property
    def coordinates(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The largest coefficient of each known form; and the forms in units of these, as numbers, rows and columns."""
        forms = self.forms.values()
        columns = np.repeat(np.arange(len(forms)), [len(form.parts) for form in forms])
        rows = np.array([self.rows[key] for form in forms for key in form.parts], dtype=int)
        numbers = np.array([c / form.over for form in forms for c in form.parts.values()]) * self.units[rows]
        sizes = np.zeros(len(forms))
        np.maximum.at(sizes, columns, np.abs(numbers))
        sizes[sizes == 0] = 1.0
        return sizes, numbers / sizes[columns], rows, columns

    @cached_property
    def arrays(self) -> tuple[np.ndarray, sparse.csc_matrix]:
        """The largest coefficient of each known form, and the forms in units of these."""
        return self.coordinates[0], _by_columns(*self.coordinates[1:], (len(self.rows), len(self.forms)))

    @cached_property
    def groups(self) -> tuple[list[int], np.ndarray, np.ndarray]:
        """The parts of a program that asks for a factor alone: sizes of groups of basis vectors, places of their pairs, one
        group after the other, and places of the known forms that matter.

        The matrix that remains may be anything at inner products that are known to be zero. One with such entries can be
        made positive semidefinite if it is that over each clique of a chordal graph of the other entries (Grone, Johnson,
        Sa and Wolkowicz, Linear Algebra and its Applications 58, 1984, Theorem 7).
        """
        keys = [next(iter(form.parts)) if len(form.parts) == 1 else () for form in self.forms.values()]
        zero = {key for key in keys[len(self.inequalities) :] if is_inner_product(key) and key[0] != key[1]}
        groups = _cliques(self.chosen, (pair for pair in self.pairs if pair not in zero))
        pairs = [(i, j) for group in groups for at, j in enumerate(group) for i in group[: at + 1]]
        zero.difference_update(pairs)
        count = [number for number, key in enumerate(keys) if key not in zero]
        places = np.array([self.rows[pair] for pair in pairs], dtype=int) - len(self.keys) - 1
        return [*map(len, groups)], places, np.array(count, dtype=int)

    def column(self, form: QuadraticForm) -> np.ndarray:
        """The coefficients of symbolic numbers, of 1, and the upper triangle of the matrix of inner products."""
        found = np.zeros(len(self.rows))
        found[[self.rows[key] for key in form.parts]] = [c / form.over for c in form.parts.values()]
        return found * self.units

    def solve(self, smaller: QuadraticForm, larger: QuadraticForm, cost: float | None = None,
              others: Sequence[QuadraticForm] = (),
              rough: bool = False, refined: bool = False) -> Solution | None:
        """The least ``factor`` for which ``factor * larger - smaller`` is certainly not negative, infinite where none is
        enough; with a ``cost`` of all multipliers of inequalities the cheapest proof that ``larger - smaller`` is not, an
        infinite factor where there is none. None where the solver finds no answer.

        With ``others``, and no cost, the smaller side is the least of ``smaller`` and these: of all their means that one
        whose factor is least. A ``rough`` factor has the digits that comparisons of factors need, in a third of the time;
        nothing else is told with it. Where the solver is not sure of any other answer it is asked again with ``refined``
        steps, which take half as long again; or it takes such steps at once.
        """
        own, zeros = solver(), len(self.keys)
        if not {*filter(_is_name, (key for side in (smaller, larger, *others) for key in side.parts))} <= {*self.keys}:
            return None
        scaled, number, signed = cost is None, len(self.names), len(self.inequalities)
        less, more, *apart = (self.column(side) for side in (smaller, larger, *others))
        size = max(np.abs(less).max(), np.abs(more).max()) or 1.0
        free = np.array([-more / size, *((side - less) / size for side in apart)]) if scaled else np.empty((0, len(less)))
        shares = [*range(number + 1, number + 1 + len(apart))]
        bounds = np.append(np.zeros(len(apart)), 1.0) if apart else np.array([])
        matrix = self._constraints(free, shares)
        right = (0 if scaled else more / size) - less / size
        right = np.concatenate([right[: zeros + 1], np.zeros(signed), bounds, right[zeros + 1 :]])
        aim = np.zeros(number + len(free))
        aim[:signed], aim[number : number + 1] = cost or 0.0, 1.0
        sizes = [*map(len, self.blocks)]
        if rough:
            sizes, pairs, forms = self.groups
            plain, forms = len(right) - len(self.pairs), np.append(forms, np.arange(number, len(aim)))
            pairs = np.append(np.arange(plain), plain + pairs)
            aim, matrix, right = aim[forms], matrix[pairs][:, forms], right[pairs]
        cones = [own.ZeroConeT(zeros)] * bool(zeros) + [own.NonnegativeConeT(1 + signed + len(bounds)), *map(
            own.PSDTriangleConeT, sizes)]
        settings = own.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1  # more threads take longer
        settings.chordal_decomposition_enable = False  # it panics on some programs
        settings.equilibrate_enable = scaled and not rough  # coefficients are about 1 as they are: other units help no proof
        if rough:
            settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _ROUGH
            settings.max_iter = _LONGEST
        settings.iterative_refinement_enable = refined
        asked = ConeProgram(aim, matrix, right, zeros, sizes)
        found, error = _solve_checked(asked, cones, settings, again=not rough and not refined, checked=scaled and not rough)
        nothing = {}, [], *[np.zeros((self.count, self.count))] * 2, {}
        if found is not None and str(found.status) == "PrimalInfeasible":
            return Solution(inf, *nothing) if not scaled or asked.is_endless(np.array(found.z)) else None
        if found is None or str(found.status) not in ("Solved", "AlmostSolved"):
            return None
        sure, factor = str(found.status) == "Solved" and error <= UNSURE, float(aim @ found.x) if scaled else 1.0
        if rough:
            return Solution(factor, *nothing, sure)
        slack, gram = (self.from_upper(np.array(of)[-len(self.pairs) :]) for of in (found.s, found.z))
        multipliers = np.array(found.x)[:number]
        least = SMALL * max(1.0, np.abs(multipliers).max(initial=0.0))
        active = [name for name, part in zip(self.names, multipliers, strict=True)
                  if name in self.equalities or abs(part) > least]
        multipliers = size * multipliers / self.coordinates[0]
        values = dict(zip(self.keys, np.array(found.z)[:zeros] / size, strict=True))
        return Solution(factor, dict(zip(self.names, multipliers, strict=True)), active, slack, gram / size, values, sure,
                        error)

    def _constraints(self, free: np.ndarray, shares: list[int]) -> sparse.csc_matrix:
        """The matrix of the known forms, with ``free`` columns beside it. Behind its plain rows are rows for the signs of
        the multipliers of inequalities and of the ``shares``, and for the sum of the shares, which is at most one."""
        (_, known, at, columns), zeros = self.coordinates, len(self.keys)
        beside, of_beside = np.nonzero(free)
        positive = np.array([*range(len(self.inequalities)), *shares], dtype=int)
        last = np.array(shares, dtype=int)
        behind = zeros + 1 + np.arange(len(positive) + bool(shares))
        inside = np.concatenate([at, of_beside])
        inside[inside > zeros] += len(behind)
        rows = inside, behind[: len(positive)], behind[-1:].repeat(len(last))
        columns = columns, len(self.names) + beside, positive, last
        numbers = known, free[beside, of_beside], -np.ones(len(positive)), np.ones(len(last))
        shape = len(self.rows) + len(behind), len(self.names) + len(free)
        return _by_columns(*map(np.concatenate, (numbers, rows, columns)), shape)

    def may_be_negative(self, form: QuadraticForm) -> bool:
        """Whether a form is not a sum of squares and nonnegative numbers, in floats."""
        if any(c < 0 if not key else not is_inner_product(key) for key, c in form.parts.items()):
            return True
        found = self.matrix(form)
        return bool(np.linalg.eigvalsh(found)[0] < -SMALL * np.abs(found).max()) if found.size else False

    def matrix(self, form: QuadraticForm) -> np.ndarray:
        """The symmetric matrix of a form's inner products, over the chosen letters."""
        return self.from_upper(self.column(form)[len(self.keys) + 1 :])

    def from_upper(self, upper: np.ndarray) -> np.ndarray:
        """The symmetric matrix of an upper triangle as the solver has it, over the chosen letters."""
        found, (row, column) = np.zeros((self.count, self.count)), self.triangle
        found[row, column] = found[column, row] = upper * np.where(row == column, 1, 0.5**0.5)
        return found

    @cached_property
    def triangle(self) -> tuple[np.ndarray, np.ndarray]:
        """The places of all pairs in a matrix over the chosen letters."""
        at = {letter: place for place, letter in enumerate(self.chosen)}
        row, column = np.array([(at[i], at[j]) for i, j in self.pairs], dtype=int).reshape(-1, 2).T
        return row, column


class ProgramFamily:
    """The programs with the facts given a past, ``(inequalities, equalities)`` by name, for proofs of ``sides``."""

    def __init__(self, letters: SymbolicRun, known: tuple[Mapping[str, QuadraticForm], Mapping[str, QuadraticForm]],
                 sides: Sequence[QuadraticForm]):
        self.letters, self.known, self.sides = letters, known, sides

    @cached_property
    def whole(self) -> Program:
        """The program with all basis vectors that a proof may need."""
        return Program(self.letters, self.known, needed_vectors(self.known, self.sides))

    def for_points_of(self, *sides: QuadraticForm) -> Program | None:
        """The program with the basis vectors of the points that occur in some forms, and the facts about these alone; None
        if these are all basis vectors, or none."""
        named = {i % LAYER for side in sides for i in vectors_in(side)}
        values = [key for side in sides for key in side.parts if isinstance(key, str)]
        chosen = named.union(*(
            _basis_indices([x, g]) for points in self.letters.points for x, g, value in points
            if any(key.startswith(next(iter(value.parts))) for key in values) or _basis_indices([g]) <= named))
        if len(chosen) >= len(self.letters.depends):
            return None
        known = tuple({name: form for name, form in _forms_about(forms, chosen).items()
                       if {i % LAYER for i in vectors_in(form)} <= chosen} for forms in self.known)
        part = Program(self.letters, known, needed_vectors(known, sides))
        return part if part.chosen else None

    def parts(self, gap: QuadraticForm, most: int | None) -> Iterator[Program]:
        """Yields programs for a proof that a form is nonnegative: with its basis vectors, with the points in it, and with
        all; only those with an effective size of at ``most`` this."""
        seen = []
        named = vectors_in(gap)
        for make in (lambda: Program(self.letters, self.known, named), lambda: self.for_points_of(gap), lambda: self.whole):
            if (part := make()) is not None and part.chosen and part.chosen not in seen:
                seen.append(part.chosen)
                if most is None or part.effective_size <= most:
                    yield part


def _by_columns(numbers: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sparse.csc_matrix:
    """A CSC matrix with these numbers at rows and columns, no two at the same place."""
    order = np.lexsort((rows, columns))
    ends = np.searchsorted(columns[order], np.arange(shape[1] + 1))
    return sparse.csc_matrix((numbers[order], rows[order], ends), shape=shape)


def _cliques(letters: Sequence[int], pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """The cliques of a chordal graph with these edges: vertices are eliminated one by one, those with few edges first, and
    the neighbours of each are joined. Cliques that are nearly the same are merged."""
    near, groups = {i: set[int]() for i in letters}, list[set[int]]()
    for i, j in pairs:
        near[i].add(j)
        near[j].add(i)
    while near:
        first = min(near, key=lambda i: len(near[i]))
        clique = near.pop(first) | {first}
        for i in clique - {first}:
            near[i] = (near[i] | clique) - {first}
        for group in groups:
            if len(group | clique) ** 3 < len(group) ** 3 + len(clique) ** 3:
                group |= clique
                break
        else:
            groups.append(clique)
    return [*map(sorted, groups)]


def _basis_indices(rows: Sequence[SymbolicVector]) -> set[int]:
    """The basis vectors of symbolic vectors in the first layer."""
    return set().union(*(row.basis_indices for row in rows))


def _forms_about(forms: Mapping[str, QuadraticForm], chosen: set[int]) -> Mapping[str, QuadraticForm]:
    """The forms that may have these basis vectors alone, without building forms of others."""
    own, forms = {i % LAYER for i in chosen}, LazyMapping.wrap(forms)
    return {name: forms[name] for name in forms if (rows := forms.made_of(name)) is None or _basis_indices(rows) <= own}


def programs(letters: SymbolicRun, statements: Sequence,
             at_rest: bool = False) -> list[tuple[ProgramFamily, QuadraticForm, QuadraticForm]]:
    """Returns the programs, the smaller and the larger side of each pair that the statements compare; ``at_rest``: for runs
    that start at the optimum.

    Raises:
        LookupError, TypeError, ValueError: a statement cannot be written in basis vectors.
    """
    triples = [(past, *letters.as_proven(*pair)) for statement in statements for past, *pair in letters.compared(statement)]
    of_pasts = letters.facts_by_past({past for past, *_ in triples})
    if at_rest:
        start = {*letters.given["start_offset"].parts}
        triples = [(past, *(_set_to_zero(side, start) for side in pair)) for past, *pair in triples]
        of_pasts = {past: tuple(LazyMapping.wrap(forms).each(partial(_set_to_zero, zero=start)) for forms in both)
                    for past, both in of_pasts.items()}
    found = {past: ProgramFamily(letters, known, [side for at, *pair in triples if at == past for side in pair])
             for past, known in of_pasts.items()}
    return [(found[past], *pair) for past, *pair in triples]


def _set_to_zero(form: QuadraticForm, zero: set[int]) -> QuadraticForm:
    """Sets some basis vectors of a form to zero."""
    return form.reduced({key: c for key, c in form.parts.items() if not (is_inner_product(key) and zero & {*key})},
                        form.over)


def needed_vectors(known: tuple[Mapping[str, QuadraticForm], Mapping[str, QuadraticForm]],
           sides: Sequence[QuadraticForm]) -> set[int]:
    """The basis vectors that a proof may need: all but those about which only zero correlations are known."""
    inequalities, equalities = known
    forms = [*sides, *inequalities.values(), *(form for form in equalities.values() if len(form.parts) > 1)]
    return set().union(*map(vectors_in, forms))


def vectors_in(form: QuadraticForm) -> set[int]:
    """The basis vectors in a form's inner products."""
    return form.basis_indices


def _is_name(key) -> bool:
    """Whether a key of a form is that of a loss, or of a symbolic number."""
    return isinstance(key, str)


def is_inner_product(key) -> bool:
    """Whether a key of a form is that of an inner product."""
    return isinstance(key, tuple) and len(key) == 2
