"""FedLUAR's comparison in miniature: held-out loss against floats sent."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from verify.demos.controls import Slider
from verify.demos.drawn import CORRECTED, DRIFTING, FOURTH, THIRD, panels
from verify.demos.miniature import at_end, curves, digits, runs_of

__all__ = ["CONTROLS", "Comparison", "caption", "compute", "picture"]

CONTROLS = {
    "recycled": Slider("layers that FedLUAR recycles, of 4", (0, 1, 2, 3), 2),
    "bits": Slider("bits of a float that FedPAQ sends", (2, 4, 8, 16), 8),
    "eta": Slider(r"local step $\eta$", (0.03, 0.1, 0.3, 1.0), 0.1),
}
ROUNDS, HIDDEN = 30, (8, 8, 8)
LABELS = "FedAvg", "FedPAQ", "FedDropoutAvg", "FedLUAR"
_COLOURS = DRIFTING, THIRD, FOURTH, CORRECTED


class Comparison(NamedTuple):
    """Results of each method after every round: models that all clients have uploaded, and held-out loss, (seeds,
    rounds)."""

    sent: tuple[np.ndarray, ...]
    loss: tuple[np.ndarray, ...]


def compute(recycled: int, bits: int, eta: float) -> Comparison:
    """The runs of all methods with the same step on a network of four layers."""
    federation = digits(0.1, HIDDEN)
    methods = {"fedavg": {}, "fedpaq": {"bits": bits}, "feddropoutavg": {"fdr": 0.5}, "fedluar": {"recycled": recycled}}
    loss, floats = runs_of(methods, federation, ROUNDS, ("held_out_loss", "uplink_floats"), eta_l=eta, local_steps=5,
                           participants=3)
    return Comparison(tuple(sent.sum(axis=-1).cumsum(axis=1) / federation.dim for sent in floats),
                      tuple(values[:, 1:] for values in loss))


def picture(found: Comparison) -> Figure:
    """The loss against what is uploaded, and by round."""
    figure, (floats, rounds) = panels()
    curves(floats, found.loss, LABELS, _COLOURS, x=found.sent, title="what an upload buys")
    floats.set_xscale("log")
    curves(rounds, found.loss, LABELS, _COLOURS, x=[np.arange(1, ROUNDS + 1)] * len(LABELS), title="what a round buys")
    rounds.set_xlabel("round")
    return figure


def caption(found: Comparison) -> str:
    """The picture in words."""
    ends = "; ".join(f"{label} {at_end(loss)} for {sent[:, -1].mean():.0f}"
                     for label, sent, loss in zip(LABELS, found.sent, found.loss, strict=True))
    return f"Held-out loss after {ROUNDS} rounds, for models uploaded: {ends}."
