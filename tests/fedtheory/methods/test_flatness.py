"""Methods that look for flat minima: FedASAM with averages of models, FedLESAM, MoFedSAM."""

from fractions import Fraction

import numpy as np
import pytest

from fedtheory import Algorithm, make_algorithm, run
from fedtheory.algorithms.fedasam import AdaptivelySharp, CyclicRounds, WeightAverage
from fedtheory.round_context import ClientState, RoundContext
from fedtheory.schedules import Geometric
from synthetic import Draws, NoNoise, Quadratic
from synthetic.numbers.arrays import EXACT, TORCH
from tests.fedtheory.conformance.adaptive_cases import mean_of_active
from tests.fedtheory.federations import moved, variant
from tests.fedtheory.methods.common import (
    SEEDS,
    check_all,
    clean,
    maker,
    noisy,
    path,
    start_of,
    subsets,
    watch,
)

ROWS = {
    "fedsam": maker("fedsam", local_steps=2, rho_sam=0.3),
    "fedasam": maker("fedasam", local_steps=2, rho_sam=0.3, nu=0.2, eta_g=0.5),
    "fedasam averages": maker("fedasam", local_steps=2, rho_sam=0.3, swa_start=1, swa_cycle=2),
    "fedlesam": maker("fedlesam", local_steps=2, rho_sam=0.3, eta_g=0.5),
    "mofedsam": maker("mofedsam", local_steps=2, rho_sam=0.3, beta=0.4, eta_g=0.5),
}


def same(a, b, tolerance=1e-11):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


#: models down and up and gradients of a participant
COSTS = dict.fromkeys(("fedsam", "fedasam", "fedasam averages"), (1, 1, 4)) | {"fedlesam": (1, 1, 2), "mofedsam": (2, 1, 4)}


@pytest.mark.parametrize("row", ROWS)
def test_what_every_row_owes(row, tmp_path):
    check_all(ROWS[row], tmp_path, costs=COSTS[row])


REDUCTIONS = {
    "fedasam of radius 0": (maker("fedasam", rho_sam=0.0), maker("fedavg")),
    "fedlesam of radius 0": (maker("fedlesam", rho_sam=0.0), maker("fedavg")),
    "mofedsam of radius 0": (maker("mofedsam", rho_sam=0.0, beta=0.3), maker("fedcm", beta=0.3)),
    "mofedsam without momentum": (
        maker("mofedsam", rho_sam=0.3, beta=1.0, eta_g=0.5), maker("fedsam", rho_sam=0.3, eta_g=0.5)),
    "averages that have not begun": (maker("fedasam", rho_sam=0.3, swa_start=6), maker("fedasam", rho_sam=0.3)),
}


@pytest.mark.parametrize("row", REDUCTIONS)
@pytest.mark.parametrize("participants", [None, 2])
def test_special_cases(row, participants):
    first, second = (path(make(local_steps=3, participants=participants), noisy(), 6) for make in REDUCTIONS[row])
    same(first, second)


# FedASAM -------------------------------------------------------------------------------------------------------------------
def uphill(nu, x, g, radius=0.5):
    """The point at which FedASAM takes its second gradient, at ``x`` with the gradient ``g``, both (dim,)."""
    asked = []

    def gradient(point):
        asked.append(point)
        return TORCH.array([[g]])

    federation = clean(clients=1, dim=len(x))
    context = RoundContext(Algorithm(), federation, Draws([0]), 0, 0, TORCH.array([x]))
    AdaptivelySharp(radius, nu).gradient(ClientState(TORCH.array([[x]])), gradient, context)
    return moved(asked[1])[0, 0]


def test_the_perturbation_by_hand():
    """T = (3, 4) + 1 = (4, 5), T g = (4, 0): x moves by r T^2 g / |T g| = (r 16 / 4, 0); signs do not matter."""
    same(uphill(1.0, [3.0, 4.0], [1.0, 0.0]), [5.0, 4.0])
    same(uphill(1.0, [-3.0, 4.0], [-1.0, 0.0]), [-5.0, 4.0])
    T, g = np.array([2.0, 1.0]), np.array([3.0, -8.0])
    same(uphill(0.0, [2.0, -1.0], g), [2.0, -1.0] + 0.5 * T**2 * g / 10)
    same(uphill(0.0, [2.0, -1.0], [0.0, 0.0]), [2.0, -1.0])


def test_the_perturbation_scales_with_every_coordinate():
    """With nu = 0, for scales D: the perturbed point of F(x / D) at D x is D times that of F at x."""
    x, g, D = np.array([1.0, -2.0, 0.5]), np.array([0.3, 1.0, -2.0]), np.array([10.0, 0.1, -3.0])
    same(uphill(0.0, D * x, g / D), D * uphill(0.0, x, g))
    assert np.abs(uphill(0.1, D * x, g / D) - D * uphill(0.1, x, g)).max() > 1e-3


@pytest.mark.parametrize("participants", [None, 2])
def test_a_large_nu_leads_to_fedsam(participants):
    """The radius is then rho_sam * nu; the difference falls like 1 / nu."""
    options, found = {"local_steps": 2, "participants": participants}, []
    expected = path(make_algorithm("fedsam", rho_sam=0.3, **options), noisy(), 5)
    for nu in (1e3, 1e4):
        method = make_algorithm("fedasam", rho_sam=0.3 / nu, nu=nu, **options)
        found.append(np.abs(path(method, noisy(), 5) - expected).max())
    assert found[0] < 1e-2 and found[0] / found[1] == pytest.approx(10, rel=0.05)


def test_fedasam_takes_both_gradients_on_the_same_samples():
    seen = watch(make_algorithm("fedasam", eta_l=0.1, rho_sam=0.3, nu=0.2), noisy(), 1)
    calm = watch(make_algorithm("fedavg", eta_l=0.1), variant(noisy(), noise=NoNoise()), 1)
    noise = seen.g[0][0] - calm.g[0][0]
    second = (seen.x_local[0][0] - seen.ends[0]) / 0.1
    T = np.abs(seen.x_local[0][0]) + 0.2
    step = T**2 * seen.g[0][0] / np.linalg.norm(T * seen.g[0][0], axis=-1, keepdims=True)
    point = TORCH.array(seen.x_local[0][0] + 0.3 * step)
    same(second, moved(clean().gradient(point)) + noise)


# averages of models --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("start", "cycle"), [(0, 1), (0, 2), (2, 3), (3, 1), (9, 2)])
def test_averages_of_models(start, cycle):
    """The model at the start, and those at the ends of the cycles; clients never see the mean."""
    method = Algorithm(0.1, 2, server=WeightAverage(0.7, start, cycle))
    seen = watch(method, noisy(), 8)
    plain = watch(make_algorithm("fedavg", local_steps=2, eta_g=0.7), noisy(), 8)
    same(np.stack(seen.x), np.stack(plain.x))
    for t in range(9):
        kept = [seen.x[t]] if t <= start else [seen.x[r] for r in range(start, t + 1) if (r - start) % cycle == 0]
        same(seen.out[t], np.mean(kept, axis=0))


def test_averages_are_what_is_recorded_and_run_on_fractions():
    method = Algorithm(0.5, 1, server=WeightAverage(start=1))
    federation = Quadratic([[[1.0]]], [[[1.0]]], backend=EXACT)
    assert run(method, federation, 4, record=["x"]).dataset["x"].values.ravel().tolist() == [
        0, 0.5, 0.625, Fraction(17, 24), Fraction(49, 64)]


def test_averages_of_noisy_models_lie_nearer_to_the_optimum():
    gap = {}
    for start in (None, 40):
        method = make_algorithm("fedasam", eta_l=0.2, rho_sam=0.0, swa_start=start, swa_cycle=1)
        data = run(method, noisy(), 240, seeds=40, start=start_of(noisy()), record=["suboptimality"]).dataset
        gap[start] = data["suboptimality"].values[:, -1].mean()
    assert gap[40] < 0.3 * gap[None]


def test_the_rate_falls_in_cycles():
    """fedmoswa 3.6: gamma(i) = (1 - t) gamma_1 + t gamma_2 with t(i) = (mod(i - 1, c) + 1) / c, i counted from the start."""
    eta, first, last, c, start = 0.2, 0.2, 0.05, 4, 3
    data = run(make_algorithm("fedasam", eta_l=eta, swa_start=start, swa_cycle=c, swa_ratio=last / first, local_steps=2),
               clean(), 12, record=["eta_l"]).dataset["eta_l"].values[0]
    expected = []
    for r in range(12):
        i = r - start + 1
        t = 0 if i < 1 else ((i - 1) % c + 1) / c
        expected += [(1 - t) * first + t * last] * 2
    same(data, expected)
    assert [CyclicRounds(0.2, 0.1, 0, 1)(0, r) for r in range(3)] == [0.2] * 3
    inner = CyclicRounds(Geometric(1.0, 0.5), 0.5, 0, 2)
    assert [inner(0, r) for r in range(3)] == [0.75, 0.25, 0.1875]


# FedLESAM and MoFedSAM -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("participants", [None, 2])
def test_fedlesam_by_hand(participants):
    """One gradient a step, uphill by the way from now to the model of the client's last participation."""
    seen = watch(make_algorithm("fedlesam", eta_l=0.1, local_steps=2, rho_sam=0.3, participants=participants), noisy(), 8,
                 seeds=SEEDS, start=start_of(noisy(), 3))
    old, known, moves = np.repeat(seen.x[0][:, None], 6, axis=1), np.zeros((3, 6, 1)), 0
    calm = clean()
    draws = Draws(SEEDS)
    for t in range(8):
        way = old - seen.x[t][:, None]
        length = np.linalg.norm(way, axis=-1, keepdims=True)
        step = 0.3 * known * way / np.where(length > 0, length, 1)
        for k in range(2):
            point = TORCH.array(seen.x_local[t][k] + step)
            expected = moved(calm.gradient(point) + noisy().noise.sample(draws, 2 * t + k, point))
            same(seen.g[t][k], expected)
        here = np.broadcast_to(seen.x[t][:, None], old.shape)
        old = np.where(seen.active[t][..., None], here, old)
        known = np.maximum(known, seen.active[t][..., None])
        same(known * seen.arrays[t + 1]["client last_received"], known * old, 0)
        moves += (known * length > 0).sum()
        same(seen.x[t + 1], mean_of_active(seen, t))
    assert moves > 20


def test_the_first_participation_has_no_perturbation():
    """Also in a later round, when the model is no longer the first."""
    tables = [[[0, 1], [2, 3], [4, 5]]]
    first, second = (path(make_algorithm(name, local_steps=2, participants=2, **more), clean(), 3, draws=subsets(tables))
                     for name, more in (("fedlesam", {"rho_sam": 5.0}), ("fedavg", {})))
    np.testing.assert_array_equal(first, second)


def test_mofedsam_by_hand():
    method = make_algorithm("mofedsam", eta_l=0.1, local_steps=2, rho_sam=0.3, beta=0.4, eta_g=0.5, participants=3)
    seen = watch(method, noisy(), 6)
    M, calm, draws = 0 * seen.x[0], clean(), Draws([3])
    for t in range(6):
        for k in range(2):
            g, x = seen.g[t][k], seen.x_local[t][k]
            point = TORCH.array(x + 0.3 * g / np.linalg.norm(g, axis=-1, keepdims=True))
            sharp = moved(calm.gradient(point) + noisy().noise.sample(draws, 2 * t + k, point))
            here = seen.x_local[t][1] if k == 0 else seen.ends[t]
            same(here, x - 0.1 * (0.4 * sharp + 0.6 * M[:, None]))
        M = (seen.x[t] - mean_of_active(seen, t)) / 0.2
        same(seen.x[t + 1], seen.x[t] - 0.5 * 0.2 * M)


# hyper-parameters ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["fedasam", "fedlesam", "mofedsam"])
def test_one_radius_per_run(name):
    radii, start = np.array([0.0, 0.2, 0.5]), start_of(noisy(), 3)
    together = path(make_algorithm(name, rho_sam=radii, local_steps=2), noisy(), 4, seeds=SEEDS, start=start)
    for i, radius in enumerate(radii):
        single = path(make_algorithm(name, rho_sam=float(radius), local_steps=2), noisy(), 4, seeds=SEEDS[i : i + 1],
                      start=start[i : i + 1])
        same(single[:, 0], together[:, i], 1e-13)


@pytest.mark.parametrize(("options", "message"), [
    ({"name": "fedasam", "nu": -1.0}, "^nu .* 0.*got -1.0"),
    ({"name": "fedasam", "rho_sam": "big"}, "rho_sam.* 0.*got 'big'"),
    ({"name": "fedasam", "swa_start": -1}, "start.* 0.*got -1"),
    ({"name": "fedasam", "swa_start": 0, "swa_cycle": 0}, "cycle.* 1.*got 0"),
    ({"name": "fedasam", "swa_start": 0, "swa_ratio": 1.5}, "ratio.* 1.*got 1.5"),
    ({"name": "fedlesam", "rho_sam": -0.1}, "rho_sam.* 0.*got -0.1"),
    ({"name": "mofedsam", "beta": -0.1}, "beta.* 0.*got -0.1"),
])
def test_a_bad_hyper_parameter_is_one_clear_line(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        make_algorithm(**options)
    assert "\n" not in str(caught.value)
