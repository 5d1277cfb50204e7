"""The worst function of a method: the program's worst case over a class, and the method's run on the function it finds."""

from functools import lru_cache
from math import isfinite
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import fedtheory as ft
from verify.demos.controls import Choice, Slider
from verify.demos.drawn import CORRECTED, EXACT, legend, name, panels
from verify.results.drawing import own_style
from verify.worst.function import WorstFunction, measured, worst_function
from verify.worst.function_figure import function_figure
from verify.worst.tuning import LABELS

__all__ = ["CONTROLS", "Worst", "caption", "compute", "picture"]

#: what is asked of :func:`fedtheory.worst`, by the words of the choice
QUESTIONS = {
    "gradient descent, convex": dict(what="fedavg", clients=1, functions="smooth-convex", measure="value"),
    "gradient descent, strongly convex": dict(what="fedavg", clients=1),
    "FedAvg, two clients": dict(what="fedavg", clients=2, local_steps=2),
    "SCAFFOLD, two clients": dict(what="scaffold", clients=2, local_steps=2),
    "gradient descent, not convex": dict(what="fedavg", clients=1, functions="smooth"),
}
STEPS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9)
CONTROLS = {
    "eta": Slider(r"step $\eta$, in units of $1/L$", STEPS, 1.0),
    "rounds": Slider("rounds", (1, 2, 3, 4, 5), 3),
    "question": Choice("method and class", tuple(QUESTIONS), "gradient descent, convex"),
}


class Worst(NamedTuple):
    """The least number by which the measure is at most what is given at the start, at each step; at the chosen step that
    number, the same of the method's ordinary run on the worst function, and this function; None where there is none."""

    ratios: np.ndarray
    eta: float
    ratio: float
    run: float
    function: WorstFunction | None
    label: str


def compute(eta: float, rounds: int, question: str) -> Worst:
    """The worst cases at all steps, and the worst function at the chosen one."""
    found = _worst_at(eta, rounds, question)
    function = worst_function(found) if isfinite(found.ratio) else None
    run = measured(function)["ratio"] if function else float("inf")
    ratios = np.array([_worst_at(step, rounds, question).ratio for step in STEPS])
    return Worst(ratios, eta, found.ratio, run, function, LABELS[found.question.measure])


@lru_cache(maxsize=512)
def _worst_at(eta: float, rounds: int, question: str):
    return ft.worst(rounds=rounds, eta_l=eta, **QUESTIONS[question])


def picture(found: Worst) -> Figure:
    """The worst case by step, and the run on the worst function."""
    figure, (steps, function) = panels()
    finite = np.isfinite(found.ratios)
    steps.plot(np.array(STEPS)[finite], found.ratios[finite], color=EXACT, linewidth=1.8, label="over all functions")
    steps.plot([found.eta], [found.run], "o", color=CORRECTED, markersize=9, label="the run on the right")
    steps.set_ylim(0, min(1.05 * found.ratios[finite].max(), 4))
    name(steps, r"step $\eta$, in units of $1/L$", f"largest {found.label}", "the worst case, by step")
    legend(steps)
    if found.function is None:
        function.set_axis_off()
        return figure
    with own_style():
        function_figure(found.function, ax=function)
    dim = found.function.federation.dim
    function.set_title("the worst function" + (f", main plane of {dim} dimensions" if dim > 2 else ""), loc="left",
                       fontsize=12, fontfamily="STIXGeneral")
    return figure


def caption(found: Worst) -> str:
    """The picture in words."""
    if found.function is None:
        return "Here no number bounds it."
    best = STEPS[int(np.argmin(found.ratios))]
    return (f"Over all functions of the class it is at most **{found.ratio:.6g}**; the method's ordinary run on the "
            f"function shown gives {found.run:.6g}. Of the steps shown {best:g} has the least worst case.")
