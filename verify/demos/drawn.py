"""What the pictures of the notebooks share: panels, curves by round, colours of methods, and SVG for a page."""

import re
from html import escape
from io import StringIO

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from verify.results.drawing import COLOURS, FONT, canvas

__all__ = ["CORRECTED", "DRIFTING", "EXACT", "FOURTH", "THIRD", "as_svg", "by_round", "legend", "name", "panels"]

#: the plain method, the corrected one, two others, and what is exact: the same colours in every notebook
CORRECTED, DRIFTING, THIRD, FOURTH, EXACT = COLOURS


def panels(count: int = 2, height: float = 4.2) -> tuple[Figure, list[Axes]]:
    """A figure as wide as a page with panels side by side."""
    return canvas(9.6, height, count)


def name(axes: Axes, x: str, y: str, title: str = "") -> None:
    """Name both axes, and the panel."""
    axes.set_xlabel(x, fontsize=11, **FONT)
    axes.set_ylabel(y, fontsize=11, **FONT)
    axes.set_title(title, loc="left", fontsize=12, **FONT)


def legend(axes: Axes, **options) -> None:
    axes.legend(frameon=False, prop={"family": "STIXGeneral", "size": 10.5}, **options)


def by_round(axes: Axes, values, colour: str, label: str, floor: float = 1e-16, **style) -> None:
    """A logarithmic curve over the rounds; what is not finite or below the floor is left out."""
    values = np.asarray(values, dtype=float)
    shown = np.where(np.isfinite(values) & (values > floor), values, np.nan)
    axes.plot(np.arange(len(values)), shown, color=colour, label=label, **({"linewidth": 1.8} | style))
    axes.set_yscale("log")


def as_svg(figure: Figure, said: str = "") -> str:
    """The figure as an element of a page, in words for those who do not see it; the same figure gives the same text."""
    page = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "fedtheory"}):
        figure.savefig(page, format="svg", metadata={"Date": None, "Creator": None})
    text = page.getvalue()
    text = text[text.index("<svg"):]
    words = escape(re.sub(r"[*$\\`]", "", said), quote=True)
    return re.sub(r'<svg [^>]*?(?=viewBox)', f'<svg role="img" aria-label="{words}" style="width:100%;height:auto" ', text,
                  count=1, flags=re.DOTALL)
