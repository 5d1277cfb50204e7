"""Instances of claims about samples: shapes, corners, what float64 loses on them, and false statements refuted on them."""

from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np
import pytest
import sympy as sp

from bounds.controls.classical import CONTROLS_CLASSICAL
from bounds.language import samples as on_samples
from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.operators import (
    E,
    F,
    Sum,
    client_weight,
    clients,
    eta_l,
    iterations,
    k,
    norm,
    objective,
    rounds,
    t,
    x_round,
)
from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import BALLS, EXACT, NUMPY
from tests.not_empty import if_any, not_empty
from verify.claims.hypotheses import bounds_on_numbers
from verify.claims.needs import speaks_of_samples
from verify.claims.sizes import allowed, says_something
from verify.evaluation.evaluate import evaluate
from verify.evaluation.judge import Judgement, exact_violation, judge
from verify.evaluation.term_sizes import sizes_of_sides
from verify.instances.draw import draw_params, draw_shape
from verify.instances.instance import outcomes
from verify.instances.parameters import take_rows
from verify.instances.samples import SampleClients
from verify.instances.shape import Shape
from verify.instances.shapes import extreme_shapes, small_shapes
from verify.measure.simulate import simulate
from verify.search.archive import Archive
from verify.search.budget import BUDGETS
from verify.search.search import search

MOST = 64 * 16
ABOUT = ("afedpd/theorem-2", "afedpd/lemma-4@cond-zeta", "fedmoswa/eq-19", "classical/sgd-stability-first-use",
         "classical/sgd-stability-smooth")
TWINS = {twin.id: twin for row in CONTROLS_CLASSICAL for twin in row.twins.values() if speaks_of_samples(twin)}
LAST = x_round[rounds], on_samples.twin_x_round[rounds]


def claim_of(left, right, *hypotheses, variables=()):
    return Claim("user/samples", "1", "lemma", "run", Condition(left, "<=", right), (), hypotheses, derivation="for tests",
                 variables=variables, procedure=Procedure(equal_weights=True, replaced="any"))


# shapes ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("claim_id", ABOUT)
def test_sizes_meet_the_conditions_on_them_and_on_samples(claim_id):
    claim, rng = find_claim(claim_id), np.random.default_rng(0)
    shapes = [draw_shape(claim, rng, 64, 40) for _ in range(30)]
    shapes += small_shapes(claim, rng, 64, 24) + extreme_shapes(claim, rng, 64, 40, (40,))
    assert all(allowed(claim, s.as_sizes()) and says_something(claim, s.as_sizes()) for s in not_empty(shapes))
    assert all(prod(outcomes(s)) <= MOST for s in not_empty(shapes))
    own = {name for s in shapes for name, _ in s.sizes}
    assert all(len({dict(s.sizes)[name] for s in shapes}) > 1 for name in if_any(own))


def test_conditions_on_samples_count_where_there_are_any():
    claim = find_claim("classical/sgd-stability-smooth")
    sizes = Shape(sizes=(("cut", 1),), family=SampleClients(samples=1)).as_sizes()
    assert not allowed(claim, sizes) and allowed(claim, sizes | {"samples": 2})
    assert allowed(claim, {name: size for name, size in sizes.items() if name != "samples"})


def test_some_shapes_are_large_in_one_way():
    found = extreme_shapes(find_claim("fedmoswa/eq-19"), np.random.default_rng(0), 64, 40, (40, 100))
    single = [s for s in found if s.family.samples == 1]
    assert {s.rounds for s in single} >= {40, 100} and max(s.local_steps for s in single) == 40
    assert max(s.family.samples for s in found) >= 4 and max(s.clients for s in found) >= 4
    for samples, least in ((2, 5), (3, 3)):
        several = [s for s in found if s.family.samples == samples]
        assert max(s.rounds for s in several) >= least and max(s.local_steps for s in several) >= least
    assert all(s.participants == s.clients for s in found)


# leaves ------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("claim_id", "turned"), [
    ("afedpd/theorem-2", "slope"), ("classical/coupled-step-convex", "knot"), ("fedmoswa/eq-19", "knot")])
def test_atoms_of_some_rows_are_constant_mirrored_or_nearly_alike(claim_id, turned):
    claim = find_claim(claim_id)
    shape = Shape(clients=2, family=SampleClients(1, 2, 1, bounded="theorem-2" in claim_id))
    params = draw_params(claim, shape, 2000, np.random.default_rng(1))
    names = ("slope", "knot", "width", "center")
    slope, knot, width, center = (params[f"sample_{name}"].reshape(2000, 2, 2) for name in names)
    constant = (slope == 0).sum(axis=2)
    assert 120 < (constant == 1).all(axis=1).sum() < 400 and (constant < 2).all()
    other, same = (slope, knot) if turned == "slope" else (knot, slope)
    mirrored = (other[..., 1] == -other[..., 0]) & (same[..., 1] == same[..., 0]) & (knot[..., 0] != 0)
    assert mirrored.all(axis=1).sum() > 40
    alike = (slope[..., 1] == slope[..., 0]) & (width[..., 1] == width[..., 0]) & (center[..., 1] == center[..., 0])
    near = alike & (knot[..., 1] != knot[..., 0]) & (abs(knot[..., 1] - knot[..., 0]) < 4)
    assert near.all(axis=1).sum() > 40


def test_some_runs_start_at_knots_and_some_bounded_losses_have_no_linear_part():
    claim, shape = find_claim("afedpd/theorem-2"), Shape(family=SampleClients(1, 2, 1, bounded=True))
    params = draw_params(claim, shape, 1000, np.random.default_rng(2))
    knot, width, center = (params[f"sample_{name}"].reshape(1000, 2) for name in ("knot", "width", "center"))
    start = params["start_offset"]
    ends = [knot + side * width + part / 4 * center for side in (-1, 0, 1) for part in range(5)]
    assert any(((start == end).any(axis=1) & (start[:, 0] != 0)).sum() > 15 for end in ends)
    assert 100 < (abs(center) == 2 * width).all(axis=1).sum() < 350


def test_steps_that_an_equation_gives_are_no_leaves():
    for claim_id, there in (("afedpd/theorem-2", False), ("afedpd/lemma-4", True)):
        shape = Shape(family=SampleClients(bounded=True, pieces=1), sizes=(("tau0", 1),))
        assert ("step_fraction" in draw_params(find_claim(claim_id), shape, 2, np.random.default_rng(0))) is there


# numbers in their bounds --------------------------------------------------------------------------------------------------
A, B, C, D = (sp.Symbol(name, positive=True) for name in "abcd")
OWN = tuple(Variable(name, "positive") for name in "abc")


@pytest.mark.parametrize(("condition", "expected"), [
    (Condition(A, "<=", B / (D * clients)), {"a": ("<=", B / (D * clients)), "b": (">=", A * D * clients)}),
    (Condition(A * D, ">=", 1 / B), {"a": (">=", 1 / (B * D))}),
    (Condition(A * B, ">=", B + C), {"a": (">=", 1 + C / B)}),  # for b it says nothing, as b is on both sides
    (Condition(A * (B - C), "<=", 1), {}),  # a factor of either sign
])
def test_factors_of_products_are_bounded(condition, expected):
    found = bounds_on_numbers(claim_of(E(norm(LAST[0] - LAST[1])), 0, condition, variables=OWN))
    assert {n: (b.relation, sp.expand(b.other)) for n, (b,) in found.items()} == {
        n: (r, sp.expand(o)) for n, (r, o) in expected.items()}


def test_numbers_that_bound_each_other_meet_the_claims_conditions():
    claim, shape = find_claim("afedpd/theorem-2"), Shape(
        rounds=2, sampling="without-replacement", family=SampleClients(1, 2, 1, bounded=True))
    params = draw_params(claim, shape, 200, np.random.default_rng(0))
    assert judge(claim, simulate(claim, shape, params, NUMPY)).met.mean() > 0.5


# rounding ------------------------------------------------------------------------------------------------------------------
def far_out(distance):
    """Two bounded losses far out, where both are constant and their pieces cancel."""
    one = np.ones((1, 1, 2, 1, 1))
    return {"sample_curvature": np.zeros((1, 1, 1, 1)), "sample_center": np.array([3.7, -1.3]).reshape(1, 1, 2, 1),
            "sample_slope": one, "sample_knot": 0.3 * one, "sample_width": one, "sample_offset": np.zeros((1, 1, 2)),
            "start_offset": np.array([[distance]]), "weight": np.ones((1, 1))}


STEP = Condition(eta_l[t], "==", sp.Rational(1, 4), ((t, 0, iterations - 1),))


@pytest.mark.parametrize("left", [
    on_samples.worst_mean_gap(x_round[0], 3 * x_round[0]), sp.Abs(objective(x_round[0]) - objective(3 * x_round[0])),
    sp.Abs(on_samples.F_pop(x_round[0]) - on_samples.F_pop(3 * x_round[0])), sp.Abs(
        Sum(client_weight[k] * (F(k, x_round[0]) - F(k, 3 * x_round[0])), (k, 0, clients - 1))),
], ids=["sample", "objective", "population", "client"])
def test_pieces_that_cancel_far_out_are_no_violation(left):
    """Both losses are constant there: a difference that float64 sees is its own rounding."""
    claim = claim_of(left + 0 * E(norm(LAST[0] - LAST[1])), sp.Float(1e-9), STEP, Condition(on_samples.H_loss, "<=", 10**30))
    shape, params = Shape(family=SampleClients(1, 2, 1, bounded=True)), far_out(1.2345e9)
    environment = simulate(claim, shape, params, NUMPY)
    assert judge(claim, environment).score[0] <= 0
    assert np.asarray(sizes_of_sides(claim.statement, environment)[0]).max() > 1e8
    exact = {name: np.vectorize(Fraction, otypes=[object])(array) for name, array in params.items()}
    assert exact_violation(claim, simulate(claim, shape, exact, EXACT)) == "holds"


def test_a_supremum_of_balls_that_overlap_contains_the_larger_one():
    """Two samples of one loss, at a point that is irrational: which of both gaps is larger is not known, nor asked."""
    step = Condition(eta_l[t], "==", sp.sqrt(2), ((t, 0, iterations - 1),))
    shape, params = Shape(family=SampleClients(1, 2, 1)), far_out(0.5)
    exact = {name: np.vectorize(Fraction, otypes=[object])(array) for name, array in params.items()}
    for word in (on_samples.worst_mean_gap, on_samples.worst_mean_signed_gap):
        claim = claim_of(word(x_round[0], x_round[rounds]), 0, step)
        found, nearly = (np.asarray(evaluate(claim.statement.left, simulate(claim, shape, given, backend))).item()
                         for given, backend in ((exact, BALLS), (params, NUMPY)))
        assert float(found) == pytest.approx(nearly) and nearly > 0.01


# from where searches go on -------------------------------------------------------------------------------------------------
def test_long_runs_on_samples_are_kept_beside_tighter_short_ones():
    archive, params = Archive(), {"weight": np.ones((1, 1))}

    def add(score, **sizes):
        shape = Shape(**sizes)
        archive.add(shape, take_rows(params, [0]), Judgement(*np.full((2, 1), score), np.ones(1, dtype=bool)))
        return shape

    short = [add(-0.1 + 0.001 * number, family=SampleClients(), local_steps=2 + number) for number in range(8)]
    long = add(-0.99, family=SampleClients(), rounds=300)
    add(-0.9, rounds=300)  # not on samples
    assert [shape for shape, _ in archive.tightest(2)] == [short[7], short[6], long]
    assert archive.tightest(0) == []


# searches -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("twin", TWINS)
def test_false_twins_about_samples_are_refuted_at_the_smallest_budget(twin):
    """With two of three seeds at the least: chance may hide one."""
    violations = [search(TWINS[twin], BUDGETS["quick"], seed).violation for seed in range(3)]
    found = [violation for violation in violations if violation is not None]
    assert len(found) >= 2
    assert all(exact_violation(TWINS[twin], one.environment) == (one.left, one.right) for one in found)


@pytest.mark.parametrize("claim_id", [
    "afedpd/lemma-4@cond-zeta",  # one of two samples is constant
    # one of three samples, free numbers at their bounds
    pytest.param("afedpd/theorem-2-explicit@stability+gamma-first", marks=pytest.mark.slow),
    pytest.param("afedpd/theorem-2@gamma-first", marks=pytest.mark.slow),  # a hundred rounds or more
])
def test_statements_that_fail_on_rare_data_are_refuted(claim_id):
    """With one of two seeds: chance may hide rare data."""
    assert any(search(find_claim(claim_id), BUDGETS["standard"], seed).violation is not None for seed in range(2))


@pytest.mark.parametrize("claim_id", ["classical/sgd-stability-smooth", "classical/sgd-stability-first-use"])
def test_true_statements_about_samples_are_spared(claim_id):
    found = search(find_claim(claim_id), replace(BUDGETS["standard"], batches=8, generations=8), 3)
    assert found.violation is None and found.met > 500
