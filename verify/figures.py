"""Figures: a bound beside its measurement, and how loose each bound is."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter

from verify.files import replacing
from verify.verdict import VERDICTS, Series, Verdict

__all__ = ["BOUND", "MEASUREMENT", "VERDICT_STYLE", "bound_and_measurement", "looseness", "save"]

# Okabe and Ito's colours, told apart by every common kind of colour vision
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
BLUE, VERMILLION, PURPLE, GREY = "#0072B2", "#D55E00", "#CC79A7", "#767676"

MEASUREMENT, BOUND, VIOLATION = BLUE, BLACK, VERMILLION
#: colour and marker of each verdict, the same in every figure and page
VERDICT_STYLE = {
    "refuted": (VERMILLION, "X"),
    "ill-posed": (PURPLE, "s"),
    "certified": (GREEN, "D"),
    "consistent": (BLUE, "o"),
    "undecided": (GREY, "^"),
}
FONT = {"fontfamily": "STIXGeneral", "math_fontfamily": "stix"}


def bound_and_measurement(series: Series) -> Figure:
    """Both sides of a claim along a run: the measurement with its confidence band, and the bound.

    The vertical axis is logarithmic where the positive values span more than a factor of ten, the horizontal one
    where it is positive throughout and spans more than a factor of twenty. What a logarithmic axis cannot show is
    marked: values of zero or less as triangles on its floor, infinite ones as triangles at its top. Where the
    measurement exceeds the bound the gap is shaded.
    """
    x = np.asarray(series.x, dtype=float)
    left, right = np.asarray(series.left, dtype=float), np.asarray(series.right, dtype=float)
    low, high = _band(series, left)
    figure, axes = _canvas(6.0, 3.7)
    logarithmic = _spans([left, right], 10)
    _set_scales(axes, x, [left, right, low, high], logarithmic)
    floor, top = axes.get_ylim()
    band = np.isfinite(low) & np.isfinite(high)
    if band.any():
        _fill(axes, x, np.where(band, np.maximum(low, floor), np.nan), np.where(band, high, np.nan), MEASUREMENT, 0.18)
    above = left > right
    if above.any():
        lower, upper = np.clip(right, floor, top), np.clip(left, floor, top)
        _fill(axes, x, np.where(above, lower, np.nan), np.where(above, upper, np.nan), VIOLATION, 0.14)
    _curve(axes, x, right, BOUND, "s", "-" if series.decides else (0, (5, 2)), logarithmic)
    _curve(axes, x, left, MEASUREMENT, "o", "-", logarithmic)
    axes.set_ylim(floor, top)
    bound = "bound" if series.decides else "bound (estimate)"
    _direct_labels(axes, ((right, bound, BOUND), (left, "measured", MEASUREMENT)))
    axes.set_xlabel(series.x_label, **FONT)
    axes.set_ylabel(series.y_label, **FONT)
    axes.set_title(series.title, loc="left", fontsize=11, **FONT)
    remarks = [series.note] if series.note else []
    if band.any():
        remarks.append("light blue: confidence band")
    if above.any():
        remarks.append("shaded red: the measurement exceeds the bound")
    if logarithmic and any(_beyond(y).any() for y in (left, right)):
        remarks.append("triangles at the edge: zero or less (▽), infinite (△)")
    if remarks:
        lines = "\n".join(textwrap.wrap("; ".join(remarks), 86))
        axes.annotate(lines, (0, 0), xycoords="axes fraction", textcoords="offset points", xytext=(0, -40), va="top",
                      fontsize=8.5, color="#444444", annotation_clip=False, **FONT)
    if not x.size:
        axes.text(0.5, 0.5, "nothing was recorded", transform=axes.transAxes, ha="center", color=GREY, **FONT)
    return figure


def looseness(verdicts: Iterable[Verdict]) -> Figure:
    """Worst ratio left/right of every claim that has one, tightest first, on a logarithmic axis.

    One is where a bound is met with equality; right of it a bound is broken. Ratios of zero and infinity stand at
    the edges of the axis with an arrow.
    """
    ratios = [(v.ratio, v) for v in verdicts if v.ratio is not None and not math.isnan(v.ratio)]
    ratios.sort(key=lambda pair: (-pair[0], pair[1].id))
    figure, axes = _canvas(7.2, 1.1 + 0.185 * max(len(ratios), 3))
    inside = [r for r, _ in ratios if 0 < r < math.inf] or [1.0]
    lowest, highest = min(0.5, *inside), max(2.0, *inside)
    margin = (highest / lowest) ** 0.06
    lowest, highest = lowest / margin, highest * margin
    axes.set_xscale("log")
    axes.set_xlim(lowest / margin, highest * margin)
    _log_ticks(axes.xaxis, lowest, highest)
    axes.axvline(1.0, color=BLACK, linewidth=0.9)
    axes.axvspan(1.0, highest * margin, color=VIOLATION, alpha=0.06, linewidth=0)
    for row, (value, verdict) in enumerate(ratios):
        colour, marker = VERDICT_STYLE[verdict.verdict]
        place = min(max(value, lowest), highest)
        axes.plot([lowest / margin, place], [row, row], color="#d9d9d9", linewidth=0.7, zorder=1)
        axes.plot([place], [row], marker=marker, color=colour, markersize=5.5, linestyle="none", zorder=3)
        if place != value:
            sign = "→ ∞" if value > 1 else "← 0"
            side = {"ha": "right", "xytext": (-6, 0)} if value > 1 else {"ha": "left", "xytext": (6, 0)}
            axes.annotate(sign, (place, row), textcoords="offset points", va="center", fontsize=8, color=colour,
                          **side, **FONT)
    axes.set_yticks(range(len(ratios)), [v.id for _, v in ratios], fontsize=8.5, fontfamily="STIXGeneral")
    axes.set_ylim(max(len(ratios), 3) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("worst ratio, left side / right side", **FONT)
    seen = [name for name in VERDICTS if any(v.verdict == name for _, v in ratios)]
    for name in seen:
        colour, marker = VERDICT_STYLE[name]
        axes.plot([], [], marker=marker, color=colour, linestyle="none", markersize=5.5, label=name)
    if seen:
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=len(seen), frameon=False, columnspacing=1.2,
                    handletextpad=0.2, borderaxespad=0.1, prop={"family": "STIXGeneral", "size": 9})
    else:
        axes.text(0.5, 0.5, "no claim has two sides to compare", transform=axes.transAxes, ha="center", **FONT)
    return figure


def save(figure: Figure, stem: str | Path) -> dict[str, Path]:
    """Write ``stem`` + .svg, .pdf and .png, each whole or not at all; the same figure gives the same bytes.

    Returns the paths by format.
    """
    stem = Path(stem)
    paths = {}
    with matplotlib.rc_context({"svg.hashsalt": "fedtheory", "path.simplify": True}):
        for kind, metadata in (("svg", {"Date": None}), ("pdf", {"CreationDate": None}), ("png", {"Software": None})):
            paths[kind] = stem.with_name(f"{stem.name}.{kind}")
            with replacing(paths[kind]) as temporary:
                figure.savefig(temporary, format=kind, dpi=160, metadata=metadata, bbox_inches="tight", pad_inches=0.06)
    return paths


def _canvas(width: float, height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#555555")
    axes.tick_params(colors="#333333", labelsize=9.5, labelfontfamily="STIXGeneral")
    return figure, axes


def _band(series: Series, left) -> tuple[np.ndarray, np.ndarray]:
    if not series.left_low or not series.left_high:
        return np.full(left.shape, np.nan), np.full(left.shape, np.nan)
    return np.asarray(series.left_low, dtype=float), np.asarray(series.left_high, dtype=float)


def _positive(columns: Sequence[np.ndarray]) -> np.ndarray:
    values = np.concatenate([np.ravel(c) for c in columns]) if columns else np.array([])
    return values[np.isfinite(values) & (values > 0)]


def _spans(columns: Sequence[np.ndarray], factor: float) -> bool:
    positive = _positive(columns)
    return positive.size > 0 and positive.max() > factor * positive.min()


def _beyond(y: np.ndarray) -> np.ndarray:
    """Where a logarithmic axis cannot show ``y``."""
    return (y <= 0) | np.isposinf(y)


def _set_scales(axes: Axes, x, columns, logarithmic: bool) -> None:
    if x.size and np.all(x > 0) and _spans([x], 20):
        axes.set_xscale("log")
        _log_ticks(axes.xaxis, x.min(), x.max())
    elif np.unique(x).size < 2:
        axes.set_xticks(np.unique(x))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=bool(np.all(x == np.round(x)))))
    if logarithmic:
        positive = _positive(columns[:2])
        lowest, highest = positive.min(), max(positive.max(), *(_positive(columns) if positive.size else [1.0]))
        room = (highest / lowest) ** 0.06
        floor = lowest / room
        if any((c <= 0).any() for c in columns[:2]):
            floor = lowest / room**2.5
        axes.set_yscale("log")
        axes.set_ylim(floor, highest * room)
        _log_ticks(axes.yaxis, floor, highest)
        return
    values = np.concatenate([c[np.isfinite(c)] for c in columns])
    lowest, highest = (min(0.0, values.min()), max(0.0, values.max())) if values.size else (0.0, 1.0)
    room = 0.06 * (highest - lowest) or 0.5
    axes.set_ylim(lowest - (room if lowest < 0 or highest == 0 else room / 3), highest + room)


def _log_ticks(axis, lowest: float, highest: float) -> None:
    """Ticks at powers of ten, or at 1, 2, 5 times them where there are fewer than two powers."""
    first, last = math.ceil(math.log10(lowest) - 1e-9), math.floor(math.log10(highest) + 1e-9)
    if last - first >= 1:
        step = max(1, math.ceil((last - first) / 8))
        places = [10.0**n for n in range(first, last + 1, step)]
        minor = [10.0**n for n in range(first, last + 1)] if step > 1 else []
        minor = minor or [d * 10.0**n for n in range(first - 1, last + 1) for d in range(2, 10)]
    else:
        places = [d * 10.0**n for n in range(first - 1, last + 1) for d in (1, 2, 5)]
        minor = [d * 10.0**n for n in range(first - 1, last + 1) for d in range(2, 10)]
    places = [p for p in places if lowest <= p * (1 + 1e-9) and p <= highest * (1 + 1e-9)]
    plain = all(1e-4 <= p <= 1e4 for p in places)
    axis.set_ticks(places, [f"{p:g}" if plain else _scientific(p) for p in places], **FONT)
    axis.set_ticks([p for p in minor if lowest <= p <= highest], minor=True)
    axis.set_minor_formatter(NullFormatter())


def _scientific(value: float) -> str:
    digits, exponent = f"{value:.0e}".split("e")
    return f"${'' if digits == '1' else digits + chr(92) + 'cdot '}10^{{{int(exponent)}}}$"


def _fill(axes: Axes, x, low, high, colour: str, alpha: float) -> None:
    if x.size == 1:
        axes.errorbar(x, (low + high) / 2, yerr=(high - low) / 2, color=colour, alpha=2 * alpha, linewidth=6)
    else:
        axes.fill_between(x, low, high, color=colour, alpha=alpha, linewidth=0)


def _curve(axes: Axes, x, y, colour: str, marker: str, style, logarithmic: bool) -> None:
    """A line, with markers where the points are few, and triangles at the edges for what the axis cannot show."""
    hidden = _beyond(y) if logarithmic else np.isinf(y)
    shown = np.where(hidden, np.nan, y)
    few = np.isfinite(shown).sum() <= 25
    axes.plot(x, shown, color=colour, linestyle=style, linewidth=1.6, marker=marker if few else None, markersize=4)
    floor, top = axes.get_ylim()
    for where, place, triangle in ((hidden & (y <= 0), floor, "v"), (hidden & (y > 0), top, "^")):
        rows = np.flatnonzero(where)
        rows = rows[:: max(1, rows.size // 30)]
        axes.plot(x[rows], np.full(rows.size, place), color=colour, marker=triangle, linestyle="none", markersize=6,
                  markerfacecolor="white", clip_on=False, zorder=4)


def _direct_labels(axes: Axes, curves) -> None:
    """Each curve's name at its right end, moved apart where the ends meet."""
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
    for below, above in pairwise(ends):
        gap = 0.075 - (above[0] - below[0])
        if gap > 0:
            below[0], above[0] = below[0] - gap / 2, above[0] + gap / 2
    for place, text, colour in ends:
        axes.annotate(text, (1.0, place), xycoords="axes fraction", textcoords="offset points", xytext=(6, 0),
                      color=colour, va="center", fontsize=10, annotation_clip=False, **FONT)

