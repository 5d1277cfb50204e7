"""Coordinate ascent over sizes and numbers: settings at which a claim is worse."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from math import inf
from operator import add, mul
from typing import Any, NamedTuple

from verify.checker.limits import TooLarge
from verify.worst.configurations import Setting, Template

__all__ = [
    "ERRORS", "Evaluation", "Evaluator", "ascend", "evaluations", "is_as_large", "result_of_error", "sort_worst_first",
]

#: what looking at a claim at a setting may raise
ERRORS = (ArithmeticError, LookupError, TypeError, ValueError)
_PARTS = (Fraction(1), Fraction(1, 10), Fraction(1, 100), Fraction(1, 10**4))  # of numbers that hypotheses may bound
_MOVES = [partial(mul, Fraction(factor)) for factor in ("3", "1/3", "11/10", "10/11")]  # of a number
_SIZE_MOVES = [partial(add, number) for number in (1, -1)]
_UP, _NOISE = 1.001, 1e-6  # a factor that is so many times larger, and by that much, is larger
_SAME = 1e-5  # relative differences of rough factors that are none
_UNSAID = frozenset({"weights", "dim", "layers", "iterations"})


class Evaluation(NamedTuple):
    """The result of evaluating a claim at a setting.

    Attributes:
        factor: by how much the larger side must be multiplied.
        case: what the look returned; it has a ``setting`` and the ``factors`` of all pairs of sides.
        given, template: sizes and numbers as given, and where the others come from.
    """

    factor: float
    case: Any
    given: dict[str, Fraction]
    template: Template

    @property
    def setting(self) -> Setting:
        """Sizes, numbers and weights."""
        return self.case.setting


#: ``look(given, template, enough=0.0)`` evaluates a claim at the numbers given and a template. It returns the factor and
#: what it was found with; None if nothing is known; () if the run is too large whatever the numbers are. An upper
#: bound of the factor may stand for it if that is at most ``enough``
Evaluator = Callable[..., tuple[float, Any] | tuple[()] | None]


def result_of_error(error: Exception) -> tuple[()] | None:
    """The result of an evaluation that raised an error: () if the run was too large, else None."""
    return () if isinstance(error.__cause__, TooLarge) else None


def evaluations(look: Evaluator, templates: Iterable[Template],
             fewer: Callable[[Template], Iterable[Template]] = lambda template: [template]) -> Iterator[Evaluation | None]:
    """Yields the evaluation at each template, or near it; None if there is none.

    Makes the numbers smaller if nothing is known, and tries each of its ``fewer`` in turn if a run is too large. Skips any
    template that is at least as large in every size as one that was already too large."""
    large: list[Template] = []
    for template in templates:
        found: Evaluation | tuple[()] | None = ()
        for smaller in fewer(template):
            if any(is_as_large(smaller, other) for other in large):
                continue
            found = _with_numbers(look, smaller)
            if found != ():
                break
            large.append(smaller)
        yield found or None


def is_as_large(template: Template, other: Template) -> bool:
    """Whether a template is at least as large as another one in every size; clients of equal weights may count as one."""
    return (len({*template.weights}) == 1) <= (len({*other.weights}) == 1) and all(
        getattr(template, size) >= getattr(other, size) for size in ("clients", "rounds", "local_steps", "layers"))


def _with_numbers(look: Evaluator, template: Template) -> Evaluation | tuple[()] | None:
    """Evaluates a template, or smaller numbers; returns () if the run is too large."""
    for part in _PARTS:
        smaller = template._replace(numbers=tuple(number * part for number in template.numbers))
        found = look({}, smaller)
        if found is not None:
            return Evaluation(*found, {}, smaller) if found else ()
    return None


def sort_worst_first(known: Iterable[Evaluation]) -> list[Evaluation]:
    """Sorts the evaluations with a finite factor, the largest first."""
    return sorted((each for each in known if each.factor < inf), key=lambda each: -each.factor)


def ascend(look: Evaluator, starts: Iterable[Evaluation], trials: int) -> Iterator[Evaluation]:
    """Coordinate ascent: changes one size or number at a time while the ratio grows, from each start in turn.

    Yields the evaluations, worse and worse, until no change makes them worse. All starts together have so many ``trials``
    of which something is known."""
    for start in starts:
        here, given = start, _movable_numbers(start.setting)
        names, still = deque(given), 0  # names in a row that led nowhere
        while trials > 0 and still < len(names):
            name, still = names[0], still + 1
            names.rotate(-1)
            for move in _SIZE_MOVES if name in here.setting.sizes else _MOVES:
                found = None
                while trials > 0:
                    trial = given | {name: move(given[name])}
                    enough = here.factor * _UP + _NOISE
                    found = look(trial, start.template, enough=enough)
                    trials -= found is not None
                    if not found or found[0] <= enough:
                        break
                    given, here, still = trial, Evaluation(*found, trial, start.template), 0
                    yield here
                if not still or (found and _same_factors(found[1].factors, here.case.factors)):
                    break


def _same_factors(some: Sequence[float | None], others: Sequence[float | None]) -> bool:
    """Whether the factors of all pairs of sides are the same: one that is not the worst may become it."""
    return len(some) == len(others) and all(
        one is not None and other is not None and (one == other or abs(one - other) <= _SAME * other)
        for one, other in zip(some, others, strict=True))


def _movable_numbers(setting: Setting) -> dict[str, Fraction]:
    """The sizes and numbers of a setting that may change, with arrays of equal entries, such as step sizes, as one number;
    arrays of zeros are left out."""
    told = _UNSAID - ({"layers"} if setting.sizes["layers"] > 1 else set())
    numbers = {**setting.sizes, **{name: value for name, value in setting.values.items() if isinstance(value, str)}}
    found = {name: Fraction(value) for name, value in numbers.items() if name not in told}
    for name, value in setting.values.items():
        entries = {str(entry) for entry in value} if isinstance(value, list) else set()
        if len(entries) == 1 and not any(isinstance(entry, list) for entry in value) and entries != {"0"}:
            found[name] = Fraction(entries.pop())
    return found
