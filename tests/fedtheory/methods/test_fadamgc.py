"""FAdamGC, FA-NT, LocalAdam, FedLADA: the invariants of section 7 of FAdamGC's specification, whose numbers docstrings name.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import Algorithm, make_algorithm
from fedtheory.algorithms.local_adam import Adam
from fedtheory.parts import ClientOptimiser
from fedtheory.registry import find_algorithm
from fedtheory.round_context import ClientState, RoundContext
from synthetic import Draws, GaussianNoise, NoNoise, Quadratic, to_numpy
from synthetic.numbers.arrays import TORCH
from tests.fedtheory.conformance.adaptive_cases import Case, cases, draws_of, from_state, mean_of_active, scaled_all, turned
from tests.fedtheory.federations import moved, variant
from tests.fedtheory.methods.common import noisy, path, start_of, tilted, watch
from tests.not_empty import not_empty


def make(name, *arguments, **options):
    """A method from its maker's arguments, in their order."""
    return find_algorithm(name).make(*arguments, **options)


few = settings(max_examples=20, deadline=None)


def same(a, b, tolerance=1e-11):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@few
@given(cases(("fadamgc", "fa-nt")))
def test_y_is_the_mean_of_the_y_k(case):
    """1"""
    for arrays in case.watch().arrays:
        same(arrays["client variate"].mean(axis=1), arrays["variate"], 1e-10)


@few
@given(cases(("fadamgc",), participants=None))
def test_corrections_cancel_over_all_clients(case):
    """2, where fixed second moments make the direction the corrected gradient itself."""
    case.options |= {"beta1": 0.0, "beta2": 1.0, "v_init": 1.0, "eps": 0.0, "norm": "elem", "vhat": "reset", "eta_l": 0.1}
    seen = case.watch(moment_index="immediate")
    for t, models in enumerate(seen.x_local):
        steps = np.diff(np.concatenate([models, seen.ends[t][None]]), axis=0)
        same(steps.sum(axis=2), -0.1 * seen.g[t].sum(axis=2), 1e-10)


@few
@given(cases(("fa-nt",)))
def test_buffers_of_fa_nt_are_mean_directions(case):
    """3: the steps of a tracker, less the correction that all of them shared."""
    seen = case.watch()
    for t, (before, after) in enumerate(zip(seen.arrays, seen.arrays[1:], strict=False)):
        steps = (seen.x_local[t][0] - seen.ends[t]) / (case.local_steps * case.options["eta_l"])
        shift = before["variate"][:, None] - before["client variate"]
        changed = (after["client variate"] != before["client variate"]).any(axis=-1)
        same(after["client variate"][changed], (steps - shift)[changed], 1e-8)


@few
@given(cases(("fadamgc",)))
def test_without_corrections_all_are_local_adam(case):
    """4, bit for bit."""
    case.options |= {"trackers": 0, "y_init": "zero"}
    plain = {name: value for name, value in case.options.items() if name not in ("trackers", "y_init")}
    expected = np.stack(Case("local-adam", plain, case.federation).watch().x)
    for name in ("fadamgc", "fa-nt"):
        np.testing.assert_array_equal(np.stack(Case(name, case.options, case.federation).watch().x), expected)


def amsgrad(case, gradient, x, rounds):
    """5: a single machine's Adam with a running maximum, m reset every ``local_steps`` steps; the path of models."""
    o, found = case.options, [x]
    v, top = 0 * x + o["v_init"], None
    for t in range(rounds):
        here, m = x, 0 * x
        top = {"reset": v, "none": v, "zero": 0 * v, "carry": v if top is None else top}[o["vhat"]]
        for k in range(case.local_steps):
            g = gradient(here, t, k)
            new_m = o["beta1"] * m + (1 - o["beta1"]) * g
            v = o["beta2"] * v + (1 - o["beta2"]) * (g * g if o["norm"] == "elem" else (g * g).sum())
            new_top = v if o["vhat"] == "none" else np.maximum(top, v)
            used = (new_m, new_top) if o["moment_index"] == "immediate" else (m, top)
            here, m, top = here - o["eta_l"] * used[0] / (np.sqrt(used[1]) + o["eps"]), new_m, new_top
        v = v if o["store"] == "v" else top
        x = x + o["eta_g"] * (here - x)
        found.append(x)
    return np.stack(found)


@pytest.mark.parametrize("name", ["local-adam", "fadamgc", "fa-nt", "fa-nt-z"])
@few
@given(data=st.data())
def test_one_client_is_one_machine(name, data):
    """5, with noise; 6 for identical clients without."""
    case = data.draw(cases((name,), clients=1, participants=None))
    if name == "fa-nt-z":
        case.options["eta_g"] = 1.0
    federation, start = case.federation, start_of(case.federation)
    draws = Draws([3], federation.backend)

    def gradient(x, t, k):
        point = federation.backend.array(x[None, None])
        return moved(federation.stochastic_gradient(point, draws, t * case.local_steps + k))[0, 0]

    expected = amsgrad(case, gradient, start[0], 4)
    same(np.stack(case.watch(start=start).x)[:, 0], expected, 1e-9)
    calm, options = variant(federation, noise=NoNoise()), case.options
    if "trackers" in options:
        options = options | {"trackers": None}
    copies = [moved(getattr(calm, part)).repeat(3, axis=1) for part in ("curvature", "center")]
    together = Case(name, options, Quadratic(*copies)).watch(start=start).x
    alone = Case(name, options, calm).watch(start=start).x
    same(np.stack(together), np.stack(alone), 1e-9)


@dataclass(frozen=True)
class Averaging(ClientOptimiser):
    """The momentum of 7: ``m <- beta1 m + (1 - beta1) g`` from zero in every round."""

    beta1: float = 0.5

    def begin(self, local, context):
        return local.with_own(m=0 * local.x)

    def direction(self, g, local, context):
        m = self.beta1 * local.own["m"] + (1 - self.beta1) * g
        return m, local.with_own(m=m)


@pytest.mark.parametrize(("name", "beta1", "trackers"), [
    ("fadamgc", 0.0, None), ("fadamgc", 0.5, None), ("fa-nt", 0.0, None), ("fadamgc", 0.0, 0), ("fa-nt", 0.0, 0),
    ("local-adam", 0.0, 0)])
@pytest.mark.parametrize("participants", [None, 3])
def test_large_eps_leads_to_scaffold_and_fedavg(name, beta1, trackers, participants):
    """7: the difference falls like 1 / eps."""
    options = {"local_steps": 3, "participants": participants}
    limit = make("scaffold", eta_l=0.1, option="average-gradient", **options)
    limit = limit if trackers is None else make_algorithm("fedavg", eta_l=0.1, **options)
    limit = limit.having(client=Averaging(beta1))
    expected, found = path(limit, noisy(), 6, seeds=[3, 4]), []
    for eps in (1e3, 1e4):
        more = {} if name == "local-adam" else {"trackers": trackers}
        made = make_algorithm(name, eta_l=0.1 * eps, eps=eps, beta1=beta1, **options, **more)
        found.append(np.abs(path(made, noisy(), 6, seeds=[3, 4]) - expected).max())
    assert found[0] < 0.05 and found[0] / found[1] == pytest.approx(10, rel=0.1)


@few
@given(cases(("fadamgc", "fa-nt")), st.randoms())
def test_clients_have_no_order(case, random):
    """8: with participants and trackers renamed too."""
    n = case.federation.clients
    order, rounds = random.sample(range(n), n), 4
    sampled = [random.sample(range(n), case.size) for _ in range(rounds)]
    tracking = [random.sample(each, min(case.size, 2)) for each in sampled]
    case.options |= {"trackers": min(case.size, 2), "participants": case.size}
    federation = variant(case.federation, noise=NoNoise())
    parts = {name: getattr(federation, name)[:, order] for name in ("curvature", "center", "offset")}
    renamed = [[[order.index(k) for k in each] for each in table] for table in (sampled, tracking)]
    first = Case(case.name, case.options, federation).watch(draws=draws_of(sampled, tracking))
    second = Case(case.name, case.options, variant(federation, **parts)).watch(draws=draws_of(*renamed))
    same(np.stack(first.x), np.stack(second.x), 1e-9)
    same(first.arrays[-1]["client moment2"][:, order], second.arrays[-1]["client moment2"], 1e-9)


@few
@given(cases(("local-adam", "fadamgc", "fa-nt")), st.integers(0, 99))
def test_coordinates_have_no_order_and_no_sign(case, seed):
    """9; and no direction where second moments are of norms."""
    d, start, rng = case.federation.dim, start_of(case.federation), np.random.default_rng(seed)
    turn = np.eye(d)[rng.permutation(d)] * rng.choice([-1, 1], size=d)
    if case.options["norm"] == "scalar":
        turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    calm = variant(case.federation, noise=NoNoise())
    first = Case(case.name, case.options, calm).watch(start=start)
    second = Case(case.name, case.options, turned(calm, turn)).watch(start=start @ turn.T)
    same(np.stack(first.x) @ turn.T, np.stack(second.x), 1e-8)


@few
@given(cases(("local-adam", "fadamgc", "fa-nt"), y_init=("zero", "its own")), st.sampled_from([2.0**-7, 8.0]),
       st.sampled_from([2.0**-5, 4.0]))
def test_scaled_losses_and_parameters(case, loss, length):
    """10 and 11, exactly for powers of two."""
    slope, options = loss / length, case.options
    other = options | {"eps": options["eps"] * slope, "v_init": options["v_init"] * slope**2,
                       "eta_l": options["eta_l"] * length}
    start = start_of(case.federation)
    first = case.watch(start=start)
    second = Case(case.name, other, scaled_all(case.federation, loss, length)).watch(start=start * length)
    np.testing.assert_array_equal(np.stack(first.x) * length, np.stack(second.x))
    np.testing.assert_array_equal(first.arrays[-1]["client moment2"] * slope**2, second.arrays[-1]["client moment2"])


@few
@given(cases(("local-adam", "fadamgc", "fa-nt")))
def test_translated_problems(case):
    """12"""
    move, start = np.linspace(1, 2, case.federation.dim), start_of(case.federation)
    shifted = variant(case.federation, center=case.federation.center + case.federation.backend.array(move))
    first, second = case.watch(start=start), Case(case.name, case.options, shifted).watch(start=start + move)
    same(np.stack(first.x) + move, np.stack(second.x), 1e-8)


@few
@given(cases(("local-adam", "fadamgc", "fa-nt"), norm=("elem",), y_init=("zero", "gradient")))
def test_separable_losses_are_runs_by_coordinate(case):
    """13"""
    federation, start = variant(case.federation, noise=NoNoise()), start_of(case.federation)
    whole = np.stack(Case(case.name, case.options, federation).watch(start=start).x)
    for j in range(federation.dim):
        line = variant(federation, curvature=federation.curvature[..., j : j + 1], center=federation.center[..., j : j + 1])
        alone = Case(case.name, case.options, line).watch(start=start[:, j : j + 1]).x
        same(np.stack(alone)[..., 0], whole[..., j], 1e-12)


@few
@given(cases(("local-adam", "fadamgc", "fa-nt", "fedlada")))
def test_the_server_step(case):
    """14"""
    seen, still = case.watch(eta_g=1.0), case.watch(eta_g=0.0)
    for t in range(len(seen.ends)):
        same(seen.x[t + 1], mean_of_active(seen, t))
        np.testing.assert_array_equal(still.x[t + 1], still.x[0])


@few
@given(cases(("fadamgc", "fa-nt"), noise=(0.5,)))
def test_clients_change_only_what_is_theirs(case):
    """15, and as many trackers as asked for."""
    case.options["moment_index"] = "immediate"  # a delayed first step goes nowhere
    seen, trackers = case.watch(), case.options["trackers"]
    for t, (before, after) in not_empty(enumerate(zip(seen.arrays, seen.arrays[1:], strict=False))):
        changed = {name: (before[f"client {name}"] != after[f"client {name}"]).any(axis=-1)
                   for name in ("variate", "moment2")}
        assert not (changed["variate"] & ~seen.active[t]).any()
        assert (changed["variate"].sum(axis=1) == (case.size if trackers is None else trackers)).all()
        if case.options["beta2"] < 1 and case.options["store"] == "v":
            np.testing.assert_array_equal(changed["moment2"], seen.active[t])


def test_first_buffers_are_full_gradients_or_their_directions():
    federation = noisy()
    g = moved(federation.gradient(federation.all_clients(TORCH.array(start_of(federation)))))
    unit = g / np.linalg.norm(g, axis=-1, keepdims=True)
    for name in ("fadamgc", "fa-nt"):
        for y_init, expected in (("zero", 0 * g), ("gradient", g), ("normalised-gradient", unit)):
            arrays = watch(make_algorithm(name, y_init=y_init), federation, 1).arrays[0]
            same(arrays["client variate"], expected)
            same(arrays["variate"], expected.mean(axis=1))


def test_trackers_are_a_uniform_subset_of_the_participants():
    runs = 4000
    start = np.tile(start_of(noisy()), (runs, 1))
    first = watch(make_algorithm("fadamgc", participants=3, trackers=2), noisy(), 1, seeds=range(runs), start=start)
    tracks = (first.arrays[1]["client variate"] != 0).any(axis=-1)
    assert (tracks <= first.active[0]).all() and (tracks.sum(axis=1) == 2).all()
    np.testing.assert_allclose(tracks.mean(axis=0), 1 / 3, atol=5 * (2 / 9 / runs) ** 0.5)
    pairs = (1.0 * tracks.T @ tracks)[np.triu_indices(6, 1)] / runs
    np.testing.assert_allclose(pairs, 1 / 15, atol=5 * (1 / 15 / runs) ** 0.5)
    again = watch(make_algorithm("fadamgc", trackers=2), noisy(), 2, seeds=range(runs), start=start)
    before, middle, after = (arrays["client variate"] for arrays in again.arrays)
    twice = ((before != middle).any(axis=-1) & (middle != after).any(axis=-1)).mean(axis=0)
    np.testing.assert_allclose(twice, 1 / 9, atol=5 * (8 / 81 / runs) ** 0.5, err_msg="rounds are independent")


@few
@given(cases(("local-adam", "fadamgc", "fa-nt")))
def test_second_moments_may_stand_still(case):
    """16"""
    case.options |= {"beta2": 1.0, "v_init": 0.25}
    for arrays in not_empty(case.watch().arrays):
        assert (arrays["client moment2"] == 0.25).all()


@few
@given(cases(("local-adam",)), st.integers(0, 99), st.integers(1, 6))
def test_moments_within_a_round(case, seed, steps):
    """17, 18 and 19, on gradients of any size."""
    rng, names = np.random.default_rng(seed), ("beta1", "beta2", "eps", "vhat", "norm", "moment_index")
    o = {name: case.options[name] for name in names}
    adam = Adam(**o)
    width = 1 if o["norm"] == "scalar" else 3
    v0 = rng.exponential(size=(2, 4, width))
    kept = {"moment2": TORCH.array(v0)} | ({"moment2_max": TORCH.array(2 * v0)} if o["vhat"] == "carry" else {})
    context = RoundContext(Algorithm(), noisy(), Draws([0, 1]), 0, 0, TORCH.array(np.zeros((2, 3))))
    local = adam.begin(ClientState(TORCH.array(np.zeros((2, 4, 3))), kept), context)
    gradients = rng.normal(size=(steps, 2, 4, 3)) * rng.choice([1e-3, 1.0, 50.0], size=(steps, 1, 1, 1))
    squares = gradients**2 if width == 3 else (gradients**2).sum(axis=-1, keepdims=True)
    for k in range(steps):
        before = {name: moved(array) for name, array in local.own.items()}
        direction, local = adam.direction(TORCH.array(gradients[k]), local, context)
        now = {name: moved(array) for name, array in local.own.items()}
        weights = (1 - o["beta1"]) * o["beta1"] ** np.arange(k, -1, -1.0)
        assert weights.sum() == pytest.approx(1 - o["beta1"] ** (k + 1))
        same(now["moment1"], np.tensordot(weights, gradients[: k + 1], 1))
        largest = np.abs(gradients[: k + 1]).max(axis=0)
        assert (np.abs(now["moment1"]) <= (1 - o["beta1"] ** (k + 1)) * largest * (1 + 1e-12)).all()
        most = np.maximum(v0, squares[: k + 1].max(axis=0))
        assert (now["moment2"] >= 0).all() and (now["moment2"] <= most * (1 + 1e-12)).all()
        if o["vhat"] == "none":
            np.testing.assert_array_equal(now["moment2_max"], now["moment2"])
        else:
            assert (now["moment2_max"] >= np.maximum(before["moment2_max"], now["moment2"])).all()
        used = now if o["moment_index"] == "immediate" else before
        same(moved(direction), used["moment1"] / (np.sqrt(used["moment2_max"]) + o["eps"]))
        if k == 0 and o["moment_index"] == "immediate":
            same(moved(direction), (1 - o["beta1"]) * gradients[0] / (np.sqrt(now["moment2_max"]) + o["eps"]))
    starts = {"reset": v0, "none": v0, "zero": 0 * v0, "carry": 2 * v0}
    begun = adam.begin(ClientState(local.x, kept), context)
    np.testing.assert_array_equal(moved(begun.own["moment2_max"]), starts[o["vhat"]])


@few
@given(cases(("fadamgc",), vhat=("carry",)))
def test_carried_maxima_never_fall(case):
    """18, over a client's rounds."""
    maxima = [arrays["client moment2_max"] for arrays in case.watch().arrays]
    assert (np.diff(maxima, axis=0) >= 0).all()


@few
@given(cases(("fadamgc",), y_init=("zero", "gradient")))
def test_buffers_stay_in_the_ball_of_the_gradients(case):
    """20, with the largest gradient that was met."""
    seen = case.watch()
    first = np.linalg.norm(seen.arrays[0]["client variate"], axis=-1).max()
    G = max(first, max(np.linalg.norm(g, axis=-1).max() for g in seen.g)) * (1 + 1e-12)
    for arrays in not_empty(seen.arrays):
        for name in ("variate", "client variate"):
            assert (np.linalg.norm(arrays[name], axis=-1) <= G).all()


@pytest.mark.parametrize("eps", [0.0, 1e-8])
@few
@given(cases(("fadamgc",), clients=3))
def test_the_fixed_point_is_reproduced_exactly(eps, case):
    """21: gradients -1, 2, -1 at the minimiser 0."""
    federation = Quadratic([[[1.0], [2.0], [1.0]]], [[[1.0], [-1.0], [1.0]]])
    case.options |= {"eps": eps, "v_init": 0.0}
    rest = from_state(federation.backend, {"variate": 0.0}, {"variate": [[-1.0], [2.0], [-1.0]]})
    seen = Case("fadamgc", case.options, federation).watch(start=np.zeros((1, 1)), change=rest)
    assert (np.stack(seen.x) == 0).all() and seen.arrays[-1]["client variate"].ravel().tolist() == [-1.0, 2.0, -1.0]


@few
@given(cases(("fadamgc",), y_init=("zero", "gradient")))
def test_linear_heterogeneity_changes_nothing(case):
    """22, under noise, partial participation and selective tracking."""
    n, d = case.federation.clients, case.federation.dim
    b = np.random.default_rng(1).normal(size=(n, d))
    b -= b.mean(axis=0)
    first, change = case.watch(), None
    if case.options["y_init"] == "zero":
        change = from_state(case.federation.backend, {}, {"variate": b})
    second = Case("fadamgc", case.options, tilted(case.federation, b)).watch(change=change)
    same(np.stack(first.x), np.stack(second.x), 1e-8)
    same(first.arrays[-1]["client moment2"], second.arrays[-1]["client moment2"], 1e-8)
    same(first.arrays[-1]["client variate"] + b, second.arrays[-1]["client variate"], 1e-8)


@few
@given(cases(("fadamgc",), participants=None, noise=(0.0,)))
def test_shared_losses_with_linear_parts_are_one_machine(case):
    """23"""
    case.options |= {"y_init": "gradient", "trackers": None}
    shared = {name: getattr(case.federation, name)[:, :1] for name in ("curvature", "center")}
    n, d = 3, case.federation.dim
    b = np.random.default_rng(1).normal(size=(n, d))
    copies = Quadratic(*(moved(array).repeat(n, axis=1) for array in shared.values()))
    together = Case("fadamgc", case.options, tilted(copies, b - b.mean(axis=0))).watch()
    alone = Case("fadamgc", case.options, Quadratic(*(moved(array) for array in shared.values()))).watch()
    same(np.stack(together.x), np.stack(alone.x), 1e-8)


@few
@given(cases(("fadamgc",), participants=None))
def test_full_tracking(case):
    """24"""
    case.options["trackers"] = None
    seen = case.watch()
    for t, arrays in enumerate(seen.arrays[1:]):
        same(arrays["client variate"], seen.g[t].mean(axis=0), 1e-10)
        same(arrays["variate"], seen.g[t].mean(axis=(0, 2)), 1e-10)
    one = Case("fadamgc", case.options | {"local_steps": 1}, variant(case.federation, noise=NoNoise())).watch()
    for t, arrays in enumerate(one.arrays[1:], start=1):
        own = moved(one.federation.gradient(one.federation.all_clients(TORCH.array(one.x[t - 1]))))
        same(arrays["variate"][:, None] - arrays["client variate"], own.mean(axis=1, keepdims=True) - own, 1e-10)


@pytest.mark.parametrize("participants", [None, 3])
def test_fedlada_without_last_direction_is_local_amsgrad(participants):
    """25"""
    options = {"eta_l": 0.05, "local_steps": 3, "participants": participants}
    lada = make_algorithm("fedlada", alpha=1.0, eps=0.5, moments="local", **options)
    adam = make_algorithm("local-adam", eps=0.0, v_init=0.25, **options)
    same(path(lada, noisy(), 5), path(adam, noisy(), 5))
    identical = Quadratic(np.full((1, 4, 2), 2.0), np.full((1, 4, 2), 1.0))
    options["participants"] = participants
    averaged = make_algorithm("fedlada", alpha=1.0, eps=0.5, **options)
    kept = make_algorithm("local-adam", eps=0.0, v_init=0.25, store="vhat", **options | {"participants": None})
    same(path(averaged, identical, 5), path(kept, identical, 5))


def test_fedlada_by_hand():
    """Averages over the participants only: v of the largest moments, g_a of the mean directions before the server step."""
    seen = watch(make("fedlada", 0.1, 2, 0.6, 0.5, 0.5, eps=0.5, eta_g=0.5, participants=3), noisy(), 4)
    for t, (before, after) in enumerate(zip(seen.arrays, seen.arrays[1:], strict=False)):
        v = before["averaged_moment2"][:, None]
        top, m = v + 0 * seen.ends[t], 0 * seen.ends[t]
        for k in range(2):
            m, v = 0.5 * m + 0.5 * seen.g[t][k], 0.5 * v + 0.5 * seen.g[t][k] ** 2
            top = np.maximum(top, v)
            here = seen.x_local[t][k + 1] if k == 0 else seen.ends[t]
            step = 0.6 * m / np.sqrt(top) + 0.4 * before["last_direction"][:, None]
            same(here, seen.x_local[t][k] - 0.1 * step)
        chosen = seen.active[t][..., None]
        same(after["averaged_moment2"], (top * chosen).sum(axis=1) / 3)
        same(after["last_direction"], (seen.x[t] - mean_of_active(seen, t)) / 0.2)


@pytest.mark.parametrize("y_init", ["zero", "gradient", "normalised-gradient"])
def test_the_z_form_is_fa_nt_without_a_server_step(y_init):
    options = {"eta_l": 0.05, "local_steps": 3, "eps": 0.1, "y_init": y_init}
    two = [watch(make_algorithm(name, **options), noisy(), 5) for name in ("fa-nt", "fa-nt-z")]
    same(np.stack(two[0].x), np.stack(two[1].x), 1e-9)
    other = [path(make_algorithm(name, eta_g=0.5, **options), noisy(), 5) for name in ("fa-nt", "fa-nt-z")]
    assert np.abs(other[0] - other[1]).max() > 1e-3


@pytest.mark.parametrize("eta_g", [1.0, 0.5])
def test_the_z_form_by_hand(eta_g):
    """(114): what a client has completed when the next round begins."""
    seen = watch(make("fa-nt-z", 0.1, 2, eps=0.1, eta_g=eta_g), noisy(), 4)
    z = 0 * seen.ends[0]
    for t in range(3):
        z = z + (seen.ends[t] - seen.x[t + 1][:, None]) / (2 * eta_g * 0.1)
        same(seen.arrays[t + 2]["client difference"], z, 1e-10)


def test_noise_of_the_cases_is_scaled_with_them():
    """The helper of 10 and 11 scales what it says."""
    federation = noisy()
    other = scaled_all(federation, 8.0, 4.0)
    x, draws = TORCH.array(np.ones((1, 6, 3))), Draws([0])
    first, second = (to_numpy(f.stochastic_gradient(p, draws, 0)) for f, p in ((federation, x), (other, 4 * x)))
    assert isinstance(other.noise, GaussianNoise)
    np.testing.assert_array_equal(2 * first, second)
