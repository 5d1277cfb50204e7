"""Figures of bounds as functions of one parameter: one bound, or several around a witness."""

import textwrap
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from verify.formulas.bound import Bound
from verify.formulas.dominance import Dominance, Space
from verify.results.drawing import GREY, colours, direct_labels, in_style, ink, opened, set_scales, small, spans, write_below

__all__ = ["bound_curve", "bounds_around"]

_TITLE_WIDTH = 62  # characters of a line


@in_style
def bound_curve(bound: Bound, numbers: Mapping, against: str | None = None, *, ax: Axes | None = None) -> Figure | Axes:
    """Draw a bound against one of its parameters.

    ``numbers`` gives every parameter a value. ``against`` (default: the parameter with most values) has several; each
    combination of the others' values is a curve. Returns the figure; or ``ax``, if these axes are given.

    Raises:
        ValueError: no parameter with at least two values, or more curves than colours, which are five.
    """
    lists = {name: np.atleast_1d(np.asarray(value, dtype=float)) for name, value in numbers.items()}
    against = against or max(lists, key=lambda name: len(lists[name]), default="")
    long = [name for name, values in lists.items() if len(values) > 1 and name != against]
    if against not in lists or len(lists[against]) < 2:
        raise ValueError(f"the parameter on the axis must have several values; got {against!r}, "
                         f"several have: {', '.join(long) or 'none'}")
    combinations = list(product(*(lists[name] for name in long)))
    several = colours()
    if len(combinations) > len(several):
        raise ValueError(f"at most {len(several)} curves can be told apart; got {len(combinations)}, by {', '.join(long)}")
    x, curves = lists[against], []
    for values, colour in zip(combinations, several if long else (ink(),), strict=False):
        here = dict(zip(long, values, strict=True))
        point = {name: array[0] for name, array in lists.items()} | here | {against: x}
        curves.append((bound, point, ", ".join(f"{n} = {v:g}" for n, v in here.items()), colour))
    others = {name: values[0] for name, values in sorted(lists.items()) if name not in (against, *long)}
    axes = _draw_curves(ax, against, x, curves, ", ".join(f"{name} = {value:g}" for name, value in others.items()))
    if x.min() > 0 and x.max() / x.min() >= 100:
        axes.set_xscale("log")
    title = textwrap.wrap(bound.name, _TITLE_WIDTH)
    axes.annotate("\n".join(title), (0, 1), (0, 6), xycoords="axes fraction", textcoords="offset points", color=ink(),
                  fontsize=small(9.5), va="bottom")
    return axes.figure if ax is None else ax


@in_style
def bounds_around(bounds: Sequence[Bound], dominance: Dominance, against: str | None = None, *,
                  ax: Axes | None = None) -> Figure | Axes:
    """Draw compared bounds against one parameter, the others as in a witness.

    ``against`` defaults to a run length, else to the parameter that differs most between the two witnesses. Returns the
    figure; or ``ax``, if these axes are given.

    Raises:
        ValueError: no witness, or no such parameter.
    """
    point = (dominance.below or dominance.above or {}).get("parameters", {})
    other = (dominance.above or dominance.below or {}).get("parameters", {})
    if not point or (against is not None and against not in point):
        raise ValueError(f"cannot draw against {against!r}; the witness has: {', '.join(point) or 'nothing'}")
    space = Space(bounds, {})
    if lacking := sorted(space.names - point.keys()):
        raise ValueError(f"cannot draw {len(bounds)} bounds around a witness of two: it has no {', '.join(lacking)}")
    numbers = {name: float(Fraction(value)) for name, value in point.items()}
    apart = {name: abs(np.log(float(Fraction(other[name])) / value)) if value and other[name] != "0" else 0.0
             for name, value in numbers.items()}
    against = against or next((n for n in ("iterations", "rounds") if n in point), max(apart, key=apart.get))
    ends = sorted((numbers[against], float(Fraction(other[against]))))
    x = np.geomspace(ends[0] / 10, ends[1] * 10, 200)
    if against in space.ends:
        x = np.unique(np.clip(np.round(x), *space.ends[against]))
    if space.tied and against == "iterations":  # of whole rounds
        x = np.unique(np.maximum(1, np.round(x / numbers["local_steps"]))) * numbers["local_steps"]
    values, admitted = space.along({name: Fraction(value) for name, value in point.items()}, against, x)
    curves = [(b, {n: values[n] for n in b.parameters}, b.name, colour)
              for b, colour in zip(bounds, colours() * len(bounds), strict=False)]
    others = ", ".join(f"{name} = {value:.3g}" for name, value in numbers.items() if np.ptp(values[name]) == 0)
    axes = _draw_curves(ax, against, x, curves, others, admitted)
    axes.set_xscale("log")
    return axes.figure if ax is None else ax


def _draw_curves(ax, against: str, x: np.ndarray, curves: Sequence[tuple], others: str, admitted=True) -> Axes:
    """Draw curves (bound, parameters, label, colour) against ``x``; grey and dashed where a condition does not hold, or
    where not ``admitted``.

    Conditions on parameters without a value do not count. ``others`` is written below, and what dashes mean.
    """
    axes, columns, holding = opened(ax, 5.2, 3.4), [], []
    for bound, point, *_ in curves:
        point = bound.complete(point)
        columns.append(np.broadcast_to(bound.values(**point), x.shape))
        holding.append(np.broadcast_to(bound.checkable(point).applies(**point), x.shape) & admitted)
    set_scales(axes, x, columns, spans(columns, 10))
    for y, applies, (*_, colour) in zip(columns, holding, curves, strict=True):
        axes.plot(x, np.where(applies, np.nan, y), color=GREY, linestyle="--", linewidth=1.4)
        axes.plot(x, np.where(applies, y, np.nan), color=colour)
    if any(label for *_, label, _ in curves):
        direct_labels(axes, [(y, label, colour) for y, (*_, label, colour) in zip(columns, curves, strict=True)])
    axes.set_xlabel(against)
    axes.set_ylabel("bound")
    write_below(axes, others + ("" if np.all(holding) else "; dashed: a condition does not hold"))
    return axes
