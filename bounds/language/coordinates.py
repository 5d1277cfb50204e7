"""Arithmetic on vectors by coordinates."""

from __future__ import annotations

import sympy as sp

from bounds.language.words import FurtherOperator

__all__ = ["highest", "least", "raised", "reciprocal", "root", "scaled", "square", "upper"]


class scaled(FurtherOperator):
    """``scaled(u, w, a)``: u / (w + a) by coordinates, with 0/0 = 0; w is a vector or a number, a is a number."""

    nargs = 3
    unit_powers = ((0, 1), (1, -1))
    alike = (1, 2)
    latex_form, text_form = r"\frac{<0>}{<1> + <2>}", "(<0>) ⊘ (<1> + <2>)"


class reciprocal(FurtherOperator):
    """``reciprocal(w, a)``: the vector with coordinates 1 / (w + a)."""

    nargs = 2
    unit_powers = ((0, -1),)
    alike = (0, 1)
    latex_form, text_form = r"\frac{1}{<0> + <1>}", "1 ⊘ (<0> + <1>)"


class root(FurtherOperator):
    """``root(v)``: square roots by coordinates."""

    nargs = 1
    unit_powers = ((0, sp.Rational(1, 2)),)
    latex_form, text_form = r"\sqrt{<0>}", "√(<0>)"


class square(FurtherOperator):
    """``square(v)``: squares by coordinates."""

    nargs = 1
    unit_powers = ((0, 2),)
    latex_form, text_form = r"\left(<0>\right)^{\odot 2}", "(<0>)⊙²"


class highest(FurtherOperator):
    """``highest(i, low, high, v)``: the largest v for i = low .. high, by coordinates; of numbers, the largest number."""

    nargs = 4
    binds = 0
    unit_powers = ((3, 1),)
    latex_form, text_form = r"\max_{<1> \le <0> \le <2>} <3>", "max_{<1>≤<0>≤<2>} <3>"


class upper(FurtherOperator):
    """``upper(v, w)``: the larger of two vectors, by coordinates; of two numbers, the larger one."""

    nargs = 2
    unit_powers = ((0, 1),)
    alike = (0, 1)
    latex_form, text_form = r"\max\left(<0>, <1>\right)", "max(<0>, <1>)"


class raised(FurtherOperator):
    """``raised(v, a)``: the number a added to every coordinate of v."""

    nargs = 2
    unit_powers = ((0, 1),)
    alike = (0, 1)
    latex_form, text_form = r"\left(<0> + <1>\right)", "(<0> + <1>)"


class least(FurtherOperator):
    """``least(v)``: the smallest coordinate of a vector."""

    nargs = 1
    unit_powers = ((0, 1),)
    latex_form, text_form = r"\min_c \left[<0>\right]_c", "min_c [<0>]_c"
