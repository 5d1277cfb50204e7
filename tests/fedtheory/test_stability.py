"""Measured stability against closed forms, and the generalisation gap measured in two ways."""

import numpy as np
import pytest

from fedtheory import fedavg, find_algorithm, make_algorithm
from fedtheory.stability import coupled_runs, generalisation
from synthetic import from_arrays

FAR = 1e4  # targets so far away that Huber's loss is linear wherever a run goes


def linear(slopes, client, **options):
    """Samples of losses that are linear, -slope * x, on the way of a run."""
    features, targets = [[a] for a in slopes], [FAR] * len(slopes)
    return from_arrays(features, targets, client, task="generalised-linear", loss="huber", **options)


@pytest.mark.parametrize("clients, samples, steps, rounds", [(1, 5, 1, 7), (1, 3, 4, 2), (4, 3, 1, 5), (3, 2, 5, 3)])
def test_linear_losses_are_as_unstable_as_the_bound_allows(clients, samples, steps, rounds):
    """Full gradients of G-Lipschitz convex losses: 2 eta G K T / (m n), reached where a sample's slope changes its sign."""
    eta, G = 0.01, 3.0
    federation = linear([G] * clients * samples, np.repeat(np.arange(clients), samples))
    replacements = [(k, 0, [slope], FAR) for k in range(clients) for slope in (G, 0.0, -G)]
    test = linear([G, -G], [0, 1])
    found = coupled_runs(fedavg(eta_l=eta, local_steps=steps), federation, replacements, rounds, test=test)
    bound = 2 * eta * G * steps / (clients * samples) * np.arange(rounds + 1)
    np.testing.assert_allclose(found.parameter_gap[found.worst], bound, rtol=1e-6)
    np.testing.assert_allclose(found.loss_gap[found.worst], G * bound, rtol=1e-6)
    assert found.replacements[found.worst][2:] == ([-G], FAR)


def test_samples_are_met_in_their_share_of_steps():
    """Minibatches of one: the expected gap of linear losses is the same, because the sample numbers are common."""
    federation = linear([1.0] * 4, [0, 0, 0, 0], batch_size=1)
    found = coupled_runs(fedavg(eta_l=0.1, local_steps=5), federation, [(0, 2, [-1.0], FAR)], 4, seeds=3000)
    np.testing.assert_allclose(found.parameter_gap[0, -1], 2 * 0.1 * 20 / 4, rtol=0.03)


def test_the_same_sample_makes_no_difference():
    federation = linear([1.0, 2.0], [0, 1], batch_size=1)
    found = coupled_runs(make_algorithm("scaffold", eta_l=0.1, local_steps=3), federation, [(0, 0, [1.0], FAR)], 3, seeds=4)
    assert not found.parameter_gap.any()


POOLS = [[([1.0], 0.0), ([2.0], 1.0)], [([1.0], 3.0), ([0.5], -1.0)]]


def least_squares(rows):
    return from_arrays([z[1] for z in rows], [z[2] for z in rows], [z[0] for z in rows], batch_size=None)


@pytest.mark.parametrize("method", ["fedavg", "fedprox", "afedpd", "fedmoswa"])
def test_both_ways_to_measure_generalisation_agree(method):
    arguments = find_algorithm(method).arguments
    algorithm = make_algorithm(method, eta_l=0.2, **({"local_steps": 2} if "local_steps" in arguments else {}))
    found = generalisation(algorithm, least_squares, POOLS, 1, 3)
    assert found.data_sets == 4
    assert found.direct == pytest.approx(found.identity, rel=1e-9)
    assert abs(found.direct) > 1e-3


def test_one_step_on_linear_losses_generalises_by_the_variance():
    """x = eta a, so the gap is eta times the variance of the slopes over the number of samples."""
    pools = [[([1.0], FAR), ([3.0], FAR)]]

    def make(rows):
        return linear([z[1][0] for z in rows], [z[0] for z in rows])

    for samples in (1, 2):
        found = generalisation(fedavg(eta_l=0.25), make, pools, samples, 1)
        np.testing.assert_allclose([found.direct, found.identity], 0.25 / samples, rtol=1e-6)


def test_drawn_data_sets_agree_up_to_sampling():
    exact = generalisation(fedavg(eta_l=0.2), least_squares, POOLS, 1, 2)
    drawn = generalisation(fedavg(eta_l=0.2), least_squares, POOLS, 1, 2, data_sets=100)
    assert drawn.data_sets == 100
    assert drawn.direct == pytest.approx(exact.direct, abs=0.2)  # three standard errors
    assert drawn.identity == pytest.approx(exact.direct, abs=0.2)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"replacements .*got 0"):
        coupled_runs(fedavg(), linear([1.0], [0]), [], 1)
    with pytest.raises(ValueError, match=r"samples .* 1.*got 0"):
        generalisation(fedavg(), least_squares, POOLS, 0, 1)
