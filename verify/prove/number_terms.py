"""Finds the atoms of goals, and instantiates facts at the indices that occur in them."""

from collections.abc import Iterator
from functools import lru_cache

from verify.checker.polynomials import Poly, has, of_atom
from verify.prove.number_search import Search

__all__ = ["all_atoms", "free_indices", "instantiate_ranged", "is_closed"]


def instantiate_ranged(search: Search, p: Poly) -> Iterator[bool]:
    """Instantiates facts for all indices at the indices of entries in the goal; yields once, after that."""
    wanted = {a for a in all_atoms(p) if a[0] in ("entry", "vector") and is_closed(a)}
    for name, fact in [*search.known.facts.items()]:
        if not fact.ranges:
            continue
        for entry in {a for a in all_atoms(fact.poly) if a[0] == "entry"}:
            for other in sorted(wanted, key=repr):
                if other[:2] != entry[:2]:
                    continue
                places = _match_indices(entry[2:], other[2:], [atom for atom, *_ in fact.ranges])
                if places is not None:
                    search.step("instance", fact=name, at=[search.formula(place) for place in places])
    yield True


def is_closed(a) -> bool:
    """Whether an atom has no index of an enclosing sum."""
    return not free_indices(a)


@lru_cache(100_000)
def free_indices(part) -> frozenset:
    """The indices of enclosing sums in a part."""
    if isinstance(part, Poly):
        return frozenset().union(*(free_indices(a) for m in part.terms for a, _ in m))
    if not isinstance(part, tuple):
        return frozenset()
    if part[:1] == ("bound",):
        return frozenset([part])
    found = frozenset().union(*map(free_indices, part))
    return found - {part[-1]} if part[:1] in (("Sum",), ("Product",), ("vsum",)) else found


def _match_indices(own, others, indices):
    """The values of the indices at which the places of an entry are those of another; None if there are none."""
    found = {}
    for q, place in zip(own, others, strict=True):
        for index in indices:
            if has(q, index) and index not in found:
                found[index] = place - (q - of_atom(index))
    if {*found} != {*indices} or any(has(p, index) for p in found.values() for index in indices):
        return None
    return [found[index] for index in indices]


def all_atoms(part) -> set:
    """The atoms in a polynomial, also those within others."""
    if isinstance(part, Poly):
        return set().union(*({a} | all_atoms(a) for m in part.terms for a, _ in m))
    if not isinstance(part, tuple) or not part:
        return set()
    return ({part} if isinstance(part[0], str) else set()).union(*map(all_atoms, part))
