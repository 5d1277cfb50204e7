"""Numbers that differ from round to round, for a round that is captured once on a card and replayed.

A captured round runs no Python: it may know its own number only from the device. While it is captured, the number of the
round is a :class:`ByRound`: the host knows its value in every round of the run, the device looks up that of the round at
hand in a table. Arithmetic of the host, ``2 * round + 1``, makes new tables; functions of tensors take the number of the
device. Where the host must decide, ``if round % 2``, the round is captured as it is decided now, and the clock notes in
which other rounds the decision is the same.
"""

import operator
from collections.abc import Callable
from numbers import Number
from typing import Any

import numpy as np

from synthetic.numbers.arrays import Backend, to_numpy

__all__ = ["ByRound", "Clock", "each_round", "now"]


class Clock:
    """The number of the current round, of ``first .. first + rounds - 1``: on the device ``index``, from 0, and on the host
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
        """Begin the round number ``place``, before its functions are called."""
        self.place, self.alike = place, np.ones(self.rounds, dtype=bool)
        self.read: dict[int, Any] = {}  # numbers already looked up in this round

    def end(self) -> None:
        """Lets go of the numbers looked up, which would keep the memory of a graph."""
        self.known, self.read = {}, {}

    def decide(self, numbers: list):
        """The entry of ``numbers``, of all rounds, in this round, on which the host decides."""
        here = numbers[self.place]
        self.alike &= np.array([one == here and type(one) is type(here) for one in numbers], dtype=bool)
        return here

    def in_all(self, function: Callable, rows) -> list:
        """``function(*row)`` for the row of every round. Rounds in which it raises are not like this one, and have its
        number; if it raises in this one, so does this."""
        found: list[Any] = []
        for place, row in enumerate(rows):
            try:
                found.append(function(*row))
            except Exception:
                if place == self.place:
                    raise
                self.alike[place] = False
                found.append(_RAISED)
        return [found[self.place] if one is _RAISED else one for one in found]


_RAISED = object()
_EXACT = {getattr(operator, name) for name in ("add", "sub", "mul", "eq", "ne", "lt", "le", "gt", "ge")}
_SMALL = 2**31  #: integers below are added and multiplied by NumPy as by Python


class ByRound:
    """A number or an array in every round of a clock, ``values`` (rounds, ...); numbers compute as those of Python do.

    ``arrays``: whether it stands for arrays of NumPy or torch, of any shape, and not for numbers.
    """

    def __init__(self, clock: Clock, values: np.ndarray, arrays: bool = False):
        self.clock, self.values, self.arrays = clock, values, arrays

    def now(self):
        """The value in the current round, on the device: (...), integers, truth values or floats as they are."""
        if id(self.values) not in self.clock.read:
            values = np.array(self.values.tolist()) if self.values.dtype == object else self.values
            backend, kind = self.clock.backend, values.dtype.kind
            made = {"b": backend.booleans, "i": backend.integers}.get(kind, Backend("torch", backend.device).array)
            row = made(values)[self.clock.index][0]
            self.clock.read[id(self.values)] = row, self.values  # keeping the array keeps its id
        return self.clock.read[id(self.values)][0]

    @property
    def numbers(self) -> list:
        """The number of every round, as Python has it."""
        if self.values.ndim > 1:
            raise TypeError("the host cannot compute with the arrays of a captured round")
        return self.values.tolist()

    def _with(self, function: Callable, other: Any, turned: bool = False):
        if hasattr(type(other), "__torch_function__") and not isinstance(other, ByRound):
            return NotImplemented
        if isinstance(other, np.ndarray):
            raise TypeError("NumPy cannot compute with the number of a captured round")
        given = other.values if isinstance(other, ByRound) else other
        if function in _EXACT and _small(self.values) and _small(given):
            return _number(self.clock, function(given, self.values) if turned else function(self.values, given))
        own = self.numbers
        others = other.numbers if isinstance(other, ByRound) else [other] * len(own)
        found = self.clock.in_all(function, zip(others, own, strict=True) if turned else zip(own, others, strict=True))
        numbers = all(isinstance(one, Number | np.generic) for one in found)
        return _number(self.clock, _packed(found)) if numbers else NotImplemented

    def _alone(self, function: Callable):
        return _number(self.clock, _packed(self.clock.in_all(function, zip(self.numbers))))

    def _decided(self, function: Callable):
        return self.clock.decide(self.clock.in_all(function, zip(self.numbers)))

    def __bool__(self) -> bool:
        return self._decided(bool)

    def __index__(self) -> int:
        return self._decided(operator.index)

    def __int__(self) -> int:
        return self._decided(int)

    def __float__(self) -> float:
        return self._decided(float)

    def __repr__(self) -> str:
        return self._decided(repr)

    def __format__(self, form: str) -> str:
        return self._decided(lambda number: format(number, form))

    def __array__(self, *args, **kwargs):
        raise TypeError("NumPy cannot compute with the number of a captured round")

    def __neg__(self):
        return self._alone(operator.neg)

    def __abs__(self):
        return self._alone(abs)

    def __round__(self, *digits):
        return self._alone(lambda number: round(number, *digits))

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if _is_special(getattr(function, "__name__", ""), (*args, *(kwargs or {}).values())):
            args, kwargs = tuple(map(_of_host, args)), {name: _of_host(value) for name, value in (kwargs or {}).items()}
        return function(*map(now, args), **{name: now(value) for name, value in (kwargs or {}).items()})

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None


def _small(values) -> bool:
    """Whether they are integers with which NumPy computes as Python does."""
    if isinstance(values, np.ndarray):
        return values.dtype == np.int64 and bool((abs(values) < _SMALL).all())
    return type(values) is int and abs(values) < _SMALL


def _packed(numbers: list) -> np.ndarray:
    """Numbers (rounds,) that ``tolist`` returns as they are."""
    kinds = set(map(type, numbers))
    if kinds <= {float} or kinds <= {bool} or (kinds <= {int} and all(-2**63 <= one < 2**63 for one in numbers)):
        return np.array(numbers)
    values = np.empty(len(numbers), dtype=object)
    values[:] = numbers
    return values


def _operator(name: str, turned: bool = False):
    function = getattr(operator, name)
    return lambda self, other: self._with(function, other, turned)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift"):
    setattr(ByRound, f"__{_name.rstrip('_')}__", _operator(_name))
    setattr(ByRound, f"__r{_name.rstrip('_')}__", _operator(_name, True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(ByRound, f"__{_name}__", _operator(_name))


def _is_special(name: str, arguments: tuple) -> bool:
    """Whether a function of a number of the host has other bits than of a number of the device: powers are products there,
    and a card multiplies by the inverse of a divisor."""
    on_card = any(isinstance(one, ByRound) and one.clock.backend.device != "cpu" for one in arguments)
    return "pow" in name or (on_card and "div" in name and not name.startswith("__r"))


def _of_host(value):
    return value.clock.decide(value.numbers) if isinstance(value, ByRound) else value


def now(value):
    """``value``, of a :class:`ByRound` that of the round at hand; in tuples and lists as well."""
    if isinstance(value, tuple | list):
        return type(value)(map(now, value))
    return value.now() if isinstance(value, ByRound) else value


def _number(clock: Clock, values: np.ndarray):
    """The number itself where it is the same in all rounds."""
    numbers = values.tolist()
    alike = (values == values[0]).all() and (values.dtype != object or len(set(map(type, numbers))) == 1)
    return numbers[0] if alike else ByRound(clock, values)


def each_round(function: Callable, *times):
    """``function(*times)``; a :class:`ByRound` where a time is one, from the values of the function in all rounds.

    Values are numbers or arrays. Rounds in which they have another shape are not like the one at hand.
    """
    clock = next((time.clock for time in times if isinstance(time, ByRound)), None)
    if clock is None:
        return function(*times)
    rows = [time.numbers if isinstance(time, ByRound) else [time] * clock.rounds for time in times]
    key = id(getattr(function, "__func__", function)), id(getattr(function, "__self__", None)), tuple(map(tuple, rows))
    if key not in clock.known:
        clock.known[key] = [_value(function, time) for time in zip(*rows, strict=True)], {}, function
    values, made, _ = clock.known[key]
    here = values[clock.place]
    if isinstance(here, Exception):
        raise here
    form = _form(here)
    if form not in made:
        like = np.array([_form(value) == form for value in values])
        chosen = [to_numpy(value if fits else here) for value, fits in zip(values, like, strict=True)]
        made[form] = ByRound(clock, np.stack(chosen), form[1]), like
    found, like = made[form]
    clock.alike &= like
    return found


def _value(function: Callable, times: tuple):
    """The value of a function, or what it raises."""
    try:
        return function(*times)
    except Exception as error:
        return error


def _form(value):
    """The shape of a value, and whether it is an array; None of what was raised."""
    return None if isinstance(value, Exception) else (tuple(getattr(value, "shape", ())), hasattr(value, "ndim"))
