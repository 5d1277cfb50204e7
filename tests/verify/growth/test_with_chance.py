"""Orders in a size of statements about means over noise: exact at sizes at which the outcomes are too many to be listed."""

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
BOUNDED = CLIENTS.replace('"]', '", "eta <= 1"]')
WAY = "E(norm2(x_before[local_steps, k] - x_round[0])) <= C*eta**2*(local_steps**2*norm2(grad(k, x_round[0])) + "
END = "E(norm2(x_round[rounds] - x_star)) <= C*((1 - eta*mu)**rounds*norm2(x_round[0] - x_star) + eta*sigma_sq/(clients*mu"
SLOWLY = """assume = ["smooth", "strongly_convex", "noise"]
limits = {{rounds = "oo"}}
conditions = ["local_steps == 1", "clients == 1", "eta_l[t] == eta for each t", "eta <= 1/({}*mu)", "L == mu"]"""
FROM_THE_OPTIMUM = "E(norm2(x_round[rounds] - x_star)) <= C*(norm2(x_round[0] - x_star) + eta**2*sigma_sq)"
ENDS = """assume = ["smooth", "strongly_convex", "noise"]
limits = {{local_steps = "oo"}}
conditions = ["rounds == 1", "clients == 1", "eta_l[t] == eta for each t", "eta <= 1/({}*mu)", "L == mu"]"""
NOISE_OF_STEPS = "E(norm2(x_round[1] - x_star)) <= C*(norm2(x_round[0] - x_star) + eta**2*sigma_sq)"
CONVEX = f"""assume = ["smooth", "convex", "noise"]
limits = {{rounds = "oo"}}
conditions = ["local_steps == 1", "clients == 1", "{EVERY_STEP}", "eta <= 1/L"]"""
SAMPLED = """assume = ["smooth", "strongly_convex", "noise"]
sampling = "without-replacement"
limits = {rounds = "oo"}
conditions = ["local_steps == 1", "sigma_sq == 0", "eta_l[t] == eta for each t", "eta <= 1/L"]"""
DISTANCE = "E(norm2(x_round[rounds] - x_star))"
SPREAD = "E(norm2(x_round[1] - E(x_round[1]))) <= C*eta**2*sigma_sq/clients"
#: fields, a statement, the verdict, and what its evidence says
ROWS = {
    "local steps": (STEPS, f"{WAY}local_steps*sigma_sq) for k in 0..clients-1", "consistent", "local_steps up to 64"),
    "local steps, by their root": (STEPS, f"{WAY}sqrt(local_steps)*sigma_sq) for k in 0..clients-1", "refuted",
                                   "exponent 0.50"),
    "rounds": (ROUNDS, f"{END}))", "consistent", "rounds up to 64"),
    "rounds, by their root": (ROUNDS, f"{END}*sqrt(rounds)))", "refuted", "rounds 2 to 64"),
    "rounds, growth that ends": (SLOWLY.format(300), FROM_THE_OPTIMUM, "undecided", "shows nothing of longer runs"),
    "rounds, growth that ends later": (SLOWLY.format(9000), FROM_THE_OPTIMUM, "undecided", "shows nothing of longer runs"),
    "local steps, growth that ends": (ENDS.format(300), NOISE_OF_STEPS, "undecided", "shows nothing of longer runs"),
    "a loss that may be constant": (CONVEX, FROM_THE_OPTIMUM, "refuted", "rounds 2 to 64"),
    "a loss that may be constant, with all noise": (CONVEX, f"{FROM_THE_OPTIMUM[:-1]}*rounds)", "consistent",
                                                    "rounds up to 64"),
    "rounds, steps by their root": (CONVEX.replace("== eta for", "== 1/(L*sqrt(rounds)) for").replace(', "eta <= 1/L"', ""),
                                    "Mean(E(objective(x_round[r])) - F_star, (r, 0, rounds-1)) <= C/sqrt(rounds)",
                                    "consistent", "rounds up to 64"),
    "sampled clients": (SAMPLED, f"{DISTANCE} <= C", "consistent", "rounds 1 to 256"),
    "sampled clients, by the rounds": (SAMPLED, f"{DISTANCE} <= C/rounds", "refuted", "rounds 128 to 2048"),
    "clients": (CLIENTS, SPREAD, "consistent", "chance with clients up to"),
    "clients, by their root more": (BOUNDED, f"{SPREAD}**(3/2)", "refuted", "exponent 0.50"),
    "clients, with any step": (CLIENTS, f"{SPREAD}**(3/2)", "undecided", "no step size is prescribed"),
}


@pytest.mark.parametrize("row", ROWS)
def test_growth_by_noise_is_exact(row, tmp_path):
    (fields, statement, verdict, words), file = ROWS[row], tmp_path / "own.toml"
    variables = 'variables = {C = "hidden", eta = "positive"}'
    file.write_text(f'{SHARED}\n[[claim]]\nid = "own/order"\n{variables}\n{fields}\nstatement = "{statement}"\n')
    found = decide(load_claims(file)[0], Settings(federations=False))
    assert (found.verdict, words in found.evidence) == (verdict, True), found.evidence


@pytest.mark.parametrize("power, verdict", [("1", "consistent"), ("3/2", "undecided")])
def test_noise_that_rises_too_slowly_beside_logarithms_is_no_agreement(power, verdict, tmp_path):
    """Steps 1/(mu (t + 1)): the mean of the models has a variance of the order of 1/rounds."""
    file = tmp_path / "own.toml"
    file.write_text(f"""{SHARED}
[[claim]]
id = "own/order"
assume = ["smooth", "strongly_convex", "noise"]
conditions = ["local_steps == 1", "eta_l[t] == 1/(mu*(t + 1)) for each t"]
definitions = {{x_bar = "Mean(x_round[r], (r, 1, rounds))"}}
variables = {{C = "hidden-log"}}
limits = {{rounds = "oo"}}
statement = "E(objective(x_bar)) - F_star <= C/rounds**({power})"
""")
    found = decide(load_claims(file)[0], Settings(federations=False))
    assert found.verdict == verdict, found.evidence
