"""Choices that depend on a run: what is known where they turn out in each way.

A choice, as of layers by their scores, is made with unknown chances that depend on all that happened before. A world is one
way in which all choices turn out. The run of each world is well defined on its own, as if its choices had been prescribed,
and so are its letters: what is known of them for sure holds in every world. Letter i times the indicator of world w is a
letter of its own, i + w * WORLD; likewise losses, numbers without a value and 1, whose mean is the chance of the world.
"""

from collections import namedtuple
from functools import cache

from verify.checker.forms import LOSS, WORLD, Form, NoForm, Row, plain
from verify.checker.words import COMPARE
from verify.letters.known import Known

#: what is given: the choices made before a round, as pairs (draw, value), and whether sides tell worlds apart
Past = namedtuple("Past", "round given told_apart")


def within(key, world):
    """What stands under a key of a form, times the indicator of a world."""
    if isinstance(key, str):
        return f"{key} @{world}" if key.startswith(LOSS) else f"{LOSS}{key} @{world}"
    return tuple(i + world * WORLD for i in key) or f"{LOSS}chance @{world}"


def of_world(key):
    """Whether a key of a form is one of a world."""
    return any(i >= WORLD for i in key) if isinstance(key, tuple) else " @" in key


def told_apart(*forms):
    return any(of_world(key) for form in forms for key in form.of_what)


def whole(form, worlds):
    """A form, whose parts without a world are sums over ``worlds``."""
    return form.replaced(lambda key: [key] if of_world(key) else [within(key, world) for world in worlds])


class Choices(Known):
    """What is known of a run with choices. ``choices`` are their draws, in order; ``chosen_before`` has for the first letter
    of each draw of noise the number of choices made before it."""

    choices, ways = (), ()

    def ordered(self):
        """Find the worlds, once it is known what is drawn."""
        if not self.chosen:
            return
        if any(count > 1 and draw not in self.chosen for draw, count in self.draws):
            raise NoForm("choices that depend on the run beside other chance")
        self.choices = [draw for draw, _ in self.draws if draw in self.chosen]
        self.ways = [way for way in self.all_outcomes if self.possible(way)]
        if not self.ways:
            raise ValueError("a hypothesis fails at these numbers, whatever is chosen")
        self.nothing_kept()  # worlds have other numbers now
        self.means.clear()

    def possible(self, outcome):
        """Whether this outcome of the choices is consistent with the purely numerical hypotheses."""
        for place, rule in enumerate(self.hypotheses):
            if self.bounds_client(rule) is None and place not in self.definers:
                try:
                    if not all(self.holds(rule, *self.sides(rule, index, outcome)) for index in self.cases(rule)):
                        return False
                except (NoForm, LookupError):
                    continue
        return True

    @staticmethod
    def holds(rule, *sides):
        """Whether two numbers are as a rule says; True of forms, of which nothing is said here."""
        left, right = (side if isinstance(side, Form) else Form({(): plain(side)}) for side in sides)
        gap = right - left
        return not {*gap.parts} <= {()} or COMPARE[rule["relation"]](0, plain(gap))

    def values_of(self, outcome):
        return {draw: outcome[place] for place, (draw, _) in enumerate(self.draws) if draw in self.chosen}

    def given_before(self, past, outcome):
        """The choices made before a round; all of them for None."""
        found = self.values_of(outcome)
        return frozenset((draw, value) for draw, value in found.items() if past is None or draw[1] < past)

    def worlds(self, given):
        """Numbers of the possible worlds in which some choices are as ``given``."""
        return [number for number, way in enumerate(self.ways, 1) if given <= {*self.values_of(way).items()}]

    def over_worlds(self, body, free, index, outcome):
        """The mean of a formula over the choices that are ``free``."""
        cases = [case for _, case in self.outcomes(outcome, free) if case in self.ways]
        values = [self.value(body, index, case) for case in cases]
        if any(isinstance(value, Row) for value in values):
            if any(not isinstance(value, Row) or not value.equals(values[0]) for value in values):
                raise NoForm("a mean of vectors that depend on choices")
            return values[0]
        values = [value if isinstance(value, Form) else Form({(): plain(value)}) for value in values]
        if all(value.equals(values[0]) for value in values):
            return values[0]
        if told_apart(*values):
            raise NoForm("a mean over choices inside of another one")
        return sum((whole(value, [self.ways.index(case) + 1]) for value, case in zip(values, cases, strict=True)), Form({}))

    def known(self, pasts):
        if not self.choices:
            return super().known(pasts)
        of_round = cache(lambda what, round: what(round))
        for past in pasts:  # what hypotheses say comes first, as it may ask for letters
            of_round(self.said, past.round)
        return {past: (self.with_choices if past.told_apart else self.without_choices)(past, of_round) for past in pasts}

    def without_choices(self, past, of_round):
        """What is known of sides that no choice changes, given the past; ``of_round(what, round)`` is ``what(round)``."""
        here = {*self.worlds(past.given)}
        covered = {}
        for name, given, form in of_round(self.said, past.round):
            if not told_apart(form):
                entry = covered.setdefault(form.said, [name, form, set()])
                entry[2].update(self.worlds(given))
        said = {name: form for name, form, worlds in covered.values() if worlds >= here}
        always, variances = of_round(self.always, past.round), of_round(self.variances, past.round)
        return always | said | variances, of_round(self.equalities, past.round)

    def with_choices(self, past, of_round):
        """What is known of sides that choices change, in each world and in sums over worlds."""
        here, found, zero = self.worlds(past.given), {}, {}
        always, uncorrelated = of_round(self.always, past.round), of_round(self.uncorrelated, past.round)
        for world in here:
            found[f"chance @{world}"] = Form.one(within((), world))
            for name, form in always.items():
                self.meter.spend(len(form.parts))
                found[f"{name} @{world}"] = whole(form, [world])
        for name, given, form in of_round(self.said, past.round):
            worlds = self.worlds(given)
            if {*worlds} <= {*here}:
                found[f"{name} of {' '.join(map(str, worlds))}"] = whole(form, worlds)
        for forms, kept in ((of_round(self.variances, past.round), found), (uncorrelated, zero)):
            for name, form in forms.items():
                for worlds in self.alike(here, self.drawn_as(name)):
                    self.meter.spend(len(form.parts))
                    kept[f"{name} of {' '.join(map(str, worlds))}"] = whole(form, worlds)
        return found, zero

    def alike(self, worlds, count):
        """The worlds, those together that have the first ``count`` choices in common."""
        found = {}
        for world in worlds:
            values = self.values_of(self.ways[world - 1])
            found.setdefault(tuple(values[draw] for draw in self.choices[:count]), []).append(world)
        return [*found.values()]
