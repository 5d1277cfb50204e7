"""Long runs down the linear part of a Huber function: constants a few percent too good are refuted at quick, and the tight
ones are not."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.referee.decide import Settings, decide
from verify.search.budget import BUDGETS
from verify.search.search import search

FIELDS = """
assume = ["L_client[k] <= L for each k", "mu_client[k] >= 0 for each k", "sigma_sq_client[k] <= 0 for each k"]
"""
GD = FIELDS + 'conditions = ["local_steps == 1", "eta_l[t] == 1/L for each t"]\n'
LOCAL = FIELDS + 'conditions = ["rounds == 1", "clients == 1", "eta_l[t] == 1/L for each t"]\n'
DISTANCE = "norm2(x_round[0] - x_star)"
#: fields, a statement that fails only in long runs, and its neighbour with the tight constant (Drori and Teboulle 2014)
ROWS = {
    "the last gradient": (GD, "21*rounds/20*norm(objective_grad(x_round[rounds])) <= L*norm(x_round[0] - x_star)",
                          "(rounds + 1)*norm(objective_grad(x_round[rounds])) <= L*norm(x_round[0] - x_star)"),
    "the last loss": (GD, f"81*rounds*(objective(x_round[rounds]) - F_star) <= 20*L*{DISTANCE}",
                      f"(4*rounds + 2)*(objective(x_round[rounds]) - F_star) <= L*{DISTANCE}"),
    "the mean loss": (GD, f"Sum(objective(x_round[r+1]) - F_star, r) <= 12*L*{DISTANCE}/25",
                      f"Sum(objective(x_round[r+1]) - F_star, r) <= L*{DISTANCE}/2"),
    "local steps": (LOCAL, "21*local_steps/20*norm(objective_grad(x_round[1])) <= L*norm(x_round[0] - x_star)",
                    "(local_steps + 1)*norm(objective_grad(x_round[1])) <= L*norm(x_round[0] - x_star)"),
}


@pytest.mark.parametrize("row", ROWS)
def test_what_fails_in_long_runs_only_is_refuted_and_its_tight_neighbour_is_not(row, tmp_path):
    fields, false, true = ROWS[row]
    path = tmp_path / "mine.toml"
    path.write_text("".join(f'[[claim]]\nid = "mine/{name}"\nstatement = "{statement}"\n{fields}'
                            for name, statement in (("false", false), ("true", true))))
    claims = load_claims(path)
    assert [decide(claim, Settings(federations=False)).verdict for claim in claims] == ["refuted", "consistent"]
    assert search(claims[0], BUDGETS["quick"], without=("slopes", "small-pieces")).violation is None
