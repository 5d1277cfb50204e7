"""Measurements: times that are robust on a busy machine, loading and evaluating all claims, growth of memory."""

import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Timing", "exponent", "growth", "interleaved", "loading", "slowest_bound"]


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


POINTS = 10**6
_LOAD = ("import time; from bounds.registry.claims import all_claims; count = len(all_claims()); "
         "print(time.process_time(), count)")


def loading(repeats: int) -> tuple[float, str]:
    """Return the median processor seconds of a process that loads every claim, with sympy and the interpreter."""
    answers = [subprocess.run([sys.executable, "-c", _LOAD], capture_output=True, text=True, check=True).stdout.split()
               for _ in range(repeats)]
    return float(np.median([float(seconds) for seconds, _ in answers])), f"{answers[0][1]} claims"


def slowest_bound(repeats: int) -> tuple[float, str]:
    """Return the processor seconds of the slowest theorem's compiled right side at a million points; sizes are below 12."""
    from bounds.registry.claims import all_claims
    from verify.formulas.bound import bound_of

    rng, found = np.random.default_rng(0), {}
    for claim in all_claims().values():
        if claim.kind != "theorem" or not claim.explicit or claim.statement is None:
            continue
        bound = bound_of(claim)
        if bound.form.formula in found:
            continue
        given = {s.name: rng.integers(2, 12, POINTS) if s.is_integer else rng.uniform(0.01, 1, POINTS)
                 for s in bound.form.parameters}
        bound.values(**{name: values[:2] for name, values in given.items()})
        found[bound.form.formula] = min(_seconds(bound, given) for _ in range(repeats)), claim.id
    seconds, name = max(found.values())
    return seconds, f"{name}, the slowest of {len(found)}"


def _seconds(bound, given) -> float:
    began = time.process_time()
    bound.values(**given)
    return time.process_time() - began


FEW, MANY = 50, 2000


def growth() -> tuple[float, str]:
    """Bytes per round by which a process grows from round 50 to round 2050, and how that was found."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.timing"], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    detail = f"{before / 2**20:.1f} MiB after {FEW} rounds, {after / 2**20:.1f} MiB after {MANY} more; a model is 4000 bytes"
    return max(0, after - before) / MANY, detail


def _resident() -> int:
    """Bytes of this process in memory; where /proc is missing, the most there have been."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return pages * os.sysconf("SC_PAGE_SIZE")


def main() -> None:
    from benchmarks import ours
    from benchmarks.workload import Workload

    rounds = ours.endless(Workload("float32", clients=20, samples=20, dim=1000, local_steps=1))
    sizes = []
    for number in (FEW, MANY):
        for _ in range(number):
            next(rounds)
        sizes.append(_resident())
    print(*sizes)


if __name__ == "__main__":
    main()
