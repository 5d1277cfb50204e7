"""Pieces on the path of a run: the run starts where it did, and a piece's end or middle lies on one of its steps."""

from dataclasses import replace

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY
from verify.instances.draw import draw_params
from verify.instances.instance import federation_of
from verify.instances.piecewise import PiecewiseClients
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.search.transformations.knots import KNOTS

CLAIM = find_claim("fedmoswa/eq-34")
ALWAYS = replace(KNOTS, share=1.0)
SHAPE = Shape(clients=2, rounds=2, local_steps=2, dim=2, family=PiecewiseClients(2))


def moved(seed=0, count=64, half_tangent=None):
    rng = np.random.default_rng(seed)
    params = draw_params(CLAIM, SHAPE, count, rng)
    if half_tangent is not None:
        params["half_tangent"] = np.full((count, 1), half_tangent)
    return params, ALWAYS(CLAIM, SHAPE, params, rng)


@pytest.mark.parametrize(("seed", "half_tangent"), [(0, None), (1, None), (2, 0.4)])
def test_runs_start_where_they_did_on_pieces_of_the_same_slope(seed, half_tangent):
    before, after = moved(seed, half_tangent=half_tangent)
    assert set(before) == set(after)
    assert {n for n in before if not np.array_equal(before[n], after[n])} == {"piece_center", "piece_width", "start_offset"}
    starts = [federation_of(SHAPE, each, NUMPY).x_star + each["start_offset"] for each in (before, after)]
    np.testing.assert_allclose(*starts, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("half_tangent", [None, 0.4])
def test_moved_pieces_have_an_end_or_their_middle_on_a_step(half_tangent):
    before, after = moved(half_tangent=half_tangent)
    run = simulate(CLAIM, SHAPE, before, NUMPY).bound
    steps = [(run["x_round"].data[:, 0, 0, r], run["x_round"].data[:, 0, 0, r + 1]) for r in range(SHAPE.rounds)]
    steps += [(run["x_local"].data[:, 0, 0, t, k], run["x_before"].data[:, 0, 0, t + 1, k])
              for t in range(SHAPE.iterations) for k in range(SHAPE.clients)]
    points = np.stack([a + u * (b - a) for a, b in steps for u in (0, 0.5, 1)])  # (points, instances, dim)
    if half_tangent is not None:
        c, s = np.cos(2 * np.arctan(half_tangent)), np.sin(2 * np.arctan(half_tangent))
        points = points @ np.array([[c, -s], [s, c]])  # R' of each, as pieces stand in the coordinates before the turn
    where = np.argwhere((before["piece_center"] != after["piece_center"]).any(axis=-1))
    assert len(where) > 10
    for row, client, piece in where:
        center, width = (after[name][row, client, piece] for name in ("piece_center", "piece_width"))
        near = [abs(points[:, row] - knot).max(axis=1).min() for knot in (center - width, center, center + width)]
        assert min(near) < 1e-9 * (1 + abs(center).max())


@pytest.mark.parametrize("shape", [Shape(clients=2, rounds=2), Shape(clients=2, dim=2, local_steps=3)])
def test_other_clients_stay_as_they_are(shape):
    rng = np.random.default_rng(0)
    params = draw_params(CLAIM, shape, 4, rng)
    assert ALWAYS(CLAIM, shape, params, rng) is params
