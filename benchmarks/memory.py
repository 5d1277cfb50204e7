"""How much the memory of a process grows with the number of rounds; runs in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

__all__ = ["growth"]

FEW, MANY = 50, 2000


def growth() -> tuple[float, str]:
    """Bytes per round by which a process grows from round 50 to round 2050, and how that was found."""
    done = subprocess.run([sys.executable, "-m", "benchmarks.memory"], capture_output=True, text=True, check=True)
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
