"""Functions through given points: they pass through them, belong to their class, and their local problems are solved."""

import numpy as np
import pytest
import torch

from synthetic import NUMPY, TORCH, to_numpy
from synthetic.symbolic.interpolant import Interpolant, least_on_simplex
from tests.synthetic.test_prox import check_prox


def of_quadratics(L, m, clients=3, points=6, dim=2, seed=0):
    """Points of quadratics with curvatures strictly between m and L."""
    rng = np.random.default_rng(seed)
    turns = np.linalg.qr(rng.normal(size=(clients, dim, dim)))[0]
    curvatures = m + (L - m) * rng.uniform(0.1, 0.9, (clients, dim))
    hessians = np.einsum("kij,kj,klj->kil", turns, curvatures, turns)
    places = rng.normal(size=(clients, points, dim))
    gradients = np.einsum("kij,kpj->kpi", hessians, places)
    return places, gradients, (gradients * places).sum(-1) / 2


CLASSES = [(1.0, 0.0), (2.0, 0.5), (1.0, -1.0)]


@pytest.mark.parametrize("backend", [NUMPY, TORCH], ids=lambda backend: backend.library)
@pytest.mark.parametrize("L, m", CLASSES)
def test_it_passes_through_the_points(L, m, backend):
    places, gradients, values = of_quadratics(L, m)
    federation = Interpolant(places, gradients, values, L, m).to(backend)
    x = backend.array(places.swapaxes(0, 1))
    assert np.abs(to_numpy(federation.gradient(x)) - gradients.swapaxes(0, 1)).max() < 1e-12
    assert np.abs(to_numpy(federation.value(x)) - values.T).max() < 1e-12


@pytest.mark.parametrize("L, m", CLASSES)
def test_it_belongs_to_the_class_whatever_the_points(L, m):
    """Pairs of random points meet the conditions of the class, and slopes are those of the values; even if no function of
    the class passes through the given points."""
    rng = np.random.default_rng(1)
    wild = (rng.normal(size=(2, 5, 3)), 3 * rng.normal(size=(2, 5, 3)), rng.normal(size=(2, 5)))
    for federation in (Interpolant(*of_quadratics(L, m), L, m), Interpolant(*wild, L, m)):
        x = rng.normal(size=(20, federation.clients, federation.dim)) * 2
        g, f = federation.gradient(x), federation.value(x)
        h = 1e-5 * rng.normal(size=x.shape)
        slopes = (federation.value(x + h) - federation.value(x - h)) / 2
        assert np.abs(slopes - (g * h).sum(-1)).max() < 1e-8
        dx, dg = x - x[::-1], g - g[::-1]
        gap = f - f[::-1] - (g[::-1] * dx).sum(-1)
        least = ((dg**2).sum(-1) + m * L * (dx**2).sum(-1) - 2 * m * (dg * dx).sum(-1)) / (2 * (L - m))
        assert (gap - least).min() > -1e-9


@pytest.mark.parametrize("L, m", CLASSES[:2])
def test_local_problems_are_solved_and_minima_are_lowest(L, m):
    federation = Interpolant(*of_quadratics(L, m), L, m).to(TORCH)
    check_prox(federation, federation.prox)
    least = federation.F_star_client[0]
    x = torch.as_tensor(np.random.default_rng(2).normal(size=(50, federation.clients, federation.dim)))
    assert bool((federation.value(x) >= least).all())
    lowest = federation.anchors[np.arange(federation.clients), federation.heights.argmin(axis=1)]
    at = torch.as_tensor(lowest)[None] if m == 0 else federation.prox(0 * x[:1], 0.0, x[:1])
    assert float(federation.gradient(at).abs().max()) < 1e-12 and torch.allclose(federation.value(at), least, atol=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_the_nearest_combination_is_that_of_the_best_support(seed):
    """All supports of up to three of four points are tried."""
    rng = np.random.default_rng(seed)
    anchors, heights, x = rng.integers(-2, 3, (4, 2)) * 1.0, rng.integers(-2, 3, 4) * 1.0, rng.normal(size=2)
    found = least_on_simplex(anchors, heights, x, 2.0)

    def worth(share):
        return ((x - share @ anchors) ** 2).sum() + share @ heights

    grid = rng.dirichlet(np.full(4, 0.5), 4000)
    best = min(map(worth, [*grid, *np.eye(4)]))
    assert found.min() >= 0 and found.sum() == pytest.approx(1) and worth(found) <= best + 1e-12
    slopes = 2 * (anchors - x) @ (found @ anchors - x) + heights
    assert slopes.min() >= found @ slopes - 1e-9


def test_shapes_and_curvatures_are_checked():
    places = np.zeros((1, 2, 3))
    with pytest.raises(ValueError, match=r"\(1, 2, 3\)"):
        Interpolant(places, places, np.zeros((2, 2)), 1.0)
    with pytest.raises(ValueError, match="1"):
        Interpolant(places, places, np.zeros((1, 2)), 1.0, 1.0)
