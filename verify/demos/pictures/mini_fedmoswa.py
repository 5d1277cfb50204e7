"""FedMoSWA's comparison in miniature: held-out loss and accuracy under label skew."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from verify.demos.controls import Slider
from verify.demos.drawn import CORRECTED, DRIFTING, EXACT, FOURTH, THIRD, name, panels
from verify.demos.miniature import CLIENTS, at_end, curves, digits, runs_of
from verify.results.bands import mean_with_band

__all__ = ["CONTROLS", "Comparison", "caption", "compute", "picture"]

CONTROLS = {
    "alpha": Slider(r"equal classes on all clients: Dirichlet $\alpha$", (0.1, 0.3, 1.0, 10.0), 0.1),
    "participants": Slider(f"clients in a round, of {CLIENTS}", (1, 2, 5, 10), 2),
    "eta": Slider(r"local step $\eta$", (0.03, 0.1, 0.3, 1.0), 0.3),
}
ROUNDS = 30
METHODS = {"fedavg": {}, "scaffold": {}, "fedsam": {}, "fedswa": {"rho_decay": 0.1, "eta_g": 1.5},
           "fedmoswa": {"rho_decay": 0.1, "eta_g": 1.5, "gamma": 0.2}}
LABELS = "FedAvg", "SCAFFOLD", "FedSAM", "FedSWA", "FedMoSWA"
_COLOURS = DRIFTING, THIRD, EXACT, FOURTH, CORRECTED


class Comparison(NamedTuple):
    """Held-out loss and accuracy of each method, (seeds, rounds + 1)."""

    loss: tuple[np.ndarray, ...]
    accuracy: tuple[np.ndarray, ...]


def compute(alpha: float, participants: int, eta: float) -> Comparison:
    """The runs of all methods with the same step, and the paper's other numbers."""
    return Comparison(*runs_of(METHODS, digits(alpha), ROUNDS, ("held_out_loss", "held_out_accuracy"), eta_l=eta,
                               local_steps=5, participants=participants))


def picture(found: Comparison) -> Figure:
    """Loss and accuracy by round."""
    figure, (loss, accuracy) = panels()
    curves(loss, found.loss, LABELS, _COLOURS, title="the lower the better")
    for values, colour in zip(found.accuracy, _COLOURS, strict=True):
        mean_with_band(accuracy, np.arange(ROUNDS + 1), values, color=colour, linewidth=1.8)
    name(accuracy, "round", "held-out accuracy", "the higher the better")
    return figure


def caption(found: Comparison) -> str:
    """The picture in words."""
    ends = "; ".join(f"{label} {at_end(values)}" for label, values in zip(LABELS, found.loss, strict=True))
    return f"Held-out loss after {ROUNDS} rounds: {ends}."
