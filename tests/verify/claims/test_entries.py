"""Equations of entries of arrays: which define a name as a whole, which give entries, and what stays a hypothesis."""

import numpy as np
import pytest

from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import BALLS, NUMPY
from verify.claims.entries import affine_recursion, are_given_one_by_one, entries_of_equation, entry_equations
from verify.exact.certificate import certificate
from verify.exact.check import check
from verify.exact.statement import statement_of
from verify.instances.draw import draw_params
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.proofs.strategies import proof_of_run
from verify.search.budget import Budget
from verify.search.search import search

SMALL = Budget(2, 64, 0, small=8, small_rows=64, settings=4)
CLAIM = '''
[[claim]]
id = "mine/steps"
variables = {variables}
assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= 0 for k in 0..clients-1",
          "sigma_sq_client[k] <= 0 for k in 0..clients-1"]
conditions = ["clients == 1", "local_steps == 1", {conditions}]
statement = "objective(x_round[rounds]) <= objective(x_round[0])"
'''
SHORT = '"eta_l[0] <= 1/L"'
#: ways to say that a step is constant
CONSTANT = {
    "the first": '"eta_l[t] == eta_l[0] for t in 0..iterations-1"',
    "turned": '"eta_l[0] == eta_l[t] for t in 0..iterations-1"',
    "the next": '"eta_l[t] == eta_l[t+1] for t in 0..iterations-2"',
    "the one before": '"eta_l[t] == eta_l[t-1] for t in 1..iterations-1"',
}


@pytest.fixture
def claim_of(tmp_path):
    def read(conditions: str, variables: str = "{}"):
        path = tmp_path / "mine.toml"
        path.write_text(CLAIM.replace("{conditions}", conditions).replace("{variables}", variables))
        (claim,) = load_claims(path)
        return claim

    return read


def steps(claim, rounds=5, rows=40):
    """The steps of some instances, (instances, iterations)."""
    shape = Shape(rounds=rounds)
    environment = simulate(claim, shape, draw_params(claim, shape, rows, np.random.default_rng(0)), NUMPY)
    return environment.bound["eta_l"].data[:, 0, 0]


@pytest.mark.parametrize("name", CONSTANT)
def test_a_constant_step_is_one_step_that_is_free(claim_of, name):
    claim = claim_of(f"{CONSTANT[name]}, {SHORT}")
    assert "eta_l" not in claim.defining
    found = steps(claim)
    assert (found == found[:, :1]).all() and len({*found[:, 0].tolist()}) > 30
    assert search(claim, SMALL).met > 300


@pytest.mark.parametrize("name", CONSTANT)
def test_a_constant_step_that_is_too_long_is_refuted(claim_of, name):
    claim = claim_of(f'{CONSTANT[name]}, "eta_l[0] <= 3/L"')
    found = search(claim, SMALL).violation
    data = certificate(claim, found.environment, found.left, found.right)
    assert isinstance(data["values"]["eta_l"], list) and check(data, claim).accepted


def test_a_constant_step_is_proven_as_one_with_a_name_is(claim_of):
    claim = claim_of(f"{CONSTANT['the first']}, {SHORT}")
    found = proof_of_run(claim)
    assert found.certificate is not None and check(found.certificate, claim).accepted


def test_steps_may_follow_from_each_other_in_either_direction(claim_of):
    forward, back = (steps(claim_of(text)) for text in (
        '"eta_l[t+1] == eta_l[t]/2 for t in 0..iterations-2"', '"eta_l[t] == 2*eta_l[t+1] for t in 0..iterations-2"'))
    for found in (forward, back):
        assert np.allclose(found[:, 1:], found[:, :-1] / 2) and len({*found[:, 0].tolist()}) > 30
    summed = steps(claim_of('"eta_l[t] == 1/L + Sum(eta_l[i], (i, 0, t-1)) for t in 0..iterations-1"'))
    assert np.allclose(summed[:, 1:] / summed[:, :1], [2, 4, 8, 16])


#: recursions, whether the next entry is affine in the one before, and the next one of number t by numpy (L is 1)
RECURSIONS = {
    "(t+2)*(eta_l[t]/3 + 1/L) - eta_l[t]": (True, lambda a, t, first: (t + 2) * (a / 3 + 1) - a),
    "eta_l[t]/(t+1) + sqrt(t)": (True, lambda a, t, first: a / (t + 1) + t**0.5),
    "eta_l[t]": (False, lambda a, t, first: a),
    "eta_l[t]*(2 - L*eta_l[t])/2 + 1/L": (False, lambda a, t, first: a * (2 - a) / 2 + 1),
    "sqrt(eta_l[t]) + 1/L": (False, lambda a, t, first: a**0.5 + 1),
    "eta_l[t] + eta_l[0] + t": (False, lambda a, t, first: a + first + t),
}


@pytest.mark.parametrize("backend", [NUMPY, BALLS], ids=lambda one: one.library)
@pytest.mark.parametrize("text", RECURSIONS)
def test_an_affine_recursion_has_the_entries_of_any_other(claim_of, text, backend):
    affine, following = RECURSIONS[text]
    claim = claim_of(f'"eta_l[t+1] == {text} for t in 0..iterations-2", "L == 1"')
    shape = Shape(rounds=4)
    (equation,) = entry_equations(claim)
    entries, everything = entries_of_equation(equation, tuple(sorted(shape.as_sizes().items())))
    assert everything and (affine_recursion(equation, entries) is not None) == affine
    assert are_given_one_by_one(claim) != (affine or text == "eta_l[t]")
    params = draw_params(claim, shape, 3, np.random.default_rng(0))
    found = simulate(claim, shape, params, backend, runs=False).bound["eta_l"].data[:, 0, 0].astype(float)
    for t in range(3):
        assert np.allclose(found[:, t + 1], following(found[:, t], t, found[:, 0]))


def test_what_says_some_entries_defines_no_array(claim_of):
    """Certified it was once: the steps behind the first one are free, and may be too long."""
    claim = claim_of('"eta_l[t] == 1/L for t in 0..0"')
    assert "eta_l" not in claim.defining and search(claim, SMALL).violation is not None
    whole = claim_of('"eta_l[t] == 1/L for t in 0..iterations-1"')
    assert whole.defining["eta_l"] in whole.hypotheses


def test_a_number_may_be_that_of_all_steps(claim_of):
    claim = claim_of('"gamma == eta_l[t] for t in 0..iterations-1", "gamma <= 1/L"', '{gamma = "positive"}')
    assert "gamma" not in claim.defining and search(claim, SMALL).met > 300


def test_an_array_of_the_claim_is_what_an_equation_says(claim_of):
    claim = claim_of('"b[t] == 1/(t+1) for t in 0..iterations-1", "eta_l[t] == b[t]/L for t in 0..iterations-1"',
                     '{b = "positive[iterations]"}')
    assert {"b", "eta_l"} <= claim.defining.keys() and search(claim, SMALL).met > 300


def test_of_two_equations_in_a_circle_one_is_a_hypothesis(claim_of):
    claim = claim_of('"a == b", "b == a", "a <= 1/L", "eta_l[t] == a for t in 0..iterations-1"',
                     '{a = "positive", b = "positive"}')
    assert {"a", "eta_l"} <= claim.defining.keys() and "b" not in claim.defining
    assert [v.name for v in claim.variables] == ["b"] and search(claim, SMALL).met > 80


def test_an_entry_that_rests_on_itself_is_a_hypothesis(claim_of):
    claim = claim_of('"eta_l[t] == L*eta_l[t]**2 for t in 0..iterations-1"')
    (equation,) = entry_equations(claim)
    assert entries_of_equation(equation, (("iterations", 3),)) == ((), False)


def planted(claim, **values):
    """The certificate of a counterexample with other values."""
    found = search(claim, SMALL).violation
    data = certificate(claim, found.environment, found.left, found.right)
    return data | {"values": data["values"] | values}


def test_the_checker_takes_no_equation_of_some_entries_or_in_a_circle_for_a_definition(claim_of):
    some = claim_of('"eta_l[t] == 3/L for t in 0..0"')
    data = planted(some, eta_l={"hypothesis": some.hypotheses.index(some.conditions[-1])})
    assert "some entries of eta_l" in check(data, some).reason
    circle = claim_of('"eta_l[t] == eta_l[0] for t in 0..iterations-1", "eta_l[0] <= 3/L"')
    data = planted(circle, eta_l={"hypothesis": circle.hypotheses.index(circle.conditions[-2])})
    assert "eta_l would be defined by itself" in check(data, circle).reason


def test_a_proof_may_not_take_an_equation_of_some_entries_for_a_definition(claim_of):
    claim = claim_of('"eta_l[t] == 1/L for t in 0..0"')
    whole = claim_of('"eta_l[t] == 1/L for t in 0..iterations-1"')
    data = proof_of_run(whole).certificate
    place = claim.hypotheses.index(claim.conditions[-1])
    assert data["settings"][0]["values"]["eta_l"] == {"hypothesis": place}
    said = check(data | {"hypotheses": statement_of(claim)["hypotheses"]}, claim)
    assert "some entries of eta_l" in said.reason
