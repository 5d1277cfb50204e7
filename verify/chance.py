"""Means over enumerated outcomes of chance, all of them or those of the rounds to come."""

from __future__ import annotations

from synthetic.arrays import namespace

__all__ = ["mean_after", "mean_over"]


def mean_over(data, axis: int, weight):
    """Mean of ``data`` along ``axis``, kept with length 1; ``weight`` (instances | 1, outcomes), None for no chance."""
    if weight is None:
        return data
    return namespace(data).sum(data * _along(weight, axis, data.ndim), axis=axis, keepdims=True)


def mean_after(data, axis: int, weight, r: int, rounds: int):
    """Mean of ``data`` over what happens from round ``r`` on, along ``axis``, which keeps its length.

    Outcomes are all combinations of one outcome per round, ordered by time, the first round slowest.

    Raises:
        ValueError: a number of outcomes that is no power of the number of rounds.
    """
    if weight is None or data.shape[axis] == 1:
        return data
    xp, size = namespace(data), data.shape[axis]
    per_round = round(size ** (1 / rounds))
    if per_round**rounds != size:
        raise ValueError(f"{size} outcomes in {rounds} rounds are not equally many in every round")
    before = per_round ** min(max(r, 0), rounds)
    weight = weight.reshape(weight.shape[0], before, size // before)
    weight = weight / xp.sum(weight, axis=-1, keepdims=True)
    split = data.reshape(*data.shape[:axis], before, size // before, *data.shape[axis + 1 :])
    shape = (weight.shape[0], *(1,) * (axis - 1), before, size // before, *(1,) * (data.ndim - axis - 1))
    mean = xp.sum(split * weight.reshape(shape), axis=axis + 1, keepdims=True)
    return xp.broadcast_to(mean, split.shape).reshape(data.shape)


def _along(weight, axis, ndim):
    return weight.reshape(weight.shape[0], *(1,) * (axis - 1), weight.shape[1], *(1,) * (ndim - axis - 1))
