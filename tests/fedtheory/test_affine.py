"""The fast path on quadratics equals the step-by-step path, and is taken only where it can be."""

import numpy as np
import pytest
import torch
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import Algorithm, FedAvg, Tabulated, affine, make_algorithm, paths, resume, run
from fedtheory.affine import affine_round
from fedtheory.observables import DEFAULT
from fedtheory.paths import choose_path
from synthetic import NUMPY, Quadratic, make_problem, make_quadratic
from tests.fedtheory.compiled_cases import methods

FEDERATIONS = {
    "diagonal": lambda: make_quadratic(clients=6, dim=4, seed=1),
    "dense": lambda: make_quadratic(clients=6, dim=4, hessians="rotated", seed=2),
    "unequal weights": lambda: Quadratic(
        np.linspace(0.3, 4.0, 24).reshape(1, 6, 4), np.cos(np.arange(24.0)).reshape(1, 6, 4), weights=[[1, 2, 3, 4, 5, 6]]),
    "one instance per run": lambda: Quadratic(
        np.linspace(0.3, 4.0, 36).reshape(3, 3, 4), np.cos(np.arange(36.0)).reshape(3, 3, 4)),
    "numpy": lambda: make_quadratic(clients=6, dim=4, hessians="rotated", seed=2, backend=NUMPY),
    "least squares": lambda: make_problem("least-squares", clients=5, samples=3, dim=4),
}
METHODS = methods(runs=3)


def check_equal(method, federation, record=("x",), rounds=7):
    problem, algorithm = FEDERATIONS[federation](), METHODS[method]()
    fast, slow = (run(algorithm, problem, rounds, seeds=3, start=np.arange(4.0), record=record, path=path)
                  for path in ("affine", "steps"))
    for name in record:
        np.testing.assert_allclose(fast.dataset[name], slow.dataset[name], rtol=1e-9, atol=1e-9)
    for owner in ("server", "clients"):
        for name, array in getattr(slow.state, owner).items():
            np.testing.assert_allclose(np.asarray(getattr(fast.state, owner)[name]), np.asarray(array), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("federation", FEDERATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_the_paths_agree(method, federation):
    check_equal(method, federation)


@pytest.mark.parametrize("method", METHODS)
def test_the_paths_agree_while_rounds_are_recorded(method):
    check_equal(method, "dense", ("x", "suboptimality", "weight", "chi", "gradients", "uplink_floats"))


@pytest.mark.parametrize("federation", FEDERATIONS)
@pytest.mark.parametrize("method", ["fedavg", "server step", "proximal", "one step each"])
def test_the_default_record_leaves_a_round_one_map(monkeypatch, federation, method):
    problem, algorithm, start = FEDERATIONS[federation](), METHODS[method](), np.arange(4.0)
    record = (*DEFAULT, "weight", "participants", "gradients", "gradient_norm_sq", "loss_client")
    slow = run(algorithm, problem, 5, seeds=3, start=start, record=record, path="steps").dataset
    monkeypatch.setattr(paths, "rounds_of", None)
    fast = run(algorithm, problem, 5, seeds=3, start=start, record=record).dataset
    for name in record:
        assert fast[name].dims == slow[name].dims
        np.testing.assert_allclose(fast[name], slow[name], rtol=1e-9, atol=1e-9, err_msg=name)
    halves = resume(run(algorithm, problem, 2, seeds=3, start=start, record=record), algorithm, problem, 3)
    xr.testing.assert_identical(halves.dataset, fast)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 40), st.floats(0.0, 0.25), st.floats(0.0, 3.0), st.integers(0, 10**6))
def test_any_number_of_steps(steps, eta, rho, seed):
    problem = make_quadratic(clients=3, dim=3, hessians="rotated", seed=seed)
    algorithm = make_algorithm("fedprox", eta_l=eta, local_steps=steps, rho_prox=rho)
    fast, slow = (run(algorithm, problem, 3, record=["x"], path=path).dataset["x"] for path in ("affine", "steps"))
    np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-9)


def test_a_run_is_the_same_alone_in_a_batch_and_after_a_resume():
    problem, start = FEDERATIONS["dense"](), np.arange(12.0).reshape(3, 4)
    algorithm = METHODS["server step"]()
    together = run(algorithm, problem, 6, seeds=3, start=start, record=["x"])
    alone = run(algorithm, problem, 6, seeds=[1], start=start[1], record=["x"])
    np.testing.assert_array_equal(together.dataset["x"][1], alone.dataset["x"][0])
    halves = resume(run(algorithm, problem, 2, seeds=3, start=start, record=["x"]), algorithm, problem, 4)
    np.testing.assert_array_equal(together.dataset["x"], halves.dataset["x"])


def test_a_whole_round_is_one_map_only_where_nothing_else_happens():
    from fedtheory.engine import starting_points
    from fedtheory.round_context import RoundContext
    from synthetic.numbers.draws import Draws

    found = {}
    for name, make in METHODS.items():
        algorithm, federation = make(), FEDERATIONS["dense"]()
        x = starting_points(federation, None, 3)
        state = algorithm.init(federation, x)
        context = RoundContext(algorithm, federation, Draws([0, 1, 2]), 0, 0, x, state)
        found[name] = affine_round(algorithm, federation, context) is not None
    assert [name for name, one in found.items() if one] == ["fedavg", "server step", "proximal", "one step each"]


def _counted(monkeypatch, name):
    made, original = [], getattr(affine, name)
    monkeypatch.setattr(affine, name, lambda *arguments: made.append(1) or original(*arguments))
    return made


@pytest.mark.parametrize(("federation", "name"), [("least squares", "_thin_map"), ("dense", "_any_map")])
def test_a_map_is_made_once_for_a_method_on_a_federation(monkeypatch, federation, name):
    made, problem = _counted(monkeypatch, name), FEDERATIONS[federation]()
    first = run(METHODS["server step"](), problem, 3, record=["x"]).dataset["x"]
    np.testing.assert_array_equal(first, run(METHODS["server step"](), problem, 3, record=["x"]).dataset["x"])
    assert len(made) == 1
    for method in ("fedavg", "proximal", "one step each"):  # other numbers are other maps
        check_equal(method, federation)
        fast, slow = (run(METHODS[method](), problem, 3, seeds=3, record=["x"], path=path).dataset["x"]
                      for path in ("affine", "steps"))
        np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-9)


def test_a_map_is_not_kept_where_the_data_are_written_to():
    problem = FEDERATIONS["dense"]()
    before = run(METHODS["fedavg"](), problem, 3, record=["x"], path="affine").dataset["x"].values
    problem.center += 1
    after, slow = (run(METHODS["fedavg"](), problem, 3, record=["x"], path=path).dataset["x"].values
                   for path in ("affine", "steps"))
    assert not np.allclose(before, after)
    np.testing.assert_allclose(after, slow, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("federation", ["dense", "least squares", "one instance per run"])
def test_without_a_compiler_the_rounds_are_the_same_to_rounding(monkeypatch, federation):
    method, problem = METHODS["server step"](), FEDERATIONS[federation]()
    fast = run(method, problem, 6, seeds=3, record=["x"]).dataset["x"]
    monkeypatch.setattr(affine, "map_rounds", lambda *arguments: None)
    np.testing.assert_allclose(fast, run(method, problem, 6, seeds=3, record=["x"]).dataset["x"], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dim", [1, 3, 8, 17])
def test_many_runs_of_a_map_are_the_same_bit_for_bit_one_by_one(dim):
    random = np.random.default_rng(dim)
    matrix, offset, x = (torch.tensor(random.normal(size=size) / dim) for size in ((1, dim, dim), (1, dim), (11, dim)))
    together = torch.stack(affine.RoundMap(matrix, offset, False).models(x, 5))
    expected = x
    for t in range(5):
        expected = expected - expected @ matrix[0].T + offset
        np.testing.assert_allclose(together[t], expected, rtol=1e-12, atol=1e-12)
    for i in range(11):
        alone = torch.stack(affine.RoundMap(matrix, offset, False).models(x[i : i + 1], 5))
        np.testing.assert_array_equal(alone[:, 0], together[:, i])
        own = affine.RoundMap(matrix.expand(11, dim, dim), offset.expand(11, dim), False).models(x, 5)
        np.testing.assert_array_equal(torch.stack(own)[:, i], together[:, i])


class Backwards(Algorithm):
    def client_step(self, local, gradient, context):
        return local._replace(x=local.x + self.step_size(context) * gradient(local.x))


@pytest.mark.parametrize(("algorithm", "federation", "reason"), [
    (Backwards(), "diagonal", "Backwards"),
    (make_algorithm("fedsam"), "diagonal", "SharpnessAware"),
    (make_algorithm("local-only"), "diagonal", "LocalOnly"),
    (make_algorithm("scaffold", option="average-gradient"), "diagonal", "ControlVariates"),
])
def test_where_it_cannot_be_taken_it_says_why(algorithm, federation, reason):
    problem = FEDERATIONS[federation]()
    assert choose_path("auto", algorithm, problem, False) == "steps"
    with pytest.raises(ValueError, match=f"path 'affine' .*{reason}.*allowed: auto, steps$"):
        run(algorithm, problem, 1, path="affine", record=["x"])


@pytest.mark.parametrize(("problem", "reason"), [
    (lambda: make_quadratic(clients=2, dim=2, noise="gaussian", sigma=1.0), "noisy"),
    (lambda: make_problem("logistic", clients=2, samples=5, dim=2), "logistic.*quadratic"),
    (lambda: make_problem("least-squares", clients=2, samples=5, dim=2, batch_size=1), "minibatches"),
])
def test_the_federation_must_be_quadratic_without_noise(problem, reason):
    with pytest.raises(ValueError, match=f"path 'affine' .*{reason}"):
        run(make_algorithm("fedavg"), problem(), 1, path="affine", record=["x"])


def test_local_models_are_recorded_step_by_step():
    problem = FEDERATIONS["diagonal"]()
    assert choose_path("auto", FedAvg(), problem, sees_steps=True) == "steps"
    with pytest.raises(ValueError, match=r"path 'affine' .*recorded"):
        run(FedAvg(), problem, 1, path="affine", record=["x_local"])
    with pytest.raises(ValueError, match="unknown path 'fast'; allowed: auto, steps, affine, compiled"):
        run(FedAvg(), problem, 1, path="fast")


def test_a_wrong_map_is_seen(monkeypatch):
    """The product over the later steps, taken over the earlier ones, differs as soon as steps change."""
    original = affine.affine_steps

    def backwards(algorithm, context):
        steps = algorithm.local_steps
        turned = context._replace(iteration=0)
        eta = algorithm.eta_l
        table = eta.values[: steps * (context.round + 1)].copy()
        first = context.round * steps
        table[first : first + steps] = table[first : first + steps][::-1]
        return original(algorithm.having(eta_l=Tabulated(table)), turned._replace(round=context.round))

    check_equal("falling steps", "dense")
    monkeypatch.setattr(affine, "affine_steps", backwards)
    with pytest.raises(AssertionError):
        check_equal("falling steps", "dense")
