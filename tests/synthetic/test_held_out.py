"""Held-out samples: no run trains on them, each is held out once, every class gives its share; what is measured on them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from synthetic import NUMPY, TORCH, factored, from_arrays, make_problem, random_perceptron, to_numpy
from synthetic.data.held_out import held_out_rows
from synthetic.sources.real_data import load
from tests.not_empty import not_empty
from tests.synthetic.families import each


@st.composite
def splits(draw):
    """Labels, clients and priority of some rows, a number of them to hold out, and a seed."""
    rows, clients, classes = draw(st.integers(4, 60)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    client = np.append(np.arange(clients), rng.integers(clients, size=rows))
    labels = rng.choice(list("abcd")[:classes], p=rng.dirichlet(np.ones(classes)), size=len(client))
    priority = np.append(True, rng.random(clients - 1) < 0.7)
    most = int(priority[client].sum()) - clients - classes
    return labels, client, priority, draw(st.integers(1, max(1, most))), int(rng.integers(10**6))


@given(splits())
@settings(deadline=None, max_examples=300)
def test_rows_are_held_out_exactly_seeded_and_stratified(split):
    labels, client, priority, count, seed = split
    try:
        out = held_out_rows(count, client, labels, priority=priority, seed=seed)
    except ValueError:
        free = priority[client].sum() - len(set(client)) - len(set(labels))
        assert count > free, "one row of each client and of each class is all that must stay"
        return
    np.testing.assert_array_equal(out, held_out_rows(count, client, labels, priority=priority, seed=seed))
    assert out.sum() == count and priority[client[out]].all()
    assert set(client[~out]) == set(client) and set(labels[~out]) == set(labels)
    ours = priority[client]
    kept = len(set(client)) + len(set(labels))
    for label in np.unique(labels):
        of_class = (labels == label) & ours
        share = of_class.sum() * count / ours.sum()
        if all(((labels == one) & ours).sum() * count / ours.sum() + 1 <= ((labels == one) & ours).sum() - kept
               for one in np.unique(labels[ours])):
            assert abs(out[of_class].sum() - share) < 1


@each("share, rows, count", [(0.2, 1797, 359), (0.5, 5, 2), (0.001, 50, 1), (0.25, 10, 2), (0.35, 10, 4)])
def test_a_share_is_a_number_of_rows(share, rows, count):
    assert held_out_rows(share, np.zeros(rows, int)).sum() == count == round(max(share * rows, 1))


def test_another_seed_holds_out_other_rows():
    X, labels = load("digits")
    first, second = (held_out_rows(0.2, np.zeros(len(X), int), labels, seed=seed) for seed in (0, 1))
    assert 0.1 < (first & second).sum() / first.sum() < 0.3  # a fifth is expected
    for out in (first, second):
        shares = np.bincount(labels[out]) / np.bincount(labels)
        assert abs(shares - 0.2).max() < 1 / np.bincount(labels).min()


@given(splits(), st.sampled_from(["least-squares", "binary", "softmax", "perceptron", "generalised-linear"]))
@settings(deadline=None, max_examples=60)
def test_no_sample_is_in_both_and_the_rest_is_the_federation_without_them(split, task):
    """Every row has a number of its own as its feature, so that each can be found again."""
    labels, client, priority, count, seed = split
    X = np.stack([np.arange(len(client)) + 1.0, np.random.default_rng(seed).normal(size=len(client))], axis=1)
    classed = task in ("binary", "softmax", "perceptron")
    y = {"binary": (labels == "a").astype(int)}.get(task, np.unique(labels, return_inverse=True)[1])
    if classed and len(set(y)) < 2:
        y[0], y[-1] = 0, 1
    options = {"task": task, "priority": priority} | ({"classes": 4} if task in ("softmax", "perceptron") else {})
    try:
        federation = from_arrays(X, y, client, held_out=count, seed=seed, **options)
    except ValueError:
        return
    real = to_numpy(federation.share)[0] > 0
    trained, held = to_numpy(federation.features)[0][real][:, 0], to_numpy(federation.held_features)[0, 0, :, 0]
    assert sorted([*trained, *held]) == X[:, 0].tolist() and len(held) == count == federation.held_out_size
    out = np.isin(X[:, 0], held)
    np.testing.assert_array_equal(to_numpy(federation.held_client)[0], client[out])
    assert priority[client[out]].all()
    rest = from_arrays(X[~out], y[~out], client[~out], **options)
    for name in ("features", "targets", "share", "counts", "weights", "priority"):
        np.testing.assert_array_equal(to_numpy(getattr(federation, name)), to_numpy(getattr(rest, name)))
    given_rows = from_arrays(X, y, client, held_out=out, **options)
    for name in federation._arrays:
        np.testing.assert_array_equal(to_numpy(getattr(federation, name)), to_numpy(getattr(given_rows, name)))


def test_free_clients_get_no_copies_of_held_out_samples():
    """FedALIGN's free clients hold noisy copies of the priority clients' samples."""
    federation = make_problem("synth-noisy", held_out=0.2)
    held = {row.tobytes() for row in to_numpy(federation.held_features)[0, 0]}
    features, real = to_numpy(federation.features)[0], to_numpy(federation.share)[0] > 0
    rows = [row.tobytes() for row in features[real]]
    assert len(held) == federation.held_out_size == round(0.2 * (len(held) + to_numpy(federation.counts)[0, :10].sum()))
    copies = {row.tobytes() for row in features[10:][real[10:]]} & {row.tobytes() for row in features[:10][real[:10]]}
    assert len(copies) > 1000 and not held & set(rows)


def test_what_ships_has_no_sample_twice():
    """Otherwise a held-out sample might be trained on under another number."""
    for name in ("digits", "breast-cancer"):
        X, _ = load(name)
        assert len({row.tobytes() for row in X}) == len(X)


# what is measured ----------------------------------------------------------------------------------------------------------
def plain(task, X, y, x, classes):
    """Loss and correctness of one sample at the model ``x``, in plain Python."""
    if task in ("least-squares", "generalised-linear"):
        u = sum(a * w for a, w in zip(X, x, strict=True)) - y
        return (u**2 / 2 if task == "least-squares" else np.log(np.cosh(u))), None
    if task == "binary":
        margin = (1 if y else -1) * sum(a * w for a, w in zip(X, x, strict=True))
        return np.log(1 + np.exp(-margin)), margin > 0
    if task == "perceptron":
        width = 3
        first, last = (len(X) + 1) * width, width * classes
        W, b = x[: len(X) * width].reshape(width, len(X)), x[len(X) * width: first]
        V, c = x[first: first + last].reshape(classes, width), x[first + last:]
        scores = V @ np.tanh(W @ X + b) + c
    else:
        scores = x.reshape(classes, len(X)) @ X
    chances = np.exp(scores) / np.exp(scores).sum()
    return -np.log(chances[y]), scores.argmax() == y


MODELS = {"least-squares": {}, "binary": {}, "softmax": {"classes": 3}, "generalised-linear": {},
          "perceptron": {"classes": 3, "hidden": (3,)}}


@each("task", MODELS)
@each("weights", [None, "equal", [1.0, 5.0, 2.0, 3.0]])
@each("backend", [TORCH, NUMPY])
def test_loss_and_accuracy_are_those_of_a_plain_computation(task, weights, backend):
    rng = np.random.default_rng(1)
    X, client = rng.normal(size=(60, 4)), np.append(np.arange(4), rng.choice(4, p=[0.1, 0.2, 0.3, 0.4], size=56))
    y = {"binary": 2, "softmax": 3, "perceptron": 3}.get(task)
    y = rng.normal(size=60) if y is None else rng.integers(y, size=60)
    priority = np.array([True, True, False, True])
    out = (rng.random(60) < 0.5) & (np.arange(60) >= 4)
    federation = from_arrays(X, y, client, task=task, ridge=0.3, weights=weights, priority=priority, held_out=out,
                             backend=backend, **MODELS[task])
    points = rng.normal(size=(7, federation.dim))
    losses, accuracies = np.zeros(7), np.zeros(7)
    count = [sum((client == k) & ~out) for k in range(4)]
    p = count if weights is None else [1] * 4 if weights == "equal" else weights
    for run, x in enumerate(points):
        total = 0.0
        for row in np.flatnonzero(out & priority[client]):
            loss, right = plain(task, X[row], y[row], x, 3)
            weight = p[client[row]] / count[client[row]]
            total += weight
            losses[run] += weight * loss
            accuracies[run] += weight * bool(right)
        losses[run] /= total
        accuracies[run] /= total
    at = backend.array(points)
    np.testing.assert_allclose(to_numpy(federation.held_out_loss(at)), losses, rtol=1e-12)
    if federation.has_classes:
        np.testing.assert_allclose(to_numpy(federation.held_out_accuracy(at)), accuracies, rtol=1e-12)
        assert len(set(accuracies)) > 1
    else:
        with pytest.raises(ValueError, match="no samples with classes are held out of"):
            federation.held_out_accuracy(at)
    if weights is None:  # then every sample counts the same
        rows = np.flatnonzero(out & priority[client])
        assert losses[0] == pytest.approx(np.mean([plain(task, X[row], y[row], points[0], 3)[0] for row in rows]))


def test_factors_are_measured_as_the_matrix_that_they_make():
    inner = make_problem("digits", rows=200, held_out=50)
    federation = factored(inner, 2)
    x = TORCH.array(np.random.default_rng(0).normal(size=(3, federation.dim)))
    assert federation.held_out_size == 50 and federation.has_classes
    for name in ("held_out_loss", "held_out_accuracy"):
        assert getattr(federation, name)(x).tolist() == getattr(inner, name)(federation.compose(x)).tolist()
    assert make_problem("digits-factored", held_out=0.2).held_out_size == 359


def test_other_samples_and_other_backends_keep_what_is_held_out():
    federation = random_perceptron(held_out=0.3, batch_size=2)
    x = np.random.default_rng(0).normal(size=(2, federation.dim))
    expected = to_numpy(federation.held_out_loss(TORCH.array(x)))
    others = [federation.neighbours([(0, 0, np.ones(4), 1)] * 2), federation.select([0, 0]), federation.to(NUMPY)]
    for other in not_empty(others):
        np.testing.assert_allclose(to_numpy(other.held_out_loss(other.backend.array(x))), expected, rtol=1e-13)


@each("held_out, message", [
    (0, "held_out.* 1 and 7; got 0$"),
    (8, "held_out.* 1 and 7; got 8$"),
    (0.0, "held_out.*above 0; got 0.0$"),
    (1.0, "held_out.*below 1.* 7 of 9 rows; got 1.0$"),
    (0.9, "held_out.* 7 of 9 rows; got 0.9$"),
    (-0.1, "held_out.*above 0; got -0.1$"),
    (True, "held_out.*got True$"),
    ("test", "held_out.*got 'test'$"),
    ([0, 1], r"held_out.*\(11,\); got int64 of shape \(2,\)$"),
    ([True] * 3, r"held_out.*\(11,\); got bool of shape \(3,\)$"),
    ([False] * 11, "held_out.*priority client; got 0 rows"),
    ([False] * 9 + [True, False], "held_out.*priority client; got 1 rows"),
    ([True] * 6 + [False] * 5, "held_out.*leave every client.*client 0$"),
])
def test_bad_input_is_one_clear_line(held_out, message):
    X, y, client = np.arange(11.0)[:, None], np.arange(11) % 2, [0] * 6 + [1] * 3 + [2] * 2
    with pytest.raises(ValueError, match=message) as caught:
        from_arrays(X, y, client, task="binary", priority=2, held_out=held_out)
    assert "\n" not in str(caught.value)


def test_without_held_out_samples_nothing_is_measured():
    for federation in (make_problem("digits", rows=100), make_problem("quadratic")):
        for name in ("held_out_loss", "held_out_accuracy"):
            with pytest.raises(ValueError, match=r"held out of .*; allowed"):
                getattr(federation, name)(federation.x_star)
