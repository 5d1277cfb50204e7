"""Alignment of free clients: FedALIGN lets in those whose loss matches the priority clients' objective."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import fedtheory as ft
from synthetic import Quadratic
from verify.demos.controls import Slider
from verify.demos.drawn import CORRECTED, DRIFTING, EXACT, THIRD, legend, mean_by_round, name, panels
from verify.results.drawing import GREY

__all__ = ["CONTROLS", "Aligned", "caption", "compute", "federation_of", "picture"]

PRIORITY, NEAR, FAR = 4, 4, 4
CONTROLS = {
    "epsilon": Slider(r"threshold $\epsilon$", (0.0, 0.03, 0.1, 0.2, 0.4, 0.8, 1.5, 3.0, 10.0, 30.0, 100.0), 0.8),
    "far": Slider("how far the bad free clients are", (0.5, 1.0, 2.0, 3.0, 5.0), 2.0),
    "sigma": Slider(r"noise of the gradients $\sigma$", (0.0, 0.5, 1.0, 2.0), 1.0),
}
ROUNDS, SEEDS, ETA, ALL = 80, 32, 0.05, 1e9
_LABELS = (("priority clients only", THIRD), ("FedALIGN", CORRECTED), ("every client", DRIFTING))


class Aligned(NamedTuple):
    """F - F* (runs, rounds + 1) with no free client, FedALIGN's, and all of them; of FedALIGN's runs the mean by round of
    |F_k - F| and the share in which a free client counts, (rounds, free clients); the threshold."""

    loss: tuple[np.ndarray, ...]
    mismatch: np.ndarray
    included: np.ndarray
    epsilon: float


def federation_of(far: float, sigma: float) -> Quadratic:
    """Four priority clients, four free ones around their optimum, and four at a root mean square distance ``far``."""
    near, away = (ft.make_quadratic(clients=PRIORITY + NEAR + FAR, dim=4, L=5.0, minimiser_spread=0.5, priority=PRIORITY,
                                    free_spread=spread, noise="sphere" if sigma else "none", sigma=sigma)
                  for spread in (0.2, far))
    center = np.where(np.arange(near.clients)[:, None] < PRIORITY + NEAR, near.center.numpy(), away.center.numpy())
    return Quadratic(near.curvature, center, weights=near.weights, priority=near.priority, noise=near.noise)


def compute(epsilon: float, far: float, sigma: float) -> Aligned:
    """The runs at three thresholds: zero, the chosen one, and one that nobody exceeds."""
    federation = federation_of(far, sigma)
    record = ("suboptimality", "included", "loss_client")
    data = [ft.run(ft.fedalign(eta_l=ETA, local_steps=2, epsilon=value), federation, ROUNDS, seeds=SEEDS,
                   record=record).dataset for value in (0.0, epsilon, ALL)]
    losses, free = data[1].loss_client.values[:, :-1], slice(PRIORITY, None)
    objective = losses[..., :PRIORITY].mean(axis=-1, keepdims=True)
    mismatch, included = abs(losses - objective)[..., free].mean(axis=0), data[1].included.values[..., free].mean(axis=0)
    return Aligned(tuple(each.suboptimality.values for each in data), mismatch, included, epsilon)


def picture(found: Aligned) -> Figure:
    """The loss by round, and every free client's mismatch beside the threshold."""
    figure, (course, match) = panels()
    for loss, (label, colour) in zip(found.loss, _LABELS, strict=True):
        mean_by_round(course, loss, colour, label, floor=1e-10)
    name(course, "round", rf"$F(x) - F_\star$: mean and 80 % of {SEEDS} runs", "the priority clients' loss")
    legend(course)
    for number, (mismatch, included) in enumerate(zip(found.mismatch.T, found.included.T, strict=True)):
        colour, label = (THIRD, "near free clients") if number < NEAR else (DRIFTING, "far free clients")
        match.semilogy(mismatch, color=colour, linewidth=0.9, label=label if number % NEAR == 0 else None)
        match.plot(np.where(included >= 0.5, mismatch, np.nan), color=colour, linewidth=3.5, alpha=0.7)
    if found.epsilon:
        match.axhline(found.epsilon, color=EXACT, linestyle=(0, (5, 2)), label=r"$\epsilon$")
    match.plot([], [], color=GREY, linewidth=3.5, alpha=0.7, label="thick: counts in most runs")
    name(match, "round", r"$|F_k(x) - F(x)|$, mean of the runs", "who matches")
    legend(match)
    return figure


def caption(found: Aligned) -> str:
    """The picture in words."""
    nobody, chosen, everyone = (loss[:, -20:].mean() for loss in found.loss)
    near, far = found.included[-20:, :NEAR].mean(), found.included[-20:, NEAR:].mean()
    return (f"In the last 20 rounds {near:.0%} of the near and {far:.0%} of the far free clients count; the loss is above "
            f"its least value by **{chosen:.3g}**, with priority clients only by {nobody:.3g}, with every client by "
            f"{everyone:.3g}.")
