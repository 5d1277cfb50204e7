"""The benchmark's implementations compute the workload, its check finds those that do not, and targets can be missed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.implementations import ROWS, prepare
from benchmarks.targets import TARGETS, Measured, ratio
from benchmarks.timing import exponent, interleaved
from benchmarks.workload import Unavailable, Workload

TINY = Workload(clients=3, samples=7, dim=5, local_steps=2, rounds=4)  # 7 samples: a whole group of 5 rows and a rest


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_rows_compute_the_workload(row, dtype):
    try:
        _, error, done = prepare(row, dtype, TINY)
    except Unavailable as reason:
        pytest.skip(str(reason))
    assert error < 1e-5 and 1 <= done.rounds <= TINY.rounds


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
    measure = ratio("one", "other", "float64")
    assert measure({("one", "float64"): 3.0}, 1) is None
    assert measure({("one", "float64"): 3.0, ("other", "float64"): 2.0}, 1) == Measured(1.5, "3e+03 ms against 2e+03 ms")
