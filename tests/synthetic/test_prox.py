"""Local problems solved exactly, and layers."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from fedtheory import fedavg, run
from synthetic import EXACT, NUMPY, Huber, LeastSquares, Quadratic, layered_quadratic, make_quadratic, to_numpy
from synthetic.base.federation import layer_sizes
from tests.synthetic.families import each, make


def _outputs(backend_instances):
    rng = np.random.default_rng(1)
    return LeastSquares(rng.normal(size=(backend_instances, 3, 2, 4)), rng.normal(size=(backend_instances, 3, 2, 2)),
                        np.full((backend_instances, 3), 2), ridge=0.1)


def _huber(backend=None, instances=1):
    rng = np.random.default_rng(3)
    shape = (instances, 3, 2)
    curvature, radius, center = (rng.integers(1, 9, shape) / 4 for _ in range(3))
    return Huber(curvature, radius, center, 0.25 * (rng.random(shape) < 0.5), **({"backend": backend} if backend else {}))


FEDERATIONS = {
    "diagonal": lambda: make_quadratic(3, 4), "dense": lambda: make_quadratic(3, 4, hessians="rotated"),
    "dense, by run": lambda: make_quadratic(3, 4, hessians="rotated", instances=5), "least squares": lambda: _samples(),
    "two outputs": lambda: _outputs(1), "two outputs, by run": lambda: _outputs(5), "huber": _huber,
    "huber, by run": lambda: _huber(instances=5),
}


def _samples():
    return make("least-squares with ridge")


def check_prox(federation, prox):
    """The gradient of the local problem vanishes, for numbers and arrays rho, for all clients and gathered ones."""
    runs, generator = 5, np.random.default_rng(0)
    clients = torch.as_tensor(generator.integers(0, federation.clients, (runs, 2)))
    for numbers in (None, clients):
        shape = (runs, federation.clients if numbers is None else 2, federation.dim)
        linear, center = torch.as_tensor(generator.normal(size=(2, *shape)) * 3)
        for rho in (0.7, 30.0, torch.as_tensor(generator.random((runs, 1, 1)) + 0.1)):
            v = prox(linear, rho, center, clients=numbers)
            rest = federation.gradient(v, numbers) + linear + rho * (v - center)
            assert v.shape == shape and float(rest.abs().max()) < 1e-11 * (1 + float(torch.as_tensor(rho).max()))
        start = center[:, :1] if numbers is None else center
        one, two = (prox(linear, 2.0, point, clients=numbers) for point in (start, start + 0 * center))
        assert torch.allclose(one, two)


@each("name", FEDERATIONS)
def test_prox_solves_the_local_problem(name):
    federation = FEDERATIONS[name]()
    check_prox(federation, federation.prox)


@each("fault", [
    lambda f, linear, rho, center, clients=None: f.prox(-linear, rho, center, clients),
    lambda f, linear, rho, center, clients=None: f.prox(linear, rho, center, clients) + 1e-6,
    lambda f, linear, rho, center, clients=None: f.prox(linear, rho, center, clients if clients is None else 0 * clients)])
def test_the_check_finds_a_planted_fault(fault):
    federation = FEDERATIONS["dense"]()
    with pytest.raises(AssertionError):
        check_prox(federation, lambda *a, **k: fault(federation, *a, **k))


def test_without_a_pull_it_is_the_minimiser():
    federation = FEDERATIONS["dense"]()
    zero = torch.zeros(1, 3, 4, dtype=torch.float64)
    assert torch.allclose(federation.prox(zero, 0, zero), federation.center, rtol=1e-12, atol=1e-12)


def test_prox_in_fractions_and_on_numpy():
    quadratic = Quadratic([[[Fraction(2)], [Fraction(1, 3)]]], [[[Fraction(1)], [Fraction(-3)]]], backend=EXACT)
    linear, center = EXACT.array([[[Fraction(1, 2)], [2]]]), EXACT.array([[[5], [7]]])
    v = quadratic.prox(linear, Fraction(1, 5), center)
    assert ((quadratic.gradient(v) + linear + Fraction(1, 5) * (v - center)) == 0).all()
    huber = _huber(EXACT)
    linear, center = (EXACT.array(np.random.default_rng(s).integers(-9, 9, (4, 3, 2))) for s in (0, 1))
    v = huber.prox(linear, Fraction(1, 7), center)
    assert ((huber.gradient(v) + linear + Fraction(1, 7) * (v - center)) == 0).all()
    for name in ("dense", "two outputs", "huber"):
        federation = FEDERATIONS[name]()
        x = torch.as_tensor(np.random.default_rng(0).normal(size=(5, 3, federation.dim)))
        plain = federation.to(NUMPY).prox(to_numpy(x), 0.5, to_numpy(x) + 1)
        assert to_numpy(federation.prox(x, 0.5, x + 1)) == pytest.approx(plain, rel=1e-10)


@each("call, message", [
    (lambda x: make_quadratic(3, 2).prox(x, -1.0, x), "rho.* 0.*got -1"),
    (lambda x: make_quadratic(3, 2).prox(x, torch.tensor([[[1.0]], [[-2.0]]]), x), "rho.* 0.*got -2"),
    (lambda x: make_quadratic(2, 2, hessians="rotated", backend=EXACT), "dense.*got 'exact', allowed: torch, numpy"),
    (lambda x: layer_sizes((2, 2), 5), r"layers.*dim = 5.*got \(2, 2\).*4"),
    (lambda x: layer_sizes((5, 0), 5), "layer.* 1.*got 0"),
    (lambda x: layer_sizes(2, 5), "layers.*dim = 5.*got 2$"),
    (lambda x: layer_sizes(6, 5), "layers.* 1.* 5.*got 6"),
    (lambda x: make_quadratic(2, 3, layers=(1, 1)), r"layers.*dim = 3.*got \(1, 1\)"),
    (lambda x: layered_quadratic(2, (1, 2), L=(1.0, 2.0, 3.0)), r"^L .*layer.*\(2\).*got.*\(3,\)"),
])
def test_bad_input_is_one_clear_line(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call(torch.zeros(1, 3, 2, dtype=torch.float64))
    assert "\n" not in str(caught.value)


# layers --------------------------------------------------------------------------------------------------------------
def test_layers_are_given_kept_and_taken_back():
    federation = make_quadratic(3, 6, layers=(1, 2, 3), instances=2)
    expected = (slice(0, 1), slice(1, 3), slice(3, 6))
    assert federation.layers() == federation.select([1]).layers() == federation.repeat(2).layers() == expected
    assert federation.with_layers(2).layers() == (slice(0, 3), slice(3, 6)) and federation.layers() == expected
    assert federation.with_layers(None).layers() == (slice(0, 6),)
    assert make("softmax", layers=4).layers()[3] == slice(9, 12)


def test_layers_tell_runs_apart_and_asking_does_not():
    plain, other = make_quadratic(3, 6), make_quadratic(3, 6).with_layers(2)
    marks = [run(fedavg(eta_l=0.1), f, 1).fingerprint for f in (plain, other, other.with_layers(None))]
    assert marks[0] == marks[2] != marks[1]


@each("hessians", ["diagonal", "rotated"])
def test_blocks_have_their_own_curvature(hessians):
    federation = layered_quadratic(4, (2, 1, 3), L=(8.0, 3.0, 2.0), mu=(1.0, 9.0, 0.5), hessians=hessians, instances=2)
    assert federation.layers() == (slice(0, 2), slice(2, 3), slice(3, 6))
    dense = to_numpy(federation.curvature)
    dense = dense.copy() if dense.ndim == 4 else dense[..., None] * np.eye(6)
    for layer, low, high in zip(federation.layers(), (1.0, 3.0, 0.5), (8.0, 3.0, 2.0), strict=True):
        spectrum = np.linalg.eigvalsh(dense[..., layer, layer])
        assert np.allclose(spectrum.min(-1), low) and np.allclose(spectrum.max(-1), high)
        dense[..., layer, layer] = 0
    assert not dense.any(), "nothing between the blocks"
    assert to_numpy(federation.constants.value("L")) == pytest.approx([8.0, 8.0])


def test_isotropic_homogeneous_layers_shrink_at_their_own_rates():
    federation = layered_quadratic(3, (2, 3), L=(1.0, 0.25), isotropic=True, homogeneous=True, sigma=0.0)
    x = torch.as_tensor(np.random.default_rng(0).normal(size=(1, 5)))
    after = x - 0.5 * federation.objective_gradient(x)
    assert torch.allclose(after / x, torch.tensor([[0.5, 0.5, 0.875, 0.875, 0.875]], dtype=torch.float64))
    assert to_numpy(federation.constants.value("sigma_g_max")) == pytest.approx([0.0], abs=1e-12)
