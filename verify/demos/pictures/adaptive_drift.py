"""Adam's moments under heterogeneity: local Adam, and two places for a correction."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import fedtheory as ft
from synthetic import Quadratic
from verify.demos.controls import Slider
from verify.demos.drawn import CORRECTED, DRIFTING, EXACT, FOURTH, THIRD, by_round, legend, level_lines, name, panels
from verify.demos.states import states_of
from verify.results.drawing import GREY

__all__ = ["CONTROLS", "Moments", "caption", "compute", "picture"]

CONTROLS = {
    "local_steps": Slider("local steps $K$", (1, 2, 3, 4, 6, 8), 4),
    "eta": Slider(r"local step $\eta$", (0.005, 0.01, 0.02, 0.04, 0.08, 0.16), 0.04),
    "apart": Slider("heterogeneity: the distances of the minimisers", (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5), 1.0),
    "eps": Slider(r"$\epsilon$ below the root", (0.001, 0.01, 0.1, 1.0), 0.1),
}
CURVATURES = np.array([[1.0, 3.0], [4.0, 1.0], [2.0, 2.0]])
MINIMISERS = np.array([[1.2, 0.9], [-1.0, -1.0], [1.0, -0.4]])
START, ROUNDS = (1.8, -1.5), 160
_SHOWN = {"local-adam": ("local Adam", DRIFTING), "fadamgc": ("FAdamGC: gradients corrected", CORRECTED),
          "fa-nt": ("FA-NT: directions corrected", THIRD)}


class Moments(NamedTuple):
    """Models (rounds + 1, 2) by method; local Adam's roots of second moments at the clients, (rounds + 1, clients, 2)."""

    federation: Quadratic
    paths: tuple[np.ndarray, ...]
    roots: np.ndarray


def compute(local_steps: int, eta: float, apart: float, eps: float) -> Moments:
    """The runs of the three methods on three clients 1/2 sum_i a_i (x_i - c_i)^2, with c of length ``apart``."""
    federation = Quadratic(CURVATURES[None], apart * MINIMISERS[None])
    methods = [ft.make_algorithm(name, eta_l=eta, local_steps=local_steps, eps=eps) for name in _SHOWN]
    paths = tuple(ft.run(method, federation, ROUNDS, start=START).dataset.x.values[0] for method in methods)
    states = states_of(methods[0], federation, ROUNDS, start=START)
    return Moments(federation, paths, np.array([state.clients["moment2"][0].sqrt().numpy() for state in states]))


def picture(found: Moments) -> Figure:
    """The plane with the paths, the distance to the minimiser, and the second moments of local Adam."""
    figure, (plane, course, roots) = panels(3, 4.6)
    best = found.federation.x_star[0].numpy()
    level_lines(plane, found.federation, (-2.0, 2.0), (-1.8, 1.8), np.geomspace(0.03, 20, 12))
    for path, (label, colour) in zip(found.paths, _SHOWN.values(), strict=True):
        style = {"linestyle": (0, (3, 3))} if colour == THIRD else {}  # it often lies on local Adam's
        plane.plot(*path.T, color=colour, linewidth=1.6, label=label, **style)
        plane.plot(*path[-1], "o", color=colour, markersize=5)
        by_round(course, np.linalg.norm(path - best, axis=1), colour, label, floor=1e-12, **style)
    plane.plot(*found.federation.center[0].numpy().T, "^", color=GREY, markersize=6, label="clients' minimisers")
    plane.plot(*best, "*", color=EXACT, markersize=11, linestyle="none", label="minimiser of the mean")
    name(plane, "$x_1$", "$x_2$", "the models")
    legend(plane, loc="upper left", bbox_to_anchor=(-0.1, -0.16))
    name(course, "round", r"$|x - x_\star|$", "distance to the minimiser")
    for coordinate, style in enumerate(("-", (0, (4, 2)))):
        for client, colour in enumerate((DRIFTING, GREY, FOURTH)):
            roots.plot(found.roots[:, client, coordinate], color=colour, linestyle=style,
                       label=f"client {client + 1}, $x_{coordinate + 1}$")
    roots.set_ylim(bottom=0)
    name(roots, "round", r"$\sqrt{v_k}$", "local Adam's scales")
    legend(roots, loc="upper left", bbox_to_anchor=(-0.1, -0.16), ncols=2)
    return figure


def caption(found: Moments) -> str:
    """The picture in words."""
    best = found.federation.x_star[0].numpy()
    plain, before, after = (float(np.linalg.norm(path[-1] - best)) for path in found.paths)
    return (f"After {ROUNDS} rounds local Adam is **{plain:.3g}** from the minimiser, FAdamGC {before:.3g}, and FA-NT "
            f"{after:.3g}.")
