"""The best rate of a method that a potential proves, by bisection, with a proof in rational numbers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize_scalar

from fedtheory.registry import find_algorithm
from synthetic.base.checks import number, whole
from verify.checker.forms import Form
from verify.checker.limits import bounded
from verify.checker.rounds import FORMAT, AnyState, duties
from verify.checker.timeless import put
from verify.exact.statement import formula, statement_of
from verify.worst.contraction import Contraction, check_contraction, terms, zeta_sq
from verify.worst.every_round import proofs_of
from verify.worst.program import Program, of_letters, solved, solver

__all__ = ["Potential", "potential"]

_MOST = 40  # letters
_FAR = 1e-5  # a potential whose least value is less, in units of its largest weight, is none
_PRECISE = 1e-9  # of the bisection
_BETTER = 1e-5  # by which values and gradients must make a rate better
_SLACK = 0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3  # by which a rate is proven that is above the best, in units of what 1 is above it
_SAME = 1e-9  # of a column that is a combination of others
_GRID = 12  # rates among which the one with the least floor is looked for
_SIMPLE = 1000  # denominators of rates that are tried before others
_WEIGHTS = 100, 10**4, 10**6, 10**8  # denominators of weights


@dataclass(frozen=True)
class Potential:
    """A rate, and its proof.

    Attributes:
        best: the least rate of all potentials of these terms, in floats; 1 if there is none below.
        proven: the statement; None where no proof was found.
        certificate: what ``fedtheory check`` accepts.
        letters: vectors of which nothing is known but inequalities.
        reason: why there is no proof.
    """

    best: float
    proven: Contraction | None
    certificate: dict[str, Any] | None
    letters: int
    reason: str = ""


class _Found(NamedTuple):
    """Weights by term, the cost, and the least value in units of the model's squared distance."""

    weights: np.ndarray
    cost: float
    least: float


def potential(method: str, clients: int = 2, L=1, mu=None, **arguments) -> Potential:
    """The least factor by which a potential of a method shrinks in every round, for all functions of curvatures in [mu, L].

    A potential is a quadratic form in what server and clients keep, less what they are at the optimum, and if that helps in
    gradients, plus a multiple of F(x) - F_star; it is at least |x - x_star|^2. The rate is the least one for which the
    solver finds such a potential, and is proven a little above that, or at a simple fraction. Methods that heterogeneous
    clients keep from the optimum have a floor: that rate whose floor is least is proven.

    Args:
        method: its name, with its ``arguments``, exact numbers where they are fractions.
        mu: by default L/10.

    Raises:
        ImportError: the solver is not installed.
        LookupError, TypeError, ValueError: the method is not known from any state, or not with these arguments.
    """
    L = Fraction(str(number("L", L, strict=True)) if isinstance(L, float) else L)
    mu = L / 10 if mu is None else Fraction(str(mu))
    asked = Contraction(method, _exact(arguments), whole("clients", clients), L, mu)
    program = _Shrinking(asked, [*terms(method)])
    few = [name for name in program.names if not ("gradient" in name or name == "value")]
    names, rate = few, program.best(few, False)
    if (less := program.best(program.names, False)) < rate - _BETTER:
        names, rate = program.names, less
    if rate < 1:
        return program.proven(names, rate, False)
    program = _Shrinking(replace(asked, rate=Fraction(1, 2), cost=Fraction(1)), few)
    if (rate := program.with_floor(few)) is None:
        return Potential(1.0, None, None, program.letters, "no potential of these terms shrinks")
    return program.proven(few, rate, True)


def _exact(arguments) -> tuple[tuple[str, Any], ...]:
    def one(value):
        plain = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
        return Fraction(str(value)) if plain else value

    return tuple((name, one(value)) for name, value in arguments.items())


class _Shrinking:
    """The semidefinite program of a potential: its terms before and after a round from any state, and what is known."""

    def __init__(self, asked: Contraction, names: list[str]):
        self.asked, self.stated = asked, statement_of(asked.claim)
        letters, known_terms = AnyState(self.stated, *asked.setting), terms(asked.method)
        pairs = {name: self._sides(letters, formula(known_terms[name])) for name in names}
        _, self.target = pairs["x.x"]
        self.paid = letters.given[zeta_sq.name] if asked.cost else Form({})
        self.letters = bounded(len(letters.depends), _MOST, "letters")
        known = letters.known({letters.past})[letters.past]
        self.round = Program(letters, known, {*range(len(letters.depends))})
        self.state = Program(letters, known, set().union(*(of_letters(before) for _, before in pairs.values())))
        self.pairs = {name: tuple(self.round.column(side) for side in sides) for name, sides in pairs.items()}
        self.at_start = {name: self.state.column(before) for name, (_, before) in pairs.items()}
        self.names = _independent({name: np.vstack([side.toarray() for side in sides]) for name, sides in self.pairs.items()})

    @staticmethod
    def _sides(letters: AnyState, node) -> tuple[Form, Form]:
        """A number after a round, and before."""
        rule = {"left": put(node, {"r": ["+", "r", 1]}), "relation": "<=", "right": node, "over": [["r", 0, 0]], "text": ""}
        letters.made_up.append(rule)
        ((letters.past, after, before),) = letters.compared(rule)
        return after, before

    # floats --------------------------------------------------------------------------------------------------------------
    def best(self, names: list[str], paid: bool) -> float:
        """The least rate of a potential of some terms, by bisection; 1 if there is none below."""
        low, high = 0.0, 1.0
        if self.at(names, 1 - _PRECISE, paid) is None:
            return 1.0
        while high - low > _PRECISE:
            middle = (low + high) / 2
            low, high = (low, middle) if self.at(names, middle, paid) else (middle, high)
        return high

    def with_floor(self, names: list[str]) -> float | None:
        """The rate whose floor is least; None where there is no floor."""
        lowest = self.best(names, True)
        if lowest == 1:
            return None

        def floor(place):
            rate = lowest + (1 - lowest) * place
            found = self.at(names, rate, True, cheapest=True)
            return np.inf if found is None else found.cost / (1 - rate)

        places = np.linspace(0, 1, _GRID + 2)[1:-1]
        best = int(np.argmin([floor(place) for place in places]))
        ends = (places[max(best - 1, 0)], places[min(best + 1, _GRID - 1)])
        return lowest + (1 - lowest) * minimize_scalar(floor, bounds=ends, method="bounded", options={"xatol": 1e-3}).x

    def at(self, names: list[str], rate: float, paid: bool, cheapest: bool = False, least: float | None = None) -> _Found | None:
        """A potential that shrinks by a rate, with weights of at most 1 and the largest ``least`` value; or of a given one;
        or, with a least value of 1 and any weights, the one whose cost is least. None where the solver finds none."""
        one, other = self.round, self.state
        columns = [(rate * before - after, self.at_start[name]) for name, (after, before) in
                   ((name, self.pairs[name]) for name in names)]
        columns.append((one.column(self.paid) * float(paid), None))
        columns.append((None, -other.column(self.target)))
        columns += [(-column, None) for column in _columns(one)] + [(None, -column) for column in _columns(other)]
        number, bound = len(names), 0 if cheapest else 1
        rows = [sparse.hstack([_or_empty(pair[side], program) for pair in columns], format="csc")
                for side, program in enumerate((one, other))]
        size = rows[0].shape[1]
        signed = [number, number + 1]  # the cost and the least value
        start = number + 2
        for program in (one, other):
            signed += range(start, start + len(program.inequalities))
            start += len(program.forms)
        signs = sparse.csc_matrix((-np.ones(len(signed)), (range(len(signed)), signed)), shape=(len(signed), size))
        zeros = [row[: len(program.keys)] for row, program in zip(rows, (one, other), strict=True)]
        fixed = 1.0 if cheapest else least
        limits = sparse.eye(number + 1, size, format="csc") * bound
        limits = sparse.vstack([limits, -limits])
        of_least = sparse.csc_matrix(([1.0], ([0], [number + 1])), shape=(1, size))
        aim = np.zeros(size)
        aim[number if cheapest else number + 1] = (1.0 if cheapest else -1.0) * (fixed is None or cheapest)
        equal = [*zeros, *([of_least] if fixed is not None else [])]
        at_least = [-row[len(program.keys)] for row, program in zip(rows, (one, other), strict=True)]
        blocks = [-row[len(program.keys) + 1 :] for row, program in zip(rows, (one, other), strict=True)]
        count = sum(part.shape[0] for part in equal)
        right = np.zeros(count + len(signed) + 2 + 2 * (number + 1) + sum(part.shape[0] for part in blocks))
        right[count - 1] = fixed or 0.0
        right[count + len(signed) + 2 :][: 2 * (number + 1)] = 1.0
        own = solver()
        cones = [own.ZeroConeT(count), own.NonnegativeConeT(len(signed) + 2 + 2 * (number + 1)), *(
            own.PSDTriangleConeT(len(block)) for program in (one, other) for block in program.blocks)]
        settings = own.DefaultSettings()
        settings.verbose, settings.max_threads = False, 1
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
        matrix = sparse.vstack([*equal, signs, *at_least, limits, *blocks], format="csc")
        found = solved(aim, matrix, right, cones, settings)
        if found is None or str(found.status) not in ("Solved", "AlmostSolved"):
            return None
        x = np.array(found.x)
        return _Found(x[:number], float(x[number]), float(x[number + 1])) if x[number + 1] > _FAR else None

    # fractions -----------------------------------------------------------------------------------------------------------
    def proven(self, names: list[str], best: float, paid: bool) -> Potential:
        """A proof at a rate that is not far above the best one."""
        for rate in _rates(best):
            for weights, cost in self.weights(names, rate, paid):
                statement = replace(self.asked, rate=rate, cost=cost, weights=weights)
                certificate = _certificate(statement)
                if certificate is not None and check_contraction(certificate)[1].accepted:
                    return Potential(best, statement, certificate, self.letters)
        return Potential(best, None, None, self.letters, "no proof in rational numbers was found")

    def weights(self, names: list[str], rate: Fraction, paid: bool) -> Iterator[tuple[tuple[tuple[str, Fraction], ...], Fraction]]:
        """Fractions near a potential whose least value is half of the largest that it may have."""
        far = self.at(names, float(rate), paid, cheapest=paid)
        near = self.at(names, float(rate), paid, least=far.least / 2) if far and not paid else far
        for found in filter(None, (near, far)):
            scale = float(found.least)
            for most in _WEIGHTS:
                yield (tuple((name, part) for name, weight in zip(names, found.weights / scale, strict=True)
                             if (part := Fraction(float(weight)).limit_denominator(most))),
                       Fraction(float(found.cost / scale)).limit_denominator(most) if paid else Fraction(0))


def _independent(columns: dict[str, np.ndarray]) -> list[str]:
    """Names of columns that are no combinations of those before them."""
    found: list[str] = []
    for name, column in columns.items():
        known = np.hstack([np.zeros_like(column), *(columns[other] for other in found)])
        rest = column - known @ np.linalg.lstsq(known, column, rcond=None)[0]
        if np.abs(rest).max() > _SAME * np.abs(column).max():
            found.append(name)
    return found


def _columns(program: Program):
    _, known = program.arrays
    return [known[:, place : place + 1] for place in range(known.shape[1])]


def _or_empty(column, program: Program):
    rows = len(program.keys) + 1 + len(program.places)
    return sparse.csc_array((rows, 1)) if column is None else column


def _rates(best: float) -> Iterator[Fraction]:
    """A simple fraction that is about the best rate, then fractions above it."""
    simple = Fraction(best).limit_denominator(_SIMPLE)
    if abs(float(simple) - best) < 1e-6 * (1 - best):
        yield simple
    for share in _SLACK[1:]:
        digits = 10 ** int(2 - np.log10(share * (1 - best)))
        yield Fraction(int(np.ceil((best + share * (1 - best)) * digits)), digits)


def _certificate(statement: Contraction) -> dict[str, Any] | None:
    """The proof of a statement; None where none is found."""
    stated, potential_ = statement_of(statement.claim), statement.in_checker
    proofs = proofs_of(duties(stated, statement.setting, potential_))
    if proofs is None:
        return None
    settings = [{**statement.setting._asdict(), "potential": potential_, "proofs": proofs}]
    return {"format": FORMAT, **stated, "settings": settings}
