"""Draws where a proof loses: a row for each step, with its factor on two instances, on a logarithmic axis."""

import math

import numpy as np
from matplotlib.figure import Figure

from verify.proofs.looseness import Waterfall
from verify.results.drawing import BLUE, BOUND, FONT, GREY, ORANGE, VERMILLION, canvas, log_ticks, write_below

__all__ = ["waterfall_figure"]

MOST = 1e12  #: larger factors are drawn at the edge


def waterfall_figure(found: Waterfall) -> Figure:
    """Draw the factor that each step of a proof loses, on the theorem's tightest instance and on a typical one.

    A factor below 1 means that the step fails. The last row is the theorem itself.
    """
    rows = [*found.steps, found.theorem]
    figure, (axes,) = canvas(7.0, 1.3 + 0.3 * len(rows))
    values = [v for row in rows for v in (row.worst, row.typical) if v is not None and 0 < v < math.inf]
    lowest, highest = min(0.8, *values) / 1.2, min(max(10.0, *values), MOST) * 1.5
    axes.set_xscale("log")
    axes.set_xlim(lowest, highest)
    log_ticks(axes.xaxis, lowest, highest)
    axes.axvline(1.0, color=BOUND, linewidth=0.9)
    axes.axvspan(lowest, 1.0, color=VERMILLION, alpha=0.06, linewidth=0)
    for height, row in enumerate(rows):
        last = row is found.theorem
        for value, colour, shift, name in ((row.worst, BLUE, -0.17, "worst"), (row.typical, ORANGE, 0.17, "typical")):
            if value is None:
                continue
            end = float(np.clip(value, lowest, highest))
            axes.plot([1.0, end], [height + shift] * 2, color=colour, linewidth=5 if last else 3.5, solid_capstyle="butt",
                      label=name if last else None)
            text = "∞" if math.isinf(value) else f"{value:.3g}"
            axes.annotate(text, (max(end, 1.0), height + shift), textcoords="offset points", xytext=(4, 0), va="center",
                          fontsize=8, color="#333333", **FONT)
        if row.worst is None and row.typical is None:
            axes.annotate(row.reason[:70], (1.0, height), textcoords="offset points", xytext=(5, 0), va="center",
                          fontsize=8, color=GREY, style="italic", **FONT)
    names = [row.id.split("/", 1)[1] if row is not found.theorem else f"{row.id} (all in all)" for row in rows]
    axes.set_yticks(range(len(rows)), names, fontsize=8.5, fontfamily="STIXGeneral")
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("right side / left side", **FONT)
    write_below(axes, "blue: the theorem's tightest instance; orange: a typical one; left of 1 a step fails")
    return figure
