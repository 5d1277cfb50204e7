"""Splits the hypotheses into conditions on a number that is said to exist, and those that must hold for every value of it.

The stand-alone checker says which is which; here its answer is told of a claim, before there is a certificate.
"""

from typing import NamedTuple

import sympy as sp

from bounds.language.claim import Claim, Condition, names_in
from verify.checker.existential import ExistentialConstant
from verify.checker.schema import SIZES
from verify.claims.existential import without_position
from verify.claims.hypotheses import signs
from verify.claims.implicit import step_conditions
from verify.claims.sizes import integer_variables, once_by_claim
from verify.exact.statement import definition_of, statement_of

__all__ = ["ExistentialConditions", "existential_conditions"]


class ExistentialConditions(NamedTuple):
    """``values``: conditions on the number, which one value has to meet. ``every``: hypotheses that depend on the number and
    must hold for every value. ``others``: hypotheses that do not depend on it. Signs of names that the number determines are
    among them. ``defining``: name -> the hypothesis by which the number determines it."""

    values: tuple[Condition, ...]
    every: tuple[Condition, ...]
    others: tuple[Condition, ...]
    defining: dict[str, Condition]


@once_by_claim
def existential_conditions(claim: Claim) -> ExistentialConditions:
    """The hypotheses of a claim that a number exists, by what they are for that number."""
    claim = without_position(claim)
    stated = statement_of(claim)
    places = {name: definition_of(claim, name) for name in stated["free"]}
    places = {name: place for name, place in places.items() if place is not None}
    chosen = ExistentialConstant(stated | {"sizes": dict.fromkeys((*SIZES, "samples", *integer_variables(claim))),
                                           "values": places})
    defining = {name: claim.hypotheses[place["hypothesis"]] for name, place in places.items() if name in chosen.names}
    found: dict[str, list[Condition]] = {"values": [], "every": [], "others": []}
    for place, condition in enumerate(claim.hypotheses):
        if condition in defining.values():
            continue
        rule = stated["hypotheses"][place]
        mentioned = names_in(condition.left) | names_in(condition.right) | {
            name for _, *ends in condition.over for end in ends for name in names_in(end)}
        kind = "others" if not mentioned & chosen.names else "values" if chosen.is_condition(rule) else "every"
        found[kind].append(condition)
    for name, sign in _signs(claim).items():
        if name in chosen.names and name != claim.exists.name:
            found["values" if name in chosen.alone else "every"].append(sign)
    return ExistentialConditions(*map(tuple, found.values()), defining)


def _signs(claim: Claim) -> dict[str, Condition]:
    """The signs that names of numbers, and steps, must have."""
    found = {name: Condition(sp.Symbol(name, real=True), ">" if positive else ">=", 0) for name, positive in signs(claim)}
    if steps := step_conditions(claim):
        found["eta_l"] = steps[0]
    return found
