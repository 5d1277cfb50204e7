"""All claims, by id."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib import import_module
from itertools import chain

from bounds.claim import Claim, by_id
from bounds.loading import without_collection
from bounds.user_claims import claims_of_user

__all__ = ["ALIASES", "PAPERS", "all_claims", "claims_of_paper", "find_claim"]

#: modules of each paper; each has a tuple CLAIMS
PAPERS = {
    "fedalign": tuple(
        f"bounds.fedalign.{name}"
        for name in (
            "theorems", "lemmas", "proof_steps", "run_steps", "algebra_steps", "prose", "derived", "derived_algebra",
        )
    ),
    "li2020": ("bounds.li2020.theorems", "bounds.li2020.lemmas"),
    "fedluar": tuple(
        f"bounds.fedluar.{name}"
        for name in ("algorithm", "theorems", "drift_steps", "noise_steps", "descent_steps", "final_steps")
    ),
    "classical": ("bounds.classical.gradient_descent", "bounds.classical.stability", "bounds.classical.scaffold",
                  "bounds.classical.local_sgd", "bounds.classical.rates", "bounds.classical.sampled_rates",
                  "bounds.classical.coupled"),
    "fedmoswa": tuple(
        f"bounds.fedmoswa.{name}"
        for name in (
            "main_text", "table_1", "comparisons", "lemmas_generalisation", "theorems_generalisation", "lemmas_tools",
            "lemmas_optimisation", "steps_points", "steps_numbers", "steps_swa", "steps_moswa", "steps_convex",
            "steps_nonconvex",
        )
    ),
    "afedpd": tuple(
        f"bounds.afedpd.{name}"
        for name in (
            "optimisation", "descent", "combination", "generalisation", "local_steps", "multipliers", "unrolling", "prose",
            "tables",
        )
    ),
    "fadamgc": tuple(
        f"bounds.fadamgc.{name}"
        for name in (
            "theorems", "theorems_fa_nt", "lemmas", "table_1", "prose", "steps_a", "steps_a_lemma", "steps_b", "steps_d",
            "steps_d_lemmas", "steps_e",
        )
    ),
}
#: second numbers under which a paper prints a statement
ALIASES = {"fedalign/theorem-A1": "fedalign/theorem-1"}


@cache
def claims_of_paper(paper: str) -> dict[str, Claim]:
    """The claims of one of ``PAPERS`` by id; only its modules are loaded."""
    with without_collection():
        return by_id(claim for name in PAPERS[paper] for claim in import_module(name).CLAIMS)


@cache
def all_claims() -> dict[str, Claim]:
    """Every claim by id, papers in the order of ``PAPERS``, then the user's own (``bounds.user_claims``)."""
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
