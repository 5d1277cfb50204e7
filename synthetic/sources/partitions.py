"""Ways to split samples over clients: evenly, by Dirichlet label skew, by shards of one class."""

import numpy as np

from synthetic.base.checks import number, whole

__all__ = ["PARTITIONS", "dirichlet", "even", "shards"]

_ATTEMPTS = 100


def even(labels, clients: int, seed: int = 0) -> np.ndarray:
    """Client of each sample (rows,): a random split into parts whose sizes differ by at most one.

    Raises:
        ValueError: more clients than samples.
    """
    rows = len(_labels(labels))
    clients = whole("clients", clients, 1, rows)
    return np.random.default_rng(seed).permutation(np.arange(rows) % clients)


def dirichlet(labels, clients: int, alpha: float = 0.5, seed: int = 0, smallest: int = 1) -> np.ndarray:
    """Client of each sample (rows,): every class is split in proportions drawn from Dirichlet(alpha, ..., alpha).

    Small ``alpha`` gives strong label skew. The draw is repeated until every client has ``smallest`` samples.

    Raises:
        ValueError: ``alpha <= 0``; after 100 draws a client still has fewer than ``smallest`` samples.
    """
    labels = _labels(labels)
    alpha, smallest = number("alpha", alpha, strict=True), whole("smallest", smallest)
    clients = whole("clients", clients, 1, len(labels) // smallest)
    generator = np.random.default_rng(seed)
    members = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    for _ in range(_ATTEMPTS):
        client = np.empty(len(labels), dtype=np.int64)
        for rows in members:
            shares = generator.dirichlet(np.full(clients, alpha))
            cuts = np.rint(np.cumsum(shares)[:-1] * len(rows)).astype(int)
            parts = np.searchsorted(cuts, np.arange(len(rows)), side="right")
            client[generator.permutation(rows)] = parts
        counts = np.bincount(client, minlength=clients)
        if counts.min() >= smallest:
            return client
    raise ValueError(f"dirichlet({alpha:g}) over {clients} clients left client {counts.argmin()} with {counts.min()} "
                     f"samples after {_ATTEMPTS} draws; allowed: at least {smallest} (a larger alpha, fewer clients)")


def shards(labels, clients: int, shards_per_client: int = 2, seed: int = 0) -> np.ndarray:
    """Client of each sample (rows,): each class is cut into shards, every client gets ``shards_per_client`` of them.

    A shard holds samples of one class only. Classes get shards in proportion to their sizes (largest remainders, at
    least one), and shards are dealt at random (McMahan et al. 2017; single-class shards as in FedALIGN, Appendix C).

    Raises:
        ValueError: fewer shards than classes, or more shards than a class has samples.
    """
    labels = _labels(labels)
    clients = whole("clients", clients, 1, len(labels))
    total = clients * whole("shards_per_client", shards_per_client)
    classes, sizes = np.unique(labels, return_counts=True)
    if not len(classes) <= total <= len(labels):
        raise ValueError(f"clients * shards_per_client must be between {len(classes)} (the classes) and {len(labels)} "
                         f"(the samples); got {total}")
    counts = _apportion(sizes, total)
    generator = np.random.default_rng(seed)
    deal = generator.permutation(np.repeat(np.arange(clients), shards_per_client))
    client, first = np.empty(len(labels), dtype=np.int64), 0
    for label, count in zip(classes, counts, strict=True):
        rows = generator.permutation(np.flatnonzero(labels == label))
        client[rows] = deal[first + np.arange(len(rows)) * count // len(rows)]
        first += count
    return client


def _apportion(sizes: np.ndarray, total: int) -> np.ndarray:
    """``total`` shards over classes in proportion to ``sizes``, each class between one and its size."""
    counts = np.clip((sizes * total) // sizes.sum(), 1, sizes)
    while counts.sum() != total:
        shortfall = sizes * total / sizes.sum() - counts
        if counts.sum() < total:
            counts[np.where(counts < sizes, shortfall, -np.inf).argmax()] += 1
        else:
            counts[np.where(counts > 1, shortfall, np.inf).argmin()] -= 1
    return counts


def _labels(labels) -> np.ndarray:
    labels = np.asarray(labels)
    if labels.ndim != 1 or not len(labels):
        raise ValueError(f"labels must be one per sample; got shape {labels.shape}")
    return labels


PARTITIONS = {"even": even, "dirichlet": dirichlet, "shards": shards}
