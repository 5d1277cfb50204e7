"""Counterexamples of a claim's kin, where it may be false too: other readings of its statement, the steps of its proof, and
what it is a step of.

Kin are found by what claims say of each other, and looked at with the smallest budget whatever was decided before, so that a
verdict still depends on its claim and the seed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from functools import cache
from math import prod

import numpy as np

from bounds.language.claim import Claim
from bounds.registry.claims import all_claims
from verify.claims.method import speaks_of_trackers
from verify.claims.needs import speaks_of_samples
from verify.claims.sizes import possible
from verify.exact.confirm import Violation
from verify.instances.draw import draw_leaves, free_size_names
from verify.instances.instance import outcomes
from verify.instances.leaves import Leaves, floats, joined, take_rows
from verify.instances.offspring import offspring
from verify.instances.outcomes import chance_of
from verify.instances.shape import Shape

__all__ = ["handed_over", "kin", "remember", "remembered"]

_MOST = 5  # of a claim's kin of each kind
_ROWS, _CHILDREN = 16, 64  # instances made of each counterexample: with other numbers that it lacks, and near it

#: what the smallest budget found for registered claims, in this process
_FOUND: dict[tuple[Hashable, ...], Violation | None] = {}


def remember(claim: Claim, circumstances: tuple[Hashable, ...], violation: Violation | None) -> None:
    """Keep, for its kin, what the smallest budget finds for a registered claim, without its environment."""
    if all_claims().get(claim.id) is claim:
        _FOUND.setdefault((claim.id, *circumstances), violation and violation._replace(environment=None))


def remembered(claim: Claim, circumstances: tuple[Hashable, ...],
               find: Callable[[Claim], Violation | None]) -> Violation | None:
    """What was found for a registered claim, or what ``find`` finds now."""
    key = (claim.id, *circumstances)
    if key not in _FOUND:  # a search that ends remembers by itself
        remember(claim, circumstances, find(claim))
    return _FOUND[key]


@cache
def kin(claim_id: str) -> tuple[str, ...]:
    """Ids of a registered claim's kin that are about runs of the same method: readings of the same block, those first that
    differ in least, then the steps of its proof and what it is a step of, in readings that differ in least."""
    claims, claim = all_claims(), all_claims()[claim_id]
    chain = {*claim.steps, *(c.id for c in claims.values() if claim_id in c.steps)}
    blocks = {step.partition("@")[0] for step in chain} - {claim.block}
    others = sorted((_apart(claim_id, other.id), other.id) for other in claims.values()
                    if other.id != claim_id and _alike(claim, other))
    readings = [other for _, other in others if claims[other].block == claim.block]
    related = [other for _, other in others if claims[other].block in blocks]
    return tuple(readings[:_MOST] + related[:_MOST])


def _apart(one: str, other: str) -> int:
    """In how many words two ids name different readings."""
    first, second = ({*claim_id.partition("@")[2].split("+")} - {""} for claim_id in (one, other))
    return len(first ^ second)


def _alike(claim: Claim, other: Claim) -> bool:
    """Whether both are explicit statements about runs of one method, on clients without samples."""
    if other.statement is None or not other.explicit or claim.setting != "run" or other.setting != "run":
        return False
    if speaks_of_samples(claim) or speaks_of_samples(other):
        return False
    return claim.procedure is not None and other.procedure is not None and claim.procedure.base == other.procedure.base


def handed_over(claim: Claim, found: Callable[[Claim], object], rng: np.random.Generator, most_outcomes: int,
                ) -> Iterator[tuple[Shape, Leaves]]:
    """A batch of each counterexample that ``found`` answers for the claim's kin (None: there is none)."""
    claims = all_claims()
    if claims.get(claim.id) is not claim:
        return
    for name in kin(claim.id):
        violation = found(claims[name])
        shape = _shape(claim, violation.shape, most_outcomes) if violation is not None else None
        if shape is None:
            continue
        leaves, theirs = draw_leaves(claim, shape, _ROWS, rng), floats(violation.leaves)
        for leaf, array in theirs.items():
            if leaf == "half_tangent" or (leaf in leaves and leaves[leaf].shape[1:] == array.shape[1:]):
                leaves[leaf] = np.repeat(array, _ROWS, axis=0)
        yield shape, joined([leaves, offspring(claim, shape, take_rows(leaves, [0]), _CHILDREN, rng)])


def _shape(claim: Claim, theirs: Shape, most_outcomes: int) -> Shape | None:
    """The shape with the sizes that this claim speaks of; None where it cannot have them."""
    sizes = theirs.as_sizes()
    if any(name not in sizes for name in free_size_names(claim)) or theirs.sampling != claim.procedure.sampling:
        return None
    own = tuple((name, sizes[name]) for name in free_size_names(claim))
    own += (("trackers", sizes.get("trackers", theirs.most_trackers)),) if speaks_of_trackers(claim) else ()
    if theirs.free and not claim.procedure.free_clients:
        return None
    shape = replace(theirs, sizes=own, chance=chance_of(claim.procedure, claim.variables))
    return shape if possible(claim, shape.as_sizes()) and prod(outcomes(shape)) <= most_outcomes else None
