"""Loading without looking for garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_collection"]


@contextmanager
def without_collection() -> Iterator[None]:
    """Loading makes many small objects and drops few: an eighth of its time goes into looking for garbage among them.

    Afterwards they count as old, so that only a full collection looks at them.
    """
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            if not gc.get_freeze_count():  # what a caller has frozen stays so
                gc.freeze()
                gc.unfreeze()
            gc.enable()
