"""Referees many claims into a directory: continues where an earlier run stopped, and keeps everything that is finished."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from bounds.language.claim import Claim
from bounds.registry.claims import claims_of
from bounds.registry.papers import PAPERS
from verify.claims.related import related
from verify.referee.stored import replayed
from verify.results.files import FULL
from verify.results.fingerprint import fingerprints
from verify.results.numerals import counted
from verify.results.records import save_verdicts
from verify.results.store import EARLIER, KEPT, Store
from verify.results.verdict import Verdict
from verify.search.budget import BUDGETS

__all__ = ["Outcome", "referee_into"]


@dataclass
class Outcome:
    """The result of a run over ``chosen`` claims.

    ``decided``: their verdicts, in the order asked for. ``kept``: all verdicts of the directory, in the registry's order;
    those that are not current say so. ``commands``: every command that wrote into the directory. ``messages``: what was set
    aside, kept or decided again.
    ``stopped_by``: what could not be written, and what to do. ``interrupted``: Ctrl-C ended the run.
    """

    decided: list[Verdict] = field(default_factory=list)
    kept: list[Verdict] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    stopped_by: str = ""
    interrupted: bool = False


def referee_into(
    store: Store,
    chosen: Sequence[Claim],
    *,
    command: str,
    command_of: Callable[[str], str],
    begun: Callable[[Sequence[Verdict]], None] = lambda found: None,
    progress: Callable[[Verdict], None] = lambda verdict: None,
    cluster: str | None = None,
) -> Outcome:
    """Referees those of the ``chosen`` claims whose finished verdict is not in the store yet.

    Args:
        store: the directory, opened; its settings are those of the referee.
        chosen: the claims asked for.
        command, command_of: the command line of this run, and the one that decides a single claim, given its id.
        begun, progress: called once with the verdicts found in the store, and with each new verdict.
        cluster: the address of a scheduler of dask, on whose workers claims are decided; here if None.

    Returns:
        The outcome, also where the run ends early: with Ctrl-C, or because nothing can be written any more.
    """
    from verify.referee.referee import referee

    outcome = Outcome(messages=store.messages)
    papers = {claim.paper for claim in chosen} | {paper for paper in PAPERS if store.mentions(paper)}
    known = list((claims_of(papers) | {claim.id: claim for claim in chosen}).values())
    place = {claim.id: number for number, claim in enumerate(chosen)}
    order = {claim.id: number for number, claim in enumerate(known)}
    marks = fingerprints([c for c in known if c.id in place or store.holds(c.id)], store.settings, related_at(
        store.settings["budget"]))
    found, others = store.load(marks)
    shown = {verdict.id: verdict for verdict in replayed(found.values(), store.out, os.cpu_count() or 1)}
    unshown = {i: verdict for i, verdict in shown.items() if KEPT in verdict.details}
    current = {i: replace(verdict, command=command_of(i)) for i, verdict in shown.items() if i not in unshown}
    store.messages += _about_kept([i in place for i, verdict in others.items() if KEPT in verdict.details])
    store.messages += [f"{i}: {verdict.details[KEPT]}; {'decided again' if i in place else 'kept, and marked so'}"
                       for i, verdict in unshown.items()]
    others |= unshown
    begun([verdict for i, verdict in current.items() if i in place])
    try:
        store.add_command(command)
        for verdict in referee([c for c in chosen if c.id not in current], out=store.incoming, cluster=cluster,
                               **store.settings):
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
        outcome.kept = sorted((others | current).values(), key=lambda v: (order.get(v.id, len(order)), v.id))
        outcome.commands = store.commands
        if outcome.kept and not outcome.stopped_by:
            save_verdicts(outcome.kept, store.out)
    return outcome


def _about_kept(chosen: Sequence[bool]) -> list[str]:
    """Messages about results that are not current, given for each whether its claim is asked for."""
    texts = {True: f"of another version of the claim or of the code: decided again, and kept in {EARLIER}",
             False: "of another version, or of a claim in a file that is not named here: kept, and marked so"}
    return [f"{counted(count, 'result')} {'is' if count == 1 else 'are'} {text}"
            for asked, text in texts.items() if (count := chosen.count(asked))]


def related_at(budget: str) -> Callable[[Claim], Sequence[Claim]]:
    """The other claims on which a verdict depends with this budget: those at whose counterexamples the search looks."""
    return lambda claim: related(claim) if claim.explicit and BUDGETS[budget].before else ()
