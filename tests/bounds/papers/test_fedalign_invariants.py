"""Section 7 of the specification, the invariants that concern bounds: 5, 6, 23-25, 27, 30, 31, with hypothesis."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bounds.registry.claims import find_claim
from fedtheory import InverseTime, StopAfter, fedalign, run
from synthetic.data.from_arrays import from_arrays
from synthetic.numbers.arrays import NUMPY
from synthetic.quadratic.make import make_quadratic
from verify.evaluation.environment import Environment, NamedArray
from verify.evaluation.evaluate import evaluate

PROPERTY = settings(deadline=None, max_examples=25)
T = 8
PRINTED, CORRECTED, SHARP = "fedalign/theorem-1", "fedalign/derived-theorem-1", "fedalign/derived-sharp"
SAMPLED = "fedalign/theorem-A9"
numbers = st.floats(0.01, 100)
shares = st.lists(st.floats(0.05, 1.0), min_size=T, max_size=T)
biases = st.lists(st.floats(0.0, 10.0), min_size=T, max_size=T)


def right(claim_id, *, mu, kappa, K=2, participants=3, sigma_sq=1.0, G_sq=1.0, Gamma=1.0, D0=1.0, chi, psi, offset=None):
    """Right side of a claim for given constants and a given inclusion pattern."""
    claim = find_claim(claim_id)
    L = mu * kappa
    offset = max(8 * kappa, K) if offset is None else offset
    given_numbers = {"L": L, "mu": mu, "sigma_sq": sigma_sq, "G_sq": G_sq, "Gamma": Gamma, "step_offset": offset,
                     "F_star": 0.0}
    bound = {name: NamedArray(np.full((1, 1, 1), float(value))) for name, value in given_numbers.items()}
    times = np.arange(T)
    for name, values in {"chi": chi, "psi": psi, "eta_l": 2 / (mu * (times + offset))}.items():
        bound[name] = NamedArray(np.asarray(values, dtype=float).reshape(1, 1, 1, -1), 1)
    bound["x_star"] = NamedArray(np.zeros((1, 1, 1, 1)), 0, True)
    bound["x_sampled"] = NamedArray(np.full((1, 1, 1, T + 1, 1), np.sqrt(D0)), 1, True)
    sizes = {"iterations": T, "local_steps": K, "participants": participants, "clients": 1, "rounds": T // K}
    environment = Environment(NUMPY, sizes, bound, definitions=claim.definitions)
    return float(evaluate(claim.statement.right, environment).item())


@PROPERTY
@given(mu=numbers, kappa=st.floats(1, 50), chi=shares, psi=biases, factor=st.floats(1.0, 5.0), data=st.data())
@pytest.mark.parametrize("claim_id", [PRINTED, CORRECTED, SHARP, SAMPLED])
def test_23_bounds_grow_with_every_constant(claim_id, mu, kappa, chi, psi, factor, data):
    base = {"mu": mu, "kappa": kappa, "chi": chi, "psi": psi, "offset": max(8 * kappa, 4)}
    start = right(claim_id, **base)
    name = data.draw(st.sampled_from(["sigma_sq", "G_sq", "Gamma", "D0"]))
    assert right(claim_id, **base, **{name: factor}) >= start * (1 - 1e-12)
    assert right(claim_id, **(base | {"psi": [factor * p for p in psi]})) >= start * (1 - 1e-12)
    assert right(claim_id, **base, K=4) >= start * (1 - 1e-12)


@PROPERTY
@given(mu=numbers, kappa=st.floats(1, 50), chi=shares, psi=biases)
def test_23_more_participants_lower_the_bound(mu, kappa, chi, psi):
    few, many = (right(SAMPLED, mu=mu, kappa=kappa, chi=chi, psi=psi, participants=s) for s in (1, 2))
    assert many < few


@PROPERTY
@given(mu=numbers, kappa=st.floats(1, 50), chi=shares, psi=biases, noise=numbers, gap=numbers, distance=numbers)
def test_24_printed_and_sharp_lie_below_corrected(mu, kappa, chi, psi, noise, gap, distance):
    values = {"mu": mu, "kappa": kappa, "chi": chi, "psi": psi, "sigma_sq": noise, "Gamma": gap, "D0": distance}
    printed, corrected, sharp = (right(claim_id, **values) for claim_id in (PRINTED, CORRECTED, SHARP))
    assert printed <= corrected * (1 + 1e-12)
    assert sharp <= corrected * (1 + 1e-12)


@PROPERTY
@given(mu=numbers, kappa=st.floats(1, 50), chi=shares, psi=biases, order=st.permutations(range(1, T)))
def test_25_only_the_sharp_bound_knows_when(mu, kappa, chi, psi, order):
    chi, psi = np.array(chi), np.array(psi)
    places = [0, *order]
    before, after = ({"mu": mu, "kappa": kappa, "chi": c, "psi": p} for c, p in ((chi, psi), (chi[places], psi[places])))
    assert right(PRINTED, **after) == pytest.approx(right(PRINTED, **before), rel=1e-12)


def test_25_late_inclusion_costs_more_in_the_sharp_bound():
    early, late = ({"mu": 1.0, "kappa": 2.0, "chi": np.ones(T), "psi": np.eye(T)[place]} for place in (1, T - 1))
    assert right(SHARP, **late) > right(SHARP, **early)


def logistic(seed):
    rng = np.random.default_rng(seed)
    X, client = rng.normal(size=(60, 3)), np.repeat(np.arange(6), 10)
    y = np.where(X @ rng.normal(size=3) + rng.normal(size=60) > 0, 1, -1)
    return from_arrays(X, y, client, task="binary", ridge=0.5, priority=3)


FEDERATIONS = {
    "quadratic": lambda seed: make_quadratic(clients=6, dim=2, L=4.0, mu=1.0, priority=3, offset_spread=0.5, seed=seed),
    "logistic": logistic,
}


def aligned(federation, epsilon, rounds, K):
    """A run of FedALIGN under the theory's steps, with L, mu and the offset of the steps."""
    L, mu = (float(federation.constants.value(name).max()) for name in ("L", "mu"))
    offset = max(8 * L / mu, K)
    algorithm = fedalign(eta_l=InverseTime(mu, offset), local_steps=K, epsilon=epsilon)
    return run(algorithm, federation, rounds, start=np.full(federation.dim, 0.7)), L, mu, offset


@PROPERTY
@given(seed=st.integers(0, 50), epsilon=st.floats(0, 3), rounds=st.integers(2, 6), K=st.integers(1, 3))
@pytest.mark.parametrize("family", FEDERATIONS)
def test_5_6_ranges_of_alignment_and_bias(family, seed, epsilon, rounds, K):
    federation = FEDERATIONS[family](seed)
    trajectory, L, mu, offset = aligned(federation, epsilon, rounds, K)
    iterations = rounds * K
    free = float((federation.weights * ~federation.priority).sum())
    most = (iterations - 1) / (iterations + offset - 2)
    assert most / (1 + free) - 1e-12 <= trajectory.alignment(offset) <= most + 1e-12
    largest = float(federation.constants.value("Gamma_client").max())
    bias = trajectory.tunable_bias(L, mu, offset)
    assert -1e-12 <= bias <= 2 * L / mu * free / (1 + free) * largest + 1e-9
    if not trajectory.dataset["included"].values[:, :, 3:].any():
        assert bias == 0


@PROPERTY
@given(seed=st.integers(0, 50), stop=st.integers(0, 4), K=st.integers(1, 3))
@pytest.mark.parametrize("family", FEDERATIONS)
def test_27_bias_after_inclusion_stops(family, seed, stop, K):
    federation = FEDERATIONS[family](seed)
    trajectory, L, mu, offset = aligned(federation, StopAfter(1e6, stop), 6, K)
    largest = float(federation.constants.value("Gamma_client").max())
    assert trajectory.tunable_bias(L, mu, offset) <= 2 * L / mu * stop * K / (6 * K + offset - 2) * largest + 1e-9


@PROPERTY
@given(L=numbers, share=st.floats(1e-6, 1.0))
def test_30_the_proof_s_step_is_between_one_and_two_steps(L, share):
    eta = share / (4 * L)
    proof_gamma = 2 * eta * (1 - 2 * L * eta)
    assert proof_gamma / (2 * eta) == pytest.approx(1 - 2 * L * eta)
    assert 0.5 - 1e-12 <= proof_gamma / (2 * eta) < 1


@PROPERTY
@given(
    gaps=st.lists(st.floats(0, 10), min_size=1, max_size=6), weights=st.lists(st.floats(0.1, 5), min_size=6, max_size=6),
    L=st.floats(0.1, 10), Gamma=st.floats(0, 10), share=st.floats(0.01, 1.0),
)
def test_31_the_best_inclusion_is_a_prefix_below_a_threshold(gaps, weights, L, Gamma, share):
    eta = share / (4 * L)

    def cost(members):
        p = sum(weights[k] for k in members)
        return (6 * L * Gamma * eta**2 + 2 * eta * sum(weights[k] * gaps[k] for k in members)) / (1 + p)

    everyone = range(len(gaps))
    subsets = chain.from_iterable(combinations(everyone, size) for size in range(len(gaps) + 1))
    best = min(subsets, key=cost)
    order = sorted(everyone, key=gaps.__getitem__)
    least = min(cost(order[:size]) for size in range(len(gaps) + 1))
    assert least <= cost(best) * (1 + 1e-9) + 1e-15
    assert all(gaps[k] <= 3 * L * Gamma * eta * (1 + 1e-9) + 1e-12 for k in best if cost(best) < cost(()) * (1 - 1e-9))
