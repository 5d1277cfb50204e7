"""Proofs of claims about runs, in the order in which they are looked for."""

from functools import lru_cache

from bounds.language.claim import Claim
from verify.worst.every_round import every_round
from verify.worst.lengths_proven import lengths_proven
from verify.worst.proven import Proven, proven
from verify.worst.worst_of_lengths import about_lengths

__all__ = ["proof_of_run"]

_KEPT = 64  # claims, whose proofs chains ask for again


@lru_cache(_KEPT)
def proof_of_run(claim: Claim) -> Proven:
    """The first proof that is found: of lengths, where the claim is about these; for every number of rounds; at numbers of
    rounds. Without one, why there is none of the last kind.

    Raises:
        ImportError: the solver is not installed.
    """
    ways = [lengths_proven, every_round, proven] if about_lengths(claim) else [every_round, proven]
    found = Proven()
    for way in ways:
        found = way(claim)
        if found.certificate is not None:
            break
    return found
