"""Certificates of claims about numbers and vectors, for the stand-alone checker.

Nothing here is trusted: each step is tried on the checker's own state before it is written, and the certificate is checked
as a whole.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import count
from json import dumps
from typing import Any

from bounds.language.claim import Claim
from verify.checker import number_proof as checker
from verify.checker import polynomials
from verify.exact.statement import statement_of
from verify.prove.number_losses import add_weight_facts
from verify.prove.number_search import REFUSALS, Search
from verify.prove.number_tactics import RUN_TACTICS, TACTICS

__all__ = ["SPENT", "number_certificate", "without_unused_steps"]

#: the work of a replay that is not available to a search for a proof about runs: proofs that were found took less than 1/4
SPENT = polynomials.WORK * 3 // 4
_LONG = 12  # steps from which on a proof is shortened
_FIRST = 3  # values of a whole number that get a proof each


@lru_cache(256)
def number_certificate(claim: Claim) -> dict[str, Any] | None:
    """A certificate of a claim about numbers and vectors that the checker accepts; None where none is found."""
    if claim.statement is None or claim.exists is not None or not claim.explicit:
        return None
    stated = statement_of(claim)
    for proof in _proofs(stated):
        for each in (without_unused_steps(proof), proof):
            data = {"format": checker.FORMAT, **stated, "proof": each}
            try:
                if checker.check(data)[0]:
                    return data
            except REFUSALS:
                continue
    return None


def without_unused_steps(proof):
    """Removes steps to which no later one refers by name. Short ones stay, as a step may need them without naming them."""
    if "steps" not in proof or len(proof["steps"]) < _LONG:
        return proof
    needed, kept = set(), []
    for step in reversed(proof["steps"]):
        if step["name"] in needed or not kept or step["by"] in ("instance", "evident") or (
                step["by"] == "identity" and not step["terms"]) or step.get("lemma") == "divisor":
            needed |= {*_texts(step)}
            kept.append(step)
    return {**proof, "steps": kept[::-1]}


def _texts(node) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _texts(part)


def _proofs(stated) -> Iterator[dict[str, Any]]:
    effort = count()
    put = {rule["left"]: n for n, rule in enumerate(stated["hypotheses"])
           if rule["relation"] == "==" and isinstance(rule["left"], str) and not rule["over"]}
    for chosen in dict.fromkeys((frozenset(put.items()), frozenset())):
        try:
            found = _direct_proof(stated, dict(chosen), {}, {}, effort)
        except (*REFUSALS, TimeoutError):
            continue
        if found is not None:
            yield found


    for rule in stated["hypotheses"]:
        name, low = rule["left"], rule["right"]
        if rule["relation"] == ">=" and isinstance(name, str) and type(low) is int and not rule["over"]:
            try:
                found = _by_cases(stated, put, name, low, effort)
            except (*REFUSALS, TimeoutError):
                continue
            if found is not None:
                yield found


def _by_cases(stated, put, name: str, low: int, effort: Iterator[int]):
    """Finds a proof for each of the first values of a whole number, and one for all larger ones."""
    if not any(["Mod", name, 1] == rule["left"] for rule in stated["hypotheses"]) or f'"{name}"' not in dumps(
            [part for part in _exponents(stated["statement"])]):
        return None
    first = []
    for value in range(low, low + _FIRST):
        first.append(_direct_proof(stated, put, {name: value}, {}, effort))
        if first[-1] is None:
            return None
    rest = _direct_proof(stated, put, {}, {name: low + _FIRST}, effort)
    return rest and {"cases": name, "from": low, "first": first, "rest": rest}


def _exponents(node) -> Iterator[Any]:
    """The exponents in formulas."""
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        if isinstance(part, list) and part[:1] == ["^"]:
            yield part[2]
        yield from _exponents(part)


def _direct_proof(stated, put, numbers, least, effort: Iterator[int]):
    polynomials.meter.spent = SPENT if stated["setting"] == "run" else 0
    given = {**numbers, **{name: checker.definition_of(stated, name, n) for name, n in put.items()}}
    known, reader = checker.read_hypotheses(stated, given, least)
    names: dict = {}
    for name, low, high in stated["statement"]["over"]:
        _, known, names = checker.enter_range(reader, known, names, name, low, high)
    search = Search(reader, known, names, effort, RUN_TACTICS if reader.run else TACTICS)
    if reader.federation:
        add_weight_facts(search)
    reader.assumed = []
    try:
        reader.read_comparison(checker.compared_sides(stated["statement"]), search.known, names)
        needed = reader.assumed
    finally:
        reader.assumed = None
    if not all(search.prove(need.relation, need.poly) for need in needed):
        return None
    relation, p = reader.read_comparison(checker.compared_sides(stated["statement"]), search.known, names)
    return {"put": put, "steps": search.steps} if search.prove(relation, p) else None
