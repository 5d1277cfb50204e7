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
from threading import get_ident
from typing import Any, NamedTuple

import numpy as np

from fedtheory.recorder import PIECE, Recorder, on_host
from fedtheory.round_context import State
from synthetic.numbers.arrays import to_numpy, writes_to
from synthetic.numbers.rounds import Clock

__all__ = ["beside", "capture", "in_graphs"]

MOST_GRAPHS = 8  #: of one run; rounds of further kinds are launched kernel by kernel


class _Graph(NamedTuple):
    """The rounds that a graph computes, truth values (rounds,), and the call that computes the next of them."""

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
    if progress:
        progress(1, rounds)
    if rounds > 1:
        state = _Rounds(step, state, first + 1, Clock(first + 1, rounds - 1, backend), recorder, must).state_after(progress)
    return state


class _Rounds:
    """All rounds of a clock, from a state before the round ``first``."""

    def __init__(self, step, state: State, first: int, clock: Clock, recorder: Recorder, must: bool):
        self.step, self.first, self.clock, self.recorder, self.must = step, first, clock, recorder, must
        self.fixed = _rebuilt(state, [array.clone() if _is_array(array) else array for array in _arrays(state)])
        self.graphs: list[_Graph] = []
        self.tables: dict[str, Any] = {}  # (slots, times, runs, ...), what is recorded in up to so many rounds
        self.filled = self.slots = 0

    def state_after(self, progress) -> State:
        rounds = self.clock.rounds
        often = max(1, rounds // 100)
        for place in range(rounds):
            try:
                self._run_round(place)
            except NotCaptured as reason:
                if self.must:
                    raise ValueError(f"path 'graph' cannot be taken: {reason}; allowed: auto, steps") from reason
                return self._by_kernels(place, progress)
            if progress and (place % often == 0 or place == rounds - 1):
                to_numpy(self.clock.slot)  # waits
                progress(place + 2, rounds + 1)
        self._empty()
        self.clock.end()
        return self.fixed

    def _run_round(self, place: int) -> None:
        graph = next((one for one in self.graphs if one.alike[place]), None)
        if graph is not None:
            graph.replay()
        elif len(self.graphs) < MOST_GRAPHS:
            self.graphs.append(self._captured(place))
        else:
            self._whole(self.first + place)
        self.filled += 1
        if self.filled == self.slots:
            self._empty()

    def _captured(self, place: int) -> _Graph:
        """The graph of a round, which is computed. It is tried there and in two more of the rounds alike: from this state it
        has the bits of the round computed kernel by kernel."""
        own = [self.clock.count, *filter(_is_array, _arrays(self.fixed))]
        kept = [array.clone() for array in own]
        try:
            with beside(self.clock.count):
                expected = self._expected(place)
                if not self.tables:
                    self._make_tables(expected[1])
                _copy_into(own, kept)
                graph = self._recorded(place, [*own, *self.tables.values()])
                _copy_into(own, kept)
            alike = np.flatnonzero(graph.alike[place:]) + place
            for other in {int(alike[len(alike) // 2]), int(alike[-1])} - {place}:  # by 2 or 1024 all kernels divide alike
                with beside(self.clock.count), _or_not_captured():
                    there = self._expected(other)
                    _copy_into(own, kept)
                self.clock.index.fill_(other)
                self._check(graph, there, own)
                _copy_into(own, kept)
            self._check(graph, expected, own)
        except NotCaptured:
            _copy_into(own, kept)
            raise
        return graph

    def _expected(self, place: int) -> tuple[list, dict]:
        """The arrays after a round from the state at hand, computed kernel by kernel, and what is recorded in it."""
        arrays = list(filter(_is_array, _arrays(self.fixed)))
        written = list(map(writes_to, arrays))
        after, rows = self._try(self.first + place)
        if written != list(map(writes_to, arrays)):
            raise NotCaptured("the round writes to the arrays of the state before it")
        with _or_not_captured():
            self._check_form(after)
        rows = {name: row.clone() for name, row in _stacked(rows).items()}  # some are those before the round
        return [array.clone() for array in filter(_is_array, _arrays(after))], rows

    def _recorded(self, place: int, changed: list) -> _Graph:
        with _or_not_captured():
            self.clock.begin(place)
            self._try(self.clock.round)  # sends what comes from the host
            alike = self.clock.alike
            self.clock.begin(place)
            with _no_waiting():
                self._try(self.clock.round)
            _make_room(self.clock.count)
            self.clock.begin(place)
            replay = capture(lambda: self._whole(self.clock.round), changed)
        return _Graph(self.clock.alike & alike, replay)

    def _check(self, graph: _Graph, expected: tuple[list, dict], own: list) -> None:
        graph.replay()
        arrays, rows = expected
        if not _same([*arrays, *rows.values()], [*own[1:], *(self.tables[name][self.filled] for name in rows)]):
            raise NotCaptured("a replayed round has other numbers than the same round computed kernel by kernel, as where "
                              "its functions are not pure")

    def _try(self, number):
        with self.recorder.aside() as rows:
            after = self.step(number, self.fixed)
            self.recorder.after(after)
        return after, rows

    def _make_tables(self, rows: dict[str, Any]) -> None:
        import torch

        size = sum(row.numel() * row.element_size() for row in rows.values())
        self.slots = max(1, min(self.clock.rounds, PIECE // max(1, size)))
        self.tables = {name: torch.empty((self.slots, *row.shape), dtype=row.dtype, device=row.device)
                       for name, row in rows.items()}

    def _whole(self, number) -> None:
        """A round: from the fixed memory to the fixed memory and the tables."""
        after, rows = self._try(number)
        found = _stacked(rows)
        if {name: _form(row) for name, row in found.items()} != {name: _form(one[0]) for name, one in self.tables.items()}:
            raise NotCaptured("what is recorded has not one form in all rounds")
        self._check_form(after)
        for name, row in found.items():
            self.tables[name].index_copy_(0, self.clock.slot, row[None])
        old, new = _arrays(self.fixed), _arrays(after)
        pairs = [(array, value) for array, value in zip(old, new, strict=True) if _is_array(array) and array is not value]
        places = {array.untyped_storage().data_ptr() for array in old if _is_array(array)}
        made = [value.clone() if value.untyped_storage().data_ptr() in places else value for _, value in pairs]
        for (array, _), value in zip(pairs, made, strict=True):
            array.copy_(value)
        self.clock.count.add_(1)

    def _check_form(self, after: State) -> None:
        """Raises NotCaptured unless the state after a round has the names, shapes and types of that before it."""
        old, new = ([*_names(state), *map(_form, _arrays(state))] for state in (self.fixed, after))
        if len(old) != len(new) or not all(map(_equal, old, new)):
            raise NotCaptured(f"the state before a round is {old}, after it {new}")
        if list(map(_layout, _arrays(self.fixed))) != list(map(_layout, _arrays(after))):
            raise NotCaptured("the arrays of the state are not laid out after a round as before it")  # sums differ in order

    def _empty(self) -> None:
        """Copies the tables to the host."""
        if self.filled:
            for name, table in self.tables.items():
                self.recorder.add(name, on_host(table[:self.filled].flatten(0, 1).swapaxes(0, 1).contiguous()))
            self.clock.slot.zero_()
            self.filled = 0

    def _by_kernels(self, place: int, progress) -> State:
        self._empty()
        self.clock.end()
        state, rounds = self.fixed, self.clock.rounds
        for number in range(self.first + place, self.first + rounds):
            state = self.step(number, state)
            self.recorder.after(state)
            if progress:
                progress(number - self.first + 2, rounds + 1)
        return state


class NotCaptured(Exception):
    """A round cannot be captured; the message says why."""


@contextmanager
def _or_not_captured() -> Iterator[None]:
    """Turns errors raised within into NotCaptured: the method may have taken the number of a captured round for an
    integer."""
    try:
        yield
    except NotCaptured:
        raise
    except Exception as error:
        if type(error).__name__ == "OutOfMemoryError":  # fewer runs can be captured
            raise
        raise NotCaptured(_first_line(error)) from error


@contextmanager
def _no_waiting() -> Iterator[None]:
    """Raises NotCaptured within, where an operation makes the host wait for its result.

    While a graph is captured it would fail as well, but torch then keeps the memory of the card for a capture that has not
    ended.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    tags = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}

    def waits_for(operation, args) -> bool:
        name = operation.overloadpacket.__name__
        if name in ("index", "index_put", "index_put_"):  # of truth values the host wants to know how many are true
            return any(one is not None and one.dtype == torch.bool for one in args[1])
        return name == "_linalg_check_errors" or bool(tags & set(operation.tags))

    class Watching(TorchDispatchMode):
        def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
            if waits_for(operation, args):
                raise NotCaptured(f"the host waits for the result of {operation}, which is not permitted while a round is "
                                  "captured")
            result = operation(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor) and any(
                    isinstance(one, torch.Tensor) and one.ndim and one.device != result.device for one in args):
                raise NotCaptured(f"{operation} copies between the host and the card, which is not permitted while a round "
                                  "is captured")
            return result

    with Watching():
        yield


def _make_room(array) -> None:
    """Frees the reserved memory of the card if a graph, which needs as much again, may not find enough."""
    import torch

    if array.is_cuda and torch.cuda.memory_reserved(array.device) > torch.cuda.mem_get_info(array.device)[0]:
        torch.cuda.empty_cache()


def capture(function: Callable[[], None], changed: Sequence) -> Callable[[], None]:
    """Captures what ``function`` launches, without computing it; returns a call that runs it. ``changed``: arrays that it
    writes to."""
    import torch

    graph = torch.cuda.CUDAGraph()
    try:
        graph.capture_begin(capture_error_mode="thread_local")  # other threads may use the card
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


_STREAMS: dict[Any, Any] = {}  # of each card and thread: what another launched there would be captured as well


@contextmanager
def beside(array) -> Iterator[None]:
    """Launches kernels on the card of ``array`` on a stream of their own within, as capturing needs it.

    A thread always has the same stream: what libraries keep for a stream, such as the workspace of products, is made when a
    round is tried on it, and must outlive the graphs that use it.
    """
    import torch

    if not array.is_cuda:
        yield
        return
    key = array.device, get_ident()
    if key not in _STREAMS:
        _STREAMS[key] = torch.cuda.Stream(array.device)
    stream = _STREAMS[key]
    here = torch.cuda.current_stream(array.device)
    stream.wait_stream(here)
    with torch.cuda.stream(stream):
        yield
    here.wait_stream(stream)


def _first_line(error: BaseException) -> str:
    """The first line of an error, or of that in whose handling it was raised."""
    cause = error.__context__ or error
    return f"{type(cause).__name__}: {str(cause).splitlines()[0] if str(cause) else ''}"


def _same(arrays: list, others: list) -> bool:
    """Whether all have one form, and numbers that are the same or both no numbers."""
    import torch

    if list(map(_form, arrays)) != list(map(_form, others)):
        return False
    found = [((one == other) | ((one != one) & (other != other))).all() for one, other in zip(arrays, others, strict=True)]
    return bool(torch.stack(found).all())


# the arrays of a state -----------------------------------------------------------------------------------------------------
_PARTICIPATION = ("included", "virtual_weight", "weight", "nobody")


def _is_array(value) -> bool:
    return hasattr(value, "untyped_storage")


def _form(value):
    return (tuple(value.shape), value.dtype) if _is_array(value) else value


def _layout(value) -> list[int] | None:
    """The strides of an array along the axes that are longer than one; None for other values."""
    if not _is_array(value):
        return None
    return [step for size, step in zip(value.shape, value.stride(), strict=True) if size > 1]


def _equal(one, other) -> bool:
    return one is other or (type(one) is type(other) and bool(one == other))


def _copy_into(arrays: list, values: list) -> None:
    for array, value in zip(arrays, values, strict=True):
        array.copy_(value)


def _stacked(rows: dict[str, list]) -> dict[str, Any]:
    """The rows that were recorded in a round as arrays (times, runs, ...)."""
    import torch

    for name, values in rows.items():
        if not all(map(_is_array, values)) or len(set(map(_form, values))) > 1:
            raise NotCaptured(f"{name} is not recorded on the card in one form")
    return {name: values[0][None] if len(values) == 1 else torch.stack(values) for name, values in rows.items()}


def _names(state: State) -> list[str]:
    """Names of the arrays of the server and of the clients, in the order of :func:`_arrays`."""
    return [f"{owner}:{name}" for owner in ("server", "clients") for name in sorted(getattr(state, owner))]


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
