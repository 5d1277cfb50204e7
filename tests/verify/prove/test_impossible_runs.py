"""Conditions on runs that exclude each other by the method's equations and the inequalities of its losses."""

import copy

import pytest

from bounds.registry.user_claims import load_claims
from verify.checker import contradiction as checker
from verify.checker import number_proof
from verify.checker.operators import replayed
from verify.exact.check import check
from verify.prove.contradictions import contradiction, needed_parts
from verify.prove.number_certificates import number_certificate

HEAD = '''
[assumptions]
smooth = ["L_client[k] <= L for k in 0..clients-1"]
convex = ["mu_client[k] >= 0 for k in 0..clients-1"]
noise = ["sigma_sq_client[k] <= sigma_sq for k in 0..clients-1"]
noiseless = ["sigma_sq_client[k] <= 0 for k in 0..clients-1"]

[[claim]]
id = "mine/a"
variables = {s = "positive"}
'''
GAP, SLOPE = "(objective(x_round[0]) - F_star)", "objective_grad(x_round[0])"

#: name -> (assumptions, condition, whether no run meets it)
ROWS = {
    "a gradient too long for its gap": (["smooth"], f"norm2({SLOPE}) >= 2*L*{GAP} + s", True),
    "a gradient as long as its gap admits": (["smooth"], f"norm2({SLOPE}) >= L*{GAP} + s", False),
    "not cocoercive": (["smooth", "convex"], f"dot({SLOPE}, x_round[0] - x_star) <= norm2({SLOPE})/L - s", True),
    "not monotone": (["convex"], f"dot({SLOPE}, x_round[0] - x_star) <= -s", True),
    "a noise beyond its bound": (["noise"], "E(norm2(g[0, 0] - grad(0, x_local[0, 0]))) >= sigma_sq + s", True),
    "a noise of its bound": (["noise"], "E(norm2(g[0, 0] - grad(0, x_local[0, 0]))) >= sigma_sq", False),
    "a noise of none": (["noiseless"], "Mean(E(norm2(g[0, k] - grad(k, x_local[0, k]))), (k, 0, clients-1)) >= s", True),
}


def _claim(folder, assume, condition, statement="objective(x_round[1]) <= 2*objective(x_round[0])"):
    path, names = folder / "mine.toml", ", ".join(f'"{name}"' for name in assume)
    conditions = f'"rounds == 1", "local_steps == 1", "eta_l[0] <= 1/L"{condition and f""", "{condition}" """}'
    path.write_text(f'{HEAD}assume = [{names}]\nconditions = [{conditions}]\nstatement = "{statement}"\n', encoding="utf-8")
    return load_claims(path)[0]


@pytest.mark.parametrize("name", ROWS)
def test_a_run_that_no_hypotheses_admit_has_a_certificate(name, tmp_path):
    assume, condition, impossible = ROWS[name]
    claim = _claim(tmp_path, assume, condition)
    data = contradiction(claim)
    assert (data is not None) == impossible
    if not impossible:
        return
    assert data["proof"]["runs"] and check(data, claim).accepted
    own = next(n for n, one in enumerate(claim.hypotheses) if one == claim.conditions[-1])
    assert own in needed_parts(data).hypotheses
    forged = copy.deepcopy(data)
    forged["hypotheses"][own] |= {"left": 0, "relation": "<=", "right": 0, "over": []}
    assert not replayed(checker.check, forged)[0]


def test_equations_of_a_method_without_any_are_not_known(tmp_path):
    data = contradiction(_claim(tmp_path, *ROWS["not monotone"][:2]))
    for part in ({"base": "fedavg", "sampling": "with-replacement"}, {"base": "fedprox"}):
        forged = data | {"procedure": data["procedure"] | part}
        assert not replayed(checker.check, forged)[0]


@pytest.mark.parametrize("factor, more, proven", [("2", "", True), ("2", "clients == 1", True), ("19/10", "", False)])
def test_a_gradient_is_bounded_by_the_gap_of_its_loss(factor, more, proven, tmp_path):
    claim = _claim(tmp_path, ["smooth"], more, f"norm2({SLOPE}) <= {factor}*L*{GAP}")
    data = number_certificate(claim)
    assert (data is not None) == proven
    if proven:  # a step of 1/L needs an L of at least the mean of the clients'
        forged = copy.deepcopy(data)
        forged["hypotheses"] = [rule if "L_client" not in str(rule["left"]) else rule | {"relation": ">="}
                                for rule in forged["hypotheses"]]
        assert not replayed(number_proof.check, forged)[0]
