"""Patterns on some rows of a batch: clients alike or mirrored, starts within a few rounds' way of the optimum."""

import numpy as np
import pytest

from bounds.registry import find_claim
from verify.data_instances import draw_data_shape
from verify.instances import Shape
from verify.patterns import patterned
from verify.sampling import draw_leaves

OF_LOSSES = ("curvature", "center", "offset", "tail", "piece_slope", "piece_center", "piece_width")
BY_COORDINATE = find_claim("fadamgc/eq-190")


def both(claim, shape, count=200):
    before = draw_leaves(claim, shape, count, np.random.default_rng(0))
    return before, patterned(claim, shape, before, np.random.default_rng(1))


@pytest.mark.parametrize("family", [{}, {"family": "piecewise", "pieces": 2}])
def test_in_some_rows_all_clients_are_alike_or_each_is_the_mirror_image_of_the_one_before(family):
    before, after = both(find_claim("fedmoswa/eq-65"), Shape(clients=3, dim=2, sampling="without-replacement", **family))
    names = [name for name in OF_LOSSES if name in before]
    alike = np.array([all((after[n][row] == after[n][row, :1]).all() for n in names) for row in range(200)])
    minima = [name for name in names if name.endswith("center")]
    mirrored = np.array([all((after[n][row, 1] == -after[n][row, 0]).all() for n in minima) for row in range(200)]) & ~alike
    assert 8 < alike.sum() < 60 and 3 < mirrored.sum() < 80
    others = ~alike & ~mirrored
    assert all(np.array_equal(before[name][others], after[name][others]) for name in before)
    assert all(np.array_equal(before[name], after[name]) for name in before if name not in names)


def test_starts_of_methods_with_steps_of_one_length_are_in_some_rows_as_far_away_as_a_few_rounds_go():
    before, after = both(BY_COORDINATE, Shape(dim=2, local_steps=2, rounds=3, sampling="without-replacement",
                                              sizes=(("trackers", 1),)))
    moved = (before["start_offset"] != after["start_offset"]).any(axis=1)
    way = 2 * before["eta"] * before["eta_g"]
    assert 30 < moved.sum() < 90
    assert (abs(after["start_offset"]) <= 3 * way[:, None])[moved].all()
    before, after = both(find_claim("fedmoswa/eq-65"), Shape(sampling="without-replacement"))
    assert np.array_equal(before["start_offset"], after["start_offset"])


def test_points_and_samples_stay_as_they_are():
    rng = np.random.default_rng(0)
    for name in ("fedmoswa/eq-19", "classical/sgd-stability-smooth"):
        claim = find_claim(name)
        shape = draw_data_shape(claim, Shape, rng, 1024, 40)
        leaves = draw_leaves(claim, shape, 3, rng)
        assert patterned(claim, shape, leaves, rng) is leaves
