"""Proofs of claims about runs, in the order in which they are looked for."""

from bounds.language.claim import Claim
from verify.checker.number_proof import SCOPE_OF_RUNS
from verify.prove.number_certificates import number_certificate
from verify.worst.every_round import every_round
from verify.worst.lengths_proven import lengths_proven
from verify.worst.proven import Proven, proven
from verify.worst.worst_of_lengths import about_lengths

__all__ = ["for_all_numbers", "proof_of_run"]


def proof_of_run(claim: Claim) -> Proven:
    """The first proof that is found: for all numbers; of lengths, where the claim is about these; for every number of
    rounds; at numbers of rounds. Without one, why there is none of the last kind.

    Raises:
        ImportError: the solver is not installed.
    """
    ways = [for_all_numbers, *[lengths_proven] * about_lengths(claim), every_round, proven]
    found = Proven()
    for way in ways:
        found = way(claim)
        if found.certificate is not None:
            break
    return found


def for_all_numbers(claim: Claim) -> Proven:
    """A proof for all numbers, sizes and rounds."""
    certificate = number_certificate(claim)
    return Proven(certificate, SCOPE_OF_RUNS) if certificate else Proven(reason="no proof for all numbers was found")
