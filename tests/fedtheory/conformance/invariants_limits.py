"""Invariants 17-29 of FedALIGN (specification, section 7), each a check of (kind of federation, seed).

Degenerate problems, sampling, and limits, on random quadratics and ridge logistic federations.
"""

from itertools import combinations, product

import numpy as np
import torch

from fedtheory import (
    AllClients,
    InverseTime,
    LossMatching,
    Selection,
    WithoutReplacement,
    WithReplacement,
    make_algorithm,
    run,
)
from synthetic import EXACT, EnumeratedDraws, Quadratic, from_arrays, make_quadratic
from synthetic.numbers.draws import CLIENTS
from tests.fedtheory.conformance.invariants import ROUNDS, SEEDS, example, method, path, same
from tests.fedtheory.federations import gathered, moved, replica


# 17-22: degenerate problems and sampling ---------------------------------------------------------------------------------
def replicas_are_idle(kind, seed):
    """One local step, no noise: exact copies of the objective change nothing, whatever their weight."""
    paths = []
    for weights in ([0.3, 2.0], [5.0, 0.0], [1e3, 1e-3]):
        federation = _pooled(seed, weights) if kind == "logistic" else replica(seed, 2, weights)
        start = np.random.default_rng(seed).normal(size=(len(SEEDS), federation.dim))
        paths += [path(make_algorithm("fedalign", epsilon=e), federation, start) for e in (0.0, 1e-3, np.inf)]
    for other in paths[1:]:
        same(other, paths[0])


def _pooled(seed, free_weights):
    """Two priority clients of 9 and 5 samples, and two free clients that hold all 14."""
    X, y, owner = np.random.default_rng(seed).normal(size=(14, 3)), np.arange(14) % 2, np.array([0] * 9 + [1] * 5)
    owners = np.concatenate([owner, 0 * owner + 2, 0 * owner + 3])
    return from_arrays(np.tile(X, (3, 1)), np.tile(y, 3), owners, task="binary", priority=[0, 1],
                       weights=[9 / 14, 5 / 14, *free_weights])


def a_common_optimum_is_fixed(kind, seed):
    rng = np.random.default_rng(seed)
    federation = make_quadratic(clients=6, dim=3, L=4.0, mu=1.0, priority=3, free_spread=0.0, hessians=kind, seed=seed,
                                weights=rng.uniform(0.2, 3.0, 6), offset_spread=0.5)
    star = moved(federation.x_star)
    for epsilon in (0.0, 0.3, 1.0, np.inf):
        still = path(make_algorithm("fedalign", epsilon=epsilon, eta_l=0.2), federation, star[0], rounds=20)
        same(still, np.broadcast_to(star, still.shape), 1e-12)


def fedprox_meets_fedavg(kind, seed):
    federation, start, rng = example(kind, seed)
    for pair in (("fedprox", "fedavg"), ("fedprox-all", "fedavg-all"), ("fedalign-fedprox", "fedalign")):
        more = {"epsilon": 0.7} if pair[1] == "fedalign" else {}
        steps = int(rng.integers(2, 4))
        proximal = make_algorithm(pair[0], rho_prox=0.0, local_steps=steps, **more)
        plain = make_algorithm(pair[1], local_steps=steps, **more)
        same(path(proximal, federation, start), path(plain, federation, start), 0)
        proximal = make_algorithm(pair[0], rho_prox=float(rng.uniform(0, 9)), **more)
        same(path(proximal, federation, start), path(make_algorithm(pair[1], **more), federation, start), 1e-14)


def sampled_average(sampling, size, federation, models, free):
    """The exact mean of w' and of |w' - w|^2 over all outcomes of the sampling, and w, in fractions."""
    members = int(federation.priority.sum())
    if isinstance(sampling, WithReplacement):
        outcomes = list(product(range(members), repeat=size))
        chances = [np.prod([federation.weights[0, k] for k in outcome]) for outcome in outcomes]
    else:
        outcomes = list(combinations(range(members), size))
        chances = [EXACT.array(1).item() / len(outcomes)] * len(outcomes)
    draws = EnumeratedDraws({CLIENTS: np.array(outcomes)[:, None, :]}, EXACT)
    matching = AllClients() if free else LossMatching(0)
    part = Selection(matching, sampling).participate(federation, models, draws, 0, 0)
    drawn = (part.weight[..., None] * models).sum(axis=1)
    full = (part.virtual_weight[..., None] * models).sum(axis=1)
    chances = np.array(chances)
    return (chances[:, None] * drawn).sum(axis=0), (chances * ((drawn - full) ** 2).sum(axis=1)).sum(), full[0], part


def sampling_is_unbiased_with_exact_variance(kind, seed):
    """E[w'] = w; the variance is (1 / (s (1 + S)^2)) sum of p_k |w^k - mean|^2, in fractions; scheme II has its factor."""
    rng = np.random.default_rng(seed)
    members, dim = int(rng.integers(1, 4)), 2
    integers = rng.integers(1, 9, (1, members + 2))
    mask = np.arange(members + 2)[None] < members

    def federation(weights):
        ones = np.ones((1, members + 2, dim), dtype=int)
        return Quadratic(ones, 0 * ones, None, weights, mask, backend=EXACT)

    models = EXACT.array(rng.integers(-5, 6, (1, members + 2, dim)))
    for size, free in product(range(1, 4), (False, True)):
        uneven = federation(integers)
        p = uneven.weights[0, :members]
        mean, variance, full, part = sampled_average(WithReplacement(size), size, uneven, models, free)
        chi = (part.virtual_weight[0] * mask[0]).sum()
        spread = _spread(p, models[0, :members])
        assert mean.tolist() == full.tolist() and variance == chi**2 * spread / size
        if size <= members:
            even = federation(np.where(mask, 1, integers))
            mean, variance, full, part = sampled_average(WithoutReplacement(size), size, even, models, free)
            chi, p = (part.virtual_weight[0] * mask[0]).sum(), even.weights[0, :members]
            left = (members - size) * chi**2 * _spread(p, models[0, :members])
            assert mean.tolist() == full.tolist() and variance * size * max(members - 1, 1) == left
    equal = models[:, :1] + 0 * models
    assert sampled_average(WithReplacement(2), 2, federation(integers), equal, True)[1] == 0


def _spread(p, models):
    centre = (p[:, None] * models).sum(axis=0)
    return (p * ((models - centre) ** 2).sum(axis=1)).sum()


def one_priority_client_makes_sampling_idle(kind, seed):
    federation, start, rng = example(kind, seed)
    federation = gathered(federation, range(federation.clients))
    keep = int(np.flatnonzero(moved(federation.priority)[0])[0])
    federation.priority = torch.arange(federation.clients)[None] == keep
    federation.weights = federation.weights / federation.weights[:, keep : keep + 1]
    steps = int(rng.integers(1, 4))
    full = path(make_algorithm("fedalign", epsilon=0.7, local_steps=steps), federation, start)
    for size in (1, 2, 5):
        drawn = make_algorithm(
            "fedalign", epsilon=0.7, local_steps=steps, participants=size, sampling="with-replacement")
        same(path(drawn, federation, start), full)
    single = make_algorithm("fedalign", epsilon=0.7, local_steps=steps, participants=1)
    same(path(single, federation, start), full)


def drawing_everybody_makes_scheme_two_idle(kind, seed):
    federation, start, rng = example(kind, seed)
    members = int(federation.priority.sum())
    steps = int(rng.integers(1, 4))
    full = path(make_algorithm("fedalign", epsilon=0.7, local_steps=steps), federation, start)
    drawn = make_algorithm("fedalign", epsilon=0.7, local_steps=steps, participants=members)
    same(path(drawn, federation, start), full)


def the_unit_of_sizes_is_idle(kind, seed):
    federation, start, rng = example(kind, seed)
    scaled = gathered(federation, range(federation.clients), weights=17.3 * federation.weights)
    for options in ({}, {"participants": 3, "sampling": "with-replacement"}, {"participants": 1}):
        algorithm = method(rng, **options)
        same(path(algorithm, scaled, start), path(algorithm, federation, start))


# 26-29: limits -----------------------------------------------------------------------------------------------------------
def everybody_converges_to_the_mixture(kind, seed):
    """One local step, no noise, everybody counts: the limit minimises the mixture, and its bias obeys T23."""
    federation, start, _ = example(kind, seed, noise=False)
    data = run(make_algorithm("fedalign", epsilon=np.inf, eta_l=0.25), federation, 130, start=start, seeds=SEEDS,
               record=["x", "psi", "chi", "suboptimality"]).dataset
    limit = moved(federation.minimiser(federation.weights))
    same(data["x"].values[:, -1], np.broadcast_to(limit, start.shape), 1e-10)
    psi, S = data["psi"].values[0, -1], 1 / data["chi"].values[0, -1] - 1
    bias = data["suboptimality"].values[0, -1]
    assert 0 <= bias <= min((1 + S) * psi, 4.0 * psi) + 1e-10


def light_free_clients_hardly_matter(kind, seed):
    """As P_N -> 0 the trajectory tends to FedAvg on P, in proportion while no indicator flips."""
    federation, start, rng = example(kind, seed)
    algorithm = method(rng, epsilon=float(rng.choice([0.5, np.inf])))
    plain = path(make_algorithm("fedavg", local_steps=algorithm.local_steps), federation, start)
    distance, pattern = [], []
    for scale in (1e-3, 1e-6, 0.0):
        weights = federation.weights * torch.where(federation.priority, 1.0, scale)
        light = gathered(federation, range(federation.clients), weights=weights)
        data = run(algorithm, light, ROUNDS, start=start, seeds=SEEDS, record=["x", "included"]).dataset
        distance.append(np.abs(data["x"].values - plain).max())
        pattern.append(data["included"].values)
    assert distance[2] <= 1e-14
    if np.array_equal(pattern[0], pattern[1]):
        assert distance[1] <= 2e-3 * distance[0] + 1e-13


def noise_free_iterates_stay_in_the_ball(kind, seed):
    """Around x*, of radius max(|x_0 - x*|, max_k |grad F_k(x*)| / mu), local models included."""
    federation, start, rng = example(kind, seed, noise=False)
    constants, star = federation.constants, moved(federation.x_star)
    L, mu = float(constants.value("L")[0]), float(constants.value("mu")[0])
    pull = np.linalg.norm(moved(federation.gradient(federation.all_clients(federation.x_star))), axis=-1).max() / mu
    radius = np.maximum(np.linalg.norm(start - star, axis=-1), pull)
    steps = {"local_steps": 4, "eta_l": 2 / (L + mu), "epsilon": float(rng.choice([0.3, 1.0, np.inf]))}
    for more in ({}, {"participants": 2, "sampling": "with-replacement"},
                 {"indicator": "local-at-aggregation"}, {"indicator": "local-every-step"},
                 {"eta_l": InverseTime(mu, 8 * L / mu)}):
        data = run(make_algorithm("fedalign", **steps | more), federation, 6, start=start, seeds=SEEDS,
                   record=["x", "x_local"]).dataset
        for name in ("x", "x_local"):
            away = np.linalg.norm(data[name].values - star, axis=-1).reshape(len(SEEDS), -1).max(axis=1)
            assert (away <= radius * (1 + 1e-12)).all()
