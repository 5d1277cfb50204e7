"""Pairs of forms that statements and hypotheses compare."""

from collections import namedtuple
from fractions import Fraction

from verify.checker.formulas import At
from verify.checker.quadratic_forms import NotQuadratic, QuadraticForm, nonnegative, plain
from verify.checker.scenarios import Given, depends_on_scenario, whole
from verify.checker.symbolic_run import NOTHING

#: what is to be shown of the clients of a run on letters: given a past, ``smaller <= larger``
ProofObligation = namedtuple("ProofObligation", "run past smaller larger")


class Ratio:
    """A number over one that is not negative, or the number 0 where both are 0: for comparisons alone."""

    numerator = denominator = 1

    def __init__(self, above, below):
        self.above, self.below = above, below

    def refuse(self, *_): raise NotQuadratic("a ratio or a length is compared, and nothing else")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __pow__ = __rpow__ = __neg__ = __abs__ = refuse
    __truediv__ = __rtruediv__ = __lt__ = __le__ = __gt__ = __ge__ = __float__ = __iter__ = __bool__ = refuse


class Length:
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
        return Length(self.square * plain(number) ** 2)

    def __truediv__(self, number): return self * (1 / plain(number))

    def __pow__(self, power):
        if power != 2:
            raise NotQuadratic("a length has no powers but its square")
        return self.square

    def refuse(self, *_): raise NotQuadratic("a length is compared, and nothing else")

    __rmul__ = __mul__
    __add__ = __radd__ = __sub__ = __rsub__ = __rpow__ = __neg__ = __abs__ = refuse
    __rtruediv__ = __lt__ = __le__ = __gt__ = __ge__ = __float__ = __iter__ = __bool__ = refuse


class Notes:
    """Records, for a formula outside of expectations, the draws on which it depends and the rounds on whose past its
    expectations are conditioned."""

    def __init__(self):
        self.certain, self.asked = set(), set()

    def past(self, letters, rounds):
        """The round whose past a comparison is given, and that of its means, if it has any."""
        if not self.asked:
            return (rounds if self.certain else NOTHING), None
        past, *others = self.asked
        if others or any(letters.drawn[draw] >= past for draw in self.certain):
            raise NotQuadratic("a random number outside of expectations")
        return past, past


def compared(run, rule, given=None):
    """Triples (past, smaller, larger): what a condition says by its indices and the outcomes of sampling. ``given``: the
    round whose past it is given, of a hypothesis, which holds for sure and so in expectation."""
    seen, once, instance, choices = set(), {}, run.instance, run.choices
    for index, outcome in cases_and_outcomes(run, rule):
        notes = None if given is not None else Notes()
        left, right = instance.sides_at(rule, At(index, outcome, given=given, notes=notes))
        left, right = as_forms(rule["relation"], left, right, run.hypotheses, said=given is not None)
        past, asked = notes.past(run.letters, instance.size["rounds"]) if notes else (NOTHING, None)
        if choices:
            made = choices.made_before(asked, outcome)
            apart = depends_on_scenario(left, right)
            past = Given(instance.size["rounds"] if asked is None else asked, made, apart)
            if apart:
                left, right = (whole(side, choices.scenarios(made)) for side in (left, right))
            said = left.key, right.key
            if once.setdefault((*index.items(), made), said) != said:
                raise NotQuadratic("what depends on a choice outside of expectations")
        pairs = {"=": [(left, right), (right, left)], "<": [(left, right)], ">": [(right, left)]}
        for pair in pairs[rule["relation"][0]]:
            if (said := (past, *(side.key for side in pair))) not in seen:
                seen.add(said)
                yield past, *pair


def cases_and_outcomes(run, rule):
    """Pairs (indices of a condition, outcome); the first outcome alone where no draw changes the sides."""
    formulas, outcomes = run.instance.formulas, run.choices.ways if run.choices else run.outcomes
    for index in run.cases(rule):
        sure = not run.choices and all(formulas.sure(rule[side], {*index}) for side in ("left", "right"))
        for outcome in outcomes[:1] if sure else outcomes:
            yield index, outcome


def as_forms(relation, left, right, hypotheses, said):
    """Both sides as forms; a / b <= c says that a <= c b where b and c are at least 0.

    Unless a hypothesis has ``said`` it, a must be at least 0 too: then a is 0 where b is, and the ratio has a value."""
    if isinstance(left, Length) or isinstance(right, Length):
        left, right = (square_of(side, hypotheses) for side in (left, right))
    if isinstance(right, Ratio) and relation[0] == ">":
        return as_forms("<", right, left, hypotheses, said)[::-1]
    if isinstance(left, Ratio) and relation[0] == "<":
        if not isinstance(left.below, QuadraticForm) or depends_on_scenario(left.below) or not nonnegative(left.below):
            raise NotQuadratic("a ratio by what may be negative")
        if plain(right) < 0:
            raise NotQuadratic("0/0 = 0 is not at most a negative number")
        if not said and not (isinstance(left.above, QuadraticForm) and nonnegative(left.above)):
            raise NotQuadratic("a ratio that may have no value where 0 stands below")
        left, right = left.above, left.below * plain(right)
    return tuple(side if isinstance(side, QuadraticForm) else QuadraticForm({(): plain(side)}) for side in (left, right))


def square_of(side, hypotheses):
    """The square of a side that is compared with a length: of a length, or of what is not negative."""
    if isinstance(side, Length):
        return side.square
    if isinstance(side, QuadraticForm) and len(side.parts) == 1 and max(side.parts.values()) > 0:
        name, = side.parts
        signs = {rule["relation"] for rule in hypotheses if rule["left"] == name and rule["right"] == 0 and not rule["over"]}
        if signs & {">", ">="}:
            return side**2
    if plain(side) < 0:
        raise NotQuadratic("a length is compared with what is not negative")
    return plain(side) ** 2


def number(form):
    """A form that is a number; None of any other one."""
    return Fraction(form.parts.get((), 0), form.over) if {*form.parts} <= {()} else None
