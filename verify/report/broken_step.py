"""Says at which step the proof of a refuted claim breaks."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from bounds.language.claim import Claim, names_in
from bounds.printing.legend import symbols
from bounds.printing.render import letters_of
from bounds.registry.claims import find_claim
from verify.report.reason import number_text

__all__ = ["BrokenStep", "broken_step"]


class BrokenStep(NamedTuple):
    """A step of a proof that does not hold. ``there``: whether it fails on the claim's own counterexample, where its sides
    are ``left`` and ``right``; if not, one of its own refutes it. ``before``: how many steps before it hold there."""

    step: Claim
    there: bool
    left: float | None
    right: float | None
    before: int

    @property
    def words(self) -> str:
        """Its number and how it fails, as the end of a sentence that begins with "The proof breaks at"."""
        how = "a counterexample of its own refutes"
        if self.there:
            left, right = number_text(self.left), number_text(self.right)
            how = f"fails on this counterexample too, with the left side {left} and the right side {right}"
        number = self.step.number
        named = number if number[:1].isupper() else f"the step {number}" if number[:1] == "(" else f"a step ({number})"
        return f"{named}, which {how}"

    @property
    def holding(self) -> str:
        """The number of steps before it that hold there, as a sentence; empty if none does."""
        if self.before < 2:
            return "One step before it holds on this counterexample." if self.before else ""
        return f"{self.before} steps before it hold on this counterexample."

    def letters_beside(self, claim: Claim) -> Iterator[tuple[str, tuple[str, ...], str]]:
        """Yield name, indices and meaning of what the step's statement names and the claim does not."""
        step = self.step
        stated = (names_in(step.statement.left) | names_in(step.statement.right)) - claim.names - {*claim.used_definitions()}
        for one in symbols(step, letters_of(step)):
            if one.name in stated and one.meaning:
                yield one.name, one.indices, one.meaning
        for name, one in step.used_definitions().items():
            if name in stated and one.meaning:
                yield name, tuple(map(str, one.indices)), one.meaning


def broken_step(steps: Mapping[str, Any] | None, refuted: Callable[[str], bool],
                claim_of: Callable[[str], Claim | None] = find_claim) -> BrokenStep | None:
    """The first step that fails on the counterexample; else the first one that is not measured there and is refuted.

    Args:
        steps: what :func:`verify.proofs.steps_there.steps_there` gives.
        refuted: whether the claim of an id is known to be refuted.
        claim_of: the claim of an id; None for a step that is not known.
    """
    if not steps:
        return None
    found = steps.get("failing") or next(filter(refuted, steps["unmeasured"]), None)
    step = claim_of(found) if found else None
    if step is None:
        return None
    return BrokenStep(step, "failing" in steps, steps.get("left"), steps.get("right"), len(steps["holding"]))
