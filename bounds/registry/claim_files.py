"""Reads the tables of a claim file and checks their shape. Errors name the line."""

import re
import stat
import tomllib
from pathlib import Path
from typing import Any

from bounds.language.claim import SETTINGS

__all__ = ["FIELD_SHAPES", "LIST_NAME", "SUFFIX", "Places", "between_commas", "short", "tables", "text_of"]

#: the name of a list of assumptions; no condition is one
LIST_NAME = re.compile(r"[\w-]{1,100}", re.ASCII)
SUFFIX = ".toml"
MOST_CHARACTERS = 300_000  #: of a file
_MOST_POINTS = 300  # in one line; the time for a key of TOML grows with the square of its parts
_DEEPEST = 100  # brackets that are open at once, those in texts included
_LARGEST = 1e15  # number
_LONGEST_SEARCHED = 2_000  # characters of an entry whose line is looked for

#: the shape of each field of a claim; all others are text
FIELD_SHAPES = {
    **dict.fromkeys(("number", "reading", "source", "note"), "text or a number"),
    **dict.fromkeys(("assume", "conditions", "steps", "constants_may_use", "vary", "also", "implies"), "a list of texts"),
    **dict.fromkeys(("options", "limits", "constants", "definitions", "exists", "witness", "readings", "parts", "let",
                     "compare", "monotone", *SETTINGS), "a table"),
    "variables": "a table or, a list of texts",
    **dict.fromkeys(("equal_weights", "free_clients", "strict"), "true or false"),
}

#: what a file may say for all its claims
SHARED = {
    "section": "a text, the heading of the file",
    "paper": "a table: name, title, authors, venue, year, identifier, uses, sections",
    "names": "lists [letter, meaning, domain, unit] by name",
    "let": "texts, or lists of texts, by name, name(a, b) or name[t, k]",
    "quantities": "lists [letter, meaning, unit, source, formula] by name or name[t, k]",
    "assumptions": "lists of conditions, as texts, by name, or tables of numbered assumptions",
    "axes": "tables of readings, by name, each a table of fields",
    "defaults": "fields of every claim that does not give them, and tables of fields for the claims of a setting",
}

_CONTROL = re.compile(  # these change what a terminal shows
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_TABLE = re.compile(r"""\s*\[\s*claim\s*\.\s*(["']?)([\w-]+)\1\s*(?:\.[^\]]*)?\]""")
_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")  # in a message of tomllib
_KEY = re.compile(r"""\s*(?:(["']?)([\w-]+)\1)\s*(?:\.[^=<>]*)?=(?!=)""")


def tables(path: Path, text: str, without_claims: bool = False) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The tables under ``claim``, and what the file says for all of them, by the names in ``SHARED``.

    Args:
        without_claims: the file may have no claim, as the head of a paper.

    Raises:
        ValueError: invalid TOML, tables of another name or shape, fields of another shape, a repeated key. The
            message names the line.
    """
    _check_size(path, text)
    data = _toml(path, text)
    rows = data.get("claim", [] if without_claims else None)
    if (not isinstance(rows, list) or not (rows or without_claims) or not {*data} <= {"claim", *SHARED}
            or not all(isinstance(row, dict) for row in rows)):
        raise ValueError(f"{path}: a claim file consists of [[claim]] tables, and perhaps {', '.join(SHARED)}; got "
                         f"{', '.join(data)[:200] or 'nothing'}")
    shared = {name: value for name, value in data.items() if name != "claim"}
    places = Places(text)
    for name, value in shared.items():
        _check_shared(path, places, name, value)
    for number, row in enumerate(rows):
        _check_fields(path, places, number, row)
    return rows, shared


def _check_shared(path: Path, places: "Places", name: str, value) -> None:
    """Refuse a table of a file that has not the shape of ``SHARED``."""
    if not _has_shape(value, "text" if name == "section" else "a table") or _CONTROL.search(_texts(value)):
        raise ValueError(f"{path}: {name} is {SHARED[name]}; got {short(value)}")
    for key, entry in value.items() if name != "section" else ():
        fail = f"{path}, line {places.line(-1, entry=key)}: {SHARED[name]}; got {short(key)} = {short(entry)}"
        if name in ("assumptions", "let") and isinstance(entry, list | str if name == "let" else list):
            wrong = not _has_shape(entry if isinstance(entry, list) else [entry], "a list of texts")
        elif name in ("names", "quantities"):
            wrong = not _has_shape(entry, "a list of texts")
        elif name == "axes":
            wrong = not (isinstance(entry, dict) and entry and all(isinstance(change, dict) for change in entry.values()))
        else:
            wrong = name not in ("defaults", "paper") and not (name == "assumptions" and isinstance(entry, dict))
        if wrong or _CONTROL.search(_texts(entry) if isinstance(entry, list | dict | str) else ""):
            raise ValueError(fail)
        if name == "assumptions" and not LIST_NAME.fullmatch(str(key)):
            raise ValueError(f"{path}: a list of assumptions is called by letters, digits, _ and -, at most 100; got "
                             f"{short(key)}")
        for change in entry.values() if name == "axes" else [entry] if name == "defaults" else ():
            is_row = name == "axes" or (key in SETTINGS and isinstance(entry, dict))
            _check_fields(path, places, -1, change if is_row else {key: change})


def _check_fields(path: Path, places: "Places", number: int, row: dict) -> None:
    """Refuse a field of a claim, or of a reading, that has another shape."""
    for field, value in row.items():
        shape = FIELD_SHAPES.get(field, "text")
        if not any(_has_shape(value, one) for one in shape.split(" or, ")):
            raise ValueError(f"{path}, line {places.line(number, field)}: {short(field)} is {shape}; got {short(value)}")
        if sign := _CONTROL.search(_texts(value)):
            raise ValueError(f"{path}, line {places.line(number, field)}: {short(field)} has the control character "
                             f"{sign[0]!r}; allowed: text, spaces, tabs and new lines")
        for change in value.values() if field in ("readings", "parts") else ():
            if not isinstance(change, dict):
                raise ValueError(f"{path}, line {places.line(number, field)}: an entry of {field} is a table of fields; got "
                                 f"{short(change)}")
            _check_fields(path, places, number, change)


def text_of(path: Path) -> str:
    """The text of a file.

    Raises:
        ValueError: it cannot be read, is no ordinary file, has more than ``MOST_CHARACTERS``, or is not UTF-8.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise ValueError(f"cannot read {path}: it is no ordinary file")
        with path.open(encoding="utf-8") as file:
            text = file.read(MOST_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"cannot read {path}: a file of claims has at most {MOST_CHARACTERS} characters; split it")
    return text


def short(value: Any) -> str:
    """A value as in Python, its beginning if it is long."""
    if isinstance(value, list) and len(value) > 10:
        return f"a list of {len(value)}"
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested deeply; more digits than Python converts
        return f"a very large {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:60]}... ({len(text)} characters)"


def _texts(value) -> str:
    """All texts in a field or in its entries, one behind the other."""
    entries = (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return "".join(entry for entry in entries if isinstance(entry, str))


def _check_size(path: Path, text: str) -> None:
    """Refuse what the reader of TOML would take very long for."""
    depth = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if (points := line.count(".")) > _MOST_POINTS:
            raise ValueError(f"{path}, line {number}: a line has at most {_MOST_POINTS} points; got {points}; split it")
        for sign in re.findall(r"[\[\]{}]", line):
            depth = max(depth + (1 if sign in "[{" else -1), 0)
            if depth > _DEEPEST:
                raise ValueError(f"{path}, line {number}: more than {_DEEPEST} brackets [ and {{ are open at once")


class Places:
    """The lines of the parts of a claim file, counted from 1."""

    def __init__(self, text: str):
        self.lines = text.splitlines()
        self.spans = _toml_spans(self.lines)

    def line(self, claim: int, field: str = "", entry: str = "", symbol: str = "") -> int:
        """The line of a claim (counted from 0), or of a field in it, an entry in the field, a symbol in the entry.

        A part that is not found, or very long, is ignored.
        """
        (first, last), fields = self.spans[claim] if 0 <= claim < len(self.spans) else ((0, len(self.lines)), {})
        whole = (first, last)
        if field in fields:
            first, last = fields[field]
        elif field:  # within a line, as readings.later.let = {...}
            sets = re.compile(rf"\b{re.escape(field)}\s*=(?!=)")
            first = next((n for n in range(first, last) if sets.search(self.lines[n])), first)
        for part in (entry, symbol):
            if not part or len(part) > _LONGEST_SEARCHED:
                continue
            edge = r"(?<![\w.])" if re.match(r"\w", part) else ""
            found = re.compile(edge + r"\s+".join(map(re.escape, part.split())) + (r"(?!\w)" if edge else ""))
            for low, high in [(first, last), whole] if part == entry else [(first, last)]:  # a reading has the field too
                text = "\n".join(self.lines[low:high])
                if match := found.search(text) or re.search(re.escape(part), text):
                    first = low + text.count("\n", 0, match.start())
                    last = first + match.group().count("\n") + 1
                    break
        return first + 1

    def table(self, claim: int) -> tuple[int, int, str]:
        """The first and the last line of a claim's table, without empty lines behind it, and its text."""
        (first, last), _ = self.spans[claim]
        while last > first + 1 and (not self.lines[last - 1].strip() or self.lines[last - 1].startswith("#")):
            last -= 1
        return first + 1, last, "\n".join(self.lines[first:last]) + "\n"


def _toml_spans(lines: list[str]) -> list:
    """The lines (first, behind the last) of each [[claim]] table, and of each of its fields."""
    heads = [n for n, line in enumerate(lines) if re.match(r"\s*\[\[\s*claim\s*\]\]", line)]
    spans = []
    for first, last in zip(heads, [*heads, len(lines)][1:], strict=True):
        starts = {}
        for n in range(first + 1, last):
            if key := _TABLE.match(lines[n]) or _KEY.match(lines[n]):
                starts.setdefault(key[2], n)
        ends, end, end_of_table = {}, last, last
        for n in sorted(starts.values(), reverse=True):  # a table ends at the next one, a key at whatever is next
            is_table = lines[n].lstrip().startswith("[")
            ends[n] = end_of_table if is_table else end
            end, end_of_table = n, n if is_table else end_of_table
        spans.append(((first, last), {name: (n, ends[n]) for name, n in starts.items()}))
    return spans


def _has_shape(value, shape: str) -> bool:
    if shape == "a list of texts":
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if shape == "a table":
        return isinstance(value, dict)
    if shape == "true or false":
        return isinstance(value, bool)
    return isinstance(value, str) or (shape == "text or a number" and isinstance(value, int | float)
                                      and abs(value) <= _LARGEST)


def _toml(path: Path, text: str) -> dict:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"{path}: lists or tables are nested too deeply") from None
    except ValueError as error:  # also of a number with more digits than Python converts
        message, at = _one_line(error), _POSITION.search(str(error))
        where = f", line {at[1] or max(len(text.splitlines()), 1)}" if at else ""
        raise ValueError(f"{path}{where}: {_POSITION.sub('', message)}") from error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def between_commas(text: str) -> list[str]:
    """The parts between commas that stand in no brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and not depth:
            parts.append("")
        else:
            parts[-1] += sign
    return parts
