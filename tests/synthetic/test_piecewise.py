"""Piecewise quadratic federations: constants, optima and local solutions against brute force on grids of fractions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from synthetic import EXACT, NUMPY, TORCH, EnumeratedDraws, FiniteNoise, Piecewise, to_numpy
from synthetic.numbers.arrays import BALLS
from synthetic.numbers.draws import SAMPLES
from tests.synthetic.conformance import random_piecewise
from tests.synthetic.families import each

SEEDS = st.integers(0, 10**6)
STEP = Fraction(1, 8)  # knots are multiples of 1/4, so that a step lies inside one piece
GRID = [STEP * n for n in range(-8 * 8, 8 * 8 + 1)]


def exact(seed, clients=2, **options):
    return random_piecewise(seed, dim=1, clients=clients, backend=EXACT, **options)


def on_grid(federation, name="gradient"):
    """Values of a function of the federation on the grid, (points, clients, ...), without the axis of the dimension."""
    points = federation.backend.array([[[v]] * federation.clients for v in GRID])
    answer = getattr(federation, name)(points)
    return answer if name.endswith("e") or name.endswith("values") else answer[..., 0]


def constant(federation, name):
    return federation.constants.value(name)


def slopes_between(derivatives):
    """Second derivatives from derivatives on the grid: every step of the grid lies inside a piece."""
    return (derivatives[1:] - derivatives[:-1]) / STEP


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.sampled_from([None, 2]), st.booleans())
def test_smoothness_and_convexity_are_the_extreme_second_derivatives(seed, samples, lipschitz):
    federation = exact(seed, samples=samples, lipschitz=lipschitz)
    bends = slopes_between(on_grid(federation))
    assert (abs(bends).max(0) == constant(federation, "L_client")[0]).all()
    least = bends.min(0)
    if (least >= 0).all():
        assert (least == constant(federation, "mu_client")[0]).all() and "weak_convexity" not in federation.constants
    else:
        weak = constant(federation, "weak_convexity_client")[0]
        assert (weak == [max(-v, 0) for v in least]).all() and "mu" not in federation.constants
    mean = (on_grid(federation) * federation.weights).sum(1)
    assert abs(slopes_between(mean)).max() == constant(federation, "L_objective")[0]
    each = slopes_between(on_grid(federation, "sample_gradients"))
    assert (abs(each).max((0, 2)) == constant(federation, "L_sample_client")[0]).all()


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.sampled_from([None, 2]))
def test_gradient_bounds_and_dissimilarity_are_the_largest_on_the_grid(seed, samples):
    federation = exact(seed, samples=samples, lipschitz=True)
    gradients, p = on_grid(federation), federation.weights[0]
    assert (abs(gradients).max(0) == constant(federation, "G_client")[0]).all()
    each = abs(on_grid(federation, "sample_gradients")).max((0, 2))
    assert (each == constant(federation, "G_lip_client")[0]).all()
    apart = gradients - (gradients * p).sum(1, keepdims=True)
    assert (abs(apart).max(0) == constant(federation, "sigma_g_client")[0]).all()
    assert abs(apart).max() == constant(federation, "sigma_g_max")[0]
    assert (abs(apart) * p).sum(1).max() == constant(federation, "sigma_g_1")[0]
    second = (apart**2 * p).sum(1).max()
    assert second <= constant(federation, "sigma_g_2")[0] ** 2 <= second * (1 + Fraction(1, 10**11))


def test_in_two_dimensions_the_coordinates_add_up():
    federation = random_piecewise(8, lipschitz=True, backend=EXACT)
    arrays = [getattr(federation, n)[:, :, 0] for n in ("curvature", "center", "slope", "knot", "width")]
    lines = [Piecewise(*(array[:, :, j : j + 1] for array in arrays), backend=EXACT) for j in range(2)]
    for name in ("G", "G_lip", "sigma_g_2", "sigma_g_client"):
        largest = max if name.startswith("G") else lambda rows: rows
        client = name if name.endswith("client") or name == "sigma_g_2" else f"{name}_client"
        square = sum(np.asarray(constant(line, client)[0]) ** 2 for line in lines)
        found = constant(federation, name)[0] ** 2
        expected = largest(square) if name.startswith("G") else square
        assert np.allclose(np.asarray(found, float), np.asarray(expected, float), rtol=1e-11), name
    assert federation.constants["sigma_g_1"].provenance == "upper"


def test_the_lipschitz_constant_includes_additive_noise():
    noise = FiniteNoise(EXACT.array([[[[3], [-1]], [[0], [0]]]]), EXACT.array([Fraction(1, 4), Fraction(3, 4)]))
    silent, noisy = (exact(5, lipschitz=True, noise=n) for n in (None, noise))
    gradients = on_grid(silent)
    expected = max(abs(gradients[:, 0] + 3).max(), abs(gradients[:, 0] - 1).max())
    assert constant(noisy, "G_lip_client")[0, 0] == expected > constant(silent, "G_lip_client")[0, 0]
    assert constant(noisy, "G_client")[0, 0] == constant(silent, "G_client")[0, 0]


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.sampled_from([None, 2]), st.booleans())
def test_no_point_of_the_grid_lies_below_the_optima(seed, samples, lipschitz):
    federation = exact(seed, samples=samples, lipschitz=lipschitz)
    values = on_grid(federation, "value")
    objective = (values * federation.weights).sum(1)
    assert objective.min() >= constant(federation, "F_star")[0] == constant(federation, "F_inf")[0]
    assert not federation.objective_gradient(federation.x_star).any()
    assert (values.min(0) >= constant(federation, "F_star_client")[0]).all()
    assert not federation.gradient(federation.client_minimisers).any()


@settings(max_examples=20, deadline=None)
@given(SEEDS, st.integers(1, 12))
def test_local_problems_are_solved_globally(seed, quarters):
    federation, rho = exact(seed), Fraction(quarters, 4)
    rng = np.random.default_rng(seed)
    linear, center = (EXACT.array(rng.integers(-8, 9, (1, 2, 1)) / 4) for _ in range(2))
    found = federation.prox(linear, rho, center)

    def lagrangian(v):
        return federation.value(v) + (linear * v + rho / 2 * (v - center) ** 2).sum(-1)

    assert not (federation.gradient(found) + linear + rho * (found - center)).any()
    grid = np.stack([lagrangian(EXACT.array([[[v]] * 2]))[0] for v in GRID])
    assert (lagrangian(found)[0] <= grid.min(0)).all()


def test_local_problems_of_several_runs_on_one_federation():
    federation = exact(3)
    linear = EXACT.array(np.arange(6).reshape(3, 2, 1))
    found = federation.prox(linear, Fraction(2), EXACT.array(np.ones((3, 2, 1))))
    alone = [federation.prox(linear[run : run + 1], Fraction(2), EXACT.array(np.ones((1, 2, 1)))) for run in range(3)]
    assert (found == np.concatenate(alone)).all()


@settings(max_examples=10, deadline=None, phases=[Phase.generate])
@given(SEEDS, st.sampled_from([None, 3]), st.booleans())
def test_backends_agree(seed, samples, lipschitz):
    batch_size = None if samples is None else 2
    options = {"samples": samples, "lipschitz": lipschitz, "instances": 2, "dim": 1, "batch_size": batch_size}
    known = random_piecewise(seed, backend=EXACT, **options)
    for backend in (TORCH, NUMPY, BALLS):
        other = random_piecewise(seed, backend=backend, **options)
        assert set(known.constants) <= set(other.constants)
        for name in known.constants:
            one, two = (np.asarray(to_numpy(constant(f, name)), float) for f in (known, other))
            assert np.allclose(one, two, rtol=1e-9, atol=1e-9), (backend.library, name)
        x = np.random.default_rng(seed).normal(size=(2, 3, 1))
        for name in ("value", "gradient"):
            one, two = (np.asarray(to_numpy(getattr(f, name)(f.backend.array(x))), float) for f in (known, other))
            assert np.allclose(one, two, rtol=1e-9, atol=1e-9), (backend.library, name)


def test_flat_directions_and_double_wells():
    flat = Piecewise([[[0]]], [[[0]]], [[[[1, 1]]]], [[[[-3, 3]]]], [[[[1, 1]]]], backend=EXACT)
    assert constant(flat, "F_star")[0] == 5 and constant(flat, "mu")[0] == 0 and abs(flat.x_star[0, 0]) <= 2
    wells = Piecewise([[[1]]], [[[0]]], [[[[-2]]]], [[[[0]]]], [[[[1]]]], backend=EXACT)
    assert abs(wells.x_star[0, 0]) == 2 and constant(wells, "weak_convexity")[0] == 1 and constant(wells, "F_star")[0] == -1


def test_unbounded_losses_have_no_optimum():
    def federation(backend):
        return Piecewise([[[0]], [[1]]], [[[0]], [[0]]], [[[[-1]]], [[[0]]]], [[[[0]]], [[[0]]]], [[[[1]]], [[[0]]]],
                         backend=backend)

    assert federation(TORCH).x_star.isnan()[:, 0].tolist() == [True, False]
    assert to_numpy(federation(NUMPY).F_star_client).tolist() == [[-np.inf], [0]]
    with pytest.raises(ArithmeticError, match="bounded"):
        _ = federation(EXACT).x_star
    one_linear = Piecewise([[[0], [1]]], [[[0], [0]]], [[[[-1]], [[0]]]], [[[[0]], [[0]]]], [[[[1]], [[0]]]], backend=EXACT)
    assert one_linear.x_star[0, 0] in (1, -1) and "F_star_client" not in one_linear.constants


def test_gradients_of_samples_by_enumeration():
    federation = random_piecewise(2, samples=3, clients=2, batch_size=1, lipschitz=True, backend=EXACT)
    table = np.array(list(product(range(3), repeat=2)))[:, None]
    x = federation.backend.array([[[1, -1], [2, 0]]] * len(table))
    drawn = federation.repeat(len(table)).stochastic_gradient(x, EnumeratedDraws({SAMPLES: table}, EXACT), 0)
    assert (drawn.sum(0) / len(table) == federation.gradient(x[:1])[0]).all()
    variance = ((drawn - federation.gradient(x)) ** 2).sum(-1).sum(0) / len(table)
    assert (variance > 0).all() and (variance <= constant(federation, "sigma_sq_client")[0]).all()
    line = exact(2, samples=3, lipschitz=True, batch_size=2)
    each = on_grid(line, "sample_gradients")
    spread = ((each - each.sum(2, keepdims=True) / 3) ** 2).sum(2) / 3
    assert (spread.max(0) / 2 == constant(line, "sigma_sq_client")[0]).all()


GOOD = {"curvature": [[[1.0]]], "center": [[[0.0]]], "pieces_slope": [[[[1.0]]]], "pieces_center": [[[[0.0]]]],
        "pieces_width": [[[[1.0]]]]}


@each(("change", "said"), [
    ({"curvature": [[[-1.0]]]}, "curvature.* 0.*got -1"),
    ({"pieces_width": [[[[-2.0]]]]}, "pieces_width.* 0.*got -2"),
    ({"pieces_width": [[[[1.0, 2.0]]]]}, r"pieces_width.*\(1, 1, 1, 1\).*got \(1, 1, 1, 2\)"),
    ({"center": [[0.0]]}, r"center.*\(instances, clients, dim\).*got.*\(1, 1\)"),
    ({"pieces_slope": [[[1.0]]]}, "pieces_"),
    ({"batch_size": 1}, "batch_size needs samples"),
])
def test_bad_input_is_named(change, said):
    with pytest.raises(ValueError, match=said):
        Piecewise(**GOOD | change)


def test_irrational_bounds_are_the_same_fraction_on_fractions_and_in_balls():
    known, balls = (random_piecewise(8, lipschitz=True, backend=backend) for backend in (EXACT, BALLS))
    for name in ("G", "G_lip", "sigma_g_2", "sigma_g_max"):
        fraction, ball = constant(known, name)[0], constant(balls, name)[0]
        assert ball.contains(fraction) and ball.radius < 1e-15 * float(fraction)
