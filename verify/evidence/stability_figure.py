"""The figure of ``fedtheory stability``: gaps of parameters and losses by round, and claims about them."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from fedtheory.stability import Stability
from verify.evidence.stability import Beside
from verify.results.drawing import BOUND, FONT, MEASUREMENT, canvas, curve, direct_labels, set_scales, spans, write_below

__all__ = ["stability_figure"]

MOST_CLAIMS = 3  #: panels of claims


def stability_figure(found: Stability, beside: Sequence[Beside], title: str) -> Figure:
    """Draws the parameter gap by round, the loss gap where there is a test, and a panel for each of the tightest claims.

    The panel of a final bound shows both sides over its horizons. The panel of a recursion shows them over its steps, each
    at the other indices (the client, say) where the left side is largest.
    """
    panels = [("parameter gap [parameter]", found.parameter_gap[found.worst], None, "round")]
    if not np.isnan(found.loss_gap).any():
        panels.append(("loss gap [loss]", found.loss_gap[found.worst], None, "round"))
    measured = sorted((c for c in beside if c.ratio is not None), key=lambda c: -c.ratio)[:MOST_CLAIMS]
    for claim in measured:
        rows = claim.rows or _by_first_index(claim.steps)
        left, right = np.array([row[2:] for row in rows], dtype=float).T
        panels.append((claim.claim, left, right, "rounds" if claim.rows else rows[0][1].split(" ")[0]))
    figure, row = canvas(0.6 + 3.4 * len(panels), 3.2, len(panels))
    for axes, (label, left, right, x_label) in zip(row, panels, strict=True):
        lengths = [r[0] for c in beside if c.claim == label for r in c.rows]
        x = np.array(lengths or np.arange(len(left)), dtype=float)
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


def _by_first_index(steps) -> list[tuple]:
    """For every value of the first index, the row with the largest left side."""
    best: dict[str, tuple] = {}
    for row in steps:
        first = row[1].split(",")[0]
        if first not in best or row[2] > best[first][2]:
            best[first] = row
    return list(best.values())
