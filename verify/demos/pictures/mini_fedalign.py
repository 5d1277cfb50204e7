"""FedALIGN's comparison in miniature: good and bad free clients, and who is let in."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import fedtheory as ft
from verify.demos.controls import Slider
from verify.demos.drawn import CORRECTED, DRIFTING, THIRD, name, panels
from verify.demos.miniature import at_end, curves, runs_of
from verify.results.bands import mean_with_band

__all__ = ["CONTROLS", "Comparison", "caption", "compute", "picture"]

CONTROLS = {
    "noise": Slider("noise of the free clients, as a share of the paper's", (0.0, 0.05, 0.1, 0.2, 0.5, 1.0), 0.1),
    "epsilon": Slider(r"threshold $\epsilon$", (0.0, 0.1, 0.2, 0.4, 0.8, 3.0), 0.2),
    "eta": Slider(r"local step $\eta$", (0.01, 0.03, 0.1, 0.3), 0.1),
}
ROUNDS, WARMUP, PRIORITY, FREE = 40, 4, 10, 10
LABELS = "priority clients alone", "all clients", "FedALIGN"


class Comparison(NamedTuple):
    """Held-out loss of the priority clients under each method, (seeds, rounds + 1); free clients that count under FedALIGN,
    (seeds, rounds)."""

    loss: tuple[np.ndarray, ...]
    included: np.ndarray


@lru_cache(maxsize=16)
def federation_of(noise: float):
    """Ten priority clients of Synth(1,1), and ten free ones with noisy copies of their samples."""
    return ft.make_problem("synth-noisy", sizes=60, batch_size=8, held_out=0.3, label_noise_factor=2.5 * noise,
                           random_data_factor=noise)


def compute(noise: float, epsilon: float, eta: float) -> Comparison:
    """The runs of the three methods with the same step."""
    methods = {"fedavg": {}, "fedavg-all": {"warmup": WARMUP}, "fedalign": {"warmup": WARMUP, "epsilon": epsilon}}
    loss, counted = runs_of(methods, federation_of(noise), ROUNDS, ("held_out_loss", "participants"), eta_l=eta,
                            local_steps=5)
    return Comparison(loss, counted[-1] - PRIORITY)


def picture(found: Comparison) -> Figure:
    """The loss by round, and how many free clients count."""
    figure, (loss, who) = panels()
    curves(loss, found.loss, LABELS, (THIRD, DRIFTING, CORRECTED), title="held-out samples of the priority clients",
           dashed="FedALIGN")
    mean_with_band(who, np.arange(ROUNDS), found.included, color=CORRECTED, linewidth=1.8)
    who.set_ylim(-0.4, FREE + 0.4)
    name(who, "round", f"free clients that count, of {FREE}", "who is let in by FedALIGN")
    return figure


def caption(found: Comparison) -> str:
    """The picture in words."""
    ends = "; ".join(f"{label} {at_end(values)}" for label, values in zip(LABELS, found.loss, strict=True))
    counted = found.included[:, WARMUP:].mean()
    return f"Held-out loss after {ROUNDS} rounds: {ends}. FedALIGN lets in {counted:.1f} of {FREE} free clients on average."
