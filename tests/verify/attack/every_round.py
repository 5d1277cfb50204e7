"""Attacks proofs for every number of rounds: a changed statement that is proven anew must hold over several such numbers."""

import copy
import json
import random
from collections import Counter

from bounds.registry.claims import find_claim
from tests.verify.attack.mutants import changed_part, scaled
from tests.verify.attack.second_opinion import disproves, restated
from verify.exact.check import replay_alone
from verify.worst.every_round import at
from verify.worst.proven import PLACES

__all__ = ["ROUNDS", "attack_rounds", "over_rounds"]

#: claims that are proven for every number of rounds, and the numbers at which changed ones are looked at
CLAIMS = ("classical/gd-distance", "classical/gd-nonconvex", "classical/sgd-distance", "classical/drift-convex",
          "classical/fedavg-round", "classical/fedavg-round-dissimilar", "li2020/lemma-2")
ROUNDS = (1, 2, 3, 6)
_REFUSED = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)


def attack_rounds(count: int, seed: int) -> tuple[Counter, list[tuple[str, int, str]]]:
    """Change ``count`` claims, and look for proofs of what they say then.

    Returns how many were judged how, and what is wrong: triples (claim, rounds, statement) of proven statements that random
    federations break."""
    rng, judged, wrong = random.Random(seed), Counter(), []
    for number in range(count):
        claim, place = find_claim(rng.choice(CLAIMS)), rng.choice(PLACES)._replace(rounds=1)
        onwards = number % 2 == 0  # for every number of clients, too
        try:
            data = json.loads(json.dumps(at(claim, {}, place, onwards).certificate))
            for _ in range(rng.choice((1, 1, 2))):
                (scaled if rng.random() < 0.6 else changed_part)(data, rng)
            other = restated(data, claim)
            proof = at(other, {}, place, onwards).certificate
        except _REFUSED:
            judged["says nothing"] += 1
            continue
        proof = proof and json.loads(json.dumps(proof))
        if not proof or not replay_alone(proof).accepted:
            judged["not proven"] += 1
            continue
        judged["proven"] += 1
        judged["of every number of clients"] += any("degree" in setting for setting in proof["settings"])
        for rounds in ROUNDS:
            try:
                broken = disproves(over_rounds(proof, rounds), other, 0)
            except _REFUSED:  # a changed index lies outside of runs
                judged["not judged"] += 1
                break
            if broken:
                wrong.append((claim.id, rounds, str(other.statement)))
                break
    return judged, wrong


def over_rounds(proof, rounds: int):
    """The same settings with so many rounds."""
    proof = copy.deepcopy(proof)
    for setting in proof["settings"]:
        sizes, values = setting["sizes"], setting["values"]
        sizes |= {"rounds": rounds, "iterations": rounds * sizes["local_steps"]}
        if isinstance(values.get("eta_l"), list):
            values["eta_l"] = values["eta_l"] * rounds
    return proof
