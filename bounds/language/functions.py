"""Operators of assumptions that are printed about a function ``f`` at all pairs of points ``u``, ``v`` of R^dim."""

from __future__ import annotations

from bounds.language.names import symbol
from bounds.language.words import Operator

__all__ = ["f", "f_grad", "u", "v"]


class f(Operator):
    """``f(u)``: the function at a point."""

    nargs = 1
    latex_form = text_form = "f(<0>)"


class f_grad(Operator):
    """``f_grad(u)``: its gradient, a vector."""

    nargs = 1
    latex_form, text_form = r"\nabla f(<0>)", "∇f(<0>)"


u, v = symbol("u"), symbol("v")  # points of R^dim
