"""A claim beside sampled runs: both sides by hand, what is not applicable, what decides, and what e-values refute."""

import numpy as np
import pytest
import sympy as sp

from bounds.controls.fedavg import control
from bounds.language.claim import Condition
from bounds.language.operators import E, F_star, L, eta_l, iterations, norm2, objective, sigma_sq, t, x_sampled, x_star
from bounds.registry.claims import find_claim
from fedtheory import FedAvg, InverseTime, Tabulated, run
from fedtheory.observables import DEFAULT
from synthetic import make_quadratic, to_numpy
from verify.claims.method import selection_of
from verify.evidence.beside_runs import compare
from verify.evidence.eprocess import REFUTES

STEPS, ROUNDS, SEEDS = 2, 6, 64
#: what the test computes sides from
RECORD = ("x", "included", "eta_l", "weighted_gradient_sq")
THEOREM = find_claim("fedalign/theorem-1")


def federation_with(noise="gaussian", sigma=0.5, **others):
    return make_quadratic(**{"clients": 4, "dim": 2, "L": 4.0, "mu": 1.0, "priority": [0, 1], "noise": noise, "sigma": sigma,
                             "seed": 2} | others)


def trajectory_of(federation, eta=None, steps=STEPS, rounds=ROUNDS, epsilon=1.0, seeds=SEEDS, record=RECORD):
    """FedALIGN from x* + (1, 1), by default with the steps of theorem 1."""
    if eta is None:
        smooth, convex = (float(to_numpy(federation.constants.value(name)).max()) for name in ("L", "mu"))
        eta = InverseTime(convex, max(8 * smooth / convex, steps))
    algorithm = FedAvg(eta, steps, selection_of(THEOREM.procedure, 1, epsilon))
    start = to_numpy(federation.x_star)[0] + 1.0
    return run(algorithm, federation, rounds, start=start, seeds=range(seeds), record=record)


# both sides --------------------------------------------------------------------------------------------------------------
def test_both_sides_of_theorem_1_by_hand():
    """Every symbol of (6)-(8) computed here from the recorded arrays, at each round of the series."""
    federation = federation_with()
    trajectory = trajectory_of(federation)
    data = trajectory.dataset
    series = compare(THEOREM, trajectory).series
    smooth, convex = (to_numpy(federation.constants.value(name)).reshape(-1) for name in ("L", "mu"))
    L_, mu_ = smooth.max(), convex.min()
    assert (L_, mu_) == pytest.approx((4.0, 1.0))
    p, priority, x_opt = (to_numpy(v)[0] for v in (federation.weights, federation.priority, federation.x_star))
    curvature, center, offset = (to_numpy(v)[0] for v in (federation.curvature, federation.center, federation.offset))

    def losses(v):
        return ((curvature * (v - center) ** 2).sum(axis=-1) / 2 + offset) if curvature.ndim == 2 else (
            np.einsum("kd,kde,ke->k", v - center, curvature, v - center) / 2 + offset)

    star = (p * priority) @ losses(x_opt)
    gap = losses(x_opt) - offset
    heterogeneity = star - (p * priority) @ offset
    assert series.x[0] == 1 and series.x[-1] == ROUNDS and len(series.x) >= 5 and not series.decides
    for position, rounds in enumerate(series.x):
        T = STEPS * rounds
        ends = data["x"].transpose("run", "round", "dim").values[:, rounds]
        left = np.mean([(p * priority) @ losses(v) for v in ends]) - star
        offset_ = max(8 * L_ / mu_, STEPS)
        included = data["included"].transpose("run", "step_round", "client").values.astype(float).repeat(STEPS, axis=1)
        mass = (included * p * ~priority).sum(axis=-1)
        chi, psi = 1 / (1 + mass), (included * p * ~priority * gap).sum(axis=-1) / (1 + mass)
        theta = chi[:, 1:T].mean(axis=0).sum() / (T + offset_ - 2)
        rho = 2 * L_ / (mu_ * (T + offset_ - 2)) * psi[:, 1:T].mean(axis=0).sum()
        G_sq = data["weighted_gradient_sq"].transpose("run", "iteration").values[:, :T].mean(axis=0).max()
        variance = to_numpy(federation.constants.value("sigma_sq_client")).max()
        first = 2 * L_ / mu_**2 * (variance + 8 * (STEPS - 1) ** 2 * G_sq) + 4 * L_**2 / mu_ * 2.0  # |(1, 1)|^2 = 2
        right = (first + 12 * L_**2 / mu_**2 * theta * heterogeneity) / (T + offset_) + rho
        assert (series.left[position], series.right[position]) == pytest.approx((left, right), rel=1e-9)
        assert series.left_low[position] < left < series.left_high[position]


def test_the_points_of_a_long_series_are_few_and_end_at_the_end():
    series = compare(THEOREM, trajectory_of(federation_with(), rounds=40, seeds=4), points=6).series
    assert len(series.x) <= 6 and series.x[0] == 1 and series.x[-1] == 40
    assert len(series.left) == len(series.right) == len(series.left_low) == len(series.x)


# what is not applicable --------------------------------------------------------------------------------------------------
def test_steps_off_the_schedule_are_not_applicable():
    result = compare(THEOREM, trajectory_of(federation_with(), eta=Tabulated(np.full(STEPS * ROUNDS, 0.05))))
    assert result.verdict == "not applicable" and result.series.note == result.reason and not result.series.decides
    assert "eta_l[t]" in result.reason and "= 0.0625" in result.reason and result.reason.endswith("got 0.05")


def test_free_clients_that_the_claim_does_not_have_are_not_applicable():
    claim = control("no-free", "run", Condition(E(norm2(x_sampled[iterations] - x_star)), "<=", 1))
    result = compare(claim, trajectory_of(federation_with(), rounds=2, seeds=2))
    assert result.verdict == "not applicable" and "free clients" in result.reason


def test_nothing_to_draw_is_said(tmp_path):
    nothing = control("nothing", "run", Condition(E(norm2(x_sampled[iterations] - x_star)), "<=", sp.Symbol("nobody")))
    result = compare(nothing, trajectory_of(federation_with()))
    with pytest.raises(ValueError, match=r"nothing to draw: .*nothing supplies 'nobody'"):
        result.plot(tmp_path / "figure.png")


@pytest.mark.parametrize(("claim_id", "words"), [
    ("fedalign/step-T12", "is not about runs; its setting is 'point'"), ("fedalign/step-T17", "is not about runs"),
    ("fedalign/claim-without-replacement", "has no two sides"),
    ("classical/sgd-stability-distance", "neighbouring data sets"),
])
def test_only_statements_about_runs(claim_id, words):
    with pytest.raises(ValueError, match=rf"^{claim_id} .*{words}"):
        compare(claim_id, trajectory_of(federation_with(), rounds=1, seeds=2))


def test_gradients_bounded_a_priori_need_no_record():
    bounded = federation_with(noise="sphere")
    every, few = (compare(THEOREM, trajectory_of(bounded, seeds=8, record=names)) for names in (RECORD, DEFAULT))
    assert few.series.decides and few.series.right == every.series.right


def test_an_unknown_claim_or_number_is_refused():
    with pytest.raises(LookupError, match="unknown claim"):
        compare("fedalign/theorem-7", trajectory_of(federation_with(), rounds=1, seeds=2))
    with pytest.raises(ValueError, match="does not leave 'eta_g' free; free: none"):
        compare(THEOREM, trajectory_of(federation_with(), rounds=1, seeds=2), values={"eta_g": 2})


# what decides ------------------------------------------------------------------------------------------------------------
def test_an_estimated_constant_decides_nothing():
    """With Gaussian noise and several local steps G is only measured; even a bound far too small is not refuted."""
    tiny = control("tiny-with-G", "run", Condition(
        E(objective(x_sampled[iterations])) - F_star, "<=", THEOREM.statement.right * 1e-9),
        assumptions=THEOREM.assumptions, conditions=THEOREM.conditions, procedure=THEOREM.procedure,
        definitions=THEOREM.definitions)
    result = compare(tiny, trajectory_of(federation_with()))
    assert result.verdict == "undecided" and result.ratio > 1 and result.e_value == 1.0
    assert not result.series.decides and not result.tested


@pytest.mark.parametrize("noise, steps, decides", [
    ("gaussian", 1, True), ("gaussian", 2, False), ("sphere", 1, True), ("sphere", 2, True), ("two-point", 2, True),
])
def test_where_G_is_known_or_does_not_matter_it_decides(noise, steps, decides):
    result = compare(THEOREM, trajectory_of(federation_with(noise), steps=steps, epsilon=0.0))
    assert result.series.decides == decides
    assert result.verdict == ("consistent" if decides else "undecided")


# e-values ----------------------------------------------------------------------------------------------------------------
def squared_distance(factor, name):
    """E|x_T - x*|^2 <= factor * (stationary variance of one client's SGD), for eta = 1/(2 L) and start at the optimum."""
    stationary = sigma_sq * eta_l[0] / (L * (2 - eta_l[0] * L))
    return control(name, "run", Condition(E(norm2(x_sampled[iterations] - x_star)), "<=", factor * stationary),
                   conditions=(Condition(eta_l[t], "<=", 1 / L, ((t, 0, iterations - 1),)),))


@pytest.mark.parametrize("factor, verdict", [(1.01, "consistent"), (2.0, "consistent"), (0.5, "refuted"), (0.1, "refuted")])
def test_a_false_bound_on_an_expectation_is_refuted(factor, verdict):
    """One client, one step, F = |w|^2 / 2 * L: after many steps the variance is sigma^2 eta / (L (2 - eta L)) exactly.

    The true rows may fail with probability below 1e-6 each (the e-value), and the seeds are fixed.
    """
    federation = make_quadratic(clients=1, dim=2, L=2.0, mu=2.0, noise="gaussian", sigma=1.0, seed=0)
    algorithm = FedAvg(Tabulated(np.full(60, 0.25)), 1, selection_of(None))
    trajectory = run(algorithm, federation, 60, start=to_numpy(federation.x_star)[0], seeds=range(512), record=RECORD)
    result = compare(squared_distance(factor, "stationary"), trajectory, points=4)
    assert result.verdict == verdict and result.series.decides
    assert result.tested and (result.e_value > REFUTES) == (verdict == "refuted")
    assert result.ratio == pytest.approx(1 / factor, rel=0.15)


def test_a_side_that_varies_between_runs_forms_no_e_value():
    """The threshold admits a free client in some runs and not in others, so that theta and rho differ."""
    federation = federation_with(sigma=2.0)
    losses = to_numpy(federation.value(federation.all_clients(federation.x_star)))[0]
    gap = abs(losses - to_numpy(federation.F_star)[0])[~to_numpy(federation.priority)[0]].min()
    result = compare(THEOREM, trajectory_of(federation, steps=1, epsilon=float(gap), rounds=20))
    assert result.e_value == 1.0 and result.series.decides and not result.tested


def test_a_figure_is_written(tmp_path):
    result = compare(THEOREM, trajectory_of(federation_with(), rounds=4, seeds=4))
    paths = result.plot(tmp_path / "figure.svg")
    assert {p.suffix for p in paths.values()} == {".svg"} and all(p.stat().st_size for p in paths.values())
