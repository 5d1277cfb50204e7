"""The figure of ``fedtheory stability``: gaps of parameters and losses by round, and claims about them."""

from collections.abc import Sequence

import numpy as np

from fedtheory.stability import Stability
from verify.evidence.beside_runs import Comparison
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
def stability_figure(found: Stability, beside: Sequence[Comparison], title: str, *, ax=None):
    """Draws the parameter gap by round, the loss gap where there is a test, and a panel for each of the tightest claims.

    A panel shows both sides over the rounds, or over the statement's first index, each where the others are worst. Returns
    the figure; or ``ax``, if axes are given: a sequence with one for each panel.
    """
    rounds = np.arange(found.parameter_gap.shape[1])
    shown = [("parameter gap [parameter]", rounds, found.parameter_gap[found.worst], None, "round")]
    if not np.isnan(found.loss_gap).any():
        shown.append(("loss gap [loss]", rounds, found.loss_gap[found.worst], None, "round"))
    known = sorted((c for c in beside if c.series is not None), key=lambda c: -c.ratio)[:MOST_CLAIMS]
    for claim in known:
        sides = (np.asarray(side, dtype=float) for side in (claim.series.x, claim.series.left, claim.series.right))
        shown.append((claim.claim, *sides, claim.series.x_label))
    row = panels(ax, [label for label, *_ in shown], 0.6 + 3.4 * len(shown), 3.2)
    for axes, (label, x, left, right, x_label) in zip(row, shown, strict=True):
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
