"""The witness of a claim that a number exists: the claim with that value put in, as a reading of its own."""

from collections.abc import Iterable
from dataclasses import replace

import sympy as sp

from bounds.language.claim import Claim, Condition, names_in

__all__ = ["inside", "with_witnesses", "witness_id", "witnessed"]


def witness_id(claim: Claim) -> str:
    """The id of the claim with the witness put in."""
    return f"{claim.id}{'+' if '@' in claim.id else '@'}{claim.exists.reading_id}"


def witnessed(claim: Claim) -> Claim:
    """The claim with its witness put in: every hypothesis and the statement for that value alone.

    Where it holds, and the witness lies in the interval and meets the conditions on the number, the number exists. Where it
    fails, another value may do.

    Raises:
        ValueError: the claim names no witness.
    """
    exists = claim.exists
    if exists is None or exists.witness is None:
        raise ValueError(f"{claim.id} names no witness")
    symbols = {s for formula in claim.formulas for s in formula.free_symbols if s.name == exists.name and s.is_Symbol}
    value = Condition(min(symbols, key=str, default=sp.Symbol(exists.name, real=True)), "==", exists.witness)
    uses = [n for n, c in enumerate(claim.conditions) if exists.name in names_in(c.left) | names_in(c.right)]
    first = uses[0] if uses else len(claim.conditions)
    not_empty = [] if (exists.low - exists.high).is_negative else [exists.not_empty]
    reading = exists.reading or f"{claim.reading}, with {exists.name} = {exists.witness}"
    return replace(claim, id=witness_id(claim), exists=None, reading=reading,
                   conditions=(*claim.conditions[:first], value, *claim.conditions[first:], *not_empty))


def with_witnesses(claims: Iterable[Claim]) -> list[tuple[int, Claim]]:
    """The claims, each with the claim behind it that has its witness put in, unless a claim has that id already; with the
    place of the claim from which it comes."""
    claims = list(claims)
    known, found = {claim.id for claim in claims}, []
    for place, claim in enumerate(claims):
        found.append((place, claim))
        if claim.exists is not None and claim.exists.witness is not None and witness_id(claim) not in known:
            found.append((place, witnessed(claim)))
    return found


def inside(claim: Claim) -> tuple[Condition, Condition]:
    """The two conditions that the witness lies in its interval: above the lower end and below the upper one."""
    exists = claim.exists
    return (Condition(exists.witness, ">" if exists.open_low else ">=", exists.low),
            Condition(exists.witness, "<" if exists.open_high else "<=", exists.high))
