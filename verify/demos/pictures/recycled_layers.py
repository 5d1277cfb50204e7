"""Communication recycled: FedLUAR's loss against floats sent, and which layer it sends when."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import fedtheory as ft
from verify.demos.controls import Choice, Slider
from verify.demos.drawn import CORRECTED, DRIFTING, FOURTH, THIRD, legend, name, panels
from verify.demos.states import states_of

__all__ = ["CONTROLS", "Recycled", "caption", "compute", "picture"]

SIZES = (2, 3, 4, 6)
CONTROLS = {
    "recycled": Slider(f"layers recycled in a round, of {len(SIZES)}", (0, 1, 2, 3), 2),
    "eta": Slider(r"local step $\eta$", (0.005, 0.01, 0.02, 0.04, 0.08), 0.02),
    "local_steps": Slider("local steps $K$", (1, 2, 4, 8), 4),
    "selector": Choice("layers are drawn", ("luar", "uniform", "inverted"), "luar"),
}
ROUNDS, SEEDS = 100, 16
_COLOURS = CORRECTED, DRIFTING, THIRD, FOURTH


class Recycled(NamedTuple):
    """Results by round of FedAvg and of FedLUAR, means over the runs: floats that a client has sent and F - F*; and the
    share of runs in which a layer is sent, (rounds, layers)."""

    sent: tuple[np.ndarray, np.ndarray]
    loss: tuple[np.ndarray, np.ndarray]
    fresh: np.ndarray


def compute(recycled: int, eta: float, local_steps: int, selector: str) -> Recycled:
    """The runs of both on quadratics with layers of curvatures 10, 4, 1 and 1/4."""
    federation = ft.make_problem("quadratic-layered", sizes=SIZES, L=(10.0, 4.0, 1.0, 0.25), mu=(2.0, 1.0, 0.25, 0.1))
    method = ft.fedluar(eta_l=eta, local_steps=local_steps, recycled=recycled, selector=selector)
    plain = ft.fedavg(eta_l=eta, local_steps=local_steps)
    sent, loss = zip(*(_run(each, federation, seeds) for each, seeds in ((plain, 1), (method, SEEDS))), strict=True)
    states = list(states_of(method, federation, ROUNDS - 1, SEEDS))
    fresh = np.array([(~state.server["recycle_set"]).numpy().mean(axis=0) for state in states])
    return Recycled(sent, loss, fresh)


def _run(method, federation, seeds) -> tuple[np.ndarray, np.ndarray]:
    data = ft.run(method, federation, ROUNDS, seeds=seeds, record=("suboptimality", "uplink_floats")).dataset
    sent = data.uplink_floats.values[..., 0].mean(axis=0).cumsum()
    return np.concatenate([[0.0], sent]), data.suboptimality.values.mean(axis=0)


def picture(found: Recycled) -> Figure:
    """The loss against the floats, and the layers that are sent by round."""
    figure, (course, layers) = panels()
    for sent, loss, colour, label in zip(found.sent, found.loss, (DRIFTING, CORRECTED), ("FedAvg", "FedLUAR"), strict=True):
        course.semilogy(sent, loss, color=colour, linewidth=1.8, label=f"{label}, {ROUNDS} rounds")
    name(course, "floats sent by a client", r"$F(x) - F_\star$, mean of the runs", "what a float buys")
    legend(course)
    window = 10
    for number, (share, colour) in enumerate(zip(found.fresh.T, _COLOURS, strict=True)):
        smooth = share.reshape(-1, window).mean(axis=1)
        layers.plot(np.arange(len(smooth)) * window + window / 2, smooth, "o-", markersize=3.5, color=colour,
                    label=f"layer {number + 1}, {SIZES[number]} parameters")
    layers.set_ylim(-0.05, 1.05)
    name(layers, "round", f"share of rounds, in tens, over {SEEDS} runs", "how often a layer is sent")
    legend(layers)
    return figure


def caption(found: Recycled) -> str:
    """The picture in words."""
    (plain, own), (worse, better) = [sent[-1] for sent in found.sent], [loss[-1] for loss in found.loss]
    return (f"After {ROUNDS} rounds a client of FedLUAR has sent **{own / plain:.0%}** of what FedAvg's has; the loss is "
            f"{better:.3g} above its least value, FedAvg's {worse:.3g}.")
