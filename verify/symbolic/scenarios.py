"""Choices that depend on a run: what is known where they turn out in each way.

A choice, as of layers by their scores, is made with unknown chances that depend on all that happened before. A scenario is
one way in which all choices turn out. The run of each scenario is well defined on its own, as if its choices had been
prescribed, and so are its letters: what is known of them for sure holds in every scenario. Letter i times the indicator of
scenario w is a letter of its own, i + w * SCENARIO; likewise losses, numbers without a value and 1, whose mean is the chance
of the scenario.
"""

from collections import namedtuple
from functools import cache

from verify.checker.operators import COMPARE
from verify.checker.quadratic_forms import LOSS, SCENARIO, NotQuadratic, QuadraticForm, SymbolicVector, plain
from verify.symbolic.class_facts import ClassFacts

#: what is given: the choices made before a round, as pairs (draw, value), and whether sides tell scenarios apart
Past = namedtuple("Past", "round given depends_on_scenario")


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


class Scenarios(ClassFacts):
    """Facts about a run with choices. ``choices`` are their draws, in order; ``chosen_before`` has for the first basis
    vector of each draw of noise the number of choices made before it."""

    choices, ways = (), ()

    def ordered(self):
        """Find the scenarios, once it is known what is drawn."""
        if not self.chosen:
            return
        if any(count > 1 and draw not in self.chosen for draw, count in self.draws):
            raise NotQuadratic("choices that depend on the run beside other chance")
        self.choices = [draw for draw, _ in self.draws if draw in self.chosen]
        self.ways = [way for way in self.all_outcomes if self.possible(way)]
        if not self.ways:
            raise ValueError("a hypothesis fails at these numbers, whatever is chosen")
        self.clear_cache()  # scenarios have other numbers now
        self.means.clear()

    def possible(self, outcome):
        """Whether this outcome of the choices is consistent with the purely numerical hypotheses."""
        for place, rule in enumerate(self.hypotheses):
            if self.bounds_client(rule) is None and place not in self.definers:
                try:
                    if not all(self.holds(rule, *self.sides(rule, index, outcome)) for index in self.cases(rule)):
                        return False
                except (NotQuadratic, LookupError):
                    continue
        return True

    @staticmethod
    def holds(rule, *sides):
        """Whether two numbers are as a rule says; True of forms, of which nothing is said here."""
        left, right = (side if isinstance(side, QuadraticForm) else QuadraticForm({(): plain(side)}) for side in sides)
        gap = right - left
        return not {*gap.parts} <= {()} or COMPARE[rule["relation"]](0, plain(gap))

    def values_of(self, outcome):
        return {draw: outcome[place] for place, (draw, _) in enumerate(self.draws) if draw in self.chosen}

    def given_before(self, past, outcome):
        """The choices made before a round; all of them for None."""
        found = self.values_of(outcome)
        return frozenset((draw, value) for draw, value in found.items() if past is None or draw[1] < past)

    def scenarios(self, given):
        """Numbers of the possible scenarios in which some choices are as ``given``."""
        return [number for number, way in enumerate(self.ways, 1) if given <= {*self.values_of(way).items()}]

    def over_scenarios(self, body, free, index, outcome):
        """The mean of a formula over the choices that are ``free``."""
        cases = [case for _, case in self.outcomes(outcome, free) if case in self.ways]
        values = [self.value(body, index, case) for case in cases]
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

    def facts_by_past(self, pasts):
        if not self.choices:
            return super().facts_by_past(pasts)
        of_round = cache(lambda what, round: what(round))
        for past in pasts:  # what hypotheses say comes first, as it may ask for letters
            of_round(self.hypothesis_facts, past.round)
        return {past: (self.with_choices if past.depends_on_scenario else self.without_choices)(past, of_round)
                for past in pasts}

    def without_choices(self, past, of_round):
        """The facts about sides that no choice changes, given the past; ``of_round(function, round)`` is
        ``function(round)``."""
        here = {*self.scenarios(past.given)}
        covered = {}
        for name, given, form in of_round(self.hypothesis_facts, past.round):
            if not depends_on_scenario(form):
                entry = covered.setdefault(form.key, [name, form, set()])
                entry[2].update(self.scenarios(given))
        said = {name: form for name, form, scenarios in covered.values() if scenarios >= here}
        always, variances = of_round(self.always, past.round), of_round(self.variances, past.round)
        return always | said | variances, of_round(self.equalities, past.round)

    def with_choices(self, past, of_round):
        """The facts about sides that choices change, in each scenario and in sums over scenarios."""
        here, found, zero = self.scenarios(past.given), {}, {}
        always, uncorrelated = of_round(self.always, past.round), of_round(self.uncorrelated, past.round)
        for scenario in here:
            found[f"chance @{scenario}"] = QuadraticForm.basis(restricted((), scenario))
            for name, form in always.items():
                self.meter.charge(len(form.parts))
                found[f"{name} @{scenario}"] = whole(form, [scenario])
        for name, given, form in of_round(self.hypothesis_facts, past.round):
            scenarios = self.scenarios(given)
            if {*scenarios} <= {*here}:
                found[f"{name} of {' '.join(map(str, scenarios))}"] = whole(form, scenarios)
        for forms, kept in ((of_round(self.variances, past.round), found), (uncorrelated, zero)):
            for name, form in forms.items():
                for scenarios in self.alike(here, self.drawn_as(name)):
                    self.meter.charge(len(form.parts))
                    kept[f"{name} of {' '.join(map(str, scenarios))}"] = whole(form, scenarios)
        return found, zero

    def alike(self, scenarios, count):
        """The scenarios, those together that have the first ``count`` choices in common."""
        found = {}
        for scenario in scenarios:
            values = self.values_of(self.ways[scenario - 1])
            found.setdefault(tuple(values[draw] for draw in self.choices[:count]), []).append(scenario)
        return [*found.values()]
