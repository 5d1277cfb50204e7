"""Neighbour data sets: one sample differs, draws are shared, optima are solved anew."""

import numpy as np
import pytest
import torch

from synthetic import Draws, factored, random_generalised_linear, random_perceptron, to_numpy
from tests.synthetic.families import each, make, random_points, value

NEW = [0.5, -1.0, 2.0]
KINDS = {
    "least-squares": (lambda: make("least-squares", batch_size=2), 0.7),
    "binary": (lambda: make("binary", batch_size=2), -1.0),
    "softmax": (lambda: make("softmax", batch_size=2), 1),
    "generalised linear": (lambda: random_generalised_linear(4, 6, 3, loss="pseudo-huber", batch_size=2), 0.3),
    "perceptron": (lambda: random_perceptron(4, 6, 3, hidden=(3,), batch_size=2), 2),
    "factored": (lambda: factored(make("softmax", batch_size=2), 1), 1),
}


@each("kind", KINDS)
def test_one_sample_of_one_client_differs(kind):
    make_one, target = KINDS[kind]
    federation = make_one()
    other = federation.neighbours([(3, 2, NEW, target)])
    x = random_points(federation, 2, 0)
    before, after = federation.sample_values(x), other.sample_values(x)
    changed = (before != after).any(0)
    assert changed.nonzero().tolist() == [[3, 2]]
    assert torch.equal(before, make_one().sample_values(x)), "the given federation stays as it is"
    assert torch.equal(federation.weights, other.weights) and torch.equal(federation.priority, other.priority)
    gap = (federation.gradient(x) - other.gradient(x)).abs().amax((0, 2)) > 1e-12
    assert gap.tolist() == [False, False, False, True]
    # every gradient of the pair, sampled for the same seeds, agrees unless the new sample is drawn
    draws = Draws(np.arange(2))
    same = [torch.equal(federation.stochastic_gradient(x, draws, t), other.stochastic_gradient(x, draws, t))
            for t in range(40)]
    assert 0 < sum(same) < 40


@each("kind", KINDS)
def test_many_neighbours_are_the_single_ones(kind):
    make_one, target = KINDS[kind]
    federation = make_one()
    replacements = [(0, 1, NEW, target), (3, 2, [1.0, 1.0, 1.0], target), (0, 0, NEW, target)]
    batch = federation.neighbours(replacements)
    x = random_points(federation, 1, 0).expand(3, -1, -1)
    assert batch.instances == 3 and batch.layers() == federation.layers()
    for row, replacement in enumerate(replacements):
        alone = federation.neighbours([replacement])
        for name in ("value", "gradient"):
            one, two = getattr(batch, name)(x)[row], getattr(alone, name)(x[:1])[0]
            assert torch.allclose(one, two, rtol=1e-12, atol=1e-13)
        drawn = batch.stochastic_gradient(x, Draws([5, 6, 7]), 3)[row]
        assert torch.allclose(drawn, alone.stochastic_gradient(x[:1], Draws([5 + row]), 3)[0], rtol=1e-12, atol=1e-13)
    again = batch.neighbours([(1, 0, NEW, target)] * 3)
    assert torch.equal(again.sample_values(x)[:, 3], batch.sample_values(x)[:, 3])


@each("kind", ["least-squares", "binary", "softmax", "generalised linear"])
def test_optima_are_those_of_the_new_data(kind):
    make_one, target = KINDS[kind]
    federation = make_one()
    assert federation.constants
    other = federation.neighbours([(0, 0, [30.0, -20.0, 5.0], target)])
    assert float(other.objective_gradient(other.x_star).abs().max()) < 1e-9
    assert np.abs(value(other, "x_star") - value(federation, "x_star")).max() > 1e-4
    assert value(other, "F_star_client")[0, 0] != value(federation, "F_star_client")[0, 0]


def test_a_replacement_by_itself_changes_nothing():
    federation = make("binary")
    features, targets = to_numpy(federation.features)[0, 1, 3], to_numpy(federation.targets)[0, 1, 3]
    other = federation.neighbours([(1, 3, features, targets)])
    assert torch.equal(other.features, federation.features) and torch.equal(other.targets, federation.targets)


@each("call, message", [
    (lambda f: f.neighbours([(4, 0, NEW, 1.0)]), "client.* 0.* 3.*got 4"),
    (lambda f: f.neighbours([(2, 1, NEW, 1.0)]), "client 2 .* 0 .*0.*got 1"),
    (lambda f: f.neighbours([(0, 0, NEW[:2], 1.0)]), "features.* 3 .*got 2"),
    (lambda f: f.neighbours([(0, 0, [1.0, float("nan"), 0.0], 1.0)]), r"features.*got 1 .*nan.*\[1\]"),
    (lambda f: f.neighbours([(0, 0, NEW, 0.5)]), "target.* -1 .*1.*got 0.5"),
    (lambda f: f.neighbours([(0, 0, NEW, [1.0, 1.0])]), "target.* 1 .*got 2"),
    (lambda f: f.neighbours([]), "replacements.*got 0"),
    (lambda f: f.neighbours([(0, 0, NEW, 1.0)] * 2).neighbours([(0, 0, NEW, 1.0)]), "replacements.*instances, 2.*got 1"),
    (lambda f: make("softmax").neighbours([(0, 0, NEW, 4)]), "target.* 0.* 3.*got 4"),
    (lambda f: make("softmax").neighbours([(0, 0, NEW, [1.0, 1.0, 0.0, 0.0])]),
     r"target.*class.*got \[1\.0, 1\.0, 0\.0, 0\.0\]"),
])
def test_bad_input_is_one_clear_line(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call(make("binary"))
    assert "\n" not in str(caught.value)
