"""Many algorithms as one: those that differ in hyper-parameters only become one algorithm with a value per run."""

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.schedules import Schedule, check_schedule
from synthetic.numbers.arrays import Backend, to_numpy

__all__ = ["alike", "stacked"]


def alike(algorithms: Sequence[Algorithm]) -> list[list[int]]:
    """The numbers of those algorithms that one batch can run together, in the order of the first of each group.

    These are of one form: they differ only in what may be an array (runs,), that is in fields made by
    :func:`fedtheory.fields.rate`, in ``eta_l``, and in the numbers of schedules.

    Example:
        >>> from fedtheory import fedavg
        >>> alike([fedavg(eta_l=0.1), fedavg(eta_l=0.1, local_steps=2), fedavg(eta_l=0.2)])
        [[0, 2], [1]]
    """
    groups: dict[Any, list[int]] = {}
    for number, algorithm in enumerate(algorithms):
        groups.setdefault(_form(algorithm), []).append(number)
    return list(groups.values())


def stacked(algorithms: Sequence[Algorithm], backend: Backend, runs: int = 1) -> Algorithm:
    """One algorithm for a batch in which each of the ``algorithms``, which are :func:`alike`, has ``runs`` runs in a row.

    A number that is the same in all of them stays a number; others become arrays (len(algorithms) * runs,) of the backend.

    Example:
        >>> from fedtheory import fedavg
        >>> from synthetic import NUMPY
        >>> stacked([fedavg(eta_l=0.1), fedavg(eta_l=0.2)], NUMPY, runs=2).eta_l.tolist()
        [0.1, 0.1, 0.2, 0.2]
    """
    return _joined(algorithms, lambda numbers: backend.array(np.repeat(np.array(numbers, dtype=float), runs)))


def _of_runs(owner, field) -> bool:
    """Whether a field of a method, a part or a schedule has a number that may be another one in each run."""
    check, value = field.metadata.get("check"), getattr(owner, field.name)
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | np.number):
        return False
    if isinstance(owner, Schedule) and field.name in (*owner.above, *owner.from_zero, "value", "rho_decay"):
        return True
    return (isinstance(check, partial) and check.func is check_schedule) or (
        isinstance(owner, Algorithm) and field.name == "eta_l")


def _form(value):
    """What must be equal in algorithms that are run together; it can be hashed."""
    if is_dataclass(value) and not isinstance(value, type):
        return type(value), *(None if _of_runs(value, field) else (field.name, _form(getattr(value, field.name)))
                              for field in fields(value))
    if isinstance(value, tuple | list):
        return type(value), *map(_form, value)
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        array = to_numpy(value)
        return str(array.dtype), array.shape, repr(array.tolist()) if array.dtype == object else array.tobytes()
    if type(value).__eq__ is object.__eq__ and hasattr(value, "__dict__") and not callable(value):
        return type(value), *((name, _form(item)) for name, item in sorted(vars(value).items()))
    return type(value), value if type(value).__hash__ else id(value)


def _joined(values: Sequence, array: Callable[[list], Any]):
    """The first of values of one form, with arrays where they differ."""
    first, changes = values[0], {}
    if isinstance(first, tuple | list):
        return type(first)(_joined(each, array) for each in zip(*values, strict=True))
    if not is_dataclass(first) or isinstance(first, type):
        return first
    for field in fields(first):
        own = [getattr(value, field.name) for value in values]
        if not field.init:
            continue
        if _of_runs(first, field):
            if any(one != own[0] for one in own):
                changes[field.name] = array(own)
        elif (new := _joined(own, array)) is not own[0]:
            changes[field.name] = new
    return replace(first, **changes) if changes else first
