"""FedLUAR: the invariants of its specification, Section 7, by their numbers there."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ortho_group

from fedtheory import Geometric, RoundContext, make_algorithm, recycling, rounds_of, run
from fedtheory.algorithms.fedluar import LocalMomentum
from fedtheory.algorithms.fedmut import Mutation
from fedtheory.algorithms.fedpaq import Quantised
from fedtheory.recycling import RecycledSteps, Recycling
from fedtheory.testing.check import check_algorithm
from synthetic import EXACT, NUMPY, TORCH, Draws, Quadratic, to_numpy
from synthetic.numbers.draws import LAYERS
from tests.fedtheory.methods.common import SEEDS
from tests.fedtheory.methods.luar_rows import SIZES, START, Constantly, layered, looked_into, luar, masks_of, rescaled_losses
from tests.not_empty import not_empty
from tests.synthetic.families import make

DIM, COUNT = sum(SIZES), len(SIZES)
SLICES = layered().layers()
FRESH = {"quantiser": "identity"}  # FedAvg that moves by mean changes, in FedLUAR's order of operations


def path(method, federation, rounds=6, start=START, seeds=SEEDS):
    return run(method, federation, rounds, start=start, seeds=seeds, record=["x"]).dataset["x"].values


def norms(values):
    return np.stack([np.linalg.norm(values[..., layer], axis=-1) for layer in SLICES], axis=-1)


def wide(layerwise):
    return np.repeat(layerwise, SIZES, axis=-1)


# 1-7: reductions -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("selector", ["luar", "inverted", "uniform", "update-norm"])
@pytest.mark.parametrize("participants", [None, 2])
def test_1_nothing_recycled_is_fedavg(selector, participants):
    federation, sampling = layered(sigma=0.5), {"participants": participants}
    found = path(luar(recycled=0, selector=selector, **sampling), federation)
    same_order = make_algorithm("fedpaq", eta_l=0.1, local_steps=2, **FRESH, **sampling)
    np.testing.assert_array_equal(found, path(same_order, federation))
    plain = make_algorithm("fedavg", eta_l=0.1, local_steps=2, **sampling)
    np.testing.assert_allclose(found, path(plain, federation), rtol=1e-12, atol=1e-12)


def test_2_everything_recycled_repeats_the_first_update():
    seen = looked_into(luar(recycled=COUNT), layered(sigma=0.5), 5, start=START, seeds=SEEDS)
    for t in range(6):
        np.testing.assert_allclose(seen.x[t], START + t * seen.applied[0], rtol=1e-12, atol=1e-12)
    sent = run(luar(recycled=COUNT), layered(), 5, start=START, record=["uplink_floats"]).dataset["uplink_floats"].values
    assert sent[0, :, 0].tolist() == [DIM, 0, 0, 0, 0]


def test_3_constant_gradients_make_recycling_exact():
    base = layered()
    linear = Constantly(base.curvature, base.center, layers=SIZES)
    expected = path(make_algorithm("fedavg", eta_l=0.1, local_steps=2), linear)
    for options in ({}, {"masks": masks_of(COUNT, 3, 6)}, {"recycled": 4}):
        np.testing.assert_allclose(path(luar(**options), linear), expected, rtol=1e-12, atol=1e-12)
    assert abs(path(luar(recycled=4), base) - path(make_algorithm("fedavg", eta_l=0.1, local_steps=2), base)).max() > 1e-3


NEUTRAL = {
    "fedprox": {"rho_prox": 0.0}, "fedacg": {"lam": 0.0, "rho_prox": 0.0}, "fedmut": {"alpha": 0.0}, "fedpaq": FRESH,
    "fedavg": {"eta_g": 1.0},
}


@pytest.mark.parametrize("base", NEUTRAL)
@pytest.mark.parametrize("participants", [None, 2])
def test_4_neutral_additions_leave_fedluar(base, participants):
    federation, sampling = layered(sigma=0.5), {"participants": participants}
    expected = path(luar(**sampling), federation)
    found = path(luar(base=base, **NEUTRAL[base], **sampling), federation)
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)


def test_4_neutral_moon():
    federation = make("softmax", batch_size=2, priority=None).with_layers((3, 9))
    start = np.linspace(-1, 1, 12)
    expected, found = (path(luar(recycled=1, base=base, **more), federation, start=start) for base, more in (
        ("fedavg", {}), ("moon", {"mu_con": 0.0})))
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11)
    assert abs(path(luar(recycled=1, base="moon", mu_con=1.0), federation, start=start) - expected).max() > 1e-3


def test_5_identical_clients_are_one():
    one, many = layered(clients=1, hessian_spread=0.0, minimiser_spread=0.0), {}
    for clients, participants in ((4, None), (4, 2), (7, 3)):
        arrays = [np.repeat(to_numpy(a), clients, axis=1) for a in (one.curvature, one.center)]
        many[clients, participants] = path(luar(participants=participants), Quadratic(*arrays, layers=SIZES))
    for found in not_empty(many.values()):
        np.testing.assert_allclose(found, path(luar(), one), rtol=1e-11, atol=1e-11)


def test_6_everything_dropped_stops_after_the_first_round():
    x = path(luar(recycled=COUNT, mode="drop"), layered(sigma=0.5))
    np.testing.assert_allclose(x[:, 1:], np.broadcast_to(x[:, 1:2], x[:, 1:].shape), rtol=1e-14)
    feddrop = make_algorithm("feddrop", eta_l=0.1, local_steps=2, recycled=COUNT)
    np.testing.assert_array_equal(x, path(feddrop, layered(sigma=0.5)))


@pytest.mark.parametrize("recycled", range(COUNT + 1))
def test_7_one_round_is_fedavg(recycled):
    expected = path(make_algorithm("fedavg", eta_l=0.1, local_steps=2), layered(sigma=0.5), 1)
    np.testing.assert_allclose(path(luar(recycled=recycled), layered(sigma=0.5), 1), expected, rtol=1e-13, atol=1e-13)


# 8-11: accounting ----------------------------------------------------------------------------------------------------------
def uplink(method, federation, rounds, seeds=SEEDS, start=START):
    data = run(method, federation, rounds, start=start, seeds=seeds, record=["uplink_floats", "downlink_floats", "weight"])
    return data.dataset


@pytest.mark.parametrize("recycled", range(COUNT + 1))
@pytest.mark.parametrize("participants", [None, 2])
def test_8_what_is_sent(recycled, participants):
    data = uplink(luar(recycled=recycled, participants=participants), layered(sigma=0.5), 6)
    active = data["weight"].values > 0
    up, down = data["uplink_floats"].values, data["downlink_floats"].values
    assert (up[~active] == 0).all() and (down == DIM * active).all()  # 11: the model, whatever is recycled
    assert (up[:, 0][active[:, 0]] == DIM).all()
    sizes = np.sort(SIZES)
    most, least = DIM - sizes[:recycled].sum(), DIM - sizes[COUNT - recycled:].sum()
    later = up[:, 1:][active[:, 1:]]
    assert (later >= least).all() and (later <= most).all()
    seen = looked_into(luar(recycled=recycled), layered(sigma=0.5), 6, start=START, seeds=SEEDS)
    assert (seen.recycled[0].sum(axis=-1) == 0).all() and (seen.recycled[1:].sum(axis=-1) == recycled).all()


def test_9_equal_layers():
    federation = layered(sizes=(2, 2, 2, 2, 2), L=4.0)
    for recycled in range(6):
        sent = uplink(luar(recycled=recycled), federation, 5)["uplink_floats"].values.mean() / 10
        assert sent == pytest.approx(1 / 5 + 4 / 5 * (1 - recycled / 5), rel=1e-14)


def inclusion(p, size):
    """Probability of each item to be among the first ``size`` of successive draws, by enumeration."""
    total = np.zeros(len(p))
    for order in permutations(range(len(p)), size):
        chance, rest = 1.0, 1.0
        for l in order:
            chance, rest = chance * p[l] / rest, rest - p[l]
        total[list(order)] += chance
    return total


def test_10_expected_uplink():
    """20000 runs; by Hoeffding the mean leaves the interval with probability below 1e-9."""
    method, runs = luar(recycled=2), 20000
    first = looked_into(method, layered(), 1, start=START)
    weights = 1 / first.score[0, 0]
    expected = (np.array(SIZES) * (1 - inclusion(weights / weights.sum(), 2))).sum() / DIM
    sent = uplink(method, layered(), 2, seeds=runs)["uplink_floats"].values[:, 1, 0] / DIM
    assert abs(sent.mean() - expected) < (np.log(2e9) / (2 * runs)) ** 0.5
    assert sent.std() > 0.05


def test_11_only_recycled_blocks_of_the_last_update_are_needed():
    federation, method, draws = layered(sigma=0.5), luar(), Draws([3], TORCH)

    def spoiled(state):
        keep = to_numpy(state.server["recycle_set"])
        last = np.where(wide(keep), to_numpy(state.server["applied_update"]), 1e6)
        return state._replace(server=state.server | {"applied_update": TORCH.array(last)})

    state = method.init(federation, TORCH.array(START[None]), draws)
    for t in range(6):
        plain, other = (next(rounds_of(method, federation, s, draws, t, 1)) for s in (state, spoiled(state)))
        np.testing.assert_array_equal(to_numpy(plain.x), to_numpy(other.x))
        state = plain


def test_11_bits():
    federation, method = layered(), luar(base="fedpaq", bits=4)
    seen = looked_into(method, federation, 3, start=START).watched
    state = seen.states[1]
    context = RoundContext(method, federation, Draws([3]), 1, 2, state.x, state)
    down, up = method.upload.extra_bits(context)
    assert down == COUNT and to_numpy(up).tolist() == [[32 * (COUNT - 2)]]


# 12-14: selection ----------------------------------------------------------------------------------------------------------
positive = st.lists(st.floats(1e-6, 1e6), min_size=2, max_size=6)


@given(positive, st.floats(1e-3, 1e3))
@settings(max_examples=50, deadline=None)
def test_12_probabilities(scores, factor):
    s = np.array([scores])
    p, q = (w / w.sum() for w in (Recycling().weights(s), Recycling().weights(factor * s)))
    assert (p >= 0).all() and p.sum() == pytest.approx(1)
    np.testing.assert_allclose(p, q, rtol=1e-12)
    strict = np.subtract.outer(s[0], s[0]) > 0
    assert (np.subtract.outer(p[0], p[0])[strict] <= 0).all()
    np.testing.assert_allclose(p[:, ::-1], Recycling().weights(s[:, ::-1]) / Recycling().weights(s).sum(), rtol=1e-12)
    inverted = Recycling(selector="inverted").weights(s)
    np.testing.assert_allclose(inverted / inverted.sum(), s / s.sum())
    np.testing.assert_array_equal(Recycling(selector="uniform").weights(s), np.ones_like(s))


def test_12_layers_without_a_model_come_last_and_uniformly():
    weights = Recycling().weights(np.array([[np.inf, 1.0, np.inf, 1e9]]))
    assert weights.tolist() == [[0, 1, 0, 1e-9]]
    places = Draws(np.arange(4000), NUMPY).order(LAYERS, 1, weights)
    assert (places[:, [1, 3]] < 2).all() and (places[:, [0, 2]] >= 2).all()
    assert abs((places[:, 0] == 2).mean() - 0.5) < (np.log(2e9) / 8000) ** 0.5


class Renumbered(Draws):
    """Draws in which the items carry other numbers."""

    order_of_numbers = np.array([2, 0, 3, 1])

    def client_numbers(self, population):
        numbers = super().client_numbers(population)
        return numbers[:, self.order_of_numbers] if population == 4 else numbers


def test_12_draws_follow_the_layers_numbers():
    weights, order = np.array([[1.0, 2.0, 5.0, 0.5]]), Renumbered.order_of_numbers
    plain = Draws(np.arange(50), NUMPY).order(LAYERS, 3, weights)
    np.testing.assert_array_equal(Renumbered(np.arange(50), NUMPY).order(LAYERS, 3, weights[:, order]), plain[:, order])


RUNS = 40000


@pytest.mark.parametrize("backend", [NUMPY, TORCH])
@pytest.mark.parametrize("weights", [(1.0, 2.0, 5.0, 0.5), (1.0, 1.0, 1.0, 1.0), (0.01, 10.0, 3.0, 3.0)])
def test_13_the_law_of_successive_draws(backend, weights):
    """Frequencies of all 24 orders; Hoeffding and a union bound: a false alarm below 1e-8 per case."""
    places = to_numpy(Draws(np.arange(RUNS), backend).order(LAYERS, 1, backend.array([weights])))
    order = np.argsort(places, axis=-1)
    p, allowed = np.array(weights) / sum(weights), (np.log(2 * 24 * 1e8) / (2 * RUNS)) ** 0.5
    for each in permutations(range(4)):
        chance, rest = 1.0, 1.0
        for l in each:
            chance, rest = chance * p[l] / rest, rest - p[l]
        assert abs((order == each).all(axis=-1).mean() - chance) < allowed
    for size in range(5):
        pi = inclusion(p, size)
        assert pi.sum() == pytest.approx(size)
        assert abs((places < size).mean(axis=0) - pi).max() < allowed
    np.testing.assert_allclose(inclusion(p, 1), p)
    two = [p[l] * (1 + sum(p[k] / (1 - p[k]) for k in range(4) if k != l)) for l in range(4)]
    np.testing.assert_allclose(inclusion(p, 2), two)


def test_13_a_larger_score_never_helps_a_layer_to_be_recycled():
    """On the same draws, hence in law: the layer's place can only get later."""
    draws = Draws(np.arange(500), NUMPY)
    before, after = (draws.order(LAYERS, 1, Recycling().weights(np.array([[1.0, s, 0.3, 2.0]]))) for s in (0.5, 3.0))
    assert (after[:, 1] >= before[:, 1]).all() and (after[:, 1] > before[:, 1]).any()


@pytest.mark.parametrize("score", ["keep", "recompute", "oracle"])
@pytest.mark.parametrize("selector", ["luar", "update-norm"])
def test_14_scores(score, selector):
    seen = looked_into(luar(score=score, selector=selector), layered(sigma=0.5), 8, start=START, seeds=SEEDS)
    size = norms(seen.x[:-1]) if selector == "luar" else 1.0
    fresh, applied = norms(seen.fresh) / size, norms(seen.applied) / size
    kept = np.concatenate([seen.score[:1], seen.score[:-1]])
    of_recycled = {"keep": kept, "recompute": applied, "oracle": fresh}[score]
    np.testing.assert_allclose(seen.score, np.where(seen.recycled, of_recycled, fresh), rtol=1e-9)
    assert seen.recycled[1:].any() and not np.allclose(seen.score, fresh if score != "oracle" else kept)


# 15-18: structure ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("mode", ["recycle", "drop"])
@pytest.mark.parametrize("participants", [None, 2])
def test_15_16_17_structure(mode, participants):
    rounds = 10
    seen = looked_into(luar(mode=mode, participants=participants), layered(sigma=0.5), rounds, start=START, seeds=SEEDS)
    age, last, total = np.zeros_like(seen.age[0]), None, np.zeros_like(seen.x[0])
    for t in range(rounds):
        recycled = seen.recycled[t]
        age = np.where(recycled, age + 1, 0)
        last = seen.fresh[t] if last is None else np.where(wide(recycled), last, seen.fresh[t])
        expected = last if mode == "recycle" else np.where(wide(recycled), 0, seen.fresh[t])
        np.testing.assert_array_equal(seen.age[t], age)
        assert (age <= t).all()
        np.testing.assert_allclose(seen.applied[t], expected, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(seen.x[t + 1], seen.x[t] + expected, rtol=1e-9, atol=1e-11)
        noise = norms(seen.applied[t] - seen.fresh[t])
        assert (noise[~recycled] < 1e-11).all()  # 15: support
        total = total + expected
        if mode == "recycle" and t:  # 17
            parts = np.where(recycled, norms(seen.applied[t - 1]), norms(seen.fresh[t])) ** 2
            np.testing.assert_allclose((seen.applied[t]**2).sum(axis=-1), parts.sum(axis=-1), rtol=1e-9)
            assert (parts <= (norms(seen.fresh[: t + 1]) ** 2).max(axis=0) + 1e-9).all()
    np.testing.assert_allclose(seen.x[-1] - START, total, rtol=1e-9, atol=1e-11)
    if mode == "recycle":  # 16: each fresh update counts as often as it is applied
        for l, layer in enumerate(SLICES):
            for i in range(len(SEEDS)):
                firsts = [t for t in range(rounds) if not seen.recycled[t, i, l]]
                counts = np.diff([*firsts, rounds])
                assert (counts >= 1).all() and counts.sum() == rounds
                moved = sum(c * seen.fresh[t, i, layer] for t, c in zip(firsts, counts, strict=True))
                np.testing.assert_allclose(seen.x[-1, i, layer] - START[layer], moved, rtol=1e-9, atol=1e-11)


def test_15_ages_are_geometric():
    """Uniform layers, q = 1/2, 4000 runs, after round 6: P(age >= j) = q^j; Hoeffding over 24 means, below 1e-8."""
    runs = 4000
    seen = looked_into(luar(selector="uniform"), layered(clients=1), 7, start=START, seeds=range(runs))
    allowed = (np.log(2 * 24 * 1e8) / (2 * runs)) ** 0.5
    for j in range(1, 7):
        assert abs((seen.age[6] >= j).mean(axis=0) - 0.5**j).max() < allowed


def test_18_kappa_averages_to_the_share_of_layers():
    federation = layered()
    gradient = to_numpy(federation.objective_gradient(TORCH.array(START[None])))[0]
    for recycled in range(1, COUNT):
        sets = [np.isin(np.arange(COUNT), chosen) for chosen in combinations(range(COUNT), recycled)]
        masks = np.stack([np.stack([np.zeros(COUNT, bool), chosen]) for chosen in sets])
        seen = looked_into(luar(masks=masks), federation, 2, start=START, seeds=range(len(sets)))
        kappa = (norms(gradient) ** 2 * seen.recycled[1]).sum(axis=-1) / (gradient**2).sum()
        assert kappa.mean() == pytest.approx(recycled / COUNT)


# 24-28: symmetries ---------------------------------------------------------------------------------------------------------
def test_24_clients_may_be_renamed():
    base, order = layered(), [3, 0, 5, 1, 4, 2]
    other = Quadratic(base.curvature[:, order], base.center[:, order], layers=SIZES)
    np.testing.assert_allclose(path(luar(), base), path(luar(), other), rtol=1e-11, atol=1e-11)


def test_25_layers_may_be_turned():
    base = layered(hessians="rotated")
    turn = np.zeros((DIM, DIM))
    for layer, size in zip(SLICES, SIZES, strict=True):
        turn[layer, layer] = ortho_group.rvs(size, random_state=size) if size > 1 else -1.0
    other = Quadratic(turn @ to_numpy(base.curvature) @ turn.T, to_numpy(base.center) @ turn.T, layers=SIZES)
    np.testing.assert_allclose(path(luar(), base) @ turn.T, path(luar(), other, start=turn @ START), rtol=1e-9, atol=1e-9)


def test_26_losses_may_be_rescaled():
    base = layered(sigma=0.5)
    other = rescaled_losses(base, 4.0)
    np.testing.assert_allclose(path(luar(), base), path(luar(eta_l=0.1 / 4), other), rtol=1e-10, atol=1e-10)


def test_27_parameters_may_be_rescaled():
    base = layered()
    other = Quadratic(base.curvature, 8 * base.center, layers=SIZES)
    np.testing.assert_allclose(8 * path(luar(), base), path(luar(), other, start=8 * START), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("options", "moves"), [
    ({"recycled": 0}, True), ({"recycled": COUNT}, True), ({"masks": masks_of(COUNT, 2, 6)}, True), ({"recycled": 2}, False),
])
def test_28_translations(options, moves):
    base, vector = layered(), np.linspace(-3, 3, DIM)
    other = Quadratic(base.curvature, to_numpy(base.center) + vector, layers=SIZES)
    method, seeds = luar(**options), range(20)
    apart = abs(path(method, base, seeds=seeds) + vector - path(method, other, start=START + vector, seeds=seeds))
    assert (apart.max() < 1e-10) == moves


# 29, 30: fixed points ------------------------------------------------------------------------------------------------------
def test_29_fixed_points():
    federation, masks = layered(), masks_of(COUNT, 2, 6, seed=2)
    point = path(make_algorithm("fedavg", eta_l=0.1, local_steps=2), federation, 800)[0, -1]
    method = luar(masks=masks, R0="all")
    state = method.init(federation, TORCH.array(point[None]), Draws([0]))
    after = list(rounds_of(method, federation, state, Draws([0]), 0, 6))
    np.testing.assert_allclose(to_numpy(after[-1].x)[0], point, atol=1e-12)
    pushed = luar(masks=np.ones((1, COUNT)), initial_update=np.ones(DIM))
    assert abs(path(pushed, federation, start=point)[0, -1] - point).min() > 1
    exact = Quadratic(np.ones((1, 2, DIM)), np.broadcast_to(START, (1, 2, DIM)).copy(), layers=SIZES)
    seen = looked_into(luar(score_floor=1e-3), exact, 3, start=START)
    assert (seen.score == 1e-3).all() and (seen.x == START).all()


def test_30_limits_are_those_of_fedavg():
    federation = layered()
    limit = path(make_algorithm("fedavg", eta_l=0.05, local_steps=3), federation, 600, seeds=[0])[0, -1]
    found = path(luar(eta_l=0.05, local_steps=3, selector="uniform"), federation, 600)
    np.testing.assert_allclose(found[:, -1], np.broadcast_to(limit, found[:, -1].shape), atol=1e-10)
    assert abs(limit - to_numpy(federation.x_star)[0]).max() > 1e-3


# readings ------------------------------------------------------------------------------------------------------------------
def test_all_layers_recycled_in_round_0():
    first = np.linspace(0, 1, DIM)
    seen = looked_into(luar(R0="all", initial_update=first), layered(), 3, start=START)
    np.testing.assert_allclose(seen.applied[0, 0], first)
    assert (seen.age[0] == 1).all() and (seen.score[0] == 1e-12).all() and seen.recycled[1].sum() == 2
    still = looked_into(luar(R0="all"), layered(), 1, start=START)
    np.testing.assert_allclose(still.x[1], still.x[0], rtol=1e-15)


def test_what_is_recycled_when_the_step_falls():
    """Step sizes 1/10, 1/20, ...: displacements stay, rescaled ones fall with the step."""
    masks = [[0] * COUNT, [1, 0, 0, 0]]
    for lr_decay, factor in (("displacement", 1.0), ("rescaled", 0.5)):
        method = luar(masks=masks, lr_decay=lr_decay, eta_l=Geometric(0.1, 0.5))
        seen = looked_into(method, layered(sigma=0.3), 4, start=START, seeds=SEEDS)
        for t in (1, 2, 3):
            np.testing.assert_allclose(seen.applied[t, :, 0], factor**t * seen.applied[0, :, 0], rtol=1e-12)
    each = luar(masks=masks, lr_decay="rescaled", eta_l=Geometric(np.array([0.1, 0.2, 0.4]), np.array([0.5, 1.0, 0.25])))
    seen = looked_into(each, layered(), 3, start=START, seeds=SEEDS)
    np.testing.assert_allclose(seen.applied[2, :, 0], np.array([0.25, 1.0, 0.0625]) * seen.applied[0, :, 0], rtol=1e-12)


def test_the_number_of_layers_may_differ_between_runs():
    together = path(luar(recycled=np.array([0, 2, 4])), layered(sigma=0.5))
    for i, recycled in enumerate((0, 2, 4)):
        alone = path(luar(recycled=recycled), layered(sigma=0.5), seeds=SEEDS[i : i + 1])
        np.testing.assert_array_equal(together[i], alone[0])


def test_fractions_with_forced_and_with_uniform_layers():
    federation = Quadratic([[[1, 2, 3]]], [[[1, 1, 1]]], backend=EXACT, layers=(1, 2))
    floats = Quadratic([[[1.0, 2.0, 3.0]]], [[[1.0, 1.0, 1.0]]], layers=(1, 2))
    for options in ({"masks": [[0, 0], [1, 0], [0, 1]]}, {"recycled": 1, "selector": "uniform"}):
        exact = run(luar(eta_l=Fraction(1, 8), **options), federation, 4, record=["x"]).dataset["x"].values
        assert isinstance(exact[0, -1, 0], Fraction)
        expected = run(luar(eta_l=0.125, **options), floats, 4, record=["x"]).dataset["x"].values
        np.testing.assert_allclose(exact.astype(float), expected, rtol=1e-14)
    with pytest.raises(ValueError, match="roots"):
        run(luar(recycled=1), federation, 1)


BAD = {
    "more than there are": (lambda: run(luar(recycled=5), layered(), 1), "recycled.* 4.*got 5"),
    "negative": (lambda: luar(recycled=-1), "recycled.* 0.*got -1"),
    "not whole": (lambda: luar(recycled=np.array([0.5, 1.0])), "recycled.* 0.*got .*0.5"),
    "selector": (lambda: luar(selector="largest"), "unknown selector 'largest'; allowed: luar, inverted"),
    "masks": (lambda: run(luar(masks=[[0, 1]]), layered(), 1), r"\(rounds, 4\).*got \(1, 2\)"),
    "solver": (lambda: luar(base="fedpd", solver="exact", local_steps=1, lr_decay="rescaled"), "one length"),
    "post, drop": (lambda: luar(mode="drop", recycled_object="post-optimizer"), "'recycle'.*got mode 'drop'"),
    "two filters of the whole": (lambda: luar(base="lbgm"), "LBGM"),
    "rare layers": (lambda: luar(base="fedlama"), "upload filters"),
    "alone": (lambda: luar(base="local-only"), "train alone"),
    "base": (lambda: luar(base="fedavgg"), "unknown algorithm"),
    "base's argument": (lambda: luar(base="fedprox", rho=1.0), "fedprox.*'rho'; did you mean rho_prox. allowed: eta_l"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_has_no_meaning_is_refused(case):
    action, message = BAD[case]
    with pytest.raises((TypeError, ValueError, LookupError), match=message):
        action()


# compositions --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("base", [
    None, "fedprox", "fedpaq", "fedacg", "fedavgm", "fedadam", "fedyogi", "fedadagrad", "fedmut", "feddropoutavg"])
def test_what_every_method_owes(base):
    check_algorithm("fedluar", arguments={"base": base} if base else None, quick=True).raise_if_failed()


@pytest.mark.parametrize("base", ["fedavg", "fedadam", "fedyogi", "fedadagrad", "fedavgm"])
def test_server_optimisers_get_the_applied_update(base):
    """x_{t+1} is the server's own step from x_t + the applied update."""
    method, federation = luar(base=base), layered(sigma=0.5)
    seen = looked_into(method, federation, 6, start=START, seeds=SEEDS)
    for t, state in not_empty(enumerate(seen.watched.states[:-1])):
        context = RoundContext(method, federation, Draws(SEEDS), t, 2 * t + 1, state.x, state)
        expected, _ = method.server.step(state.x + seen.watched.states[t + 1].server["applied_update"], context)
        np.testing.assert_allclose(seen.x[t + 1], to_numpy(expected), rtol=1e-11, atol=1e-12)
        last = seen.fresh[t] if t == 0 else np.where(wide(seen.recycled[t]), seen.applied[t - 1], seen.fresh[t])
        np.testing.assert_allclose(seen.applied[t], last, rtol=1e-9, atol=1e-11)


def test_steps_of_plain_server_sgd_may_be_recycled_before_or_after():
    before, after = (path(luar(base="fedavg", eta_g=0.7, recycled_object=o), layered(sigma=0.5)) for o in (
        "pre-optimizer", "post-optimizer"))
    np.testing.assert_allclose(before, after, rtol=1e-11, atol=1e-11)


def test_steps_of_an_adaptive_server_are_repeated():
    options = {"federation": layered(sigma=0.5), "rounds": 6, "start": START, "seeds": SEEDS}
    seen = looked_into(luar(base="fedadam", recycled_object="post-optimizer"), **options)
    steps, again = np.diff(seen.x, axis=0), wide(seen.recycled)
    np.testing.assert_allclose(np.where(again[1:], steps[1:] - steps[:-1], 0), 0, atol=1e-12)
    for name in ("server_moment1", "server_moment2"):
        kept = np.stack([a[name] for a in seen.watched.arrays])
        assert (np.diff(kept, axis=0)[again] == 0).all() and (np.diff(kept, axis=0)[~again] != 0).any()
    assert abs(seen.x - looked_into(luar(base="fedadam"), **options).x).max() > 1e-3


@pytest.mark.parametrize("score_norm", ["broadcast", "model"])
def test_fedacg(score_norm):
    """z = x + lam M, M <- lam M + applied, x <- x + M; scores by |z| or |x|."""
    lam = 0.5
    method = luar(base="fedacg", lam=lam, rho_prox=0.3, score_norm=score_norm)
    seen = looked_into(method, layered(), 6, start=START)
    M = np.zeros((1, DIM))
    for t in range(6):
        z = seen.x[t] + lam * M
        change = seen.watched.ends[t].mean(axis=1) - z
        applied = change if t == 0 else np.where(wide(seen.recycled[t]), seen.applied[t - 1], change)
        np.testing.assert_allclose(seen.applied[t], applied, rtol=1e-10, atol=1e-11)
        score = norms(change) / norms(z if score_norm == "broadcast" else seen.x[t])
        np.testing.assert_allclose(seen.score[t][~seen.recycled[t]], score[~seen.recycled[t]], rtol=1e-9)
        M = lam * M + applied
        np.testing.assert_allclose(seen.x[t + 1], seen.x[t] + M, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("relative", ["start", "broadcast"])
def test_fedmut_measures_changes_from_the_mutated_start_or_from_the_broadcast(relative):
    """Full participation of six equal clients, so the means agree; with free weights they do not."""
    weights = [1.0, 2.0, 1.0, 3.0, 1.0, 1.0]
    federation = layered(weights=weights)
    method = luar(base="fedmut", relative=relative, alpha=0.7)
    seen = looked_into(method, federation, 5, start=START).watched
    p = np.array(weights) / sum(weights)
    for t in range(1, 5):
        from_x = seen.ends[t] - seen.x[t][:, None]
        from_start = seen.ends[t] - seen.x_local[t][0]
        expected = np.einsum("k,nkd->nd", p, from_start if relative == "start" else from_x)
        fresh = ~wide(seen.arrays[t]["recycle_set"] > 0)
        np.testing.assert_allclose(seen.arrays[t + 1]["applied_update"][fresh], expected[fresh], rtol=1e-10, atol=1e-11)
        assert abs(from_x - from_start).max() > 1e-3


def test_fedpaq_counts_bits_of_fresh_layers_only():
    federation = layered(sigma=0.5)
    for bits in (2, 8):
        plain, quantised = (uplink(luar(**options), federation, 6)["uplink_floats"].values for options in (
            {"selector": "uniform"}, {"selector": "uniform", "base": "fedpaq", "bits": bits}))
        np.testing.assert_allclose(quantised, plain * bits / 32)
    seen = looked_into(luar(base="fedpaq", bits=8), federation, 6, start=START, seeds=SEEDS)
    for t in range(1, 6):
        again = wide(seen.recycled[t])
        np.testing.assert_array_equal(seen.applied[t][again], seen.applied[t - 1][again])
        assert 0 < abs(seen.applied[t] - seen.fresh[t])[~again].max() < 0.05


def test_coordinates_that_are_dropped_in_layers_that_are_sent():
    data = uplink(luar(base="feddropoutavg", fdr=0.5, recycled=2, selector="uniform"), layered(), 40)
    sent = data["uplink_floats"].values[:, 1:].mean() / DIM
    assert 0.15 < sent < 0.35  # about 1/2 * 1/2



@pytest.mark.parametrize("kept", [False, True])
def test_local_momentum_starts_anew_or_is_kept(kept):
    """One client, everything sent: u <- 0.9 u + x over all steps, or from zero in every round."""
    federation = Quadratic(np.ones((1, 1, 2)), np.zeros((1, 1, 2)), layers=2)
    method = luar(recycled=0, local_momentum=0.9, momentum_kept=kept)
    x, u = np.array([1.0, -2.0]), 0.0
    for t, found in not_empty(enumerate(path(method, federation, 4, start=x, seeds=[0])[0][1:])):
        u = u if kept else 0.0
        for _ in range(2):
            u = 0.9 * u + x
            x = x - 0.1 * u
        np.testing.assert_allclose(found, x, rtol=1e-12, err_msg=f"round {t}")


# planted faults ------------------------------------------------------------------------------------------------------------
def _with(owner, name, change):
    return lambda patch: patch.setattr(owner, name, change(getattr(owner, name)))


def _on_state(name, change):
    """Spoils one array that Recycling.receive answers."""
    def make(original):
        def receive(self, update, context):
            applied, server = original(self, update, context)
            return applied, server | {name: change(server[name], context)}
        return receive
    return _with(Recycling, "receive", make)


FAULTS = {
    "dropped instead of recycled": (
        _with(Recycling, "receive", lambda f: lambda self, c, m: (c, f(self, c, m)[1])),
        lambda: test_2_everything_recycled_repeats_the_first_update()),
    "recycled layers are sent all the same": (
        _with(recycling, "masked", lambda f: lambda change, present, local: (
            f(change, present, local)[0], *f(change, present | True, local)[1:])),
        lambda: test_8_what_is_sent(2, None)),
    "one layer too many": (
        _with(Recycling, "_next", lambda f: lambda self, s, m: f(self, s, m) | (m.draws.client_numbers(COUNT) == 0)),
        lambda: test_8_what_is_sent(2, None)),
    "large scores are recycled": (
        _with(Recycling, "weights", lambda f: lambda self, s: 1 / f(self, s)), lambda: test_10_expected_uplink()),
    "the squares of the weights decide": (
        _with(Draws, "order", lambda f: lambda self, s, t, w: f(self, s, t, w**2)),
        lambda: test_13_the_law_of_successive_draws(NUMPY, (1.0, 2.0, 5.0, 0.5))),
    "layers drawn by the places of a list, not by their numbers": (
        _with(Draws, "order", lambda f: lambda self, s, t, w: f(Draws([0], NUMPY), s, t, w) + 0 * self.seeds[:, None]),
        lambda: test_12_draws_follow_the_layers_numbers()),
    "ages never start anew": (
        _on_state("age", lambda age, m: m.state.server["age"] + 1), lambda: test_15_16_17_structure("recycle", None)),
    "a recycled layer's score is taken anew": (
        _with(Recycling, "_scores", lambda f: lambda self, a, c, m: f(replace(self, score="recompute"), a, c, m)),
        lambda: test_14_scores("keep", "luar")),
    "scores by the model after the round": (
        _on_state("score", lambda score, m: score * 1.01), lambda: test_14_scores("recompute", "luar")),
    "the update of two rounds ago": (
        _on_state("applied_update", lambda u, m: m.state.server["applied_update"]),
        lambda: test_15_16_17_structure("recycle", None)),
    "rescaled by the inverse": (
        _with(Recycling, "_factor", lambda f: lambda self, m: 1 / f(self, m)),
        lambda: test_what_is_recycled_when_the_step_falls()),
    "the server's optimiser does not rest": (
        _with(RecycledSteps, "step", lambda f: lambda self, a, m: (f(self, a, m)[0], self.inner.step(a, m)[1] | {
            "applied_step": f(self, a, m)[1]["applied_step"]})),
        lambda: test_steps_of_an_adaptive_server_are_repeated()),
    "quantised layers cost as if they were floats": (
        _with(Quantised, "send", lambda f: lambda self, c, local, m: (
            f(self, c, local, m)[0], f(self, c, local, m)[1] * 32 / self.bits, f(self, c, local, m)[2])),
        lambda: test_fedpaq_counts_bits_of_fresh_layers_only()),
    "changes from the broadcast model": (
        _with(Mutation, "begin", lambda f: lambda self, local, m: f(replace(self, relative="broadcast"), local, m)),
        lambda: test_fedmut_measures_changes_from_the_mutated_start_or_from_the_broadcast("start")),
    "momentum is never kept": (
        _with(LocalMomentum, "begin", lambda f: lambda self, local, m: f(replace(self, kept=False), local, m)),
        lambda: test_local_momentum_starts_anew_or_is_kept(True)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_noticed(fault, monkeypatch):
    plant, check = FAULTS[fault]
    check()
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        check()
