"""Statements that fail in three or ten dimensions, for equal or falling entries, for equal noise or in a turned basis, and
true ones."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.referee.decide import Settings, decide

#: fields, a statement, and whether it is true
ROWS = {
    "lengths in three dimensions": (
        'setting = "algebra"\nvariables = {a = "vector"}', "norm1(a)**2 <= 2*norm2(a)", "norm1(a)**2 <= dim*norm2(a)"),
    "lengths in ten dimensions": (
        'setting = "algebra"\nvariables = {a = "vector"}', "norm1(a) <= 3*norm(a)", "norm(a) <= norm1(a)"),
    "entries that fall": (
        'variables = {n = "integer", a = "real[n]"}', "Sum(a[i], i)**2 <= 3/2*Sum((i + 1)**2*a[i]**2, i)",
        "Sum(a[i], i)**2 <= 2*Sum((i + 1)**2*a[i]**2, i)"),
    "as many draws as four clients": (
        'sampling = "with-replacement"\nconditions = ["participants == clients"]',
        "P(sampled[0, 0] >= 1) >= 7/10", "P(sampled[0, 0] >= 1) >= 63/100"),
    "only in three dimensions": (
        'setting = "algebra"\nvariables = {a = "vector"}\nconditions = ["dim == 3"]',
        "norm1(a)**2 <= 29/10*norm2(a)", "norm1(a)**2 <= 3*norm2(a)"),
    "a regular simplex": (
        'variables = {n = "integer from 2", v = "vector[n]"}\nsetting = "algebra"\ndefinitions = {m_v = "Mean(v[i], i)"}',
        "Mean(norm2(v[i] - m_v), i) <= Max(Max(norm2(v[i] - v[j]), (j, 0, n-1)), (i, 0, n-1))/3",
        "Mean(norm2(v[i] - m_v), i) <= Max(Max(norm2(v[i] - v[j]), (j, 0, n-1)), (i, 0, n-1))/2"),
    "thirty equal entries": (
        'variables = {n = "integer from 30", a = "nonnegative[n]"}', "Sum(a[i], i)**2 <= (n - 1/10)*Sum(a[i]**2, i)",
        "Sum(a[i], i)**2 <= n*Sum(a[i]**2, i)"),
    "a step of three equal coordinates": (
        'assume = ["sigma_sq_client[k] <= 0 for each k"]\nconditions = ["local_steps == 1"]',
        "norm1(x_round[1] - x_round[0]) <= 3/2*eta_l[0]*norm(objective_grad(x_round[0]))",
        "norm1(x_round[1] - x_round[0]) <= sqrt(dim)*eta_l[0]*norm(objective_grad(x_round[0]))"),
    "a turned Hessian at a point": (
        'setting = "point"\nassume = ["L_objective <= L", "mu_objective >= 0"]\nvariables = {y = "vector", z = "vector"}',
        "norm_inf(objective_grad(y) - objective_grad(z)) <= L*norm_inf(y - z)",
        "norm(objective_grad(y) - objective_grad(z)) <= L*norm(y - z)"),
    "equal noise of five clients": (
        'assume = ["L_client[k] <= L for each k", "sigma_sq_client[k] <= sigma_sq for each k"]\n'
        'conditions = ["local_steps == 1", "clients == 5", "rounds == 1"]',
        "E(norm2(x_round[1] - E(x_round[1]))) <= eta_l[0]**2*sigma_sq/(clients + 1/2)",
        "E(norm2(x_round[1] - E(x_round[1]))) <= eta_l[0]**2*sigma_sq/clients"),
}


@pytest.mark.parametrize("fields, false, true", ROWS.values(), ids=ROWS)
def test_what_others_draw_seldom_is_refuted_and_its_neighbour_is_not(fields, false, true, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text("".join(f'[[claim]]\nid = "own/{name}"\n{fields}\nstatement = "{statement}"\n'
                            for name, statement in (("false", false), ("true", true))))
    verdicts = [decide(claim, Settings(federations=False, out=tmp_path)).verdict for claim in load_claims(file)]
    assert verdicts[0] == "refuted" and verdicts[1] in ("consistent", "certified")
