"""E-values: values by hand, false alarms under continuous looking, power."""

import doctest
import math

import numpy as np
import pytest

from tests.not_empty import not_empty
from verify.evidence import eprocess
from verify.evidence.eprocess import REFUTES, confidence_band, e_values, more_samples

STAKES = np.array([0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9])


def by_hand(limit, samples):
    return math.fsum(math.prod(1 + b * (x / limit - 1) for x in samples) for b in STAKES) / len(STAKES)


def test_the_examples_in_the_docstrings():
    assert doctest.testmod(eprocess).failed == 0 and doctest.testmod(eprocess).attempted >= 3


@pytest.mark.parametrize("limit, samples", [
    (1.0, [3.0]), (1.0, [0.0]), (2.0, [1.0, 5.0, 0.5]), (0.25, [0.25] * 7), (1e-9, [3e-9, 0.0]), (1e6, [0.0, 4e6, 1e5]),
])
def test_values_by_hand(limit, samples):
    values = e_values(samples, limit)
    assert values.tolist() == pytest.approx([by_hand(limit, samples[:n]) for n in range(1, len(samples) + 1)], rel=1e-12)


@pytest.mark.parametrize("samples, value", [([0.0, 0.0], [1.0, 1.0]), ([0.0, 1e-300], [1.0, math.inf]), ([], [])])
def test_a_limit_of_zero(samples, value):
    """Under E[X] <= 0 with X >= 0, X is 0: one positive sample refutes."""
    assert e_values(samples, 0.0).tolist() == value


def test_much_evidence_does_not_overflow():
    value = e_values(np.full(5000, 100.0), 1.0)[-1]
    assert value > REFUTES and math.isfinite(value)
    assert e_values(np.zeros(20_000), 1.0)[-1] >= 0.0 and e_values([0.0, 1.0, 0.0], 1e-320).tolist()[1:] == [math.inf] * 2


@pytest.mark.parametrize("wrong", [-1.0, math.nan])
def test_negative_or_missing_numbers_are_errors(wrong):
    with pytest.raises(ValueError, match=f"limit .* 0; got {wrong}"):
        e_values([1.0], wrong)
    with pytest.raises(ValueError, match=f"samples .* 0; got {wrong}"):
        e_values([1.0, wrong], 1.0)


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
    assert sum(e_values(row, 1.0).max() > 20 for row in samples) <= 35


@pytest.mark.parametrize("law, excess, samples", [
    ("exponential", 2.0, 200), ("coin", 1.5, 400), ("squared normal", 2.0, 400), ("bernoulli", 3.0, 1000),
])
def test_a_false_claim_is_refuted(law, excess, samples):
    """Where the mean is ``excess`` times the limit, this many samples pass 1e6 in each of 20 repetitions."""
    draws = LAWS[law](np.random.default_rng(11), (20, samples)) * excess
    assert all(e_values(row, 1.0)[-1] > REFUTES for row in not_empty(draws))


# how many more, several at once -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("law, excess", [("exponential", 1.5), ("coin", 1.3), ("squared normal", 1.5)])
def test_the_planned_number_of_samples_decides(law, excess):
    """Planned from 200 samples; in at least 15 of 20 repetitions twice that many samples pass 1e6."""
    rng, decided = np.random.default_rng(13), 0
    for _ in range(20):
        first = LAWS[law](rng, 200) * excess
        wanted = more_samples(first, 1.0)
        assert wanted is None or 0 <= wanted < 100_000
        more = LAWS[law](rng, 2 * (wanted or 0)) * excess
        decided += e_values(np.concatenate([first, more]), 1.0).max() > REFUTES
    assert decided >= 15


def test_no_number_of_samples_decides_what_holds():
    assert more_samples([1.0, 0.9], 1.0) is None and more_samples([], 1.0) is None and more_samples([0.0], 0.0) is None
    assert more_samples([3.0] * 40, 1.0) == 0


# bands --------------------------------------------------------------------------------------------------------------------
def test_bands_cover_at_all_times():
    """1000 sequences of 200 triangular samples, looked at from the 30th on: at most 6.7 % ever miss the mean."""
    x = np.random.default_rng(23).triangular(0, 1, 2, (200, 1000))
    missed = np.zeros(1000, dtype=bool)
    for count in range(30, 201):
        _, low, high = confidence_band(x[:count])
        missed |= (low > 1) | (high < 1)
    assert missed.mean() <= 0.067


def test_a_band_by_hand():
    x, scale = np.array([1.0, 3.0, 2.0]), 8.21198  # scale - log(1 + scale) = 2 log 20
    assert scale - math.log1p(scale) == pytest.approx(2 * math.log(20), abs=1e-4)
    t_rho = 3 * scale / 64
    half = math.sqrt(2 * (t_rho + 1) / (3 * t_rho) * math.log(math.sqrt(t_rho + 1) * 20))  # standard deviation 1
    assert confidence_band(x) == (2.0, pytest.approx(2 - half, rel=1e-4), pytest.approx(2 + half, rel=1e-4))


def test_the_band_of_figures():
    mean, low, high = confidence_band([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    assert mean.tolist() == [2.0, 5.0] and low[0] < 2 < high[0] and low[0] + high[0] == pytest.approx(4)
    assert low[1] == high[1] == 5.0
    assert [v.tolist() for v in confidence_band([[1.0, 2.0]])] == [[1.0, 2.0]] * 3
