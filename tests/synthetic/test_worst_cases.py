"""Huber clients and the hard instances built from them, in floats and in fractions."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import fedavg, run
from synthetic import (
    EXACT,
    NUMPY,
    TORCH,
    Huber,
    Quadratic,
    flat_and_steep,
    huber_worst_case,
    make_problem,
    nesterov_chain,
    to_numpy,
)
from synthetic.numbers.arrays import BALLS
from tests.not_empty import not_empty
from tests.synthetic.families import each

few = settings(deadline=None, max_examples=30)


def value(federation, name):
    return to_numpy(federation.constants.value(name))


def huber(seed, instances=1, clients=4, dim=2, tails=False, backend=TORCH):
    rng = np.random.default_rng(seed)
    shape = (instances, clients, dim)
    curvature, radius, center = rng.integers(2, 9, shape) / 4, rng.integers(0, 9, shape) / 4, rng.integers(-9, 9, shape) / 4
    tail = rng.integers(0, 3, (instances, 1, dim)) / 4 if tails else 0
    return Huber(curvature, radius, center, tail, weights=rng.integers(1, 4, shape[:2]), priority=np.arange(clients) != 1,
                 backend=backend)


def test_values_by_hand():
    federation = Huber(2.0, 1.5, [[[1.0]]], tail=0.5, offset=[[3.0]])
    x = torch.tensor([[[1.0]], [[2.0]], [[5.0]], [[-1.0]]], dtype=torch.float64)
    # inside: u^2; outside: 9/4 + 3 (|u| - 3/2) + (|u| - 3/2)^2 / 4
    assert federation.value(x).ravel().tolist() == [3.0, 4.0, 3 + 2.25 + 7.5 + 6.25 / 4, 3 + 2.25 + 1.5 + 0.25 / 4]
    assert federation.gradient(x).ravel().tolist() == [0.0, 2.0, 4.25, -3.25]


@each("tails", [False, True])
@given(seed=st.integers(0, 10**6))
@few
def test_the_optimum_in_fractions_is_the_optimum_in_floats(tails, seed):
    exact, floats = (huber(seed, 2, tails=tails, backend=backend) for backend in (EXACT, NUMPY))
    assert (exact.objective_gradient(exact.x_star) == 0).all(), "the root, exactly"
    assert exact.F_star.astype(float) == pytest.approx(floats.F_star, rel=1e-12, abs=1e-12)
    for _ in range(3):
        x = EXACT.array(np.random.default_rng(seed).integers(-20, 20, (2, 2))) / 4
        assert (exact.objective(x) >= exact.F_star).all()
    assert exact.constants.value("L").astype(float) == pytest.approx(value(floats, "L"))


def test_balls_hold_the_fractions():
    exact, balls = (huber(5, tails=True, backend=backend) for backend in (EXACT, BALLS))
    start = np.full((1, 4, 2), Fraction(1, 3))
    for name in ("value", "gradient"):
        one, two = (getattr(f, name)(f.backend.array(start)) for f in (exact, balls))
        assert all(b.contains(a) for a, b in not_empty(zip(one.ravel(), two.ravel(), strict=True)))


@given(seed=st.integers(0, 10**6), dim=st.integers(1, 2), tails=st.booleans())
@few
def test_sigma_g_is_attained_on_a_grid_of_breaks(seed, dim, tails):
    """The second moment and the largest are attained at the points where a tail begins; in one dimension so is the first."""
    federation = huber(seed, dim=dim, tails=tails)
    breaks = federation._of_clients.knots()[0].moveaxis(0, 1).reshape(dim, -1)
    x = torch.cartesian_prod(*breaks).reshape(-1, dim)
    apart = federation.gradient(federation.all_clients(x)) - federation.objective_gradient(x)[:, None]
    norm, p = apart.square().sum(-1).sqrt(), federation.weights * federation.priority
    found = {"sigma_g_1": (p * norm).sum(-1), "sigma_g_2": (p * norm**2).sum(-1).sqrt(),
             "sigma_g_max": torch.where(p > 0, norm, 0.0).amax(-1)}
    for name, measured in not_empty(found.items()):
        if federation.constants[name].provenance == "exact":
            assert float(measured.max()) == pytest.approx(float(federation.constants.value(name)[0]), rel=1e-12, abs=1e-14)
        else:
            assert (name, dim) == ("sigma_g_1", 2) and float(measured.max()) <= float(federation.constants.value(name)[0])


def test_a_full_tail_is_a_quadratic():
    curvature, center = np.random.default_rng(0).random((2, 1, 3, 2)) + 0.5
    one, two = Huber(curvature, 0.3, center, tail=curvature), Quadratic(curvature, center)
    x = torch.as_tensor(np.random.default_rng(1).normal(size=(4, 3, 2)) * 5)
    assert torch.allclose(one.value(x), two.value(x)) and torch.allclose(one.gradient(x), two.gradient(x))
    assert torch.allclose(one.x_star, two.x_star) and value(one, "mu") == pytest.approx(value(two, "mu"))
    zero = torch.zeros_like(x)
    assert torch.allclose(one.prox(x, 0.7, zero), two.prox(x, 0.7, zero))


@given(rounds=st.integers(1, 6), steps=st.integers(1, 3), h=st.fractions(Fraction(1, 10), Fraction(3, 2)))
@few
def test_gradient_descent_makes_exactly_the_least_progress(rounds, steps, h):
    """In fractions: L D^2 / (2 (2 N h + 1)) with N = rounds * steps local steps of identical clients."""
    L, distance, count = Fraction(4), Fraction(1, 2), rounds * steps
    radius = distance / (2 * count * h + 1)
    federation = Huber(np.array([[[L]]] * 1), np.array([[[radius]]]), np.zeros((1, 2, 1), dtype=int), backend=EXACT)
    trajectory = run(fedavg(eta_l=h / L, local_steps=steps), federation, rounds, start=EXACT.array([distance]),
                     record=["suboptimality"])
    assert trajectory.dataset["suboptimality"].values[0, -1] == L * distance**2 / (2 * (2 * count * h + 1))
    floats = huber_worst_case(count, float(L), float(distance), float(h))
    assert to_numpy(floats.width).ravel()[0] == pytest.approx(float(radius))


@given(L=st.floats(0.1, 10), scale=st.floats(0.2, 5), h=st.floats(0.1, 1.0), seed=st.integers(0, 10**6))
@few
def test_no_other_huber_function_is_worse(L, scale, h, seed):
    steps = 4
    federation = Huber(L, scale * np.abs(np.random.default_rng(seed).normal()) + 1e-3, np.zeros((1, 1, 1)))
    x = torch.ones(1, 1, dtype=torch.float64)
    for _ in range(steps):
        x = x - h / L * federation.objective_gradient(x)
    assert float(federation.objective(x)[0]) <= L / (2 * (2 * steps * h + 1)) * (1 + 1e-12)


@each("clients, mu", [(1, 0.0), (2, 0.0), (3, 0.0), (2, 0.1)])
def test_the_chain_is_nesterovs(clients, mu):
    dim, L = 21, 2.0
    federation = nesterov_chain(dim, clients, L, mu)
    x = torch.as_tensor(np.random.default_rng(0).normal(size=(5, dim)))
    ends = (x[:, 0] - 1) ** 2 + x[:, -1] ** 2 + ((x[:, 1:] - x[:, :-1]) ** 2).sum(-1)
    assert torch.allclose(federation.objective(x), (L - mu) / 8 * ends + mu / 2 * x.square().sum(-1), rtol=1e-12)
    hessian = torch.autograd.functional.hessian(lambda v: federation.objective(v[None])[0], torch.zeros(dim, dtype=x.dtype))
    spectrum = torch.linalg.eigvalsh(hessian)
    assert mu < float(spectrum[0]) and 0.99 * L < float(spectrum[-1]) < L
    if mu:
        return
    assert value(federation, "F_star")[0] == pytest.approx(L / 8 / (dim + 1), rel=1e-9)
    assert value(federation, "x_star")[0] == pytest.approx(1 - np.arange(1, dim + 1) / (dim + 1), rel=1e-9)
    point, distance = torch.zeros(1, dim, dtype=x.dtype), float(federation.x_star.square().sum())
    for t in range(1, 11):
        point = point - federation.objective_gradient(point) / L
        assert not point[0, t:].any(), "t steps reach t coordinates"
        gap = float((federation.objective(point) - federation.F_star)[0])
        assert gap >= L / 8 * (1 / (t + 1) - 1 / (dim + 1)) * (1 - 1e-12)
    assert gap >= 3 * L * distance / (32 * (t + 1) ** 2), "as dim = 2 t + 1"


def test_local_steps_settle_far_from_the_optimum_of_a_flat_and_a_steep_client():
    federation = flat_and_steep(backend=NUMPY)
    ends = {}
    for steps, rounds in ((1, 200), (20, 20)):
        trajectory = run(fedavg(eta_l=0.2, local_steps=steps), federation, rounds)
        ends[steps] = float(trajectory.dataset["suboptimality"].values[0, -1])
    assert abs(ends[1]) < 1e-9 and ends[20] > 0.05
    assert value(federation, "G_lip") == pytest.approx([2.0]) and value(federation, "mu") == pytest.approx([0.0])
    assert float(flat_and_steep(tail=0.1).constants.value("mu")[0]) == 0.1


@each("name", ["huber-worst-case", "flat-and-steep"])
def test_named_problems_in_fractions(name):
    federation = make_problem(name, backend=EXACT)
    assert (federation.objective_gradient(federation.x_star) == 0).all()
    assert all(isinstance(v, Fraction) for v in federation.constants.value("L"))


@each("call, message", [
    (lambda: Huber(1.0, 1.0, [[0.0]]), r"center.*\(instances, clients, dim\).*got.*\(1, 1\)"),
    (lambda: Huber([1.0, 2.0], 1.0, [[[0.0]]]), r"curvature.*\(1, 1, 1\).*got.*\(2,\)"),
    (lambda: Huber(0.0, 1.0, [[[0.0]]]), "curvature.*positive.*got 0"),
    (lambda: Huber(1.0, -1.0, [[[0.0]]]), "radius.* 0.*got -1"),
    (lambda: Huber(1.0, 1.0, [[[0.0]]], tail=2.0), "curvature.*tail.* 0.*got -1"),
    (lambda: huber_worst_case(0), "steps.* 1.*got 0"),
    (lambda: huber_worst_case(step=0.0), "step.* 0.*got 0.0"),
    (lambda: flat_and_steep(centers=(1.0,)), "curvatures, centers.*G_lip.*got 2, 1, 2"),
    (lambda: flat_and_steep(curvatures=(1.0, 0.0)), "curvature.*positive.*got 0"),
    (lambda: nesterov_chain(3, 5), "clients.* 1.* 4.*got 5"),
    (lambda: nesterov_chain(3, mu=1.0), "^mu .*L = 1.*got 1$"),
])
def test_bad_input_is_one_clear_line(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
