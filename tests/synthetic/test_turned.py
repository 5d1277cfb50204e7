"""Federations in turned coordinates: as quadratics with dense Hessians, and replayed by the stand-alone checker."""

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
from fedtheory import run
from fedtheory.algorithms.fedavg import fedavg
from synthetic import EXACT, NUMPY, TORCH, Quadratic, to_numpy
from synthetic.numbers.arrays import BALLS
from synthetic.quadratic.turned import Turned, as_given
from tests.synthetic.conformance import random_piecewise
from tests.synthetic.families import each
from tests.verify.checker.runs_by_hand import condition, run_certificate
from verify.checker.instance import Instance
from verify.checker.intervals import Vector
from verify.checker.schema import checked
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


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 5]), st.booleans())
def test_turned_quadratics_are_those_with_turned_hessians(seed, dim, one_basis):
    rng = np.random.default_rng(seed)
    curvature, center = rng.uniform(0.5, 3, (2, 4, dim)), rng.normal(size=(2, 4, dim))
    tangent, weights, priority = rng.uniform(-2, 2, (2, 1 if one_basis else 4)), rng.uniform(1, 2, (2, 4)), np.arange(4) < 3
    R = np.array([[rotation(each, dim) for each in row] for row in np.broadcast_to(tangent, (2, 4))])
    diagonal = Quadratic(curvature, center, weights=weights, priority=priority, backend=NUMPY)
    federation = Turned(diagonal, tangent[:, 0] if one_basis else tangent)
    dense = Quadratic(np.einsum("ikab,ikb,ikcb->ikac", R, curvature, R), np.einsum("ikab,ikb->ika", R, center),
                      weights=weights, priority=priority, backend=NUMPY)
    x, linear = rng.normal(size=(2, 2, 4, dim))
    some = rng.integers(0, 4, (2, 3))
    for one, other in ((federation, dense), (federation.repeat(2).select(np.array([1, 2])), dense),
                       (federation.to(EXACT).to(NUMPY), dense)):
        np.testing.assert_allclose(one.gradient(x), other.gradient(x), atol=1e-9)
        np.testing.assert_allclose(one.value(x), other.value(x), atol=1e-9)
        np.testing.assert_allclose(one.prox(linear, 0.5, x), other.prox(linear, 0.5, x), atol=1e-9)
        np.testing.assert_allclose(one.gradient(x[:, :3], some), other.gradient(x[:, :3], some), atol=1e-9)
        np.testing.assert_allclose(one.value(x[:, :3], some), other.value(x[:, :3], some), atol=1e-9)
        np.testing.assert_allclose(one.prox(linear[:, :3], 0.5, x[:, :1], some),
                                   other.prox(linear[:, :3], 0.5, x[:, :1], some), atol=1e-9)
        np.testing.assert_allclose(one.x_star, other.x_star, atol=1e-9)
        names = {"L_client", "mu_client", "F_star", "F_star_client", "Gamma", "Gamma_client", "sigma_g_2_at_optimum"}
        names |= {*one.constants} - {"x_star"} if not one_basis else set()
        for name in names:
            np.testing.assert_allclose(one.constants.value(name), other.constants.value(name), atol=1e-9)
    assert as_given(federation) is (diagonal if one_basis else federation) and as_given(diagonal) is diagonal


@each("backend", [EXACT, BALLS, NUMPY, TORCH])
def test_the_optimum_of_two_clients_with_a_basis_each(backend):
    """Hessians diag(1, 2) and [[21, -12], [-12, 14]]/5, with the minima 0 and (3, 4)."""
    federation = Turned(Quadratic([[[1.0, 2.0], [1.0, 6.0]]], [[[0.0, 0.0], [5.0, 0.0]]], backend=backend), [[0.0, 0.5]])
    optimum = [Fraction(5, 4), Fraction(35, 24)]
    found = to_numpy(federation.x_star)[0]
    np.testing.assert_allclose(found.astype(float), np.array(optimum, dtype=float), atol=1e-12)
    assert backend != EXACT or [*found] == optimum
    x = backend.array([[[1.0, 0.0], [3.0, 0.0]]])
    assert to_numpy(federation.gradient(x)).astype(float).round(12).tolist() == [[[1.0, 0.0], [9.6, -11.2]]]
    assert to_numpy(federation.value(x)).astype(float).round(12).tolist() == [[0.5, 22.4]]
    assert {*federation.constants}.isdisjoint({"L_objective", "mu_objective", "sigma_g_1", "hessian_dissimilarity"})


def test_a_run_of_clients_with_a_basis_each_is_that_of_loops():
    rng = np.random.default_rng(3)
    curvature, center, tangent = rng.uniform(0.5, 2, (3, 3)), rng.normal(size=(3, 3)), rng.uniform(-1, 1, 3)
    federation = Turned(Quadratic(curvature[None], center[None], weights=[1, 2, 3], backend=NUMPY), tangent[None])
    found = run(fedavg(eta_l=0.3, local_steps=4), federation, 3, start=[1.0, -2.0, 0.5]).dataset.x.values.reshape(-1, 3)
    x = np.array([1.0, -2.0, 0.5])
    for row in found[1:]:
        ends = []
        for angle, a, c in zip(tangent, curvature, center, strict=True):
            R, y = rotation(angle), x
            for _ in range(4):
                y = y - 0.3 * R @ np.diag(a) @ R.T @ (y - R @ c)
            ends.append(y)
        x = (ends[0] + 2 * ends[1] + 3 * ends[2]) / 6
        np.testing.assert_allclose(row, x, atol=1e-12)
    assert len(found) == 4


@each(("federation", "tangent", "message"), [
    (Quadratic([[[1.0]]], [[[1.0]]], backend=NUMPY), [1.0], " 2 dimensions.*got 1"),
    (Quadratic([[[1.0, 2.0]]], [[[1.0, 0.0]]], backend=NUMPY), [1.0, 2.0], r"half_tangent.* 1 instances.*got.*\(2,\)"),
    (Quadratic([[[1.0, 2.0]]], [[[1.0, 0.0]]], backend=NUMPY), [[1.0, 2.0]], r"half_tangent.* 1 clients.*got.*\(1, 2\)"),
    (Quadratic([[[[1.0, 0], [0, 2.0]]]], [[[1.0, 0.0]]], backend=NUMPY), [[1.0]], "diagonal Hessians; got quadratic"),
    (random_piecewise(backend=NUMPY), [[1.0, 0.0, 1.0]], "a basis each must be quadratics.*piecewise"),
])
def test_what_cannot_be_turned_is_refused(federation, tangent, message):
    with pytest.raises(ValueError, match=message):
        Turned(federation, tangent)


def violated(family, seed, own_bases=False):
    """A counterexample to a false claim, on clients of a family in turned coordinates."""
    rng = np.random.default_rng(seed)
    shape = Shape(**SHAPE.__dict__ | {"family": family})
    params = ALWAYS_TURNED(AT_ONCE, shape, draw_params(AT_ONCE, shape, 40, rng), rng)
    assert "half_tangent" in params
    params |= {"half_tangent": rng.integers(1, 8, (40, 2)) / 8} if own_bases else {}
    params = map_params(params, lambda name, array: np.vectorize(lambda v: Fraction(float(v)).limit_denominator(40))(array))
    for row in range(40):
        try:
            found = confirm_or_why(AT_ONCE, shape, {name: array[[row]] for name, array in params.items()})
        except ArithmeticError:
            continue
        if isinstance(found, Violation) and not {*found.params["half_tangent"][0]} & {0, 1, -1} and (
                not own_bases or _is_generic(found.params)):
            return found
    raise AssertionError("no instance meets the hypotheses")


def _is_generic(params):
    """Whether no client is the same when it is turned."""
    ends = [params[name][0][:, [0, -1]] for name in ("curvature", "center")]
    return bool(np.all(ends[0][:, 0] != ends[0][:, 1]) and np.all(ends[1].any(axis=1)))


@each("family, own_bases", [(QUADRATIC, False), (PiecewiseClients(2), False), (QUADRATIC, True)])
def test_the_checker_replays_what_the_search_sees_in_turned_coordinates(family, own_bases):
    found = violated(family, 2, own_bases)
    sides = found.left, found.right
    data = json.loads(json.dumps(certificate(AT_ONCE, found.environment, *sides)))
    assert check(data).accepted, check(data).reason
    assert replay(data, AT_ONCE).agrees
    tangent = data["instance"]["half_tangent"]
    assert isinstance(tangent, list) == own_bases
    others = [[*tangent[:k], str(-Fraction(tangent[k])), *tangent[k + 1 :]] for k in range(2)] + [tangent[0], tangent[:1],
              tangent[::-1], [*tangent, "0"]] if own_bases else [str(-Fraction(tangent)), [tangent, "0"]]
    for other in others:
        assert not check(data | {"instance": data["instance"] | {"half_tangent": other}}).accepted
    del data["instance"]["half_tangent"]
    assert not check(data).accepted


def test_the_checker_evaluates_what_the_engine_evaluates_of_clients_with_a_basis_each():
    rng = np.random.default_rng(5)
    fractions = np.vectorize(lambda number: Fraction(int(number), 4))
    curvature, center = fractions(rng.integers(1, 9, (3, 3))), fractions(rng.integers(-8, 9, (3, 3)))
    tangent, x, linear = (fractions(rng.integers(-7, 8, shape)) for shape in (3, 3, (3, 3)))
    federation = Turned(Quadratic(curvature[None], center[None], weights=[1, 2, 3], backend=EXACT), tangent[None])
    parts = {"curvature": curvature, "center": center, "half_tangent": tangent, "x_star": federation.x_star[0]}
    text = {name: np.vectorize(str)(array).tolist() for name, array in parts.items()}
    data = run_certificate(condition(0, "<=", 1), weights=("1/6", "1/3", "1/2"), start=("0", "0", "0"), **text)
    checker, v = Instance(checked(data)).federation, Vector(x)
    points = federation.all_clients(x[None])
    prox = federation.prox(linear[None], Fraction(1, 2), points)
    for number in range(3):
        assert checker.F(Fraction(number), v) == federation.value(points)[0, number]
        assert [*checker.grad(Fraction(number), v)] == [*federation.gradient(points)[0, number]]
        assert [*checker.solution(number, Vector(linear[number]), Fraction(1, 2), v)] == [*prox[0, number]]
    for name in ("L_client", "mu_client", "F_star_client", "F_star"):
        assert np.array_equal(np.array(checker.found[name], dtype=object), federation.constants.value(name)[0]), name
    data["instance"]["x_star"][0] += "1"
    with pytest.raises(ValueError, match="x_star must be the optimum"):
        Instance(checked(data))


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
