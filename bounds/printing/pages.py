"""A paper's page of the documentation: letters, algorithms, assumptions, measured quantities, and every claim."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from bounds.language.claim import Claim
from bounds.language.letters import Letter, letter_text
from bounds.printing.legend import symbols
from bounds.printing.options import OWN_VALUES, in_words, local_rate
from bounds.printing.render import condition_latex, latex, letters_of, notation, printed, said
from bounds.registry.papers import PAPERS, claims_of_paper, modules_of

__all__ = ["main", "page"]


def page(paper: str) -> str:
    """The page of one of ``PAPERS`` in Markdown. Assumptions and quantities stand once; claims name them."""
    claims, title = list(claims_of_paper(paper).values()), import_module(f"bounds.papers.{paper}").__doc__.strip()
    lines = [f"# {paper}: letters and claims", "", title, "", "Written by `make pages`. Times count local iterations and "
             "clients from 0."]
    for heading, part in (("Letters", _letters(claims, notation(paper))), ("Algorithms", _algorithms(claims)),
                          ("Assumptions", _assumptions(claims)), ("Measured quantities", _quantities(claims))):
        found = list(part)
        lines += ["", f"## {heading}", "", *found] if found else []
    for module in modules_of(paper):
        lines += ["", f"## {import_module(module).__doc__.strip().splitlines()[0]}", ""]
        for claim in import_module(module).CLAIMS:
            lines += _claim(claim)
    return "\n".join(lines[:-1]) + "\n"


def _letters(claims: list[Claim], letters: dict[str, Letter]) -> Iterator[str]:
    """One row per letter that the claims use; where its value comes from may differ between them."""
    origins: dict[str, Counter] = defaultdict(Counter)
    for claim in claims:
        for symbol in symbols(claim, letters):
            origins[symbol.name][symbol.origin] += 1
    measured = {name for claim in claims for name in claim.definitions}
    yield from ("| letter | name in code | meaning | where its value comes from |", "|---|---|---|---|")
    for name, letter in letters.items():
        found = "; or ".join(origin for origin, _ in origins[name].most_common())
        found = found or ("measured by its formula, below" if name in measured else "")
        if found:
            yield f"| ${letter_text(name, tuple(letter.indices), letters)}$ | `{name}` | {letter.meaning} | {found} |"


def _algorithms(claims: list[Claim]) -> Iterator[str]:
    """Methods of which the claims speak, with their hyper-parameters and options; the methods' page has the pseudocode."""
    about = Counter(claim.procedure.base for claim in claims if claim.procedure is not None)
    if not about:
        return
    yield from ("Their pseudocode, and the names that papers have for them, are in [algorithms.md](../algorithms.md); "
                "claims say which options they fix, in words, and have the others as here.", "",
                "| method | claims about its runs | arguments, with the values that they have where a claim gives none |",
                "|---|---|---|")
    for base, number in about.most_common():
        arguments = ", ".join(f"`{name}` {value}" for name, value in OWN_VALUES[base].items())
        yield f"| [`{base}`](../algorithms.md#{base}) | {number} | {arguments} |"


def _assumptions(claims: list[Claim]) -> Iterator[str]:
    """Every assumption of the page's claims once, with its formulas."""
    seen = set()
    for claim in claims:
        for assumption in claim.assumptions:
            if assumption.id in seen:
                continue
            seen.add(assumption.id)
            letters = letters_of(claim)
            formulas = [f"${condition_latex(c, letters)}$" for c in said(printed(assumption), letters)]
            text = "; ".join(filter(None, [assumption.name, *formulas, assumption.note]))
            yield f"- `{assumption.id}`: {text}"


def _quantities(claims: list[Claim]) -> Iterator[str]:
    """Every quantity that the page's claims use: its formula, what it is, its unit, its name in code and its source."""
    seen = set()
    for claim in claims:
        letters = letters_of(claim)
        for name, definition in claim.used_definitions().items():
            if name in seen:
                continue
            seen.add(name)
            letter = letter_text(name, tuple(map(str, definition.indices)), letters)
            text = "; ".join(filter(None, (definition.meaning, f"unit: {definition.unit}", definition.source)))
            yield f"- `{name}`: ${letter} = {latex(definition.formula, letters)}$; {text}"


def _claim(claim: Claim) -> list[str]:
    """A claim: its statement, what it assumes, its conditions, free quantities, method and the quantities that it uses."""
    letters = letters_of(claim)
    lines = [f"### `{claim.id}`", "", f"{claim.kind}, {claim.number}; reading: {claim.reading}", ""]
    statement = condition_latex(claim.statement, letters) if claim.statement else None
    lines += [f"$${statement}$$" if statement else f"No statement: {claim.undefined}", ""]
    if claim.assumptions:
        lines.append(f"- assumes: {', '.join(f'`{a.id}`' for a in claim.assumptions)}")
    conditions = [f"${condition_latex(c, letters)}$" for c in said(claim.conditions, letters)]
    if conditions:
        lines.append(f"- given: {'; '.join(conditions)}")
    free = [f"${letter_text(v.name, tuple(index for index, _ in v.indices), letters)}$ {v.domain}" for v in claim.variables]
    if free:
        lines.append(f"- for all: {', '.join(free)}")
    if claim.setting == "run" and claim.procedure is not None:
        options = list(in_words(claim, lambda name: f"${letter_text(name, (), letters)}$", own_values=False))
        rate = local_rate(claim)
        options += [] if rate is None else [f"local rate at step $j$ of round $r$: ${latex(rate, letters)}$"]
        lines.append(f"- runs of `{claim.procedure.base}`" + "".join(f"; {option}" for option in options))
    used = claim.used_definitions()
    if used:
        lines.append(f"- uses: {', '.join(f'`{name}`' for name in used)}")
    return lines if lines[-1] == "" else [*lines, ""]


def main(arguments: list[str]) -> int:
    """Write the page of every paper, or of those named, into the directory given first."""
    *papers, = arguments[1:] or PAPERS
    unknown = [paper for paper in papers if paper not in PAPERS]
    if not arguments or unknown:
        print(f"usage: python -m bounds.printing.pages DIRECTORY [PAPER ...]; papers: {', '.join(PAPERS)}", file=sys.stderr)
        return 2
    for paper in papers:
        (Path(arguments[0]) / f"{paper}.md").write_text(page(paper), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
