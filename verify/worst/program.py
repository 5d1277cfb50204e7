"""The semidefinite program of a statement on letters: the multipliers of a proof, or how far the statement is from true."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import groupby
from math import inf
from typing import NamedTuple

import numpy as np
from scipy import sparse

from verify.checker.forms import LAYER, ORIGIN, Form
from verify.checker.letters import Letters
from verify.checker.limits import bounded

__all__ = ["SMALL", "Program", "Solution", "inner", "of_letters", "programs", "solver"]

SMALL = 1e-6  # multipliers and eigenvalues that count as zero


class Solution(NamedTuple):
    """What the solver found.

    Attributes:
        factor: the least number that the larger side may be multiplied by; one where the statement itself was asked for;
            infinite where none is enough, and nothing else is known.
        multipliers: of the known inequalities and equalities, by name.
        active: names of those that are not near zero.
        slack: what remains, a symmetric matrix (letters, letters) in units of the statement's largest coefficient.
        gram, values: inner products of the letters (letters, letters) and numbers without a value, by name, at which the
            smaller side is ``factor`` and the larger one is one.
    """

    factor: float
    multipliers: dict[str, float]
    active: list[str]
    slack: np.ndarray
    gram: np.ndarray
    values: dict[str, float]


def solver():
    """The solver's package. Raises ImportError with what to install."""
    try:
        import clarabel
    except ImportError:
        raise ImportError('worst cases need clarabel; install it with: pip install "fedtheory[worst]"') from None
    return clarabel


def solved(aim, rows, right, cones, settings):
    """What the solver says of ``min aim x, right - rows x in cones``; None where it breaks down, as where eigenvalues do not
    converge."""
    own, size = solver(), len(aim)
    try:
        return own.DefaultSolver(sparse.csc_matrix((size, size)), aim, rows, right, cones, settings).solve()
    except BaseException as error:  # a panic of its Rust code is no Exception
        if type(error).__name__ != "PanicException":
            raise
        return None


class Program:
    """Known inequalities ``c >= 0`` and equalities ``c == 0`` as arrays, to write ``factor * larger - smaller`` as a sum of
    multiples of them and of a square. ``chosen``: the letters to do without others, and all that is known of these alone."""

    def __init__(self, letters: Letters, known: tuple[dict[str, Form], dict[str, Form]], chosen: set[int]):
        self.letters, self.known, self.chosen = letters, known, sorted(chosen)
        self.inequalities, self.equalities = (
            {name: form for name, form in forms.items() if of_letters(form) <= chosen} for forms in known)
        self.forms = self.inequalities | self.equalities
        self.count, self.names = len(self.chosen), [*self.forms]
        self.keys = sorted({key for form in self.forms.values() for key in form.terms if not inner(key)} - {()}, key=str)
        self.blocks = [[*block] for _, block in groupby(self.chosen, lambda i: i // LAYER)]
        self.places: dict[tuple[int, int], int] = {}
        for block in self.blocks:
            self.places |= {(i, j): place for place, (i, j) in enumerate(
                ((i, j) for b, j in enumerate(block) for i in block[: b + 1]), len(self.places))}
        self.rows = {(): len(self.keys)} | {key: row for row, key in enumerate(self.keys)}

    @property
    def large(self) -> float:
        """As large as a program with so many letters in one block."""
        return sum(len(block) ** 2 for block in self.blocks) ** 0.5

    @cached_property
    def arrays(self) -> tuple[np.ndarray, sparse.csc_matrix]:
        """The largest coefficient of each known form, and the forms in units of these."""
        columns = [self.column(form) for form in self.forms.values()]
        sizes = np.array([abs(c).max() for c in columns])
        empty = sparse.csc_matrix((len(self.rows) + len(self.places), 0))
        return sizes, sparse.hstack([empty, *(c / size for c, size in zip(columns, sizes, strict=True))], format="csc")

    def parts(self, gap: Form, most: int | None) -> Iterator["Program"]:
        """Programs for a proof that a form is not negative: with the letters that it names, with the points that it speaks
        of, and with all; those no larger than with so many letters."""
        named, seen = of_letters(gap), []
        every = {i - i % LAYER for i in self.chosen}  # layers and worlds
        spoken = named.union(*(
            {i % LAYER + block for i in {*x.terms, *g.terms} - {ORIGIN} for block in every}
            for points in self.letters.points for x, g, value in points
            if any(key.startswith(next(iter(value.terms))) for key in gap.terms if isinstance(key, str))
            or {i % LAYER for i in g.terms} <= {i % LAYER for i in named}))
        for chosen in (named, spoken & {*self.chosen}, {*self.chosen}):
            if chosen and chosen not in seen:
                seen.append(chosen)
                part = self if len(chosen) == self.count else Program(self.letters, self.known, chosen)
                if most is None or part.large <= most:
                    yield part

    def column(self, form: Form) -> sparse.csc_array:
        """Coefficients: of the numbers without a value, of 1, and the upper triangle of the matrix of inner products."""
        rows = [len(self.keys) + 1 + self.places[key] if inner(key) else self.rows[key] for key in form.terms]
        numbers = [float(c) * (0.5**0.5 if inner(key) and key[0] != key[1] else 1) for key, c in form.terms.items()]
        shape = len(self.keys) + 1 + len(self.places), 1
        return sparse.csc_array((numbers, (rows, [0] * len(rows))), shape=shape)

    def solve(self, smaller: Form, larger: Form, cost: float | None = None, others: Sequence[Form] = ()) -> Solution | None:
        """The least ``factor`` for which ``factor * larger - smaller`` is certainly not negative, infinite where none is
        enough; with a ``cost`` of all multipliers of inequalities the cheapest proof that ``larger - smaller`` is not. None
        where the solver finds no answer, or no proof.

        With ``others``, and no cost, the smaller side is the least of ``smaller`` and these: of all their means that one
        whose factor is least.
        """
        own, zeros = solver(), len(self.keys)
        if not {key for side in (smaller, larger, *others) for key in side.terms if not inner(key) and key} <= {*self.keys}:
            return None
        scaled, number, signed = cost is None, len(self.names), len(self.inequalities)
        sizes, known = self.arrays
        less, more, *apart = (self.column(side).toarray()[:, 0] for side in (smaller, larger, *others))
        size = max(np.abs(less).max(), np.abs(more).max()) or 1.0
        rows, right = known, (0 if scaled else more / size) - less / size
        if scaled:
            shares = [(side - less)[:, None] / size for side in apart]
            rows = sparse.hstack([rows, *map(sparse.csc_matrix, (-more[:, None] / size, *shares))], format="csc")
        signs = sparse.eye(signed, rows.shape[1], format="csc") * -1.0
        aim = np.zeros(rows.shape[1])
        aim[:signed], aim[number : number + 1] = cost or 0.0, 1.0
        bounds = np.zeros((1 + len(apart)) * bool(apart))
        if apart:  # shares are at least 0, and at most one together
            bounds[-1] = 1.0
            of_shares = sparse.csc_matrix(np.vstack([-np.eye(len(apart)), np.ones(len(apart))]))
            signs = sparse.vstack([signs, sparse.hstack([sparse.csc_matrix((len(bounds), number + 1)), of_shares])])
        signed += len(bounds)
        cones = [own.ZeroConeT(zeros)] * bool(zeros) + [own.NonnegativeConeT(1 + signed), *(
            own.PSDTriangleConeT(len(block)) for block in self.blocks)]
        settings = own.DefaultSettings()
        settings.verbose = False
        settings.chordal_decomposition_enable = False  # it panics on some programs
        found = solved(aim, sparse.vstack([rows[: zeros + 1], signs, rows[zeros + 1 :]], format="csc"),
                       np.concatenate([right[: zeros + 1], np.zeros(signed - len(bounds)), bounds, right[zeros + 1 :]]),
                       cones, settings)
        if scaled and found is not None and str(found.status) == "PrimalInfeasible":
            return Solution(inf, {}, [], *[np.zeros((self.count, self.count))] * 2, {})
        if found is None or str(found.status) not in ("Solved", "AlmostSolved"):
            return None
        slack, gram = (self._matrix(np.array(of)[-len(self.places) :]) for of in (found.s, found.z))
        parts = np.abs(found.x[:number])
        active = [name for name, part in zip(self.names, parts, strict=True)
                  if name in self.equalities or part > SMALL * max(1.0, parts.max())]
        multipliers = size * np.array(found.x)[:number] / sizes
        values = dict(zip(self.keys, np.array(found.z)[:zeros] / size, strict=True))
        return Solution(found.x[number] if scaled else 1.0, dict(zip(self.names, multipliers, strict=True)), active, slack,
                        gram / size, values)

    def _matrix(self, upper: np.ndarray) -> np.ndarray:
        """The symmetric matrix of an upper triangle as the solver has it, over the chosen letters."""
        found, at = np.zeros((self.count, self.count)), {letter: place for place, letter in enumerate(self.chosen)}
        row, column = np.array([(at[i], at[j]) for i, j in self.places]).reshape(-1, 2).T
        found[row, column] = found[column, row] = upper * np.where(row == column, 1, 0.5**0.5)
        return found


def programs(letters: Letters, statements: Sequence, most: int | None = None) -> list[tuple[Program, Form, Form]]:
    """Of each pair of sides that the statements compare the program, the smaller side and the larger one.

    Raises:
        LookupError, TypeError, ValueError: a statement is none about letters, or has more than so many.
    """
    triples = [triple for statement in statements for triple in letters.compared(statement)]
    found = {}
    for past, known in letters.known({past for past, *_ in triples}).items():
        forms = [form for part in known for form in part.values()]
        forms += [side for at, *pair in triples if at == past for side in pair]
        found[past] = Program(letters, known, {*range(len(letters.depends))}.union(*map(of_letters, forms)))
        if most is not None:
            bounded(found[past].large, most, "letters")
    return [(found[past], *pair) for past, *pair in triples]


def of_letters(form: Form) -> set[int]:
    """The letters of a form's inner products."""
    return {letter for key in form.terms if inner(key) for letter in key}


def inner(key) -> bool:
    """Whether a key of a form is that of an inner product."""
    return isinstance(key, tuple) and len(key) == 2
