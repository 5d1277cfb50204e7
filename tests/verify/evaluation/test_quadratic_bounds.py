"""Least values of quadratic functions of several numbers: exact ones by hand, and search and checker on random ones."""

from fractions import Fraction

import numpy as np

from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import EXACT, NUMPY, each
from tests.synthetic.families import each as each_row
from verify.checker.infimum import least_of_quadratic as least_by_checker
from verify.evaluation.judge import exact_violation, judge
from verify.evaluation.quadratic_bounds import least_of_quadratic, moves_that_determine
from verify.instances.draw import draw_params
from verify.instances.parameters import map_params
from verify.instances.shape import Shape
from verify.measure.simulate import simulate
from verify.search.own_bases import half_tangents

INFINITE = float("inf")


def least(function, count):
    """The least value that the search finds, and that of the checker, the same."""
    exact = np.array([function([Fraction(int(x)) for x in move]) for move in moves_that_determine(count)], dtype=object)
    found = least_of_quadratic(exact, count).item()
    near = float(least_of_quadratic(exact.astype(float), count, 1e-9))
    assert np.isclose(near, float(found), atol=1e-7) or near == found
    try:
        assert least_by_checker(function, count) == found
    except ValueError:
        assert found == -INFINITE
    return found


@each_row("function, count, expected", [
    (lambda x: x[0] ** 2 + 2 * x[0] + 3, 1, 2), (lambda x: x[0], 1, -INFINITE), (lambda x: Fraction(5), 2, 5),
    (lambda x: -(x[0] ** 2), 1, -INFINITE), (lambda x: x[0] * x[1], 2, -INFINITE),
    (lambda x: (x[0] - x[1]) ** 2 + 4 * (x[0] - x[1]), 2, -4), (lambda x: (x[0] + x[1]) ** 2 + x[0], 2, -INFINITE),
    (lambda x: x[0] ** 2 + x[1] ** 2 + 3 * x[0] * x[1], 2, -INFINITE), (lambda x: x[1] ** 2 - x[0], 2, -INFINITE),
    (lambda x: 5 * x[0] ** 2 + 2 * x[1] ** 2 - 6 * x[0] * x[1] - 2 * x[0], 2, -2),
    (lambda x: x[0] ** 2 + (x[1] - x[2]) ** 2 - x[3], 4, -INFINITE),
])
def test_least_values_by_hand(function, count, expected):
    assert least(function, count) == expected


def test_least_values_of_random_functions():
    rng, bounded = np.random.default_rng(0), 0
    for _ in range(200):
        count, squares = rng.integers(1, 5), rng.integers(1, 4)
        a, b, slope = rng.integers(-3, 4, (squares, count)), rng.integers(-3, 4, squares), rng.integers(-1, 2, count)
        slope = slope * (rng.random() < 0.3)

        def function(x, a=a, b=b, slope=slope):
            return sum((sum(int(p) * q for p, q in zip(row, x, strict=True)) - int(c)) ** 2 for row, c in zip(
                a, b, strict=True)) + sum(int(s) * q for s, q in zip(slope, x, strict=True))

        best = np.linalg.lstsq(2 * a.T @ a, 2 * a.T @ b - slope, rcond=None)[0]
        if np.allclose(2 * a.T @ a @ best, 2 * a.T @ b - slope):
            bounded += 1
            assert np.isclose(float(least(function, count)), ((a @ best - b) ** 2).sum() + slope @ best)
        else:
            assert least(function, count) == -INFINITE
    assert 100 < bounded < 200


def test_clients_with_a_basis_each_are_quadratic_and_steep_where_they_are(tmp_path):
    """The two identities hold at all points, in floating point and exactly; with a smaller constant neither does."""
    file = tmp_path / "own.toml"
    file.write_text("".join(f"""
[[claim]]
id = "own/{name}"
setting = "point"
assume = ["2*(F(k, u) - F(k, v)) == dot(grad(k, u) + grad(k, v), u - v) for all u, v for each k",
          "norm2(grad(k, u) - grad(k, v)) <= {factor}*L_client[k]**2*norm2(u - v) for all u, v for each k",
          "2*(objective(v) - F_star) >= mu_client[0]*client_weight[0]*norm2(v - x_star) for all v"]
statement = "clients <= 0"
""" for name, factor in (("met", "1"), ("unmet", "9/10"))))
    rng, shape = np.random.default_rng(1), Shape(clients=3, dim=3)
    for claim, holds in zip(load_claims(file), (True, False), strict=True):
        params = draw_params(claim, shape, 40, rng) | {"half_tangent": half_tangents(40, 3, rng)}
        with np.errstate(all="ignore"):
            met = judge(claim, simulate(claim, shape, params, NUMPY)).met
        assert met.mean() >= 0.9 if holds else not met.any()
        for row in range(4):
            exact = map_params(params, lambda name, array, row=row: each(array[[row]], Fraction))
            found = exact_violation(claim, simulate(claim, shape, exact, EXACT))
            assert found == (3, 0) if holds else found == "unmet"
