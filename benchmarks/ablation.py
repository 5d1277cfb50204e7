"""What each stage and corner of the search finds that nothing else finds: ``python -m benchmarks.ablation``.

Searches every false statement with all stages on, with each stage or corner off in turn, and with all on from another seed,
which shows how much is luck. Prints as a table how many statements each stage refutes and in how many seconds, over all
statements that it looked at; as another one how many are lost without it, how many are gained, and the time saved; then
their ids. A search that ends before a stage is not repeated without it. A run that was interrupted goes on where it stopped.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from benchmarks import hard, unseen
from benchmarks.power import ROWS, results
from bounds.language.claim import Claim
from bounds.registry.claims import find_claim
from verify.claims.related import related
from verify.results.files import write_json
from verify.results.fingerprint import code_version
from verify.search.budget import BUDGETS
from verify.search.search import Found, search
from verify.search.stages import NAMES, STAGES

__all__ = ["FALSE", "Runs", "main", "measure", "stages_table", "table"]

FALSE = {variant.id: variant for row in ROWS.values() for variant in row.twins.values()}
ALL, OTHER_SEED = "(nothing)", "(nothing, other seed)"
PARTS = (ALL, OTHER_SEED, *NAMES)  # what is switched off
_EVERY = 20.0  # seconds, after which results are written
_MOST_TASKS = 200  # searches of a process, whose memory grows

#: what is switched off -> statement -> whether it was refuted, the seconds of one processor, the stage that refuted it at
#: the budget's first level ("" where another level did, or none), that of any level, and the seconds of each stage
Runs = dict[str, dict[str, tuple[bool, float, str, str, dict[str, float]]]]


@cache
def _hard() -> dict[str, Claim]:
    """The hard controls and the unseen statements that are false and have no hidden constants."""
    every = hard.claims() | {name: claim for name, (_, claim) in unseen.statements().items()}
    return {name: claim for name, claim in every.items() if name.startswith("false/") and claim.explicit}


def _statement(name: str) -> tuple[Claim, Sequence[Claim]]:
    """A false control or a registered claim, and its related claims."""
    if name in FALSE:
        return FALSE[name], ()
    if name in _hard():
        return _hard()[name], ()
    claim = find_claim(name)
    return claim, related(claim)


def _search(job: tuple[str, str, str, int]) -> tuple[str, str, bool, float, str, str, dict[str, float]]:
    part, name, budget, seed = job
    claim, near = _statement(name)
    began = last = time.process_time()
    seconds: Counter[str] = Counter()

    def watch(stage: str, _: Found) -> None:
        nonlocal last
        now = time.process_time()
        seconds[stage] += now - last
        last = now

    try:
        found = search(claim, BUDGETS[budget], seed + (part == OTHER_SEED), related=near, without={part} & {*NAMES},
                       watch=watch)
        refuted, stage, first = found.violation is not None, found.stage, "" if found.level else found.stage
    except (ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError):  # it cannot be measured
        refuted, stage, first = False, "", ""
    return (part, name, refuted, round(time.process_time() - began, 3), first, stage,
            {stage: round(spent, 3) for stage, spent in seconds.items()})


def _ends_before(part: str, stage: str) -> bool:
    """Whether ``part`` is a later stage than ``stage``."""
    stages = [*STAGES]
    return part in stages and stage in stages and stages.index(stage) < stages.index(part)


def measure(jobs: Sequence[tuple[str, str, str, int]], workers: int = 1) -> Iterator[tuple]:
    """What is switched off, statement, and its result, of each job: the former two, budget, seed."""
    return results(_search, jobs, workers, 8, _MOST_TASKS)


def table(runs: Mapping[str, Mapping[str, tuple[bool, float, str]]]) -> str:
    """In Markdown: of the statements that were searched both ways, which are refuted only with or only without each part."""
    lines = ["| switched off | found first | statements | refuted | lost | gained | time saved |",
             "|---|---:|---:|---:|---:|---:|---:|"]
    ids, full = [], runs[ALL]
    for part, searched in runs.items():
        both = full.keys() & searched.keys()
        lost = sorted(name for name in both if full[name][0] and not searched[name][0])
        gained = sorted(name for name in both if searched[name][0] and not full[name][0])
        before, after = (sum(of[name][1] for name in both) for of in (full, searched))
        saved = f"{1 - after / before:.0%}" if before else "-"
        first = sum(full[name][2] == part for name in full) if part in STAGES else "-"
        refuted = sum(searched[name][0] for name in both)
        lines.append(f"| {part} | {first} | {len(both)} | {refuted} | {len(lost)} | {len(gained)} | {saved} |")
        ids += [f"* {part}: {what} {', '.join(names)}" for what, names in (("lost", lost), ("gained", gained)) if names]
    return "\n".join([*lines, "", *ids])


def stages_table(searched: Mapping[str, tuple]) -> str:
    """In Markdown: of the statements that were searched with all stages on, how many each stage refutes, and its seconds."""
    finds, seconds = Counter(found[3] for found in searched.values() if found[0]), Counter()
    for found in searched.values():
        seconds.update(found[4])
    lines = ["| stage | refuted | seconds | seconds for each |", "|---|---:|---:|---:|"]
    for stage in (stage for stage in NAMES if stage in seconds or stage in finds):
        each = f"{seconds[stage] / finds[stage]:.2f}" if finds[stage] else "-"
        lines.append(f"| {stage} | {finds[stage]} | {seconds[stage]:.0f} | {each} |")
    return "\n".join(lines)


def _named(path: Path) -> list[str]:
    """Ids in a JSON list: as texts, or of verdicts (``verdicts.json``); of claims that a search can refute."""
    listed = json.loads(path.read_text(encoding="utf-8"))
    claims = [find_claim(entry if isinstance(entry, str) else entry["id"]) for entry in listed]
    return [claim.id for claim in claims if claim.explicit and claim.statement is not None]


def _resumed(out: Path, about: dict) -> Runs:
    """The results in a file, if there are any.

    Raises:
        ValueError: they are of another budget, seed or version of the code.
    """
    if not out.exists():
        return {}
    data = json.loads(out.read_text(encoding="utf-8"))
    for name, value in about.items():
        if data[name] != value:
            raise ValueError(f"{out} has results of {name} {data[name]}; asked for {value}: choose another --out")
    return {part: {name: tuple(result) for name, result in found.items()} for part, found in data["runs"].items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is missing in ``--out``, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ablation", description=__doc__.split("\n")[0])
    parser.add_argument("--budget", default="quick", choices=list(BUDGETS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--controls", action="store_true", help="false variants of the controls (default)")
    parser.add_argument("--hard", action="store_true", help="hard controls and unseen statements that are false")
    parser.add_argument("--claims", type=Path, help="a JSON list of ids, or a verdicts.json")
    parser.add_argument("--only", action="append", choices=PARTS, help="only this stage or corner; may be given again")
    parser.add_argument("--refuted", action="store_true", help="switch parts off only where all refute")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=Path("benchmarks/ablation.json"))
    options = parser.parse_args(arguments)
    names = _named(options.claims) if options.claims else []
    names += FALSE if options.controls or not (options.claims or options.hard) else ()
    names += _hard() if options.hard else ()
    about = {"budget": options.budget, "seed": options.seed, "code": code_version()}
    try:
        runs = _resumed(options.out, about)
    except ValueError as problem:
        parser.error(str(problem))

    def run(parts: Sequence[str], names: Sequence[str]) -> None:
        jobs = [(part, name, options.budget, options.seed)
                for part in parts for name in names if name not in runs.get(part, {})]
        written = time.monotonic()
        try:
            for part, name, *result in measure(jobs, options.workers):
                runs.setdefault(part, {})[name] = tuple(result)
                if time.monotonic() - written > _EVERY:
                    write_json(options.out, about | {"runs": runs})
                    written = time.monotonic()
        finally:
            write_json(options.out, about | {"runs": runs})

    run([ALL], names)
    if options.refuted:
        names = [name for name in names if runs[ALL][name][0]]
    for part in (part for part in options.only or PARTS if part != ALL):
        same = [name for name in names if _ends_before(part, runs[ALL][name][2])]
        runs.setdefault(part, {}).update({name: runs[ALL][name] for name in same})
        run([part], names)
    print(stages_table(runs[ALL]), table(runs), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
