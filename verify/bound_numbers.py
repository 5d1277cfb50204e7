"""Numbers that a bound is asked about: which are possible, and how many of them at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from bounds import language as words

if TYPE_CHECKING:
    from verify.bound import Bound

__all__ = ["MOST_POINTS", "Range", "check_count", "check_names", "check_numbers", "ranges_of"]

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
