"""The state of a method after many rounds of quadratic losses, by powers of a matrix.

One round takes any state s to an affine function of s, with noise and sampled clients of its own, the same in every round.
So the mean state, and the means of products of two of its entries, are after a round linear in what they were before:
m' = A m with m = (1, E s_i, E s_i s_j). The matrix A is read off one round on letters, and A^T m is computed in intervals.
Where nothing is drawn, the state itself is a part of m, and known; else it stands for itself until a mean is taken.
"""

from copy import copy
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import prod

from verify.checker.intervals import Vector, as_interval
from verify.checker.limits import bounded
from verify.checker.operators import require
from verify.checker.random_numbers import ONE, RandomNumber, Term, mapped, mean, terms_of

#: methods that do the same in every round, whatever its number, and take all states that they yield from ``Run.first``
STATIONARY = ("fedavg", "fedcm")
MOST = 40  # entries of m


class LongRun:
    """A run of which the states between rounds are known alone: ``record``, by name."""

    def __init__(self, instance, federation, method, states):
        name, steps = instance.how["base"], instance.size["local_steps"]
        self.instance, self.steps = instance, steps
        self.equal = [n for n in ("epsilon", "available") if all(e == instance.given[n][0] for e in instance.given[n])]
        require(name in STATIONARY, f"no power of a matrix is a run of {name}")
        require(all(federation.priority) and instance.how["sampling"] in ("full", "with-replacement", "without-replacement"),
                "free clients, or a random number of participants")
        require(all(not line.pieces for row in federation.lines for line in row), "losses that are not quadratic")
        sizes, self.rounds = instance.step_size, instance.size["rounds"]
        require(all(size == sizes[t % steps] for t, size in enumerate(sizes)), "steps that differ from round to round")
        first = OneRound(instance, federation, {})
        self.before = first.play(method, {})[1]  # the states before the first round, by name
        require({*self.before} == {"x_round", *states}, "a method with other states")
        self.places = {name: self.count(value) for name, value in self.before.items()}
        self.entries = [(name, i) for name, count in self.places.items() for i in range(count)]
        bounded(len(self.entries), MOST, "entries of a state")
        letters = {name: self.state_of_letters(name, value, 0) for name, value in self.before.items()}
        after = OneRound(instance, federation, letters).ends(method, letters)
        self.random = len(after) > 1 or any(term.draws for _, state in after for p in state for term in terms_of(p))
        self.moments = [(), *((e,) for e in self.entries)]
        self.moments += combinations_with_replacement(self.entries, 2) if self.random else ()
        bounded(len(self.moments), MOST, "means of entries and of products of two")
        self.matrix = [self.row(moment, after) for moment in self.moments]
        start = [entry for value in self.before.values() for entry in flat(value)]
        start = dict(zip(self.entries, start, strict=True))
        self.first = [prod((start[e] for e in moment), start=Fraction(1)) for moment in self.moments]
        self.known, self.powers = {}, [self.matrix]
        self.record, self.alternatives = {name: States(self, name) for name in self.before}, {}

    def count(self, value): return len(flat(value))

    def cases(self, rule):
        """The values of a hypothesis's indices: of those that count the entries of arrays of equal entries, or step sizes,
        which are the same in every round, the first ones."""
        over, timed = [], {*self.equal} - {"available"}  # those that an iteration may count, too
        nodes = [rule["left"], rule["right"], *(end for _, *ends in rule["over"] for end in ends)]
        for name, low, high in rule["over"]:
            by_round, last = high in ("rounds", ["+", -1, "rounds"]), ["+", -1, "iterations"]
            if low == 0 and (by_round or high in ("iterations", last)):
                if counts_entries(name, {*self.equal} if by_round else timed, *nodes):
                    high = 0
                elif counts_entries(name, {"eta_l", *timed}, *nodes) and high == last:
                    high = self.steps - 1
            over.append([name, low, high])
        return self.instance.formulas.cases(rule | {"over": over})

    def state_of_letters(self, name, value, r):
        """The state of a name at round r, as letters."""
        found = iter([RandomNumber({Term(entries=((r, name, i),)): Fraction(1)}, self.instance.meter)
                      for i in range(self.count(value))])
        return [Vector(next(found) for _ in v) for v in value] if isinstance(value, list) else Vector(
            next(found) for _ in value)

    def row(self, moment, after):
        """The mean of a product of entries after a round: coefficients by such products before it."""
        places, found = {e: n for n, e in enumerate(self.entries)}, {}
        for chance, state in after:
            value = mean(prod((state[places[e]] for e in moment), start=Fraction(1)), lambda draw: True)
            for term, c in terms_of(value).items():
                key = tuple(sorted((entry[1:] for entry in term.entries), key=self.entries.index))
                found[key] = found.get(key, 0) + c * chance
        require(found.keys() <= {*self.moments}, "a round that is not affine in the state")
        return [as_interval(found.get(key, Fraction(0))) for key in self.moments]

    def moments_at(self, r):
        """The means after r rounds, by products of entries."""
        if r - 1 in self.known:
            self.known.setdefault(r, self.times(self.matrix, self.known[r - 1]))
        if r not in self.known:
            found, place = [as_interval(number) for number in self.first], 0
            while r >> place:
                if place == len(self.powers):
                    last = self.powers[-1]
                    columns = [self.times(last, column) for column in zip(*last, strict=True)]
                    self.powers.append([*zip(*columns, strict=True)])
                if r >> place & 1:
                    found = self.times(self.powers[place], found)
                place += 1
            self.known[r] = found
        return dict(zip(self.moments, self.known[r], strict=True))

    def times(self, matrix, vector):
        """The product of a matrix and a vector."""
        found = []
        for row in matrix:
            pairs = [(a, b) for a, b in zip(row, vector, strict=True) if not (a.low == a.high == 0 or b.low == b.high == 0)]
            self.instance.meter.charge(1 + len(pairs))
            found.append(sum((a * b for a, b in pairs), as_interval(0)))
        return found

    def mean(self, value, word=("E", None)):
        """The mean of a number or vector over all that is drawn: of products of entries after the same round."""
        def of_term(term, c):
            rounds = {entry[0] for entry in term.entries}
            require(word == ("E", None) or not rounds, "a mean over some of what is drawn in many rounds")
            require(len(rounds) <= 1, "a mean of products of states after different rounds")
            key = tuple(sorted((entry[1:] for entry in term.entries), key=self.entries.index))
            return {ONE: c * (self.moments_at(*rounds)[key] if rounds else 1)}

        return mapped(value, of_term)


class States:
    """The state that a method keeps under a name, between any two rounds."""

    def __init__(self, run, name):
        self.run, self.name = run, name

    def entry(self, r, name):
        """The state before round r, from 0 to the number of rounds."""
        require(r.denominator == 1 and 0 <= r <= self.run.rounds, f"{r} is no index of {name}")
        if r == 0:
            return self.run.before[self.name]
        value = self.run.state_of_letters(self.name, self.run.before[self.name], int(r))
        if self.run.random:
            return value
        return [self.run.mean(v) for v in value] if isinstance(value, list) else self.run.mean(value)


class OneRound:
    """One round from any state, for every outcome of what is drawn but noise."""

    def __init__(self, instance, federation, letters):
        self.instance, self.federation = copy(instance), copy(federation)
        self.instance.size = {**instance.size, "rounds": 1, "iterations": instance.size["local_steps"]}
        self.instance.lists_noise = False
        self.federation.first_state = lambda name, value: self.first_states.setdefault(name, letters.get(name, value))
        if "x_round" in letters:
            self.federation.start = letters["x_round"]

    def play(self, method, outcome):
        """A run, and the states before it."""
        self.first_states = {}
        run = self.federation.run(self.instance, method, outcome)
        return run, {"x_round": self.federation.start, **self.first_states}

    def ends(self, method, letters):
        """Pairs (chance, entries of all states after the round)."""
        run, _ = self.play(method, {})
        draws, found = [*run.alternatives.items()], []
        for outcome in product(*(range(count) for _, count in draws)):
            run, _ = self.play(method, {draw: i for (draw, _), i in zip(draws, outcome, strict=True)})
            state = [entry for name in letters for entry in flat(run.record[name][-1])]
            found.append((prod(run.chances.values(), start=Fraction(1)), state))
        return found


def counts_entries(name, arrays, *nodes):
    """Whether an index stands in formulas only where it is the first one of an entry of these arrays."""
    return all(node != name and (not isinstance(node, list) or counts_entries(
        name, arrays, *node[2 if node[0] in arrays and node[1] == name else 1 :])) for node in nodes)


def flat(value):
    """The entries of a vector, or of a list of one for each client."""
    return [entry for v in value for entry in v] if isinstance(value, list) else [*value]
