"""Selects the claims in each list of a report: errata, what held and how loosely, what is not decided, a paper's claims."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from verify.results.files import file_name
from verify.results.verdict import VERDICTS, Verdict

__all__ = [
    "ATTENTION",
    "MANY",
    "by_kind",
    "by_paper",
    "grouped",
    "ids_with_figures",
    "not_proven",
    "not_tested",
    "paper_page",
    "tightest_first",
]

ATTENTION = ("refuted", "ill-posed")
MANY = 250  # claims; the index of a report of more lists papers instead of claims
TIGHTEST = 60  # consistent and certified claims whose figures are drawn in a report of many
Page = dict[str, Any]

#: what is missing of an undecided claim: the word in its verdict's details -> heading
MISSING = {
    "stopped": "not decided to the end; the same command tries them again",
    "instance": "no instance met the hypotheses",
    "limit": "constants hidden in O(.), without a recorded limit",
    "path": "constants hidden in O(.), and a limit that could not be followed far enough",
    "growth": "constants hidden in O(.), and growth that exact instances neither confirm nor exclude",
    "step": "constants hidden in O(.), and no step size is prescribed",
    "statement": "no formula is printed, or one with what is defined nowhere",
    "replay": "a violation in floating point that exact arithmetic has not confirmed",
    "checker": "a violation in exact arithmetic that the stand-alone checker does not replay",
    "measurement": "quantities or methods that the search cannot measure yet",
}

OTHERWISE = "other reasons"
_MOST_REASONS = 15


def grouped(pages: Sequence[Page], end: str) -> list[tuple[str, list[Page]]]:
    """Pages by the part of their ids before ``end``, in the order of first appearance."""
    groups: dict[str, list[Page]] = {}
    for page in pages:
        groups.setdefault(page["verdict"].id.split(end)[0], []).append(page)
    return list(groups.items())


def paper_page(paper: str, folder: str) -> str:
    """Address of a paper's page in a folder of the report, relative to the report."""
    return f"{folder}/{file_name(paper)}.html"


def by_paper(pages: Sequence[Page]) -> list[dict[str, Any]]:
    """A row per paper: its name, address, and how many of its claims got which verdict."""
    rows = []
    for paper, group in grouped(pages, "/"):
        counts = Counter(page["verdict"].verdict for page in group)
        rows.append({"paper": paper, "address": paper_page(paper, "papers"), "claims": len(group), "pages": group,
                     "counts": [counts[name] for name in VERDICTS], "wrong": [counts[name] for name in ATTENTION]})
    return rows


def by_kind(pages: Sequence[Page]) -> list[dict[str, Any]]:
    """A row per kind of claim: how many got which verdict."""
    groups: dict[str, Counter] = {}
    for page in pages:
        groups.setdefault(page["verdict"].kind, Counter())[page["verdict"].verdict] += 1
    return [{"kind": kind, "claims": counts.total(), "counts": [counts[name] for name in VERDICTS]}
            for kind, counts in groups.items()]


def not_proven(pages: Sequence[Page]) -> list[tuple[str, int]]:
    """The reasons why no proof was found of claims about runs that nothing violates, with the number of claims each, the
    most frequent ones first."""
    reasons = Counter(_reason(page["verdict"].details["not proven"]) for page in pages
                      if page["verdict"].verdict == "consistent" and "not proven" in page["verdict"].details)
    listed = reasons.most_common(_MOST_REASONS)
    rest = reasons.total() - sum(count for _, count in listed)
    return [*listed, *([(OTHERWISE, rest)] if rest else [])]


def _reason(text: str) -> str:
    """A reason without the claim and the numbers at which it was met."""
    text = text.partition(" has no worst case of this kind: ")[2] or text
    return re.sub(r"\d+", "N", text.partition(" at all ")[0].partition("; it may need")[0])


def tightest_first(pages: Sequence[Page]) -> list[Page]:
    """Certified and consistent claims, the tightest first."""
    there = [p for p in pages if p["verdict"].verdict in ("certified", "consistent") and p["verdict"].ratio is not None]
    return sorted(there, key=lambda page: (-page["verdict"].ratio, page["verdict"].id))


def not_tested(pages: Sequence[Page]) -> list[tuple[str, list[Page]]]:
    """Undecided claims by what is missing."""
    groups: dict[str, list[Page]] = {}
    for page in pages:
        if page["verdict"].verdict == "undecided":
            details = page["verdict"].details
            what = "stopped" if "stopped" in details else details.get("missing")
            groups.setdefault(MISSING.get(what, OTHERWISE), []).append(page)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def ids_with_figures(verdicts: Sequence[Verdict]) -> set[str]:
    """Ids of the claims whose figures a report draws: all, or of many those that are wrong and the tightest that held."""
    if len(verdicts) <= MANY:
        return {verdict.id for verdict in verdicts}
    tightest = sorted((v for v in verdicts if v.verdict not in ATTENTION and v.series and v.ratio is not None),
                      key=lambda v: (-v.ratio, v.id))[:TIGHTEST]
    return {v.id for v in verdicts if v.verdict in ATTENTION} | {v.id for v in tightest}
