"""Evaluates the formulas of a statement on a run for every outcome of chance: the base of runs on letters."""

from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from math import prod

from verify.checker.formulas import acyclic, definition
from verify.checker.limits import OUTCOMES, TERMS, bounded
from verify.checker.methods import adaptive
from verify.checker.operators import JOINED, MEANS, OF_INSTANCE, WORDS, add, require
from verify.checker.run import METHODS
from verify.symbolic.instance import Instance
from verify.symbolic.memo import MemoisedEvaluator
from verify.symbolic.run import INDEPENDENT, Run

fraction = lru_cache(1024)(Fraction)  # whole numbers in formulas are few


class Replay(MemoisedEvaluator, Instance):
    def __init__(self, certificate, meter=None):
        super().__init__(certificate, meter)
        self.words = WORDS | {name: getattr(self, name) for name in OF_INSTANCE if hasattr(self, name)}
        self.means, self.draws, self.measured, self.run = {}, (), (), cache(self.run)
        self.clear_cache()
        self.defined = {name: definition(name, certificate["hypotheses"][value["hypothesis"]], self.free[name])
                        for name, value in certificate["values"].items() if isinstance(value, dict)}
        acyclic({**self.rules, **self.defined})
        self.defining_value = cache(self.defining_value)
        for prepare in {"point": [self.federation], "run": [self.federation, self.chance]}.get(certificate["setting"], []):
            prepare()
    # chance: an outcome is a tuple of numbers, one for each draw that a run makes; None where nothing has been drawn
    def chance(self):
        rounds, steps = self.size["rounds"], self.size["local_steps"]
        require(self.participants_fit(), "where all clients take part, or each by itself, participants is their number")
        require(self.how["indicator"] in ("broadcast", "local-at-aggregation", "local-every-step"), "unknown indicator")
        self.given["x_round"] = [self.start()]  # steps may depend on where runs start
        self.step_size = [self.parameter("eta_l", t) for t in range(rounds * steps)]
        first = self.run(())
        self.draws, self.measured = (*first.alternatives.items(),), first.record.keys()
        twice = {*self.measured} & {*self.free, *self.rules, *self.size}
        require(not twice, f"runs record {', '.join(sorted(twice))}, which may not have another meaning")
        bounded(prod(count for _, count in self.draws), OUTCOMES, "outcomes of chance")
        self.run = cache(lambda outcome, base=None, run=self.run: run(outcome, base) if base or any(outcome) else first)
    def participants_fit(self):
        by_number = self.how["sampling"] not in ("full", *INDEPENDENT)
        return by_number or self.size["participants"] == sum(self.given["priority"])
    def outcomes(self, held=None, free=lambda draw: True):
        """All outcomes, pairs (chance, outcome); what is not ``free`` stays as it is ``held``, and has no chance."""
        if not self.draws:
            yield Fraction(1), ()
            return
        all_free = all(free(draw) for draw, _ in self.draws)
        require(held is not None or all_free, "what is drawn is asked for before it is drawn")
        ranges = [range(n) if free(draw) else [held[i]] for i, (draw, n) in enumerate(self.draws)]
        drawn = [draw for draw, _ in self.draws if free(draw)]
        for outcome in product(*ranges):
            chances = [*map(self.run(outcome).chances.__getitem__, drawn)] if drawn else []
            if not any(chance == 0 for chance in chances):
                yield prod(chances, start=Fraction(1)), outcome
    def make_run(self, method, outcome):
        return Run(self, method, outcome)
    def run(self, outcome, base=None):
        """Every quantity of one run, of the procedure's method or of the one named."""
        named = dict(zip((draw for draw, _ in self.draws), outcome, strict=True))
        made = self.make_run(METHODS[base or self.how["base"]][0], named)
        require(not self.draws or self.draws == (*made.alternatives.items(),), "runs must make the same draws")
        return made
    # formulas
    def parameter(self, name, *indices):
        """The value of a name before anything is drawn."""
        return self.name(name, [Fraction(index) for index in indices], None)
    def defining_value(self, name, indices):
        rule = self.defined[name]
        return self.value(rule["formula"], dict(zip(rule["indices"], indices, strict=True)), None)
    def name(self, name, indices, outcome):
        base, name = adaptive.BESIDE.get(name, (None, name))
        if name in self.rules:
            rule = self.rules[name]
            return self.value(rule["formula"], dict(zip(rule["indices"], indices, strict=True)), outcome)
        if name in self.defined:
            return self.defining_value(name, (*indices,))
        measured = name in self.measured and outcome is not None
        found = (self.run(outcome, base).record if measured else self.given)[name]
        by_round = name == "epsilon" and name not in self.free
        for i in [indices[0] // self.size["local_steps"]] if by_round else indices:
            found = self.entry(found, i, name)
        return found
    @staticmethod
    def entry(array, i, name):
        if not (i >= 0 and i.denominator == 1):
            raise ValueError(f"{i} is no index of {name}")
        return array[int(i)]
    def value(self, node, index, outcome):
        self.meter.charge(1)
        if type(node) is int:
            return fraction(node)
        if isinstance(node, str):
            word, args, sure, key = node, [], False, None
        else:
            _, word, args, sure, names = self.read.get(id(node)) or self.reading(node, index)
            key = self.key(node, sure, names, index, outcome)
        if word in index:
            if args:
                raise ValueError(f"{word} is an index")
            return index[word]
        if key is not None and key in self.kept:
            return self.kept[key]
        found = self.meaning(word, args, index, None if sure else outcome)
        self.meter.record(found)
        if key is not None:
            self.kept[key] = found
        return found
    def meaning(self, word, args, index, outcome):
        if word in JOINED:
            (join, (body, name, low, high, *more)), value = JOINED[word], self.value
            inner = [{**index, args[name]: i} for i in self.span([args[low], args[high]], index, outcome)]
            of_index = [tuple(value(args[b], i, outcome) for b in body) if isinstance(body, tuple) else
                        value(args[body], i, outcome) for i in inner]
            return join(of_index, *(value(args[m], index, outcome) for m in more))
        if word in MEANS:
            r = self.value(args[1], index, outcome) if len(args) > 1 else None
            return self.mean((word, r), args[0], lambda draw: MEANS[word](draw, r), index, outcome)
        args = [self.value(a, index, outcome) for a in args]
        return self.words[word](*args) if word in self.words else self.name(word, args, outcome)
    def mean(self, key, body, free, index, outcome):
        """Mean over the draws that are ``free``, the others as they are."""
        drawn = outcome or [None for _ in self.draws]
        key = key, id(body), *index.items(), *(i for i, (draw, _) in zip(drawn, self.draws, strict=True) if not free(draw))
        if key not in self.means:
            cases = self.outcomes(outcome, free)
            self.means[key] = add(*(self.value(body, index, case) * chance for chance, case in cases))
        return self.means[key]
    def sides(self, rule, index, outcome):
        return tuple(self.value(rule[side], index, outcome) for side in ("left", "right"))
    def span(self, limits, index, outcome=None):
        low, high = (self.value(limit, index, outcome) for limit in limits)
        require(low.denominator == high.denominator == 1, "a range goes from a whole number to one")
        bounded(high - low, TERMS, "terms of a range")
        return map(fraction, range(int(low), int(high) + 1))
    def cases(self, rule):
        """All values of a condition's indices."""
        cases = [{}]
        for name, *limits in rule["over"]:
            cases = [{**i, name: n} for i in cases for n in self.span(limits, i)]
            self.meter.charge(len(cases))
        return cases
