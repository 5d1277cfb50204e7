"""What fedtheory wants to reach, each with the measurement that decides: a new target is a new row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from benchmarks import memory, ours
from benchmarks.timing import exponent, interleaved
from benchmarks.workload import Workload
from fedtheory.observables import DEFAULT

__all__ = ["TARGETS", "Measured", "Target"]

SMALL = Workload("float32", clients=40, rounds=5)


class Measured(NamedTuple):
    """A target's number and a few words on how it came about."""

    value: float
    detail: str


@dataclass(frozen=True)
class Target:
    """``measure(times, repeats)`` must be at most ``limit``; ``times`` maps (row, dtype) to seconds.

    A target whose rows were not timed answers None.
    """

    name: str
    limit: float
    measure: Callable[[dict, int], Measured | None]
    unit: str = ""


def ratio(row: str, yardstick: str, dtype: str) -> Callable:
    """Time of one row over that of another."""

    def measure(times, repeats):
        if (row, dtype) not in times or (yardstick, dtype) not in times:
            return None
        own, other = times[row, dtype], times[yardstick, dtype]
        return Measured(own / other, f"{1e3 * own:.3g} ms against {1e3 * other:.3g} ms")

    return measure


def timed(calls, repeats):
    """CPU seconds of calls in turns."""
    return {name: timing.cpu for name, timing in interleaved(calls, repeats).items()}


def scaling(name: str, sizes: tuple[int, ...]) -> Callable:
    """The exponent of time in the number of runs, or in a size of the workload."""

    def measure(times, repeats):
        if name == "runs":
            calls = {size: ours.step_by_step(SMALL, runs=size) for size in sizes}
        else:
            calls = {size: ours.step_by_step(replace(SMALL, **{name: size})) for size in sizes}
        seconds = timed(calls, repeats)
        shown = ", ".join(f"{size}: {1e3 * seconds[size]:.3g}" for size in sizes)
        return Measured(exponent(sizes, [seconds[size] for size in sizes]), f"ms by {name}: {shown}")

    return measure


def together(runs: int, many: Callable, dtype: str) -> Callable:
    """Time of ``many(workload, runs)`` over ``runs`` times that of one run."""

    def measure(times, repeats):
        workload = Workload(dtype, rounds=5)
        seconds = timed({1: ours.step_by_step(workload), runs: many(workload, runs)}, repeats)
        each = seconds[runs] / runs
        return Measured(each / seconds[1], f"{1e3 * each:.3g} ms a run against {1e3 * seconds[1]:.3g} ms alone")

    return measure


def seeds(workload, runs):
    return ours.step_by_step(workload, runs=runs)


def settings(workload, runs):
    return ours.step_by_step(workload, runs=runs, eta=workload.eta * np.linspace(0.1, 1, runs))


def recording(times, repeats):
    workload = Workload("float64", rounds=10)
    records = {"default": DEFAULT, "nothing": ()}
    seconds = timed({k: ours.recorded(workload, path="steps", record=record) for k, record in records.items()}, repeats)
    detail = f"{1e3 * seconds['default']:.3g} ms with {', '.join(DEFAULT)}; {1e3 * seconds['nothing']:.3g} ms without"
    return Measured(seconds["default"] / seconds["nothing"] - 1, detail)


def scaffold(times, repeats):
    workload = Workload("float64", rounds=5)
    seconds = timed({method: ours.step_by_step(workload, method) for method in ("scaffold", "fedavg")}, repeats)
    return Measured(seconds["scaffold"] / seconds["fedavg"], "step by step, float64")


def memory_growth(times, repeats):
    return Measured(*memory.growth())


BOTH = ("float32", "float64")
STEPS, RUN, JAX = "fedtheory, step by step", "fedtheory.run, step by step", "JAX, jit(scan(vmap(grad)))"
NAIVE, HAND = "torch, nn.Module and SGD per client", "torch, batched by hand"
MAP, C = "fedtheory, averaged affine map", "C, one pass over the data"

TARGETS = (
    *(Target(f"step by step / JAX, {dtype}", 2.5, ratio(STEPS, JAX, dtype)) for dtype in BOTH),
    *(Target(f"step by step / by hand in torch, {dtype}", 1.3, ratio(STEPS, HAND, dtype)) for dtype in BOTH),
    *(Target(f"step by step / nn.Module per client, {dtype}", 1 / 50, ratio(STEPS, NAIVE, dtype)) for dtype in BOTH),
    Target("fedtheory.run / step by step, float64", 1.1, ratio(RUN, STEPS, "float64")),
    Target("averaged affine map / C, float64", 1 / 50, ratio(MAP, C, "float64")),
    Target("averaged affine map / step by step, float64", 1 / 100, ratio(MAP, STEPS, "float64")),
    *(Target(f"32 seeds that share data: a run / one alone, {d}", 1 / 10, together(32, seeds, d)) for d in BOTH),
    *(Target(f"64 step sizes: a run / one alone, {d}", 1 / 10, together(64, settings, d)) for d in BOTH),
    Target("SCAFFOLD / FedAvg", 1.3, scaffold),
    Target("cost of the default recording", 0.1, recording),
    Target("exponent in the number of runs", 1.05, scaling("runs", (16, 32, 64, 128))),
    Target("exponent in the number of clients", 1.05, scaling("clients", (100, 200, 400, 800))),
    Target("exponent in the number of local steps", 1.05, scaling("local_steps", (5, 10, 20, 40))),
    Target("exponent in the number of rounds", 1.05, scaling("rounds", (5, 10, 20, 40))),
    Target("growth of memory with rounds", 1000.0, memory_growth, "bytes a round"),
)
