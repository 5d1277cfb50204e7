"""Arithmetic on vectors by coordinates."""

import sympy as sp

from bounds.language.operators import FurtherOperator

__all__ = ["first_least", "highest", "least", "norm1", "norm_inf", "raised", "reciprocal", "root", "scaled", "square",
           "upper"]

scaled = FurtherOperator.row(
    "scaled(u, w, a)", "u / (w + a) by coordinates, with 0/0 = 0; w is a vector or a number, a is a number",
    r"\frac{<0>}{<1> + <2>}", "(<0>) ⊘ (<1> + <2>)", unit_powers=((0, 1), (1, -1)), alike=(1, 2),
    takes=("either", "either", "number"), gives="vector")
reciprocal = FurtherOperator.row("reciprocal(w, a)", "the vector with coordinates 1 / (w + a)", r"\frac{1}{<0> + <1>}",
                                 "1 ⊘ (<0> + <1>)", unit_powers=((0, -1),), alike=(0, 1), takes=("either", "number"),
                                 gives="vector")
root = FurtherOperator.row("root(v)", "square roots by coordinates", r"\sqrt{<0>}", "√(<0>)",
                           unit_powers=((0, sp.Rational(1, 2)),), takes=("vector",))
square = FurtherOperator.row("square(v)", "squares by coordinates", r"\left(<0>\right)^{\odot 2}", "(<0>)⊙²",
                             unit_powers=((0, 2),), takes=("vector",))
highest = FurtherOperator.row(
    "highest(i, low, high, v)", "the largest v for i = low .. high, by coordinates; of numbers, the largest number",
    r"\max_{<1> \le <0> \le <2>} <3>", "max_{<1>≤<0>≤<2>} <3>", binds=0, unit_powers=((3, 1),),
    takes=("index", "index", "index", "either"), gives=3)
first_least = FurtherOperator.row(
    "first_least(i, low, high, a, v)", "v at the index i = low .. high where the number a is least, the first of several",
    r"\left.<4>\right|_{<0> = \operatorname{arg\,min}_{<1> \le <0> \le <2>} <3>}", "<4> at <0> = argmin_{<1>≤<0>≤<2>} (<3>)",
    binds=0, unit_powers=((4, 1),), takes=("index", "index", "index", "number", "either"), gives=4)
upper = FurtherOperator.row(
    "upper(v, w)", "the larger of two vectors, by coordinates; of two numbers, the larger one",
    r"\max\left(<0>, <1>\right)", "max(<0>, <1>)", unit_powers=((0, 1),), alike=(0, 1), takes=("either", "same"))
raised = FurtherOperator.row("raised(v, a)", "the number a added to every coordinate of v", r"\left(<0> + <1>\right)",
                             "(<0> + <1>)", unit_powers=((0, 1),), alike=(0, 1), takes=("vector", "number"))
least = FurtherOperator.row("least(v)", "the smallest coordinate of a vector", r"\min_c \left[<0>\right]_c", "min_c [<0>]_c",
                            unit_powers=((0, 1),), takes=("vector",), gives="number")
norm1 = FurtherOperator.row("norm1(v)", "sum of the absolute coordinates of a vector", r"\left\|<0>\right\|_{1}", "‖<0>‖₁",
                            unit_powers=((0, 1),), takes=("vector",), gives="number")
norm_inf = FurtherOperator.row("norm_inf(v)", "largest absolute coordinate of a vector", r"\left\|<0>\right\|_{\infty}",
                               "‖<0>‖_∞", unit_powers=((0, 1),), takes=("vector",), gives="number")
