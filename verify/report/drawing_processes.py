"""A report's figures, drawn by several processes while the pages are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from verify.child_process import begin
from verify.figures import bound_and_measurement, save
from verify.verdict import Series

__all__ = ["FORMATS", "draw", "drawn_meanwhile"]

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
