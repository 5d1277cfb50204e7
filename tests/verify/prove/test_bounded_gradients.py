"""Strong convexity and gradients bounded at all points exclude each other, however a file says it; near misses do not."""

import json

import pytest

from bounds.registry.user_claims import load_claims
from verify.prove.illposed import conflict
from verify.referee.decide import Settings, decide

CONVEX = "mu_client[k] >= mu for k in 0..clients-1"
BOUNDED = "norm2(grad(k, v)) <= G_sq for all v for k in 0..clients-1"
LIPSCHITZ = "norm(f_grad(u)) <= G_lip for all u"

#: hypotheses that exclude each other, and other fields
CONFLICTS = [
    ([CONVEX, BOUNDED], ""),
    ([CONVEX, LIPSCHITZ], ""),
    ([LIPSCHITZ, "mu <= mu_client[k] for k in 0..clients-1"], ""),
    ([CONVEX, "norm2(grad(k, v)) <= B for all v for k in 0..clients-1"], "variables = {B = 'positive'}"),
    ([CONVEX, "norm2(grad(k, v)) <= G**2 for all v for k in 0..clients-1"], ""),
    ([CONVEX, "B >= norm2(grad(k, v)) for k in 0..clients-1 for all v"], "variables = {B = 'positive'}"),
    ([CONVEX, "norm2(grad(k, v)) <= 9 for all v for k in 0..clients-1"], ""),
    (["mu_client[k] >= c for k in 0..clients-1", BOUNDED], "variables = {c = 'positive'}"),
    (["mu_client[k] > 0 for k in 0..clients-1", BOUNDED], ""),
    (["mu_client[k] == mu for k in 0..clients-1", BOUNDED], ""),
    (["mu_client[k] >= L/100 for k in 0..clients-1", "L_client[k] <= L for k in 0..clients-1", BOUNDED], ""),
    (["Min(mu_client[k], (k, 0, clients-1)) >= mu", BOUNDED], ""),
    ([CONVEX, "norm2(grad(0, v)) <= G_sq for all v"], ""),
    (["mu_client[0] >= mu", BOUNDED], ""),
    (["mu_client[1] >= mu", "norm2(grad(1, v)) <= G_sq for all v"], ""),
    ([CONVEX, "norm2(objective_grad(v)) <= G_sq for all v"], ""),
    ([CONVEX, "dot(grad(k, v), grad(k, v)) <= G_sq for all v for k in 0..clients-1"], ""),
    ([CONVEX, "norm2(grad(k, v) - grad(k, x_star)) <= G_sq for all v for k in 0..clients-1"], ""),
    ([CONVEX, "3*norm2(2*grad(k, v)) + norm2(v - x_star) <= G_sq for all v for k in 0..clients-1"], ""),
    ([CONVEX, "Mean(norm2(grad(k, v)), (k, 0, clients-1)) <= G_sq for all v"], ""),
    ([CONVEX, "Sum(client_weight[k]*norm2(grad(k, v)), (k, 0, clients-1)) <= G_sq for all v"], ""),
    ([CONVEX, "norm2(Mean(grad(k, v), (k, 0, clients-1))) <= G_sq for all v"], ""),
    ([CONVEX, "objective(v) - F_star <= B for all v"], "variables = {B = 'positive'}"),
    ([CONVEX, "F(k, v) <= B for all v for k in 0..clients-1"], "variables = {B = 'positive'}"),
    ([CONVEX], "constants = {G_own = 'norm2(grad(k, v)) for all v for k in 0..clients-1'}"),
    ([CONVEX, "G_lip <= 1"], ""),
    ([CONVEX, "G_lip_client[k] <= 1 for k in 0..clients-1"], ""),
    (["mu_client[k] >= c for k in 0..clients-1", BOUNDED, "c >= L/2"], "variables = {c = 'nonnegative'}"),
    (["mu_client[k] >= c for k in 0..clients-1", BOUNDED], "definitions = {c = 'mu/2'}"),
    ([CONVEX, "norm2(grad(k, v)) == G_sq for all v for k in 0..clients-1"], ""),
]

#: hypotheses that hold together
NEAR_MISSES = [
    (["mu_client[k] >= 0 for k in 0..clients-1", BOUNDED], ""),
    (["mu_client[k] >= 0 for k in 0..clients-1", LIPSCHITZ], ""),
    ([CONVEX, "mu >= 0", BOUNDED], ""),
    ([CONVEX, BOUNDED, "0 <= mu"], ""),
    ([CONVEX, BOUNDED], "variables = {mu = 'nonnegative'}"),
    ([CONVEX, BOUNDED], "variables = {mu = 'real'}"),
    (["mu_client[k] >= -mu for k in 0..clients-1", BOUNDED], ""),
    (["mu_client[k] <= mu for k in 0..clients-1", BOUNDED], ""),
    (["mu_client[k] >= mu - L for k in 0..clients-1", "L_client[k] <= L for k in 0..clients-1", BOUNDED], ""),
    ([CONVEX, "norm2(grad(k, x_star)) <= G_sq for k in 0..clients-1"], ""),
    ([CONVEX, "norm2(grad(k, x_round[r])) <= G_sq for r in 0..rounds for k in 0..clients-1"], ""),
    ([CONVEX, "E(norm2(g[t, k])) <= G_sq for t in 0..iterations-1 for k in 0..clients-1"], ""),
    ([CONVEX, "norm2(grad(k, v)) >= G_sq for all v for k in 0..clients-1"], ""),
    ([CONVEX, "norm2(grad(k, v)) <= G_sq + 2*L*(F(k, v) - F_star_client[k]) for all v for k in 0..clients-1"], ""),
    ([CONVEX, "norm2(grad(k, v)) <= G_sq + c*norm2(v - x_star) for all v for k in 0..clients-1"],
     "variables = {c = 'nonnegative'}"),
    ([CONVEX, "norm2(grad(k, v) - objective_grad(v)) <= G_sq for all v for k in 0..clients-1"], ""),
    ([CONVEX, "norm2(grad(0, v) - grad(1, v)) <= G_sq for all v"], ""),
    ([CONVEX, "norm2(v - grad(k, v)/L) <= G_sq for all v for k in 0..clients-1"], ""),
    ([CONVEX, "2*mu*(objective(v) - F_star) <= norm2(objective_grad(v)) for all v"], ""),
    ([CONVEX, "c*norm2(grad(k, v)) <= G_sq for all v for k in 0..clients-1"], "variables = {c = 'nonnegative'}"),
    (["mu_client[0] >= mu", "norm2(grad(1, v)) <= G_sq for all v"], ""),
    (["mu_client[0] >= mu", "norm2(objective_grad(v)) <= G_sq for all v"], ""),
    (["mu_client[0] >= mu", "Sum(F(k, v), (k, 0, clients-1)) <= G_sq for all v"], ""),
    (["mu_client[0] >= mu", "Sum(client_weight[k]*norm2(grad(k, v)), (k, 0, clients-1)) <= G_sq for all v"], ""),
    (["mu_client[k] >= mu for k in 1..clients-1", BOUNDED], ""),
    ([CONVEX, "norm2(grad(k, v)) <= G_sq for all v for k in 1..clients-1"], ""),
    (["mu_client[k] >= c for k in 0..clients-1", BOUNDED, "c <= L/2"], "variables = {c = 'nonnegative'}"),
    (["mu_client[k] >= c for k in 0..clients-1", BOUNDED], "definitions = {c = 'mu - L'}"),
    ([CONVEX, "G_lip >= 1"], ""),
    ([CONVEX, "G_lip - L_objective <= 1"], ""),
    ([BOUNDED], ""), ([CONVEX], ""),
    (["norm2(objective_grad(v)) >= 2*mu*(objective(v) - F_star) for all v", BOUNDED], ""),
]


def read(tmp_path, hypotheses, fields, setting="run"):
    path = tmp_path / "mine.toml"
    path.write_text(f"[[claim]]\nid = 'mine/one'\nsetting = '{setting}'\nassume = {json.dumps(hypotheses)}\n{fields}\n"
                    "statement = 'objective(x_star) <= F_star'\n")
    return load_claims(path)[0]


@pytest.mark.parametrize(("hypotheses", "fields"), CONFLICTS, ids=lambda v: str(v)[:90])
@pytest.mark.parametrize("setting", ["run", "point"])
def test_no_problem_meets_both(hypotheses, fields, setting, tmp_path):
    found = conflict(read(tmp_path, hypotheses, fields, setting))
    assert found is not None and len(found.parts) == 2 and {*found.parts} <= {
        "mine/one:constant-G_own", *(f"mine/one:assumption-{n}" for n in (1, 2, 3))}


@pytest.mark.parametrize(("hypotheses", "fields"), NEAR_MISSES, ids=lambda v: str(v)[:90])
def test_what_some_problem_meets_is_left_alone(hypotheses, fields, tmp_path):
    assert conflict(read(tmp_path, hypotheses, fields)) is None


@pytest.mark.parametrize(("hypotheses", "fields"), [CONFLICTS[0], CONFLICTS[1], CONFLICTS[3]], ids=str)
def test_the_verdict_is_ill_posed(hypotheses, fields, tmp_path):
    verdict = decide(read(tmp_path, hypotheses, fields), Settings(federations=False))
    assert verdict.verdict == "ill-posed" and "no number bounds it at all points" in verdict.evidence


#: conditions on numbers that some numbers meet: names of the language need not mean what they usually do
NUMBERS = {
    "own curvatures": "setting = 'algebra'\nvariables = {mu = 'positive', L = 'positive'}\nconditions = ['mu >= 2*L']",
    "own curvatures in a run": "variables = {mu = 'positive', L = 'positive'}\nconditions = ['mu >= 2*L']",
    "one own curvature": "assume = ['L_client[k] <= L for k in 0..clients-1']\nvariables = {mu = 'positive'}\n"
                         "conditions = ['mu >= 2*L']",
    "L bounds something else": "assume = ['norm(grad(k, x_star)) <= L for k in 0..clients-1', "
                               "'mu_client[k] >= mu for k in 0..clients-1']\nconditions = ['mu >= 2*L']",
    "own gap": "variables = {F0_gap = 'positive', D0_sq = 'positive'}\n"
               "assume = ['L_client[k] <= L for k in 0..clients-1']\nconditions = ['F0_gap >= L*D0_sq', 'D0_sq >= 1']",
    "an empty range": "assume = ['L_client[k] <= L for k in 0..clients-1']\nconditions = ["
                      "'eta_l[t] == 1/L for t in 0..iterations-1', 'eta_l[t] >= 2/L for t in 1..iterations-1']",
    "other times": "conditions = ['eta_l[t] == 1/L for t in 0..2', 'eta_l[t] >= 2/L for t in 3..3', 'iterations >= 4']\n"
                   "assume = ['L_client[k] <= L for k in 0..clients-1']",
}


@pytest.mark.parametrize("row", NUMBERS)
def test_numbers_that_meet_the_conditions_are_not_excluded(row, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(f"[[claim]]\nid = 'mine/one'\n{NUMBERS[row]}\nstatement = 'L >= 0'\n")
    assert conflict(load_claims(path)[0]) is None


@pytest.mark.parametrize("conditions", [
    ["mu >= 2*L"], ["mu <= L", "mu > L"],
    ["eta_l[t] == 1/L for t in 0..iterations-1", "eta_l[t] >= 2/L for t in 0..iterations-1"],
    ["eta_l[t] == 1/L for t in 0..iterations-1", "eta_l[0] >= 2/L"], ["rounds >= 3", "rounds <= 2"]])
def test_numbers_that_none_meet_are(conditions, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("[[claim]]\nid = 'mine/one'\nassume = ['L_client[k] <= L for k in 0..clients-1', "
                    f"'{CONVEX}']\nconditions = {json.dumps(conditions)}\nstatement = 'L >= 0'\n")
    assert conflict(load_claims(path)[0]) is not None
