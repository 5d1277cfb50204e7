"""How a process begins that works for another one and shall not outlive it."""

from __future__ import annotations

import os
import signal
import threading
from multiprocessing import connection, parent_process

__all__ = ["begin"]


def begin() -> None:
    """Leave Ctrl-C to the parent, and end at once when the parent is gone rather than work for nobody."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_the_parent, daemon=True).start()


def _follow_the_parent() -> None:
    connection.wait([parent_process().sentinel])
    os._exit(1)
