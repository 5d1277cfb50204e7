"""Methods that send less (quantised, projected, dropped, pruned, rarely averaged), and FedMut, MOON and FedPara."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import RoundContext, State, WithoutReplacement, WithReplacement, make_algorithm, resume, rounds_of, run
from fedtheory.algorithms import fedlama, moon, prunefl
from fedtheory.algorithms.feddropoutavg import Dropped
from fedtheory.algorithms.fedmut import Mutation
from fedtheory.algorithms.fedpaq import Quantised
from fedtheory.algorithms.lbgm import LookBack
from fedtheory.chain import Chain, chained
from fedtheory.layerwise import by_coordinate, layer_norms, layer_sums
from fedtheory.parts import UploadFilter
from fedtheory.testing.check import check_algorithm
from synthetic import EXACT, NUMPY, TORCH, Draws, EnumeratedDraws, Quadratic, from_arrays, make_problem, to_numpy
from synthetic.data.factored import factored
from synthetic.numbers.draws import DROPOUT, LOST, QUANTISER
from tests.fedtheory.methods.common import SEEDS, check_gathered, maker, watch
from tests.fedtheory.methods.luar_rows import SIZES, START, layered
from tests.synthetic.families import make

DIM, COUNT, SLICES = sum(SIZES), len(SIZES), layered().layers()
ROUNDS = 7


def gradient(federation, x, client, iteration):
    """A client's stochastic gradient at ``x`` (dim,)."""
    draws, number = Draws(SEEDS[:1], TORCH), TORCH.integers([[client]])
    return to_numpy(federation.stochastic_gradient(TORCH.array(x[None, None]), draws, iteration, number))[0, 0]


def local(federation, x, client, t, steps=2, eta=0.1, kept=None):
    """A client's model after the local steps of round t from ``x``, by itself, and the sum of its squared gradients."""
    total = 0 * x
    for j in range(steps):
        g = gradient(federation, x, client, t * steps + j)
        total = total + g**2
        x = x - eta * (g if kept is None else np.where(kept, g, 0))
    return x, total


def members(seen, t):
    return np.flatnonzero(seen.active[t][0]).tolist()


# what all owe --------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", [
    "feddrop", "fedpaq", "lbgm", "feddropoutavg", "fedmut", "fedlama", "prunefl", "moon", "fedpara"])
def test_what_every_method_owes(name):
    check_algorithm(name, quick=True).raise_if_failed()


def networks(name, backend=TORCH):
    if name == "moon":
        return make("softmax", batch_size=2, priority=None, backend=backend)
    return factored(make("softmax", batch_size=2, priority=None, backend=backend), rank=2)


@pytest.mark.parametrize("name", ["moon", "fedpara"])
def test_methods_of_some_federations_only(name):
    """Participants alone, NumPy and torch, batches and resuming, where the method has a meaning."""
    federation = networks(name)
    start = to_numpy(federation.default_start()) if name == "fedpara" else np.linspace(-1, 1, federation.dim)
    method = make_algorithm(name, local_steps=2, participants=2)
    options = {"start": start, "seeds": SEEDS}
    alone, everybody = (run(method, federation, 4, record=record, **options) for record in (["x"], ["x", "x_local"]))
    x = alone.dataset["x"].values
    np.testing.assert_allclose(x, everybody.dataset["x"].values, rtol=1e-11, atol=1e-12)
    other = run(method, networks(name, NUMPY), 4, record=["x"], **options).dataset["x"].values
    np.testing.assert_allclose(x, other, rtol=1e-10, atol=1e-11)
    single = run(method, federation, 4, record=["x"], start=start, seeds=SEEDS[1:2]).dataset["x"].values
    np.testing.assert_allclose(single[0], x[1], rtol=1e-12)
    half = run(method, federation, 2, record=["x"], **options)
    np.testing.assert_array_equal(resume(half, method, federation, 2).dataset["x"].values, x)


@pytest.mark.parametrize(("name", "reason"), [
    ("fedpara", "allowed: synthetic.factored")])
def test_methods_of_some_federations_refuse_others(name, reason):
    with pytest.raises(ValueError, match=reason):
        run(make_algorithm(name), layered(), 1)
    assert make_algorithm(name).refuses(networks(name)) is None


# layers and chains ---------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("backend", [NUMPY, TORCH, EXACT])
@pytest.mark.parametrize("sizes", [(1, 3, 2, 4), (2, 2, 2), (5,), (1, 1)])
def test_sums_over_layers_and_back(backend, sizes):
    ends = np.cumsum(sizes)
    layers = [slice(e - s, e) for e, s in zip(ends, sizes, strict=True)]
    values = np.arange(2 * 3 * sum(sizes)).reshape(2, 3, -1) % 7 - 2
    sums = to_numpy(layer_sums(backend.array(values), layers))
    np.testing.assert_array_equal(sums.astype(float), np.stack([values[..., l].sum(-1) for l in layers], -1))
    back = to_numpy(by_coordinate(backend.array(sums), layers))
    np.testing.assert_array_equal(back.astype(float), np.repeat(sums, sizes, -1))
    if backend is not EXACT:
        expected = np.stack([np.linalg.norm(values[..., l], axis=-1) for l in layers], -1)
        np.testing.assert_allclose(to_numpy(layer_norms(backend.array(values), layers)), expected)


def test_chains():
    first, second = Dropped(), Quantised()
    assert chained(first, UploadFilter()) is first
    assert chained(first, Chain((second,))).filters == (first, second)
    with pytest.raises(ValueError, match="Dropped and Dropped"):
        Chain((first, second, first))
    both = make_algorithm("fedavg", local_steps=2).having(upload=Chain((Dropped(0.25), Quantised(4))))
    data = run(both, layered(), 30, start=START, record=["uplink_floats"]).dataset["uplink_floats"].values
    assert set(np.unique(data * 8)) <= set(range(DIM + 1)) and abs(data.mean() * 8 / DIM - 0.75) < 0.1


# FedPAQ --------------------------------------------------------------------------------------------------------------------
def quantised(v, u, levels):
    size = np.linalg.norm(v)
    position = levels * abs(v) / size if size else 0 * v
    return size * np.sign(v) * (np.floor(position) + (u < position - np.floor(position))) / levels


@pytest.mark.parametrize("scope", ["per-layer", "whole-vector"])
@pytest.mark.parametrize("options", [{"bits": 3}, {"levels": 1}, {"bits": 8}])
def test_fedpaq_by_loops(scope, options):
    federation, method = layered(sigma=0.5), make_algorithm("fedpaq", local_steps=2, scope=scope, participants=3, **options)
    seen, levels, x = watch(method, federation, ROUNDS, start=START, seeds=SEEDS[:1]), method.upload.levels, START
    for t in range(ROUNDS):
        sent = []
        for i in members(seen, t):
            change = local(federation, x, i, t)[0] - x
            u = Draws(SEEDS[:1], NUMPY).uniform(QUANTISER, t, np.array([[[i]]]), np.arange(DIM)[None, None], ndim=3)[0, 0]
            blocks = SLICES if scope == "per-layer" else [slice(None)]
            sent.append(np.concatenate([quantised(change[b], u[b], levels) for b in blocks]))
        x = x + np.mean(sent, axis=0)
        np.testing.assert_allclose(seen.x[t + 1][0], x, rtol=1e-9, atol=1e-10)


def answers(v, levels, scope="whole-vector"):
    """All that Q can answer to ``v`` (3,), with the chance of each: one client, one step, one run per outcome."""
    outcomes = np.array(list(product((0, 1), repeat=3)))
    draws = EnumeratedDraws({QUANTISER: outcomes[:, None, None, :]}, NUMPY)
    federation = Quadratic(np.ones((1, 1, 3)), np.asarray(v)[None, None], layers=(1, 2), backend=NUMPY)
    method = make_algorithm("fedpaq", eta_l=1.0, levels=levels, scope=scope)
    state = method.init(federation, np.zeros((8, 3)), draws)
    found = next(rounds_of(method, federation, state, draws, 0, 1)).x
    blocks = [slice(0, 1), slice(1, 3)] if scope == "per-layer" else [slice(None)]
    position = np.concatenate([levels * abs(v[b]) / (np.linalg.norm(v[b]) or 1) for b in blocks])
    part = position - np.floor(position)
    return found, np.prod(np.where(outcomes, part, 1 - part), axis=-1)


@given(st.lists(st.floats(-10, 10, width=32), min_size=3, max_size=3), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_fedpaq_is_unbiased_with_the_stated_variance(v, levels):
    """Exact expectations, over all outcomes."""
    v = np.array(v)
    for scope in ("per-layer", "whole-vector"):
        found, chance = answers(v, levels, scope)
        assert chance.sum() == pytest.approx(1)
        np.testing.assert_allclose(chance @ found, v, rtol=1e-9, atol=1e-9)
        variance = chance @ ((found - v) ** 2).sum(axis=-1)
        assert variance <= min(3 / levels**2, 3**0.5 / levels) * (v @ v) * (1 + 1e-9) + 1e-12


def test_fedpaq_by_draws():
    """The mean of 20000 drawn answers; Hoeffding over three coordinates: a false alarm below 1e-8."""
    v, levels, runs = np.array([0.7, -0.2, 0.4]), 2, 20000
    federation = Quadratic(np.ones((1, 1, 3)), v[None, None])
    method = make_algorithm("fedpaq", eta_l=1.0, levels=levels, scope="whole-vector")
    x = run(method, federation, 1, seeds=runs, record=["x"])
    allowed = np.linalg.norm(v) / levels * (np.log(2 * 3 * 1e8) / (2 * runs)) ** 0.5
    assert abs(x.dataset["x"].values[:, 1].mean(axis=0) - v).max() < allowed
    correlation = np.corrcoef(x.dataset["x"].values[:, 1], rowvar=False) - np.eye(3)
    assert abs(correlation).max() < 6 / runs**0.5


@pytest.mark.parametrize(("options", "levels", "bits"), [
    ({}, 127, 8), ({"bits": 2}, 1, 2), ({"bits": 16}, 2**15 - 1, 16), ({"levels": 1}, 1, 2), ({"levels": 4}, 4, 4),
    ({"levels": 127}, 127, 8)])
def test_fedpaq_levels_and_bits(options, levels, bits):
    method = make_algorithm("fedpaq", **options)
    assert (method.upload.levels, method.upload.bits) == (levels, bits)
    data = run(method, layered(), 2, start=START, record=["uplink_floats", "downlink_floats"]).dataset
    assert (data["uplink_floats"] == DIM * bits / 32).all() and (data["downlink_floats"] == DIM).all()
    context = RoundContext(method, layered(), Draws([0]), 0, 0, None, State(None))
    assert method.upload.extra_bits(context) == (0, 32 * COUNT)
    whole = replace(method.upload, scope="whole-vector"), replace(method.upload, quantiser="identity")
    assert [each.extra_bits(context) for each in whole] == [(0, 32), (0, 0)]


# LBGM ----------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.4, 1.0])
def test_lbgm_by_loops(threshold):
    federation, method = layered(sigma=0.5), make_algorithm("lbgm", local_steps=2, participants=3, threshold=threshold)
    seen, x, back, scalars = watch(method, federation, ROUNDS, start=START, seeds=SEEDS[:1]), START, {}, 0
    sent = run(method, federation, ROUNDS, start=START, seeds=SEEDS[:1], record=["uplink_floats"]).dataset["uplink_floats"]
    for t in range(ROUNDS):
        used = []
        for i in members(seen, t):
            d = local(federation, x, i, t)[0] - x
            cosine = d @ back[i] / np.linalg.norm(d) / np.linalg.norm(back[i]) if i in back else None
            near = i in back and 1 - cosine**2 <= threshold
            back[i] = back[i] if near else d
            used.append(d @ back[i] / (back[i] @ back[i]) * back[i])
            assert sent.values[0, t, i] == (1 if near else DIM)
            scalars += near
        x = x + np.mean(used, axis=0)
        np.testing.assert_allclose(seen.x[t + 1][0], x, rtol=1e-9, atol=1e-10)
        for i in back:
            np.testing.assert_allclose(seen.arrays[t + 1]["client look_back"][0, i], back[i], rtol=1e-9, atol=1e-10)
    assert scalars == 0 if threshold == 0 else scalars > 0
    assert threshold < 1 or scalars == 3 * ROUNDS - len(back)


# FedDropoutAvg -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("options", [{"fdr": 0.5}, {"fdr": 0.9, "cdr": 0.3}, {"fdr": 0.0, "cdr": 0.5}, {"fdr": 1.0}])
def test_feddropoutavg_by_loops(options):
    federation, method = layered(sigma=0.5), make_algorithm("feddropoutavg", local_steps=2, participants=3, **options)
    seen, x = watch(method, federation, ROUNDS, start=START, seeds=SEEDS[:1]), START
    fdr, cdr = options["fdr"], options.get("cdr", 0)
    sent = run(method, federation, ROUNDS, start=START, seeds=SEEDS[:1], record=["uplink_floats"]).dataset["uplink_floats"]
    draws = Draws(SEEDS[:1], NUMPY)
    for t in range(ROUNDS):
        total, senders = np.zeros(DIM), np.zeros(DIM)
        for i in members(seen, t):
            u = draws.uniform(DROPOUT, t, np.array([[[i]]]), np.arange(DIM)[None, None], ndim=3)[0, 0]
            there = (u >= fdr) & (draws.uniform(LOST, t, i, 0)[0] >= cdr)
            total, senders = total + np.where(there, local(federation, x, i, t)[0] - x, 0), senders + there
            assert sent.values[0, t, i] == there.sum()
        x = x + np.where(senders > 0, total / np.maximum(senders, 1), 0)
        np.testing.assert_allclose(seen.x[t + 1][0], x, rtol=1e-9, atol=1e-10)


def test_feddropoutavg_in_expectation():
    """In fractions, over all 64 outcomes for two clients: (1 - p^2) times FedAvg's change, p the chance not to arrive."""
    fdr, cdr = Fraction(1, 3), Fraction(1, 4)
    rows = list(product(product((0, 1), repeat=4), product((0, 1), repeat=2)))
    drop = np.array([np.reshape(d, (1, 2, 2)) for d, _ in rows])
    lost = np.array([np.reshape(l, (1, 2, 1)) for _, l in rows])
    chance = np.array([fdr ** sum(d) * (1 - fdr) ** (4 - sum(d)) * cdr ** sum(l) * (1 - cdr) ** (2 - sum(l))
                       for d, l in rows])
    draws = EnumeratedDraws({DROPOUT: drop, LOST: lost}, EXACT)
    federation = Quadratic([[[1, 2], [3, 1]]], [[[1, -1], [2, 5]]], backend=EXACT)
    method = make_algorithm("feddropoutavg", eta_l=Fraction(1, 8), fdr=fdr, cdr=cdr)
    state = method.init(federation, EXACT.array(np.zeros((len(rows), 2))), draws)
    x = next(rounds_of(method, federation, state, draws, 0, 1)).x
    plain = run(make_algorithm("fedavg", eta_l=Fraction(1, 8)), federation, 1, record=["x"]).dataset["x"].values[0, 1]
    p = fdr + (1 - fdr) * cdr
    one_less = [Fraction(1, 8) * a * c for a, c in ((1, 1), (3, 2))]
    assert sum(one_less) / 2 == plain[0]
    assert chance.sum() == 1 and (chance @ x == (1 - p**2) * plain).all()


# FedMut --------------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("participants", [None, 2, 3, 5, 1])
def test_fedmut_starts(participants):
    federation, alpha = layered(sigma=0.5), 0.7
    method = make_algorithm("fedmut", local_steps=2, alpha=alpha, participants=participants)
    seen = watch(method, federation, ROUNDS, start=START, seeds=SEEDS)
    found = []
    for t in range(1, ROUNDS):
        move = seen.x[t] - seen.x[t - 1]
        signs = (seen.x_local[t][0] - seen.x[t][:, None]) / (alpha * move[:, None])
        first = np.stack([signs[..., layer.start] for layer in SLICES], axis=-1)
        np.testing.assert_allclose(signs, np.repeat(first, SIZES, axis=-1), atol=1e-8)
        active, count = seen.active[t][..., None], seen.active[t][0].sum()
        np.testing.assert_allclose(first, np.round(first), atol=1e-8)
        assert (np.round(abs(first)).sum(axis=1) == 2 * (count // 2)).all(), "all but one of an odd number move"
        np.testing.assert_allclose((first * active).sum(axis=1), 0, atol=1e-8)
        np.testing.assert_allclose(first * ~active, 0, atol=1e-8)
        expected = seen.ends[t].mean(axis=1) if participants is None else np.stack(
            [e[a].mean(axis=0) for e, a in zip(seen.ends[t], seen.active[t], strict=True)])
        np.testing.assert_allclose(seen.x[t + 1], expected, rtol=1e-11, atol=1e-12)
        found.append(np.round(first))
    patterns = {signs[0, :, l].tobytes() for signs in found for l in range(COUNT)}
    assert participants == 1 or len(patterns) > 3, "layers and rounds differ"


def test_fedmut_signs_are_fair():
    """Each client has +1 in half of 4000 runs, independently between layers; Hoeffding, below 1e-8 over 24 + 36 means."""
    runs, federation = 4000, layered()
    method = make_algorithm("fedmut")
    draws, state = Draws(range(runs), TORCH), State(TORCH.array(np.zeros((runs, DIM))))
    everybody = method.selection.participate(federation, federation.all_clients(state.x), draws, 2, 2)
    context = RoundContext(method, federation, draws, 2, 2, state.x, state, None, everybody)
    signs = to_numpy(method.correction.signs(context, 6))
    allowed = 2 * (np.log(2 * 60 * 1e8) / (2 * runs)) ** 0.5
    assert abs(signs.mean(axis=0)).max() < allowed
    for l in range(COUNT):
        for k in range(l):
            assert abs((signs[:, :, k] * signs[:, :, l]).mean(axis=0)).max() < allowed


# FedLAMA -------------------------------------------------------------------------------------------------------------------
def rarely(d, sizes):
    """Layers in ascending order of d: rare while the share of d * size so far is below the share of size still to come."""
    chosen, weight, size = np.zeros(len(d), bool), 0.0, 0
    for l in np.argsort(d):
        weight, size = weight + d[l] * sizes[l], size + sizes[l]
        chosen[l] = weight / (np.array(d) @ sizes) < 1 - size / sum(sizes)
    return chosen


@pytest.mark.parametrize("participants", [None, 3])
@pytest.mark.parametrize("period", [1, 2, 3])
def test_fedlama_by_loops(participants, period):
    federation = layered(sigma=0.5, minimiser_spread=2.0)
    method, rounds = make_algorithm("fedlama", local_steps=2, period=period, participants=participants), 13
    options = {"start": START, "seeds": SEEDS[:1]}
    seen, x = watch(method, federation, rounds, **options), START
    costs = run(method, federation, rounds, record=["uplink_floats", "downlink_floats"], **options).dataset
    rare, models, some = np.zeros(COUNT, bool), {}, False
    for t in range(rounds):
        S, full = members(seen, t), (t + 1) % period == 0
        assert t % period == 0 or members(seen, t - 1) == S
        models = {i: x if t % period == 0 else models[i] for i in S}
        models = {i: local(federation, models[i], i, t)[0] for i in S}
        due = np.repeat(~rare | full, SIZES)
        received = DIM if t % period == 0 else np.repeat(~rare, SIZES).sum()
        assert (costs["uplink_floats"].values[0, t, S] == due.sum()).all()
        np.testing.assert_allclose(costs["downlink_floats"].values[0, t, S], received)
        x = np.where(due, np.mean([models[i] for i in S], axis=0), x)
        if full:
            apart = np.mean([(models[i] - x) ** 2 for i in S], axis=0)
            steps = 2 * np.where(rare, period, 1)
            rare = rarely([apart[l].sum() / s / n for l, s, n in zip(SLICES, steps, SIZES, strict=True)], np.array(SIZES))
            some = some or rare.any()
        models = {i: np.where(due, x, model) for i, model in models.items()}
        np.testing.assert_allclose(seen.x[t + 1][0], x, rtol=1e-9, atol=1e-10)
    assert some and not rare.all()


@given(st.lists(st.tuples(st.floats(1e-3, 1e3), st.integers(1, 20)), min_size=1, max_size=6, unique_by=lambda pair: pair[0]))
@settings(max_examples=80, deadline=None)
def test_fedlama_intervals(layers):
    d, sizes = np.array([l[0] for l in layers]), np.array([l[1] for l in layers])
    found = fedlama.rarely_averaged(d[None], sizes[None].astype(float))[0]
    np.testing.assert_array_equal(found, rarely(d, sizes))
    np.testing.assert_array_equal(found, fedlama.rarely_averaged(7.0 * d[None], sizes[None].astype(float))[0])
    assert not found[np.argmax(d)], "where clients differ most they always meet"


# PruneFL -------------------------------------------------------------------------------------------------------------------
def largest(importance, density):
    kept = np.zeros(DIM, bool)
    kept[np.argsort(-importance)[: int(density * DIM + 0.5)]] = True
    return kept


def bits(name, round, **options):
    """Bits down and up that a method sends besides its floats, in a round."""
    method = make_algorithm(name, **options)
    return method.upload.extra_bits(RoundContext(method, layered(), Draws([0]), round, round, None, State(None)))


@pytest.mark.parametrize(("name", "options", "each"), [
    ("prunefl", {"period": 2}, [(DIM, 0), (0, 0), (DIM, 0)]), ("fedlama", {"period": 2}, [(COUNT, 0), (0, 0), (COUNT, 0)]),
    ("lbgm", {}, [(0, 1)] * 3), ("feddropoutavg", {}, [(0, 0)] * 3), ("feddrop", {}, [(COUNT, 0)] * 3),
])
def test_bits(name, options, each):
    assert [bits(name, t, **options) for t in range(3)] == each


@pytest.mark.parametrize("participants", [None, 3])
@pytest.mark.parametrize(("density", "times"), [
    (0.5, None), (0.3, (1.0, 10.0, 0.1, 3.0)), (0.6, np.linspace(1, 5, DIM)), (1.0, 2.0)])
def test_prunefl_by_loops(participants, density, times):
    federation = layered(sigma=0.5, hessians="rotated")
    method = make_algorithm("prunefl", local_steps=2, density=density, times=times, period=3, initial_steps=2, client=4,
                            participants=participants)
    options = {"start": START, "seeds": SEEDS[:1]}
    seen, x, total = watch(method, federation, ROUNDS, **options), START, {i: np.zeros(DIM) for i in range(6)}
    data = run(method, federation, ROUNDS, record=["uplink_floats", "downlink_floats"], **options).dataset
    cost = np.asarray(1.0 if times is None else np.repeat(times, SIZES) if np.shape(times) == (COUNT,) else times)
    alone, first = START, np.zeros(DIM)
    for j in range(2):
        g = gradient(federation, alone, 4, prunefl._ALONE - j)
        alone, first = alone - 0.1 * g, first + g**2
    kept, masks = largest(first / cost, density), []
    for t in range(ROUNDS):
        S, models, masks = members(seen, t), [], [*masks, kept]
        for i in S:
            model, squares = local(federation, np.where(kept, x, 0), i, t, kept=kept)
            models, total[i] = [*models, model], total[i] + squares
        x, renewed = np.mean(models, axis=0), (t + 1) % 3 == 0
        assert (data["downlink_floats"].values[0, t, S] == kept.sum()).all()
        assert (data["uplink_floats"].values[0, t, S] == kept.sum() + DIM * renewed).all()
        if renewed:
            kept = largest(np.mean([total[i] for i in S], axis=0) / cost, density)
            x, total = np.where(kept, x, 0), {i: 0 * v if i in S else v for i, v in total.items()}
        np.testing.assert_allclose(seen.x[t + 1][0], x, rtol=1e-9, atol=1e-10)
        assert (seen.x[t + 1][0] != 0).sum() <= kept.sum() == int(density * DIM + 0.5)
    assert density == 1 or len({m.tobytes() for m in masks}) > 1, "the mask is renewed"


# MOON ----------------------------------------------------------------------------------------------------------------------
def network(batch_size=None, backend=TORCH):
    X, y = np.random.default_rng(3).normal(size=(24, 4)), np.arange(24) % 3
    return from_arrays(X, y, np.repeat([0, 1, 2], 8), task="perceptron", hidden=(5,), batch_size=batch_size, backend=backend)


def contrastive_loss(z, near, far, temperature):
    def e(v):
        return np.exp((z * v).sum(-1) / np.linalg.norm(z, axis=-1) / np.linalg.norm(v, axis=-1) / temperature)

    return -np.log(e(near) / (e(near) + e(far)))


def test_moon_gradient_of_the_contrast():
    z, near, far = np.random.default_rng(1).normal(size=(3, 7, 4))
    loss, slope = moon.contrast(z, near, far, 0.7)
    np.testing.assert_allclose(loss, contrastive_loss(z, near, far, 0.7), rtol=1e-12)
    for j, step in enumerate(1e-6 * np.eye(4)):
        numeric = (contrastive_loss(z + step, near, far, 0.7) - contrastive_loss(z - step, near, far, 0.7)) / 2e-6
        np.testing.assert_allclose(slope[:, j], numeric, atol=1e-8)
    assert np.isfinite(moon.contrast(0 * z, near, 0 * far, 0.7)[1]).all()


def moon_step(federation, y, x, last, i, iteration, eta, mu):
    """A local step along the numerical gradient of the contrastive term, on the samples of the stochastic gradient."""
    number = TORCH.integers([[i]])
    data = federation.minibatch(Draws(SEEDS[:1], TORCH), iteration, number)

    def sees(v):
        return to_numpy(federation.representation(TORCH.array(v[None, None]), number, data))[0, 0]

    def term(v):
        return (contrastive_loss(sees(v), sees(x), sees(last), 0.5) * to_numpy(data[2])[0, 0]).sum()

    pull = np.array([(term(y + h) - term(y - h)) / 2e-6 for h in 1e-6 * np.eye(len(y))])
    return y - eta * (gradient(federation, y, i, iteration) + mu * pull)


@pytest.mark.parametrize("batch_size", [None, 3])
def test_moon_by_loops(batch_size):
    federation, mu, eta = network(batch_size), 2.0, 0.1
    options = {"eta_l": eta, "local_steps": 2, "participants": 2}
    start = to_numpy(federation.default_start())
    seen = watch(make_algorithm("moon", mu_con=mu, temperature=0.5, **options), federation, 3, start=start, seeds=SEEDS[:1])
    x, last = start, {i: start for i in range(3)}
    for t in range(3):
        models = {}
        for i in members(seen, t):
            y = x
            for j in range(2):
                y = moon_step(federation, y, x, last[i], i, 2 * t + j, eta, mu)
            models[i] = y
        x, last = np.mean(list(models.values()), axis=0), last | models
        np.testing.assert_allclose(seen.x[t + 1][0], x, atol=1e-8)
    plain = run(make_algorithm("fedavg", **options), federation, 3, start=start, seeds=SEEDS[:1], record=["x"])
    assert abs(x - plain.dataset["x"].values[0, -1]).max() > 1e-3


# FedPara -------------------------------------------------------------------------------------------------------------------
def test_fedpara_is_fedavg_on_factors():
    whole = make_problem("digits", clients=3, rows=60)
    federation = factored(whole, rank=2)
    start, options = federation.default_start(), {"eta_l": 0.1, "local_steps": 2, "participants": 2}
    data = [run(make_algorithm(name, **options), federation, 3, start=start, record=["x", "uplink_floats"]).dataset
            for name in ("fedpara", "fedavg")]
    np.testing.assert_array_equal(data[0]["x"].values, data[1]["x"].values)
    assert data[0]["uplink_floats"].values.max() == federation.dim == 2 * 2 * (10 + 64) < whole.dim
    recycled = make_algorithm("fedluar", base="fedpara", recycled=2)
    assert recycled.refuses(whole) and recycled.refuses(federation) is None


# refusals ------------------------------------------------------------------------------------------------------------------
BAD = {
    "one bit": (lambda: make_algorithm("fedpaq", bits=1), "bits.* 2.* 32.*got 1"),
    "no level": (lambda: make_algorithm("fedpaq", levels=0), "levels.* 1.*got 0"),
    "scope": (lambda: make_algorithm("fedpaq", scope="layer"), "unknown scope"),
    "threshold": (lambda: make_algorithm("lbgm", threshold=1.5), "threshold.* 1.*got 1.5"),
    "rate": (lambda: make_algorithm("feddropoutavg", fdr=-0.1), "fdr.* 0.*got -0.1"),
    "lost": (lambda: make_algorithm("feddropoutavg", cdr=2), "cdr.* 1.*got 2"),
    "strength": (lambda: make_algorithm("fedmut", alpha=-1.0), "alpha.* 0.*got -1.0"),
    "period": (lambda: make_algorithm("fedlama", period=0), "period.* 1.*got 0"),
    "density": (lambda: make_algorithm("prunefl", density=0.0), "density.* 0 .*1.*got 0.0"),
    "times": (lambda: make_algorithm("prunefl", times=[1.0, 0.0]), r"times.* 0.*got \[1.0, 0.0\]"),
    "times of others": (lambda: run(make_algorithm("prunefl", times=[1.0, 2.0]), layered(), 1), r"\(4,\) or \(10,\)"),
    "client": (lambda: run(make_algorithm("prunefl", client=6), layered(), 1), "client 6, .* 6 clients"),
    "temperature": (lambda: make_algorithm("moon", temperature=0.0), "temperature.* 0.*got 0.0"),
    "sampling": (lambda: make_algorithm("fedlama", participants=2).having(
        selection=replace(make_algorithm("fedavg").selection, sampling=WithReplacement(2))),
        "WithReplacement.*WithoutReplacement"),
    "pruned server": (lambda: make_algorithm("prunefl").having(server=make_algorithm("fedadam").server), "prune.*optimiser"),
    "chained look-back": (lambda: make_algorithm("fedavg").having(upload=Chain((Dropped(), LookBack()))), "LBGM"),
    "solved mutation": (lambda: make_algorithm("fedpd", solver="exact").having(correction=Mutation()), "start"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_has_no_meaning_is_refused(case):
    action, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        action()


# planted faults ------------------------------------------------------------------------------------------------------------
def _with(owner, name, change):
    return lambda patch: patch.setattr(owner, name, change(getattr(owner, name)))


FAULTS = {
    "rounding to the nearest": (
        _with(EnumeratedDraws, "bernoulli", lambda f: lambda self, s, p, *a: p > 0.5),
        lambda: test_fedpaq_is_unbiased_with_the_stated_variance()),
    "draws shared by all coordinates": (
        _with(Draws, "bernoulli", lambda f: lambda self, s, p, t, k, n: f(self, s, p[..., :1], t, k, 1) | (p < 0)),
        lambda: test_fedpaq_by_draws()),
    "draws by place, not by client": (
        _with(RoundContext, "numbers", lambda f: lambda self, n: self.draws.client_numbers(n)),
        lambda: check_gathered(maker("fedpaq", bits=2))),
    "sine instead of its square": (
        _with(LookBack, "send", lambda f: lambda self, c, l, m: f(replace(self, threshold=self.threshold**2), c, l, m)),
        lambda: test_lbgm_by_loops(0.4)),
    "the look-back vector always moves": (
        _with(LookBack, "finish", lambda f: lambda self, local, m: {"look_back": local.x - m.x[:, None]}),
        lambda: test_lbgm_by_loops(0.4)),
    "averaged over everybody": (
        _with(Dropped, "combine", lambda f: UploadFilter.combine), lambda: test_feddropoutavg_by_loops({"fdr": 0.5})),
    "whole uploads always arrive": (
        _with(Dropped, "sent_coordinates", lambda f: lambda self, m, like: f(replace(self, cdr=0.0), m, like)),
        lambda: test_feddropoutavg_by_loops({"fdr": 0.0, "cdr": 0.5})),
    "one sign for all layers": (
        _with(Mutation, "signs", lambda f: lambda self, m, n: f(self, m, n)[..., :1] + 0 * f(self, m, n)),
        lambda: test_fedmut_signs_are_fair()),
    "signs balanced over everybody": (
        _with(RoundContext, "active", lambda f: property(lambda self: (self.weight + 1) != 0)),
        lambda: test_fedmut_starts(3)),
    "discrepancies not per step": (
        _with(fedlama.LayerIntervals, "learn", lambda f: lambda self, s, mean, m: f(self, s, mean, m._replace(
            state=m.state._replace(server={"rarely_averaged": m.state.server["rarely_averaged"] & False})))),
        lambda: test_fedlama_by_loops(None, 3)),
    "everybody starts from x": (
        _with(fedlama.LayerIntervals, "begin", lambda f: lambda self, local, m: local),
        lambda: test_fedlama_by_loops(None, 2)),
    "turns change within a period": (
        _with(WithoutReplacement, "shares", lambda f: lambda self, *a: f(replace(self, held=1), *a)),
        lambda: test_fedlama_by_loops(3, 2)),
    "pruned coordinates are not looked at": (
        _with(prunefl.Pruning, "correct", lambda f: lambda self, g, local, m: f(
            self, TORCH.array(to_numpy(g) * to_numpy(m.server("kept_parameters"))), local, m)),
        lambda: test_prunefl_by_loops(None, 0.3, (1.0, 10.0, 0.1, 3.0))),
    "pruned parameters keep their values": (
        _with(prunefl.Pruning, "begin", lambda f: lambda self, local, m: local),
        lambda: test_prunefl_by_loops(None, 0.5, None)),
    "time costs nothing": (
        _with(prunefl.Pruning, "largest", lambda f: lambda self, v, fed: f(replace(self, times=1.0), v, fed)),
        lambda: test_prunefl_by_loops(None, 0.3, (1.0, 10.0, 0.1, 3.0))),
    "pulled to the last model, not to x": (
        _with(moon, "contrast", lambda f: lambda z, near, far, t: f(z, far, near, t)), lambda: test_moon_by_loops(None)),
    "the last model is the broadcast one": (
        _with(moon.Contrastive, "finish", lambda f: lambda self, local, m: {"last_local_model": m.x[:, None] + 0 * local.x}),
        lambda: test_moon_by_loops(None)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_are_noticed(fault, monkeypatch):
    plant, check = FAULTS[fault]
    check()
    plant(monkeypatch)
    with pytest.raises((AssertionError, ValueError)):
        check()
