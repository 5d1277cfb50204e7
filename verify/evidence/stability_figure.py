"""The figure of ``fedtheory stability``: gaps of parameters and losses by round, and claims about them."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from fedtheory.stability import Stability
from verify.evidence.beside_runs import Comparison
from verify.results.drawing import BOUND, FONT, MEASUREMENT, canvas, curve, direct_labels, set_scales, spans, write_below

__all__ = ["stability_figure"]

MOST_CLAIMS = 3  #: panels of claims


def stability_figure(found: Stability, beside: Sequence[Comparison], title: str) -> Figure:
    """Draws the parameter gap by round, the loss gap where there is a test, and a panel for each of the tightest claims.

    A panel shows both sides over the rounds, or over the statement's first index, each where the others are worst.
    """
    rounds = np.arange(found.parameter_gap.shape[1])
    panels = [("parameter gap [parameter]", rounds, found.parameter_gap[found.worst], None, "round")]
    if not np.isnan(found.loss_gap).any():
        panels.append(("loss gap [loss]", rounds, found.loss_gap[found.worst], None, "round"))
    measured = sorted((c for c in beside if c.series is not None), key=lambda c: -c.ratio)[:MOST_CLAIMS]
    for claim in measured:
        sides = (np.asarray(side, dtype=float) for side in (claim.series.x, claim.series.left, claim.series.right))
        panels.append((claim.claim, *sides, claim.series.x_label))
    figure, row = canvas(0.6 + 3.4 * len(panels), 3.2, len(panels))
    for axes, (label, x, left, right, x_label) in zip(row, panels, strict=True):
        columns = [left] if right is None else [left, right]
        set_scales(axes, x, columns, right is not None and spans(columns, 100))
        floor, top = axes.get_ylim()
        if right is not None:
            curve(axes, x, right, BOUND, "s", (0, (5, 2)))
        curve(axes, x, left, MEASUREMENT, "o", "-")
        axes.set_ylim(floor, top)
        if right is not None:
            direct_labels(axes, ((right, "bound", BOUND), (left, "measured", MEASUREMENT)))
        axes.set_xlabel(x_label, **FONT)
        axes.set_title(label, loc="left", fontsize=10, **FONT)
    write_below(row[0], "for the replacement with the largest final gap")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, **FONT)
    return figure
