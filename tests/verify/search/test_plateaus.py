"""Convex clients that are flatter amid than far out."""

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY
from verify.instances.draw import draw_leaves
from verify.instances.instance import federation_of
from verify.instances.piecewise import PiecewiseClients
from verify.instances.shape import Shape
from verify.search.corners.plateaus import PLATEAUS

CONVEX = find_claim("classical/gd-value")
SHAPE = Shape(clients=2, dim=2, family=PiecewiseClients(1))


def flattened(shape=SHAPE, count=400):
    rng = np.random.default_rng(0)
    leaves = draw_leaves(CONVEX, shape, count, rng)
    return leaves, PLATEAUS(CONVEX, shape, leaves, rng)


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
