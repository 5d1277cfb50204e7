"""Nonconvex clients that are concave wherever a run goes."""

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import NUMPY
from tests.not_empty import not_empty
from verify.instances.draw import draw_params
from verify.instances.instance import federation_of
from verify.instances.piecewise import PiecewiseClients
from verify.instances.shape import Shape
from verify.search.budget import BUDGETS
from verify.search.search import search
from verify.search.transformations.hills import HILLS

NONCONVEX, CONVEX = find_claim("classical/gd-nonconvex"), find_claim("classical/gd-value")
SHAPE = Shape(clients=2, dim=2, family=PiecewiseClients(2))

HEAD = """assume = ["L_client[k] <= L for each k", "sigma_sq_client[k] <= sigma_sq for each k"]
variables = {eta = "positive"}
"""
STEP = '"rounds == 1", "eta_l[t] == eta for each t", "eta <= 1/(L*local_steps)"'
ROWS = {  # statement: whether it is true, and its conditions
    "norm(x_before[local_steps, k] - x_round[0]) <= 7/4*eta*local_steps*norm(grad(k, x_round[0])) for each k":
        (True, f'{STEP}, "sigma_sq <= 0"'),
    "norm(x_before[local_steps, k] - x_round[0]) <= 33/20*eta*local_steps*norm(grad(k, x_round[0])) for each k":
        (False, f'{STEP}, "sigma_sq <= 0"'),
    "Mean(norm2(x_local[t, k] - x_round[0]), k) <= 8/7*eta**2*local_steps**2*Mean(norm2(grad(k, x_round[0])), k) for each t":
        (False, f'{STEP.replace("1/(L", "1/(2*L")}, "sigma_sq <= 0"'),
    "E(norm2(x_round[2] - E(x_round[2]))) <= 5*eta**2*sigma_sq":
        (True, '"local_steps == 1", "clients == 1", "rounds == 2", "eta_l[t] == eta for each t", "eta <= 1/L"'),
    "E(norm2(x_round[2] - E(x_round[2]))) <= 4*eta**2*sigma_sq":
        (False, '"local_steps == 1", "clients == 1", "rounds == 2", "eta_l[t] == eta for each t", "eta <= 1/L"'),
}


@pytest.mark.parametrize("statement", ROWS)
def test_what_holds_only_where_gradients_do_not_grow_is_refuted(statement, tmp_path):
    (true, conditions), file = ROWS[statement], tmp_path / "own.toml"
    file.write_text(f'[[claim]]\nid = "own/hill"\n{HEAD}conditions = [{conditions}]\nstatement = "{statement}"\n')
    found = search(load_claims(file)[0], BUDGETS["quick"], 0)
    assert (found.violation is None) == true and found.met


def test_runs_start_where_all_clients_are_concave():
    rng = np.random.default_rng(0)
    before = draw_params(NONCONVEX, SHAPE, 400, rng)
    after = HILLS(NONCONVEX, SHAPE, before, rng)
    moved = (before["piece_slope"] != after["piece_slope"]).any(axis=(1, 2, 3))
    assert 60 < moved.sum() < 180
    federation = federation_of(SHAPE, after, NUMPY)
    start = (federation.x_star + after["start_offset"])[:, None]
    for axis in not_empty(range(2)):
        little = np.eye(2)[axis] / 16
        bend = (federation.value(np.broadcast_to(start + s * little, (400, 2, 2))) for s in (1, -1, 0))
        ahead, behind, here = bend
        assert (ahead + behind < 2 * here)[moved].all()
    assert np.isfinite(federation.F_star[moved]).all()


@pytest.mark.parametrize("claim, shape", [(CONVEX, SHAPE), (NONCONVEX, Shape(clients=2))])
def test_other_clients_stay_as_they_are(claim, shape):
    rng = np.random.default_rng(0)
    before = draw_params(claim, shape, 5, rng)
    assert HILLS(claim, shape, before, rng) is before


def test_other_transformations_draw_what_they_would_without_it():
    rng, same = np.random.default_rng(0), np.random.default_rng(0)
    before = draw_params(NONCONVEX, SHAPE, 5, rng)
    draw_params(NONCONVEX, SHAPE, 5, same)
    HILLS(NONCONVEX, SHAPE, before, rng)
    assert rng.random() == same.random()
