"""The papers, each a folder of claim files, and the claims of each."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import bounds.papers
from bounds.language.claim import Claim, Definition, by_id
from bounds.language.definitions import SHARED
from bounds.language.notation import Notation
from bounds.registry.claim_files import Places, tables, text_of
from bounds.registry.collection import HEAD_FILE, Collection, PaperClaims, paper_claims
from bounds.registry.loading import without_collection
from bounds.registry.vocabulary import Vocabulary

__all__ = ["FOLDERS", "PAPERS", "Source", "add_paper", "claims_of_paper", "files_of", "forget_papers", "formula_of",
           "letters_in_file", "letters_of_paper", "note_file", "quantities_of_paper", "sections_of", "source_of", "title_of",
           "units_of", "units_of_paper"]

#: the folder of every paper by name: those below ``bounds/papers``, then those of the user's (:func:`add_paper`)
FOLDERS = dict(sorted((path.parent.name, path.parent) for place in bounds.papers.__path__
                      for path in Path(place).glob(f"*/{HEAD_FILE}")))

#: every folder of ``bounds/papers``, by name
PAPERS = tuple(FOLDERS)

_files: dict[str, PaperClaims] = {}  # of papers that were read
_claims: dict[str, dict[str, Claim]] = {}
_sources: dict[str, tuple[PaperClaims, dict[str, "Source"]]] = {}  # by claim, and the files from which they are
_single_files: dict[str, Vocabulary] = {}  # of files that are no papers, by the ids of their claims
_single_sources: dict[str, "Source"] = {}  # likewise
_being_read: list[str] = []  # a paper, what it uses, and so on


def add_paper(folder: Path) -> str:
    """Make the claim files of a folder a paper like those of ``bounds/papers``; returns its name, which is the folder's.

    Raises:
        ValueError: a folder without ``paper.toml``, or another paper has the name.
    """
    folder = folder.resolve()
    if not (folder / HEAD_FILE).is_file():
        raise ValueError(f"a paper is a folder with a file {HEAD_FILE}; {folder} has none")
    if FOLDERS.setdefault(folder.name, folder) != folder:
        raise ValueError(f"{folder}: there is a paper {folder.name!r} already, in {FOLDERS[folder.name]}; rename the folder")
    return folder.name


def forget_papers() -> None:
    """Read the user's papers again when their claims are next asked for."""
    for name in FOLDERS.keys() - {*PAPERS}:
        _files.pop(name, None)
        _claims.pop(name, None)


def files_of(paper: str) -> PaperClaims:
    """The claim files of one of ``FOLDERS``."""
    if paper not in _files:
        _files[paper] = _read(paper)
    return _files[paper]


def _read(paper: str) -> PaperClaims:
    _being_read.append(paper)
    try:
        with without_collection():
            return paper_claims(FOLDERS[paper], _used, keeps=paper in PAPERS)
    finally:
        _being_read.remove(paper)


def _used(paper: str) -> PaperClaims:
    if paper in _being_read:
        raise ValueError(f"papers use each other in a circle: {', '.join(_being_read)}")
    if paper not in FOLDERS:
        raise ValueError(f"uses: {paper!r} is no paper in claim files; allowed: {', '.join(PAPERS)}")
    return files_of(paper)


def sections_of(paper: str) -> tuple[tuple[str, tuple[Claim, ...]], ...]:
    """The sections of a paper in its order: heading and claims."""
    return tuple((heading, tuple(claim for _, claim in claims)) for heading, claims in files_of(paper).sections)


def claims_of_paper(paper: str) -> dict[str, Claim]:
    """The claims of a paper by id; only its files are read."""
    if paper not in _claims:
        _claims[paper] = by_id(files_of(paper).claims())
    return _claims[paper]


def formula_of(paper: str, section: str, text: str):
    """The formula that a text writes with the names and abbreviations of a section of a paper: the name of its file."""
    path = FOLDERS[paper] / f"{section}.toml"
    return Collection.read(path, text_of(path), files_of(paper).vocabulary, quantities={}).reader(-1, {}).formula(text)


def title_of(paper: str) -> str:
    """The paper's authors and title."""
    one = files_of(paper).paper
    title = f'{one.authors}, "{one.title}"' if one.authors else one.title or one.name
    return ", ".join(str(part) for part in (title, one.venue, one.year, one.identifier) if part)


def quantities_of_paper(paper: str) -> dict[str, Definition]:
    """The quantities that the paper's claims may use, by name."""
    return SHARED | files_of(paper).vocabulary.quantities


def letters_of_paper(paper: str) -> dict[str, Notation]:
    """The paper's letters by name: those of its head, then those of its sections."""
    return _names_of(paper).notations


@cache
def _sections_names(paper: str, key: str) -> Vocabulary:
    """The names that the sections of a paper give letters, and those of its head; ``key`` is the digest of its files."""
    read = files_of(paper)
    tables_of = (tables(path, text_of(path), without_claims=True)[1] for path in read.files)
    own = {head: row for shared in tables_of for head, row in shared.get("names", {}).items()}
    return Vocabulary(names=own | read.vocabulary.names)


def _names_of(paper: str) -> Vocabulary:
    return _sections_names(paper, files_of(paper).key)


def note_file(path: Path, places: Places, vocabulary: Vocabulary, claims: Iterable[tuple[int, Claim]]) -> None:
    """Remember the letters and units that a file which is no paper gives the names of its claims, and the lines of these
    claims, each with the number of its table."""
    for number, claim in claims:
        _single_files[claim.id] = vocabulary
        _single_sources[claim.id] = Source(path, *places.table(number))


def letters_in_file(claim: Claim) -> dict[str, Notation]:
    """The letters that a file which is no paper gives the names of a claim."""
    return _single_files[claim.id].notations if claim.id in _single_files else {}


def units_of_paper(paper: str) -> dict[str, str]:
    """The units that the paper gives to names, as text; none for what is no paper."""
    return _names_of(paper).units if paper in FOLDERS else {}


def units_of(claim: Claim) -> dict[str, str]:
    """The units that the claim's paper or file gives to names, as text."""
    return _single_files[claim.id].units if claim.id in _single_files else units_of_paper(claim.paper)


class Source(NamedTuple):
    """The position of a claim in a paper's files: lines from ``first`` to ``last``, counted from 1."""

    path: Path
    first: int
    last: int
    text: str

    @property
    def lines(self) -> str:
        """The file, with its folder if the path has one, and the lines, in words."""
        return f"{'/'.join(self.path.parts[-2:])}, lines {self.first} to {self.last}"


def source_of(claim: Claim) -> Source | None:
    """The lines of the table of a claim with all its readings; None for a claim of no .toml file."""
    if claim.paper not in FOLDERS:
        return _single_sources.get(claim.id)
    read = files_of(claim.paper)
    if claim.paper not in _sources or _sources[claim.paper][0] is not read:
        found = {}
        for path, (_, claims) in zip(read.files, read.sections, strict=True):
            places = Places(text_of(path))
            tables = {number: Source(path, *places.table(number)) for number in {number for number, _ in claims}}
            found |= {one.id: tables[number] for number, one in claims}
        _sources[claim.paper] = read, found
    return _sources[claim.paper][1].get(claim.id)
