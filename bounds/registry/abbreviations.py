"""Abbreviations of a claim file: a text under a name, with parameters or indices, for a formula, conditions or a list."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bounds.registry.claim_files import between_commas

__all__ = ["EACH", "HEAD", "Abbreviation", "abbreviation", "expanded"]

HEAD = re.compile(r"([A-Za-z_][\w-]*)\s*(?:([(\[])([\w\s,]*)[)\]])?", re.ASCII)
_CALL = re.compile(r"([A-Za-z_][\w-]*)\s*(?:\((.*)\))?", re.ASCII | re.DOTALL)
_MOST_ENTRIES = 1_000  # of a list with its abbreviations written out

#: what an index runs over where no range is given: from 0 to the size less one
EACH = {"t": "iterations", "k": "clients", "r": "rounds", "j": "local_steps", "l": "layers"}


@dataclass(frozen=True, eq=False)
class Abbreviation:
    """``name(parameters) = text``, or ``name[indices] = text`` with ``bracket`` ``[``."""

    name: str
    parameters: tuple[str, ...]
    bracket: str
    text: Any


def abbreviation(head: str, text: str | list) -> Abbreviation:
    """The abbreviation that ``head`` = ``text`` declares; ValueError for a head that is no name with parameters."""
    parts = HEAD.fullmatch(head.strip())
    if not parts:
        raise ValueError(f"an abbreviation is called name, name(a, b) or name[t, k]; got {head!r}")
    parameters = tuple(one.strip() for one in (parts[3] or "").split(",") if one.strip())
    return Abbreviation(parts[1], parameters, parts[2] or "(", text)


def closes_last(text: str) -> bool:
    """Whether no bracket that is open before this text closes in it, as one does in ``a) <= f(b``."""
    depth = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            return False
    return True


def expanded(entries: list[str], known: Mapping[str, Abbreviation], inside: tuple[str, ...] = ()
             ) -> Iterator[tuple[str, tuple[dict[str, str], ...]]]:
    """The entries of a list with the lists and conditions that abbreviations stand for in place of them.

    An entry is an abbreviation if nothing else stands in it. Yields each text with the texts of parameters: those of the
    outermost abbreviation first, and those of each in terms of the one before.

    Raises:
        ValueError: an abbreviation that contains itself, other numbers of parameters, or more entries than a list may have.
    """
    count = 0
    for entry in entries:
        parts = _CALL.fullmatch(entry.strip())
        one = known.get(parts[1]) if parts and closes_last(parts[2] or "") else None
        if one is None:
            found = [(entry, ())]
        else:
            values = [part.strip() for part in between_commas(parts[2])] if parts[2] else []
            if one.name in inside:
                raise ValueError(f"the abbreviation {one.name} contains itself")
            if len(values) != len(one.parameters):
                raise ValueError(f"{one.name} takes {len(one.parameters)} argument(s); got {len(values)} in {entry!r}")
            given = dict(zip(one.parameters, values, strict=True))
            texts = one.text if isinstance(one.text, list) else [one.text]
            found = [(text, (given, *more)) for text, more in expanded(texts, known, (*inside, one.name))]
        count += len(found)
        if count > _MOST_ENTRIES:
            raise ValueError(f"a list has at most {_MOST_ENTRIES} entries with its abbreviations written out")
        yield from found
