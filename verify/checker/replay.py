"""Replays a counterexample with the standard library and the files of this folder alone.

Simulates the algorithm on the recorded instance for every outcome of chance, in fractions or in intervals that surely
contain the numbers; checks every hypothesis; accepts only if the statement is surely broken, by the recorded values.
Formulas: ["+", a, b], ["x", t], ["Sum", body, "k", low, high], ["E", a].
"""

import json
from fractions import Fraction
from functools import cache, lru_cache
from importlib import import_module
from itertools import product
from math import prod
from pkgutil import iter_modules

from verify.checker import methods
from verify.checker.defining import acyclic, has_all
from verify.checker.existing import Chosen
from verify.checker.factors import Factors
from verify.checker.form import checked, coupled, factored, pieces
from verify.checker.instance import OF_INSTANCE, Instance
from verify.checker.intervals import Interval, agrees
from verify.checker.kept import Kept
from verify.checker.limits import OUTCOMES, TERMS, Meter, bounded
from verify.checker.methods import adaptive
from verify.checker.near import Near
from verify.checker.run import INDEPENDENT, Run
from verify.checker.samples import Samples
from verify.checker.space import infimum
from verify.checker.words import COMPARE, JOINED, MEANS, WORDS, add, breaks, replayed, require

#: of every file of methods/: name -> the method, and the names of its states
METHODS = {name: method for file in iter_modules(methods.__path__)
           for name, method in import_module(f"{methods.__name__}.{file.name}").METHODS.items()}
#: where a number that is said to exist lies in its interval, from 0 to 1; no name has a space
PLACE = "the place"
fraction = lru_cache(1024)(Fraction)  # whole numbers in formulas are few


class Replay(Kept, Instance):
    def __init__(self, certificate, piece=None, meter=None, near=False):
        super().__init__(certificate, meter)
        self.words = WORDS | {name: getattr(self, name) for name in OF_INSTANCE}
        self.means, self.draws, self.measured, self.run = {}, (), (), cache(self.run)
        self.nothing_kept()
        self.defined = {name: self.defining(name, certificate["hypotheses"][value["hypothesis"]], self.free[name])
                        for name, value in certificate["values"].items() if isinstance(value, dict)}
        acyclic({**self.rules, **self.defined})
        if "exists" in certificate:
            low, high, exists = *piece, certificate["exists"]
            self.given[PLACE] = Interval(low, high) if low < high else Fraction(low)
            if near:
                require(low == 0 < high, "only the first piece lies next to the lower end")
                self.given[PLACE] = Near(1, Fraction(1), Fraction(high))
            width = ["+", exists["high"], ["*", -1, exists["low"]]]
            self.defined[exists["name"]] = {"indices": [], "formula": ["+", exists["low"], ["*", PLACE, width]]}
        self.defining_value = cache(self.defining_value)
        for prepare in {"point": [self.federation], "run": [self.federation, self.chance]}.get(certificate["setting"], []):
            prepare()
    @staticmethod
    def defining(name, rule, lengths):
        """The indices and the formula of a hypothesis ``name == formula``, which says what every entry is."""
        left, *indices = rule["left"] if isinstance(rule["left"], list) else [rule["left"]]
        plain = all(isinstance(index, str) for index in indices) and len({*indices}) == len(indices)
        require(rule["relation"] == "==" and left == name and plain, f"no hypothesis says what {name} is")
        ranges = {index: (low, high) for index, low, high in rule["over"]}
        every = lengths is None or (len(lengths) == len(indices) and {*ranges} == {*indices} and all(
            ranges[index][0] == 0 and has_all(ranges[index][1], size)
            for index, size in zip(indices, lengths, strict=True)))
        require(every, f"a hypothesis says what some entries of {name} are, and not what the others are")
        return {"indices": indices, "formula": rule["right"]}
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
    def made(self, method, outcome):
        return Run(self, method, outcome)
    def run(self, outcome, base=None):
        """Every quantity of one run, of the procedure's method or of the one named."""
        named = dict(zip((draw for draw, _ in self.draws), outcome, strict=True))
        made = self.made(METHODS[base or self.how["base"]][0], named)
        require(not self.draws or self.draws == (*made.alternatives.items(),), "runs must make the same draws")
        return made
    # formulas
    def parameter(self, name, *indices):
        """What a name is before anything is drawn."""
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
        self.meter.spend(1)
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
        if word == "infimum":
            return infimum(self, *args, index, outcome)
        if word in MEANS:
            r = self.value(args[1], index, outcome) if len(args) > 1 else None
            r = self.within_round(r) if word == "E_step" else r
            return self.mean((word, r), args[0], lambda draw: MEANS[word](draw, r), index, outcome)
        args = [self.value(a, index, outcome) for a in args]
        return self.words[word](*args) if word in self.words else self.name(word, args, outcome)
    def within_round(self, t):
        """The round and the step of an iteration, in runs that draw gradients of local steps and clients alone."""
        others = {kind for (kind, *_), _ in self.draws} - {"noise", "start", "sampling"}
        require(not others and t.denominator == 1, f"a mean given iteration {t}, of runs that draw {sorted(others)}")
        return divmod(t, self.size["local_steps"])

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
            self.meter.spend(len(cases))
        return cases


class SampleReplay(Samples, Replay):
    """An instance whose clients have samples."""


class FactoredReplay(Factors, Replay):
    """An instance whose clients' parameters are factors of a model."""


def kind(certificate):
    """The class of the certificate's instance."""
    return SampleReplay if coupled(certificate) else FactoredReplay if factored(certificate) else Replay


def check(certificate):
    """(accepted, reason, left, right). Of clients with samples, whatever is said of gradients must be violated for those of
    the training loss and, with the values in ``also``, for those of the population risk."""
    checked(certificate)
    text = json.dumps([certificate[n] for n in ("statement", "hypotheses", "definitions")])
    twice = coupled(certificate) and ('"grad"' in text or '"objective_grad"' in text)
    require(("also" in certificate) == twice, "of clients with samples, claims on gradients have two readings")
    said = check_reading(certificate)
    if not said[0] or not twice:
        return said
    how = certificate["procedure"] | {"gradients": "population"}
    return check_reading(certificate | certificate["also"] | {"procedure": how})


def check_reading(certificate):
    """One reading. Of a number that is said to exist, the statement must be broken on every piece of its interval, and at
    the upper end by the recorded sides. The interval is taken with both ends, which asks for more, but see on_piece."""
    if "exists" not in certificate:
        return judged(certificate, kind(certificate)(certificate))
    meter, found = Meter(), pieces(certificate["subdivision"])
    for piece in found:
        said = on_piece(certificate, piece, meter)
        if not said[0]:
            return False, f"{said[1]}, with the number from {piece[0]} to {piece[1]} of its interval", *said[2:]
    if not any(allowed(certificate, place, meter) for place in (1, *(low for low, _ in found))):
        return False, "no place of the subdivision meets the conditions on the number", "", ""
    return judged(certificate, kind(certificate)(certificate, (1, 1), meter))


def on_piece(certificate, piece, meter):
    """(accepted, reason, left, right) where a number that is said to exist lies in a piece of its interval. Of numbers
    alone, the first piece of an interval from 0 on is looked at without 0 too, if that is left out."""
    low, high = piece
    if low == 0 < high and certificate["setting"] == "algebra" and Chosen(certificate).open_at_zero:
        said = replayed(lambda c: judged(c, kind(c)(c, piece, meter, near=True), recorded=False), certificate)
        if said[0]:
            return said
    at_high = kind(certificate)(certificate, (high, high), meter) if low == 0 < high else None
    return judged(certificate, kind(certificate)(certificate, piece, meter), recorded=False, at_high=at_high)


def allowed(certificate, place, meter):
    """Whether a number that is said to exist surely meets the conditions on it at a place of its interval."""
    replay, chosen = kind(certificate)(certificate, (place, place), meter), Chosen(certificate)
    rules = [rule for rule in certificate["hypotheses"] if chosen.is_condition(rule)]
    return not any(breaks(rule["relation"], *replay.sides(rule, index, None), unless=False)
                   for rule in rules for index in replay.cases(rule))


def judged(certificate, replay, recorded=True, at_high=None):
    """(accepted, reason, left, right) of a replay; ``recorded``: whether the sides must be those recorded. ``at_high``: the
    replay at the upper end of the first piece of an interval."""
    statement, sides, chosen = certificate["statement"], ("", ""), Chosen(certificate)
    outcomes = [outcome for _, outcome in replay.outcomes()]
    defining = {value["hypothesis"] for value in certificate["values"].values() if isinstance(value, dict)}
    for place, rule in enumerate([*certificate["hypotheses"], statement]):
        if place in defining or (rule is not statement and chosen.is_condition(rule)):
            continue
        where = at_high if at_high and rule is not statement and chosen.is_sign(rule) else replay
        for index, outcome in product(where.cases(rule), outcomes):
            sides = where.sides(rule, index, outcome)
            if rule is not statement and not COMPARE[rule["relation"]](*sides):
                return False, f"a hypothesis fails at {index}: {rule['text']}", *sides
            if rule is statement and breaks(rule["relation"], *sides) and (not recorded or all(
                    map(agrees, sides, (certificate["left"], certificate["right"])))):
                return True, "every hypothesis holds and the statement is violated", *sides
    return False, "nothing violates the statement by the recorded values", *sides


def holds(certificate, replay):
    """Whether the statement surely holds in a replay."""
    statement, outcomes = certificate["statement"], [outcome for _, outcome in replay.outcomes()]
    return all(COMPARE[statement["relation"]](*replay.sides(statement, index, outcome))
               for index, outcome in product(replay.cases(statement), outcomes))
