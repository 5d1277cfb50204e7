"""Documented faults, and functions that plant them in a method without changing its code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from fedtheory.algorithm import PARTS, Algorithm

__all__ = ["Fault", "kept_between_rounds", "spoiled", "spoiled_part"]


@dataclass(frozen=True)
class Fault:
    """A mistake of real code, or of a printed formula.

    ``method`` (a registered name, with ``arguments``) is the affected method; ``plant`` turns the correct algorithm into the
    faulty one. ``source``: where the mistake is documented, as ``owner/repository#number`` of a public issue or change, as a
    place in a paper's specification, or as a fault of ``docs/peers.md``; ``general``: a class of mistakes. ``killers``:
    properties expected to detect it.
    """

    name: str
    method: str
    source: str
    plant: Callable[[Algorithm], Algorithm]
    killers: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)


def _subclass(owner, functions: Mapping[str, Any]):
    """A copy of a frozen dataclass, of a subclass in which ``functions`` take the place of its own.

    A function gets the object, the original function, and the arguments; anything else becomes an attribute.
    """
    kind, own = type(owner), {}
    for name, value in functions.items():
        if not callable(value):
            own[name] = value
            continue

        def method(self, *arguments, _value=value, _name=name):
            return _value(self, lambda *given: getattr(kind, _name)(self, *given), *arguments)

        own[name] = method
    new = object.__new__(type(kind.__name__, (kind,), own))
    for entry in fields(owner):
        object.__setattr__(new, entry.name, getattr(owner, entry.name))
    return new


def spoiled(**functions) -> Callable[[Algorithm], Algorithm]:
    """Plants functions in place of the algorithm's own: ``function(self, original, *arguments)``."""
    return lambda algorithm: _subclass(algorithm, functions)


def kept_between_rounds(name: str) -> dict[str, Callable]:
    """Functions of a client's optimiser by which it does not start its array ``name`` anew in every round."""
    def begin(self, original, local, moment):
        return original(local, moment).with_own(**{name: local.own[name]})

    def client_state(self, original, federation, x, draws):
        return original(federation, x, draws) | {name: 0 * federation.all_clients(x)}

    def finish(self, original, local, moment):
        return original(local, moment) | {name: local.own[name]}

    return {"begin": begin, "client_state": client_state, "finish": finish}


def spoiled_part(part: str, **functions) -> Callable[[Algorithm], Algorithm]:
    """The same for a part of it: oracle, correction, client, server, upload, or the selection's sampling."""
    def plant(algorithm):
        new = _subclass(algorithm, {})
        if part not in PARTS:
            selection = _subclass(algorithm.selection, functions)
            object.__setattr__(new, "selection", selection)
        else:
            object.__setattr__(new, part, _subclass(getattr(algorithm, part), functions))
        return new

    return plant
