"""Orders in a size of statements about chance, whose outcomes can be enumerated at the smallest sizes alone."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.referee.decide import Settings, decide

SHARED = """
[assumptions]
smooth = ["L_client[k] <= L for k in 0..clients-1"]
convex = ["mu_client[k] >= 0 for k in 0..clients-1"]
strongly_convex = ["mu_client[k] >= mu for k in 0..clients-1"]
noise = ["sigma_sq_client[k] <= sigma_sq for k in 0..clients-1"]
"""
EVERY_STEP = "eta_l[t] == eta for t in 0..iterations-1"
STEPS = f"""assume = ["smooth", "convex", "noise"]
limits = {{local_steps = "oo"}}
conditions = ["rounds == 1", "{EVERY_STEP}", "eta <= 2/L"]"""
ROUNDS = f"""assume = ["smooth", "strongly_convex", "noise"]
limits = {{rounds = "oo"}}
conditions = ["local_steps == 1", "{EVERY_STEP}", "eta <= 1/L"]"""
CLIENTS = f"""assume = ["noise"]
limits = {{clients = "oo"}}
conditions = ["local_steps == 1", "{EVERY_STEP}"]"""
WAY = "E(norm2(x_before[local_steps, k] - x_round[0])) <= C*eta**2*(local_steps**2*norm2(grad(k, x_round[0])) + "
END = "E(norm2(x_round[rounds] - x_star)) <= C*((1 - eta*mu)**rounds*norm2(x_round[0] - x_star) + eta*sigma_sq/(clients*mu"
SPREAD = "E(norm2(x_round[1] - E(x_round[1]))) <= C*eta**2*sigma_sq/clients"
#: fields, a statement, the verdict, and what its evidence says
ROWS = {
    "local steps": (STEPS, f"{WAY}local_steps*sigma_sq) for k in 0..clients-1", "consistent", "local_steps up to 8"),
    "local steps, by their root": (STEPS, f"{WAY}sqrt(local_steps)*sigma_sq) for k in 0..clients-1", "undecided",
                                   "exponent 0.50"),
    "rounds": (ROUNDS, f"{END}))", "consistent", "rounds up to 8"),
    "rounds, by their root": (ROUNDS, f"{END}*sqrt(rounds)))", "undecided", "can be enumerated"),
    "clients": (CLIENTS, SPREAD, "consistent", "chance with clients up to"),
    "clients, by their root more": (CLIENTS, f"{SPREAD}**(3/2)", "undecided", "exponent 0.50"),
}


@pytest.mark.parametrize("row", ROWS)
def test_growth_by_chance_leaves_an_order_undecided(row, tmp_path):
    (fields, statement, verdict, words), file = ROWS[row], tmp_path / "own.toml"
    variables = 'variables = {C = "hidden", eta = "positive"}'
    file.write_text(f'{SHARED}\n[[claim]]\nid = "own/order"\n{variables}\n{fields}\nstatement = "{statement}"\n')
    found = decide(load_claims(file)[0], Settings(federations=False))
    assert (found.verdict, words in found.evidence) == (verdict, True), found.evidence
