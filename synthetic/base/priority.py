"""Selects the clients that have priority."""

import numpy as np

from synthetic.base.checks import one_of, whole

__all__ = ["priority_mask"]


def priority_mask(priority, clients: int, samples=None, seed: int = 0) -> np.ndarray:
    """Select the clients that have priority, truth values (clients,) or (instances, clients).

    Args:
        priority: None (every client); a number (so many of the first clients); truth values (clients,) or
            (instances, clients); numbers of clients, for example ``[0, 3]``; or words: ``"first:2"``, ``"random:2"``,
            ``"largest:2"`` and ``"smallest:2"`` by number of samples.
        clients: number of clients.
        samples: samples per client (clients,), for ``largest`` and ``smallest``.
        seed: for ``random``.

    Raises:
        ValueError: an empty choice, a client number that does not exist, unknown words.
    """
    if priority is None:
        return np.ones(clients, dtype=bool)
    if isinstance(priority, str):
        return _from_words(priority, clients, samples, seed)
    if isinstance(priority, (int, np.integer)) and not isinstance(priority, bool):
        return np.arange(clients) < whole("number of priority clients", priority, 1, clients)
    array = np.asarray(priority)
    if array.dtype == bool:
        if array.shape[-1:] != (clients,) or array.ndim > 2:
            raise ValueError(f"priority must be truth values ({clients},) or (instances, {clients}); got shape "
                             f"{array.shape}")
        if not array.any(axis=-1).all():
            raise ValueError("priority must mark at least one client; got none")
        return array
    if array.ndim != 1 or not np.issubdtype(array.dtype, np.integer) or not array.size:
        raise ValueError(f"priority must be a count, truth values or client numbers; got {priority!r}")
    if array.min() < 0 or array.max() >= clients:
        raise ValueError(f"priority clients must be numbers from 0 to {clients - 1}; got {array.tolist()}")
    return np.isin(np.arange(clients), array)


def _from_words(words: str, clients: int, samples, seed: int) -> np.ndarray:
    rule, _, count = words.partition(":")
    one_of("choice of priority clients", rule, ("first", "random", "largest", "smallest"))
    if not count.isdecimal():
        raise ValueError(f"priority must read like 'first:2'; got {words!r}")
    size = whole("number of priority clients", int(count), 1, clients)
    if rule == "random":
        order = np.random.default_rng(seed).permutation(clients)
    elif rule == "first":
        order = np.arange(clients)
    elif samples is None:
        raise ValueError(f"priority {words!r} needs clients with samples; allowed here: first, random")
    else:
        samples = np.asarray(samples)
        order = np.argsort(-samples if rule == "largest" else samples, kind="stable")
    return np.isin(np.arange(clients), order[:size])
