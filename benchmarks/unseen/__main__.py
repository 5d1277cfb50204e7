"""Referee the statements of this folder: ``python -m benchmarks.unseen`` writes results.json here, and benchmarks/unseen.md.

A run that was interrupted goes on where it stopped; with ``--fresh`` it begins anew. Exit status 1 if a true statement is
refuted.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from math import isfinite
from pathlib import Path

from benchmarks.power import results
from benchmarks.unseen import right, statements
from verify.referee.decide import Settings, decide
from verify.results.files import write_json

__all__ = ["main", "page"]

RESULTS = Path(__file__).with_name("results.json")
PAGE = Path(__file__).parents[1] / "unseen.md"
BUDGETS = ("quick", "standard")
_ROOT = Path(__file__).parents[2]

_HEAD = """\
# Statements that the project has not seen

`python -m benchmarks.unseen` referees the statements of benchmarks/unseen/*.toml and writes this page. They ship with no
paper, control or example. About half of them are true, with a source or a derivation; the others are false, and a comment
beside each says why. A false one is wrong by as little as a factor of 1.02, or only for many clients, in long runs, in two
dimensions or at a tie. Shown is the verdict with the largest ratio of left to right side; **bold** where a true statement is
not spared or a false one is missed. Larger budgets begin with what quick looks at: an explicit statement that quick refutes
counts as refuted there too, without another run. A dash is a statement that was not run with that budget.
"""


def _decided(job: tuple[str, str, int]) -> tuple[str, str, str, float | None, float, str]:
    name, budget, seed = job
    began = time.process_time()
    verdict = decide(statements()[name][1], Settings(budget=budget, seed=seed, federations=False))
    ratio = verdict.ratio if verdict.ratio is not None and isfinite(verdict.ratio) else None
    return name, budget, verdict.verdict, ratio, round(time.process_time() - began, 2), verdict.evidence


def _by_search(name: str, found: dict) -> bool:
    """Whether quick refutes an explicit statement: larger budgets begin with what quick looks at."""
    return statements()[name][1].explicit and found.get("quick", {}).get(name, ("",))[0] == "refuted"


def page(found: dict, about: dict[str, str]) -> str:
    """The page: how many, then a line for each statement. ``found``: budget -> id -> (verdict, ratio, seconds, evidence)."""
    named = statements()
    lines = [_HEAD, *(f"{budget}: {about[budget]}." for budget in found), ""]
    lines += ["| statements | " + " | ".join(found) + " |", "| --- |" + " ---: |" * len(found)]
    for text, start, verdicts in (("true, refuted", "true/", ("refuted",)), ("true, certified", "true/", ("certified",)),
                                  ("true, consistent", "true/", ("consistent",)),
                                  ("true, undecided or ill-posed", "true/", ("undecided", "ill-posed")),
                                  ("false, refuted", "false/", ("refuted",)),
                                  ("false, missed", "false/", ("consistent", "certified", "undecided", "ill-posed"))):
        rows = [_share(found[budget], start, verdicts) for budget in found]
        lines.append(f"| {text} | {' | '.join(rows)} |")
    lines += ["", "| file | statement | " + " | ".join(found) + " |", "| --- | --- |" + " --- |" * len(found)]
    for name, (stem, _) in named.items():
        lines.append(f"| {stem} | {name} | {' | '.join(_cell(name, found[budget].get(name)) for budget in found)} |")
    return "\n".join(lines) + "\n"


def _share(of: dict, start: str, verdicts: Iterable[str]) -> str:
    asked = [result[0] for name, result in of.items() if name.startswith(start)]
    return f"{sum(verdict in verdicts for verdict in asked)} of {len(asked)}"


def _cell(name: str, result) -> str:
    if result is None:
        return "-"
    verdict, ratio, *_ = result
    text = verdict if ratio is None or verdict in ("refuted", "ill-posed") else f"{verdict}, {ratio:.3f}"
    return text if right(name, verdict) else f"**{text}**"


def main(arguments: Sequence[str] | None = None) -> int:
    """Decide what results.json lacks, and write both files."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.unseen", description=__doc__.split("\n")[0])
    parser.add_argument("--budget", action="append", choices=BUDGETS, help="may be given again (quick and standard)")
    parser.add_argument("--only", action="append", help="statements whose id contains this; may be given again")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--fresh", action="store_true", help="decide all that is asked for anew")
    parser.add_argument("--out", type=Path, help="where to write the results, and no page")
    options = parser.parse_args(arguments)
    out, budgets = options.out or RESULTS, options.budget or BUDGETS
    data = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {"about": {}, "found": {}}
    names = [name for name in statements() if not options.only or any(part in name for part in options.only)]
    wrong = False
    for budget in budgets:
        found = data["found"].setdefault(budget, {})
        jobs = [(name, budget, options.seed) for name in names if options.fresh or name not in found]
        easy = {name: data["found"]["quick"][name] for name, *_ in jobs
                if budget != "quick" and _by_search(name, data["found"])}
        found |= easy
        for name, _, *result in results(_decided, [job for job in jobs if job[0] not in easy], options.workers, 1):
            found[name] = result
            print(budget, name, *result, flush=True)
            wrong |= name.startswith("true/") and result[0] == "refuted"
            data["about"][budget] = f"{time.strftime('%Y-%m-%d')}, version {_version()}, seed {options.seed}"
            write_json(out, data)
    if options.out is None:
        shown = {budget: data["found"][budget] for budget in BUDGETS if budget in data["found"]}
        PAGE.write_text(page(shown, data["about"]), encoding="utf-8")
    return 1 if wrong else 0


def _version() -> str:
    return subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=_ROOT, capture_output=True, text=True,
                          check=True).stdout.strip()


if __name__ == "__main__":
    from benchmarks.unseen.__main__ import main as imported  # its workers find what a module of this name has

    sys.exit(imported())
