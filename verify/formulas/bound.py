"""A bound as a function of its parameters: values, rates, rounds to a target, the best step size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod

import numpy as np

from bounds.formulas.closed_form import ClosedForm, closed_form, side_conditions
from bounds.language import words
from bounds.language.claim import Claim, Condition, names_in
from verify.formulas.compiled import compiled

__all__ = [
    "MOST_POINTS",
    "BestStep",
    "Bound",
    "Range",
    "bound_of",
    "check_count",
    "check_names",
    "check_numbers",
    "ranges_of",
]

_HOLDS = {"<=": np.less_equal, ">=": np.greater_equal, "==": np.isclose}
_ALLOWED = {"<=": "at most ", ">=": "at least ", "==": ""}
_STEPS = (1e-12, 1e6)  # between which the best step is looked for


@dataclass(frozen=True)
class BestStep:
    """The value of a step size at which a bound is smallest within its conditions; ``towards`` "0" or "oo" where that is the
    smallest or largest value that was looked at, beyond which it may fall on."""

    value: float
    bound: float
    at_border: bool
    towards: str = ""


@dataclass(frozen=True)
class Bound:
    """One side of a claim as a function of numbers.

    ``form`` is the formula with its parameters; ``conditions`` are those of the claim's that speak of parameters alone.

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

    @property
    def name(self) -> str:
        """The claim's id; of a claim with a bound on either side, which of them."""
        return f"the {self.side} side of {self.claim.id}" if self.claim.compares else self.claim.id

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names that need values."""
        needed = {s.name for s in self.form.parameters}
        for condition in self.conditions:
            needed |= {s.name for side in (condition.left, condition.right) for s in side.free_symbols}
        return tuple(sorted(needed))

    @cached_property
    def _function(self):
        names = [s.name for s in self.form.parameters]
        return compiled(names, self.form.formula), names

    def values(self, **numbers) -> np.ndarray:
        """The bound at numbers or arrays of numbers, which broadcast against each other.

        Raises:
            ValueError: a parameter without a value (named, with its meaning), or one that the bound does not have.
        """
        given = self._given(numbers)
        function, names = self._function
        return function(*(given[n] for n in names)) + 0.0 * sum(given.values())

    def applies(self, **numbers) -> np.ndarray:
        """Whether the claim's conditions on parameters hold there; :meth:`unmet` says which do not."""
        met = [self._holds(condition, numbers) for condition in self.conditions]
        return np.logical_and.reduce(np.broadcast_arrays(*met)) if met else np.array(True)

    def unmet(self, **numbers) -> list[str]:
        """Each condition that fails somewhere, with what it received and what it allows where it fails first; those of
        :meth:`unchecked` left out."""
        said = []
        for condition in self.checkable(numbers).conditions:
            holds = np.atleast_1d(self._holds(condition, numbers))
            if not holds.all():
                first = int(np.argmin(holds.ravel()))
                got, allowed = (np.broadcast_to(self._side(s, numbers), holds.shape).ravel()[first]
                                for s in (condition.left, condition.right))
                name = f"{condition.left} = " if condition.left.is_Symbol else ""
                said.append(f"needs {condition.left} {condition.relation} {condition.right}; got {name}{got:g}, allowed: "
                            f"{_ALLOWED[condition.relation]}{allowed:g}")
        return said

    def unchecked(self, **numbers) -> list[str]:
        """Each condition that speaks of parameters without a value, with these; the formula itself may not need them."""
        missing = [(c, self._without_value(c, numbers)) for c in self.conditions]
        return [f"{c.left} {c.relation} {c.right}: no value for {', '.join(names)}" for c, names in missing if names]

    def checkable(self, numbers) -> Bound:
        """The bound with only those of its conditions all of whose parameters are among ``numbers``."""
        return self.with_conditions(c for c in self.conditions if not self._without_value(c, numbers))

    def with_conditions(self, conditions: Iterable[Condition]) -> Bound:
        """The same bound under other conditions."""
        return replace(self, conditions=tuple(conditions))

    def check(self, numbers: Mapping, missing: Iterable[str] = ()) -> None:
        """Refuse what no parameter can be, names that the bound does not have, with those that are ``missing``, and more
        combinations than memory may hold; what is evaluated for limits' sake, such as noise 0, may lie outside.

        Raises:
            ValueError: with what was received and what is allowed.
        """
        check_names(self, numbers, missing)
        check_numbers([self], numbers)
        check_count(numbers)

    @staticmethod
    def _without_value(condition: Condition, numbers) -> list[str]:
        return sorted({s.name for side in (condition.left, condition.right) for s in side.free_symbols} - set(numbers))

    def _holds(self, condition: Condition, numbers):
        return _HOLDS[condition.relation](*(self._side(s, numbers) for s in (condition.left, condition.right)))

    def gap(self, condition: Condition, numbers):
        """The left side of a condition minus its right one."""
        return self._side(condition.left, numbers) - self._side(condition.right, numbers)

    def _side(self, side, numbers):
        names = sorted(s.name for s in side.free_symbols)
        given = {name: np.asarray(numbers[name], dtype=float) for name in names if name in numbers}
        missing = [name for name in names if name not in given]
        if missing:
            raise ValueError(f"the conditions of {self.claim.id} need a value for {missing[0]!r}")
        return compiled(names, side)(*(given[n] for n in names))

    def complete(self, numbers: Mapping) -> dict:
        """``numbers`` with the number of iterations where those of rounds and local steps are given."""
        numbers = dict(numbers)
        if "iterations" in self.parameters and "iterations" not in numbers and {"rounds", "local_steps"} <= set(numbers):
            numbers["iterations"] = np.asarray(numbers["rounds"]) * np.asarray(numbers["local_steps"])
        return numbers

    def missing(self, numbers: Mapping) -> list[str]:
        """Parameters of the formula without a value."""
        return [s.name for s in self.form.parameters if s.name not in self.complete(numbers)]

    def table(self, numbers: Mapping) -> dict[str, list[float]]:
        """Columns: every parameter given as more than one number, and the bound, at all their combinations."""
        self.check(numbers)
        lists = {name: np.atleast_1d(np.asarray(value, dtype=float)) for name, value in numbers.items()}
        grids = dict(zip(lists, np.meshgrid(*lists.values(), indexing="ij", sparse=True), strict=True))
        shape = tuple(map(len, lists.values()))
        columns = {name: grid for name, grid in grids.items() if len(lists[name]) > 1} | {"bound": self.values(**grids)}
        return {name: np.broadcast_to(column, shape).ravel().tolist() for name, column in columns.items()}

    def _given(self, numbers: Mapping):
        numbers, needed = self.complete(numbers), [s.name for s in self.form.parameters]
        check_names(self, numbers, self.missing(numbers))
        return {name: np.asarray(numbers[name], dtype=float) for name in needed}

    def meaning(self, name: str) -> str:
        """What a parameter is, in words or as the claim's expression."""
        from bounds.printing.render import letters_of, unicode

        measured = {s.name: e for s, e in self.form.measured.items()}
        if name in measured:
            return unicode(measured[name], "code")
        letter = letters_of(self.claim).get(name)
        return letter.meaning if letter else f"give {name}=VALUE"

    def best(self, step: str = "eta_l", **numbers) -> BestStep:
        """Where the bound is smallest in ``step``, among the values at which the claim's conditions hold; those that speak
        neither of it nor of given numbers alone are left out, since they leave it free.

        Raises:
            ValueError: the bound does not depend on ``step``, or no value meets the conditions; as :meth:`check`.
        """
        self.check(numbers)
        if step not in {s.name for s in self.form.parameters}:
            raise ValueError(f"{self.claim.id} does not depend on {step!r}; it has {', '.join(self.parameters)}")
        grid = np.geomspace(*_STEPS, 2001)
        numbers = {name: value for name, value in numbers.items() if name != step}
        within = self.with_conditions(c for c in self.conditions if step in names_in(c.left) | names_in(c.right)
                                      or not self._without_value(c, numbers))
        for _ in range(8):
            values = self.values(**{step: grid}, **numbers)
            values = np.where(within.applies(**{step: grid}, **numbers), values, np.inf)
            best = int(np.nanargmin(values))
            if not np.isfinite(values[best]):
                raise ValueError(f"no {step} meets the conditions of {self.claim.id}: "
                                 + "; ".join(within.unmet(**{step: grid}, **numbers)))
            low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
            value, least = float(grid[best]), float(values[best])
            grid = np.linspace(low, high, 401)
        beside = value * np.array([1 - 1e-6, 1 + 1e-6])
        border = not bool(np.all(within.applies(**{step: beside}, **numbers)))
        towards = "0" if value < 1.01 * _STEPS[0] else "oo" if value > 0.99 * _STEPS[1] else ""
        return BestStep(value, least, border, "" if border else towards)


def bound_of(claim: Claim, side: str = "right") -> Bound:
    """One side of a claim as a function of numbers; ValueError for a claim that states no formula."""
    return Bound(claim, closed_form(claim, side), tuple(side_conditions(claim)), side)


MOST_POINTS = 10**7  # parameter points at once


@dataclass(frozen=True)
class Range:
    """What a parameter may be: a number, a whole one if ``whole``, from ``low`` (above it if ``above``) to ``high``."""

    low: float = -np.inf
    above: bool = False
    whole: bool = False
    high: float = np.inf

    def text(self) -> str:
        """The range in words."""
        if self.whole:
            kind = "a whole number" + (f" from {self.low:g}" if self.low > -np.inf else "")
        else:
            kind = {np.inf: "a number", 0.0: "a positive number" if self.above else "a number from 0"}.get(
                abs(self.low), f"a number {'above' if self.above else 'from'} {self.low:g}")
        return kind + (f" to {self.high:g}" if self.high < np.inf else "")

    def holds(self, values: np.ndarray) -> np.ndarray:
        """Which of the values lie within."""
        within = np.isfinite(values) & (values > self.low if self.above else values >= self.low) & (values <= self.high)
        return within & (values == np.round(values)) if self.whole else within


def ranges_of(bound: Bound) -> dict[str, Range]:
    """The range of every parameter by name, by the signs of its symbol and by the claim's variables; of the lengths too."""
    sides = [bound.form.formula, *(side for c in bound.conditions for side in (c.left, c.right))]
    symbols = {s.name: s for s in (words.rounds, words.local_steps, words.iterations)}
    symbols |= {s.name: s for side in sides for s in side.free_symbols}
    found = {}
    for name, s in symbols.items():
        low = 1.0 if s.is_integer and s.is_positive else 0.0 if s.is_nonnegative or s.is_positive else -np.inf
        found[name] = Range(low, bool(s.is_positive and not s.is_integer), bool(s.is_integer))
    for v in bound.claim.variables:
        if v.name in found and not v.indices and v.domain == "integer":
            found[v.name] = Range(float(v.low), False, True, np.inf if v.high is None else float(v.high))
        elif v.name in found and not v.indices and v.domain in ("positive", "nonnegative"):
            found[v.name] = Range(max(found[v.name].low, 0.0), v.domain == "positive" or found[v.name].above,
                                  found[v.name].whole)
    return found


def check_numbers(bounds: Iterable[Bound], numbers: Mapping) -> None:
    """Refuse numbers that none of the parameters of that name can be; names that no bound has are left alone.

    Raises:
        ValueError: a number outside its range, with what is allowed.
    """
    for ranges in map(ranges_of, bounds):
        for name in set(numbers) & set(ranges):
            values = np.atleast_1d(np.asarray(numbers[name], dtype=float)).ravel()
            wrong = values[~ranges[name].holds(values)]
            if len(wrong):
                raise ValueError(f"{name} must be {ranges[name].text()}; got {wrong[0]:g}")


def check_names(bound: Bound, numbers: Mapping, missing: Iterable[str] = ()) -> None:
    """Refuse names that the bound does not have, and the lack of those it needs; one error names them all."""
    allowed, missing = sorted({*bound.parameters, "rounds", "local_steps"}), list(missing)
    unknown, said = sorted(set(numbers) - set(allowed)), []
    if missing:
        said.append(f"needs a value for {', '.join(missing)}; {missing[0]}: {bound.meaning(missing[0])}")
    if unknown:
        said.append(f"has no parameter {', '.join(map(repr, unknown))}; allowed: {', '.join(allowed)}")
    if said:
        raise ValueError(f"{bound.claim.id} {'; and it '.join(said)}")


def check_count(numbers: Mapping) -> None:
    """Refuse so many combinations of numbers that memory may not suffice."""
    count = prod(np.size(value) for value in numbers.values())
    if count > MOST_POINTS:
        raise ValueError(f"these are {count} combinations of numbers; allowed: at most {MOST_POINTS}")
