"""Irrational instances: balls refute only what is certain, and what stays open is said."""

import json
from dataclasses import replace
from fractions import Fraction as Q

import numpy as np
import pytest
import sympy as sp

from bounds.language.claim import Claim, Condition, Variable
from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY
from synthetic.numbers.balls import Ball
from synthetic.numbers.roots import just_inside
from verify.exact import balls as on_balls
from verify.exact.balls import violation_on_balls
from verify.exact.certificate import certificate
from verify.exact.check import replay_alone as check
from verify.exact.confirm import Violation, confirm_or_why
from verify.instances.shape import Shape
from verify.referee.decide import Settings, decide
from verify.search import candidates
from verify.search.budget import BUDGETS
from verify.search.search import search

y, z = sp.Symbol("y", positive=True), sp.Symbol("z", positive=True)
ANY_Y = (Variable("y", "positive"),)


def algebra(left, relation, right, variables=ANY_Y, conditions=()):
    return Claim("test/numbers", "1", "control", "algebra", Condition(left, relation, right), variables=variables,
                 conditions=conditions, derivation="none")

eta_g = sp.Symbol("eta_g", positive=True)


def at(**values):
    params = {name: np.array([[Q(v)]], dtype=object)[0] for name, v in values.items()}
    return Shape(), params


CASES = [
    (algebra(sp.sqrt(y), "<=", sp.Rational(7, 5)), 2, True), (algebra(sp.sqrt(y), "<=", sp.Rational(3, 2)), 2, "holds"),
    (algebra(sp.exp(y), "<=", 1 + y + y**2), 3, True), (algebra(sp.exp(y), ">=", 1 + y), 3, "holds"),
    (algebra(sp.log(1 + y), ">=", y / 2), 4, True), (algebra(sp.log(1 + y), "<=", y), 4, "holds"),
    (algebra(y ** sp.Rational(1, 3), "<=", 1), 2, True), (algebra(sp.sqrt(y) ** 2, "==", y + 1), 2, True),
    (algebra(sp.exp(500 * y) * sp.log(1 + sp.exp(-500 * y)), "<=", 1), 1, "holds"),  # 722 digits of two are lost
    (algebra(sp.sqrt(y), "<=", 1, conditions=(Condition(sp.sqrt(y), "<=", 1),)), 2, "unmet"),
]


@pytest.mark.parametrize("claim, value, expected", CASES)
def test_violations_are_certain(claim, value, expected):
    found = confirm_or_why(claim, *at(y=value))
    assert isinstance(found, Violation) if expected is True else found == expected


def test_equal_irrational_sides_hold():
    assert confirm_or_why(algebra(sp.sqrt(y) * sp.sqrt(1 + y), "<=", sp.sqrt(y + y**2)), *at(y=2)) == "holds"


def test_a_positive_number_that_float64_rounds_to_zero_is_no_instance():
    assert confirm_or_why(algebra(sp.sqrt(y), "<=", sp.Rational(7, 5)), *at(y=0)) == "inadmissible"


def test_an_instance_on_which_a_side_is_undefined_somewhere_refutes_nothing():
    """At i = 0 there is nothing to compare, although sqrt(2) / i is above 1 at i = 1."""
    i = sp.Symbol("i", integer=True)
    claim = algebra(sp.sqrt(y) / i, "<=", 1)
    for low, expected in ((1, 3), (0, 2)):
        found = violation_on_balls(replace(claim, statement=replace(claim.statement, over=((i, low, 1),))), *at(y=2))
        assert len(found) == expected and (expected == 3 or found[0] == "inadmissible")


@pytest.mark.parametrize("left", [y, sp.sqrt(y), sp.exp(y)])
def test_a_number_that_lies_below_another_is_never_at_it(left):
    """Not in the search, and the checker does not take it either."""
    claim = algebra(left, "<=", 0, variables=(Variable("y", "positive", below=2),))
    assert confirm_or_why(claim, *at(y=2)) == "unmet"
    found = confirm_or_why(claim, *at(y=1))
    data = json.loads(json.dumps(certificate(claim, *found[2:])))
    assert check(data).accepted
    data["values"]["y"] = "2"
    assert not check(data).accepted and "2 - y > 0" in check(data).reason
    with pytest.raises(ValueError, match=r"^v: .*; got vector"):
        Variable("v", "vector", below=1)


def test_sides_too_large_to_tell_apart_stay_open():
    claim = algebra(sp.exp(y) * sp.sqrt(2), "<=", sp.exp(y + sp.log(2) / 2))
    word, reason = violation_on_balls(claim, *at(y=10_000))
    assert word == "uncertain" and "overlap" in reason
    assert confirm_or_why(claim, *at(y=10_000)).startswith("uncertain: ")


def test_equal_irrational_hypotheses_stay_open():
    claim = algebra(sp.sqrt(y), "<=", 1, conditions=(Condition(sp.sqrt(y) * sp.sqrt(1 + y), "<=", sp.sqrt(y + y**2)),))
    assert confirm_or_why(claim, *at(y=2)).startswith("uncertain: ")


def test_a_number_touches_an_irrational_bound_from_inside():
    """z <= sqrt(y) with z moved into its bound: the tightest rational below the root."""
    both = (Variable("y", "positive"), Variable("z", "positive"))
    claim = algebra(z**2, "<=", y / 2, variables=both, conditions=(Condition(z, "<=", sp.sqrt(y)),))
    found = confirm_or_why(claim, *at(y=2, z=100))
    assert isinstance(found, Violation)
    bound = found.environment.bound["z"].data.item()
    assert bound < Ball(2).sqrt() and bound > Ball(2).sqrt() * Q(10**12 - 1, 10**12)


@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize("value", [Q(2), Q(1, 300), Q(10**9, 7)])
def test_just_inside(value, up):
    root = Ball(value).sqrt()
    inside = just_inside(np.array([root], dtype=object), up)[0]
    low, high = inside.ends
    assert low <= high == inside.ends[1] and (inside > root) == up and abs(inside / root - 1) < Q(1, 10**12)


def test_exact_numbers_stay_as_they_are():
    assert just_inside(np.array([Ball(3)], dtype=object), up=True)[0] == 3


def test_the_search_refutes_with_roots_and_says_what_stays_open():
    false = search(algebra(sp.sqrt(y) + sp.exp(y), "<=", 2 + 2 * y), BUDGETS["quick"])
    assert false.violation is not None and isinstance(false.violation.left, Ball)
    assert false.violation.left > false.violation.right
    verdict = decide(algebra(sp.exp(sp.sqrt(y)) ** 2, "<=", sp.exp(2 * sp.sqrt(y))), Settings(federations=False))
    assert verdict.verdict != "refuted"


def test_clients_with_samples_of_bounded_losses_are_decided_on_balls():
    """Without the condition on its step, a bound with a root of the loss's supremum is broken, and that is certain."""
    claim = find_claim("afedpd/theorem-2")
    free = replace(claim, conditions=tuple(c for c in claim.conditions if "mu_lr" not in str(c)))
    violation = search(free, BUDGETS["quick"]).violation
    assert isinstance(violation.left, Ball) and violation.left > violation.right and violation.shape.family.bounded


SCAFFOLD = find_claim("classical/scaffold-one-step")


def diverging(rounds):
    """One client x^2 / 2 whose server steps are 20 times too long: a variate that is its own mean feeds back the radius."""
    params = {name: np.array(value, dtype=object) for name, value in {
        "curvature": [[[Q(1)]]], "center": [[[Q(1, 3)]]], "offset": [[Q(0)]], "weight": [[Q(1)]], "step_scale": [[Q(1)]],
        "step_fraction": [[Q(1, 1 + t % 3) for t in range(rounds)]], "start_offset": [[Q(1, 7)]], "eta_g": [Q(201, 10)],
        "epsilon": [[Q(0)] * (rounds + 1)], "available": [[[Q(1)]] * (rounds + 1)]}.items()}
    return Shape(1, 0, 1, 1, rounds, sizes=(("local_steps", 1),)), params


def test_balls_of_long_runs_have_as_many_bits_as_these_may_lose(monkeypatch):
    shape, params = diverging(300)
    assert violation_on_balls(SCAFFOLD, shape, params) == ("holds", "")
    monkeypatch.setattr(on_balls, "_BITS_A_STEP", 0)
    monkeypatch.setattr(on_balls, "PRECISIONS", on_balls.PRECISIONS[:2])
    assert violation_on_balls(SCAFFOLD, shape, params)[0] == "uncertain"


def test_what_float64_saw_between_the_sides_is_its_own_rounding_where_balls_leave_nothing_of_it(monkeypatch):
    """A search that does not take it to fractions, of which a long run needs minutes."""
    shape, params = diverging(100)
    params = {name: array.astype(float) for name, array in params.items()}
    gap, left, right = candidates._widest(SCAFFOLD, shape, params, NUMPY)
    assert gap == left > 1e-6 and right == 0
    asked = []
    monkeypatch.setattr(candidates, "confirm_or_why", lambda *given: asked.append(given) or "holds")
    assert candidates.confirmed(SCAFFOLD, shape, params, NUMPY) == "holds" and not asked


def test_a_gap_that_balls_leave_goes_on_to_fractions(monkeypatch):
    """The same run against twice the step: false by far."""
    shape, params = diverging(12)
    params = {name: array.astype(float) for name, array in params.items()}
    statement = SCAFFOLD.statement
    doubled = replace(SCAFFOLD, statement=replace(statement, left=statement.left.subs(eta_g, 2 * eta_g)))
    assert isinstance(candidates.confirmed(doubled, shape, params, NUMPY), Violation)


def test_only_sides_nearer_than_what_counts_are_taken_for_equal():
    left, right = sp.sqrt(y) * sp.sqrt(1 + y) + sp.Rational(1, 10**40) * sp.sqrt(y) - sp.sqrt(y) / 10**40, sp.sqrt(y + y**2)
    assert violation_on_balls(algebra(left, "<=", right), *at(y=2))[0] == "holds"
    assert violation_on_balls(algebra(left, "<=", right), *at(y=2), nothing=Q(0))[0] == "uncertain"
    assert len(violation_on_balls(algebra(sp.sqrt(y), "<=", 1), *at(y=2), nothing=Q(10))) == 3


@pytest.mark.parametrize("up", [True, False])
def test_long_fractions_become_shorter_ones_on_the_admitted_side(up):
    long, short = Q(3**1000 + 1, 2**1600), Q(1, 3)
    found, same = just_inside(np.array([long, short], dtype=object), up)
    assert same == short and found.denominator.bit_length() < 300
    assert (long < found if up else found < long) and abs(found / long - 1) < Q(1, 2**180)
