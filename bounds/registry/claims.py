"""All claims, by id."""

import os
from collections.abc import Container
from difflib import get_close_matches
from functools import lru_cache
from itertools import chain

from bounds.language.claim import Claim, by_id
from bounds.registry.loading import without_collection
from bounds.registry.papers import PAPERS, claims_of_paper, forget_papers
from bounds.registry.user_claims import PATHS, claims_of_user

__all__ = ["ALIASES", "all_claims", "claims_beside", "claims_of", "find_claim", "forget_files"]

#: second numbers that a paper gives to a statement
ALIASES = {"fedalign/theorem-A1": "fedalign/theorem-1"}


def all_claims() -> dict[str, Claim]:
    """Every claim by id: the papers' in the order of ``PAPERS``, then the user's (``bounds.registry.user_claims``)."""
    return _of_all(os.environ.get(PATHS, ""))


def claims_of(papers: Container[str]) -> dict[str, Claim]:
    """The claims of some papers by id, in the order of ``PAPERS``, then the user's. Loads those papers alone."""
    users = _of_user(os.environ.get(PATHS, "")).values()
    return by_id(chain(*(claims_of_paper(paper).values() for paper in PAPERS if paper in papers), users))


def claims_beside(claim: Claim) -> dict[str, Claim]:
    """The claims of its paper and of those that its steps name, by id, and the user's."""
    return claims_of({claim.paper, *(step.partition("/")[0] for step in claim.steps)})


@lru_cache(maxsize=4)
def _of_all(paths: str) -> dict[str, Claim]:
    """Every claim by id, while the environment names the user's files ``paths``."""
    with without_collection():
        return claims_of(PAPERS)


@lru_cache(maxsize=4)
def _of_user(paths: str) -> dict[str, Claim]:
    """The user's claims by id, while the environment names the files ``paths``."""
    return by_id(claims_of_user())


def forget_files() -> None:
    """Read the user's files again when their claims are next asked for."""
    _of_all.cache_clear()
    _of_user.cache_clear()
    forget_papers()


def find_claim(claim_id: str) -> Claim:
    """The claim of that id or alias. Loads the claims of its paper alone.

    Raises:
        LookupError: an unknown id; it suggests the nearest ids of the paper, or the nearest paper.
    """
    block, at, reading = claim_id.partition("@")
    claim_id = ALIASES.get(block, block) + at + reading
    paper = claim_id.partition("/")[0]
    if paper in PAPERS and claim_id in claims_of_paper(paper):
        return claims_of_paper(paper)[claim_id]
    claims = _of_user(os.environ.get(PATHS, ""))
    if claim_id in claims:
        return claims[claim_id]
    known = paper in PAPERS
    names = [*(claims_of_paper(paper) if known else [f"{name}/..." for name in PAPERS]), *claims]
    near = get_close_matches(claim_id if known or claims else f"{paper}/...", names, n=3, cutoff=0.4 if known else 0.8)
    hint = f"; nearest: {', '.join(near)}" if near else f"; papers: {', '.join(PAPERS)}"
    raise LookupError(f"unknown claim {claim_id!r}{hint}")
