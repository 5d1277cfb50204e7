"""A stand-in for a card on the processor: what a round launches is written down once and repeated without Python.

As on a card, reading a number while a round is captured fails, and so does sending one from the host.
"""

from contextlib import contextmanager

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack
from torch.utils._pytree import tree_map

from fedtheory import graph
from synthetic.numbers import arrays

__all__ = ["on_a_card", "repeated"]

_READS = {torch.ops.aten._local_scalar_dense.default, torch.ops.aten.nonzero.default, torch.ops.aten.equal.default}
_SENDS = {torch.ops.aten.lift_fresh.default}


class Tape(TorchDispatchMode):
    """Writes down operations with their arguments and results."""

    def __init__(self):
        super().__init__()
        self.lines, self.kept = [], []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if function in _READS:
            raise RuntimeError(f"operation not permitted when stream is capturing: {function}")
        if function in _SENDS:
            raise RuntimeError(f"cannot send while a stream is capturing: {function}")
        result = function(*args, **(kwargs or {}))
        self.lines.append((function, args, kwargs or {}, result))
        return result

    def repeat(self):
        found = {}

        def known(value):
            return found.get(id(value), value) if isinstance(value, torch.Tensor) else value

        for function, args, kwargs, result in self.lines:
            again = function(*tree_map(known, args), **tree_map(known, kwargs))
            pairs = zip(result, again, strict=True) if isinstance(result, tuple | list) else ((result, again),)
            found.update((id(old), new) for old, new in pairs if isinstance(old, torch.Tensor))


def repeated(function, changed):
    """As :func:`fedtheory.graph.capture`."""
    before = [array.clone() for array in changed]
    tape = Tape()
    try:
        with tape:
            function()
    except RuntimeError as error:
        raise graph.NotCaptured(str(error)) from error
    finally:
        for array, value in zip(changed, before, strict=True):
            array.copy_(value)
    return tape.repeat


class Counting(TorchDispatchMode):
    """Counts what waits for a card."""

    def __init__(self, counts):
        super().__init__()
        self.counts = counts

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.counts["waits"] += function in _READS
        return function(*args, **(kwargs or {}))


@contextmanager
def on_a_card(patch):
    """Within, the processor is a card. Returns a table that counts what is read from it and sent to it."""
    counts = {"waits": 0, "sent": 0}
    patch.setattr(arrays, "WAITING", {"cpu", "cuda"})
    patch.setattr(graph, "capture", repeated)
    sent = arrays._sent

    def send(*values):
        counts["sent"] += 1
        if _capturing():
            raise RuntimeError("cannot send while a stream is capturing")
        return sent(*values)

    patch.setattr(arrays, "_sent", send)
    with Counting(counts):
        yield counts


def _capturing() -> bool:
    return any(isinstance(mode, Tape) for mode in _get_current_dispatch_mode_stack())
