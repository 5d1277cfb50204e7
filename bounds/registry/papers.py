"""The papers, and the claims of each: claim files in a folder, or modules of Python."""

from functools import cache
from importlib import import_module
from pathlib import Path

import bounds.papers
from bounds.language.claim import Claim, by_id
from bounds.language.definitions import DEFINITIONS
from bounds.language.letters import Letter
from bounds.registry.collection import HEAD_FILE, PaperClaims, paper_claims
from bounds.registry.loading import without_collection

__all__ = ["PAPERS", "claims_of_paper", "files_of", "letters_of_paper", "sections_of", "title_of", "units_of_paper"]

FOLDER = Path(bounds.papers.__path__[0])

#: every folder of ``bounds/papers``, by name
PAPERS = tuple(sorted(path.parent.name for path in {*FOLDER.glob(f"*/{HEAD_FILE}"), *FOLDER.glob("*/__init__.py")}))
PAPERS = tuple(dict.fromkeys(PAPERS))


@cache
def files_of(paper: str) -> PaperClaims | None:
    """The claim files of a paper; None for one in Python."""
    if not (FOLDER / paper / HEAD_FILE).exists():
        return None
    with without_collection():
        read = paper_claims(FOLDER / paper, _used)
    for name, definition in read.vocabulary.quantities.items():
        if DEFINITIONS.setdefault(name, definition) != definition:
            raise ValueError(f"{paper}: {name!r} is defined twice")
    return read


def _used(paper: str) -> PaperClaims:
    read = files_of(paper) if paper in PAPERS else None
    if read is None:
        raise ValueError(f"uses: {paper!r} is no paper in claim files; allowed: {', '.join(PAPERS)}")
    return read


@cache
def sections_of(paper: str) -> tuple[tuple[str, tuple[Claim, ...]], ...]:
    """The sections of one of ``PAPERS`` in its order: heading and claims."""
    read = files_of(paper)
    if read is not None:
        return tuple((heading, tuple(claim for _, claim in claims)) for heading, claims in read.sections)
    with without_collection():
        modules = [import_module(f"bounds.papers.{paper}.{name}")
                   for name in import_module(f"bounds.papers.{paper}").MODULES]
    return tuple((module.__doc__.strip().splitlines()[0], tuple(module.CLAIMS)) for module in modules)


@cache
def claims_of_paper(paper: str) -> dict[str, Claim]:
    """The claims of one of ``PAPERS`` by id; only its files are read."""
    return by_id(claim for _, claims in sections_of(paper) for claim in claims)


def title_of(paper: str) -> str:
    """The paper's authors and title."""
    read = files_of(paper)
    if read is None:
        return " ".join(import_module(f"bounds.papers.{paper}").__doc__.split("\n\n")[0].split())
    one = read.paper
    printed = ", ".join(str(part) for part in (one.venue, one.year, one.identifier) if part)
    return f'{one.authors}, "{one.title}"' + (f", {printed}" if printed else "")


@cache
def letters_of_paper(paper: str) -> dict[str, Letter]:
    """The paper's letters by name."""
    read = files_of(paper)
    return import_module(f"bounds.papers.{paper}.notation").LETTERS if read is None else read.vocabulary.letters


@cache
def units_of_paper(paper: str) -> dict:
    """The units that the paper gives to names: powers of the loss's and the parameter's unit, or a text."""
    read = files_of(paper) if paper in PAPERS else None
    if read is not None:
        return read.vocabulary.units
    if paper not in PAPERS:
        return {}
    return getattr(import_module(f"bounds.papers.{paper}.notation"), "UNITS", {})
