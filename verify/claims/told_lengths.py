"""Equations that tell the length of a free vector, as ``norm2(a - b) == 1``, and those that say what it is orthogonal to."""

from collections.abc import Iterator
from typing import NamedTuple

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Claim, Condition
from verify.claims.hypotheses import equations
from verify.claims.sizes import once_by_claim

__all__ = ["ToldLength", "told_lengths"]


class ToldLength(NamedTuple):
    """An equation that tells the length of ``factor * name + rest``; the vector ``name`` is free, the factor 1 or -1.

    ``length``: what is told, the square of the length if ``squared``. ``orthogonal``: names of vectors of told lengths to
    which the vector is orthogonal.
    """

    name: str
    factor: int
    rest: sp.Expr
    length: sp.Expr
    squared: bool
    orthogonal: tuple[str, ...] = ()


@once_by_claim
def told_lengths(claim: Claim) -> tuple[ToldLength, ...]:
    """The lengths of free vectors that the hypotheses tell, each vector once, after those that its equation mentions."""
    free = [v.name for v in claim.variables if v.domain == "vector" and not v.indices]
    found: list[ToldLength] = []
    for c in equations(claim) if free else ():
        told = next(_lengths(c, [name for name in free if name not in {one.name for one in found}]), None)
        if told is not None:
            beside = () if told.rest != 0 else tuple(
                one.name for one in found if one.rest == 0 and _is_orthogonal(claim, one.name, told.name))
            found.append(told._replace(orthogonal=beside))
    return tuple(found)


def _lengths(c: Condition, free: list[str]) -> Iterator[ToldLength]:
    """Yield what an equation tells of the length of a free vector, of several the last one first."""
    for side, other in ((c.left, c.right), (c.right, c.left)):
        if c.over or not isinstance(side, operators.norm | operators.norm2):
            continue
        vector, length = sp.expand(side.args[0]), sp.sympify(other)
        symbols = {s.name: s for s in vector.free_symbols}
        for name in reversed([name for name in free if name in symbols]):
            symbol = symbols[name]
            factor = vector.coeff(symbol)
            rest = sp.expand(vector - factor * symbol)
            if factor in (1, -1) and symbol not in rest.free_symbols | length.free_symbols:
                yield ToldLength(name, int(factor), rest, length, isinstance(side, operators.norm2))


def _is_orthogonal(claim: Claim, one: str, other: str) -> bool:
    sides = [side for c in equations(claim) if not c.over and 0 in (c.left, c.right) for side in (c.left, c.right)]
    return any(isinstance(side, operators.dot) and {str(v) for v in side.args} == {one, other} for side in sides)
