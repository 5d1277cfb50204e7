"""Runs of many rounds by powers of a matrix: the same as runs round by round, and what they may not leave out."""

import random
from functools import partial

import pytest

from tests.messages import contains_in_order
from tests.verify.checker.runs_by_hand import LAST_ROUND, LAST_TIME, condition, law, run_certificate
from verify.checker.counterexample import check, judge_instance
from verify.checker.formulas import At
from verify.checker.instance import Instance
from verify.checker.intervals import as_interval
from verify.checker.limits import OUTCOMES
from verify.checker.operators import replayed
from verify.checker.schema import checked

FEDCM = {"eta_g": "1", "beta": "1/2"}
FALSE = condition(["norm2", ["x_round", "rounds"]], "<=", -1)
MANY, SOME = 101, "0 to 1"  # rounds; a recorded side that holds all small numbers
OPTION_I = {"eta_g": "1", "sign": "standard", "start": "zero", "option": "I", "client_variate": None}


def judged(data, **reading):
    return replayed(lambda c: judge_instance(c, Instance(checked(c), **reading), recorded=False), data)


class Draw:
    """Random certificates about few rounds of a stationary method."""

    def __init__(self, seed): self.rng = random.Random(seed)
    def fraction(self): return f"{self.rng.randint(-3, 3)}/{self.rng.randint(1, 3)}"

    def vector(self, rounds, depth):
        some, place = partial(self.vector, rounds, depth - 1), self.rng.randint(0, 7)
        if depth == 0 or place < 3:
            return self.rng.choice([["x_round", self.rng.choice(rounds)], "x_star", [self.state, self.rng.choice(rounds)]])
        return [["+", some(), ["*", self.rng.choice([-1, 2]), some()]], ["grad", 0, some()], ["objective_grad", some()],
                ["E", some()], ["*", ["E", ["norm2", some()]], some()]][place - 3]

    def number(self, rounds):
        some = partial(self.vector, rounds, 2)
        return self.rng.choice([
            lambda: ["norm2", some()], lambda: ["dot", some(), some()], lambda: ["F", 0, some()],
            lambda: ["+", ["objective", some()], ["*", -1, "F_star"]], lambda: ["E", ["norm2", some()]],
            lambda: ["*", ["E", ["dot", some(), some()]], ["dot", some(), "x_star"]],
            lambda: ["Sum", ["*", "i", ["norm2", ["+", ["x_round", "i"], ["*", -1, "x_star"]]]], "i", 0, "rounds"]])()

    def certificate(self):
        rng, clients, dim = self.rng, self.rng.choice([1, 2, 3]), self.rng.choice([1, 1, 2])
        rounds, steps = rng.choice([1, 2, 3]), rng.choice([1, 1, 2])
        base, sampling = rng.choice(["fedavg", "fedcm"]), rng.choice(["full", "with-replacement", "without-replacement"])
        self.state = "server_momentum" if base == "fedcm" else "x_round"
        noisy = rng.randint(0, min(clients, 4 // (rounds * steps)))
        weights = {1: ["1"], 2: ["1/3", "2/3"], 3: ["1/2", "1/4", "1/4"]}[clients]
        chance = rng.choice(["1/2", "1/4", "1/1000"])
        size = rng.choice([{"eta": [rng.choice(["1/2", "1/3"]) for _ in range(steps)] * rounds}, {"eta": {"hypothesis": 0}}])
        rule = condition(["eta_l", "t"], "==", rng.choice([["^", 3, -1], ["^", 5, ["*", -1, ["^", 2, -1]]]]),
                         ["t", 0, LAST_TIME])
        if sampling != "full" and rounds == 3:
            rounds, size = 2, {"eta": {"hypothesis": 0}}
        return run_certificate(
            condition(["E", self.number([rng.randint(0, rounds)])], "<=", 0), rule, base=base, sampling=sampling,
            options={"eta_g": rng.choice(["1", "1/2"])} | ({"beta": rng.choice(["1/2", "1"])} if base == "fedcm" else {}),
            participants=clients if sampling == "full" else rng.randint(1, min(clients, 2)), rounds=rounds, steps=steps,
            weights=weights, curvature=[[rng.choice(["1", "2"]) for _ in range(dim)] for _ in range(clients)],
            center=[[self.fraction() for _ in range(dim)] for _ in range(clients)],
            noise=[law(chance, *(self.fraction() for _ in range(dim))) if k < noisy else [] for k in range(clients)],
            start=[self.fraction() for _ in range(dim)], **size)


def left_sides(data, **reading):
    instance = Instance(checked(data), **reading)
    return [as_interval(instance.formulas.value(data["statement"]["left"], At({}, outcome)))
            for _, outcome in instance.outcomes()]


@pytest.mark.parametrize("seed", range(8))
def test_means_are_those_over_all_outcomes_of_all_rounds(seed):
    draw, compared = Draw(seed), 0
    for _ in range(16):
        data = draw.certificate()
        try:
            (power,) = left_sides(data, long=True)
        except (ArithmeticError, ValueError):  # a comparison, or a product of too many entries
            continue
        one, *_ = left_sides(data, listed=OUTCOMES)
        compared += 1
        assert power.low <= one.high and one.low <= power.high, (seed, data["statement"]["left"])
        assert power.high - power.low < 1e-9 * (1 + abs(power.high))
    assert compared > 4


@pytest.mark.parametrize("base", ["fedavg", "fedcm"])
def test_clients_with_a_basis_each_run_as_long_as_others(base):
    data = run_certificate(
        condition(["E", ["norm2", ["x_round", "rounds"]]], "<=", 0), base=base, options=FEDCM if base == "fedcm" else None,
        rounds=3, weights=("1/2", "1/2"), curvature=[["1", "2"], ["1/8", "3"]], start=("1", "-2"),
        noise=[[], law("1/2", 1, 0)], half_tangent=["1/3", "-1/2"])
    (power,), (one, *_) = left_sides(data, long=True), left_sides(data, listed=OUTCOMES)
    (other,) = left_sides(data | {"instance": data["instance"] | {"half_tangent": "1/3"}}, long=True)
    assert power.low <= one.high and one.low <= power.high and power.high - power.low < 1e-9 < abs(power.low - other.low)


def random_rule(rng):
    """A condition about entries that are the same in every round, and others, over ranges that may rest on each other."""
    ends = ["rounds", LAST_ROUND, "iterations", LAST_TIME, 1]
    over = [["t", 0, rng.choice(ends)], ["j", rng.choice([0, 0, 1]), rng.choice([*ends, "t"])]]
    entry = rng.choice([["epsilon", "t"], ["available", "t", 0], ["eta_l", "t"], ["epsilon", "j"], ["eta_l", "j"], "t"])
    other = rng.choice([["eta_l", 0], ["norm2", ["x_round", "j"]], "j", ["epsilon", "j"], 0, ["eta_l", "j"]])
    return condition(entry, rng.choice(["<=", ">=", "=="]), other, *over)


def test_conditions_count_for_all_values_of_their_indices():
    rng = random.Random(3)
    for _ in range(300):
        rule = random_rule(rng)
        data = run_certificate(FALSE, rule, rounds=2, steps=2, eta=["1/4", "1/2"] * 2, epsilon=["1/4"])
        accepted, reason, *_ = judged(data, listed=OUTCOMES)
        powers = judged(data, long=True)[0]
        assert not powers or accepted, (rule["left"], rule["relation"], rule["right"], rule["over"], reason)


TWO_SIZES = {"steps": 2, "eta": ["1/4", "1/2"] * MANY, "rounds": MANY}

#: certificates of many rounds, and why they are refused; the first six were accepted once
REFUSED = {
    "a range within one that is shortened": (run_certificate(FALSE, condition(
        ["eta_l", "t"], "==", ["*", ["eta_l", 0], ["norm2", ["x_round", "j"]]], ["t", 0, LAST_TIME], ["j", 0, "t"]),
        rounds=MANY, left=SOME, right="-1"), "a hypothesis fails"),
    "a range within one of equal entries": (run_certificate(FALSE, condition(
        ["epsilon", "t"], ">=", ["+", "j", -100], ["t", 0, "rounds"], ["j", 0, "t"]),
        rounds=MANY, left=SOME, right="-1"), "a hypothesis fails"),
    "an entry behind the last": (run_certificate(FALSE, condition(
        ["available", "t", 0], "==", 1, ["t", 0, "iterations"]), left=SOME, right="-1", **TWO_SIZES), "out of range"),
    "a state that a definition names": (run_certificate(
        condition("server_momentum", ">=", 1), base="fedcm", options=FEDCM, rounds=MANY, right="1",
        definitions={"server_momentum": {"indices": [], "formula": 0}}), "server_momentum…another meaning"),
    "a number that noise decides": (run_certificate(
        condition(["E", ["^", "c", 2]], "<=", ["^", ["E", "c"], 2]),
        condition("c", "==", ["E_sampling", ["norm2", ["x_round", 7]]]), rounds=7, noise=[law("1/2", 1)], free={"c": []},
        values={"c": {"hypothesis": 0}}, left="8122221760058281/1152921504606846976",
        right="3225844343331289/1152921504606846976"), "before it is drawn"),
    "a mean given an iteration of a run with other draws": (run_certificate(
        condition(["E", ["^", ["E_step", ["norm2", ["x_round", 4]], 1], 2]], "<=", -1), base="scaffold", options=OPTION_I,
        rounds=4, noise=[law("1/2", 1)], left="1278467065/68719476736", right="-1"), "a mean given iteration"),
    "a range from one that is shortened": (run_certificate(FALSE, condition(
        ["epsilon", "t"], ">=", ["+", ["*", -1, "j"], 99], ["t", 0, "rounds"], ["j", "t", "rounds"]),
        rounds=MANY, left=SOME, right="-1"), "a hypothesis fails"),
    "a step that differs in the last round": (run_certificate(
        FALSE, rounds=MANY, eta=["1/4"] * (MANY - 1) + ["1/2"], left=SOME, right="-2"), "by the recorded values"),
    "an entry of the last round that differs": (run_certificate(
        FALSE, condition(["epsilon", "t"], "<=", 0, ["t", 0, "rounds"]), rounds=MANY, left=SOME, right="-1",
        epsilon=["0"] * MANY + ["1"]), "a hypothesis fails"),
    "a step of the second local step": (run_certificate(
        FALSE, condition(["eta_l", "t"], "<=", ["^", 4, -1], ["t", 0, LAST_TIME]), left=SOME, right="-1", **TWO_SIZES),
        "a hypothesis fails"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_certificates_are_refused(name):
    data, reason = REFUSED[name]
    accepted, why, *_ = replayed(check, data)
    assert not accepted and contains_in_order(why, reason), why


def test_means_of_products_of_different_rounds_are_refused():
    statement = condition(["E", ["dot", ["x_round", "rounds"], ["x_round", LAST_ROUND]]], "<=", -1)
    accepted, reason, *_ = judged(run_certificate(statement, rounds=MANY, noise=[law("1/2", 1)]), long=True)
    assert not accepted and "different rounds" in reason


def test_honest_certificates_are_accepted():
    for data in (run_certificate(FALSE, rounds=MANY, left=SOME, right="-1"),
                 run_certificate(FALSE, condition(["eta_l", "t"], "<=", ["^", 2, -1], ["t", 0, LAST_TIME]), condition(
                     ["epsilon", "t"], "<=", 0, ["t", 0, "rounds"]), left=SOME, right="-1", **TWO_SIZES)):
        assert check(data)[0], check(data)[1]


@pytest.mark.parametrize(("data", "reading"), [
    (run_certificate(FALSE, condition(["E", ["norm2", ["x_round", "t"]]], ">=", 0, ["t", 0, "rounds"]), rounds=3000,
                     start=["1"] * 3, noise=[law("1/4", 1, 2, 3)]), {"long": True}),
    (run_certificate(condition(["E", ["^", ["norm2", ["x_round", 12]], 300]], "<=", -1), rounds=12, noise=[law("1/4", 1)]),
     {"listed": 1}),
    (run_certificate(FALSE, condition("t", "<=", "s", ["t", 0, 9 * 10**4], ["s", 0, 9 * 10**4])), {}),
], ids=["rounds", "powers", "ranges"])
def test_work_is_limited(data, reading, monkeypatch):
    monkeypatch.setattr("verify.checker.limits.WORK", 10**4)
    accepted, reason, *_ = judged(data, **reading)
    assert not accepted and "steps" in reason
