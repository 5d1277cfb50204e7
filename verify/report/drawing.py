"""A report's figures, drawn by several processes while the pages are written."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from verify.referee.workers import begin
from verify.results.drawing import save
from verify.results.figures import bound_and_measurement
from verify.results.files import file_name
from verify.results.fingerprint import digest
from verify.results.records import series_record
from verify.results.verdict import Series

__all__ = ["FORMATS", "draw", "drawn_meanwhile", "remove_others", "stem_of"]

FORMATS = ("svg", "png")  #: the first one is what pages show
FEWEST = 12  # figures for which other processes are worth their start
DIGITS = 16  # of a digest, in the name of a figure
Drawing = tuple[Series, Path]  # what is drawn, and the path of its files without their endings


def stem_of(claim_id: str, series: Series) -> str:
    """The name of a figure without its ending: the claim, and the digest of what is drawn."""
    return f"{file_name(claim_id)}-{digest(series_record(series))[:DIGITS]}"


def remove_others(folder: Path, stems: Iterable[str]) -> None:
    """Remove the figures of series in ``folder`` whose names are none of ``stems``."""
    kept = set(stems)
    for path in folder.glob(f"*-{'[0-9a-f]' * DIGITS}.*"):
        if path.suffix.removeprefix(".") in FORMATS and path.stem not in kept:
            path.unlink()


def draw(series: Series, stem: Path, formats: Sequence[str] = FORMATS) -> None:
    """Write the figure of both sides of a claim as ``stem`` + .svg and so on."""
    save(bound_and_measurement(series), stem, formats)


@contextmanager
def drawn_meanwhile(drawings: Sequence[Drawing], workers: int, formats: Sequence[str] = FORMATS) -> Iterator[None]:
    """Draw with ``workers`` processes while the block runs; when it ends all figures are there.

    A figure whose files are there is current, because its name has the digest of what it shows. The files do not depend on
    ``workers``: with one worker, or few figures, this process draws after the block, and it also draws those of a worker
    that died.

    Raises:
        OSError: a figure could not be written; those that were not begun by then are not drawn.
    """
    drawings = [(series, stem) for series, stem in drawings
                if not all(stem.with_name(f"{stem.name}.{kind}").is_file() for kind in formats)]
    if workers <= 1 or len(drawings) < FEWEST:
        yield
        for drawing in drawings:
            draw(*drawing, formats)
        return
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=begin) as executor:
        try:
            begun = [executor.submit(draw, *drawing, formats) for drawing in drawings]
            yield
            for future, drawing in zip(begun, drawings, strict=True):
                try:
                    future.result()
                except BrokenProcessPool:
                    draw(*drawing, formats)
        finally:
            executor.shutdown(cancel_futures=True)
