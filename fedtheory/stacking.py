"""Many algorithms as one: those that differ in hyper-parameters only become one algorithm with a value per run.

And the other way: the part of such an algorithm that belongs to some of the runs.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from fedtheory.algorithm import Algorithm
from fedtheory.schedules import Schedule, Tabulated, check_schedule
from fedtheory.selection import Independent, Pattern
from synthetic.numbers.arrays import Backend, to_numpy

__all__ = ["alike", "for_runs", "stacked"]


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
    value = getattr(owner, field.name)
    return not isinstance(value, bool) and isinstance(value, int | float | Fraction | np.number) and _varies(owner, field)


def _varies(owner, field) -> bool:
    """Whether a field may be an array (runs,)."""
    check = field.metadata.get("check")
    if isinstance(owner, Schedule) and field.name in (*owner.above, *owner.from_zero, "value", "rho_decay"):
        return True
    return (isinstance(check, partial) and check.func is check_schedule) or (
        isinstance(owner, Algorithm) and field.name == "eta_l")


def _form(value):
    """A hashable key that is equal for algorithms that can be run together."""
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


# some of the runs ----------------------------------------------------------------------------------------------------------
def for_runs(algorithm: Algorithm, rows: slice, runs: int) -> Algorithm | None:
    """The algorithm for the runs ``rows`` of a batch of ``runs``: of arrays with a value for each run, the values of these.

    None where it has another array with an axis as long as ``runs``, of which it is not known whether it counts runs.

    Example:
        >>> from fedtheory import fedavg
        >>> for_runs(fedavg(eta_l=np.array([0.1, 0.2, 0.3])), slice(1, 3), 3).eta_l.tolist()
        [0.2, 0.3]
    """
    try:
        return _cut(algorithm, rows, runs)
    except (_Whole, RecursionError):
        return None


class _Whole(Exception):
    """An array may have an axis of runs."""


#: the arrays besides rates that may have an axis of runs, which is then the first of so many
_TABLES = {(Algorithm, "client_steps"): 2, (Tabulated, "values"): 2, (Pattern, "table"): 3, (Independent, "probability"): 1}


def _axes_with_runs(owner, field) -> int | None:
    """The number of axes of a field whose first axis counts the runs; None if it is not known."""
    known = (axes for (kind, name), axes in _TABLES.items() if isinstance(owner, kind) and field.name == name)
    return next(known, 1 if _varies(owner, field) else None)


def _cut(value, rows: slice, runs: int):
    """``value`` for some of the runs; raises _Whole where that is not known."""
    if isinstance(value, type | Backend):
        return value
    if isinstance(value, tuple | list):
        parts = [_cut(one, rows, runs) for one in value]
        return value if all(one is part for one, part in zip(value, parts, strict=True)) else type(value)(parts)
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        if runs in value.shape:
            raise _Whole
        return value
    known = [field.name for field in fields(value)] if is_dataclass(value) else []
    within = [one for name, one in (value if isinstance(value, dict) else getattr(value, "__dict__", {})).items()
              if name not in known]
    within += [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
    if isinstance(value, partial):
        within += [*value.args, *value.keywords.values()]
    if any(_cut(one, rows, runs) is not one for one in within if not callable(one) or isinstance(one, Schedule)):
        raise _Whole
    if not is_dataclass(value):
        return value
    own = {field.name: _cut_field(value, field, rows, runs) for field in fields(value)}
    changes = {name: part for name, part in own.items() if part is not getattr(value, name)}
    return replace(value, **changes) if changes else value  # type: ignore[type-var]


def _cut_field(owner, field, rows: slice, runs: int):
    value, axes = getattr(owner, field.name), _axes_with_runs(owner, field)
    if axes is None or not hasattr(value, "shape"):
        return _cut(value, rows, runs)
    if value.ndim != axes or value.shape[0] != runs:
        return value
    if not field.init:
        raise _Whole
    return value[rows]
