"""Related claims: other readings of a claim's statement, the steps of its proof, and what it is a step of.

A counterexample of one of them may violate the claim too.
"""

import re

from bounds.language.claim import Claim
from bounds.registry.claims import claims_beside
from verify.claims.needs import speaks_of_samples

__all__ = ["block_of", "conclusions_of", "options_of", "related", "repaired_forms"]

_MOST = 5  # readings, and steps


def related(claim: Claim) -> tuple[Claim, ...]:
    """Registered claims about runs of the same method: readings of the same block first, those that differ least, then the
    steps of its proof and what it is a step of, in readings that differ least. None of a claim that is not registered."""
    beside = claims_beside(claim)
    if beside.get(claim.id) is not claim:
        return ()
    chain = {block_of(step) for step in claim.steps} | {c.block for c in beside.values() if claim.id in c.steps}
    found = []
    for blocks in ({claim.block}, chain - {claim.block}):
        near = [c for c in beside.values() if c.block in blocks and c is not claim and _comparable(claim, c)]
        found += sorted(near, key=lambda other: (len(options_of(claim.id) ^ options_of(other.id)), other.id))[:_MOST]
    return tuple(found)


def conclusions_of(claim: Claim) -> list[Claim]:
    """Collect the claims whose proofs have this one as a step, of each statement the reading that differs least from its."""
    found: dict[str, list[Claim]] = {}
    for other in claims_beside(claim).values():
        if other.block != claim.block and claim.block in map(block_of, other.steps):
            found.setdefault(other.block, []).append(other)
    return [min(some, key=lambda one: (len(options_of(one.id) ^ options_of(claim.id)), one.id)) for some in found.values()]


def repaired_forms(claim: Claim) -> list[Claim]:
    """Collect the claims derived here of which the number says that they are this result, repaired: ``Theorem 1,
    repaired``."""
    found = []
    for other in claims_beside(claim).values():
        number, _, word = other.number.rpartition(", ")
        if word == "repaired" and other.paper == claim.paper and re.match(rf"{re.escape(number)}(?!\w)", claim.number):
            found.append(other)
    return [one for one in found if one is not claim]


def block_of(name: str) -> str:
    """The id of a claim without its reading."""
    return name.partition("@")[0]


def options_of(name: str) -> frozenset[str]:
    """The options that the id of a claim names."""
    return frozenset(name.partition("@")[2].split("+")) - {""}


def _comparable(claim: Claim, other: Claim) -> bool:
    """Whether both are explicit statements about runs of one method, on clients without samples."""
    if other.statement is None or not other.explicit or claim.setting != "run" or other.setting != "run":
        return False
    if claim.exists != other.exists:
        return False
    if speaks_of_samples(claim) or speaks_of_samples(other):
        return False
    return claim.procedure is not None and other.procedure is not None and claim.procedure.base == other.procedure.base
