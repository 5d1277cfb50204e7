"""Pairs of forms that statements and hypotheses compare; the largest of several numbers; ratios."""

from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb

from verify.checker.intervals import extreme, quotient
from verify.checker.limits import OUTCOMES, bounded
from verify.checker.operators import WORDS, require
from verify.checker.quadratic_forms import LOSS, NotQuadratic, QuadraticForm, nonnegative, plain
from verify.symbolic.scenarios import Past, depends_on_scenario, whole

NOTHING = -1  # the first round in which anything is drawn: given that round's past, all noise is random


class Ratio:
    """A number over one that is not negative, or the number 0 where both are 0: for comparisons alone."""

    numerator = denominator = 1

    def __init__(self, above, below):
        self.above, self.below = above, below

    def refuse(self, *_): raise NotQuadratic(f"a {type(self).__name__.lower()} is compared, and nothing else")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __pow__ = __rpow__ = __neg__ = __abs__ = refuse
    __truediv__ = __rtruediv__ = __lt__ = __le__ = __gt__ = __ge__ = __float__ = __iter__ = __bool__ = refuse


class Length(Ratio):
    """A length that is not squared, times a number that is not negative: by its square, a form; for comparisons with another
    one or with such a number, which compare squares."""

    def __init__(self, square):
        self.square = square

    @property
    def numerator(self): return self.square.numerator

    @property
    def denominator(self): return self.square.denominator

    def __mul__(self, number):
        if plain(number) < 0:
            raise NotQuadratic("a length has multiples that are not negative")
        return Length(self.square * plain(number)**2)

    def __truediv__(self, number): return self * (1 / plain(number))

    def __pow__(self, power):
        if power != 2:
            raise NotQuadratic("a length has no powers but its square")
        return self.square

    __rmul__ = __mul__


def squared(side):
    """The square of a length, or of a number that is not negative."""
    if isinstance(side, Length):
        return side.square
    if plain(side) < 0:
        raise NotQuadratic("a length is compared with what is not negative")
    return plain(side)**2


class Comparisons:
    """Mixin; must precede the class of symbolic runs in the bases."""

    def extreme(self, word, args, index, outcome):
        """The largest or least of numbers, or a ratio: of forms a number that is at least, or at most, each of them."""
        if word == "largest_sum":
            count, body, name, low, high = args
            count = self.value(count, index, outcome)
            values = [self.value(body, {**index, name: i}, outcome) for i in self.span([low, high], index, outcome)]
            require(count.denominator == 1 and 0 <= count <= len(values), f"{count} is no number of values")
            bounded(comb(len(values), int(count)), OUTCOMES, "sums of values")
            found = [sum(each, Fraction(0)) for each in combinations(values, int(count))]
        else:
            found = values = [self.value(a, index, outcome) for a in args]
        if not any(isinstance(value, QuadraticForm) and {*value.parts} - {()} for value in values):
            found = [plain(value) if isinstance(value, QuadraticForm) else value for value in found]
            return quotient(*found) if word == "share" else extreme(found, word != "Min")
        if depends_on_scenario(*(value for value in values if isinstance(value, QuadraticForm))):
            raise NotQuadratic(f"{word} of means over choices")
        if word == "share":
            return Ratio(*found)
        said = (value.key if isinstance(value, QuadraticForm) else value for value in values)
        key = word, str(args), *index.items(), self.given_past, *said
        if key not in self.extremes:
            self.extremes[key] = self.anything()
            for number, value in enumerate(found):
                above = self.extremes[key] - value if word != "Min" else value - self.extremes[key]
                self.largest[f"{word} {self.loose} {number}"] = above
        return self.extremes[key]

    @cached_property
    def all_outcomes(self): return [outcome for _, outcome in self.outcomes()]

    def all_cases(self, rule):
        """Pairs (indices of a condition, outcome); the first outcome alone where the sides, once they are read, are sure."""
        for index in self.cases(rule):
            for outcome in self.ways or self.all_outcomes:
                yield index, outcome
                if not self.ways and all(self.is_sure(rule[side], index) for side in ("left", "right")):
                    break

    def compared(self, rule):
        """Triples (past, smaller, larger): what a condition says given the past of a round, by its indices and the outcome
        of sampling."""
        seen, once = set(), {}
        for index, outcome in self.all_cases(rule):
            self.certain, self.asked_given = set(), set()
            left, right = self.cleared(rule["relation"], *self.sides(rule, index, outcome))
            past = self.size["rounds"] if self.certain else NOTHING
            if self.asked_given:
                past, *others = self.asked_given
                if others or any(self.drawn[draw] >= past for draw in self.certain):
                    raise NotQuadratic("a random number outside of expectations")
            if self.choices:
                given = self.given_before(past if self.asked_given else None, outcome)
                past = Past(past if self.asked_given else self.size["rounds"], given, depends_on_scenario(left, right))
                if past.depends_on_scenario:
                    left, right = (whole(side, self.scenarios(given)) for side in (left, right))
                said = left.key, right.key
                if once.setdefault((*index.items(), given), said) != said:
                    raise NotQuadratic("what depends on a choice outside of expectations")
            pairs = {"=": [(left, right), (right, left)], "<": [(left, right)], ">": [(right, left)]}
            for pair in pairs[rule["relation"][0]]:
                if (said := (past, *(side.key for side in pair))) not in seen:
                    seen.add(said)
                    yield past, *pair

    def cleared(self, relation, left, right):
        """Both sides as forms; a / b <= c says that a <= c b where b is at least 0."""
        if isinstance(left, Length) or isinstance(right, Length):
            left, right = self.square_of(left), self.square_of(right)
        if isinstance(right, Ratio) and relation[0] == ">":
            left, right, relation = right, left, "<"
            return self.cleared(relation, left, right)[::-1]
        if isinstance(left, Ratio) and relation[0] == "<":
            if not isinstance(left.below, QuadraticForm) or depends_on_scenario(left.below) or not nonnegative(left.below):
                raise NotQuadratic("a ratio by what may be negative")
            left, right = left.above, left.below * plain(right)
        return tuple(side if isinstance(side, QuadraticForm) else QuadraticForm({(): plain(side)}) for side in (left, right))

    def square_of(self, side):
        """The square of a side that is compared with a length."""
        if isinstance(side, QuadraticForm) and len(side.parts) == 1 and max(side.parts.values()) > 0:
            name, = side.parts
            signs = {rule["relation"] for rule in self.hypotheses if rule["left"] == name and rule["right"] == 0}
            if signs & {">", ">="}:
                return side**2
        return squared(side)

    def power(self, base, exponent):
        """A power; of a number without a value that is no matter of chance, its root, by the square of that."""
        sure = isinstance(base, QuadraticForm) and {*base.parts} - {()} and all(
            isinstance(key, str) and not key.startswith(LOSS) for key in {*base.parts} - {()})
        return Length(base) if sure and exponent == Fraction(1, 2) else WORDS["^"](base, exponent)
