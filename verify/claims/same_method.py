"""Whether runs are runs of the method that a claim names, and with which hyper-parameters."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from bounds.language.claim import Procedure
from fedtheory import Algorithm, FedAvg, find_algorithm
from fedtheory.algorithms.fedavg import ServerStep
from fedtheory.parts import ServerOptimiser
from fedtheory.selection import AllClients, Always, LossMatching, PriorityOnly, scheme_of
from synthetic.numbers.arrays import to_numpy
from verify.claims.method import free_starts, own_arguments, selection_of

__all__ = ["arguments_of", "other_procedure"]

_ANY = FedAvg().selection
#: values of an argument by which the place is found to which a maker puts it; pairs for numbers of every range
_PROBES = ((0.3173, 0.7319), (1.3173, 2.7319), (2, 3), (1, 2))


def arguments_of(procedure: Procedure | None, algorithm: Algorithm) -> dict[str, Any]:
    """The local step size and the hyper-parameters of the procedure's method, as ``algorithm`` has them. Those that the
    procedure fixes, those that are no numbers and those on the selection are left out; of another method, what it lacks has
    its default."""
    procedure = procedure or Procedure()
    options, found = dict(procedure.options), {}
    method = find_algorithm(procedure.base)
    for name in dict.fromkeys(("eta_l", *own_arguments(procedure), *free_starts(procedure))):
        number = isinstance(method.arguments[name], (int, float)) and not isinstance(method.arguments[name], bool)
        if name in options or not (number or name in free_starts(procedure)):
            continue
        place = _place(procedure, name, algorithm.local_steps)
        if place is not None:
            value = _value_at(algorithm, place)
            found[name] = method.arguments[name] if value is None else value
    return found


def other_procedure(procedure: Procedure | None, algorithm: Algorithm) -> str | None:
    """Describe why runs of ``algorithm`` are not runs of the procedure that a claim names; None if they are."""
    procedure = procedure or Procedure()
    wanted, selection = selection_of(procedure), algorithm.selection
    try:
        made = _make_method(procedure, algorithm.local_steps, **arguments_of(procedure, algorithm))
    except (ValueError, TypeError):
        made = None
    if made is None or not _same(_plain(made), _plain(algorithm)):
        options = ", ".join(f"{name} = {value}" for name, value in procedure.options)
        asked = find_algorithm(procedure.base).make().name if made is None else made.name
        return f"the claim is about {asked}{f' with {options}' if options else ''}; the runs are {algorithm.name}'s"
    if (theirs := scheme_of(selection.sampling)) != scheme_of(wanted.sampling):
        return f"the claim's priority clients are sampled {procedure.sampling}; the runs' {theirs}"
    if not procedure.free_clients:
        same = isinstance(selection.matching, PriorityOnly)
        return None if same else "the claim has no free clients; in the runs they take part"
    if procedure.free == "always" and not isinstance(selection.free, Always):
        return f"the claim's free clients are always available; the runs' by {type(selection.free).__name__}"
    if isinstance(selection.matching, LossMatching):
        for name in ("indicator", "strict"):
            if getattr(selection.matching, name) != getattr(procedure, name):
                return (f"the claim has {name} = {getattr(procedure, name)}; the runs have "
                        f"{name} = {getattr(selection.matching, name)}")
        return None
    if isinstance(selection.matching, AllClients | PriorityOnly):  # the thresholds infinity and 0
        return None
    return f"the claim's free clients are matched by loss; the runs' by {type(selection.matching).__name__}"


def _make_method(procedure: Procedure, local_steps: int, **arguments) -> Algorithm:
    method = find_algorithm(procedure.base)
    given = dict.fromkeys(free_starts(procedure), 0.0) | {"local_steps": local_steps} | dict(procedure.options) | arguments
    return method.make(**{name: value for name, value in given.items() if name in method.arguments or method.passes_on})


def _plain(algorithm: Algorithm) -> Algorithm:
    """The algorithm without name and selection, which are compared otherwise; a server step of 1 is none."""
    server = ServerOptimiser() if algorithm.server == ServerStep() else algorithm.server
    return algorithm.having(name="any", selection=_ANY, server=server)


def _place(procedure: Procedure, name: str, local_steps: int) -> tuple | None:
    """The field, as a path of names, in which the method's maker stores an argument unchanged; None if there is none."""
    for pair in _PROBES:
        try:
            one, other = (dict(_params(_make_method(procedure, local_steps, **{name: value}))) for value in pair)
        except (ValueError, TypeError):
            continue
        for place, value in one.items():
            if _is(value, pair[0]) and place in other and _is(other[place], pair[1]):
                return place
    return None


def _is(value, number) -> bool:
    return isinstance(value, (int, float)) and value == number


def _params(value, place: tuple = ()) -> Iterator[tuple[tuple, Any]]:
    """All values inside of dataclasses, tuples and mappings, with their places."""
    if is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield from _params(getattr(value, each.name), (*place, each.name))
    elif isinstance(value, (tuple, list)):
        for number, each in enumerate(value):
            yield from _params(each, (*place, number))
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _params(each, (*place, key))
    else:
        yield place, value


def _value_at(value, place: tuple):
    """The value at a path of names; None where the path does not exist."""
    for step in place:
        try:
            value = getattr(value, step) if is_dataclass(value) else value[step]
        except (AttributeError, LookupError, TypeError):
            return None
    return value


def _same(one, other) -> bool:
    """Whether two values have the same types, and the same numbers inside."""
    if one is other:
        return True
    if type(one) is not type(other):
        numbers = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (one, other))
        return numbers and one == other
    if is_dataclass(one):
        return all(_same(getattr(one, each.name), getattr(other, each.name)) for each in fields(one))
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if hasattr(one, "shape"):
        return np.array_equal(to_numpy(one), to_numpy(other))
    return one == other
