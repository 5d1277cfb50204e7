"""Scores of the judge: a term that both sides share hides nothing."""

import numpy as np
import pytest
import sympy as sp

from bounds.language.claim import Claim, Condition, Variable
from synthetic.numbers.arrays import NUMPY
from verify.evaluation.environment import UnboundName
from verify.evaluation.judge import _nearly, judge
from verify.instances.shape import Shape
from verify.measure.simulate import simulate

a, b, c = sp.symbols("a b c", positive=True)
count = sp.Symbol("count", integer=True, positive=True)


def judged(left, relation, right, count=1, conditions=(), **numbers):
    claim = Claim("mine/numbers", "1", "lemma", "algebra", Condition(left, relation, right), derivation="by hand",
                  conditions=conditions,
                  variables=(*(Variable(name, "positive") for name in "abc"), Variable("count", "integer")))
    params = {name: np.array([float(number)]) for name, number in numbers.items()}
    return judge(claim, simulate(claim, Shape(sizes=(("count", count),)), params, NUMPY))


@pytest.mark.parametrize("relation", ["<=", ">=", "=="])
def test_scores_are_those_without_the_common_term_and_the_ratio_is_that_with_it(relation):
    numbers = {"a": 3.0, "b": 2.0, "c": 1e6}
    apart, whole = (judged(a + shared, relation, b + shared, **numbers) for shared in (0, c))
    assert whole.score == pytest.approx(apart.score)
    assert abs(whole.score[0]) == pytest.approx(0.2)
    sides = 3 + 1e6, 2 + 1e6
    assert whole.ratio[0] == pytest.approx(sides[1] / sides[0] if relation == ">=" else sides[0] / sides[1])


def test_a_multiple_of_a_term_is_another_term():
    assert judged(2 * c + a, "<=", c + b, a=1, b=1, c=1).score[0] == pytest.approx(0.2)
    assert judged(sp.Integer(0), "<=", sp.Integer(0), a=1, b=1, c=1).score[0] <= 0


@pytest.mark.parametrize("exponent", [-1, -40, -700])
def test_an_exponential_that_is_small_has_a_small_rounding_error(exponent):
    assert judged(b / 1000 + sp.exp(exponent * a), ">=", c, a=1, b=40, c=1).score[0] > 0


@pytest.mark.parametrize("power", [
    (1 - a) ** 50, (1 - a) ** (count - 1), sp.Integer(1) / (1 - a) ** -50, (2 - a) ** (1 - count)])
def test_a_power_that_is_small_has_a_small_rounding_error(power):
    """The base has terms of the size 1; 2 to the power of 50 is 1e15."""
    assert judged(power + b / 1000, ">=", c, a=1 - 1e-3 if power.has(1 - a) else 999.0, b=40, c=1, count=60).score[0] > 0


def test_a_power_of_what_cancels_has_a_large_rounding_error():
    """1e6 + 1e-9 - 1e6 may be 0 or 2e-9."""
    for power in ((a - b) ** count, (a - b) ** -count):
        assert judged(power * 1e27, "<=", c, a=1e6 + 1.1e-9, b=1e6, c=1, count=3).score[0] <= 0 or power.has(-count)
        assert judged(c, "<=", power / 1e27, a=1e6 + 0.9e-9, b=1e6, c=1, count=3).score[0] <= 0 or not power.has(-count)
        assert judged(power, ">=", c, a=1e6 + 2, b=1e6, c=9 if power.has(-count) else 90, count=3).score[0] > 0


def test_an_exponential_of_what_cancels_has_a_large_rounding_error():
    """exp(1e6 + 1e-9 - 1e6) is not told from exp(0)."""
    assert judged(sp.exp(a - b), "<=", c, a=1e6 + 1e-9, b=1e6, c=1).score[0] <= 0
    assert judged(sp.exp(a - b), "<=", c, a=1e6 + 1, b=1e6, c=1).score[0] > 0


def test_hypotheses_that_could_not_be_evaluated_are_not_remembered_as_met():
    claim = Claim("mine/numbers", "1", "lemma", "algebra", Condition(a, "<=", b), derivation="by hand",
                  variables=tuple(Variable(name, "positive") for name in "ab"),
                  conditions=(Condition(a, "<=", 5), Condition(a * sp.Symbol("unheard_of"), "<=", 1)))
    environment = simulate(claim, Shape(), {"a": np.array([9.0]), "b": np.array([1.0])}, NUMPY).remembering()
    for _ in range(2):  # the second time, what the first left behind answers nothing
        with pytest.raises(UnboundName, match="unheard_of"):
            judge(claim, environment)


@pytest.mark.parametrize(("sign", "left", "right", "met"), [
    ("<=", np.inf, 0.0, False), (">=", -np.inf, 0.0, False), ("==", 1.0, np.inf, False), ("<=", -np.inf, 0.0, True),
    (">=", np.inf, 0.0, True), ("<=", 1.0 + 1e-10, 1.0, True), ("<=", 1.0 + 1e-8, 1.0, False),
    ("==", 1.0, 1.0 + 1e-10, True),
])
def test_an_infinite_side_has_no_rounding_error(sign, left, right, met):
    assert bool(_nearly(sign, left, right)) == met


@pytest.mark.parametrize(("condition", "numbers", "met"), [
    (Condition(a + b - c, "==", 0), (0.1, 0.2, 0.3), True),  # a difference of 1e-16 is an error of the terms that cancel
    (Condition(a + b - c, "==", 0), (1e-17, 2e-17, 4e-17), False),  # in small units it is none
    (Condition(a + b - c, "==", 0), (1e-17, 2e-17, 3e-17 * (1 + 1e-15)), True),
    (Condition(a - b, "<=", a - c), (1, 1 - 1e-16, 1), True),
])
def test_a_hypothesis_is_met_up_to_the_rounding_errors_of_its_terms(condition, numbers, met):
    found = judged(a, "<=", a, conditions=(condition,), **dict(zip("abc", numbers, strict=True)))
    assert found.met[0] == met
