"""Which figures of an earlier report in a directory still show what they should, and need not be drawn again."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

from verify import drawing, figures, numerals
from verify.files import read_json, write_json
from verify.report.drawing_processes import FORMATS, Drawing
from verify.report.records import COLUMNS
from verify.verdict import Series

__all__ = ["left_to_draw", "remember"]

LIBRARIES = ("matplotlib", "numpy", "pillow")


def left_to_draw(drawings: Sequence[Drawing], record: Path, formats: Sequence[str] = FORMATS) -> list[Drawing]:
    """Those whose files are not there as ``remember`` wrote them down in ``record``; all where it cannot be read."""
    try:
        known = read_json(record, "record of figures")
    except ValueError:
        known = {}
    known = known if isinstance(known, dict) else {}
    return [drawing for drawing in drawings if known.get(drawing[1].name) != _state(*drawing, formats)]


def remember(drawings: Sequence[Drawing], record: Path, formats: Sequence[str] = FORMATS) -> None:
    """Write down what was drawn, by which code, and what the files hold."""
    write_json(record, {stem.name: _state(series, stem, formats) for series, stem in drawings})


def _state(series: Series, stem: Path, formats: Sequence[str]) -> list[str]:
    """SHA-256 of what a figure shows together with how, and of each of its files, empty where there is none."""
    columns = {name: [float(value) for value in getattr(series, name)] for name in COLUMNS}
    shown = hashlib.sha256(f"{replace(series, **columns)!r} {_code()}".encode()).hexdigest()
    return [shown, *(_content(stem.with_name(f"{stem.name}.{kind}")) for kind in formats)]


def _content(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


@cache
def _code() -> list[str]:
    sources = [_content(Path(module.__file__)) for module in (drawing, figures, numerals)]
    return [*sources, *map(version, LIBRARIES)]
