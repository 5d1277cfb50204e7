"""Ways to prove goals about numbers: lemmas for what occurs in a goal, and sums of multiples of facts."""

from verify.checker.polynomials import Poly
from verify.prove.number_search import Search

__all__ = ["TACTICS"]


def by_combination(search: Search, relation: str, p: Poly, depth: int) -> bool:
    """The goal as a sum of products of facts, first of few."""
    return any(search.combine(relation, p, degree) for degree in (1, 2))


TACTICS = (by_combination,)
