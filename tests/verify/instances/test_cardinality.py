"""Truth values of which a claim says how many are true."""

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from verify.instances.cardinality import with_counts
from verify.instances.draw import draw_params, draw_shape
from verify.instances.offspring import offspring

GIVEN_LAYERS = find_claim("fedluar/lemma-A.2-smooth@forced")  # none in round 0, then ``recycled`` of them


def as_many_as_asked(shape, params):
    many = params["masks"].sum(axis=-1)
    return (many[:, 0] == 0).all() and (many[:, 1:] == dict(shape.sizes)["recycled"]).all()


def test_drawn_and_changed_truth_values_have_the_numbers_that_the_claim_prints():
    rng = np.random.default_rng(0)
    for _ in range(30):
        shape = draw_shape(GIVEN_LAYERS, rng, 64, 20)
        params = draw_params(GIVEN_LAYERS, shape, 3, rng)
        assert as_many_as_asked(shape, params)
        changed = offspring(GIVEN_LAYERS, shape, {n: a[:1] for n, a in params.items()}, 8, rng)
        assert as_many_as_asked(shape, changed)


def test_what_has_the_number_stays_and_others_change_least():
    rng = np.random.default_rng(1)
    shape = next(s for s in (draw_shape(GIVEN_LAYERS, rng, 64, 20) for _ in range(2000))
                 if len(s.layers) == 3 and dict(s.sizes)["recycled"] == 2 and s.rounds == 2)
    params = draw_params(GIVEN_LAYERS, shape, 3, rng)
    second = ((1, 0, 1), (0, 1, 1), (1, 1, 0))
    right = params | {"masks": np.array([[(0, 0, 0), row] for row in second], dtype=float)}
    assert (with_counts(GIVEN_LAYERS, shape, right, rng)["masks"] == right["masks"]).all()
    wrong = params | {"masks": np.array([[[1, 0, 0], [0, 1, 0]]] * 200, dtype=float)}
    moved = with_counts(GIVEN_LAYERS, shape, wrong, rng)["masks"]
    assert (moved[:, 0] == 0).all() and (moved[:, 1, 1] == 1).all()
    assert 40 < moved[:, 1, 0].sum() < 160  # the other one is drawn


@pytest.mark.parametrize("claim_id", ["fedluar/eq-14-reason", "fedmoswa/lemma-g.9"])
def test_claims_that_count_nothing_keep_their_leaves(claim_id):
    claim, rng = find_claim(claim_id), np.random.default_rng(0)
    shape = draw_shape(claim, rng, 64, 20)
    params = draw_params(claim, shape, 3, rng)
    assert with_counts(claim, shape, params, rng) is params
