"""Invariants 1-16 of FedALIGN (specification, section 7), each a check of (kind of federation, seed).

Special cases, symmetries, selection and warm-up, on random quadratics and ridge logistic federations.
"""

from itertools import product

import numpy as np
import torch

from fedtheory import Bernoulli, LossMatching, Selection, State, WithReplacement, make_algorithm, rounds_of, run
from synthetic import Draws, FiniteNoise, GaussianNoise, make_quadratic
from tests.fedtheory.federations import gathered, moved, variant
from tests.synthetic.families import make

READINGS = ["broadcast", "local-at-aggregation", "local-every-step"]
ROUNDS, SEEDS = 4, [1, 2, 3]


def example(kind: str, seed: int, noise: bool = True):
    """A random federation with priority and free clients, a random start per run, and a generator to go on with."""
    rng = np.random.default_rng(seed)
    clients = int(rng.integers(2, 7))
    priority = int(rng.integers(1, clients))
    if kind == "logistic":
        federation = make("binary", seed, batch_size=2 if noise else None)
    else:
        federation = make_quadratic(
            clients=clients, dim=int(rng.integers(2, 5)), L=4.0, mu=1.0, priority=priority, seed=seed, hessians=kind,
            weights=rng.uniform(0.2, 3.0, clients), offset_spread=1.0, sigma=0.3 if noise else 0.0)
    return federation, rng.normal(size=(len(SEEDS), federation.dim)), rng


def method(rng, name="fedalign", **options):
    """A random member of the family ``name``."""
    options = {"local_steps": int(rng.integers(1, 4)), "eta_l": 0.1} | options
    if name.startswith("fedalign") and "epsilon" not in options:
        options["epsilon"] = float(rng.choice([0.1, 0.4, 1.0, 3.0]))
    return make_algorithm(name, **options)


def path(algorithm, federation, start, rounds=ROUNDS, seeds=SEEDS):
    """Global models, (runs, rounds + 1, dim)."""
    return run(algorithm, federation, rounds, start=start, seeds=seeds, record=["x"]).dataset["x"].values


def same(a, b, tolerance=1e-11):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


# 1-4: special cases ----------------------------------------------------------------------------------------------------
def zero_epsilon_is_fedavg_on_priority(kind, seed):
    federation, start, rng = example(kind, seed)
    for reading in READINGS:
        aligned = method(rng, epsilon=0.0, indicator=reading)
        plain = make_algorithm("fedavg", local_steps=aligned.local_steps)
        same(path(aligned, federation, start), path(plain, federation, start), 1e-14)


def infinite_epsilon_is_fedavg_on_all(kind, seed):
    """Also the same as a federation in which every client has priority, weights scaled to sum to one."""
    federation, start, rng = example(kind, seed, noise=kind != "logistic")
    everybody = gathered(federation, range(federation.clients))
    everybody.weights = federation.weights / federation.weights.sum(-1, keepdims=True)
    everybody.priority = torch.ones_like(federation.priority)
    for reading in READINGS:
        aligned = method(rng, epsilon=float("inf"), indicator=reading)
        expected = path(make_algorithm("fedavg", local_steps=aligned.local_steps), everybody, start)
        same(path(aligned, federation, start), expected)
        same(path(make_algorithm("fedavg-all", local_steps=aligned.local_steps), federation, start), expected)


def without_free_clients_epsilon_is_idle(kind, seed):
    federation, start, rng = example(kind, seed)
    federation = gathered(federation, np.flatnonzero(moved(federation.priority)[0]))
    steps = int(rng.integers(1, 4))
    paths = [path(make_algorithm("fedalign", local_steps=steps, epsilon=e), federation, start) for e in (0.0, 0.5, np.inf)]
    same(paths[1], paths[0], 0)
    same(paths[2], paths[0], 0)


def weights_sum_to_one(kind, seed):
    federation, start, rng = example(kind, seed)
    federation = gathered(federation, range(federation.clients))
    members = int(federation.priority.sum())
    for options in ({}, {"participants": 3, "sampling": "with-replacement"}, {"free": Bernoulli(0.5)},
                    {"indicator": "local-at-aggregation"}, {"indicator": "local-every-step"}):
        algorithm = method(rng, **options)
        data = run(algorithm, federation, ROUNDS, start=start, seeds=SEEDS, record=["aggregate_weight", "weight"]).dataset
        for name in ("aggregate_weight", "weight"):
            assert data[name].values.min() >= 0
            same(data[name].values.sum(axis=-1), 1.0, 1e-14)
    equal = gathered(federation, range(federation.clients), weights=0 * federation.weights + 1)
    drawn = method(rng, participants=int(rng.integers(1, members + 1)))
    weight = run(drawn, equal, ROUNDS, start=start, seeds=SEEDS, record=["weight"]).dataset["weight"].values
    same(weight.sum(axis=-1), 1.0, 1e-14)


# 7-12: symmetries --------------------------------------------------------------------------------------------------------
def order_of_clients_is_idle(kind, seed):
    federation, start, rng = example(kind, seed, noise=False)
    order = rng.permutation(federation.clients)
    for reading in READINGS:
        algorithm = method(rng, indicator=reading)
        same(path(algorithm, gathered(federation, order), start), path(algorithm, federation, start))


def a_client_may_be_split(kind, seed):
    """Into two copies whose weights sum to its own: the same, for a free client and for a priority client."""
    federation, start, rng = example(kind, seed, noise=False)
    mask = moved(federation.priority)[0] > 0
    for group in (mask, ~mask):
        k = int(rng.choice(np.flatnonzero(group)))
        share = rng.uniform(0.1, 0.9)
        weights = torch.cat([federation.weights, federation.weights[:, k : k + 1] * share], dim=1)
        weights[:, k] *= 1 - share
        split = gathered(federation, [*range(federation.clients), k], weights)
        for reading in READINGS:
            algorithm = method(rng, indicator=reading)
            same(path(algorithm, split, start), path(algorithm, federation, start))


def a_weightless_free_client_is_idle(kind, seed):
    federation, start, rng = example(kind, seed)
    k = int(rng.choice(np.flatnonzero(moved(federation.priority)[0] == 0)))
    weights = torch.cat([federation.weights, 0 * federation.weights[:, :1]], dim=1)
    more = gathered(federation, [*range(federation.clients), k], weights)
    for options in ({}, {"participants": 2, "sampling": "with-replacement"},
                    {"indicator": "local-at-aggregation"}, {"epsilon": np.inf}):
        algorithm = method(rng, **options)
        same(path(algorithm, more, start), path(algorithm, federation, start))


def a_common_offset_is_idle(kind, seed):
    """One constant added to all F_k; to the free clients alone it is not idle (enough of it drops them all)."""
    federation, start, rng = example(kind, seed)
    lifted = variant(federation, offset=federation.offset + 5.0)
    algorithm = method(rng)
    same(path(algorithm, lifted, start), path(algorithm, federation, start))
    for name in ("Gamma", "Gamma_client", "x_star"):
        same(moved(lifted.constants.value(name)), moved(federation.constants.value(name)))
    apart = variant(federation, offset=federation.offset + 1e6 * ~federation.priority)
    same(path(algorithm, apart, start), path(make_algorithm("fedavg", local_steps=algorithm.local_steps), federation, start))


def scaling_the_losses(kind, seed):
    """F_k -> c F_k, epsilon -> c epsilon, noise -> c noise, eta -> eta / c: errors and biases scale by c."""
    federation, start, rng = example(kind, seed)
    c, steps, epsilon = float(rng.choice([0.1, 3.0, 50.0])), int(rng.integers(1, 4)), float(rng.choice([0.4, 1.0]))
    scaled = variant(federation, curvature=c * federation.curvature, offset=c * federation.offset,
                     noise=GaussianNoise(c * federation.noise.scale))
    record = ["x", "suboptimality", "chi", "psi"]
    for reading in READINGS:
        options = {"local_steps": steps, "indicator": reading, "participants": 2,
                   "sampling": "with-replacement"}
        one = run(make_algorithm("fedalign", eta_l=0.1, epsilon=epsilon, **options), federation, ROUNDS, start=start,
                  seeds=SEEDS, record=record)
        other = run(make_algorithm("fedalign", eta_l=0.1 / c, epsilon=c * epsilon, **options), scaled, ROUNDS, start=start,
                    seeds=SEEDS, record=record)
        for name, factor in zip(record, (1, c, 1, c), strict=True):
            same(other.dataset[name].values / factor, one.dataset[name].values)
        if reading == "broadcast":
            same(other.alignment(32.0), one.alignment(32.0))
            same(other.tunable_bias(4.0 * c, 1.0 * c, 32.0) / c, one.tunable_bias(4.0, 1.0, 32.0))


def rotating_and_shifting(kind, seed):
    """w -> Q w + b, with the noise turned too, turns the whole trajectory (for data: w -> Q w)."""
    federation, start, rng = example(kind, seed, noise=False)
    Q = np.linalg.qr(rng.normal(size=(federation.dim, federation.dim)))[0]
    turn = torch.from_numpy(Q)
    if kind == "logistic":
        shift, turned = np.zeros(federation.dim), gathered(federation, range(federation.clients))
        turned.features = turned.features @ turn.T
    else:
        shift = rng.normal(size=federation.dim)
        curvature = federation.curvature if kind == "rotated" else torch.diag_embed(federation.curvature)
        atom = torch.from_numpy(rng.normal(size=(1, federation.clients, 1, federation.dim)))
        chance = torch.tensor([0.25, 0.75], dtype=torch.float64)
        atoms = torch.cat([3 * atom, -atom], dim=2)
        turned = variant(federation, curvature=turn @ curvature @ turn.T, noise=FiniteNoise(atoms @ turn.T, chance),
                         center=federation.center @ turn.T + torch.from_numpy(shift))
        federation = variant(federation, noise=FiniteNoise(atoms, chance))
    for name in ("fedalign", "fedalign-fedprox"):
        algorithm = method(rng, name)
        expected = path(algorithm, federation, start) @ Q.T + shift
        same(path(algorithm, turned, start @ Q.T + shift), expected, 1e-10)


# 13-16: selection and warm-up --------------------------------------------------------------------------------------------
def selection_grows_with_epsilon(kind, seed):
    federation, start, rng = example(kind, seed)
    draws, models = Draws(SEEDS), torch.from_numpy(rng.normal(size=(len(SEEDS), federation.clients, federation.dim)))
    models = {"broadcast": federation.all_clients(torch.from_numpy(start))}.get(reading := rng.choice(READINGS), models)
    before, share = None, None
    for epsilon in [0.0, *np.sort(rng.uniform(0, 4, 8)), np.inf]:
        selection = Selection(LossMatching(epsilon, indicator=str(reading)), WithReplacement(2), Bernoulli(0.8))
        part = selection.participate(federation, models, draws, 0, 0)
        chi = (part.virtual_weight * federation.priority).sum(-1)
        if before is not None:
            assert bool((part.included | ~before).all()) and bool((chi <= share).all())
        before, share = part.included, chi


def aligned_clients_are_willing(kind, seed):
    federation, start, rng = example(kind, seed)
    models = torch.from_numpy(rng.normal(size=(20, federation.clients, federation.dim)))
    for reading, strict, epsilon in product(READINGS, (True, False), (0.0, 0.3, 2.0)):
        rule = LossMatching(epsilon, strict=strict, indicator=reading)
        aligned, willing = rule.matches(federation, models, 0, 0), rule.willing(federation, models, 0, 0)
        assert bool((willing | ~aligned).all())
    data = run(method(rng), federation, ROUNDS, start=start, seeds=SEEDS, record=["included", "uplink_floats"]).dataset
    assert (data["uplink_floats"].values[data["included"].values] > 0).all()


def alignment_has_two_sides(kind, seed):
    """A free client far below the objective is willing, works, and is discarded."""
    federation, start, rng = example(kind, seed)
    far = variant(federation, offset=federation.offset - 1e6 * ~federation.priority)
    algorithm = method(rng)
    plain = make_algorithm("fedavg", local_steps=algorithm.local_steps)
    same(path(algorithm, far, start), path(plain, far, start), 1e-14)
    data = run(algorithm, far, 1, start=start, seeds=SEEDS, record=["uplink_floats"]).dataset
    assert (data["uplink_floats"].values == far.dim + 1).all()


def warmup_is_fedavg_on_priority(kind, seed):
    """Exactly so many rounds: one round later an all-embracing threshold acts."""
    federation, start, rng = example(kind, seed)
    warmup = int(rng.integers(1, ROUNDS))
    steps = int(rng.integers(1, 4))
    plain = path(make_algorithm("fedavg", local_steps=steps), federation, start)
    rows = [make_algorithm("fedalign", local_steps=steps, epsilon=np.inf, warmup=warmup, indicator=r) for r in READINGS]
    for algorithm in [*rows, make_algorithm("fedavg-all", local_steps=steps, warmup=warmup)]:
        warm = path(algorithm, federation, start)
        same(warm[:, : warmup + 1], plain[:, : warmup + 1], 1e-14)
        assert (np.abs(warm[:, warmup + 1] - plain[:, warmup + 1]).max(axis=-1) > 1e-9).all()


def a_round_without_match_is_a_fedavg_round(kind, seed):
    federation, start, rng = example(kind, seed)
    algorithm = method(rng, epsilon=float(rng.choice([0.05, 0.2, 0.5])))
    data = run(algorithm, federation, ROUNDS, start=start, seeds=SEEDS, record=["x", "included"]).dataset
    plain = make_algorithm("fedavg", local_steps=algorithm.local_steps)
    alone = ~(data["included"].values & (moved(federation.priority) == 0)).any(axis=-1)
    for r in range(ROUNDS):
        x = torch.from_numpy(data["x"].values[:, r].copy())
        (state,) = rounds_of(plain, federation, State(x), Draws(SEEDS), r, 1)
        same(data["x"].values[alone[:, r], r + 1], moved(state.x)[alone[:, r]], 1e-13)
