"""Noise in so many clients or rounds that its outcomes cannot be listed, and claims that admit only many outcomes."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.referee.decide import Settings, decide
from verify.search.budget import BUDGETS
from verify.search.search import search

HEAD = """
assume = ["L_client[k] <= L for each k", "mu_client[k] >= 0 for each k", "sigma_sq_client[k] <= sigma_sq for each k"]
variables = {eta = "positive"}
"""
STEP = '"eta_l[t] == eta for each t", "eta <= 1/(2*L)"'
SPREAD = "E(norm2(x_round[1] - E(x_round[1])))"
GAP = ("Mean(E(objective(x_round[r])) - F_star, (r, 0, rounds-1)) <= "
       "norm2(x_round[0] - x_star)/(2*eta*(1 - eta*L)*rounds) + eta*sigma_sq/(2*(1 - eta*L)*clients")
ROWS = {  # statement and conditions: whether it is true
    (f"{SPREAD} <= eta**2*sigma_sq/clients", f'{STEP}, "local_steps == 1", "clients == 16"'): True,
    (f"{SPREAD} <= eta**2*sigma_sq/(2*clients)", f'{STEP}, "local_steps == 1", "clients == 16"'): False,
    (f"{SPREAD} <= eta**2*sigma_sq/9", f'{STEP}, "local_steps == 1", "clients >= 9"'): True,
    (f"{SPREAD} <= eta**2*sigma_sq/10", f'{STEP}, "local_steps == 1", "clients >= 9"'): False,
    (f"{SPREAD} <= eta**2*local_steps*sigma_sq/24", f'{STEP}, "rounds == 1", "clients == 12"'): False,
    (f"{GAP})", f'{STEP}, "local_steps == 1"'): True,
    (f"{GAP}**2)", f'{STEP}, "local_steps == 1"'): False,
}


@pytest.mark.parametrize(("statement", "conditions"), ROWS)
def test_noise_of_all_clients_counts_where_a_claim_asks_for_many(statement, conditions, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text(f'[[claim]]\nid = "own/noise"\n{HEAD}conditions = [{conditions}]\nstatement = "{statement}"\n')
    found = search(load_claims(file)[0], BUDGETS["quick"], 0)
    assert (found.violation is None) == ROWS[statement, conditions] and found.met


SAMPLED = {  # sizes: a factor of the spread of one round that is too small, and one that is not
    "clients == 20, participants == 1, rounds == 2": ("9/10", "1"),
    "clients == 8, participants == 4, rounds == 1": ("1/8", "1/7"),
}


@pytest.mark.parametrize("sizes", SAMPLED)
def test_claims_that_admit_many_outcomes_alone_are_searched(sizes, tmp_path):
    file, verdicts = tmp_path / "own.toml", []
    for factor in SAMPLED[sizes]:
        file.write_text(f"""[[claim]]
id = "own/sampled"
sampling = "without-replacement"
assume = ["sigma_sq_client[k] <= 0 for each k"]
conditions = ["local_steps == 1", "{sizes.replace(", ", '", "')}"]
statement = '''E(norm2(x_round[1] - x_round[0] + eta_l[0]*objective_grad(x_round[0])))
  <= {factor}*eta_l[0]**2*Mean(norm2(grad(k, x_round[0]) - objective_grad(x_round[0])), k)'''
""")
        found = search(load_claims(file)[0], BUDGETS["quick"], 0)
        verdicts.append(found.violation is None and found.met > 0)
    assert verdicts == [False, True]


@pytest.mark.slow
def test_outcomes_that_are_too_many_to_be_listed_are_counted(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text("""[[claim]]
id = "own/sampled"
sampling = "without-replacement"
assume = ["sigma_sq_client[k] <= 0 for each k"]
conditions = ["local_steps == 1", "clients >= 20", "2*participants == clients"]
statement = "E(norm2(x_round[1] - x_round[0])) <= 0"
""")
    verdict = decide(load_claims(file)[0], Settings(federations=False))
    assert verdict.verdict == "undecided" and "the smallest sizes have 184756 outcomes of chance" in verdict.evidence
