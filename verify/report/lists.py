"""What the pages besides a claim's own list: errata, what held and how loosely, what cannot be met, a paper's claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from verify.evidence.eprocess import REFUTES, discoveries, pooled
from verify.results.numerals import significant
from verify.results.verdict import VERDICTS, Verdict

__all__ = [
    "ATTENTION", "MANY", "RATE", "Together", "by_paper", "drawn", "grouped", "held", "not_tested", "paper_page",
    "together",
]

ATTENTION = ("refuted", "ill-posed")
MANY = 250  # claims from which on the index lists papers instead of claims
TIGHTEST = 60  # claims that hold whose figures are drawn in a report of many
Page = dict[str, Any]

#: words of the evidence of an undecided claim -> what is missing
MISSING = {
    "stopped": "not decided to the end: the same command tries them again",
    "met the hypotheses": "no instance met the hypotheses",
    "hides its constants": "constants hidden in O(.)",
    "float64 sees a violation": "a violation seen in floating point, not confirmed exactly",
    "stand-alone checker": "a violation in exact arithmetic that the stand-alone checker does not replay",
    "not measured yet": "words or methods that the search cannot bind yet",
}

OTHERWISE = "other reasons"


def grouped(pages: Sequence[Page], end: str) -> list[tuple[str, list[Page]]]:
    """Pages by what their ids have in common before ``end``, in the order of first appearance."""
    groups: dict[str, list[Page]] = {}
    for page in pages:
        groups.setdefault(page["verdict"].id.split(end)[0], []).append(page)
    return list(groups.items())


def paper_page(paper: str, folder: str) -> str:
    """Address of a paper's page in a folder of the report, relative to the report."""
    from verify.results.files import file_name

    return f"{folder}/{file_name(paper)}.html"


def by_paper(pages: Sequence[Page]) -> list[dict[str, Any]]:
    """A row per paper: its name, address, and how many of its claims got which verdict."""
    rows = []
    for paper, group in grouped(pages, "/"):
        counts = Counter(page["verdict"].verdict for page in group)
        rows.append({"paper": paper, "address": paper_page(paper, "papers"), "claims": len(group), "pages": group,
                     "counts": [counts[name] for name in VERDICTS], "wrong": [counts[name] for name in ATTENTION]})
    return rows


def held(pages: Sequence[Page]) -> list[Page]:
    """Claims against which nothing was found, the tightest first."""
    there = [p for p in pages if p["verdict"].verdict in ("certified", "consistent") and p["verdict"].ratio is not None]
    return sorted(there, key=lambda page: (-page["verdict"].ratio, page["verdict"].id))


def not_tested(pages: Sequence[Page]) -> list[tuple[str, list[Page]]]:
    """Undecided claims by what is missing."""
    groups: dict[str, list[Page]] = {}
    for page in pages:
        if page["verdict"].verdict == "undecided":
            groups.setdefault(_missing(page["verdict"]), []).append(page)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


def _missing(verdict: Verdict) -> str:
    if "stopped" in verdict.details:
        return MISSING["stopped"]
    return next((text for words, text in MISSING.items() if words in verdict.evidence), OTHERWISE)


def drawn(verdicts: Sequence[Verdict]) -> set[str]:
    """Ids of the claims whose figures a report draws: in one of many, what is wrong and the tightest of what held."""
    if len(verdicts) <= MANY:
        return {verdict.id for verdict in verdicts}
    tightest = sorted((v for v in verdicts if v.verdict not in ATTENTION and v.series and v.ratio is not None),
                      key=lambda v: (-v.ratio, v.id))[:TIGHTEST]
    return {v.id for v in verdicts if v.verdict in ATTENTION} | {v.id for v in tightest}


RATE = 0.05  #: expected share of false ones among what is refuted together


@dataclass(frozen=True)
class Together:
    """``tests``: how many e-values, of ``claims`` claims (one's is the mean of its e-values); ``pooled``, one e-value
    against all of these being true; ``discovered``, those refuted together at the false discovery rate :data:`RATE`."""

    claims: int
    tests: int
    pooled: float
    discovered: tuple[str, ...]

    @property
    def wrongly(self) -> float:
        """Bound on the probability that any claim is refuted by its e-values though it is true: one for every test."""
        return min(self.tests / REFUTES, 1.0)

    @property
    def words(self) -> str:
        """A sentence or two."""
        found = ", ".join(self.discovered) or "none is"
        claims, tests = (f"{n} {word}{'s' * (n != 1)}" for n, word in ((self.claims, "claim"), (self.tests, "e-value")))
        return (f"Expectations of {claims} were tested on sampled runs by {tests}, each of which refutes beyond "
                f"{significant(REFUTES)}: however often one looks, that any true claim is refuted so has a probability of "
                f"at most {significant(self.wrongly)}. The e-value against all of them being true together is "
                f"{significant(self.pooled)}; refuted at a false discovery rate of {RATE:.0%}: {found}.")


def together(verdicts: Iterable[Verdict]) -> Together | None:
    """The e-values of all sampled runs that the verdicts rest on; None if there are none."""
    values = {}
    for verdict in verdicts:
        rows = verdict.details.get("sampled", [])
        own = [float(row["e_value"]) for row in rows if row["decides"] and "no e-value" not in row["reason"]]
        if own:
            values[verdict.id] = own
    if not values:
        return None
    means, ids = [pooled(own) for own in values.values()], list(values)
    found = tuple(ids[number] for number in discoveries(means, RATE))
    return Together(len(ids), sum(map(len, values.values())), pooled(means), found)
