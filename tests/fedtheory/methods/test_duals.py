"""FedPD, FedADMM, FedDyn, A-FedPD and their relatives: what afedpd 7 says of them, local solvers, and costs."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import Geometric, UploadFilter, make_algorithm, run, sampled
from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.afedpd import VirtualDuals
from fedtheory.algorithms.fedadmm import StalePrimalDual
from fedtheory.algorithms.feddyn import GlobalDual
from fedtheory.algorithms.fedpd import PrimalDual
from fedtheory.algorithms.fedprox import Proximal
from fedtheory.algorithms.fedsmoo import CommonPerturbation, DynamicPerturbation
from fedtheory.parts import Correction, ServerOptimiser
from fedtheory.solvers import ExactSolve, ToTolerance
from synthetic import NUMPY, TORCH, Quadratic
from tests.fedtheory.federations import FEDERATIONS, gathered, moved
from tests.fedtheory.methods.common import (
    SEEDS,
    check_all,
    clean,
    maker,
    noisy,
    path,
    rotated,
    scaled,
    start_of,
    subsets,
    watch,
    with_arrays,
)
from tests.not_empty import not_empty

RHO = 1.5
STEPS = {"eta_l": 0.05, "local_steps": 3, "rho_prox": RHO}
EXACT_SOLVE = {"rho_prox": RHO, "solver": "exact"}
TOLERANT = {"rho_prox": RHO, "solver": "tolerance", "epsilon": 1e-4, "eta_l": 0.1}

#: method, arguments, models down and up and gradients per participant (afedpd 3), runs on fractions
ROWS = {
    "fedpd": ("fedpd", STEPS, 1, 1, 3, True),
    "fedpd, exact": ("fedpd", EXACT_SOLVE, 1, 1, 0, True),
    "fedadmm": ("fedadmm", STEPS, 1, 1, 3, True),
    "fedadmm, stale": ("fedadmm", STEPS | {"variant": "stale"}, 1, 1, 3, True),
    "fedadmm, exact": ("fedadmm", EXACT_SOLVE, 1, 1, 0, True),
    "fedadmm, stale, tolerance": ("fedadmm", TOLERANT | {"variant": "stale"}, 1, 1, 0, True),
    "feddyn": ("feddyn", STEPS, 1, 1, 3, True),
    "feddyn, printed": ("feddyn", STEPS | {"order": "printed"}, 1, 1, 3, True),
    "feddyn, exact": ("feddyn", EXACT_SOLVE, 1, 1, 0, True),
    "afedpd": ("afedpd", STEPS, 2, 1, 3, True),
    "afedpd, server": ("afedpd", STEPS | {"output": "server"}, 2, 1, 3, True),
    "afedpd, exact": ("afedpd", EXACT_SOLVE, 2, 1, 0, True),
    "afedpd, tolerance": ("afedpd", TOLERANT, 2, 1, 0, True),
    "afedpdsam": ("afedpdsam", STEPS, 2, 1, 6, False),
    "afedpdsam, softened": ("afedpdsam", STEPS | {"sam_eps": 0.01}, 2, 1, 6, False),
    "fedspeed": ("fedspeed", STEPS | {"alpha": 0.7}, 1, 1, 6, True),
    "fedsmoo": ("fedsmoo", STEPS, 2, 2, 6, False),
    "fedsmoo, s_hat": ("fedsmoo", STEPS | {"sent": "s_hat", "order": "printed"}, 2, 2, 6, False),
}
MAKERS = {row: maker(name, **arguments) for row, (name, arguments, *_) in ROWS.items()}
TOLERANCES = [row for row in ROWS if "tolerance" in row]


@pytest.mark.parametrize("row", ROWS)
def test_what_every_row_owes(row, tmp_path):
    numbers = {key: value for key, value in ROWS[row][1].items() if isinstance(value, float) and key != "epsilon"}
    check_all(MAKERS[row], tmp_path, costs=ROWS[row][2:5], exact=ROWS[row][5] and row not in TOLERANCES, numbers=numbers)


# symmetries (I16, I17) ------------------------------------------------------------------------------------------------
#: powers of (loss, length) of the arguments that have a unit
UNITS = {"eta_l": (-1, 2), "rho_prox": (1, -2), "rho_sam": (0, 1), "sam_eps": (1, -1), "epsilon": (2, -2)}
DUALS = ("dual", "duals", "client dual")


@pytest.mark.parametrize("row", ROWS)
def test_units(row):
    """I17: losses times s, lengths times c: models times c, duals times s/c.

    FedSMOO's rule adds gradients and perturbations, so that it has this symmetry only for s = c^2.
    """
    name, arguments, *_ = ROWS[row]
    if "rho_sam" in make_arguments(name):
        arguments = arguments | {"rho_sam": 0.25}
    units = UNITS | ({"rho_sam": (-1, 2)} if name == "fedspeed" else {})
    loss, length, federation = 0.25 if name == "fedsmoo" else 4.0, 0.5, clean()
    new = {key: value * loss ** units[key][0] * length ** units[key][1] if key in units else value
           for key, value in arguments.items()}
    start = start_of(federation)
    first = watch(make_algorithm(name, **arguments), federation, 4, start=start)
    other = watch(make_algorithm(name, **new), scaled(federation, loss, length), 4, start=length * start)
    np.testing.assert_allclose(np.stack(other.out), length * np.stack(first.out), rtol=1e-11, atol=1e-12)
    for before, after in zip(first.arrays, other.arrays, strict=True):
        for array in before:
            factor = loss / length if array in DUALS else length
            np.testing.assert_allclose(after[array], factor * before[array], rtol=1e-10, atol=1e-11)


def make_arguments(name):
    from fedtheory import find_algorithm

    return find_algorithm(name).arguments


@pytest.mark.parametrize("row", ROWS)
def test_rotations_and_translations(row):
    """I16; duals turn, but do not move."""
    Q, v = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0], np.array([1.0, -2.0, 0.5])
    federation, start = clean(), start_of(clean())
    method = MAKERS[row](participants=2)
    first, other = (watch(method, f, 4, start=s) for f, s in (
        (federation, start), (rotated(federation, Q, v), start @ Q.T + v)))
    np.testing.assert_allclose(np.stack(other.out), np.stack(first.out) @ Q.T + v, rtol=1e-9, atol=1e-9)
    for before, after in zip(first.arrays, other.arrays, strict=True):
        for array in set(before) & set(DUALS):
            np.testing.assert_allclose(after[array], before[array] @ Q.T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("row", ROWS)
def test_relabelled_clients(row):
    """I16."""
    order, drawn = [3, 0, 5, 1, 4, 2], [[0, 3], [3, 5], [1, 2], [0, 1]]
    renamed = [[order.index(k) for k in each] for each in drawn]
    first = watch(MAKERS[row](participants=2), clean(), 4, draws=subsets([drawn]))
    other = watch(MAKERS[row](participants=2), gathered(clean(), order), 4, draws=subsets([renamed]))
    np.testing.assert_allclose(np.stack(other.out), np.stack(first.out), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("row", [row for row in ROWS if row not in TOLERANCES])
def test_clients_that_come_twice(row):
    """I16: replicating every client equally often does nothing at full participation."""
    twice = gathered(clean(), [0, 1, 2, 3, 4, 5] * 2)
    np.testing.assert_allclose(path(MAKERS[row](), twice, 4), path(MAKERS[row](), clean(), 4), rtol=1e-11, atol=1e-11)


# A-FedPD: identities of a round (I1-I4, I9) ---------------------------------------------------------------------------
def _mu(arrays):
    """lam_i - their mean, (runs, clients, dim)."""
    return arrays["duals"] - arrays["duals"].mean(axis=1, keepdims=True)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 100), rho=st.floats(0.2, 8), eta=st.floats(0.01, 0.2), K=st.integers(1, 4),
       participants=st.sampled_from([None, 1, 2, 5]), name=st.sampled_from(["afedpd", "afedpdsam"]))
def test_identities_of_a_round(seed, rho, eta, K, participants, name):
    """I1 to I4 for any local steps, and I9 for A-FedPD's."""
    method = make_algorithm(name, eta_l=eta, local_steps=K, rho_prox=rho, participants=participants)
    seen = watch(method, noisy(), 4, seeds=[seed, seed + 1])
    total, before_last = 0.0, seen.out[0]
    for t in range(4):
        before, after, active = seen.arrays[t], seen.arrays[t + 1], seen.active[t][..., None]
        bar, new = seen.out[t], seen.out[t + 1]
        mean = after["duals"].mean(axis=1)
        scale = 1 + np.abs(after["duals"]).max()
        np.testing.assert_allclose(mean, rho * (new - bar), atol=1e-11 * scale, err_msg="I1")
        np.testing.assert_allclose(seen.x[t + 1], 2 * new - bar, atol=1e-11 * scale, err_msg="I2")
        total = total + mean
        np.testing.assert_allclose(new, seen.out[0] + total / rho, atol=1e-10 * scale, err_msg="I2, summed")
        np.testing.assert_allclose(~active * _mu(after), ~active * _mu(before), atol=1e-11 * scale, err_msg="I3")
        np.testing.assert_allclose(_mu(after).sum(axis=1), 0, atol=1e-11 * scale)
        np.testing.assert_allclose((active * _mu(after)).sum(axis=1), (active * _mu(before)).sum(axis=1),
                                   atol=1e-11 * scale, err_msg="I4")
        if name == "afedpd":
            q, s = 1 - eta * rho, active.sum(axis=1)
            g = (active * seen.g[t]).sum(axis=2) / s
            steps = sum(q ** (K - 1 - k) * g[k] for k in range(K))
            mu = (active * _mu(before)).sum(axis=1) / s
            expected = q**K * (bar - before_last) - eta * steps - (1 - q**K) / rho * mu
            np.testing.assert_allclose(new - bar, expected, atol=1e-10 * scale, err_msg="I9")
        before_last = bar


@dataclass(frozen=True)
class Aligned(Correction):
    """afedpd 3.6: ``g + mu_i + rho (x_i - z)`` from ``z + v``; then ``mu_i += rho (x_i - z_new)`` for the participants."""

    rho: Any

    def server_state(self, federation, x, draws):
        return {"mu": 0 * federation.all_clients(x), "z": x}

    def begin(self, local, context):
        return local.with_own(mu=context.rows(context.state.server["mu"]))

    def correct(self, g, local, context):
        return g + local.own["mu"] + self.rho * (local.x - context.server("z")), local

    def aggregate(self, average, upload, context):
        mu = context.rows(context.state.server["mu"]) + self.rho * (upload.model - average[:, None, :])
        return 2 * average - context.state.server["z"], {
            "z": average, "mu": context.with_rows(context.state.server["mu"], mu)}


@pytest.mark.parametrize("participants", [1, 2, 5, None])
def test_the_aligned_form(participants):
    """I5: the same local models, averages and mu_i under common noise."""
    method = make_algorithm("afedpd", **STEPS, participants=participants, output="server")
    aligned = Algorithm(0.05, 3, sampled(participants), correction=Aligned(RHO))
    first, other = (watch(each, noisy(), 8, seeds=SEEDS) for each in (method, aligned))
    np.testing.assert_allclose(np.stack(first.x), np.stack(other.x), atol=1e-11)
    for t in range(8):
        np.testing.assert_allclose(seen_of(first, t), seen_of(other, t), atol=1e-11)
        np.testing.assert_allclose(first.arrays[t]["x_bar"], other.arrays[t]["z"], atol=1e-11)
        np.testing.assert_allclose(_mu(first.arrays[t]), other.arrays[t]["mu"], atol=1e-10)


def seen_of(seen, t):
    """Local models of the participants at the end of a round; zero for the others."""
    return seen.active[t][..., None] * seen.ends[t]


# who is whom (I6, I11, I13, I15) --------------------------------------------------------------------------------------
EVERYBODY = {
    "fedadmm": ("fedadmm", {}), "stale": ("fedadmm", {"variant": "stale"}), "feddyn": ("feddyn", {}),
    "afedpd": ("afedpd", {"output": "server"}),
}
LOCAL = {"steps": STEPS, "exact": EXACT_SOLVE, "tolerance": TOLERANT}


@pytest.mark.parametrize("local", LOCAL)
@pytest.mark.parametrize("row", EVERYBODY)
def test_with_everybody_all_are_fedpd(row, local):
    """I6."""
    name, arguments = EVERYBODY[row]
    federation = noisy() if local == "steps" else clean()
    found = path(make_algorithm(name, **LOCAL[local], **arguments), federation, 8, seeds=[1, 2])
    expected = path(make_algorithm("fedpd", **LOCAL[local]), federation, 8, seeds=[1, 2])
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_with_everybody_the_printed_order_of_feddyn_is_another_method():
    printed, pd = (path(make_algorithm(name, **STEPS, **more), clean(), 4) for name, more in (
        ("feddyn", {"order": "printed"}), ("fedpd", {})))
    assert np.abs(printed - pd).max() > 1e-2


@pytest.mark.parametrize("local", LOCAL)
def test_a_constant_active_set_is_fedpd_on_it(local):
    """I11."""
    Q = [1, 4]
    given = LOCAL[local] | {"participants": 2}
    seen = watch(make_algorithm("afedpd", **given, output="server"), clean(), 6, draws=subsets([[Q] * 6]))
    expected = path(make_algorithm("fedpd", **LOCAL[local]), gathered(clean(), Q), 6)
    np.testing.assert_allclose(np.stack(seen.out), expected, atol=1e-11)


@pytest.mark.parametrize("local", ["steps", "exact"])
def test_identical_clients(local):
    """I13: the same for every number of participants, mu = 0; exact solves are proximal steps from the average."""
    twins = gathered(clean(), [2] * 6)
    seen = {p: watch(make_algorithm("afedpd", **LOCAL[local], participants=p), twins, 6) for p in (1, 2, None)}
    for p in (1, 2):
        np.testing.assert_allclose(np.stack(seen[p].out), np.stack(seen[None].out), atol=1e-11)
        assert max(np.abs(_mu(arrays)).max() for arrays in seen[p].arrays) < 1e-11
    if local == "exact":
        A, c = moved(twins.curvature)[0, 0], moved(twins.center)[0, 0]
        for bar, new in zip(seen[None].out, seen[None].out[1:], strict=False):
            np.testing.assert_allclose(new, (A * c + RHO * bar) / (A + RHO), atol=1e-11)


@pytest.mark.parametrize("participants", [2, None])
@pytest.mark.parametrize("local", ["steps", "exact"])
def test_the_first_round_is_fedprox(local, participants):
    """I15."""
    given = LOCAL[local]
    client = {"client": ExactSolve()} if local == "exact" else {}
    prox = Algorithm(given.get("eta_l", 0.1), given.get("local_steps", 1), sampled(participants),
                     correction=Proximal(RHO), **client)
    federation = noisy() if local == "steps" else clean()
    seen = watch(make_algorithm("afedpd", **given, participants=participants), federation, 1)
    first = path(prox, federation, 1)[1]
    np.testing.assert_allclose(seen.out[1], first, atol=1e-13)
    np.testing.assert_allclose(seen.x[1], 2 * first - seen.x[0], atol=1e-13)


@pytest.mark.parametrize("participants", [2, None])
def test_without_a_radius_the_sharp_method_is_a_fedpd(participants):
    """I15; and FedSpeed without its look uphill is FedADMM, FedSMOO without a radius is FedDyn."""
    given = STEPS | {"participants": participants}
    for name, more, plain in (("afedpdsam", {"rho_sam": 0.0}, "afedpd"), ("fedspeed", {"alpha": 0.0}, "fedadmm"),
                              ("fedspeed", {"rho_sam": 0.0}, "fedadmm"), ("fedsmoo", {"rho_sam": 0.0}, "feddyn"),
                              ("fedsmoo", {"rho_sam": 0.0, "order": "printed"}, "feddyn")):
        order = {"order": "printed"} if more.get("order") else {}
        first = path(make_algorithm(name, **given, **more), noisy(), 5)
        np.testing.assert_allclose(first, path(make_algorithm(plain, **given, **order), noisy(), 5), atol=1e-12)


def test_a_little_softening_changes_little():
    soft, sharp = (path(make_algorithm("afedpdsam", **STEPS, sam_eps=eps), clean(), 4) for eps in (1e-10, 0.0))
    np.testing.assert_allclose(soft, sharp, atol=1e-8)
    assert np.abs(path(make_algorithm("afedpdsam", **STEPS, sam_eps=0.5), clean(), 4) - sharp).max() > 1e-4


def test_one_client_alone():
    """I15: the model sent is 2 x_k - x's last average."""
    seen = watch(make_algorithm("afedpd", **STEPS), noisy(clients=1), 4)
    for t in range(4):
        np.testing.assert_allclose(seen.x[t + 1], 2 * seen.ends[t][:, 0] - seen.out[t], atol=1e-12)


def test_one_full_step_of_the_inverse_penalty():
    """I10: K = 1, eta = 1/rho, full gradients: z+ = z - grad f(2z - z_before)/rho."""
    federation = clean()
    seen = watch(make_algorithm("afedpd", eta_l=1 / 8, rho_prox=8.0), federation, 6)
    for t in range(1, 6):
        at = torch.tensor(2 * seen.out[t] - seen.out[t - 1])
        expected = seen.out[t] - moved(federation.objective_gradient(at)) / 8
        np.testing.assert_allclose(seen.out[t + 1], expected, atol=1e-12)


# duals (I7, I8, I12, I14) ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("row", ["feddyn", "feddyn, printed", "feddyn, exact", "fedsmoo"])
@pytest.mark.parametrize("participants", [2, None])
def test_feddyn_s_global_dual_is_the_mean(row, participants):
    """I7, also with unequal weights."""
    federation = noisy(weights=[1.0, 2.0, 3.0, 1.0, 1.0, 2.0])
    seen = watch(MAKERS[row](participants=participants), federation, 5, seeds=[1, 2])
    p = moved(federation.weights)[..., None]
    for arrays in seen.arrays:
        np.testing.assert_allclose(arrays["dual"], (p * arrays["client dual"]).sum(axis=1), atol=1e-12)
    assert np.abs(seen.arrays[-1]["dual"]).max() > 0.01


@pytest.mark.parametrize("participants", [2, None])
def test_the_stale_model_is_the_mean_of_all_messages(participants):
    federation = noisy(weights=[1.0, 2.0, 3.0, 1.0, 1.0, 2.0])
    seen = watch(MAKERS["fedadmm, stale"](participants=participants), federation, 5, seeds=[1, 2])
    p = moved(federation.weights)[..., None]
    for x, arrays in not_empty(zip(seen.x, seen.arrays, strict=True)):
        np.testing.assert_allclose(x, (p * arrays["client primal_dual"]).sum(axis=1), atol=1e-12)


SOLVED = {"exact": (ExactSolve(), 0.0), "tolerance": (ToTolerance(1e-3), 1e-3)}


@pytest.mark.parametrize("name", ["fedpd", "fedadmm", "feddyn", "afedpd"])
@pytest.mark.parametrize("solver", SOLVED)
@pytest.mark.parametrize("participants", [2, None])
def test_duals_are_gradients_up_to_the_residual(solver, name, participants):
    """I8: lam_i = -grad f_i(x_i) + e_i for those who took part, and e_i is what the solver left."""
    client, epsilon = SOLVED[solver]
    federation = clean()
    method = maker(name, rho_prox=RHO)(participants=participants).having(client=client, eta_l=0.1)
    seen = watch(method, federation, 5)
    sizes = []
    for t in range(5):
        duals = seen.arrays[t + 1]["duals" if name == "afedpd" else "client dual"]
        ends = torch.tensor(seen.ends[t])
        e = seen.active[t][..., None] * (duals + moved(federation.gradient(ends)))
        sizes.append((e**2).sum(axis=-1).max())
    assert max(sizes) <= epsilon + 1e-20
    assert (epsilon == 0) or max(sizes) > epsilon / 30


def _kkt(federation):
    x = moved(federation.x_star)
    return x, -moved(federation.gradient(federation.all_clients(federation.x_star)))


@pytest.mark.parametrize("participants", [2, None])
@pytest.mark.parametrize("local", ["steps", "exact"])
@pytest.mark.parametrize("row", ["fedpd", "feddyn", "feddyn, printed", "afedpd", "afedpd, server", "fedadmm, stale"])
def test_optimality_is_a_fixed_point(row, local, participants):
    """I12."""
    federation = clean()
    x, duals = _kkt(federation)
    name, arguments, *_ = ROWS[row]
    arguments = {k: v for k, v in arguments.items() if k not in STEPS} | LOCAL[local]
    method = maker(name, **arguments)(participants=participants)
    if name == "afedpd":
        change = with_arrays(TORCH, server={"duals": duals})
    elif name == "fedadmm":
        change = with_arrays(TORCH, clients={"dual": duals, "primal_dual": duals / RHO})
    else:
        change = with_arrays(TORCH, clients={"dual": duals})
    change = change if name != "fedadmm" else _messages(duals / RHO + x[:, None], duals)
    seen = watch(method, federation, 4, start=x, change=change)
    np.testing.assert_allclose(np.stack(seen.out), np.broadcast_to(x, (5, 1, 3)), atol=1e-11)
    np.testing.assert_allclose(np.stack(seen.x), np.broadcast_to(x, (5, 1, 3)), atol=1e-11)


def _messages(primal_dual, dual):
    return lambda state: state._replace(clients={"dual": torch.tensor(dual), "primal_dual": torch.tensor(primal_dual)})


def test_the_printed_fedadmm_leaves_optimality_when_clients_are_sampled():
    """Why I12 does not name it: the sampled mean of lam_i is not 0."""
    x, duals = _kkt(clean())
    seen = watch(MAKERS["fedadmm"](participants=2), clean(), 4, start=x, change=with_arrays(TORCH, clients={"dual": duals}))
    assert np.abs(seen.x[-1] - x).max() > 1e-2


@pytest.mark.parametrize("rho", [0.3, 2.0, 20.0])
def test_the_distance_that_never_grows(rho):
    """I14: convex, everybody, exact."""
    federation = clean()
    x, star = _kkt(federation)
    seen = watch(make_algorithm("afedpd", rho_prox=rho, solver="exact"), federation, 60)
    distance = [(((_mu(arrays) - star)**2).sum(axis=(1, 2)) / rho + 6 * rho * ((bar - x)**2).sum(axis=1)).item()
                for arrays, bar in zip(seen.arrays, seen.out, strict=True)]
    assert all(b <= a * (1 + 1e-12) + 1e-20 for a, b in pairwise(distance))
    assert distance[-1] < 0.9 * distance[0]


@pytest.mark.parametrize("row", ["fedpd, exact", "fedadmm, stale, tolerance", "feddyn, exact", "afedpd, exact"])
def test_they_converge(row):
    seen = path(MAKERS[row](), clean(), 150)
    np.testing.assert_allclose(seen[-1], moved(clean().x_star), atol=2e-2 if "tolerance" in row else 1e-9)


# FedSpeed, FedSMOO ----------------------------------------------------------------------------------------------------
def test_fedspeed_in_the_other_paper_s_letters():
    """fedmoswa 8: with ghat_i = -lam_i and lambda = 1/rho, x <- mean of (x_i - lambda ghat_i)."""
    seen = watch(make_algorithm("fedspeed", **STEPS, alpha=0.7, rho_sam=0.2, participants=2), noisy(), 4)
    for t in range(4):
        ghat = -seen.arrays[t]["client dual"] - RHO * (seen.ends[t] - seen.x[t][:, None])
        active = seen.active[t][..., None]
        np.testing.assert_allclose(-seen.arrays[t + 1]["client dual"] * active, ghat * active, atol=1e-12)
        np.testing.assert_allclose(seen.x[t + 1], (active * (seen.ends[t] - ghat / RHO)).sum(axis=1) / 2, atol=1e-12)


def test_fedspeed_looks_along_the_gradient():
    federation = clean()
    seen = watch(make_algorithm("fedspeed", **STEPS | {"local_steps": 1}, alpha=0.7, rho_sam=0.2), federation, 1)
    g = seen.g[0][0]
    uphill = moved(federation.gradient(torch.tensor(seen.x[0][:, None] + 0.2 * g)))
    np.testing.assert_allclose(seen.ends[0], seen.x[0][:, None] - 0.05 * (0.3 * g + 0.7 * uphill), atol=1e-13)


@pytest.mark.parametrize("sent", ["mu", "s_hat"])
def test_fedsmoo_s_perturbations(sent):
    """Two rounds with one local step, by the rule."""
    federation, r = clean(), 0.2
    seen = watch(make_algorithm("fedsmoo", **STEPS | {"local_steps": 1}, rho_sam=r, sent=sent), federation, 3)
    mu, s = np.zeros((1, 6, 3)), np.zeros((1, 1, 3))
    for t in range(3):
        u = seen.g[t][0] - mu - s
        own = r * u / np.linalg.norm(u, axis=-1, keepdims=True)
        mu = mu + own - s
        g = moved(federation.gradient(torch.tensor(seen.x[t][:, None] + own)))
        ends = seen.x[t][:, None] - 0.05 * (g + seen.arrays[t]["client dual"])
        np.testing.assert_allclose(seen.ends[t], ends, atol=1e-12)
        mean = (mu if sent == "mu" else own).mean(axis=1, keepdims=True)
        s = r * mean / np.linalg.norm(mean, axis=-1, keepdims=True)
        np.testing.assert_allclose(seen.arrays[t + 1]["perturbation"][:, None], s, atol=1e-12)
        np.testing.assert_allclose(seen.arrays[t + 1]["client perturbation_dual"], mu, atol=1e-12)


# solvers (I18, I20) ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("hessians", ["diagonal", "rotated"])
@pytest.mark.parametrize("participants", [2, None])
def test_exact_solves_on_quadratics(hessians, participants):
    """I18, both forms."""
    federation = clean(hessians=hessians)
    seen = watch(make_algorithm("afedpd", **EXACT_SOLVE, participants=participants), federation, 4)
    A, c = moved(federation.curvature)[0], moved(federation.center)[0]
    A = A if A.ndim == 3 else np.einsum("ki,ij->kij", A, np.eye(3))
    for t in range(4):
        for center, linear in ((seen.x[t], seen.arrays[t]["duals"]), (seen.out[t], _mu(seen.arrays[t]))):
            right = np.einsum("kij,kj->ki", A, c) + RHO * center - linear[0]
            expected = np.stack([np.linalg.solve(A[k] + RHO * np.eye(3), right[k]) for k in range(6)])
            np.testing.assert_allclose(seen_of(seen, t)[0], seen.active[t][0][:, None] * expected, atol=1e-11)


@pytest.mark.parametrize("name", ["fedpd", "fedadmm", "feddyn", "afedpd"])
def test_exact_solves_on_least_squares_are_the_limit_of_gradients(name):
    from tests.synthetic.families import make

    federation = make("least-squares with ridge", priority=None)
    exact = path(make_algorithm(name, rho_prox=RHO, solver="exact"), federation, 5)
    rate = 1 / (float(federation.constants.value("L").max()) + RHO)
    close = path(make_algorithm(name, rho_prox=RHO, solver="tolerance", epsilon=1e-24, eta_l=rate), federation, 5)
    np.testing.assert_allclose(exact, close, atol=1e-9)


def test_a_tolerance_works_on_losses_without_closed_forms():
    federation = FEDERATIONS["logistic"]()
    method = make_algorithm("afedpd", rho_prox=RHO, eta_l=0.1, solver="tolerance", epsilon=1e-10)
    seen = watch(method, federation, 3)
    for t in range(3):
        e = seen.arrays[t + 1]["duals"] + moved(federation.gradient(torch.tensor(seen.ends[t])))
        assert ((e**2).sum(axis=-1)[seen.active[t]] <= 1e-10).all()


def test_tolerant_clients_stop_one_by_one():
    """Each run and client ends where it would end alone, and where its own steps first meet the tolerance."""
    federation = clean()
    method = make_algorithm("fedavg", eta_l=0.1).having(client=ToTolerance(1e-2))
    start = start_of(federation, 4)
    together = watch(method, federation, 1, seeds=[0, 1, 2, 3], start=start)
    A, c = moved(federation.curvature)[0], moved(federation.center)[0]
    counts = set()
    for i in range(4):
        for k in range(6):
            x, steps = start[i], 0
            while ((A[k] * (x - c[k]))**2).sum() > 1e-2:
                x, steps = x - 0.1 * A[k] * (x - c[k]), steps + 1
            counts.add(steps)
            np.testing.assert_allclose(together.ends[0][i, k], x, atol=1e-13)
        np.testing.assert_array_equal(watch(method, federation, 1, seeds=[i], start=start[i]).ends[0][0],
                                      together.ends[0][i])
    assert len(counts) > 3


def test_a_diverging_client_of_one_run_leaves_the_other_runs_alone():
    eta = np.array([0.1, 50.0])
    method = make_algorithm("afedpd", rho_prox=RHO, eta_l=eta, solver="tolerance", epsilon=1e-4)
    both = run(method, clean(), 3, seeds=2, record=["x"])
    assert both.dataset["diverged"].values.tolist() == [-1, 1]
    calm = run(make_algorithm("afedpd", **TOLERANT), clean(), 3, seeds=1, record=["x"])
    np.testing.assert_array_equal(both.dataset["x"].values[0], calm.dataset["x"].values[0])


def test_the_residual_of_stochastic_steps_on_a_quadratic():
    """I20: its stationary mean square is eta (h + rho) sigma^2 / (2 - eta (h + rho))."""
    h, rho, eta, sigma, runs = 2.0, 1.0, 0.2, 0.5, 4000
    federation = Quadratic([[[h]]], [[[0.0]]], noise=noisy(clients=1, dim=1, L=h, mu=h).noise)
    ends = watch(make_algorithm("fedpd", eta_l=eta, local_steps=60, rho_prox=rho), federation, 1, seeds=range(runs),
                 start=np.zeros((runs, 1))).ends[0][:, 0, 0]
    squares = ((h + rho) * ends) ** 2
    expected = eta * (h + rho) * sigma**2 / (2 - eta * (h + rho))
    assert abs(squares.mean() - expected) < 5 * squares.std() / runs**0.5


def test_rho_may_change_from_round_to_round():
    """A round uses its own value throughout: local steps, duals and the model."""
    method = make_algorithm("fedadmm", **STEPS | {"rho_prox": Geometric(1.5, 0.5)}, participants=2)
    seen = watch(method, noisy(), 3)
    for t in range(3):
        rho, active = 1.5 * 0.5**t, seen.active[t][..., None]
        dual = seen.arrays[t]["client dual"] + rho * (seen.ends[t] - seen.x[t][:, None])
        np.testing.assert_allclose(active * seen.arrays[t + 1]["client dual"], active * dual, atol=1e-12)
        np.testing.assert_allclose(seen.x[t + 1], (active * (seen.ends[t] + dual / rho)).sum(axis=1) / 2, atol=1e-12)


@pytest.mark.parametrize(("name", "arguments"), [
    ("afedpd", {}), ("feddyn", {}), ("fedadmm", {"variant": "stale"}), ("fedsmoo", {}), ("scaffold", {"start": "gradient"}),
    ("fedmoswa", {"variant": "all-clients", "start": "gradient"})])
def test_clients_that_never_count_are_in_no_mean(name, arguments):
    """Without priority and without a rule that lets them in, they might as well not be there."""
    method = make_algorithm(name, eta_l=0.05, local_steps=3, **arguments)
    found = path(method, noisy(priority=4), 4)
    np.testing.assert_allclose(found, path(method, gathered(noisy(), [0, 1, 2, 3]), 4), atol=1e-12)


def test_unequal_weights():
    """Averages over the sampled have the sampling's weights, means over all the shares p_k; I1 then asks for everybody."""
    federation = noisy(weights=[1.0, 2.0, 3.0, 1.0, 1.0, 2.0])
    p = moved(federation.weights)[..., None]
    for participants in (2, None):
        seen = watch(make_algorithm("afedpd", **STEPS, participants=participants), federation, 3)
        for t in range(3):
            weight = seen.active[t][..., None] * p * (3 if participants else 1)
            changes = (weight * (seen.ends[t] - seen.x[t][:, None])).sum(axis=1)
            np.testing.assert_allclose(seen.out[t + 1], seen.x[t] + changes, atol=1e-12)
            mean = (p * seen.arrays[t + 1]["duals"]).sum(axis=1)
            np.testing.assert_allclose(seen.x[t + 1], seen.out[t + 1] + mean / RHO, atol=1e-12)
            if participants is None:
                np.testing.assert_allclose(mean, RHO * (seen.out[t + 1] - seen.out[t]), atol=1e-12)


# input ----------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Halves(UploadFilter):
    """Half of the change is sent."""

    whole = False

    def send(self, change, local, context):
        return change / 2, 0 * change[..., 0] + change.shape[-1], local


def test_an_upload_filter_acts_on_the_message():
    """What FedPD sends is x_k + lam_k / rho, and that is what is filtered."""
    plain = watch(make_algorithm("fedadmm", **STEPS, participants=2), noisy(), 1)
    half = watch(make_algorithm("fedadmm", **STEPS, participants=2).having(upload=Halves()), noisy(), 1)
    np.testing.assert_allclose(half.x[1], (plain.x[0] + plain.x[1]) / 2, atol=1e-13)


BAD = {
    "rho": (lambda: make_algorithm("fedpd", rho_prox=0), "rho_prox.* 0.*got 0"),
    "rho array": (lambda: make_algorithm("afedpd", rho_prox=np.array([1.0, 0.0])), "rho_prox.* 0.*got array"),
    "variant": (lambda: make_algorithm("fedadmm", variant="new"), "unknown variant 'new'; allowed: eq6, stale"),
    "order": (lambda: make_algorithm("feddyn", order="old"), "unknown order 'old'; allowed: next, printed"),
    "output": (lambda: make_algorithm("afedpd", output="mean"), "unknown output 'mean'; allowed: bar, server"),
    "output of sam": (lambda: make_algorithm("afedpdsam", output="mean"), "unknown output 'mean'; allowed: bar, server"),
    "sent": (lambda: make_algorithm("fedsmoo", sent="lam"), "unknown sent 'lam'; allowed: mu, s_hat"),
    "radius": (lambda: make_algorithm("fedspeed", rho_sam=-1.0), "rho_sam.* 0.*got -1.0"),
    "alpha": (lambda: make_algorithm("fedspeed", alpha="all"), "alpha.* 0.*got 'all'"),
    "softening": (lambda: make_algorithm("afedpdsam", sam_eps=-1.0), "sam_eps.* 0.*got -1.0"),
    "solver": (lambda: make_algorithm("fedpd", solver="newton"), "unknown solver 'newton'; allowed: gradient, exact"),
    "tolerance without a number": (lambda: make_algorithm("fedpd", solver="tolerance"), "got epsilon None"),
    "a number without tolerance": (lambda: make_algorithm("fedpd", epsilon=0.1), "got epsilon 0.1 with 'gradient'"),
    "no tolerance": (lambda: make_algorithm("fedpd", solver="tolerance", epsilon=0.0), "epsilon.* 0.*got 0.0"),
    "solved steps": (lambda: make_algorithm("fedpd", solver="exact", local_steps=2), "got local_steps 2, allowed: 1"),
    "solved sharpness": (lambda: make_algorithm("afedpdsam").having(client=ExactSolve()), "SharpnessAware changes"),
    "solved variates": (lambda: make_algorithm("scaffold").having(client=ExactSolve()), "option II .*: option I$"),
    "no closed form": (lambda: run(make_algorithm("fedpd", solver="exact"), FEDERATIONS["logistic"](), 1),
                       "logistic.*solver 'tolerance'"),
    "no end": (lambda: run(make_algorithm("fedpd").having(client=ToTolerance(1e-9, limit=3)), clean(), 1),
               "after 3 .* allowed: epsilon 1e-09"),
    "limit": (lambda: ToTolerance(0.1, limit=0), "limit.* 1.*got 0"),
    "filtered feddyn": (lambda: make_algorithm("feddyn").having(upload=Halves()), "got Halves, allowed: "),
    "filtered afedpd": (lambda: make_algorithm("afedpd").having(upload=Halves()), "got Halves, allowed: "),
    "filtered stale": (lambda: make_algorithm("fedadmm", variant="stale").having(upload=Halves()), "got Halves, allowed: "),
    "half of fedsmoo": (lambda: Algorithm(correction=CommonPerturbation()), "allowed: DynamicPerturbation"),
    "other half of fedsmoo": (lambda: Algorithm(oracle=DynamicPerturbation()), "Correction, allowed: CommonPerturbation"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_clear_line(case):
    action, message = BAD[case]
    with pytest.raises(ValueError, match=message) as caught:
        action()
    assert "\n" not in str(caught.value)


def test_variates_with_a_solver():
    """SCAFFOLD's option I goes with exact local solves; at the fixed point each client stays where it is."""
    federation = clean(L=1.0, mu=0.5)
    method = make_algorithm("scaffold", option="I").having(client=ExactSolve())
    assert np.isfinite(path(method, federation, 3)).all()


def test_parts_by_themselves():
    assert [PrimalDual().rho_prox, GlobalDual().order, VirtualDuals().down, StalePrimalDual().up] == [0.1, "next", 1, 0]
    assert isinstance(make_algorithm("afedpd", output="server").server, ServerOptimiser)
    assert make_algorithm("fedpd", rho_prox=Fraction(1, 2)).correction.rho_prox == 0.5
    assert NUMPY.library == "numpy"
