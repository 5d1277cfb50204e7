"""Thresholds of free clients between the losses of two outcomes of chance."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY
from verify.instances.draw import draw_params
from verify.instances.instance import outcomes
from verify.instances.shape import Shape
from verify.instances.shapes import small_shapes
from verify.measure.simulate import simulate
from verify.search.budget import BUDGETS
from verify.search.search import search
from verify.search.transformations.inclusion import INCLUSION

CLAIM = find_claim("fedalign/step-T9@as-printed")
SHAPE = Shape(clients=2, free=1, rounds=2, noisy=(0,))


def rows_with_random_inclusion(params):
    included = simulate(CLAIM, SHAPE, params, NUMPY).bound["included"].data[..., 1]
    return (included.max(axis=(1, 2)) != included.min(axis=(1, 2))).any(axis=1).sum()


def test_a_free_client_is_included_on_some_outcomes_alone():
    rng = np.random.default_rng(0)
    before = draw_params(CLAIM, SHAPE, 200, rng)
    after = replace(INCLUSION, share=1.0)(CLAIM, SHAPE, before, rng)
    assert {name for name in before if not np.array_equal(before[name], after[name])} == {"epsilon"}
    assert rows_with_random_inclusion(before) < 5 and rows_with_random_inclusion(after) > 25


@pytest.mark.parametrize("shape", [replace(SHAPE, rounds=1), replace(SHAPE, noisy=()), replace(SHAPE, free=0)])
def test_without_chance_or_later_rounds_thresholds_stay(shape):
    rng = np.random.default_rng(0)
    params = draw_params(CLAIM, shape, 5, rng)
    assert replace(INCLUSION, share=1.0)(CLAIM, shape, params, rng) is params


@pytest.mark.parametrize("seed", range(3))
def test_small_shapes_have_free_clients_and_chance_over_several_rounds(seed):
    shapes = small_shapes(CLAIM, np.random.default_rng(seed), 64, BUDGETS["quick"].small)
    assert any(shape.free and shape.rounds > 1 and prod(outcomes(shape)) > 1 for shape in shapes)


@pytest.mark.parametrize("step", ["step-T8", "step-T9", "step-T10", "step-T11"])
def test_an_expectation_of_what_is_included_is_not_its_value(step):
    """Before, at the quick budget, the inclusion of no client varied over two rounds."""
    assert search(find_claim(f"fedalign/{step}@as-printed"), BUDGETS["quick"]).violation
