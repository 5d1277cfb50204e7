"""make_quadratic sets L, mu, Gamma, sigma_g and sigma exactly, and quadratics attain their constants."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from synthetic import EXACT, NUMPY, Draws, make_quadratic, to_numpy
from tests.not_empty import not_empty
from tests.synthetic.families import each

few = settings(deadline=None, max_examples=10)
SHAPES = [
    {"hessians": "diagonal", "hessian_spread": 1.0},
    {"hessians": "diagonal", "hessian_spread": 0.0},
    {"hessians": "rotated", "hessian_spread": 1.0},
    {"hessians": "rotated", "hessian_spread": 0.3},
    {"hessians": "rotated", "hessian_spread": 0.0},
]


def dense(federation):
    curvature = to_numpy(federation.curvature)
    return curvature if curvature.ndim == 4 else curvature[..., None] * np.eye(federation.dim)


def value(federation, name):
    return to_numpy(federation.constants.value(name))


@each("shape", SHAPES)
@given(seed=st.integers(0, 10**6), dim=st.integers(2, 6), kappa=st.floats(1.0, 1e4), mu=st.floats(1e-3, 10.0))
@few
def test_every_client_touches_both_ends_of_the_spectrum(shape, seed, dim, kappa, mu):
    federation = make_quadratic(4, dim, L=mu * kappa, mu=mu, seed=seed, instances=2, **shape)
    spectrum = np.linalg.eigvalsh(dense(federation))
    tolerance = 0 if shape["hessians"] == "diagonal" else 1e-12 * mu * kappa
    assert np.abs(spectrum[..., 0] - mu).max() <= tolerance
    assert np.abs(spectrum[..., -1] - mu * kappa).max() <= tolerance
    assert value(federation, "mu_client") == pytest.approx(mu, rel=1e-12 * kappa)
    assert value(federation, "L") == pytest.approx(mu * kappa, rel=1e-12)


@each("shape", SHAPES)
@each("target, names", [
    ({"Gamma": 0.37}, ["Gamma"]),
    ({"sigma_g_1": 2.5}, ["sigma_g_1_at_optimum"]),
    ({"sigma_g_2": 0.04}, ["sigma_g_2_at_optimum"]),
    ({"Gamma": 0.0}, ["Gamma", "sigma_g_max_at_optimum"]),
    ({"minimiser_spread": 0.0}, ["sigma_g_2_at_optimum"]),
])
def test_targets_are_met_in_every_instance(shape, target, names):
    federation = make_quadratic(7, 4, L=50.0, mu=0.2, weights=np.arange(1, 8), priority=5, instances=3, seed=5,
                                offset_spread=1.0, **shape, **target)
    for name in not_empty(names):
        assert value(federation, name) == pytest.approx(next(iter(target.values())), rel=1e-11, abs=1e-13)


@each("shape", SHAPES)
def test_heterogeneity_constants_are_their_definitions(shape):
    federation = make_quadratic(6, 3, priority=4, weights=[1, 2, 3, 4, 5, 6], seed=3, instances=2, **shape)
    p = to_numpy(federation.weights) * to_numpy(federation.priority)
    points = torch.as_tensor(np.random.default_rng(0).normal(size=(2, 3)) * 10)
    optimum = federation.x_star
    for where, point in (("_at_optimum", optimum), ("", points)):
        if where == "" and shape["hessian_spread"] > 0:
            assert "sigma_g_2" not in federation.constants, "no finite bound exists, so none may be given"
            continue
        each = to_numpy(federation.gradient(federation.all_clients(point)))
        norm = np.linalg.norm(each - (p[..., None] * each).sum(1, keepdims=True), axis=-1)
        assert value(federation, f"sigma_g_1{where}") == pytest.approx((p * norm).sum(-1), rel=1e-11)
        assert value(federation, f"sigma_g_2{where}") == pytest.approx(np.sqrt((p * norm**2).sum(-1)), rel=1e-11)
        assert value(federation, f"sigma_g_max{where}") == pytest.approx(norm[:, :4].max(-1), rel=1e-11)
        assert value(federation, f"sigma_g_client{where}") == pytest.approx(norm, rel=1e-11)


def test_hessian_spread_orders_the_dissimilarity():
    worst = [value(make_quadratic(8, 5, hessians="rotated", hessian_spread=h, instances=20), "hessian_dissimilarity")
             .max(-1).mean() for h in (0.0, 0.05, 0.2, 1.0)]
    assert worst[0] < 1e-13 and worst == sorted(worst)


@each("shape", SHAPES)
@given(seed=st.integers(0, 10**6), scale=st.floats(1e-3, 1e3))
@few
def test_random_points_never_violate_L_and_mu(shape, seed, scale):
    federation = make_quadratic(5, 4, L=30.0, mu=0.1, seed=seed, offset_spread=1.0, **shape)
    u, v = torch.as_tensor(np.random.default_rng(seed).normal(size=(2, 1, 5, 4)) * scale)
    gradients = federation.gradient(u) - federation.gradient(v)
    squared = ((u - v) ** 2).sum(-1)
    inner = (gradients * (u - v)).sum(-1)
    assert bool(((gradients**2).sum(-1).sqrt() <= 30.0 * squared.sqrt() * (1 + 1e-12)).all())
    assert bool((inner >= 0.1 * squared * (1 - 1e-10)).all())
    bregman = federation.value(u) - federation.value(v) - (federation.gradient(v) * (u - v)).sum(-1)
    assert bool((bregman <= 15.0 * squared * (1 + 1e-10)).all() and (bregman >= 0.05 * squared * (1 - 1e-8)).all())


@each("shape", SHAPES)
def test_gradient_is_the_derivative_of_the_value_and_vanishes_at_the_optimum(shape):
    federation = make_quadratic(5, 4, seed=2, instances=3, offset_spread=1.0, priority=3, **shape)
    x = torch.as_tensor(np.random.default_rng(1).normal(size=(3, 5, 4)), dtype=torch.float64).requires_grad_()
    (automatic,) = torch.autograd.grad(federation.value(x).sum(), x)
    assert torch.allclose(automatic, federation.gradient(x), rtol=1e-12, atol=1e-12)
    assert float(federation.objective_gradient(federation.x_star).abs().max()) < 1e-12
    around = federation.x_star + 0.1 * torch.as_tensor(np.random.default_rng(2).normal(size=(3, 4)))
    assert bool((federation.objective(around) > federation.F_star).all())


@each("options, Gamma_client", [({"free_spread": 0.0}, 0.0), ({"free_spread": 3.0}, None)])
def test_free_clients_lie_around_the_priority_optimum(options, Gamma_client):
    federation = make_quadratic(6, 3, priority=[1, 4], instances=4, Gamma=0.5, **options)
    assert to_numpy(federation.priority).tolist() == [[False, True, False, False, True, False]] * 4
    assert value(federation, "Gamma") == pytest.approx(0.5, rel=1e-11)
    free = value(federation, "Gamma_client")[:, [0, 2, 3, 5]]
    assert np.abs(free).max() < 1e-25 if Gamma_client == 0 else free.min() > 0


@each("options, free", [
    ({}, [1 / 3] * 3), ({"free_weights": 2.0}, [2.0] * 3), ({"free_weights": [0.0, 1.0, 5.0]}, [0.0, 1.0, 5.0]),
    ({"weights": [1, 1, 2, 8, 4, 2]}, [2.0, 1.0, 0.5]),
])
def test_weights_sum_to_one_over_the_priority_clients(options, free):
    weights = to_numpy(make_quadratic(6, 2, priority=3, instances=2, **options).weights)
    assert weights[:, :3].sum(-1) == pytest.approx(1.0)
    assert weights[:, 3:] == pytest.approx(np.tile(free, (2, 1)))


@each("law", ["gaussian", "two-point", "sphere", "none"])
def test_noise_has_exactly_the_given_variance(law):
    """Squared norms have mean sigma^2; false alarm below 1e-7 (a normal deviation of 6 standard errors)."""
    sigma = 0.0 if law == "none" else [0.5, 2.0, 0.0]
    federation = make_quadratic(3, 4, noise=law, sigma=sigma, seed=1)
    assert value(federation, "sigma_sq_client") == pytest.approx(np.broadcast_to(np.square(sigma), (1, 3)), abs=1e-14)
    x = torch.zeros(4000, 3, 4, dtype=torch.float64)
    noise = to_numpy(federation.stochastic_gradient(x, Draws(np.arange(4000)), 7) - federation.gradient(x))
    squared = (noise**2).sum(-1)
    if law == "gaussian":
        error = squared.std(0) / 4000**0.5
        assert (np.abs(squared.mean(0) - np.square(sigma)) <= 6 * error + 1e-12).all()
    else:
        assert np.allclose(squared, np.square(sigma), rtol=1e-12, atol=1e-28), "the norm is sure"
    assert (np.abs(noise.mean(0)) <= 6 * noise.std(0) / 4000**0.5 + 1e-12).all()


@each("shape", SHAPES)
def test_an_instance_is_the_problem_of_its_seed_alone(shape):
    options = dict(noise="two-point", sigma=1.0, priority="random:2", free_spread=0.5, offset_spread=1.0, **shape)
    batch = make_quadratic(4, 3, seed=11, instances=5, **options)
    alone, row = make_quadratic(4, 3, seed=14, **options), batch.select([3])
    repeated = batch.repeat(2).select([7])
    x = torch.as_tensor(np.random.default_rng(0).normal(size=(1, 4, 3)))
    for name in ("L", "mu", "Gamma", "sigma_sq", "x_star", "F_star_client"):
        assert value(row, name) == pytest.approx(value(alone, name), abs=1e-13)
        assert value(row, name) == pytest.approx(value(repeated, name), abs=1e-13)
    for one in (row, repeated):
        assert torch.equal(one.priority, alone.priority)
        assert torch.allclose(one.stochastic_gradient(x, Draws([3]), 1), alone.stochastic_gradient(x, Draws([3]), 1),
                              rtol=1e-13, atol=1e-13)


@each("shape", SHAPES)
def test_numpy_equals_torch(shape):
    options = dict(seed=4, instances=2, noise="gaussian", sigma=1.0, priority=2, **shape)
    one, two = make_quadratic(4, 3, **options), make_quadratic(4, 3, backend=NUMPY, **options)
    x = np.random.default_rng(0).normal(size=(2, 4, 3))
    assert set(one.constants) == set(two.constants)
    for name in one.constants:
        assert value(one, name) == pytest.approx(value(two, name), rel=1e-10, abs=1e-10)
    drawn = one.stochastic_gradient(torch.as_tensor(x), Draws([1, 2]), 3)
    assert to_numpy(drawn) == pytest.approx(two.stochastic_gradient(x, Draws([1, 2], NUMPY), 3), rel=1e-10, abs=1e-10)


def test_one_dimension_and_fractions():
    federation = make_quadratic(3, 1, L=5.0, mu=2.0)
    assert sorted(value(federation, "L_client")[0])[::2] == [2.0, 5.0]
    assert make_quadratic(3, 1, L=2.0, mu=2.0, hessian_spread=0.0).constants.value("sigma_g_2") > 0
    exact = make_quadratic(3, 2, L=5.0, mu=2.0, backend=EXACT)
    assert exact.constants.value("L").tolist() == [5] and (exact.objective_gradient(exact.x_star) == 0).all()


@each("options, message", [
    ({"mu": 20.0}, "^mu .*L = 10.*got 20"),
    ({"mu": 0.0}, "^mu .*0.*got 0.0"),
    ({"L": float("nan")}, "^L .*0.*got nan"),
    ({"clients": 0}, "clients.* 1.*got 0"),
    ({"dim": 2.5}, "dim.* 1.*got 2.5"),
    ({"dim": 1, "hessian_spread": 0.0}, "dim 1 .*L = 10.*mu = 1 .*got 10 clients, spread 0"),
    ({"dim": 1, "clients": 1}, "dim 1 .*L = 10.*mu = 1 .*got 1 clients"),
    ({"hessian_spread": 2}, "hessian_spread.* 0 .* 1.*got 2"),
    ({"hessians": "dense"}, "unknown hessians 'dense'; allowed: diagonal, rotated"),
    ({"Gamma": 1.0, "sigma_g_2": 1.0}, "minimiser_spread.*got Gamma.*sigma_g_2"),
    ({"Gamma": -1.0}, "Gamma.* 0.*got -1.0"),
    ({"Gamma": 1.0, "priority": 1}, "Gamma.* 0 .*priority.*got 1"),
    ({"priority": 11}, "priority.* 1 .*10.*got 11"),
    ({"priority": [3, 12]}, r"priority.* 0 .* 9.*got \[3, 12\]"),
    ({"priority": np.zeros(10, dtype=bool)}, "^priority .*got none"),
    ({"priority": "best:2"}, "priority.*'best'; allowed: first, random, largest, smallest"),
    ({"priority": "first"}, "priority.*'first:2'.*got 'first'"),
    ({"sigma": -1.0}, "sigma.* 0.*got -1"),
    ({"sigma": [1.0, 2.0]}, r"sigma.*\(10,\).*\(1, 10\).*got.*\(2,\)"),
    ({"sigma": 1.0, "noise": "none"}, "sigma.* 0 .*noise.*got 1"),
    ({"noise": "pink"}, "unknown noise 'pink'; allowed"),
    ({"offsets": [float("inf")] * 10}, r"offsets.*got 10 .*inf.*\[0\]"),
    ({"weights": [-1.0] * 10}, "weights.* 0.*got -1"),
    ({"weights": [0.0] * 10}, "priority.*weight.*got none"),
    ({"free_weights": [1.0, 2.0], "priority": 5}, r"free_weights.*\[5\].*got 2"),
])
def test_bad_input_is_one_clear_line(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        make_quadratic(**options)
    assert "\n" not in str(caught.value)
