"""A run that is no longer finite is reported with its round, on every path, and leaves the other runs alone."""

import dataclasses

import numpy as np
import pytest
import torch

from fedtheory import make_algorithm, resume, run
from fedtheory.observables import DEFAULT
from fedtheory.registry import ALGORITHMS
from synthetic import NUMPY, make_problem, make_quadratic
from synthetic.numbers.arrays import Backend
from tests.fedtheory.test_compiled import needs_compiler

FLOAT = Backend("torch", "cpu", torch.float32)
DOUBLE = Backend("torch", "cpu", torch.float64)
ETA = np.array([0.1, 1e6, 0.2, 0.1, 1e15, 0.05])  # six runs: four that share a pass over the data, and two that are left
PROBLEMS = {
    "diagonal": lambda backend: make_quadratic(clients=3, dim=5, seed=1, backend=backend),
    "dense": lambda backend: make_quadratic(clients=3, dim=5, hessians="rotated", seed=2, backend=backend),
    "few samples": lambda backend: make_problem("least-squares", clients=3, samples=3, dim=5, backend=backend),
    "many samples": lambda backend: make_problem("least-squares", clients=3, samples=9, dim=5, backend=backend),
}
PATHS = ["auto", "steps", "affine", pytest.param("compiled", marks=needs_compiler)]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("problem", "method", "record"), [
    *((problem, {"name": "fedavg"}, ("x",)) for problem in PROBLEMS),
    ("dense", {"name": "fedavg"}, DEFAULT), ("few samples", {"name": "fedavg"}, DEFAULT),
    ("few samples", {"name": "scaffold"}, ("x",)), ("dense", {"name": "fedavg", "participants": 2}, DEFAULT),
])
def test_the_others_go_on(problem, method, record, path):
    federation, start = PROBLEMS[problem](DOUBLE), np.ones(5)
    rows = np.arange(len(ETA))
    make = lambda rows: make_algorithm(**method, eta_l=ETA[rows], local_steps=2)  # noqa: E731
    together = run(make(rows), federation, 40, seeds=rows, start=start, record=record, path=path)
    finite = np.isfinite(together.dataset["x"].values).all(axis=-1)
    first = {int(i): int(finite[i].argmin()) for i in rows if not finite[i].all()}
    assert together.diverged == first and sorted(first) == [1, 4] and first[1] > first[4] > 1
    assert all(not finite[i, t:].any() for i, t in first.items())
    calm = np.delete(rows, [1, 4])
    alone = run(make(calm), federation, 40, seeds=calm, start=start, record=record, path=path)
    for name in record:
        expected, found = alone.dataset[name].values, together.dataset[name].values[calm]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14, err_msg=name)
    half = run(make(rows), federation, 20, seeds=rows, start=start, record=record, path=path)
    assert resume(half, make(rows), federation, 20).diverged == first


@pytest.mark.parametrize("path", PATHS)
def test_the_round_is_the_same_on_every_path(path):
    federation = PROBLEMS["dense"](DOUBLE)
    method = make_algorithm("fedavg", eta_l=ETA, local_steps=2)
    found, steps = (run(method, federation, 40, seeds=6, start=np.ones(5), path=way).diverged for way in (path, "steps"))
    assert found.keys() == steps.keys() and all(abs(found[i] - steps[i]) <= 1 for i in found)


@pytest.mark.parametrize("backend", [FLOAT, NUMPY], ids=["float32", "numpy"])
@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
def test_other_arrays(backend):
    federation = PROBLEMS["dense"](backend)
    diverged = run(make_algorithm("fedavg", eta_l=ETA, local_steps=2), federation, 40, seeds=6, start=np.ones(5)).diverged
    assert sorted(diverged) == [1, 4]


def test_nothing_diverges():
    assert run(make_algorithm("fedavg"), PROBLEMS["dense"](DOUBLE), 3, seeds=2).diverged == {}


def planted(algorithm, owner, name, value, first):
    """The same method, in whose run 1 an entry of an array becomes ``value`` after a round."""
    class Planted(type(algorithm)):
        def server_step(self, upload, context):
            after = super().server_step(upload, context)
            arrays = context.state.clients | after.clients if owner == "clients" else dict(after.server)
            if context.round + 1 == first:
                arrays[name] = arrays[name].clone()
                arrays[name][1].view(-1)[0] = value
            return after._replace(x=context.state.x, **{owner: arrays})

        def client_final(self, local, context):
            upload, kept = super().client_final(local, context)
            return upload, {} if context.round + 1 == first else kept

    return Planted(**{field.name: getattr(algorithm, field.name) for field in dataclasses.fields(algorithm)})


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("method", ["scaffold", "fedadam", "feddyn", "fedavgm", "afedpd"])
def test_any_array_of_the_state_counts(method, value):
    federation, algorithm = PROBLEMS["dense"](DOUBLE), make_algorithm(method, eta_l=0.1)
    state = run(algorithm, federation, 1, seeds=2).state
    names = [(owner, name) for owner in ("server", "clients") for name, array in getattr(state, owner).items()
             if array.is_floating_point()]
    assert names
    for owner, name in names:
        found = run(planted(algorithm, owner, name, value, 3), federation, 5, seeds=3, path="steps")
        assert found.diverged == {1: 3}, name


@pytest.mark.parametrize("method", ["fedluar", "feddrop"])
def test_scores_may_be_infinite(method):
    trajectory = run(make_algorithm(method), PROBLEMS["dense"](DOUBLE), 3, seeds=2, start=np.zeros(5))
    assert trajectory.diverged == {}


@pytest.mark.parametrize("method", [name for name in ALGORITHMS if name != "fedpara"])
def test_no_method_diverges_with_small_steps(method):
    assert run(make_algorithm(method, eta_l=0.01), PROBLEMS["diagonal"](DOUBLE), 3, seeds=2).diverged == {}
