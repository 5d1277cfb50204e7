"""Textbook statements about every round of a run are proven for all numbers, and no sharper ones."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.prove.number_certificates import number_certificate

HEAD = '''
[assumptions]
smooth = ["L_client[k] <= L for each k"]
strong = ["mu_client[k] >= mu for each k"]
noiseless = ["sigma_sq_client[k] <= 0 for each k"]
noise = ["sigma_sq_client[k] <= sigma_sq for each k"]

[let]
descent = ["local_steps == 1", "clients == 1", "eta_l[t] == 1/L for each t"]
shorter = ["local_steps == 1", "clients == 1", "eta_l[t] <= 1/L for each t"]
"gap(r)" = "(objective(x_round[r]) - F_star)"
"far(r)" = "norm2(x_round[r] - x_star)"
"slope(r)" = "norm2(objective_grad(x_round[r]))"
'''
_STRONG, _SMOOTH = ["smooth", "strong", "noiseless"], ["smooth", "noiseless"]
#: assumptions, conditions, a statement with a number {c}; the number with which it holds, and one with which it is false
STATEMENTS = {
    "values of one round": (_STRONG, "descent", "gap(r+1) <= (1 - {c}*mu/L)*gap(r) for each r", 1, 3),
    "values of all rounds": (_STRONG, "descent", "gap(rounds) <= (1 - {c}*mu/L)**rounds*gap(0)", 1, 3),
    "distances of all rounds": (_STRONG, "descent", "far(rounds) <= (1 - {c}*mu/L)**rounds*far(0)", 1, 3),
    "descent": (_SMOOTH, "descent", "gap(r+1) <= gap(r) - {c}*slope(r)/(2*L) for each r", 1, 2),
    "mean of the gradients": (_SMOOTH, "descent", "Mean(slope(r), (r, 0, rounds-1)) <= {c}*L*gap(0)/rounds", 2, 1),
    "sum of the gradients": (_SMOOTH, "descent", "Sum(slope(r), (r, 0, rounds-1)) <= {c}*L*gap(0)", 2, 1),
    "a step with noise": (["smooth", "strong", "noise"], "shorter",
                          "E(far(r+1)) <= (1 - mu*eta_l[r])*E(far(r)) + {c}*eta_l[r]**2*sigma_sq for each r", 1, 0),
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_true_statement_is_proven_and_a_false_one_is_not(name, tmp_path):
    assume, conditions, statement, holds, fails = STATEMENTS[name]
    file = tmp_path / "own.toml"
    file.write_text(HEAD + "".join(
        f'[[claim]]\nid = "own/{word}"\nassume = {assume}\nconditions = ["{conditions}"]\n'
        f'statement = "{statement.format(c=c)}"\n'.replace("'", '"') for word, c in (("true", holds), ("false", fails))))
    true, false = load_claims(file)
    assert number_certificate(true) and not number_certificate(false)
