"""Operators of assumptions that are printed about a function ``f`` at all pairs of points ``u``, ``v`` of R^dim."""

from bounds.language.names import symbol
from bounds.language.operators import Operator

__all__ = ["f", "f_grad", "u", "v"]

f = Operator.row("f(u)", "the function at a point", "f(<0>)", "f(<0>)", takes=("vector",), gives="number")
f_grad = Operator.row("f_grad(u)", "its gradient, a vector", r"\nabla f(<0>)", "∇f(<0>)", takes=("vector",))
u, v = symbol("u"), symbol("v")  # points of R^dim
