"""Choices that depend on a run, as of layers by their scores: what is known where they turn out in each way.

A choice is made with unknown chances that depend on all that happened before. A scenario is one way in which all choices
turn out. The run of each scenario is well defined on its own, as if its choices had been prescribed, and so are its letters:
what is known of them for sure holds in every scenario. Letter i times the indicator of scenario w is a letter of its own, i
+ w * SCENARIO; likewise losses, numbers without a value and 1, whose mean is the chance of the scenario.
"""

from collections import namedtuple

from verify.checker.operators import COMPARE
from verify.checker.quadratic_forms import LOSS, SCENARIO, NotQuadratic, QuadraticForm, SymbolicVector, plain

#: what is given: a round, the choices made before it as pairs (draw, value), and whether sides tell scenarios apart
Given = namedtuple("Given", "round made depends_on_scenario")


def restricted(key, scenario):
    """The key of a form, times the indicator of a scenario."""
    if isinstance(key, str):
        return f"{key} @{scenario}" if key.startswith(LOSS) else f"{LOSS}{key} @{scenario}"
    return tuple(i + scenario * SCENARIO for i in key) or f"{LOSS}chance @{scenario}"


def in_scenario(key):
    """Whether a key of a form is one of a scenario."""
    return any(i >= SCENARIO for i in key) if isinstance(key, tuple) else " @" in key


def depends_on_scenario(*forms):
    return any(in_scenario(key) for form in forms for key in form.of_what)


def whole(form, scenarios):
    """A form, whose parts without a scenario are sums over ``scenarios``."""
    return form.replaced(lambda key: [key] if in_scenario(key) else [restricted(key, scenario) for scenario in scenarios])


class Scenarios:
    """The choices of a run. ``draws`` are theirs, in order; ``ways`` the outcomes that are possible."""

    def __init__(self, instance):
        self.instance, self.run = instance, instance.federation
        chosen = self.run.letters.chosen
        if any(count > 1 and draw not in chosen for draw, count in instance.draws):
            raise NotQuadratic("choices that depend on the run beside other chance")
        self.draws = [draw for draw, _ in instance.draws if draw in chosen]
        self.ways = [way for way in self.run.outcomes if self.possible(way)]
        if not self.ways:
            raise ValueError("a hypothesis fails at these numbers, whatever is chosen")
        instance.formulas.kept.clear()  # scenarios have other numbers now
        instance.means.clear()

    def possible(self, outcome):
        """Whether this outcome of the choices is consistent with the purely numerical hypotheses."""
        for _, rule in self.run.others:
            try:
                if not all(self.meets(rule, *self.instance.sides(rule, index, outcome)) for index in self.run.cases(rule)):
                    return False
            except (NotQuadratic, LookupError):
                continue
        return True

    @staticmethod
    def meets(rule, *sides):
        """Whether two numbers are as a rule says; True of forms, of which nothing is said here."""
        left, right = (side if isinstance(side, QuadraticForm) else QuadraticForm({(): plain(side)}) for side in sides)
        gap = right - left
        return not {*gap.parts} <= {()} or COMPARE[rule["relation"]](0, plain(gap))

    def values(self, outcome):
        return {draw: outcome[place] for place, (draw, _) in enumerate(self.instance.draws) if draw in self.draws}

    def made_before(self, past, outcome):
        """The choices made before a round; all of them for None."""
        return frozenset((draw, value) for draw, value in self.values(outcome).items() if past is None or draw[1] < past)

    def scenarios(self, made):
        """Numbers of the possible scenarios in which some choices are as they were ``made``."""
        return [number for number, way in enumerate(self.ways, 1) if made <= {*self.values(way).items()}]

    def mean(self, body, at, outcome, free):
        """The mean of a formula over the choices that are ``free``."""
        cases = [case for _, case in self.instance.outcomes(outcome, free) if case in self.ways]
        values = [self.instance.formulas.value(body, at._replace(outcome=case)) for case in cases]
        if any(isinstance(value, SymbolicVector) for value in values):
            if any(not isinstance(value, SymbolicVector) or not value.equals(values[0]) for value in values):
                raise NotQuadratic("a mean of vectors that depend on choices")
            return values[0]
        values = [value if isinstance(value, QuadraticForm) else QuadraticForm({(): plain(value)}) for value in values]
        if all(value.equals(values[0]) for value in values):
            return values[0]
        if depends_on_scenario(*values):
            raise NotQuadratic("a mean over choices inside of another one")
        return sum((whole(value, [self.ways.index(case) + 1]) for value, case in zip(values, cases, strict=True)),
                   QuadraticForm({}))

    def alike(self, scenarios, count):
        """Whether scenarios are all those, of the possible ones, that have the first ``count`` choices in common."""
        values = [tuple(self.values(way)[draw] for draw in self.draws[:count]) for way in self.ways]
        common = {values[scenario - 1] for scenario in scenarios}
        return len(common) == 1 and {*scenarios} == {n for n, value in enumerate(values, 1) if value in common}
