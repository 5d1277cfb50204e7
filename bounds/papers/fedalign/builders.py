"""Short ways to write FedALIGN's claims, and products of readings."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import product

from bounds.language.claim import Assumption, Claim, Procedure
from bounds.language.definitions import DEFINITIONS

__all__ = [
    "FEDALIGN", "INDICATORS", "PARTIAL", "algebra_claim", "all_readings", "indicator_readings", "point_claim",
    "run_claim", "with_G",
]

FEDALIGN = Procedure(free_clients=True)

#: sampled priority clients, arbitrary participation of the free ones (A.4)
PARTIAL = Procedure(free_clients=True, sampling="with-replacement", free="arbitrary")
run_claim = partial(Claim, setting="run", source="fedalign", procedure=FEDALIGN, definitions=DEFINITIONS)
point_claim = partial(Claim, setting="point", source="fedalign", definitions=DEFINITIONS)
algebra_claim = partial(Claim, setting="algebra", source="fedalign")

INDICATORS = {
    "broadcast": "indicator on the broadcast model",
    "local-at-aggregation": "indicator on each client's own model just before the aggregation",
    "local-every-step": "indicator on each client's own model at every local iteration",
}

#: one switch: name of the setting -> (in words, the claim under it); the first setting is the default
Axis = dict[str, tuple[str, Callable[[Claim], Claim]]]


def all_readings(base: Claim, *axes: Axis) -> tuple[Claim, ...]:
    """``base`` under every combination of the axes' settings; ids join what differs from the defaults with ``+``."""
    claims = []
    for choice in product(*(axis.items() for axis in axes)):
        claim = base
        for _, (_, change) in choice:
            claim = change(claim)
        names = [name for (name, _), axis in zip(choice, axes, strict=True) if name != next(iter(axis))]
        reading = "; ".join([*(words for _, (words, _) in choice if words), *([base.reading] if base.reading else [])])
        claims.append(replace(claim, id="@".join([base.id, "+".join(names)] if names else [base.id]), reading=reading))
    return tuple(claims)


def with_G(assumption: Assumption) -> Callable[[Claim], Claim]:
    """The claim under this reading of Assumption 4 in place of its own."""

    def change(claim: Claim) -> Claim:
        numbered = [a.id.startswith("fedalign/assumption-4") for a in claim.assumptions]
        first = numbered.index(True)
        others = [a for a, own in zip(claim.assumptions, numbered, strict=True) if not own]
        return replace(claim, assumptions=(*others[:first], assumption, *others[first:]))

    return change


def _with_indicator(name: str) -> Callable[[Claim], Claim]:
    return lambda claim: replace(claim, procedure=replace(claim.procedure, indicator=name))


indicator_readings: Axis = {name: (words, _with_indicator(name)) for name, words in INDICATORS.items()}
