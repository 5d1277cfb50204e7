"""A report's figures, drawn by several processes while the pages are written."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

from verify.referee.workers import begin
from verify.results import drawing, figures, numerals
from verify.results.drawing import save
from verify.results.figures import bound_and_measurement
from verify.results.files import read_json, write_json
from verify.results.records import COLUMNS
from verify.results.verdict import Series

__all__ = ["FORMATS", "draw", "drawn_meanwhile", "left_to_draw", "remember"]

FORMATS = ("svg", "png")  #: the first one is what pages show
FEWEST = 12  # figures for which other processes are worth their start
Drawing = tuple[Series, Path]  # what is drawn, and the path of its files without their endings


def draw(series: Series, stem: Path, formats: Sequence[str] = FORMATS) -> None:
    """Write the figure of both sides of a claim as ``stem`` + .svg and so on."""
    save(bound_and_measurement(series), stem, formats)


@contextmanager
def drawn_meanwhile(drawings: Sequence[Drawing], workers: int, formats: Sequence[str] = FORMATS) -> Iterator[None]:
    """Draw while the block runs, by ``workers`` processes of their own; when it ends all figures are there.

    The files do not depend on ``workers``. One worker, or few figures: this process draws, after the block. Figures
    that a worker left behind when it died are drawn by this process too.

    Raises:
        OSError: a figure could not be written; what is not begun by then is not drawn.
    """
    if workers <= 1 or len(drawings) < FEWEST:
        yield
        for drawing in drawings:
            draw(*drawing, formats)
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=begin) as executor:
        try:
            begun = [_begin(executor, (*drawing, formats)) for drawing in drawings]
            yield
            for future, drawing in zip(begun, drawings, strict=True):
                _finish(future, (*drawing, formats))
        finally:
            executor.shutdown(cancel_futures=True)


def _begin(executor: ProcessPoolExecutor, drawing: tuple) -> Future:
    try:
        return executor.submit(draw, *drawing)
    except BrokenProcessPool as broken:
        future: Future = Future()
        future.set_exception(broken)
        return future


def _finish(future: Future, drawing: tuple) -> None:
    try:
        future.result()
    except BrokenProcessPool:
        draw(*drawing)


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
