"""Words for assumptions printed about a function ``f`` at all pairs of points ``u``, ``v`` of R^dim."""

from __future__ import annotations

import sympy as sp

from bounds.language.words import _Word

__all__ = ["f", "f_grad", "u", "v"]


class f(_Word):
    """``f(u)``: the function at a point."""

    nargs = 1


class f_grad(_Word):
    """``f_grad(u)``: its gradient, a vector."""

    nargs = 1


u, v = sp.Symbol("u", real=True), sp.Symbol("v", real=True)  # points of R^dim
