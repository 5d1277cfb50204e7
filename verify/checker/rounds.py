"""Checks proofs for every number of rounds: one round from any state, and induction.

A run on letters begins from any state that the method can be in: letters for the model and for all that clients and server
keep. What is proven there of one round holds of each round of every run, if it says the same of every round
(``RoundInvariance``). A statement about the last round follows by induction from a potential, a number V that a state has:

* one round: V(after) + (what the left side adds up) <= factor * V(before) + cost, from any state;
* the end: what the left side says of the last state <= V;
* the start: factor^R V(first state) + cost * (1 + factor + ... + factor^(R-1)) <= the right side, for R = 1, 2, ...
"""

from fractions import Fraction

from verify.checker.comparisons import Notes, ProofObligation, compared
from verify.checker.exponential_sums import NEVER, ExponentialSums, added, least
from verify.checker.formulas import At, names
from verify.checker.limits import parse_number
from verify.checker.operators import require
from verify.checker.proof import MORE, check_proofs, checked, obligations_for_every_count, parse_setting
from verify.checker.quadratic_forms import QuadraticForm
from verify.checker.round_invariance import COUNTS, RoundInvariance, substituted
from verify.checker.schema import formula, keys
from verify.checker.starts import AnyState, FirstRound
from verify.checker.symbolic_federation import symbolic_instance

FORMAT = "fedtheory rounds 1"
GIVEN = ("sizes", "values", "unknown", "weights", "potential", "proofs")
POTENTIAL = ("value", "factor", "cost")


def of_rounds(run, statement, potential):
    """One round, and the end."""
    value, factor, cost = (potential[name] for name in POTENTIAL)
    left, timeless = LeftSide(run.instance, sides(statement)[0]), run.begins.timeless
    for node in (value, left.added, left.last):
        timeless.same(node, {"r": 1})
    timeless.same(cost, {})
    require(run.instance.formulas.sure(cost, set()), "a cost is the same in every round and whatever is drawn")
    q = parse_number(factor)
    require(0 <= q <= 1 and (q == 1 or left.added == 0), "a factor is at most 1, and 1 of a sum over rounds")
    after = substituted(value, {"r": ["+", "r", 1]})
    shrunk = ["*", q.numerator, ["^", q.denominator, -1], value]
    for smaller, larger in ((["+", after, left.added], ["+", shrunk, cost]), (left.last, value)):
        rule = {"left": smaller, "relation": "<=", "right": larger, "over": [["r", 0, 0]], "text": "of a potential"}
        yield from [ProofObligation(run, *pair) for pair in compared(run, rule)]


def of_start(run, statement, potential):
    """The start: the right side, for every number of rounds R, less what the potential comes to."""
    value, factor, cost = (potential[name] for name in POTENTIAL)
    instance, right, q = run.instance, sides(statement)[1], parse_number(factor)
    averaged = LeftSide(instance, sides(statement)[0]).averaged
    before = substituted(value, {"r": 0})
    for outcome in run.outcomes:
        notes = Notes()
        at = At({}, outcome, notes=notes)
        course = ExponentialSums(instance, at).expand(["*", "rounds", right] if averaged else right)
        first, paid = instance.formulas.value(before, at), instance.formulas.value(cost, at)
        if q == 1:
            mine = {NEVER: first, (Fraction(1), 1): paid}
        else:
            mine = {NEVER: paid / (1 - q)}
            if q > 0:
                mine[q, 0] = first - paid / (1 - q)
        past, _ = notes.past(run.letters, instance.size["rounds"])
        for bound in least(added(course, {key: c * -1 for key, c in mine.items()})):
            yield ProofObligation(run, past, QuadraticForm({}), bound)


def sides(statement):
    """The smaller and the larger side."""
    require(statement["relation"] in ("<=", ">=") and statement["over"] == [], "one inequality is proven by a potential")
    left, right = statement["left"], statement["right"]
    return (left, right) if statement["relation"] == "<=" else (right, left)


class LeftSide:
    """The smaller side of a statement about all rounds, as formulas about round r: what it ``added`` up, in each round, and
    what it says of the ``last`` state; ``averaged``: whether it is the former over the number of rounds."""

    def __init__(self, instance, node):
        self.instance, self.averaged, rounds, last = instance, None, [], []
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
        value, steps = self.instance.formulas.value, self.instance.size["local_steps"]
        require(type(low) is int, "a sum over rounds begins at a number")
        require(index == "r" or "r" not in names(body), "r stands for the number of a round")
        end = value(high, At({"rounds": Fraction(1), "iterations": Fraction(steps)}, None))
        grows = RoundInvariance(self.instance, (), self.instance.value).shift(high, {"rounds": 1, "iterations": steps})
        if (end, grows) == (low, 1):
            return substituted(body, {index: ["+", "r", low]})
        require((end, grows) == (low + steps - 1, steps), "a sum over some of the rounds")
        require(index != "r", "r stands for the number of a round")
        return ["Sum", substituted(body, {index: ["+", ["*", "r", "local_steps"], "step"]}), "step", low, low + steps - 1]


def factors_of(node):
    if isinstance(node, list) and node[0] == "*":
        for factor in node[1:]:
            yield from factors_of(factor)
    else:
        yield node


def check(certificate):
    """(accepted, reason, "", "")."""
    return checked(certificate, FORMAT, GIVEN, proven, "proven for every number of rounds, by one round from any state",
                   MORE, every_round=True)


def proven(certificate):
    """The reason why the proof at one setting fails; empty where it holds."""
    if certificate["potential"] is not None:
        for name in ("value", "cost"):
            formula(keys(certificate["potential"], POTENTIAL, "a potential")[name])
    numbers, proofs = parse_setting(certificate)
    return check_proofs(obligations(certificate, numbers), proofs)


def obligations(certificate, numbers):
    """All that is to be proven at one setting: of each round, or of a potential."""
    statement, potential = certificate["statement"], certificate["potential"]
    require(statement["relation"] in ("<=", ">=", "=="), "a sum of squares proves no strict inequality")

    def obligations_for(*numbers, degree=None):
        run = symbolic_instance(certificate, *numbers, AnyState(), degree).federation
        if potential is None:
            timeless = run.begins.timeless
            timeless.is_round_invariant(statement, timed=True)
            grows, count = timeless.period(statement)
            require(count >= grows, "the statement says nothing of some times of a round; more rounds are needed")
            return [ProofObligation(run, *pair) for pair in compared(run, statement)]
        require(run.instance.size["rounds"] == 1, "a potential is looked at over one round")
        first = symbolic_instance(certificate, *numbers, FirstRound(), degree).federation
        return [*of_rounds(run, statement, potential), *of_start(first, statement, potential)]

    if "degree" not in certificate:
        return obligations_for(*numbers)
    return obligations_for_every_count(obligations_for, numbers, certificate["degree"])
