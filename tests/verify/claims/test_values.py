"""Ends of ranges at which a condition has no value, and signs that hold without a hypothesis."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.claims.values import without_value
from verify.lint.lint import lint
from verify.referee.decide import Settings, decide

QUICK = Settings("quick", federations=False)
NUMBERS = 'variables = {n = "integer", a = "real[n]", b = "positive"}'
RUN = """assume = ["L_objective <= L", "mu_objective >= 0", "sigma_sq_client[k] <= 0 for each k"]
variables = {eta = "nonnegative"}"""
FALLS = 'statement = "objective(x_round[rounds]) <= objective(x_round[0])"'

#: fields of a claim, and what surely has no value; empty where nothing is sure
ROWS = {
    "a schedule at 0": (f"""{RUN}
conditions = ["local_steps == 1", "eta_l[t] == 1/(L*t) for each t"]
{FALLS}""", "the divisor t is 0 at t = 0"),
    "a schedule from 1": (f"""{RUN}
conditions = ["local_steps == 1", "eta_l[t] == 1/(L*(t + 1)) for each t"]
{FALLS}""", ""),
    "after the last round": (f"""{RUN}
statement = "objective(x_round[rounds+1]) >= F_star\"""", "the index rounds + 1 lies outside of 0..rounds"),
    "before the first entry": (f"""{NUMBERS}
conditions = ["a[i] <= a[i-1] for i in 0..n-1"]
statement = "a[n-1] <= a[0]\"""", "the index i - 1 at i = 0 lies outside of 0..n - 1"),
    "a sum beyond the last entry": (f"""{NUMBERS}
statement = "Sum(a[i+1], (i, 0, n-1)) <= n*b\"""", "the index i + 1 at i = n - 1 lies outside of 0..n - 1"),
    "a sum that may be empty": (f"""{NUMBERS}
statement = "Sum(a[i]*Sum(a[j], (j, i+1, n-1)), (i, 0, n-1)) <= n*b\"""", ""),
    "a logarithm": (f"""{NUMBERS}
statement = "log(i)*b <= n*b for i in 0..n-1\"""", "the logarithm of i has no value at i = 0"),
    "the next entry of each": (f"""{NUMBERS}
conditions = ["a[i+1] <= a[i] for each i"]
statement = "a[n-1] <= a[0]\"""", ""),
}


def _claim(fields, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(f"[[claim]]\nid = \"mine/one\"\n{fields}\n", encoding="utf-8")
    return load_claims(file)[0]


@pytest.mark.parametrize("row", ROWS)
def test_what_surely_has_no_value_is_named(row, tmp_path):
    fields, text = ROWS[row]
    claim = _claim(fields, tmp_path)
    found = without_value(claim)
    assert [one.partition(": ")[2] for one in found] == [text] * bool(text)
    assert [f.text for f in lint(claim) if f.check == "values"] == [*found]


@pytest.mark.parametrize("row", ["after the last round", "a schedule at 0"])
def test_the_evidence_names_it(row, tmp_path):
    fields, text = ROWS[row]
    found = decide(_claim(fields, tmp_path), QUICK)
    assert found.verdict == "undecided" and found.evidence.endswith(text)


#: conditions, a statement, the verdict, and words of its evidence
SIGNS = {
    "steps that begin at 0": ('eta_l[t] == t/(L*iterations) for each t", "local_steps == 1', FALLS, "consistent", ""),
    "steps that end at 0": ('eta_l[t] == (1 - t/iterations)/L for each t", "local_steps == 1', FALLS, "consistent", ""),
    "a step that may be 0": ("eta_l[t] == eta for each t", 'statement = "eta > 0"', "refuted", ""),
    "a step that no equation gives": ("local_steps == 1", 'statement = "eta_l[t] > 0 for each t"', "consistent", ""),
    "a weight of 0": ("client_weight[0] <= 0", FALLS, "ill-posed", "the weights of clients are positive"),
    "iterations of no round": ('iterations == 7", "local_steps == 2', FALLS, "ill-posed", "iterations = rounds local_steps"),
}


@pytest.mark.parametrize("row", [
    pytest.param(row, marks=[pytest.mark.slow] * (row == "iterations of no round")) for row in SIGNS])
def test_signs_without_a_hypothesis(row, tmp_path):
    conditions, statement, verdict, words = SIGNS[row]
    found = decide(_claim(f'{RUN}\nequal_weights = false\nconditions = ["{conditions}"]\n{statement}', tmp_path), QUICK)
    assert found.verdict == verdict and words in found.evidence
