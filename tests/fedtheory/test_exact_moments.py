"""Propagated moments: equal to enumeration, in fractions exactly, and to sampled runs within their error."""

from __future__ import annotations

from fractions import Fraction as Q

import numpy as np
import pytest

from fedtheory import Tabulated, make_algorithm, run
from fedtheory.engine import rounds_of, starting_points
from fedtheory.exact_moments import propagate
from synthetic.base.noise import FiniteNoise, NoNoise
from synthetic.numbers.arrays import EXACT, NUMPY, TORCH, to_numpy
from synthetic.quadratic.make import make_quadratic
from synthetic.quadratic.quadratic import Quadratic
from verify.instances import outcomes
from verify.instances.shape import Shape

CLIENTS, DIM = 3, 2
CURVATURE = [[[Q(1), Q(2)], [Q(3), Q(1, 2)], [Q(1, 4), Q(2)]]]
CENTER = [[[Q(1), Q(-1)], [Q(2), Q(0)], [Q(-3), Q(1, 3)]]]
ATOM = [[Q(1), Q(1, 2)], [Q(0), Q(-1)], [Q(0), Q(0)]]
START = [Q(2), Q(-1)]
RARE = Q(1, 4)


def federation(backend, noisy):
    """Three clients, of which ``noisy`` have noise on two points."""
    atoms = np.array([ATOM[k] if k in noisy else [Q(0)] * DIM for k in range(CLIENTS)], dtype=object)
    noise = FiniteNoise(backend.array(np.stack([atoms * (1 - RARE), -atoms * RARE], axis=1)[None]),
                        backend.array(np.array([RARE, 1 - RARE], dtype=object)))
    return Quadratic(np.array(CURVATURE), np.array(CENTER), noise=noise, backend=backend)


def enumerated(algorithm, shape, backend):
    """E x_r and E|x_r - x*|^2 over every outcome of chance, (rounds + 1, ...)."""
    one = federation(backend, shape.noisy)
    draws, noise_weight, sampling_weight, _ = outcomes.enumerated(shape, to_numpy(one.weights), backend)
    weight = (noise_weight[:, :, None] * sampling_weight[:, None, :]).reshape(-1)
    many = Quadratic(np.repeat(to_numpy(one.curvature), len(weight), 0), np.repeat(to_numpy(one.center), len(weight), 0),
                     noise=FiniteNoise(one.noise.atoms, one.noise.probabilities), backend=backend)
    first = algorithm.init(many, starting_points(many, backend.array(START), len(weight)), draws)
    states = [first, *rounds_of(algorithm, many, first, draws, 0, shape.rounds)]
    means = [(weight[:, None] * s.x).sum(0) for s in states]
    squares = [(weight * ((s.x - one.x_star) ** 2).sum(-1)).sum() for s in states]
    gaps = [(weight * (one.objective(s.x) - one.F_star)).sum() for s in states]
    return np.stack(means), np.stack(squares), np.stack(gaps)


#: linear methods with their arguments; sampled ones with two of three clients
METHODS = {
    "fedavg": {}, "fedavg, sampled": {"participants": 2, "replacement": False},
    "fedavg, with replacement": {"participants": 2, "replacement": True},
    "fedprox, sampled": {"rho_prox": Q(1, 2), "participants": 2, "replacement": False},
    "scaffold": {"eta_g": Q(3, 4)}, "scaffold, sampled": {"eta_g": Q(3, 4), "participants": 2},
    "scaffold-m, sampled": {"beta": Q(1, 2), "gamma": Q(1, 4), "participants": 2},
    "fedavg-m, sampled": {"beta": Q(1, 4), "gamma": Q(1, 8), "participants": 2},
    "fedavgm, sampled": {"beta1": Q(1, 2), "participants": 2}, "fedcm, sampled": {"beta": Q(1, 4), "participants": 2},
    "feddyn, sampled": {"rho_prox": Q(1, 2), "participants": 2},
    "afedpd, sampled": {"rho_prox": Q(1, 2), "participants": 2}, "fedpd": {"rho_prox": Q(1, 2)},
    "fedacg, sampled": {"lam": Q(1, 2), "rho_prox": Q(1, 8), "participants": 2},
}


def made(row):
    return make_algorithm(row.split(",")[0], eta_l=Q(1, 8), local_steps=2, **METHODS[row])


def shape_of(row, rounds, noisy=(0,)):
    sampling = "full" if "participants" not in METHODS[row] else (
        "with-replacement" if METHODS[row].get("replacement") else "without-replacement")
    return Shape(CLIENTS, 0, DIM, 2, rounds, 2, sampling, noisy, RARE)


@pytest.mark.parametrize("row", METHODS)
def test_equal_to_enumeration_in_fractions(row):
    shape = shape_of(row, 2)
    found = propagate(made(row), federation(EXACT, shape.noisy), 2, START)
    mean, square, gap = enumerated(made(row), shape, EXACT)
    assert (found.mean_of() == mean).all() and (found.distance_sq() == square).all()
    assert (found.suboptimality() == gap).all()
    assert all(isinstance(v, Q) for v in found.second.ravel())


@pytest.mark.parametrize("row", METHODS)
@pytest.mark.parametrize("backend", [NUMPY, TORCH], ids=["numpy", "torch"])
def test_floats_are_near_the_fractions(row, backend):
    exact = propagate(made(row), federation(EXACT, (0, 1)), 12, START)
    found = propagate(made(row), federation(backend, (0, 1)), 12, START)
    for name in ("mean", "second"):
        wanted = getattr(exact, name).astype(float)
        assert np.allclose(to_numpy(getattr(found, name)), wanted, rtol=1e-9, atol=1e-9)
    assert found.places == exact.places


@pytest.mark.parametrize("row", ["fedavg, sampled", "scaffold, sampled", "feddyn, sampled", "fedavg-m, sampled"])
@pytest.mark.parametrize("law", ["two-point", *(pytest.param(x, marks=pytest.mark.slow) for x in ("gaussian", "sphere"))])
def test_within_the_error_of_sampled_runs(row, law):
    """2000 runs of 15 rounds: every mean lies within 5 standard errors (false alarm below 1e-4 for all 12 rows)."""
    problem = make_quadratic(clients=CLIENTS, dim=DIM, L=4.0, mu=0.5, noise=law, sigma=1.0, seed=3)
    algorithm = made(row)
    found = propagate(algorithm, problem, 15, steady=True)
    runs = run(algorithm, problem, 15, seeds=range(2000), record=("x",)).dataset["x"].transpose("run", "round", "dim").values
    squares = ((runs - to_numpy(problem.x_star)) ** 2).sum(-1)
    error = squares.std(axis=0) / np.sqrt(len(runs))
    assert (abs(squares.mean(axis=0) - to_numpy(found.distance_sq())) <= 5 * error + 1e-9).all()
    error = runs.std(axis=0) / np.sqrt(len(runs))
    assert (abs(runs.mean(axis=0) - to_numpy(found.mean_of())) <= 5 * error + 1e-9).all()


def test_long_runs_reach_the_stationary_variance():
    """One client, F = L x^2 / 2: E x^2 tends to eta sigma^2 / (L (2 - eta L)); 400 rounds are as cheap as they sound."""
    noise = FiniteNoise(np.array([[[[1.0], [-1.0]]]]), np.array([0.5, 0.5]))
    problem = Quadratic([[[2.0]]], [[[0.0]]], noise=noise, backend=NUMPY)
    found = propagate(make_algorithm("fedavg", eta_l=0.25, local_steps=1), problem, 400, [1.0], steady=True)
    assert found.distance_sq()[-1] == pytest.approx(0.25 / (2 * 1.5))
    assert found.second_of("x").shape == (401, 1, 1)


def test_control_variates_are_part_of_the_state():
    found = propagate(made("scaffold, sampled"), federation(EXACT, (0,)), 3, START)
    assert set(found.places) == {"x", "server_variate", "client_variate"}
    assert (found.mean_of("client_variate").sum(1) / 3 == found.mean_of("server_variate")).all()
    with pytest.raises(KeyError, match="unknown array 'momentum'; kept: x"):
        found.mean_of("momentum")


def test_a_step_that_changes_with_the_round():
    falling = make_algorithm("fedavg", eta_l=Tabulated(EXACT.array([[Q(1, 8), Q(1, 9), Q(1, 10)]])), local_steps=1)
    with pytest.raises(ValueError, match="do not say steady"):
        propagate(falling, federation(EXACT, ()), 3, START, steady=True)
    mean, _, _ = enumerated(falling, Shape(CLIENTS, 0, DIM, 1, 3), EXACT)
    assert (propagate(falling, federation(EXACT, ()), 3, START).mean_of() == mean).all()


def test_gradients_outside_the_local_steps_need_no_noise():
    """SCAFFOLD from gradients stays at the optimum; with noise such gradients are a matter of chance, and refused."""
    algorithm = make_algorithm("scaffold", eta_l=Q(1, 8), local_steps=2, start="gradient", option="I")
    still = federation(EXACT, ())
    still.noise = NoNoise()
    assert (propagate(algorithm, still, 3, to_numpy(still.x_star)[0]).distance_sq() == 0).all()


QUIET = federation(NUMPY, ())


@pytest.mark.parametrize("make, message", [
    (lambda: propagate(made("fedavg"), QUIET.select([0, 0]), 1), "one instance of a quadratic federation; got 2"),
    (lambda: propagate(made("fedavg"), QUIET, -1), "rounds must be at least 0; got -1"),
    (lambda: propagate(make_algorithm("fedsam", eta_l=0.1, rho_sam=0.5), QUIET, 1), "not affine"),
    (lambda: propagate(make_algorithm("fedalign", eta_l=0.1, epsilon=1.0), QUIET, 1), "LossMatching"),
    (lambda: propagate(made("fedavg, sampled"), QUIET, 1, most_samples=2), "got WithoutReplacement with 3"),
    (lambda: propagate(make_algorithm("scaffold", eta_l=0.1, start="gradient"), QUIET, 1), "outside its local steps"),
    (lambda: propagate(make_algorithm("scaffold", eta_l=0.1, option="I"), QUIET, 1), "outside its local steps"),
])
def test_what_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
