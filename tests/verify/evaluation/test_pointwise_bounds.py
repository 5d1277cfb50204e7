"""Least values over all points equal those on a fine grid, and those of the checker's own way."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import EXACT, NUMPY
from verify.checker.instance import Instance
from verify.claims.method import faults_of_method
from verify.evaluation.evaluate import sides
from verify.exact.certificate import certificate
from verify.instances.draw import draw_params
from verify.instances.parameters import map_params
from verify.instances.piecewise import PiecewiseClients
from verify.instances.quadratic import QUADRATIC
from verify.instances.shape import Shape
from verify.measure.simulate import simulate

#: formula of v -> the same of values and gradients of clients (clients, points[, dim]), points (points, dim), a and F*
FORMULAS = {
    "norm2(objective_grad(v)) - a*(objective(v) - F_star)": lambda F, g, v, a, low: (
        (g.mean(0) ** 2).sum(-1) - a * (F.mean(0) - low)),
    "norm2(grad(0, v) - objective_grad(v)) + norm2(v)/9": lambda F, g, v, a, low: (
        ((g[0] - g.mean(0)) ** 2).sum(-1) + (v**2).sum(-1) / 9),
    "dot(objective_grad(v), v) + a*norm2(v)": lambda F, g, v, a, low: (g.mean(0) * v).sum(-1) + a * (v**2).sum(-1),
    "F(0, v)*3 + norm2(grad(1, v) - 2*v)": lambda F, g, v, a, low: 3 * F[0] + ((g[1] - 2 * v) ** 2).sum(-1),
}
#: kind of clients, dimension
CLIENTS = {"quadratic": (QUADRATIC, 1), "pieces": (PiecewiseClients(2), 1), "two coordinates": (PiecewiseClients(1), 2)}


ROWS = 12


def claim_of(formula, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(
        '[[claim]]\nid = "mine/one"\nsetting = "point"\nequal_weights = true\nvariables = {a = "positive", b = "real"}\n'
        f'assume = ["{formula} >= b for all v"]\nstatement = "b <= -1"\n', encoding="utf-8")
    return load_claims(path, faults_of_method)[0]


@pytest.mark.parametrize("clients, formula", [*itertools.product(CLIENTS, FORMULAS)])
def test_least_values_are_those_of_a_grid(clients, formula, tmp_path):
    family, dim = CLIENTS[clients]
    claim, rng = claim_of(formula, tmp_path), np.random.default_rng(7)
    shape = Shape(clients=2, dim=dim, participants=2, family=family)
    params = draw_params(claim, shape, ROWS, rng)
    environment = simulate(claim, shape, params, NUMPY)
    condition = next(c for c in claim.hypotheses if "b" in map(str, c.right.free_symbols))
    least = sides(condition, environment)[0].reshape(ROWS)
    axis = np.concatenate([np.linspace(-12, 12, 4801 if dim == 1 else 481), [-1e4, 1e4]])
    points = np.stack(np.meshgrid(*[axis] * dim), axis=-1).reshape(1, -1, dim)
    points = np.broadcast_to(points, (ROWS, *points.shape[1:]))
    federation = environment.federation
    numbers = [np.full((ROWS, points.shape[1]), k) for k in range(2)]
    values = [federation.value(points, k) for k in numbers]
    slopes = [federation.gradient(points, k) for k in numbers]
    lows, found = environment.bound["F_star"].data.ravel(), 0
    for row in range(ROWS):
        F, g = np.stack([v[row] for v in values]), np.stack([s[row] for s in slopes])
        a = float(np.broadcast_to(environment.bound["a"].data.ravel(), ROWS)[row])
        on_grid = FORMULAS[formula](F, g, points[row], a, lows[row])
        inside = np.abs(points[row]).max(axis=-1) < 11
        if on_grid[inside].min() > on_grid[~inside].min():  # it lies beyond the grid, or nowhere
            assert least[row] <= on_grid.min() + 1e-9
            continue
        found += 1
        assert on_grid.min() - 0.01 * (1 + abs(on_grid.min())) * dim**3 <= least[row] <= on_grid.min() + 1e-9
    assert found >= 2


def _short(name, array):
    return np.frompyfunc(lambda number: Fraction(float(number)).limit_denominator(4), 1, 1)(array)


@pytest.mark.parametrize("clients, formula", [*itertools.product(CLIENTS, FORMULAS)])
def test_the_checker_finds_the_same_least_values(clients, formula, tmp_path):
    family, dim = CLIENTS[clients]
    claim, rng = claim_of(formula, tmp_path), np.random.default_rng(8)
    shape = Shape(clients=2, dim=dim, participants=2, family=family)
    place = next(n for n, c in enumerate(claim.hypotheses) if "b" in map(str, c.right.free_symbols))
    found = 0
    for _ in range(4):
        params = map_params(draw_params(claim, shape, 1, rng), _short)
        environment = simulate(claim, shape, params, EXACT)
        least = sides(claim.hypotheses[place], environment)[0].item()
        if least > -np.inf:
            found += 1
            data = certificate(claim, environment, 1, 0)
            assert Instance(data).sides(data["hypotheses"][place], {}, None)[0] == least
    assert found
