"""Explains a verdict in words: what the claim says, what the verdict rests on, and what would change it."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from bounds.language.claim import Claim
from bounds.language.notation import notation_text, plain
from bounds.printing.render import condition_text, letters_of, there_is, unicode
from verify.exact.replay import tight_hypotheses
from verify.repair.repair import Repair
from verify.report.broken_step import BrokenStep
from verify.report.reason import run_in_words, sides_in_words
from verify.report.sentences import capitalised, clauses
from verify.report.why import Why
from verify.results.commands import claim_file, command, on_certificate
from verify.results.numerals import significant
from verify.results.store import KEPT
from verify.results.verdict import Verdict

__all__ = ["explain"]

_NOTHING = Why()
_MOST_READINGS = 6
HARDER = {"quick": "standard", "standard": "thorough"}


def explain(claim: Claim, verdict: Verdict, readings: Mapping[str, tuple[str, str | None]], budget: str, out: str,
            why: Why = _NOTHING) -> str:
    """Paragraphs about one verdict.

    Args:
        readings: the other readings of the same statement: id -> (reading, verdict or None where there is none yet).
        budget: the budget with which the verdict was reached.
        out: directory of the report, for the commands named in the text.
        why: what was found beside the evidence.
    """
    parts = [_says(claim), "\n".join([_because(claim, verdict), *_evidence(claim, verdict)])]
    parts += [_breaks(why.broken, claim)] if why.broken else []
    parts += [_tightest(claim, *why.tightest)] if why.tightest else []
    parts += [str(why.needs)] if why.needs and str(why.needs) else []
    if why.repairs:
        parts.append(_would_be_true(why.repairs, verdict, out))
    else:
        none = "No statement was found that changes one place of it and survives a search. " * (why.repairs is not None)
        parts.append(none + (_repair(claim, verdict, out) if verdict.verdict == "refuted" else
                             f"What would change it: {_change(claim, verdict, budget, out)}"))
    others = [f"A repaired form is derived here: {_named(why.repaired)}."] if why.repaired else []
    others += [f"On it rests: {_named(why.conclusions)}."] if why.conclusions else []
    others += [_readings(verdict, readings)] if readings else []
    parts += ["\n".join(others)] if others else []
    return "\n\n".join(filter(None, parts)) + "\n"


def _says(claim: Claim) -> str:
    letters = letters_of(claim)
    origin = claim.source or f"derived here: {claim.derivation}"
    where = ", ".join([claim.number] * (claim.number != "none") + [claim.kind, origin])
    if claim.statement is None:
        return f"{claim.id} ({where}) prints no formula: {claim.undefined}."
    count = len(claim.assumptions) + len(claim.conditions)
    under = "without hypotheses" if not count else "under one hypothesis" if count == 1 else f"under {count} hypotheses"
    exists = "" if claim.exists is None else f"{there_is(claim.exists, lambda e: unicode(e, letters))}\n  "
    return (f"{claim.id} ({where}) says, {under}, read as \"{claim.reading}\":\n  {exists}"
            f"{condition_text(claim.statement, letters)}")


def _because(claim: Claim, verdict: Verdict) -> str:
    means = {
        "refuted": "It is refuted: an instance meets every hypothesis and violates the statement.",
        "ill-posed": "It is ill-posed: no instance can meet its hypotheses, or a quantity in it is undefined.",
        "certified": "It is certified: there is a proof of everything that it quantifies over.",
        "consistent": "It is consistent: no violation was found, which is no proof.",
        "proven": "It is consistent: no violation was found, and the evidence says for which numbers it is proven.",
        "undecided": "It is undecided: the evidence suffices for no other verdict.",
    }
    kept = f" This is {verdict.details[KEPT]}." if KEPT in verdict.details else ""
    kind = "proven" if verdict.verdict == "consistent" and "scope" in verdict.details else verdict.verdict
    evidence = clauses(verdict.evidence, claim)
    counts = verdict.details.get("instances")
    tried = f" {counts['met']} of {counts['tried']} instances meet the hypotheses." if counts and counts["tried"] else ""
    return f"{means[kind]} {capitalised(evidence)}.{tried}{kept}"


def _evidence(claim: Claim, verdict: Verdict) -> Iterator[str]:
    instance = verdict.details.get("instance")
    if verdict.verdict == "refuted" and instance:
        if lines := [*run_in_words(claim, instance), *sides_in_words(claim, instance)]:
            yield "There:\n" + "\n".join(f"  {line}" for line in lines)
        if tight := tight_hypotheses(instance, claim):
            texts = (condition_text(one, letters_of(claim)) for one in tight)
            yield "The counterexample meets these hypotheses with equality:\n" + "\n".join(f"  {text}" for text in texts)
    if "e_value" in verdict.details:
        yield f"The evidence is statistical, an e-value of {significant(float(verdict.details['e_value']))}."
    if named := verdict.details.get("witness"):
        yield _witness(named)
    if verdict.verdict == "ill-posed" and verdict.details.get("conflict"):
        yield "These are in conflict:\n" + "\n".join(f"  {_hypothesis(claim, part)}" for part in verdict.details["conflict"])
    if verdict.verdict == "consistent" and verdict.ratio is not None:
        hidden = f"The hidden constant is at least {significant(verdict.ratio)}, the largest ratio found without it."
        yield _looseness(verdict.ratio) if claim.explicit else hidden


def _hypothesis(claim: Claim, part: str) -> str:
    """A hypothesis that a conflict names: an assumption with what it says, or a condition as it is."""
    found = next((one for one in claim.assumptions if one.id == part), None)
    if found is None:
        return clauses(part, claim)
    said = (*found.conditions, *found.at_all_points)
    return ": ".join(filter(None, (found.name, "; ".join(condition_text(one, letters_of(claim)) for one in said))))


def _breaks(broken: BrokenStep, claim: Claim) -> str:
    step, letters = broken.step, letters_of(broken.step)
    lines = [f"The proof breaks at {broken.words}:", f"  {step.id}: {condition_text(step.statement, letters)}"]
    lines += [f"  {plain(notation_text(name, indices, letters))}: {meaning}"
              for name, indices, meaning in broken.letters_beside(claim)]
    return "\n".join(filter(None, (*lines, broken.holding)))


def _tightest(claim: Claim, data: Mapping[str, Any], ratio: float) -> str:
    shrinks = "nothing in it can shrink" if ratio > 1 - 1e-9 else (
        f"its larger side can shrink by the factor {significant(ratio)} at most")
    lines = [*run_in_words(claim, data), *sides_in_words(claim, data)]
    return f"Where it is tight, so that {shrinks}:\n" + "\n".join(f"  {line}" for line in lines)


def _would_be_true(repairs: Sequence[Repair], verdict: Verdict, out: str) -> str:
    lines = [f"  {number}. {one.words}: {one.verdict.verdict}" for number, one in enumerate(repairs, start=1)]
    head = "What a quick search does not refute, the smallest change first; only what is certified is proven:"
    return "\n".join([head, *lines, *_again(verdict, out)])


def _again(verdict: Verdict, out: str) -> list[str]:
    """The command that checks the counterexample; nothing where no certificate was kept."""
    return [f"`{on_certificate('check', verdict, out)}` checks the counterexample."] if verdict.certificate else []


def _named(kinds: Mapping[str, str | None]) -> str:
    return ", ".join(f"{claim_id} ({kind or 'not decided here yet'})" for claim_id, kind in kinds.items())


def _witness(named: Mapping) -> str:
    """Explain what is known of the value that a claim names for the number that it says to exist."""
    parts = [f"The claim names the value {named['value']}. With it put in, {named['claim']} is {named['verdict']}."]
    if named["verdict"] == "refuted":
        parts.append("Another value may do all the same.")
    if named["shown"]:
        parts.append("Proven of the value: " + "; ".join(one["needs"] for one in named["shown"]) + ".")
    if named["not shown"]:
        parts.append("Not proven of it: " + "; ".join(named["not shown"]) + ".")
    if "fails" in named:
        parts.append(f"{capitalised(named['fails'])}.")
    return " ".join(parts)


def _looseness(ratio: float) -> str:
    if ratio > 1 + 1e-9:
        return (f"The largest ratio in floating point was {significant(ratio)}. It is more than 1, but decides nothing: the "
                "excess is due to rounding, to sampling, or to an estimated constant.")
    if ratio >= 1 - 1e-9:
        return "In the worst instance both sides are equal."
    return f"In the worst instance the side that must be smaller is {significant(ratio)} times the other one."


def _name(claim: Claim, verdict: Verdict) -> str:
    """The claim's name in commands."""
    file = claim_file(verdict)
    return f"{file}:{claim.id}" if file else claim.id


def _repair(claim: Claim, verdict: Verdict, out: str) -> str:
    """The commands that look for a statement in place of a refuted one, if any may, and check the counterexample."""
    search = f"`{command('repair', _name(claim, verdict))}` looks for a statement that survives."
    return " ".join([search] * (claim.explicit and claim.exists is None) + _again(verdict, out))


def _change(claim: Claim, verdict: Verdict, budget: str, out: str) -> str:
    harder = ""
    if budget in HARDER:
        more = HARDER[budget]
        harder = f"`{command('verify', _name(claim, verdict), budget=more, out=f'{out}-{more}')}`"
    if verdict.verdict == "ill-posed":
        return "a reading that drops or restricts one of these. No search can."
    if verdict.verdict == "certified":
        again = f" `{on_certificate('check', verdict, out)}` checks it." if verdict.certificate else ""
        return f"only an error in the proof, or in how the claim was read.{again}"
    if verdict.verdict == "consistent":
        elsewhere = " at other sizes or numbers" if "scope" in verdict.details else ""
        again = f" `{on_certificate('check', verdict, out)}` checks the proof." if verdict.certificate else ""
        return "".join([f"a counterexample{elsewhere}", f", perhaps by a harder search: {harder}." if harder else (
            ", or a proof for all of them." if elsewhere else ", or a proof."), again])
    if "stopped" in verdict.details:
        return f"the same command again: `{verdict.command}`."
    if not claim.explicit:
        return "values for the constants that O(.) hides, or evidence of how the ratio grows along the limits of the claim."
    missing = verdict.details.get("missing")
    if missing == "instance":
        return "a family of federations that meets the hypotheses" + (f", or a harder search: {harder}." if harder else ".")
    if missing == "measurement":
        return "code that measures the missing quantity. More search does not help."
    if missing in ("checker", "replay"):
        return "an exact replay of the violation."
    return f"a harder search: {harder}." if harder else "evidence of another kind."


def _readings(verdict: Verdict, readings: Mapping[str, tuple[str, str | None]]) -> str:
    """The other readings, most similar ids first; those with another verdict are marked."""
    def unlike(entry):
        return -SequenceMatcher(None, verdict.id, entry[0]).ratio(), entry[0]

    if all(kind is None for _, kind in readings.values()):
        others = "1 other reading of the statement is" if len(readings) == 1 else (
            f"{len(readings)} other readings of the statement are")
        return f"{others} not decided here yet."
    known = {claim_id: row for claim_id, row in sorted(readings.items(), key=unlike) if row[1] is not None}
    lines = []
    for claim_id, (reading, kind) in [*known.items()][:_MOST_READINGS]:
        other = " (another verdict)" if kind != verdict.verdict else ""
        lines.append(f"  {claim_id}: {kind}{other}; {reading}")
    if more := len(readings) - len(lines):
        rest = "not decided here yet" if len(known) <= _MOST_READINGS else "not shown"
        lines.append(f"  {more} more {'is' if more == 1 else 'are'} {rest}")
    return "Other readings of the same statement:\n" + "\n".join(lines)
