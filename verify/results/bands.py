"""A curve over many runs: their mean with its confidence band, drawn into the reader's axes."""

import numpy as np

from verify.results.figures import mean_and_band

__all__ = ["mean_with_band"]


def mean_with_band(axes, x, values, **style):
    """Draw the mean over runs, and the ends of Student's t interval that holds it with 95 % confidence as a band.

    The band is about the mean of infinitely many such runs, not about single runs, and counts at each place alone. There is
    none for one run, and none where a run is not finite: there the mean is left out too. What the runs share, such as the
    data and their split, does not vary in the band.

    Args:
        axes: of matplotlib.
        x: places, (places,); or one row per run (runs, places), whose mean is taken.
        values: (runs, places), such as an observable of a trajectory.
        style: of the curve (``label``, ``color``, ``linestyle``, ...), as of ``axes.plot``.

    Returns:
        The curve, a line of matplotlib. The band has its colour.

    Raises:
        ValueError: shapes that do not fit.

    Example:
        >>> from matplotlib.figure import Figure
        >>> axes = Figure().subplots()
        >>> mean_with_band(axes, [0, 1], [[1.0, 2.0], [3.0, 2.0]]).get_ydata().tolist()
        [2.0, 2.0]
    """
    x, values = np.asarray(x, dtype=float), np.asarray(values, dtype=float)
    if values.ndim != 2 or x.shape not in (values.shape, values.shape[1:]):
        raise ValueError(f"values must be (runs, places), x (places,) or (runs, places); got {values.shape} and {x.shape}")
    x = x.mean(axis=0) if x.ndim == 2 else x
    mean, low, high = mean_and_band(values)
    shown = np.isfinite(mean)
    (line,) = axes.plot(x, np.where(shown, mean, np.nan), **style)
    if len(values) > 1:
        axes.fill_between(x, low, high, where=shown, color=line.get_color(), alpha=0.2, linewidth=0)
    return line
