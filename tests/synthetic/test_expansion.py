"""The suboptimality of quadratic objectives, by their expansion, is what the objective's values say."""

from fractions import Fraction

import numpy as np

from synthetic import EXACT, NUMPY, LeastSquares, Quadratic, make_problem, make_quadratic, to_numpy
from tests.fedtheory.federations import FEDERATIONS, rational
from tests.synthetic.families import each

QUADRATICS = {
    **{name: FEDERATIONS[name] for name in ("no noise", "sphere noise, dense", "one instance per run")},
    "least squares": lambda: make_problem("least-squares", clients=5, samples=3, dim=4),
    "fewer samples than coordinates": lambda: make_problem("least-squares", clients=2, samples=2, dim=9),
    "ridge, NumPy": lambda: make_problem("least-squares", clients=3, samples=6, dim=4, ridge=0.3, backend=NUMPY),
    "two outputs": lambda: LeastSquares(
        np.sin(np.arange(60.0)).reshape(1, 3, 4, 5), np.cos(np.arange(24.0)).reshape(1, 3, 4, 2), np.full((1, 3), 4),
        weights=[[1.0, 2.0, 3.0]], priority=[[True, False, True]]),
}


@each("name", QUADRATICS)
def test_it_is_the_difference_of_values(name):
    federation = QUADRATICS[name]()
    x = federation.backend.array(np.random.default_rng(0).normal(size=(4, federation.dim)))
    expected = to_numpy(federation.objective(x) - federation.F_star)
    assert (expected > 1e-3).all()
    np.testing.assert_allclose(to_numpy(federation.suboptimality(x)), expected, rtol=1e-11, atol=1e-13)
    assert to_numpy(federation.suboptimality(0 * x + federation.x_star)).tolist() == [0.0] * 4


def test_fractions():
    federation = rational(EXACT)
    x = federation.backend.array([[Fraction(1, 3), Fraction(-2, 7)]])
    value = federation.suboptimality(x)[0]
    assert isinstance(value, Fraction) and value == federation.objective(x)[0] - federation.F_star[0]


def test_near_the_optimum_nothing_cancels():
    federation = make_quadratic(clients=4, dim=3, L=4.0, mu=1.0, offset_spread=1e6, seed=1)
    value = float(federation.suboptimality(federation.x_star + 1e-6)[0])
    assert 1.5e-12 <= value <= 6e-12


def test_a_family_with_values_of_its_own_is_asked_for_them():
    class Quartic(Quadratic):
        def value(self, x, clients=None):
            return super().value(x, clients) + (x**4).sum(-1)

    federation = Quartic([[[1.0]]], [[[0.0]]])
    assert federation.suboptimality(federation.backend.array([[2.0]])).tolist() == [18.0]
