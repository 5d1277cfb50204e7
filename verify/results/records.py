"""Verdicts as plain data, to and from ``verdicts.json`` and ``about.json``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from verify.results.files import read_json, write_json
from verify.results.verdict import Series, Verdict

__all__ = [
    "FIELDS", "as_record", "from_record", "load_about", "load_verdicts", "save_about", "save_verdicts", "series_record",
]

#: the fields of every object in ``verdicts.json``, besides ``details`` where these are not empty
FIELDS = ("id", "reading", "kind", "verdict", "ratio", "evidence", "certificate", "command", "seed", "seconds")
NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_AS_THEY_ARE = (bool, int, str, type(None))
COLUMNS = ("x", "left", "right", "left_low", "left_high")


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
        ValueError: a field is missing or unknown, or the verdict is not one of the five.
    """
    if not isinstance(record, Mapping):
        raise ValueError(f"each verdict must be an object with {', '.join(FIELDS)}; got {type(record).__name__}")
    missing = [name for name in FIELDS if name not in record]
    unknown = [name for name in record if name not in (*FIELDS, "details")]
    if missing or unknown:
        wrong = f"lacks {', '.join(missing)}" if missing else f"has unknown {', '.join(unknown)}"
        raise ValueError(f"verdict {record.get('id', '(no id)')!r} {wrong}; fields are {', '.join(FIELDS)}, details")
    details = dict(record.get("details", {}))
    series = tuple(_series(data) for data in details.pop("series", ()))
    given = {name: record[name] for name in FIELDS} | {"ratio": _number(record["ratio"])}
    return Verdict(**given, details=details, series=series)


def save_verdicts(verdicts: Iterable[Verdict], out: str | Path) -> Path:
    """Write ``out/verdicts.json``, whole or not at all, and return its path."""
    path = Path(out) / "verdicts.json"
    write_json(path, [as_record(verdict) for verdict in verdicts])
    return path


def load_verdicts(out: str | Path) -> list[Verdict]:
    """The verdicts of ``out/verdicts.json``.

    Raises:
        ValueError: the file is missing, truncated, or not a list of verdicts.
    """
    path = Path(out) / "verdicts.json"
    records = read_json(path, "file of verdicts")
    if not isinstance(records, list):
        raise ValueError(f"{path} must hold a list of verdicts; got {type(records).__name__}")
    return [from_record(record) for record in records]


def save_about(out: str | Path, *, title: str, command: str, versions: Mapping[str, str]) -> None:
    """Write ``out/about.json``: title, command and versions, which the pages name."""
    write_json(Path(out) / "about.json", {"title": title, "command": command, "versions": dict(versions)})


def load_about(out: str | Path) -> dict[str, Any]:
    """Title, command and versions of an earlier report; defaults where it has none."""
    path = Path(out) / "about.json"
    about = read_json(path, "description of a report") if path.exists() else {}
    if not isinstance(about, dict):
        raise ValueError(f"{path} must hold an object; got {type(about).__name__}")
    nothing = {"title": "Referee's report", "command": "", "versions": {}}
    return {name: about.get(name, value) for name, value in nothing.items()}


def _series(data: Mapping[str, Any]) -> Series:
    known = {f.name for f in fields(Series)}
    if not isinstance(data, Mapping) or set(data) - known:
        raise ValueError(f"a series has the fields {', '.join(sorted(known))}; got {data!r:.80}")
    columns = {name: [_number(value) for value in data.get(name, [])] for name in COLUMNS}
    return Series(**{**data, **columns})


def _number(value):
    return NOT_FINITE.get(value, value) if isinstance(value, str) else value


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
