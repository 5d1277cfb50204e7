"""Referees many claims into a directory: goes on where an earlier run stopped, and loses nothing that is finished."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from bounds.language.claim import Claim
from verify.results.files import FULL
from verify.results.fingerprint import fingerprint
from verify.results.records import save_verdicts
from verify.results.store import Store, is_finished
from verify.results.verdict import Verdict

__all__ = ["Outcome", "referee_into"]


@dataclass
class Outcome:
    """What a run over ``chosen`` claims left behind.

    ``decided``: their verdicts, in the order asked for; ``kept``: all current verdicts of the directory, in the
    registry's order; ``found``: how many of ``decided`` had been there before; ``commands``: all that wrote into the
    directory; ``messages``: what was set aside or decided again; ``stopped_by``: what could not be written, and what to
    do; ``interrupted``: with Ctrl-C.
    """

    decided: list[Verdict] = field(default_factory=list)
    kept: list[Verdict] = field(default_factory=list)
    found: int = 0
    commands: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    stopped_by: str = ""
    interrupted: bool = False


def referee_into(
    store: Store,
    chosen: Sequence[Claim],
    known: Iterable[Claim],
    *,
    command: str,
    command_of: Callable[[str], str],
    begun: Callable[[Sequence[Verdict]], None] = lambda found: None,
    progress: Callable[[Verdict], None] = lambda verdict: None,
) -> Outcome:
    """Referee ``chosen`` into an open store, but for those whose finished verdict lies there already.

    Args:
        store: the directory, locked; its settings are those of the referee.
        chosen: the claims asked for.
        known: all claims of whose verdicts the report may consist.
        command, command_of: the command line of this run, and the one that decides a single claim by its id.
        begun, progress: called once with what was there already, and with each new verdict.

    Returns:
        The outcome, also where the run ends early: with Ctrl-C, or because nothing can be written any more.
    """
    from verify.referee.referee import referee

    outcome = Outcome(messages=store.messages)
    known = list({claim.id: claim for claim in [*known, *chosen]}.values())
    place = {claim.id: number for number, claim in enumerate(chosen)}
    order = {claim.id: number for number, claim in enumerate(known)}
    marks = {c.id: fingerprint(c, store.settings) for c in known if c.id in place or store.holds(c.id)}
    current = {i: replace(verdict, command=command_of(i)) for i, verdict in store.load(marks).items()}
    outcome.found = sum(i in current for i in place)
    begun([verdict for i, verdict in current.items() if i in place])
    try:
        store.add_command(command)
        for verdict in referee([c for c in chosen if c.id not in current], out=store.out, **store.settings):
            verdict = store.add(replace(verdict, command=command_of(verdict.id)), marks[verdict.id])
            current[verdict.id] = verdict
            progress(verdict)
    except KeyboardInterrupt:
        outcome.interrupted = True
    except OSError as error:
        room = "make room and " if error.errno in FULL else ""
        outcome.stopped_by = f"{error.filename or store.out}: {error.strerror}; {room}run the same command again"
    finally:
        outcome.decided = sorted((v for i, v in current.items() if i in place), key=lambda v: place[v.id])
        outcome.kept = sorted(current.values(), key=lambda v: order[v.id])
        outcome.commands = store.commands
        if outcome.kept and not outcome.stopped_by:
            save_verdicts(outcome.kept, store.out)
    return outcome


def unfinished(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Those that an error, a dead worker or a time limit left undecided."""
    return [verdict for verdict in verdicts if not is_finished(verdict)]
