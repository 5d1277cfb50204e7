"""Patterns on some instances: clients alike, mirrored, dominated by one; near starts, tiny steps; other units."""

from dataclasses import replace

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY
from verify.instances.chance import chance_of
from verify.instances.draw import draw_leaves
from verify.instances.instance import federation_of
from verify.instances.piecewise import PiecewiseClients
from verify.instances.samples import draw_data_shape
from verify.instances.shape import Shape
from verify.measure.realise import realise
from verify.search.corners import CORNERS, units
from verify.search.corners.patterned import PATTERNED
from verify.search.corners.units import UNITS

OF_LOSSES = ("curvature", "center", "offset", "tail", "piece_slope", "piece_center", "piece_width")
BY_COORDINATE = find_claim("fadamgc/eq-190")


def both(claim, shape, count=200):
    before = draw_leaves(claim, shape, count, np.random.default_rng(0))
    return before, PATTERNED(claim, shape, before, np.random.default_rng(1))


@pytest.mark.parametrize("family", [{}, {"family": PiecewiseClients(2)}])
def test_in_some_rows_all_clients_are_alike_or_each_is_the_mirror_image_of_the_one_before(family):
    before, after = both(find_claim("fedmoswa/eq-65"), Shape(clients=3, dim=2, sampling="without-replacement", **family))
    names = [name for name in OF_LOSSES if name in before]
    alike = np.array([all((after[n][row] == after[n][row, :1]).all() for n in names) for row in range(200)])
    minima = [name for name in names if name.endswith("center")]
    mirrored = np.array([all((after[n][row, 1] == -after[n][row, 0]).all() for n in minima) for row in range(200)]) & ~alike
    assert 8 < alike.sum() < 60 and 3 < mirrored.sum() < 80
    dominated = (before["start_offset"] != after["start_offset"]).any(axis=1)
    others = ~alike & ~mirrored & ~dominated
    assert all(np.array_equal(before[name][others], after[name][others]) for name in before)
    assert all(np.array_equal(before[name][~dominated], after[name][~dominated]) for name in before if name not in names)


def test_in_some_rows_one_clients_gradient_is_as_large_as_all_others_and_the_mean_points_its_way():
    _, after = both(find_claim("fedmoswa/eq-65"), Shape(clients=4, dim=2, sampling="without-replacement"), 400)
    federation = federation_of(Shape(clients=4, dim=2), after, NUMPY)
    start = federation.x_star + after["start_offset"]
    slopes = np.stack([federation.gradient(start[:, None], np.full((400, 1), k))[:, 0] for k in range(4)], axis=1)
    mean, size = slopes.mean(axis=1), abs(slopes)
    one_by_one = (size[:, 1:] <= size[:, :1] / 3).all(axis=(1, 2)) & (slopes[:, :1] * slopes[:, 1:] < 0).all(axis=(1, 2))
    dominated = one_by_one & (mean * slopes[:, 0] > 0).all(axis=1) & (abs(mean) < size[:, 0] / 4).all(axis=1)
    assert 8 < dominated.sum() < 60
    before, after = both(find_claim("fedmoswa/eq-65"), Shape(clients=2, dim=2, sampling="without-replacement"))
    assert np.array_equal(before["start_offset"], after["start_offset"])  # of two clients none dominates


def test_some_local_steps_are_shorter_by_decades():
    before, after = both(BY_COORDINATE, Shape(sampling="without-replacement", sizes=(("trackers", 1),)), 400)
    share = after["eta"] / before["eta"]
    assert ((share <= 1) & (share >= 1e-8)).all() and 30 < (share < 1).sum() < 100 and share.min() < 1e-6
    assert np.array_equal(before["eta_g"], after["eta_g"])


@pytest.mark.parametrize("claim_id", ["fadamgc/eq-164", "fedmoswa/lemma-g.9", "fedalign/theorem-1", "classical/gd-value"])
def test_runs_in_other_units_are_the_same_runs(claim_id, monkeypatch):
    """Models, seen from the optimum, are multiplied by the unit of length, losses by that of loss."""
    claim, rng = find_claim(claim_id), np.random.default_rng(3)
    shape = Shape(clients=2, dim=2, local_steps=2, rounds=2, sampling=claim.procedure.sampling, noisy=(0,),
                  sizes=(("trackers", 1),) if claim_id.startswith("fadamgc") else (),
                  chance=chance_of(claim.procedure, claim.variables))
    before = draw_leaves(claim, shape, 12, rng)
    if "eps" in before:
        before["eps"] = before["eps"] + 0.01
    monkeypatch.setattr(units, "_SHARE", 1.0)
    after = UNITS(claim, shape, before, rng)
    assert (after["curvature"] != before["curvature"]).all()
    first, second = (realise(claim, shape, leaves, NUMPY).bound for leaves in (before, after))
    nonzero = before["center"][:, 0, 0] != 0
    length = after["center"][nonzero, 0, 0] / before["center"][nonzero, 0, 0]
    loss = after["curvature"][nonzero, 0, 0] / before["curvature"][nonzero, 0, 0] * length**2
    assert nonzero.sum() > 1
    for name, factor in {"x_local": length, "x_round": length, "g": loss / length, "L_client": loss / length**2}.items():
        one, other = first[name].data[nonzero], second[name].data[nonzero]
        wanted = one * factor.reshape(-1, *(1,) * (one.ndim - 1))
        near = 1e-9 * abs(wanted).max(axis=tuple(range(1, one.ndim)), keepdims=True)
        assert (abs(other - wanted) <= near).all(), name


def test_starts_of_methods_with_steps_of_one_length_are_in_some_rows_as_far_away_as_a_few_rounds_go():
    before, after = both(BY_COORDINATE, Shape(dim=2, local_steps=2, rounds=3, sampling="without-replacement",
                                              sizes=(("trackers", 1),)))
    moved = (before["start_offset"] != after["start_offset"]).any(axis=1)
    way = 2 * before["eta"] * before["eta_g"]
    assert 30 < moved.sum() < 90
    assert (abs(after["start_offset"]) <= 3 * way[:, None])[moved].all()
    before, after = both(find_claim("fedmoswa/eq-65"), Shape(sampling="without-replacement"))
    assert np.array_equal(before["start_offset"], after["start_offset"])


@pytest.mark.parametrize("corner", CORNERS, ids=lambda corner: corner.name)
@pytest.mark.parametrize("name", ["fedmoswa/eq-19", "classical/sgd-stability-smooth"])
def test_points_and_samples_stay_as_they_are(corner, name):
    claim, rng = find_claim(name), np.random.default_rng(0)
    shape = draw_data_shape(claim, rng, 1024, 40)
    leaves = draw_leaves(claim, shape, 3, rng)
    assert replace(corner, share=1.0)(claim, shape, leaves, rng) is leaves
