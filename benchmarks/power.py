"""How many false statements the search refutes, and that it spares the true ones: ``python -m benchmarks.power``.

Prints, by kind of exaggeration and by budget, how many false variants of the controls are refuted, and how many true
controls in searches with different seeds. Exit status 0 if no true control is refuted and, at the largest budget asked for,
every variant whose constant is divided by 10 and at least 90 % of all variants are; 1 otherwise.
"""

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from bounds.controls.classical import CONTROLS_CLASSICAL
from bounds.controls.fedavg import CONTROLS, kind_of
from bounds.controls.methods import CONTROLS_ON_METHODS
from verify.referee.workers import load
from verify.search.budget import BUDGETS
from verify.search.search import search

__all__ = ["ROWS", "Outcome", "enough", "main", "measure", "results", "table"]

ROWS = {row.claim.id: row for row in (*CONTROLS, *CONTROLS_ON_METHODS, *CONTROLS_CLASSICAL)}
TRUE = "true"
_ENOUGH = 0.9  # share of the false variants


@dataclass(frozen=True)
class Outcome:
    """One search: the claim, its kind (``true``, or how it exaggerates), budget, seed, and whether it was refuted."""

    claim: str
    kind: str
    budget: str
    seed: int
    refuted: bool
    instances: int


def _search(job: tuple[str, str, str, int]) -> Outcome:
    name, label, budget, seed = job
    row = ROWS[name]
    claim = row.twins[label] if label else row.claim
    found = search(claim, BUDGETS[budget], seed)
    return Outcome(claim.id, kind_of(label) if label else TRUE, budget, seed, found.violation is not None, found.tried)


def measure(budgets: Sequence[str], seeds: Sequence[int], names: Sequence[str] = (), workers: int = 1) -> Iterator[Outcome]:
    """Search every control with each of the ``seeds``, and every false variant with the first of them; of the rows called
    ``names``, by default all."""
    rows = {name: ROWS[name] for name in names or ROWS}
    jobs = [(name, "", budget, seed) for budget in budgets for name in rows for seed in seeds]
    jobs += [(name, label, budget, seeds[0]) for budget in budgets for name, row in rows.items() for label in row.twins]
    return results(_search, jobs, workers, chunksize=4)


def results(function: Callable, jobs: Sequence, workers: int, chunksize: int, most: int | None = None) -> Iterator[Any]:
    """The function's answers to the jobs, in their order, from ``workers`` processes; each does at most ``most`` jobs."""
    if workers <= 1:
        yield from map(function, jobs)
        return
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    together = workers * most if most else len(jobs) or 1  # executors stand still that are to begin new processes
    for first in range(0, len(jobs), together):
        with ProcessPoolExecutor(workers, get_context("spawn"), initializer=load) as executor:
            yield from executor.map(function, jobs[first : first + together], chunksize=chunksize)


def table(outcomes: Sequence[Outcome]) -> Table:
    """How many were refuted of those searched, by kind and budget."""
    budgets = list(dict.fromkeys(o.budget for o in outcomes))
    searched = Counter((o.kind, o.budget) for o in outcomes)
    refuted = Counter((o.kind, o.budget) for o in outcomes if o.refuted)
    found = Table("statements", *(f"refuted, {budget}" for budget in budgets), box=box.SIMPLE_HEAD)
    kinds = sorted({o.kind for o in outcomes}, key=lambda kind: (kind == TRUE, kind))
    for kind in kinds:
        name = "true (claims x seeds)" if kind == TRUE else f"false: {kind}"
        found.add_row(name, *(f"{refuted[kind, b]} of {searched[kind, b]}" for b in budgets))
    return found


def enough(outcomes: Sequence[Outcome]) -> bool:
    """Whether no true control is refuted and, at the last budget, all variants off by 10 and enough of all variants are."""
    if any(o.refuted for o in outcomes if o.kind == TRUE):
        return False
    last = outcomes[-1].budget
    false = [o for o in outcomes if o.kind != TRUE and o.budget == last]
    by_ten = all(o.refuted for o in false if o.kind == kind_of("/10"))
    return by_ten and sum(o.refuted for o in false) >= _ENOUGH * len(false)


def main(arguments: Sequence[str] | None = None) -> int:
    """The table on the terminal, and every outcome as JSON where ``--out`` says so."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.power", description=__doc__.split("\n")[0])
    parser.add_argument("--budget", action="append", choices=list(BUDGETS), help="may be given again; quick and standard")
    parser.add_argument("--seeds", type=int, default=5, help="searches of each true claim (5)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, help="a JSON file for all outcomes")
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        parser.error(f"--seeds must be at least 1; got {options.seeds}")
    outcomes = list(measure(options.budget or ["quick", "standard"], range(options.seeds), workers=options.workers))
    console = Console(file=sys.stdout, width=100)
    console.print(table(outcomes))
    for outcome in outcomes:
        if outcome.refuted == (outcome.kind == TRUE):
            said = "REFUTED" if outcome.refuted else "missed"
            console.print(f"{said}: {outcome.claim} ({outcome.budget}, seed {outcome.seed})")
    if options.out:
        options.out.write_text(json.dumps([asdict(o) for o in outcomes], indent=1) + "\n", encoding="utf-8")
    return 0 if enough(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
