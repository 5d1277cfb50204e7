"""Thresholds of events lie where these begin on some outcome."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.search.budget import BUDGETS
from verify.search.search import search

MOMENTS = 'definitions = {m = "E(norm2(x_round[1] - x_star))", w = "E((norm2(x_round[1] - x_star) - m)**2)"}'
#: fields, a statement, whether it is true
ROWS = {
    "one of several rounds": ("", "P(Max(norm2(x_round[r] - x_star), (r, 0, rounds)) >= a) "
                              "<= Sum(E(norm2(x_round[r] - x_star)), (r, 0, rounds))/a", True),
    "one of several rounds, without the sum": ("", "P(Max(norm2(x_round[r] - x_star), (r, 0, rounds)) >= a) "
                                               "<= Max(E(norm2(x_round[r] - x_star)), (r, 0, rounds))/a", False),
    "above the mean": (MOMENTS, "P(norm2(x_round[1] - x_star) >= m + a) <= w/(w + a**2)", True),
    "above the mean, by a little more": (
        MOMENTS, "P(norm2(x_round[1] - x_star) >= m + a) <= w/(w + 5/4*a**2)", False),
    "of every round": (
        "", "P(norm2(x_round[r] - x_star) >= 2*a) <= E(norm2(x_round[r] - x_star))/(2*a) for r in 0..rounds", True),
    "of every round, by a little less": (
        "", "P(norm2(x_round[r] - x_star) >= 2*a) <= 9/10*E(norm2(x_round[r] - x_star))/(2*a) for r in 1..rounds", False),
}


def claim_of(row: str, path):
    (fields, statement, _), file = ROWS[row], path / "own.toml"
    file.write_text(f'[[claim]]\nid = "own/event"\nvariables = {{a = "positive"}}\n{fields}\nstatement = "{statement}"\n')
    return load_claims(file)[0]


@pytest.mark.parametrize("row", ROWS)
def test_what_is_false_at_a_threshold_is_refuted(row, tmp_path):
    found = search(claim_of(row, tmp_path), BUDGETS["quick"], 0)
    assert (found.violation is None) == ROWS[row][2]


def test_without_the_stage_thresholds_are_missed(tmp_path):
    claim = claim_of("one of several rounds, without the sum", tmp_path)
    assert search(claim, BUDGETS["quick"], 0, without=("thresholds", "hills", "small-pieces")).violation is None
