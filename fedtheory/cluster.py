"""A cluster of dask: any scheduler that somebody has started."""

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["cluster"]


@contextmanager
def cluster(client) -> Iterator:
    """A ``distributed.Client``: ``client`` itself, or a new one of the scheduler at that address, closed at the end.

    Raises:
        ImportError: dask's distributed is not installed. ValueError: no scheduler answers at the address.
    """
    try:
        import distributed
    except ImportError as error:
        raise ImportError('a cluster needs dask\'s distributed: pip install "fedtheory[sweeps]"') from error
    own = isinstance(client, str)
    try:
        client = distributed.Client(client) if own else client
    except (OSError, TimeoutError, ValueError) as error:
        raise ValueError(f"no scheduler answers at {client!r}: {error}") from error
    try:
        yield client
    finally:
        if own:
            client.close()
