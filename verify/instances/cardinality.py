"""0/1 arrays with a prescribed number of ones (as in sum_l m_l = s): projects drawn and mutated arrays onto it."""

from collections.abc import Iterator
from itertools import product

import numpy as np
import sympy as sp

from bounds.language.claim import Claim, Condition
from verify.claims.sizes import once_by_claim
from verify.instances.parameters import Parameters
from verify.instances.shape import Shape

__all__ = ["with_counts"]


@once_by_claim
def _counted(claim: Claim) -> tuple[tuple[Condition, str], ...]:
    """Conditions ``sum over the last index of a free array of truth values == number``, with the array's name."""
    free = {v.name for v in claim.variables if v.domain == "binary" and v.indices}
    found = []
    for condition in claim.conditions:
        left = condition.left
        if condition.relation != "==" or not isinstance(left, sp.Sum) or len(left.args) != 2:
            continue
        term, (index, low, _) = left.args
        if (isinstance(term, sp.Indexed) and str(term.base.label) in free and term.indices[-1] == index and low == 0
                and not any(i.has(index) for i in term.indices[:-1])):
            found.append((condition, str(term.base.label)))
    return tuple(found)


def _whole(expression, sizes) -> int | None:
    """The value of an expression in sizes; None where it is no whole number."""
    value = sp.sympify(expression).subs({s: sizes[s.name] for s in expression.free_symbols if s.name in sizes})
    return int(value) if value.is_Integer else None


def _places(condition: Condition, sizes: dict[str, int]) -> Iterator[tuple[tuple[int, ...], int]]:
    """The places of the rows that a condition counts, and how many entries of each must be true."""
    indices, ranges = [], []
    for index, low, high in condition.over:
        ends = _whole(low, sizes), _whole(high, sizes)
        if None in ends:
            return
        indices.append(index)
        ranges.append(range(ends[0], ends[1] + 1))
    term = condition.left.args[0]
    for values in product(*ranges):
        here = dict(zip(indices, values, strict=True))
        place = tuple(_whole(i.subs(here), sizes) for i in term.indices[:-1])
        number = _whole(condition.right.subs(here), sizes)
        if number is not None and None not in place:
            yield place, number


def with_counts(claim: Claim, shape: Shape, params: Parameters, rng: np.random.Generator) -> Parameters:
    """Makes as many of the claim's truth values true as its conditions say. Rows with the right number stay; in others the
    fewest entries change, drawn at random."""
    counted = _counted(claim)
    if not counted:
        return params
    changed, sizes = dict(params), shape.as_sizes()
    for condition, name in counted:
        array = changed[name].copy()
        for place, number in _places(condition, sizes):
            row = array[(slice(None), *place)]
            rank = np.argsort(np.argsort(-(row + 0.5 * rng.random(row.shape)), axis=1), axis=1)
            array[(slice(None), *place)] = rank < number
        changed[name] = array
    return changed
