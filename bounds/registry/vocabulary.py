"""Declarations that the claims of a file or of a paper share: abbreviations, names with their symbols, quantities,
assumptions, axes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import sympy as sp

from bounds.language.claim import DOMAINS, SETTINGS, Definition
from bounds.language.names import NAMES, meaning_of, symbol
from bounds.language.notation import Notation
from bounds.registry.abbreviations import HEAD, Abbreviation, abbreviation
from bounds.registry.known_names import known_names

Fail = Callable[[str, str], None]  # raises ValueError with a message and the place of an entry

__all__ = ["Paper", "Vocabulary", "parts_of"]

_ASSUMPTION = {"id", "name", "conditions", "every_function", "everywhere", "note", "owner"}


@dataclass(frozen=True)
class Paper:
    """A paper: the name of its collection in ids, and where it was printed."""

    name: str
    title: str = ""
    authors: str = ""
    venue: str = ""
    year: int | None = None
    identifier: str = ""


@dataclass
class Vocabulary:
    """Entries by name. ``names``: ``[letter, meaning, domain or unit, ...]`` by ``name`` or ``name[t, k]``.

    Args:
        paper: the paper, if the claims are one's; ids then begin with its name.
        quantities: definitions by name, as the reader made them.
        read: the names in the formula of each quantity.
        memo: formulas that were read, by their text and what its names mean.
    """

    paper: Paper | None = None
    let: dict[str, Abbreviation] = field(default_factory=dict)
    names: dict[str, list[str]] = field(default_factory=dict)
    quantities: dict[str, Definition] = field(default_factory=dict)
    assumptions: dict[str, Any] = field(default_factory=dict)
    axes: dict[str, dict[str, dict]] = field(default_factory=dict)
    defaults: dict[str, Any] = field(default_factory=dict)
    read: dict[str, set[str]] = field(default_factory=dict)
    memo: dict = field(default_factory=dict)

    def with_tables(self, tables: Mapping[str, Any], fail: Fail) -> Self:
        """This vocabulary with the tables of a file in front; ``quantities`` are left to the reader."""
        own, head = {}, ""
        try:
            for head, text in tables.get("let", {}).items():
                own |= {(one := abbreviation(head, text)).name: one}
            for head in (*tables.get("names", {}), *tables.get("quantities", {})):
                parts_of(head)
        except ValueError as error:
            fail(str(error), head)
        return replace(
            self, let=self.let | own, names=self.names | dict(tables.get("names", {})), quantities=dict(self.quantities),
            assumptions=self.assumptions | tables.get("assumptions", {}), axes=self.axes | tables.get("axes", {}),
            defaults=self.defaults | tables.get("defaults", {}), read=dict(self.read), memo={})

    def below(self, other: Self) -> Self:
        """This vocabulary with another's entries below its own: what ``uses`` names. Defaults are not taken over."""
        return replace(
            self, let=other.let | self.let, names=other.names | self.names, quantities=other.quantities | self.quantities,
            assumptions=other.assumptions | self.assumptions, axes=other.axes | self.axes, read=other.read | self.read,
            memo={})

    def check(self, fail: Fail) -> None:
        """Call ``fail(message, entry)`` for the first entry that is wrong in itself."""
        for name in self.let:
            if self.has_meaning(name):
                fail(f"{name} has a meaning already{meaning_of(name)}; choose another name", name)
        for head, row in self.names.items():
            if len(row) < 2 or not all(isinstance(text, str) for text in row):
                fail(f"a name is [letter, meaning], perhaps with its domain and its unit; got {row!r}", head)
        for key, row in self.assumptions.items():
            if isinstance(row, dict) and (wrong := {"id", "name"} - set(row) or set(row) - _ASSUMPTION):
                fail("an assumption has an id and a name, perhaps conditions, every_function, everywhere and a note; wrong "
                     f"or missing: {', '.join(sorted(wrong))}", key)

    def has_meaning(self, name: str) -> bool:
        """Whether a name is one of the language, of the file's names, or of its quantities."""
        return (name in NAMES or name in self.quantities or any(name in part for part in known_names())
                or any(parts_of(head)[0] == name for head in self.names))

    def own_assumptions(self, paper: str) -> None:
        """Note the paper of assumptions that have none yet."""
        self.assumptions = {key: {"owner": paper} | row if isinstance(row, dict) else row
                            for key, row in self.assumptions.items()}

    def defaults_in(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that the file gives a claim with this row: those of all, then those of its setting."""
        shared = {name: value for name, value in self.defaults.items() if name not in SETTINGS}
        setting = row.get("setting", shared.get("setting", SETTINGS[0]))
        return shared | (self.defaults.get(setting, {}) if setting in SETTINGS else {})

    @cached_property
    def symbols(self) -> dict[str, Any]:
        """The symbols of the names that the file declares with a domain."""
        found = {}
        for head, row in self.names.items():
            name, indices = parts_of(head)
            if domain := next((text for text in row[2:] if kind_of(text)), None):
                found[name] = declared(name, indices, domain)
        return found

    def domain(self, name: str) -> str | None:
        """The domain that the file gives a name, with its sizes."""
        for head, (_, _, *rest) in self.names.items():
            if parts_of(head)[0] == name:
                return next((text for text in rest if kind_of(text)), None)
        return None

    def indices(self, name: str) -> tuple[str, ...]:
        """The indices with which the file declares a name."""
        return next((indices for head in self.names for own, indices in [parts_of(head)] if own == name), ())

    @cached_property
    def notations(self) -> dict[str, Notation]:
        """The paper's letters by name."""
        return {name: _notation(latex, meaning, indices) for head, (latex, meaning, *_) in self.names.items()
                for name, indices in [parts_of(head)]}

    @cached_property
    def units(self) -> dict[str, str]:
        """The units that the file gives, as text, by name."""
        found = {parts_of(head)[0]: next((text for text in rest if not kind_of(text)), None)
                 for head, (_, _, *rest) in self.names.items()}
        return {name: unit for name, unit in found.items() if unit is not None}


def parts_of(head: str) -> tuple[str, tuple[str, ...]]:
    """The name and the indices of ``name[t, k]``."""
    parts = HEAD.fullmatch(head.strip())
    if not parts or parts[2] == "(":
        raise ValueError(f"a name is written name or name[t, k]; got {head!r}")
    return parts[1], tuple(one.strip() for one in (parts[3] or "").split(",") if one.strip())


def kind_of(text: str) -> str | None:
    """The first word of a domain, or None for a text that is none."""
    word = re.match(r"[\w-]+", text)
    return word[0] if word and word[0] in (*DOMAINS, "index") else None


def declared(name: str, indices: tuple[str, ...], domain: str):
    """The symbol of a name of this domain."""
    kind = kind_of(domain)
    if indices or "[" in domain:
        return sp.IndexedBase(name, real=True)
    if kind == "index":
        return symbol(name) if name in "tijkrls" else sp.Symbol(name, integer=True)
    if kind == "integer":
        low = re.search(r"from\s+(\d+)", domain)
        return sp.Symbol(name, integer=True, **{"positive" if low is None or int(low[1]) else "nonnegative": True})
    sign = {"nonnegative": "nonnegative", "binary": "nonnegative", "real": "real", "vector": "real"}.get(kind, "positive")
    return sp.Symbol(name, **{"real": True, sign: True} if sign == "real" else {sign: True})


def _notation(latex: str, meaning: str, indices: tuple[str, ...]) -> Notation:
    """A row of the paper's letters. Its LaTeX has the indices as the name, in braces or not, or as ``<0>``, ``<1>``."""
    for place, index in enumerate(() if re.search(r"<[\d*]>", latex) else indices):
        latex = re.sub(rf"(?<![A-Za-z\\]){re.escape(index)}(?![A-Za-z])", f"<{place}>", latex)
    return Notation(re.sub(r"([_^])(<\d>)", r"\1{\2}", latex), " ".join(meaning.split()), "".join(indices))
