"""Statements that fail after many rounds or with many draws alone, and true ones beside them."""

from itertools import product

import numpy as np
import pytest

from bounds.registry.user_claims import load_claims
from verify.claims.sizes import largest_sizes, named_sizes
from verify.instances.outcomes import signs
from verify.referee.decide import Settings, decide

CONVEX = 'assume = ["L_client[k] <= L for each k", "mu_client[k] >= mu for each k", "sigma_sq_client[k] <= {} for each k"]\n'
#: fields, a false statement, and a true one
ROWS = {
    # the noise of N steps of mu/2 x^2 sums to eta sigma^2/(mu (2 - eta mu)), which is 6/11 here, from 0 on
    "noise of seven rounds": (
        CONVEX.format("sigma_sq") + 'variables = {eta = "positive"}\n'
        'conditions = ["local_steps == 1", "eta_l[t] == eta for each t", "eta <= 1/(6*L)"]',
        "E(norm2(x_round[rounds] - x_star)) <= norm2(x_round[0] - x_star) + eta*sigma_sq/(2*mu)",
        "E(norm2(x_round[rounds] - x_star)) <= norm2(x_round[0] - x_star) + 6*eta*sigma_sq/(11*mu)"),
    # the variance of a mean of eight is an eighth
    "noise of eight clients": (
        'assume = ["L_client[k] <= L for each k", "sigma_sq_client[k] <= sigma_sq for each k"]\n'
        'conditions = ["local_steps == 1", "clients >= 8", "rounds == 1"]',
        "E(norm2(x_round[1] - E(x_round[1]))) <= eta_l[0]**2*sigma_sq/(clients + 1/2)",
        "E(norm2(x_round[1] - E(x_round[1]))) <= eta_l[0]**2*sigma_sq/clients"),
    # (1 - 1/100)^N falls faster than exp(-N/100), by a factor of exp(-N/20000) and not of exp(-N/5000)
    "an exponent after hundreds of rounds": (
        CONVEX.format("0") + 'conditions = ["local_steps == 1", "eta_l[t] == 1/(100*L) for each t"]',
        "norm(x_round[rounds] - x_star) <= 11/10*exp(-51*mu*rounds/(5000*L))*norm(x_round[0] - x_star)",
        "norm(x_round[rounds] - x_star) <= 11/10*exp(-mu*rounds/(100*L))*norm(x_round[0] - x_star)"),
    # one of two clients at a time: the variance of their gradients at the optimum does not decay
    "sampling after many rounds": (
        CONVEX.format("0") + 'sampling = "without-replacement"\n'
        'definitions = {zeta_sq = "Mean(norm2(grad(k, x_star)), k)"}\n'
        'conditions = ["local_steps == 1", "clients == 2", "participants == 1", "eta_l[t] == 1/(20*L) for each t", '
        '"L**2*norm2(x_round[0] - x_star) >= 100*zeta_sq"]',
        "E(norm2(x_round[rounds] - x_star)) <= (1 - mu/(20*L))**rounds*norm2(x_round[0] - x_star)",
        "E(norm2(x_round[rounds] - x_star)) <= (1 - mu/(20*L))**rounds*norm2(x_round[0] - x_star) + zeta_sq/(10*L*mu)"),
    # local steps of two clients end where the objective's gradient is of the order of the steps between two means, squared
    "drift of many local steps after many rounds": (
        'assume = ["L_client[k] <= L for each k", "mu_client[k] >= 0 for each k", "sigma_sq_client[k] <= 0 for each k"]\n'
        'definitions = {zeta_sq = "Mean(norm2(grad(k, x_star)), k)"}\nvariables = {eta = "positive"}\n'
        'conditions = ["eta_l[t] == eta for each t", "eta <= 1/(4*L*local_steps)"]',
        "objective(x_round[rounds]) - F_star <= "
        "2*norm2(x_round[0] - x_star)/(eta*iterations) + eta**2*local_steps*L*zeta_sq",
        "objective(x_round[rounds]) - F_star <= "
        "2*norm2(x_round[0] - x_star)/(eta*iterations) + 24*eta**2*local_steps**2*L*zeta_sq"),
}


SLOW = ("sampling after many rounds", "drift of many local steps after many rounds")


@pytest.mark.parametrize("fields, false, true", [
    pytest.param(*row, id=name, marks=[pytest.mark.slow] * (name in SLOW)) for name, row in ROWS.items()])
def test_what_fails_late_is_refuted_and_its_neighbour_is_not(fields, false, true, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text("".join(f'[[claim]]\nid = "own/{name}"\n{fields}\nstatement = "{statement}"\n'
                            for name, statement in (("false", false), ("true", true))))
    verdicts = [decide(claim, Settings(federations=False, out=tmp_path)) for claim in load_claims(file)]
    assert verdicts[0].verdict == "refuted" and verdicts[1].verdict in ("consistent", "certified")
    assert not any("failed" in verdict.evidence for verdict in verdicts)


@pytest.mark.parametrize("draws", [1, 2, 3, 5, 8, 13])
def test_three_draws_have_all_outcomes_equally_often(draws):
    rows = signs(draws)
    for places in product(range(draws), repeat=3):
        counts = np.unique(rows[:, sorted({*places})], axis=0, return_counts=True)[1]
        assert len(counts) == 2 ** len({*places}) and len({*counts}) == 1


@pytest.mark.parametrize("conditions, sizes", [
    (["clients <= 13"], {"clients": 13}), (["dim < 6", "rounds >= 3"], {"dim": 5}),
    (["rounds <= 9/2"], {"rounds": 4}), (["clients == 4"], {"clients": 4}), (["rounds <= 100000"], {})])
def test_the_largest_sizes_are_those_that_conditions_admit(conditions, sizes, tmp_path):
    text = f'[[claim]]\nid = "own/sizes"\nconditions = {conditions}\nstatement = "norm2(x_round[rounds]) >= 0"\n'
    (tmp_path / "own.toml").write_text(text.replace("'", '"'), encoding="utf-8")
    assert largest_sizes(*load_claims(tmp_path / "own.toml")) == sizes


@pytest.mark.parametrize("part, sizes", [
    ("(clients - 7)**2 + (participants - 5)**2", {"clients": 7, "participants": 5}), ("Min(rounds, 41)", {"rounds": 41}),
    ("1/(2*local_steps - 58)", {"local_steps": 29}), ("(rounds - 2)**2", {}), ("(rounds - 5)*(rounds - 9)", {"rounds": 9}),
    ("(clients - rounds)**2", {}), ("(rounds - 10000)**2", {})])
def test_named_sizes_are_those_at_which_a_part_of_the_statement_changes(part, sizes, tmp_path):
    text = f'[[claim]]\nid = "own/sizes"\nstatement = "norm2(x_round[rounds]) + {part} >= 0"\n'
    (tmp_path / "own.toml").write_text(text, encoding="utf-8")
    assert named_sizes(*load_claims(tmp_path / "own.toml")) == sizes
