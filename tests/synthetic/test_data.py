"""Federations on data: gradients are derivatives, constants are proven bounds, optima are optima."""

from unittest import mock

import numpy as np
import pytest
import scipy.optimize
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from synthetic import NUMPY, Backend, BinaryLogistic, Draws, Quadratic, from_arrays, make_problem, to_numpy
from tests.not_empty import not_empty
from tests.synthetic.families import FAMILIES, each, make, random_points, several, value

few = settings(deadline=None, max_examples=10)


@each("family", FAMILIES)
@each("instances", [1, 3])
@given(seed=st.integers(0, 10**6), scale=st.floats(1e-2, 30.0))
@few
def test_gradient_and_hessian_are_the_derivatives(family, instances, seed, scale):
    federation = several(family, instances)
    x = random_points(federation, 3, seed, scale).requires_grad_()
    (automatic,) = torch.autograd.grad(federation.value(x).sum(), x)
    assert torch.allclose(automatic, federation.gradient(x), rtol=1e-10, atol=1e-10)
    direction = random_points(federation, 3, seed + 1)
    (product,) = torch.autograd.grad((federation.gradient(x) * direction).sum(), x)
    assert torch.allclose(product, federation.hessian(x)(direction), rtol=1e-9, atol=1e-9)


def test_values_are_the_printed_formulas():
    """By hand, beside a larger client: 1/(2n)|Ax - b|^2, log(1 + exp(-y a x)), -log softmax; + ridge/2 |x|^2."""
    X, x = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.0]]), np.array([0.3, -0.2])
    b, y, c = np.array([1.0, 2.0, -1.0]), np.array([1, -1, 1]), np.array([0, 2, 1])
    W = np.array([[0.3, -0.2], [1.0, 0.5], [-0.4, 0.7]])
    scores = X @ W.T
    rows = [
        ("least-squares", b, x, np.sum((X @ x - b) ** 2) / 6),
        ("binary", y, x, np.mean(np.log(1 + np.exp(-y * (X @ x))))),
        ("softmax", c, W.ravel(), np.mean(np.log(np.exp(scores).sum(1)) - scores[np.arange(3), c])),
    ]
    for task, targets, point, expected in not_empty(rows):
        client = [0, 0, 0, 1, 1, 1, 1, 1, 1]
        federation = from_arrays(np.tile(X, (3, 1)), np.tile(targets, 3), client, task=task, ridge=0.1)
        got = federation.value(torch.as_tensor(point)[None, None].expand(1, 2, -1))
        assert got[0, 0] == pytest.approx(float(got[0, 1]), rel=1e-14)
        assert float(got[0, 0]) == pytest.approx(expected + 0.05 * np.sum(point**2), rel=1e-14)


@each("family", FAMILIES)
def test_gathered_clients_and_shared_data_give_the_same(family):
    federation, clients = make(family), torch.tensor([[2, 0], [3, 3], [1, 2]])
    x = random_points(federation, 3, 0)
    taken = torch.take_along_dim(x, clients[..., None], dim=1)
    for function in (federation.value, federation.gradient):
        whole = function(x)
        index = clients if whole.ndim == 2 else clients[..., None]
        assert torch.allclose(function(taken, clients), torch.take_along_dim(whole, index, dim=1), rtol=1e-12)
        alone = torch.cat([function(x[i : i + 1]) for i in range(3)])
        assert torch.allclose(alone, whole, rtol=1e-12, atol=1e-14)


@each("family", FAMILIES)
def test_optimum(family):
    federation = make(family, seed=3)
    tolerance = 1e-9
    assert float(federation.objective_gradient(federation.x_star).abs().max()) < tolerance
    assert float(federation.gradient(federation.client_minimisers).abs().max()) < tolerance
    around = federation.x_star + torch.as_tensor(np.random.default_rng(0).normal(size=(200, federation.dim)))
    assert bool((federation.objective(around) > federation.F_star).all())
    clients = federation.client_minimisers + random_points(federation, 200, 1)
    assert bool((federation.value(clients) >= federation.F_star_client).all())

    def objective(x):
        x = torch.as_tensor(x)[None]
        return float(federation.objective(x)), to_numpy(federation.objective_gradient(x))[0]

    other = scipy.optimize.minimize(objective, np.zeros(federation.dim), jac=True, tol=1e-13, method="L-BFGS-B")
    assert other.fun == pytest.approx(float(federation.F_star), rel=1e-9)
    assert value(federation, "Gamma") >= 0 and (value(federation, "Gamma_client") >= 0).all()
    weighted = to_numpy(federation.weights * federation.priority) @ value(federation, "Gamma_client").T
    assert value(federation, "Gamma") == pytest.approx(weighted.ravel(), rel=1e-12)


@each("family", ["binary", "softmax with intercept"])
def test_the_residual_of_the_solver_is_recorded_and_small(family):
    constant = make(family).constants["F_star"]
    assert constant.provenance == "exact" and float(constant.note.rsplit("= ", 1)[1]) <= 1e-12


@each("family", FAMILIES)
def test_minimiser_of_any_mixture(family):
    federation = several(family, 2)
    weights = torch.tensor([[0.0, 3.0, 1.0, 2.0], [1.0, 1.0, 1.0, 0.5]], dtype=torch.float64)
    point = federation.all_clients(federation.minimiser(weights))
    assert float((weights[..., None] * federation.gradient(point)).sum(1).abs().max()) < 1e-8


@each("family", FAMILIES)
@given(seed=st.integers(0, 10**6), scale=st.floats(1e-2, 30.0))
@few
def test_random_points_never_violate_L_mu_and_sigma_g(family, seed, scale):
    federation = make(family)
    L, mu = federation.constants.value("L_client"), federation.constants.value("mu_client")
    u, v = random_points(federation, 4, seed, scale), random_points(federation, 4, seed + 1, scale)
    difference, squared = federation.gradient(u) - federation.gradient(v), ((u - v) ** 2).sum(-1)
    assert bool(((difference**2).sum(-1).sqrt() <= L * squared.sqrt() * (1 + 1e-10)).all())
    assert bool(((difference * (u - v)).sum(-1) >= mu * squared * (1 - 1e-8)).all())
    if family[0] != "l":
        x = federation.all_clients(u[:, 0])
        apart = federation.gradient(x) - federation.objective_gradient(u[:, 0])[:, None]
        norm = (apart**2).sum(-1).sqrt()
        weights = federation.weights * federation.priority
        assert bool((norm <= federation.constants.value("sigma_g_client") * (1 + 1e-12)).all())
        assert bool(((weights * norm).sum(-1) <= federation.constants.value("sigma_g_1")).all())
        assert bool(((weights * norm**2).sum(-1) <= federation.constants.value("sigma_g_2") ** 2).all())
        assert bool((norm[:, [0, 3]].amax(-1) <= federation.constants.value("sigma_g_max")).all())


@each("family", FAMILIES)
def test_L_and_mu_are_attained(family):
    """Least squares everywhere; binary and two-class softmax have their L at 0; the ridge where no sample looks."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.integers(0, 2, 20)
    options = {"task": family.split(" with")[0], "intercept": "intercept" in family, "ridge": 0.3}
    federation = from_arrays(X, y, [0] * 8 + [1] * 12, **options)
    eye = torch.eye(federation.dim, dtype=torch.float64)[:, None].expand(-1, 2, -1)
    hessian = federation.hessian(0 * eye)(eye).permute(1, 0, 2)
    top = torch.linalg.eigvalsh(hessian)[:, -1]
    assert torch.allclose(top, federation.constants.value("L_client")[0], rtol=1e-12)
    flat = from_arrays(np.c_[X, X[:, 0]], y, [0] * 8 + [1] * 12, **options)
    assert value(flat, "mu_client") == pytest.approx(0.3, rel=1e-12)


def test_what_stands_on_padding_does_not_matter():
    rng = np.random.default_rng(0)
    features, targets, counts = rng.normal(size=(1, 2, 5, 3)), rng.choice([-1.0, 1.0], (1, 2, 5, 1)), np.array([[2, 5]])
    clean, dirty = BinaryLogistic(features, targets, counts, ridge=0.1), features.copy()
    dirty[0, 0, 2:] = 1e300
    other = BinaryLogistic(dirty, targets, counts, ridge=0.1)
    for name in not_empty(clean.constants):
        assert (value(clean, name) == value(other, name)).all(), name


@given(samples=st.integers(1, 6), dim=st.integers(1, 6), seed=st.integers(0, 10**6))
@few
def test_least_squares_without_full_rank(samples, dim, seed):
    rng = np.random.default_rng(seed)
    federation = from_arrays(rng.normal(size=(2 * samples, dim)), rng.normal(size=2 * samples),
                             np.repeat([0, 1], samples))
    mu = value(federation, "mu_client")
    assert (mu > 0).all() == (samples >= dim) and (mu >= 0).all()
    assert float(federation.objective_gradient(federation.x_star).abs().max()) < 1e-7
    if samples <= dim:
        assert value(federation, "F_star_client") == pytest.approx(np.zeros((1, 2)), abs=1e-12)
    else:
        quadratic = Quadratic(federation.hessians(), federation.client_minimisers, federation.F_star_client)
        x = random_points(federation, 3, seed)
        assert torch.allclose(quadratic.value(x), federation.value(x), rtol=1e-7, atol=1e-9)
        assert torch.allclose(quadratic.gradient(x), federation.gradient(x), rtol=1e-7, atol=1e-9)


def test_a_feature_given_twice_makes_mu_zero():
    X = np.random.default_rng(0).normal(size=(2000, 2)) @ np.array([[1.0, 0.3, 0.7], [0.0, 1.1, 0.0]])
    federation = from_arrays(np.c_[X, X], X[:, 0], np.arange(2000) % 100)
    assert value(federation, "mu") == [0.0] and (value(federation, "mu_client") == 0).all()


def test_equal_hessians_make_sigma_g_finite_for_least_squares():
    X = np.random.default_rng(0).normal(size=(6, 2))
    federation = from_arrays(np.r_[X, X], np.arange(12.0), np.repeat([0, 1], 6))
    apart = federation.gradient(torch.full((1, 2, 2), 7.0, dtype=torch.float64))
    assert value(federation, "sigma_g_1") == pytest.approx(float((apart[0, 0] - apart[0, 1]).norm()) / 2, rel=1e-12)
    assert "sigma_g_1" not in make("least-squares").constants


@each("family", FAMILIES)
def test_numpy_equals_torch(family):
    federation = make(family, batch_size=2)
    other = federation.to(NUMPY)
    assert set(federation.constants) == set(other.constants)
    for name in federation.constants:
        assert value(federation, name) == pytest.approx(value(other, name), rel=1e-10, abs=1e-10)
    x = random_points(federation, 3, 0)
    pairs = [(f.value(p), f.gradient(p), f.hessian(p)(p), f.stochastic_gradient(p, Draws([1, 2, 3], b), 4))
             for f, p, b in ((federation, x, federation.backend), (other, to_numpy(x), NUMPY))]
    for one, two in zip(*pairs, strict=True):
        assert to_numpy(one) == pytest.approx(two, rel=1e-10, abs=1e-10)


@each("family", FAMILIES)
def test_instances_select_and_repeat(family):
    """Instance i of a batch is the problem alone; solved optima travel along."""
    batch, alone = several(family, 3, batch_size=2), make(family, 1, batch_size=2)
    assert batch.constants and alone.constants
    with mock.patch("synthetic.data.logistic.minimise", None):
        x = random_points(alone, 1, 0)
        within = batch.stochastic_gradient(x.expand(3, -1, -1), Draws([7, 3, 5]), 0)[1]
        assert torch.allclose(within, alone.stochastic_gradient(x, Draws([3]), 0)[0], rtol=1e-11, atol=1e-11)
        for row in (batch.select([1]), batch.repeat(2).select([2, 3]).select([1])):
            for name in ("L", "mu", "sigma_sq_client", "Gamma", "F_star_client", "x_star", "samples"):
                assert value(row, name) == pytest.approx(value(alone, name), rel=1e-9, abs=1e-9)
            one, two = (f.stochastic_gradient(x, Draws([3]), 0) for f in (row, alone))
            assert torch.allclose(one, two, rtol=1e-11, atol=1e-11)
        assert alone.repeat(5) is alone


@each("family", FAMILIES)
def test_single_precision_has_the_optimum_solved_in_double(family):
    single = make(family, backend=Backend("torch", dtype=torch.float32))
    assert single.x_star.dtype == single.gradient(single.client_minimisers).dtype == torch.float32
    assert value(single, "F_star") == pytest.approx(value(make(family), "F_star"), rel=1e-4)


def test_additive_noise_on_data():
    federation = make_problem("logistic", noise=make_problem("quadratic", sigma=2.0, clients=10).noise)
    assert value(federation, "sigma_sq") == pytest.approx(4.0)
    assert federation.constants["sigma_sq"].provenance == "exact"
    x = random_points(federation, 2, 0)
    assert not torch.allclose(federation.stochastic_gradient(x, Draws([1, 2]), 0), federation.gradient(x))
