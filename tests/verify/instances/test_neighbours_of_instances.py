"""Neighbours of an instance with another integer, other participants or noise elsewhere; one client unlike all others."""

import numpy as np

from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY
from verify.instances.draw import draw_params, draw_shape
from verify.instances.neighbours import with_another_integer, with_other_noise, with_other_participants
from verify.instances.shape import Shape
from verify.measure.simulate import simulate


def test_an_integer_of_the_claim_moves_by_one_and_stays_where_it_may_be():
    claim, rng = find_claim("fedluar/lemma-3.1"), np.random.default_rng(0)
    shape = Shape(dim=2, layers=(1, 1), sizes=(("recycled", 1),))
    assert {dict(with_another_integer(claim, shape, rng).sizes)["recycled"] for _ in range(30)} == {0, 2}
    none = Shape(dim=2, layers=(1, 1), sizes=(("recycled", 0),))
    assert {dict(with_another_integer(claim, none, rng).sizes)["recycled"] for _ in range(30)} == {0, 1}
    assert with_another_integer(find_claim("fedmoswa/lemma-g.9"), Shape(), rng) == Shape()


def test_participants_move_by_one_between_one_and_all():
    rng = np.random.default_rng(0)
    shape = Shape(clients=3, participants=3, sampling="without-replacement")
    assert {with_other_participants(shape, rng).participants for _ in range(30)} == {2, 3}
    assert with_other_participants(Shape(clients=3), rng) == Shape(clients=3)


def test_noise_comes_and_goes_client_by_client():
    claim, rng = find_claim("fedmoswa/lemma-g.9"), np.random.default_rng(0)
    shape = next(s for s in (draw_shape(claim, rng, 64, 10) for _ in range(500)) if s.clients == 2 and not s.noisy)
    params, seen = draw_params(claim, shape, 1, rng), set()
    for _ in range(40):
        before = dict(zip(shape.noisy, np.moveaxis(params["noise"], 1, 0), strict=True)) if shape.noisy else {}
        shape, params = with_other_noise(shape, params, rng)
        assert ("noise" in params) == bool(shape.noisy) and list(shape.noisy) == sorted(set(shape.noisy))
        for slot, client in enumerate(shape.noisy):
            assert client not in before or (params["noise"][:, slot] == before[client]).all()
        seen.add(shape.noisy)
    assert seen == {(), (0,), (1,), (0, 1)}
    simulate(claim, shape, params, NUMPY)


def test_some_instances_have_one_client_unlike_all_others():
    params = draw_params(find_claim("fedmoswa/lemma-g.9"), Shape(clients=12, participants=1), 400, np.random.default_rng(0))
    for name in ("curvature", "center"):
        column = params[name][:, :, 0]
        alone = [len(set(row)) == 2 and min(np.sum(row == row[0]), np.sum(row != row[0])) == 1 for row in column]
        assert sum(alone) > 20, name
