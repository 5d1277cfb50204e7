"""FedLUAR on quadratics where everything is known in closed form: Section 7, items 19 to 23."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from fedtheory import make_algorithm, rounds_of, run
from synthetic import EXACT, TORCH, EnumeratedDraws, FiniteNoise, GaussianNoise, Quadratic
from synthetic.numbers.draws import NOISE
from tests.fedtheory.methods.luar_rows import isotropic, looked_into, luar

ROUNDS, X0 = 6, Fraction(3)
CASES = [(Fraction(3, 5), Fraction(1, 3)), (Fraction(1, 4), Fraction(1, 2)), (Fraction(3, 2), Fraction(1, 5))]


def scalar(noise=None) -> Quadratic:
    """1/2 x^2 on one client, in fractions: with ``eta_l = c`` the change of a round is -c x - c noise."""
    return Quadratic([[[1]]], [[[0]]], noise=noise, backend=EXACT)


def fresh(c):
    """x and the last update d after a round in which the layer is sent, as a matrix on (x, d)."""
    return np.array([[1 - c, 0], [-c, 0]], dtype=object)


AGAIN = np.array([[1, 1], [0, 1]], dtype=object)


def squared(m):
    """The same on (x^2, x d, d^2)."""
    (a, b), (e, f) = m
    return np.array([[a * a, 2 * a * b, b * b], [a * e, a * f + b * e, b * f], [e * e, 2 * e * f, f * f]], dtype=object)


def mixture(c, q, power):
    return (1 - q) * power(fresh(c)) + q * power(AGAIN)


def enumerated(c, q, noise=None, rounds=ROUNDS, mode="recycle"):
    """All recycle sets (none in round 0) and all noise: x (runs, rounds + 1), d (runs, rounds), and each run's chance."""
    outcomes = 1 if noise is None else 2
    rows = list(product(product((0, 1), repeat=rounds - 1), product(range(outcomes), repeat=rounds)))
    masks = np.array([[0, *mask] for mask, _ in rows])[:, :, None]
    chance = np.array([q ** sum(m) * (1 - q) ** (rounds - 1 - sum(m)) / outcomes**rounds for m, _ in rows])
    draws = EnumeratedDraws({NOISE: np.array([drawn for _, drawn in rows])[:, :, None]}, EXACT)
    method, federation = make_algorithm("fedluar", eta_l=c, masks=masks, mode=mode), scalar(noise)
    state = method.init(federation, EXACT.array(np.full((len(rows), 1), X0)), draws)
    states = [state, *rounds_of(method, federation, state, draws, 0, rounds)]
    x, d = np.stack([s.x[:, 0] for s in states], 1), np.stack([s.server["applied_update"][:, 0] for s in states[1:]], 1)
    assert chance.sum() == 1 and all(isinstance(v, Fraction) for v in x.ravel())
    return x, d, chance


@pytest.mark.parametrize(("c", "q"), CASES)
def test_19_the_mean_is_heavy_ball(c, q):
    """In fractions, over all 32 sequences of recycle sets."""
    x, d, chance = enumerated(c, q)
    mean = np.stack([(chance[:, None] * x[:, 1:]).sum(axis=0), (chance[:, None] * d).sum(axis=0)])
    step = mixture(c, q, lambda m: m)
    np.testing.assert_array_equal(step, [[1 - (1 - q) * c, q], [-(1 - q) * c, q]])
    assert step[0, 0] * step[1, 1] - step[0, 1] * step[1, 0] == q
    for t in range(ROUNDS - 1):
        assert (step @ mean[:, t] == mean[:, t + 1]).all()
        before = X0 if t == 0 else mean[0, t - 1]
        assert mean[0, t + 1] == mean[0, t] - (1 - q) * c * mean[0, t] + q * (mean[0, t] - before) or t == 0


@pytest.mark.parametrize("q", [0.1, 0.5, 0.8])
def test_19_20_where_means_and_mean_squares_are_stable(q):
    for power, edge in ((lambda m: m, 2 * (1 + q) / (1 - q)), (squared, 2 * (1 - q) / (1 + q))):
        for factor, stable in ((0.01, True), (0.5, True), (0.999, True), (1.001, False), (1.5, False), (-0.01, False)):
            eigenvalues = np.linalg.eigvals(mixture(factor * edge, q, power).astype(float))
            assert (abs(eigenvalues).max() < 1) == stable


@pytest.mark.parametrize(("c", "q"), CASES)
@pytest.mark.parametrize("noisy", [False, True])
def test_20_21_mean_squares(c, q, noisy):
    """In fractions, over all sequences of recycle sets and of noise of -2 or 2."""
    atoms = EXACT.array([[[[2], [-2]]]])
    noise = FiniteNoise(atoms, EXACT.array([Fraction(1, 2)] * 2)) if noisy else None
    x, d, chance = enumerated(c, q, noise, rounds=5)
    x = x[:, 1:]
    moments = np.stack([(chance[:, None] * v).sum(axis=0) for v in (x**2, x * d, d**2)])
    omega_sq = (2 * c) ** 2 if noisy else 0
    for t in range(4):
        assert (mixture(c, q, squared) @ moments[:, t] + (1 - q) * omega_sq == moments[:, t + 1]).all()


@pytest.mark.parametrize("q", [0.0, 0.2, 0.5, 0.7])
def test_21_stationary_variance(q):
    edge, omega_sq = 2 * (1 - q) / (1 + q), 3.0

    def formula(c, q):
        return omega_sq * (1 + q) / (c * (2 * (1 - q) - c * (1 + q)))

    for c in (0.05 * edge, 0.5 * edge, 0.9 * edge):
        solved = np.linalg.solve(np.eye(3) - mixture(c, q, squared).astype(float), np.full(3, (1 - q) * omega_sq))
        assert solved[0] == pytest.approx(formula(c, q), rel=1e-9)
    assert formula(1e-7, q) / formula(1e-7, 0.0) == pytest.approx((1 + q) / (1 - q), rel=1e-5)


def test_21_by_drawn_layers():
    """Two equal scalar layers, one of them recycled uniformly (q = 1/2), c = 1/4, noise of variance c^2 on each.

    Mean square after 80 rounds in 4000 runs, within six standard errors: as far as that mean is normal, a false alarm has
    probability below 1e-8.
    """
    c, q, runs = 0.25, 0.5, 4000
    noise = GaussianNoise(TORCH.array([[2.0**0.5]]))
    federation = Quadratic(np.ones((1, 1, 2)), np.zeros((1, 1, 2)), layers=2, noise=noise)
    method = make_algorithm("fedluar", eta_l=c, recycled=1, selector="uniform")
    x = run(method, federation, 80, seeds=runs, record=["x"]).dataset["x"].values[:, -1]
    each = (x**2).mean(axis=-1)
    expected = c**2 * (1 + q) / (c * (2 * (1 - q) - c * (1 + q)))
    assert abs(each.mean() - expected) < 6 * each.std() / runs**0.5
    assert abs(each.mean() - c**2 / (c * (2 - c))) > 12 * each.std() / runs**0.5, "FedAvg's variance is another"


@pytest.mark.parametrize(("c", "q"), CASES)
@pytest.mark.parametrize(("mode", "factor"), [("recycle", lambda c, k: 1 - (k + 1) * c), ("drop", lambda c, k: 1 - c)])
def test_22_one_fresh_round_and_some_without(c, q, mode, factor):
    for k in range(4):
        method = make_algorithm("fedluar", eta_l=c, masks=[[0], *([[1]] * k), [0]], mode=mode)
        x = run(method, scalar(), k + 1, start=[X0], record=["x"]).dataset["x"].values[0, :, 0]
        assert x[-1] == factor(c, k) * X0


# 20, 23: isotropic layers --------------------------------------------------------------------------------------------------
def test_23_kept_scores_are_the_curvatures():
    c, sizes = np.array([0.1, 0.4, 0.23]), (2, 1, 3)
    start = np.array([1.0, -2.0, 5.0, 0.5, 0.1, 100.0])
    seen = looked_into(luar(local_steps=1, recycled=2), isotropic(c, sizes, 3), 12, start=start, seeds=range(5))
    np.testing.assert_allclose(seen.score, np.broadcast_to(c, seen.score.shape), rtol=1e-9)
    weights = luar().upload.weights(seen.score[-1])
    np.testing.assert_allclose(weights / weights.sum(axis=-1, keepdims=True), [(1 / c) / (1 / c).sum()] * 5, rtol=1e-9)
    for steps in (2, 3):  # c_l = 1 - (1 - eta a_l)^steps
        several = looked_into(luar(local_steps=steps), isotropic(c, sizes), 4, start=start)
        np.testing.assert_allclose(several.score[0, 0], 1 - (1 - c) ** steps, rtol=1e-9)


def test_23_recomputed_scores_grow_with_age():
    c, masks = 0.1, [[0, 0], *[[1, 0]] * 5]
    seen = looked_into(luar(local_steps=1, masks=masks, score="recompute"), isotropic([c, 0.3], (1, 1)), 6, start=[2.0, 1.0])
    for k in range(6):
        assert seen.score[k, 0, 0] == pytest.approx(abs(c) / abs(1 - k * c), rel=1e-9)


@pytest.mark.parametrize(("c1", "c2"), [
    (0.5, 0.5), (0.9, 0.1), (0.1, 0.9), (0.3, 0.84), (0.3, 0.86), (0.66, 0.66), (0.67, 0.67)])
def test_20_two_isotropic_layers(c1, c2):
    """One recycled, q_1 = c_2 / (c_1 + c_2): mean squares are stable iff 2 c_1 + c_2 < 2 and c_1 + 2 c_2 < 2."""
    seen = looked_into(luar(local_steps=1, recycled=1), isotropic([c1, c2], (1, 2)), 3, start=[2.0, 1.0, -1.0])
    weights = luar().upload.weights(seen.score[-1])[0]
    q = weights / weights.sum()
    np.testing.assert_allclose(q, [c2 / (c1 + c2), c1 / (c1 + c2)], rtol=1e-9)
    radii = [abs(np.linalg.eigvals(mixture(c, each, squared).astype(float))).max() for c, each in ((c1, q[0]), (c2, q[1]))]
    assert (max(radii) < 1) == (2 * c1 + c2 < 2 and c1 + 2 * c2 < 2)
