"""Collections of claims from text: a user's file, or the folder of a paper with a file for each of its sections."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import sympy as sp

from bounds.language.claim import SETTINGS, Claim, Definition
from bounds.registry.claim_cache import cached, digest, encoded, store
from bounds.registry.claim_files import LIST_NAME, Places, short, tables, text_of
from bounds.registry.claim_reader import FIELDS, Reader
from bounds.registry.comparison_reader import compared, compares
from bounds.registry.readings import PARTS, changed, parts_in, rows_of
from bounds.registry.vocabulary import Paper, Vocabulary, parts_of

__all__ = ["HEAD_FILE", "Collection", "PaperClaims", "WrongClaims", "each", "paper_claims"]

HEAD_FILE = "paper.toml"  #: what the sections of a paper share


class WrongClaims(ValueError):
    """Errors in the claims of a file: ``slips``, one for each wrong claim."""

    def __init__(self, slips: Sequence[str]):
        super().__init__("; ".join(slips))
        self.slips = tuple(slips)


def each(make: Callable, parts: Iterable) -> list:
    """Apply ``make`` to every part; raise the errors of all parts together."""
    made, wrong = [], []
    for part in parts:
        try:
            made.append(make(part))
        except ValueError as error:
            wrong += error.slips if isinstance(error, WrongClaims) else [str(error)]
    if wrong:
        raise WrongClaims(dict.fromkeys(wrong))  # readings may share a slip
    return made


@dataclass
class Collection:
    """The claims of one file.

    Args:
        rows: the tables of its claims as they stand.
        claims: each claim with the number of its table; a table has one for each of its readings.
        section: the heading of the file.
    """

    path: Path
    places: Places
    rows: list[dict]
    vocabulary: Vocabulary
    claims: list[tuple[int, Claim]] = field(default_factory=list)
    section: str = ""

    @classmethod
    def read(cls, path: Path, text: str, above: Vocabulary | None = None, find: Callable = {}.get,
             quantities: Mapping[str, Definition] | None = None) -> "Collection":
        """The claims of a text.

        Args:
            above: what the head of the paper says for all its sections.
            find: gives a claim of another file by its id, or None.
            quantities: those of the file, where they were read before; the file is then right.

        Raises:
            ValueError: a text that is no claim file.
            WrongClaims: wrong claims, with the first slip of each: its line and the symbol.
        """
        rows, shared = tables(path, text, without_claims=path.name == HEAD_FILE)
        places = Places(text)

        def fail(message: str, entry: str):
            raise ValueError(f"{path}, line {places.line(-1, entry=entry)}: {message}")

        vocabulary = (above or Vocabulary()).with_tables(shared, fail)
        if above is None and "paper" in shared:  # a paper of one file
            vocabulary.paper = _paper(path, {"name": path.stem} | shared["paper"])
        made = cls(path, places, rows, vocabulary, section=" ".join(shared.get("section", "").split()))
        if vocabulary.paper is not None:
            vocabulary.own_assumptions(vocabulary.paper.name)
        if quantities is not None:
            vocabulary.quantities |= quantities
            return made
        vocabulary.check(fail)
        defaults = shared.get("defaults", {})
        changes = [("defaults", {name: value for name, value in defaults.items() if name not in SETTINGS}), *(
            (f"defaults.{name}", defaults[name]) for name in SETTINGS if name in defaults), *(
            (f"the axis {name}", change) for name, values in vocabulary.axes.items() for change in values.values())]
        for place, change in changes:
            if unknown := sorted(set(change) - FIELDS - {"also", "implies", "readings", "vary"}):
                near = get_close_matches(unknown[0], FIELDS, 1)
                fail(f"unknown field {unknown[0]!r} in {place}{f', nearest: {near[0]}' if near else ''}", unknown[0])
        made.read_quantities(shared.get("quantities", {}))
        later = [number for number, row in enumerate(rows) if compares(row)]
        made.claims = _joined(each(made.of_row, (number for number in range(len(rows)) if number not in later)))
        known = {claim.id: claim for _, claim in made.claims}
        made.claims += _joined(each(lambda number: made.of_row(number, lambda name: known.get(name) or find(name)), later))
        made.claims.sort(key=lambda pair: pair[0])
        return made

    def reader(self, number: int, row: dict) -> Reader:
        return Reader(self.path, self.places, number, row, self.vocabulary)

    def read_quantities(self, table: Mapping[str, list[str]]) -> None:
        """``"name[t, k]" = [letter, meaning, unit, source, formula]``, the source where there is one."""
        for head, entry in table.items():
            reader = self.reader(-1, {}).locate("", head)
            if not 4 <= len(entry) <= 5:
                reader.fail("a quantity is [letter, meaning, unit, formula], perhaps with its source before the formula; "
                            f"got {short(entry)}")
            latex, meaning, unit, *source = (" ".join(part.split()) for part in entry[:-1])
            name, letters = parts_of(head)
            reader.check_name(name)
            indices = {letter: sp.Symbol(letter, integer=True) for letter in letters}
            self.vocabulary.quantities[name] = Definition(
                name, tuple(indices.values()), reader.formula(entry[-1], indices), latex, unit, meaning, *source)
            self.vocabulary.read[name] = reader.read

    def of_row(self, number: int, find: Callable | None = None) -> list[tuple[int, Claim]]:
        """The claims of one table; ``find`` gives the claims that it compares."""
        reader = self.reader(number, self.rows[number])
        row = self.extended(number)
        if not isinstance(row.get("id"), str) and PARTS not in row:
            reader.claim()  # which refuses it
        try:
            made = [one for part in parts_in(row) for one in rows_of(part, self.vocabulary.axes)]
        except ValueError as error:
            reader.locate("vary").fail(str(error))
        def read(row: dict) -> Claim:
            reader = self.reader(number, row)
            return compared(reader, find) if find is not None and compares(row) else reader.claim()

        return [(number, claim) for claim in each(read, made)]

    def above(self, number: int, name: str) -> dict | None:
        """The fields of the claim, the reading or the part of that id above a table; None if there is none.

        In a paper's files an id may have the paper's name in front.
        """
        name = name.removeprefix(f"{self.vocabulary.paper.name}/") if self.vocabulary.paper else name
        for place, row in enumerate(self.rows[:number]):
            if row.get("id") == name:
                return self.extended(place)
        for place, row in enumerate(self.rows[:number]):
            if name.startswith(f"{row.get('id')}@") or PARTS in row:
                full = self.extended(place)
                found = (one for part in parts_in(full) for one in rows_of(part, self.vocabulary.axes))
                if (one := next((one for one in found if one.get("id") == name), None)) is not None:
                    return one
        return None

    def extended(self, number: int) -> dict:
        """The fields of a table, on top of those of the claim above it that it extends, or of the file's defaults.

        Tables merge, as those of a reading do, and the conditions of ``also`` are added. The readings of the claim above are
        its own.
        """
        row = self.rows[number]
        if "extends" not in row:
            return changed(self.vocabulary.defaults_in(row), row)
        above = self.above(number, row["extends"])
        if above is None:
            known = [one["id"] for one in self.rows[:number] if "id" in one]
            self.reader(number, row).locate("extends").fail(
                f"extends the id of a claim above it; got {short(row['extends'])}, allowed: "
                f"{', '.join(map(str, known)) + ', their readings and parts' if known else 'none'}")
        cached = {name: value for name, value in above.items() if name not in ("readings", "vary", PARTS)}
        defaults = self.vocabulary.defaults_in(above | row)
        return changed(cached | {name: defaults[name] for name in ("readings", "vary") if name in defaults}, row)


def _paper(path: Path, entries: Mapping[str, Any], more: Iterable[str] = ()) -> Paper:
    """The paper that ``[paper]`` describes; ``more`` are the entries that it may have besides."""
    known = {one.name for one in fields(Paper)}
    if unknown := sorted(set(entries) - known):
        raise ValueError(f"{path}: unknown entry {unknown[0]!r} of [paper]; allowed: {', '.join(sorted({*known, *more}))}")
    if not isinstance(name := entries["name"], str) or not LIST_NAME.fullmatch(name):
        raise ValueError(f"{path}: the name of a paper has ASCII letters, digits, _ and -, at most 100; got {short(name)}")
    return Paper(**entries)


def _joined(lists: list[list]) -> list:
    return [one for listed in lists for one in listed]


@dataclass
class PaperClaims:
    """A paper.

    Args:
        paper: what it is.
        vocabulary: what its sections share.
        key: digest of its files and of those that it uses.
        files: the file of each section.
        sections: the heading of each, and its claims, each with the number of its table.
    """

    paper: Paper
    vocabulary: Vocabulary
    key: str
    files: list[Path]
    sections: list[tuple[str, list[tuple[int, Claim]]]]

    def claims(self) -> Iterator[Claim]:
        """All claims, in the order of the paper."""
        return (claim for _, claims in self.sections for _, claim in claims)


def paper_claims(folder: Path, find: Callable[[str], "PaperClaims"], keeps: bool = True) -> PaperClaims:
    """The paper of a folder: the claims of its head, if there are any, and those of its sections.

    Args:
        find: gives another paper that it uses by name.
        keeps: keep the claims as data beside the folder.

    Raises:
        ValueError, WrongClaims: as :meth:`Collection.read`.
    """
    path = folder / HEAD_FILE
    text = text_of(path)
    rows, shared = tables(path, text, without_claims=True)
    head = dict(shared.get("paper", {}))
    uses, sections = head.pop("uses", []), head.pop("sections", [])
    paper = _paper(path, {"name": folder.name} | head, ("uses", "sections"))
    below = Vocabulary(paper)
    for name in uses:
        below = find(name).vocabulary.below(below)
    below.paper, below.defaults = paper, {}
    files = {file: text_of(file) for file in (folder / f"{name}.toml" for name in sections)}
    key = digest([text, *files.values(), *(find(name).key for name in uses)])
    before = cached(folder.parent, paper.name, key) if keeps else None
    sections = [*([path] if rows else []), *files]
    first = Collection.read(path, text, below, quantities=None if before is None else before.quantities)
    if before is not None:
        return PaperClaims(paper, first.vocabulary, key, sections, before.sections)
    known, made = {claim.id: claim for _, claim in first.claims}, [(first.section, first.claims)] if rows else []

    def section(file: Path) -> None:
        read = Collection.read(file, files[file], first.vocabulary, known.get)
        made.append((read.section, read.claims))
        known.update((claim.id, claim) for _, claim in read.claims)

    each(section, files)
    if keeps:
        store(folder.parent, paper.name, key, lambda: encoded(first.vocabulary.quantities, made))
    return PaperClaims(paper, first.vocabulary, key, sections, made)
