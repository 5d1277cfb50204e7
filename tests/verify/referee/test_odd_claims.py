"""Claims that ask for what there is not are answered in words, never with the name of an exception."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.claims.method import faults_of_method
from verify.referee.decide import Settings, decide

ROWS = {
    "a round beyond the last": ('statement = "norm2(x_round[rounds+1]) >= 0"', "undecided",
        "index 0 of x_round must lie in 0..1; got 2"),
    "a step beyond the last": ('statement = "norm2(x_round[1]) <= eta_l[iterations]"', "undecided",
        "index 0 of eta_l must lie in 0..0; got 1"),
    "a client beyond the last": ('statement = "F(clients, x_round[0]) <= 1"', "undecided",
        "clients have the numbers 0..0; got 1"),
    "a largest of nothing": ('statement = "Max(norm2(x_round[r]), (r, 1, rounds-1)) <= 5"', "undecided",
        "largest or least of no terms"),
    "0 by 0": ('statement = "norm2(x_round[r+1])/norm2(x_round[r] - x_round[0]) <= 1 for r in 0..rounds-1"', "undecided",
               "gave both sides a value"),
    "no round at all": ('statement = "norm2(x_round[r]) <= 0 for r in rounds..rounds-1"', "ill-posed", "no r lies between"),
    "a name of another method": ('statement = "norm2(server_variate[r]) <= 1 for r in 0..rounds-1"', "undecided",
                                 "nothing supplies 'server_variate'"),
    "an order whose constant may use L": (
        'variables = {C = "hidden"}\nlimits = {rounds = "oo"}\nconstants_may_use = ["L"]\n'
        'assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= 0 for k in 0..clients-1", '
        '"sigma_sq_client[k] <= 0 for k in 0..clients-1"]\n'
        'conditions = ["local_steps == 1", "eta_l[t] == 1/L for t in 0..iterations-1"]\n'
        'statement = "norm2(x_round[rounds] - x_star) <= C*norm2(x_round[0] - x_star)"', "undecided", "may depend on L, "),
}


@pytest.mark.parametrize("row", ROWS)
def test_odd_claims_are_answered_in_words(row, tmp_path):
    text, kind, words = ROWS[row]
    (tmp_path / "odd.toml").write_text(f'[[claim]]\nid = "odd/claim"\n{text}\n')
    (claim,) = load_claims(str(tmp_path / "odd.toml"), faults_of_method)
    found = decide(claim, Settings(federations=False))
    assert found.verdict == kind and words in found.evidence and "Error" not in found.evidence


#: statements that are false at the end of a domain alone, or for a name that means something else elsewhere
FALSE = {
    "a whole number that may be 0": ("n = 'integer from 0 to 5'", "Abs(n - 1) <= n - 1"),
    "a power of 0": ("n = 'integer from 0 to 5'", "0**n <= 0"),
    "the larger of 1 and 0": ("n = 'integer from 0 to 5'", "Max(n, 1) <= n"),
    "whole numbers that may be 0": ("n = 'integer[clients] from 0 to 2'", "Abs(n[i] - 1) <= n[i] for i in 0..clients-1"),
    "a threshold's name": ("epsilon = 'positive'", "epsilon <= 1"),
    "a size's name": ("clients = 'integer from 3'", "clients <= 3"),
}


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_at_the_end_of_a_domain_is_refuted(name, tmp_path):
    variables, statement = FALSE[name]
    (tmp_path / "odd.toml").write_text(
        f'[[claim]]\nid = "odd/claim"\nsetting = "algebra"\nvariables = {{{variables}}}\nstatement = "{statement}"\n')
    (claim,) = load_claims(str(tmp_path / "odd.toml"), faults_of_method)
    assert decide(claim, Settings(federations=False)).verdict == "refuted"
