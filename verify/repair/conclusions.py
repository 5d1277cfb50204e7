"""Follows a repaired step to the claims that rest on it: which of them survive.

A conclusion survives if it follows, by arithmetic on the printed formulas, from its steps with the repaired one in place of
the refuted one. If it does not, or if arithmetic cannot tell, its own verdict counts; what rests on a conclusion that is
refuted, too, is followed further.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from bounds.language.claim import Claim
from verify.claims.related import conclusions_of
from verify.proofs.follows import link, premises_of

__all__ = ["Conclusion", "conclusions_from"]

_MOST = 8


@dataclass(frozen=True)
class Conclusion:
    """Fate of a claim whose proof rests on a repaired step.

    Args:
        name: its number, or its id if it has none.
        words: a sentence.
        survives: whether it follows from its steps with the repaired one among them.
        verdict: its own, where it does not follow; None where nobody knows.
    """

    claim: Claim
    name: str
    words: str
    survives: bool
    verdict: str | None = None


def conclusions_from(claim: Claim, repaired: Claim, verdict_of: Callable[[Claim], str | None]) -> Iterator[Conclusion]:
    """Yield what becomes of at most eight claims that rest on a refuted one if the repaired one takes its place, the nearest
    first.

    Args:
        verdict_of: gives a claim's own verdict; None where nobody knows.
    """
    waiting, seen = [claim], {claim.block}
    while waiting:
        step = waiting.pop(0)
        for one in conclusions_of(step):
            if one.block in seen or len(seen) > _MOST:
                continue
            seen.add(one.block)
            survives, words = _answer(one, claim, repaired) if step is claim else (False, f"rests on {_name(step)}")
            verdict = None if survives else verdict_of(one)
            itself = f"; by itself it is {verdict}" if verdict else ""
            yield Conclusion(one, _name(one), f"{_name(one)} {words}{itself}", survives, verdict)
            if verdict == "refuted":
                waiting.append(one)


def _name(claim: Claim) -> str:
    return claim.id if claim.number == "none" else claim.number


def _answer(conclusion: Claim, claim: Claim, repaired: Claim) -> tuple[bool, str]:
    """Whether a conclusion follows with the repaired step, and the words for it."""
    premises = premises_of(conclusion)
    found = link(conclusion, [repaired if one.block == claim.block else one for one in premises])
    if found.answer == "follows":
        more = {*found.needs} - {*link(conclusion, premises).needs}
        return True, "follows from it" + ", under the condition that is added" * any(repaired.id in need for need in more)
    if found.answer == "does not follow":
        return False, "does not follow from it"
    return False, "may follow from it, which arithmetic cannot tell"
