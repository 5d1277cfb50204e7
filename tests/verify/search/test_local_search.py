"""Ascents from one instance: what moves, within which bounds, and that both reach what random search does not."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from bounds.controls.fedavg import CONTROLS, control
from bounds.language.claim import Condition, Procedure, Variable
from bounds.language.operators import E, L, iterations, local_steps, norm2, objective, sigma_sq, x_sampled, x_star
from synthetic.numbers.arrays import TORCH
from tests.not_empty import not_empty
from verify.evaluation.judge import Judgement, judge
from verify.instances.draw import draw_params
from verify.instances.instance import outcomes
from verify.instances.parameters import take_rows
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.search import local_search
from verify.search.budget import BUDGETS, Budget
from verify.search.local_search import Coordinates, ascend, evolve
from verify.search.search import search

TRUE = {row.claim.id: row.claim for row in CONTROLS}
SMOOTH_GAP = TRUE["control/smooth-gap"]
RUN = Shape(2, 0, 2, 2, 2, noisy=(1,))


def instance(claim, shape=RUN, seed=0):
    return draw_params(claim, shape, 1, np.random.default_rng(seed))


def judged(claim, shape=RUN):
    return lambda params: judge(claim, simulate(claim, shape, params, TORCH))


@pytest.mark.parametrize("seed", range(4))
def test_zero_is_the_instance_and_moves_stay_admissible(seed):
    params = instance(SMOOTH_GAP, seed=seed) | {"slack:L": np.array([[1.5]])}
    coordinates = Coordinates.from_parameters(SMOOTH_GAP, params)
    for name, array in coordinates.params(np.zeros((2, coordinates.size))).items():
        assert array.shape == (2, *params[name].shape[1:]) and np.array_equal(array[[1]], params[name])
    moved = coordinates.params(np.random.default_rng(seed).normal(size=(50, coordinates.size)))
    assert (moved["curvature"] > 0).all() and (moved["weight"] > 0).all() and (moved["slack:L"] >= 1).all()
    assert ((moved["step_fraction"] > 0) & (moved["step_fraction"] <= 1)).all()
    assert not np.array_equal(moved["center"][0], moved["center"][1])
    for name in ("epsilon", "available"):
        assert np.array_equal(moved[name], np.repeat(params[name], 50, axis=0))
    far = coordinates.params(np.full((1, coordinates.size), 1e4))
    assert np.isfinite(far["curvature"]).all()


def test_arrays_without_entries_stay():
    params = instance(SMOOTH_GAP) | {"piece_center": np.zeros((1, 2, 0, 1))}
    coordinates = Coordinates.from_parameters(SMOOTH_GAP, params)
    assert "piece_center" not in coordinates.parts
    assert coordinates.params(np.zeros((3, coordinates.size)))["piece_center"].shape == (3, 2, 0, 1)


def test_both_libraries_move_alike():
    coordinates = Coordinates.from_parameters(SMOOTH_GAP, instance(SMOOTH_GAP))
    u = np.random.default_rng(1).normal(size=(3, coordinates.size))
    ours, torchs = coordinates.params(u), coordinates.params(torch.tensor(u))
    assert all(np.allclose(ours[name], torchs[name].numpy(), rtol=1e-12, atol=0) for name in not_empty(ours))


def test_zeros_of_what_cannot_be_negative_and_equal_weights_stay():
    variable = (Variable("rate", "nonnegative"), Variable("share", "simplex", (("k", "clients"),)))
    claim = replace(SMOOTH_GAP, variables=variable, procedure=Procedure(equal_weights=True))
    params = instance(claim) | {"rate": np.array([0.0]), "share": np.array([[0.0, 2.0]])}
    coordinates = Coordinates.from_parameters(claim, params)
    moved = coordinates.params(np.ones((1, coordinates.size)))
    assert moved["rate"] == 0 and moved["share"][0, 0] == 0 and moved["share"][0, 1] > 2 and (moved["weight"] == 1).all()


distance = E(norm2(x_sampled[iterations] - x_star))
#: false by a hair, and only where the run's length, steps and noise fit together
HAIR = control("hair", "run", Condition(E(objective(x_sampled[iterations])), "<=", objective(x_star) + L / 2 * distance * (
    1 - sigma_sq / (1000 * (sigma_sq + L**2 * distance)))), variables=(Variable(local_steps.name, "integer", high=1),))


@pytest.mark.parametrize("stage", ["evolve", "ascend"])
@pytest.mark.parametrize("seed", range(2))
def test_a_stage_climbs(stage, seed):
    """From a random instance the score rises to at least half way to equality, and every hypothesis is still met."""
    params = instance(SMOOTH_GAP, seed=seed)
    before = judged(SMOOTH_GAP)(params)
    coordinates = Coordinates.from_parameters(SMOOTH_GAP, params)
    if stage == "evolve":
        end = evolve(judged(SMOOTH_GAP), coordinates, 25, 24, seed)
    else:
        end = ascend(SMOOTH_GAP, RUN, coordinates, 40, 8, np.random.default_rng(seed))
    after = judged(SMOOTH_GAP)(end)
    assert before.score[0] < -1e-3 and before.met.all()
    assert np.where(after.met, after.score, -2).max() > before.score[0] / 2


@pytest.mark.parametrize("seed", range(3))
def test_an_ascent_reaches_a_violation_that_is_a_hair(seed):
    """Two clients: the sides meet only where both curvatures are L. From an instance that is far from it."""
    shape = Shape(2, 0, 1, 1, 1, noisy=(0,))
    rows = draw_params(HAIR, shape, 64, np.random.default_rng(seed))
    verdict = judged(HAIR, shape)(rows)
    far = int(np.flatnonzero(verdict.met & (verdict.score < -0.01) & (verdict.score > -0.9))[0])
    end = evolve(judged(HAIR, shape), Coordinates.from_parameters(HAIR, take_rows(rows, [far])), 150, 24, seed)
    after = judged(HAIR, shape)(end)
    assert after.met.all() and after.score[0] > 0


def test_an_evolution_that_gets_nowhere_is_given_up():
    seen = []

    def nearly_flat(params):
        seen.append(params)
        scores = -0.5 + 1e-6 * np.sin(params["weight"]).sum(axis=1)
        return Judgement(scores, scores, np.ones(len(scores), dtype=bool))

    coordinates = Coordinates.from_parameters(SMOOTH_GAP, instance(SMOOTH_GAP))
    evolve(nearly_flat, coordinates, 9, 8, 0)
    assert len(seen) == 9
    evolve(nearly_flat, coordinates, 9, 8, 0, patience=3)
    assert len(seen) == 9 + 4


def test_an_evolution_that_grows_from_very_little_goes_on():
    """A bound that is a billion times too large, and half as loose after each step."""
    seen = []

    def still_loose(params):
        seen.append(params)
        scores = -1 + 1e-9 * 2 ** len(seen) * (2 + np.sin(params["weight"]).sum(axis=1))
        return Judgement(scores, scores, np.ones(len(scores), dtype=bool))

    evolve(still_loose, Coordinates.from_parameters(SMOOTH_GAP, instance(SMOOTH_GAP)), 9, 8, 0, patience=3)
    assert len(seen) == 9


def test_the_search_looks_at_the_ends_of_ascents():
    few = Budget(2, 8, 2)
    found = [search(HAIR, few, 2), search(HAIR, replace(few, local_searches=4, cma_steps=10, gradient_steps=10), 2)]
    assert found[1].tried > found[0].tried or found[0].violation


@pytest.mark.parametrize("row", ["control/smooth-gap", "control/contraction"])
def test_ascents_spare_true_claims(row):
    budget = Budget(3, 16, 2, local_searches=2, cma_steps=12, gradient_steps=12)
    assert all(search(TRUE[row], budget, seed).violation is None for seed in range(2))


@pytest.mark.parametrize(("most", "rows"), [(local_search._MOST_NUMBERS, 6), (4 * 256, 4), (2 * 256, 2), (255, None)])
def test_of_runs_that_keep_much_fewer_ascend(most, rows, monkeypatch):
    """Runs of 16 outcomes with 2 clients, 4 iterations and 2 coordinates."""
    monkeypatch.setattr(local_search, "_MOST_NUMBERS", most)
    coordinates = Coordinates.from_parameters(SMOOTH_GAP, instance(SMOOTH_GAP))
    end = ascend(SMOOTH_GAP, RUN, coordinates, 2, 6, np.random.default_rng(0))
    assert end is None if rows is None else len(end["center"]) == rows


def test_what_cannot_move_is_left_alone():
    coordinates = Coordinates({"available": np.ones((1, 2))}, {}, {})
    assert coordinates.size == 0 and evolve(None, coordinates, 5, 5, 0) is None
    assert ascend(SMOOTH_GAP, RUN, coordinates, 5, 5, np.random.default_rng(0)) is None
    assert BUDGETS["standard"].local_searches and BUDGETS["thorough"].local_searches


def test_numbers_of_a_shape_that_has_no_outcome_ascend_too():
    """Sizes in a claim about numbers alone need not be those of a run: three of two clients."""
    claim = replace(SMOOTH_GAP, setting="algebra", procedure=None, assumptions=(), conditions=(),
                    statement=Condition(L, "<=", 5), variables=(Variable("L", "positive"),))
    shape, params = Shape(2, participants=3, sampling="without-replacement"), {"L": np.array([4.0])}
    assert 0 in outcomes(shape)
    ends = ascend(claim, shape, Coordinates.from_parameters(claim, params), 40, 3, np.random.default_rng(0))
    assert (ends["L"] > 5).any()
