"""Instances on which vectors that hypotheses tie to each other, or to the losses, are where the hypotheses say."""

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np
import sympy as sp

from synthetic.numbers.arrays import to_numpy
from verify.claims.ties import Tie
from verify.evaluation.environment import Environment, NoEntry, UnboundName
from verify.evaluation.evaluate import Evaluator
from verify.evaluation.scopes import Scope, enter_ranges
from verify.instances.parameters import Parameters, map_params, number_of

__all__ = ["tied"]

_STEPS = 4  # of Newton's method; one suffices for quadratic losses, some more for losses of pieces
_MOST = 64  # coordinates that are tied
_NEAR = 1e-9  # relative size below which a number in floating point is a rounding error
_SHORT = 2.0**-20  # by which coordinates move after the first step, to stay within a piece

#: the environment of parameters of instances
Begin = Callable[[Parameters], Environment]


def tied(ties: Sequence[Tie], params: Parameters, begins: Sequence[Begin]) -> Parameters:
    """The instances with free vectors moved to where the hypotheses tie them, by Newton's method: of several vectors that
    an equation ties to each other, the last ones move. What has no solution, or none that is near, stays, and as a
    hypothesis it is checked.

    An exact instance stays exact. The ties are looked at in the first of the environments of ``begins`` that has a value for
    each of them.
    """
    names = sorted(set().union(*(tie.moved for tie in ties)) & params.keys())
    count = sum(to_numpy(params[name][0]).size for name in names)
    if not 0 < count <= _MOST:
        return params
    params = params | {name: to_numpy(params[name]) for name in names}
    for begin in begins:
        with np.errstate(all="ignore"), suppress(UnboundName, NoEntry):
            return _move_to_the_ties(ties, params, names, begin)
    return params


def _move_to_the_ties(ties: Sequence[Tie], params: Parameters, names: list[str], begin: Begin) -> Parameters:
    """The instances with the parameters of these names moved."""
    found = dict(params)
    for step in range(_STEPS):
        off, slopes = _linear(ties, found, names, begin, 1.0 if step == 0 else _SHORT)
        if not _off(off).any():
            break
        move, place = _solution(slopes, -off), 0
        for name in names:
            size = found[name][0].size
            found[name] = found[name] + move[:, place : place + size].reshape(found[name].shape)
            place += size
    return found


def _off(vectors: np.ndarray) -> np.ndarray:
    """Select the numbers that are not 0, up to rounding."""
    return vectors != 0 if vectors.dtype == object else abs(vectors) > _NEAR**2


def _linear(ties: Sequence[Tie], params: Parameters, names: list[str], begin: Begin,
            length: float) -> tuple[np.ndarray, np.ndarray]:
    """The tied vectors of every instance, (instances, numbers), and how they change by coordinate when it moves by a length,
    (instances, numbers, coordinates)."""
    rows = number_of(params)
    count = sum(params[name][0].size for name in names)
    several = map_params(params, lambda name, array: np.concatenate([array] * (count + 1)) if len(array) == rows else array)
    place = rows
    for name in names:
        flat = several[name].reshape(len(several[name]), -1)
        step = type(flat.flat[0])(length) if flat.dtype == object else length
        for coordinate in range(flat.shape[1]):
            flat[place : place + rows, coordinate] += step
            place += rows
        several[name] = flat.reshape(several[name].shape)
    values = _values(ties, begin(several))
    values = values.reshape(count + 1, rows, -1)
    step = type(values.flat[0])(length) if values.dtype == object else length
    return values[0], ((values[1:] - values[0]) / step).transpose(1, 2, 0)


def _values(ties: Sequence[Tie], environment: Environment) -> np.ndarray:
    """All vectors that are to be 0, (instances, numbers)."""
    evaluator, found = Evaluator(environment.remembering()), []
    for tie in ties:
        scope, mask = enter_ranges(evaluator, tie.over, Scope({}))
        value = evaluator.value(sp.sympify(tie.vector), scope)
        data = to_numpy(value.data)
        if not value.vector or data.shape[1:3] != (1, 1):
            raise UnboundName(f"{tie.vector} is no vector that chance leaves as it is")
        data = np.broadcast_to(data, (environment.rows, 1, 1, *mask.shape, data.shape[-1]))
        found.append(np.where(mask[..., None], data, 0 * data).reshape(environment.rows, -1))
    return np.concatenate(found, axis=1)


def _solution(slopes: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Returns a solution of ``slopes @ move = right`` for every instance, by elimination from the last unknown to the first
    one; 0 for unknowns that are free.

    Args:
        slopes: (instances, equations, unknowns).
        right: (instances, equations).
    """
    rows, equations, unknowns = slopes.shape
    table, every = np.concatenate([slopes, right[..., None]], axis=2), np.arange(rows)
    used, pivots = np.zeros((rows, equations), dtype=bool), np.full((rows, unknowns), -1)
    least = 0 if table.dtype == object else _NEAR * abs(slopes).reshape(rows, -1).max(axis=1)
    for unknown in reversed(range(unknowns)):
        sizes = np.where(used, 0 * table[:, :, unknown], abs(table[:, :, unknown]))
        pivot = np.array(np.argmax(sizes, axis=1))
        some = np.flatnonzero(sizes[every, pivot] > least)
        if not some.size:
            continue
        at = pivot[some]
        row = table[some, at] / table[some, at, unknown][:, None]
        factors = table[some][:, :, unknown] + 0
        factors[np.arange(len(some)), at] = 0 * row[:, 0]
        table[some] = table[some] - factors[:, :, None] * row[:, None, :]
        table[some, at] = row
        used[some, at], pivots[some, unknown] = True, at
    found = table[every[:, None], pivots, -1]
    return np.where(pivots >= 0, found, 0 * found)
