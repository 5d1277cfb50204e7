"""A claim's bound as a function of numbers."""

from bounds.language.claim import Claim
from verify.claims.named import claim as claim_of
from verify.formulas.bound import Bound, bound_of

__all__ = ["bound"]


def bound(claim: Claim | str, side: str = "right") -> Bound:
    """Returns one side of a claim, given itself, by its id or as ``FILE:ID``, as a function of numbers.

    Raises LookupError for an unknown claim, and ValueError for one without a formula.

    Example:
        >>> bound("classical/gd-convex").parameters
    """
    return bound_of(claim_of(claim), side)
