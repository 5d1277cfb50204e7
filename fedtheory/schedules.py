"""Schedules: numbers that depend on the local iteration or on the round (step sizes, matching thresholds)."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from synthetic.base.checks import one_of, whole
from synthetic.numbers.rounds import ByRound, each_round

__all__ = [
    "Constant", "CyclicLinear", "Geometric", "GeometricLocal", "InverseTime", "Schedule", "StopAfter", "Tabulated",
    "check_schedule", "value_at",
]


def _check(name: str, value, strict: bool = False, kind: str = "a number or a (runs,) array",
           infinite: bool = False) -> None:
    """Raises ValueError unless ``value`` is a number or an array of at least 0 (above 0 if ``strict``), and a number is
    finite, unless it may be ``infinite``."""
    if isinstance(value, float) and not infinite and not math.isfinite(value):
        fits = False
    elif hasattr(value, "shape"):
        fits = bool((value > 0 if strict else value >= 0).all())
    else:
        is_number = isinstance(value, (int, float, Fraction)) and not isinstance(value, bool)
        fits = is_number and (value > 0 if strict else value >= 0)
    if not fits:
        allowed = f"{'above' if strict else 'of at least'} 0{'' if infinite else ' and finite'}"
        raise ValueError(f"{name} must be {kind}, {allowed}; got {_received(value)}")


def _received(value) -> str:
    """A wrong number, or the least and the largest of an array with one."""
    if not hasattr(value, "shape") or not math.prod(value.shape):
        return repr(value)
    least, most = value.min(), value.max()
    return f"an array of {least}" if least == most else f"an array from {least} to {most}"


class Schedule:
    """A number for every (iteration, round); a float, or an array (runs,) with one value per run.

    ``iteration`` counts local steps over all rounds from 0; ``round`` counts rounds from 0.
    """

    above: tuple[str, ...] = ()  #: names of the fields that are numbers above 0
    from_zero: tuple[str, ...] = ()  #: and of those that are at least 0

    def __post_init__(self):
        for name in (*self.above, *self.from_zero):
            _check(name, getattr(self, name), strict=name in self.above)

    def __call__(self, iteration: int, round: int):
        raise NotImplementedError


@dataclass(frozen=True)
class Constant(Schedule):
    """The same value always."""

    value: Any
    from_zero = ("value",)

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
    above = ("mu", "offset")

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
    from_zero = ("value", "ratio")

    def __call__(self, iteration, round):
        return self.value * self.ratio**round


def _value_at(value, iteration: int, round: int):
    """The value of a schedule or number; an integer becomes a fraction, so that quotients stay exact."""
    value = value(iteration, round) if isinstance(value, Schedule) else value
    return Fraction(value) if isinstance(value, int) else value


@dataclass(frozen=True)
class CyclicLinear(Schedule):
    """``value * (1 - (1 - rho_decay) * k / local_steps)`` at local step k of every round: falls from ``value`` towards
    ``rho_decay * value`` and starts anew (FedSWA, Eq. 3). ``value`` may itself be a schedule.

    Its sum over a round is ``value * ((local_steps + 1) + rho_decay * (local_steps - 1)) / 2``.

    Example:
        >>> [CyclicLinear(1.0, 0.5, local_steps=2)(iteration=t, round=t // 2) for t in range(4)]
        [1.0, 0.75, 1.0, 0.75]
    """

    value: Any
    rho_decay: Any
    local_steps: int

    def __post_init__(self):
        check_schedule("value", self.value)
        _check("rho_decay", self.rho_decay)
        if not bool((self.rho_decay <= 1).all() if hasattr(self.rho_decay, "shape") else self.rho_decay <= 1):
            raise ValueError(f"rho_decay must be between 0 and 1; got {self.rho_decay!r}")
        whole("local_steps", self.local_steps)

    def __call__(self, iteration, round):
        value, k = _value_at(self.value, iteration, round), iteration - round * self.local_steps
        return value - value * (1 - self.rho_decay) * k / self.local_steps


@dataclass(frozen=True)
class GeometricLocal(Schedule):
    """``value * ((local_steps - 2) / (local_steps - 1))**k`` at local step k of every round (FedMoSWA, Theorem H.1, which
    prints it with ``value = 1``). ``value`` may itself be a schedule.

    Example:
        >>> [GeometricLocal(1.0, local_steps=3)(iteration=t, round=t // 3) for t in range(4)]
        [1.0, 0.5, 0.25, 1.0]
    """

    value: Any
    local_steps: int

    def __post_init__(self):
        check_schedule("value", self.value)
        whole("local_steps", self.local_steps, 2)

    def __call__(self, iteration, round):
        value = _value_at(self.value, iteration, round)
        ratio = Fraction(self.local_steps - 2, self.local_steps - 1)**(iteration - round * self.local_steps)
        exact = isinstance(value, Fraction) or (hasattr(value, "dtype") and value.dtype == object)
        return value * (ratio if exact else float(ratio))


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
    from_zero = ("value", "after")

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
        one_of("clock", self.by, ("iteration", "round"))

    def __call__(self, iteration, round):
        return self.values[..., min(iteration if self.by == "iteration" else round, self.values.shape[-1] - 1)]


def check_schedule(name: str, value, strict: bool = False, high: float = math.inf, infinite: bool = False) -> None:
    """Raises ValueError unless ``value`` is a schedule, or a number or (runs,) array from 0 (excluded if ``strict``) to
    ``high``; a number is finite unless it may be ``infinite``."""
    if isinstance(value, Schedule):
        return
    _check(name, value, strict, "a number, a (runs,) array or a schedule", infinite)
    if not bool((value <= high).all() if hasattr(value, "shape") else value <= high):
        raise ValueError(f"{name} must be at most {high:g}; got {_received(value)}")


def _number_on(backend, value: float):
    import torch

    return torch.full((), value, dtype=torch.float64, device=backend.device)


def value_at(schedule, backend, iteration: int, round: int, runs: int):
    """The value of a schedule, number or array on ``backend``: a number or a (runs,) array.

    With exact numbers a float becomes the fraction that it is, so that results stay exact. On a card the number of a
    schedule is an array (), so that a round that is captured and replayed has the bits of one that is not.
    """
    value = each_round(schedule, iteration, round) if isinstance(schedule, Schedule) else schedule
    if isinstance(value, ByRound):
        return backend.array(value.now()) if value.arrays else value.now().double()
    if isinstance(schedule, Schedule) and not hasattr(value, "ndim") and backend.device != "cpu":
        return _number_on(backend, float(value))
    if hasattr(value, "ndim"):
        if tuple(value.shape) not in ((), (1,), (runs,)):
            raise ValueError(f"one value per run must have shape ({runs},); got {tuple(value.shape)}")
        return backend.array(value)
    if backend.library in ("exact", "balls"):
        return Fraction(value) if isinstance(value, float) and math.isfinite(value) else value
    return float(value)
