"""A measure of a sweep over two arguments of a method, as a map of colours."""

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm, Normalize

from verify.results.drawing import VIOLATION, in_style, opened, spans, write_below

__all__ = ["heat_map"]

_MOST_LABELS = 12  # values named along an axis


@in_style
def heat_map(dataset: xr.Dataset, measure: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draws a measure of a sweep, its mean over the seeds, over the two dimensions of the grid.

    The colours are logarithmic where positive values span more than a factor of ten. Points without a finite value, as
    where runs diverge or a claim's hypotheses fail, stay grey. Of a ratio of two sides the line where it is 1 is red.

    Args:
        dataset: from :func:`fedtheory.sweep`. Of more than two dimensions choose the others with ``dataset.sel``.
        measure: a variable of it; needed where there is more than one.
        ax: axes to draw into; if None those of a new figure.

    Returns:
        The axes; ``ax.figure.savefig(path)`` saves them.

    Raises:
        LookupError: no such measure. ValueError: not two dimensions, of at least two values each.
    """
    measures = [str(name) for name in dataset.data_vars if name != "diverged"]
    if measure is None and len(measures) != 1:
        raise ValueError(f"measure must be one of {', '.join(measures)}; got none")
    measure = measure or measures[0]
    if measure not in dataset:
        raise LookupError(f"unknown measure {measure!r}; allowed: {', '.join(measures)}")
    array = dataset[measure]
    means = array.mean([name for name in array.dims if name == "seed"], skipna=False)
    if means.ndim != 2 or min(means.shape) < 2:
        raise ValueError("a heat map needs a grid of two arguments with at least two values each; got "
                         + (" x ".join(f"{size} of {name}" for name, size in means.sizes.items()) or "none"))
    vertical, horizontal = means.dims
    values = np.where(np.isfinite(means.values), means.values, np.nan)
    axes = opened(ax, 5.6, 4.2)
    known = values[np.isfinite(values)]
    logarithmic = known.size > 0 and spans([known], 10)
    low, high = (known[known > 0].min() if logarithmic else known.min(), known.max()) if known.size else (0.0, 1.0)
    shown = np.where(values <= 0, low, values) if logarithmic else values
    axes.set_facecolor("#d9d9d9")
    norm = (LogNorm if logarithmic else Normalize)(low, high if high > low else low + 1)
    drawn = axes.pcolormesh(np.ma.masked_invalid(shown), norm=norm)
    for axis, name in ((axes.xaxis, horizontal), (axes.yaxis, vertical)):
        _label(axis, name, dataset[name].values)
    unit = array.attrs.get("units", "")
    bar = axes.figure.colorbar(drawn, ax=axes)
    bar.set_label(array.attrs.get("long_name", measure) + (f" [{unit}]" if unit and unit != "1" else ""))
    axes.set_title(f"{dataset.attrs.get('method', '')} on {dataset.attrs.get('federation', '')}, "
                   f"{dataset.attrs.get('rounds', '?')} rounds")
    remarks = ["grey: no finite value"] if np.isnan(values).any() else []
    if measure == "ratio" and known.size and known.min() <= 1 < known.max():
        _frontier(axes, values > 1)
        remarks.append("red: beyond it the left side exceeds the bound")
    write_below(axes, "; ".join(remarks))
    return axes


def _label(axis, name, values) -> None:
    """Names at most ``_MOST_LABELS`` of the values, evenly spaced, in the middle of their cells."""
    step = -(-len(values) // _MOST_LABELS)
    places = np.arange(0, len(values), step)
    texts = [f"{value:.3g}" if isinstance(value, float | np.floating) else str(value) for value in values[places]]
    axis.set_ticks(places + 0.5, texts)
    axis.set_label_text(str(name))


def _frontier(axes, beyond) -> None:
    """Lines between cells that are beyond and cells that are not."""
    rows, columns = np.nonzero(beyond[:, 1:] != beyond[:, :-1])
    axes.vlines(columns + 1, rows, rows + 1, color=VIOLATION, linewidth=2)
    rows, columns = np.nonzero(beyond[1:] != beyond[:-1])
    axes.hlines(rows + 1, columns, columns + 1, color=VIOLATION, linewidth=2)
