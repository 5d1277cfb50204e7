"""Stability: runs on data sets that differ in one sample, against the number of samples and of local steps."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import fedtheory as ft
from fedtheory.stability import coupled_runs, random_replacements
from verify.demos.controls import Choice, Slider
from verify.demos.drawn import CORRECTED, DRIFTING, legend, name, panels
from verify.results.drawing import GREY

__all__ = ["CONTROLS", "Distances", "caption", "compute", "gap", "picture"]

SAMPLES, LOCAL_STEPS = (5, 10, 20, 40, 80), (1, 2, 4, 8, 16)
CONTROLS = {
    "samples": Slider("samples of a client $n$", SAMPLES, 20),
    "local_steps": Slider("local steps $K$", LOCAL_STEPS, 4),
    "eta": Slider(r"step $\eta$", (0.01, 0.02, 0.05, 0.1, 0.2), 0.05),
    "losses": Choice("losses", ("linear-samples", "log-cosh", "sigmoid"), "log-cosh"),
}
CLIENTS, ROUNDS, REPLACED, SEEDS = 4, 12, 16, 8


class Distances(NamedTuple):
    """E|x_r - x'_r| of coupled runs: (replaced samples, rounds + 1) at the chosen n and K, and after the last round the
    mean and the largest over replaced samples by n, and by K, (2, values)."""

    course: np.ndarray
    by_samples: np.ndarray
    by_steps: np.ndarray
    samples: int
    local_steps: int


@lru_cache(maxsize=512)
def gap(samples: int, local_steps: int, eta: float, losses: str) -> np.ndarray:
    """E|x_r - x'_r| over seeds, (replaced samples, rounds + 1); a gradient is of one sample, the same one in both runs."""
    federation = ft.make_problem(losses, clients=CLIENTS, samples=samples, batch_size=1)
    if losses == "linear-samples":  # all samples are equal; a replaced one has the other sign
        replaced = [(k % CLIENTS, 0, [-1.0], [1e6]) for k in range(REPLACED)]
    else:
        replaced = random_replacements(federation, REPLACED)
    method = ft.fedavg(eta_l=eta, local_steps=local_steps)
    return coupled_runs(method, federation, replaced, ROUNDS, seeds=SEEDS).parameter_gap


def compute(samples: int, local_steps: int, eta: float, losses: str) -> Distances:
    """The gaps at the chosen numbers, and along each of them."""
    along = ([gap(n, local_steps, eta, losses)[:, -1] for n in SAMPLES],
             [gap(samples, k, eta, losses)[:, -1] for k in LOCAL_STEPS])
    by_samples, by_steps = (np.array([[ends.mean() for ends in each], [ends.max() for ends in each]]) for each in along)
    return Distances(gap(samples, local_steps, eta, losses), by_samples, by_steps, samples, local_steps)


def picture(found: Distances) -> Figure:
    """The gap by round, by the number of samples, and by the number of local steps."""
    figure, (course, samples, steps) = panels(3, 3.9)
    for row in found.course:
        course.plot(row, color=GREY, linewidth=0.6, alpha=0.7)
    course.plot(found.course.mean(axis=0), color=CORRECTED, linewidth=2, label="mean")
    course.plot(found.course.max(axis=0), color=DRIFTING, linewidth=1.4, label="largest")
    course.set_ylim(bottom=0)
    name(course, "round", r"mean of $|x_r - x'_r|$ over seeds", f"{REPLACED} replaced samples")
    legend(course)
    for axes, places, values, chosen, what in (
            (samples, SAMPLES, found.by_samples, found.samples, "samples of a client $n$"),
            (steps, LOCAL_STEPS, found.by_steps, found.local_steps, "local steps $K$")):
        for row, colour, label in zip(values, (CORRECTED, DRIFTING), ("mean", "largest"), strict=True):
            axes.loglog(places, row, "o-", color=colour, markersize=4, label=label)
            axes.plot([chosen], [row[places.index(chosen)]], "o", color=colour, markersize=9)
        slope = -1 if axes is samples else 1
        line = values[0][places.index(chosen)] * (np.array(places) / chosen) ** slope
        axes.loglog(places, line, color="black", linestyle=(0, (2, 3)), linewidth=1, label="$1/n$" if slope < 0 else "$K$")
        axes.set_xticks(places, [str(place) for place in places])
        axes.minorticks_off()
        name(axes, what, "", f"after {ROUNDS} rounds")
        legend(axes)
    return figure


def caption(found: Distances) -> str:
    """The picture in words."""
    slopes = [float(np.polyfit(np.log(places), np.log(values[0]), 1)[0]) for places, values in (
        (SAMPLES, found.by_samples), (LOCAL_STEPS, found.by_steps))]
    return (f"One of {CLIENTS * found.samples} samples is another one: the runs are then apart by "
            f"**{found.course[:, -1].mean():.3g}** in the mean. "
            f"The gap goes like $n^{{{slopes[0]:.2f}}}$ and $K^{{{slopes[1]:.2f}}}$ (fitted).")
