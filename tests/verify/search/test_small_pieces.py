"""Piecewise losses of simple numbers: noise beside a bend, gradients that rise again, and long runs down a slope."""

import numpy as np
import pytest

from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import NUMPY
from tests.not_empty import not_empty
from verify.referee.decide import Settings, decide
from verify.search.archive import Archive
from verify.search.batch_evaluation import evaluate_batch
from verify.search.budget import BUDGETS
from verify.search.search import search
from verify.search.small_pieces import of_small_pieces
from verify.search.stage import State

HEAD = """[assumptions]
smooth = ["L_client[k] <= L for each k"]
convex = ["mu_client[k] >= 0 for each k"]
noise = ["sigma_sq_client[k] <= sigma_sq for each k"]
alike = ["norm2(grad(k, v) - objective_grad(v)) <= 0 for all v for each k"]
noiseless = ["sigma_sq_client[k] <= 0 for each k"]
[[claim]]
id = "own/small"
"""
ROUND = """assume = ["smooth", "convex", "noise"]
variables = {eta = "positive"}
conditions = ["clients == 1", "rounds == 1", "eta_l[t] == eta for each t", "eta <= 1/L"]
"""
ALIKE = """assume = ["smooth", "convex", "noise", "alike"]
conditions = ["eta_l[t] <= 1/L for each t"%s]
"""
DESCENT = """assume = ["smooth", "noiseless"]
conditions = ["local_steps == 1", "eta_l[t] == 1/L for each t"]
"""
LONG = """assume = ["smooth", "convex", "noiseless"]
conditions = ["local_steps == 1", "eta_l[t] == 1/(%s) for each t"]
"""
GAP = "objective(x_round[rounds]) - F_star <= {}*L*norm2(x_round[0] - x_star)"
WAY = ("E(norm2(x_round[1] - x_round[0])) <= {0}*local_steps**2*eta**2*norm2(objective_grad(x_round[0]))"
       " + {1}*eta**2*sigma_sq")
MEAN = "E(norm2(Mean(g[t, k], k) - objective_grad(x[t]))) <= sigma_sq/clients for each t"
BEST = "Min(norm2(objective_grad(x_round[r])), (r, 0, rounds-1)) <= {}*L*(objective(x_round[0]) - F_star)"

#: fields, a statement, and whether it is true
ROWS = {
    "the way of a round": (ROUND, WAY.format(1, "local_steps"), False),
    "the way of a round, twice": (ROUND, WAY.format(2, "2*local_steps"), True),
    "the noise of a mean": (ALIKE % "", MEAN, False),
    "the noise of a mean, in one step": (ALIKE % ', "local_steps == 1"', MEAN, True),
    "the best gradient": (DESCENT, BEST.format("4/(4*rounds - 2)"), False),
    "the best gradient, as it is": (DESCENT, BEST.format("2/rounds"), True),
    "fewer than 170 rounds": (LONG % "10*L", GAP.format("50/(21*rounds)"), False),
    "however many rounds": (LONG % "10*L", GAP.format("5/(2*rounds + 10)"), True),
    "a step that is no fraction": (LONG % "L*sqrt(rounds)", GAP.format("5/(21*sqrt(rounds))"), False),
}


def _claim(row, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(f'{HEAD}{ROWS[row][0]}statement = "{ROWS[row][1]}"\n', encoding="utf-8")
    return load_claims(file)[0]


@pytest.mark.parametrize("row", ROWS)
def test_what_fails_at_a_bend_is_refuted_and_its_neighbour_is_not(row, tmp_path):
    found = search(_claim(row, tmp_path), BUDGETS["quick"])
    assert (found.violation is None) == ROWS[row][2] and found.met
    assert ROWS[row][2] or found.stage == "small-pieces"


def test_a_long_run_of_irrational_steps_has_a_certificate(tmp_path):
    """The checker's intervals stay narrow over hundreds of rounds."""
    verdict = decide(_claim("a step that is no fraction", tmp_path), Settings(federations=False))
    assert verdict.verdict == "refuted", verdict.evidence
    assert verdict.details["instance"]["sizes"]["rounds"] > 100


@pytest.mark.parametrize("row", ROWS)
def test_most_instances_meet_the_hypotheses(row, tmp_path):
    claim = _claim(row, tmp_path)
    state = State(claim, BUDGETS["quick"], Archive(), (), NUMPY, [0])
    met = [evaluate_batch(claim, shape, params, NUMPY).met for shape, params in not_empty([*of_small_pieces(state)])]
    assert np.concatenate(met).mean() > 0.4  # half of the batches have noise
