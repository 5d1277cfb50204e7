"""Timing that is robust on a busy machine: interleaved repetitions, medians, the process's own CPU time."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

__all__ = ["Timing", "exponent", "interleaved"]


class Timing(NamedTuple):
    """Medians over repetitions, in seconds. ``cpu`` counts this process only, all of its threads."""

    wall: float
    cpu: float
    repeats: int


def interleaved(calls: Mapping[Any, Callable[[], object]], repeats: int) -> dict[Any, Timing]:
    """Time calls in turns, so that a slow spell of the machine hits all alike. Each has one untimed call first."""
    samples: dict[Any, list[tuple[float, float]]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    for _ in range(repeats):
        for name, call in calls.items():
            wall, cpu = time.perf_counter(), time.process_time()
            call()
            samples[name].append((time.perf_counter() - wall, time.process_time() - cpu))
    medians = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in samples.items()}
    return {name: Timing(*pair, repeats) for name, pair in medians.items()}


def exponent(sizes, seconds) -> float:
    """The slope of log(seconds) over log(sizes), by least squares: 1 where time is proportional to size."""
    return statistics.linear_regression(list(map(math.log, sizes)), list(map(math.log, seconds))).slope

