"""Clients that take unequal numbers of local steps, and FedNova, which is made for them."""

import numpy as np
import pytest

from fedtheory import make_algorithm, run
from fedtheory.client_steps import RandomSteps
from fedtheory.registry import find_algorithm
from synthetic import make_quadratic
from synthetic.numbers.arrays import TORCH
from tests.fedtheory.federations import moved
from tests.fedtheory.methods.common import (
    check_all,
    clean,
    maker,
    noisy,
    path,
    start_of,
    watch,
)


def make(name, *arguments, **options):
    """A method from its maker's arguments, in their order."""
    return find_algorithm(name).make(*arguments, **options)


def same(a, b, tolerance=1e-11):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


NOVA = {
    "fednova": maker("fednova", local_steps=4, client_steps=[1, 2, 3, 4, 4, 1]),
    "fednova random": maker("fednova", local_steps=4, client_steps=RandomSteps(0.3), eta_g=0.5),
    "fednova proximal": maker("fednova", local_steps=4, client_steps=[1, 2, 3, 4, 4, 1], rho_prox=0.5, beta=0.5),
    "fedavg unequal": lambda **more: make_algorithm("fedavg", local_steps=4, **more).having(
        client_steps=RandomSteps(0.3)),
    "scaffold unequal": lambda **more: make_algorithm("scaffold", local_steps=4, **more).having(
        client_steps=[1, 2, 3, 4, 4, 1]),
    "fadamgc unequal": lambda **more: make_algorithm("fadamgc", local_steps=4, eps=0.1, **more).having(
        client_steps=[1, 2, 3, 4, 4, 1]),
}


@pytest.mark.parametrize("row", NOVA)
def test_unequal_steps_meet_what_every_method_meets(row, tmp_path):
    check_all(NOVA[row], tmp_path)


def test_unequal_steps_cost_what_they_are():
    """A model and a number up; gradients for the steps that are taken."""
    data = run(NOVA["fednova"](participants=2), noisy(), 5, record=["uplink_floats", "gradients", "weight"]).dataset
    active = data["weight"].values > 0
    np.testing.assert_array_equal(data["gradients"].values, active * [1, 2, 3, 4, 4, 1])
    np.testing.assert_array_equal(data["uplink_floats"].values, active * 4)


STEPS = np.array([1, 2, 3, 4, 4, 1])


@pytest.mark.parametrize("row", NOVA)
def test_a_client_stops_after_its_steps(row):
    seen = watch(NOVA[row](), noisy(), 3)
    for t in range(3):
        models = np.concatenate([seen.x_local[t], seen.ends[t][None]])[:, 0]
        moves = (np.diff(models, axis=0) != 0).any(axis=-1)
        counts = moves.sum(axis=0)
        assert (np.diff(moves.astype(int), axis=0) <= 0).all(), "none goes on after it has stopped"
        if "random" not in row and row != "fedavg unequal":
            np.testing.assert_array_equal(counts, STEPS)
        assert counts.min() >= 1 and counts.max() <= 4


@pytest.mark.parametrize(("beta", "rho"), [(1.0, 0.0), (0.4, 0.0), (1.0, 0.5)])
@pytest.mark.parametrize("participants", [None, 3])
def test_normalised_averaging_by_hand(beta, rho, participants):
    """With Wang et al.'s |a_k|_1 for plain steps, momentum, and a pull."""
    eta, q = 0.1, 1 - beta
    if rho:
        length = (1 - (1 - eta * rho) ** STEPS) / rho
    else:
        length = eta * (STEPS if q == 0 else (STEPS - q * (1 - q**STEPS) / (1 - q)) / (1 - q))
    made = make("fednova", eta, 4, STEPS, rho_prox=rho, beta=beta, eta_g=0.5, participants=participants)
    seen = watch(made, noisy(), 5)
    for t in range(5):
        chosen = seen.active[t][0]
        change = (seen.ends[t][0] - seen.x[t])[chosen]
        step = length[chosen].mean() * (change / length[chosen, None]).mean(axis=0)
        same(seen.x[t + 1][0], seen.x[t][0] + 0.5 * step)


@pytest.mark.parametrize("steps", [(1, 5, 2), RandomSteps(0.2)])
def test_small_steps_lead_fednova_to_the_optimum_and_fedavg_elsewhere(steps):
    federation = make_quadratic(3, 2, L=3.0, mu=1.0, seed=5)
    ends = {}
    for name in ("fedavg", "fednova"):
        for eta in (8e-3, 4e-3) if isinstance(steps, tuple) else (8e-3,):
            method = make_algorithm(name, eta_l=eta, local_steps=5).having(client_steps=steps)
            ends[name, eta] = run(method, federation, int(5 / eta), record=["x"]).dataset["x"].values[0, -1]
    best = moved(federation.x_star)[0]
    error = {key: np.abs(x - best).max() for key, x in ends.items()}
    if isinstance(steps, tuple):
        wrong = moved(federation.minimiser(federation.weights * TORCH.array([steps])))[0]
        assert np.abs(ends["fedavg", 4e-3] - wrong).max() < 0.02 < 0.1 < np.abs(wrong - best).max()
        assert error["fednova", 8e-3] / error["fednova", 4e-3] == pytest.approx(2, rel=0.05)
    assert error["fednova", 8e-3] < 0.02


def test_unequal_steps_of_scaffold():
    """Option II divides by a client's own steps, and equals the mean of the gradients that the client used."""
    first, second = (watch(make("scaffold", 0.05, 4, option=option, participants=3).having(client_steps=STEPS),
                           noisy(), 5) for option in ("II", "average-gradient"))
    for a, b in zip(first.arrays, second.arrays, strict=True):
        same(a["client variate"], b["client variate"])
    used = (np.arange(4)[:, None] < STEPS)[..., None]
    mean = (second.g[0][:, 0] * used).sum(axis=0) / STEPS[:, None]
    same(second.arrays[1]["client variate"][0], np.where(second.active[0][0][:, None], mean, 0))
    with pytest.raises(ValueError, match=r"path 'affine' .*different"):
        run(make_algorithm("fedavg", local_steps=4).having(client_steps=STEPS), clean(), 2, record=["x"], path="affine")


def test_random_steps_are_uniform_and_renewed():
    seen = run(make_algorithm("fednova", local_steps=5, client_steps=RandomSteps(0.4)), noisy(), 100, seeds=16,
               record=["gradients"]).dataset["gradients"].values
    values, counts = np.unique(seen, return_counts=True)
    assert values.tolist() == [2, 3, 4, 5]
    np.testing.assert_allclose(counts / seen.size, 0.25, atol=5 * (3 / 16 / seen.size) ** 0.5)
    assert np.abs(np.corrcoef(seen[:, 1:].reshape(-1), seen[:, :-1].reshape(-1))[0, 1]) < 5 / seen.size**0.5


def test_one_number_of_steps_per_run_and_client():
    table = np.stack([STEPS, STEPS[::-1]])
    start = np.repeat(start_of(noisy()), 2, axis=0)
    both = path(make("fednova", 0.1, 4, table), noisy(), 4, seeds=[3, 4], start=start)
    for i, seed in enumerate([3, 4]):
        alone = path(make("fednova", 0.1, 4, table[i]), noisy(), 4, seeds=[seed])
        np.testing.assert_array_equal(alone[:, 0], both[:, i])


BAD = {
    "too many": ({"client_steps": [1, 4]}, "between 1 and local_steps, 3; got"),
    "none": ({"client_steps": [0, 3]}, "between 1 and local_steps, 3; got"),
    "not whole": ({"client_steps": [1.5, 3.0]}, "integers between 1"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_numbers_of_steps(case):
    options, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        make_algorithm("fednova", local_steps=3, **options)


def test_what_has_no_meaning_is_refused():
    with pytest.raises(ValueError, match="got Adam, allowed: plain steps, HeavyBall"):
        make_algorithm("fednova").having(client=make_algorithm("local-adam").client)
    with pytest.raises(ValueError, match=r"FedLADA .*client_steps .*None"):
        make_algorithm("fedlada", local_steps=2).having(client_steps=[1, 2])
    with pytest.raises(ValueError, match=r"fraction .* 0 .*1.*got 0.0"):
        RandomSteps(0.0)
    with pytest.raises(ValueError, match=r"client_steps .*\(6,\).*got \(2,\)"):
        run(make_algorithm("fednova", local_steps=2, client_steps=[1, 2]), noisy(), 1)
