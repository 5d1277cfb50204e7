"""A bound beside its run: what a theorem prints, its exact worst case, and the mean of many runs with its band."""

from fractions import Fraction
from functools import lru_cache
from math import nan
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

import fedtheory as ft
from verify.demos.controls import Choice, Slider
from verify.demos.drawn import CORRECTED, DRIFTING, EXACT, legend, name, panels
from verify.results.verdict import Series
from verify.worst.configurations import instantiate
from verify.worst.worst_case import worst_case

__all__ = ["CONTROLS", "Beside", "caption", "compute", "exact_factors", "picture", "step_of"]

L, MU, LOCAL_STEPS, CLIENTS, DIM, ROUNDS, SEEDS = 1, Fraction(1, 10), 2, 2, 4, 16, 64
#: id, method, local steps, rounds up to which the exact worst case is computed
THEOREMS = {
    "local SGD, clients with one minimiser": ("classical/local-sgd-one-optimum", "fedavg", LOCAL_STEPS, 3),
    "SCAFFOLD, strongly convex": ("classical/scaffold-convex", "scaffold", LOCAL_STEPS, 4),
    "FedAvg, clients of bounded dissimilarity": ("classical/fedavg-dissimilar-convex", "fedavg", LOCAL_STEPS, 4),
    "gradient descent (Drori, Teboulle)": ("classical/gd-convex", "fedavg", 1, 6),
    "FedAvg (Li et al. 2020, Theorem 1)": ("li2020/theorem-1", "fedavg", LOCAL_STEPS, 3),
}
#: spread of the minimisers, noise
FEDERATIONS = {"one minimiser": (0.0, 0.0), "one minimiser, noisy gradients": (0.0, 0.3),
               "minimisers apart": (1.0, 0.0), "minimisers apart, noisy gradients": (1.0, 0.3)}
CONTROLS = {
    "theorem": Choice("theorem", tuple(THEOREMS), "local SGD, clients with one minimiser"),
    "federation": Choice("federation of two quadratics", tuple(FEDERATIONS), "one minimiser, noisy gradients"),
    "share": Slider("step, as a share of the largest that the theorem permits", (0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0), 0.4),
}


class Beside(NamedTuple):
    """Both sides of the theorem along the runs; the least factors of the bound over all functions, nan where they are not
    computed; the step in words; verdict and reason of :func:`fedtheory.compare`."""

    series: Series | None
    factors: np.ndarray
    step: str
    verdict: str
    reason: str


def compute(theorem: str, federation: str, share: float) -> Beside:
    """The runs, both sides along them, and the exact worst cases after the first rounds."""
    claim, method, local_steps, _ = THEOREMS[theorem]
    spread, sigma = FEDERATIONS[federation]
    clients = ft.make_quadratic(clients=CLIENTS, dim=DIM, L=float(L), mu=float(MU), minimiser_spread=spread, sigma=sigma,
                                noise="sphere" if sigma else "none", distance=2.0)
    step, said = step_of(theorem, share)
    made = ft.make_algorithm(method, eta_l=step, local_steps=local_steps)
    found = ft.compare(claim, ft.run(made, clients, ROUNDS, seeds=SEEDS if sigma else 1))
    return Beside(found.series, exact_factors(theorem, share), said, found.verdict, found.reason)


def step_of(theorem: str, share: float):
    """The step of the runs, also in words: a share of the largest that the theorem permits, or the one it prescribes."""
    largest = _setting(theorem).values.get("eta")
    if isinstance(largest, str):
        step = Fraction(largest) * Fraction(str(share))
        return float(step), f"{float(step):g}/L"
    if THEOREMS[theorem][1:3] == ("fedavg", 1):
        return 1.0 / L, "1/L, which the theorem prescribes"
    return ft.InverseTime(mu=float(MU), offset=float(max(8 * L / MU, LOCAL_STEPS))), "2/(mu (t + 8 L/mu)), as prescribed"


def _setting(theorem: str):
    claim_id, _, local_steps = THEOREMS[theorem][:3]
    return instantiate(ft.claim(claim_id), {"rounds": Fraction(1), "local_steps": Fraction(local_steps)})


@lru_cache(maxsize=256)
def exact_factors(theorem: str, share: float) -> np.ndarray:
    """The least number by which the bound may be multiplied, over all functions of the theorem's class in every dimension,
    after 1, 2, ... rounds; nan where the program is large, or not solved reliably."""
    claim, _, local_steps, known = THEOREMS[theorem]
    largest = _setting(theorem).values.get("eta")
    given = {"local_steps": Fraction(local_steps)}
    given |= {"eta": Fraction(largest) * Fraction(str(share))} if isinstance(largest, str) else {}
    factors = [worst_case(ft.claim(claim), given | {"rounds": Fraction(rounds)}, proofs=False).reliable
               for rounds in range(1, known + 1)]
    return np.array([nan if None in each else max(each, default=nan) for each in factors] + [nan] * (ROUNDS - known))


def picture(found: Beside) -> Figure:
    """Both sides by round, and the same in units of the bound."""
    figure, (sides, share) = panels()
    if found.series is None:
        sides.set_axis_off()
        share.set_axis_off()
        sides.text(0, 0.5, "a side has no value on these runs", fontsize=12, fontfamily="STIXGeneral")
        return figure
    series = found.series
    rounds, left, right = (np.array(column, dtype=float) for column in (series.x, series.left, series.right))
    low, high = (np.array(ends, dtype=float) if ends else left for ends in (series.left_low, series.left_high))
    factors = found.factors[rounds.astype(int) - 1]
    line = "-" if series.decides else (0, (4, 2))
    for axes, unit in ((sides, 1.0), (share, right)):
        axes.plot(rounds, right / unit, marker="s", linestyle=line, color=EXACT, markersize=3.5, label="printed bound")
        axes.plot(rounds, factors * right / unit, "D", color=DRIFTING, markersize=6, label="exact worst case")
        axes.plot(rounds, left / unit, "o-", color=CORRECTED, markersize=3.5, label="measured")
        axes.fill_between(rounds, np.maximum(low, 1e-300) / unit, high / unit, color=CORRECTED, alpha=0.2, linewidth=0)
        axes.set_yscale("log")
    positive = left[left > 0]
    sides.set_ylim(max(positive.min(), right.max() * 1e-8) / 2 if positive.size else None, right.max() * 2)
    share.set_ylim(max((left / right)[left > 0].min(), 1e-6) / 2 if positive.size else 1e-6, 3)
    name(sides, "round", series.y_label, "both sides")
    name(share, "round", "in units of the bound", "what the bound gives away")
    legend(sides)
    return figure


def caption(found: Beside) -> str:
    """The picture in words."""
    known = found.factors[~np.isnan(found.factors)]
    worst = (f"After {known.size} rounds the worst case over all functions is **{known[-1]:.4g}** of the bound. "
             if known.size else "At this step the solver finds no worst case that is precise enough to be shown. ")
    if found.verdict == "not applicable":
        return f"{worst}**On these runs the theorem says nothing**: {found.reason}. The step is {found.step}."
    ratio = found.series.left[-1] / found.series.right[-1]
    return (f"{worst}After {ROUNDS} rounds these runs use **{ratio:.3g}** of it. The step is {found.step}. "
            f"The runs: {found.verdict}.")
