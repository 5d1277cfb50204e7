"""Rounds on a card without the host: one round is captured as a CUDA graph and replayed for the others.

Launching the kernels of a round one by one takes the host far longer than most cards need to compute them. A captured round
is launched at once. It reads its number from the card (:mod:`synthetic.numbers.rounds`), takes the state before it from
fixed memory, puts the state after it in the same place, and what is recorded in tables of all rounds, which are copied to
the host in the end. Arrays that come from the host are sent while the round is tried once before it is captured.

Where rounds differ in what the host decides, such as a method that averages after every second one, a graph is captured for
each kind.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from typing import Any, NamedTuple

import numpy as np

from fedtheory.recorder import PIECE, Recorder, on_host
from fedtheory.round_context import State
from synthetic.numbers.arrays import to_numpy
from synthetic.numbers.rounds import Clock

__all__ = ["capture", "in_graphs"]

MOST_GRAPHS = 8  #: of one run; rounds of further kinds are launched kernel by kernel


class _Graph(NamedTuple):
    """Which rounds it computes (rounds,), and the call that computes the next of them."""

    alike: np.ndarray
    replay: Callable[[], None]


def in_graphs(step: Callable[[Any, State], State], state: State, first: int, rounds: int, recorder: Recorder, backend,
              progress: Callable[[int, int], None] | None = None, must: bool = False) -> State:
    """The state after the rounds ``first .. first + rounds - 1``; ``step(number, state)`` is the state after a round.

    The first round is computed kernel by kernel. If no round can be captured, all are; but if they ``must`` be, this raises
    ValueError, with the reason.
    """
    state = step(first, state)
    recorder.after(state)
    if rounds > 1:
        state = _Rounds(step, state, Clock(first + 1, rounds - 1, backend), recorder, must).state_after(first + 1, progress)
    if progress:
        progress(rounds, rounds)
    return state


class _Rounds:
    """All rounds of a clock, from a state."""

    def __init__(self, step, state: State, clock: Clock, recorder: Recorder, must: bool):
        self.step, self.clock, self.recorder, self.must = step, clock, recorder, must
        self.before = state
        self.fixed = _rebuilt(state, [array.clone() if _is_array(array) else array for array in _arrays(state)])
        self.graphs: list[_Graph] = []
        self.slot = 0 * clock.index  # the row of the tables of this round
        self.tables: dict[str, Any] = {}  # (slots, times, runs, ...), what is recorded in up to so many rounds
        self.filled = self.slots = 0

    def state_after(self, first: int, progress) -> State:
        rounds = self.clock.rounds
        often = max(1, rounds // 100)
        for place in range(rounds):
            try:
                self._one(place)
            except NotCaptured as reason:
                if self.must:
                    raise ValueError(f"path 'graph' cannot be taken: {reason}; allowed: auto, steps") from reason
                return self._by_kernels(place, first, progress)
            if progress and place % often == 0:
                to_numpy(self.slot)  # waits
                progress(place + 2, rounds + 1)
        self._empty()
        return self.fixed

    def _one(self, place: int) -> None:
        graph = next((one for one in self.graphs if one.alike[place]), None)
        if graph is None and len(self.graphs) < MOST_GRAPHS:
            graph = self._captured(place)
            self.graphs.append(graph)
        if graph is None:
            self.clock.begin(place)
            self._whole()
        else:
            graph.replay()
        self.filled += 1
        if self.filled == self.slots:
            self._empty()

    def _captured(self, place: int) -> _Graph:
        with _beside(self.clock.index):
            self.clock.begin(place)
            try:
                rows = self._try()[1]  # sends what comes from the host
            except TypeError as error:
                raise NotCaptured(str(error)) from error
            if not self.tables:
                self._make_tables(rows)
            self.clock.begin(place)
            changed = [*filter(_is_array, _arrays(self.fixed)), self.clock.index, self.slot, *self.tables.values()]
            replay = capture(self._whole, changed)
        return _Graph(self.clock.alike, replay)

    def _try(self):
        with self.recorder.aside() as rows:
            after = self.step(self.clock.round, self.fixed)
            self.recorder.after(after)
        return after, rows

    def _make_tables(self, rows: dict[str, list]) -> None:
        import torch

        size = sum(len(values) * values[0].element_size() * prod(values[0].shape) for values in rows.values())
        self.slots = max(1, min(self.clock.rounds, PIECE // max(1, size)))
        self.tables = {name: torch.empty((self.slots, len(values), *values[0].shape), dtype=values[0].dtype,
                                         device=values[0].device) for name, values in rows.items()}

    def _whole(self) -> None:
        """A round: from the fixed memory to the fixed memory and the tables."""
        import torch

        after, rows = self._try()
        for name, values in rows.items():
            self.tables[name].index_copy_(0, self.slot, torch.stack(values)[None])
        old, new = _arrays(self.fixed), _arrays(after)
        if [_form(array) for array in old] != [_form(array) for array in new]:
            raise NotCaptured(f"the state before a round is {list(map(_form, old))}, after it {list(map(_form, new))}")
        pairs = [(array, value) for array, value in zip(old, new, strict=True) if _is_array(array) and array is not value]
        places = {array.untyped_storage().data_ptr() for array in old if _is_array(array)}
        made = [value.clone() if value.untyped_storage().data_ptr() in places else value for _, value in pairs]
        for (array, _), value in zip(pairs, made, strict=True):
            array.copy_(value)
        self.clock.index.add_(1)
        self.slot.add_(1)

    def _empty(self) -> None:
        """Copies the tables to the host."""
        if self.filled:
            for name, table in self.tables.items():
                self.recorder.add(name, on_host(table[:self.filled].flatten(0, 1)))
            self.slot.zero_()
            self.filled = 0

    def _by_kernels(self, place: int, first: int, progress) -> State:
        self._empty()
        state, rounds = self.fixed, self.clock.rounds
        for number in range(first + place, first + rounds):
            state = self.step(number, state)
            self.recorder.after(state)
            if progress:
                progress(number - first + 2, rounds + 1)
        return state


class NotCaptured(Exception):
    """A round cannot be captured; the message says why."""


def capture(function: Callable[[], None], changed: Sequence) -> Callable[[], None]:
    """A call that repeats what ``function`` launches, which is captured and not computed; ``changed``: what it writes to."""
    import torch

    graph = torch.cuda.CUDAGraph()
    try:
        graph.capture_begin()
        try:
            function()
        finally:
            graph.capture_end()
    except RuntimeError as error:
        torch.cuda.synchronize()
        for cause in (error, error.__context__):
            if isinstance(cause, torch.cuda.OutOfMemoryError):  # fewer runs can be captured
                raise cause from None
        raise NotCaptured(_first_line(error)) from error
    return graph.replay


_STREAMS: dict[Any, Any] = {}  # of each card


@contextmanager
def _beside(array) -> Iterator[None]:
    """Within, what is launched on the card of ``array`` is launched on a stream of its own, as capturing needs it.

    It is the same stream always: what libraries keep for a stream, such as the workspace of products, is made when a round
    is tried on it, and must outlive the graphs that use it.
    """
    import torch

    if not array.is_cuda:
        yield
        return
    if array.device not in _STREAMS:
        _STREAMS[array.device] = torch.cuda.Stream(array.device)
    stream = _STREAMS[array.device]
    here = torch.cuda.current_stream(array.device)
    stream.wait_stream(here)
    with torch.cuda.stream(stream):
        yield
    here.wait_stream(stream)


def _first_line(error: BaseException) -> str:
    """The first line of an error, or of that in whose handling it was raised."""
    cause = error.__context__ or error
    return f"{type(cause).__name__}: {str(cause).splitlines()[0] if str(cause) else ''}"


# the arrays of a state -----------------------------------------------------------------------------------------------------
_PARTICIPATION = ("included", "virtual_weight", "weight", "nobody")


def _is_array(value) -> bool:
    return hasattr(value, "untyped_storage")


def _form(value):
    return (tuple(value.shape), value.dtype) if _is_array(value) else value


def _arrays(state: State) -> list:
    """All that a state consists of, in a fixed order."""
    part = state.participation
    return [state.x, *(state.server[name] for name in sorted(state.server)),
            *(state.clients[name] for name in sorted(state.clients)),
            *(getattr(part, name) for name in _PARTICIPATION if part is not None)]


def _rebuilt(state: State, arrays: list) -> State:
    """The state that consists of ``arrays``."""
    rest = iter(arrays)
    x, server, clients = next(rest), *({name: next(rest) for name in sorted(own)} for own in (state.server, state.clients))
    part = state.participation
    if part is not None:
        part = replace(part, **{name: next(rest) for name in _PARTICIPATION})
    return State(x, server, clients, part)
