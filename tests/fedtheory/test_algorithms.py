"""Every method by name: it runs, documents itself with numbers, refuses bad hyper-parameters, and bears divergence."""

import doctest
import importlib
import pkgutil
from fractions import Fraction

import numpy as np
import pytest
import torch

import fedtheory
from fedtheory import (
    ALGORITHMS,
    Constant,
    FedAvg,
    FractionOfBoth,
    Geometric,
    InverseTime,
    LossMatching,
    Pattern,
    StopAfter,
    make_algorithm,
    run,
)
from synthetic import Quadratic
from synthetic.data.factored import factored
from tests.fedtheory.federations import FEDERATIONS
from tests.not_empty import not_empty

MODULES = sorted(module.name for module in pkgutil.walk_packages(fedtheory.__path__, "fedtheory."))


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_docstrings(module):
    if module == "fedtheory.card_kernels":
        pytest.importorskip("triton")
    assert doctest.testmod(importlib.import_module(module)).failed == 0


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("fedtheory.algorithms.")])
def test_every_method_shows_an_example(module):
    assert doctest.testmod(importlib.import_module(module)).attempted >= 2


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_row_runs_and_says_what_it_is(name):
    method = ALGORITHMS[name]
    assert method.description and method.source and method.make.__doc__
    algorithm = make_algorithm(name, eta_l=0.1, local_steps=2)
    federations = [FEDERATIONS["gaussian noise"](), FEDERATIONS["logistic"](), factored(FEDERATIONS["logistic"](), rank=1)]
    federation = next(each for each in federations if not algorithm.refuses(each))  # some need data, or factors
    start = np.linspace(-1, 1, federation.dim)
    x = run(algorithm, federation, 3, seeds=2, start=start, record=["x"]).dataset["x"].values
    assert np.isfinite(x).all() and (x[:, -1] != start).any()


@pytest.mark.parametrize("id", [
    "alg-fedavg", "alg-fedprox", "alg-arbitrary", "alg-partial", "alg-partial-without-replacement", "alg-fraction",
    "fedavg-priority", "fedavg-all", "fedprox-priority", "fedprox-all", "local-only",
])
def test_every_algorithm_of_the_specification_is_found_by_its_id(id):
    """The ids of Sections 3 and 8, each with one owner."""
    assert sum(f"fedalign/{id}" in row.ids for row in ALGORITHMS.values()) == 1
    assert isinstance(make_algorithm(f"fedalign/{id}", eta_l=0.2), fedtheory.Algorithm)


def test_a_number_is_the_probability_that_a_free_client_is_there():
    federation = FEDERATIONS["gaussian noise"]()
    by_number = make_algorithm("fedalign", epsilon=9.0, free=0.5)
    by_name = make_algorithm("fedalign", epsilon=9.0, free=fedtheory.Bernoulli(0.5))
    first, second = (run(method, federation, 4, seeds=3, record=["included"]).dataset for method in (by_number, by_name))
    np.testing.assert_array_equal(first["included"], second["included"])
    assert 0 < first["included"].values[..., [1, 2, 4]].mean() < 1


# divergence --------------------------------------------------------------------------------------------------------------
def check_who_does_not_count_may_diverge():
    """A free client whose local steps overflow leaves the others' average alone while it does not count. A model that it
    keeps is an array of the state, which is not finite."""
    federation = Quadratic([[[1.0], [1e200]]], [[[1.0], [1.0]]], priority=[[True, False]])
    record = ["x", "drift", "weighted_gradient_sq", "max_gradient_sq"]
    for name, diverged in (("fedavg", -1), ("local-only", 1)):
        trajectory = run(make_algorithm(name, eta_l=0.5, local_steps=3), federation, 4, start=[5.0], record=record)
        np.testing.assert_array_equal(trajectory.dataset["x"].values[0, :, 0], 1 + 4 * 0.125 ** np.arange(5))
        assert trajectory.dataset["diverged"].values.tolist() == [diverged]
        assert trajectory.dataset["drift"].values.tolist() == [[0.0] * 12]
        expected = 16 * 0.25 ** np.arange(12.0)
        np.testing.assert_array_equal(trajectory.dataset["weighted_gradient_sq"].values[0], expected)
        np.testing.assert_array_equal(trajectory.dataset["max_gradient_sq"].values[0], expected)
    everybody = run(make_algorithm("fedavg-all", eta_l=0.5, local_steps=3), federation, 4, start=[5.0])
    assert everybody.dataset["diverged"].values.tolist() == [1]


def test_who_does_not_count_may_diverge():
    check_who_does_not_count_may_diverge()


# hyper-parameters --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["fedprox", "fedalign-fedprox"])
def test_one_proximal_weight_per_run(name):
    """Per-run numbers act on runs, also where there are as many runs as coordinates."""
    federation, rhos = FEDERATIONS["gaussian noise"](), [0.0, 0.5, 3.0]
    together = run(make_algorithm(name, rho_prox=np.array(rhos), local_steps=3), federation, 3, seeds=3, record=["x"])
    for i, rho in not_empty(enumerate(rhos)):
        single = run(make_algorithm(name, rho_prox=rho, local_steps=3), federation, 3, seeds=[i], record=["x"])
        np.testing.assert_array_equal(single.dataset["x"].values[0], together.dataset["x"].values[i])


def test_fractions_are_numbers_on_every_backend():
    federation = FEDERATIONS["no noise"]()
    given = {"name": "fedalign-fedprox", "local_steps": 2, "epsilon": Fraction(1, 2), "rho_prox": Fraction(1, 4)}
    exact, numbers = (run(make_algorithm(**options), federation, 3, record=["x"]).dataset["x"] for options in (
        given | {"eta_l": Fraction(1, 8)}, given | {"eta_l": 0.125, "epsilon": 0.5, "rho_prox": 0.25}))
    np.testing.assert_array_equal(exact, numbers)


def test_integers_of_any_kind_are_counts(tmp_path):
    method = make_algorithm("fedavg", local_steps=np.int64(2), participants=np.int32(2))
    saved = run(method, FEDERATIONS["no noise"](), np.int64(3)).save(tmp_path / "a.run")
    assert fedtheory.load_trajectory(saved).rounds == 3


def test_patterns_may_be_plain_lists():
    federation = FEDERATIONS["no noise"]()
    tables = [[[1, 1, 0, 1, 1]], np.array([[1, 1, 0, 1, 1]]), torch.tensor([[[True, True, False, True, True]]])]
    for table in not_empty(tables):
        data = run(make_algorithm("fedalign", epsilon=1e9, free=Pattern(table)), federation, 2, record=["included"]).dataset
        assert data["included"].values[0].tolist() == [[True, True, False, True, True]] * 2


def _run(**options):
    return run(make_algorithm("fedalign", **options), FEDERATIONS["no noise"](), 1, seeds=2)


BAD = {
    "threshold text": (lambda: make_algorithm("fedalign", epsilon="abc"), "epsilon.* 0.*got 'abc'"),
    "threshold list": (lambda: make_algorithm("fedalign", epsilon=[0.1]), r"epsilon.*\(runs,\).*got \[0.1\]"),
    "threshold array": (lambda: make_algorithm("fedalign", epsilon=np.array([-0.1])), "epsilon.* 0.*got array"),
    "threshold missing": (lambda: make_algorithm("fedalign", epsilon=None), "epsilon.* 0.*got None"),
    "step text": (lambda: make_algorithm("fedavg", eta_l="theory"), "eta_l.* 0.*got 'theory'"),
    "step array": (lambda: FedAvg(eta_l=torch.tensor([0.1, -0.1])), "eta_l.* 0.*got tensor"),
    "step truth": (lambda: FedAvg(eta_l=True), "eta_l.* 0.*got True"),
    "steps of other runs": (lambda: _run(eta_l=np.array([0.1, 0.2, 0.3])), r"\(2,\).*got \(3,\)"),
    "thresholds of other runs": (lambda: _run(epsilon=np.array([0.1, 0.2, 0.3])), r"\(2,\).*got \(3,\)"),
    "local steps truth": (lambda: FedAvg(local_steps=True), "local_steps.* 1.*got True"),
    "proximal text": (lambda: make_algorithm("fedprox", rho_prox="big"), "rho_prox.* 0.*got 'big'"),
    "proximal beyond every number": (lambda: make_algorithm("fedprox", rho_prox=1e400), "rho_prox.* finite; got inf"),
    "step beyond every number": (lambda: FedAvg(eta_l=1e400), "eta_l.* finite; got inf"),
    "array's number": (lambda: make_algorithm("fedprox", rho_prox=np.float64("inf")), "rho_prox.* finite; got"),
    "strictness": (lambda: LossMatching(strict="maybe"), "strict.*got 'maybe'"),
    "sampling": (lambda: make_algorithm("fedavg", sampling="no"), "sampling 'no'; allowed: without-replacement, with-"),
    "availability": (lambda: make_algorithm("fedalign", free="often"), "probability.* 0 .*1.*got 'often'"),
    "fraction text": (lambda: FractionOfBoth("half"), "fraction.* 0 .*1.*got 'half'"),
    "pattern of one row": (lambda: Pattern([1, 0, 1]), r"\(rounds, clients\).*got.*\(3,\)"),
    "pattern of other clients": (lambda: _run(epsilon=9.0, free=Pattern([[1, 0, 1]])), "5 clients; got 3"),
    "strong convexity": (lambda: InverseTime(0.0, 8.0), "^mu .* 0.*got 0.0"),
    "offset": (lambda: InverseTime(1.0, 0), "offset.* 0.*got 0"),
    "ratio": (lambda: Geometric(1.0, -0.5), "ratio.* 0.*got -0.5"),
    "value": (lambda: StopAfter(-1.0, 3), "value.* 0.*got -1.0"),
    "constant": (lambda: Constant(float("nan")), "value.* 0.*got nan"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_hyper_parameter_is_one_clear_line(case):
    action, message = BAD[case]
    with pytest.raises(ValueError, match=message) as caught:
        action()
    assert "\n" not in str(caught.value)
