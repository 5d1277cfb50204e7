"""Minibatch gradients: mean and variance by enumeration, proven variance bounds, batch invariance."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from synthetic import Draws, EnumeratedDraws, from_arrays, to_numpy
from synthetic.numbers.draws import SAMPLES
from tests.synthetic.families import FAMILIES, each, make, random_points, sample_gradients, value

few = settings(deadline=None, max_examples=10)


@each("family", FAMILIES)
@given(seed=st.integers(0, 10**6), scale=st.floats(1e-2, 100.0))
@few
def test_random_points_never_violate_the_variance_bound(family, seed, scale):
    """Variance and largest deviation by going through all samples, at random points (least squares: the optimum)."""
    federation = make(family, batch_size=2)
    x = random_points(federation, 4, seed, scale)
    if family[0] == "l":
        x = federation.all_clients(federation.x_star)
    deviation = ((sample_gradients(federation, x) - federation.gradient(x)[:, :, None]) ** 2).sum(-1)
    variance = (federation.share * deviation).sum(-1) / 2
    constant = federation.constants["sigma_sq_client"]
    assert constant.provenance == ("estimate" if family[0] == "l" else "upper")
    assert bool((variance <= constant.value * (1 + 1e-9) + 1e-14).all())
    assert bool(((deviation * (federation.share > 0)).amax(-1) <= federation.noise.bound * (1 + 1e-9) + 1e-14).all())
    if family[0] == "l":
        assert torch.allclose(variance, constant.value, rtol=1e-9, atol=1e-13)
    assert value(federation, "sigma_sq_client")[0, 2] == 0, "a client with one sample has no noise"


@each("task, least", [("binary", 0.9), ("softmax", 0.74)])
def test_the_variance_bound_is_nearly_attained(task, least):
    """Four orthogonal samples, all named wrong with certainty: their gradients are orthogonal and of full length."""
    y = np.array([0, 1, 0, 1])
    federation = from_arrays(np.eye(4), y, [0] * 4, task=task, ridge=1e-3, batch_size=1)
    wrong = 1e3 * (1 - 2.0 * y)
    x = torch.as_tensor(wrong if task == "binary" else np.r_[-wrong, wrong])[None, None]
    deviation = ((sample_gradients(federation, x) - federation.gradient(x)[:, :, None]) ** 2).sum(-1)
    ratio = float((federation.share * deviation).sum() / federation.constants.value("sigma_sq")[0])
    assert least <= ratio <= 1


def test_the_bound_on_sigma_g_is_nearly_attained():
    federation = from_arrays(np.eye(2), [0, 1], [0, 1], task="binary", ridge=1e-3)
    x = torch.tensor([[1e3, -1e3]], dtype=torch.float64)
    apart = federation.gradient(federation.all_clients(x)) - federation.objective_gradient(x)[:, None]
    assert 0.8 <= float((apart**2).sum(-1).sqrt().max() / federation.constants.value("sigma_g_max")[0]) <= 1


@each("family", FAMILIES)
@each("client, batch", [(1, 2), (2, 3), (0, 1)])
def test_minibatches_have_the_right_mean_and_variance(family, client, batch):
    """Exactly, by going through all n_k^b draws."""
    federation = make(family, batch_size=batch)
    size = int(federation.counts[0, client])
    draws = np.array(list(itertools.product(range(size), repeat=batch)))
    table = np.zeros((len(draws), 1, 4 * batch), dtype=int)
    table[:, 0, client * batch : (client + 1) * batch] = draws
    x = random_points(federation, 1, 0).expand(len(draws), -1, -1)
    drawn = federation.stochastic_gradient(x, EnumeratedDraws({SAMPLES: table}), 0)[:, client]
    mean = federation.gradient(x[:1])[0, client]
    assert torch.allclose(drawn.mean(0), mean, rtol=1e-11, atol=1e-12)
    single = ((sample_gradients(federation, x[:1])[0, client, :size] - mean) ** 2).sum(-1).mean()
    assert torch.allclose(((drawn - mean) ** 2).sum(-1).mean(), single / batch, rtol=1e-10, atol=1e-14)


def test_minibatches_draw_every_sample_equally_often():
    """Chi-square over 3000 runs x 4 slots per client; false alarm below 1e-6 in all."""
    X, client = np.eye(14), np.repeat([0, 1], [5, 9])
    federation = from_arrays(X, np.ones(14), client, batch_size=4)
    x = torch.zeros(3000, 2, 14, dtype=torch.float64)
    counts = -federation.stochastic_gradient(x, Draws(np.arange(3000)), 2) * 4
    for k, columns in ((0, slice(0, 5)), (1, slice(5, 14))):
        observed = to_numpy(counts[:, k, columns].sum(0))
        assert observed.sum() == pytest.approx(12000), "each slot holds a sample of its own client"
        expected = 12000 / len(observed)
        assert ((observed - expected) ** 2 / expected).sum() < {5: 35.0, 9: 46.0}[len(observed)]
    slots = to_numpy(counts[:, 1, 5:])
    assert {1.0, 2.0} <= set(np.unique(np.round(slots, 9))), "drawn with replacement"


@each("family", FAMILIES)
def test_a_run_alone_draws_what_it_draws_in_a_batch(family):
    federation, seeds = make(family, batch_size=3), np.arange(40, 47)
    x, clients = random_points(federation, 7, 0), torch.tensor([[1, 3]]).expand(7, -1)
    batch = federation.stochastic_gradient(x, Draws(seeds), 5)
    for row in (0, 4, 6):
        alone = federation.stochastic_gradient(x[row : row + 1], Draws(seeds[row : row + 1]), 5)
        assert torch.allclose(alone[0], batch[row], rtol=1e-12, atol=1e-13)
    gathered = federation.stochastic_gradient(x[:, [1, 3]], Draws(seeds), 5, clients)
    assert torch.allclose(gathered, batch[:, [1, 3]], rtol=1e-12, atol=1e-13)
    assert not torch.allclose(batch, federation.stochastic_gradient(x, Draws(seeds), 6))
    assert not torch.allclose(batch, federation.stochastic_gradient(x, Draws(seeds + 100), 5))
