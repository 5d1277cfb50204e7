"""Shared parts of the papers' comparisons in miniature: digits over clients, runs of several methods, curves with bands."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from matplotlib.axes import Axes

import fedtheory as ft
from verify.demos.drawn import legend, name
from verify.results.bands import mean_with_band
from verify.results.drawing import log_ticks

__all__ = ["CLIENTS", "SEEDS", "at_end", "curves", "digits", "heights", "runs_of"]

CLIENTS, SEEDS = 10, 5


@lru_cache(maxsize=32)
def digits(alpha: float, hidden: tuple[int, ...] = (8,)):
    """900 images of digits over 10 clients of equal weight by a Dirichlet law, a third of them held out; a small network."""
    return ft.make_problem("digits-perceptron", hidden=hidden, clients=CLIENTS, alpha=alpha, smallest=10, weights="equal",
                           batch_size=8, rows=900, held_out=300)


def runs_of(methods: Mapping[str, Mapping], federation, rounds: int, measured: Sequence[str] = ("held_out_loss",),
            **shared) -> tuple[tuple[np.ndarray, ...], ...]:
    """Run each method with its own arguments, and return each quantity in ``measured`` along its runs, by method, (seeds,
    ...).

    Runs are kept, so that a slider moves only what depends on it.
    """
    found = (_run(name, tuple((shared | dict(own)).items()), federation, rounds, tuple(measured))
             for name, own in methods.items())
    return tuple(zip(*found, strict=True))


@lru_cache(maxsize=512)
def _run(name: str, arguments: tuple, federation, rounds: int, measured: tuple[str, ...]) -> tuple[np.ndarray, ...]:
    method = ft.make_algorithm(name, **dict(arguments))
    runs = ft.run(method, federation, rounds, seeds=SEEDS, record=measured).dataset
    return tuple(runs[each].values for each in measured)


def heights(courses: Sequence[np.ndarray]) -> tuple[float, float]:
    """Least and largest mean loss with some room; what grows a thousandfold is left out."""
    means = np.concatenate([course.mean(axis=0) for course in courses])
    means = means[np.isfinite(means)]
    return means.min() / 1.3, 1.3 * min(means.max(), 1e3 * means.min())


def curves(axes: Axes, courses: Sequence[np.ndarray], labels: Sequence[str], colours: Sequence[str], x=None,
           title: str = "", limits: tuple[float, float] | None = None, dashed: str = "") -> None:
    """The mean held-out loss of each method by round, or over its own ``x``, with the 95 % band over the seeds.

    ``limits`` of the axis are by default :func:`heights`; ``dashed`` is the label of a curve that may lie on another.
    """
    for number, (course, label, colour) in enumerate(zip(courses, labels, colours, strict=True)):
        places = np.arange(course.shape[1]) if x is None else x[number]
        mean_with_band(axes, places, course, label=label, color=colour, linewidth=1.8,
                       linestyle=(0, (4, 3)) if label == dashed else "-")
    axes.set_yscale("log")
    axes.set_ylim(limits or heights(courses))
    log_ticks(axes.yaxis, *axes.get_ylim())
    name(axes, "round" if x is None else "floats uploaded by all clients, in models",
         f"held-out loss, mean of {SEEDS} seeds, 95 % band", title)
    legend(axes)


def at_end(values: np.ndarray) -> str:
    """The mean over the seeds in the last round, in words."""
    mean = values[:, -1].mean()
    return f"**{mean:.3g}**" if np.isfinite(mean) else "**beyond all numbers**"
