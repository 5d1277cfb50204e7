"""Corners of single layers, and draws of layers that cannot be."""

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY
from verify.evaluation.judge import judge
from verify.evaluation.means import of_possible
from verify.instances.chance import chance_of
from verify.instances.draw import draw_params, draw_shape
from verify.instances.instance import federation_of
from verify.instances.piecewise import PiecewiseClients
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.search.stages import layer_shapes
from verify.search.transformations.layers import LAYERS

NOISE = find_claim("fedluar/lemma-3.1@ratios-exist")  # kappa is the largest ratio of the run, layers are drawn
QUADRATIC = {"layers": (1, 1), "dim": 2, "rounds": 2, "sizes": (("recycled", 1),),
             "chance": chance_of(NOISE.procedure, NOISE.variables)}


def both(shape, count=400):
    before = draw_params(NOISE, shape, count, np.random.default_rng(0))
    return before, LAYERS(NOISE, shape, before, np.random.default_rng(1))


@pytest.mark.parametrize("family", [{}, {"family": PiecewiseClients(2)}])
def test_layers_start_at_zero_at_their_optimum_or_far_away(family):
    shape = Shape(clients=2, **QUADRATIC | family | {"layers": (1, 2), "dim": 3})
    before, after = both(shape)
    start, optimum = (federation_of(shape, after, NUMPY).x_star + after["start_offset"], after["start_offset"])
    for layer in (slice(0, 1), slice(1, 3)):
        moved = (before["start_offset"][:, layer] != after["start_offset"][:, layer]).any(axis=1)
        zero = (abs(start[:, layer]) < 1e-12).all(axis=1) & moved
        still = (optimum[:, layer] == 0).all(axis=1) & moved
        far = (abs(after["center"][:, :, layer] - before["center"][:, :, layer]) > 3).all(axis=(1, 2))
        assert 20 < zero.sum() < 120 and 5 < still.sum() < 60 and 5 < far.sum() < 60
        assert ((zero | still) == moved).all()


def test_a_layer_lands_on_its_optimum_in_one_step():
    before, after = both(Shape(**QUADRATIC))
    lands = (after["curvature"][:, 0] * after["eta"].reshape(-1, 1) == 1).any(axis=1)
    assert not (before["curvature"][:, 0] * before["eta"].reshape(-1, 1) == 1).any() and 40 < lands.sum() < 160
    assert (after["curvature"].max(axis=(1, 2)) == 1 / after["eta"].ravel())[lands].all()


def test_corners_show_what_no_generic_layer_does():
    """One layer starts at 0 and is not drawn, the other is at its optimum when its first step comes again."""
    violated = [(verdict.met & (verdict.score > 0.1)).any() for verdict in (
        judge(NOISE, simulate(NOISE, Shape(**QUADRATIC), params, NUMPY)) for params in both(Shape(**QUADRATIC), 1000))]
    assert violated == [False, True]


def test_points_samples_and_runs_without_layers_stay_as_they_are():
    rng = np.random.default_rng(0)
    for name in ("fedalign/theorem-1", "fedalign/lemma-A6", "fedmoswa/eq-19"):  # runs, points, samples
        claim = find_claim(name)
        shape = draw_shape(claim, rng, 64, 40)
        params = draw_params(claim, shape, 3, rng)
        assert LAYERS(claim, shape, params, rng) is params and layer_shapes(claim, rng, 64, 5) == []


def test_short_runs_recycle_some_layers_but_not_all():
    for name in ("fedluar/lemma-3.1", "fedluar/eq-14@forced", "fedluar/eq-13@sampled"):
        shapes = layer_shapes(find_claim(name), np.random.default_rng(0), 64, 12)
        assert len(shapes) == 12 and {len(s.layers) for s in shapes} == {2, 3}
        assert all(0 < dict(s.sizes)["recycled"] < len(s.layers) == s.dim and s.rounds in (2, 3) for s in shapes)


# what cannot be ----------------------------------------------------------------------------------------------------------
def test_outcomes_of_no_probability_say_what_another_one_says():
    data = np.arange(12.0).reshape(2, 1, 3, 2)
    possible = np.array([[[False, True, True]], [[True, False, False]]])
    found = of_possible(data, possible)
    assert found[0, 0].tolist() == [[2, 3], [2, 3], [4, 5]] and found[1, 0].tolist() == [[6, 7]] * 3
    assert of_possible(data, None) is data and of_possible(data[:, :, :1], possible) is not data
    certain = data[:1, :, :1]
    assert of_possible(certain, possible) is certain


def test_a_number_that_hypotheses_bound_is_not_bounded_by_draws_that_cannot_be():
    shape = Shape(**QUADRATIC)
    params = draw_params(NOISE, shape, 1, np.random.default_rng(0)) | {
        "center": np.array([[[1.0, 0.0]]]), "curvature": np.array([[[0.5, 1.0]]]), "start_offset": np.array([[-1.0, 1.0]])}
    for name in params:
        if name.startswith("slack:") or name == "eta":
            params[name] = np.ones_like(params[name])
    bound = simulate(NOISE, shape, params, NUMPY).bound
    assert (bound["kappa"].data == 0).all()  # the layer at 0 has weight 0, and the other's gradient is 0 when it is recycled
