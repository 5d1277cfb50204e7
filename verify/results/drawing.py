"""Parts of all figures: style and colours, axes, curves with their markers and labels, saving.

Everything that is drawn takes fonts, sizes, widths and colours from matplotlib's settings. A function that opens a figure
draws in our style (``STYLE``), whatever the reader's settings are; into axes of the reader it draws in the reader's.
"""

import math
import textwrap
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache, wraps
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib import cycler, style
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.lines import TICKDOWN, TICKLEFT, Line2D
from matplotlib.ticker import MaxNLocator, NullLocator

from verify.results.files import replacing

__all__ = [
    "BOUND", "COLOURS", "FEW", "GREY", "MEASUREMENT", "STYLE", "VERDICT_STYLE", "VIOLATION", "canvas", "colours", "curve",
    "direct_labels", "edge_remarks", "fill", "in_style", "ink", "log_ticks", "measured", "name_rows", "opened", "outside",
    "own_style", "panels", "save", "save_as", "set_scales", "small", "spans", "titled", "write_below",
]

# the colours of Okabe and Ito, which people with any common kind of colour vision can distinguish
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#767676"
MEASUREMENT, BOUND, VIOLATION = BLUE, BLACK, VERMILLION
COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, BLACK)  #: of several curves of one kind

#: colour and marker of each verdict, the same in every figure and page
VERDICT_STYLE = {
    "refuted": (VERMILLION, "X"),
    "ill-posed": (PURPLE, "s"),
    "certified": (GREEN, "D"),
    "consistent": (BLUE, "o"),
    "undecided": (GREY, "^"),
}

FEW = 25  # points up to which each has a marker
MOST_DECADES, HIGHEST_POWER = 40, 300  # of a logarithmic axis
#: our own settings of matplotlib, on top of its defaults
STYLE = {
    "font.family": "STIXGeneral", "mathtext.fontset": "stix", "font.size": 10, "text.color": BLACK,
    "figure.facecolor": "white", "figure.constrained_layout.use": True, "figure.constrained_layout.w_pad": 0.1,
    "figure.constrained_layout.h_pad": 0.08,
    "axes.prop_cycle": cycler(color=COLOURS), "axes.titlelocation": "left", "axes.titlesize": 11, "figure.titlesize": 11,
    "axes.edgecolor": "#555555", "axes.spines.top": False, "axes.spines.right": False, "grid.color": "#e4e4e4",
    "xtick.color": "#333333", "ytick.color": "#333333", "xtick.labelsize": 9.5, "ytick.labelsize": 9.5,
    "lines.linewidth": 1.6, "lines.markersize": 4, "legend.frameon": False, "legend.fontsize": 9, "image.cmap": "cividis",
}
FORMATS = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}  #: no dates inside
DOTS_PER_INCH = 160  # of a PNG
VECTORS = {"svg": FigureCanvasSVG, "pdf": FigureCanvasPdf}


def own_style(**more):
    """A context in which matplotlib has our settings, and ``more``."""
    return style.context(["default", STYLE, more])


def in_style(function: Callable) -> Callable:
    """A plotting function with the argument ``ax``: without it, in our style; with it, in the one that is in force."""
    @wraps(function)
    def in_own_style(*arguments, ax=None, **options):
        if ax is not None:
            return function(*arguments, ax=ax, **options)
        with own_style():
            return function(*arguments, ax=None, **options)

    return in_own_style


def opened(ax, width: float, height: float) -> Axes:
    """The reader's axes; if there are none, those of a new figure of this size in inches."""
    return canvas(width, height)[1][0] if ax is None else ax


def panels(ax, names: Collection[str], width: float, height: float) -> list[Axes]:
    """The reader's axes, one for each name; if there are none, those of a new figure, side by side."""
    if ax is None:
        return canvas(width, height, len(names))[1]
    row = list(np.ravel(ax))
    if len(row) != len(names):
        raise ValueError(f"ax must be axes for {', '.join(names)}, {len(names)} in all; got {len(row)}")
    return row


def ink() -> str:
    """The colour of texts, which stands out from the ground."""
    return matplotlib.rcParams["text.color"]


def colours() -> list[str]:
    """The colours of several curves of one kind; the first is that of measurements."""
    return list(matplotlib.rcParams["axes.prop_cycle"].by_key().get("color", COLOURS))


def measured() -> str:
    """The colour of measurements."""
    return colours()[0]


def small(points: float = 8.5) -> float:
    """The size of a text that has ``points`` in our style, in proportion to the size of letters in force."""
    return points / STYLE["font.size"] * matplotlib.rcParams["font.size"]


def titled(row: Sequence[Axes], own: bool, title: str) -> None:
    """Write a title above all panels of a figure of ours; into the reader's axes none goes, which the reader arranges."""
    if own:
        row[0].figure.suptitle(title, x=0.01, ha="left")


def name_rows(axes: Axes, names: Sequence[str], least: int = 0) -> None:
    """Name rows from the top to the bottom, at heights 0, 1, ...; there is room for at least so many."""
    axes.set_yticks(range(len(names)), names, fontsize=small())
    axes.set_ylim(max(len(names), least) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def save(figure: Figure, stem: str | Path, formats: Sequence[str] = tuple(FORMATS)) -> dict[str, Path]:
    """Write ``stem`` + .svg, .pdf and .png, each whole or not at all; the same figure gives the same bytes, whatever the
    reader's settings of matplotlib are.

    Returns the paths by format.
    """
    stem = Path(stem)
    paths, layout, shown_on, dpi = {}, figure.get_layout_engine(), figure.canvas, figure.dpi
    with own_style(**{"svg.hashsalt": "fedtheory"}):
        try:
            _on_pixels(figure)
            if layout is not None:
                layout.execute(figure)
            figure.set_layout_engine("none")  # the layout is computed once for all formats
            for kind in formats:
                paths[kind] = stem.with_name(f"{stem.name}.{kind}")
                figure.dpi = DOTS_PER_INCH if kind == "png" else dpi
                page = VECTORS[kind](figure) if kind in VECTORS else _on_pixels(figure)
                with replacing(paths[kind]) as temporary:  # savefig would draw everything once more
                    getattr(page, f"print_{kind}")(temporary, metadata=FORMATS[kind])
        finally:
            figure.set_canvas(shown_on)
            figure.dpi = dpi
            figure.set_layout_engine(layout)
    return paths


def save_as(figure: Figure, path: str | Path) -> dict[str, Path]:
    """Writes ``figure`` in the format of the path's ending, or in all of FORMATS if it has none; returns the paths.

    Raises ValueError for another ending.
    """
    path = Path(path)
    if path.suffix.lstrip(".") not in (*FORMATS, ""):
        raise ValueError(f"a figure ends in {', '.join('.' + one for one in FORMATS)}, or has no ending; got {path}")
    return save(figure, path.with_suffix(""), [path.suffix[1:]]) if path.suffix else save(figure, path)


def _on_pixels(figure: Figure) -> FigureCanvasAgg:
    """Put the figure on a shared canvas, which caches the sizes of texts that earlier figures had too."""
    page = _pixels(*figure.get_size_inches(), figure.dpi)
    page.figure = figure
    figure.set_canvas(page)
    return page


@lru_cache(maxsize=4)
def _pixels(width: float, height: float, dpi: float) -> FigureCanvasAgg:
    return FigureCanvasAgg(Figure((width, height), dpi))


def canvas(width: float, height: float, panels: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure of this size in inches, with panels side by side."""
    with own_style():
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        row = list(figure.subplots(1, panels, squeeze=False)[0])
    for axes in row:  # ticks come when they are drawn, under whatever settings
        axes.tick_params(labelfontfamily=STYLE["font.family"], colors=STYLE["xtick.color"],
                         labelsize=STYLE["xtick.labelsize"])
    return figure, row


def _positive(columns: Sequence[np.ndarray]) -> np.ndarray:
    values = np.concatenate([np.ravel(c) for c in columns]) if columns else np.array([])
    return values[np.isfinite(values) & (values > 0)]


def spans(columns: Sequence[np.ndarray], factor: float) -> bool:
    positive = _positive(columns)
    return positive.size > 0 and positive.max() > factor * positive.min()


def set_scales(axes: Axes, x, columns, logarithmic: bool) -> None:
    if x.size and np.all(x > 0) and spans([x], 20):
        axes.set_xscale("log")
        log_ticks(axes.xaxis, x.min(), x.max())
    elif np.unique(x).size < 2:
        axes.set_xticks(np.unique(x))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=bool(np.all(x == np.round(x)))))
    if logarithmic:
        floor, top = _logarithmic_limits(columns)
        axes.set_yscale("log")
        axes.set_ylim(floor, top)
        log_ticks(axes.yaxis, floor, top)
        return
    values = np.concatenate([c[np.isfinite(c)] for c in columns])
    lowest, highest = (min(0.0, values.min()), max(0.0, values.max())) if values.size else (0.0, 1.0)
    room = 0.06 * (highest - lowest) or 0.5
    axes.set_ylim(lowest - (room if lowest < 0 or highest == 0 else room / 3), highest + room)


def _logarithmic_limits(columns) -> tuple[float, float]:
    """Ends of the axis, at most ``MOST_DECADES`` apart; values below are marked at its lower edge."""
    positive = np.log10(_positive(columns[:2]))
    highest = min(max(positive.max(), np.log10(_positive(columns)).max()), HIGHEST_POWER)
    lowest = min(max(positive.min(), highest - MOST_DECADES), highest)
    room = 0.06 * (highest - lowest) + 0.02
    marked = any((c <= 0).any() for c in columns[:2]) or positive.min() < lowest
    return 10.0 ** (lowest - (2.5 if marked else 1.0) * room), 10.0 ** (highest + room)


def log_ticks(axis, lowest: float, highest: float) -> None:
    """Ticks at powers of ten, or at 1, 2 and 5 times powers where the axis has fewer than two."""
    first, last = math.ceil(math.log10(lowest) - 1e-9), math.floor(math.log10(highest) + 1e-9)
    minor = [d * 10.0**n for n in range(first - 1, last + 1) for d in range(2, 10)]
    if last - first >= 1:
        step = max(1, math.ceil((last - first) / 8))
        places = [10.0**n for n in range(first, last + 1, step)]
        minor = [10.0**n for n in range(first, last + 1)] if step > 1 else minor
    else:
        places = [d * 10.0**n for n in range(first - 1, last + 1) for d in (1, 2, 5)]
    places = [p for p in places if lowest <= p * (1 + 1e-9) and p <= highest * (1 + 1e-9)]
    plain = all(1e-4 <= p <= 1e4 for p in places)
    axis.set_ticks(places, [f"{p:g}" if plain else _scientific(p) for p in places])
    _minor_marks(axis, [p for p in minor if lowest <= p <= highest and p not in places])


def _minor_marks(axis, places: list[float]) -> None:
    """Ticks without labels, drawn as the markers of one line; this looks the same and is much faster."""
    axis.set_minor_locator(NullLocator())
    name, axes = f"{axis.axis_name}tick", axis.axes
    across, marker, transform = {
        "x": ((places, np.zeros(len(places))), TICKDOWN, axes.get_xaxis_transform("tick1")),
        "y": ((np.zeros(len(places)), places), TICKLEFT, axes.get_yaxis_transform("tick1")),
    }[axis.axis_name]
    axes.add_artist(Line2D(
        *across, transform=transform, linestyle="none", marker=marker, color=ink(), clip_on=False, in_layout=False,
        markersize=matplotlib.rcParams[f"{name}.minor.size"], zorder=axis.get_zorder(),
        markeredgewidth=matplotlib.rcParams[f"{name}.minor.width"],
    ))


def _scientific(value: float) -> str:
    digits, exponent = f"{value:.0e}".split("e")
    return f"${'' if digits == '1' else digits + chr(92) + 'cdot '}10^{{{int(exponent)}}}$"


def fill(axes: Axes, x, low, high, colour: str, alpha: float) -> None:
    if not np.isfinite(low).any():
        return
    if x.size == 1:
        axes.errorbar(x, (low + high) / 2, yerr=(high - low) / 2, color=colour, alpha=2 * alpha, linewidth=6)
    else:
        axes.fill_between(x, low, high, color=colour, alpha=alpha, linewidth=0)


def outside(axes: Axes, y) -> tuple[np.ndarray, np.ndarray]:
    """Masks of the values below and above the range of the axis."""
    floor, top = axes.get_ylim()
    return y < floor, y > top


def curve(axes: Axes, x, y, colour: str, marker: str, dashes) -> None:
    """A line, with markers where there are few points, and triangles at the edges for values outside the axis."""
    floor, top = axes.get_ylim()
    below, above = outside(axes, y)
    shown = np.where(below | above, np.nan, y)
    few = np.isfinite(shown).sum() <= FEW
    axes.plot(x, shown, color=colour, linestyle=dashes, marker=marker if few else None)
    for where, place, triangle in ((below, floor, "v"), (above, top, "^")):
        rows = np.flatnonzero(where)
        rows = rows[:: max(1, rows.size // 30)]
        if rows.size:  # an empty line would still take room in the layout
            axes.plot(x[rows], np.full(rows.size, place), color=colour, marker=triangle, linestyle="none",
                      markersize=6, markerfacecolor=axes.get_facecolor(), clip_on=False, zorder=4)


def edge_remarks(axes: Axes, values, logarithmic: bool) -> list[str]:
    """Remarks that explain the triangles at the edges."""
    below, above = (values[where] for where in outside(axes, values))
    remarks = []
    if below.size:
        what = "minus infinity" if not logarithmic else "zero or less" if below.max() <= 0 else "too small to show"
        remarks.append(f"▽ at the edge: {what}")
    if above.size:
        remarks.append("△ at the edge: infinite" if np.isinf(above).all() else "△ at the edge: too large to show")
    return remarks


def write_below(axes: Axes, text: str) -> None:
    width = axes.get_position().width * axes.figure.get_size_inches()[0] * 72  # points
    letters = max(20, min(86, int(width / (0.45 * small()))))
    axes.annotate("\n".join(textwrap.wrap(text, letters)), (0, 0), xycoords="axes fraction", textcoords="offset points",
                  xytext=(0, -small(40)), va="top", fontsize=small(), alpha=0.75, annotation_clip=False)


def direct_labels(axes: Axes, curves) -> None:
    """Write the name of each curve at its right end; names that would overlap are moved apart. A figure whose layout makes
    no room for them has a legend."""
    if axes.figure.get_layout_engine() is None:
        axes.legend(handles=[Line2D([], [], color=colour, label=text) for _, text, colour in curves], loc="best")
        return
    floor, top = axes.get_ylim()
    logarithmic = axes.get_yscale() == "log"

    def height(value: float) -> float:
        if logarithmic:
            value, ends = max(value, floor), (math.log(floor), math.log(top))
            return (min(math.log(value) if math.isfinite(value) else ends[1], ends[1]) - ends[0]) / (ends[1] - ends[0])
        return (min(max(value, floor), top) - floor) / (top - floor)

    ends = []
    for y, text, colour in curves:
        known = y[~np.isnan(y)]
        if known.size:
            suffix = " = 0" if not known.any() else " = ∞" if np.isposinf(known).all() else ""
            ends.append([height(known[-1]), text + suffix, colour])
    ends.sort()
    for below, above in [*pairwise(ends)] * len(ends):
        gap = 0.075 - (above[0] - below[0])
        if gap > 0:
            below[0], above[0] = below[0] - gap / 2, above[0] + gap / 2
    for place, text, colour in ends:
        axes.annotate(text, (1.0, place), xycoords="axes fraction", textcoords="offset points", xytext=(6, 0),
                      color=colour, va="center", annotation_clip=False)
