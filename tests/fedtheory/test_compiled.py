"""The compiled path equals the step-by-step path, needs a compiler but says so, and is taken only where it can be."""

import multiprocessing
import os

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fedtheory import Algorithm, FedAvg, fused, make_algorithm, native, resume, run
from fedtheory.native import NoLibrary, library
from fedtheory.observables import DEFAULT
from fedtheory.paths import choose_path
from synthetic import NUMPY, TORCH, make_problem, make_quadratic
from synthetic.data.generalised_linear import GeneralisedLinear
from synthetic.data.least_squares import LeastSquares
from synthetic.data.logistic import BinaryLogistic
from synthetic.data.scalar_losses import SHAPES
from tests.fedtheory.compiled_cases import DIM, FEDERATIONS, FLOAT, METHODS, data

try:
    fused._function("float64")
    REASON = None
except NoLibrary as missing:
    REASON = str(missing)
needs_compiler = pytest.mark.skipif(REASON is not None, reason=str(REASON))


def check_equal(method, problem, record=("x",), rounds=5, tolerance=1e-9):
    algorithm = METHODS[method]()
    start = np.linspace(-1, 1, 5 * problem.dim).reshape(5, problem.dim)
    fast, slow = (run(algorithm, problem, rounds, seeds=5, start=start, record=record, path=path)
                  for path in ("compiled", "steps"))
    for name in record:
        np.testing.assert_allclose(fast.dataset[name], slow.dataset[name], rtol=tolerance, atol=tolerance)
    for owner in ("server", "clients"):
        for name, array in getattr(slow.state, owner).items():
            np.testing.assert_allclose(
                getattr(fast.state, owner)[name].numpy(), array.numpy(), rtol=tolerance, atol=tolerance)


@needs_compiler
@pytest.mark.parametrize("federation", FEDERATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_the_paths_agree(method, federation):
    check_equal(method, FEDERATIONS[federation]())


@needs_compiler
@pytest.mark.parametrize("method", METHODS)
def test_the_paths_agree_while_rounds_are_recorded(method):
    check_equal(method, FEDERATIONS["logistic"](), (*DEFAULT, "weight", "gradients", "uplink_floats"))


@needs_compiler
@pytest.mark.parametrize("loss", SHAPES)
@pytest.mark.parametrize("backend", [TORCH, FLOAT], ids=["float64", "float32"])
def test_every_loss(loss, backend):
    problem = data(GeneralisedLinear, loss=loss, scale=0.7, width=1.5, ridge=0.2, backend=backend)
    check_equal("proximal", problem, tolerance=1e-9 if backend is TORCH else 1e-4)


@needs_compiler
@pytest.mark.parametrize("federation", [
    lambda: data(backend=FLOAT), lambda: data(BinaryLogistic, ridge=0.1, backend=FLOAT),
    lambda: make_quadratic(clients=4, dim=DIM, hessians="rotated", seed=2, backend=FLOAT)])
def test_single_precision(federation):
    check_equal("two of them", federation(), tolerance=1e-4)


@needs_compiler
@pytest.mark.parametrize("loss", ["log-cosh", "softplus", "sigmoid", "tanh-squared", "welsch"])
def test_exponentials_far_out(loss):
    """Scores from -3000 to 3000, beyond the range of the exponential."""
    problem = data(GeneralisedLinear, loss=loss, ridge=0.2, width=1e-3, scale=1e-3)
    check_equal("fedavg", problem, rounds=2)


@needs_compiler
@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 70), st.integers(1, 9), st.integers(1, 6), st.booleans(), st.integers(0, 10**6))
def test_any_sizes(samples, dim, runs, steps, double, seed):
    problem = data(samples=samples, dim=dim, seed=seed, backend=TORCH if double else FLOAT)
    start = np.random.default_rng(seed).normal(size=(runs, dim))
    algorithm = make_algorithm("fedprox", eta_l=0.1, local_steps=steps, rho_prox=0.5)
    fast, slow = (run(algorithm, problem, 2, seeds=runs, start=start, record=["x"], path=path).dataset["x"]
                  for path in ("compiled", "steps"))
    np.testing.assert_allclose(fast, slow, **({"rtol": 1e-9, "atol": 1e-9} if double else {"rtol": 1e-3, "atol": 1e-4}))


@needs_compiler
@pytest.mark.parametrize("backend", [TORCH, FLOAT], ids=["float64", "float32"])
@pytest.mark.parametrize("federation", ["least squares", "logistic", "dense", "diagonal"])
def test_a_run_is_the_same_bit_for_bit_alone_in_any_batch_and_after_a_resume(federation, backend):
    problem = FEDERATIONS[federation]().to(backend)
    start = np.random.default_rng(3).normal(size=(11, problem.dim))
    algorithm = make_algorithm("scaffold", local_steps=3)
    together = run(algorithm, problem, 6, seeds=11, start=start, record=["x"], path="compiled")
    for first, last in ((0, 1), (10, 11), (1, 7), (3, 7)):
        some = run(algorithm, problem, 6, seeds=range(first, last), start=start[first:last], record=["x"], path="compiled")
        np.testing.assert_array_equal(together.dataset["x"][first:last], some.dataset["x"])
    half = run(algorithm, problem, 2, seeds=11, start=start, record=["x"], path="compiled")
    np.testing.assert_array_equal(together.dataset["x"], resume(half, algorithm, problem, 4).dataset["x"])


@needs_compiler
def test_a_run_that_diverges_does_not_spread():
    eta = np.array([0.1, 1e200, 0.2, 0.1, 0.1])
    together = run(make_algorithm("fedavg", eta_l=eta, local_steps=2), data(), 3, seeds=5, path="compiled", record=["x"])
    assert together.dataset["diverged"].values.tolist() == [-1, 1, -1, -1, -1]
    calm = run(make_algorithm("fedavg", eta_l=0.2, local_steps=2), data(), 3, seeds=[2], path="compiled", record=["x"])
    np.testing.assert_array_equal(together.dataset["x"][2], calm.dataset["x"][0])


@needs_compiler
def test_several_threads_give_the_same_bits():
    problem, algorithm = data(), make_algorithm("scaffold", local_steps=3)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2):
            torch.set_num_threads(threads)
            found.append(run(algorithm, problem, 3, seeds=9, record=["x"], path="compiled").dataset["x"].values)
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(*found)


# which path is taken -----------------------------------------------------------------------------------------------------
class Backwards(Algorithm):
    def client_step(self, local, gradient, context):
        return local._replace(x=local.x + self.step_size(context) * gradient(local.x))


class Steeper(LeastSquares):
    def slope(self, scores, targets):
        return 2 * super().slope(scores, targets)


@pytest.mark.parametrize(("algorithm", "problem", "reason"), [
    (Backwards(), data, "Backwards"),
    (make_algorithm("fedsam"), data, "SharpnessAware"),
    (make_algorithm("local-only"), data, "LocalOnly"),
    (make_algorithm("scaffold", option="average-gradient"), data, "ControlVariates"),
    (FedAvg(), lambda: data(Steeper), "least squares .*families"),
    (FedAvg(), lambda: make_quadratic(clients=2, dim=2, noise="gaussian", sigma=1.0), "noisy"),
    (FedAvg(), lambda: data(batch_size=1), "minibatches"),
    (FedAvg(), lambda: make_problem("synth"), "families"),
    (FedAvg(), lambda: data(backend=NUMPY), "torch .*CPU"),
])
def test_where_it_cannot_be_taken_it_says_why(algorithm, problem, reason):
    assert choose_path("auto", algorithm, problem(), False) in ("steps", "affine")
    with pytest.raises(ValueError, match=f"path 'compiled' .*{reason}.*allowed: auto, steps$"):
        run(algorithm, problem(), 1, path="compiled", record=["x"])


def test_a_replaced_gradient_is_not_passed_over(monkeypatch):
    monkeypatch.setattr(LeastSquares, "slope", lambda self, scores, targets: 0 * scores)
    with pytest.raises(ValueError, match=r"path 'compiled' .*families"):
        run(FedAvg(), data(), 1, path="compiled", record=["x"])


@needs_compiler
def test_it_is_chosen_where_nothing_within_rounds_is_recorded():
    logistic = FEDERATIONS["logistic"]()
    assert choose_path("auto", FedAvg(), logistic, sees_steps=False) == "compiled"
    assert choose_path("auto", FedAvg(), logistic, sees_steps=True) == "steps"
    assert choose_path("auto", FedAvg(), data(), sees_steps=False) == "affine"


# the library ---------------------------------------------------------------------------------------------------------------
@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("FEDTHEORY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_without_a_compiler_it_goes_step_by_step(monkeypatch, empty_cache):
    monkeypatch.setenv("CC", "no-such-compiler")
    logistic = FEDERATIONS["logistic"]()
    assert choose_path("auto", FedAvg(), logistic, sees_steps=False) == "steps"
    assert run(FedAvg(), logistic, 1, record=["x"]).dataset["x"].shape == (1, 2, DIM)
    with pytest.raises(ValueError, match=r"path 'compiled' .*'no-such-compiler'"):
        run(FedAvg(), logistic, 1, record=["x"], path="compiled")


def test_a_compiler_that_fails_is_reported(monkeypatch, empty_cache):
    monkeypatch.setenv("CC", "false")
    with pytest.raises(NoLibrary, match=r"compiler .*status 1\b"):
        library(fused.SOURCE)


@needs_compiler
def test_a_damaged_file_is_compiled_anew(empty_cache):
    def load():
        native._library.cache_clear()
        library(fused.SOURCE)
        return next(empty_cache.glob("*.so"))

    whole = load().read_bytes()
    written = load().stat().st_mtime_ns
    assert load().stat().st_mtime_ns == written  # nothing is compiled twice
    for damage in (whole[: len(whole) // 2], b"", b"not a library"):
        path = next(empty_cache.glob("*.so"))
        path.unlink()  # the one that is loaded stays as it is
        path.write_bytes(damage)
        assert native._whole(load()) and len(list(empty_cache.iterdir())) == 2


@needs_compiler
def test_a_cache_that_cannot_be_written_is_done_without(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="ascii")
    monkeypatch.setenv("FEDTHEORY_CACHE", str(tmp_path / "file" / "cache"))
    library(fused.SOURCE)


@pytest.fixture
def planted(empty_cache):
    """A small source, and a library of another's, with its checksum, where the cache has what is compiled of it."""
    ours, theirs = (empty_cache.parent / f"{name}.c" for name in ("ours", "theirs"))
    for path in (ours, theirs):
        path.write_text(f"double {path.stem}(void) {{ return 1; }}\n", encoding="ascii")
    elsewhere = empty_cache.parent / "other cache"  # a name once loaded stays what it was
    native._loaded(ours, (), elsewhere)
    (named,) = elsewhere.glob("*.so")
    empty_cache.mkdir(mode=0o700)
    native._compile([*native._compiler(), *native.FLAGS], theirs, empty_cache / named.name)
    return ours, empty_cache / named.name


PLANTED = {
    "a folder that others can write": lambda folder, target: folder.chmod(0o777),
    "a folder that its group can write": lambda folder, target: folder.chmod(0o770),
    "a folder in a folder that others can write": lambda folder, target: folder.parent.chmod(0o777),
    "a file that others can write": lambda folder, target: target.chmod(0o666),
    "a checksum that others can write": lambda folder, target: target.with_suffix(".sha256").chmod(0o666),
    "a link to a file": lambda folder, target: target.symlink_to(target.rename(folder.parent / "elsewhere.so")),
    "a link to a folder": lambda folder, target: folder.symlink_to(folder.rename(folder.parent / "elsewhere")),
    "another user's folder": lambda folder, target: _give_away(folder),
    "another user's file": lambda folder, target: _give_away(target),
}


def _give_away(path):
    if os.geteuid():
        pytest.skip("only root can give a file to another user")
    os.chown(path, 12345, -1)


@needs_compiler
@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="the system has no user ids")
@pytest.mark.parametrize("case", PLANTED)
def test_a_library_that_another_may_have_planted_is_not_loaded(planted, case):
    source, target = planted
    PLANTED[case](target.parent, target)
    assert hasattr(library(source), "ours")


@needs_compiler
def test_what_this_user_put_there_is_loaded(planted):
    assert hasattr(library(planted[0]), "theirs")


@needs_compiler
def test_a_new_cache_is_private_whatever_the_mask(empty_cache):
    source = empty_cache.parent / "small.c"
    source.write_text("double one(void) { return 1; }\n", encoding="ascii")
    before = os.umask(0)
    try:
        library(source)
    finally:
        os.umask(before)
    assert all(path.stat().st_mode & 0o777 == 0o700 for path in (empty_cache, *empty_cache.iterdir()))
    assert native._is_private(empty_cache) and native._whole(next(empty_cache.glob("*.so")))


def _load(folder):
    return native._loaded(fused.SOURCE, (), folder) is not None


@needs_compiler
def test_processes_may_compile_at_the_same_time(empty_cache):
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert all(pool.map(_load, [str(empty_cache)] * 6))
    assert {path.suffix for path in empty_cache.iterdir()} == {".so", ".sha256"}
    assert all(native._whole(path) for path in empty_cache.glob("*.so"))


# planted faults ------------------------------------------------------------------------------------------------------------
@needs_compiler
@pytest.mark.parametrize(("right", "wrong", "method", "federation"), [
    ("to[v] -= eta * sum", "to[v] += eta * sum", "fedavg", "least squares"),
    ("(first + r) * p->steps + j]", "(first + r) * p->steps]", "falling steps", "least squares"),
    ("if (p->shift) sum +=", "if (p->shift) sum -=", "scaffold", "least squares"),
    ("pull * (to[v] - home[v])", "pull * to[v]", "proximal", "least squares"),
    ("p->chosen ? p->chosen[first * p->participants + k] : k", "k", "two of them", "least squares"),
    ("data_run = p->shared ? 0 : first", "data_run = 0", "fedavg", "one instance per run"),
    ("if (p->ridge) sum +=", "if (0) sum +=", "fedavg", "ridge"),
    ("c[q] = share[q] * (out", "c[q] = (out", "fedavg", "one instance per run"),
    ("logistic(-b[q] * c[q])", "logistic(b[q] * c[q])", "fedavg", "logistic"),
    ("p->x + ((first + r)", "p->x + (first", "fedavg", "least squares"),
])
def test_faults_in_the_code_are_seen(monkeypatch, tmp_path, empty_cache, right, wrong, method, federation):
    code = fused.SOURCE.read_text(encoding="utf-8")
    assert right in code
    (tmp_path / "faulty.c").write_text(code.replace(right, wrong), encoding="utf-8")
    monkeypatch.setattr(fused, "SOURCE", tmp_path / "faulty.c")
    with pytest.raises(AssertionError):
        check_equal(method, FEDERATIONS[federation]())

