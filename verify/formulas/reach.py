"""How long a run must be for a bound to reach a target where the claim's conditions hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sp

from verify.formulas.bound import Bound
from verify.formulas.rates import LENGTHS, tied_to
from verify.results.numerals import significant

__all__ = ["LARGEST", "Reach", "length_of", "reach"]

LARGEST = 1e15  # the longest run that is looked at
_LARGEST_SUM, _LARGEST_TAILS = 1e6, 1e4  # where the bound adds up over the run, or products over its ends
_POINTS = 4000


@dataclass(frozen=True)
class Reach:
    """The lengths, in ``counts`` (``rounds`` or ``iterations``), at which a bound is at most ``target`` and the claim's
    conditions on the numbers given hold: from ``first`` to ``last``, or for ever where ``last`` is None.

    The stretch that goes on for ever if there is one, else the shortest lengths. ``first`` is None where there is none, or
    where none is ``known``; ``why`` says what is in the way, or what ends the stretch.
    ``looked_at`` is the longest run that was looked at.
    """

    target: float
    counts: str
    first: int | None
    last: int | None = None
    why: str = ""
    known: bool = True
    looked_at: float = LARGEST

    def text(self) -> str:
        """The answer in a sentence."""
        goal = f"at most {significant(self.target)}"
        if self.first is None:
            return f"{goal} at no number of {self.counts}: {self.why}" if self.known else self.why
        if self.last is None:
            edge = f", as far as {self.looked_at:g}, the last number looked at" if self.looked_at < LARGEST else ""
            return f"{goal} from {self.first} {self.counts} on{edge}"
        return f"{goal} from {self.first} to {self.last} {self.counts}: {self.why}"


def length_of(bound: Bound, length: str = "") -> str:
    """The length that the bound depends on, iterations before rounds; ValueError if there is none."""
    length = length or next((n for n in LENGTHS if n in {s.name for s in bound.form.parameters}), "")
    if not length:
        raise ValueError(f"{bound.claim.id} depends on no run length; it has {', '.join(bound.parameters)}")
    return length


def reach(bound: Bound, target: float, length: str = "", largest: float = LARGEST, **numbers) -> Reach:
    """Where the bound is at most ``target`` and the claim's conditions hold.

    ``numbers`` gives every other parameter of the formula one value; conditions on parameters without one do not count
    (:meth:`verify.bound.Bound.unchecked`). ``largest``: lengths are looked at up to there; to 10^6, or
    10^4, if the bound adds up over the run, or adds up products.
    """
    bound.check(numbers)
    length = length_of(bound, length)
    numbers = {name: value for name, value in numbers.items() if name != length}
    bound.values(**{length: 1}, **numbers)  # every parameter has a value
    tied = tied_to(bound, length)
    if tied:
        names = ", ".join(f"{name} ({bound.meaning(name)})" for name in tied)
        why = f"how many {length} bring the bound to {significant(target)} is not known: {names} depends on their number"
        return Reach(target, length, None, None, why, known=False)
    checkable = bound.checkable(bound.complete(numbers | {length: 1}))
    fixed = [c for c in checkable.conditions if not _speaks_of(c, length)]
    broken = bound.with_conditions(fixed).unmet(**numbers)
    if broken:
        return Reach(target, length, None, None, "; ".join(broken))
    moving = [c for c in checkable.conditions if _speaks_of(c, length)]
    alone = [bound.with_conditions([c]) for c in moving]
    tests = [lambda at: bound.values(**{length: at}, **numbers) <= target,
             *(lambda at, one=one: one.applies(**bound.complete(numbers | {length: at})) for one in alone)]
    if (sums := _sums(bound, length)):
        largest = min(largest, _LARGEST_TAILS if any(e.function.has(sp.Product) for e in sums) else _LARGEST_SUM)
    at = np.unique(np.round(np.logspace(0, np.log10(largest), _POINTS)))
    at = np.unique(np.concatenate([at, *(_turns(test, at) for test in tests)]))
    met = np.array([np.broadcast_to(test(at), at.shape) for test in tests])
    good = met.all(axis=0)
    if not good.any():
        return Reach(target, length, None, None, _why_not(bound, target, length, numbers, moving, at, met[1:]))
    ends = np.flatnonzero(np.diff(good, prepend=False, append=False)).reshape(-1, 2)
    start, end = ends[-1] if good[-1] else ends[0]
    if good[-1]:
        return Reach(target, length, int(at[start]), looked_at=largest)
    beyond = bound.with_conditions(moving).unmet(**bound.complete(numbers | {length: at[end]}))
    return Reach(target, length, int(at[start]), int(at[end - 1]), "; ".join(beyond) or "beyond, the bound is above it")


def _speaks_of(condition, name: str) -> bool:
    return name in {s.name for side in (condition.left, condition.right) for s in side.free_symbols}


def _sums(bound: Bound, length: str) -> list:
    sides = [bound.form.formula, *(side for c in bound.conditions for side in (c.left, c.right))]
    return [e for side in sides for e in side.atoms(sp.Sum, sp.Product) if length in {s.name for s in e.free_symbols}]


def _turns(test, grid) -> np.ndarray:
    """Neighbouring whole numbers between which the answer of a test changes, one such place between any two of the grid."""
    met = np.broadcast_to(test(grid), grid.shape)
    places = np.flatnonzero(met[1:] != met[:-1])
    low, high, answer = grid[places], grid[places + 1], met[places]
    while len(low) and (high - low).max() > 1:
        middle = np.floor((low + high) / 2)
        same = np.broadcast_to(test(middle), middle.shape) == answer
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.concatenate([low, high])


def _why_not(bound, target, length, numbers, moving, at, met) -> str:
    if not len(met) or met.all(axis=0).any():
        allowed = at[met.all(axis=0)] if len(met) else at
        where = f"where the conditions hold, from {allowed[0]:.10g} to {allowed[-1]:.10g}, " if len(met) else ""
        least = np.nanmin(bound.values(**{length: allowed}, **numbers))
        return f"{where}the bound is at least {significant(least)}, as far as {at[-1]:.3g} {length}"
    for c, holds in zip(moving, met, strict=True):
        if not holds.any():  # told where it is nearest to holding, of the shortest run and the longest
            one, ends = bound.with_conditions([c]), [bound.complete(numbers | {length: place}) for place in (at[0], at[-1])]
            apart = [abs(float(one.gap(c, end))) for end in ends]
            place = int(apart[1] < apart[0])
            return f"{'; '.join(one.unmet(**ends[place]))} at {length} = {at[-place]:.10g}"
    return "no length meets all of " + "; ".join(f"{c.left} {c.relation} {c.right}" for c in moving)
