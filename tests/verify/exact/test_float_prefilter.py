"""Counterexamples made simple: float64 says what may do, and exact arithmetic has the last word."""

import json
import re
from dataclasses import replace
from fractions import Fraction as Q
from unittest import mock

import numpy as np
import pytest
import sympy as sp

from bounds.language.claim import Claim, Condition, Variable
from bounds.language.operators import i
from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY
from verify.evaluation.judge import judge, seems_violated
from verify.exact import float_prefilter
from verify.exact.confirm import Violation, violation_of
from verify.exact.float_prefilter import alike, violating_changes, with_change
from verify.exact.shrink import shrink
from verify.instances.draw import draw_params, draw_shape
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.referee.decide import Settings, decide

NAMES = "abcdefgh"
LETTERS = [sp.Symbol(name, positive=True) for name in NAMES]
NEARLY_ONE = sp.Rational(10**12 + 1, 10**12)  # what float64 admits as 1, up to rounding


def claim_about(statement: Condition, *conditions: Condition) -> Claim:
    variables = tuple(Variable(name, "positive") for name in NAMES)
    return Claim("test/simple", "1", "control", "algebra", statement, variables=variables, conditions=conditions,
                 derivation="none")


def violation_at(claim: Claim, value: Q) -> Violation:
    params = {name: np.array([value], dtype=object) for name in NAMES}
    found = violation_of(claim, Shape(), params)
    assert isinstance(found, Violation), found
    return found


def replays_of_shrinking(claim: Claim, violation: Violation) -> tuple[Violation, int]:
    with mock.patch("verify.exact.shrink.violation_of", side_effect=violation_of) as replay:
        return shrink(claim, violation), replay.call_count


SUM_IS_SMALL = Condition(sum(LETTERS), "<=", 1)


def test_changes_that_float64_sees_are_taken_at_once():
    """Eight numbers become 1, for which exact arithmetic is asked once."""
    found, replays = replays_of_shrinking(claim_about(SUM_IS_SMALL), violation_at(claim_about(SUM_IS_SMALL), Q(12345, 1001)))
    assert [found.params[name][0] for name in NAMES] == [1] * 8
    assert replays == 1


@pytest.mark.parametrize("number", range(len(NAMES)))
def test_exact_arithmetic_refuses_a_change_and_takes_the_others(number):
    claim = claim_about(SUM_IS_SMALL, Condition(LETTERS[number] ** 2, ">=", NEARLY_ONE))
    found, replays = replays_of_shrinking(claim, violation_at(claim, Q(12345, 1001)))
    assert isinstance(violation_of(claim, found.shape, found.params), Violation)
    assert [found.params[name][0] == 1 for name in NAMES] == [name != NAMES[number] for name in NAMES]
    assert replays < 2 * len(NAMES)


def test_changes_hold_together():
    """Each of two numbers may become 1 alone, not both; float64 takes the first."""
    a, b = LETTERS[:2]
    claim = claim_about(Condition(a * b, "<=", Q(3, 2)))
    params = {name: np.array([Q(7, 4)], dtype=object) for name in NAMES}
    changes = violating_changes(claim, Shape(), params, ())
    for change in changes:
        params = with_change(params, change)
    assert params["a"][0] * params["b"][0] > Q(3, 2)
    assert (params["a"][0], params["c"][0]) == (1, 1)
    assert len({change[:2] for change in changes}) == len(changes)


def test_what_was_refused_is_not_proposed_again():
    claim = claim_about(SUM_IS_SMALL)
    params = {name: np.array([Q(7, 4)], dtype=object) for name in NAMES}
    first = violating_changes(claim, Shape(), params, ())[0]
    assert first[0] == "a"
    assert first not in violating_changes(claim, Shape(), params, {first})


def test_many_changes_are_looked_at_in_parts(monkeypatch):
    claim = claim_about(SUM_IS_SMALL)
    params = {name: np.array([Q(12345, 1001)], dtype=object) for name in NAMES}
    at_once = violating_changes(claim, Shape(), params, ())
    monkeypatch.setattr(float_prefilter, "_AT_ONCE", 3)
    assert violating_changes(claim, Shape(), params, ()) == at_once


def test_equal_numbers_change_together():
    """Both curvatures are equal, which neither can leave alone."""
    array = np.array([[Q(7, 1001), Q(7, 1001), Q(1, 3)]], dtype=object)
    assert float_prefilter._places(array) == [((0, 0),), ((0, 1),), ((0, 2),), ((0, 0), (0, 1))]
    changed = with_change({"curvature": array}, ("curvature", ((0, 0), (0, 1)), Q(1)))
    assert changed["curvature"].tolist() == [[1, 1, Q(1, 3)]] and array[0, 0] == Q(7, 1001)


@pytest.mark.parametrize(("simpler", "number"), [
    ("500000", "452721"), ("7", "1000"), ("1/1000", "1/1024"), ("1", "-1"), ("2000", "4567/3")])
def test_what_counts_as_simpler(simpler, number):
    assert float_prefilter.cost(Q(simpler)) < float_prefilter.cost(Q(number))


#: refuted claims whose counterexamples had long numbers, and how long they may be: of over 30 digits, in units of chance
#: and with equal numbers that only change together; and of 14 digits, whose unit no number of theirs made shorter by itself
SHORT = [("fedalign/theorem-A9", 12), ("fedmoswa/eq-80@as-proved", 12), ("fedluar/theorem-3.2@pathwise", 12),
         ("fedluar/eq-1@literal", 6), ("fadamgc/eq-73@y-gradient", 8)]


@pytest.mark.parametrize(("name", "most"), SHORT)
def test_counterexamples_have_short_numbers(name, most):
    data = decide(find_claim(name), Settings(federations=False)).details["instance"]
    numbers = re.findall(r'"(-?[0-9]+(?:/[0-9]+)?)"', json.dumps([data["instance"], data["values"]]))
    assert max(map(len, numbers)) <= most, max(numbers, key=len)


CLAIMS = ["fedmoswa/lemma-g.16@start-zero", "fedmoswa/eq-99", "fedalign/step-T17", "fadamgc/eq-19@at-most",
          "fedmoswa/eq-45@whole"]


@pytest.mark.parametrize("name", CLAIMS)
def test_what_seems_violated_is_what_is_judged_so(name):
    claim, rng, seen = find_claim(name), np.random.default_rng(5), 0
    for _ in range(12):
        shape = draw_shape(claim, rng, 8, 6)
        environment = simulate(claim, shape, draw_params(claim, shape, 16, rng), NUMPY)
        with np.errstate(all="ignore"):
            verdict = judge(claim, environment)
        violated = verdict.met & (verdict.score > 0)
        seen += violated.sum()
        assert np.array_equal(seems_violated(claim, environment), violated)
    assert seen


def test_instances_are_taken_together_while_they_are_alike():
    def one(length):
        return {"a": np.array([Q(1)] * length, dtype=object)[None]}

    small, large = Shape(dim=1), Shape(dim=2)
    candidates = [(small, one(1)), (small, one(1)), (small, one(2)), (large, one(2)), (large, one(2)), (small, one(1))]
    together = list(alike(candidates))
    assert [(shape.dim, len(some)) for shape, some in together] == [(1, 2), (1, 1), (2, 2), (1, 1)]
    assert [params for _, some in together for params in some] == [params for _, params in candidates]


@pytest.mark.parametrize("many", [1, 400])
def test_an_instance_of_many_numbers_counts_as_several_trials(many):
    """No change is taken, so that nothing gets smaller: exact arithmetic is asked as often as trials are left, at most."""
    size, v = sp.Symbol("size", integer=True, positive=True), sp.IndexedBase("v", real=True)
    claim = Claim(
        "test/many", "1", "control", "algebra", Condition(sp.Sum(v[i], (i, 0, size - 1)), "<=", 1), derivation="none",
        variables=(Variable("size", "integer"), Variable("v", "positive", (("i", "size"),))))
    shape = replace(Shape(), sizes=(("size", 8 * many),), local_steps=40)
    violation = violation_of(claim, shape, {"v": np.full((1, 8 * many), Q(7919, 7907), dtype=object)})
    with mock.patch("verify.exact.shrink.violation_of", return_value=None) as replay:
        shrink(claim, violation)
    assert 0 < replay.call_count < 120
