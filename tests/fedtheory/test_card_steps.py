"""The kernel of the card equals the step-by-step path: on a card if there is one, else in Triton's interpreter.

The interpreter has to be chosen before Triton is imported, and nothing else imports it.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from fedtheory import Algorithm, FedAvg, card_steps, make_algorithm, run
from fedtheory.card_steps import CardSteps, Tile, tiles_of, why_not_on_card
from fedtheory.engine import rounds_of, starting_points
from fedtheory.fused import FusedSteps, compiled_steps, why_not_fused
from fedtheory.round_context import ClientState, RoundContext
from fedtheory.schedules import InverseTime
from synthetic import NUMPY, make_problem, make_quadratic
from synthetic.data.generalised_linear import GeneralisedLinear
from synthetic.data.logistic import BinaryLogistic
from synthetic.data.scalar_losses import SHAPES
from synthetic.numbers.arrays import Backend
from synthetic.numbers.draws import Draws
from tests import ROOT
from tests.fedtheory.compiled_cases import FEDERATIONS, METHODS, data

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
INTERPRETER = {} if DEVICE == "cuda" else {"TRITON_INTERPRET": "1"}
with mock.patch.dict(os.environ, INTERPRETER):
    kernels = card_steps._kernels()
REASON = "Triton is not installed" if kernels is None else (
    "Triton was imported for a card" if DEVICE == "cpu" and not kernels.INTERPRETED else None)
needs_kernels = pytest.mark.skipif(REASON is not None, reason=str(REASON))
needs_triton = pytest.mark.skipif(kernels is None, reason="Triton is not installed")
far_out = pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")  # the interpreter's NumPy
TOLERANCE = {"float64": 1e-12, "float32": 1e-5}


@pytest.fixture(autouse=True)
def _interpreter():
    with mock.patch.dict(os.environ, INTERPRETER):
        yield


def on(problem, dtype="float64"):
    return problem.to(Backend("torch", DEVICE, dtype))


def check_equal(algorithm, problem, runs=5, rounds=2, everyone=False):
    start = starting_points(problem, np.linspace(-1, 1, runs * problem.dim).reshape(runs, problem.dim), runs)
    draws = Draws(np.arange(runs), problem.backend)
    assert why_not_on_card(algorithm, problem) is None
    fast, slow = (list(rounds_of(algorithm, problem, algorithm.init(problem, start, draws), draws, 0, rounds,
                                 everyone=everyone, all_steps=steps))[-1]
                  for steps in (CardSteps(algorithm, problem), None))
    largest = slow.x.abs().max()
    for got, want in ((fast.x, slow.x), *((getattr(fast, owner)[name], array) for owner in ("server", "clients")
                                          for name, array in getattr(slow, owner).items())):
        assert (got - want).abs().max() <= TOLERANCE[problem.backend.dtype] * max(largest, want.abs().max())


@needs_kernels
@pytest.mark.parametrize("federation", FEDERATIONS)
@pytest.mark.parametrize("method", METHODS)
def test_the_paths_agree(method, federation):
    check_equal(METHODS[method](), on(FEDERATIONS[federation]()))


@needs_kernels
@pytest.mark.parametrize("federation", FEDERATIONS)
def test_single_precision(federation):
    for method in ("two of them", "pull by iteration"):
        check_equal(METHODS[method](), on(FEDERATIONS[federation](), "float32"))


@needs_kernels
@pytest.mark.parametrize("loss", SHAPES)
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("method", ["proximal", "two of them"])
def test_every_loss(loss, dtype, method):
    problem = data(GeneralisedLinear, loss=loss, scale=0.7, width=1.5, ridge=0.2, alpha=0.1)
    check_equal(METHODS[method](), on(problem, dtype))


@needs_kernels
@far_out
@pytest.mark.parametrize("loss", ["log-cosh", "softplus", "sigmoid", "tanh-squared", "welsch"])
def test_exponentials_far_out(loss):
    check_equal(METHODS["fedavg"](), on(data(GeneralisedLinear, loss=loss, ridge=0.2, width=1e-3, scale=1e-3)))


@needs_kernels
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize(("samples", "dim", "runs", "steps"), [
    (3, 5, 1, 1), (3, 5, 5, 3), (1, 1, 1, 1), (1, 1, 17, 3), (17, 33, 2, 2), (40, 16, 70, 2), (130, 3, 4, 3),
    (90, 120, 6, 2),
])
def test_any_sizes(samples, dim, runs, steps, dtype):
    algorithm = make_algorithm("fedprox", eta_l=0.1, local_steps=steps, rho_prox=0.5)
    for problem in (data(samples=samples, dim=dim), make_quadratic(clients=3, dim=dim, hessians="rotated"),
                    make_quadratic(clients=3, dim=dim)):
        check_equal(algorithm, on(problem, dtype), runs)


@needs_kernels
@pytest.mark.parametrize("samples", [1, 21, 150])
@pytest.mark.parametrize("dim", [3, 200, 300])
def test_own_data_of_any_size(samples, dim):
    problem = on(data(GeneralisedLinear, instances=2, samples=samples, dim=dim, ridge=0.1))
    check_equal(METHODS["two of them"](), problem, runs=2, rounds=1)
    check_equal(METHODS["scaffold"](), problem, runs=2, rounds=1, everyone=True)


@needs_kernels
@pytest.mark.parametrize("kind", ["data", "dense", "diagonal"])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_every_tile(monkeypatch, kind, dtype):
    problem = {"data": lambda: data(BinaryLogistic, samples=130, ridge=0.1),
               "dense": FEDERATIONS["dense"], "diagonal": FEDERATIONS["diagonal"]}[kind]()
    found = {tile for runs in (1, 4096) for tile in tiles_of(kind, dtype, 130, problem.dim, runs, True)}
    assert len(found) >= (1 if kind == "diagonal" else 4)
    for tile in found:
        monkeypatch.setattr(card_steps, "tiles_of", lambda *sizes, tile=tile: [tile])
        check_equal(METHODS["option I"](), on(problem, dtype), runs=19, rounds=1)


def one_round_of(algorithm, problem, runs=3, number=0, clients=None, steps=None):
    """The participants' models after the local steps of a round, by the kernel or one by one."""
    random = np.random.default_rng(7)
    x = problem.backend.array(random.normal(size=(runs, problem.dim)))
    local = ClientState(x[:, None, :].expand(runs, problem.clients if clients is None else clients.shape[1], problem.dim))
    context = RoundContext(algorithm, problem, Draws(np.arange(runs), problem.backend), number, 0, x, clients=clients)
    if steps is not None:
        return steps(local, context).x
    for j in range(algorithm.local_steps):
        context = context._replace(iteration=context.round * algorithm.local_steps + j)
        local = algorithm.client_step(local, lambda point: problem.gradient(point, clients), context)
    return local.x


@needs_kernels
@pytest.mark.parametrize("federation", ["logistic", "dense", "diagonal", "one instance per run"])
@pytest.mark.parametrize("alike", [True, False])
def test_clients_that_take_part(federation, alike):
    problem, algorithm = on(FEDERATIONS[federation]()), METHODS["proximal"]()
    clients = torch.tensor([[2, 0]] * 5 if alike else [[2, 0], [1, 2], [0, 1], [3, 2], [1, 3]], device=DEVICE)
    clients = clients[:1].expand(5, 2) if alike else clients
    fast, slow = (one_round_of(algorithm, problem, 5, clients=clients, steps=steps)
                  for steps in (CardSteps(algorithm, problem), None))
    torch.testing.assert_close(fast, slow, rtol=1e-12, atol=1e-12)


@needs_kernels
def test_a_round_that_is_counted_on_the_card():
    """The number of the round may be a tensor, from which schedules make tensors."""
    problem = on(FEDERATIONS["logistic"]())
    algorithm = make_algorithm("fedprox", eta_l=InverseTime(2.0, 9.0), local_steps=3, rho_prox=InverseTime(1.0, 5.0))
    steps = CardSteps(algorithm, problem)
    for number in (1, 4):
        counted = torch.tensor(number, dtype=torch.float64, device=DEVICE)
        fast = one_round_of(algorithm, problem, number=counted, steps=steps)
        torch.testing.assert_close(fast, one_round_of(algorithm, problem, number=number), rtol=1e-12, atol=1e-12)


class NoTransfers(TorchDispatchMode):
    """Refuses what brings numbers to the host or from it."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        assert function.overloadpacket not in (torch.ops.aten._local_scalar_dense, torch.ops.aten.lift_fresh), function
        return function(*args, **(kwargs or {}))


@needs_triton
@pytest.mark.parametrize("method", ["fedavg", "proximal", "counted"])
def test_a_call_takes_nothing_from_the_host(method):
    problem = on(FEDERATIONS["logistic"]())
    step = InverseTime(2.0, 9.0)
    algorithm = (METHODS[method]() if method != "counted" else
                 make_algorithm("fedprox", eta_l=step, local_steps=3, rho_prox=step))
    steps, launched = CardSteps(algorithm, problem), []
    launch = mock.MagicMock()
    launch.__getitem__.return_value = lambda *arguments, **options: launched.append(arguments)
    steps.kernels = SimpleNamespace(INTERPRETED=True, rows_kernel=launch, alone_kernel=launch)
    number = torch.tensor(2, device=DEVICE) if method == "counted" else 2
    with NoTransfers():
        x = torch.ones(3, problem.dim, dtype=torch.float64, device=DEVICE)
        context = RoundContext(algorithm, problem, None, number, 0, x)
        for _ in range(2):
            steps(ClientState(problem.all_clients(x)), context)
    assert len(launched) == 2
    with NoTransfers(), pytest.raises(AssertionError, match="_local_scalar_dense"):
        float(x[0, 0])


@needs_kernels
@far_out
def test_a_run_that_diverges_does_not_spread():
    eta = np.array([0.1, 1e200, 0.2, 0.1, 0.1])
    problem = on(data())
    algorithm = make_algorithm("fedavg", eta_l=eta, local_steps=4)
    x = one_round_of(algorithm, problem, 5, steps=CardSteps(algorithm, problem))
    calm = make_algorithm("fedavg", eta_l=np.where(eta > 1, 0.1, eta), local_steps=4)
    keep = [0, 2, 3, 4]
    assert not torch.isfinite(x[1]).all()
    torch.testing.assert_close(x[keep], one_round_of(calm, problem, 5)[keep], rtol=1e-12, atol=1e-12)


# where it applies ----------------------------------------------------------------------------------------------------------
class Backwards(Algorithm):
    def client_step(self, local, gradient, context):
        return local._replace(x=local.x + self.step_size(context) * gradient(local.x))


@needs_kernels
@pytest.mark.parametrize(("algorithm", "problem", "reason"), [
    (Backwards(), data, "Backwards has a local step of its own"),
    (make_algorithm("fedsam"), data, "SharpnessAware"),
    (FedAvg(), lambda: make_quadratic(clients=2, dim=2, noise="gaussian", sigma=1.0), "noisy"),
    (FedAvg(), lambda: data(batch_size=1), "minibatches"),
    (FedAvg(), lambda: make_problem("synth"), "families"),
    (FedAvg(), lambda: data(backend=NUMPY), "need torch, in float32 or float64"),
    (FedAvg(), lambda: data(backend=Backend("torch", "cpu", "bfloat16"), samples=1, dim=1), "in float32 or float64"),
    (FedAvg(), lambda: data(samples=1, dim=257), "models of 257 numbers; allowed: at most 256"),
    (FedAvg(), lambda: data(samples=1, dim=1025, instances=2), "models of 1025 numbers; allowed: at most 1024"),
    (FedAvg(), lambda: make_quadratic(clients=1, dim=129, hessians="rotated"), "of 129 numbers; allowed: at most 128"),
])
def test_where_it_cannot_be_taken_it_says_why(algorithm, problem, reason):
    assert reason in why_not_on_card(algorithm, problem())


def test_without_triton_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "fedtheory.card_kernels", None)
    monkeypatch.delattr("fedtheory.card_kernels", raising=False)
    assert why_not_on_card(FedAvg(), data()) == "the compiled steps on a card need Triton, which is not installed"


@needs_triton
def test_on_the_processor_only_the_interpreter_takes_it(monkeypatch):
    monkeypatch.setattr(kernels, "INTERPRETED", False)
    assert why_not_on_card(FedAvg(), data()) == "the compiled steps on a card need a CUDA device; got 'cpu'"


def test_the_device_chooses_between_c_and_the_kernel(monkeypatch):
    problem = data()
    if why_not_fused(FedAvg(), problem) is None:
        assert type(compiled_steps(FedAvg(), problem)) is FusedSteps
    monkeypatch.setattr(card_steps, "why_not_on_card", lambda algorithm, federation: "asked")
    monkeypatch.setattr(card_steps, "CardSteps", lambda algorithm, federation: "made")
    problem = SimpleNamespace(backend=SimpleNamespace(library="torch", device="cuda:0"))
    assert (why_not_fused(FedAvg(), problem), compiled_steps(FedAvg(), problem)) == ("asked", "made")


# tiles ---------------------------------------------------------------------------------------------------------------------
@needs_triton
def test_the_fastest_tile_is_tried_once_and_kept(monkeypatch):
    tried, problem = [], data()
    monkeypatch.setattr(card_steps, "_FASTEST", {})
    monkeypatch.setattr(card_steps, "_kernels", lambda: SimpleNamespace(INTERPRETED=False))
    monkeypatch.setattr(card_steps, "_seconds", lambda launch, tile, x: tried.append(tile) or (tile.rows != 32))
    steps, x, launched = CardSteps(FedAvg(), problem), SimpleNamespace(is_cuda=True), []
    for capturing in (True, False, False, True):
        monkeypatch.setattr(card_steps, "_capturing", lambda array, capturing=capturing: capturing)
        steps._on_fastest(launched.append, 64, True, x)
    expected = tiles_of("data", "float64", 21, problem.dim, 64, True)
    assert tried == expected and [tile.rows for tile in launched] == [expected[0].rows, 32, 32, 32]


@needs_triton
def test_a_tile_that_does_not_fit_is_left_out(monkeypatch):
    from triton.runtime.errors import OutOfResources

    tiles, launched = [Tile("rows", rows, 16, 16, 4) for rows in (64, 32, 16)], []

    def launch(tile):
        if tile.rows > 16:
            raise OutOfResources(1, 0, "shared memory")
        launched.append(tile)

    card_steps._first_that_fits(launch, tiles)
    assert launched == tiles[2:] and card_steps._seconds(launch, tiles[0], None) == float("inf")
    with pytest.raises(OutOfResources):
        card_steps._first_that_fits(launch, tiles[:2])


@needs_triton
@pytest.mark.parametrize("part", ["losses", pytest.param("sizes", marks=pytest.mark.slow)])
def test_the_kernels_compile_for_a_card(part, tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    found = subprocess.run([sys.executable, "-m", "tests.fedtheory.compiled_for_card", part], cwd=ROOT, text=True,
                           env=environment | {"TRITON_CACHE_DIR": str(tmp_path)}, capture_output=True)
    assert (found.returncode, found.stdout) == (0, ""), found.stdout + found.stderr


# on a card -----------------------------------------------------------------------------------------------------------------
@pytest.mark.cuda
@pytest.mark.skipif(DEVICE == "cpu", reason="needs a CUDA device")
@pytest.mark.parametrize("federation", FEDERATIONS)
def test_a_run_on_a_card_takes_the_kernel(federation):
    problem, algorithm = on(FEDERATIONS[federation]()), METHODS["scaffold"]()
    fast, slow = (run(algorithm, problem, 5, seeds=5, record=["x"], path=path).dataset["x"].values
                  for path in ("compiled", "steps"))
    np.testing.assert_allclose(fast, slow, rtol=1e-11, atol=1e-11)


@pytest.mark.cuda
@pytest.mark.skipif(DEVICE == "cpu", reason="needs a CUDA device")
@pytest.mark.parametrize("method", ["proximal", "one step each"])
def test_a_graph_can_hold_a_call(method):
    problem, algorithm = on(FEDERATIONS["logistic"]()), METHODS[method]()
    steps = CardSteps(algorithm, problem)
    one_round_of(algorithm, problem, 5, steps=steps)
    x = torch.zeros(5, problem.dim, dtype=torch.float64, device=DEVICE)
    context = RoundContext(algorithm, problem, None, 0, 0, x)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = steps(ClientState(problem.all_clients(x)), context).x
    x.copy_(torch.linspace(-1, 1, x.numel(), dtype=torch.float64, device=DEVICE).reshape(x.shape))
    graph.replay()
    torch.testing.assert_close(found, steps(ClientState(problem.all_clients(x)), context).x, rtol=0, atol=0)


# planted faults ------------------------------------------------------------------------------------------------------------
@needs_kernels
@pytest.mark.parametrize(("right", "wrong", "method", "federation"), [
    ("return x - eta * slope", "return x + eta * slope", "fedavg", "diagonal"),
    ("rows * eta_run + j", "rows * eta_run", "falling steps", "least squares"),
    ("rows * eta_run", "0 * rows", "one step each", "least squares"),
    ("rows * pull_run + j", "rows * pull_run", "pull by iteration", "least squares"),
    ("slope += shift", "slope -= shift", "scaffold", "least squares"),
    ("pull * (x - anchor)", "pull * x", "proximal", "least squares"),
    ("run * chosen_run + k * chosen_part", "run * chosen_run", "two of them", "diagonal"),
    ("at += run * own", "at += 0 * own", "fedavg", "one instance per run"),
    ("slope += ridge * x", "slope += 0 * x", "fedavg", "ridge"),
    ("slope += alpha * x", "slope += 0 * x", "fedavg", "penalty that is not convex"),
    ("return share * (out * s)", "return out * s", "fedavg", "least squares"),
    ("exp(y * scores)", "exp(-y * scores)", "fedavg", "logistic"),
    ("x - centre[None, :]", "x", "fedavg", "dense"),
])
def test_faults_in_the_kernels_are_seen(monkeypatch, tmp_path, right, wrong, method, federation):
    code = Path(kernels.__file__).read_text(encoding="utf-8")
    assert right in code
    (tmp_path / "faulty_kernels.py").write_text(code.replace(right, wrong), encoding="utf-8")
    spec = importlib.util.spec_from_file_location("faulty_kernels", tmp_path / "faulty_kernels.py")
    faulty = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(faulty)
    monkeypatch.setattr(card_steps, "_kernels", lambda: faulty)
    problem = on(FEDERATIONS[federation]())
    with pytest.raises(AssertionError):
        check_equal(METHODS[method](), problem)
