"""The figure of ``fedtheory stability``: gaps of parameters and losses by round, and claims about them."""

from collections.abc import Sequence

import numpy as np

from fedtheory.stability import Stability
from verify.evidence.stability import Beside
from verify.results.drawing import (
    curve,
    direct_labels,
    in_style,
    ink,
    measured,
    panels,
    set_scales,
    spans,
    titled,
    write_below,
)

__all__ = ["stability_figure"]

MOST_CLAIMS = 3  #: panels of claims


@in_style
def stability_figure(found: Stability, beside: Sequence[Beside], title: str, *, ax=None):
    """Draws the parameter gap by round, the loss gap where there is a test, and a panel for each of the tightest claims.

    The panel of a final bound shows both sides over its horizons. The panel of a recursion shows them over its steps, each
    at the other indices (the client, say) where the left side is largest. Returns the figure; or ``ax``, if axes are given:
    a sequence with one for each panel.
    """
    shown = [("parameter gap [parameter]", found.parameter_gap[found.worst], None, "round")]
    if not np.isnan(found.loss_gap).any():
        shown.append(("loss gap [loss]", found.loss_gap[found.worst], None, "round"))
    known = sorted((c for c in beside if c.ratio is not None), key=lambda c: -c.ratio)[:MOST_CLAIMS]
    for claim in known:
        rows = claim.rows or _by_first_index(claim.steps)
        left, right = np.array([row[2:] for row in rows], dtype=float).T
        shown.append((claim.claim, left, right, "rounds" if claim.rows else rows[0][1].split(" ")[0]))
    row = panels(ax, [label for label, *_ in shown], 0.6 + 3.4 * len(shown), 3.2)
    for axes, (label, left, right, x_label) in zip(row, shown, strict=True):
        lengths = [r[0] for c in beside if c.claim == label for r in c.rows]
        x = np.array(lengths or np.arange(len(left)), dtype=float)
        columns = [left] if right is None else [left, right]
        set_scales(axes, x, columns, right is not None and spans(columns, 100))
        floor, top = axes.get_ylim()
        if right is not None:
            curve(axes, x, right, ink(), "s", (0, (5, 2)))
        curve(axes, x, left, measured(), "o", "-")
        axes.set_ylim(floor, top)
        if right is not None:
            direct_labels(axes, ((right, "bound", ink()), (left, "measured", measured())))
        axes.set_xlabel(x_label)
        axes.set_title(label)
    write_below(row[0], "for the replacement with the largest final gap")
    titled(row, ax is None, title)
    return row[0].figure if ax is None else ax


def _by_first_index(steps) -> list[tuple]:
    """For every value of the first index, the row with the largest left side."""
    best: dict[str, tuple] = {}
    for row in steps:
        first = row[1].split(",")[0]
        if first not in best or row[2] > best[first][2]:
            best[first] = row
    return list(best.values())
