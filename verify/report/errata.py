"""The errata of a paper as a letter to its authors: what is printed, what fails, in which numbers, how to check it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bounds.language.claim import KINDS
from bounds.printing.render import there_is
from bounds.registry.claims import claims_beside
from verify.report.mathematics import display_latex
from verify.report.results import ATTENTION, PaperPage, Result
from verify.report.sentences import HTML, MARKDOWN, TEX, Style, capitalised, in_words, readable, sentence
from verify.results.commands import on_certificate

__all__ = ["STYLES", "Entry", "failing_results"]

#: how each format of a letter is written, by the ending of its file
STYLES = {"html": HTML, "md": MARKDOWN, "tex": TEX}
_OWN = ("control", "derived")  # kinds of claims that no paper prints
_HOLDS = {"certified": "it is proven", "consistent": "no counterexample was found", "undecided": "nothing is decided"}


@dataclass(frozen=True)
class Entry:
    """A result that fails in one of its readings, in words of one format.

    ``formula``: LaTeX of what is printed, empty where there is no formula; ``lines``: the counterexample, a line each;
    ``other``: what is known of the other readings; ``command``: checks it in the folder of the report.
    """

    name: str
    verdict: str
    reading: str
    exists: str
    formula: str
    statement: str
    fails: str
    lines: list[str]
    other: str
    command: str
    page: dict[str, Any]


def failing_results(paper: PaperPage, style: Style, out: Path) -> list[tuple[str, list[Entry]]]:
    """The results of a paper that fail: those that fail in every reading, and those that fail in some, theorems first.

    The commands take certificates from the folder ``out``.
    """
    wrong = [r for r in paper.results if r.groups[0][0] in ATTENTION and _printed(r)]
    wrong.sort(key=lambda result: KINDS.index(result.kind) if result.kind in KINDS else len(KINDS))
    every = [r for r in wrong if all(name in ATTENTION for name, _ in r.groups)]
    parts = [("These fail in each of their readings that was examined.", every),
             ("These fail in one reading of the print, and not in another.", [r for r in wrong if r not in every])]
    return [(style.words(words), [_entry(r, style, out) for r in results]) for words, results in parts if results]


def _printed(result: Result) -> bool:
    claim = result.main["claim"]
    return result.kind not in _OWN and (claim is None or claim.source is not None)


def _entry(result: Result, style: Style, out: Path) -> Entry:
    page = next((p for p in result.pages if p["verdict"].verdict in ATTENTION), result.main)
    verdict, claim = page["verdict"], page["claim"]
    with_formula = claim is not None and claim.statement is not None
    choice = claim.exists if claim else None
    name = result.name + (f" ({readable(result.apart)})" if result.apart else "")
    return Entry(
        style.words(name), verdict.verdict, style.words(readable(verdict.reading)),
        there_is(choice, lambda e: style.write(e, {})) if choice else "",
        display_latex(claim) if with_formula else "",
        page["mathematics"].statement if page["mathematics"] else "",
        "it is ill-posed: " * (verdict.verdict == "ill-posed") + sentence(verdict, claim, style),
        in_words(verdict, claim, style) + _breaks(page, style), _others(result, page, style),
        on_certificate("check", verdict, out) if page["certificate"] else verdict.command, page,
    )


def _breaks(page: dict[str, Any], style: Style) -> list[str]:
    broken = page["broken"]
    return [style.words(f"the proof breaks at {broken['words']}")] if broken else []


def _others(result: Result, page: dict[str, Any], style: Style) -> str:
    parts = []
    for name, readings in result.readings:
        others = [words for words, other in readings if other is not page]
        if not others:
            continue
        if name in ATTENTION:
            parts.append(f"it is {name} in {len(others)} more reading{'s' * (len(others) > 1)}")
        else:
            parts.append(f"{_HOLDS[name]} in {len(others)} reading{'s' * (len(others) > 1)} ({' / '.join(others[:3])}"
                         f"{' / …' * (len(others) > 3)})")
    claim = page["claim"]
    known = 0 if claim is None else sum(one.block == claim.block for one in claims_beside(claim).values())
    if (rest := known - len(result.pages)) > 0:
        parts.append(f"{rest} other reading{'s were' if rest > 1 else ' was'} not examined")
    text = "; ".join(parts)
    return style.words(f"{capitalised(text)}.") if text else ""
