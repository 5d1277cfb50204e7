"""Figures of bounds as functions of a parameter: one bound, or several around a witness."""

from __future__ import annotations

import textwrap
from fractions import Fraction
from itertools import product

import numpy as np
from matplotlib.figure import Figure

from verify.formulas.bound import ranges_of
from verify.results.drawing import (
    BLUE,
    BOUND,
    FONT,
    GREEN,
    GREY,
    PURPLE,
    VERMILLION,
    canvas,
    direct_labels,
    log_ticks,
    set_scales,
    spans,
    write_below,
)

__all__ = ["bound_curve", "bounds_around", "region_map"]

COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, BOUND)
_HEADING = 62  # characters of a line
_SHADE = ("#CFE3F0", "#F6D9C8")  # of regions


def bound_curve(bound, numbers, against: str | None = None) -> Figure:
    """A bound (:class:`verify.bound.Bound`) against one of its parameters.

    ``numbers`` gives every parameter a value, ``against`` (default: the one with most values) an array of them. Others with
    several values give a curve for each of their combinations. Where the claim's conditions do not hold, of those whose
    parameters have values, a curve is grey and dashed.

    Raises:
        ValueError: no parameter with at least two values, or more than five curves.
    """
    lists = {name: np.atleast_1d(np.asarray(value, dtype=float)) for name, value in numbers.items()}
    against = against or max(lists, key=lambda name: len(lists[name]), default="")
    long = [name for name, values in lists.items() if len(values) > 1 and name != against]
    if against not in lists or len(lists[against]) < 2:
        raise ValueError(f"the parameter on the axis must have several values; got {against!r}, "
                         f"several have: {', '.join(long) or 'none'}")
    combinations = list(product(*(lists[name] for name in long)))
    if len(combinations) > len(COLOURS):
        raise ValueError(f"at most {len(COLOURS)} curves can be told apart; got {len(combinations)}, by {', '.join(long)}")
    x, curves = lists[against], []
    for values, colour in zip(combinations, COLOURS if long else (BOUND,), strict=False):
        here = {name: array if name == against else array[0] for name, array in lists.items()} | dict(
            zip(long, values, strict=True))
        y, applies = _column(bound, here, x)
        curves.append((y, applies, ", ".join(f"{n} = {v:g}" for n, v in zip(long, values, strict=True)), colour))
    figure, (axes,) = canvas(5.2, 3.4)
    columns = [y for y, *_ in curves]
    set_scales(axes, x, columns, spans(columns, 10))
    if x.min() > 0 and x.max() / x.min() >= 100:
        axes.set_xscale("log")
    for y, applies, _, colour in curves:
        axes.plot(x, np.where(applies, np.nan, y), color=GREY, linestyle="--", linewidth=1.4)
        axes.plot(x, np.where(applies, y, np.nan), color=colour, linewidth=1.8)
    if long:
        direct_labels(axes, [(y, text, colour) for y, _, text, colour in curves])
    axes.set_xlabel(against, **FONT)
    axes.set_ylabel("bound", **FONT)
    _heading(axes, [(bound.name, BOUND)])
    others = ", ".join(f"{name} = {values[0]:g}" for name, values in sorted(lists.items()) if name not in (against, *long))
    everywhere = all(applies.all() for _, applies, *_ in curves)
    write_below(axes, others + ("" if everywhere else "; dashed: a condition does not hold"))
    return figure


def _heading(axes, lines) -> None:
    """Lines of text above the axes, (text, colour), each broken where it is too long."""
    height = 6.0
    for text, colour in reversed(lines):
        parts = textwrap.wrap(text, _HEADING, break_on_hyphens=True)
        axes.annotate("\n".join(parts), (0, 1), (0, height), xycoords="axes fraction", textcoords="offset points",
                      color=colour, fontsize=9.5, va="bottom", **FONT)
        height += 13.0 * len(parts)


def _column(bound, point, x):
    """The bound along x, and where the conditions hold whose parameters have values."""
    point = bound.complete(point)
    applies = bound.checkable(point).applies(**point)
    return np.broadcast_to(bound.values(**point), x.shape), np.broadcast_to(applies, x.shape)


def region_map(dominance, there) -> Figure:
    """Where the first bound is below the second, and where above, over two parameters (:class:`verify.regions.Map`)."""
    figure, (axes,) = canvas(5.2, 3.9)
    ratio = np.clip(there.ratio, -30, 30)
    axes.contourf(there.xs, there.ys, ratio, levels=[-31, 0, 31], colors=_SHADE)
    axes.contour(there.xs, there.ys, ratio, levels=[0], colors=[BOUND], linewidths=1.4)
    axes.plot(*(float(Fraction(there.witness[name])) for name in (there.x, there.y)), "o", color=BOUND, markersize=5,
              clip_on=False, zorder=4)
    axes.set_xscale("log")
    axes.set_yscale("log")
    for axis, values in ((axes.xaxis, there.xs), (axes.yaxis, there.ys)):
        log_ticks(axis, values[0], values[-1])
    axes.set_xlabel(there.x, **FONT)
    axes.set_ylabel(there.y, **FONT)
    _heading(axes, [(f"{one} is smaller", colour) for one, colour in zip(
        (dominance.first, dominance.second), (BLUE, VERMILLION), strict=True)])
    others = ", ".join(f"{name} = {float(Fraction(value)):.3g}" for name, value in there.witness.items()
                       if name not in (there.x, there.y))
    nowhere = "; white: a condition does not hold" if np.isnan(there.ratio).any() else ""
    write_below(axes, f"dot: witness. {others}{nowhere}")
    return figure


def bounds_around(bounds, dominance, against: str | None = None) -> Figure:
    """Bounds against one parameter, the others as in a witness (:class:`verify.dominance.Dominance`).

    ``against`` defaults to the parameter that differs most between the two witnesses, or to a run length.

    Raises:
        ValueError: no witness, or no such parameter.
    """
    point = (dominance.below or dominance.above or {}).get("parameters", {})
    other = (dominance.above or dominance.below or {}).get("parameters", {})
    if not point or (against is not None and against not in point):
        raise ValueError(f"cannot draw against {against!r}; the witness has: {', '.join(point) or 'nothing'}")
    numbers = {name: float(Fraction(value)) for name, value in point.items()}
    apart = {name: abs(np.log(float(Fraction(other[name])) / value)) for name, value in numbers.items()}
    against = against or next((n for n in ("iterations", "rounds") if n in point), max(apart, key=apart.get))
    ends = sorted((numbers[against], float(Fraction(other[against]))))
    x = np.geomspace(ends[0] / 10, ends[1] * 10, 200)
    if any(ranges_of(b)[against].whole for b in bounds if against in ranges_of(b)):  # counts from 1
        x = np.unique(np.maximum(1, np.round(x)))
    figure, (axes,) = canvas(5.2, 3.4)
    columns = [np.broadcast_to(b.values(**{n: x if n == against else numbers[n] for n in b.parameters if n in {
        s.name for s in b.form.parameters}}), x.shape) for b in bounds]
    set_scales(axes, x, columns, spans(columns, 10))
    axes.set_xscale("log")
    curves = []
    for b, y, colour in zip(bounds, columns, COLOURS * len(bounds), strict=False):
        axes.plot(x, y, color=colour, linewidth=1.8)
        curves.append((y, b.name, colour))
    direct_labels(axes, curves)
    axes.set_xlabel(against, **FONT)
    axes.set_ylabel("bound", **FONT)
    write_below(axes, ", ".join(f"{name} = {value:.3g}" for name, value in numbers.items() if name != against))
    return figure
