"""What is known of a claim at many places, and what lies uphill from these: settings at which it is worse."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from math import inf
from operator import add, mul
from typing import Any, NamedTuple

from verify.checker.limits import TooLarge
from verify.worst.setting import Place, Setting

__all__ = ["ERRORS", "Known", "Look", "as_large", "known_at", "nothing", "uphill", "worst_first"]

#: what looking at a claim at a setting may raise
ERRORS = (ArithmeticError, LookupError, TypeError, ValueError)
_PARTS = (Fraction(1), Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**4))  # of numbers that hypotheses may bound
_MOVES = [partial(mul, Fraction(factor)) for factor in ("3", "1/3", "11/10", "10/11")]  # of a number
_SIZE_MOVES = [partial(add, number) for number in (1, -1)]
_UP, _NOISE = 1.001, 1e-6  # a factor that is so many times larger, and by that much, is larger
_SAME = 1e-5  # relative differences of rough factors that are none
_UNSAID = frozenset({"weights", "dim", "layers", "iterations"})


class Known(NamedTuple):
    """What is known at a setting.

    Attributes:
        factor: by how much the larger side must be multiplied.
        case: what the look returned; it has a ``setting`` and the ``factors`` of all pairs of sides.
        given, place: sizes and numbers as given, and where the others come from.
    """

    factor: float
    case: Any
    given: dict[str, Fraction]
    place: Place

    @property
    def setting(self) -> Setting:
        """Sizes, numbers and weights."""
        return self.case.setting


#: ``look(given, place, enough=0.0)``: a factor and what it was found with, at the numbers given and a place; None where
#: nothing is known, () where the run is too large whatever the numbers are. Of a factor that is at most ``enough`` an upper
#: bound of this kind does
Look = Callable[..., tuple[float, Any] | tuple[()] | None]


def nothing(error: Exception) -> tuple[()] | None:
    """What a look returns that ended with an error."""
    return () if isinstance(error.__cause__, TooLarge) else None


def known_at(look: Look, places: Iterable[Place],
             fewer: Callable[[Place], Iterable[Place]] = lambda place: [place]) -> Iterator[Known | None]:
    """Yields what is known at each place, or near it.

    Where nothing is known, it makes the numbers smaller; where a run is too large, each of its ``fewer`` in turn
    is tried. Skips any place that is at least as large in every size as one that was already too large."""
    large: list[Place] = []
    for place in places:
        found: Known | tuple[()] | None = ()
        for smaller in fewer(place):
            if any(as_large(smaller, other) for other in large):
                continue
            found = _with_numbers(look, smaller)
            if found != ():
                break
            large.append(smaller)
        yield found or None


def as_large(place: Place, other: Place) -> bool:
    """Whether a run has as many or more of all things as another one; clients of the same weights may count as one."""
    return (len({*place.weights}) == 1) <= (len({*other.weights}) == 1) and all(
        getattr(place, size) >= getattr(other, size) for size in ("clients", "rounds", "local_steps", "layers"))


def _with_numbers(look: Look, place: Place) -> Known | tuple[()] | None:
    """What is known at a place, or at smaller numbers; () where the run is too large."""
    for part in _PARTS:
        smaller = place._replace(numbers=tuple(number * part for number in place.numbers))
        found = look({}, smaller)
        if found is not None:
            return Known(*found, {}, smaller) if found else ()
    return None


def worst_first(known: Iterable[Known]) -> list[Known]:
    """Those with a finite factor, the largest first."""
    return sorted((each for each in known if each.factor < inf), key=lambda each: -each.factor)


def uphill(look: Look, starts: Iterable[Known], trials: int) -> Iterator[Known]:
    """From each start in turn, settings that are worse and worse: each size or number in turn is moved one way, as long as
    that is worse, until none leads anywhere. All starts together have so many ``trials`` of which something is known."""
    for start in starts:
        here, given = start, _named(start.setting)
        names, still = deque(given), 0  # names in a row that led nowhere
        while trials > 0 and still < len(names):
            name, still = names[0], still + 1
            names.rotate(-1)
            for move in _SIZE_MOVES if name in here.setting.sizes else _MOVES:
                found = None
                while trials > 0:
                    trial = given | {name: move(given[name])}
                    enough = here.factor * _UP + _NOISE
                    found = look(trial, start.place, enough=enough)
                    trials -= found is not None
                    if not found or found[0] <= enough:
                        break
                    given, here, still = trial, Known(*found, trial, start.place), 0
                    yield here
                if not still or (found and _same(found[1].factors, here.case.factors)):
                    break


def _same(some: Sequence[float | None], others: Sequence[float | None]) -> bool:
    """Whether the factors of all pairs of sides are the same: one that is not the worst may become it."""
    return len(some) == len(others) and all(
        one is not None and other is not None and (one == other or abs(one - other) <= _SAME * other)
        for one, other in zip(some, others, strict=True))


def _named(setting: Setting) -> dict[str, Fraction]:
    """Sizes and numbers of a setting, and those of arrays whose entries are all the same, such as step sizes. Arrays of
    zeros are left as they are."""
    told = _UNSAID - ({"layers"} if setting.sizes["layers"] > 1 else set())
    numbers = {**setting.sizes, **{name: value for name, value in setting.values.items() if isinstance(value, str)}}
    found = {name: Fraction(value) for name, value in numbers.items() if name not in told}
    for name, value in setting.values.items():
        entries = {str(entry) for entry in value} if isinstance(value, list) else set()
        if len(entries) == 1 and not any(isinstance(entry, list) for entry in value) and entries != {"0"}:
            found[name] = Fraction(entries.pop())
    return found
