"""Optima without strong convexity, global minima, perceptrons, factors: what is proven, and what is only an estimate."""

import itertools

import numpy as np
import pytest
import scipy.optimize
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import fedavg, run
from synthetic import (
    NUMPY,
    Backend,
    CosineQuadratic,
    Draws,
    EnumeratedDraws,
    factored,
    from_arrays,
    make_cosine_quadratic,
    make_problem,
    random_generalised_linear,
    random_least_squares,
    random_perceptron,
    to_numpy,
)
from synthetic.numbers.draws import SAMPLES
from synthetic.optima.convex_optimum import has_minimiser, suboptimality
from synthetic.optima.one_dimension import global_minima
from tests.synthetic.families import each, random_points, value

few = settings(deadline=None, max_examples=20)


# global minima -------------------------------------------------------------------------------------------------------
def waves(seed, problems=5, terms=4):
    rng = np.random.default_rng(seed)
    size, frequency, phase = rng.normal(size=(problems, terms)), *(rng.random((2, problems, terms)) * [[[6.0]], [[1.0]]])

    def value(n, x):
        return x**2 / 2 + (size[n] * np.cos(frequency[n] * x[:, None] + 6 * phase[n])).sum(-1)

    def slope(n, x):
        return x - (size[n] * frequency[n] * np.sin(frequency[n] * x[:, None] + 6 * phase[n])).sum(-1)

    def bend(n, x):
        return 1 - (size[n] * frequency[n] ** 2 * np.cos(frequency[n] * x[:, None] + 6 * phase[n])).sum(-1)

    reach = np.abs(size * frequency).sum(-1)
    return value, slope, bend, -reach, reach, 1 - np.abs(size * frequency**2).sum(-1)


def check_global(found, value, slope, low, high):
    """Against a fine grid: no grid point is lower, and the point found has the value that is claimed."""
    where, best, error = found
    for n in range(len(best)):
        grid = np.linspace(low[n], high[n], 20001)
        assert value(np.full(grid.shape, n), grid).min() >= best[n] - 1e-12
    numbers = np.arange(len(best))
    assert value(numbers, where) == pytest.approx(best, rel=1e-12, abs=1e-12) and (error <= 1e-9).all()
    assert np.abs(slope(numbers, where)).max() < 1e-9


@given(seed=st.integers(0, 10**6))
@few
def test_branch_and_bound_finds_global_minima(seed):
    value, slope, bend, low, high, least = waves(seed)
    found = global_minima(value, slope, bend, low, high, least)
    check_global(found, value, slope, low, high)
    alone = global_minima(value, slope, bend, low[:1], high[:1], least[:1])
    assert [part[0] for part in alone] == [part[0] for part in found], "a problem alone is what it is among others"


def test_the_check_of_global_minima_finds_a_false_bound():
    """A lower bound on the second derivative that is none lets branches with the minimum go, for some seed."""
    wrong = 0
    for seed in range(60):
        value, slope, bend, low, high, _ = waves(seed)
        found = global_minima(value, lambda n, x: 0 * x, bend, low, high, np.zeros(5), cells=4)
        try:
            check_global(found, value, slope, low, high)
        except AssertionError:
            wrong += 1
    assert wrong > 10


@given(seed=st.integers(0, 1000), amplitude=st.floats(0.1, 3.0), frequency=st.floats(0.5, 6.0))
@few
def test_cosine_quadratics_have_their_global_minimum(seed, amplitude, frequency):
    federation = make_cosine_quadratic(3, 2, amplitude=amplitude, frequency=frequency, seed=seed, offset_spread=1.0)
    assert federation.constants["F_star"].provenance == "exact"
    other = scipy.optimize.brute(lambda x: float(federation.objective(torch.as_tensor(x)[None])[0]), [(-4, 4)] * 2, Ns=25,
                                 full_output=True)
    assert float(federation.F_star[0]) <= other[1] + 1e-10
    assert float(federation.objective_gradient(federation.x_star).abs().max()) < 1e-8
    assert float(federation.gradient(federation.client_minimisers).abs().max()) < 1e-8


def test_cosines_by_hand_and_what_is_exact():
    federation = CosineQuadratic([[[2.0]]], [[[1.0]]], [[[[3.0]]]], [[[0.5]]], [[[0.25]]], offset=[[4.0]])
    x = torch.tensor([[[0.5]]], dtype=torch.float64)
    assert float(federation.value(x)) == pytest.approx(0.25 + 4 + 0.5 * np.cos(1.75))
    assert float(federation.gradient(x)) == pytest.approx(-1 - 1.5 * np.sin(1.75))
    assert value(federation, "L") == [6.5] and value(federation, "weak_convexity") == [2.5]
    assert value(federation, "F_inf") == [3.5]
    two = CosineQuadratic([[[2.0]]], [[[1.0]]], [[[[3.0], [1.0]]]], [[[0.5, 0.5]]], [[[0.0, 0.0]]])
    assert two.constants["L"].provenance == "upper", "two cosines on one coordinate need not bend most at one point"
    assert "mu" in make_cosine_quadratic(2, 2, amplitude=0.1, frequency=3.0).constants, "convex, as 0.1 * 9 < 1"
    rough = make_cosine_quadratic(2, 3, directions="random")
    assert rough.constants["F_star"].provenance == rough.constants["x_star"].provenance == "estimate"
    assert float(rough.F_star[0]) >= value(rough, "F_inf")[0]


# convex, not strongly --------------------------------------------------------------------------------------------------
@each("loss", ["log-cosh", "pseudo-huber", "huber", "softplus", "root", "square"])
@given(seed=st.integers(0, 10**6), samples=st.integers(2, 12), distance=st.floats(1e-9, 3.0))
@settings(few, max_examples=8)
def test_the_bound_on_suboptimality_is_one(loss, seed, samples, distance):
    """At points moved away from the optimum the proven bound is never below the true gap; near it, it is small."""
    federation = random_generalised_linear(3, samples, 3, loss=loss, seed=seed, priority=[0, 2])
    p = federation.weights * federation.priority
    assert has_minimiser(federation).shape == (1, 3)
    direction = torch.as_tensor(np.random.default_rng(seed).normal(size=(1, 3)))
    if bool(torch.isfinite(federation.x_star).all()):
        x = federation.x_star + distance * direction
        bound = suboptimality(federation, x, federation.objective(x), federation.objective_gradient(x), p)
        assert float(bound[0]) >= float((federation.objective(x) - federation.F_star)[0]) - 1e-12
    minimisers = federation.client_minimisers
    if bool(torch.isfinite(minimisers).all()):
        x = minimisers + distance * direction
        bound = suboptimality(federation, x, federation.value(x), federation.gradient(x))
        assert bool((bound >= federation.value(x) - federation.F_star_client - 1e-12).all())
    if federation.constants["F_star"].provenance == "exact":
        other = scipy.optimize.minimize(lambda x: float(federation.objective(torch.as_tensor(x)[None])[0]), np.zeros(3))
        assert float(federation.F_star[0]) <= other.fun + 1e-12


@given(seed=st.integers(0, 10**6), samples=st.integers(1, 12))
@few
def test_separable_data_have_no_minimiser(seed, samples):
    """Separable exactly if the perceptron's linear programme is feasible; then minima are estimates and minimisers nan."""
    federation = random_generalised_linear(1, samples, 3, loss="softplus", seed=seed)
    rows = to_numpy(federation.features)[0, 0]
    strict = scipy.optimize.linprog(np.zeros(3), rows, -np.ones(samples), bounds=(None, None)).status == 0
    assert has_minimiser(federation).tolist() == [[not strict]]
    assert bool(torch.isnan(federation.x_star).all()) == strict
    provenance = federation.constants["F_star"].provenance
    assert provenance == ("estimate" if strict else "exact") and np.isfinite(value(federation, "F_star")).all()
    if strict:
        assert value(federation, "F_star")[0] < 1e-2 and "minimiser" in federation.constants["F_star"].note
        trajectory = run(fedavg(eta_l=0.5), federation, 3)
        assert np.isfinite(trajectory.dataset["suboptimality"].values).all()
        assert np.isnan(trajectory.dataset["distance_sq"].values).all()


def test_a_loss_without_lower_bound_needs_a_ridge():
    with pytest.raises(ValueError, match=r"ridge.* 0 .*'linear'.*got 0"):
        random_generalised_linear(loss="linear")
    federation = random_generalised_linear(2, 4, 3, loss="linear", ridge=0.5)
    means = (federation.share[..., None] * federation.features).sum(2)
    assert torch.allclose(federation.x_star, -2 * (federation.weights[..., None] * means).sum(1))
    assert federation.constants["F_star"].provenance == "exact"


def test_single_precision_has_the_optimum_solved_in_double():
    for options in ({"loss": "log-cosh"}, {"loss": "sigmoid"}):
        single, double = (random_generalised_linear(3, 8, 2, backend=backend, **options)
                          for backend in (Backend("torch", dtype=torch.float32), Backend()))
        assert single.x_star.dtype == torch.float32
        assert value(single, "F_star") == pytest.approx(value(double, "F_star"), rel=1e-5)


@each("name, constants", [
    ("log-cosh", {"G_lip": "exact", "L_sample": "exact", "L": "upper", "mu": "lower", "F_star": "exact"}),
    ("softplus", {"G_lip": "exact", "L_sample": "exact", "L": "exact", "mu": "lower", "F_star": "exact"}),
    ("nonconvex-logistic", {"G_lip": "upper", "L": "upper", "weak_convexity": "upper", "F_star": "estimate"}),
    ("sigmoid", {"G_lip": "exact", "H_loss": "exact", "weak_convexity": "upper", "F_star": "estimate", "F_inf": "lower"}),
    ("perceptron", {"L": "estimate", "F_star": "estimate", "F_inf": "lower"}),
    ("digits-factored", {"L": "estimate", "F_star": "estimate", "F_inf": "lower"}),
])
def test_provenance_says_no_more_than_is_known(name, constants):
    federation = make_problem(name, **({"rows": 60, "clients": 2, "rank": 1} if name == "digits-factored" else {}))
    assert {key: federation.constants[key].provenance for key in constants} == constants
    assert "mu" in constants or "mu" not in federation.constants
    with_ridge = random_generalised_linear(2, 5, 2, loss="sigmoid", ridge=0.1)
    assert not {"G_lip", "G", "H_loss"} & set(with_ridge.constants), "a ridge has unbounded slopes and values"


# minibatches of other models -------------------------------------------------------------------------------------------
SAMPLED = {
    "pseudo-huber": lambda **o: random_generalised_linear(2, 4, 3, loss="pseudo-huber", **o),
    "sigmoid": lambda **o: random_generalised_linear(2, 4, 3, loss="sigmoid", alpha=0.3, **o),
    "square": lambda **o: random_generalised_linear(2, 4, 3, loss="square", **o),
    "perceptron": lambda **o: random_perceptron(2, 4, 3, hidden=(2,), **o),
    "factored": lambda **o: factored(random_least_squares(2, 4, 4, **o), 1, (2, 2)),
}


@each("kind", SAMPLED)
def test_minibatches_have_the_right_mean_and_variance(kind):
    """Exactly, by going through all draws of two of four samples; proven variances are never exceeded."""
    federation = SAMPLED[kind](batch_size=2)
    table = np.array(list(itertools.product(range(4), repeat=4)))[:, None, :]
    x = random_points(federation, 1, 0).expand(len(table), -1, -1)
    drawn = federation.stochastic_gradient(x, EnumeratedDraws({SAMPLES: table}), 0)
    mean = federation.gradient(x[:1])[0]
    assert torch.allclose(drawn.mean(0), mean, rtol=1e-10, atol=1e-11)
    single = (federation.sample_gradients(x[:1])[0] - mean[:, None]).square().sum(-1).mean(-1)
    variance = (drawn - mean).square().sum(-1).mean(0)
    assert torch.allclose(variance, single / 2, rtol=1e-9, atol=1e-12)
    constant = federation.constants["sigma_sq_client"]
    assert constant.provenance == ("upper" if kind in ("pseudo-huber", "sigmoid") else "estimate")
    if constant.provenance == "upper":
        for seed in range(20):
            x = random_points(federation, 20, seed, 0.3 * (1 + seed))
            each = federation.sample_gradients(x) - federation.gradient(x)[:, :, None]
            assert bool((each.square().sum(-1).mean(-1) / 2 <= constant.value * (1 + 1e-9)).all())
            assert bool((each.square().sum(-1).amax(-1) <= federation.noise.bound * (1 + 1e-9)).all())


@each("kind", ["pseudo-huber", "perceptron"])
def test_the_minibatch_is_what_the_stochastic_gradient_saw(kind):
    federation, draws = SAMPLED[kind](batch_size=3), Draws([4, 9])
    x = random_points(federation, 2, 0)
    for clients in (None, torch.tensor([[1], [0]])):
        point = x if clients is None else x[:, :1]
        data = federation.minibatch(draws, 5, clients)
        assert torch.allclose(federation.sample_gradients(point, data=data).mean(2),
                              federation.stochastic_gradient(point, draws, 5, clients), rtol=1e-11, atol=1e-12)
        seen = federation.representation(point, data=data)
        assert seen.shape[:3] == (2, point.shape[1], 3)
    full = SAMPLED[kind]()
    assert full.minibatch(draws, 5)[0] is full.features


@each("kind", ["pseudo-huber", "perceptron", "two hidden layers"])
@each("backend", [None, NUMPY])
def test_representations_and_their_gradient(kind, backend):
    federation = random_perceptron(2, 4, 3, hidden=(3, 2)) if kind == "two hidden layers" else SAMPLED[kind]()
    x = random_points(federation, 3, 0).requires_grad_()
    seen = federation.representation(x)
    slopes = torch.as_tensor(np.random.default_rng(0).normal(size=seen.shape))
    (automatic,) = torch.autograd.grad((slopes * seen).sum(), x)
    x, slopes = x.detach(), slopes
    if backend:
        federation, x, slopes = federation.to(backend), to_numpy(x), to_numpy(slopes)
    assert to_numpy(federation.representation_gradient(x, slopes)) == pytest.approx(to_numpy(automatic), rel=1e-9, abs=1e-10)


# perceptrons and factors -------------------------------------------------------------------------------------------------
def test_a_perceptron_by_hand():
    federation = from_arrays([[1.0, -2.0], [0.5, 3.0]], [0, 1], [0, 0], task="perceptron", hidden=3, ridge=0.1)
    assert federation.layers() == (slice(0, 9), slice(9, 17)) and federation.dim == 17
    x = np.random.default_rng(0).normal(size=17)
    W, b, V, c = x[:6].reshape(3, 2), x[6:9], x[9:15].reshape(2, 3), x[15:]
    losses = []
    for a, y in (([1.0, -2.0], 0), ([0.5, 3.0], 1)):
        scores = V @ np.tanh(W @ a + b) + c
        losses.append(np.log(np.exp(scores).sum()) - scores[y])
    expected = np.mean(losses) + 0.05 * x @ x
    assert float(federation.value(torch.as_tensor(x)[None, None])) == pytest.approx(expected, rel=1e-13)


def test_perceptrons_begin_where_they_can_learn():
    federation = random_perceptron(3, 20, 4)
    start = federation.default_start()
    assert torch.equal(start, federation.default_start()) and not torch.equal(start, federation.default_start(1))
    trajectory = run(fedavg(eta_l=0.5, local_steps=5), federation, 60, start=to_numpy(start))
    end = torch.as_tensor(trajectory.state.x)
    weights = federation.weights
    before, after = ((weights * federation.accuracy(federation.all_clients(x))).sum() for x in (start[None], end))
    assert float(after) > 0.7 > float(before)
    from_zero = federation.gradient(federation.all_clients(0 * start[None]))
    assert not from_zero[..., federation.layers()[0]].any(), "the first layer learns nothing at the origin"


def test_factors_by_hand():
    inner = random_least_squares(2, 8, 6)
    federation = factored(inner, 2, (2, 3))
    assert federation.factored and not inner.factored and federation.dim == 20
    x = torch.as_tensor(np.random.default_rng(0).normal(size=(1, 2, 20)))
    for k in range(2):
        X1, Y1, X2, Y2 = (to_numpy(x)[0, k][a:b].reshape(-1, 2) for a, b in ((0, 4), (4, 10), (10, 14), (14, 20)))
        W = torch.as_tensor(((X1 @ Y1.T) * (X2 @ Y2.T)).ravel()).expand(1, 2, -1)
        assert float(federation.value(x)[0, k]) == pytest.approx(float(inner.value(W)[0, k]), rel=1e-13)
    assert value(federation, "F_inf") == pytest.approx(value(inner, "F_star"))
    assert value(federation, "F_star") >= value(federation, "F_inf") - 1e-12


def test_what_a_factored_federation_was_asked_does_not_tell_runs_apart():
    asked, fresh = (factored(random_least_squares(2, 8, 4, batch_size=2), 1, (2, 2)) for _ in range(2))
    assert asked.constants
    marks = [run(fedavg(eta_l=0.01), f, 1, start=to_numpy(f.default_start())).fingerprint for f in (asked, fresh)]
    other = factored(random_least_squares(2, 8, 4, batch_size=2, seed=1), 1, (2, 2))
    assert marks[0] == marks[1] != run(fedavg(eta_l=0.01), other, 1).fingerprint


@each("call, message", [
    (lambda: make_cosine_quadratic(directions="up"), "unknown directions 'up'; allowed: axes, random"),
    (lambda: make_cosine_quadratic(dim=3, terms=2), "terms.*, 3.*got 2"),
    (lambda: CosineQuadratic([[[1.0]]], [[[1.0]]], [[[[1.0, 2.0]]]], [[[1.0]]], [[[0.0]]]),
     r"frequency.*\(1, 1, 1, 1\).*got \(1, 1, 1, 2\)"),
    (lambda: CosineQuadratic([[[0.0]]], [[[1.0]]], [[[[1.0]]]], [[[1.0]]], [[[0.0]]]), "curvature.*positive.*got 0"),
    (lambda: make_cosine_quadratic(backend=Backend("exact")), "cosines.*got 'exact', allowed: torch, numpy"),
    (lambda: random_perceptron(hidden=()), "perceptron.*hidden.*got none.*'softmax'"),
    (lambda: random_perceptron(hidden=(3, 0)), "hidden.* 1.*got 0"),
    (lambda: random_perceptron(activation="relu"), "unknown activation 'relu'; allowed: tanh, softplus"),
    (lambda: factored(random_least_squares(2, 8, 4), 1, (3, 2)), "shape.* 4 .*got 3 x 2"),
    (lambda: factored(make_problem("quadratic"), 1), "shape.*diagonal quadratics.*got None"),
    (lambda: factored(random_perceptron(), 1), "shape.*perceptron.*got None"),
    (lambda: factored(random_least_squares(2, 8, 4), 0), "rank.* 1.*got 0"),
    (lambda: random_generalised_linear(alpha=-1.0), "alpha.* 0.*got -1.0"),
    (lambda: random_generalised_linear(outliers=2.0), "outliers.* 0.* 1.*got 2.0"),
])
def test_bad_input_is_one_clear_line(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
