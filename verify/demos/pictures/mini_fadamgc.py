"""FAdamGC's comparison in miniature: local Adam under label skew, with and without gradient correction."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from verify.demos.controls import Slider
from verify.demos.drawn import CORRECTED, DRIFTING, THIRD, panels
from verify.demos.miniature import at_end, curves, digits, heights, runs_of

__all__ = ["CONTROLS", "Comparison", "caption", "compute", "picture"]

CONTROLS = {
    "alpha": Slider(r"equal classes on all clients: Dirichlet $\alpha$", (0.1, 0.3, 1.0, 10.0), 0.1),
    "local_steps": Slider("local steps $K$", (1, 2, 3, 5), 5),
    "eta": Slider(r"local step $\eta$, a length", (0.001, 0.003, 0.01, 0.03), 0.01),
}
ROUNDS = 30
METHODS = {"local-adam": {}, "fa-nt": {"trackers": 1}, "fadamgc": {"trackers": 1}}
LABELS = "LocalAdam", "FA-NT", "FAdamGC"
EVEN = 1e3  #: the law under which all clients have about the same classes


class Comparison(NamedTuple):
    """Held-out loss of each method, on the chosen clients and on clients of equal classes, (seeds, rounds + 1)."""

    skewed: tuple[np.ndarray, ...]
    even: tuple[np.ndarray, ...]


def compute(alpha: float, local_steps: int, eta: float) -> Comparison:
    """The runs of all methods with the same step, and the paper's other numbers."""
    shared = {"eta_l": eta, "local_steps": local_steps, "participants": 2, "beta1": 0.9,
              "beta2": 0.99, "eps": 1e-8}
    return Comparison(*(runs_of(METHODS, digits(each), ROUNDS, **shared)[0] for each in (alpha, EVEN)))


def picture(found: Comparison) -> Figure:
    """The loss by round, on both federations."""
    figure, row = panels()
    limits = heights((*found.skewed, *found.even))
    for axes, courses, title in zip(row, found, ("clients as chosen", "clients of equal classes"), strict=True):
        curves(axes, courses, LABELS, (DRIFTING, THIRD, CORRECTED), title=title, limits=limits)
    return figure


def caption(found: Comparison) -> str:
    """The picture in words."""
    ends = "; ".join(f"{label} {at_end(skewed)}, with equal classes {at_end(even)}"
                     for label, skewed, even in zip(LABELS, *found, strict=True))
    return f"Held-out loss after {ROUNDS} rounds: {ends}."
