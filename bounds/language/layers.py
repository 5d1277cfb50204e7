"""Layers, into which the coordinates of the model are split."""

from bounds.language.names import symbol
from bounds.language.operators import FurtherOperator

__all__ = ["largest_sum", "layer_part", "layers", "share"]

layers = symbol("layers")  # number of layers
layer_part = FurtherOperator.row(
    "layer_part(l, v)", "the vector v with every layer but l set to zero", r"\left[<1>\right]_{<0>}", "[<1>]_<0>",
    indices=(0,), unit_powers=((1, 1),), takes=("index", "vector"), gives=1)
share = FurtherOperator.row(
    "share(a, b)", "a / b, and 0 where both are 0; of rounds that have no ratio, which kappa skips", r"\frac{<0>}{<1>}",
    "(<0>)/(<1>)", unit_powers=((0, 1), (1, -1)), takes=("number", "number"), gives="number")


class largest_sum(FurtherOperator):
    """``largest_sum(n, a, l, low, high)``: the sum of the n largest values that the number a takes for l = low .. high."""

    nargs = 5
    takes, gives = ("index", "number", "index", "index", "index"), "number"
    unit_powers = ((1, 1),)
    latex_form = r"\max_{S \subseteq \{<3>,\ldots,<4>\},\, |S| = <0>} \sum_{<2> \in S} \left(<1>\right)"
    text_form = "max_{S⊆{<3>…<4>}, |S|=<0>} Σ_{<2>∈S} (<1>)"

    @property
    def free_symbols(self):
        """All but l, which the word binds."""
        number, value, index, low, high = self.args
        return number.free_symbols | low.free_symbols | high.free_symbols | (value.free_symbols - {index})
