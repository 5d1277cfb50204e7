"""All claims, by id."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from itertools import chain

from bounds.language.claim import Claim, by_id
from bounds.registry.loading import without_collection
from bounds.registry.papers import PAPERS, claims_of_paper
from bounds.registry.user_claims import claims_of_user

__all__ = ["ALIASES", "all_claims", "find_claim"]

#: second numbers that a paper gives to a statement
ALIASES = {"fedalign/theorem-A1": "fedalign/theorem-1"}


@cache
def all_claims() -> dict[str, Claim]:
    """Every claim by id: the papers' in the order of ``PAPERS``, then the user's (``bounds.registry.user_claims``)."""
    with without_collection():
        return by_id(chain(*(claims_of_paper(paper).values() for paper in PAPERS), claims_of_user()))


def find_claim(claim_id: str) -> Claim:
    """The claim of that id or alias; an unknown id raises LookupError and suggests the nearest."""
    block, at, reading = claim_id.partition("@")
    claim_id = ALIASES.get(block, block) + at + reading
    paper = claim_id.partition("/")[0]
    if paper in PAPERS and claim_id in claims_of_paper(paper):  # the other papers need not be loaded
        return claims_of_paper(paper)[claim_id]
    claims = all_claims()
    if claim_id not in claims:
        near = get_close_matches(claim_id, claims, n=3, cutoff=0.4)
        hint = f"; nearest: {', '.join(near)}" if near else ""
        raise LookupError(f"unknown claim {claim_id!r}{hint}")
    return claims[claim_id]
