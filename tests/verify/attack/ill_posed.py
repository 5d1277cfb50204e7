"""Attacks proofs that a claim is ill-posed: changed certificates, and numbers or federations that meet the hypotheses of
those that are accepted.

Shares no code with the checker.
"""

import random
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from bounds.language.claim import Claim
from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from synthetic.numbers.arrays import NUMPY
from tests.verify.attack.every_round import REFUSED
from tests.verify.attack.numbers import mutant_of_numbers, says_something
from tests.verify.attack.second_opinion import restated
from tests.verify.attack.table import NoOpinion, Table
from verify.exact.check import replay_alone
from verify.instances.draw import draw_params, draw_shape
from verify.prove.contradictions import contradiction
from verify.search.batch_evaluation import evaluate_batch

__all__ = ["KIND", "attack_ill_posed", "certificates_of_ill_posed", "is_met"]

KIND = "proof that a claim is ill-posed"
#: registered claims about runs, of each reason for being ill-posed
CLAIMS = ("fedalign/theorem-1@G-everywhere", "fedmoswa/theorem-5.1-strongly-convex-fedswa", "fedmoswa/lemma-e.2@b-F1",
          "fedmoswa/lemma-f.1@independent-batch", "fedmoswa/lemma-f.4")
_SHAPES, _ROWS, _OUTCOMES, _ITERATIONS = 6, 64, 64, 6


@cache
def certificates_of_ill_posed() -> list[tuple[dict[str, Any], Claim]]:
    """Certificates of the registered claims and of ill_posed.toml, and the claims."""
    claims = [*map(find_claim, CLAIMS), *load_claims(Path(__file__).with_name("ill_posed.toml"))]
    found = [(contradiction(claim), claim) for claim in claims]
    lacking = [claim.id for data, claim in found if data is None]
    assert not lacking, f"claims without a certificate: {lacking}"
    return [(data, claim) for data, claim in found if data is not None]


def is_met(data: Mapping[str, Any], claim: Claim, seed: int) -> bool:
    """Whether random numbers, or random federations, meet all hypotheses and give the statement a value.

    Raises:
        NoOpinion: none could be looked at.
    """
    if data["setting"] == "algebra":
        found, looked_at = says_something(data, seed)
        if not looked_at:
            raise NoOpinion
        return found
    rng = np.random.default_rng(seed)
    try:
        changed = restated(data, claim)
        for _ in range(_SHAPES):
            shape = draw_shape(changed, rng, _OUTCOMES, _ITERATIONS)
            params = draw_params(changed, shape, _ROWS, rng)
            if evaluate_batch(changed, shape, params, NUMPY).met.any():
                return True
    except REFUSED as error:
        raise NoOpinion from error
    return False


def attack_ill_posed(count: int, seed: int) -> Table:
    """Judges ``count`` mutants."""
    rng, table, given = random.Random(seed), Table(), certificates_of_ill_posed()
    for number in range(count):
        certificate, claim = rng.choice(given)
        data = mutant_of_numbers(certificate, rng)
        if data == certificate:
            continue
        result = table.judge(KIND, data, lambda data=data: replay_alone(data))
        if result is not None and result.accepted:
            table.accept(KIND, data, lambda data=data, claim=claim, number=number: not is_met(data, claim, number))
    return table
