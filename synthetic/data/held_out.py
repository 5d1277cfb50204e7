"""Selects the samples that a federation holds out: a share or a number of them, drawn in equal shares of the classes; or
given rows."""

import numpy as np

from synthetic.base.checks import number, whole

__all__ = ["held_out_rows"]


def held_out_rows(held_out, client, labels=None, *, priority=None, seed: int = 0) -> np.ndarray:
    """Select the rows that are held out of training, truth values (rows,).

    Rows are drawn from priority clients, as the objective is theirs. Every client and every class keeps a row. Every class
    gives the same share, rounded down or up, while it has rows to give.

    Args:
        held_out: a share of the priority clients' rows, above 0 and below 1; a number of rows; or truth values (rows,),
            which are checked and returned. None holds out nothing.
        client: the client of each row, numbers from 0, (rows,).
        labels: the class of each row, (rows,); None if targets are numbers.
        priority: truth values (clients,); default all.
        seed: the draw depends on it alone.

    Raises:
        ValueError: a share or a number out of range; truth values that hold out no row of a priority client, or all rows of
            a client.

    Example:
        >>> held_out_rows(0.25, [0] * 8, list("aaaabbbb")).tolist()
        [False, True, False, False, False, False, True, False]
    """
    client = np.asarray(client)
    if held_out is None:
        return np.zeros(len(client), dtype=bool)
    priority = np.ones(client.max() + 1, dtype=bool) if priority is None else np.asarray(priority)
    if np.ndim(held_out):
        return _check_rows(held_out, client, priority)
    group = np.zeros(len(client), dtype=int) if labels is None else np.unique(labels, return_inverse=True)[1]
    order = np.random.default_rng([whole("seed", seed, low=0), 4]).permutation(len(client))
    ours = priority[client]
    free = ours.copy()
    free[_one_of_each(client, order)] = False
    left_out = np.setdiff1d(group, group[~free])  # classes that would keep no row
    free[[row for row in _one_of_each(group, order) if group[row] in left_out]] = False
    count = _count(held_out, int(ours.sum()), int(free.sum()))
    classes = group.max() + 1
    numbers = _shares(np.bincount(group[ours], minlength=classes), np.bincount(group[free], minlength=classes), count)
    chosen = np.zeros(len(client), dtype=bool)
    for one in range(classes):
        chosen[order[free[order] & (group[order] == one)][: numbers[one]]] = True
    return chosen


def _check_rows(held_out, client, priority) -> np.ndarray:
    chosen = np.asarray(held_out)
    if chosen.dtype != bool or chosen.shape != client.shape:
        raise ValueError(f"held_out must be a share, a number of rows or truth values ({len(client)},); got {chosen.dtype} "
                         f"of shape {chosen.shape}")
    if not chosen[priority[client]].any():
        raise ValueError(f"held_out must hold out a row of a priority client; got {chosen.sum()} rows of others")
    empty = np.setdiff1d(client, client[~chosen])
    if len(empty):
        raise ValueError(f"held_out must leave every client a row; got all rows of client {empty[0]}")
    return chosen


def _one_of_each(group, order) -> np.ndarray:
    """The first row of each group in this order."""
    return order[np.unique(group[order], return_index=True)[1]]


def _count(held_out, rows: int, most: int) -> int:
    """The number of rows to hold out of ``rows``, at most ``most``."""
    if isinstance(held_out, (int, np.integer)) and not isinstance(held_out, bool):
        return whole("held_out", held_out, 1, most)
    share = number("held_out", held_out, strict=True)
    count = max(1, round(share * rows))
    if share >= 1 or count > most:
        raise ValueError(f"held_out must be a share below 1 that leaves every client and every class a row, at most {most} "
                         f"of {rows} rows; got {held_out!r}")
    return count


def _shares(sizes, free, count: int) -> np.ndarray:
    """The number of rows that each class gives, ``count`` in all: in proportion to ``sizes``, at most ``free``, by largest
    remainders."""
    wanted = sizes * count / sizes.sum()
    numbers = np.minimum(sizes * count // sizes.sum(), free)
    for _ in range(count - numbers.sum()):
        numbers[np.argmax(np.where(numbers < free, wanted - numbers, -np.inf))] += 1
    return numbers
