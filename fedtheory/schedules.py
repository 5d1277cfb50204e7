"""Schedules: numbers that depend on the local iteration or on the round (step sizes, matching thresholds)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Constant", "Geometric", "InverseTime", "Schedule", "StopAfter", "Tabulated", "as_schedule"]


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

    def __call__(self, iteration, round):
        return self.value


@dataclass(frozen=True)
class InverseTime(Schedule):
    """``2 / (mu * (t + offset))`` with t the local iteration: the decaying step of Li et al. 2020 and FedALIGN.

    ``mu`` and ``offset`` (the paper's gamma) are floats or (runs,) arrays.
    """

    mu: Any
    offset: Any

    def __call__(self, iteration, round):
        return 2 / (self.mu * (iteration + self.offset))


@dataclass(frozen=True)
class Geometric(Schedule):
    """``value * ratio**round``, constant within a round."""

    value: Any
    ratio: Any

    def __call__(self, iteration, round):
        return self.value * self.ratio**round


@dataclass(frozen=True)
class StopAfter(Schedule):
    """``value`` in the rounds before ``stop``, then ``after``."""

    value: Any
    stop: int
    after: Any = 0

    def __call__(self, iteration, round):
        return self.value if round < self.stop else self.after


@dataclass(frozen=True)
class Tabulated(Schedule):
    """Values from a table: ``values[..., t]`` by iteration, or by round with ``by="round"``; (times,) or (runs, times).

    The last value holds on after its time.
    """

    values: Any
    by: str = "iteration"

    def __post_init__(self):
        if self.by not in ("iteration", "round"):
            raise ValueError(f"unknown clock {self.by!r}; allowed: iteration, round")

    def __call__(self, iteration, round):
        return self.values[..., min(iteration if self.by == "iteration" else round, self.values.shape[-1] - 1)]


def as_schedule(value) -> Schedule:
    """A schedule from a schedule or from a bare number or (runs,) array."""
    return value if isinstance(value, Schedule) else Constant(value)
