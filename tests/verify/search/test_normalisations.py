"""Equations of measured quantities with numbers are met in other units of loss and length, in floats and in fractions."""

import json
import re
from fractions import Fraction

import numpy as np
import pytest
import torch

from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import EXACT, NUMPY, TORCH, each
from verify.claims.normalisations import normalisations
from verify.evaluation.judge import holds, pairs
from verify.exact.check import replay_alone
from verify.instances.draw import draw_params, draw_shape
from verify.instances.parameters import map_params
from verify.instances.piecewise import PiecewiseClients
from verify.instances.shape import Shape
from verify.measure.normalisation import _squares
from verify.measure.simulate import simulate
from verify.referee.decide import Settings, decide

SMOOTH = ["L_client[k] <= L for k in 0..clients-1"]
DESCENT = [*SMOOTH, "mu_client[k] >= 0 for k in 0..clients-1", "sigma_sq_client[k] <= 0 for k in 0..clients-1",
           "local_steps == 1", "eta_l[t] == 1/L for t in 0..iterations-1"]
STRONG = [*SMOOTH, "mu_client[k] >= mu for k in 0..clients-1", "sigma_sq_client[k] <= 0 for k in 0..clients-1"]
NOISY = [*SMOOTH, "mu_client[k] >= mu for k in 0..clients-1", "sigma_sq_client[k] <= sigma_sq for k in 0..clients-1",
         "clients == 1", "local_steps == 1", "eta_l[t] <= 1/L for t in 0..iterations-1"]
GAP, DISTANCE, SLOPE = ("objective(x_round[0]) - F_star", "norm2(x_round[0] - x_star)",
                        "norm2(objective_grad(x_round[0]))")


def claim_of(conditions, statement, path, **fields):
    """With the positive number R and the vector y, if conditions speak of them."""
    own = {name: domain for name, domain in (("R", "positive"), ("y", "vector")) if re.search(
        rf"\b{name}\b", " ".join(conditions))}
    fields |= {"variables": own} if own else {}
    lines = [f"{name} = " + (f"{{{', '.join(f'{a} = {json.dumps(b)}' for a, b in value.items())}}}"
                             if isinstance(value, dict) else json.dumps(value)) for name, value in fields.items()]
    (path / "own.toml").write_text("\n".join([
        '[[claim]]\nid = "own/one"', f'statement = "{statement}"', f"conditions = {json.dumps(conditions)}", *lines]))
    return load_claims(path / "own.toml")[0]


PLAIN = [*SMOOTH, "eta_l[t] == 1/(2*L) for t in 0..iterations-1"]
#: an equation -> its conditions, fields of the claim, and the share of the instances that meet it at least
MET = {
    f"{GAP} == 1": (PLAIN, {}, 0.8),
    f"1 == {GAP}": (PLAIN, {}, 0.8),
    f"{GAP} - 1 == 0": (PLAIN, {}, 0.8),
    f"{GAP} == R**2/2": (PLAIN, {}, 0.8),
    f"sqrt({GAP}) == 2": (PLAIN, {}, 0.8),
    f"{GAP} == 1 ": ([*SMOOTH, "L == 1"], {}, 0.8),
    f"{GAP} + L*{DISTANCE} == 5": ([*SMOOTH, "L == 1"], {}, 0.8),
    f"({GAP})*{DISTANCE} == 3": (PLAIN, {}, 0.8),
    f"{GAP} + {DISTANCE} == 4": (PLAIN, {}, 0.3),
    f"{DISTANCE} == 2": (PLAIN, {}, 0.8),
    "norm(x_star - x_round[0]) == 3*R": (PLAIN, {}, 0.8),
    f"{DISTANCE} == 7/L**2": (PLAIN, {}, 0.8),
    f"{SLOPE} == 4": (PLAIN, {}, 0.8),
    "norm(x_round[0]) == 1": (PLAIN, {}, 0.7),
    "norm2(x_round[1] - x_star) == 1": (PLAIN, {}, 0.6),
    "norm2(x_round[1] - x_round[0]) == 2": (PLAIN, {"method": "scaffold"}, 0.6),
    "E(objective(x_round[1])) - F_star == 1": (NOISY, {}, 0.5),
    "norm2(grad(1, x_star)) == 1": ([*PLAIN, "clients == 2"], {"equal_weights": False}, 0.4),
    "F(0, x_round[0]) - F_star_client[0] == 1": (PLAIN, {"sampling": "without-replacement"}, 0.6),
}


@pytest.mark.parametrize("condition", MET)
def test_instances_meet_it(condition, tmp_path):
    conditions, fields, share = MET[condition]
    claim, rng = claim_of([*conditions, condition], "F_star <= F_star", tmp_path, **fields), np.random.default_rng(0)
    (told,), met = normalisations(claim), []
    for _ in range(12):
        shape = draw_shape(claim, rng, 16, 10)
        params = draw_params(claim, shape, 8, rng)
        with np.errstate(all="ignore"):
            met += list(holds(told.condition, simulate(claim, shape, params, NUMPY), 8))
    assert np.mean(met) >= share


@pytest.mark.parametrize("condition", MET)
def test_an_exact_instance_meets_it_exactly(condition, tmp_path):
    """Of one coordinate; in its new units it stays as it is."""
    conditions, fields, _ = MET[condition]
    claim = claim_of([*conditions, condition], "F_star <= F_star", tmp_path, **fields)
    shape = Shape(clients=1 if "clients == 1" in conditions else 2, rounds=2, sampling=claim.procedure.sampling)
    params = draw_params(claim, shape, 1, np.random.default_rng(1))
    given = {"curvature": [[[1.0], [2.0]]], "center": [[[1.0], [3.0]]], "start_offset": [[1.5]],
             "step_fraction": [[0.5, 0.5]], "offset": [[0.0, 0.0]], "weight": [[1.0, 1.0]]}
    params |= {name: np.array(array)[:, : shape.clients] if name in ("curvature", "center", "offset", "weight")
               else np.array(array) for name, array in given.items()}
    exact = map_params(params, lambda name, array: each(array, lambda number: Fraction(number).limit_denominator(8)))
    environment = simulate(claim, shape, exact, EXACT)
    assert all(a == b and isinstance(a, Fraction) for a, b in pairs(normalisations(claim)[0].condition, environment))
    again = simulate(claim, *environment.instance, EXACT).instance
    assert again[0] == environment.instance[0]
    assert all((again[1][name] == array).all() for name, array in environment.instance[1].items())


#: conditions, a true bound on the left side, and a false one
JUDGED = {
    "gap": ([*DESCENT, f"{GAP} == 1"], "objective(x_round[rounds]) - F_star", "1", "1/10"),
    "gap by a number": ([*DESCENT, f"{GAP} == R**2/2"], "objective(x_round[1]) - F_star", "R**2/2", "R**2/10"),
    "gap by a bounded number": (
        [*DESCENT, "R <= 1/L", f"{GAP} == R**2/2"], "objective(x_round[1]) - F_star", "R**2/2", "R**2/10"),
    "slope": ([*DESCENT, f"{SLOPE} == 4"], "objective(x_round[1]) + 2/L", "objective(x_round[0])",
              "objective(x_round[0]) - 1/L"),
    "distance": ([*DESCENT, "R**2 == norm2(x_star - x_round[0])"], "objective(x_round[1]) - F_star", "L*R**2/6",
                 "L*R**2/10"),
    "distance 2": ([*DESCENT, f"{DISTANCE} == 2"], "objective(x_round[1]) - F_star", "L/3", "L/4"),
    "distance by L": ([*DESCENT, f"{DISTANCE} == 2/L**2"], "objective(x_round[1]) - F_star", "1/(3*L)", "1/(4*L)"),
    "from the origin": ([*DESCENT, "norm(x_round[0]) == 1"], "2*dot(x_round[1], x_round[0])", "norm2(x_round[1]) + 1", "2"),
    "a later model": ([*DESCENT, "norm2(x_round[1] - x_star) == 1"], "1", DISTANCE, f"2/3*{DISTANCE}"),
    "a client": ([*STRONG, "clients == 2", "norm2(grad(0, x_star)) == 1"], "1",
                 "Sum(norm2(grad(k, x_star)), (k, 0, clients-1))", "norm2(grad(1, x_star))/2"),
    "with noise": ([*NOISY, "E(norm2(x_round[1] - x_star)) == 1"], "1",
                   f"(1 - eta_l[0]*mu)*{DISTANCE} + eta_l[0]**2*sigma_sq",
                   f"(1 - eta_l[0]*mu)*{DISTANCE} + eta_l[0]**2*sigma_sq/2"),
    "with L": ([*DESCENT, "L == 1", f"{GAP} == 1"], SLOPE, "2", "3/2"),
    "with mu": ([*STRONG, f"{GAP} == 1"], DISTANCE, "2/mu", "1/mu"),
    "not convex, local steps": (
        [*SMOOTH, "L == 1", f"{SLOPE} == 3", "local_steps == 2", "eta_l[t] == 1/2 for t in 0..iterations-1"],
        SLOPE, "3", f"{SLOPE.replace('0', '1')} + 1/2"),
    "a free vector": ([*DESCENT, "norm2(y - x_star) == 3"], "objective(y) - F_star", "3*L/2", "L"),
    "a slope at a free vector": ([*DESCENT, "norm(objective_grad(y)) == 2"], "objective(y) - F_star",
                                 "norm2(y - x_star)*L/2", "norm2(y - x_star)*L/3"),
    "loss and length": ([*DESCENT, f"{DISTANCE} == 2", f"{GAP} == 1"], "1", "L", "L - 1/10"),
    "loss and length with L": ([*DESCENT, "L == 1", f"{DISTANCE} == 4", f"{GAP} == 1"],
                               "objective(x_round[1]) - F_star", "1", "1/10"),
}


@pytest.mark.parametrize("name", JUDGED)
def test_what_is_true_there_is_spared(name, tmp_path):
    conditions, left, right, _ = JUDGED[name]
    claim = claim_of(conditions, f"{left} <= {right}", tmp_path)
    found = decide(claim, Settings(budget="quick", federations=False, out=tmp_path))
    assert found.verdict == "consistent" and found.details["instances"]["met"] > 100


@pytest.mark.parametrize("name", JUDGED)
def test_what_is_false_there_is_refuted(name, tmp_path):
    """By a certificate that states the instance in the units in which it meets the equation."""
    conditions, left, _, right = JUDGED[name]
    claim = claim_of(conditions, f"{left} <= {right}", tmp_path)
    found = decide(claim, Settings(budget="quick", federations=False, out=tmp_path))
    assert found.verdict == "refuted"
    data = json.loads((tmp_path / found.certificate).read_text())
    assert replay_alone(data).accepted


#: conditions that no instance meets -> the verdict, and what it says
UNMET = {
    "nothing to scale": ([*DESCENT, "clients == 1", "norm2(grad(0, x_star)) == 1"], "ill-posed", "‖∇F_0(x_star)‖² = 1"),
    "three equations": ([*SMOOTH, "L == 1", f"{DISTANCE} == 1", f"{GAP} == 1"], "ill-posed", "L_client[k] ≤ L"),
    "another sign": ([*DESCENT, f"{GAP} == -1"], "ill-posed", "F(x_round[0]) − F_star = −1"),
    "an inequality at all points": ([*SMOOTH, "mu >= 2*L", f"{GAP} == 1",
                                     "norm2(objective_grad(v)) >= 2*mu*(objective(v) - F_star) for all v"],
                                    "undecided", "again met mu ≥ 2 L"),
}


@pytest.mark.parametrize("name", UNMET)
def test_what_cannot_be_met_is_ill_posed_or_undecided(name, tmp_path):
    conditions, verdict, words = UNMET[name]
    claim = claim_of(conditions, "F_star <= F_star - 1", tmp_path)
    found = decide(claim, Settings(budget="quick", federations=False))
    assert found.verdict == verdict and words in found.evidence


#: what has no root among fractions -> conditions, and the method
IRRATIONAL = {
    "the server divides by roots": ([*SMOOTH, "objective(x_round[1]) - F_star == 1"], "fedadam"),
    "one dimension": ([*DESCENT, "dim == 1", f"{DISTANCE} == 2"], "fedavg"),
}


@pytest.mark.parametrize("name", IRRATIONAL)
def test_what_only_floats_meet_is_undecided(name, tmp_path):
    conditions, method = IRRATIONAL[name]
    claim = claim_of(conditions, "F_star <= F_star - 1", tmp_path, method=method)
    found = decide(claim, Settings(budget="quick", federations=False))
    assert found.verdict == "undecided" and "no fractions were found that meet" in found.evidence


@pytest.mark.parametrize("number", ["2", "7", "1/3", "15/4", "9/16", "1000001/7"])
def test_every_fraction_is_a_sum_of_four_squares(number):
    found = _squares(Fraction(number))
    assert 1 <= len(found) <= 4 and sum(root**2 for root in found) == Fraction(number)


def test_gradients_go_through_the_change_of_units(tmp_path):
    claim = claim_of([*DESCENT, f"{GAP} == 1"], "F_star <= F_star", tmp_path)
    shape = Shape(clients=2, dim=2, rounds=2)
    params = draw_params(claim, shape, 1, np.random.default_rng(0))
    params = {name: torch.tensor(array, requires_grad=True) for name, array in params.items()}
    found = simulate(claim, shape, params, TORCH)
    found.bound["L_client"].data.sum().backward()
    assert params["start_offset"].grad.abs().sum() > 0


def test_rounding_errors_are_no_quantity(tmp_path):
    """The only client's gradient at the optimum is 0, whatever float64 says."""
    claim = claim_of([*SMOOTH, "norm2(grad(0, x_star)) == 1"], "F_star <= F_star", tmp_path)
    shape, rng = Shape(clients=1, family=PiecewiseClients(2)), np.random.default_rng(0)
    params = draw_params(claim, shape, 200, rng)
    units = simulate(claim, shape, params, NUMPY).instance[1]["center"]
    assert np.array_equal(units, params["center"])


#: equations that no change of units meets, or that none should
NOT_TOLD = {
    "a definition": "R == objective(x_round[0]) - F_star", "units that agree": f"{GAP} == L*{DISTANCE}/4",
    "a vector that is 0": "norm2(x_round[0] - x_star) == 0",
}


@pytest.mark.parametrize("name", NOT_TOLD)
def test_other_equations_change_no_units(name, tmp_path):
    claim = claim_of([*DESCENT, NOT_TOLD[name]], "F_star <= F_star", tmp_path)
    assert normalisations(claim) == ()


def test_what_depends_on_a_number_that_exists_is_not_told(tmp_path):
    """One instance must do for every value of the number."""
    steps = "eta_l[t] == gamma for t in 0..iterations-1"
    before, after = (claim_of([*SMOOTH, steps, f"{quantity} - F_star == 1"], "F_star <= F_star", tmp_path,
                              exists={"gamma": "(0, 1/L]"})
                     for quantity in ("objective(x_round[0])", "objective(x_round[1])"))
    assert normalisations(before) and not normalisations(after)
