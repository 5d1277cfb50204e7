"""Sampling adds variance: FedAvg with some of twelve clients a round, and how far one round scatters."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import fedtheory as ft
from verify.demos.controls import Choice, Slider
from verify.demos.drawn import CORRECTED, DRIFTING, EXACT, legend, mean_by_round, name, panels

__all__ = ["CLIENTS", "CONTROLS", "Scatter", "caption", "compute", "picture"]

CLIENTS = 12
CONTROLS = {
    "participants": Slider("clients a round $s$", tuple(range(1, CLIENTS + 1)), 3),
    "spread": Slider("heterogeneity: spread of the minimisers", (0.0, 0.25, 0.5, 1.0, 1.5, 2.0), 1.0),
    "eta": Slider(r"step $\eta$", (0.005, 0.01, 0.02, 0.05, 0.1, 0.15), 0.05),
    "replacement": Choice("clients are drawn", ("without replacement", "with replacement"), "without replacement"),
}
ROUNDS, SEEDS, DRAWS = 120, 64, 512


class Scatter(NamedTuple):
    """F - F* (runs, rounds + 1) with all and with some clients; by number of clients from 1 on the mean of |x - x*|^2 after
    one round from the minimiser, and eta^2 zeta^2 / s, without replacement times (m - s) / (m - 1)."""

    everyone: np.ndarray
    some: np.ndarray
    scatter: np.ndarray
    formula: np.ndarray
    participants: int


def compute(participants: int, spread: float, eta: float, replacement: str) -> Scatter:
    """The runs, and one round from the minimiser for every number of clients."""
    federation, again = ft.make_quadratic(clients=CLIENTS, dim=5, minimiser_spread=spread), replacement == "with replacement"
    everyone = ft.run(ft.fedavg(eta_l=eta), federation, ROUNDS).dataset.suboptimality.values

    def sampled(count):
        return ft.fedavg(eta_l=eta, participants=count, sampling="with-replacement" if again else "without-replacement")

    some = ft.run(sampled(participants), federation, ROUNDS, seeds=SEEDS).dataset.suboptimality.values
    counts, best = np.arange(1, CLIENTS + 1), federation.x_star[0].numpy()
    scatter = [ft.run(sampled(count), federation, 1, seeds=DRAWS, start=best).dataset.distance_sq.values[:, 1].mean()
               for count in counts.tolist()]
    zeta = float(federation.constants.value("sigma_g_2_at_optimum")[0])
    formula = (eta * zeta) ** 2 / counts * (1 if again else (CLIENTS - counts) / (CLIENTS - 1))
    return Scatter(everyone, some, np.array(scatter), formula, participants)


def picture(found: Scatter) -> Figure:
    """The loss by round, and the scatter of one round by the number of clients."""
    figure, (course, scatter) = panels()
    mean_by_round(course, found.everyone, CORRECTED, f"all {CLIENTS} clients", floor=1e-12)
    mean_by_round(course, found.some, DRIFTING, f"{found.participants} of them: mean and 80 % of {SEEDS} runs", floor=1e-12)
    course.set_ylim(1e-12, 100)
    name(course, "round", r"$F(x) - F_\star$", "the loss")
    legend(course)
    counts = np.arange(1, CLIENTS + 1)
    scatter.plot(counts, found.formula, color=EXACT, linestyle=(0, (5, 2)), label="the formula")
    scatter.plot(counts, found.scatter, "o", color=CORRECTED, markersize=5, label=f"mean of {DRAWS} rounds")
    chosen = found.participants
    scatter.plot(chosen, found.scatter[chosen - 1], "o", color=DRIFTING, markersize=8, label="chosen")
    scatter.set_xticks(counts)
    scatter.set_ylim(bottom=0)
    name(scatter, "clients a round $s$", r"mean of $|x_1 - x_\star|^2$ from $x_0 = x_\star$", "how far one round scatters")
    legend(scatter)
    return figure


def caption(found: Scatter) -> str:
    """The picture in words."""
    end, s = found.some[:, -40:].mean(), found.participants
    return (f"With {s} of {CLIENTS} clients the loss stays near **{end:.3g}** above its least value; a round from the "
            f"minimiser scatters by {found.scatter[s - 1]:.3g}, the formula says {found.formula[s - 1]:.3g}.")
