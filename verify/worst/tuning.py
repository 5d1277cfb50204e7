"""Worst cases of a method over a number of rounds, and the step with the least of them."""

from collections.abc import Iterator
from math import exp, inf, log
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import minimize_scalar

from synthetic.base.checks import number, whole
from verify.results.drawing import curve, edge_remarks, in_style, ink, opened, set_scales, spans, write_below
from verify.worst.method_worst_case import WorstOfMethod, worst
from verify.worst.program import NotSolved

__all__ = ["Tuned", "over_rounds", "rounds_figure", "tuned"]

_GRID = 13  # values from which the search begins
_RANGE = 1e-3, 2.0  # of a local step, in units of 1/L
#: of the measures
LABELS = {"distance": r"$|x_T - x_\star|^2$", "value": r"$F(x_T) - F_\star$", "gradient": r"$|\nabla F(x_T)|^2$",
          "least-gradient": r"$\min_{t \leq T} |\nabla F(x_t)|^2$", "least-value": r"$\min_{t \leq T} F(x_t) - F_\star$"}


class Tuned(NamedTuple):
    """The value of a parameter with the least worst ratio that was found, that worst case, the ratios of all values that
    were looked at, and those values at which the ratio is not known."""

    value: float
    worst: WorstOfMethod
    seen: dict[float, float]
    unknown: tuple[float, ...] = ()


def tuned(method, parameter: str = "eta_l", low: float | None = None, high: float | None = None, **question) -> Tuned:
    """The value of a ``parameter`` of a method, from ``low`` to ``high``, with the least worst ratio; ``question`` as in
    :func:`verify.worst.method_worst_case.worst`.

    Of a logarithmic grid the best value and its neighbours bound a search by Brent's method. A ratio with several valleys
    narrower than the grid may have a lower one. By default a local step ``eta_l`` is at most 2/L. Values at which the
    program has no answer that passes the check are named as ``unknown``.

    Raises:
        ValueError: no bounds of another parameter; the parameter in the ``question``; no value with a finite ratio; as
            :func:`worst`.
    """
    if parameter in question:
        raise ValueError(f"{parameter} is to be chosen, and it is given as {question[parameter]!r}")
    if parameter == "eta_l":
        L = float(question.get("L", 1.0))
        low, high = (default / L if given is None else given for default, given in zip(_RANGE, (low, high), strict=True))
    if low is None or high is None:
        raise ValueError(f"{parameter} needs the range in which to look, as in {parameter}=0.1:1")
    low, high = number(f"least {parameter}", low, strict=True), number(f"largest {parameter}", high, low, strict=True)
    found: dict[float, WorstOfMethod] = {}
    unknown: list[float] = []

    def ratio(place):
        value = exp(place)
        try:
            found[value] = worst(method, **question, **{parameter: value})
        except NotSolved:
            unknown.append(value)
            return inf
        return found[value].ratio

    places = np.linspace(log(low), log(high), _GRID)
    ratios = [ratio(place) for place in places]
    best = int(np.argmin(ratios))
    if ratios[best] == inf:
        raise ValueError(f"the worst ratio is infinite or not known for every {parameter} from {low:g} to {high:g}")
    ends = places[max(best - 1, 0)], places[min(best + 1, _GRID - 1)]
    minimize_scalar(lambda place: min(ratio(place), 1e300), bounds=ends, method="bounded", options={"xatol": 1e-4})
    value = min(found, key=lambda value: found[value].ratio)
    return Tuned(value, found[value], {value: found[value].ratio for value in sorted(found)}, tuple(sorted(unknown)))


def over_rounds(method, rounds: int, **question) -> Iterator[WorstOfMethod]:
    """The worst cases after 1, 2, ... rounds."""
    for count in range(1, whole("rounds", rounds) + 1):
        yield worst(method, rounds=count, **question)


@in_style
def rounds_figure(worsts: list[WorstOfMethod], *, ax: Axes | None = None) -> Figure | Axes:
    """Draw the worst ratio over the number of rounds. Returns the figure; or ``ax``, if these axes are given."""
    axes = opened(ax, 5.4, 3.6)
    rounds, ratios = np.array([float(worst.rounds) for worst in worsts]), np.array([worst.ratio for worst in worsts])
    set_scales(axes, rounds, [ratios], bool(np.isfinite(ratios).any()) and spans([ratios], 10))
    curve(axes, rounds, ratios, ink(), "o", "-" if worsts[0].tight else "--")
    axes.set_xlabel("rounds $T$")
    axes.set_ylabel(LABELS[worsts[0].question.measure])
    what = "the worst case" if worsts[0].tight else "an upper bound of the worst case"
    text = f"{worsts[0].algorithm.name}: {what} over all {worsts[0].functions} functions"
    write_below(axes, "; ".join([text, *edge_remarks(axes, ratios, False)]))
    return axes.figure if ax is None else ax
