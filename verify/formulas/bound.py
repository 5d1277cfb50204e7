"""A bound as a function of its parameters: values, conditions, and the numbers that each parameter may take."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Self

import numpy as np
import sympy as sp

from bounds.formulas.closed_form import ClosedForm, closed_form, equations_of, side_conditions
from bounds.language import operators
from bounds.language.claim import Claim, Condition, names_in
from bounds.printing.render import condition_text, letters_of, unicode
from synthetic.base.display import RichDisplay
from verify.claims.method import solves_local_problems
from verify.formulas.compiled import compiled

__all__ = ["MOST_POINTS", "Bound", "Range", "bound_of", "check_numbers", "names_of", "ranges_of"]

MOST_POINTS = 10**7  # parameter points at once
_HOLDS = {"<=": np.less_equal, ">=": np.greater_equal, "==": np.isclose, "<": np.less, ">": np.greater}
_ALLOWED = {"<=": "at most ", ">=": "at least ", "==": "", "<": "less than ", ">": "more than "}


@dataclass(frozen=True)
class Bound(RichDisplay):
    """One side of a claim as a function of numbers.

    ``form`` is the formula with its parameters; ``conditions`` are the claim's conditions on parameters alone; ``equations``
    those that the formula has inserted, as ``local_steps == 1``, and iterations = rounds x local steps: they count where
    numbers are given for their names.

    Example:
        >>> from bounds.registry import find_claim
        >>> bound = bound_of(find_claim("li2020/theorem-1"))
        >>> given = {"L": 1, "mu": 1, "local_steps": 1, "D0_sq": 1, "G_sq": 0, "Gamma": 0}
        >>> bound.values(iterations=[12, 92], sum_client_weight_sq_sigma_sq_client=0, **given).tolist()
        [0.2, 0.04]
    """

    claim: Claim
    form: ClosedForm
    conditions: tuple[Condition, ...]
    side: str = "right"
    equations: tuple[Condition, ...] = ()

    def _summary(self) -> str:
        return f"{self.name}, a function of {', '.join(self.parameters) or 'nothing'}"

    def _table(self):
        letters = letters_of(self.claim)
        yield "formula", unicode(self.form.formula, letters)
        yield from (("where", condition_text(condition, letters)) for condition in self.conditions)

    @property
    def name(self) -> str:
        """The claim's id; for a comparison of bounds also the side."""
        return f"the {self.side} side of {self.claim.id}" if self.claim.compares else self.claim.id

    @property
    def sides(self) -> list:
        """The formula and both sides of every condition."""
        return [self.form.formula, *(side for c in self.conditions for side in (c.left, c.right))]

    @cached_property
    def symbols(self) -> dict[str, sp.Symbol]:
        """The parameters of the formula and of the conditions, by name."""
        return {s.name: s for side in self.sides for s in side.free_symbols}

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters of the formula and of the conditions."""
        return tuple(sorted(self.symbols))

    @property
    def whole(self) -> set[str]:
        """Names of the parameters that are whole numbers."""
        return {name for name, s in self.symbols.items() if s.is_integer}

    def values(self, **numbers) -> np.ndarray:
        """Evaluate the bound at numbers, or at arrays of numbers that broadcast against each other.

        Raises:
            ValueError: a parameter without a value (named, with its meaning), or a name that the bound does not have.
        """
        numbers = self.complete(numbers)
        self._check_names(numbers, self.missing(numbers))
        names = [s.name for s in self.form.parameters]
        given = [np.asarray(numbers[name], dtype=float) for name in names]
        return compiled(names, self.form.formula)(*given) + 0.0 * sum(given)

    def applies(self, **numbers) -> np.ndarray:
        """Whether the claim's conditions on parameters hold; :meth:`unmet` names those that do not."""
        holding = [self._holds(condition, numbers) for condition in self.conditions]
        return np.logical_and.reduce(np.broadcast_arrays(*holding)) if holding else np.array(True)

    def unmet(self, **numbers) -> list[str]:
        """Describe each condition that fails somewhere: the received and the allowed value at the first such place.

        Conditions on parameters without a value are left out (:meth:`unchecked`).
        """
        said = []
        for condition in self.checkable(numbers).conditions:
            holds = np.atleast_1d(self._holds(condition, numbers))
            if not holds.all():
                first = int(np.argmin(holds.ravel()))
                got, allowed = (np.broadcast_to(self._side(s, numbers), holds.shape).ravel()[first]
                                for s in (condition.left, condition.right))
                name = f"{condition.left} = " if condition.left.is_Symbol else ""
                said.append(f"needs {condition.left} {condition.sign} {condition.right}; got {name}{got:g}, allowed: "
                            f"{_ALLOWED[condition.sign]}{allowed:g}")
        return said

    def unchecked(self, **numbers) -> list[str]:
        """Describe each condition on parameters without a value; the formula itself may not need these."""
        missing = [(c, sorted(names_of(c) - set(numbers))) for c in self.conditions]
        return [f"{c.left} {c.sign} {c.right}: no value for {', '.join(names)}" for c, names in missing if names]

    def checkable(self, numbers: Iterable[str]) -> Self:
        """Return the bound under those of its conditions and equations whose parameters are all among ``numbers``."""
        return self.with_conditions(c for c in (*self.conditions, *self.equations) if names_of(c) <= set(numbers))

    def with_conditions(self, conditions: Iterable[Condition]) -> Self:
        """Return the same bound under these conditions alone."""
        return replace(self, conditions=tuple(conditions), equations=())

    def check(self, numbers: Mapping, missing: Iterable[str] = ()) -> None:
        """Refuse names that the bound does not have, ``missing`` ones, impossible numbers, and too many combinations.

        :meth:`values` itself accepts numbers outside their ranges, such as noise 0.

        Raises:
            ValueError: with what was received and what is allowed.
        """
        self._check_names(numbers, missing)
        check_numbers([self], numbers)
        count = prod(np.size(value) for value in numbers.values())
        if count > MOST_POINTS:
            raise ValueError(f"these are {count} combinations of numbers; allowed: at most {MOST_POINTS}")

    def _check_names(self, numbers: Mapping, missing: Iterable[str]) -> None:
        """Raise one error for all unknown and all missing names."""
        allowed, missing = sorted({*self.parameters, "rounds", "local_steps"}), list(missing)
        unknown, said = sorted(set(numbers) - set(allowed)), []
        if missing:
            said.append(f"needs a value for {', '.join(missing)}; {missing[0]}: {self.meaning(missing[0])}")
        if unknown:
            said.append(f"has no parameter {', '.join(map(repr, unknown))}; allowed: {', '.join(allowed)}")
        if said:
            raise ValueError(f"{self.claim.id} {'; and it '.join(said)}")

    def _holds(self, condition: Condition, numbers):
        return _HOLDS[condition.sign](*(self._side(s, numbers) for s in (condition.left, condition.right)))

    def gap(self, condition: Condition, numbers):
        """Return the left side of a condition minus its right side."""
        return self._side(condition.left, numbers) - self._side(condition.right, numbers)

    def _side(self, side, numbers):
        names = sorted(s.name for s in side.free_symbols)
        given = {name: np.asarray(numbers[name], dtype=float) for name in names if name in numbers}
        missing = [name for name in names if name not in given]
        if missing:
            raise ValueError(f"the conditions of {self.claim.id} need a value for {missing[0]!r}")
        return compiled(names, side)(*given.values())

    def complete(self, numbers: Mapping) -> dict:
        """Return ``numbers`` with the number of iterations added if those of rounds and local steps are given."""
        numbers = dict(numbers)
        if "iterations" in self.parameters and "iterations" not in numbers and {"rounds", "local_steps"} <= set(numbers):
            numbers["iterations"] = np.asarray(numbers["rounds"]) * np.asarray(numbers["local_steps"])
        return numbers

    def missing(self, numbers: Mapping) -> list[str]:
        """Return the formula's parameters without a value."""
        numbers = self.complete(numbers)
        return [s.name for s in self.form.parameters if s.name not in numbers]

    def table(self, numbers: Mapping) -> dict[str, list[float]]:
        """Evaluate the bound at all combinations of the numbers.

        Returns columns: each parameter with more than one value, and ``bound``.
        """
        self.check(numbers)
        lists = {name: np.atleast_1d(np.asarray(value, dtype=float)) for name, value in numbers.items()}
        grids = dict(zip(lists, np.meshgrid(*lists.values(), indexing="ij", sparse=True), strict=True))
        shape = tuple(map(len, lists.values()))
        columns = {name: grid for name, grid in grids.items() if len(lists[name]) > 1} | {"bound": self.values(**grids)}
        return {name: np.broadcast_to(column, shape).ravel().tolist() for name, column in columns.items()}

    def meaning(self, name: str) -> str:
        """Explain a parameter, in words or by the claim's expression."""
        from bounds.printing.render import letters_of, unicode

        measured = {s.name: e for s, e in self.form.measured.items()}
        if name in measured:
            return unicode(measured[name], "code")
        letter = letters_of(self.claim).get(name)
        return letter.meaning if letter else f"give {name}=VALUE"


def bound_of(claim: Claim, side: str = "right") -> Bound:
    """Return one side of a claim as a function of numbers; ValueError for a claim without a formula."""
    one_run = [Condition(operators.iterations, "==",
                         operators.rounds * operators.local_steps)] if claim.setting == "run" else []
    if claim.setting == "run" and solves_local_problems(claim.procedure):
        one_run.append(Condition(operators.local_steps, "==", 1))
    return Bound(claim, closed_form(claim, side), tuple(side_conditions(claim)), side, (*equations_of(claim), *one_run))


def names_of(condition: Condition) -> frozenset[str]:
    """Return the names of a condition's parameters."""
    return names_in(condition.left) | names_in(condition.right)


@dataclass(frozen=True)
class Range:
    """The numbers that a parameter may take: from ``low`` (excluded if ``above``) to ``high`` (excluded if ``below``), whole
    ones if ``whole``."""

    low: float = -np.inf
    above: bool = False
    whole: bool = False
    high: float = np.inf
    below: bool = False

    def text(self) -> str:
        """Return the range in words."""
        if self.whole:
            kind = "a whole number" + (f" from {self.low:g}" if self.low > -np.inf else "")
        else:
            kind = {np.inf: "a number", 0.0: "a positive number" if self.above else "a number from 0"}.get(
                abs(self.low), f"a number {'above' if self.above else 'from'} {self.low:g}")
        return kind + (f" {'below' if self.below else 'to'} {self.high:g}" if self.high < np.inf else "")

    def conditions(self, symbol: sp.Symbol) -> list[Condition]:
        """Return the ends of the range as conditions on a parameter."""
        plain = sp.Symbol(symbol.name)  # lest sympy decides them from the symbol's own sign
        ends = ((self.low, ">" if self.above else ">="), (self.high, "<" if self.below else "<="))
        return [Condition(plain, sign, sp.Rational(end)) for end, sign in ends if np.isfinite(end)]

    def holds(self, values: np.ndarray) -> np.ndarray:
        """Return which of the values lie in the range."""
        within = np.isfinite(values) & (values > self.low if self.above else values >= self.low) & (
            values < self.high if self.below else values <= self.high)
        return within & (values == np.round(values)) if self.whole else within


def ranges_of(bound: Bound) -> dict[str, Range]:
    """Return the range of every parameter and run length, from the sign of its symbol and the claim's variables."""
    symbols = {s.name: s for s in (operators.rounds, operators.local_steps, operators.iterations)}
    found = {}
    for name, s in (symbols | bound.symbols).items():
        low = 1.0 if s.is_integer and s.is_positive else 0.0 if s.is_nonnegative or s.is_positive else -np.inf
        found[name] = Range(low, bool(s.is_positive and not s.is_integer), bool(s.is_integer))
    for v in (v for v in bound.claim.variables if v.name in found and not v.indices):
        known = found[v.name]
        if v.domain == "integer":
            found[v.name] = Range(float(v.low), False, True, np.inf if v.high is None else float(v.high))
        elif v.domain in ("positive", "nonnegative", "real"):
            low = known.low if v.domain == "real" else max(known.low, 0.0)
            above, end = v.domain == "positive" or known.above, np.inf if v.below is None else float(v.below)
            found[v.name] = Range(low, above, known.whole, end, v.below is not None)
    return found


def check_numbers(bounds: Iterable[Bound], numbers: Mapping) -> None:
    """Refuse numbers outside the range of a parameter of that name; names that no bound has pass.

    Raises:
        ValueError: a number outside its range, with what is allowed.
    """
    for ranges in map(ranges_of, bounds):
        for name in set(numbers) & set(ranges):
            values = np.atleast_1d(np.asarray(numbers[name], dtype=float)).ravel()
            wrong = values[~ranges[name].holds(values)]
            if len(wrong):
                raise ValueError(f"{name} must be {ranges[name].text()}; got {wrong[0]:g}")
