"""The batched engine equals the slow reference, and one source gives the same numbers on every kind of array."""

from fractions import Fraction

import numpy as np
import pytest
import torch

from fedtheory import (
    Bernoulli,
    Constant,
    FractionOfBoth,
    Geometric,
    InverseTime,
    Pattern,
    Selection,
    StopAfter,
    Tabulated,
    make_algorithm,
    run,
)
from synthetic import EXACT, NUMPY, TORCH, Backend, to_numpy
from tests.bounds.each_claim import look_at_each
from tests.fedtheory.federations import FEDERATIONS, moved, rational, variant
from tests.fedtheory.references.reference import Method, reference_run
from tests.not_empty import not_empty

ROUNDS, SEEDS = 5, [0, 7, 3, 2**40]
TABLE = np.arange(60).reshape(4, 3, 5) % 7 < 4


def _pattern(federation):
    clients = federation.clients
    return Pattern(federation.backend.booleans(TABLE[:, :, :clients]))


def _with_free(name, free, **options):
    return _named(name, lambda federation: make_algorithm(name, free=free(federation), **options))


def _plain(name, **options):
    return _named(name, lambda federation: make_algorithm(name, **options))


def _named(name, make):
    make.method = name
    return make


#: name -> (algorithm of a federation, what the reference is told)
ROWS = {
    "fedavg": (_plain("fedavg", eta_l=0.1, local_steps=3), Method(lambda t, r: 0.1, 3)),
    "fedavg, decaying": (
        _plain("fedavg", eta_l=InverseTime(1.0, 9.0), local_steps=2), Method(lambda t, r: 2 / (t + 9), 2)),
    "fedavg, geometric": (
        _plain("fedavg", eta_l=Geometric(0.2, 0.5), local_steps=2), Method(lambda t, r: 0.2 * 0.5**r, 2)),
    "fedavg, tabulated": (
        _plain("fedavg", eta_l=Tabulated([0.2, 0.1, 0.05]), local_steps=2),
        Method(lambda t, r: [0.2, 0.1, 0.05][min(t, 2)], 2)),
    "fedavg, tabulated by round": (
        _plain("fedavg", eta_l=Tabulated([0.2, 0.1, 0.05], "round"), local_steps=2),
        Method(lambda t, r: [0.2, 0.1, 0.05][min(r, 2)], 2)),
    "scheme I": (
        _plain("fedavg", local_steps=2, participants=3, sampling="with-replacement"),
        Method(lambda t, r: 0.1, 2, sampling=("with", 3))),
    "scheme II": (
        _plain("fedavg", local_steps=2, participants=1, sampling="li2020-scheme-2"),
        Method(lambda t, r: 0.1, 2, sampling=("scheme II", 1))),
    "fedprox": (_plain("fedprox", local_steps=3, rho_prox=0.7), Method(lambda t, r: 0.1, 3, rho_prox=0.7)),
    "fedavg-priority": (_plain("fedavg-priority", local_steps=2), Method(lambda t, r: 0.1, 2)),
    "fedprox-priority": (
        _plain("fedprox-priority", local_steps=3, rho_prox=0.7), Method(lambda t, r: 0.1, 3, rho_prox=0.7)),
    "fedprox, scheme I": (
        _plain("fedprox", local_steps=3, rho_prox=0.7, participants=3, sampling="with-replacement"),
        Method(lambda t, r: 0.1, 3, rho_prox=0.7, sampling=("with", 3))),
    "fedavg-priority, scheme II": (
        _plain("fedavg-priority", local_steps=2, participants=1, sampling="li2020-scheme-2"),
        Method(lambda t, r: 0.1, 2, sampling=("scheme II", 1))),
    "fedprox-priority, scheme I": (
        _plain("fedprox-priority", local_steps=2, rho_prox=0.7, participants=2, sampling="with-replacement"),
        Method(lambda t, r: 0.1, 2, rho_prox=0.7, sampling=("with", 2))),
    "fedavg-all": (_plain("fedavg-all", local_steps=2), Method(lambda t, r: 0.1, 2, "everybody")),
    "fedavg-all, warm-up": (_plain("fedavg-all", warmup=2), Method(lambda t, r: 0.1, 1, "everybody", warmup=2)),
    "fedprox-all": (_plain("fedprox-all", local_steps=2), Method(lambda t, r: 0.1, 2, "everybody", rho_prox=1.0)),
    "local-only": (_plain("local-only", local_steps=2), Method(lambda t, r: 0.1, 2, communicates=False)),
    "fedalign": (
        _plain("fedalign", local_steps=3, epsilon=0.4), Method(lambda t, r: 0.1, 3, "loss", lambda t, r: 0.4)),
    "fedalign, infinite": (
        _plain("fedalign", local_steps=2, epsilon=np.inf), Method(lambda t, r: 0.1, 2, "loss", lambda t, r: np.inf)),
    "fedalign, warm-up": (
        _plain("fedalign", local_steps=2, epsilon=0.6, warmup=2),
        Method(lambda t, r: 0.1, 2, "loss", lambda t, r: 0.6, warmup=2)),
    "fedalign, stopped": (
        _plain("fedalign", local_steps=2, epsilon=StopAfter(5.0, 2)),
        Method(lambda t, r: 0.1, 2, "loss", lambda t, r: 5.0 if r < 2 else 0.0)),
    "fedalign, falling": (
        _plain("fedalign", local_steps=2, epsilon=Geometric(2.0, 0.5)),
        Method(lambda t, r: 0.1, 2, "loss", lambda t, r: 2.0 * 0.5**r)),
    "fedalign, by iteration": (
        _plain("fedalign", local_steps=2, epsilon=InverseTime(1.0, 1.0)),
        Method(lambda t, r: 0.1, 2, "loss", lambda t, r: 2.0 / (t + 1))),
    "fedalign, stragglers": (
        _with_free("fedalign", lambda f: Bernoulli(0.5), local_steps=2, epsilon=0.6),
        Method(lambda t, r: 0.1, 2, "loss", lambda t, r: 0.6, free=("bernoulli", 0.5))),
    "fedalign, pattern": (
        _with_free("fedalign", _pattern, local_steps=2, epsilon=0.6),
        Method(lambda t, r: 0.1, 2, "loss", lambda t, r: 0.6, free=("pattern", TABLE))),
    "fedalign, scheme I, stragglers": (
        _with_free("fedalign", lambda f: Bernoulli(0.7), local_steps=2, epsilon=0.6, participants=2,
                   sampling="with-replacement"),
        Method(lambda t, r: 0.1, 2, "loss", lambda t, r: 0.6, sampling=("with", 2), free=("bernoulli", 0.7))),
    "fedalign, scheme II": (
        _plain("fedalign", local_steps=2, epsilon=0.6, participants=1, sampling="li2020-scheme-2"),
        Method(lambda t, r: 0.1, 2, "loss", lambda t, r: 0.6, sampling=("scheme II", 1))),
    "without replacement": (
        _plain("fedavg", local_steps=2, participants=1), Method(lambda t, r: 0.1, 2, sampling=("without", 1))),
    "fedalign, without replacement": (
        _plain("fedalign", local_steps=2, epsilon=0.6, participants=1),
        Method(lambda t, r: 0.1, 2, "loss", lambda t, r: 0.6, sampling=("without", 1))),
    "fedalign, at aggregation": (
        _plain("fedalign", local_steps=3, epsilon=0.4, indicator="local-at-aggregation"),
        Method(lambda t, r: 0.1, 3, "loss", lambda t, r: 0.4, indicator="local-at-aggregation")),
    "fedalign, at aggregation, everything": (
        _with_free("fedalign", lambda f: Bernoulli(0.7), local_steps=2, epsilon=Geometric(2.0, 0.5), participants=2,
                   sampling="with-replacement", warmup=1, indicator="local-at-aggregation"),
        Method(lambda t, r: 0.1, 2, "loss", lambda t, r: 2.0 * 0.5**r, sampling=("with", 2), free=("bernoulli", 0.7),
               warmup=1, indicator="local-at-aggregation")),
    "fedalign, every step": (
        _with_free("fedalign", lambda f: Bernoulli(0.7), local_steps=3, epsilon=0.4, warmup=1,
                   indicator="local-every-step"),
        Method(lambda t, r: 0.1, 3, "loss", lambda t, r: 0.4, warmup=1, free=("bernoulli", 0.7),
               indicator="local-every-step")),
    "fedalign-fedprox": (
        _plain("fedalign-fedprox", local_steps=3, epsilon=0.4, rho_prox=2.0),
        Method(lambda t, r: 0.1, 3, "loss", lambda t, r: 0.4, rho_prox=2.0)),
    "fedalign-fedprox, scheme I": (
        _plain("fedalign-fedprox", local_steps=2, epsilon=0.4, rho_prox=2.0, participants=2,
               sampling="with-replacement"),
        Method(lambda t, r: 0.1, 2, "loss", lambda t, r: 0.4, rho_prox=2.0, sampling=("with", 2))),
    "fedalign-fraction": (
        _plain("fedalign-fraction", local_steps=2, epsilon=0.6, fraction=0.5),
        Method(lambda t, r: 0.1, 2, "loss", lambda t, r: 0.6, sampling=("fraction", 0.5, "participants"),
               free=("fraction", 0.5))),
    "fedalign-fraction, unbiased": (
        _plain("fedalign-fraction", local_steps=2, epsilon=0.6, fraction=0.4, normalisation="unbiased"),
        Method(lambda t, r: 0.1, 2, "loss", lambda t, r: 0.6, sampling=("fraction", 0.4, "unbiased"),
               free=("fraction", 0.4))),
}


def both(federation_name: str, row: str, backend=TORCH):
    """The engine's trajectory and the reference's, on the same federation, seeds and starts."""
    make, (algorithm, method) = FEDERATIONS[federation_name], ROWS[row]
    federation, slow = make(backend), make(NUMPY)
    start = np.random.default_rng(11).normal(size=(len(SEEDS), slow.dim))
    trajectory = run(algorithm(federation), federation, ROUNDS, start=start, seeds=SEEDS, record=["x", "weight"])
    return trajectory, reference_run(method, slow, SEEDS, start, ROUNDS)


@pytest.mark.parametrize("row", ROWS)
def test_the_engine_equals_the_reference(row):
    look_at_each(FEDERATIONS, lambda name: check_equals_reference(name, row))


def check_equals_reference(name, row):
    """Weights to 1e-12, models to 1e-10, and for clients that never communicate their own models."""
    trajectory, expected = both(name, row)
    np.testing.assert_allclose(trajectory.dataset["weight"], expected["weight"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(trajectory.dataset["x"], expected["x"], rtol=1e-10, atol=1e-10)
    if not ROWS[row][1].communicates:
        np.testing.assert_allclose(moved(trajectory.state.clients["model"]), expected["local"], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("row", ["scheme I", "fedalign, stragglers", "fedalign, every step", "fedalign-fraction"])
@pytest.mark.parametrize("name", ["gaussian noise", "one instance per run", "logistic, minibatches"])
def test_the_engine_equals_the_reference_on_numpy(name, row):
    trajectory, expected = both(name, row, NUMPY)
    np.testing.assert_allclose(trajectory.dataset["x"], expected["x"], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("row", ["scheme I", "fedalign, stragglers"])
def test_single_precision_stays_near_the_reference(row):
    trajectory, expected = both("gaussian noise", row, Backend(dtype=torch.float32))
    np.testing.assert_allclose(trajectory.dataset["x"], expected["x"], rtol=0, atol=2e-5)


@pytest.mark.parametrize("row", [row for row, (_, method) in ROWS.items() if method.match == "loss"])
def test_the_table_exercises_the_matching(row):
    """On some federation of the table a free client is kept and another or the same is dropped, and it matters."""
    seen = set()
    for name in ("no noise", "one instance per run", "one priority client", "logistic"):
        slow = FEDERATIONS[name](NUMPY)
        start = np.random.default_rng(11).normal(size=(len(SEEDS), slow.dim))
        result = reference_run(ROWS[row][1], slow, SEEDS, start, ROUNDS)
        seen |= set(np.unique(result["included"][:, :, ~slow.priority[0]]))
    assert seen == ({True} if row == "fedalign, infinite" else {False, True})


# exact fractions ---------------------------------------------------------------------------------------------------------
_EIGHTH, _HALF = Fraction(1, 8), Fraction(1, 2)
EXACT_ROWS = {
    "fedavg": {"name": "fedavg", "local_steps": 2},
    "fedprox": {"name": "fedprox", "local_steps": 2, "rho_prox": _HALF},
    "scheme I": {"name": "fedavg", "participants": 2, "sampling": "with-replacement"},
    "scheme II": {"name": "fedavg", "participants": 1, "sampling": "li2020-scheme-2", "local_steps": 2},
    "without replacement": {"name": "fedavg", "participants": 1, "local_steps": 2},
    "everybody": {"name": "fedavg-all", "local_steps": 2, "warmup": 3},
    "fedalign": {"name": "fedalign", "local_steps": 2, "epsilon": _HALF},
    "fedalign, at aggregation": {"name": "fedalign", "epsilon": Fraction(1, 3), "indicator": "local-at-aggregation"},
    "fedalign, every step": {"name": "fedalign", "local_steps": 2, "epsilon": _HALF, "indicator": "local-every-step"},
    "fedalign, falling": {"name": "fedalign", "epsilon": Geometric(Fraction(2), Fraction(3, 4))},
    "fedalign-fedprox": {"name": "fedalign-fedprox", "local_steps": 2, "epsilon": _HALF, "rho_prox": 1},
    "fedalign-fraction": {"name": "fedalign-fraction", "fraction": 0.5, "epsilon": _HALF},
    "local-only": {"name": "local-only"},
}


def _float(value):
    if isinstance(value, Fraction):
        return float(value)
    return Geometric(_float(value.value), _float(value.ratio)) if isinstance(value, Geometric) else value


@pytest.mark.parametrize("row", EXACT_ROWS)
@pytest.mark.parametrize("noise", [False, True])
def test_fractions_numpy_and_torch_agree(row, noise):
    options = dict(EXACT_ROWS[row])
    name, rounds, seeds = options.pop("name"), 50, [3, 4]
    record = ["x", "suboptimality", "included", "weight", "chi", "psi", "drift"]
    results = {}
    for backend in (EXACT, NUMPY, TORCH):
        given = options if backend is EXACT else {key: _float(value) for key, value in options.items()}
        algorithm = make_algorithm(name, eta_l=_EIGHTH if backend is EXACT else 0.125, **given)
        start = np.array([Fraction(1), Fraction(-1, 2)])
        results[backend.library] = run(algorithm, rational(backend, noise), rounds, start=start, seeds=seeds, record=record)
    exact = results["exact"].dataset
    assert all(isinstance(value, Fraction) for value in not_empty(to_numpy(results["exact"].state.x).ravel()))
    for library in ("numpy", "torch"):
        for quantity in not_empty(record):
            np.testing.assert_allclose(results[library].dataset[quantity].values.astype(float),
                                       exact[quantity].values.astype(float), rtol=1e-12, atol=1e-12, err_msg=quantity)


def test_the_decaying_step_is_exact_on_fractions():
    step = InverseTime(Fraction(1), Fraction(16))
    trajectory = run(make_algorithm("fedavg", eta_l=step, local_steps=2), rational(EXACT), 10, record=["x", "eta_l"])
    assert trajectory.dataset["eta_l"].values[0, :3].tolist() == [Fraction(1, 8), Fraction(2, 17), Fraction(1, 9)]
    numbers = run(make_algorithm("fedavg", eta_l=InverseTime(1.0, 16.0), local_steps=2), rational(TORCH), 10, record=["x"])
    np.testing.assert_allclose(trajectory.dataset["x"].values.astype(float), numbers.dataset["x"], atol=1e-14)


@pytest.mark.parametrize(("strict", "counts"), [(True, False), (False, True)])
def test_an_equal_loss_counts_only_where_ties_do(strict, counts):
    check_ties(strict, counts)


def check_ties(strict, counts):
    """At zero threshold a free client whose loss equals the objective is dropped by ``<`` and kept by ``<=``."""
    base = rational(EXACT)
    point = np.array([Fraction(1, 2), Fraction(1, 4)])
    gap = base.objective(point[None]) - base.value(base.all_clients(point[None]))[:, 2]
    offset = base.offset.copy()
    offset[:, 2] += gap
    tied = variant(base, offset=offset)
    algorithm = make_algorithm("fedalign", eta_l=_EIGHTH, epsilon=0, strict=strict)
    included = run(algorithm, tied, 1, start=point, record=["included"]).dataset["included"].values[0, 0]
    assert included.tolist() == [True, True, counts, False]


def test_selection_objects_need_no_registry():
    """The parts compose by hand as the registry composes them."""
    federation = FEDERATIONS["gaussian noise"]()
    by_name = make_algorithm("fedalign-fraction", epsilon=0.6, fraction=0.5)
    drawn = FractionOfBoth(0.5)
    by_hand = type(by_name)(Constant(0.1), 1, Selection(by_name.selection.matching, drawn, drawn))
    first, second = (run(a, federation, 3, seeds=3, record=["x"]).dataset["x"] for a in (by_name, by_hand))
    np.testing.assert_array_equal(first, second)
