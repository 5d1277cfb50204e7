"""The best rate of a method that a potential proves, by bisection, with a proof in rational numbers."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import minimize_scalar

from synthetic.base.checks import number, whole
from synthetic.base.display import RichDisplay
from verify.checker.limits import TooLarge, bounded
from verify.checker.quadratic_forms import NotQuadratic, QuadraticForm
from verify.checker.round_invariance import substituted
from verify.checker.rounds import FORMAT
from verify.exact.statement import formula, statement_of
from verify.symbolic.rounds import AnyState, ProofObligation, obligations
from verify.worst.contraction import Contraction, check_contraction, potential_terms, zeta_sq
from verify.worst.every_round import prove_obligations
from verify.worst.natural_units import units_of_forms
from verify.worst.program import Program, solve_cone_program, solver, vectors_in

__all__ = ["Potential", "potential", "prove_contraction"]

_MOST = 24  # letters
_FAR = 1e-5  # a potential whose least value is less, in units of its largest weight, is none
_TOLERANCES = 1e-10, 1e-8  # of the solver
_BROKEN = 1e-4  # share of its least value by which what the solver calls a potential may be none
_PRECISE = 1e-9  # of the bisection
_BETTER = 1e-5  # by which values and gradients must make a rate better
_SLACK = 1e-7, 1e-6, 1e-5, 1e-4, 1e-3  # by which a rate is proven that is above the best, in units of what 1 is above it
_SAME = 1e-9  # of a column that is a combination of others
_GRID = 12  # rates among which the one with the least floor is looked for
_SIMPLE = 1000  # denominators of rates that are tried before others
_FINE = 10**5  # least denominator of a cost
_DENOMINATORS = 100, 10**4, 10**6, 10**8  # of weights


@dataclass(frozen=True)
class Potential(RichDisplay):
    """A rate, and its proof.

    Attributes:
        best: the least rate of all potentials of these terms, in floats; 1 if there is none below. Where there is a floor it
            grows without bound towards this rate, and another one is proven. Without a proof it is what a solver says.
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

    def _summary(self) -> str:
        return f"rate {self.proven.rate} for every number of rounds" if self.proven else f"no proof: {self.reason}"

    def _table(self):
        yield "letters", self.letters
        if self.proven:
            yield "least rate of these potentials", self.best
            yield from (("method", self.proven.method), ("rate", self.proven.rate), ("floor", self.proven.floor))
            yield "for", self.proven.scope


class _Found(NamedTuple):
    """Weights by term, the cost, and the least value in units of the model's squared distance."""

    weights: np.ndarray
    cost: float
    least: float


def potential(method: str, clients: int = 2, L=1, mu=None, **arguments) -> Potential:
    """The least factor by which a potential of a method shrinks in every round, for all functions of curvatures in [mu, L].

    It is looked for where L is 1, and proven in the units in which it was asked for.

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
    asked = Contraction(method, _exact_arguments(arguments), whole("clients", clients), L, mu)
    try:
        return _best_potential(asked.divided(L), asked)
    except (NotQuadratic, TooLarge) as error:
        raise ValueError(f"{method} has no potential of this kind: {error}") from error


def _best_potential(asked: Contraction, own: Contraction) -> Potential:
    """The best potential of a question, proven for the same question in its ``own`` units."""
    program = _Shrinking(asked, [*potential_terms(asked.method)])
    few = [name for name in program.names if not ("gradient" in name or name == "value")]
    names, best = few, program.best(few)
    if (less := program.best(program.names)) < best - _BETTER:
        names, best = program.names, less
    if best < 1:
        return program.prove(own, names, best, best)
    program = _Shrinking(replace(asked, rate=Fraction(1, 2), cost=Fraction(1)), few)
    if (best := program.best(few)) == 1:
        return Potential(1.0, None, None, program.letters, "no potential of these terms shrinks")
    return program.prove(own, few, best, program.rate_of_least_floor(few, best))


def _exact_arguments(arguments) -> tuple[tuple[str, Any], ...]:
    def exact_value(value):
        plain = isinstance(value, int | float | Fraction) and not isinstance(value, bool)
        return Fraction(str(value)) if plain else value

    return tuple((name, exact_value(value)) for name, value in arguments.items())


class _Shrinking:
    """The semidefinite program of a potential: its terms before and after a round from any state, and the facts.

    Attributes:
        names: of the terms that are not combinations of others.
    """

    def __init__(self, asked: Contraction, names: list[str]):
        self.asked, stated, known_terms = asked, statement_of(asked.claim), potential_terms(asked.method)
        letters = AnyState(stated, *asked.setting)
        self.sides = pairs = {name: self._sides(letters, formula(known_terms[name])) for name in names}
        self.letters = bounded(len(letters.depends), _MOST, "letters")
        known = letters.facts_by_past({letters.past})[letters.past]
        self.round = Program(letters, known, {*range(len(letters.depends))})
        self.state = Program(letters, known, set().union(*(vectors_in(before) for _, before in pairs.values())))
        self.after, self.before, self.first = (
            {name: program.column(sides[place]) for name, sides in pairs.items()}
            for program, place in ((self.round, 0), (self.round, 1), (self.state, 1)))
        self.distance = self.first["x.x"]
        self.paid = self.round.column(letters.given[zeta_sq.name] if asked.cost else QuadraticForm({}))
        self.names = _independent_names(
            {name: np.concatenate([self.after[name], self.before[name]])[:, None] for name in names})

    @staticmethod
    def _sides(letters: AnyState, node) -> tuple[QuadraticForm, QuadraticForm]:
        """The forms of a term after a round, and before it."""
        rule = {"left": substituted(node, {"r": ["+", "r", 1]}), "relation": "<=", "right": node, "over": [["r", 0, 0]],
                "text": ""}
        letters.made_up.append(rule)
        ((letters.past, after, before),) = letters.compared(rule)
        return after, before

    # floats --------------------------------------------------------------------------------------------------------------
    def best(self, names: list[str]) -> float:
        """The least rate of a potential of some terms, by bisection; 1 if there is none below."""
        low, high = 0.0, 1.0
        if self.find_potential(names, 1 - _PRECISE) is None:
            return 1.0
        while high - low > _PRECISE:
            middle = (low + high) / 2
            low, high = (low, middle) if self.find_potential(names, middle) else (middle, high)
        return high

    def rate_of_least_floor(self, names: list[str], lowest: float) -> float:
        """The rate above the lowest one whose floor is least."""
        def floor(place):
            rate = lowest + (1 - lowest) * place
            found = self.find_potential(names, rate, cheapest=True)
            return np.inf if found is None else found.cost / (1 - rate)

        places = np.linspace(0, 1, _GRID + 2)[1:-1]
        best = int(np.argmin([floor(place) for place in places]))
        ends = (places[max(best - 1, 0)], places[min(best + 1, _GRID - 1)])
        return lowest + (1 - lowest) * minimize_scalar(floor, bounds=ends, method="bounded", options={"xatol": 1e-3}).x

    def find_potential(self, names: list[str], rate: float, least: float | None = None,
                       cheapest: bool = False) -> _Found | None:
        """A potential that shrinks by a rate, with weights and a cost of at most 1: that of the largest least value, or one
        whose least value is given; ``cheapest``: that of the lowest cost with a least value of 1, whatever its weights. None
        where the solver finds none.

        The variables are the weights, the cost, the least value, and the multipliers of the facts in both inequalities."""
        number, inequalities = len(names), (self.round, self.state)
        weights = [[rate * self.before[name] - self.after[name] for name in names] + [self.paid, 0 * self.paid],
                   [self.first[name] for name in names] + [0 * self.distance, -self.distance]]
        rows = []
        for one, columns in zip(inequalities, weights, strict=True):
            known = [-own.arrays[1] if own is one else sparse.csc_array((columns[0].shape[0], len(own.forms)))
                     for own in inequalities]
            rows.append(sparse.hstack([sparse.csc_matrix(np.array(columns).T), *known], format="csc"))
        size = rows[0].shape[1]
        unit, start, signed = sparse.eye(size, format="csr"), number + 2, [number, number + 1]
        for one in inequalities:
            signed += range(start, start + len(one.inequalities))
            start += len(one.forms)
        fixed, bounds = 1.0 if cheapest else least, sparse.csr_matrix((0, size)) if cheapest else unit[: number + 1]
        keys = [len(one.keys) for one in inequalities]
        equal = [*(row[:key] for row, key in zip(rows, keys, strict=True)), unit[number + 1 :][: fixed is not None]]
        larger = [unit[signed], *(row[key : key + 1] for row, key in zip(rows, keys, strict=True)), -bounds, bounds]
        square = [row[key + 1 :] for row, key in zip(rows, keys, strict=True)]
        counts = [sum(part.shape[0] for part in parts) for parts in (equal, larger, square)]
        right = np.zeros(sum(counts))
        right[counts[0] - 1] = fixed or 0.0
        right[sum(counts[:2]) - 2 * bounds.shape[0] : sum(counts[:2])] = 1.0
        aim = np.zeros(size)
        aim[number + (not cheapest)] = 1.0 if cheapest else -1.0 * (least is None)
        matrix = sparse.vstack([*equal, *(-part for part in (*larger, *square))], format="csc")
        x = self._solve(aim, matrix, right, counts[:2], number + 1)
        return None if x is None or x[number + 1] <= _FAR else _Found(x[:number], float(x[number]), float(x[number + 1]))

    def _solve(self, aim, matrix, right, counts, least: int) -> np.ndarray | None:
        """The solver's answer, if it meets all conditions up to a share of its entry ``least``."""
        own, settings = solver(), solver().DefaultSettings()
        cones = [own.ZeroConeT(counts[0]), own.NonnegativeConeT(counts[1]), *(
            own.PSDTriangleConeT(len(block)) for one in (self.round, self.state) for block in one.blocks)]
        settings.verbose, settings.max_threads, settings.chordal_decomposition_enable = False, 1, False
        for tolerance in _TOLERANCES:
            settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
            found = solve_cone_program(aim, matrix, right, cones, settings)
            if found is not None and str(found.status) in ("Solved", "AlmostSolved"):
                x = np.array(found.x)
                if self._violation(right - matrix @ x, counts) <= _BROKEN * x[least]:
                    return x
        return None

    def _violation(self, rest: np.ndarray, counts: list[int]) -> float:
        """The largest violation of a condition by an answer, over equations, numbers and matrices."""
        equal, larger, square = np.split(rest, np.cumsum(counts))
        worst, at = max(np.abs(equal).max(initial=0.0), -larger.min(initial=0.0)), 0
        for one in (self.round, self.state):
            upper = square[at : at + len(one.pairs)]
            at += len(one.pairs)
            worst = max(worst, -np.linalg.eigvalsh(one.from_upper(upper))[0])
        return worst

    # fractions -----------------------------------------------------------------------------------------------------------
    def prove(self, own: Contraction, names: list[str], best: float, near: float) -> Potential:
        """A proof at a rate that is not far above the one ``near``, in the units of the question ``own``."""
        units = self._units(own, names)
        if units is None:
            return Potential(best, None, None, self.letters, "its terms are not the same in other units")
        for rate in _candidate_rates(near, not self.asked.cost):
            for found in self.potentials(names, float(rate)):
                for most in _DENOMINATORS:
                    natural = _round_weights(replace(self.asked, rate=rate), names, found, most)
                    statement = replace(own, rate=rate, cost=natural.cost * (self.asked.L / own.L) ** 2, weights=tuple(
                        (name, weight / units[name]) for name, weight in natural.weights))
                    certificate = prove_contraction(statement, natural)
                    if certificate is not None and check_contraction(certificate).accepted:
                        return Potential(best, statement, certificate, self.letters)
        return Potential(best, None, None, self.letters, "no proof in rational numbers was found")

    def _units(self, own: Contraction, names: list[str]) -> dict[str, Fraction] | None:
        """The units of terms in the numbers of another question, that of a squared distance being 1; None where they cannot
        be told."""
        if own.L == self.asked.L:
            return dict.fromkeys(names, Fraction(1))
        other = _Shrinking(replace(own, rate=self.asked.rate, cost=self.asked.cost), [*self.sides])
        both = [each.round.forms | {f"{turn} {name}": side for name in names for turn, side in enumerate(each.sides[name])}
                for each in (self, other)]
        found = units_of_forms((*(each["0 x.x"] for each in both),), both[0], *both)
        return None if any(f"0 {name}" not in found for name in names) else {name: found[f"0 {name}"] for name in names}

    def potentials(self, names: list[str], rate: float) -> list[_Found]:
        """Potentials that shrink by a rate: the cheapest one if there is a cost; else one with half of the largest least
        value, which leaves room on all sides, and the one with the largest, which comes first for a single term."""
        if self.asked.cost:
            return [*filter(None, [self.find_potential(names, rate, cheapest=True)])]
        far = self.find_potential(names, rate)
        found = [*filter(None, (far and self.find_potential(names, rate, least=far.least / 2), far))]
        return found[::-1] if len(names) == 1 else found


def _round_weights(statement: Contraction, names: list[str], found: _Found, most: int) -> Contraction:
    """A statement with fractions near a potential whose least value is brought to 1."""
    weights = ((name, Fraction(float(weight / found.least)).limit_denominator(most))
               for name, weight in zip(names, found.weights, strict=True))
    fine = max(most, _FINE)
    cost = Fraction(int(np.ceil(found.cost / found.least * fine)), fine) if statement.cost else Fraction(0)
    return replace(statement, weights=tuple(pair for pair in weights if pair[1]), cost=cost)


def _independent_names(columns: dict[str, np.ndarray]) -> list[str]:
    """The names of columns that are not combinations of those before them."""
    found: list[str] = []
    for name, column in columns.items():
        known = np.hstack([np.zeros_like(column), *(columns[other] for other in found)])
        rest = column - known @ np.linalg.lstsq(known, column, rcond=None)[0]
        if np.abs(rest).max() > _SAME * np.abs(column).max():
            found.append(name)
    return found


def _candidate_rates(near: float, tight: bool) -> Iterator[Fraction]:
    """Yields fractions slightly above a rate, or hardly below it: a simple one first (if the rate is to be ``tight``, only
    if it seems to equal it), then others."""
    simple = Fraction(near).limit_denominator(_SIMPLE)
    if not tight or abs(float(simple) - near) < 1e-6 * (1 - near):
        yield simple
    for share in _SLACK:
        digits = 10 ** int(2 - np.log10(share * (1 - near)))
        yield Fraction(int(np.ceil((near + share * (1 - near)) * digits)), digits)


def prove_contraction(statement: Contraction, natural: Contraction | None = None) -> dict[str, Any] | None:
    """Looks for a proof of a statement; returns the certificate, or None. ``natural``: the same statement in other units, in
    which the proof is looked for."""
    def obligations_at(one: Contraction) -> list[ProofObligation]:
        return obligations(statement_of(one.claim), one.setting, one.in_checker)

    one = natural or statement
    proofs = prove_obligations(obligations_at(one), None if one == statement else lambda: obligations_at(statement))
    if proofs is None:
        return None
    settings = [{**statement.setting._asdict(), "potential": statement.in_checker, "proofs": proofs}]
    return {"format": FORMAT, **statement_of(statement.claim), "settings": settings}
