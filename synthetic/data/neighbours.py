"""Neighbour data sets: federations that differ in one sample of one client, for the stability of an algorithm."""

from __future__ import annotations

import numpy as np

from synthetic.base.checks import finite, whole
from synthetic.numbers.arrays import to_numpy

__all__ = ["neighbours"]


def neighbours(federation, replacements):
    """A federation with one instance per replacement, each equal to ``federation`` but for one sample of one client.

    Draws depend on a run's seed and never on the data, so that a run on a neighbour uses the same sample numbers, clients
    and noise as the run of the same seed on ``federation``.

    Args:
        federation: a federation on data, of one instance or of as many as there are replacements.
        replacements: (client, sample, features, target) each: numbers from 0, the new sample's features (inputs,),
            with a 1 at the end if there is an intercept, and its target (a class number for softmax regression).

    Raises:
        ValueError: no replacement, a client or sample that does not exist, shapes, entries that are not finite, a
            target that the loss does not know.

    Example:
        >>> from synthetic import from_arrays
        >>> federation = from_arrays([[1.0], [2.0], [3.0]], [1.0, 2.0, 6.0], [0, 0, 1])
        >>> federation.neighbours([(0, 1, [5.0], 7.0), (1, 0, [0.0], 0.0)]).features[..., 0].tolist()
        [[[1.0, 5.0], [3.0, 0.0]], [[1.0, 2.0], [0.0, 0.0]]]
    """
    replacements = list(replacements)
    count = len(replacements)
    if not count or federation.instances not in (1, count):
        allowed = "at least one" if federation.instances == 1 else f"as many as instances, {federation.instances}"
        raise ValueError(f"replacements must be {allowed}; got {count}")
    counts = np.broadcast_to(to_numpy(federation.counts), (count, federation.clients))
    rows = [_checked(federation, counts[row], *entry) for row, entry in enumerate(replacements)]
    clients, samples = (np.array([row[i] for row in rows]) for i in (0, 1))
    new = federation._copies(count if federation.instances == 1 else 1)
    for name, i in (("features", 2), ("targets", 3)):
        array = to_numpy(getattr(new, name)).copy()
        array[np.arange(count), clients, samples] = np.stack([row[i] for row in rows])
        setattr(new, name, federation.backend.array(array))
    for name in federation._solved:
        new.__dict__.pop(name, None)  # optima of the old data
    return new


def _checked(federation, counts, client, sample, features, target):
    client = whole("client", client, 0, federation.clients - 1)
    sample = whole(f"sample of client {client}", sample, 0, int(counts[client]) - 1)
    features = finite("features", features).reshape(-1)
    if features.shape != (federation.inputs,):
        raise ValueError(f"features must have {federation.inputs} entries; got {len(features)}")
    return client, sample, features, federation.check_target(target)
