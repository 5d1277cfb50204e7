"""A bound as a function of its parameters: values, rates, rounds to a target, the best step size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np

from bounds.claim import Claim, Condition, names_in
from bounds.closed_form import ClosedForm, closed_form, side_conditions
from verify.bound_numbers import check_count, check_names, check_numbers
from verify.bound_rates import rates, sign_under
from verify.bound_reach import LARGEST, Reach, reach
from verify.compiled_formula import compiled

__all__ = ["BestStep", "Bound", "bound_of"]

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

    def for_each(self, find, numbers: Mapping) -> list[dict]:
        """``find(**numbers)``, a dictionary, at every combination of the numbers given as more than one, with these."""
        lists = {name: np.atleast_1d(np.asarray(value, dtype=float)) for name, value in numbers.items()}
        several = [name for name, values in lists.items() if len(values) > 1]
        found = []
        for values in product(*(lists[name].tolist() for name in several)):
            here = {name: float(value[0]) for name, value in lists.items()} | dict(zip(several, values, strict=True))
            found.append({name: here[name] for name in several} | find(**here))
        return found

    def _given(self, numbers: Mapping):
        numbers, needed = self.complete(numbers), [s.name for s in self.form.parameters]
        check_names(self, numbers, self.missing(numbers))
        return {name: np.asarray(numbers[name], dtype=float) for name in needed}

    def meaning(self, name: str) -> str:
        """What a parameter is, in words or as the claim's expression."""
        from bounds.render import letters_of, unicode

        measured = {s.name: e for s, e in self.form.measured.items()}
        if name in measured:
            return unicode(measured[name], "code")
        letter = letters_of(self.claim).get(name)
        return letter.meaning if letter else f"give {name}=VALUE"

    # what follows ----------------------------------------------------------------------------------------------------
    def rates(self) -> dict[str, dict[str, str]]:
        """For each parameter the leading order as it tends to infinity and to zero (:func:`verify.bound_rates.rates`)."""
        return rates(self)

    @cached_property
    def sign(self):
        """What tells the sign of a formula in the parameters, where the claim's conditions hold."""
        return sign_under(self)

    def reach(self, target: float, length: str = "", largest: float = LARGEST, **numbers) -> Reach:
        """At which numbers of rounds (or of iterations) the bound is at most ``target`` and the claim's conditions hold
        (:func:`verify.bound_reach.reach`).

        ``length`` names the run length; by default the one that the bound depends on.

        Raises:
            ValueError: as :meth:`values` and :meth:`check`; a bound that depends on no length.
        """
        self.check(numbers)
        return reach(self, target, length, largest, **numbers)

    def rounds_to(self, target: float, length: str = "", largest: float = LARGEST, **numbers) -> int | None:
        """The first of these lengths; None if there is none.

        Raises:
            ValueError: besides, where that is not known, as other parameters depend on the length.
        """
        found = self.reach(target, length, largest, **numbers)
        if not found.known:
            raise ValueError(f"{self.claim.id}: {found.why}")
        return found.first

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
