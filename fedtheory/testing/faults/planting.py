"""Documented faults, and functions that plant them in a method without changing its code."""

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import reduce
from operator import attrgetter
from typing import Any

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.algorithms.fedsam import along
from synthetic.numbers.arrays import namespace

__all__ = ["Fault", "Plant", "change", "edit", "together"]

Plant = Callable[[Algorithm], Algorithm]  #: turns the correct algorithm into the faulty one


@dataclass(frozen=True)
class Fault:
    """A mistake of real code, or of a printed formula.

    ``method`` (a registered name, with ``arguments``) is the affected method. ``source``: where the mistake is documented,
    as ``owner/repository#number`` of a public issue or change, as a place in a paper's specification, or as a fault of
    ``docs/peers.md``; ``general``: a class of mistakes. ``killers``: properties expected to detect it.
    """

    name: str
    method: str
    source: str
    plant: Plant
    killers: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)


def _with(owner, path: list[str], value):
    """A copy of a frozen dataclass, of a subclass in which ``value`` takes the place of what ``path`` names."""
    name, *rest = path
    value = _with(getattr(owner, name), rest, value) if rest else value
    new = object.__new__(type(type(owner).__name__, (type(owner),), {} if rest else {name: value}))
    for entry in fields(owner):
        object.__setattr__(new, entry.name, value if entry.name == name else getattr(owner, entry.name))
    return new


def change(where: str, value) -> Plant:
    """Plants ``value`` in place of an attribute of the algorithm or of a part of it, as in ``correction.shift``.

    A function gets the object, the original function, and the arguments.
    """
    path = where.split(".")

    def plant(algorithm):
        owner = attrgetter(".".join(path[:-1]))(algorithm) if path[1:] else algorithm
        original = getattr(type(owner), path[-1], None)

        def method(self, *arguments):
            return value(self, lambda *given: original(self, *given), *arguments)

        return _with(algorithm, path, method if callable(value) else value)

    return plant


def edit(where: str, *fragments: str, **names) -> Plant:
    """Plants a function in whose source each first of two ``fragments`` is replaced by the second; ``names`` it may use.

    Raises:
        ValueError: a fragment does not occur exactly once.
    """
    *path, name = where.split(".")

    def plant(algorithm):
        function = getattr(type(attrgetter(".".join(path))(algorithm) if path else algorithm), name)
        source = textwrap.dedent(inspect.getsource(function))
        for old, new in zip(fragments[::2], fragments[1::2], strict=True):
            if source.count(old) != 1:
                raise ValueError(f"{where}: {old!r} occurs {source.count(old)} times, expected once")
            source = source.replace(old, new)
        made = {**function.__globals__, "np": np, "along": along, "namespace": namespace, **names}
        exec(source, made)
        return _with(algorithm, [*path, name], made[name])

    return plant


def together(*plants: Plant) -> Plant:
    """Plants one after the other."""
    return lambda algorithm: reduce(lambda made, plant: plant(made), plants, algorithm)
