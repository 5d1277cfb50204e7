"""Verdicts as plain data, to and from ``verdicts.json`` and ``about.json``."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from verify.results.files import file_name, read_json, write_json
from verify.results.verdict import Series, Verdict

__all__ = [
    "FIELDS", "as_record", "from_record", "load_about", "load_verdicts", "save_about", "save_verdicts", "series_record",
]

#: the fields of every object in ``verdicts.json``, besides ``details`` where these are not empty
FIELDS = ("id", "reading", "kind", "verdict", "ratio", "evidence", "certificate", "command", "seed", "seconds")
NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
LONGEST = 220  # characters of an id in a file name, to which an ending is added
MOST = 10**300  # of an integer that stands for a number: floats hold it
_AS_THEY_ARE = (bool, int, str, type(None))
COLUMNS = ("x", "left", "right", "left_low", "left_high", "exact", "middle")


def as_record(verdict: Verdict) -> dict[str, Any]:
    """Plain data of one verdict; numbers that JSON lacks become "inf", "-inf" and "nan"."""
    record = {name: _plain(getattr(verdict, name)) for name in FIELDS}
    details = _plain(verdict.details)
    if verdict.series:
        details["series"] = list(map(series_record, verdict.series))
    return record | ({"details": details} if details else {})


def series_record(series: Series) -> dict[str, Any]:
    """Plain data of one series."""
    return {field.name: _plain(getattr(series, field.name)) for field in fields(Series)}


def from_record(record: Mapping[str, Any]) -> Verdict:
    """The verdict of a record.

    Raises:
        ValueError: a field is missing, unknown or of another type, or the verdict is not one of the five.
    """
    if not isinstance(record, Mapping):
        raise ValueError(f"each verdict must be an object with {', '.join(FIELDS)}; got {type(record).__name__}")
    missing = [name for name in FIELDS if name not in record]
    unknown = [name for name in record if name not in (*FIELDS, "details")]
    if missing or unknown:
        wrong = f"lacks {', '.join(missing)}" if missing else f"has unknown {', '.join(unknown)}"
        raise ValueError(f"verdict {record.get('id', '(no id)')!r} {wrong}; fields are {', '.join(FIELDS)}, details")
    given = {name: record[name] for name in FIELDS} | {"ratio": _number(record["ratio"])}
    series = record["details"].get("series", []) if isinstance(record.get("details"), Mapping) else []
    for name, value in {**given, "details": record.get("details", {}), "series": series}.items():
        what, holds = _TYPES[name]
        if not holds(value):
            raise ValueError(f"{name} of verdict {str(record['id'])[:80]!r} must be {what}; got {str(value)[:80]!r}")
    details = {name: value for name, value in record.get("details", {}).items() if name != "series"}
    return Verdict(**given, details=details, series=tuple(map(_series, series)))


def save_verdicts(verdicts: Iterable[Verdict], out: str | Path) -> Path:
    """Write ``out/verdicts.json``, whole or not at all, and return its path."""
    path = Path(out) / "verdicts.json"
    write_json(path, [as_record(verdict) for verdict in verdicts])
    return path


def load_verdicts(out: str | Path) -> list[Verdict]:
    """The verdicts of ``out/verdicts.json``.

    Raises:
        ValueError: the file is missing, damaged, or not a list of verdicts.
    """
    path = Path(out) / "verdicts.json"
    records = read_json(path, "file of verdicts")
    if not isinstance(records, list):
        raise ValueError(f"{path} must hold a list of verdicts; got {type(records).__name__}")
    try:
        return [from_record(record) for record in records]
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}") from None


def save_about(out: str | Path, *, title: str, command: str, versions: Mapping[str, str]) -> None:
    """Write ``out/about.json``: title, command and versions, which the pages name."""
    write_json(Path(out) / "about.json", {"title": title, "command": command, "versions": dict(versions)})


def load_about(out: str | Path) -> dict[str, Any]:
    """Title, command and versions of an earlier report; defaults where it has none."""
    path = Path(out) / "about.json"
    about = read_json(path, "description of a report") if path.exists() else {}
    if not isinstance(about, dict):
        raise ValueError(f"{path} must hold an object; got {type(about).__name__}")
    found = {"title": "Referee's report", "command": "", "versions": {}} | about
    if not (isinstance(found["title"], str) and isinstance(found["command"], str) and isinstance(found["versions"], dict)):
        raise ValueError(f"{path} is damaged: title and command must be texts, versions an object; got {str(about)[:80]}")
    return {name: found[name] for name in ("title", "command", "versions")}


def _series(data: Mapping[str, Any]) -> Series:
    known = {f.name for f in fields(Series)}
    if not isinstance(data, Mapping) or set(data) - known:
        raise ValueError(f"a series has the fields {', '.join(sorted(known))}; got {data!r:.80}")
    columns = {name: data.get(name, []) for name in COLUMNS}
    if not all(isinstance(column, list) for column in columns.values()):
        raise ValueError(f"{', '.join(COLUMNS)} of a series must be lists; got {str(data)[:80]!r}")
    columns = {name: list(map(_number, column)) for name, column in columns.items()}
    if wrong := [value for column in columns.values() for value in column if not _is_number(value)]:
        raise ValueError(f"a series holds numbers; got {str(wrong[0])[:80]!r}")
    try:
        return Series(**{**data, **columns})
    except TypeError as error:
        raise ValueError(f"a series is not whole: {error}") from None


def _number(value):
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


def _is_number(value) -> bool:
    return type(value) is float or (type(value) is int and abs(value) < MOST)


def _is_text(value) -> bool:
    return isinstance(value, str)


_TEXT, _NUMBER = ("a text", _is_text), ("a number below 10^300", _is_number)
_TYPES = {
    "id": ("a text of at most 200 characters", lambda value: _is_text(value) and 0 < len(file_name(value)) <= LONGEST),
    **dict.fromkeys(("reading", "kind", "verdict", "evidence", "command"), _TEXT),
    "ratio": ("a number below 10^300, or null", lambda value: value is None or _is_number(value)),
    "certificate": ("a path, or null", lambda value: value is None or _is_text(value)),
    "seed": ("an integer below 10^300", lambda value: _is_number(value) and type(value) is int), "seconds": _NUMBER,
    "details": ("an object", lambda value: isinstance(value, Mapping)),
    "series": ("a list", lambda value: isinstance(value, list)),
}


def _plain(value):
    """The value as data that strict JSON can hold: NumPy scalars as numbers, fractions and paths as text."""
    if type(value) in _AS_THEY_ARE or (type(value) is float and math.isfinite(value)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(entry) for entry in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
