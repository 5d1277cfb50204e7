"""E-processes: values by hand, false alarms under continuous looking, power."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest

from verify import eprocess
from verify.eprocess import REFUTES, EProcess, confidence_band

STAKES = np.array([0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])


def by_hand(limit, samples):
    return math.fsum(math.prod(1 + b * (x / limit - 1) for x in samples) for b in STAKES) / len(STAKES)


def test_the_examples_in_the_docstrings():
    assert doctest.testmod(eprocess).failed == 0 and doctest.testmod(eprocess).attempted >= 3


@pytest.mark.parametrize("limit, samples", [
    (1.0, [3.0]), (1.0, [0.0]), (2.0, [1.0, 5.0, 0.5]), (0.25, [0.25] * 7), (1e-9, [3e-9, 0.0]), (1e6, [0.0, 4e6, 1e5]),
])
def test_values_by_hand(limit, samples):
    process = EProcess(limit)
    assert process.update(samples) == pytest.approx(by_hand(limit, samples), rel=1e-12)
    assert process.samples == len(samples)


def test_batches_do_not_matter_and_the_largest_is_kept():
    together, one_by_one = EProcess(1.0), EProcess(1.0)
    samples = [3.0, 2.0, 0.0, 0.0, 0.0]
    values = [one_by_one.update(s) for s in samples]
    assert together.update(samples) == one_by_one.value == values[-1]
    assert together.largest == max(values) > values[-1]


@pytest.mark.parametrize("samples, value", [([0.0, 0.0], 1.0), ([0.0, 1e-300], math.inf), ([], 1.0)])
def test_a_limit_of_zero(samples, value):
    """Under E[X] <= 0 with X >= 0, X is 0: one positive sample refutes."""
    assert EProcess(0.0).update(samples) == value


def test_much_evidence_does_not_overflow():
    process = EProcess(1.0)
    assert process.update(np.full(5000, 100.0)) > REFUTES and math.isfinite(process.value)
    assert EProcess(1.0).update(np.zeros(20_000)) >= 0.0


@pytest.mark.parametrize("wrong", [-1.0, math.nan])
def test_negative_or_missing_numbers_are_errors(wrong):
    with pytest.raises(ValueError, match="limit must be at least 0"):
        EProcess(wrong)
    with pytest.raises(ValueError, match="samples must be at least 0"):
        EProcess(1.0).update([1.0, wrong])


#: laws of X >= 0 with mean exactly 1: (runs, samples) draws
LAWS = {
    "exponential": lambda rng, shape: rng.exponential(1.0, shape),
    "lognormal": lambda rng, shape: rng.lognormal(-0.5, 1.0, shape),
    "heavy lognormal": lambda rng, shape: rng.lognormal(-2.0, 2.0, shape),
    "bernoulli": lambda rng, shape: 10.0 * (rng.random(shape) < 0.1),
    "coin": lambda rng, shape: 2.0 * (rng.random(shape) < 0.5),
    "squared normal": lambda rng, shape: rng.normal(size=shape) ** 2,
}


@pytest.mark.parametrize("law", LAWS)
def test_false_alarms_are_as_rare_as_promised(law):
    """Looking after each of 100 samples, at most 5 % of 400 true claims (2400 over all laws) ever pass 1/0.05.

    By Ville's inequality the rate is at most 0.05; more than 0.05 + 3.5 sqrt(0.05 0.95 / 400) = 0.088 (at least 36 of 400)
    then has probability below 1.2e-3, and the seed is fixed.
    """
    samples = LAWS[law](np.random.default_rng(7), (400, 100))
    alarms = 0
    for row in samples:
        process = EProcess(1.0)
        process.update(row)
        alarms += process.largest > 20
    assert alarms <= 35


def test_the_largest_value_is_what_continuous_looking_sees():
    rng = np.random.default_rng(3)
    for row in rng.exponential(1.0, (20, 50)):
        process, seen = EProcess(1.0), []
        for sample in row:
            seen.append(process.update(sample))
        assert process.largest == max(1.0, *seen)


@pytest.mark.parametrize("law, excess, samples", [
    ("exponential", 2.0, 200), ("coin", 1.5, 400), ("squared normal", 2.0, 400), ("bernoulli", 3.0, 1000),
])
def test_a_false_claim_is_refuted(law, excess, samples):
    """Where the mean is ``excess`` times the limit, this many samples pass 1e6 in each of 20 repetitions."""
    draws = LAWS[law](np.random.default_rng(11), (20, samples)) * excess
    assert all(EProcess(1.0).update(row) > REFUTES for row in draws)


def test_the_band_is_students():
    mean, low, high = confidence_band([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    assert mean.tolist() == [2.0, 5.0]
    half = 4.302652729696142 / math.sqrt(3)  # Student's t with 2 degrees of freedom, standard deviation 1
    assert (low[0], high[0]) == (pytest.approx(2 - half), pytest.approx(2 + half))
    assert low[1] == high[1] == 5.0
    assert [v.tolist() for v in confidence_band([[1.0, 2.0]])] == [[1.0, 2.0]] * 3
