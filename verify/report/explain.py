"""In plain words: what a claim says, why its verdict is what it is, and what would change it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from bounds.language.claim import Claim
from bounds.printing.render import condition_text, letters_of
from verify.exact.replay import tight_hypotheses
from verify.results.numerals import significant
from verify.results.verdict import Verdict

__all__ = ["explain"]

HARDER = {"quick": "standard", "standard": "thorough"}


def explain(claim: Claim, verdict: Verdict, readings: Mapping[str, tuple[str, str | None]], budget: str, out: str) -> str:
    """Paragraphs on one verdict.

    Args:
        claim, verdict: what was asked, and the answer.
        readings: the other readings of the same block: id -> (reading, verdict or None where there is none yet).
        budget: the budget with which the verdict was reached.
        out: directory of the report, for the commands that are named.
    """
    parts = [_says(claim), _because(verdict), *_evidence(claim, verdict), "What would change it: " + _change(
        claim, verdict, budget, out)]
    if readings:
        parts.append(_readings(verdict, readings))
    return "\n\n".join(parts) + "\n"


def _says(claim: Claim) -> str:
    letters = letters_of(claim)
    origin = claim.source or f"derived here: {claim.derivation}"
    where = f"{claim.number}, {claim.kind}, {origin}"
    if claim.statement is None:
        return f"{claim.id} ({where}) prints no formula: {claim.undefined}."
    count = len(claim.hypotheses) + sum(a.for_all_functions is not None for a in claim.assumptions)
    under = f"under {count} hypotheses" if count != 1 else "under one hypothesis"
    return f"{claim.id} ({where}) says, {under}, read as \"{claim.reading}\":\n  {condition_text(claim.statement, letters)}"


def _because(verdict: Verdict) -> str:
    means = {
        "refuted": "It is refuted: something meets every hypothesis and breaks it.",
        "ill-posed": "It is ill-posed: nothing can meet its hypotheses, or a quantity in it is undefined.",
        "certified": "It is certified: there is a proof.",
        "consistent": "It is consistent: nothing was found against it, which is no proof.",
        "undecided": "It is undecided: what was tried speaks neither for nor against it.",
    }
    return f"{means[verdict.verdict]} {verdict.evidence[:1].upper()}{verdict.evidence[1:]}."


def _evidence(claim: Claim, verdict: Verdict) -> Iterator[str]:
    counts = verdict.details.get("instances")
    if counts:
        yield f"{counts['tried']} instances were tried; {counts['met']} of them meet the hypotheses."
    instance = verdict.details.get("instance")
    if verdict.verdict == "refuted" and instance:
        tight = tight_hypotheses(instance, claim)
        if tight:
            yield "Hypotheses that the counterexample meets with equality, so that it sits at their border:\n" + "\n".join(
                f"  {text}" for text in tight)
        elif claim.hypotheses:
            yield "No inequality among the hypotheses is met with equality: the counterexample sits inside them."
    if verdict.verdict == "refuted" and "e_value" in verdict.details:
        yield f"The evidence is statistical: an e-value of {significant(float(verdict.details['e_value']))}."
    if verdict.verdict == "ill-posed" and verdict.details.get("conflict"):
        yield "In conflict are:\n" + "\n".join(f"  {part}" for part in verdict.details["conflict"])
    if verdict.verdict == "consistent" and verdict.ratio is not None:
        least = f"With 1 for the hidden constant the largest ratio was {significant(verdict.ratio)}: it is at least that."
        yield _looseness(verdict.ratio) if claim.explicit else least


def _looseness(ratio: float) -> str:
    if ratio > 1 + 1e-9:
        return (f"Floating point saw a ratio of {significant(ratio)}, beyond one, where it decides nothing: by rounding, by "
                "sampling, or against a constant that is an estimate.")
    if ratio >= 1 - 1e-9:
        return "At worst both sides were equal: it is met with equality."
    return f"At worst the side that must be smaller was {significant(ratio)} of the other one."


def _change(claim: Claim, verdict: Verdict, budget: str, out: str) -> str:
    harder = ""
    if budget in HARDER:
        harder = f"`fedtheory verify {claim.id} --budget {HARDER[budget]} --out {out}-{HARDER[budget]}`"
    if verdict.verdict == "refuted":
        again = f" `fedtheory check {out}/{verdict.certificate}` checks it." if verdict.certificate else ""
        finite = verdict.ratio is not None and 1 < verdict.ratio < float("inf")
        weaker = f" by a factor of {significant(verdict.ratio)} or more" if finite else ""
        return f"a further hypothesis that excludes the counterexample, or a statement weaker{weaker}.{again}"
    if verdict.verdict == "ill-posed":
        return "a reading in which one of these is dropped or restricted; no search can."
    if verdict.verdict == "certified":
        return "nothing but an error in the proof or in how the claim was read."
    if verdict.verdict == "consistent":
        return "a counterexample, found by a harder search" + (f": {harder}." if harder else ", or a proof.")
    if "stopped" in verdict.details:
        return f"the same command again: `{verdict.command}`."
    if not claim.explicit:
        return "a value for the constants that O(.) hides, or evidence on how the ratio grows along the claim's limits."
    if "met the hypotheses" in verdict.evidence:
        return "a family of federations that meets the hypotheses" + (f", or a harder search: {harder}." if harder else ".")
    if "not measured yet" in verdict.evidence:
        return "a measurement of what the search cannot bind yet; more search does not help."
    if "checker" in verdict.evidence or "exact replay" in verdict.evidence:
        return "an independent exact replay of the violation that was seen."
    return f"more evidence: {harder}." if harder else "evidence of another kind."


def _readings(verdict: Verdict, readings: Mapping[str, tuple[str, str | None]]) -> str:
    """The other readings, the most alike first, those with another verdict marked."""
    def unlike(entry):
        return -SequenceMatcher(None, verdict.id, entry[0]).ratio(), entry[0]

    lines = []
    for claim_id, (reading, kind) in sorted(readings.items(), key=unlike):
        other = " (another verdict)" if kind not in (None, verdict.verdict) else ""
        lines.append(f"  {claim_id}: {kind or 'not decided here yet'}{other}; {reading}")
    return "Other readings of the same print:\n" + "\n".join(lines)
