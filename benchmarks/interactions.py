"""Seconds from a move of a control to the new picture, for every live notebook: ``python -m benchmarks.interactions``.

Each control is moved to up to ``MOVES`` of its values, none of them twice, while the others stay where a reader finds them.
A move is what the notebook then does: its numbers, its picture as SVG, its words. Every notebook has a process of its own.
The table is written to benchmarks/interactions.md; names of notebooks measure these alone, and print.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from verify.demos.catalogue import demos, find_demo, module_of
from verify.demos.controls import Text, start_values
from verify.demos.drawn import as_svg

__all__ = ["MOVES", "SECONDS", "main", "measured", "moves", "page"]

MOVES = 5  #: of a control
SECONDS = 1.0  #: of a move, at most
PAGE = Path(__file__).with_suffix(".md")


def moves(controls) -> Iterator[tuple[str, dict[str, Any]]]:
    """Controls by name, each with all values after one of its moves: evenly spread over what is not the start."""
    start = start_values(controls)
    for key, control in controls.items():
        if isinstance(control, Text):
            continue
        others = [value for value in control.values if value != control.start]
        few = min(MOVES, len(others))
        for number in range(few):
            yield key, start | {key: others[(len(others) - 1) * number // max(few - 1, 1)]}


def measured(name: str, clock: Callable[[], float] = time.perf_counter,
             processor: Callable[[], float] = time.process_time) -> list[tuple[str, int, float, float, float]]:
    """For each control of a notebook: its name, how many moves, median and largest seconds of one, and the median of seconds
    of the processor."""
    module = module_of(find_demo(name))

    def shown(values) -> None:
        found = module.compute(**values)
        as_svg(module.picture(found), module.caption(found))

    shown(start_values(module.CONTROLS))
    seconds: dict[str, list[tuple[float, float]]] = {}
    for key, values in moves(module.CONTROLS):
        began, used = clock(), processor()
        shown(values)
        seconds.setdefault(key, []).append((clock() - began, processor() - used))
    rows = ((key, *zip(*pairs, strict=True)) for key, pairs in seconds.items())
    return [(key, len(taken), median(taken), max(taken), median(used)) for key, taken, used in rows]


def page(found: dict[str, list], day: str, load: float, cores: int | None) -> str:
    """The page: a line for each control of each notebook."""
    lines = [
        "# Seconds of a move in a live notebook", "",
        "From the move of one control to the new picture: the notebook's numbers, its picture, its words. The others stand",
        f"at their first values; a control goes to up to {MOVES} of its values, none of them twice.", "",
        "`python -m benchmarks.interactions` writes this page. Where other work shares the machine, seconds of the",
        "processor, of all cores, carry over.", "",
        f"{day}; {cores} cores, load {load:.1f} before.", "",
        "| notebook | control | moves | median | largest | processor, median |", "|---|---|---:|---:|---:|---:|",
    ]
    for name, rows in found.items():
        lines += [f"| {name} | `{key}` | {count} | {middle:.2f} | {largest:.2f} | {used:.2f} |"
                  for key, count, middle, largest, used in rows]
    medians = [row[2] for rows in found.values() for row in rows]
    within = sum(middle < SECONDS for middle in medians)
    return "\n".join([*lines, "", f"{within} of {len(medians)} medians are below {SECONDS:g} s.", ""])


def main(arguments: list[str] | None = None) -> None:
    """Measure, and write the page; or measure the notebooks named, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one:
        print(json.dumps(measured(given.one)))
        return
    load, found = os.getloadavg()[0], {}
    for name in given.names or demos():
        command = [sys.executable, "-m", "benchmarks.interactions", "--one", name]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found[name] = json.loads(done.stdout.splitlines()[-1])
        for key, count, *taken in found[name]:
            print(f"{name:22} {key:14} {count:3}", *(f"{one:6.2f}" for one in taken), flush=True)
    if not given.names:
        PAGE.write_text(page(found, date.today().isoformat(), load, os.cpu_count()), encoding="utf-8")


if __name__ == "__main__":
    main()
