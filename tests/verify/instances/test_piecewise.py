"""Instances with piecewise quadratic clients: what claims need, exact copies of float batches, smaller ones."""

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from bounds.language.claim import Assumption, Claim, Condition, Procedure
from bounds.language.definitions import DEFINITIONS
from bounds.language.operators import (
    L_client,
    clients,
    eta_l,
    g,
    grad,
    iterations,
    k,
    mu_client,
    norm2,
    objective_grad,
    t,
    x_local,
    x_sampled,
)
from synthetic.numbers.arrays import EXACT, NUMPY, TORCH, each, to_numpy
from verify.claims.needs import Needs, needs
from verify.evaluation.judge import exact_violation, judge
from verify.exact.confirm import confirm
from verify.exact.statement import statement_of
from verify.instances.draw import draw_params
from verify.instances.families import draw_family
from verify.instances.instance import federation_of
from verify.instances.parameters import PIECES, map_params
from verify.instances.piecewise import PiecewiseClients
from verify.instances.quadratic import QUADRATIC
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.search.budget import Budget
from verify.search.search import search

L, mu, G_lip, G_lip_sq = (sp.Symbol(n, positive=True) for n in ("L", "mu", "G_lip", "G_lip_sq"))
sigma_g, sigma_g_max, F_inf = (sp.Symbol(n, nonnegative=True) for n in ("sigma_g", "sigma_g_max", "F_inf"))
EVERY = (k, 0, clients - 1)
STEPS = (t, 0, iterations - 1)
SMOOTH = Condition(L_client[k], "<=", L, (EVERY,))
STEP = Condition(eta_l[t], "<=", 1 / L, (STEPS,))


def claim(statement, *conditions, setting="run", **options):
    return Claim("a/b", "1", "lemma", setting, statement, (Assumption("a/s", "smooth", (SMOOTH,)),), conditions,
                 source="a", procedure=Procedure(equal_weights=True), definitions=DEFINITIONS, **options)


def is_lipschitz(factor, setting="run"):
    return claim(Condition(norm2(g[t, k]), "<=", factor * G_lip**2, (STEPS, EVERY)), STEP)


def is_alike(factor):
    gap = norm2(grad(k, x_sampled[t]) - objective_grad(x_sampled[t]))
    return claim(Condition(gap, "<=", factor * sigma_g_max**2, (STEPS, EVERY)), STEP)


def contracts():
    """True for convex clients only."""
    first, second = x_local[0, k], x_local[0, 0]
    moved = first - second - eta_l[0] * (grad(k, first) - grad(k, second))
    return Condition(norm2(moved), "<=", norm2(first - second), (EVERY,))


@pytest.mark.parametrize(("made", "expected"), [
    (is_lipschitz(1), Needs(True, False, False)),
    (is_alike(1), Needs(False, True, False)),
    (claim(Condition(norm2(g[t, k]), "<=", G_lip_sq, (STEPS, EVERY)), Condition(G_lip_sq, "==", G_lip**2)),
     Needs(True, False, False)),
    (claim(Condition(norm2(x_sampled[t]), "<=", G_lip, (STEPS,)), Condition(norm2(g[t, k]), "<=", G_lip, (STEPS, EVERY))),
     Needs(False, False, False)),
    (claim(contracts(), Condition(mu_client[k], ">=", mu, (EVERY,)), setting="point"), Needs(False, False, True)),
])
def test_needs_follow_from_the_words(made, expected):
    assert needs(made) == expected
    rng = np.random.default_rng(0)
    families = {draw_family(made, rng).name for _ in range(50)}
    assert families == ({"piecewise", "quadratic"} if not expected.lipschitz else {"piecewise"})


BUDGET = Budget(30, 96, 20)


@pytest.mark.parametrize(("made", "families"), [
    (is_lipschitz, {"piecewise"}), (is_alike, {"piecewise", "quadratic"}),  # quadratics of one Hessian are alike
])
def test_bounds_over_all_points_hold_and_half_of_them_do_not(made, families):
    found = search(made(1), BUDGET)
    assert found.violation is None and found.met > 1000 and found.ratio > 0.99
    assert search(made(sp.Rational(1, 2)), BUDGET).violation.shape.family.name in families


def test_convexity_is_needed_where_it_is():
    step = Condition(eta_l[0], "<=", 1 / L)
    bent = [search(claim(contracts(), step, setting="point"), BUDGET, seed).violation.shape for seed in range(8)]
    assert min(shape.family.knots for shape in bent) == 1
    convex = Condition(mu_client[k], ">=", 0, (EVERY,))
    found = search(claim(contracts(), step, convex, setting="point"), BUDGET)
    assert found.violation is None and found.met > 1000
    # a symbol mu is positive, so that clients that are not convex do not meet a bound of mu from below
    strong = Condition(mu_client[k], ">=", mu, (EVERY,))
    assert search(claim(contracts(), step, strong, setting="point"), BUDGET).violation is None


def draws():
    shape = Shape(clients=2, dim=2, local_steps=2, rounds=2, family=PiecewiseClients(2))
    made = claim(Condition(norm2(objective_grad(x_sampled[t])), "<=", 0, (STEPS,)), STEP)
    return made, shape, draw_params(made, shape, 24, np.random.default_rng(5))


def test_the_same_lines_give_exact_instances():
    made, shape, params = draws()
    exact = map_params(params, lambda n, a: each(a[:4], lambda v: Fraction(v).limit_denominator(8)))
    floats = map_params(exact, lambda n, a: a.astype(float))
    for row in range(4):
        one = {n: a[[row]] for n, a in exact.items()}
        try:
            known = simulate(made, shape, one, EXACT)
        except ArithmeticError:
            continue
        for backend in (TORCH, NUMPY):
            other = simulate(made, shape, {n: a[[row]] for n, a in floats.items()}, backend)
            for name in ("x_sampled", "g", "L_client", "mu_client", "eta_l", "F_star"):
                one_, two = (np.asarray(to_numpy(e.bound[name].data), float) for e in (known, other))
                assert np.allclose(one_, two, rtol=1e-7, atol=1e-7), name


def test_rows_without_a_minimum_meet_no_hypothesis():
    made, shape, params = draws()
    params = params | {"tail": 0 * params["tail"], "piece_slope": -abs(params["piece_slope"]) - 1}
    params["piece_width"] = params["piece_width"] + 1
    assert not judge(made, simulate(made, shape, params, TORCH)).met.any()
    assert confirm(made, shape, {n: a[:1] for n, a in params.items()}) is None


def test_pieces_are_dropped_one_by_one():
    made, shape, params = draws()
    smaller = list(shape.family.simpler(made, shape, params))
    assert [s.family for s, _ in smaller] == [QUADRATIC, PiecewiseClients(1), PiecewiseClients(1)]
    assert (smaller[1][1]["piece_slope"] == params["piece_slope"][:, :, 1:]).all()
    assert not set(smaller[0][1]) & set(PIECES)
    wide = params | {"piece_slope": 0 * params["piece_slope"], "tail": params["tail"] + 1}
    _, flat = next(shape.family.simpler(made, shape, wide))
    one, two = federation_of(shape, wide, NUMPY), federation_of(smaller[0][0], flat, NUMPY)
    x = np.random.default_rng(0).normal(size=(24, 2, 2))
    assert np.allclose(one.gradient(x), two.gradient(x)) and np.allclose(one.value(x), two.value(x))


def test_constants_keep_the_signs_of_their_symbols():
    made = claim(Condition(norm2(x_sampled[t]), "<=", -1, (STEPS,)), Condition(mu_client[k], ">=", mu, (EVERY,)))
    shape = Shape(clients=1, family=PiecewiseClients(1))
    params = draw_params(made, shape, 1, np.random.default_rng(0))
    for slope, expected in ((-2, "unmet"), (1, tuple)):
        values = {"tail": 1, "piece_slope": slope, "piece_center": 0, "piece_width": 1}
        exact = map_params(params, lambda n, a, v=values: each(a, lambda x: Fraction(v.get(n, 1))))
        answer = exact_violation(made, simulate(made, shape, exact, EXACT))
        assert answer == expected if isinstance(expected, str) else isinstance(answer, expected)


def test_a_number_that_is_given_may_be_zero_where_the_symbol_is_not():
    eps = sp.Symbol("eps", positive=True)
    made = claim(Condition(norm2(x_sampled[t]) + eps, "<=", -1, (STEPS,)), Condition(eps, "==", 0), STEP)
    found = search(made, BUDGET)
    assert found.violation and not any("eps > 0" in rule["text"] for rule in statement_of(made)["hypotheses"])
