"""The run of a counterexample in one dimension: its models, and the losses of the clients around them."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bounds.language.claim import Claim
from synthetic.numbers.arrays import NUMPY
from verify.exact.replay import CANNOT, rerun

__all__ = ["OneDimensionalRun", "on_outcome", "one_dimensional_run", "outcome_that_moves_most"]

_MARGIN = 0.3  # of the interval of models and minimisers, on both sides


class OneDimensionalRun(NamedTuple):
    """``places`` (places,); ``losses`` (1 + clients, places), the objective first; ``models`` (rounds + 1,), on the outcome
    of chance that moves them most; ``ends``: the interval of all models, minimisers and the optimum; ``optimum``."""

    places: np.ndarray
    losses: np.ndarray
    models: np.ndarray
    ends: tuple[float, float]
    optimum: float


def outcome_that_moves_most(models: np.ndarray) -> int:
    """The number of the outcome of chance on which the models (1, noise, rest, rounds + 1, dim) move most, the first of
    equals: it shows more than one on which nothing happens."""
    steps = np.diff(models.reshape(-1, *models.shape[-2:]), axis=1)
    return int(np.argmax((steps**2).sum(axis=(1, 2))))


def on_outcome(array: np.ndarray, depth: int, models: np.ndarray, outcome: int) -> np.ndarray:
    """The last ``depth`` axes of an array on an outcome of chance, by its number among the outcomes of ``models``."""
    own = array.shape[-depth:]
    return np.broadcast_to(array, (*models.shape[:-2], *own)).reshape(-1, *own)[outcome]


def one_dimensional_run(data: Mapping[str, Any], claim: Claim, count: int = 201) -> OneDimensionalRun | None:
    """The run of a certificate's instance with the losses at ``count`` places; None where it is no such run in one
    dimension, or cannot be run again."""
    if data.get("setting") != "run" or data["sizes"]["dim"] != 1 or "center" not in data["instance"]:
        return None
    try:
        again = rerun(data, claim, NUMPY)
        models = np.asarray(again.bound["x_round"].data, dtype=float)
        federation = again.federation
        optimum, centers = float(federation.x_star[0, 0]), np.ravel(federation.center)
    except (*CANNOT, AttributeError):  # a federation without minimisers
        return None
    path = on_outcome(models, 2, models, outcome_that_moves_most(models))[:, 0]
    ends = np.array([*path, optimum, *centers], dtype=float)
    if not np.isfinite(ends).all():
        return None
    margin = _MARGIN * max(np.ptp(ends), 0.1)
    places = np.linspace(ends.min() - margin, ends.max() + margin, count)
    rows = federation.backend.array(places[:, None])
    own = np.asarray(federation.value(federation.all_clients(rows))).T
    losses = np.vstack([np.asarray(federation.objective(rows)), own])
    return OneDimensionalRun(places, losses, path, (float(ends.min()), float(ends.max())), optimum)
