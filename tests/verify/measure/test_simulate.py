"""What names are bound to: tightest constants, defined and bounded symbols, recursions, points, runs."""

import json
from fractions import Fraction as Q

import numpy as np
import pytest
import sympy as sp

from bounds.controls.fedavg import CLASS, CONTROLS, control
from bounds.language.claim import Condition, Procedure, Variable
from bounds.language.operators import (
    E,
    G_sq,
    L,
    Max,
    Sum,
    clients,
    eta_l,
    g,
    iterations,
    k,
    local_steps,
    mu,
    norm2,
    sigma_sq,
    step_offset,
    t,
    x_round,
    x_sampled,
    x_star,
)
from bounds.registry.claims import find_claim
from synthetic import make_quadratic
from synthetic.numbers.arrays import EXACT, NUMPY, TORCH, to_numpy
from verify.evaluation.environment import UnboundName
from verify.evaluation.evaluate import evaluate
from verify.evaluation.judge import exact_violation, judge, unmet
from verify.exact.certificate import certificate
from verify.exact.check import replay_alone as check
from verify.exact.confirm import confirm
from verify.instances.draw import draw_params, draw_shape
from verify.instances.parameters import map_params
from verify.instances.shape import Shape
from verify.measure.simulate import simulate

ALL_CLIENTS, ALL_STEPS = (k, 0, clients - 1), (t, 0, iterations - 1)
SETTLED = Condition(norm2(x_sampled[iterations] - x_star), "<=", 1)
SHAPE = Shape(2, 0, 1, 1, 2, noisy=(0,), rare=Q(1, 4))


def exact(params):
    return map_params(params, lambda name, array: np.vectorize(Q, otypes=[object])(array))


def leaves_of(**others):
    """F_0 = v^2 with noise 4 or -4/3 (E|.|^2 = 3 * 16 / 9), F_1 = 3 (v - 4)^2 / 2; p = 1/2 each; start at x* + 2."""
    given = {
        "curvature": [[[2], [3]]], "center": [[[0], [4]]], "offset": [[0, 1]], "weight": [[1, 1]],
        "step_fraction": [[1, Q(1, 2)]], "step_scale": [[1]], "start_offset": [[2]], "noise": [[[Q(16, 3)]]],
        "epsilon": [[0, 0, 0]], "available": [[[1, 1]] * 3],
    }
    return exact({name: np.array(value, dtype=object) for name, value in (given | others).items()})


def realised(conditions=(), assumptions=CLASS, variables=(), shape=SHAPE, backend=EXACT, setting="run", **others):
    claim = control("bound", setting, SETTLED, conditions=conditions, assumptions=assumptions, variables=variables)
    return simulate(claim, shape, leaves_of(**others), backend)


def value(environment, name):
    data = to_numpy(environment.bound[name].data)
    return data.reshape(-1).tolist() if data.size > 1 else data.item()


# constants ---------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name, expected", [("L", 3), ("mu", 2), ("sigma_sq", Q(16, 3)), ("x_star", Q(12, 5))])
def test_constants_are_the_tightest(name, expected):
    assert value(realised(), name) == expected


@pytest.mark.parametrize("name, slack, expected", [("L", 2, 6), ("mu", 2, 1), ("sigma_sq", 3, 16), ("mu", 1, 2)])
def test_slack_moves_constants_away_from_the_tightest(name, slack, expected):
    assert value(realised(**{f"slack:{name}": [[slack]]}), name) == expected


def test_a_bound_over_times_is_the_worst_time():
    """Gradients at x* + 2 = 4.4 are 8.8 and 1.2; noise enters the first with weight one half."""
    square = E(norm2(Sum(g[t, k] / 2, ALL_CLIENTS)))
    environment = realised((Condition(square, "<=", G_sq, (ALL_STEPS,)), Condition(eta_l[t], "<=", Q(1, 10), (ALL_STEPS,))))
    by_time = [evaluate(square.subs(t, time), environment).item() for time in (0, 1)]
    assert by_time[0] == 25 + Q(16, 3) / 4 and value(environment, "G_sq") == max(by_time) == by_time[0]


def test_conditions_use_what_earlier_ones_bound():
    environment = realised((Condition(step_offset, "==", Max(8 * L / mu, local_steps)),
                            Condition(eta_l[t], "==", 2 / (mu * (t + step_offset)), (ALL_STEPS,))))
    assert value(environment, "step_offset") == 12 and value(environment, "eta_l") == [Q(1, 12), Q(1, 13)]


def test_the_order_of_definitions_does_not_matter():
    a, b = sp.Symbol("a"), sp.Symbol("b")
    environment = realised((Condition(a, "==", b + 1), Condition(b, "==", 2 * L)))
    assert (value(environment, "a"), value(environment, "b")) == (7, 6)


# steps -------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("conditions, expected", [
    ((), [Q(1, 3), Q(1, 6)]),
    ((Condition(eta_l[t], "<=", 1 / (4 * L), (ALL_STEPS,)),), [Q(1, 12), Q(1, 24)]),
    (tuple(Condition(eta_l[t], "<=", limit, (ALL_STEPS,)) for limit in (1 / L, mu**-3)), [Q(1, 8), Q(1, 16)]),
])
def test_steps_are_a_fraction_of_their_bounds(conditions, expected):
    assert value(realised(conditions), "eta_l") == expected


def test_a_condition_that_relates_steps_only_filters():
    falling = Condition(eta_l[t + 1], "<=", eta_l[t], ((t, 0, iterations - 2),))
    claim = control("filter", "run", SETTLED, conditions=(falling,))
    met = [judge(claim,
                 simulate(claim, SHAPE, map_params(leaves_of(step_fraction=[[1, last]]), _as_float), NUMPY)).met.item()
           for last in (0.5, 1.0, 2.0)]
    assert met == [True, True, False]
    assert exact_violation(claim, simulate(claim, SHAPE, leaves_of(step_fraction=[[1, 2]]), EXACT)) == "unmet"
    reason = unmet(claim.hypotheses, simulate(claim, SHAPE, leaves_of(step_fraction=[[1, 2]]), EXACT))
    assert reason == "needs eta_l[t + 1] <= eta_l[t] = 0.333333, got 0.666667"


def _as_float(name, array):
    return array.astype(float)


# free numbers ------------------------------------------------------------------------------------------------------------
a, b = sp.Symbol("a"), sp.Symbol("b")
FREE = (Variable("a", "positive"), Variable("b", "positive"))


@pytest.mark.parametrize("conditions, expected", [
    ((), (5, 7)),
    ((Condition(a, ">=", 6),), (6, 7)),
    ((Condition(a, ">=", 4),), (5, 7)),
    ((Condition(a, "<=", 4),), (4, 7)),
    ((Condition(a, ">=", 6), Condition(a, "<=", 4)), (4, 7)),
    ((Condition(a, ">=", b),), (5, 5)),  # the first goes first
    ((Condition(b, ">=", 2 * a),), (5, 10)),
])
def test_free_numbers_are_moved_into_their_bounds(conditions, expected):
    claim = control("free", "algebra", Condition(a, "<=", b), conditions=conditions, variables=FREE)
    environment = simulate(claim, Shape(), exact({"a": np.array([[5]]), "b": np.array([[7]])}), EXACT)
    assert (value(environment, "a"), value(environment, "b")) == expected


def test_what_a_formula_defines_is_not_moved_to_its_bound():
    length = sp.Symbol("length")  # defined by a free number that waits for its own bound
    conditions = (Condition(length, "==", 2 * a), Condition(length, "<=", 1 / L), Condition(a, ">=", 6))
    environment = realised(conditions, variables=FREE[:1], a=[[5]])
    assert (value(environment, "a"), value(environment, "length")) == (6, 12)


def test_a_simplex_is_normalised():
    omega, n = sp.IndexedBase("omega"), sp.Symbol("n", integer=True)
    claim = control("simplex", "algebra", Condition(Sum(omega[k], (k, 0, n - 1)), "==", 1),
                    variables=(Variable("n", "integer"), Variable("omega", "simplex", (("k", "n"),))))
    environment = simulate(claim, Shape(sizes=(("n", 3),)), exact({"omega": np.array([[1, 0, 3]])}), EXACT)
    assert value(environment, "omega") == [Q(1, 4), 0, Q(3, 4)]
    assert exact_violation(claim, environment) == "holds"


def test_a_recursion_is_unrolled():
    """Fibonacci's factor: d[0] is given, d[t + 1] = d[t] * d[t] + t."""
    d, n = sp.IndexedBase("d"), sp.Symbol("n", integer=True)
    rule = Condition(d[t + 1], "==", d[t] ** 2 + t, ((t, 0, n - 2),))
    claim = control("recursion", "algebra", Condition(d[n - 1], "<=", 0), conditions=(rule,),
                    variables=(Variable("n", "integer", low=2), Variable("d", "nonnegative", (("t", "n"),))))
    environment = simulate(claim, Shape(sizes=(("n", 5),)), exact({"d": np.array([[2, 9, 9, 9, 9]])}), EXACT)
    assert value(environment, "d") == [2, 4, 17, 291, 84684]
    assert exact_violation(claim, environment) == (84684, 0)


# a point -----------------------------------------------------------------------------------------------------------------
def test_a_point_averages_whoever_is_included():
    shape = Shape(3, 2)
    claim = control("point", "point", Condition(0, "<=", 1))
    params = {"curvature": [[[1], [1], [1]]], "center": [[[5], [0], [0]]], "offset": [[0, 0, 0]], "weight": [[4, 2, 8]],
              "step_fraction": [[1]], "step_scale": [[1]], "included": [[1, 0, 1]], "local_offset": [[[1], [100], [4]]]}
    environment = simulate(claim, shape, exact({n: np.array(v, dtype=object) for n, v in params.items()}), EXACT)
    assert value(environment, "client_weight") == [1, Q(1, 2), 2] and value(environment, "x_star") == 5
    assert value(environment, "x") == 5 + (1 + 2 * Q(4)) / 3 == value(environment, "x_sampled")
    assert value(environment, "included") == [1, 0, 1]


# errors ------------------------------------------------------------------------------------------------------------------
def test_an_unbound_name_is_named():
    claim = control("unbound", "run", Condition(sp.Symbol("mystery"), "<=", 1))
    environment = simulate(claim, SHAPE, leaves_of(), EXACT)
    with pytest.raises(UnboundName, match="nothing supplies 'mystery'"):
        judge(claim, environment)
    params = {n: a for n, a in leaves_of().items() if n != "step_fraction"}
    with pytest.raises(UnboundName, match="nothing supplies 'eta_l'"):
        simulate(claim, SHAPE, params, EXACT)


# exact and floating point ------------------------------------------------------------------------------------------------
REGISTERED = ["fedalign/theorem-1@local-every-step", "fedalign/theorem-A9", "fedalign/lemma-A6", "fedalign/step-T12",
              "li2020/theorem-3", "fedalign/derived-recursion", "fedalign/claim-arbitrary-participation"]


@pytest.mark.parametrize("claim", [*(r.claim for r in CONTROLS), *map(find_claim, REGISTERED)], ids=lambda c: c.id)
def test_fractions_and_floats_agree(claim):
    """Every name of a finite value, in fractions and in float64 on both libraries, to 1e-9 of its size."""
    rng = np.random.default_rng(5)
    for _ in range(2):
        shape = draw_shape(claim, rng, 8, 4)
        params = map_params(draw_params(claim, shape, 2, rng), lambda name, array: np.round(array * 8) / 8 + (array > 0) / 8)
        for name in ("available", "included"):
            if name in params:
                params[name] = np.minimum(np.floor(params[name]), 1)
        try:
            truth = simulate(claim, shape, exact(params), EXACT)
        except ArithmeticError:
            continue  # an irrational norm
        for backend in (NUMPY, TORCH):
            other = simulate(claim, shape, params, backend)
            infinite = {n for n, b in other.bound.items() if np.isinf(to_numpy(b.data)).any()}  # fractions have no such
            assert other.bound.keys() - infinite <= truth.bound.keys() <= other.bound.keys() and other.sizes == truth.sizes
            for name, bound in truth.bound.items():
                mine, theirs = (to_numpy(b.data).astype(float) for b in (bound, other.bound[name]))
                np.testing.assert_allclose(theirs, mine, rtol=1e-9, atol=1e-9 * max(1, abs(mine).max()), err_msg=name)


def test_a_given_federation_takes_the_place_of_the_leaves():
    federation = make_quadratic(clients=3, dim=2, L=4.0, mu=1.0, seed=1)
    claim = control("given", "run", SETTLED, procedure=Procedure())
    shape = Shape(3, 0, 2, 1, 2)
    params = draw_params(claim, shape, 4, np.random.default_rng(0))
    kept = ("step_fraction", "step_scale", "start_offset", "epsilon", "available")
    params = {n: array for n, array in params.items() if n in kept}
    environment = simulate(claim, shape, params, TORCH, federation)
    start = evaluate(norm2(x_sampled[0] - x_star), environment).numpy().ravel()
    assert start == pytest.approx((params["start_offset"] ** 2).sum(axis=1))
    constants = (federation.constants.value(name).max().item() for name in ("L", "mu"))
    assert tuple(to_numpy(environment.bound[name].data).item() for name in ("L", "mu")) == pytest.approx(tuple(constants))
    assert value(environment, "sigma_sq") == 0


def test_sigma_sq_needs_a_condition():
    assert "sigma_sq" not in realised(assumptions=()).bound and sigma_sq.name in realised().bound


# steps that depend on the start ------------------------------------------------------------------------------------------
eta = sp.Symbol("eta", positive=True)
BY_DISTANCE = (Condition(eta, "==", norm2(x_round[0] - x_star) / 8), Condition(eta_l[t], "==", eta, (ALL_STEPS,)))


def test_steps_may_depend_on_where_runs_start():
    """Starts 2 from the optimum 12/5, so that steps are 1/2; the gradient at v is 5/2 v - 6."""
    environment = realised(BY_DISTANCE, noise=[[[0]]])
    assert value(environment, "eta_l") == [Q(1, 2)] * 2
    assert to_numpy(environment.bound["x_round"].data)[0, 0, 0, :, 0].tolist() == [Q(22, 5), Q(19, 10), Q(101, 40)]


def test_a_certificate_whose_steps_depend_on_the_start_is_replayed():
    claim = control("bound", "run", Condition(norm2(x_round[1] - x_star), "<=", 0), conditions=BY_DISTANCE)
    violation = confirm(claim, SHAPE, leaves_of(), rounded=False)
    data = json.loads(json.dumps(certificate(claim, *violation[2:])))
    assert data["values"]["eta"] == "1/2" and check(data).accepted
    data["values"]["eta"] = "1/3"
    assert not check(data).accepted
