"""Gathers the reasons behind a verdict: why a claim fails, what would be true, where it is tight."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from bounds.language.claim import Claim
from verify.claims.related import conclusions_of, repaired_forms
from verify.proofs.steps_there import steps_there
from verify.repair.repair import Repair, repairs_of
from verify.report.broken_step import BrokenStep, broken_step
from verify.report.reason import Needs, is_refuted, needs_of
from verify.report.tightest import tightest_instance
from verify.results.verdict import Verdict

__all__ = ["Why", "why"]

_MOST_REPAIRS = 3


@dataclass(frozen=True)
class Why:
    """Reasons beside the evidence, as far as somebody looked.

    Args:
        needs: of a refuted claim, the hypotheses under which it survives, and those under which it does not.
        repairs: of a refuted claim, the nearest statements that survive; None where nobody looked.
        broken: of a refuted claim, the step at which its proof breaks.
        tightest: of a claim that holds as far as is known, an instance on which it is tight, and the ratio of its sides.
        repaired: the forms of a refuted claim that were derived here and repair it: id -> verdict, None where there is none.
        conclusions: the claims that rest on a refuted one, likewise.
    """

    needs: Needs | None = None
    repairs: list[Repair] | None = None
    broken: BrokenStep | None = None
    tightest: tuple[Mapping[str, Any], float] | None = None
    repaired: Mapping[str, str | None] = field(default_factory=dict)
    conclusions: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def as_details(self) -> dict[str, Any]:
        """The needs, the repairs and the step at which the proof breaks as plain data for the details of a verdict; empty
        where nobody looked."""
        broken = {"broken": self.broken.step.id} if self.broken and not self.broken.there else {}
        if self.repairs is None:
            return broken
        return {**broken, "needs": str(self.needs or ""),
                "repairs": [{"change": one.words, "verdict": one.verdict.verdict} for one in self.repairs]}


def why(claim: Claim, verdict: Verdict, kind_of: Callable[[str], str | None], searches: bool = True) -> Why:
    """Look for the reasons behind a verdict.

    Args:
        kind_of: gives the verdict on another claim, by its id, where there is one.
        searches: whether to search, with the quick budget, for what takes more than the counterexample.
    """
    if verdict.verdict in ("certified", "consistent"):
        return Why(tightest=tightest_instance(claim) if searches else None)
    if verdict.verdict != "refuted":
        return Why()

    def fails(step: str) -> bool:
        there = kind_of(step)
        return there == "refuted" if there else searches and is_refuted(step)

    broken, needs, repairs = None, None, None
    if claim.steps and "instance" in verdict.details:
        broken = broken_step(verdict.details.get("steps") or steps_there(claim, verdict.details["instance"]), fails)
    if searches and claim.explicit and claim.exists is None:
        needs = needs_of(claim)
        with suppress(ValueError):  # a quick search does not refute it
            repairs = repairs_of(claim, "quick", most=_MOST_REPAIRS, depth=1, verdict_of=lambda one: kind_of(one.id))
    return Why(needs, repairs, broken, repaired={form.id: kind_of(form.id) for form in repaired_forms(claim)},
               conclusions={one.id: kind_of(one.id) for one in conclusions_of(claim)})
