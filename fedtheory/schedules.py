"""Schedules: numbers that depend on the local iteration or on the round (step sizes, matching thresholds)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = [
    "Constant", "Geometric", "InverseTime", "Schedule", "StopAfter", "Tabulated", "check_schedule", "value_at",
]


def _check(name: str, value, strict: bool = False, kind: str = "a number or a (runs,) array") -> None:
    """Raise ValueError unless ``value`` is a number or an array of at least (``strict``: above) 0."""
    if hasattr(value, "shape"):
        fits = bool((value > 0 if strict else value >= 0).all())
    else:
        is_number = isinstance(value, (int, float, Fraction)) and not isinstance(value, bool)
        fits = is_number and (value > 0 if strict else value >= 0)
    if not fits:
        raise ValueError(f"{name} must be {kind}, {'above' if strict else 'of at least'} 0; got {value!r}")


class Schedule:
    """A number for every (iteration, round); a float, or an array (runs,) with one value per run.

    ``iteration`` counts local steps over all rounds from 0; ``round`` counts rounds from 0.
    """

    def __call__(self, iteration: int, round: int):
        raise NotImplementedError


@dataclass(frozen=True)
class Constant(Schedule):
    """The same value always."""

    value: Any

    def __post_init__(self):
        _check("value", self.value)

    def __call__(self, iteration, round):
        return self.value


@dataclass(frozen=True)
class InverseTime(Schedule):
    """``2 / (mu * (t + offset))`` with t the local iteration: the decaying step of Li et al. 2020 and FedALIGN.

    ``mu`` and ``offset`` (the paper's gamma) are floats or (runs,) arrays.

    Example:
        >>> InverseTime(mu=1.0, offset=8.0)(iteration=2, round=0)
        0.2
    """

    mu: Any
    offset: Any

    def __post_init__(self):
        _check("mu", self.mu, strict=True)
        _check("offset", self.offset, strict=True)

    def __call__(self, iteration, round):
        return 2 / (self.mu * (iteration + self.offset))


@dataclass(frozen=True)
class Geometric(Schedule):
    """``value * ratio**round``, constant within a round.

    Example:
        >>> Geometric(2.0, 0.5)(iteration=30, round=3)
        0.25
    """

    value: Any
    ratio: Any

    def __post_init__(self):
        _check("value", self.value)
        _check("ratio", self.ratio)

    def __call__(self, iteration, round):
        return self.value * self.ratio**round


@dataclass(frozen=True)
class StopAfter(Schedule):
    """``value`` in the rounds before ``stop``, then ``after``.

    Example:
        >>> [StopAfter(0.5, stop=2)(iteration=0, round=r) for r in (0, 1, 2)]
        [0.5, 0.5, 0]
    """

    value: Any
    stop: int
    after: Any = 0

    def __post_init__(self):
        _check("value", self.value)
        _check("after", self.after)

    def __call__(self, iteration, round):
        return self.value if round < self.stop else self.after


@dataclass(frozen=True)
class Tabulated(Schedule):
    """Values from a table: ``values[..., t]`` by iteration, or by round with ``by="round"``; (times,) or (runs, times).

    The last value holds on after its time.

    Raises ValueError for an unknown clock or an empty table.

    Example:
        >>> [float(Tabulated([0.2, 0.1])(iteration=t, round=0)) for t in (0, 1, 5)]
        [0.2, 0.1, 0.1]
    """

    values: Any
    by: str = "iteration"

    def __post_init__(self):
        if not hasattr(self.values, "shape"):
            object.__setattr__(self, "values", np.asarray(self.values))
        shape = tuple(self.values.shape)
        if len(shape) not in (1, 2) or shape[-1] == 0:
            raise ValueError(f"a table of values must be (times,) or (runs, times), not empty; got shape {shape}")
        if self.by not in ("iteration", "round"):
            raise ValueError(f"unknown clock {self.by!r}; allowed: iteration, round")

    def __call__(self, iteration, round):
        return self.values[..., min(iteration if self.by == "iteration" else round, self.values.shape[-1] - 1)]


def check_schedule(name: str, value) -> None:
    """Raise ValueError unless ``value`` is a schedule, or a number or a (runs,) array of at least 0."""
    if not isinstance(value, Schedule):
        _check(name, value, kind="a number, a (runs,) array or a schedule")


def value_at(schedule, backend, iteration: int, round: int, runs: int):
    """The value of a schedule, number or array on ``backend``: a number or a (runs,) array.

    On exact numbers a float becomes the fraction that it is, so that no result silently turns into a float.
    """
    value = schedule(iteration, round) if isinstance(schedule, Schedule) else schedule
    if hasattr(value, "ndim"):
        if tuple(value.shape) not in ((), (1,), (runs,)):
            raise ValueError(f"one value per run must have shape ({runs},); got {tuple(value.shape)}")
        return backend.array(value)
    if backend.library in ("exact", "balls"):
        return Fraction(value) if isinstance(value, float) and math.isfinite(value) else value
    return float(value)
