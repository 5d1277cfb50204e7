"""Replays a counterexample with the standard library and the files of this folder alone.

Simulates the algorithm on the recorded instance for every outcome of chance, in fractions or in intervals that surely
contain the numbers; checks every hypothesis; accepts only if the statement is surely broken, by the recorded values.
Formulas: ["+", a, b], ["x", t], ["Sum", body, "k", low, high], ["E", a].
"""

import json
from fractions import Fraction
from functools import cache
from importlib import import_module
from itertools import product
from math import prod
from pkgutil import iter_modules

from verify.checker import methods
from verify.checker.instance import OF_INSTANCE, Instance
from verify.checker.intervals import agrees
from verify.checker.methods import adaptive
from verify.checker.run import Run
from verify.checker.samples import Samples
from verify.checker.words import BREAKS, COMPARE, FORMAT, JOINED, MEANS, WORDS, add, require

#: of every file of methods/: name -> the method, and the names of its states
METHODS = {name: method for file in iter_modules(methods.__path__)
           for name, method in import_module(f"{methods.__name__}.{file.name}").METHODS.items()}
FUNCTIONS = {*WORDS, *JOINED, *MEANS, *OF_INSTANCE}


class Replay(Instance):
    def __init__(self, certificate):
        super().__init__(certificate)
        self.words = WORDS | {name: getattr(self, name) for name in OF_INSTANCE}
        self.means, self.draws, self.measured, self.run = {}, (), {}, cache(self.run)
        self.parameter = cache(lambda name: self.name(name, [], ()))  # first asked for before anything is drawn
        for prepare in {"point": [self.federation], "run": [self.federation, self.chance]}.get(certificate["setting"], []):
            prepare()
    # chance: an outcome is a tuple of numbers, one for each draw that a run makes
    def chance(self):
        s, rounds, steps, last = (self.size[n] for n in ("participants", "rounds", "local_steps", "iterations"))
        require(last == rounds * steps > 0 < min(rounds, s), "iterations must be rounds * local_steps, all positive")
        require(self.how["indicator"] in ("broadcast", "local-at-aggregation", "local-every-step"), "unknown indicator")
        self.given["x_round"] = [self.start()]  # steps may depend on where runs start
        self.step_size = [self.name("eta_l", [t], ()) for t in range(last)]
        first = self.run(())
        self.draws, self.measured = (*first.alternatives.items(),), first.record.keys()
        if all(count == 1 for _, count in self.draws):  # nothing is left to chance
            self.run = cache(lambda outcome, base=None, run=self.run: run(outcome, base) if base else first)
    def outcomes(self, held=None, free=lambda draw: True):
        """All outcomes, pairs (chance, outcome); what is not ``free`` stays as it is ``held``, and has no chance."""
        ranges = [range(n) if free(draw) else [held[i]] for i, (draw, n) in enumerate(self.draws)]
        for outcome in product(*ranges):
            chances = [self.run(outcome).chances[draw] for draw, _ in self.draws if free(draw)]
            if not any(chance == 0 for chance in chances):
                require(all(chance > 0 for chance in chances), "a chance may be zero")
                yield prod(chances, start=Fraction(1)), outcome
    def made(self, method, outcome):
        return Run(self, method, outcome)
    def run(self, outcome, base=None):
        """Every quantity of one run, of the procedure's method or of the one named."""
        named = dict(zip((draw for draw, _ in self.draws), outcome, strict=True))
        made = self.made(METHODS[base or self.how["base"]][0], named)
        require(not self.draws or self.draws == (*made.alternatives.items(),), "runs must make the same draws")
        return made
    # formulas
    def name(self, name, indices, outcome):
        base, name = adaptive.BESIDE.get(name, (None, name))
        rule = self.rules.get(name) or (self.run(outcome, base).record if name in self.measured else self.given)[name]
        if isinstance(rule, dict):
            return self.value(rule["formula"], dict(zip(rule["indices"], indices, strict=True)), outcome)
        for i in [indices[0] // self.size["local_steps"]] if name == "epsilon" else indices:
            require(i >= 0, f"negative index of {name}")
            rule = rule[int(i)]
        return rule
    def value(self, node, index, outcome):
        if isinstance(node, int):
            return Fraction(node)
        word, *args = [node] if isinstance(node, str) else node
        if word in index:
            return index[word]
        if word in JOINED:
            (join, (body, name, low, high, *more)), value = JOINED[word], self.value
            inner = [{**index, args[name]: i} for i in self.span([args[low], args[high]], index, outcome)]
            return join([value(args[body], i, outcome) for i in inner], *(value(args[m], index, outcome) for m in more))
        if word in MEANS:
            r = self.value(args[1], index, outcome) if len(args) > 1 else None
            return self.mean((word, r), args[0], lambda draw: MEANS[word](draw, r), index, outcome)
        args = [self.value(a, index, outcome) for a in args]
        return self.words[word](*args) if word in self.words else self.name(word, args, outcome)
    def mean(self, key, body, free, index, outcome):
        """Mean over the draws that are ``free``, the others as they are."""
        key = key, id(body), *index.items(), *(i for i, (draw, _) in zip(outcome, self.draws, strict=True) if not free(draw))
        if key not in self.means:
            cases = self.outcomes(outcome, free)
            self.means[key] = add(*(self.value(body, index, case) * chance for chance, case in cases))
        return self.means[key]
    def sides(self, rule, index, outcome):
        return tuple(self.value(rule[side], index, outcome) for side in ("left", "right"))
    def span(self, limits, index, outcome=None):
        low, high = (int(self.value(limit, index, outcome)) for limit in limits)
        return map(Fraction, range(low, high + 1))
    def defines(self, rule):
        """Whether a hypothesis ``name == formula`` is what the certificate takes the value of the name to be."""
        name, *indices = rule["left"] if isinstance(rule["left"], list) else [rule["left"]]
        given = None if name in self.rules or name in self.measured else self.given.get(name)
        return rule["relation"] == "==" and given == {"indices": indices, "formula": rule["right"]}


class SampleReplay(Samples, Replay):
    """An instance whose clients have samples."""


def check(certificate):
    """(accepted, reason, left, right). Of clients with samples, whatever is said of gradients must be violated for those of
    the training loss and, with the values in ``also``, for those of the population risk."""
    said, formulas = check_reading(certificate), (certificate[n] for n in ("statement", "hypotheses", "definitions"))
    text = json.dumps([*formulas])
    if not said[0] or "atoms" not in certificate["instance"] or not ('"grad"' in text or '"objective_grad"' in text):
        return said
    how = certificate["procedure"] | {"gradients": "population"}
    return check_reading(certificate | certificate["also"] | {"procedure": how})


def check_reading(certificate):
    require(certificate["format"] == FORMAT, f"not a {FORMAT}")
    kind = SampleReplay if "atoms" in certificate["instance"] else Replay
    replay, statement, sides = kind(certificate), certificate["statement"], (None, None)
    outcomes = [outcome for _, outcome in replay.outcomes()]
    for rule in [*certificate["hypotheses"], statement]:
        cases = [{}]
        for name, *limits in rule["over"]:
            cases = [{**i, name: n} for i in cases for n in replay.span(limits, i)]
        if rule is not statement and replay.defines(rule):
            continue
        for index, outcome in product(cases, outcomes):
            sides = replay.sides(rule, index, outcome)
            if rule is not statement and not COMPARE[rule["relation"]](*sides):
                return False, f"a hypothesis fails at {index}: {rule['text']}", *sides
            recorded = all(map(agrees, sides, (certificate["left"], certificate["right"])))
            if rule is statement and recorded and BREAKS[rule["relation"]](*sides):
                return True, "every hypothesis holds and the statement is violated", *sides
    return False, "nothing violates the statement by the recorded values", *sides
