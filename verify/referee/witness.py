"""The witness of a claim that a number exists: what the claim with that value put in tells of the claim itself."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bounds.language.witness import witnessed
from verify.evaluation.environment import UNMEASURED
from verify.prove.existence import Requirement, requirements, without_the_number
from verify.results.verdict import Verdict
from verify.search.budget import BUDGETS
from verify.search.search import search

__all__ = ["by_witness"]

_MOST = 2  # conditions that are named in the evidence; the details have all


def by_witness(case, decided: Callable) -> Verdict | None:
    """Certified, if the claim with its witness put in is, and the witness is shown to be a value of the number on every
    instance. Otherwise no verdict: what is proven and found of the witness, that it fails included, is noted.

    ``decided``: gives the verdict on a claim, and the certificate that goes with it."""
    claim = case.claim
    if claim.exists is None or claim.exists.witness is None:
        return None
    reading = witnessed(claim)
    said, outcome = decided(reading, replace(case.settings, command=""))
    asked = requirements(claim)
    open_ones = [one for one in asked if not one.proof]
    found: dict[str, Any] = {
        "claim": reading.id, "value": f"{claim.exists.name} = {claim.exists.witness}", "verdict": said.verdict,
        "evidence": said.evidence, "shown": [{"needs": one.text, "proof": one.proof} for one in asked if one.proof],
        "not shown": [one.text for one in open_ones]}
    case.details["witness"] = found
    if said.verdict == "certified" and not open_ones and case.found.met:
        case.details |= {name: said.details[name] for name in ("proof", "scope") if name in said.details}
        text = f"{found['value']} does: {reading.id} is certified ({said.evidence}), and it lies in {claim.exists}"
        return case.certified(text, outcome)
    if outcome and said.verdict == "consistent" and not open_ones:
        case.details["scope"] = said.details["scope"]
        case.proof = f"{found['value']} does at some sizes and numbers, and lies in {claim.exists}", outcome
    if fails := next(filter(None, (_failure(case, one) for one in open_ones)), None):
        found["fails"] = fails
    case.beside.append(_in_words(found, said))
    return None


def _in_words(found: dict[str, Any], said: Verdict) -> str:
    text = f"with {found['value']}, {found['claim']} is {said.verdict}"
    if said.verdict == "refuted":
        text += ", which says nothing of other values"
    if "fails" in found:
        return f"{text}; but {found['fails']}, where only another value can do"
    if said.verdict in ("certified", "consistent") and found["not shown"]:
        text += f", and not proven of that value: {'; '.join(found['not shown'][:_MOST])}"
        text += f" and {len(found['not shown']) - _MOST} more" * (len(found["not shown"]) > _MOST)
    return text


def _failure(case, one: Requirement) -> str:
    """Describe an exact instance on which the witness does not meet a requirement; empty if none is found."""
    if len(one.ways) > 1 or len(one.ways[0]) > 1:
        return ""
    (way,) = one.ways[0]
    probe = replace(without_the_number(case.claim, way), id=f"{case.claim.id}+needs")
    try:
        violation = search(probe, BUDGETS["quick"], case.settings.seed, case.settings.backend).violation
    except UNMEASURED:
        return ""
    if violation is None:
        return ""
    return f"{one.text} fails on an instance ({float(violation.left):.6g} {way.sign} {float(violation.right):.6g} is false)"
