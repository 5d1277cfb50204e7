"""Finds what would be true instead of a refuted claim."""

from collections.abc import Callable

from bounds.language.claim import Claim
from verify.claims.named import claim as claim_of
from verify.repair.repair import Repair, repairs_of

__all__ = ["repair"]


def repair(what: Claim | str, budget: str = "standard", seed: int = 0, most: int = 5,
           watch: Callable[[str], None] = lambda text: None) -> list[Repair]:
    """Finds the nearest statements that survive where a claim is refuted.

    Args:
        what: a claim, its id or ``FILE:ID``.
        budget: with which each statement that survives a quick search is refereed: ``quick``, ``standard`` or ``thorough``.
        seed: of all random choices.
        most: how many statements to find.
        watch: called with each change, in words, before a search looks at it.

    Returns:
        Changed claims that are certified or consistent, those of the smallest change first: each has another coefficient,
        exponent, index, range or quantity, one more condition or factor, or one or two more terms. ``claim`` is the changed
        claim, ``change`` says in words what changed, ``verdict`` is the referee's.

    Raises:
        LookupError: no such claim. ValueError: it is not refuted, or hides constants.

    Example:
        >>> repair("fedalign/theorem-1", budget="quick", most=1)[0].change  # doctest: +SKIP
        'i from 0 to T − 1 in place of i from 1 to T − 1 in ρ_T'
    """
    return repairs_of(claim_of(what), budget, seed, most, watch)
