"""Client drift on two clients: the paths of FedAvg and SCAFFOLD, and the point where FedAvg stops."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import fedtheory as ft
from synthetic import Quadratic
from verify.demos.controls import Slider
from verify.demos.drawn import CORRECTED, DRIFTING, EXACT, by_round, legend, level_lines, name, panels
from verify.results.drawing import GREY

__all__ = ["CONTROLS", "Paths", "caption", "compute", "federation_of", "fixed_point", "picture"]

CONTROLS = {
    "local_steps": Slider("local steps $K$", (1, 2, 3, 4, 6, 8, 12, 16, 24, 32), 8),
    "eta": Slider(r"local step $\eta$", (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.13, 0.16, 0.2), 0.1),
    "apart": Slider("heterogeneity: half the distance of the minimisers", (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5), 1.0),
}
CURVATURES = np.array([[1.0, 3.0], [8.0, 0.5]])
START, ROUNDS = (1.8, -1.2), 60
_X, _Y = (-2.0, 2.0), (-1.8, 1.8)  # what is shown of the plane


class Paths(NamedTuple):
    """Models (rounds + 1, 2) of both methods; where FedAvg stops, with its distance to the minimiser; and the way of each
    client from there, (clients, local steps + 1, 2)."""

    federation: Quadratic
    fedavg: np.ndarray
    scaffold: np.ndarray
    stop: np.ndarray
    distance: float
    local: np.ndarray


def federation_of(apart: float) -> Quadratic:
    """Two clients 1/2 sum_i a_i (x_i - c_i)^2 with minimisers at ``apart`` and -``apart`` in both coordinates."""
    return Quadratic(CURVATURES[None], apart * np.array([[[1.0, 1.0], [-1.0, -1.0]]]))


def fixed_point(method, federation) -> np.ndarray:
    """The model at which the method stays. Without noise on quadratics a round is an affine map; dim + 1 runs give it."""
    corners = np.vstack([np.zeros((1, federation.dim)), np.eye(federation.dim)])
    ends = ft.run(method, federation, rounds=1, start=corners, seeds=len(corners)).dataset.x.values[:, -1]
    linear = (ends[1:] - ends[0]).T
    return np.linalg.solve(np.eye(federation.dim) - linear, ends[0])


def compute(local_steps: int, eta: float, apart: float) -> Paths:
    """The runs of both methods from ``START``, and of each client alone from the place where FedAvg stops."""
    federation = federation_of(apart)
    paths = [ft.run(method(eta_l=eta, local_steps=local_steps), federation, ROUNDS, start=START).dataset.x.values[0]
             for method in (ft.fedavg, ft.scaffold)]
    stop = fixed_point(ft.fedavg(eta_l=eta, local_steps=local_steps), federation)
    alone = [Quadratic(federation.curvature[:, k : k + 1], federation.center[:, k : k + 1]) for k in range(2)]
    local = [ft.run(ft.fedavg(eta_l=eta), client, local_steps, start=stop).dataset.x.values[0] for client in alone]
    return Paths(federation, *paths, stop, float(np.linalg.norm(stop - federation.x_star[0].numpy())), np.array(local))


def picture(found: Paths) -> Figure:
    """The plane with lines of equal loss and the paths; and the distance to the minimiser by round."""
    figure, (plane, course) = panels()
    best = found.federation.x_star[0].numpy()
    level_lines(plane, found.federation, _X, _Y, np.geomspace(0.03, 20, 12))
    for path, colour, label in ((found.fedavg, DRIFTING, "FedAvg"), (found.scaffold, CORRECTED, "SCAFFOLD")):
        plane.plot(*path.T, "o-", color=colour, markersize=2.8, linewidth=1.2, label=label)
        by_round(course, np.linalg.norm(path - best, axis=1), colour, label, floor=1e-12)
    for way in found.local:
        plane.plot(*way.T, ".-", color=GREY, markersize=3, linewidth=0.9, zorder=3)
    plane.plot([], [], ".-", color=GREY, markersize=3, label="clients' steps from there")
    plane.plot(*found.federation.center[0].numpy().T, "^", color=GREY, markersize=7, label="clients' minimisers")
    plane.plot(*best, "*", color=EXACT, markersize=12, linestyle="none", label="minimiser of the mean")
    plane.plot(*found.stop, "X", color=DRIFTING, markersize=9, markeredgecolor="white", linestyle="none",
               label="FedAvg stops here")
    name(plane, "$x_1$", "$x_2$", "the models, round by round")
    legend(plane, loc="upper left", bbox_to_anchor=(0.0, -0.14), ncols=2)
    if found.distance > 1e-12:
        course.axhline(found.distance, color=DRIFTING, linestyle=(0, (2, 3)), linewidth=1)
    course.set_ylim(1e-12, 10)
    name(course, "round", r"$|x - x_\star|$", "distance to the minimiser")
    legend(course)
    return figure


def caption(found: Paths) -> str:
    """The picture in words."""
    scaffold = float(np.linalg.norm(found.scaffold[-1] - found.federation.x_star[0].numpy()))
    fedavg = "at the minimiser" if found.distance < 1e-12 else f"**{found.distance:.3g}** from the minimiser"
    return f"FedAvg stops {fedavg}. After {ROUNDS} rounds SCAFFOLD is {scaffold:.1g} from it."
