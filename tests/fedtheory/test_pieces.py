"""Runs in pieces: the bits of one batch, whatever has an axis of runs; memory that runs out; sweeps on several devices."""

import os
import pickle
import time
import weakref
from dataclasses import dataclass
from multiprocessing import Value
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import xarray as xr
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import fedtheory as ft
from fedtheory import (
    AllClients,
    CyclicLinear,
    GeometricLocal,
    Independent,
    InverseTime,
    LossMatching,
    Pattern,
    Selection,
    StopAfter,
    Tabulated,
    WithoutReplacement,
    batching,
    fedavg,
    graph,
    make_algorithm,
    observables_of,
    resume,
    run,
    sweep,
)
from fedtheory import blocks as blocks_module
from fedtheory import memory as memory_module
from fedtheory.memory import all_memory, free_memory, needed_by, runs_at_once
from fedtheory.parts import Correction
from fedtheory.stacking import for_runs
from fedtheory.testing.federations import CASES
from fedtheory.testing.outcome import NotApplicable
from fedtheory.testing.subject import subject_of
from synthetic import EXACT
from synthetic.numbers.arrays import to_numpy
from tests.fedtheory.federations import FEDERATIONS, rational
from tests.fedtheory.tape import on_a_card, repeated
from tests.fedtheory.test_graph import NAMES, ROWS, same

RUNS = 5


def cut(patch, size: int = 2) -> None:
    """Runs are computed so many at once."""
    patch.setattr(batching, "runs_at_once", lambda algorithm, federation, rounds, record, runs, apart: min(size, runs))


def assert_close(first, second):
    """Whether two trajectories are the same up to rounding."""
    for name, values in first.dataset.items():
        np.testing.assert_allclose(values.values, second.dataset[name].values, rtol=1e-9, atol=1e-12, err_msg=name)


def together_and_cut(patch, method, make, rounds=4, **options):
    """The runs in one batch and in pieces of two, and both resumed."""
    options = {"seeds": RUNS, **options}
    whole = run(method, make(), rounds, **options)
    whole = whole, resume(whole, method, make(), 2)
    with patch.context() as within:
        cut(within)
        parts = run(method, make(), rounds, **options)
        return whole, (parts, resume(parts, method, make(), 2))


@pytest.mark.parametrize(("name", "arguments"), ROWS, ids=NAMES)
def test_runs_in_pieces_are_those_of_one_batch(name, arguments, monkeypatch):
    compared = 0
    for case in CASES:
        try:
            method = subject_of(name, arguments).build(case)
        except NotApplicable:
            continue
        if method.refuses(case.federation()) is None:
            start, record = case.but(runs=RUNS).start(), observables_of(case.federation())
            pairs = together_and_cut(monkeypatch, method, case.federation, start=start, record=record)
            for one, other in zip(*pairs, strict=True):  # rows of one product have bits of their own on data
                (assert_close if case.data else same)(one, other)
            compared += 1
    assert compared or name == "fedpara"


EACH = np.linspace(0.02, 0.1, RUNS)
TABLE = np.arange(RUNS * 4 * 5).reshape(RUNS, 4, 5) % 3 == 0
WITH_A_VALUE_PER_RUN = {
    "step": fedavg(EACH, 2), "step on torch": fedavg(torch.tensor(EACH), 2), "server step": fedavg(0.1, 2, eta_g=EACH),
    "a part's rate": make_algorithm("fedprox", eta_l=0.1, rho_prox=EACH, local_steps=2),
    "inverse time": fedavg(InverseTime(mu=1 + EACH, offset=20 + EACH), 2), "stop": fedavg(StopAfter(EACH, 2, EACH / 2)),
    "table": fedavg(Tabulated(EACH[:, None] * np.linspace(1, 0.5, 6)), 2),
    "one table": fedavg(Tabulated(EACH), 2),
    "nested": fedavg(CyclicLinear(InverseTime(1 + EACH, 20.0), EACH, 2), 2), "local": fedavg(GeometricLocal(EACH, 3), 3),
    "steps of clients": fedavg(0.1, 4).having(client_steps=1 + np.arange(RUNS * 5).reshape(RUNS, 5) % 4),
    "steps of all": fedavg(0.1, 4).having(client_steps=1 + np.arange(5) % 4),
    "pattern": fedavg(0.1, 2).having(selection=Selection(AllClients(), free=Pattern(TABLE))),
    "probability": fedavg(0.1, 2).having(selection=Selection(sampling=Independent(probability=torch.tensor(0.2 + EACH)))),
    "nobody": fedavg(0.1, 2).having(selection=Selection(sampling=Independent(probability=torch.tensor(EACH)))),
    "threshold": fedavg(0.1, 2).having(selection=Selection(LossMatching(10 * EACH, indicator="local-at-aggregation"))),
}


@pytest.mark.parametrize("row", WITH_A_VALUE_PER_RUN)
def test_what_has_a_value_per_run_is_cut(row, monkeypatch):
    method = WITH_A_VALUE_PER_RUN[row]
    part = for_runs(method, slice(0, 2), RUNS)
    assert part is not None and (part is method) == (row in ("one table", "steps of all"))
    for one, other in zip(*together_and_cut(monkeypatch, method, FEDERATIONS["gaussian noise"]), strict=True):
        same(one, other)
        assert one.fingerprint == other.fingerprint and np.array_equal(one.start, other.start)


def test_instances_and_starts_are_cut(monkeypatch):
    make, method = FEDERATIONS["one instance per run"], make_algorithm("scaffold", local_steps=2)
    start = np.arange(12.0).reshape(4, 3)
    for one, other in zip(*together_and_cut(monkeypatch, method, make, seeds=4, start=start), strict=True):
        same(one, other)
    listed = together_and_cut(monkeypatch, method, make, seeds=4, start=start.tolist())[1][0]
    np.testing.assert_array_equal(listed.dataset["x"].values[:, 0], start)
    cut(monkeypatch)
    with pytest.raises(ValueError, match=r"start must be \(3,\) or \(4, 3\); got \(2, 3\)"):
        run(method, make(), 2, seeds=4, start=start[:2])


@pytest.mark.parametrize("sampling", [WithoutReplacement(2), Independent(probability=0.3)])
def test_seeds_that_come_twice_share_their_draws(sampling, monkeypatch):
    method = fedavg(0.1, 2).having(selection=Selection(sampling=sampling))
    pairs = together_and_cut(monkeypatch, method, FEDERATIONS["all priority"], seeds=[4, 0, 4, 4, 0])
    for one, other in zip(*pairs, strict=True):
        same(one, other)


@pytest.mark.parametrize("path", ["steps", "graph", "affine"])
def test_pieces_of_a_card_have_their_bits_too(path, monkeypatch):
    with on_a_card(monkeypatch):
        pairs = together_and_cut(monkeypatch, fedavg(EACH, 2), FEDERATIONS["no noise"], path=path)
    for one, other in zip(*pairs, strict=True):
        same(one, other)


def test_memory_that_runs_out_while_a_round_is_captured_halves_the_runs(monkeypatch):
    tried = []
    with on_a_card(monkeypatch):
        def short(function, changed):
            tried.append(max(array.shape[0] for array in changed if array.ndim == 2))
            if tried[-1] > 2:
                raise torch.cuda.OutOfMemoryError("CUDA out of memory")
            return repeated(function, changed)

        whole = run(fedavg(0.1, 2), FEDERATIONS["gaussian noise"](), 9, seeds=4, path="graph", record=("objective",))
        monkeypatch.setattr(graph, "capture", short)
        same(whole, run(fedavg(0.1, 2), FEDERATIONS["gaussian noise"](), 9, seeds=4, path="graph", record=("objective",)))
    assert tried[0] == 4 and set(tried[1:]) == {2}


class Mine(Correction):
    """Has an array that may be of the runs, or of something else."""

    def __init__(self, array):
        self.array = array


def steps_by(counts):
    return lambda context: torch.as_tensor(counts)[:, None] + torch.zeros(1, 5, dtype=torch.int64)


@pytest.mark.parametrize(("method", "federation"), [
    (fedavg(0.1).having(correction=Mine(np.ones((3, RUNS)))), FEDERATIONS["no noise"]()),
    (fedavg(0.1, 2).having(client_steps=steps_by(1 + np.arange(RUNS) % 2)), FEDERATIONS["no noise"]()),
    (fedavg(0.25), rational(EXACT)),
], ids=["an array", "a function", "fractions"])
def test_what_cannot_be_cut_is_one_piece(method, federation, monkeypatch):
    sizes = []
    point = ft.run.__wrapped__.__globals__["starting_points"]
    monkeypatch.setitem(ft.run.__wrapped__.__globals__, "starting_points",
                        lambda *rest: sizes.append(rest[2]) or point(*rest))
    monkeypatch.setattr(memory_module, "_LITTLE", 0)
    monkeypatch.setattr(memory_module, "free_memory", lambda device: 1)
    run(method, federation, 2, seeds=RUNS)
    assert sizes == [RUNS]


# memory --------------------------------------------------------------------------------------------------------------------
def short_of_memory(patch, most: int, kind=torch.cuda.OutOfMemoryError) -> list[int]:
    """The memory is enough for ``most`` runs at once. Returns the list of the numbers of runs that are tried."""
    sizes, point = [], ft.run.__wrapped__.__globals__["starting_points"]

    def tried(federation, start, runs):
        sizes.append(runs)
        if runs > most:
            raise kind("CUDA out of memory. Tried to allocate much.\nMore lines")
        return point(federation, start, runs)

    patch.setitem(ft.run.__wrapped__.__globals__, "starting_points", tried)
    return sizes


@pytest.mark.parametrize("kind", [torch.cuda.OutOfMemoryError, RuntimeError, MemoryError])
def test_pieces_are_halved_where_memory_runs_out(kind, monkeypatch):
    method, make, said = make_algorithm("scaffold", local_steps=2), FEDERATIONS["gaussian noise"], []
    whole = run(method, make(), 3, seeds=11)
    sizes = short_of_memory(monkeypatch, 3, kind)
    same(whole, run(method, make(), 3, seeds=11, progress=lambda *done: said.append(done)))
    assert sizes == [11, 6, 3, 3, 3, 2]
    assert said == [(done, 3) for done in (0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3)]  # of all runs


def test_of_what_was_computed_nothing_is_lost(monkeypatch):
    sizes = []

    def compute(part, rows):
        sizes.append((rows.start, rows.stop))
        if rows.start and rows.stop - rows.start > 1:
            raise torch.cuda.OutOfMemoryError
        each = np.ones((rows.stop - rows.start, 1))
        return batching.Piece({}, each, ft.State(each), None)

    batch = batching.Batch(fedavg(0.1), FEDERATIONS["no noise"](), np.arange(6))
    found = [rows.start for rows, _ in batching.each_piece(batch, compute, 1, (), size=4)]
    assert sizes == [(0, 4), (4, 6), (4, 5), (5, 6)] and found == [0, 4, 5]


def test_arrays_of_all_runs_stay_so_and_those_of_each_are_joined():
    def piece(rows):
        runs = rows.stop - rows.start
        each = torch.arange(rows.start, rows.stop)[:, None]
        part = ft.Participation(each > 0, each, torch.ones(1, 2), None, runs > 1)
        state = ft.State(each, {"shared": torch.ones(1, 3), "of each": each}, {"variate": each[..., None]}, part)
        return rows, batching.Piece({}, np.ones((runs, 2), bool), state, to_numpy(each))

    found = batching.joined(map(piece, (slice(0, 2), slice(2, 4), slice(4, 5))), 5)
    state, part, all_runs = found.state, found.state.participation, np.arange(5)[:, None]
    for array in (state.x, state.server["of each"], state.clients["variate"][..., 0], part.virtual_weight, found.start):
        np.testing.assert_array_equal(to_numpy(array), all_runs)
    assert state.server["shared"].shape == (1, 3) and part.weight.shape == (1, 2)
    assert part.included.shape == (5, 1) and part.nobody is None and part.everyone is False and found.finite.shape == (5, 2)


def test_a_host_without_place_for_all_runs_says_so():
    piece = batching.Piece({}, np.ones((2, 1), bool), ft.State(torch.ones(2, 3)), None)
    with pytest.raises(MemoryError, match=r"^the host has no memory for what is recorded of \d+ runs and for their"):
        batching.joined([(slice(0, 2), piece)], 2**62)


def test_a_run_that_does_not_fit_says_what_it_needs(monkeypatch):
    sizes = short_of_memory(monkeypatch, 0)
    monkeypatch.setattr(batching, "free_memory", lambda device: 3 * 10**6)
    with pytest.raises(MemoryError, match=r"^one run of FedAvg needs about [\d.]+ MB of memory on cpu, where 3 MB are free: "
                                          r"OutOfMemoryError: CUDA out of memory\. Tried to allocate much\.$"):
        run(fedavg(0.1), FEDERATIONS["no noise"](), 2, seeds=4)
    assert sizes == [4, 2, 1]
    with pytest.raises(MemoryError, match=f"^{RUNS} runs of FedAvg, which cannot be cut, need about"):
        run(fedavg(0.1).having(correction=Mine(np.ones(RUNS))), FEDERATIONS["no noise"](), 2, seeds=RUNS)


def test_other_errors_are_what_they_were(monkeypatch):
    def broken(*rest):
        raise RuntimeError("shapes do not match")

    monkeypatch.setitem(ft.run.__wrapped__.__globals__, "starting_points", broken)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        run(fedavg(0.1), FEDERATIONS["no noise"](), 2, seeds=4)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("path", ["steps", "auto"])
def test_a_card_that_runs_out_of_memory_gives_the_same(path):
    federation = ft.make_problem("least-squares", clients=100, dim=100, samples=50, device="cuda")
    method, options = make_algorithm("scaffold", eta_l=0.01, local_steps=2), {"seeds": 1024, "path": path}
    whole, tried = run(method, federation, 10, **options), []
    torch.cuda.empty_cache()
    there = torch.cuda.memory_reserved() + 250 * 10**6
    torch.cuda.set_per_process_memory_fraction(there / torch.cuda.mem_get_info()[1])
    try:
        parts = run(method, federation, 10, progress=lambda *done: tried.append(done), **options)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert_close(whole, parts)
    assert whole.state.x.is_cuda and not parts.state.x.is_cuda and len(tried) > 10
    assert_close(resume(whole, method, federation, 5), resume(parts, method, federation, 5))


class Living(TorchDispatchMode):
    """Counts the bytes of tensors that live, and ``most`` of them."""

    def __init__(self):
        super().__init__()
        self.of, self.bytes, self.most = {}, 0, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor) and tensor.numel():
                storage = tensor.untyped_storage()
                place, size = storage.data_ptr(), storage.nbytes()
                self.bytes += 0 if place in self.of else size
                self.of[place], self.most = self.of.get(place, 0) + 1, max(self.most, self.bytes)
                weakref.finalize(tensor, self._gone, place, size)
        return result

    def _gone(self, place, size):
        self.of[place] -= 1
        if not self.of[place]:
            del self.of[place]
            self.bytes -= size


ESTIMATED = {
    "quadratic": lambda: ft.make_quadratic(clients=20, dim=50, L=4.0, mu=1.0, sigma=0.5),
    "dense": lambda: ft.make_quadratic(clients=20, dim=50, L=4.0, mu=1.0, hessians="rotated"),
    "logistic": lambda: ft.make_problem("logistic"), "minibatches": lambda: ft.make_problem("digits", batch_size=8),
}


@pytest.mark.parametrize("federation", ESTIMATED)
@pytest.mark.parametrize("name", ["fedavg", "scaffold", "fadamgc", "moon"])
@pytest.mark.parametrize("participants", [None, 3])
def test_the_estimate_is_near_what_is_allocated(name, federation, participants):
    federation = ESTIMATED[federation]()
    method, most = make_algorithm(name, local_steps=2, participants=participants), []
    for runs in (1, 1, 33):
        with Living() as living:
            run(method, federation, 2, seeds=runs, record=("suboptimality",), path="steps")
        most.append(living.most)
    allocated = (most[2] - most[1]) / 32
    assert allocated / 2 < needed_by(method, federation, 2, ("suboptimality",)).works < 4 * allocated


@pytest.mark.parametrize("name, number", [("prunefl", "eta_l"), ("fedavg", "eta_l"), ("scaffold", "eta_g")])
def test_a_batch_of_which_each_run_has_a_number_needs_what_its_runs_do(name, number):
    """PruneFL begins with arrays of its own numbers."""
    federation = FEDERATIONS["no noise"]()
    one, several = (make_algorithm(name, local_steps=2, **{number: value}) for value in (0.1, np.array([0.1, 0.2, 0.3])))
    assert needed_by(several, federation, 2, runs=3) == needed_by(one, federation, 2)


def test_as_many_runs_are_computed_at_once_as_fit(monkeypatch):
    federation, method, record = FEDERATIONS["no noise"](), fedavg(0.1), ("x",)
    needed = needed_by(method, federation, 10, record)
    assert needed.recorded >= run(method, federation, 10, record=record).dataset["x"].nbytes - 24
    monkeypatch.setattr(memory_module, "_LITTLE", 0)
    for fit in (1, 7):
        there = 2 * fit * (needed.works + 2 * needed.recorded)
        monkeypatch.setattr(memory_module, "free_memory", lambda device, there=there: there)
        assert runs_at_once(method, federation, 10, record, 100) == fit
    monkeypatch.setattr(memory_module, "free_memory", lambda device: float("inf"))
    assert runs_at_once(method, federation, 10, record, 100) == 100


def test_memory_of_the_processor_is_known():
    assert 2**20 < free_memory("cpu") <= all_memory("cpu")


# sweeps --------------------------------------------------------------------------------------------------------------------
FEDERATION = ft.make_quadratic(clients=4, dim=2, L=4.0, mu=1.0, sigma=0.5, noise="two-point")
GRID = {"eta_l": [0.02, 0.1, 0.2], "local_steps": [1, 3]}


def largest(trajectory):
    return float(np.abs(to_numpy(trajectory.state.x)).max())


def test_a_sweep_short_of_memory_gives_the_same(monkeypatch):
    options = {"seeds": 3, "measure": ["suboptimality", "loss_client", largest]}
    whole = sweep("fedavg", FEDERATION, 3, GRID, **options)
    sizes = short_of_memory(monkeypatch, 2)
    monkeypatch.setattr(blocks_module, "runs_at_once", lambda *rest: 2)
    xr.testing.assert_identical(sweep("fedavg", FEDERATION, 3, GRID, **options), whole)
    assert max(sizes) == 9 and min(sizes) <= 2


def test_functions_of_trajectories_see_the_participation_of_their_point():
    method = fedavg(0.1, 2).having(selection=Selection(LossMatching(0.5, indicator="local-at-aggregation")))

    def weight(trajectory):
        return trajectory.state.participation.weight[:, 0]

    found = sweep(method, FEDERATION, 3, {"eta_l": [0.1, 0.2]}, seeds=2, measure=weight)
    assert found["weight"].dims == ("eta_l", "seed")


def test_blocks_of_a_card_are_large_the_same_again_and_enough_for_all(monkeypatch):
    question = blocks_module.Question(FEDERATION, 3, np.arange(4), None, ("suboptimality",))
    points = [fedavg(eta) for eta in np.linspace(0.01, 0.1, 100)]
    assert len(blocks_module.blocks_of(question, points)) == 1
    monkeypatch.setattr(blocks_module, "MEMORY", 1)
    assert len(blocks_module.blocks_of(question, points)) == 100
    with on_a_card(monkeypatch):
        assert [len(block) for block in blocks_module.blocks_of(question, points)] == [64, 36]
        assert [len(block) for block in blocks_module.blocks_of(question, points, 4)] == [16] * 6 + [4]
        monkeypatch.setattr(blocks_module, "all_memory", lambda device: 1)
        assert len(blocks_module.blocks_of(question, points)) == 100


@dataclass
class Moved:
    """In place of a federation."""

    place: Any = None

    def to(self, device):
        return Moved(device)


def test_each_process_takes_the_card_of_its_number(monkeypatch):
    question = pickle.dumps(blocks_module.Question(Moved(), 1, np.arange(1), None, ()))
    begun, threads, places = Value("i", 0), torch.get_num_threads(), []
    set_to = []
    monkeypatch.setattr(torch.cuda, "set_device", set_to.append)
    for _ in range(3):
        blocks_module._begin(question, threads, ["cpu", "cuda:1"], begun)
        places.append(blocks_module._ASKED[0].federation.place)
    assert places == ["cpu", "cuda:1", "cpu"] and set_to == ["cuda:1"]


_BEGUN = "FEDTHEORY_TEST_PROCESSES"  # the variable that names a folder: each process puts a file of its number there


def process(trajectory):
    """The number of the process, once another one has begun, too, or after a minute."""
    begun, end = Path(os.environ[_BEGUN]), time.monotonic() + 60
    (begun / str(os.getpid())).touch()
    while len([*begun.iterdir()]) < 2 and time.monotonic() < end:
        time.sleep(0.05)
    return float(os.getpid())


@pytest.mark.slow
def test_several_devices_share_the_blocks(monkeypatch, tmp_path):
    monkeypatch.setenv(_BEGUN, str(tmp_path))
    monkeypatch.setattr(blocks_module, "cards", lambda: ["cpu", "cpu"])
    grid = {"eta_l": [0.02, 0.1], "local_steps": [1, 2, 3, 4, 5, 6, 7, 8]}
    found = sweep("fedavg", FEDERATION, 3, grid, device="cuda", measure=["suboptimality", process])
    xr.testing.assert_identical(found[["suboptimality"]], sweep("fedavg", FEDERATION, 3, grid)[["suboptimality"]])
    assert os.getpid() not in found["process"].values and len(np.unique(found["process"].values)) == 2


@pytest.mark.parametrize(("device", "said"), [
    ([], r"device must be a name, or several without a client; got \[\]"), (["cpu", "gpu"], "unknown device 'gpu'"),
    (["cpu", "cuda:99"], "device 'cuda:99' is not available"),
])
def test_devices_that_are_not_there_are_refused(device, said):
    with pytest.raises(ValueError, match=said):
        sweep("fedavg", FEDERATION, 1, GRID, device=device)


def test_a_cluster_has_devices_of_its_own(monkeypatch):
    monkeypatch.setattr(blocks_module, "cards", lambda: ["cpu", "cpu"])
    assert blocks_module.devices_of("cuda") == ["cpu", "cpu"] and blocks_module.devices_of(None) == []
    assert blocks_module.devices_of(("cpu", "cpu")) == ["cpu", "cpu"] and blocks_module.devices_of("cpu") == ["cpu"]
    with pytest.raises(ValueError, match="several without a client"):
        blocks_module.devices_of(["cpu", "cpu"], several=False)
