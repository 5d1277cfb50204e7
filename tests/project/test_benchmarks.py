"""The benchmark's implementations compute the workload, its check finds those that do not, and targets can be missed."""

import itertools
import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from benchmarks import cuda, interactions, report, sweep
from benchmarks.implementations import ROWS, prepare
from benchmarks.targets import TARGETS, Measured, ratio
from benchmarks.timing import exponent, interleaved
from benchmarks.workload import Unavailable, Workload
from fedtheory import graph
from synthetic import make_problem
from tests import ROOT
from tests.fedtheory.tape import on_a_card
from tests.messages import contains_in_order
from tests.not_empty import not_empty
from tests.verify.demos.notebooks import NAMES, picture_of
from verify.demos.controls import Text, start_values

TINY = Workload(clients=3, samples=7, dim=5, local_steps=2, rounds=4)  # 7 samples: a whole group of 5 rows and a rest


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_rows_compute_the_workload(row, dtype):
    try:
        _, error, done = prepare(row, dtype, TINY)
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert (error < 1e-5 if row.checked else error is None) and 1 <= done.rounds <= TINY.rounds


@pytest.mark.parametrize("fault", [
    lambda models: models * (1 + 1e-10), lambda models: models[1:], lambda models: models.astype(np.float32),
    lambda models: np.full_like(models, np.nan),
], ids=["slightly wrong", "a model short", "another type", "not a number"])
def test_the_check_finds_what_computes_something_else(fault):
    assert TINY.check("itself", TINY.reference) == 0
    with pytest.raises(ValueError, match="faulty"):
        TINY.check("faulty", fault(TINY.reference))


def test_the_step_is_below_one_over_L():
    features = TINY.features
    largest = max(np.linalg.norm(one, 2) ** 2 / TINY.samples for one in features)
    assert TINY.eta == pytest.approx(0.5 / largest)
    assert replace(TINY, dtype="float32").reference is TINY.reference  # computed once


def test_timing():
    calls = []
    timings = interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 2)
    assert calls == list("ababab") and timings["a"].repeats == 2 and timings["a"].wall >= 0
    assert exponent((1, 2, 4), (3, 12, 48)) == pytest.approx(2)


def test_targets():
    assert len({target.name for target in TARGETS}) == len(TARGETS)
    assert {target.limit for target in TARGETS} == {
        1.0, 1.5, 1.6, 3.0, 1 / 50, 1 / 300, 1.3, 0.1, 1 / 100, 1.05, 1000.0, None}
    measure = ratio("one", "other", "float64")
    assert measure({("one", "float64"): 3.0}, 1) is None
    assert measure({("one", "float64"): 3.0, ("other", "float64"): 2.0}, 1) == Measured(1.5, "3e+03 ms against 2e+03 ms")


RESULTS = {
    "machine": {"date": "2026-01-02T03:04:05+00:00", "cpu": "some processor", "threads": 1, "versions": {"torch": "2.0"}},
    "rows": [{"name": "fedtheory, compiled", "dtype": "float32", "cpu": 0.0123, "wall": 9.0, "first": 1.0},
             {"name": "fedtheory.run, path auto", "dtype": "float64", "cpu": 0.0021, "wall": 9.0, "first": 0.25}],
    "targets": [{"name": "compiled / JAX, float32", "limit": 1.0, "value": 1.25, "met": False},
                {"name": "recording by default, step by step, float64", "limit": 0.1, "value": 0.05, "met": True}],
}


def test_the_table_of_times():
    lines = report.table(RESULTS).splitlines()
    assert [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:5]] == [
        [report.ROWS["fedtheory, compiled"], "12 ms", "-"],
        [report.ROWS["fedtheory.run, path auto"], "-", "2.1 ms"],
        [report.NUMBERS["recording by default, step by step"][0], "-", "5.0%"],
    ]
    assert contains_in_order(lines[-1], " 1 of 2. …: compiled / JAX, float32 (1.25, … 1).")
    assert "took 0.25 s" in lines[-2] and "2026-01-02" in lines[-3]


def test_the_table_is_put_between_the_marks(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}old\n{report.END}after\n")
    report.put(RESULTS, page)
    assert page.read_text() == f"before\n{report.BEGIN}{report.table(RESULTS)}{report.END}after\n"
    page.write_text("nothing")
    marks = [re.escape(repr(mark.strip())) for mark in (report.BEGIN, report.END)]
    with pytest.raises(ValueError, match=rf"page\.md .*{marks[0]}.*{marks[1]}"):
        report.put(RESULTS, page)


def test_the_page_shows_the_results_that_are_kept():
    results = json.loads((ROOT / "benchmarks" / "results.json").read_text())
    kept = {one["name"] for kind in ("targets", "rows") for one in results[kind]}
    names = {target.name for target in TARGETS} | {row.name for row in ROWS}
    assert kept <= names and all(any(left in name for left in results["skipped"]) for name in names - kept)
    assert f"{report.BEGIN}{report.table(results)}{report.END}" in (ROOT / "docs" / "speed.md").read_text()
    rows = {row.name for row in ROWS}
    assert set(report.ROWS) <= rows
    assert {f"{name}, {d}" for name in report.NUMBERS for d in report.BOTH} <= {target.name for target in TARGETS}


def test_without_a_gpu_nothing_is_claimed_about_one(monkeypatch, capsys):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert cuda.main() == 0
    said = capsys.readouterr().out
    assert said.startswith("left out: ") and "CUDA" in said and said.count("\n") == 1


def test_the_campaign_measures_a_card(monkeypatch):
    """On a stand-in of a card, of two sizes and two methods: every part has its lines, and nothing goes wrong."""
    monkeypatch.setattr(cuda, "PARITY", ("quadratic", "logistic"))
    monkeypatch.setattr(cuda, "FASTER", ("affine",))
    monkeypatch.setattr(cuda, "SPENT", 0.0)
    with on_a_card(monkeypatch):
        campaign = cuda.Campaign("cpu", 300, TINY, ["fedavg", "scaffold"], (1, 3), 5, jax=False)
        campaign.all()
    page = "\n".join(campaign.lines)
    assert campaign.faults == []
    assert "the same bits as one that is not in 4 of 4 pairs" in page
    assert all(f"| `{path}` | " in page for path in ("steps", "graph", "affine"))
    for title in ("the quadratic problem", "the reference workload", "digits"):
        assert f"## Every method on {title}\n" in page
    assert page.count("\n| fedavg | ") == page.count("\n| scaffold | ") == 3


def test_the_campaign_lists_what_goes_wrong(monkeypatch):
    """A method with a fault on the card, and one that cannot be captured."""
    monkeypatch.setattr(cuda, "PARITY", ("quadratic",))
    monkeypatch.setattr(cuda, "FASTER", ())
    with on_a_card(monkeypatch):
        monkeypatch.setattr(graph, "capture", lambda *rest: 1 / 0)
        campaign = cuda.Campaign("cpu", 300, TINY, ["fedavg"], (1,), 2, jax=False)
        campaign.parity()
    assert campaign.faults == ["fedavg on quadratic, graph: ValueError: path 'graph' cannot be taken: ZeroDivisionError: "
                               "division by zero; allowed: auto, steps"]


@pytest.mark.parametrize("settings", sweep.PROBLEMS.values(), ids=sweep.PROBLEMS)
def test_a_sweep_and_the_loop_that_it_replaces_answer_the_same(settings):
    federation, grid = make_problem("quadratic", **settings), {"eta_l": [0.01, 0.05], "local_steps": [1, 3]}
    found, loop = (function(federation, grid, 3, 2) for function in (sweep.swept, sweep.looped))
    assert found.shape == loop.shape == (2, 2, 2) and found == pytest.approx(loop, rel=1e-9)


def test_the_page_of_the_sweep_has_the_ratio_of_processor_seconds():
    page = sweep.page([("without noise", 2.0, 1.5, 40.0, 30.0)], "2026-01-01", "2.0", 0.5)
    assert page.splitlines()[-1] == "| without noise | 2.00 | 1.50 | 40.00 | 30.00 | 20.0 |" and "torch 2.0" in page
    assert all(len(line) <= 130 for line in page.splitlines())


# moves in a notebook -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NAMES)
def test_a_move_is_of_one_control_and_none_is_made_twice(name):
    controls = picture_of(name).CONTROLS
    start, made = start_values(controls), list(interactions.moves(controls))
    assert all([key for key in start if values[key] != start[key]] == [moved] for moved, values in not_empty(made))
    for key, control in not_empty(controls.items()):
        places = [values[key] for moved, values in made if moved == key]
        expected = 0 if isinstance(control, Text) else min(interactions.MOVES, len(control.values) - 1)
        assert len(places) == len(set(places)) == expected


def test_seconds_of_moves_are_told_apart(monkeypatch):
    monkeypatch.setattr(interactions, "MOVES", 2)
    ticks = iter([0.0, 1.0, 10.0, 13.0] + [30.0 + n for n in range(8)])
    found = interactions.measured("client-drift", clock=lambda: next(ticks), processor=itertools.count().__next__)
    assert [key for key, *_ in found] == list(picture_of("client-drift").CONTROLS)
    assert [row[1:] for row in found] == [(2, 2.0, 3.0, 1), (2, 1.0, 1.0, 1), (2, 1.0, 1.0, 1)]
    assert next(ticks, None) is None
    rows = {"one": [("eta", 5, 0.5, 0.75, 0.5)], "two": [("eta", 5, 1.25, 2.0, 1.5)]}
    page = interactions.page(rows, "2026-01-01", 0.5, 2)
    assert "| two | `eta` | 5 | 1.25 | 2.00 | 1.50 |" in page and "1 of 2 medians are below 1 s" in page
