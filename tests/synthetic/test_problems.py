"""Synth and its noisy variant, real data, partitions, and the named problems."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import fedavg, run
from synthetic import (
    dirichlet,
    even,
    from_arrays,
    make_problem,
    noisy_copies,
    problem_names,
    problem_options,
    real_federation,
    shards,
    synth,
    synth_data,
    synth_noisy,
    to_numpy,
)
from synthetic.sources.real_data import load
from tests.not_empty import not_empty
from tests.synthetic.families import each

few = settings(deadline=None, max_examples=25)


# partitions ----------------------------------------------------------------------------------------------------------
@given(rows=st.integers(40, 200), clients=st.integers(1, 6), classes=st.integers(1, 5), seed=st.integers(0, 10**6))
@few
def test_partitions_give_every_sample_one_client_and_every_client_a_sample(rows, clients, classes, seed):
    labels = np.random.default_rng(seed).integers(0, classes, rows)
    labels[:classes] = np.arange(classes)
    parts = {"even": even(labels, clients, seed), "dirichlet": dirichlet(labels, clients, 10.0, seed)}
    if clients * 2 >= classes:
        parts["shards"] = shards(labels, clients, 2, seed)
    for name, client in parts.items():
        counts = np.bincount(client, minlength=clients)
        assert client.shape == (rows,) and len(counts) == clients and counts.min() >= 1, name
    assert np.ptp(np.bincount(parts["even"], minlength=clients)) <= 1


@given(clients=st.integers(2, 12), per_client=st.integers(1, 4), seed=st.integers(0, 10**6))
@few
def test_a_client_sees_at_most_as_many_classes_as_it_has_shards(clients, per_client, seed):
    labels = np.random.default_rng(seed).permutation(np.repeat(np.arange(4), [30, 50, 70, 60]))
    if clients * per_client < 4:
        with pytest.raises(ValueError, match=f"shards_per_client.* 4 .* 210 .*got {clients * per_client}$"):
            shards(labels, clients, per_client, seed)
        return
    client = shards(labels, clients, per_client, seed)
    assert max(len(np.unique(labels[client == k])) for k in range(clients)) <= per_client


def test_one_shard_per_client_gives_uniform_clients_of_about_equal_size():
    labels = np.repeat(np.arange(10), 100)
    client = shards(labels, 20, 1)
    assert np.bincount(client).tolist() == [50] * 20
    assert all(len(np.unique(labels[client == k])) == 1 for k in range(20))


def test_dirichlet_has_the_shares_of_its_law():
    """Class shares have mean 1/m and variance (1 - 1/m) / (m (m alpha + 1)); false alarm below 1e-6 (5 s.e.)."""
    clients, alpha, draws = 4, 0.7, 3000
    labels = np.zeros(4000, dtype=int)
    shares = np.array([np.bincount(dirichlet(labels, clients, alpha, seed), minlength=clients) / 4000
                       for seed in range(draws)])
    square = (shares - 1 / clients) ** 2
    variance = (1 - 1 / clients) / clients / (clients * alpha + 1)
    assert (np.abs(shares.mean(0) - 1 / clients) <= 5 * shares.std(0) / draws**0.5).all()
    # with a sample required of each client, rare draws are repeated: less than one in a hundred here
    assert (np.abs(square.mean(0) - variance) <= 5 * square.std(0) / draws**0.5 + 0.01 * variance).all()


def test_dirichlet_favours_no_client_when_classes_are_small():
    """2000 classes of one sample, 2 clients: each gets half; false alarm below 1e-6 (5 s.e.)."""
    counts = np.bincount(dirichlet(np.arange(2000), 2, 1.0))
    assert abs(counts[0] - 1000) <= 5 * 500**0.5


def test_partitions_are_reproducible_and_depend_on_the_seed():
    labels = np.random.default_rng(0).integers(0, 5, 100)
    for partition in (even, dirichlet, shards):
        assert (partition(labels, 5, seed=3) == partition(labels, 5, seed=3)).all()
        assert (partition(labels, 5, seed=3) != partition(labels, 5, seed=4)).any()


# Synth ---------------------------------------------------------------------------------------------------------------
@each("convention, variance", [("variance", 4.0), ("standard-deviation", 16.0)])
def test_means_of_devices_have_variance_beta(convention, variance):
    """Mean over the 60 features: variance beta + 1/60 + mean(j^-1.2)/60; 2000 devices, false alarm below 1e-6."""
    X, _, client = synth_data(2000, 1.0, 4.0, sizes=1, convention=convention)
    assert (client == np.arange(2000)).all()
    expected = variance + 1 / 60 + (np.arange(1, 61) ** -1.2).mean() / 60
    assert abs(X.mean(axis=1).var() / expected - 1) <= 5 * (2 / 2000) ** 0.5


def test_features_have_the_decaying_variances():
    """Within a device the variance of feature j is j^-1.2; 5000 samples, 60 tests, false alarm below 1e-6."""
    X, _, _ = synth_data(1, sizes=5000, seed=3)
    assert (np.abs(X.var(axis=0) / np.arange(1, 61) ** -1.2 - 1) <= 6.3 * (2 / 5000) ** 0.5).all()


def test_labels_are_linear_in_the_features_of_a_device_and_of_it_alone():
    federation = synth(2, sizes=1500, ridge=1e-4, seed=1)
    assert federation.dim == 610
    accuracy = to_numpy(federation.accuracy(federation.client_minimisers))
    swapped = to_numpy(federation.accuracy(federation.client_minimisers.flip(1)))
    assert accuracy.min() > 0.97 and swapped.max() < 0.7


def test_devices_keep_their_data_when_others_are_added_and_alpha_leaves_the_labels():
    few_devices, more = synth_data(2, seed=4, largest=100), synth_data(5, seed=4, largest=100)
    rows = more[2] < 2
    assert all((a == b[rows]).all() for a, b in zip(few_devices, more, strict=True))
    other = synth_data(2, alpha=25.0, seed=4, largest=100)
    assert (other[0] == few_devices[0]).all() and (other[1] == few_devices[1]).mean() > 0.999
    assert (synth_data(2, seed=5, largest=100)[0][:50] != few_devices[0][:50]).all()


def test_sizes():
    """floor(lognormal(4, 2)) + 50: the median of the log is 4; 4000 devices, false alarm below 1e-6."""
    _, _, client = synth_data(4000, largest=200, seed=2)
    sizes = np.bincount(client)
    assert sizes.min() >= 50 and sizes.max() == 200
    assert abs((sizes - 50 < np.exp(4)).mean() - 0.5) <= 5 * 0.5 / 4000**0.5
    assert abs((sizes - 50 < np.exp(2)).mean() - 0.1587) <= 5 * 0.366 / 4000**0.5
    assert np.bincount(synth_data(3, sizes=[2, 5, 3])[2]).tolist() == [2, 5, 3]


# FedALIGN's free clients ---------------------------------------------------------------------------------------------
POOL = synth_data(4, sizes=500, seed=9)[:2]


def rows_of(X):
    return {tuple(row) for row in X}


def test_without_noise_the_free_clients_share_out_the_pool():
    X, y, client = noisy_copies(*POOL, 7, label_noise_factor=0.0, random_data_factor=0.0)
    assert np.ptp(np.bincount(client)) <= 1
    pool = {tuple(row): label for row, label in zip(*POOL, strict=True)}
    assert rows_of(X) == rows_of(POOL[0]) and len(X) == 2000
    assert all(pool[tuple(row)] == label for row, label in zip(X, y, strict=True))


@each("options, levels", [
    ({"label_noise_skew": 0.5}, [1 / 16, 1 / 4, 9 / 16, 1.0]),
    ({"label_noise_skew": 5.0}, [0.25**0.2, 0.5**0.2, 0.75**0.2, 1.0]),
    ({"label_noise_skew": 5.0, "exponent": "skew"}, [0.25**5, 0.5**5, 0.75**5, 1.0]),
    ({"label_noise_skew": 1.0, "label_noise_factor": 2.0}, [0.5, 1.0, 1.0, 1.0]),
])
def test_labels_flip_with_the_level_of_the_client(options, levels):
    """A flipped label is uniform, so it changes with probability 0.9 level; 500 rows a client, false alarm 1e-6."""
    X, y, client = noisy_copies(*POOL, 4, random_data_factor=0.0, **{"label_noise_factor": 1.0} | options)
    pool = {tuple(row): label for row, label in zip(*POOL, strict=True)}
    changed = np.array([pool[tuple(row)] != label for row, label in zip(X, y, strict=True)])
    for j, level in not_empty(enumerate(levels)):
        chance = 0.9 * level
        assert abs(changed[client == j].mean() - chance) <= 5 * (chance * (1 - chance) / 500) ** 0.5 + 1e-9


def test_additive_label_noise_moves_labels_by_the_level():
    """Labels of the middle class move by round(N(0, level^2)); standard deviation against the exact law, 5 s.e."""
    X = np.random.default_rng(0).normal(size=(20000, 60))
    _, y, client = noisy_copies(X, np.full(20000, 5), 2, label_noise="additive", label_noise_factor=1.0,
                                label_noise_skew=1.0, random_data_factor=0.0)
    for j, level in enumerate((0.5, 1.0)):
        moved = y[client == j] - 5.0
        exact = level**2 + 1 / 12  # of a rounded normal, up to 1e-2
        assert abs((moved**2).mean() - exact) <= 5 * (moved**2).std() / 100 + 1e-2
    _, y, _ = noisy_copies(*POOL, 3, label_noise="additive", label_noise_factor=50.0)
    assert y.min() == 0 and y.max() == 9


@each("irrelevant, sizes", [("appended", [625, 750, 875, 1000]), ("substituted", [500] * 4)])
def test_irrelevant_points(irrelevant, sizes):
    X, y, client = noisy_copies(*POOL, 4, label_noise_factor=0.0, random_data_skew=1.0, irrelevant=irrelevant)
    assert np.bincount(client).tolist() == sizes
    known = rows_of(POOL[0])
    fresh = np.array([tuple(row) not in known for row in X])
    assert [int(fresh[client == j].sum()) for j in range(4)] == [125, 250, 375, 500]
    counts = np.bincount(y[fresh], minlength=10)
    assert ((counts - 125) ** 2 / 125).sum() < 48  # chi-square, 9 degrees of freedom: false alarm below 1e-6


def test_levels_drawn_uniformly_differ_from_the_grid():
    sizes = [np.bincount(noisy_copies(*POOL, 4, levels=levels, seed=seed)[2]).tolist()
             for levels, seed in (("grid", 0), ("uniform", 0), ("uniform", 1))]
    assert len({tuple(row) for row in sizes}) == 3


def test_synth_noisy_gives_priority_to_the_clean_devices():
    federation = synth_noisy(3, 4, sizes=40, random_data_factor=0.0)
    assert to_numpy(federation.priority).tolist() == [[True] * 3 + [False] * 4]
    assert to_numpy(federation.weights)[0] == pytest.approx([1 / 3] * 3 + [1 / 4] * 4)
    clean = synth(3, sizes=40)
    assert to_numpy(federation.features)[0, :3] == pytest.approx(to_numpy(clean.features)[0])


# real data -----------------------------------------------------------------------------------------------------------
def test_scalings():
    digits, labels = load("digits")
    assert digits.shape == (1797, 64) and digits.min() == 0 and digits.max() == 1 and set(labels) == set(range(10))
    tumours, _ = load("breast-cancer")
    assert tumours.shape == (569, 30)
    assert np.allclose(tumours.mean(0), 0, atol=1e-12) and np.allclose(tumours.std(0), 1)
    assert load("digits", "none")[0].max() == 16
    assert np.isin(np.round(load("digits", "standard")[0].std(0), 9), (0.0, 1.0)).all()


def test_digits_are_solved_to_the_tolerance():
    federation = real_federation("digits", 10, "dirichlet", alpha=0.3, ridge=1e-3, batch_size=8, priority="largest:4")
    assert federation.dim == 640 and int(federation.counts.sum()) == 1797
    order = np.argsort(-to_numpy(federation.counts)[0])[:4]
    assert set(np.flatnonzero(to_numpy(federation.priority)[0])) == set(order)
    constants = federation.constants
    assert float(constants["F_star"].note.rsplit("= ", 1)[1]) <= 1e-12
    assert float(federation.gradient(federation.client_minimisers).square().sum(-1).max()) / 2e-3 <= 1e-12
    assert float(federation.objective_gradient(federation.x_star).square().sum()) / 2e-3 <= 1e-12
    assert float(constants.value("Gamma")[0]) > 0 and constants["sigma_sq"].provenance == "upper"


@each("options, clients, dim", [
    ({"name": "breast-cancer", "clients": 4, "partition": "even"}, 4, 30),
    ({"name": "breast-cancer", "clients": 6, "partition": "shards", "shards_per_client": 1, "intercept": True}, 6, 31),
    ({"name": "digits", "clients": 5, "partition": "shards", "task": "binary", "rows": 300}, 5, 64),
    ({"name": "digits", "clients": 3, "partition": np.arange(60) % 3, "task": "least-squares", "rows": 60}, 3, 64),
])
def test_splits_of_real_data(options, clients, dim):
    federation = real_federation(**options, weights="equal")
    assert (federation.clients, federation.dim) == (clients, dim)
    assert to_numpy(federation.weights)[0] == pytest.approx([1 / clients] * clients)
    gradient = federation.objective_gradient(federation.x_star)
    assert float(gradient.square().sum()) / (2 * federation.ridge) <= 1e-12


# named problems ------------------------------------------------------------------------------------------------------
SMALL = {
    "synth": {"sizes": 60}, "synth-noisy": {"sizes": 40}, "digits": {"rows": 200, "clients": 4},
    "digits-perceptron": {"rows": 100, "clients": 3, "hidden": (4,)}, "digits-factored": {"rows": 100, "clients": 3},
}


@pytest.mark.parametrize("name", problem_names())
def test_every_named_problem_rests_at_its_optimum_runs_and_takes_layers(name):
    """Two rounds with the default record, on the command line's path; suboptimality is a number."""
    federation = make_problem(name, **SMALL.get(name, {}), layers=1)
    assert federation.layers() == (slice(0, federation.dim),)
    constants = federation.constants
    assert federation.name and problem_names()[name]
    rest = 1e-8 if constants["F_star"].provenance == "exact" else 5e-2
    assert float(federation.objective_gradient(federation.x_star).abs().max()) < rest
    assert 0 <= float(constants.value("mu")[0] if "mu" in constants else 0) <= float(constants.value("L")[0])
    assert float(constants.value("Gamma")[0]) >= -1e-12
    assert set(SMALL.get(name, {})) <= set(problem_options(name))
    eta = 0.1 / float(federation.constants.value("L")[0])
    trajectory = run(fedavg(eta_l=eta, local_steps=2), federation, 2, start=to_numpy(federation.default_start()), seeds=2)
    gap = trajectory.dataset["suboptimality"].values
    assert np.isfinite(gap).all() and (gap[:, -1] <= gap[:, 0] + 1e-12).all()
    assert problem_options(name)["layers"] != 1, "an option, not a default"


@each("call, error, message", [
    (lambda: make_problem("digit"), LookupError, "'digit'.*'digits'.*: breast-cancer, cosine"),
    (lambda: make_problem("quadratic", layers=2), ValueError, "layers.*dim = 5.*got 2"),
    (lambda: make_problem("synth", classes=3), LookupError, "'synth' 'classes'.*: alpha"),
    (lambda: make_problem("qqq"), LookupError, "'qqq'.*: breast-cancer"),
    (lambda: make_problem("digits", client=3), LookupError, "'digits' 'client'.*'clients'"),
    (lambda: problem_options("sinth"), LookupError, "'sinth'.*'synth'"),
    (lambda: real_federation("digit"), LookupError, "'digit'.*'digits'.*: breast-cancer, digits$"),
    (lambda: real_federation(partition="odd"), ValueError, "unknown partition 'odd'; allowed: even, dirichlet, shards"),
    (lambda: real_federation(scaling="log"), ValueError, "unknown scaling 'log'; allowed: unit, standard, none"),
    (lambda: real_federation(rows=5000), ValueError, "rows.* 2.* 1797.*got 5000"),
    (lambda: real_federation(clients=2000, partition="even"), ValueError, "clients.* 1 .*1797.*got 2000"),
    (lambda: real_federation(partition=np.zeros(1797, dtype=int)), ValueError, "got none.*client 1 .*8 .*10"),
    (lambda: dirichlet([0, 1] * 10, 2, alpha=0.0), ValueError, "alpha.* 0.*got 0.0"),
    (lambda: dirichlet([0, 1] * 10, 10, alpha=1e-3), ValueError, r"dirichlet\(0\.001\).* 10 .*client \d .* 0 .* 100 "),
    (lambda: shards([0, 1, 2], 1, 1), ValueError, "shards_per_client.* 3 .* 3 .*got 1"),
    (lambda: even([[0, 1]], 1), ValueError, r"labels.*got.*\(1, 2\)"),
    (lambda: synth_data(2, alpha=-1.0), ValueError, "alpha.* 0.*got -1.0"),
    (lambda: synth_data(2, sizes=[1, 2, 3]), ValueError, r"sizes.*\(2\).*got.*\(3,\)"),
    (lambda: synth_data(2, sizes=0), ValueError, "sizes.* 1.*got 0"),
    (lambda: synth_data(2, convention="both"), ValueError, "unknown convention 'both'; allowed: variance"),
    (lambda: noisy_copies(*POOL, label_noise_skew=0.0), ValueError, "skew.* 0.*got 0.0"),
    (lambda: noisy_copies(*POOL, label_noise="swap"), ValueError, "unknown label_noise 'swap'; allowed: flip"),
    (lambda: noisy_copies(*POOL, irrelevant="substituted", random_data_factor=2.0), ValueError,
     "random_data_factor.* 1 .*got 2"),
    (lambda: from_arrays([[1.0]], [1.0], [0], priority="largest:2"), ValueError, "priority.* 1 .*1.*got 2"),
])
def test_bad_input_is_one_clear_line(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
