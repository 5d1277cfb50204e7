"""Claims decided by several processes, of which one that dies costs no more than the claim it was at."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import connection, get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import Any

from bounds.language.claim import Claim
from verify.results.verdict import Verdict

__all__ = ["PATIENCE", "begin", "decide_all", "decide_or_say_why"]

#: seconds after which a claim is given up, by budget: far above what its counted effort takes anywhere
PATIENCE = {"quick": 900.0, "standard": 3600.0, "thorough": 6 * 3600.0}
_LARGEST = 1.5 * 2**30  # bytes; a worker that has grown beyond makes way for a fresh one
_MOST = 2 * 2**30  # bytes; a claim that needs more is undecided, on every machine
_STARTS = 3  # workers that may fail in a row before they have started


def decide_or_say_why(claim: Claim, settings) -> Verdict:
    """The verdict on a claim; undecided, with the error's text, where an error of ours stopped it.

    Raises:
        OSError: the disk is full, or the like: nothing to do with the claim.
    """
    from verify.referee.decide import decide

    try:
        return decide(claim, settings)
    except OSError:
        raise
    except Exception as error:
        if os.environ.get("FEDTHEORY_TRACEBACK"):
            raise
        frames = traceback.extract_tb(error.__traceback__)[-3:]
        where = "; ".join(f"{os.path.basename(f.filename)}:{f.lineno} {f.name}" for f in frames)
        return stopped(claim, settings, f"an error stopped it: {type(error).__name__}: {error}", where=where)


def stopped(claim: Claim, settings, why: str, **details: Any) -> Verdict:
    """The verdict on a claim that was not decided to the end; the next run tries it again."""
    text = f"{why}; the next run into this directory tries it again"
    return Verdict(claim.id, claim.reading, claim.kind, "undecided", None, text, seed=settings.seed,
                   details={"stopped": why, **details})


@dataclass
class _Worker:
    process: BaseProcess
    pipe: connection.Connection
    ready: bool = False
    claim: Claim | None = None
    began: float = 0.0
    group: int | None = None  #: of its last claim


def decide_all(claims: Sequence[Claim], settings, workers: int, patience: float | None = None) -> Iterator[Verdict]:
    """Verdicts on registered claims, each as soon as it is known, by ``workers`` processes.

    A claim at which a worker dies is given to another one once, and then is undecided. After ``patience`` seconds (by
    default those of ``PATIENCE``) a claim is undecided too.

    Raises:
        OSError: what a worker could not write.
        RuntimeError: workers do not start.
    """
    patience = PATIENCE[settings.budget] if patience is None else patience
    groups = _groups(claims)
    waiting = sorted(claims, key=lambda claim: groups[claim.id])
    deaths: dict[str, int] = {}
    team: list[_Worker] = []
    failures = 0
    try:
        while waiting or any(worker.claim for worker in team):
            while len(team) < min(workers, len(waiting) + sum(worker.claim is not None for worker in team)):
                team.append(_start(settings))
            for pipe in connection.wait([worker.pipe for worker in team], timeout=1.0):
                worker = next(w for w in team if w.pipe is pipe)
                message = _received(worker)
                if message is None:
                    team.remove(worker)
                    worker.process.join()
                    failures = 0 if worker.ready else failures + 1
                    if failures >= _STARTS:
                        raise RuntimeError(f"worker processes end while they start (exit code {worker.process.exitcode})")
                    verdict = _after_death(worker, waiting, deaths, settings)
                    if verdict:
                        yield verdict
                    continue
                kind, content = message
                if kind == "raise":
                    raise content
                worker.ready, worker.claim = True, None
                if kind == "leaving":
                    team.remove(worker)
                if content is not None:
                    yield content
            for worker in [w for w in team if w.claim and time.monotonic() - w.began > patience]:
                team.remove(worker)
                _end(worker)
                yield stopped(worker.claim, settings, f"it took more than {patience:.0f} s")
            for worker in [w for w in team if w.ready and w.claim is None]:
                if waiting:
                    worker.claim, worker.began = _next(worker, waiting, team, groups), time.monotonic()
                    worker.group = groups[worker.claim.id]
                    _send(worker)
    finally:
        for worker in team:
            _end(worker)


def _groups(claims: Sequence[Claim]) -> dict[str, int]:
    """The number of each claim's group, by id: claims that assume the same, whose runs can be shared (``shared_runs``).
    Those about runs come first, which take long."""
    numbers: dict[tuple, int] = {}
    return {claim.id: numbers.setdefault((claim.procedure, claim.variables, claim.hypotheses), len(numbers))
            for claim in sorted(claims, key=lambda c: c.setting != "run")}


def _next(worker: _Worker, waiting: list[Claim], team: Sequence[_Worker], groups: Mapping[str, int]) -> Claim:
    """Take out a claim that waits: the first of the group of the worker's last one, else of a group that no other worker is
    at, else of all."""
    others = {w.group for w in team if w is not worker and w.claim is not None}
    rank = {worker.group: 0} | dict.fromkeys(others - {worker.group}, 2)
    place = min(range(len(waiting)), key=lambda number: rank.get(groups[waiting[number].id], 1))
    return waiting.pop(place)


def _start(settings) -> _Worker:
    # Read when a worker's libraries load: threads that wait for each other on busy cores are many times slower than one.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, settings), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _send(worker: _Worker) -> None:
    with suppress(OSError):  # it died: the closed pipe will say so
        worker.pipe.send(worker.claim.id)


def _received(worker: _Worker):
    try:
        return worker.pipe.recv()
    except (EOFError, OSError):
        return None


def _after_death(worker: _Worker, waiting: list[Claim], deaths: dict[str, int], settings) -> Verdict | None:
    if worker.claim is None:
        return None
    claim = worker.claim
    deaths[claim.id] = deaths.get(claim.id, 0) + 1
    if deaths[claim.id] == 1:
        waiting.append(claim)
        return None
    code = worker.process.exitcode
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    return stopped(claim, settings, f"the process that decided it died twice ({how}; too little memory?)")


def _end(worker: _Worker) -> None:
    worker.pipe.close()
    worker.process.kill()
    worker.process.join()


def _serve(pipe: connection.Connection, settings) -> None:
    """What a worker does: decide the claims whose ids it is sent, until the pipe closes."""
    begin()
    if settings.device == "cpu":
        limit_memory()
    from bounds.registry.claims import all_claims, find_claim

    all_claims()  # what every worker loads once does not count as a claim's time
    try:
        pipe.send(("ready", None))
        while True:
            claim = find_claim(pipe.recv())
            try:
                verdict = decide_or_say_why(claim, settings)
            except Exception as error:
                pipe.send(("raise", error))
                return
            leaving = _memory() > _LARGEST
            pipe.send(("leaving" if leaving else "verdict", verdict))
            if leaving:
                return
    except (EOFError, OSError):  # nobody listens any more
        return


def limit_memory() -> None:
    """Let this process run out of memory before the machine does, where the system has such limits."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (_MOST, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def _memory() -> float:
    """Most bytes this process has held; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(most if sys.platform == "darwin" else most * 1024)


def begin() -> None:
    """Leave Ctrl-C to the parent, and end at once when the parent is gone rather than work for nobody."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_the_parent, daemon=True).start()


def _follow_the_parent() -> None:
    connection.wait([parent_process().sentinel])
    os._exit(1)
