"""A sweep here and the loop that it replaces, side by side: ``python -m benchmarks.sweep``.

FedAvg on the reference quadratic at 20 step sizes and 20 numbers of local steps, 32 seeds each. The loop calls ``ft.run`` at
every point. Both answer the same question in one process, in turn, on one thread, after one small sweep and one small loop;
seconds of the clock and of the processor, the least of the repetitions. The table is written to benchmarks/sweep.md.
"""

import argparse
import os
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
import torch

import fedtheory as ft

__all__ = ["GRID", "PROBLEMS", "ROUNDS", "SEEDS", "looped", "main", "page", "swept"]

#: step sizes from 1/1000 to 1/20 of ratio 1.2 or so, and local steps from 1 to 20
GRID = {"eta_l": np.geomspace(1e-3, 0.05, 20).tolist(), "local_steps": list(range(1, 21))}
ROUNDS, SEEDS = 50, 32
#: problem -> what it is, and its settings
PROBLEMS = {
    "without noise": {},
    "with noise": {"noise": "gaussian", "sigma": 1.0},
}
PAGE = Path(__file__).with_suffix(".md")


def swept(federation, grid, rounds: int, seeds: int) -> np.ndarray:
    """Suboptimality after the last round, (step sizes, local steps, seeds), by one sweep."""
    found = ft.sweep("fedavg", federation, rounds=rounds, grid=grid, seeds=seeds, measure="suboptimality")
    return found["suboptimality"].values


def looped(federation, grid, rounds: int, seeds: int) -> np.ndarray:
    """The same by a run at every point."""
    found = [[ft.run(ft.fedavg(eta_l=eta, local_steps=steps), federation, rounds, seeds=seeds, record=["suboptimality"])
              .dataset["suboptimality"].values[:, -1] for steps in grid["local_steps"]] for eta in grid["eta_l"]]
    return np.array(found)


def _timed(function, *arguments):
    clock, processor = time.perf_counter(), time.process_time()
    return function(*arguments), time.perf_counter() - clock, time.process_time() - processor


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    repeat = parser.parse_args().repeat
    torch.set_num_threads(1)
    rows = []
    for name, settings in PROBLEMS.items():
        federation = ft.make_problem("quadratic", **settings)
        small = {"eta_l": [0.01, 0.02], "local_steps": [1, 2]}
        np.testing.assert_allclose(swept(federation, small, 2, 2), looped(federation, small, 2, 2), rtol=1e-9)
        times = []
        for _ in range(repeat):
            ours, loop = _timed(swept, federation, GRID, ROUNDS, SEEDS), _timed(looped, federation, GRID, ROUNDS, SEEDS)
            np.testing.assert_allclose(ours[0], loop[0], rtol=1e-6)
            times.append((*ours[1:], *loop[1:]))
        rows.append((name, *np.min(times, axis=0).tolist()))
        print(*rows[-1], flush=True)
    PAGE.write_text(page(rows, date.today().isoformat(), torch.__version__, os.getloadavg()[0]), encoding="utf-8")


def page(rows, day: str, torch_version: str, load: float) -> str:
    """The page: a line for each problem. ``rows``: (problem, seconds and processor seconds of the sweep, of the loop)."""
    points = [len(values) for values in GRID.values()]
    lines = [
        "# A sweep beside the loop that it replaces", "",
        f"FedAvg on `ft.make_problem(\"quadratic\")`, {points[0]} step sizes times {points[1]} numbers",
        f"of local steps, {SEEDS} seeds, {ROUNDS} rounds; the suboptimality after the last round. The loop is `ft.run` at",
        "every point.", "",
        "`python -m benchmarks.sweep` writes this page: both in turn in one process on one thread, least of the",
        "repetitions. Their answers agree to 1e-6. Where other work shares the machine, processor seconds and the last",
        "column carry over.",
        "", f"{day}; torch {torch_version}, numpy {version('numpy')}; load {load:.1f}.", "",
        "| gradients | seconds | processor | seconds, loop | processor, loop | times faster |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, clock, processor, loop_clock, loop_processor in rows:
        lines.append(f"| {name} | {clock:.2f} | {processor:.2f} | {loop_clock:.2f} | {loop_processor:.2f} | "
                     f"{loop_processor / processor:.1f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
