"""Worst cases of FedAvg here and in PEPit, side by side: ``python -m benchmarks.worst_case --peer PYTHON``.

PYTHON is an interpreter with PEPit (``pip install pepit``, or the extra ``bench-worst``). Both answer the same questions in
turn, ten times in a row, in processes of their own, on one thread. Times are processor seconds, the least of some
repetitions, of all from the method to the ratio. The table is written to benchmarks/worst_case.md.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path

from verify.worst.method_worst_case import worst

__all__ = ["CASES", "main", "ours", "table"]

#: local steps, rounds, clients; the last three are ours alone
CASES = [(steps, rounds, 2) for steps in (2, 4, 5) for rounds in (1, 2, 3)]
ALONE = [(2, 2, 1000), (4, 4, 2), (4, 4, 1000)]
_IN_A_ROW = 10  # answers of one before the other's turn: the first ones find the caches of the processor cold
PAGE = Path(__file__).with_suffix(".md")


def ours(steps: int, rounds: int, clients: int) -> tuple[float, float, float]:
    """The ratio, processor seconds, and seconds of the clock."""
    began, clock = time.process_time(), time.perf_counter()
    found = worst("fedavg", rounds, clients, eta_l=1 / steps, local_steps=steps)
    return found.ratio, time.process_time() - began, time.perf_counter() - clock


def main() -> None:
    """Measure, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", default=sys.executable, help="an interpreter with PEPit")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    one_thread = os.environ | {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")}
    with subprocess.Popen([options.peer, "-m", "benchmarks.worst_case_peer"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True, env=one_thread) as peer:
        versions, rows = json.loads(peer.stdout.readline()), []
        ours(2, 1, 2)
        for case in CASES:
            mine, theirs = [], []
            for _ in range(options.repeat):
                mine += [ours(*case) for _ in range(_IN_A_ROW)]
                for _ in range(_IN_A_ROW):
                    peer.stdin.write(json.dumps(case) + "\n")
                    peer.stdin.flush()
                    theirs.append(json.loads(peer.stdout.readline()))
            rows.append((case, mine[0][0], min(row[1] for row in mine), min(row[2] for row in mine), theirs[0][0],
                         min(row[1] for row in theirs)))
            print(*rows[-1], flush=True)
        peer.stdin.close()
    for case in ALONE:
        mine = [ours(*case) for _ in range(options.repeat)]
        rows.append((case, mine[0][0], min(row[1] for row in mine), min(row[2] for row in mine), None, None))
        print(*rows[-1], flush=True)
    PAGE.write_text(table(rows, versions, date.today().isoformat()), encoding="utf-8")


def table(rows, versions, day: str) -> str:
    """The page: a line for each case."""
    said = ", ".join(f"{name} {number}" for name, number in versions.items())
    lines = [
        "# Worst cases, beside PEPit", "",
        "The largest |x_R - x_*|^2 of FedAvg with m clients, K local steps of 1/K and R rounds over all 1-smooth",
        "1/10-strongly convex clients with |x_0 - x_*| <= 1 and mean |grad F_k(x_*)|^2 <= 1.", "",
        "`python -m benchmarks.worst_case` writes this page: both in turn, each ten times in a row, one thread each,",
        "with the same solver; processor seconds of all from the method to the ratio, least of the repetitions. The last",
        "column is what carries over.", "",
        f"{day}; here numpy {version('numpy')}, clarabel {version('clarabel')}; PEPit with {said}.", "",
        "| K | R | m | ratio here | ratio PEPit | seconds here | seconds PEPit | times faster |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for (steps, rounds, clients), ratio, seconds, _, other, longer in rows:
        theirs = ("-", "-", "-") if other is None else (f"{other:.6f}", f"{longer:.3f}", f"{longer / seconds:.0f}")
        cells = (steps, rounds, clients, f"{ratio:.6f}", theirs[0], f"{seconds:.4f}", *theirs[1:])
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
