"""Means over enumerated outcomes of chance: over all of them, or over those of the rounds to come."""

import numpy as np

from synthetic.numbers.arrays import namespace, to_numpy

__all__ = ["mean_after", "mean_over", "of_possible"]


def mean_over(data, axis: int, weight):
    """Mean of ``data`` along ``axis``, kept with length 1.

    ``weight`` is (instances | 1, outcomes), or for axis 2 (instances | 1, outcomes of axis 1, outcomes), given those of
    axis 1; None for no chance.
    """
    if weight is None:
        return data
    return namespace(data).sum(data * _along(weight, axis, data.ndim), axis=axis, keepdims=True)


def mean_after(data, axis: int, weight, r: int, rounds: int, start: int = 1):
    """Mean of ``data`` along ``axis`` over the chance from round ``r`` on; the axis keeps its length.

    The outcomes are all combinations of one of ``start`` outcomes before the first round and one outcome per round, with
    the start slowest, then the first round. ``weight`` as in :func:`mean_over`. If the past has probability zero, the mean
    is zero.

    Raises:
        ValueError: the number of outcomes is not ``start`` times the same number for every round.
    """
    if weight is None or data.shape[axis] == 1:
        return data
    xp, size = namespace(data), data.shape[axis]
    per_round = round((size / start) ** (1 / rounds))
    if start * per_round**rounds != size:
        raise ValueError(f"{size} outcomes in {rounds} rounds are not equally many in every round")
    before = start * per_round ** min(max(r, 0), rounds)
    weight = weight.reshape(*weight.shape[:-1], before, size // before)
    total = xp.sum(weight, axis=-1, keepdims=True)
    weight = weight / xp.where(total > 0, total, 0 * total + 1)
    split = data.reshape(*data.shape[:axis], before, size // before, *data.shape[axis + 1 :])
    lead = weight.shape[:-2]
    shape = (*lead, *(1,) * (axis - len(lead)), before, size // before, *(1,) * (data.ndim - axis - 1))
    mean = xp.sum(split * weight.reshape(shape), axis=axis + 1, keepdims=True)
    return xp.broadcast_to(mean, (*mean.shape[: axis + 1], size // before, *mean.shape[axis + 2 :])).reshape(
        *mean.shape[:axis], size, *data.shape[axis + 1 :])


def of_possible(data, possible):
    """``data`` (instances | 1, noise | 1, outcomes | 1, ...) with a possible outcome in place of each of probability zero.

    ``possible`` (instances, noise, outcomes) says which outcomes have a positive probability; None for all.
    """
    if possible is None or tuple(data.shape[1:3]) == (1, 1):
        return data
    xp, rows = namespace(data), possible.shape[0]
    data = xp.broadcast_to(data, (*possible.shape, *data.shape[3:]))
    flat, first = data.reshape(rows, -1, *data.shape[3:]), to_numpy(possible).astype(bool).reshape(rows, -1).argmax(axis=1)
    one = flat[np.arange(rows), first].reshape(rows, 1, 1, *data.shape[3:])
    return xp.where(possible.reshape(*possible.shape, *(1,) * (data.ndim - 3)), data, one)


def _along(weight, axis, ndim):
    """``weight`` (instances, [outcomes of axis 1,] outcomes), reshaped for data with ``ndim`` axes."""
    lead = weight.shape[:-1]
    return weight.reshape(*lead, *(1,) * (axis - len(lead)), weight.shape[-1], *(1,) * (ndim - axis - 1))
