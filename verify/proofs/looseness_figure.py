"""Draws where a proof loses: a row for each step, with its factor on two instances, on a logarithmic axis."""

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from verify.proofs.looseness import Waterfall
from verify.results.drawing import GREY, VIOLATION, colours, in_style, ink, log_ticks, name_rows, opened, small, write_below

__all__ = ["waterfall_figure"]

MOST = 1e12  #: larger factors are drawn at the edge


@in_style
def waterfall_figure(found: Waterfall, *, ax: Axes | None = None) -> Figure | Axes:
    """Draw the factor that each step of a proof loses, on the theorem's tightest instance and on a typical one.

    A factor below 1 means that the step fails. The last row is the theorem itself. Returns the figure; or ``ax``, if these
    axes are given.
    """
    rows = [*found.steps, found.theorem]
    axes, (blue, other) = opened(ax, 7.0, 1.3 + 0.3 * len(rows)), (colours() * 2)[:2]
    values = [v for row in rows for v in (row.worst, row.typical) if v is not None and 0 < v < math.inf]
    lowest, highest = min(0.8, *values) / 1.2, min(max(10.0, *values), MOST) * 1.5
    axes.set_xscale("log")
    axes.set_xlim(lowest, highest)
    log_ticks(axes.xaxis, lowest, highest)
    axes.axvline(1.0, color=ink(), linewidth=0.9)
    axes.axvspan(lowest, 1.0, color=VIOLATION, alpha=0.06, linewidth=0)
    for height, row in enumerate(rows):
        last = row is found.theorem
        for value, colour, shift, name in ((row.worst, blue, -0.17, "worst"), (row.typical, other, 0.17, "typical")):
            if value is None:
                continue
            end = float(np.clip(value, lowest, highest))
            axes.plot([1.0, end], [height + shift] * 2, color=colour, linewidth=5 if last else 3.5, solid_capstyle="butt",
                      label=name if last else None)
            text = "∞" if math.isinf(value) else f"{value:.3g}"
            axes.annotate(text, (max(end, 1.0), height + shift), textcoords="offset points", xytext=(4, 0), va="center",
                          fontsize=small(8))
        if row.worst is None and row.typical is None:
            axes.annotate(row.reason[:70], (1.0, height), textcoords="offset points", xytext=(5, 0), va="center",
                          fontsize=small(8), color=GREY, style="italic")
    names = [row.id.split("/", 1)[1] if row is not found.theorem else f"{row.id} (all in all)" for row in rows]
    name_rows(axes, names)
    axes.set_xlabel("right side / left side")
    write_below(axes, "above: the theorem's tightest instance; below: a typical one; left of 1 a step fails")
    return axes.figure if ax is None else ax
