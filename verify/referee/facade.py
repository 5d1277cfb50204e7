"""What ``fedtheory`` forwards: a claim by name, and its verdict."""

from __future__ import annotations

from bounds.language.claim import Claim
from bounds.registry.claims import find_claim
from verify.referee.decide import Settings, decide
from verify.results.verdict import Verdict

__all__ = ["claim", "verify"]


def claim(name: str) -> Claim:
    """The registered claim of that id.

    Raises:
        LookupError: there is none; the message names the nearest ids.
    """
    return find_claim(name)


def verify(claim: Claim | str, **settings) -> Verdict:
    """The verdict on one claim, given itself or by id; ``settings`` as in :class:`verify.referee.decide.Settings`.

    Example:
        >>> verify("classical/gd-convex", budget="quick").verdict
        'consistent'
    """
    return decide(find_claim(claim) if isinstance(claim, str) else claim, Settings(**settings))
