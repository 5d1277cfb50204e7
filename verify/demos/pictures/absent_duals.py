"""Primal-dual drift: duals of clients that are absent grow old, and A-FedPD moves them along."""

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import fedtheory as ft
from verify.demos.controls import Slider
from verify.demos.drawn import CORRECTED, DRIFTING, THIRD, legend, mean_by_round, name, panels
from verify.demos.states import states_of

__all__ = ["CLIENTS", "CONTROLS", "Duals", "caption", "compute", "picture"]

CLIENTS = 10
CONTROLS = {
    "participants": Slider(f"clients a round $s$, of {CLIENTS}", tuple(range(1, CLIENTS + 1)), 2),
    "rho": Slider(r"penalty $\rho$", (0.3, 0.5, 1.0, 2.0, 4.0, 8.0), 1.0),
    "spread": Slider("heterogeneity: 0, all clients are the same, to 1", (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0), 0.0),
    "local_steps": Slider("local steps $K$", (1, 2, 5, 10, 20), 10),
}
ROUNDS, SEEDS, ETA = 120, 16, 0.02
_SHOWN = {"fedavg": ("FedAvg", THIRD), "feddyn": ("FedDyn: absent duals rest", DRIFTING),
          "afedpd": ("A-FedPD: absent duals move", CORRECTED)}


class Duals(NamedTuple):
    """F - F* (runs, rounds + 1) by method; and of the methods with duals the mean over clients of |lam_k - lam_k*|^2, whose
    lam_k* = -grad F_k(x*)."""

    loss: tuple[np.ndarray, ...]
    age: tuple[np.ndarray, ...]
    participants: int


def compute(participants: int, rho: float, spread: float, local_steps: int) -> Duals:
    """The runs of the three methods on one federation."""
    federation = ft.make_quadratic(clients=CLIENTS, dim=5, minimiser_spread=spread, hessian_spread=spread)
    common = dict(eta_l=ETA, local_steps=local_steps, participants=participants)
    methods = [ft.make_algorithm(name, **common, **({} if name == "fedavg" else {"rho_prox": rho})) for name in _SHOWN]
    loss = tuple(ft.run(method, federation, ROUNDS, seeds=SEEDS).dataset.suboptimality.values for method in methods)
    return Duals(loss, tuple(_dual_distance(method, federation) for method in methods[1:]), participants)


def _dual_distance(method, federation) -> np.ndarray:
    """The mean over clients of the squared distance of the duals to those at the optimum, (runs, rounds + 1)."""
    optimal = -federation.gradient(federation.all_clients(federation.x_star))
    rows = []
    for state in states_of(method, federation, ROUNDS, SEEDS):
        duals = state.server["duals"] if "duals" in state.server else state.clients["dual"]
        rows.append(((duals - optimal) ** 2).sum(-1).mean(-1).numpy())
    return np.stack(rows, axis=1)


def picture(found: Duals) -> Figure:
    """The loss by round, and how far the duals are from those at the optimum."""
    figure, (course, age) = panels()
    for loss, (label, colour) in zip(found.loss, _SHOWN.values(), strict=True):
        mean_by_round(course, loss, colour, label, floor=1e-14)
    for distance, (label, colour) in zip(found.age, list(_SHOWN.values())[1:], strict=True):
        mean_by_round(age, distance, colour, label, floor=1e-14)
    for axes in (course, age):
        axes.set_ylim(max(axes.get_ylim()[0], 1e-14), min(axes.get_ylim()[1], 1e6))
    name(course, "round", rf"$F(x) - F_\star$: mean and 80 % of {SEEDS} runs", "the loss")
    name(age, "round", r"mean of $|\lambda_k - \lambda_k^\star|^2$ over the clients", "the duals")
    legend(course)
    legend(age)
    return figure


def caption(found: Duals) -> str:
    """The picture in words."""
    plain, rests, moves = (loss[:, -1].mean() for loss in found.loss)
    return (f"After {ROUNDS} rounds with {found.participants} of {CLIENTS} clients the mean loss is above its least value "
            f"by {plain:.3g} with FedAvg, **{rests:.3g}** where absent duals rest, and **{moves:.3g}** where they move.")
