"""What holds at all points of R^dim: the least value of a formula over them, and for which formulas it can be found."""

import sympy as sp

from bounds.language import words
from bounds.language.words import FurtherOperator

__all__ = ["infimum", "not_by_coordinates"]

infimum = FurtherOperator.row(
    "infimum(u, a)", "the infimum over all points u of R^dim of the number a", r"\inf_{<0>} \left(<1>\right)",
    "inf_<0> (<1>)", binds=0, unit_powers=((1, 1),), takes=("vector", "number"), gives="number")


def not_by_coordinates(a, u) -> sp.Expr | None:
    """The part of a number ``a`` for which it is no sum over coordinates of functions of one coordinate of the point u; None
    if there is none.

    Such are, of vectors that are sums of multiples of u, of gradients at u and of vectors without u, squared norms and inner
    products; losses at u; and sums of multiples of all these.
    """
    if u not in a.free_symbols:
        return None
    if isinstance(a, sp.Add):
        return next((part for term in a.args if (part := not_by_coordinates(term, u)) is not None), None)
    if isinstance(a, sp.Mul):
        with_u = [factor for factor in a.args if u in factor.free_symbols]
        return not_by_coordinates(with_u[0], u) if len(with_u) == 1 else a
    if isinstance(a, sp.Sum):
        return a if _in_limits(a, u) else not_by_coordinates(a.function, u)
    if isinstance(a, words.F | words.objective):
        return None if a.args[-1] == u and u not in sp.Tuple(*a.args[:-1]).free_symbols else a
    if isinstance(a, words.norm2 | words.dot):
        return next((vector for vector in a.args if not _linear(vector, u)), None)
    return a


def _in_limits(e, u) -> bool:
    return any(u in limit.free_symbols for triple in e.limits for limit in triple[1:])


def _linear(v, u) -> bool:
    """Whether a vector is a sum of multiples of u, of gradients at u and of vectors without u."""
    if v == u or u not in v.free_symbols:
        return True
    if isinstance(v, sp.Add):
        return all(_linear(term, u) for term in v.args)
    if isinstance(v, sp.Mul):
        with_u = [factor for factor in v.args if u in factor.free_symbols]
        return len(with_u) == 1 and _linear(with_u[0], u)
    if isinstance(v, sp.Sum):
        return not _in_limits(v, u) and _linear(v.function, u)
    if isinstance(v, words.grad | words.objective_grad):
        return v.args[-1] == u and u not in sp.Tuple(*v.args[:-1]).free_symbols
    return False
