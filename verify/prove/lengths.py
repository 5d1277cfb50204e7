"""Inequalities between lengths of vectors: by their squares, and by triangle inequalities."""

from collections.abc import Callable

import sympy as sp

from bounds.language import operators
from bounds.language.claim import Condition
from verify.prove.normal import expanded
from verify.prove.satisfiable import Fact

__all__ = ["shorter"]

_DEPTH = 3  # triangle inequalities, one after another


def shorter(gap, context, proof: Callable, depth: int = _DEPTH) -> tuple[Fact, ...] | None:
    """Facts from which it follows that a sum of multiples of lengths is at least 0, where one factor is below 0; None where
    the gap is something else, or no proof is found. That length is compared with each other one by their squares; else its
    vector is a multiple of another one's and a rest, so that triangle inequalities bound it."""
    lengths = sorted(gap.atoms(operators.norm), key=sp.default_sort_key)
    if not lengths:
        return None
    names = {n: sp.Dummy() for n in lengths}
    try:
        linear = sp.Poly(gap.xreplace(names), *names.values())
    except sp.PolynomialError:
        return None
    factors = {n: linear.coeff_monomial(name) for n, name in names.items()}
    if linear.total_degree() != 1 or linear.coeff_monomial(1) != 0 or linear.has(*names):
        return None
    negative = [n for n, c in factors.items() if not context.holds(c)]
    if len(negative) != 1 or not context.holds(-factors[negative[0]]):
        return None
    (long,), normal = negative, context.normal
    vector, factor = normal.vector(long.args[0]), -factors[long]
    others = {n: c for n, c in factors.items() if n is not long}
    for n, c in others.items():
        u = normal.vector(n.args[0])
        square = normal.number(c**2 * normal.inner(u, u) - factor**2 * normal.inner(vector, vector))
        found = proof(square)
        if found is not None:
            return (Fact("lengths are compared by their squares", _at_most(factor * long, c * n)), *found)
    for n in others if depth else ():
        for rest, share in _without(vector, normal.vector(n.args[0])):
            if not context.has_value(share):
                continue
            size = share if context.holds(share) else -share if context.holds(-share) else sp.Abs(share)
            above = normal.length(rest) + size * n
            left = expanded(gap + factor * long - factor * above)
            found = () if left == 0 else shorter(left, context, proof, depth - 1)
            if found is not None:
                return (Fact("triangle inequality", _at_most(long, above)), *found)
    return None


def _without(vector, other):
    """Yield the remainders of a vector after a multiple of another cancels one of its symbols, each with that multiple."""
    seen = set()
    for letter in vector.keys() & other.keys():
        share = sp.cancel(vector[letter] / other[letter])
        if share in seen:
            continue
        seen.add(share)
        rest = {v: expanded(vector.get(v, 0) - share * other.get(v, 0)) for v in {**vector, **other}}
        rest = {v: c for v, c in rest.items() if sp.cancel(c) != 0}
        if rest and len(rest) <= len(vector):
            yield rest, share


def _at_most(left, right) -> Condition:
    return Condition(left, "<=", right)
