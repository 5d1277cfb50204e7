"""Attacks proofs for every number of rounds: a changed statement that is proven anew must hold over several such numbers."""

import copy
import json
import random
from collections.abc import Callable
from typing import Any

from bounds.language.claim import Claim
from bounds.registry.claims import find_claim
from tests.verify.attack.mutants import changed_part, scaled
from tests.verify.attack.second_opinion import disproves, restated
from tests.verify.attack.table import NoOpinion, Table
from verify.checker.rounds import FORMAT as EVERY_ROUND
from verify.exact.check import replay_alone
from verify.worst.every_round import every_round_at
from verify.worst.proven import TEMPLATES

__all__ = ["KIND", "REFUSED", "ROUNDS", "attack_rounds", "attempt", "holds", "over_rounds"]

KIND = "statement or hypothesis changed, proven for every number of rounds"

#: claims that are proven for every number of rounds, and the numbers at which changed ones are looked at
CLAIMS = ("classical/gd-distance", "classical/gd-nonconvex", "classical/sgd-distance", "classical/drift-convex",
          "classical/fedavg-round", "classical/fedavg-round-dissimilar", "li2020/lemma-2")
ROUNDS = (1, 2, 3, 6)
REFUSED = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


def attack_rounds(count: int, seed: int) -> Table:
    """Changes ``count`` claims, and looks for proofs of what they say then; random federations must not break what is
    proven, over any of ``ROUNDS``."""
    rng, table = random.Random(seed), Table()
    for number in range(count):
        claim, place = find_claim(rng.choice(CLAIMS)), rng.choice(TEMPLATES)._replace(rounds=1)
        onwards = number % 2 == 0  # for every number of clients, too
        try:
            data = json.loads(json.dumps(every_round_at(claim, {}, place, onwards).certificate))
            for _ in range(rng.choice((1, 1, 2))):
                (scaled if rng.random() < 0.6 else changed_part)(data, rng)
            other = restated(data, claim)
        except REFUSED:  # says nothing
            continue
        attempt(table, KIND, other,
                lambda other=other, place=place, onwards=onwards: every_round_at(other, {}, place, onwards))
    return table


def attempt(table: Table, kind: str, claim: Claim, find: Callable[[], Any]) -> None:
    """Looks for a proof of a claim, which the checker judges, and random federations if it accepts it."""
    try:
        found = find().certificate
    except REFUSED:
        return
    proof = found and json.loads(json.dumps(found))
    result = table.judge(kind, proof, lambda: proof and replay_alone(proof))
    if result and result.accepted:
        table.accept(kind, proof, lambda: holds(proof, claim), str(claim.statement))


def holds(proof: dict[str, Any], claim: Claim) -> bool:
    """Whether random federations do not break what a proof states, over several numbers of rounds if it is for every number.

    Raises:
        NoOpinion: what it states has no value over runs, such as an index outside of them.
    """
    try:
        many = [over_rounds(proof, rounds) for rounds in ROUNDS] if proof["format"] == EVERY_ROUND else [proof]
        return not any(disproves(each, claim, 0) for each in many)
    except REFUSED as error:
        raise NoOpinion from error


def over_rounds(proof, rounds: int):
    """The same settings with so many rounds."""
    proof = copy.deepcopy(proof)
    for setting in proof["settings"]:
        sizes, values = setting["sizes"], setting["values"]
        sizes |= {"rounds": rounds, "iterations": rounds * sizes["local_steps"]}
        if isinstance(values.get("eta_l"), list):
            values["eta_l"] = values["eta_l"] * rounds
    return proof
