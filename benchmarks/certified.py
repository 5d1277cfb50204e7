"""How many claims about runs are proven, and how long the stage of proofs takes: ``python -m benchmarks.certified``.

Of the registered claims in which the run that the site shows (``docs/site/run.json``, quick) found nothing false, those
about runs go through what the standard budget does after its search: a proof, and the worst cases of the figure. Counted
are claims that are certified (proven for all that they quantify over), claims proven for every number of rounds and of
clients at some values of the other numbers, and claims proven at some sizes and numbers. With ``--every N`` every N-th
claim alone, which is printed; else the page benchmarks/certified.md is written. Results are kept in ``--out``, so that an
interrupted run goes on.
"""

import argparse
import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.power import results
from bounds.registry.claims import all_claims, find_claim
from docs.site.papers import STORED
from verify.exact.check import proof_scope
from verify.results.files import write_json
from verify.results.fingerprint import code_version

__all__ = ["HOW", "Result", "main", "page", "proven", "waiting"]

PAGE = Path(__file__).with_suffix(".md")
HELD = ("certified", "consistent")
HOW = ("for all", "for all rounds and clients at settings", "at settings")
_MOST_TASKS = 100  # claims of a process, whose memory grows
_REASONS = 12  # rows


class Result(NamedTuple):
    """A claim; for what it is proven, one of ``HOW`` or "" for not at all; why not; processor seconds; and seconds by the
    clock, in which z3 computes beside this process."""

    claim: str
    how: str
    reason: str
    seconds: float
    by_clock: float


def proven(claim_id: str) -> Result:
    """What the stage of proofs says of a claim about runs."""
    from verify.proofs.strategies import proof_of_run
    from verify.worst.claim_figure import few_rounds

    claim, began, at = find_claim(claim_id), time.process_time(), time.perf_counter()
    found = proof_of_run(claim)
    certificate, reason = found.certificate, found.reason
    how = "" if certificate is None else _extent(certificate)
    few_rounds(claim)
    return Result(claim_id, how, reason, round(time.process_time() - began, 2), round(time.perf_counter() - at, 2))


def _extent(certificate: dict[str, Any]) -> str:
    """For what a certificate proves its statement, one of ``HOW``."""
    text, complete = proof_scope(certificate)
    if complete:
        return HOW[0]
    parts = text.split("; ")
    rounds = "every number of rounds" in parts
    clients = any(part.startswith("every number of clients") for part in parts) or "clients" not in {
        part.partition(" = ")[0] for part in parts}
    return HOW[1 if rounds and clients else 2]


def waiting(verdicts: dict[str, dict[str, str]]) -> tuple[list[Result], list[str]]:
    """The claims in which nothing false was found: those that need no proof of runs, and those that go through the stage."""
    done, left = [], []
    for claim in all_claims().values():
        verdict = verdicts.get(claim.id, {}).get("verdict")
        if verdict == "consistent" and claim.setting == "run" and claim.explicit:
            left.append(claim.id)
        elif verdict in HELD:
            done.append(Result(claim.id, HOW[0] * (verdict == "certified"), "no proof of runs is looked for", 0.0, 0.0))
    return done, left


def page(found: Iterable[Result], workers: int, every: int = 1) -> str:
    """Tables in Markdown: by paper, by kind, and by reason."""
    found = list(found)
    through = [one for one in found if one.seconds]
    seconds = sum(one.seconds for one in through)
    proven_for = Counter(one.how for one in found)
    certified, settings = proven_for[HOW[0]], proven_for[HOW[1]] + proven_for[HOW[2]]
    most, mean = max((one.seconds for one in through), default=0), seconds / max(len(through), 1)
    minutes = sum(one.by_clock for one in through) / workers / 60
    lines = [
        "# Claims about runs that are proven", "",
        "`python -m benchmarks.certified` writes this page: of the registered claims in which a quick run found nothing",
        "false, how many are proven, at quick or by the stage of proofs of the standard budget, and for what: for all that",
        "they quantify over (these are certified); for every number of rounds and of clients, at some values of the other",
        "numbers; at some sizes and numbers. The searches of that budget, which may refute a claim, are not run.", "",
        *([f"Here is one in {every} of the claims that the quick run left open, without those that it certified.", ""]
          if every > 1 else []),
        f"{date.today()}, version {code_version()[:7]}. Of {len(found)} claims {certified} are certified;",
        f"{settings} others are proven at settings.",
        f"{len(through)} went through the stage: {seconds:.0f} processor seconds, {mean:.2f} a claim, at most",
        f"{most:.0f}; by the clock, z3 included, {minutes:.1f} minutes in {workers} processes.", ""]
    for name, key in (("paper", lambda claim: claim.paper), ("kind", lambda claim: claim.kind)):
        lines += [f"| {name} | claims | {' | '.join(HOW)} | not proven | seconds |", "|---|" + "---:|" * 6]
        groups = dict.fromkeys(key(find_claim(one.claim)) for one in found)
        for group in groups:
            here = [one for one in found if key(find_claim(one.claim)) == group]
            how = Counter(one.how for one in here)
            counts = " | ".join(str(how[each]) for each in (*HOW, ""))
            lines.append(f"| {group} | {len(here)} | {counts} | {sum(one.seconds for one in here):.0f} |")
        lines.append("")
    lines += ["| why not | claims |", "|---|---:|"]
    reasons = Counter(_short(one.reason) for one in found if not one.how)
    lines += [f"| {reason} | {count} |" for reason, count in reasons.most_common(_REASONS)]
    if rest := reasons.total() - sum(count for _, count in reasons.most_common(_REASONS)):
        lines.append(f"| other | {rest} |")
    return "\n".join(lines) + "\n"


def _short(reason: str) -> str:
    """A reason without the claim, and the setting, that it names."""
    reason = reason.partition(" has no worst case of this kind: ")[2] or reason
    return reason.partition(" at all ")[0].partition(";")[0][:100].replace("|", "\\|")


def main(arguments: Sequence[str] | None = None) -> int:
    """Prove what is left in ``--out``, and write or print the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.certified", description=__doc__.split("\n")[0])
    parser.add_argument("--every", type=int, default=1, help="only every so many claims")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, default=Path("build/certified.json"))
    options = parser.parse_args(arguments)
    done, left = waiting(json.loads(STORED.read_text(encoding="utf-8"))["verdicts"])
    left, kept = left[:: options.every], {}
    with suppress(FileNotFoundError):
        kept = json.loads(options.out.read_text(encoding="utf-8"))
    known = kept.get("results", {}) if kept.get("code") == code_version() else {}
    for one in results(proven, [claim for claim in left if claim not in known], options.workers, 1, _MOST_TASKS):
        known[one.claim] = one
        write_json(options.out, {"code": code_version(), "results": known})
    found = [*(done if options.every == 1 else []), *(Result(*known[claim]) for claim in left)]
    text = page(found, options.workers, options.every)
    if options.every == 1:
        PAGE.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
