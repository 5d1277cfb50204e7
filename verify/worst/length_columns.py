"""The columns of linear programs about norms: nonnegative norm expressions of a symbolic run."""

from contextlib import suppress
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from typing import Any

from verify.symbolic.length_rules import Rules
from verify.symbolic.norm_expressions import LENGTH, NormExpression, lower, row_of, upper

__all__ = ["Column", "RunColumns", "float_coefficient", "largest_coefficients", "unit_of_key"]


class Column:
    """A nonnegative norm expression, its entry in a proof, and its coefficients in floats, those of norms in units of the
    largest coefficients of their vectors. ``takes``: keys with positive coefficients; ``params``: with negative ones."""

    def __init__(self, amount: NormExpression, kind: str, entry: Any):
        self.amount, self.kind, self.entry = amount, kind, entry
        self.numbers = {key: float_coefficient(key, c) for key, c in amount.terms.items()}
        self.takes = [key for key, c in self.numbers.items() if c > 0]
        self.params = [key for key, c in self.numbers.items() if c < 0]


def _middle(value) -> Fraction:
    return value if isinstance(value, Fraction) else (lower(value) + upper(value)) / 2


@lru_cache(4096)
def unit_of_key(key) -> int:
    """The largest coefficient of a vector whose norm has that key; 1 for any other key."""
    return max(abs(c) for _, c in key[1]) if key and key[0] == LENGTH else 1


def float_coefficient(key, value) -> float:
    """The coefficient of a key in floats: a quotient of whole numbers, each of which may be too large for one."""
    value = _middle(value)
    return value.numerator * unit_of_key(key) / value.denominator


class RunColumns:
    """The columns that a symbolic run provides, each made once for all pairs of sides."""

    def __init__(self, rules: Rules, known: dict[str, NormExpression]):
        self.rules, self.numbers = rules, {function: place for place, function in enumerate(rules.points)}
        self.names = [(Column(amount, "known", name), {letter for key in amount.terms if key and key[0] == LENGTH
                                                        for letter, _ in key[1]}) for name, amount in known.items()]
        self.letter = {function: [next(iter(g.parts)) for _, g in seen] for function, seen in rules.points.items()}
        self.points = {letter: rules.points[function][i][0] for function, letters in self.letter.items()
                       for i, letter in enumerate(letters)}
        self.twins: dict[int, set[int]] = {}
        for swap in rules.swaps.values():
            for one, other in swap.items():
                self.twins.setdefault(one, set()).add(other)
        bounds = ("bound", "G_lip" in rules.stated["everywhere"]), ("length", rules.how.get("replaced") == "random")
        self.bounded_by = [by for by, said in bounds if said]  # what bounds gradients of which samples differ
        self.step, self.hit, self.key = cache(self._step), cache(self._hit), cache(self._key)
        self.draws, self.apart = cache(lambda function, i: rules.depends(rules.points[function][i][0])), cache(self._differ)

    @cached_property
    def last_models(self) -> list[int]:
        """The basis vectors of the last models."""
        return [letter for _, outcome in self.rules.outcomes() for name in ("x_round", "twin_x_round")
                for letter in self.rules.run(outcome).record[name][-1].parts]

    @cached_property
    def largest_coefficients(self) -> dict[int, Fraction]:
        """The largest coefficient of each basis vector in points: for a gradient the size of its step."""
        rows = [x for seen in self.rules.points.values() for x, _ in seen]
        for _, outcome in self.rules.outcomes() if self.rules.stated["setting"] == "run" else ():
            record = self.rules.run(outcome).record
            rows += [row for name in ("x_before", "twin_x_before") for models in record.get(name, []) for row in models]
        return largest_coefficients(row.terms for row in rows)

    def _key(self, items):
        (key,) = self.rules.length(row_of(items)).terms
        return key

    def _differ(self, function, i: int, j: int) -> bool:
        """Whether two points differ."""
        (x, _), (y, _) = (self.rules.points[function][n] for n in (i, j))
        return not x.equals(y)

    def _step(self, function, i: int, j: int, a: Fraction, s: Fraction) -> Column:
        return Column(self.rules.step(function, i, j, a, s), "steps", [self.numbers[function], i, j, str(a), str(s)])

    def _hit(self, function, i: int, j: int, a: Fraction, s: Fraction, by: str) -> Column | None:
        """The column of a hit; None where it has no meaning."""
        with suppress(ValueError):
            amount = self.rules.hit(function[1:], i, j, a, s, by)
            return Column(amount, "hits", [self.numbers[function], i, j, str(a), str(s), by])
        return None


def largest_coefficients(rows) -> dict[int, Fraction]:
    found: dict[int, Fraction] = {}
    for row in rows:
        for letter, c in row.items():
            found[letter] = max(found.get(letter, Fraction(0)), abs(c))
    return found
