"""Operators of assumptions that are printed about a function ``f`` at all pairs of points ``u``, ``v`` of R^dim."""

from bounds.language import operators
from bounds.language.names import symbol
from bounds.language.operators import Operator
from bounds.language.space import at_all_points

__all__ = ["f", "f_grad", "of_a_client", "u", "v"]

f = Operator.row("f(u)", "the function at a point", "f(<0>)", "f(<0>)", takes=("vector",), gives="number")
f_grad = Operator.row("f_grad(u)", "its gradient, a vector", r"\nabla f(<0>)", "∇f(<0>)", takes=("vector",))
u, v = symbol("u"), symbol("v")  # points of R^dim


def of_a_client(left, sign: str, right) -> tuple:
    """An inequality (left, sign, right) about ``f`` at all points, as one about the loss of client ``k`` without points."""
    def of_client(side):
        side = side.replace(f, lambda at: operators.F(operators.k, at))
        return side.replace(f_grad, lambda at: operators.grad(operators.k, at))

    left, right = of_client(left), of_client(right)
    at = [point for point in (u, v) if point in left.free_symbols | right.free_symbols]
    left, right = at_all_points(at, left, f"{sign[0]}=", right)
    return left, sign, right
