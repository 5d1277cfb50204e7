"""Performance targets of fedtheory, each with its measurement: a new target is a new row."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from benchmarks import ours
from benchmarks.timing import exponent, growth, interleaved, loading, slowest_bound
from benchmarks.workload import Unavailable, Workload
from fedtheory.observables import DEFAULT

__all__ = ["TARGETS", "Measured", "Target"]

SMALL = Workload("float32", clients=40, rounds=5)


class Measured(NamedTuple):
    """A target's number, and the measurements behind it in words."""

    value: float
    detail: str


@dataclass(frozen=True)
class Target:
    """``measure(times, repeats)`` must be at most ``limit``; ``times`` maps (row, dtype) to seconds.

    It returns None if its rows were not timed. Without a ``limit`` the number is only shown.
    """

    name: str
    limit: float | None
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


WAYS = {"steps": ours.step_by_step, "compiled": ours.compiled}


def scaling(name: str, way: str, sizes: tuple[int, ...]) -> Callable:
    """The exponent of time in the number of runs, or in a size of the workload."""

    def measure(times, repeats):
        try:
            if name == "runs":
                calls = {size: WAYS[way](SMALL, runs=size) for size in sizes}
            else:
                calls = {size: WAYS[way](replace(SMALL, **{name: size})) for size in sizes}
        except Unavailable:
            return None
        seconds = timed(calls, repeats)
        shown = ", ".join(f"{size}: {1e3 * seconds[size]:.3g}" for size in sizes)
        return Measured(exponent(sizes, [seconds[size] for size in sizes]), f"ms by {name}: {shown}")

    return measure


def together(runs: int, settings: bool, way: str, dtype: str) -> Callable:
    """Time of many runs that share data, from different starts or with different ``settings``, over the time of as many
    single runs."""

    def measure(times, repeats):
        workload = Workload(dtype, rounds=100 if way == "auto" else 10)
        make = ours.recorded if way == "auto" else WAYS[way]
        eta = workload.eta * np.linspace(0.1, 1, runs) if settings else None
        try:
            seconds = timed({1: make(workload), runs: make(workload, runs=runs, eta=eta)}, repeats)
        except Unavailable:
            return None
        each = seconds[runs] / runs
        return Measured(each / seconds[1], f"{1e3 * each:.3g} ms a run against {1e3 * seconds[1]:.3g} ms alone")

    return measure


def recording(record, path: str, dtype: str) -> Callable:
    """The share that recording adds to a run in which nothing is recorded."""

    def measure(times, repeats):
        workload = Workload(dtype)
        calls = {name: ours.recorded(workload, path=path, record=names) for name, names in (("all", record), ("no", ()))}
        try:
            seconds = timed(calls, repeats)
        except ValueError:
            return None
        return Measured(seconds["all"] / seconds["no"] - 1, f"{', '.join(record)}: {1e3 * seconds['all']:.3g} ms against "
                                                            f"{1e3 * seconds['no']:.3g} ms")

    return measure


BOTH = ("float32", "float64")
STEPS, COMPILED, RUN, AUTO = (
    "fedtheory, step by step", "fedtheory, compiled", "fedtheory.run, step by step", "fedtheory.run, path auto")
JAX, C, MAP = "JAX, jit(scan(vmap(grad)))", "C, one pass over the data", "fedtheory, averaged affine map"
NAIVE, LOADER = "torch, nn.Module and SGD per client", "torch, nn.Module, SGD and DataLoader per client"
WITHIN = (*DEFAULT, "weighted_gradient_sq")
SIZES = {"runs": (16, 32, 64, 128), "clients": (100, 200, 400, 800), "local_steps": (5, 10, 20, 40),
         "rounds": (5, 10, 20, 40)}

TARGETS = (
    *(Target(f"compiled / JAX, {d}", 1.0, ratio(COMPILED, JAX, d)) for d in BOTH),
    *(Target(f"compiled / C, {d}", 1.6, ratio(COMPILED, C, d)) for d in BOTH),
    *(Target(f"step by step / JAX, {d}", 3.0, ratio(STEPS, JAX, d)) for d in BOTH),
    Target("compiled / FedJAX, float32", 1 / 50, ratio(COMPILED, "FedJAX", "float32")),
    # the usual loop, against fedtheory's default path; with the DataLoader that most users have, against the compiled path,
    # which is no affine map; the last rows are only shown
    *(Target(f"fedtheory.run / nn.Module per client, {d}", 1 / 300, ratio(AUTO, NAIVE, d)) for d in BOTH),
    *(Target(f"compiled / nn.Module and DataLoader per client, {d}", 1 / 300, ratio(COMPILED, LOADER, d)) for d in BOTH),
    *(Target(f"compiled / nn.Module per client, {d}", None, ratio(COMPILED, NAIVE, d)) for d in BOTH),
    *(Target(f"SCAFFOLD / FedAvg, {way}, {d}", 1.3, ratio(f"fedtheory, SCAFFOLD, {way}", f"fedtheory, {way}", d))
      for way in ("compiled", "step by step") for d in BOTH),
    *(Target(f"32 starts that share data / one by one, path auto, {d}", 1 / 10, together(32, False, "auto", d))
      for d in BOTH),
    *(Target(f"64 step sizes / one by one, path auto, {d}", 1 / 10, together(64, True, "auto", d)) for d in BOTH),
    *(Target(f"32 starts that share data / one by one, {way}, {d}", None, together(32, False, way, d))
      for way in WAYS for d in BOTH),
    *(Target(f"64 step sizes / one by one, {way}, {d}", None, together(64, True, way, d)) for way in WAYS for d in BOTH),
    Target("averaged affine map / compiled, float64", 1 / 100, ratio(MAP, COMPILED, "float64")),
    *(Target(f"exponent in {name}, {way}", 1.05, scaling(name, way, sizes))
      for way in WAYS for name, sizes in SIZES.items()),
    Target("loading all claims", 1.5, lambda times, repeats: Measured(*loading(repeats)), "s"),
    Target("a theorem's bound at 10^6 points", 1.0, lambda times, repeats: Measured(*slowest_bound(min(repeats, 3))), "s"),
    Target("growth of memory with rounds", 1000.0, lambda times, repeats: Measured(*growth()), "bytes a round"),
    *(Target(f"recording by default, step by step, {d}", 0.1, recording(DEFAULT, "steps", d)) for d in BOTH),
    *(Target(f"recording by default, compiled, {d}", None, recording(DEFAULT, "compiled", d)) for d in BOTH),
    *(Target(f"recording local gradients too, step by step, {d}", None, recording(WITHIN, "steps", d)) for d in BOTH),
    Target("fedtheory.run / step by step, float64", None, ratio(RUN, STEPS, "float64")),
)
