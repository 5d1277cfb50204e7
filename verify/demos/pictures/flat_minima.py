"""Flat minima and weight averaging: FedAvg and FedSWA on a line with a sharp and a flat well."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import fedtheory as ft
from synthetic.base.noise import GaussianNoise, NoNoise
from synthetic.numbers.arrays import TORCH
from synthetic.piecewise.piecewise import Piecewise
from verify.demos.controls import Slider
from verify.demos.drawn import CORRECTED, DRIFTING, EXACT, by_round, legend, name, panels
from verify.results.drawing import GREY

__all__ = ["CONTROLS", "Landing", "caption", "compute", "landscape", "picture"]

CONTROLS = {
    "eta": Slider(r"local step $\eta$", (0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12), 0.1),
    "sigma": Slider(r"noise of the gradients $\sigma$", (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0), 1.5),
    "eta_g": Slider(r"FedSWA's server step $\eta_g$", (1.0, 1.25, 1.5, 1.75, 2.0), 1.0),
    "moved": Slider(r"the landscape of new data is moved by $\delta$", (0.0, 0.05, 0.1, 0.15, 0.2, 0.3), 0.1),
}
WELLS = ((1.0, 0.1, 0.45), (-1.0, 0.5, 0.3))  # place, half width of the bottom, depth: sharp, flat
APART, BOWL, RUNS, ROUNDS, LOCAL_STEPS = 0.03, 0.1, 200, 40, 10
_REACH, _BASIN = 2.2, (0.3, 1.0)  # of the picture; half widths of the basins, three times the bottoms at most
_LABELS = (("FedAvg", DRIFTING), ("FedSWA", CORRECTED))


class Landing(NamedTuple):
    """The objective (places,) and the clients' losses (clients, places) less its least value; of both methods the last
    models (runs,), the mean loss by round, the same on new data, and the shares of last models in the sharp and the flat
    well."""

    places: np.ndarray
    objective: np.ndarray
    clients: np.ndarray
    last: tuple[np.ndarray, ...]
    loss: tuple[np.ndarray, ...]
    new_loss: tuple[np.ndarray, ...]
    shares: tuple[tuple[float, float], ...]


def landscape(sigma: float = 0.0, moved: float = 0.0) -> Piecewise:
    """Two clients whose wells are ``APART`` to both sides. A well of depth D and half width w is D/w^2 times Huber's
    function of width w, less a third of that of width 3 w, so that it is flat beyond."""
    shift = np.array([[APART], [-APART]]) + moved
    slope = np.ravel([(depth / width**2, -depth / (3 * width**2)) for _, width, depth in WELLS])
    knot, width = (np.ravel(pairs) for pairs in ([(at, at) for at, *_ in WELLS], [(w, 3 * w) for _, w, _ in WELLS]))
    noise = GaussianNoise(TORCH.array(sigma * np.ones((1, 2)))) if sigma else NoNoise()
    pieces = [(row + np.zeros((2, 1)))[None, :, None] for row in (slope, knot + shift, width)]
    return Piecewise(np.full((1, 2, 1), BOWL), shift[None], *pieces, noise=noise)


def compute(eta: float, sigma: float, eta_g: float, moved: float) -> Landing:
    """Runs of both methods from starts that are evenly spread."""
    federation, new = landscape(sigma), landscape(moved=moved)
    starts = np.linspace(-2, 2, RUNS)[:, None]
    methods = ft.fedavg(eta_l=eta, local_steps=LOCAL_STEPS), ft.fedswa(eta_l=eta, local_steps=LOCAL_STEPS, eta_g=eta_g)
    data = [ft.run(method, federation, ROUNDS, seeds=RUNS, start=starts, record=("x", "suboptimality")).dataset
            for method in methods]
    paths = [each.x.values for each in data]
    new_loss = tuple(new.suboptimality(TORCH.array(path.reshape(-1, 1))).numpy().reshape(path.shape[:2]).mean(axis=0)
                     for path in paths)
    places = np.linspace(-_REACH, _REACH, 401)
    rows = TORCH.array(places[:, None])
    own = federation.value(federation.all_clients(rows)).numpy().T
    objective = federation.suboptimality(rows).numpy()
    last = tuple(path[:, -1, 0] for path in paths)
    shares = tuple(tuple(float((abs(x - at) < reach).mean()) for (at, *_), reach in zip(WELLS, _BASIN, strict=True))
                   for x in last)
    return Landing(places, objective, own - (own.mean(axis=0) - objective), last,
                   tuple(each.suboptimality.values.mean(axis=0) for each in data), new_loss, shares)


def picture(found: Landing) -> Figure:
    """The landscape with where the runs end, and the mean loss by round, here and on new data."""
    figure, (line, course) = panels()
    for own in found.clients:
        line.plot(found.places, own, color=GREY, linewidth=0.8)
    line.plot(found.places, found.objective, color=EXACT, linewidth=1.8)
    for row, (last, (label, colour)) in enumerate(zip(found.last, _LABELS, strict=True)):
        counts, edges = np.histogram(last, bins=np.linspace(-_REACH, _REACH, 89))
        base = -0.17 - 0.17 * row
        line.stairs(base + 0.14 * counts / max(counts.max(), 1), edges, baseline=base, fill=True, color=colour)
        line.text(-_REACH, base + 0.03, label, color=colour, fontsize=10.5, fontfamily="STIXGeneral")
    line.set(xlim=(-_REACH, _REACH), ylim=(-0.38, 1.0))
    line.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
    name(line, "$x$", r"$F(x) - F_\star$; grey: the clients", f"where {RUNS} runs end")
    for loss, new, (label, colour) in zip(found.loss, found.new_loss, _LABELS, strict=True):
        by_round(course, loss, colour, label)
        by_round(course, new, colour, f"{label}, new data", linestyle=(0, (4, 2)))
    course.set_yscale("linear")
    course.set_ylim(bottom=0)
    name(course, "round", r"$F(x) - F_\star$, mean of the runs", "the loss, here and on new data")
    legend(course)
    return figure


def caption(found: Landing) -> str:
    """The picture in words."""
    (sharp, flat), (sharp_swa, flat_swa) = found.shares
    return (f"In the flat well end {flat:.0%} of FedAvg's runs and **{flat_swa:.0%}** of FedSWA's, in the sharp one "
            f"{sharp:.0%} and {sharp_swa:.0%}. The mean loss is {found.loss[0][-1]:.3g} and "
            f"**{found.loss[1][-1]:.3g}**, on new data "
            f"{found.new_loss[0][-1]:.3g} and {found.new_loss[1][-1]:.3g}.")
