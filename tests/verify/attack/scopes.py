"""Attacks the scope of proofs: numbers tied to the rounds or clients that a proof has for every value of, settings at which
the statement says nothing, and proofs that claim to be for more rounds, clients or weights than they are."""

import copy
import json
import random
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from bounds.language.claim import Claim
from bounds.registry.claims import find_claim
from tests.verify.attack.every_round import over_rounds
from tests.verify.attack.second_opinion import disproves
from tests.verify.attack.table import Table
from verify.checker.rounds import FORMAT as EVERY_ROUND
from verify.exact.check import proof_scope, replay_alone
from verify.worst.every_round import every_round_at
from verify.worst.proven import TEMPLATES
from verify.worst.worst_case import worst_case

__all__ = ["EMPTIED", "ROUNDS", "TIED", "WIDENED", "attack_scopes", "emptied", "proofs_of_many", "tied", "widened"]

#: kinds of changes; TIED goes on with the size
EMPTIED, WIDENED, TIED = "range of the statement emptied", "scope widened", "free number tied to "

#: claims with proofs for every number of rounds and of clients
CLAIMS = ("classical/gd-distance", "classical/gd-nonconvex", "classical/sgd-distance", "classical/fedavg-round")
ROUNDS = (1, 2, 5)

#: hypotheses that leave a number T one value for each size, as (left, relation, right, over) with SIZE in place of the size
TIES = {
    "one equation": [("T", "==", "SIZE", [])],
    "two inequalities": [("T", "<=", "SIZE", []), ("SIZE", "<=", "T", [])],
    "a multiple": [(["*", 2, "T"], "==", ["*", 2, "SIZE"], [])],
    "a difference": [(["+", "T", ["*", -1, "SIZE"]], "==", 0, [])],
    "a reciprocal": [(["*", "T", ["^", "SIZE", -1]], "==", 1, [])],
    "an index": [("T", ">=", ["+", "i", 1], [["i", 0, ["+", -1, "SIZE"]]]), ("T", "<=", "SIZE", [])],
    "the end of a range": [("T", ">=", "i", [["i", "SIZE", "SIZE"]]), ("T", "<=", "i", [["i", "SIZE", "SIZE"]])],
    "a sum": [("T", "==", ["Sum", 1, "i", 1, "SIZE"], [])],
    "a largest value": [("T", "==", ["Max", "SIZE", 0], [])],
    "a square": [(["^", "T", 2], "==", ["^", "SIZE", 2], [])],
}


def tied(data: dict[str, Any], size: str, tie: str, integer: bool) -> dict[str, Any]:
    """A proof with a number T that hypotheses tie to a ``size``, ``rounds`` or ``clients``, and a right side that is as it
    was where T is the size of the setting, and falls below 0 where T is larger."""
    data = copy.deepcopy(data)

    def with_size(node):
        return size if node == "SIZE" else [with_size(part) for part in node] if isinstance(node, list) else node

    hypotheses = [{"left": with_size(left), "relation": relation, "right": with_size(right), "over": with_size(over),
                   "text": f"{tie} of T and {size}"} for left, relation, right, over in TIES[tie]]
    data["hypotheses"] = [*data["hypotheses"], *hypotheses]
    number = data["settings"][0]["sizes"][size]
    data["settings"] = [one for one in data["settings"] if one["sizes"][size] == number]
    data["free"] = data["free"] | {"T": []}
    smaller = ["+", number + 1, ["*", -1, "T"]]
    data["statement"] = data["statement"] | {"right": ["*", smaller, data["statement"]["right"]]}
    for setting in data["settings"]:
        setting["sizes" if integer else "values"] |= {"T": number if integer else str(number)}
    return data


def emptied(data: dict[str, Any]) -> dict[str, Any]:
    """A proof without inequalities, of a statement about no index."""
    data = copy.deepcopy(data)
    data["statement"]["over"] = [["i", 1, 0]]
    for setting in data["settings"]:
        setting["proofs"] = []
    return data


def widened(data: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A proof that says to be for more rounds, clients or weights."""
    data = copy.deepcopy(data)
    if data["format"] != EVERY_ROUND and rng.random() < 0.5:
        data["format"] = EVERY_ROUND
        for setting in data["settings"]:
            setting["potential"] = None
    for setting in data["settings"]:
        if rng.random() < 0.5:
            setting["weights"] = "any"
        setting.setdefault("degree", rng.randint(0, 2))
    return data


def proofs_of_many() -> Iterator[tuple[dict[str, Any], Claim]]:
    """Proofs at fixed sizes, for every number of clients, for every number of rounds, and for every number of both."""
    for claim in map(find_claim, CLAIMS):
        place = TEMPLATES[1]
        for found in (worst_case(claim, {}, place, factors=False), worst_case(claim, {}, place, factors=False, onwards=True),
                      every_round_at(claim, {}, place._replace(rounds=1)),
                      every_round_at(claim, {}, place._replace(rounds=1), onwards=True)):
            if found.certificate is not None:
                yield json.loads(json.dumps(found.certificate)), claim


def attack_scopes(given: Sequence[tuple[dict[str, Any], Claim]], count: int, seed: int) -> Table:
    """Changes the scope of ``count`` of the given proofs. Of these only widened ones may be accepted, if they hold."""
    rng, table = random.Random(seed), Table()
    for _ in range(count):
        data, claim = rng.choice(given)
        covered = [size for size, part in (("rounds", "every number of rounds"), ("clients", "every number of clients"))
                   if part in proof_scope(data)[0]]
        kind = rng.choice([EMPTIED, WIDENED, *covered])
        if kind in covered:
            other, kind = tied(data, kind, rng.choice([*TIES]), rng.random() < 0.5), TIED + kind
        else:
            other = emptied(data) if kind == EMPTIED else widened(data, rng)
        result = table.judge(kind, other, lambda other=other: replay_alone(other))
        if result is not None and result.accepted:
            table.accept(kind, other, partial(_may_hold, kind, other, claim))
    return table


def _may_hold(kind: str, data: dict[str, Any], claim: Claim) -> bool:
    return kind == WIDENED and not _is_false(data, claim)


def _is_false(data: dict[str, Any], claim: Claim) -> bool:
    """Whether random federations break the statement of an accepted proof, over several numbers of rounds where it is for
    every number."""
    counts = ROUNDS if data["format"] == EVERY_ROUND else (None,)
    return any(disproves(data if count is None else over_rounds(data, count), claim, 0) for count in counts)
