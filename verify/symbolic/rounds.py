"""Obligations for every number of rounds: of one round from any state, and by induction.

A run on letters begins from any state that the method can be in: letters for the model and for all that clients and server
keep. What is proven there of one round holds of each round of every run, if it says the same of every round
(``RoundInvariance``). A statement about the last round follows by induction from a potential, a number V that a state has:

* one round: V(after) + (what the left side adds up) <= factor * V(before) + cost, from any state;
* the end: what the left side says of the last state <= V;
* the start: factor^R V(first state) + cost * (1 + factor + ... + factor^(R-1)) <= the right side, for R = 1, 2, ...
"""

from fractions import Fraction

from verify.checker.exponential_sums import NEVER, added, least
from verify.checker.formulas import names
from verify.checker.limits import parse_number
from verify.checker.operators import require
from verify.checker.quadratic_forms import LAYER, ORIGIN, NotQuadratic, QuadraticForm
from verify.checker.round_invariance import COUNTS, RoundInvariance, substituted
from verify.checker.schema import STATED
from verify.checker.scope import ROUNDS, ties
from verify.symbolic.exchangeable_clients import ExchangeableClients, RepresentativeRun
from verify.symbolic.exponential_sums import ExponentialSums, holds_for_all_rounds
from verify.symbolic.proof import ProofObligation, obligations_for_every_count
from verify.symbolic.replay import METHODS
from verify.symbolic.symbolic_run import NOTHING, SymbolicOutcome, SymbolicRun

POTENTIAL = ("value", "factor", "cost")

#: methods of which a round depends on the state before it alone, all of which ``Run.first`` or ``Run.start`` gives
FROM_ANY_STATE = ("fedavg", "fedprox", "fedswa", "fedmoswa", "scaffold", "fedpd", "feddyn", "afedpd", "fedcm", "fedavgm")

PAST = -2  # stands for all that is drawn before the first round
BEFORE = ("x_before", "x", "sampled_weight")  # at a round's first time, of the aggregation before


class AnyRun(SymbolicOutcome):
    """A run on letters from any state."""

    def first(self, name, value):
        return self.instance.any_state(name, value)


class AnyState(SymbolicRun):
    """A run on letters from any state that the method can be in at the beginning of a round; the state may be random."""

    def federation(self):
        super().federation()
        require(self.how["base"] in FROM_ANY_STATE, f"{self.how['base']} is not known from any state")
        self.random_past = not self.exact or self.how["sampling"] != "full"
        if self.random_past:
            self.drawn[PAST] = NOTHING
            for letter in self.given["start_offset"].terms:
                self.depends[letter % LAYER] = frozenset({PAST})
        self.states, self.made_up = {}, []

    def chance(self):
        super().chance()
        steps = self.size["local_steps"]
        require(all(eta == self.step_size[t % steps] for t, eta in enumerate(self.step_size)), "steps differ between rounds")
        require((self.random_past or not self.draws) and not self.choices, "the method draws")
        for name, sizes in self.free.items():
            require(name == "eta_l" or not {*(sizes or ())} & {*COUNTS}, f"{name} may change with the rounds")
            require(name == "eta_l" or sizes is not None or name in self.defined, f"{name} may change with the rounds")
        self.timeless = RoundInvariance(self, METHODS[self.how["base"]][1], lambda node: self.value(node, {}, None))
        for place, rule in enumerate(self.hypotheses):
            if place in self.definers or self.bounds_client(rule):
                self.timeless.is_round_invariant(rule, timed=False)

    def make_run(self, method, outcome):
        return AnyRun(self, method, outcome)

    def any_state(self, name, value):
        """A state of which nothing is known; the same in all runs."""
        if name not in self.states:
            def unknown_vector(vector, shared):
                return self.basis_vector({PAST} & self.drawn.keys(), shared) + origin_of(vector)

            self.states[name] = (
                [unknown_vector(v, False) for v in value] if isinstance(value, list) else unknown_vector(value, True))
        return self.states[name]

    def hypothesis(self, place, rule):
        if self.timeless.is_the_same(rule):
            return super().hypothesis(place, rule)
        self.leave_out(rule)
        return []  # it may say more of the first rounds than of others

    def leave_out(self, rule):
        super().leave_out(rule)
        if ties(rule, self.rules | self.defined, ROUNDS) and not self.timeless.is_the_same(rule):
            require(holds_for_all_rounds(self, rule), f"not shown for every number of rounds: {rule['text']}")

    def mean(self, key, body, free, index, outcome):
        if self.exact and self.random_past:  # of sampling alone, whose past is random all the same
            require(key[0] in ("E", "E_round"), f"{key[0]} of every round")
            past = NOTHING if key[1] is None else key[1]
            if self.given_past is None:
                self.asked_given.add(past)
            elif past < self.given_past:
                raise NotQuadratic("a mean inside of a mean that is given more")
        return super().mean(key, body, free, index, outcome)

    def name(self, name, indices, outcome):
        if name in BEFORE and name in self.measured and indices and indices[0] == 0:
            full = self.how["sampling"] == "full"
            plain = full and self.how["base"] == "fedavg" and self.how["options"].get("eta_g") in (1, "1")
            if not (plain if name == "x" else full and name == "sampled_weight"):
                raise NotQuadratic(f"{name} of a round's first time is known after the first round alone")
        return super().name(name, indices, outcome)


def origin_of(vector):
    """The part of a point that says where the optimum is."""
    return type(vector)({ORIGIN: vector.terms.get(ORIGIN, Fraction(0))})


class FirstRound(SymbolicRun):
    """The first round of runs of any number of rounds: hypotheses that depend on this number are not used."""

    def federation(self):
        super().federation()
        self.made_up = []

    def hypothesis(self, place, rule):
        counts = ExponentialSums(self, None).depends([rule["left"], rule["right"], *rule["over"]])
        return [] if counts else super().hypothesis(place, rule)


class RepresentativeAnyRun(RepresentativeRun, AnyRun):
    """A run from any state of the client that stands for each."""


class ExchangeableAnyState(ExchangeableClients, AnyState):
    """A run from any state, for every number of clients."""

    of_each = RepresentativeAnyRun


class ExchangeableFirstRound(ExchangeableClients, FirstRound):
    """The first round, for every number of clients."""


def obligations(certificate, numbers, potential, degree=None):
    """All that is to be proven at one setting: of each round, or of a potential. With a ``degree`` of any number of
    clients."""
    say = {name: certificate[name] for name in STATED}
    if degree is None:
        return obligations_of(say, potential, AnyState(say, *numbers), lambda: FirstRound(say, *numbers))
    every = obligations_of(say, potential, ExchangeableAnyState(say, *numbers, degree=degree),
                      lambda: ExchangeableFirstRound(say, *numbers, degree=degree))
    return obligations_for_every_count(every, numbers, lambda *some: obligations(certificate, some, potential))


def obligations_of(say, potential, letters, first):
    """All that is to be proven of letters from any state, and of those of the ``first()`` round."""
    require(say["statement"]["relation"] in ("<=", ">=", "=="), "a sum of squares proves no strict inequality")
    if potential is None:
        rule, timeless = say["statement"], letters.timeless
        timeless.is_round_invariant(rule, timed=True)
        grows, count = timeless.period(rule)
        require(count >= grows, "the statement says nothing of some times of a round; more rounds are needed")
        return [ProofObligation(letters, *pair) for pair in letters.compared(rule)]
    require(letters.size["rounds"] == 1, "a potential is looked at over one round")
    return [*of_rounds(letters, say["statement"], potential), *of_start(first(), say["statement"], potential)]


def of_rounds(letters, statement, potential):
    """One round, and the end."""
    value, factor, cost = (potential[name] for name in POTENTIAL)
    left = LeftSide(letters, sides(statement)[0])
    for node in (value, left.added, left.last):
        letters.timeless.same(node, {"r": 1})
    letters.timeless.same(cost, {})
    require(letters.is_sure(cost, {}), "a cost is the same in every round and whatever is drawn")
    q = parse_number(factor)
    require(0 <= q <= 1 and (q == 1 or left.added == 0), "a factor is at most 1, and 1 of a sum over rounds")
    after = substituted(value, {"r": ["+", "r", 1]})
    shrunk = ["*", q.numerator, ["^", q.denominator, -1], value]
    for smaller, larger in ((["+", after, left.added], ["+", shrunk, cost]), (left.last, value)):
        rule = {"left": smaller, "relation": "<=", "right": larger, "over": [["r", 0, 0]], "text": "of a potential"}
        letters.made_up.append(rule)  # values are kept by where a formula lies in memory, where no other may come to lie
        yield from [ProofObligation(letters, *pair) for pair in letters.compared(rule)]


def of_start(letters, statement, potential):
    """The start: the right side, for every number of rounds R, less what the potential comes to."""
    value, factor, cost = (potential[name] for name in POTENTIAL)
    right, q = sides(statement)[1], parse_number(factor)
    averaged = LeftSide(letters, sides(statement)[0]).averaged
    before = substituted(value, {"r": 0})
    letters.made_up.append(before)
    for _, outcome in letters.outcomes():
        letters.certain, letters.asked_given = set(), set()
        course = ExponentialSums(letters, outcome).expand(["*", "rounds", right] if averaged else right)
        first, paid = letters.value(before, {}, outcome), letters.value(cost, {}, outcome)
        if q == 1:
            mine = {NEVER: first, (Fraction(1), 1): paid}
        else:
            mine = {NEVER: paid / (1 - q)}
            if q > 0:
                mine[q, 0] = first - paid / (1 - q)
        past = letters.size["rounds"] if letters.certain else NOTHING
        if letters.asked_given:
            past, *others = letters.asked_given
            if others or any(letters.drawn[draw] >= past for draw in letters.certain):
                raise NotQuadratic("a random number outside of expectations")
        for bound in least(added(course, {key: c * -1 for key, c in mine.items()})):
            yield ProofObligation(letters, past, QuadraticForm({}), bound)


def sides(statement):
    """The smaller and the larger side."""
    require(statement["relation"] in ("<=", ">=") and statement["over"] == [], "one inequality is proven by a potential")
    left, right = statement["left"], statement["right"]
    return (left, right) if statement["relation"] == "<=" else (right, left)


class LeftSide:
    """The smaller side of a statement about all rounds, as formulas about round r: what it ``added`` up, in each round, and
    what it says of the ``last`` state; ``averaged``: whether it is the former over the number of rounds."""

    def __init__(self, letters, node):
        self.letters, self.averaged, rounds, last = letters, None, [], []
        for term in node[1:] if isinstance(node, list) and node[0] == "+" else [node]:
            factors = [*factors_of(term)]
            sums = [f for f in factors if isinstance(f, list) and f[0] == "Sum" and names(f[4]) & {*COUNTS}]
            require(len(sums) <= 1, "a product of sums over rounds")
            if not sums:
                last.append(term)
                continue
            rest = [f for f in factors if f is not sums[0]]
            averaged = ["^", "rounds", -1] in rest
            if averaged:
                rest.remove(["^", "rounds", -1])
            require(self.averaged in (None, averaged), "some sums are means over rounds, and others are none")
            self.averaged = averaged
            rounds.append(["*", 1, *rest, self.round(*sums[0][1:])])
        require(not (self.averaged and last), "a mean over rounds beside the last round")
        now = {"rounds": "r", "iterations": ["*", "r", "local_steps"]}
        require("r" not in names(last), "r stands for the number of a round")
        self.added, self.last = (["+", *rounds] if rounds else 0), (substituted(["+", 0, *last], now) if last else 0)

    def round(self, body, index, low, high):
        """The terms of a sum over all rounds or times that are of round r."""
        value, steps = self.letters.value, self.letters.size["local_steps"]
        require(type(low) is int, "a sum over rounds begins at a number")
        require(index == "r" or "r" not in names(body), "r stands for the number of a round")
        ends = [value(high, {"rounds": Fraction(n), "iterations": Fraction(n * steps)}, None) for n in (1, 2)]
        if ends == [low, low + 1]:
            return substituted(body, {index: ["+", "r", low]})
        require(ends == [low + steps - 1, low + 2 * steps - 1], "a sum over some of the rounds")
        require(index != "r", "r stands for the number of a round")
        return ["Sum", substituted(body, {index: ["+", ["*", "r", "local_steps"], "step"]}), "step", low, low + steps - 1]


def factors_of(node):
    if isinstance(node, list) and node[0] == "*":
        for factor in node[1:]:
            yield from factors_of(factor)
    else:
        yield node
