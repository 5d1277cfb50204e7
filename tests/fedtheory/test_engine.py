"""The loop: batches do not matter, states are not touched, rounds by hand, divergence, schedules."""

import numpy as np
import pytest
import torch

from fedtheory import (
    OBSERVABLES,
    Bernoulli,
    InverseTime,
    Observer,
    RoundContext,
    State,
    Tabulated,
    make_algorithm,
    rounds_of,
    run,
)
from fedtheory.engine import starting_points
from synthetic import Draws, Quadratic
from tests.bounds.each_claim import look_at_each
from tests.fedtheory.federations import FEDERATIONS, moved, pair

BITWISE = ["no noise", "gaussian noise", "two-point noise", "one priority client"]
ALGORITHMS = {
    "scheme I": {"name": "fedavg", "participants": 3, "sampling": "with-replacement", "local_steps": 2},
    "without replacement": {"name": "fedavg", "participants": 1, "local_steps": 2},
    "stragglers": {"name": "fedalign", "epsilon": 0.5, "local_steps": 2, "free": Bernoulli(0.5), "participants": 2,
                   "sampling": "with-replacement"},
    "at aggregation": {"name": "fedalign", "epsilon": 0.5, "local_steps": 2, "indicator": "local-at-aggregation"},
    "every step": {"name": "fedalign", "epsilon": 0.5, "local_steps": 3, "indicator": "local-every-step"},
    "fraction": {"name": "fedalign-fraction", "epsilon": 0.5, "fraction": 0.5},
    "proximal": {"name": "fedalign-fedprox", "epsilon": 0.5, "local_steps": 2},
    "alone": {"name": "local-only", "local_steps": 2},
}


def algorithm(row):
    options = dict(ALGORITHMS[row])
    return make_algorithm(options.pop("name"), **options)


def starts(federation, runs, seed=5):
    return np.random.default_rng(seed).normal(size=(runs, federation.dim))


# batches ---------------------------------------------------------------------------------------------------------------
def check_batch_invariance(row, name, runs=64):
    """Some runs alone, and all in reverse order, are bit for bit what they are in a batch of ``runs``."""
    federation = FEDERATIONS[name]()
    seeds, start = np.arange(runs) * 3 + 1, starts(federation, runs)
    record = ["x", "included", "suboptimality", "weighted_gradient_sq"]
    together = run(algorithm(row), federation, 3, seeds=seeds, start=start, record=record).dataset
    turned = run(algorithm(row), federation, 3, seeds=seeds[::-1], start=start[::-1], record=record).dataset
    for quantity in record:
        np.testing.assert_array_equal(turned[quantity].values[::-1], together[quantity].values)
        for i in (0, 7, runs - 1):
            single = run(algorithm(row), federation, 3, seeds=seeds[i : i + 1], start=start[i], record=record).dataset
            np.testing.assert_array_equal(single[quantity].values[0], together[quantity].values[i])


@pytest.mark.parametrize("row", ALGORITHMS)
def test_a_run_is_the_same_bit_for_bit_alone_in_a_batch_and_in_any_order(row):
    """Bit for bit, and for every selection; ``check_algorithm`` compares up to rounding, for every method."""
    look_at_each(BITWISE, lambda name: check_batch_invariance(row, name))


def test_chance_alone_tells_runs_apart():
    """Runs of one batch from one start differ under noise, and only there."""
    noisy, still = (run(make_algorithm("fedalign", epsilon=0.5), FEDERATIONS[name](), 3, seeds=2, record=["x"]).dataset["x"]
                    for name in ("gaussian noise", "no noise"))
    assert not np.array_equal(noisy[0], noisy[1])
    np.testing.assert_array_equal(still[0], still[1])


def test_noise_is_centred_and_independent_between_clients_and_iterations():
    check_noise_is_centred()
    check_noise_is_independent()


def _noise(runs=4000):
    federation = FEDERATIONS["gaussian noise"]()
    step = make_algorithm("fedavg", eta_l=0.0, local_steps=2)
    g = run(step, federation, 1, seeds=runs, record=["g"]).dataset["g"].values
    return g - moved(federation.gradient(federation.all_clients(torch.zeros(1, 3, dtype=torch.float64))))


def check_noise_is_centred():
    """The mean over many runs is within five standard errors of zero."""
    noise = _noise()
    assert np.abs(noise.mean(axis=0)).max() < 5 * noise.std() / len(noise) ** 0.5


def check_noise_is_independent():
    """Correlations between clients, between iterations and between coordinates vanish."""
    noise = _noise().reshape(4000, -1)
    correlation = np.corrcoef(noise, rowvar=False) - np.eye(noise.shape[1])
    assert np.abs(correlation).max() < 5 / 4000**0.5


# hand-computed -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("method", "expected"), [
    ({"name": "fedavg", "local_steps": 2, "eta_l": 0.5}, 0.75),  # 0 -> 1/2 -> 3/4
    ({"name": "fedavg-all", "local_steps": 1, "eta_l": 0.25}, -0.375),  # (1/4 - 1) / 2
    ({"name": "fedavg-all", "local_steps": 1, "eta_l": 0.25, "warmup": 1}, 0.25),
    ({"name": "fedprox", "local_steps": 2, "eta_l": 0.5, "rho_prox": 1.0}, 0.5),  # 1/2 - (1/2)(-1/2 + 1/2)
    ({"name": "fedalign", "eta_l": 0.25, "epsilon": 1.5}, 0.25),  # F_2 - F = 3/2 is not below 3/2
    ({"name": "fedalign", "eta_l": 0.25, "epsilon": 1.5, "strict": False}, -0.375),
    ({"name": "fedalign", "eta_l": 0.25, "epsilon": 1.6}, -0.375),
    ({"name": "fedalign", "eta_l": 0.25, "epsilon": 1.6, "warmup": 1}, 0.25),
    ({"name": "fedalign", "eta_l": 0.25, "epsilon": 1.6, "warmup": 1, "indicator": "local-at-aggregation"}, 0.25),
    # after a step client 2 is at -1: its loss 0 is 2 below F(-1), so only a threshold above 2 keeps it
    ({"name": "fedalign", "eta_l": 0.25, "epsilon": 1.9, "indicator": "local-at-aggregation"}, 0.25),
    ({"name": "fedalign", "eta_l": 0.25, "epsilon": 2.1, "indicator": "local-at-aggregation"}, -0.375),
    # a second step, decided at -1 (every step) or at 0 (broadcast)
    ({"name": "fedalign", "eta_l": 0.25, "epsilon": 1.9, "local_steps": 2, "indicator": "local-every-step"}, 0.4375),
    ({"name": "fedalign", "eta_l": 0.25, "epsilon": 1.9, "local_steps": 2}, (0.4375 - 1) / 2),
    ({"name": "local-only", "eta_l": 0.25}, 0.25),
])
def test_one_round_by_hand(method, expected):
    options = dict(method)
    x = run(make_algorithm(options.pop("name"), **options), pair(), 1, record=["x"]).dataset["x"]
    assert x.values[0, 1, 0] == pytest.approx(expected, abs=1e-15)


# run -----------------------------------------------------------------------------------------------------------------
def test_shapes_and_dimensions():
    federation = FEDERATIONS["logistic, held out"]()
    data = run(make_algorithm("fedavg", local_steps=3), federation, 4, seeds=2, record=list(OBSERVABLES)).dataset
    length = {"state": ("round", 5), "round": ("step_round", 4), "aggregation": ("step_round", 4),
              "participation": ("step_round", 4), "upload": ("step_round", 4), "step": ("iteration", 12),
              "iteration": ("iteration", 12)}
    size = {"client": 4, "dim": 3}
    for name, observable in OBSERVABLES.items():
        clock, times = length[observable.when]
        assert data[name].dims == ("run", clock, *observable.dims)
        assert data[name].shape == (2, times, *(size[dim] for dim in observable.dims))
        assert data[name].attrs == {"units": observable.unit, "long_name": observable.meaning}
    assert data["diverged"].values.tolist() == [-1, -1]
    assert data.attrs["rounds"] == 4 and data.attrs["local_steps"] == 3


def test_divergence_is_reported_with_its_round_and_does_not_spread():
    federation = FEDERATIONS["gaussian noise"]()
    eta = torch.tensor([0.1, 1e200, 0.2], dtype=torch.float64)
    trajectory = run(make_algorithm("fedavg", eta_l=eta), federation, 4, seeds=3, record=["x", "eta_l"])
    finite = np.isfinite(trajectory.dataset["x"].values).all(axis=-1)
    assert trajectory.dataset["diverged"].values.tolist() == [-1, 2, -1]
    assert finite.tolist() == [[True] * 5, [True, True, False, False, False], [True] * 5]
    np.testing.assert_array_equal(trajectory.dataset["eta_l"].values, np.repeat(moved(eta)[:, None], 4, axis=1))
    calm = run(make_algorithm("fedavg", eta_l=0.2), federation, 4, seeds=[2], record=["x"])
    np.testing.assert_array_equal(calm.dataset["x"].values[0], trajectory.dataset["x"].values[2])


def test_a_client_that_does_not_count_may_diverge():
    """A free client whose local model overflows, but whom the matching leaves out, spoils no model and no record."""
    wild = Quadratic([[[1.0], [1e200]]], [[[1.0], [-1.0]]], priority=[[True, False]])
    record = ["x", "drift", "weighted_gradient_sq", "max_gradient_sq", "x_local"]
    steps = {"eta_l": 0.5, "local_steps": 4}
    data = run(make_algorithm("fedalign", epsilon=0.1, **steps), wild, 2, record=record).dataset
    calm = run(make_algorithm("fedavg", **steps), pair(), 2, record=record).dataset
    assert not np.isfinite(data["x_local"].values[..., 1, 0]).all() and data["diverged"].values.tolist() == [-1]
    for name in record[:-1]:
        np.testing.assert_array_equal(data[name], calm[name])


@pytest.mark.parametrize("library", [list, np.array, torch.tensor])
def test_one_step_size_and_threshold_per_run(library):
    """Per-run numbers may come as any kind of array, and act on their own run only."""
    federation, etas, epsilons = FEDERATIONS["gaussian noise"](), [0.05, 0.1, 0.2], [0.0, 0.5, 9.0]
    if library is list:
        eta, epsilon = Tabulated([[e] for e in etas]), Tabulated([[e] for e in epsilons])
    else:
        eta, epsilon = library(etas), library(epsilons)
    together = run(make_algorithm("fedalign", eta_l=eta, epsilon=epsilon, local_steps=2), federation, 3, seeds=3,
                   record=["x"]).dataset["x"].values
    for i in range(3):
        single = run(make_algorithm("fedalign", eta_l=etas[i], epsilon=epsilons[i], local_steps=2), federation, 3,
                     seeds=[i], record=["x"]).dataset["x"].values[0]
        np.testing.assert_allclose(single, together[i], atol=1e-15)


def test_progress_is_told_every_round():
    told = []
    run(make_algorithm("fedavg"), FEDERATIONS["no noise"](), 3, progress=lambda done, of: told.append((done, of)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def check_step_sizes():
    """The step of iteration t is 2 / (mu (t + offset)), t counted over all rounds from 0."""
    data = run(make_algorithm("fedavg", eta_l=InverseTime(2.0, 8.0), local_steps=3), FEDERATIONS["no noise"](), 3,
               record=["eta_l", "x_local", "g"]).dataset
    expected = 2 / (2.0 * (np.arange(9) + 8.0))
    np.testing.assert_allclose(data["eta_l"].values[0], expected, rtol=1e-15)
    moved_by = data["x_local"].values[0, :-1] - data["x_local"].values[0, 1:]
    for t in range(8):
        if (t + 1) % 3:
            np.testing.assert_allclose(moved_by[t], expected[t] * data["g"].values[0, t], atol=1e-14)


def test_steps_count_local_iterations_over_all_rounds():
    check_step_sizes()


def test_a_moment_names_round_and_iteration():
    class Watch(Observer):
        seen: list = []

        def local_iteration(self, context, participation, x_local, gradient):
            assert isinstance(context, RoundContext)
            self.seen.append((context.round, context.iteration))

    federation, method = FEDERATIONS["no noise"](), make_algorithm("fedavg", local_steps=2)
    state = State(starting_points(federation, None, 1))
    list(rounds_of(method, federation, state, Draws([0]), 4, 2, (Watch(),)))
    assert Watch.seen == [(4, 8), (4, 9), (5, 10), (5, 11)]
