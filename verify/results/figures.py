"""Figures: a bound and its measurement, the looseness of bounds, and the course of a run."""

import math
from collections.abc import Iterable, Sequence
from itertools import groupby

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from verify.results.drawing import (
    FEW,
    GREY,
    VERDICT_STYLE,
    VIOLATION,
    colours,
    curve,
    direct_labels,
    edge_remarks,
    fill,
    in_style,
    ink,
    log_ticks,
    measured,
    name_rows,
    opened,
    panels,
    set_scales,
    small,
    spans,
    titled,
    write_below,
)
from verify.results.numerals import significant
from verify.results.verdict import VERDICTS, Series, Verdict

#: name, colour, marker and line of what a series has besides; the last one often lies on the worst run
_BESIDE = ("middle run", GREY, "o", "-"), ("exact worst case", VIOLATION, "D", (0, (3, 3)))

__all__ = ["bound_and_measurement", "bounds_and_measurements", "looseness", "mean_and_band", "trajectory_figure"]


@in_style
def bound_and_measurement(series: Series, *, ax: Axes | None = None) -> Figure | Axes:
    """Both sides of a claim along a run: the measurement with its confidence band, and the bound.

    The vertical axis is logarithmic if the positive values span more than a factor of ten, the horizontal one if all its
    values are positive and span more than a factor of twenty. Values that a logarithmic axis cannot show are marked by
    triangles: zero or less at the lower edge, infinite ones at the upper. Where the measurement exceeds the bound the gap
    is shaded. A series that has exact worst cases shows them, and a run in the middle. Returns the figure; or ``ax``, if
    these axes are given.
    """
    x = np.asarray(series.x, dtype=float)
    left, right = np.asarray(series.left, dtype=float), np.asarray(series.right, dtype=float)
    known, none = series.left_low and series.left_high, np.full(left.shape, np.nan)
    low, high = (np.asarray(side, dtype=float) if known else none for side in (series.left_low, series.left_high))
    axes = opened(ax, 6.0, 3.7)
    others = zip((series.middle, series.exact), _BESIDE, strict=True)
    more = [(np.asarray(side, dtype=float), *style) for side, style in others if side]
    beside = [side for side, *_ in more]
    logarithmic = spans([left, right, *beside], 10)
    columns = [right, *beside, left] if series.middle else [left, right, *beside]
    set_scales(axes, x, [*columns, low, high], logarithmic)
    floor, top = axes.get_ylim()
    band = np.isfinite(low) & np.isfinite(high)
    fill(axes, x, np.where(band, np.maximum(low, floor), np.nan), np.where(band, high, np.nan), measured(), 0.18)
    above = left > right
    _draw_violation(axes, x, np.clip(right, floor, top), np.clip(left, floor, top), above)
    curve(axes, x, right, ink(), "s", "-" if series.decides else (0, (5, 2)))
    curve(axes, x, left, measured(), "o", "-")
    for side, _, colour, marker, style in more:
        curve(axes, x, side, colour, marker, style)
    axes.set_ylim(floor, top)
    runs = "worst run found" if series.middle else "measured"
    direct_labels(axes, ((right, "printed bound" if more else "bound", ink()), (left, runs, measured()), *(
        (side, name, colour) for side, name, colour, *_ in more)))
    axes.set_xlabel(series.x_label)
    axes.set_ylabel(series.y_label)
    axes.set_title(series.title)
    remarks = [
        series.note,
        "light: confidence band" if (high > low)[band].any() else "",
        "shaded red: the measurement exceeds the bound" if above.any() else "",
        *edge_remarks(axes, np.concatenate([left, right, *beside]), logarithmic),
    ]
    write_below(axes, "; ".join(filter(None, remarks)))
    if not x.size:
        axes.text(0.5, 0.5, "no data were recorded", transform=axes.transAxes, ha="center", color=GREY)
    return axes.figure if ax is None else ax


@in_style
def bounds_and_measurements(series: Sequence[Series], names: Sequence[str], *, ax: Axes | None = None) -> Figure | Axes:
    """Both sides of a claim along several runs, by their ``names``: solid the measurements with their bands, dashed the
    bounds, one colour for each run; a bound that is the same for all is drawn once. Returns the figure, or ``ax``. Raises
    ValueError for more runs than colours."""
    each_colour = [colour for colour in colours() if colour != ink()]
    if len(series) > len(each_colour):
        raise ValueError(f"at most {len(each_colour)} runs can be told apart; got {len(series)}")
    axes = opened(ax, 6.4, 3.7)
    xs = [np.asarray(each.x, dtype=float) for each in series]
    sides = [[np.asarray(side, dtype=float) for side in (each.left, each.right)] for each in series]
    columns = [side for pair in sides for side in pair]
    set_scales(axes, np.concatenate(xs), columns, spans(columns, 10))
    same = all(x.shape == xs[0].shape and np.allclose(right, sides[0][1], equal_nan=True)
               for x, (_, right) in zip(xs, sides, strict=True))
    labels, remarks = [], []
    for number, (each, name, x, (left, right)) in enumerate(zip(series, names, xs, sides, strict=True)):
        colour = each_colour[number]
        if each.left_low and each.left_high:
            fill(axes, x, np.asarray(each.left_low), np.asarray(each.left_high), colour, 0.15)
        if not same or number == 0:
            curve(axes, x, right, ink() if same else colour, "s", (0, (5, 2)))
        curve(axes, x, left, colour, "o", "-")
        labels.append((left, name, colour))
        remarks += [f"{name}: {each.note}"] if each.note else []
    direct_labels(axes, [*labels, *([(sides[0][1], "bound", ink())] if same else [])])
    axes.set_xlabel(series[0].x_label)
    axes.set_ylabel(series[0].y_label)
    write_below(axes, "; ".join([*([] if same else ["dashed: the bounds"]), *dict.fromkeys(remarks)]))
    return axes.figure if ax is None else ax


def _draw_violation(axes: Axes, x, lower, upper, above) -> None:
    """Shade between bound and measurement where the measurement is larger."""
    fill(axes, x, np.where(above, lower, np.nan), np.where(above, upper, np.nan), VIOLATION, 0.14)
    if 0 < above.sum() <= FEW:  # a point alone has no area
        axes.vlines(x[above], lower[above], upper[above], color=VIOLATION, alpha=0.5, linewidth=1)


@in_style
def looseness(verdicts: Iterable[Verdict], *, ax: Axes | None = None) -> Figure | Axes:
    """Worst ratio left/right of every claim that has one, tightest first, on a logarithmic axis.

    At 1 both sides are equal; beyond 1 the bound is violated. Ratios below 1/``FARTHEST`` or above it, zero and infinity
    among them, are drawn at the edges of the axis with an arrow. More than ``FEWEST`` claims with equal ratios (to three
    digits) share a row. Of more than ``MOST`` rows the last is shared by the loosest claims. Returns the figure; or ``ax``,
    if these axes are given.
    """
    ratios = [(v.ratio, v) for v in verdicts if v.ratio is not None and not math.isnan(v.ratio)]
    ratios.sort(key=lambda pair: (-pair[0], pair[1].id))
    rows, names = _rows(ratios)
    axes = opened(ax, 7.2, 1.1 + 0.185 * max(len(rows), 3))
    inside = [r for r, _ in ratios if 1 / FARTHEST <= r <= FARTHEST] or [1.0]
    lowest, highest = min(0.5, *inside), max(2.0, *inside)
    margin = (highest / lowest) ** 0.06
    lowest, highest = lowest / margin, highest * margin
    axes.set_xscale("log")
    axes.set_xlim(lowest / margin, highest * margin)
    log_ticks(axes.xaxis, lowest, highest)
    axes.axvline(1.0, color=ink(), linewidth=0.9)
    axes.axvspan(1.0, highest * margin, color=VIOLATION, alpha=0.06, linewidth=0)
    for height, row in enumerate(rows):
        axes.axhline(height, color=matplotlib.rcParams["grid.color"], linewidth=0.6, zorder=1)
        kinds = [kind for kind in VERDICTS if any(verdict.verdict == kind for _, verdict in row)]
        for value, verdict in row:
            dodge = 0.28 * (kinds.index(verdict.verdict) - (len(kinds) - 1) / 2)
            colour, marker = VERDICT_STYLE[verdict.verdict]
            place = min(max(value, lowest), highest)
            axes.plot([place], [height + dodge], marker=marker, color=colour, markersize=5, linestyle="none", zorder=3)
        if not lowest <= value <= highest:
            sign, side, shift = ("→ ∞", "right", -7) if value > highest else ("← 0", "left", 7)
            sign = sign if value in (0, math.inf) else f"{sign[:2]}{value:.0e}"
            axes.annotate(sign, (place, height), textcoords="offset points", xytext=(shift, 0), ha=side, va="center",
                          fontsize=small(8), color=colour)
    name_rows(axes, names, 3)
    axes.set_xlabel("worst ratio, left side / right side")
    _verdict_legend(axes, {verdict.verdict for _, verdict in ratios})
    return axes.figure if ax is None else ax


FEWEST = 5  # claims of equal ratio up to which each has a row
FARTHEST = 1e12  # ratio that the looseness figure has on its axis
MOST = 60  # rows


def _rows(ratios: list) -> tuple[list[list], list[str]]:
    """The ratios of each row, and the names of the rows."""
    rows: list[tuple[str, list]] = []
    for value, equal in groupby(ratios, key=lambda pair: significant(pair[0])):
        equal = list(equal)
        if len(equal) > FEWEST:
            rows.append((f"{len(equal)} claims at {value}", equal))
        else:
            rows += [(verdict.id, [(ratio, verdict)]) for ratio, verdict in equal]
    if len(rows) > MOST:
        looser = [pair for _, row in rows[MOST - 1 :] for pair in row]
        rows[MOST - 1 :] = [(f"{len(looser)} looser claims", looser)]
    return [row for _, row in rows], [name for name, _ in rows]


def _verdict_legend(axes: Axes, kinds: set[str]) -> None:
    for kind in VERDICTS:
        if kind in kinds:
            colour, marker = VERDICT_STYLE[kind]
            axes.plot([], [], marker=marker, color=colour, linestyle="none", markersize=5.5, label=kind)
    if kinds:
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=len(kinds), columnspacing=1.2, handletextpad=0.2,
                    borderaxespad=0.1)
    else:
        axes.text(0.5, 0.5, "no claim has two sides to compare", transform=axes.transAxes, ha="center")


#: panels of a run: name of the observable -> axis label
PANELS = {
    "suboptimality": "suboptimality $F(x) - F^\\ast$ [loss]",
    "distance_sq": "$\\|x - x^\\ast\\|^2$ [parameter$^2$]",
    "free_included": "included free clients [share]",
    "held_out_loss": "held-out loss",
    "held_out_accuracy": "held-out accuracy",
}

_SHARES = "free_included", "held_out_accuracy"  # on a linear axis
MOST_GROWTH = 1e9  # times the start; larger values are drawn at the upper edge
MOST_PLACES = 2000  # on the axis of a run


@in_style
def trajectory_figure(trajectory, names: Sequence[str] = tuple(PANELS), *, ax=None):
    """The course of a run: each recorded observable of ``names`` by round, the mean over runs with its 95 % band.

    Returns the figure; or ``ax``, if axes are given: one of matplotlib's axes, or a sequence with one for each observable
    that was recorded.

    Raises:
        ValueError: nothing of it was recorded, another name than of ``PANELS``, or another number of axes.
    """
    if unknown := [name for name in names if name not in PANELS]:
        raise ValueError(f"allowed are {', '.join(PANELS)}; got {unknown[0]!r}")
    columns = {name: column for name in names if (column := _column(trajectory, name)) is not None}
    if not columns:
        raise ValueError(f"the trajectory has recorded none of {', '.join(names)}, so there is nothing to draw")
    row = panels(ax, columns, 0.6 + 3.2 * len(columns), 3.0)
    for axes, (name, values) in zip(row, columns.items(), strict=True):
        x = _places(values.shape[1])
        mean, low, high = mean_and_band(values[:, x])
        grown = mean > MOST_GROWTH * mean[0]
        mean, low, high = np.where(grown, np.inf, mean), np.where(grown, np.nan, low), np.where(grown, np.nan, high)
        set_scales(axes, x.astype(float), [mean, low, high], spans([mean], 10) and name not in _SHARES)
        floor, top = axes.get_ylim()
        fill(axes, x, np.clip(low, floor, top), np.clip(high, floor, top), measured(), 0.18)
        curve(axes, x, mean, measured(), "o", "-")
        axes.set_ylim(floor, top)
        axes.set_xlabel("round")
        axes.set_ylabel(PANELS[name])
    runs = trajectory.runs
    title = f"{trajectory.description}; " + (f"mean of {runs} runs, 95 % band" if runs > 1 else "one run")
    titled(row, ax is None, title)
    return row[0].figure if ax is None else ax


def _places(length: int) -> np.ndarray:
    """The rounds that are drawn: all, or of many some at equal steps and some at equal ratios."""
    if length <= MOST_PLACES:
        return np.arange(length)
    ends = length - 1, MOST_PLACES // 2
    return np.unique(np.concatenate([np.linspace(0, *ends), np.geomspace(1, *ends)]).round().astype(int))


def _column(trajectory, name: str) -> np.ndarray | None:
    """An observable as (runs, times); None where it was not recorded or does not apply."""
    data = trajectory.dataset
    if name != "free_included":
        return data[name].transpose("run", ...).values if name in data else None
    if "included" not in data or trajectory.federation is None:
        return None
    free = ~np.asarray(trajectory.federation.priority.tolist(), dtype=bool)
    if not free.any():
        return None
    included = data["included"].transpose("run", ..., "client").values * free[:, None, :]
    return included.sum(axis=-1) / np.maximum(free.sum(axis=-1), 1)[:, None]


def mean_and_band(values) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean over runs (the first axis) and the ends of its 95 % t-interval; infinite where a run diverged."""
    from scipy import stats

    values = np.asarray(values, dtype=float)
    runs = len(values)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, spread = values.mean(axis=0), values.std(axis=0, ddof=1) if runs > 1 else np.nan
        mean = np.where(np.isfinite(mean), mean, np.inf)
        half = np.where(np.isfinite(spread), stats.t.ppf(0.975, max(runs - 1, 1)) * spread / runs**0.5, np.nan)
        return mean, mean - half, mean + half
