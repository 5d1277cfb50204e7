"""What every federation must satisfy, as checks that raise AssertionError; and small federations of every kind."""

import numpy as np
import torch

from synthetic import (
    NUMPY,
    TORCH,
    Draws,
    Huber,
    Piecewise,
    factored,
    make_cosine_quadratic,
    make_problem,
    make_quadratic,
    problem_names,
    random_generalised_linear,
    random_least_squares,
    random_perceptron,
    to_numpy,
)
from synthetic.data.scalar_losses import SHAPES
from synthetic.optima.local_search import difference_hessian
from synthetic.quadratic.turned import Turned

_FEW = {"clients": 4, "samples": 6, "dim": 3}
_GLM = ("log-cosh", "pseudo-huber", "softplus", "nonconvex-logistic", "sigmoid", "robust", "cosine-loss")
SMALL = {
    "synth": {"sizes": 60, "clients": 3}, "synth-noisy": {"sizes": 40, "priority_clients": 3, "free_clients": 2},
    "digits": {"rows": 120, "clients": 4}, "digits-perceptron": {"rows": 60, "clients": 3, "hidden": (3,), "batch_size": 2},
    "digits-factored": {"rows": 60, "clients": 3, "rank": 1, "batch_size": 2}, "perceptron": {"samples": 8, "batch_size": 2},
    "breast-cancer": {"clients": 3}, "least-squares": _FEW, "logistic": _FEW, "nesterov-chain": {"dim": 5},
} | {name: _FEW | {"batch_size": 2} for name in _GLM}


def _huber(backend=TORCH):
    rng = np.random.default_rng(0)
    shape = (1, 4, 2)
    return Huber(1 + rng.random(shape), rng.random(shape), rng.normal(size=shape), [[[0.5, 0.25]]], rng.normal(size=(1, 4)),
                 [1.0, 2.0, 3.0, 1.0], [True, True, True, False], backend=backend)


def random_piecewise(seed=0, samples=None, pieces=2, lipschitz=False, instances=1, clients=3, dim=2, backend=TORCH,
                     **options):
    """Piecewise quadratic clients with numbers that are multiples of 1/4; ``lipschitz``: with linear ends."""
    rng = np.random.default_rng(seed)
    lead = (instances, clients, *([] if samples is None else [samples]), dim)
    numbers = lambda shape, low=-8: rng.integers(low, 9, shape) / 4  # noqa: E731
    shape, curvature = (*lead, pieces), numbers(lead, 1)
    slope, center, offset, width = numbers(shape), numbers(lead), numbers(lead[:-1]), abs(numbers(shape))
    if lipschitz:
        curvature, first = 0 * curvature, np.arange(pieces) == 0
        slope, width = np.where(first, 3, slope), np.where(first, 4, width)
    return Piecewise(curvature, center, slope, numbers(shape), width, offset, backend=backend, **options)


def _loss(shape, **options):
    return lambda backend=TORCH: random_generalised_linear(4, 5, 3, loss=shape, seed=2, backend=backend, **options)


FAMILIES = {name: (lambda backend=TORCH, name=name: make_problem(name, backend=backend, **SMALL.get(name, {})))
            for name in problem_names()}
FAMILIES |= {
    "cosines, random directions": lambda backend=TORCH: make_cosine_quadratic(
        3, 3, directions="random", terms=4, priority=2, hessian_spread=0.0, backend=backend),
    "cosines, rotated": lambda backend=TORCH: make_cosine_quadratic(3, 3, hessians="rotated", sigma=0.5, backend=backend),
    "cosines, three instances": lambda backend=TORCH: make_cosine_quadratic(
        3, 2, instances=3, hessian_spread=0.0, priority=2, sigma=0.1, backend=backend),
    "huber with tails": _huber,
    "piecewise": lambda backend=TORCH: random_piecewise(3, backend=backend),
    "piecewise, three instances": lambda backend=TORCH: random_piecewise(3, instances=3, backend=backend),
    "piecewise, Lipschitz": lambda backend=TORCH: random_piecewise(3, lipschitz=True, backend=backend),
    "piecewise, one dimension": lambda backend=TORCH: random_piecewise(3, lipschitz=True, dim=1, backend=backend),
    "piecewise, samples": lambda backend=TORCH: random_piecewise(3, samples=3, batch_size=2, backend=backend),
    "piecewise, Lipschitz samples": lambda backend=TORCH: random_piecewise(
        3, samples=2, lipschitz=True, batch_size=1, pieces=3, backend=backend),
    "square, penalty": _loss("square", alpha=0.2),
    "cosine upside down": _loss("cosine", scale=-0.5, width=2.0, priority=[0, 2]),
    "log-cosh, scaled, ridge": _loss("log-cosh", scale=4.0, width=2.0, ridge=0.1, intercept=True),
    "a basis for each client": lambda backend=TORCH: Turned(make_quadratic(
        3, 3, instances=3, priority=2, sigma=0.5, offset_spread=1.0, backend=backend),
        [[0.5, -0.25, 0.0], [1.0, 2.0, -3.0], [0.125, 0.125, 0.0]]),
    "few samples": lambda backend=TORCH: random_generalised_linear(3, 2, 4, loss="pseudo-huber", backend=backend),
    "separable": lambda backend=TORCH: random_generalised_linear(3, 1, 4, loss="softplus", backend=backend),
    "two hidden layers": lambda backend=TORCH: random_perceptron(
        3, 5, 3, hidden=(4, 3), activation="softplus", noise=None, backend=backend),
    "factored least squares": lambda backend=TORCH: factored(
        random_least_squares(3, 5, 6, backend=backend), 1, (2, 3)),
} | {f"{shape} loss": _loss(shape) for shape in SHAPES if shape != "linear"}


def points(federation, runs, seed, scale=1.0):
    """Random points (runs, clients, dim) around the default start."""
    shape = (runs, federation.clients, federation.dim)
    around = to_numpy(federation.default_start())
    return federation.backend.array(around + np.random.default_rng(seed).normal(size=shape) * scale)


def constant(federation, name):
    return to_numpy(federation.constants.value(name))


def runs_of(federation, least):
    """As many runs as instances, or ``least`` where all share one."""
    return federation.instances if federation.instances > 1 else least


def _norm(array):
    return (array**2).sum(-1).sqrt()


# checks --------------------------------------------------------------------------------------------------------------
def check_gradient(federation):
    x = points(federation, runs_of(federation, 3), 0).requires_grad_()
    (automatic,) = torch.autograd.grad(federation.value(x).sum(), x)
    assert torch.allclose(automatic, federation.gradient(x), rtol=1e-9, atol=1e-9)


def check_clients(federation):
    """Gathered clients, and a run alone, see what they see in the batch."""
    runs = runs_of(federation, 3)
    x = points(federation, runs, 1)
    clients = torch.as_tensor(np.random.default_rng(2).integers(0, federation.clients, (runs, 2)))
    draws, row = Draws(np.arange(runs)), runs - 1
    alone = federation if federation.instances == 1 else federation.select([row])
    for name in ("value", "gradient", "stochastic_gradient"):
        function = getattr(federation, name)
        more = (draws, 3) if name == "stochastic_gradient" else ()
        full = function(x, *more)
        index = clients if full.ndim == 2 else clients[..., None]
        part = function(torch.take_along_dim(x, clients[..., None], dim=1), *more, clients=clients)
        assert torch.allclose(part, torch.take_along_dim(full, index, dim=1), rtol=1e-10, atol=1e-11), name
        more = (Draws([row]), 3) if more else ()
        assert torch.allclose(getattr(alone, name)(x[row:row + 1], *more)[0], full[row], rtol=1e-10, atol=1e-11), name


def check_instances(federation):
    """Selected and repeated instances are the problem that they were."""
    last = federation.instances - 1
    x = points(federation, runs_of(federation, 1), 3)
    for other in (federation.select([last]), federation.repeat(2).select([2 * last if last else 0])):
        assert other.instances == 1 and other.layers() == federation.layers()
        for name in ("value", "gradient"):
            one, two = getattr(federation, name)(x)[last], getattr(other, name)(x[last:last + 1])[0]
            assert torch.allclose(one, two, rtol=1e-11, atol=1e-12), name
        for name in ("L", "F_star", "sigma_sq_client"):
            one, two = constant(federation, name)[last], constant(other, name)[0]
            assert np.allclose(one, two, rtol=1e-7, atol=1e-9, equal_nan=True), name


def check_smoothness(federation):
    """L is never exceeded, and nearly attained somewhere where it is exact."""
    L, reached = federation.constants["L_client"], 0.0
    for seed, scale in enumerate((0.1, 1.0, 10.0, 0.1)):
        u = points(federation, runs_of(federation, 20), seed, scale)
        v = u + points(federation, len(u), seed + 50, 0.3) * 0.3
        ratio = _norm(federation.gradient(u) - federation.gradient(v)) / _norm(u - v)
        if L.provenance != "estimate":
            assert bool((ratio <= L.value * (1 + 1e-9)).all())
        special = {0: federation.default_start()[None], 3: federation.x_star}.get(seed)  # where bends may be
        bent = u if special is None or bool(special.isnan().any()) else federation.all_clients(special) + 0 * u
        direction = torch.ones_like(u) + 0.1 * torch.as_tensor(np.random.default_rng(0).normal(size=u.shape))
        for _ in range(40):
            direction = difference_hessian(federation.gradient, bent)(direction)
            size = _norm(direction)
            direction = direction / torch.where(size > 0, size, 1.0)[..., None]
        reached = torch.maximum(torch.as_tensor(reached), (size / L.value).amax(0))
    if L.provenance == "exact":
        assert bool((reached <= 1 + 1e-5).all()) and bool((reached >= 0.9).all()), reached
    if L.provenance == "upper":
        assert bool((reached <= 1 + 1e-5).all()) and bool((reached >= 0.02).all()), reached


def check_curvature(federation):
    """F_k - m/2 |x|^2 is convex, for m = mu or minus the weak convexity; never both, and no mu where F_k is not convex."""
    names = federation.constants
    assert not ("mu" in names and "weak_convexity" in names)
    if "mu" not in names and "weak_convexity" not in names:
        assert federation.convexity() is None
        return
    least = names.value("mu_client") if "mu" in names else -names.value("weak_convexity_client")
    for seed, scale in enumerate((0.1, 1.0, 10.0)):
        u = points(federation, runs_of(federation, 20), seed + 100, scale)
        v = u + points(federation, len(u), seed + 150, 0.5) * 0.5
        apart, squared = u - v, ((u - v) ** 2).sum(-1)
        inner = ((federation.gradient(u) - federation.gradient(v)) * apart).sum(-1)
        assert bool((inner >= least * squared - 1e-9 * (1 + squared)).all())


def check_heterogeneity(federation):
    """sigma_g over all of R^d is never exceeded."""
    if "sigma_g_1" not in federation.constants:
        return
    weights, value = federation.weights * federation.priority, federation.constants.value
    for seed, scale in enumerate((0.1, 1.0, 10.0)):
        x = points(federation, runs_of(federation, 30), seed + 200, scale)[:, 0]
        apart = federation.gradient(federation.all_clients(x)) - federation.objective_gradient(x)[:, None]
        norm = _norm(apart)
        largest = torch.where(weights > 0, norm, 0.0).amax(-1)
        found = {"client": norm, "1": (weights * norm).sum(-1), "2": (weights * norm**2).sum(-1).sqrt(), "max": largest}
        for name, measured in found.items():
            assert bool((measured <= value(f"sigma_g_{name}") * (1 + 1e-9) + 1e-12).all()), name
        if federation.constants["sigma_g_max"].provenance == "exact" and not isinstance(federation, Huber | Piecewise):
            assert torch.allclose(largest, value("sigma_g_max"), rtol=1e-9, atol=1e-12), "the same everywhere"


def check_lipschitz(federation):
    """Bounds on gradients: of F_k, and of single samples; exact ones are nearly attained far out."""
    constants, nearest = federation.constants, torch.zeros(1, dtype=torch.float64)
    for seed, scale in enumerate((0.3, 1.0, 3.0, 30.0, 300.0)):
        x = points(federation, runs_of(federation, 40), seed + 300, scale)
        if "G" in constants:
            assert bool((_norm(federation.gradient(x)) <= constants.value("G_client") * (1 + 1e-9)).all())
        if "G_lip" in constants and hasattr(federation, "sample_gradients"):
            steep = _norm(federation.sample_gradients(x)).amax(-1)
            assert bool((steep <= constants.value("G_lip_client") * (1 + 1e-9)).all())
            nearest = torch.maximum(nearest, (steep / constants.value("G_lip_client")).amax(0))
    if hasattr(federation, "sample_gradients") and "G_lip" in constants and constants["G_lip"].provenance == "exact":
        assert bool((nearest >= 0.9).all()), nearest


def check_samples(federation):
    """Samples average to the client; their smoothness and range are never exceeded."""
    if not hasattr(federation, "sample_values"):
        return
    share = getattr(federation, "inner", federation).share
    x = points(federation, runs_of(federation, 4), 4)
    each = federation.sample_gradients(x)
    assert torch.allclose((share * federation.sample_values(x)).sum(-1), federation.value(x), rtol=1e-10, atol=1e-11)
    assert torch.allclose((share[..., None] * each).sum(-2), federation.gradient(x), rtol=1e-9, atol=1e-10)
    loose = x.clone().requires_grad_()
    (automatic,) = torch.autograd.grad(federation.sample_values(loose)[..., 0].sum(), loose)
    assert torch.allclose(automatic, each[..., 0, :], rtol=1e-9, atol=1e-9)
    constants = federation.constants
    for seed, scale in enumerate((0.1, 1.0, 10.0)):
        u = points(federation, runs_of(federation, 10), seed + 400, scale)
        v = u + points(federation, len(u), seed + 450, 0.3) * 0.3
        if "L_sample" in constants:
            ratio = _norm(federation.sample_gradients(u) - federation.sample_gradients(v)) / _norm(u - v)[..., None]
            assert bool((ratio.amax(-1) <= constants.value("L_sample_client") * (1 + 1e-9)).all())
        if "H_loss" in constants:
            assert float(federation.sample_values(u).max()) <= float(constants.value("H_loss").max()) * (1 + 1e-12)


def check_minima(federation):
    """No value lies below F_inf, nor below a minimum that is not an estimate."""
    constants = federation.constants
    exact, clients_exact = (constants[name].provenance == "exact" for name in ("F_star", "F_star_client"))
    for seed, scale in enumerate((0.1, 1.0, 10.0)):
        x = points(federation, runs_of(federation, 60), seed + 500, scale)
        rounding = 1e-9 * (1 + federation.objective(x[:, 0]).abs())
        if "F_inf" in constants:
            assert bool((federation.objective(x[:, 0]) >= constants.value("F_inf") - rounding).all())
        if exact:
            assert bool((federation.objective(x[:, 0]) >= constants.value("F_star") - rounding).all())
        if clients_exact:
            assert bool((federation.value(x) >= constants.value("F_star_client") - rounding[:, None]).all())
    if exact:
        assert torch.allclose(federation.objective(federation.x_star), federation.F_star, rtol=1e-9, atol=1e-12)
        assert float(federation.objective_gradient(federation.x_star).abs().max()) < 1e-8
    if clients_exact and hasattr(federation, "client_minimisers"):
        at = federation.value(federation.client_minimisers)
        assert torch.allclose(at, constants.value("F_star_client"), rtol=1e-9, atol=1e-9)
    assert float(constants.value("Gamma").nan_to_num().min()) >= -1e-9


def check_numpy(federation, other):
    """``other``, the same federation on NumPy, has the same values, draws and constants."""
    x = points(federation, runs_of(federation, 2), 5)
    plain = to_numpy(x)
    for name in ("value", "gradient"):
        assert np.allclose(getattr(federation, name)(x), getattr(other, name)(plain), rtol=1e-10, atol=1e-10), name
    runs = np.arange(len(x))
    drawn = federation.stochastic_gradient(x, Draws(runs), 1), other.stochastic_gradient(plain, Draws(runs, NUMPY), 1)
    assert np.allclose(*drawn, rtol=1e-10, atol=1e-10)
    assert list(federation.constants) == list(other.constants)
    for name, one in federation.constants.items():
        two = other.constants[name]
        assert one.provenance == two.provenance, name
        if one.provenance != "estimate":  # descents may end in other minima
            scale = 1e-6 if name == "x_star" or "optimum" in name or "Gamma" in name else 1e-8
            assert np.allclose(to_numpy(one.value), two.value, rtol=scale, atol=scale, equal_nan=True), name


CHECKS = [check_gradient, check_clients, check_instances, check_smoothness, check_curvature, check_heterogeneity,
          check_lipschitz, check_samples, check_minima]
