"""Hypotheses that exclude each other and that float64 takes for met within its tolerance, beside some that are met at ties
only."""

import pytest

from bounds.formulas.closed_form import side_conditions
from bounds.registry.user_claims import load_claims
from verify.lint.lint import lint
from verify.prove.satisfiable import satisfiable
from verify.referee.decide import Settings, decide

_SMOOTH = '["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= 0 for k in 0..clients-1", \
"sigma_sq_client[k] <= 0 for k in 0..clients-1"]'
_STEP = '"rounds == 1", "local_steps == 1", "eta_l[0] <= 1/L"'
_ARRAY = 'setting = "algebra"\nvariables = {n = "integer from 1", a = "nonnegative[n]", s = "positive"}'

#: name -> (the rest of the claim, whether numbers meet its hypotheses)
ROWS = {
    "mean of squares": (f'''{_ARRAY}
conditions = ["Mean(a[i]**2, i) < Mean(a[i], i)**2"]
statement = "a[0] <= 2*a[0]"''', False),
    "square of a sum": (f'''{_ARRAY}
conditions = ["Sum(a[i], i)**2 >= n*Sum(a[i]**2, i) + s"]
statement = "Sum(a[i], i)**2 >= n*Sum(a[i]**2, i)"''', False),
    "a statement that nothing else excludes": (f'''{_ARRAY}
conditions = ["Sum(a[i], i)**2 >= n*Sum(a[i]**2, i) + s"]
statement = "a[0] <= 1"''', False),
    "expansion": (f'''conditions = [{_STEP}, "norm(x_round[1] - x_star) > norm(x_round[0] - x_star)"]
statement = "objective(x_round[1]) <= objective(x_round[0])"''', False),
    "steep gradient": (f'''variables = {{s = "positive"}}
conditions = [{_STEP}, "norm2(objective_grad(x_round[0])) >= 2*L*(objective(x_round[0]) - F_star) + s"]
statement = "objective(x_round[1]) <= objective(x_round[0])"''', False),
    "equal entries": (f'''{_ARRAY}
conditions = ["Mean(a[i]**2, i) <= Mean(a[i], i)**2"]
statement = "a[0] <= Mean(a[i], i)"''', True),
    "first and last": ('''setting = "algebra"
variables = {n = "integer from 1", a = "positive[n+1]"}
conditions = ["a[n] >= a[0] + n"]
statement = "a[n] >= n"''', True),
    "more draws than clients": (f'''sampling = "with-replacement"
conditions = ["participants >= clients + 1", {_STEP}]
statement = """E(objective(x_round[1])) <= objective(x_round[0])
  + Mean(norm2(grad(k, x_round[0])), (k, 0, clients-1))/L*(1 + 1/participants)"""''', True),
}


def _claim(name: str, folder):
    path, text = folder / "claims.toml", ROWS[name][0]
    assume = "" if "algebra" in text else 'assume = ["smooth"]\n'
    path.write_text(f'[assumptions]\nsmooth = {_SMOOTH}\n\n[[claim]]\nid = "t/{name.replace(" ", "-")}"\n{assume}{text}\n')
    return load_claims(path)[0]


LONG = ("a statement that nothing else excludes", "steep gradient")


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in ROWS])
def test_a_claim_that_exact_arithmetic_meets_nowhere_is_neither_certified_nor_consistent(name, tmp_path):
    verdict = decide(_claim(name, tmp_path), Settings(federations=False)).verdict
    assert verdict in (("certified", "consistent") if ROWS[name][1] else ("undecided", "ill-posed"))


@pytest.mark.parametrize("name", [name for name, (_, met) in ROWS.items() if met])
def test_conditions_that_numbers_meet_are_not_said_to_exclude_each_other(name, tmp_path):
    claim = _claim(name, tmp_path)
    assert satisfiable(side_conditions(claim)).answer != "no"
    assert not [finding for finding in lint(claim) if finding.severity == "error"]
