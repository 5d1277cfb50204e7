"""Claims about neighbouring data sets beside coupled runs: both sides made again by hand, run by run."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from bounds.controls.fedavg import control
from bounds.language.claim import Condition, Procedure
from bounds.language.operators import (
    E,
    clients,
    grad,
    iterations,
    k,
    norm,
    norm2,
    objective,
    r,
    rounds,
    t,
    x_local,
    x_round,
)
from bounds.language.samples import (
    E_client,
    E_data,
    E_unused,
    F_pop,
    twin_x_local,
    twin_x_round,
    worst_mean_signed_gap,
    worst_sample_gap,
)
from bounds.language.samples import replaced as uses_the_replaced
from fedtheory import fedavg, run
from fedtheory.stability import coupled_runs, samples_of, single_samples
from synthetic import from_arrays, make_quadratic, to_numpy
from synthetic.worst_cases import linear_samples
from verify.evidence.along import along
from verify.evidence.beside_runs import compare
from verify.evidence.coupled import CoupledRuns

ROUNDS, STEPS, SEEDS, CLIENTS, SAMPLES = 3, 2, 3, 2, 3
ETA, START = 0.25, np.array([0.5, -0.25])
RNG = np.random.default_rng(5)
FEATURES, TARGETS = RNG.normal(size=(CLIENTS, SAMPLES, 2)), RNG.normal(size=(CLIENTS, SAMPLES))
end, twin_end = x_round[rounds], twin_x_round[rounds]
PROCEDURE = {"random": Procedure(equal_weights=True), "any": Procedure(equal_weights=True, replaced="any")}


def data(chosen=None, batch_size=1):
    """The samples, or of each client those numbered ``chosen``."""
    chosen = np.tile(np.arange(SAMPLES), (CLIENTS, 1)) if chosen is None else chosen
    rows = [(FEATURES[c, i], TARGETS[c, i], c) for c in range(CLIENTS) for i in chosen[c]]
    X, y, client = map(np.array, zip(*rows, strict=True))
    return from_arrays(X, y, client, task="generalised-linear", loss="log-cosh", batch_size=batch_size)


@cache
def trajectory(batch_size=1):
    return run(fedavg(ETA, STEPS), data(batch_size=batch_size), ROUNDS, start=START, seeds=SEEDS)


def found(left, right=0, given="random", over=(), relation="<=", batch_size=1):
    claim = control("mine", "run", Condition(left, relation, right, over), procedure=PROCEDURE[given])
    return compare(claim, trajectory(batch_size))


@cache
def by_hand():
    """For each of the drawn pairs of data sets: client, data, and the models of both runs, (seeds, rounds + 1, dim)."""
    data_sets = CoupledRuns(control("mine", "run", Condition(E_data(norm(end - twin_end)), "<=", 1),
                                 procedure=PROCEDURE["random"]), trajectory(), {})
    pairs = []
    for chosen, client, fresh in zip(data_sets.data_sets.data, data_sets.data_sets.replaced, data_sets.fresh, strict=True):
        one = data(chosen)
        other = one.neighbours([(client, 0, *fresh)])
        pairs.append((client, one, *(to_numpy(run(fedavg(ETA, STEPS), f, ROUNDS, start=START, seeds=SEEDS)
                                              .dataset["x"].values) for f in (one, other))))
    return pairs


def test_data_sets_are_drawn_from_the_samples_and_every_client_has_its_turn():
    clients_replaced = [client for client, *_ in by_hand()]
    assert sorted({*clients_replaced}) == [*range(CLIENTS)] and len({*map(clients_replaced.count, clients_replaced)}) == 1
    assert any((own != twin).any() for _, _, own, twin in by_hand())


def test_the_generalisation_gap():
    population = data()
    gaps = np.array([[[float(population.objective(v[None])[0] - one.objective(v[None])[0]) for v in map(tensor, path)]
                      for path in own] for _, one, own, _ in by_hand()])
    series = found(E_data(F_pop(end) - objective(end)), 1).series
    assert series.x == [*range(1, ROUNDS + 1)] and series.left == pytest.approx(gaps.mean(axis=(0, 1))[1:])
    assert not series.decides and abs(gaps).max() > 0.01


def tensor(v):
    return trajectory().federation.backend.array(v)


def test_means_over_pairs_and_given_the_client():
    apart = np.array([np.linalg.norm(own - twin, axis=-1).mean(axis=0) for _, _, own, twin in by_hand()])
    whose = np.array([client for client, *_ in by_hand()])
    assert found(E_data(norm(end - twin_end)), 9).series.left == pytest.approx(apart.mean(axis=0)[1:])
    given = found(E_client(k, norm(end - twin_end)), 9, over=((k, 0, clients - 1),)).series
    assert given.left == pytest.approx([apart[whose == c, -1].mean() for c in range(CLIENTS)])


def test_suprema_over_samples():
    test = single_samples(data(), [z[2:] for z in samples_of(data())])

    def loss(v):
        return to_numpy(test.value(test.all_clients(tensor(v))))

    gaps = np.array([(loss(own[:, -1]) - loss(twin[:, -1])).mean(axis=0) for _, _, own, twin in by_hand()])
    assert found(worst_sample_gap(end, twin_end), 9).series.left[-1] == pytest.approx(gaps.mean(axis=0).max())


def test_of_given_data_the_worst_replacement_is_drawn():
    federation = data()
    put = [(k_, i, -3.0 * a, y) for k_, i, a, y in samples_of(federation)]
    claim = control("mine", "run", Condition(E(norm(end - twin_end)), "<=", 9), procedure=PROCEDURE["any"], assumptions=())
    gap = coupled_runs(fedavg(ETA, STEPS), federation, put, ROUNDS, seeds=SEEDS, start=START).parameter_gap
    result = compare(claim, trajectory(), replacements=put)
    assert result.series.left == pytest.approx(gap.max(axis=0)[1:]) and result.verdict == "consistent"
    signed = replace(claim, statement=Condition(worst_mean_signed_gap(end, twin_end), "<=", 9))
    assert compare(signed, trajectory(), replacements=put).series.left[-1] > 0.01


def test_constants_hold_on_every_data_set_and_on_its_neighbours():
    """Of samples that are put in place of others, too: one ten times as long as the longest."""
    far = max((z for z in samples_of(data())), key=lambda z: np.linalg.norm(z[2]))
    put = [(0, 0, 10 * far[2], far[3]), (1, 2, 10 * far[2], far[3])]
    claim = control("mine", "run", Condition(norm(end - twin_end), "<=", 1), procedure=PROCEDURE["any"])
    known, usual = (CoupledRuns(claim, trajectory(), {}, given)._bounds(ETA) for given in (put, None))
    longest = np.linalg.norm(far[2])
    assert np.ravel(to_numpy(known["L_client"].data)) == pytest.approx([100 * longest**2] * 2)
    assert float(known["G_lip"].data) == pytest.approx(10 * longest) == 10 * float(usual["G_lip"].data)
    for name in ("sigma_sq_client", "sigma_g"):
        assert (np.ravel(to_numpy(known[name].data)) > 3 * np.ravel(to_numpy(usual[name].data))).all()


def test_other_replacements_are_other_runs():
    claim = control("mine", "run", Condition(norm(end - twin_end), "<=", 9), procedure=PROCEDURE["any"])
    near = [[(0, 0, FEATURES[0, 0] * (1 + share), TARGETS[0, 0])] for share in (1e-9, 2e-9)]
    first, second = (max(compare(claim, trajectory(), replacements=put).series.left) for put in near)
    assert 0 < 1.5 * first < second


@pytest.mark.parametrize("given", ["random", "any"])
def test_a_gap_is_0_as_long_as_the_replaced_sample_is_unused(given):
    """To the last bit; a round later it is not. In the first round the same is said of its own client's local models."""
    still, later = (found(E_unused(1, norm2(x_round[r] - twin_x_round[r])), given=given, over=((r, n, n),)).series.left
                    for n in (1, 2))
    assert still == [0.0] and later[0] > 0
    use, moved = uses_the_replaced[0, k], norm2(x_local[1, k] - twin_x_local[1, k])
    without, used = (found(share * moved, given=given, over=((k, 0, clients - 1),)).series.left for share in (1 - use, use))
    assert without == [0.0] * CLIENTS and max(used) > 0


def test_which_sample_a_step_uses_is_known_of_single_ones_only():
    assert found(E_unused(1, norm2(x_round[1] - twin_x_round[1])), batch_size=2).series is None
    assert found(uses_the_replaced[t, k], over=((t, 0, iterations - 1), (k, 0, clients - 1)), batch_size=2).series is None
    assert found(E_data(norm(end - twin_end)), 9, batch_size=2).series is not None


def test_gradients_are_those_of_the_run_s_own_data():
    at_start = [to_numpy(one.gradient(one.all_clients(tensor(own[:, 0]))))[:, 0] for _, one, own, _ in by_hand()]
    sizes = np.linalg.norm(at_start, axis=-1)
    assert found(E_data(norm(grad(0, x_round[0]))), 9).series.left[-1] == pytest.approx(np.mean(sizes))


@pytest.mark.parametrize("number, expected", [(2, 1.0), (4, 0.5)])
def test_linear_samples_meet_the_bound(number, expected):
    runs = run(fedavg(0.5, 2), linear_samples(clients=1, samples=number), 1, seeds=1)
    result = compare("classical/local-sgd-stability-distance", runs)
    assert result.series.left == result.series.right == [expected] and result.verdict == "consistent"


def test_what_cannot_be_compared_is_refused():
    coupled = "classical/local-sgd-stability-distance"
    with pytest.raises(ValueError, match="no samples"):
        compare(coupled, run(fedavg(0.1), make_quadratic(clients=2, dim=2), 1))
    with pytest.raises(ValueError, match="replacements=None"):
        compare("classical/gd-convex", trajectory(), replacements=[])
    unequal = from_arrays(FEATURES[0], TARGETS[0], [0, 0, 1], task="generalised-linear", loss="log-cosh")
    result = compare(coupled, run(fedavg(0.1), unequal, 1))
    assert result.verdict == "not applicable" and "as many samples" in result.reason


# over what differs between runs ------------------------------------------------------------------------------------------
def test_over_the_number_of_samples_and_of_local_steps(tmp_path):
    claim = "classical/local-sgd-stability-distance"
    by_samples = along("samples", {n: compare(claim, run(fedavg(0.5, 2), linear_samples(clients=1, samples=n), 2, seeds=1))
                                   for n in (8, 2, 4)})
    assert (by_samples.series.x, by_samples.series.x_label) == ([2, 4, 8], "samples")
    assert by_samples.series.left == pytest.approx([2.0, 1.0, 0.5]) == by_samples.series.right
    by_steps = along("local steps", {K: compare(claim, run(fedavg(0.5, K), linear_samples(clients=1), 2, seeds=1))
                                     for K in (1, 3)})
    assert by_steps.series.left[1] == pytest.approx(3 * by_steps.series.left[0]) and by_steps.verdict == "consistent"
    assert all(path.stat().st_size for path in by_steps.plot(tmp_path / "steps").values())


def test_the_worst_of_several_is_said():
    claim = control("mine", "run", Condition(norm(end), "<=", 1e-3), procedure=Procedure(equal_weights=True))
    parts = {eta: compare(claim, run(fedavg(eta), make_quadratic(clients=2, dim=2, seed=1), 3)) for eta in (1e-9, 0.1)}
    assert [one.verdict for one in parts.values()] == ["consistent", "undecided"]
    both = along("eta", parts)
    assert both.verdict == "undecided" and both.reason.startswith("eta = 0.1")
    assert both.ratio == max(part.series.left[-1] / 1e-3 for part in parts.values())


@pytest.mark.parametrize("ids, match", [
    ((), "got none"), (("classical/gd-convex", "classical/gd-distance"), "of one claim")])
def test_bad_input_is_one_error(ids, match):
    runs = run(fedavg(0.1), make_quadratic(clients=1, dim=2, seed=1), 1)
    with pytest.raises(ValueError, match=match):
        along("eta", {number: compare(name, runs) for number, name in enumerate(ids)})
