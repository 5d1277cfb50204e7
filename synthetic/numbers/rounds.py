"""Numbers that differ from round to round, for a round that is captured once on a card and replayed.

A captured round runs no Python: it may know its own number only from the device. While it is captured, the number of the
round is a :class:`ByRound`: the host knows its value in every round of the run, the device looks up that of the round at
hand in a table. Arithmetic of the host, ``2 * round + 1``, makes new tables; functions of tensors take the number of the
device. Where the host must decide, ``if round % 2``, the round is captured as it is decided now, and the clock notes in
which other rounds the decision is the same.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from synthetic.numbers.arrays import Backend, to_numpy

__all__ = ["ByRound", "Clock", "each_round", "now"]


class Clock:
    """Which of the rounds ``first .. first + rounds - 1`` is at hand: on the device ``index``, from 0, and on the host
    ``place`` while a round is captured. ``slot`` is the row of a table for the round. Both are parts of ``count``, to which
    the device adds one after a round. ``alike`` (rounds,): where all decisions of the captured round are the same."""

    def __init__(self, first: int, rounds: int, backend: Backend):
        self.backend, self.rounds = backend, rounds
        self.count = backend.integers(np.zeros(2, dtype=np.int64)) + 0  # an array of its own
        self.index, self.slot = self.count[:1], self.count[1:]
        self.round = ByRound(self, np.arange(first, first + rounds))
        self.known: dict[Any, tuple] = {}  # what was evaluated in all rounds before
        self.begin(0)

    def begin(self, place: int) -> None:
        """Before the functions of the round number ``place`` are called."""
        self.place, self.alike = place, np.ones(self.rounds, dtype=bool)
        self.read: dict[int, Any] = {}  # numbers already looked up in this round

    def decide(self, values: np.ndarray):
        """The entry of ``values`` (rounds,) in this round, on which the host decides."""
        self.alike &= values == values[self.place]
        return values[self.place].item()


class ByRound:
    """A number or an array in every round of a clock, ``values`` (rounds, ...)."""

    def __init__(self, clock: Clock, values: np.ndarray):
        self.clock, self.values = clock, values

    def now(self):
        """That of the round at hand, on the device: (...), integers, truth values or floats as they are."""
        if id(self.values) not in self.clock.read:
            backend, kind = self.clock.backend, self.values.dtype.kind
            made = {"b": backend.booleans, "i": backend.integers}.get(kind, Backend("torch", backend.device).array)
            row = made(self.values)[self.clock.index][0]
            self.clock.read[id(self.values)] = row, self.values  # keeping the array keeps its id
        return self.clock.read[id(self.values)][0]

    def _with(self, function: Callable, other: Any, turned: bool = False):
        if isinstance(other, ByRound):
            other = other.values
        elif not isinstance(other, int | float | np.number):
            return NotImplemented
        return _number(self.clock, function(other, self.values) if turned else function(self.values, other))

    def __bool__(self) -> bool:
        return self.clock.decide(self.values != 0)

    def __index__(self) -> int:
        return operator.index(self.clock.decide(self.values))

    __int__ = __index__

    def __float__(self) -> float:
        return float(self.clock.decide(self.values))

    def __array__(self, *args, **kwargs):
        raise TypeError("NumPy cannot compute with the number of a captured round")

    def __neg__(self):
        return _number(self.clock, -self.values)

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return function(*map(now, args), **{name: now(value) for name, value in (kwargs or {}).items()})

    def __repr__(self) -> str:
        return f"ByRound({self.values.tolist()})"

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None


def _operator(name: str, turned: bool = False):
    function = getattr(operator, name)
    return lambda self, other: self._with(function, other, turned)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_"):
    setattr(ByRound, f"__{_name.rstrip('_')}__", _operator(_name))
    setattr(ByRound, f"__r{_name.rstrip('_')}__", _operator(_name, True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(ByRound, f"__{_name}__", _operator(_name))


def now(value):
    """``value``, of a :class:`ByRound` that of the round at hand; in tuples and lists as well."""
    if isinstance(value, tuple | list):
        return type(value)(map(now, value))
    return value.now() if isinstance(value, ByRound) else value


def _number(clock: Clock, values: np.ndarray):
    """The number itself where it is the same in all rounds."""
    return values[0].item() if values.ndim == 1 and (values == values[0]).all() else ByRound(clock, values)


def each_round(function: Callable, *times):
    """``function(*times)``; a :class:`ByRound` where a time is one, from the values of the function in all rounds.

    Values are numbers, or arrays of one shape.
    """
    clock = next((time.clock for time in times if isinstance(time, ByRound)), None)
    if clock is None:
        return function(*times)
    rows = [time.values.tolist() if isinstance(time, ByRound) else [time] * clock.rounds for time in times]
    key = id(getattr(function, "__func__", function)), id(getattr(function, "__self__", None)), tuple(map(tuple, rows))
    if key not in clock.known:
        values = np.stack([to_numpy(function(*time)) for time in zip(*rows, strict=True)])
        clock.known[key] = ByRound(clock, values), function
    return clock.known[key][0]
