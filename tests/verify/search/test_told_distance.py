"""Equations that tell how far from the optimum a run starts are met by construction, in floats and in fractions."""

import json
from fractions import Fraction

import numpy as np
import pytest

from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import EXACT, NUMPY
from verify.claims.hypotheses import told_distance
from verify.exact.replay import instance_of
from verify.instances.draw import draw_leaves, draw_shape
from verify.measure.realise import realise
from verify.referee.decide import Settings, decide

CLASS = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= 0 for k in 0..clients-1",
         "sigma_sq_client[k] <= 0 for k in 0..clients-1", "local_steps == 1", "eta_l[t] == 1/L for t in 0..iterations-1"]

#: an equation -> the square of the distance
TOLD = {
    "norm2(x_round[0] - x_star) == 4": "4", "norm(x_star - x_round[0]) == 3*R": "9*R**2",
    "R**2 == norm2(x_star - x_round[0])": "R**2", "norm2(x_round[0] - x_star) == 1/L**2": "1/L**2",
    "norm(x_round[0] - x_star) == S": "S**2",
}
#: equations that do not tell a distance that is rational where their numbers are
UNTOLD = ("norm2(x_round[0] - x_star) == 2", "norm2(x_round[rounds] - x_star) == 4", "norm2(x_round[0]) == 4")


def claim_of(condition, statement, path):
    """With a number that is bounded by another one, if its name occurs."""
    bounded = "S" in condition.replace("x_star", "").split()
    file, names = path / "own.toml", 'S = "positive"' if bounded else 'R = "positive"'
    file.write_text(f'[[claim]]\nid = "own/one"\nvariables = {{{names}}}\nstatement = "{statement}"\n'
                    f"conditions = {json.dumps([*CLASS, condition, *['S <= 1/L'] * bounded])}\n")
    return load_claims(file)[0]


@pytest.mark.parametrize("condition", TOLD)
def test_every_instance_starts_there(condition, tmp_path):
    claim, rng = claim_of(condition, "F_star <= F_star", tmp_path), np.random.default_rng(0)
    for _ in range(4):
        shape = draw_shape(claim, rng, 16, 10, 2)
        leaves = draw_leaves(claim, shape, 3, rng)
        found = realise(claim, shape, leaves, NUMPY)
        offset = found.bound["x_round"].data.reshape(3, -1, shape.dim)[:, 0] - found.federation.x_star
        numbers = {name: found.bound[name].data.reshape(-1) for name in ("R", "S", "L") if name in found.bound}
        wanted = eval(TOLD[condition], {}, numbers)
        np.testing.assert_allclose((offset**2).sum(axis=1), wanted, rtol=1e-12)


@pytest.mark.parametrize("condition", UNTOLD)
def test_no_other_start_moves(condition, tmp_path):
    claim, rng = claim_of(condition, "F_star <= F_star", tmp_path), np.random.default_rng(0)
    shape = draw_shape(claim, rng, 16, 10, 2)
    leaves = draw_leaves(claim, shape, 2, rng)
    found = realise(claim, shape, leaves, NUMPY)
    start = found.bound["x_round"].data.reshape(2, -1, shape.dim)[:, 0]
    assert told_distance(claim) is None and np.array_equal(start, found.federation.x_star + leaves["start_offset"])


BOUNDS = ("L/5", "L*R**2/2", "L*R**2/10", "1/(10*L)", "L*S**2/10")


@pytest.mark.parametrize(("condition", "bound"), [*zip(TOLD, BOUNDS, strict=True)])
def test_what_is_false_there_is_refuted(condition, bound, tmp_path):
    """Gradient descent with step 1/L leaves L D^2 / 6 after one round. The certificate tells the start as it is."""
    claim = claim_of(condition, f"objective(x_round[rounds]) - F_star <= {bound}", tmp_path)
    found = decide(claim, Settings(budget="quick", federations=False, out=tmp_path))
    assert found.verdict == "refuted"
    data = json.loads((tmp_path / found.certificate).read_text())
    shape, leaves = instance_of(data)
    again = realise(claim, shape, leaves, EXACT)
    offset = again.bound["x_round"].data.reshape(1, -1, shape.dim)[0, 0] - again.federation.x_star[0]
    assert [str(number) for number in offset] == data["instance"]["start_offset"]
    assert all(isinstance(number, Fraction) for number in offset)


def test_what_is_true_there_is_spared(tmp_path):
    claim = claim_of("R**2 == norm2(x_star - x_round[0])", "objective(x_round[rounds]) - F_star <= L*R**2/6", tmp_path)
    found = decide(claim, Settings(budget="quick", federations=False, out=tmp_path))
    assert found.verdict == "consistent" and found.ratio > 0.5
