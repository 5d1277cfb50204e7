"""Sums of squared deviations from a mean, and terms of sums: what is proven, and false neighbours that are not."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.exact.check import check
from verify.prove.contradictions import contradiction
from verify.prove.number_certificates import number_certificate

HEAD = '[[claim]]\nid = "mine/a"\nsetting = "algebra"\n'
REAL, SIMPLEX = 'a = "real[n]"', 'p = "simplex[n]"'
AVERAGE, SQUARES = "Sum(p[i]*a[i], i)", "Sum(p[i]*a[i]**2, i)"

#: variables beside n, statement, whether it is true
STATEMENTS = [
    (REAL, "Sum(a[i], i)**2 <= n*Sum(a[i]**2, i)", True), (REAL, "Sum(a[i], i)**2 <= 99/100*n*Sum(a[i]**2, i)", False),
    (REAL, "Mean(a[i]**2, i) >= Mean(a[i], i)**2", True), (REAL, "Mean(a[i]**2, i) >= 101/100*Mean(a[i], i)**2", False),
    (f"{REAL}, {SIMPLEX}", f"{SQUARES} >= {AVERAGE}**2", True),
    (f"{REAL}, {SIMPLEX}", f"{SQUARES} >= 101/100*{AVERAGE}**2", False),
    (SIMPLEX, "Sum(p[i]**2, i) >= 1/n", True), (SIMPLEX, "Sum(p[i]**2, i) >= 51/50/n", False),
    ('a = "nonnegative[n]"', "a[0] <= Sum(a[i], i)", True), ('a = "nonnegative[n]"', "51/50*a[0] <= Sum(a[i], i)", False),
    ('a = "nonnegative[n]"', "a[n-1] <= Sum(a[i], i)", True), (REAL, "a[0] <= Sum(a[i], i)", False)]

#: variables beside n, condition, whether no numbers meet it
CONDITIONS = [
    (f'{REAL}, s = "positive"', "Sum(a[i], i)**2 >= n*Sum(a[i]**2, i) + s", True),
    (f'{REAL}, s = "positive"', "Sum(a[i], i)**2 >= n*Sum(a[i]**2, i) - s", False),
    (REAL, "Mean(a[i]**2, i) < Mean(a[i], i)**2", True), (REAL, "Mean(a[i]**2, i) <= Mean(a[i], i)**2", False),
    (f'{SIMPLEX}, s = "positive"', "Sum(p[i]**2, i) <= 1/n - s", True), (SIMPLEX, "Sum(p[i]**2, i) <= 1/n", False),
    ('a = "nonnegative[n]", s = "positive"', "a[0] >= Sum(a[i], i) + s", True),
    ('a = "nonnegative[n]"', "a[0] >= Sum(a[i], i)", False)]


def _claim(folder, variables, rest):
    path = folder / "mine.toml"
    path.write_text(f'{HEAD}variables = {{n = "integer from 1", {variables}}}\n{rest}\n', encoding="utf-8")
    return load_claims(path)[0]


def _check_found(claim, data, expected):
    assert (data is not None) == expected
    assert not expected or check(data, claim).accepted


@pytest.mark.parametrize("variables, statement, true", STATEMENTS)
def test_a_statement_about_sums_is_proven_if_it_is_true(variables, statement, true, tmp_path):
    claim = _claim(tmp_path, variables, f'statement = "{statement}"')
    _check_found(claim, number_certificate(claim), true)


@pytest.mark.parametrize("variables, condition, impossible", CONDITIONS)
def test_a_condition_on_sums_is_excluded_if_no_numbers_meet_it(variables, condition, impossible, tmp_path):
    claim = _claim(tmp_path, variables, f'conditions = ["{condition}"]\nstatement = "n >= 1"')
    _check_found(claim, contradiction(claim), impossible)
