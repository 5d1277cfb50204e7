"""Finds what would be true instead of a refuted claim."""

from collections.abc import Callable

from bounds.language.claim import Claim
from verify.claims.named import claim as claim_of
from verify.referee.decide import Settings, decide
from verify.repair.repair import NotRefuted, Repair, repairs_of

__all__ = ["repair"]


def repair(what: Claim | str, budget: str = "standard", seed: int = 0, most: int = 5,
           watch: Callable[[str], None] = lambda text: None) -> list[Repair]:
    """Finds the nearest statements that survive where a claim is refuted.

    Args:
        what: a claim, its id or ``FILE:ID``.
        budget: with which each statement that survives a quick search is refereed: ``quick``, ``standard`` or ``thorough``.
        seed: of all random choices.
        most: how many statements to find.
        watch: called with what is looked at next, in words.

    Returns:
        Changed claims that are certified or consistent, those of the smallest change first: each has another coefficient,
        exponent, index, range or quantity, one more condition or factor, or one or two more terms. ``claim`` is the changed
        claim, ``change`` says in words what changed, ``verdict`` is the referee's, and ``conclusions`` say which of the
        claims that rest on the refuted one follow from the changed one.

    Raises:
        LookupError: no such claim. ValueError: it is not refuted, or hides constants.

    Example:
        >>> repair("fedalign/theorem-1", budget="quick", most=1)[0].change  # doctest: +SKIP
        'i from 0 to T − 1 in place of i from 1 to T − 1 in ρ_T'
    """
    known: dict[str, str] = {}

    def verdict_of(conclusion: Claim) -> str:
        if conclusion.id not in known:
            watch(f"{conclusion.id}, which rests on it")
            known[conclusion.id] = decide(conclusion, Settings("quick", seed=seed, federations=False)).verdict
        return known[conclusion.id]

    claim = claim_of(what)
    try:
        return repairs_of(claim, budget, seed, most, watch, verdict_of=verdict_of)
    except NotRefuted:
        verdict = decide(claim, Settings(budget, seed=seed, federations=False)).verdict
        if verdict == "refuted":
            raise
        raise NotRefuted(f"nothing to repair: {claim.id} is {verdict}; repair takes a refuted claim") from None
