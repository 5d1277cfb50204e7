"""The run of a counterexample: the outcome of chance that is shown, and in one dimension the losses of the clients."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bounds.language.claim import Claim, Condition
from synthetic.numbers.arrays import NUMPY
from verify.evaluation.environment import Environment
from verify.evaluation.evaluate import sides
from verify.exact.replay import CANNOT, rerun

__all__ = ["OneDimensionalRun", "on_outcome", "one_dimensional_run", "shown_outcome", "worst_place"]

_MARGIN = 0.3  # of the interval of models and minimisers, on both sides


class OneDimensionalRun(NamedTuple):
    """``places`` (places,); ``losses`` (1 + clients, places), the objective first; ``models`` (rounds + 1,), on the outcome
    of :func:`shown_outcome`; ``ends``: the interval of all models, minimisers and the optimum; ``optimum``."""

    places: np.ndarray
    losses: np.ndarray
    models: np.ndarray
    ends: tuple[float, float]
    optimum: float


def worst_place(statement: Condition, environment: Environment) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The place where an instance breaks a statement most, and the number of places on each axis: the instance, the outcome
    of noise, that of the rest of chance (one, for a statement about all outcomes), then one for each index of ``over``."""
    with np.errstate(all="ignore"):
        left, right, mask = np.broadcast_arrays(*sides(statement, environment))
        gap = {"<=": left - right, ">=": right - left, "==": abs(left - right)}[statement.relation]
        place = np.unravel_index(np.argmax(np.where(mask, gap, -np.inf)), gap.shape)
    return tuple(map(int, place)), gap.shape


def shown_outcome(claim: Claim, environment: Environment, models: np.ndarray) -> int:
    """The number of the outcome of chance on which the models (1, noise, rest, rounds + 1, dim) are shown: one on which the
    statement fails, and of several the first on which they move most."""
    moves = (np.diff(models, axis=-2) ** 2).sum(axis=(-1, -2))
    if claim.statement is not None:
        place, shape = worst_place(claim.statement, environment)
        for axis in (1, 2):
            if 1 < shape[axis] == moves.shape[axis]:
                others = np.delete(np.arange(shape[axis]), place[axis])
                moves[(slice(None),) * axis + (others,)] = -1.0
    return int(np.argmax(moves))


def on_outcome(array: np.ndarray, depth: int, models: np.ndarray, outcome: int) -> np.ndarray:
    """The last ``depth`` axes of an array on an outcome of chance, by its number among the outcomes of ``models``; on the
    first outcome, where only the array depends on chance."""
    places = np.unravel_index(outcome, models.shape[:-2])
    return array[tuple(min(int(place), size - 1) for place, size in zip(places, array.shape[:-depth], strict=True))]


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
        path = on_outcome(models, 2, models, shown_outcome(claim, again, models))[:, 0]
    except (*CANNOT, AttributeError):  # a federation without minimisers
        return None
    ends = np.array([*path, optimum, *centers], dtype=float)
    if not np.isfinite(ends).all():
        return None
    margin = _MARGIN * max(np.ptp(ends), 0.1)
    places = np.linspace(ends.min() - margin, ends.max() + margin, count)
    rows = federation.backend.array(places[:, None])
    own = np.asarray(federation.value(federation.all_clients(rows))).T
    losses = np.vstack([np.asarray(federation.objective(rows)), own])
    return OneDimensionalRun(places, losses, path, (float(ends.min()), float(ends.max())), optimum)
