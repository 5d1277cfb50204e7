"""Shared parts of the notebooks' pictures: panels, curves by round, colours of methods, and SVG for a page."""

import re
from html import escape, unescape
from io import StringIO

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from verify.results.drawing import COLOURS, STYLE, canvas, log_ticks

__all__ = [
    "CORRECTED", "DRIFTING", "EXACT", "FONT", "FOURTH", "THIRD", "as_svg", "by_round", "legend", "level_lines",
    "mean_by_round", "name", "panels", "plain",
]

#: the plain method, the corrected one, two others, and what is exact: the same colours in every notebook
CORRECTED, DRIFTING, THIRD, FOURTH, EXACT = COLOURS
FONT = {"fontfamily": STYLE["font.family"], "math_fontfamily": STYLE["mathtext.fontset"]}  #: of texts


def panels(count: int = 2, height: float = 4.2) -> tuple[Figure, list[Axes]]:
    """A figure as wide as a page with panels side by side."""
    return canvas(9.6, height, count)


def name(axes: Axes, x: str, y: str, title: str = "") -> None:
    """Name both axes, and the panel, when all is drawn; a logarithmic vertical axis has its ticks then."""
    if axes.get_yscale() == "log":
        log_ticks(axes.yaxis, *axes.get_ylim())
    axes.set_xlabel(x, fontsize=11, **FONT)
    axes.set_ylabel(y, fontsize=11, **FONT)
    axes.set_title(title, loc="left", fontsize=12, **FONT)


def legend(axes: Axes, **options) -> None:
    """The axes' legend; its place is given, since matplotlib warns of a place that it took a second to choose itself."""
    prop = {"family": "STIXGeneral", "math_fontfamily": "stix", "size": 10.5}
    axes.legend(**{"frameon": False, "prop": prop, "loc": "best"} | options)


def by_round(axes: Axes, values, colour: str, label: str, floor: float = 1e-16, **style) -> None:
    """A logarithmic curve over the rounds; what is not finite or below the floor is left out."""
    values = np.asarray(values, dtype=float)
    shown = np.where(np.isfinite(values) & (values > floor), values, np.nan)
    axes.plot(np.arange(len(values)), shown, color=colour, label=label, **({"linewidth": 1.8} | style))
    axes.set_yscale("log")


def mean_by_round(axes: Axes, values, colour: str, label: str, floor: float = 1e-16) -> None:
    """The mean over runs (runs, rounds), with the band between the first and the last tenth of them."""
    values = np.asarray(values, dtype=float)
    by_round(axes, values.mean(axis=0), colour, label, floor)
    if len(values) > 1:
        low, high = np.quantile(values, [0.1, 0.9], axis=0)
        low, high = np.maximum(low, floor), np.maximum(high, floor)
        axes.fill_between(np.arange(values.shape[1]), low, high, color=colour, alpha=0.15, linewidth=0)


def level_lines(axes: Axes, federation, x: tuple[float, float], y: tuple[float, float], levels) -> None:
    """Lines of equal F - F* in the plane of a federation with two parameters."""
    places = np.stack(np.meshgrid(np.linspace(*x, 81), np.linspace(*y, 73)), axis=-1)
    loss = federation.suboptimality(federation.backend.array(places.reshape(-1, 2))).numpy().reshape(places.shape[:2])
    axes.contour(places[..., 0], places[..., 1], loss, levels=levels, colors="0.8", linewidths=0.8)
    axes.set(xlim=x, ylim=y, aspect="equal")


def as_svg(figure: Figure, said: str = "") -> str:
    """The figure as an element of a page, in words for those who do not see it; the same figure gives the same text."""
    page = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "fedtheory"}):
        figure.savefig(page, format="svg", metadata={"Date": None, "Creator": None})
    text = page.getvalue()
    text = text[text.index("<svg"):]
    words = escape(unescape(re.sub(r"[*$\\`]", "", said)), quote=True)
    return re.sub(r'<svg [^>]*?(?=viewBox)', f'<svg role="img" aria-label="{words}" style="width:100%;height:auto" ', text,
                  count=1, flags=re.DOTALL)


def plain(text: str) -> str:
    """Escape user input for a page: every character that Markdown or HTML might read is written as its number."""
    return "".join(sign if sign.isalnum() or sign in " ,:;" else f"&#{ord(sign)};" for sign in text)
