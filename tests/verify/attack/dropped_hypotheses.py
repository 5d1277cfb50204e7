"""Attacks proofs about runs: a claim without one of its hypotheses is proven anew; no random federation may break it."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

from bounds.language.claim import Claim
from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from tests.verify.attack.every_round import attempt
from tests.verify.attack.table import Table
from verify.worst.configurations import Template
from verify.worst.every_round import every_round_at
from verify.worst.proven import TEMPLATES
from verify.worst.worst_case import worst_case

__all__ = ["KIND", "attack_hypotheses", "to_prove", "without_one"]

KIND = "hypothesis of a proof dropped, proven anew"

#: claims whose proofs are changed: their sizes and numbers
PROVEN = {
    "classical/gd-distance": {"mu": Fraction(1, 10), "eta_l": Fraction(1, 2)}, "classical/gd-nonconvex": {},
    "classical/sgd-distance": {}, "classical/sgd-value": {}, "classical/drift-convex": {"eta": Fraction(1, 4)},
    "classical/fedavg-round": {}, "classical/fedavg-round-dissimilar": {}, "classical/scaffold-nonconvex": {},
    "li2020/theorem-1": {}, "li2020/lemma-2": {},
}


def to_prove() -> Iterator[tuple[Claim, dict[str, Fraction], Template | None]]:
    """Claims that are proven, with their numbers and the template that has the others."""
    yield from ((find_claim(name), given, None) for name, given in PROVEN.items())
    yield from ((claim, {}, TEMPLATES[1]) for claim in load_claims(Path(__file__).parent / "proven.toml"))


def without_one(claim: Claim) -> Iterator[Claim]:
    """The claim without each of its hypotheses in turn."""
    own = claim.hypotheses
    return (replace(claim, assumptions=(), conditions=own[:n] + own[n + 1:]) for n in range(len(own)))


def attack_hypotheses() -> Table:
    """Drops each hypothesis of each claim, and looks for proofs at sizes, for every number of clients, and of rounds."""
    table = Table()
    for claim, given, template in to_prove():
        for other in without_one(claim):
            for onwards in (False, True):
                attempt(table, KIND, other, partial(worst_case, other, given, template, factors=False, onwards=onwards))
                one_round = (template or TEMPLATES[1])._replace(rounds=1)
                attempt(table, KIND, other, partial(every_round_at, other, given, one_round, onwards))
    return table
