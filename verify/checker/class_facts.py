"""Facts that a proof may use, by name: those of the theories, and those that hypotheses imply.

A name is that of a theory, then numbers: ``client 0 2 1``, ``noise 0 noise 1 0 0``. With choices, `` @2`` is what a fact
says in scenario 2, `` of 1 2`` what it says in the sum over scenarios. For every number of clients, `` part 1`` is a fact
times a polynomial that is not negative.
"""

from verify.checker.comparisons import compared, number
from verify.checker.formulas import At, names
from verify.checker.laurent_polynomials import on_ends
from verify.checker.operators import require
from verify.checker.quadratic_forms import NotQuadratic, QuadraticForm, plain
from verify.checker.scenarios import Given, depends_on_scenario, restricted, whole
from verify.checker.theories import coordinates, everywhere, interpolation, noise

#: by the first word of a name what gives the fact that is at least 0, or equal to 0
INEQUALITIES = {"noise": noise.variance, "least": interpolation.least_of_all, "quotient": coordinates.quotient}
EQUALITIES = {"uncorrelated": noise.uncorrelated, "across": noise.across, "mean": noise.conditional,
              "diagonal": coordinates.diagonal, "curvature": interpolation.one_curvature}


def class_facts(run, pasts):
    """The facts of a run, by the past on which they are conditioned."""
    rounds = {round_of(past): None for past in (pasts if run.choices else sorted(pasts))}
    at_all_points, hypotheses = {}, {}
    for round in rounds:
        at_all_points[round] = None if run.choices else everywhere.facts(run)
        hypotheses[round] = [*hypothesis_facts(run, round)]
    for round in rounds if run.choices else ():
        at_all_points[round] = everywhere.facts(run)
    return {past: ClassFacts(run, past, at_all_points[round_of(past)], hypotheses[round_of(past)]) for past in pasts}


def round_of(past): return past.round if isinstance(past, Given) else past


class ClassFacts:
    """The facts of a run, conditioned on a past."""

    def __init__(self, run, past, at_all_points, hypotheses):
        self.run, self.past, self.given = run, past, round_of(past)
        self.everywhere, self.said = at_all_points, {name: (made, form) for name, made, form in hypotheses}

    def whole(self, name):
        """(the form, whether it is equal to 0) of a fact, not yet in parts. Raises ValueError or LookupError for a name of
        nothing that is known."""
        scenarios = self.run.choices and self.past.depends_on_scenario
        return self.with_choices(name) if scenarios else self.without_scenarios(name)

    def fact(self, name):
        """A fact as a proof uses it: of every number of clients, one of its parts."""
        name, _, part = name.partition(" part ")
        form, zero = self.whole(name)
        if not self.run.people.one:
            require(not part, "a part of what is one")
            return form, zero
        require(not (self.run.people.any_weights and form.with_powers), "a weight outside of sums")
        parts = on_ends(form, self.run.people.least, self.run.people.degree)
        require(bool(part) == (len(parts) > 1), f"{name} has {len(parts)} parts")
        return parts[whole_number(part) if part else 0], zero

    def without_scenarios(self, name):
        """A fact that no choice changes."""
        if name in self.said and self.run.choices:  # it must be said in all scenarios
            _, form = self.said[name]
            require(not depends_on_scenario(form), "a hypothesis that choices change")
            here = {*self.run.choices.scenarios(self.past.made)}
            covered = {scenario for made, other in self.said.values() if other.equals(form)
                       for scenario in self.run.choices.scenarios(made)}
            require(here <= covered, "a hypothesis about some ways in which choices turn out")
        return self.plainly(name)

    def plainly(self, name):
        """A fact as it stands in every run."""
        if name in self.everywhere:
            return self.everywhere[name], False
        if name in self.said:
            return self.said[name][1], False
        if name in self.run.letters.largest:  # a number that is at least, or at most, each of several
            return self.run.letters.largest[name], False
        kind, *words = name.split(" ")
        if kind == "client" and words[1] == "least":
            return interpolation.least(self.run, self.given, whole_number(words[0]), whole_number(words[2])), False
        if kind == "client":
            return interpolation.two_points(self.run, self.given, *map(whole_number, words)), False
        require(kind in INEQUALITIES or kind in EQUALITIES, f"nothing known is called {name}")
        before = {"-1": -1} if kind in ("noise", "mean") else {}  # the round before the first
        words = [before[word] if word in before else whole_number(word) if word.isdecimal() else word for word in words]
        return (INEQUALITIES | EQUALITIES)[kind](self.run, self.given, *words), kind in EQUALITIES

    def with_choices(self, name):
        """A fact of a scenario, or one of a sum over scenarios."""
        choices, meter = self.run.choices, self.run.letters.meter
        here = choices.scenarios(self.past.made)
        name, _, scenario = name.partition(" @")
        name, _, scenarios = name.partition(" of ")
        if scenario:
            scenario = whole_number(scenario)
            require(scenario in here, "a scenario that is not possible here")
            if name == "chance":
                return QuadraticForm.basis(restricted((), scenario)), False
            form, zero = self.plainly(name)
            require(not zero and name not in self.said and not name.startswith("noise "), "a fact of sums over scenarios")
            meter.charge(len(form.parts))
            return whole(form, [scenario]), False
        scenarios = [*map(whole_number, scenarios.split(" "))]
        require({*scenarios} <= {*here} and len({*scenarios}) == len(scenarios), "scenarios that are not possible here")
        form, zero = self.plainly(name)
        if name in self.said:
            require(scenarios == choices.scenarios(self.said[name][0]), "a hypothesis about other scenarios")
        else:
            count = drawn_as(self.run.letters, name)
            require(choices.alike(scenarios, count), "scenarios whose choices differ before the draw")
        meter.charge(len(form.parts))
        return whole(form, scenarios), zero


def drawn_as(letters, name):
    """The number of choices made before the draw of noise of which a name tells."""
    kind, *words = name.split(" ")
    require(kind in ("noise", "uncorrelated", "across"), f"{name} is no fact of sums over scenarios")
    if kind == "noise":
        k, what, *draw, _ = words
        seen = letters.noises[(whole_number(k), what, *(-1 if n == "-1" else whole_number(n) for n in draw))]
        return letters.chosen_before[next(iter(seen[0][0].parts))]
    i, j, *_ = map(whole_number, words[:2])
    first, other = letters.first_of_draws(), letters.clients.draws if kind == "across" else lambda draw: [draw]
    return max(letters.chosen_before[first[n]] for n, v in ((i, j), (j, i))
               if n in first and other(first[n])[-1] not in letters.depends[v])


def whole_number(word):
    """The number that a word of a name writes."""
    require(word.isdecimal() and word.isascii() and len(word) < 10, f"{word!r} is no number of a fact")
    return int(word)


# what hypotheses say -----------------------------------------------------------------------------------------------------
def hypothesis_facts(run, past):
    """Yields the facts that hypotheses imply given the past of a round: triples (name, the choices that are made, what is
    not negative).

    A hypothesis that the numbers do not meet raises ValueError; one that is not linear in what is compared here, or about
    what is not here, is left out, which assumes less, if a theory of where runs begin or of clients allows that.
    """
    for place, rule in run.others:
        if not run.begins.uses(run, rule):
            continue
        if "infimum" in names([rule["left"], rule["right"]]):
            yield from at_each_point(run, place, rule, past)
        else:
            try:
                pairs = [*compared(run, rule, past)]
            except (NotQuadratic, LookupError):
                run.leave_out(rule)
                continue
            for number_of_pair, (given, smaller, larger) in enumerate(pairs):
                if says_something(run, rule, gap := larger - smaller):
                    yield f"hypothesis {place} {number_of_pair}", getattr(given, "made", None), gap


def says_something(run, rule, gap):
    """Whether what a hypothesis says not to be negative is more than a number, which must meet it."""
    if run.people.one and (decided := run.people.says(run, rule, gap)) is not None:
        return decided
    value = number(gap)
    meets = value is None or (value > 0 if rule["relation"] in ("<", ">") else value >= 0)
    require(meets, f"a hypothesis fails at these numbers: {rule['text']}")
    return value is None


def at_each_point(run, place, rule, past):
    """Yields the facts that a hypothesis about an infimum over all points implies at the points that occur, where the
    infimum is at most the value."""
    for point_number, x in enumerate([] if run.choices else run.letters.places()):
        try:
            found = [*at_a_point(run, rule, past, x)]
        except (LookupError, TypeError):  # it is not linear in what is compared here
            run.leave_out(rule)
            found = []
        for case, gap in enumerate(found):
            if says_something(run, rule, gap):
                yield f"hypothesis {place} {point_number} {case}", None, gap


def at_a_point(run, rule, past, x):
    """Yields what is not negative at a point, by the indices of the hypothesis: a side with an infimum is at most that side
    with the value at the point, or at least that where the infimum has a negative factor."""
    relation, formulas = rule["relation"][0], run.instance.formulas
    for index in run.cases(rule):
        def value(node, index=index):
            return formulas.value(node, At(index, None, given=past, point=x))

        for side, other, smaller, larger in (("left", "right", "<", ">"), ("right", "left", ">", "<")):
            sign = 0 if "infimum" in names(rule[other]) else sign_of_least(rule[side], value)
            if sign > 0 and relation in ("=", larger):
                yield value(rule[side]) + QuadraticForm({}) - value(rule[other])
            if sign < 0 and relation in ("=", smaller):
                yield value(rule[other]) + QuadraticForm({}) - value(rule[side])


def sign_of_least(node, value):
    """The sign of the factor of a least value over all points in a formula, 0 where it has none. Raises NotQuadratic unless
    it is a term of its own."""
    if "infimum" not in names(node):
        return 0
    inside = [part for part in node[1:] if "infimum" in names(part)]
    if node[0] == "infimum" and not inside:
        return 1
    if node[0] not in ("+", "*") or len(inside) != 1:
        raise NotQuadratic("a least value over all points is a term of its own")
    sign = sign_of_least(inside[0], value)
    for factor in node[1:] if node[0] == "*" else ():
        if factor is not inside[0]:
            scale = plain(value(factor))
            sign = 0 if scale == 0 else sign if scale > 0 else -sign
    return sign
