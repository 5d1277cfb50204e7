"""The plugin of pytest, and the template of a project: it passes as a project of its own, and its faults are caught."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest

from fedtheory.testing import Job, check_foreign
from fedtheory.testing.foreign import CASES_OF_BLACK_BOXES, random_cases, reference_models
from tests import ROOT
from tests.messages import contains_in_order

TEMPLATE = ROOT / "docs" / "template"
PLAIN, TORCH, STRATEGY, FLOWER = "plain.py", "torch_loop.py", "strategy.py", "flower_strategy.py"
TESTS = {PLAIN: "fedavg", TORCH: "torch", STRATEGY: "fedavgm", FLOWER: "flower"}
WITH_FLOWER = find_spec("flwr") is not None

#: faults: file, what stands there, what a mistake would write
FAULTS = {
    "equal weights": (PLAIN, "total = total + weights[k] * y\n            share = share + weights[k]",
                      "total = total + y\n            share = share + 1"),
    "clients in a row": (PLAIN, "            y = x\n", "            y = models[-1] if k == clients[0] else y\n"),
    "one step too few": (PLAIN, "range(local_steps)", "range(max(1, local_steps - 1))"),
    "gradients at the start of the round": (PLAIN, "gradients[k](y)", "gradients[k](x)"),
    "those who are absent too": (PLAIN, "    for clients in taking_part:\n",
                                 "    for clients in taking_part:\n        clients = [*range(len(weights))]\n"),
    "gradients add up": (TORCH, "        optimizer.zero_grad()\n", ""),
    "clients share one model": (TORCH, "copy.deepcopy(server_model)", "server_model"),
    "correction with the wrong sign": (TORCH, "+= common - own", "+= own - common"),
    "variates divided by one step": (TORCH, "/ (local_steps * step)", "/ step"),
    "server's variate over those who took part": (TORCH, "sum(weights[k] * (fresh[k] - own[k]) for k in clients)",
                                                  "sum(weights[k] * (fresh[k] - own[k]) for k in clients) / share"),
    "momentum in the optimiser": (TORCH, "lr=step)", "lr=step, momentum=0.5)"),
    "mean of the replies": (STRATEGY, "sum(reply.num_examples * reply.parameters[layer] for _, reply in results) / examples",
                            "sum(reply.parameters[layer] for _, reply in results) / len(results)"),
    "momentum of the model": (STRATEGY, "(average - old)", "average"),
    "averaged momentum": (STRATEGY, "+ (average - old)", "+ (1 - self.momentum) * (average - old)"),
    "velocity forgotten": (STRATEGY, "self.momentum * self.velocity[layer]", "0.0"),
    "Flower's average alone": (FLOWER, "return ndarrays_to_parameters(self.layers), metrics", "return average, metrics"),
    "averaged momentum in Flower": (FLOWER, "+ (layer -", "+ (1 - self.momentum) * (layer -"),
    "server step twice": (FLOWER, "self.momentum * self.velocity", "self.momentum * self.server_step * self.velocity"),
    "first layers kept": (FLOWER, "self.layers[place] = self.layers[place]", "self.layers[place] = layer"),
}


def pytest_of(folder, *arguments):
    """A run of pytest in a folder of its own, with the plugin: exit status and output."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTEST_ADDOPTS": "", "COLUMNS": "120"}
    once = ["-p", "no:fedtheory", "-p", "pytest_fedtheory"]  # also where it is installed
    plugin = [] if "-p" in arguments else once
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin, *arguments], cwd=folder,
                          env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def project(tmp_path):
    """A copy of the template."""
    return shutil.copytree(TEMPLATE, tmp_path / "project", ignore=shutil.ignore_patterns("__pycache__"))


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [(), ("--fedtheory", "--fedtheory-federations", "4", "--fedtheory-seed", "7")])
def test_the_template_passes(project, arguments):
    status, said = pytest_of(project, *arguments)
    assert status == 0 and ("7 passed" if WITH_FLOWER else "4 passed, 1 skipped") in said, said


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_caught(project, name):
    file, right, wrong = FAULTS[name]
    if file == FLOWER and not WITH_FLOWER:
        pytest.skip("Flower is not installed")
    path = project / "my_methods" / file
    text = path.read_text(encoding="utf-8")
    assert text.count(right) == 1
    path.write_text(text.replace(right, wrong), encoding="utf-8")
    status, said = pytest_of(project, "-k", TESTS[file])
    assert status == 1 and "1 failed" in said and "always: " in said, said


@pytest.mark.slow
def test_a_failing_federation_is_shrunk_when_asked(project):
    file, right, wrong = FAULTS["equal weights"]
    path = project / "my_methods" / file
    path.write_text(path.read_text(encoding="utf-8").replace(right, wrong), encoding="utf-8")
    _, said = pytest_of(project, "-k", "fedavg", "--fedtheory", "--fedtheory-federations", "0")
    assert contains_in_order(said, "always: fedavg…curvatures [[1.3], [1.5]]")


# the plugin --------------------------------------------------------------------------------------------------------------
def test_nothing_is_loaded_where_no_fixture_is_asked_for(tmp_path):
    (tmp_path / "test_other.py").write_text(
        "import sys\n\n\ndef test_other():\n    assert not {'torch', 'fedtheory', 'sympy', 'verify'} & {*sys.modules}\n")
    status, said = pytest_of(tmp_path, "-W", "error")
    assert status == 0, said


def test_fixtures_of_a_project_come_first(tmp_path):
    (tmp_path / "test_other.py").write_text("""
import sys

import pytest


@pytest.fixture(params=[1, 2])
def reference(request):
    return request.param


@pytest.mark.parametrize("conforms", [3, 4])
def test_other(reference, conforms):
    assert (reference, conforms) in {(r, c) for r in (1, 2) for c in (3, 4)} and "fedtheory" not in sys.modules
""")
    status, said = pytest_of(tmp_path)
    assert status == 0 and "4 passed" in said, said


@pytest.mark.parametrize("arguments", [("--fedtheory-federations", "-1"), ("--fedtheory-seed", "-3")])
def test_bad_options_are_one_line(tmp_path, arguments):
    status, said = pytest_of(tmp_path, *arguments)
    assert status == 4 and "Traceback" not in said
    assert contains_in_order(said, f"{arguments[0]} … at least 0; got {arguments[1]}")


def test_a_folder_of_the_same_name_as_a_package_of_ours_does_no_harm(tmp_path):
    for name in ("verify", "synthetic", "bounds"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError\n")
    (tmp_path / "test_other.py").write_text("def test_other():\n    pass\n")
    assert pytest_of(tmp_path)[0] == 0


# black boxes -------------------------------------------------------------------------------------------------------------
def descent(job: Job):
    x, models = job.start, [job.start]
    for clients in job.taking_part:
        ends = {}
        for k in clients:
            ends[k] = x
            for _ in range(job.local_steps):
                ends[k] = ends[k] - job.eta_l * job.gradients[k](ends[k])
        x = sum(job.weights[k] * y for k, y in ends.items()) / sum(job.weights[k] for k in ends)
        models.append(x)
    return models


def test_a_right_one_passes_on_random_cases():
    cases = random_cases(6, seed=3)
    assert len({case.clients for case in cases}) > 1 and any(case.participants for case in cases)
    assert check_foreign(descent, federations=cases, quick=True).ok and random_cases(6, seed=3) == cases


def test_losses_and_gradients_are_of_the_same_clients():
    import torch

    def compared(job):
        for k, (gradient, loss) in enumerate(zip(job.gradients, job.losses, strict=True)):
            x = torch.tensor(job.start + k, requires_grad=True)
            loss(x).backward()
            assert gradient(job.start + k) == pytest.approx(x.grad.numpy(), nan_ok=True)
        counts = [count / sum(job.num_examples) for count in job.num_examples]
        assert counts == pytest.approx(job.weights.tolist()) and sum(job.weights) == pytest.approx(1)
        return descent(job)

    check_foreign(compared, federations=CASES_OF_BLACK_BOXES, quick=True).raise_if_failed()


calls = []


@pytest.mark.parametrize("wrong, error, words", [
    (lambda job: descent(job)[1:], TypeError, "start and the model after each round, (6, 2); got (5, 2)"),
    (lambda job: [0.0] * 6, TypeError, "got (6,)"),
    (lambda job: 1 / 0, TypeError, "does not run: ZeroDivisionError"),
])
def test_what_is_no_run_is_one_error(wrong, error, words):
    with pytest.raises(error) as raised:
        check_foreign(wrong, samples=False)
    assert contains_in_order(str(raised.value), words)


def test_one_that_goes_on_where_it_stopped_is_seen():
    calls.clear()

    def keeps(job):
        calls.append(job.rounds)
        return [model + 0.01 * len(calls) * (number > 0) for number, model in enumerate(descent(job))]

    report = check_foreign(keeps, only=["gets to the optimum", "translation", "always: fedavg"])
    assert {result.name for result in report.failed} >= {"translation", "always: fedavg"}


@pytest.mark.parametrize("like, arguments, words", [
    ("fedavgg", {}, "fedavgg"), ("fedavgm", {"momentum": 1}, "momentum"), ("fedavg", {"local_steps": 2}, "local_steps")])
def test_unknown_names_are_refused(like, arguments, words):
    with pytest.raises(LookupError, match=words):
        check_foreign(descent, like, arguments=arguments)


def test_the_reference_is_the_method():
    case = CASES_OF_BLACK_BOXES[2]
    curvature, center = (getattr(case.federation(), name)[0, 0, 0].item() for name in ("curvature", "center"))
    x = case.start()[0, 0]
    expected = [center + (1 - 0.25 * curvature) ** n * (x - center) for n in range(case.rounds + 1)]
    assert reference_models("fedavg", case, eta_l=0.25)[:, 0] == pytest.approx(expected)
