"""Small changes of a claim's formulas: another coefficient, exponent, index or range, at one position."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import log

import numpy as np
import sympy as sp

from bounds.language.claim import BY_NUMBER, Claim
from bounds.language.names import NAMES, ONE, SIZE, symbol
from bounds.printing.render import letters_of, unicode
from verify.repair.atoms import is_vector, scalars
from verify.repair.pool import Pool
from verify.repair.positions import Position, part_at, positions, with_argument, with_part
from verify.repair.simple import complexity, simplest

__all__ = ["Candidate", "Edit", "always", "coefficients", "shifts"]

_NAMES = (sp.Symbol, sp.Indexed)
_LARGEST = 1000.0  # factor of a coefficient
_HALVINGS = 24
_GROWTH = 1.3  # cost of a right side times a quantity
_CLIENTS = ("clients", "participants")
_FACTORS = tuple(Fraction(f) for f in ("2", "1/2", "3/2", "2/3", "3", "1/3", "4", "1/4", "5", "1/5", "8", "1/8", "10",
                                       "1/10"))  # of coefficients that are looked at one by one
_ROUNDING = Fraction(1, 10**6)  # relative


@dataclass(frozen=True)
class Edit:
    """A changed claim: what was changed, in words, and how large a change that is. ``kept``: of one more condition, which of
    the pool's instances on which the claim holds meet it. ``exact``: whether its hypothesis is an equation, which instances
    of the pool meet up to rounding, so that only a search can tell. ``numbers``: those that follow from the instances and
    make the claim the weaker the larger they are."""

    claim: Claim
    words: str
    cost: float
    kept: np.ndarray | None = None
    exact: bool = False
    numbers: tuple[Fraction, ...] = ()


#: a change whose number follows from the instances; None where no number does
Candidate = Callable[[Pool], Edit | None]


def always(edit: Edit) -> Candidate:
    """The change whatever the instances are."""
    return lambda pool: edit


def coefficients(claim: Claim) -> Iterator[Candidate]:
    """Yield changes of one coefficient: of a side, or of a term of a sum anywhere in the statement or in the paper's
    definitions."""
    for position, part in positions(claim):
        if isinstance(part, sp.Add) and not part.is_integer and not _is_index(claim, position):
            for number, term in enumerate(part.args):
                yield _Coefficient(claim, position.below(number), term, 1.0)
        if position == Position("right") and part != 0:
            yield _Coefficient(claim, position, part, 1.1)
            if claim.setting == "run" and claim.statement.relation == "<=":
                yield from (_Coefficient(claim, position, one * part, _GROWTH, one) for one in _growths(claim))


@dataclass(frozen=True)
class _Coefficient:
    """The coefficient of a part, as a positive number; its sign stays. ``factor``: by which the part has been multiplied
    before."""

    claim: Claim
    position: Position
    part: sp.Basic
    cost: float
    factor: sp.Basic = sp.S.One

    def __call__(self, pool: Pool) -> Edit | None:
        before = abs(self._split[0])
        if self.claim.statement.relation == "==" or is_vector(self.claim, self.part):  # more is not weaker
            fits = (before * f for f in _FACTORS if not pool.breaks(self._changed(before * f)))
            number = next(fits, None)
        else:
            number = self._least(pool)
        if number is None:
            return None
        words = _becomes(self.claim, self.position, self.part, self._with(number))
        if self.position == Position("right"):
            times = sp.Rational((number / before).numerator, (number / before).denominator) * self.factor
            words = f"the right side times {unicode(times, letters_of(self.claim))}"
        return Edit(self._changed(number), words,
                    self.cost + 0.03 * complexity(number) + 0.2 * abs(log(number / before)), numbers=(number,))

    def _least(self, pool: Pool) -> Fraction | None:
        """A simple number near the one with which the claim just holds on all instances."""
        before, slack = abs(self._split[0]), pool.slack
        if (factor := self._least_factor(pool, 1)) is not None:
            return simplest(before * Fraction(factor) * (1 - _ROUNDING), before * Fraction(factor) * slack)
        if (factor := self._least_factor(pool, -1)) is not None:
            return 1 / simplest((1 - _ROUNDING) / (before * Fraction(factor)), slack / (before * Fraction(factor)))
        return None

    def _changed(self, number: Fraction) -> Claim:
        return with_part(self.claim, self.position, self._with(number))

    @property
    def _split(self) -> tuple[Fraction, sp.Basic]:
        number, rest = self.part.as_coeff_Mul()
        if isinstance(number, sp.Rational) and number != 0:
            return Fraction(int(number.p), int(number.q)), rest
        return Fraction(1), self.part

    def _with(self, number: Fraction) -> sp.Basic:
        before, rest = self._split
        return (1 if before > 0 else -1) * sp.Rational(number.numerator, number.denominator) * rest

    def _least_factor(self, pool: Pool, direction: int) -> float | None:
        """The factor nearest to 1, upwards or downwards, with which no instance breaks the claim; None if there is none."""
        before = abs(self._split[0])

        def breaks(factor: float) -> bool:
            return pool.breaks(self._changed((before * Fraction(factor)).limit_denominator(10**12)))

        near, far = 1.0, _LARGEST**direction
        if breaks(far):
            return None
        for _ in range(_HALVINGS):
            middle = (near * far) ** 0.5
            near, far = (middle, far) if breaks(middle) else (near, middle)
        return far


def _growths(claim: Claim) -> Iterator[sp.Basic]:
    """Yield what the right side of a bound on a run may lack as a factor: a size other than a number of clients, a pure
    number of the claim, the condition number, or the square of one of these; or the clients for each one that takes part."""
    atoms = {str(atom.formula): atom for atom in scalars(claim) if not atom.over}
    pure = [atom.formula for name, atom in atoms.items() if atom.unit == ONE and name not in _CLIENTS]
    if atoms.keys() >= {"L", "mu"}:
        pure.append(atoms["L"].formula / atoms["mu"].formula)
    yield from (one**power for one in pure for power in (1, 2))
    if atoms.keys() >= {*_CLIENTS}:
        yield atoms["clients"].formula / atoms["participants"].formula


def _becomes(claim: Claim, position: Position, part: sp.Basic, other: sp.Basic) -> str:
    letters = letters_of(claim)
    inside = ""
    if position.where in claim.definitions:
        definition = claim.definitions[position.where]
        quantity = definition.symbol[tuple(definition.indices)] if definition.indices else definition.symbol
        inside = f" in {unicode(quantity, letters)}"
    if isinstance(other, sp.Tuple):
        return f"{_range(other, letters)} in place of {_range(part, letters)}{inside}"
    if (part.is_number or part.is_Symbol) and position.path:  # what it stands in says more
        part = part_at(claim, position.outer)
        other = with_argument(part, position.path[-1], other)
    return f"{unicode(other, letters)} in place of {unicode(part, letters)}{inside}"


def _range(triple: sp.Tuple, letters) -> str:
    index, low, high = (unicode(one, letters) for one in triple)
    return f"{index} from {low} to {high}"


def _is_index(claim: Claim, position: Position) -> bool:
    """Whether a part belongs to an index or to its range."""
    return any(isinstance(part_at(claim, Position(position.where, position.path[:depth])), sp.Indexed | sp.Tuple)
               for depth in range(len(position.path)))


def shifts(claim: Claim) -> Iterator[Candidate]:
    """Yield changes of one exponent or index, or of one end of a range, by one; and of one factor or term more or less."""
    for edit in _shifts(claim):
        yield always(edit)


def _shifts(claim: Claim) -> Iterator[Edit]:
    alike = _alike(claim)
    for position, part in positions(claim):
        if _is_index(claim, position):  # an index and a range change as a whole
            continue
        others = [(other, 1.0) for other in _shifted(claim, position, part)]
        if isinstance(part, sp.Pow):
            others += [(sp.Pow(part.base, part.exp + step), 1.1) for step in (2, -2)]
        elif position.path:
            others += [(other, 1.1) for other in alike.get(part, ())]
        for other, cost in others:
            if other != part and not other.has(sp.nan, sp.zoo, sp.oo):
                yield Edit(with_part(claim, position, other), _becomes(claim, position, part, other), cost)
    for position, term in positions(claim):
        if position.where in ("left", "right") and (not position.path or isinstance(part_at(claim, position.outer), sp.Add)):
            yield from _factors(claim, position, term)
    yield from _of_some_clients(claim)
    statement, letters = claim.statement, letters_of(claim)
    for number, (index, low, high) in enumerate(statement.over):
        for ends in ((low + 1, high), (low, high - 1)):
            over = (*statement.over[:number], (index, *ends), *statement.over[number + 1 :])
            yield Edit(replace(claim, statement=replace(statement, over=over)),
                       f"for {_range(sp.Tuple(index, *ends), letters)}", 1.0)


def _of_some_clients(claim: Claim) -> Iterator[Edit]:
    """Yield the claim about every client in every round for the clients that take part alone, and for the others alone."""
    statement = claim.statement
    indices = {str(index): index for index, *_ in statement.over}
    drawn = claim.procedure is not None and claim.procedure.sampling in BY_NUMBER
    named = any(side.has(symbol("sampled")) for side in (statement.left, statement.right))
    if drawn and not named and {"r", "k"} <= indices.keys() and statement.relation != "==":
        takes_part = symbol("sampled")[indices["r"], indices["k"]]
        for words, factor in (("that take part", takes_part), ("that do not take part", 1 - takes_part)):
            sides = replace(statement, left=statement.left * factor, right=statement.right * factor)
            yield Edit(replace(claim, statement=sides), f"for the clients {words}", 1.0)


def _alike(claim: Claim) -> dict[sp.Basic, list[sp.Basic]]:
    """The claim's constants and sizes, each with those that one may take it for: of the same unit, both sizes or neither."""
    kinds: dict[tuple, list[sp.Basic]] = {}
    for atom in scalars(claim):
        row = NAMES.get(str(atom.formula))
        if not atom.over:
            kinds.setdefault((atom.unit, row is not None and row.source == SIZE), []).append(atom.formula)
    return {one: [other for other in some if other != one] for some in kinds.values() for one in some}


def _factors(claim: Claim, position: Position, term: sp.Basic) -> Iterator[Edit]:
    """Yield the claim with a number of its own, or the inverse, as one more factor of a term."""
    counts = bool(position.path) and part_at(claim, position.outer).is_integer  # K - 1 counts steps
    if isinstance(term, sp.Add) or is_vector(claim, term) or _is_index(claim, position) or term == 0 or counts:
        return
    indices = {index for index, *_ in claim.statement.over}
    for atom in scalars(claim):
        if all(index in indices for index, *_ in atom.over):
            for other in (term * atom.formula, term / atom.formula):
                yield Edit(with_part(claim, position, other), _becomes(claim, position, term, other), 1.1)


def _shifted(claim: Claim, position: Position, part: sp.Basic) -> Iterator[sp.Basic]:
    """Yield what may stand in the position of a part."""
    if isinstance(part, sp.Pow):
        for step in (1, -1):
            yield sp.Pow(part.base, part.exp + step)
    elif isinstance(part, sp.Indexed):
        for number in range(len(part.indices)):
            for step in (1, -1):
                indices = [*part.indices]
                indices[number] += step
                yield part.base[tuple(indices)]
    elif isinstance(part, sp.Tuple) and len(part) == 3:  # an index and its range
        index, low, high = part
        for ends in ((low - 1, high), (low + 1, high), (low, high + 1), (low, high - 1)):
            yield sp.Tuple(index, *ends)
    elif isinstance(part, sp.Symbol) and part.is_integer and position.path:
        yield from (part + 1, part - 1)
    elif isinstance(part, sp.Mul) and not is_vector(claim, part):
        for factor in part.args:
            if isinstance(factor, _NAMES) or (isinstance(factor, sp.Pow) and isinstance(factor.base, _NAMES)):
                yield part / factor
                yield part * factor
