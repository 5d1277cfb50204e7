"""Groups the claims of a report: the papers, and the readings of one result."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bounds.registry.papers import FOLDERS, files_of, sections_of
from verify.results.files import file_name
from verify.results.verdict import VERDICTS, Verdict

__all__ = ["ATTENTION", "MANY", "MISSING", "PaperPage", "Result", "differences", "ids_with_figures", "papers_of"]

ATTENTION = ("refuted", "ill-posed")
MANY = 250  # claims; a report of more draws fewer figures
MAIN = ("theorem", "lemma")  # kinds of claims
TIGHTEST = 40  # consistent and certified claims whose figures are drawn in a report of many
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


def differences(readings: Sequence[str]) -> tuple[str, list[str]]:
    """Splits readings into the words that all of them have and those that each has besides.

    Example:
        >>> differences(["full gradients; any step", "full gradients; eta <= 1/L"])
        ('full gradients', ['any step', 'eta <= 1/L'])
    """
    parts = [reading.split("; ") for reading in readings]
    common = [part for part in parts[0] if all(part in other for other in parts)] if len(parts) > 1 else []
    return "; ".join(common), ["; ".join(p for p in own if p not in common) or "nothing more" for own in parts]


def _by_verdict(pages: Sequence[Page]) -> list[tuple[str, list[Page]]]:
    each = [(name, [page for page in pages if page["verdict"].verdict == name]) for name in VERDICTS]
    return [(name, group) for name, group in each if group]


@dataclass(frozen=True)
class Result:
    """One result of a paper with the pages of its readings, in the order of the report."""

    block: str
    pages: list[Page]
    apart: str = ""  # what tells it from another result with its number

    @property
    def anchor(self) -> str:
        return file_name(self.block.partition("/")[2])

    @property
    def name(self) -> str:
        """The paper's number; the id of a claim that is not registered, or of a statement without a number."""
        claim = self.pages[0]["claim"]
        if claim and claim.number != "none":
            return claim.number[:1].upper() + claim.number[1:]
        return self.block

    @property
    def kind(self) -> str:
        return self.pages[0]["verdict"].kind

    @property
    def own(self) -> list[Page]:
        """The readings of the statement itself: not what is said about numbers beside a statement about runs, as that two
        forms of a bound are equal, unless it fails."""
        settings = [page["claim"] and page["claim"].setting for page in self.pages]
        return [page for page, setting in zip(self.pages, settings, strict=True)
                if setting == settings[0] or page["verdict"].verdict in ATTENTION]

    @property
    def groups(self) -> list[tuple[str, list[Page]]]:
        """The readings of the statement by verdict, strongest evidence first."""
        return _by_verdict(self.own)

    @property
    def main(self) -> Page:
        """The first reading of the strongest verdict, whose evidence stands for the result."""
        return self.groups[0][1][0]

    @property
    def summary(self) -> str:
        """A sentence about how the verdict depends on the reading; empty for a single reading."""
        count = len(self.own)
        if count == 1:
            return ""
        if len(self.groups) == 1:
            return f"{self.groups[0][0].capitalize()} in {'both' if count == 2 else f'all {count}'} readings."
        each = ", ".join(f"{name} in {len(group)}" for name, group in self.groups)
        return f"It depends on the reading: {each} of {count}."

    @property
    def common(self) -> str:
        """The words of all readings; empty for a single reading."""
        return differences([p["verdict"].reading for p in self.pages])[0]

    @property
    def readings(self) -> list[tuple[str, list[tuple[str, Page]]]]:
        """All readings by verdict, each with the words that only it, or not every other, has."""
        own = differences([p["verdict"].reading for p in self.pages])[1]
        words = {id(page): text for page, text in zip(self.pages, own, strict=True)}
        return [(name, [(words[id(page)], page) for page in group]) for name, group in _by_verdict(self.pages)]

    @property
    def outdated(self) -> list[str]:
        """Reasons why verdicts on readings are not those of the current claims and code."""
        return list(dict.fromkeys(page["kept"] for page in self.pages if page["kept"]))

    @property
    def words(self) -> str:
        """The words that a search finds besides the text of the page."""
        return " ".join(f"{p['verdict'].id} {p['verdict'].reading}" for p in self.pages)


@dataclass(frozen=True)
class PaperPage:
    """A paper and its results by section; what its claim files do not say is empty."""

    name: str
    title: str
    authors: str
    where: str
    sections: list[tuple[str, list[Result]]]

    @property
    def address(self) -> str:
        return self.folder("papers")

    def folder(self, folder: str, ending: str = "html") -> str:
        """Address of the paper's file in a folder of the report, relative to the report."""
        return f"{folder}/{file_name(self.name)}.{ending}"

    @property
    def results(self) -> list[Result]:
        return [result for _, results in self.sections for result in results]

    @property
    def pages(self) -> list[Page]:
        return [page for result in self.results for page in result.pages]

    @property
    def counts(self) -> list[int]:
        """The number of claims with each verdict."""
        counts = Counter(page["verdict"].verdict for page in self.pages)
        return [counts[name] for name in VERDICTS]


def papers_of(pages: Sequence[Page]) -> list[PaperPage]:
    """The papers of a report in the order of their first claims."""
    names = dict.fromkeys(page["verdict"].id.partition("/")[0] for page in pages)
    return [_paper(name, [p for p in pages if p["verdict"].id.partition("/")[0] == name]) for name in names]


def _paper(name: str, pages: Sequence[Page]) -> PaperPage:
    blocks: dict[str, list[Page]] = {}
    for page in pages:
        blocks.setdefault(page["verdict"].id.partition("@")[0], []).append(page)
    headings, paper = {}, None
    if name in FOLDERS:
        paper = files_of(name).paper
        headings = {claim.id: heading for heading, claims in sections_of(name) for claim in claims}
    sections: dict[str, list[Result]] = {}
    for block, group in blocks.items():
        same = [Result(other, pages).name for other, pages in blocks.items()].count(Result(block, group).name) > 1
        apart = group[0]["verdict"].reading if same else ""
        sections.setdefault(headings.get(group[0]["verdict"].id, ""), []).append(Result(block, group, apart))
    if paper is None:
        return PaperPage(name, name, "", "", list(sections.items()))
    where = ", ".join(str(part) for part in (paper.venue, paper.year, paper.identifier) if part)
    return PaperPage(name, paper.title or name, paper.authors, where, list(sections.items()))


def ids_with_figures(verdicts: Sequence[Verdict]) -> set[str]:
    """Ids of the claims whose figures a report draws: all; or of many, one wrong reading of each theorem and lemma, and
    the tightest claims that held."""
    if len(verdicts) <= MANY:
        return {verdict.id for verdict in verdicts}
    tightest = sorted((v for v in verdicts if v.verdict not in ATTENTION and v.series and v.ratio is not None),
                      key=lambda v: (-v.ratio, v.id))[:TIGHTEST]
    wrong = {v.id.partition("@")[0]: v.id for v in reversed(verdicts) if v.verdict in ATTENTION and v.kind in MAIN}
    return {*wrong.values()} | {v.id for v in tightest}
