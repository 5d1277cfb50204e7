"""Decides claims in several processes; a process that dies costs no more than the claim that it was deciding.

Neither the standard library's process pools nor those built on them can end one task: there, a process that dies or is
killed takes every task of its pool along. A worker of dask that dies is replaced, but a task is not ended after its time.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import connection, get_context, parent_process
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from bounds.language.claim import Claim
from verify.results.verdict import Verdict
from verify.search.failure import where

__all__ = ["PATIENCE", "begin", "decide_all", "decide_or_say_why", "load", "stopped"]

#: seconds after which a claim is given up, by budget; far more than its counted effort takes on any machine
PATIENCE = {"quick": 900.0, "standard": 3600.0, "thorough": 6 * 3600.0}
_LARGEST = 1.5 * 2**30  # bytes; a larger process is replaced by a fresh one after its claim
_MOST = 2 * 2**30  # bytes; a claim that needs more is undecided, on every machine
_YOUNG = 10_000  # new things after which garbage is collected
_STARTS = 3  # processes that may fail in a row before they are ready


def decide_or_say_why(claim: Claim, settings, so_far: Callable[[str], None] | None = None) -> Verdict:
    """The verdict on a claim; if an error of ours stopped it, undecided with the text of the error. ``so_far`` as in
    :func:`verify.referee.decide.decide`.

    Raises:
        OSError: the disk is full, or the like, which has nothing to do with the claim.
    """
    from verify.referee.decide import decide

    try:
        return decide(claim, settings, so_far)
    except OSError:
        raise
    except Exception as error:
        if os.environ.get("FEDTHEORY_TRACEBACK"):
            raise
        return stopped(claim, settings, f"an error stopped it: {type(error).__name__}: {error}", where=where(error))


def stopped(claim: Claim, settings, why: str, **details: Any) -> Verdict:
    """The verdict on a claim that was not decided to the end; the next run tries it again."""
    text = f"{why}; the next run into this directory tries it again"
    return Verdict(claim.id, claim.reading, claim.kind, "undecided", None, text, seed=settings.seed,
                   details={"stopped": why, **details})


def decide_all(claims: Sequence[Claim], settings, workers: int, patience: float | None = None) -> Iterator[Verdict]:
    """Verdicts on registered claims, each as soon as it is known, from ``workers`` processes.

    A claim is tried again once if its process dies, and then is undecided. It is also undecided after ``patience`` seconds
    (default: those of ``PATIENCE``).

    Raises:
        OSError: a process could not write.
        RuntimeError: the processes do not start.
    """
    team = _Team(claims, settings, PATIENCE[settings.budget] if patience is None else patience)
    threads = [threading.Thread(target=team.work, args=(place,)) for place in range(min(workers, len(claims)))]
    for thread in threads:
        thread.start()
    try:
        for _ in claims:
            found = None
            while found is None:
                with suppress(Empty):
                    found = team.done.get(timeout=1.0)  # on Windows Ctrl-C does not interrupt a wait
            if isinstance(found, Exception):
                raise found
            yield found
    finally:
        team.close()
        for thread in threads:
            thread.join()


class _Team:
    """One thread and one process at each place. ``done`` receives verdicts, and errors that end the run."""

    def __init__(self, claims: Sequence[Claim], settings, patience: float):
        self.settings, self.patience, self.done = settings, patience, SimpleQueue()
        groups = _groups(claims)
        self._waiting = sorted(((groups[claim.id], claim) for claim in claims), key=lambda entry: entry[0])
        self._at: dict[int, int] = {}  # place -> group of its claim
        self._workers: dict[int, _Worker] = {}
        self._lock, self._closed = threading.Lock(), False

    def work(self, place: int) -> None:
        """Have claims decided at this place until none waits."""
        try:
            while claim := self.take(place):
                self.done.put(self._decided(place, claim))
        except Exception as error:
            self.done.put(error)

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            self._closed = True
            for worker in self._workers.values():
                worker.process.kill()

    def take(self, place: int) -> Claim | None:
        """The next claim for a place: of the group of its last claim, else of a group that no other place is at."""
        with self._lock:
            own = self._at.pop(place, None)
            others = set(self._at.values())
            rank = [0 if group == own else 2 if group in others else 1 for group, _ in self._waiting]
            if not rank:
                return None
            self._at[place], claim = self._waiting.pop(rank.index(min(rank)))
            return claim

    def _decided(self, place: int, claim: Claim) -> Verdict | Exception:
        for _ in range(2):
            worker = self._workers.get(place) or self._start(place)
            try:
                answer, so_far = worker.ask(claim.id, self.patience)
            except EOFError:
                code = self._end(place)
                continue
            if answer is None:
                self._end(place)
                until = f"; until then, {so_far}" if so_far else ""
                return stopped(claim, self.settings, f"it took more than {self.patience:.0f} s{until}")
            found, leaving = answer
            if leaving:
                self._end(place)
            return found
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return stopped(claim, self.settings, f"the process that decided it died twice ({how}; too little memory?)")

    def _start(self, place: int) -> _Worker:
        for _ in range(_STARTS):
            with self._lock:
                if self._closed:
                    raise RuntimeError("the run has ended")
                worker = self._workers[place] = _Worker(self.settings)
            with suppress(EOFError):
                worker.ask(None, None)  # what every process loads once does not count as time of a claim
                return worker
            code = self._end(place)
        raise RuntimeError(f"worker processes end while they start (exit code {code})")

    def _end(self, place: int) -> int:
        process = self._workers.pop(place).process
        process.kill()
        process.join()
        return process.exitcode


def _groups(claims: Sequence[Claim]) -> dict[str, int]:
    """The group of each claim, by id: those with the same hypotheses share runs. Claims about runs come first."""
    numbers: dict[tuple, int] = {}
    return {claim.id: numbers.setdefault((claim.procedure, claim.variables, claim.hypotheses), len(numbers))
            for claim in sorted(claims, key=lambda c: c.setting != "run")}


class _Worker:
    """A process that decides one claim after another."""

    def __init__(self, settings):
        # Read when the libraries of the process load: threads that wait for each other on busy cores slow it down.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, settings), daemon=True)
        self.process.start()
        theirs.close()

    def ask(self, claim_id: str | None, patience: float | None) -> tuple[Any, str]:
        """Wait for the answer of the process: that it is ready to None, to an id the verdict or error and whether the
        process leaves; None where ``patience`` seconds are over. Also returns its last message about what it had found so
        far.

        Raises EOFError where the process has died.
        """
        so_far, end = "", None if patience is None else time.monotonic() + patience
        try:
            if claim_id is not None:
                self._pipe.send(claim_id)
            while self._pipe.poll(None if end is None else max(end - time.monotonic(), 0.0)):
                answer = self._pipe.recv()
                if not isinstance(answer, _SoFar):
                    return answer, so_far
                so_far = answer.text
        except OSError:
            raise EOFError from None
        return None, so_far


class _SoFar(NamedTuple):
    """Progress of a process on its claim, in words."""

    text: str


# in the process itself ---------------------------------------------------------------------------------------------------
def _serve(pipe: connection.Connection, settings) -> None:
    """Decide the claims whose ids come through the pipe, until it closes."""
    begin()
    if settings.device == "cpu":
        limit_memory()
    from bounds.registry.claims import find_claim

    load()
    try:
        pipe.send("ready")
        while True:
            claim = find_claim(pipe.recv())
            try:
                found = decide_or_say_why(claim, settings, lambda text: pipe.send(_SoFar(text)))
            except Exception as error:
                found = error
            leaving = isinstance(found, Exception) or _memory() > _LARGEST
            pipe.send((found, leaving))
            if leaving:
                return
    except (EOFError, OSError):  # the other end is gone
        return


def limit_memory() -> None:
    """Limit the memory of this process, so that it runs out before the machine does, where the system has such limits."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (_MOST, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _memory() -> float:
    """The largest number of bytes that this process has held; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(most if sys.platform == "darwin" else most * 1024)


def load() -> None:
    """Load all claims, leave them out of garbage collection, and let it wait for several thousand new things: a claim leaves
    many in cycles, and to collect them more rarely takes a tenth less time in all."""
    from bounds.registry.claims import all_claims

    all_claims()
    gc.freeze()
    gc.set_threshold(_YOUNG)


def begin() -> None:
    """Start-up of a worker process: ignore Ctrl-C, and exit when the parent dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_the_parent, daemon=True).start()


def _follow_the_parent() -> None:
    connection.wait([parent_process().sentinel])
    os._exit(1)
