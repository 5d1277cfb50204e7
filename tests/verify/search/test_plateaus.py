"""Convex clients that are flatter amid than far out."""

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY
from verify.instances.draw import draw_params
from verify.instances.instance import federation_of
from verify.instances.piecewise import PiecewiseClients
from verify.instances.shape import Shape
from verify.search.transformations.plateaus import PLATEAUS, RESTING

CONVEX = find_claim("classical/gd-value")
SHAPE = Shape(clients=2, dim=2, family=PiecewiseClients(1))


def flattened(shape=SHAPE, count=400):
    rng = np.random.default_rng(0)
    params = draw_params(CONVEX, shape, count, rng)
    return params, PLATEAUS(CONVEX, shape, params, rng)


def test_a_piece_takes_at_most_the_curvature_of_the_tail():
    before, after = flattened()
    assert {name for name in before if not np.array_equal(before[name], after[name])} == {"piece_slope"}
    bent = (before["piece_slope"] != after["piece_slope"]).any(axis=(1, 2, 3))
    assert 40 < bent.sum() < 160
    least = federation_of(SHAPE, after, NUMPY).convexity().value
    assert (least >= -1e-12).all() and (least[bent].min(axis=1) < 1e-12).sum() > 20  # convex, and flat somewhere
    assert np.isfinite(federation_of(SHAPE, after, NUMPY).x_star).all()


@pytest.mark.parametrize("shape", [Shape(clients=2), Shape(clients=1, rounds=2, dim=2)])
def test_other_clients_stay_as_they_are(shape):
    before, after = flattened(shape, 5)
    assert after is before


def test_some_clients_have_one_minimum_with_a_kink_and_are_convex():
    """The first of two pieces takes the tail's curvature around the minimum, the second one is the kink."""
    shape = Shape(clients=2, dim=2, family=PiecewiseClients(2))
    before, after = flattened(shape)
    one = (after["piece_center"] == after["center"][:, :, None]).all(axis=(1, 2, 3)) & (before["tail"] > 0).all(axis=(1, 2))
    one &= (after["center"] == after["center"][:, :1]).all(axis=(1, 2))
    assert 20 < one.sum() < 160
    federation = federation_of(shape, after, NUMPY)
    assert (federation.convexity().value >= -1e-9 * federation.smoothness().value)[one].all()
    at_the_kink, least = federation.objective(after["center"][:, 0]), federation.objective(federation.x_star)
    assert np.allclose(at_the_kink[one], least[one], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("pieces", [1, 2])
def test_some_runs_start_at_another_minimum(pieces):
    shape, rng = Shape(clients=2, dim=2, family=PiecewiseClients(pieces)), np.random.default_rng(0)
    before = draw_params(CONVEX, shape, 400, rng)
    after = RESTING.change(CONVEX, shape, before, rng)
    resting = (before["start_offset"] != after["start_offset"]).any(axis=1)
    federation = federation_of(shape, after, NUMPY)
    start = federation.x_star + after["start_offset"]
    at_rest = (federation.gradient(federation.all_clients(start)) == 0).all(axis=(1, 2))
    assert 20 < resting.sum() < 80 and at_rest[resting].mean() > 0.5
    assert (abs(after["start_offset"])[resting] > 0).all()
    assert (federation.convexity().value[resting] >= -1e-9 * federation.smoothness().value[resting]).all()
