"""Federations in turned coordinates: as quadratics with dense Hessians, and replayed by the stand-alone checker."""

import copy
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.language.claim import Assumption, Claim, Condition, Procedure
from bounds.language.definitions import DEFINITIONS
from bounds.language.operators import L, L_client, clients, eta_l, iterations, k, norm2, rounds, t, x_round, x_star
from bounds.registry.claims import find_claim
from synthetic import EXACT, NUMPY, Quadratic
from synthetic.quadratic.turned import Turned, as_given
from tests.synthetic.families import each
from verify.exact.certificate import certificate
from verify.exact.check import replay_alone as check
from verify.exact.confirm import Violation, confirm_or_why
from verify.exact.replay import replay
from verify.instances.draw import draw_params
from verify.instances.parameters import map_params
from verify.instances.piecewise import PiecewiseClients
from verify.instances.quadratic import QUADRATIC
from verify.instances.shape import Shape
from verify.search.budget import BUDGETS
from verify.search.search import search
from verify.search.transformations.coordinates import ALIKE, TURNED

SMOOTH = Assumption("a/s", "smooth", (Condition(L_client[k], "<=", L, ((k, 0, clients - 1),)),))
ALWAYS_TURNED = replace(TURNED, share=1.0)
STEP = Condition(eta_l[t], "<=", 1 / L, ((t, 0, iterations - 1),))
AT_ONCE = Claim("mine/at-once", "1", "lemma", "run", Condition(norm2(x_round[rounds] - x_star), "<=", 0), (SMOOTH,), (STEP,),
                source="mine", procedure=Procedure(), definitions=DEFINITIONS)
SHAPE = Shape(clients=2, dim=3, local_steps=2, rounds=1, noisy=(1,), layers=(1, 2))


def rotation(half_tangent, dim=3):
    c, s = np.cos(2 * np.arctan(half_tangent)), np.sin(2 * np.arctan(half_tangent))
    R = np.eye(dim)
    R[0, 0], R[0, -1], R[-1, 0], R[-1, -1] = c, -s, s, c
    return R


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 5]))
def test_turned_quadratics_are_those_with_turned_hessians(seed, dim):
    rng = np.random.default_rng(seed)
    curvature, center = rng.uniform(0.5, 3, (2, 4, dim)), rng.normal(size=(2, 4, dim))
    tangent, weights = rng.uniform(-2, 2, 2), rng.uniform(1, 2, (2, 4))
    R = np.stack([rotation(each, dim) for each in tangent])
    diagonal = Quadratic(curvature, center, weights=weights, backend=NUMPY)
    federation = Turned(diagonal, tangent)
    dense = Quadratic(np.einsum("iab,ikb,icb->ikac", R, curvature, R), np.einsum("iab,ikb->ika", R, center),
                      weights=weights, backend=NUMPY)
    x, linear = rng.normal(size=(2, 2, 4, dim))
    for one, other in ((federation, dense), (federation.repeat(2).select(np.array([1, 2])), dense),
                       (federation.to(EXACT).to(NUMPY), dense)):
        np.testing.assert_allclose(one.gradient(x), other.gradient(x), atol=1e-9)
        np.testing.assert_allclose(one.value(x), other.value(x), atol=1e-9)
        np.testing.assert_allclose(one.prox(linear, 0.5, x), other.prox(linear, 0.5, x), atol=1e-9)
        np.testing.assert_allclose(one.x_star, other.x_star, atol=1e-9)
        for name in ("L_client", "mu_client", "F_star"):
            np.testing.assert_allclose(one.constants.value(name), other.constants.value(name), atol=1e-9)
    assert as_given(federation) is diagonal and as_given(diagonal) is diagonal


@each(("federation", "tangent", "message"), [
    (Quadratic([[[1.0]]], [[[1.0]]], backend=NUMPY), [1.0], " 2 dimensions.*got 1"),
    (Quadratic([[[1.0, 2.0]]], [[[1.0, 0.0]]], backend=NUMPY), [1.0, 2.0], r"half_tangent.* 1 instances.*got.*\(2,\)"),
])
def test_what_cannot_be_turned_is_refused(federation, tangent, message):
    with pytest.raises(ValueError, match=message):
        Turned(federation, tangent)


def violated(family, seed):
    """A counterexample to a false claim, on clients of a family in turned coordinates."""
    rng = np.random.default_rng(seed)
    shape = Shape(**SHAPE.__dict__ | {"family": family})
    params = ALWAYS_TURNED(AT_ONCE, shape, draw_params(AT_ONCE, shape, 40, rng), rng)
    assert "half_tangent" in params
    params = map_params(params, lambda name, array: np.vectorize(lambda v: Fraction(float(v)).limit_denominator(40))(array))
    for row in range(40):
        try:
            found = confirm_or_why(AT_ONCE, shape, {name: array[[row]] for name, array in params.items()})
        except ArithmeticError:
            continue
        if isinstance(found, Violation) and found.params["half_tangent"][0, 0] not in (0, 1, -1):
            return found
    raise AssertionError("no instance meets the hypotheses")


@each("family", [QUADRATIC, PiecewiseClients(2)])
def test_the_checker_replays_what_the_search_sees_in_turned_coordinates(family):
    found = violated(family, 1)
    sides = found.left, found.right
    data = json.loads(json.dumps(certificate(AT_ONCE, found.environment, *sides)))
    assert check(data).accepted, check(data).reason
    assert replay(data, AT_ONCE).agrees
    other = copy.deepcopy(data)
    other["instance"]["half_tangent"] = str(-Fraction(data["instance"]["half_tangent"]))
    assert not check(other).accepted
    del other["instance"]["half_tangent"]
    assert not check(other).accepted


@each("change", [{"dim": 1, "layers": (1,)}, {"free": 1}, {"layers": ()}])
def test_instances_whose_basis_does_not_matter_stay_as_they_are(change):
    rng, shape = np.random.default_rng(0), Shape(**SHAPE.__dict__ | change)
    params = draw_params(AT_ONCE, shape, 2, rng)
    assert ALWAYS_TURNED(AT_ONCE, shape, params, rng) is params


def test_some_instances_of_methods_by_coordinate_are_alike_in_all_coordinates():
    claim, rng = find_claim("fadamgc/eq-85@at-most"), np.random.default_rng(0)
    shape = Shape(clients=3, dim=4, local_steps=2, noisy=(0,), sampling="without-replacement")
    before = draw_params(claim, shape, 60, rng)
    after = ALIKE(claim, shape, before, rng)
    vectors = "center", "curvature", "start_offset", "noise"
    alike = np.array([all((after[n][row] == after[n][row][..., :1]).all() for n in vectors) for row in range(60)])
    assert 5 < alike.sum() < 30
    for name in before:
        assert np.array_equal(before[name][~alike], after[name][~alike])
        assert (name != "weight" and before[name].shape[-1] == 4) or np.array_equal(before[name], after[name])
    flat = Shape(**shape.__dict__ | {"dim": 1})
    params = draw_params(claim, flat, 2, rng)
    assert ALIKE(claim, flat, params, rng) is params
    params = draw_params(AT_ONCE, SHAPE, 2, rng)
    assert ALIKE(AT_ONCE, SHAPE, params, rng) is params


def test_a_method_by_coordinate_moves_farther_where_all_coordinates_are_alike():
    assert any(search(find_claim("fadamgc/theorem-5.2/eq-102-103"), BUDGETS["quick"], seed).violation for seed in range(4))
