"""A-FedPD's comparison in miniature: held-out loss when few clients take part."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from verify.demos.controls import Slider
from verify.demos.drawn import CORRECTED, DRIFTING, THIRD, panels
from verify.demos.miniature import CLIENTS, at_end, curves, digits, heights, runs_of

__all__ = ["CONTROLS", "Comparison", "caption", "compute", "picture"]

CONTROLS = {
    "participants": Slider(f"clients in a round, of {CLIENTS}", (1, 2, 3, 5, 10), 2),
    "rho_prox": Slider(r"weight of the duals $\rho$", (0.01, 0.03, 0.1, 0.3, 1.0), 0.1),
    "eta": Slider(r"local step $\eta$", (0.03, 0.1, 0.3, 1.0), 0.3),
}
ROUNDS = 24
LABELS = "FedAvg", "FedDyn", "A-FedPD"
_COLOURS = DRIFTING, THIRD, CORRECTED


class Comparison(NamedTuple):
    """Held-out loss of each method, with few clients in a round and with all, (seeds, rounds + 1)."""

    few: tuple[np.ndarray, ...]
    all: tuple[np.ndarray, ...]
    participants: int


def compute(participants: int, rho_prox: float, eta: float) -> Comparison:
    """The runs of all methods with the same step."""
    dual, shared = {"rho_prox": rho_prox}, {"eta_l": eta, "local_steps": 5}
    methods = {"fedavg": {}, "feddyn": dual, "afedpd": dual}
    (few,), (every,) = (runs_of(methods, digits(0.1), ROUNDS, participants=some, **shared)
                        for some in (participants, CLIENTS))
    return Comparison(few, every, participants)


def picture(found: Comparison) -> Figure:
    """The loss by round, with few clients and with all."""
    figure, (few, every) = panels()
    limits = heights((*found.few, *found.all))
    curves(few, found.few, LABELS, _COLOURS, title=f"{found.participants} of {CLIENTS} clients a round", limits=limits)
    curves(every, found.all, LABELS, _COLOURS, title="all clients", limits=limits)
    return figure


def caption(found: Comparison) -> str:
    """The picture in words."""
    ends = "; ".join(f"{label} {at_end(few)}, with all clients {at_end(every)}"
                     for label, few, every in zip(LABELS, found.few, found.all, strict=True))
    return f"Held-out loss after {ROUNDS} rounds with {found.participants} of {CLIENTS} clients: {ends}."
