"""``python -m benchmarks``: every implementation of the reference workload side by side, then the targets.

Times are this process's own CPU time on one thread, so that other work on the machine counts as little as it can; with
more threads, wall time.
"""

import argparse
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path


def arguments():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7, help="timed repetitions of each implementation (default 7)")
    parser.add_argument("--threads", type=int, default=1, help="threads of every library (default 1)")
    parser.add_argument("--only", default="", help="only implementations and targets whose name has this in it")
    parser.add_argument("--out", type=Path, help="where to write the results as JSON; default: nowhere")
    parser.add_argument("--page", type=Path, help="a page whose table is to be written anew; default: none")
    return parser.parse_args()


def use_threads(count: int) -> None:
    """Before any numerical library is imported: bind them to ``count`` threads, and where possible cores."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        os.environ[name] = str(count)
    if count == 1:
        os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-count:])
    import torch

    torch.set_num_threads(count)


def time_rows(rows, workload, repeats, clock):
    """What is said of each row, and why rows were left out."""
    from benchmarks.implementations import prepare
    from benchmarks.timing import interleaved
    from benchmarks.workload import Unavailable

    ready, skipped = {}, {}
    workload.reference  # noqa: B018 - computed once for all rows, in nobody's time
    for row in rows:
        for dtype in row.dtypes:
            began = time.perf_counter()
            try:
                ready[row, dtype] = (*prepare(row, dtype, workload), time.perf_counter() - began)
            except Unavailable as reason:
                skipped[row.name] = str(reason)
    timings = interleaved({key: call for key, (call, *_) in ready.items()}, repeats)
    found = []
    for (row, dtype), (_, error, done, first) in ready.items():
        scale = workload.rounds / done.rounds
        wall, cpu, repeats = timings[row, dtype]
        found.append({"name": row.name, "dtype": dtype, "wall": wall * scale, "cpu": cpu * scale, "repeats": repeats,
                      "gflops": workload.flop / (scale * timings[row, dtype][clock]) / 1e9, "first": first,
                      "rounds": done.rounds, "error": error})
    return found, skipped


def main() -> int:
    options = arguments()
    use_threads(options.threads)
    from benchmarks.implementations import ROWS
    from benchmarks.report import machine, put, show, write
    from benchmarks.targets import TARGETS
    from benchmarks.workload import Workload

    clock = 1 if options.threads == 1 else 0
    workload = Workload()
    rows, skipped = time_rows([r for r in ROWS if options.only in r.name], workload, options.repeats, clock)
    times = {(row["name"], row["dtype"]): row["cpu" if clock else "wall"] for row in rows}
    targets = []
    for target in TARGETS:
        measured = target.measure(times, options.repeats) if options.only in target.name else None
        if measured is not None:
            met = None if target.limit is None else measured.value <= target.limit
            targets.append({"name": target.name, "limit": target.limit, "unit": target.unit, "value": measured.value,
                            "met": met, "detail": measured.detail})
    sizes = {name: value for name, value in asdict(workload).items() if name != "dtype"}
    results = {"command": "python -m " + " ".join(["benchmarks", *sys.argv[1:]]), "machine": machine(options.threads),
               "workload": sizes, "rows": rows, "skipped": skipped, "targets": targets}
    show(results)
    if options.out:
        write(results, options.out)
    if options.page:
        put(results, options.page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
