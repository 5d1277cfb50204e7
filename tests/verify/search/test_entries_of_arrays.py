"""Hypotheses about entries of arrays, one that has a value and those that others bound, are met by what is drawn."""

from fractions import Fraction

import numpy as np
import pytest

from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import EXACT, NUMPY, each
from verify.claims.hypotheses import bounds_on_entries
from verify.evaluation.judge import holds
from verify.instances.draw import draw_params
from verify.instances.parameters import map_params
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.referee.decide import Settings, decide

NUMBERS = """setting = "algebra"
variables = {n = "integer from 2", a = "nonnegative[n]", b = "nonnegative", q = "positive below 1"}"""
TWO_STEPS = """assume = ["smooth", "strongly_convex", "noiseless"]
conditions = ["local_steps == 1", "rounds == 2", "eta_l[0] == 1/L", "eta_l[rounds-1] == 9/(5*L)"]"""
LYAPUNOV = NUMBERS.replace("a = ", 'c = "nonnegative[n]", a = ')
FRANK_WOLFE = f"""{NUMBERS}
conditions = ["n >= 6", "a[i+1] <= (1 - 2/(i + 2))*a[i] + 4*b/(i + 2)**2 for i in 0..n-2"]"""
BOUNDED = f"""{NUMBERS}
conditions = ["n >= 6", "a[0] <= 1", "a[i+1] <= 3/2*a[i] for i in 0..n-2"]"""
SHARED = """
[assumptions]
smooth = ["L_client[k] <= L for k in 0..clients-1"]
strongly_convex = ["mu_client[k] >= mu for k in 0..clients-1"]
noiseless = ["sigma_sq_client[k] <= 0 for k in 0..clients-1"]
"""
#: fields, a statement, whether it is true
ROWS = {
    "a recursion": (f'{NUMBERS}\nconditions = ["a[i+1] <= (1 - q)*a[i] + b for i in 0..n-2"]',
                    "a[n-1] <= (1 - q)**(n-1)*a[0] + b*(1 - (1 - q)**(n-1))/q", True),
    "a recursion, its last term too small": (
        f'{NUMBERS}\nconditions = ["n >= 3", "a[i+1] <= (1 - q)*a[i] + b for i in 0..n-2"]',
        "a[n-1] <= (1 - q)**(n-1)*a[0] + b*(1 - (1 - q)**(n-2))/q + 9/10*b*(1 - q)**(n-2)", False),
    "a recursion from below": (f'{NUMBERS}\nconditions = ["a[i+1] >= (1 + b)*a[i] for i in 0..n-2"]',
                               "a[n-1] >= (1 + b)**(n-1)*a[0]", True),
    "a recursion from below, with more": (f'{NUMBERS}\nconditions = ["n >= 4", "a[i+1] >= (1 + b)*a[i] for i in 0..n-2"]',
                                          "a[n-1] >= (1 + (n-1)*b + (n-1)**2*b**2/2)*a[0]", False),
    "a sum of those before": (f'{NUMBERS}\nconditions = ["a[i] <= q + Sum(b*a[j], (j, 0, i-1)) for i in 0..n-1"]',
                              "a[n-1] <= q*(1 + b)**(n-1)", True),
    "a sum of those before, without its cube": (
        f'{NUMBERS}\nconditions = ["a[i] <= q + Sum(b*a[j], (j, 0, i-1)) for i in 0..n-1"]',
        "a[n-1] <= q*(1 + (n-1)*b + (n-1)*(n-2)*b**2/2)", False),
    "a recursion at all its bounds": (FRANK_WOLFE, "a[n-1] <= 4*b/(n + 2)", True),
    "a recursion at all its bounds, too small for five steps alone": (FRANK_WOLFE, "a[n-1] <= 4*b/(n + 5/2)", False),
    "an implicit recursion": (f'{NUMBERS}\nconditions = ["(1 + q)*a[i+1] <= a[i] + b for i in 0..n-2"]',
                              "a[n-1] <= a[0]/(1 + q)**(n-1) + b/q", True),
    "an implicit recursion, without its last term": (
        f'{NUMBERS}\nconditions = ["(1 + q)*a[i+1] <= a[i] + b for i in 0..n-2"]',
        "a[n-1] <= a[0]/(1 + q)**(n-1) + b*Sum(1/(1 + q)**j, (j, 1, n-2))", False),
    "a recursion of squares": (f'{NUMBERS}\nconditions = ["a[i+1]**2 <= (1 - q)**2*a[i]**2 + b for i in 0..n-2"]',
                               "a[n-1] <= (1 - q)**(n-1)*a[0] + sqrt(b/q)", True),
    "a recursion of squares, too small from six on": (
        f'{NUMBERS}\nconditions = ["n >= 6", "a[i+1]**2 <= (1 - q)**2*a[i]**2 + b for i in 0..n-2"]',
        "a[n-1] <= (1 - q)**(n-1)*a[0] + 2*sqrt(b)", False),
    "what falls": (f'{LYAPUNOV}\nconditions = ["a[i+1] + q*c[i] <= a[i] + b*q**2 for i in 0..n-2"]',
                   "Sum(c[i], (i, 0, n-2)) <= a[0]/q + (n-1)*b*q", True),
    "what falls, by more": (f'{LYAPUNOV}\nconditions = ["a[i+1] + q*c[i] <= a[i] + b*q**2 for i in 0..n-2"]',
                            "Sum(c[i], (i, 0, n-2)) <= a[0]/q + 9/10*(n-1)*b*q", False),
    "what falls stays above zero": (f'{NUMBERS}\nconditions = ["b > 0", "a[i+1] <= a[i] - b for i in 0..n-2"]',
                                    "a[0] >= (n-1)*b", True),
    "a recursion from one entry that is bounded": (BOUNDED, "a[n-1] <= (3/2)**(n-1)", True),
    "a recursion from one entry that is bounded, too small": (BOUNDED, "a[n-1] <= 9/10*(3/2)**(n-1)", False),
    "two steps": (TWO_STEPS, "norm(x_round[2] - x_star) <= Max((1 - mu/L)*(1 - 9*mu/(5*L)), 4/5*(1 - mu/L))"
                  "*norm(x_round[0] - x_star)", True),
    "two steps, as of quadratics": (TWO_STEPS, "norm(x_round[2] - x_star) <= Max((1 - mu/L)*(1 - 9*mu/(5*L)), 1/5)"
                                    "*norm(x_round[0] - x_star)", False),
}


def claim_of(row: str, path):
    fields, statement, _ = ROWS[row]
    file = path / "own.toml"
    file.write_text(f'{SHARED}\n[[claim]]\nid = "own/entries"\n{fields}\nstatement = "{statement}"\n')
    return load_claims(file)[0]


@pytest.mark.parametrize("row", ROWS)
def test_what_is_false_is_refuted_and_what_is_true_is_not(row, tmp_path):
    found = decide(claim_of(row, tmp_path), Settings(federations=False, out=tmp_path))
    assert (found.verdict in ("consistent", "certified")) == ROWS[row][2] and found.verdict != "undecided", found.evidence
    assert (found.certificate is not None) >= (not ROWS[row][2])  # which the stand-alone checker accepts


@pytest.mark.parametrize("backend", [NUMPY, EXACT], ids=lambda backend: backend.library)
@pytest.mark.parametrize("row", [row for row in ROWS if "a[" in ROWS[row][0]])
def test_every_array_that_is_drawn_meets_its_bounds(row, backend, tmp_path):
    claim, shape = claim_of(row, tmp_path), Shape(sizes=(("n", 5),))
    params = draw_params(claim, shape, 1 if backend is EXACT else 40, np.random.default_rng(0))
    params = map_params(params, lambda name, array: each(array, Fraction) if backend is EXACT else array)
    environment = simulate(claim, shape, params, backend)
    bounds = bounds_on_entries(claim)
    assert bounds and all(holds(bound, environment, len(next(iter(params.values())))).all() for bound in bounds)
