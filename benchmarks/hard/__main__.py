"""How many hard false statements the referee refutes, and that it spares the true ones: ``python -m benchmarks.hard``.

Prints each verdict, then how many by kind and budget, and what was missed. ``--page`` writes benchmarks/hard.md, too. Exit
status 1 if a true statement is refuted or ill-posed, or a false one certified.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import NamedTuple

from benchmarks.hard import KINDS, PAIRS, claims, file_text
from benchmarks.power import results
from verify.referee.decide import Settings, decide
from verify.search.budget import BUDGETS

__all__ = ["Outcome", "main", "measure", "page", "table"]

PAGE = Path(__file__).parents[1] / "hard.md"

_HEAD = """\
# Hard controls

`python -m benchmarks.hard --page` referees pairs of statements of which one is true and one is false. Rules in
benchmarks/hard make them from tables of numbers; the two differ in one number or one condition. Every rule says why the true
one is true, and a test computes a counterexample to every false one without the referee.
"""


class Outcome(NamedTuple):
    """One verdict on a statement. ``ratio``: the largest of left to right side, None if there is none."""

    claim: str
    budget: str
    seed: int
    verdict: str
    ratio: float | None
    seconds: float
    evidence: str

    @property
    def is_true(self) -> bool:
        return self.claim.startswith("true/")

    @property
    def kind(self) -> str:
        return PAIRS[self.claim.split("/", 1)[1]][0]

    @property
    def wrong(self) -> bool:
        """Whether the verdict contradicts what is known: a true statement is not spared, or a false one is certified."""
        return self.verdict in ("refuted", "ill-posed") if self.is_true else self.verdict in ("certified", "ill-posed")


def _decided(job: tuple[str, str, int]) -> Outcome:
    name, budget, seed = job
    began = time.process_time()
    verdict = decide(claims()[name], Settings(budget=budget, seed=seed, federations=False))
    ratio = verdict.ratio if verdict.ratio is not None and isfinite(verdict.ratio) else None
    return Outcome(name, budget, seed, verdict.verdict, ratio, round(time.process_time() - began, 1), verdict.evidence)


def measure(budgets: Sequence[str], seeds: Sequence[int], names: Sequence[str], workers: int = 1) -> Iterator[Outcome]:
    """Referees the claims of these names with each budget and each seed. A false one that a smaller budget refutes counts as
    refuted with the next one, which begins with the same search."""
    refuted: dict[tuple[str, int], Outcome] = {}
    for budget in sorted(budgets, key=list(BUDGETS).index):
        yield from [outcome._replace(budget=budget) for outcome in refuted.values()]
        jobs = [(name, budget, seed) for seed in seeds for name in names if (name, seed) not in refuted]
        for outcome in results(_decided, jobs, workers, 1):
            if outcome.verdict == "refuted" and not outcome.is_true:
                refuted[outcome.claim, outcome.seed] = outcome
            yield outcome


def table(outcomes: Sequence[Outcome]) -> str:
    """Counts by kind and budget, as a table in Markdown."""
    budgets = list(dict.fromkeys(o.budget for o in outcomes))
    lines = ["| statements | " + " | ".join(f"false, refuted: {b} | true, spared: {b}" for b in budgets) + " |",
             "| --- |" + " ---: | ---: |" * len(budgets)]
    for kind in (*KINDS, ""):
        cells = []
        for budget in budgets:
            ours = [o for o in outcomes if o.budget == budget and kind in ("", o.kind)]
            false, true = ([o for o in ours if o.is_true is truth] for truth in (False, True))
            cells += [f"{sum(o.verdict == 'refuted' for o in false)} of {len(false)}",
                      f"{sum(not o.wrong for o in true)} of {len(true)}"]
        lines.append(f"| {kind or 'all'} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _row(o: Outcome) -> str:
    rounds = PAIRS[o.claim.split("/", 1)[1]][1].fails_from
    ratio = "" if o.ratio is None else f"{o.ratio:.4g}"
    return f"| {o.claim} | {o.budget} | {o.seed} | {o.verdict} | {ratio} | {rounds() if rounds and not o.is_true else ''} |"


def page(outcomes: Sequence[Outcome], about: str) -> str:
    """The page: the counts, what was missed, and what is wrong."""
    lines = [_HEAD, f"{about}.\n", table(outcomes)]
    for title, chosen in (("False statements that were missed",
                           [o for o in outcomes if not o.is_true and o.verdict != "refuted"]),
                          ("True statements that are left undecided", [o for o in outcomes if o.is_true
                                                                       and o.verdict == "undecided"]),
                          ("Wrong verdicts", [o for o in outcomes if o.wrong])):
        lines += [f"## {title}\n", "| statement | budget | seed | verdict | ratio | fails from rounds |",
                  "| --- | --- | ---: | --- | ---: | ---: |"]
        lines += [_row(o) for o in chosen] + [""]
    return "\n".join(lines).rstrip() + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """Referees what is asked for, and prints and writes the result."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hard", description=__doc__.split("\n")[0])
    parser.add_argument("--budget", action="append", choices=list(BUDGETS), help="may be given again (quick)")
    parser.add_argument("--seeds", type=int, default=1, help="searches of each statement (1)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", action="append", help="statements whose id contains this; may be given again")
    parser.add_argument("--page", action="store_true", help=f"write benchmarks/{PAGE.name}")
    parser.add_argument("--toml", action="store_true", help="print the statements as a claim file, and nothing else")
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        parser.error(f"--seeds must be at least 1; got {options.seeds}")
    if options.toml:
        print(file_text())
        return 0
    names = [name for name in claims() if not options.only or any(part in name for part in options.only)]
    budgets, outcomes = options.budget or ["quick"], []
    for outcome in measure(budgets, range(options.seeds), names, options.workers):
        outcomes.append(outcome)
        print(*outcome, sep="\t", flush=True)
    text = page(outcomes, f"{time.strftime('%Y-%m-%d')}, version {_version()}, seeds 0 to {options.seeds - 1}")
    print(text)
    if options.page:
        PAGE.write_text(text, encoding="utf-8")
    return 1 if any(o.wrong for o in outcomes) else 0


def _version() -> str:
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=PAGE.parent, capture_output=True, text=True,
                          check=True).stdout.strip()


if __name__ == "__main__":
    from benchmarks.hard.__main__ import main as imported  # its workers find what a module of this name has

    sys.exit(imported())
