"""Files that commands write: an ending says which kind."""

from pathlib import Path

__all__ = ["FIGURE", "check_figure", "is_figure"]

FIGURE = "A figure: .svg, .pdf or .png; all three without an ending."
_FORMATS = ("svg", "pdf", "png")  # of verify.results.drawing, which loads matplotlib


def is_figure(path: Path | None) -> bool:
    """Whether a path ends like a figure."""
    return path is not None and path.suffix.lstrip(".") in _FORMATS


def check_figure(option: str, path: Path | None) -> None:
    """Raises ValueError, which names the ``option``, for a path whose ending is none of a figure."""
    if path is not None and path.suffix and not is_figure(path):
        raise ValueError(f"{option} ends in {', '.join('.' + one for one in _FORMATS)}, or has no ending; got {path}")
