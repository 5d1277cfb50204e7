"""SCAFFOLD, momentum variants, FedSWA and FedMoSWA: what fedmoswa 7 and fadamgc 7 say of them, and their costs."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import FedAvg, Geometric, Tabulated, make_algorithm, run, sampled
from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.algorithms.fedcm import BroadcastMomentum
from fedtheory.algorithms.fedmoswa import FreshVariates
from fedtheory.schedules import CyclicLinear, GeometricLocal
from synthetic import EXACT, TORCH, Quadratic
from tests.fedtheory.federations import gathered, moved
from tests.fedtheory.methods.common import (
    check_all,
    clean,
    maker,
    noisy,
    path,
    rotated,
    scaled,
    sequences,
    shifted_centers,
    start_of,
    subsets,
    tilted,
    watch,
    with_arrays,
)
from tests.not_empty import not_empty

STEPS = {"eta_l": 0.05, "local_steps": 3}
MOVING = STEPS | {"rho_decay": 0.3, "eta_g": 1.4, "gamma": 0.4}

#: method, arguments, models down and up and gradients per participant (fadamgc 3.11, fedmoswa 3.5), runs on fractions
ROWS = {
    "scaffold": ("scaffold", STEPS, 2, 2, 3, True),
    "scaffold, I": ("scaffold", STEPS | {"option": "I", "start": "gradient"}, 2, 2, 4, True),
    "scaffold, average": ("scaffold", STEPS | {"option": "average-gradient", "eta_g": 1.5}, 2, 2, 3, True),
    "scaffold, printed sign": ("scaffold", STEPS | {"sign": "printed-eq3", "start": "gradient-clients-only"}, 2, 2, 3, True),
    "scaffold-m": ("scaffold-m", STEPS | {"beta": 0.5}, 3, 2, 3, True),
    "fedavg-m": ("fedavg-m", STEPS | {"beta": 0.5}, 2, 1, 3, True),
    "fedavg-m, heavy ball": ("fedavg-m", STEPS | {"momentum": "heavy-ball", "beta": 0.5}, 1, 1, 3, True),
    "fedcm": ("fedcm", STEPS | {"beta": 0.5, "eta_g": 1.2}, 2, 1, 3, True),
    "fedgamma": ("fedgamma", STEPS, 2, 2, 6, False),
    "fedswa": ("fedswa", STEPS | {"eta_l": Geometric(0.05, 0.9)}, 1, 1, 3, True),
    "fedswa, geometric": ("fedswa", STEPS | {"schedule": "geometric-h1"}, 1, 1, 3, True),
    "fedmoswa": ("fedmoswa", MOVING, 2, 2, 3, True),
    "fedmoswa, I": ("fedmoswa", MOVING | {"option": "I", "start": "gradient-clients-only"}, 2, 2, 4, True),
    "fedmoswa, all clients": ("fedmoswa", MOVING | {"variant": "all-clients", "start": "gradient"}, 2, 2, 3, True),
    "fedmoswa, fresh": ("fedmoswa", MOVING | {"variant": "fresh"}, 2, 2, 4, True),
    "fedmoswa, fresh on the same samples": ("fedmoswa", MOVING | {"variant": "fresh", "batch": "same"}, 2, 2, 7, True),
    "fedmo": ("fedmo", STEPS | {"gamma": 0.4}, 2, 2, 3, True),
}
MAKERS = {row: maker(name, **arguments) for row, (name, arguments, *_) in ROWS.items()}


@pytest.mark.parametrize("row", ROWS)
def test_what_every_row_owes(row, tmp_path):
    numbers = {key: value for key, value in ROWS[row][1].items() if isinstance(value, float)}
    check_all(MAKERS[row], tmp_path, costs=ROWS[row][2:5], exact=ROWS[row][5], numbers=numbers)


# symmetries (fedmoswa 7.17-7.20, fadamgc 7.8-7.12) --------------------------------------------------------------------
#: powers of (loss, length) of the arguments that have a unit
UNITS = {"eta_l": (-1, 2), "rho_sam": (0, 1), "eta_g": (0, 0), "rho_decay": (0, 0), "beta": (0, 0)}


def _in_units(arguments, loss, length, gamma):
    def new(key, value):
        powers = gamma if key == "gamma" else UNITS.get(key, (0, 0))
        factor = loss ** powers[0] * length ** powers[1]
        return Geometric(value.value * factor, value.ratio) if isinstance(value, Geometric) else value * factor

    return {key: new(key, value) if isinstance(value, (float, Geometric)) else value for key, value in arguments.items()}


@pytest.mark.parametrize("row", ROWS)
def test_units(row):
    """Losses times a, lengths times b, rates times b^2/a: models times b, variates and directions times a/b."""
    name, arguments, *_ = ROWS[row]
    if name == "fedgamma":
        arguments = arguments | {"rho_sam": 0.25}
    if name in ("fedavg-m", "scaffold-m"):
        arguments = arguments | {"gamma": 0.125}
    gamma = (-1, 2) if name in ("fedavg-m", "scaffold-m") else (0, 0)
    federation, loss, length = clean(), 4.0, 0.5
    start = start_of(federation)
    first = watch(make_algorithm(name, **arguments), federation, 4, start=start)
    other = watch(make_algorithm(name, **_in_units(arguments, loss, length, gamma)), scaled(federation, loss, length), 4,
                  start=length * start)
    np.testing.assert_allclose(np.stack(other.x), length * np.stack(first.x), rtol=1e-12, atol=1e-13)
    for before, after in zip(first.arrays, other.arrays, strict=True):
        for array in before:
            np.testing.assert_allclose(after[array], loss / length * before[array], rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("row", ROWS)
def test_rotations_and_translations(row):
    Q, v = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0], np.array([1.0, -2.0, 0.5])
    federation, start = clean(), start_of(clean())
    method = MAKERS[row](participants=2)
    first, other = (watch(method, f, 4, start=s) for f, s in (
        (federation, start), (rotated(federation, Q, v), start @ Q.T + v)))
    np.testing.assert_allclose(np.stack(other.x), np.stack(first.x) @ Q.T + v, rtol=1e-10, atol=1e-10)
    for before, after in zip(first.arrays, other.arrays, strict=True):
        for array in before:
            np.testing.assert_allclose(after[array], before[array] @ Q.T, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("row", ROWS)
def test_relabelled_clients(row):
    order, federation = [3, 0, 5, 1, 4, 2], clean()
    drawn = [[0, 3], [3, 5], [1, 2], [0, 1]]
    method, moved_method = MAKERS[row](participants=2), MAKERS[row](participants=2)
    first = watch(method, federation, 4, draws=subsets([drawn]))
    renamed = [[order.index(k) for k in each] for each in drawn]
    other = watch(moved_method, gathered(federation, order), 4, draws=subsets([renamed]))
    np.testing.assert_allclose(np.stack(other.x), np.stack(first.x), rtol=1e-12, atol=1e-12)
    for before, after in zip(first.arrays, other.arrays, strict=True):
        for array in before:
            same = before[array][:, order] if array.startswith("client") else before[array]
            np.testing.assert_allclose(after[array], same, rtol=1e-11, atol=1e-12)


TILTED = [row for row in ROWS if ROWS[row][0] in ("scaffold", "fedmoswa", "fedmo") and "printed" not in row]


@pytest.mark.parametrize("row", TILTED)
def test_linear_terms_that_sum_to_zero_do_nothing(row):
    """7.14: F_k + <b_k, x> from c_k + b_k, everybody taking part."""
    federation, b = clean(), np.random.default_rng(2).normal(size=(6, 3))
    b = b - b.mean(axis=0)
    c = np.random.default_rng(3).normal(size=(6, 3))
    method = MAKERS[row]()
    if "fresh" in row:
        changes = [None, None]
    else:
        changes = [with_arrays(TORCH, clients={"variate": v}) for v in (c, c + b)]
    first, other = (watch(method, f, 5, change=change) for f, change in zip(
        (federation, tilted(federation, b)), changes, strict=True))
    np.testing.assert_allclose(np.stack(other.x), np.stack(first.x), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose([a["variate"] for a in other.arrays], [a["variate"] for a in first.arrays], atol=1e-11)
    if "fresh" not in row:
        np.testing.assert_allclose(other.arrays[-1]["client variate"] - b, first.arrays[-1]["client variate"], atol=1e-11)


# SCAFFOLD -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("participants", [None, 2])
@pytest.mark.parametrize("arguments", [
    {}, {"option": "I"}, {"option": "average-gradient"}, {"start": "gradient"}, {"sign": "printed-eq3"},
    {"option": "I", "start": "gradient", "sign": "printed-eq3"},
], ids=str)
def test_scaffold_keeps_c_the_mean_of_the_clients(arguments, participants):
    federation = noisy(weights=[1.0, 2.0, 3.0, 1.0, 1.0, 2.0])
    seen = watch(make_algorithm("scaffold", **STEPS | arguments, participants=participants), federation, 5, seeds=[1, 2])
    p = moved(federation.weights)[..., None]
    for arrays in seen.arrays:
        np.testing.assert_allclose(arrays["variate"], (p * arrays["client variate"]).sum(axis=1), atol=1e-12)
    assert np.abs(seen.arrays[-1]["variate"]).max() > 0.1


def test_scaffold_without_variates_is_fedavg():
    """fadamgc 3.5: all controls zero; here in the first round, and always on equal gradients' mean."""
    first = path(make_algorithm("scaffold", **STEPS, eta_g=1.3), noisy(), 1)
    np.testing.assert_array_equal(first, path(make_algorithm("fedavg", **STEPS, eta_g=1.3), noisy(), 1))
    one = noisy(clients=1)
    np.testing.assert_allclose(path(make_algorithm("scaffold", **STEPS), one, 5),
                               path(make_algorithm("fedavg", **STEPS), one, 5), atol=1e-13)


def test_scaffold_with_plain_steps_has_one_variate_in_two_forms():
    """Option II is the average gradient of the round, for every schedule."""
    steps = STEPS | {"eta_l": 0.05}
    two, mean = (path(make_algorithm("scaffold", **steps, option=option, participants=2), noisy(), 6)
                 for option in ("II", "average-gradient"))
    np.testing.assert_allclose(two, mean, atol=1e-12)


@pytest.mark.parametrize("sign", ["standard", "printed-eq3"])
def test_scaffold_by_hand(sign):
    """On (x - 1)^2/2 and 2 (x + 1)^2 with two steps of 1/4, in fractions: the first round goes to 7/16 and -1."""
    pair = Quadratic([[[Fraction(1)], [Fraction(4)]]], [[[Fraction(1)], [Fraction(-1)]]], backend=EXACT)
    quarter = Fraction(1, 4)
    method = make_algorithm("scaffold", eta_l=quarter, local_steps=2, sign=sign)
    x, c_1, c_2, c = Fraction(0), Fraction(0), Fraction(0), Fraction(0)
    s = 1 if sign == "standard" else -1
    expected = [x]
    for _ in range(3):
        y_1 = y_2 = x
        for _ in range(2):
            y_1 = y_1 - quarter * (y_1 - 1 + s * (c - c_1))
            y_2 = y_2 - quarter * (4 * (y_2 + 1) + s * (c - c_2))
        c_1, c_2 = c_1 - c + (x - y_1) / (2 * quarter), c_2 - c + (x - y_2) / (2 * quarter)
        x, c = (y_1 + y_2) / 2, (c_1 + c_2) / 2
        expected.append(x)
    found = run(method, pair, 3, record=["x"]).dataset["x"].values[0, :, 0]
    assert found.tolist() == expected and expected[1] == Fraction(-9, 32)


@pytest.mark.parametrize("row", ["scaffold", "scaffold, I", "scaffold, average", "scaffold-m", "fedmoswa",
                                 "fedmoswa, all clients", "fedmo"])
def test_absent_clients_keep_their_variates(row):
    seen = watch(MAKERS[row](participants=2), noisy(), 4, seeds=[1, 2])
    for before, after, active in not_empty(zip(seen.arrays, seen.arrays[1:], seen.active, strict=False)):
        same = (before["client variate"] == after["client variate"]).all(axis=-1)
        np.testing.assert_array_equal(same, ~active)


# momentum (fadamgc 7.25) ----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("participants", [None, 2])
@pytest.mark.parametrize(("name", "arguments", "plain", "given_plain"), [
    ("fedavg-m", {"gamma": 0.2}, "fedavg", {}),
    ("fedavg-m", {"gamma": 0.2, "momentum": "heavy-ball"}, "fedavg", {}),
    ("scaffold-m", {"gamma": 0.2}, "scaffold", {"option": "average-gradient"}),
    ("fedcm", {"eta_g": 0.2 / 0.15}, "fedavg", {}),
])
def test_all_weight_on_the_gradient_is_the_method_without_momentum(name, arguments, plain, given_plain, participants):
    first = path(make_algorithm(name, **STEPS, beta=1.0, participants=participants, **arguments), noisy(), 5)
    other = path(make_algorithm(plain, **STEPS, eta_g=0.2 / 0.15, **given_plain, participants=participants), noisy(), 5)
    np.testing.assert_allclose(first, other, atol=1e-12)


@pytest.mark.parametrize("participants", [None, 2])
def test_fedcm_is_fedavg_m_with_a_relative_step(participants):
    steps = STEPS | {"beta": 0.3, "participants": participants}
    relative = path(make_algorithm("fedcm", **steps, eta_g=0.5 / 0.15), noisy(), 5)
    np.testing.assert_allclose(path(make_algorithm("fedavg-m", **steps, gamma=0.5), noisy(), 5), relative, atol=1e-12)


def test_one_client_needs_no_variates_beside_its_momentum():
    both = (make_algorithm(name, **STEPS, beta=0.3, gamma=0.5) for name in ("scaffold-m", "fedavg-m"))
    first, other = (path(method, noisy(clients=1), 5) for method in both)
    np.testing.assert_allclose(first, other, atol=1e-12)


@pytest.mark.parametrize("row", ["fedavg-m", "fedcm", "scaffold-m"])
def test_the_broadcast_momentum_is_the_mean_displacement_per_step(row):
    seen = watch(MAKERS[row](participants=2), noisy(), 4, seeds=[1, 2])
    for t in range(4):
        active = seen.active[t][..., None]
        mean = (active * (seen.x[t][:, None] - seen.ends[t])).sum(axis=1) / 2 / 0.15
        np.testing.assert_allclose(seen.arrays[t + 1]["momentum"], mean, atol=1e-12)


def test_a_heavy_ball_starts_anew_in_every_round():
    """On x^2/2 from 1 with rate 1/2, momentum 1/2: u = 1, x = 1/2; u = 1, x = 0; and the same map in the next round."""
    unit = Quadratic([[[1.0]]], [[[0.0]]])
    method = make_algorithm("fedavg-m", eta_l=0.5, local_steps=2, beta=0.5, gamma=0.5, momentum="heavy-ball")
    x = run(method, unit, 2, start=[1.0], record=["x"]).dataset["x"].values.ravel()
    np.testing.assert_allclose(x, [1.0, 0.5, 0.25])  # M = 1, x - 1/2; the second round scales


# FedGAMMA -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("participants", [None, 2])
def test_fedgamma_lies_between_scaffold_and_fedsam(participants):
    flat = path(make_algorithm("fedgamma", **STEPS, rho_sam=0.0, participants=participants), noisy(), 5)
    np.testing.assert_allclose(flat, path(make_algorithm("scaffold", **STEPS, participants=participants), noisy(), 5),
                               atol=1e-13)
    sharp = {"rho_sam": 0.2, "eta_g": 1.2}
    first = path(make_algorithm("fedgamma", **STEPS, **sharp), noisy(), 1)
    np.testing.assert_allclose(first, path(make_algorithm("fedsam", **STEPS, **sharp), noisy(), 1), atol=1e-13)


def test_fedgamma_s_variates_are_means_of_sharpness_aware_gradients():
    method = make_algorithm("fedgamma", **STEPS, rho_sam=0.2)
    seen = watch(method, clean(), 3)
    for t in range(3):
        shift = seen.arrays[t]["variate"][:, None] - seen.arrays[t]["client variate"]
        step = (seen.x[t][:, None] - seen.ends[t]) / 0.15 - shift
        np.testing.assert_allclose(seen.arrays[t + 1]["client variate"], step, atol=1e-12)
        g = seen.g[t]
        uphill = seen.x_local[t] + 0.2 * g / np.linalg.norm(g, axis=-1, keepdims=True)
        at = np.stack([moved(clean().gradient(torch.tensor(each))) for each in uphill])
        np.testing.assert_allclose(step, at.mean(axis=0), atol=1e-12)


# schedules (7.21) -----------------------------------------------------------------------------------------------------
fractions = st.fractions(min_value=0, max_value=1, max_denominator=12)


@settings(max_examples=60, deadline=None)
@given(eta=fractions, rho=fractions, other=fractions, K=st.integers(1, 9), round=st.integers(0, 5))
def test_cyclic_linear_rates(eta, rho, other, K, round):
    rates = [CyclicLinear(eta, rho, K)(round * K + k, round) for k in range(K)]
    assert rates == [eta * (1 - (1 - rho) * Fraction(k, K)) for k in range(K)] and rates[0] == eta
    assert sum(rates) == eta * ((K + 1) + rho * (K - 1)) / 2
    assert all(a >= b for a, b in pairwise(rates))
    assert len({b - a for a, b in pairwise(rates)}) <= 1, "affine"
    more = sum(CyclicLinear(eta, max(rho, other), K)(k, 0) for k in range(K))
    assert more >= sum(CyclicLinear(eta, min(rho, other), K)(k, 0) for k in range(K))


@pytest.mark.parametrize("K", [2, 3, 6])
def test_geometric_local_rates(K):
    ratio = Fraction(K - 2, K - 1)
    for value in (1, Fraction(1, 3)):
        assert [GeometricLocal(value, K)(2 * K + k, 2) for k in range(K)] == [value * ratio**k for k in range(K)]
    assert GeometricLocal(0.5, K)(1, 0) == 0.5 * float(ratio)
    exact = GeometricLocal(Tabulated(np.array([[Fraction(1, 81)] * K])), K)(1, 0)
    assert exact.tolist() == [Fraction(1, 81) * ratio] and type(exact[0]) is Fraction


def test_local_schedules_nest_and_take_arrays():
    decayed = CyclicLinear(Geometric(1.0, 0.5), 0.0, 4)
    assert [decayed(t, t // 4) for t in range(8)] == [1, 0.75, 0.5, 0.25, 0.5, 0.375, 0.25, 0.125]
    both = CyclicLinear(np.array([1.0, 2.0]), np.array([1.0, 0.0]), 2)
    assert both(3, 1).tolist() == [1.0, 1.0]


def test_the_engine_uses_the_rates():
    data = run(make_algorithm("fedswa", eta_l=1.0, local_steps=4, rho_decay=0.2), clean(), 2, record=["eta_l"]).dataset
    np.testing.assert_allclose(data["eta_l"].values[0], [1.0, 0.8, 0.6, 0.4] * 2)


# FedMoSWA: one round (7.1-7.5) ----------------------------------------------------------------------------------------
def _free(seed):
    rng = np.random.default_rng(seed)
    return {"start": "free", "client_variate": rng.normal(size=(6, 3)), "server_variate": rng.normal(size=3)}


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 100), rho=st.floats(0, 1), K=st.integers(1, 4), gamma=st.floats(0, 1), alpha=st.floats(0, 2),
       participants=st.sampled_from([None, 1, 4]), variant=st.sampled_from(["canonical", "all-clients"]))
def test_identities_of_a_round(seed, rho, K, gamma, alpha, participants, variant):
    """7.1 (and 7.2 for K = 1), 7.3, (7) or (68), for any variates at the start."""
    method = make_algorithm("fedmoswa", eta_l=0.05, local_steps=K, rho_decay=rho, eta_g=alpha, gamma=gamma, variant=variant,
                            participants=participants, **_free(seed))
    seen = watch(method, noisy(), 4, seeds=[seed, seed + 1])
    eta = 0.05 * (1 - (1 - rho) * np.arange(K) / K)
    for t in range(4):
        before, after, active = seen.arrays[t], seen.arrays[t + 1], seen.active[t][..., None]
        s = active.sum(axis=1)
        mean_gradient = np.einsum("k,krcd->rcd", eta, seen.g[t]) / eta.sum()
        np.testing.assert_allclose(active * after["client variate"], active * mean_gradient, atol=1e-11)
        moved_by = (active * (after["client variate"] - before["client variate"])).sum(axis=1) / s + before["variate"]
        np.testing.assert_allclose(seen.x[t + 1], seen.x[t] - alpha * eta.sum() * moved_by, atol=1e-11)
        if variant == "canonical":
            fresh = (active * after["client variate"]).sum(axis=1) / s
        else:
            fresh = after["client variate"].mean(axis=1)
            np.testing.assert_allclose(after["variate_mean"], fresh, atol=1e-11)
        np.testing.assert_allclose(after["variate"], (1 - gamma) * before["variate"] + gamma * fresh, atol=1e-11)


@pytest.mark.parametrize("rho", [0.0, 0.4, 1.0])
def test_one_step_without_noise_gives_both_options(rho):
    """7.2: c_i+ is the gradient at the broadcast model."""
    arguments = MOVING | {"local_steps": 1, "rho_decay": rho, "participants": 2}
    one, two = (watch(make_algorithm("fedmoswa", **arguments, option=option), clean(), 5) for option in ("I", "II"))
    np.testing.assert_allclose(np.stack(one.x), np.stack(two.x), atol=1e-12)
    np.testing.assert_allclose(one.arrays[-1]["client variate"], two.arrays[-1]["client variate"], atol=1e-12)


def test_option_one_is_the_gradient_at_the_broadcast_model_on_samples_of_its_own():
    method = make_algorithm("fedmoswa", **MOVING, option="I")
    seen = watch(method, clean(), 2)
    at = moved(clean().gradient(clean().all_clients(torch.tensor(seen.x[1]))))
    np.testing.assert_allclose(seen.arrays[2]["client variate"], at, atol=1e-13)
    drawn = watch(make_algorithm("fedmoswa", **MOVING | {"local_steps": 1}, option="I"), noisy(), 1)
    assert np.abs(drawn.arrays[1]["client variate"] - drawn.g[0][0]).min() > 1e-6


@pytest.mark.parametrize("gamma", [0.25, 1.0])
def test_the_unrolled_variate(gamma):
    """7.4: m_t is a geometric mean of what was sampled, so it is bounded by the largest variate."""
    seen = watch(make_algorithm("fedmoswa", **MOVING | {"gamma": gamma, "participants": 2}), noisy(), 8, seeds=[1, 2, 3])
    means, largest = [], 0.0
    for t in range(8):
        c, active = seen.arrays[t + 1]["client variate"], seen.active[t][..., None]
        means.append((active * c).sum(axis=1) / 2)
        largest = np.maximum(largest, np.linalg.norm(c, axis=-1).max(axis=-1))
        expected = sum(gamma * (1 - gamma) ** (t - r) * means[r] for r in range(t + 1))
        np.testing.assert_allclose(seen.arrays[t + 1]["variate"], expected, atol=1e-12)
        assert (np.linalg.norm(seen.arrays[t + 1]["variate"], axis=-1) <= largest + 1e-12).all()


def test_full_participation_makes_the_variants_one():
    """7.5."""
    one, two = (watch(make_algorithm("fedmoswa", **MOVING, variant=variant, **_free(4)), noisy(), 6)
                for variant in ("canonical", "all-clients"))
    np.testing.assert_allclose(np.stack(one.x), np.stack(two.x), atol=1e-12)
    for before, after in zip(one.arrays, one.arrays[1:], strict=False):
        mean = after["client variate"].mean(axis=1)
        np.testing.assert_allclose(after["variate"], 0.6 * before["variate"] + 0.4 * mean, atol=1e-12)


def test_what_full_participation_conserves():
    """7.6."""
    seen = watch(make_algorithm("fedmoswa", **MOVING, **_free(6)), noisy(), 6)
    H = 0.05 * ((3 + 1) + 0.3 * (3 - 1)) / 2
    total = 0.0
    for t in range(7):
        c = seen.arrays[t]["client variate"].mean(axis=1)
        first = seen.x[0] + 1.4 * H * seen.arrays[0]["client variate"].mean(axis=1)
        np.testing.assert_allclose(seen.x[t] + 1.4 * H * c, first - 1.4 * H * total, atol=1e-11)
        total = total + seen.arrays[t]["variate"]


# FedSWA and FedMoSWA as other methods (7.7-7.11) ----------------------------------------------------------------------
def _fedavg(eta_l=0.05, eta_g=1.0, participants=None, local_steps=3):
    return FedAvg(eta_l, local_steps, sampled(participants), server=ServerStep(eta_g))


@pytest.mark.parametrize("participants", [None, 2])
def test_fedswa_is_fedavg_with_its_schedule_and_server_step(participants):
    plain = make_algorithm("fedswa", **STEPS, rho_decay=1.0, eta_g=1.0, participants=participants)
    np.testing.assert_array_equal(path(plain, noisy(), 5), path(_fedavg(participants=participants), noisy(), 5))
    full = make_algorithm("fedswa", **STEPS, rho_decay=0.3, eta_g=1.4, participants=participants)
    by_hand = _fedavg(Tabulated([0.05 * (1 - 0.7 * k / 3) for _ in range(5) for k in range(3)]), 1.4, participants)
    np.testing.assert_allclose(path(full, noisy(), 5), path(by_hand, noisy(), 5), atol=1e-14)


def test_zero_steps_freeze():
    still = path(make_algorithm("fedswa", **STEPS, eta_g=0), noisy(), 3)
    assert (still == still[0]).all()
    seen = watch(make_algorithm("fedmoswa", **MOVING | {"gamma": 0}, **_free(1)), noisy(), 3)
    for arrays in seen.arrays:
        np.testing.assert_array_equal(arrays["variate"], seen.arrays[0]["variate"])


def test_with_gamma_one_and_everybody_it_is_scaffold():
    """7.8, and m = mean of c_k throughout."""
    method = make_algorithm("fedmoswa", **MOVING | {"gamma": 1}, start="gradient")
    rates = CyclicLinear(0.05, 0.3, 3)
    other = make_algorithm("scaffold", eta_l=rates, local_steps=3, eta_g=1.4, start="gradient")
    first = watch(method, noisy(), 6)
    np.testing.assert_allclose(np.stack(first.x), path(other, noisy(), 6), atol=1e-12)
    for arrays in first.arrays:
        np.testing.assert_allclose(arrays["variate"], arrays["client variate"].mean(axis=1), atol=1e-12)


def test_one_step_everybody_gamma_one_is_gradient_descent():
    """7.9."""
    one = {"eta_l": 0.05, "local_steps": 1, "rho_decay": 0.3, "eta_g": 1.4}
    federation = clean()
    found = path(make_algorithm("fedmoswa", **one, gamma=1), federation, 6)
    np.testing.assert_allclose(found, path(make_algorithm("fedswa", **one), federation, 6), atol=1e-12)
    x = torch.tensor(start_of(federation))
    for each in found:
        np.testing.assert_allclose(each, moved(x), atol=1e-12)
        x = x - 0.05 * 1.4 * federation.objective_gradient(x)


@pytest.mark.parametrize("participants", [None, 2])
def test_the_first_round_from_zero_is_that_of_fedswa(participants):
    """7.10."""
    given = {"rho_decay": 0.3, "eta_g": 1.4, "participants": participants}
    first = path(make_algorithm("fedmoswa", **STEPS, **given), noisy(), 1)
    np.testing.assert_array_equal(first, path(make_algorithm("fedswa", **STEPS, **given), noisy(), 1))


def test_identical_clients_need_no_variates():
    """7.11."""
    twins = gathered(clean(), [2] * 6)
    method = make_algorithm("fedmoswa", **MOVING | {"gamma": 1}, start="free", client_variate=np.ones((6, 3)),
                            server_variate=np.ones(3))
    swa = make_algorithm("fedswa", **STEPS, rho_decay=0.3, eta_g=1.4)
    np.testing.assert_allclose(path(method, twins, 6), path(swa, twins, 6), atol=1e-12)


def test_fedmo_is_fedmoswa_without_decay_and_extrapolation():
    mo = make_algorithm("fedmo", **STEPS, gamma=0.4, participants=2)
    full = make_algorithm("fedmoswa", **MOVING | {"rho_decay": 1, "eta_g": 1}, participants=2)
    np.testing.assert_array_equal(path(mo, noisy(), 5), path(full, noisy(), 5))


# fixed points (7.12, 7.13, 7.16) --------------------------------------------------------------------------------------
def _at_rest(federation):
    x = moved(federation.x_star)
    return x, moved(federation.gradient(federation.all_clients(federation.x_star)))


@pytest.mark.parametrize(("name", "arguments"), [
    ("fedmoswa", MOVING), ("fedmoswa", MOVING | {"option": "I"}), ("fedmoswa", MOVING | {"variant": "all-clients"}),
    ("fedmoswa", MOVING | {"variant": "fresh"}), ("fedmoswa", MOVING | {"variant": "fresh", "batch": "same"}),
    ("scaffold", STEPS), ("scaffold", STEPS | {"sign": "standard", "option": "average-gradient", "participants": 2}),
    ("scaffold", STEPS | {"option": "I", "participants": 2}), ("scaffold-m", STEPS), ("fedmo", STEPS),
], ids=str)
def test_the_minimiser_with_its_gradients_is_a_fixed_point(name, arguments):
    """7.12; SCAFFOLD keeps it also for sampled clients, as c = 0 is then exact."""
    federation = clean()
    x, c = _at_rest(federation)
    clients = {} if arguments.get("variant") == "fresh" else {"variate": c}
    seen = watch(make_algorithm(name, **arguments), federation, 4, start=x,
                 change=with_arrays(TORCH, clients=clients))
    np.testing.assert_allclose(np.stack(seen.x), np.broadcast_to(x, (5, 1, 3)), atol=1e-12)
    np.testing.assert_allclose(seen.arrays[-1]["variate"], 0, atol=1e-12)


def test_fedmoswa_leaves_the_minimiser_when_clients_are_sampled_and_gamma_counts():
    """The other side of 7.12: the sampled mean of the c_k is not 0."""
    federation = clean()
    x, c = _at_rest(federation)
    seen = watch(make_algorithm("fedmoswa", **MOVING, participants=2), federation, 4, start=x,
                 change=with_arrays(TORCH, clients={"variate": c}))
    assert np.abs(seen.x[-1] - x).max() > 1e-3


def test_small_steps_lead_to_the_fixed_point():
    """7.12, second part: m = mean of c_k = 0, c_k = grad F_k, grad F = 0."""
    federation = clean()
    seen = watch(make_algorithm("fedmoswa", **MOVING), federation, 400)
    x, c = _at_rest(federation)
    np.testing.assert_allclose(seen.x[-1], x, atol=1e-9)
    np.testing.assert_allclose(seen.arrays[-1]["client variate"], c, atol=1e-8)
    np.testing.assert_allclose(seen.arrays[-1]["variate"], 0, atol=1e-8)


@pytest.mark.parametrize("participants", [1, 2, None])
@pytest.mark.parametrize(("name", "arguments"), [
    ("fedmoswa", MOVING), ("fedswa", STEPS), ("scaffold", STEPS), ("fedcm", STEPS), ("fedavg-m", STEPS)], ids=str)
def test_interpolation_is_a_fixed_point_for_every_sample(name, arguments, participants):
    """7.13."""
    base = clean()
    same = shifted_centers(base, moved(base.center[0, :1]) - moved(base.center[0]))
    seen = watch(make_algorithm(name, **arguments, participants=participants), same, 4, start=moved(same.center[0, :1]))
    np.testing.assert_allclose(np.stack(seen.x), np.broadcast_to(moved(same.center[0, :1]), (5, 1, 3)), atol=1e-14)


def test_where_fedswa_rests():
    """7.16: with one step, or equal curvatures; not otherwise."""
    rest = {"start": moved(clean().x_star)}
    assert np.ptp(path(make_algorithm("fedswa", eta_l=0.1), clean(), 3, **rest), axis=0).max() < 1e-12
    equal = clean(hessian_spread=0.0)
    swa = make_algorithm("fedswa", **STEPS, rho_decay=0.3)
    assert np.ptp(path(swa, equal, 3, start=moved(equal.x_star)), axis=0).max() < 1e-12
    assert np.ptp(path(swa, clean(), 3, **rest), axis=0).max() > 1e-3


def test_equal_curvatures_hide_the_minimisers():
    """7.15: FedSWA is gradient descent on F, then the server step; FedMoSWA depends on the mean of the minimisers only."""
    federation = clean(hessian_spread=0.0)
    spread = np.random.default_rng(7).normal(size=(6, 3))
    other = shifted_centers(federation, spread - spread.mean(axis=0))
    for name, arguments in (("fedswa", STEPS | {"rho_decay": 0.3}), ("fedmoswa", MOVING)):
        first, second = (path(make_algorithm(name, **arguments), f, 5) for f in (federation, other))
        np.testing.assert_allclose(first, second, atol=1e-12)
    x = torch.tensor(start_of(federation))
    for each in path(make_algorithm("fedswa", **STEPS, rho_decay=0.3, eta_g=1.4), federation, 5):
        np.testing.assert_allclose(each, moved(x), atol=1e-12)
        y = x
        for k in range(3):
            y = y - 0.05 * (1 - 0.7 * k / 3) * federation.objective_gradient(y)
        x = x + 1.4 * (y - x)


# the server step (7.22) and sampling (7.24, 7.25) ---------------------------------------------------------------------
@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.7])
def test_the_server_s_model_is_a_mean_of_averages(alpha):
    seen = watch(make_algorithm("fedswa", **STEPS, eta_g=alpha, participants=2), noisy(), 6)
    averages = [(seen.active[t][..., None] * seen.ends[t]).sum(axis=1) / 2 for t in range(6)]
    for t in range(7):
        weights = [alpha * (1 - alpha) ** (t - 1 - r) for r in range(t)]
        expected = (1 - alpha) ** t * seen.x[0] + sum(w * v for w, v in zip(weights, averages, strict=False))
        np.testing.assert_allclose(seen.x[t], expected, atol=1e-12)
        assert (1 - alpha) ** t + sum(weights) == pytest.approx(1)


def test_sampled_rounds_are_unbiased():
    """7.25: the mean over all subsets is the step of everybody; in a run of several rounds it is not exactly so."""
    method = make_algorithm("fedswa", **STEPS, rho_decay=0.3, eta_g=1.4, participants=2)
    tables = sequences(6, 2, 1)
    start = np.repeat(start_of(clean()), len(tables), axis=0)
    seen = watch(method, clean(), 1, draws=subsets(tables), start=start)
    everybody = watch(make_algorithm("fedswa", **STEPS, rho_decay=0.3, eta_g=1.4), clean(), 1)
    np.testing.assert_allclose(seen.x[1].mean(axis=0), everybody.x[1][0], atol=1e-13)
    rates = 0.05 * (1 - 0.7 * np.arange(3) / 3)
    virtual = np.einsum("k,krcd->rd", rates, everybody.g[0]) / 6
    np.testing.assert_allclose(everybody.x[1], everybody.x[0] - 1.4 * virtual, atol=1e-13)


def test_additive_noise_averages_out_on_quadratics():
    """7.24: noise and its mirror image around the noiseless run."""
    loud = noisy()
    mirrored = noisy()
    mirrored.noise = type(loud.noise)(-loud.noise.scale)
    for name, arguments in (("fedmoswa", MOVING), ("scaffold", STEPS), ("fedcm", STEPS)):
        method = make_algorithm(name, **arguments, participants=2)
        plus, minus, none = (path(method, f, 5) for f in (loud, mirrored, clean()))
        np.testing.assert_allclose((plus + minus) / 2, none, atol=1e-12)
        assert np.abs(plus - none).max() > 1e-3


# starts and the variant fresh -----------------------------------------------------------------------------------------
def test_starts():
    """3.4 e."""
    federation = noisy()
    arrays = {start: watch(make_algorithm("fedmoswa", **MOVING, start=start), federation, 1).arrays[0]
              for start in ("zero", "gradient", "gradient-clients-only")}
    for array in ("variate", "client variate"):
        assert not arrays["zero"][array].any()
    c = arrays["gradient"]["client variate"]
    np.testing.assert_array_equal(c, arrays["gradient-clients-only"]["client variate"])
    exact = moved(federation.gradient(federation.all_clients(torch.tensor(start_of(federation)))))
    assert np.abs(c - exact).max() < 2 and np.abs(c - exact).min() > 1e-6
    np.testing.assert_allclose(arrays["gradient"]["variate"], c.mean(axis=1), atol=1e-15)
    assert not arrays["gradient-clients-only"]["variate"].any()
    free = watch(make_algorithm("fedmoswa", **MOVING, **_free(3)), federation, 1).arrays[0]
    np.testing.assert_array_equal(free["variate"][0], _free(3)["server_variate"])
    np.testing.assert_array_equal(free["client variate"][0], _free(3)["client_variate"])


def test_fresh_variates_are_gradients_at_the_model_of_the_round():
    """m_t = (1 - gamma) m_(t-1) + gamma * mean of g_k(x), used in the same round."""
    seen = watch(make_algorithm("fedmoswa", **MOVING | {"variant": "fresh", "gamma": 0.4}), clean(), 4)
    eta = 0.05 * (1 - 0.7 * np.arange(3) / 3)
    for t in range(4):
        c = moved(clean().gradient(clean().all_clients(torch.tensor(seen.x[t]))))
        m = 0.6 * seen.arrays[t]["variate"] + 0.4 * c.mean(axis=1)
        np.testing.assert_allclose(seen.arrays[t + 1]["variate"], m, atol=1e-13)
        ends = seen.x[t][:, None] - np.einsum("k,krcd->rcd", eta, seen.g[t] - c + m[:, None])
        np.testing.assert_allclose(seen.ends[t], ends, atol=1e-12)
    same = path(make_algorithm("fedmoswa", **MOVING | {"variant": "fresh", "batch": "same", "gamma": 0.4}), clean(), 4)
    np.testing.assert_allclose(same, np.stack(seen.x), atol=1e-12)


def test_fresh_variates_on_the_same_samples_cancel_additive_noise():
    """Local steps are then noiseless up to m, which is common to all clients."""
    federation = noisy()
    same, other = (watch(make_algorithm("fedmoswa", **MOVING | {"variant": "fresh", "batch": batch}), federation, 1)
                   for batch in ("same", "independent"))
    start, m = torch.tensor(same.x[0]), same.arrays[1]["variate"][:, None]
    first = same.x_local[0][1] - same.x[0][:, None]  # after one step: rate times m, as g - c = 0 there
    np.testing.assert_allclose(first, np.broadcast_to(-0.05 * m, first.shape), atol=1e-13)
    assert np.abs(other.x_local[0][1] - moved(start)[:, None] + 0.05 * other.arrays[1]["variate"][:, None]).max() > 1e-3


# input ----------------------------------------------------------------------------------------------------------------
BAD = {
    "option": (lambda: make_algorithm("scaffold", option="III"), "unknown option 'III'; allowed: I, II, average-gradient"),
    "sign": (lambda: make_algorithm("scaffold", sign="plus"), "unknown sign 'plus'; allowed: standard, printed-eq3"),
    "start": (lambda: make_algorithm("scaffold", start="warm"), "unknown start 'warm'"),
    "variate without free": (lambda: make_algorithm("fedmoswa", client_variate=np.zeros((6, 3))), "'free-mean'; got 'zero'"),
    "variate shape": (lambda: path(make_algorithm("fedmoswa", start="free", client_variate=np.zeros((5, 3))), clean(), 1),
                      r"client_variate.*\(6, 3\).*\(1, 6, 3\).*got \(5, 3\)"),
    "average gradients": (lambda: make_algorithm("fedmoswa", option="average-gradient"), "allowed: I, II"),
    "gamma": (lambda: make_algorithm("fedmoswa", gamma=-0.1), "gamma.* 0.*got -0.1"),
    "variant": (lambda: make_algorithm("fedmoswa", variant="new"), "unknown variant 'new'; allowed: canonical, all-clients"),
    "batch": (lambda: make_algorithm("fedmoswa", variant="fresh", batch="old"), "unknown batch 'old'; allowed: independent"),
    "fresh and sampled": (lambda: make_algorithm("fedmoswa", variant="fresh", participants=2), "allowed: participants=None"),
    "fresh with variates": (lambda: make_algorithm("fedmoswa", variant="fresh", start="gradient"), "got 'gradient'"),
    "fresh on the same samples": (lambda: Algorithm(correction=FreshVariates(batch="same")), "'same' with GradientOracle"),
    "rho": (lambda: make_algorithm("fedswa", rho_decay=1.5), "rho_decay.* 0 .*1.*got 1.5"),
    "schedule": (lambda: make_algorithm("fedswa", schedule="cosine"), "unknown schedule 'cosine'; allowed: cyclic-linear"),
    "one geometric step": (lambda: make_algorithm("fedswa", schedule="geometric-h1"), "local_steps.* 2.*got 1"),
    "momentum": (lambda: make_algorithm("fedavg-m", momentum="nesterov"), "allowed: broadcast, heavy-ball"),
    "momentum without its server": (lambda: Algorithm(client=BroadcastMomentum()), "allowed: KeepsDirection"),
    "beta": (lambda: make_algorithm("fedcm", beta="some"), "beta.* 0.*got 'some'"),
    "unequal local steps": (lambda: make_algorithm("fedcm", local_steps=2).having(client_steps=np.array([1, 2])),
                            "``local_steps``"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_clear_line(case):
    action, message = BAD[case]
    with pytest.raises(ValueError, match=message) as caught:
        action()
    assert "\n" not in str(caught.value)
