"""The run lengths at which a bound is at most a target and the claim's conditions hold."""

from dataclasses import dataclass

import numpy as np
import sympy as sp

from verify.formulas.bound import Bound, names_of
from verify.formulas.rates import LENGTHS, tied_to
from verify.results.numerals import significant

__all__ = ["Reach", "reach"]

_LARGEST = 1e15  # the longest run that is tried
_LARGEST_SUM, _LARGEST_TAILS = 1e6, 1e4  # the same for bounds with sums over the run, and with sums of products
_POINTS = 4000


@dataclass(frozen=True)
class Reach:
    """The run lengths, in ``counts`` (``rounds`` or ``iterations``), at which a bound is at most ``target``.

    They go from ``first`` to ``last``, or have no end if ``last`` is None; of several intervals it is the endless one, else
    the first. ``first`` is None if there is none, or if it is not ``known``. ``why`` gives the reason, or what ends the
    interval. ``looked_at`` is the longest run that was tried.
    """

    target: float
    counts: str
    first: int | None
    last: int | None = None
    why: str = ""
    known: bool = True
    looked_at: float = _LARGEST

    def text(self) -> str:
        """The answer in a sentence."""
        goal = f"at most {significant(self.target)}"
        if self.first is None:
            return f"{goal} at no number of {self.counts}: {self.why}" if self.known else self.why
        if self.last is None:
            edge = f", as far as {self.looked_at:g}, the last number looked at" if self.looked_at < _LARGEST else ""
            return f"{goal} from {self.first} {self.counts} on{edge}"
        return f"{goal} from {self.first} to {self.last} {self.counts}: {self.why}"


def reach(bound: Bound, target: float, **numbers) -> Reach:
    """Find the run lengths at which the bound is at most ``target`` and the claim's conditions hold.

    The length is the number of iterations, or of rounds if the bound has no iterations. ``numbers`` gives every other
    parameter of the formula one value; conditions on parameters without a value do not count (:meth:`Bound.unchecked`).

    Raises:
        ValueError: the bound depends on no run length; as :meth:`Bound.check` and :meth:`Bound.values`.
    """
    bound.check(numbers)
    length = next((n for n in LENGTHS if n in {s.name for s in bound.form.parameters}), None)
    if length is None:
        raise ValueError(f"{bound.claim.id} depends on no run length; it has {', '.join(bound.parameters)}")
    numbers = {name: value for name, value in numbers.items() if name != length}
    bound.values(**{length: 1}, **numbers)  # raises if a parameter has no value
    tied = tied_to(bound, length)
    if tied:
        names = ", ".join(f"{name} ({bound.meaning(name)})" for name in tied)
        why = f"how many {length} bring the bound to {significant(target)} is not known: {names} depends on their number"
        return Reach(target, length, None, None, why, known=False)
    checkable = bound.checkable(bound.complete(numbers | {length: 1}))
    fixed = [c for c in checkable.conditions if length not in names_of(c)]
    broken = bound.with_conditions(fixed).unmet(**numbers)
    if broken:
        return Reach(target, length, None, None, "; ".join(broken))
    moving = [c for c in checkable.conditions if length in names_of(c)]
    alone = [bound.with_conditions([c]) for c in moving]
    tests = [lambda at: bound.values(**{length: at}, **numbers) <= target,
             *(lambda at, one=one: one.applies(**bound.complete(numbers | {length: at})) for one in alone)]
    sums = [e for side in bound.sides for e in side.atoms(sp.Sum, sp.Product) if length in {s.name for s in e.free_symbols}]
    tails = any(e.function.has(sp.Product) for e in sums)
    largest = _LARGEST_TAILS if tails else _LARGEST_SUM if sums else _LARGEST
    at = np.unique(np.round(np.logspace(0, np.log10(largest), _POINTS)))
    at = np.unique(np.concatenate([at, *(_turns(test, at) for test in tests)]))
    holds = np.array([np.broadcast_to(test(at), at.shape) for test in tests])
    good = holds.all(axis=0)
    if not good.any():
        return Reach(target, length, None, None, _why_not(bound, length, numbers, moving, at, holds[1:]))
    ends = np.flatnonzero(np.diff(good, prepend=False, append=False)).reshape(-1, 2)
    start, end = ends[-1] if good[-1] else ends[0]
    if good[-1]:
        return Reach(target, length, int(at[start]), looked_at=largest)
    beyond = bound.with_conditions(moving).unmet(**bound.complete(numbers | {length: at[end]}))
    return Reach(target, length, int(at[start]), int(at[end - 1]), "; ".join(beyond) or "beyond, the bound is above it")


def _turns(test, grid) -> np.ndarray:
    """Return the neighbouring whole numbers between which a test's answer changes, found by bisection of the grid."""
    holds = np.broadcast_to(test(grid), grid.shape)
    places = np.flatnonzero(holds[1:] != holds[:-1])
    low, high, answer = grid[places], grid[places + 1], holds[places]
    while len(low) and (high - low).max() > 1:
        middle = np.floor((low + high) / 2)
        same = np.broadcast_to(test(middle), middle.shape) == answer
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    return np.concatenate([low, high])


def _why_not(bound, length, numbers, moving, at, holds) -> str:
    """Explain why no length is good; ``holds`` says where each of the ``moving`` conditions holds."""
    if not moving or holds.all(axis=0).any():
        allowed = at[holds.all(axis=0)]
        where = f"where the conditions hold, from {allowed[0]:.10g} to {allowed[-1]:.10g}, " if moving else ""
        least = np.nanmin(bound.values(**{length: allowed}, **numbers))
        return f"{where}the bound is at least {significant(least)}, as far as {at[-1]:.3g} {length}"
    for c, one_holds in zip(moving, holds, strict=True):
        if not one_holds.any():  # shown at the shortest or the longest run, where it is nearer to holding
            one, ends = bound.with_conditions([c]), [bound.complete(numbers | {length: place}) for place in (at[0], at[-1])]
            apart = [abs(float(one.gap(c, end))) for end in ends]
            place = int(apart[1] < apart[0])
            return f"{'; '.join(one.unmet(**ends[place]))} at {length} = {at[-place]:.10g}"
    return "no length meets all of these conditions: " + "; ".join(f"{c.left} {c.relation} {c.right}" for c in moving)
