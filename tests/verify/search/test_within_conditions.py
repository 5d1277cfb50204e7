"""Numbers scaled into conditions about the run that they make."""

import numpy as np
import pytest

from bounds.registry.claims import find_claim
from synthetic.numbers.arrays import NUMPY, TORCH
from verify.claims.method import subset_left_open
from verify.evaluation.environment import TooManyTerms
from verify.evaluation.judge import holds, judge
from verify.instances.chance import chance_of
from verify.instances.draw import draw_params
from verify.instances.parameters import map_params
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.search.transformations import within_conditions as module
from verify.search.transformations.within_conditions import WITHIN_CONDITIONS

STEPS = find_claim("fadamgc/eq-42")  # eta eta_g is at most a multiple of 1/(G + eps), of a run whose gradients G bounds
CLIPPED = find_claim("fadamgc/eq-157")  # besides, eta alone is: then G is assumed
SQUARED = find_claim("fadamgc/eq-81")  # (1 - beta1) K L^2 is at most eps^2


def drawn(claim, count=400, **sizes):
    sizes = {"clients": 3, "participants": 3, "local_steps": 2, "rounds": 2} | sizes
    shape = Shape(**sizes, sampling=claim.procedure.sampling, chance=chance_of(claim.procedure, claim.variables),
                  sizes=tuple((name, sizes["participants"]) for name in subset_left_open(claim)))
    return shape, draw_params(claim, shape, count, np.random.default_rng(0))


def met(claim, shape, params):
    with np.errstate(all="ignore"):
        return judge(claim, simulate(claim, shape, params, NUMPY)).met


@pytest.mark.parametrize("claim, least", [(STEPS, 0.2), (CLIPPED, 0.2), (SQUARED, 0.4)], ids=lambda c: getattr(c, "id", ""))
def test_most_rows_then_meet_conditions_about_the_run(claim, least):
    shape, params = drawn(claim)
    before = met(claim, shape, params)
    after = met(claim, shape, WITHIN_CONDITIONS(claim, shape, params, np.random.default_rng(1)))
    assert before.mean() < 1 - least and after.mean() > max(0.7, before.mean() + least)


def test_rows_that_meet_all_conditions_stay_as_they_are():
    shape, params = drawn(STEPS)
    before, after = met(STEPS, shape, params), WITHIN_CONDITIONS(STEPS, shape, params, np.random.default_rng(1))
    for name, array in params.items():
        assert np.array_equal(array[before], after[name][before]), name
    moved = {name for name, array in params.items() if not np.array_equal(array, after[name])}
    assert moved and moved <= {"eta", "eta_g"}


def test_claims_without_such_conditions_keep_their_batches():
    claim = find_claim("fadamgc/eq-23")
    shape, params = drawn(claim)
    assert WITHIN_CONDITIONS(claim, shape, params, np.random.default_rng(1)) is params


def test_sums_of_too_many_terms_are_left_alone(monkeypatch):
    shape, params = drawn(STEPS)
    with pytest.raises(TooManyTerms):
        judge(STEPS, simulate(STEPS, shape, params, NUMPY, most=2))
    monkeypatch.setattr(module, "MOST_TERMS", 2)
    assert WITHIN_CONDITIONS(STEPS, shape, params, np.random.default_rng(1)) is params


@pytest.mark.parametrize("backend", [NUMPY, TORCH], ids=lambda b: b.library)
def test_of_numbers_that_wait_for_each_other_the_first_obeys_what_is_known(backend):
    """eta eta_g and eta are bounded: eta, which goes first, by what bounds it alone."""
    shape, params = drawn(CLIPPED, 20, local_steps=1)
    params = map_params(params, lambda name, array: np.round(array, 3) + 1e-3 * (name in ("eta", "eta_g", "eps", "beta1")))
    params["beta1"] = np.clip(params["beta1"], 0.1, 0.9)
    environment = simulate(CLIPPED, shape, map_params(params, lambda name, array: backend.array(array)), backend)
    steps = [c for c in CLIPPED.conditions if c.relation == "<=" and "eta" in {s.name for s in c.left.free_symbols}]
    assert len(steps) == 2 and all(holds(condition, environment, 20).all() for condition in steps)
