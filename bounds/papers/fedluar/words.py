"""Words of FedLUAR's claims beyond the common language: layers, and the arrays of the method's state."""

from __future__ import annotations

import sympy as sp

from bounds.language.words import PaperWord

__all__ = [
    "applied_update", "eta", "initial_update", "kappa", "largest_sum", "layer", "layer_part", "layers", "masks",
    "recycled", "recycled_set", "score", "score_floor", "share", "sigma_g_max", "sigma_g_sq", "source_round",
    "staleness",
]


def _indexed(name):
    return sp.IndexedBase(name, real=True)


layer, source_round = sp.Symbol("l", integer=True), sp.Symbol("s", integer=True)  # indices: of layers; of earlier rounds
layers = sp.Symbol("layers", integer=True, positive=True)  # number of layers, into which the coordinates are split

# state of the method, before round r (layers l count from 0)
recycled_set = _indexed("server_recycle_set")  # [r, l]: 1 if layer l is recycled in round r, else 0
staleness = _indexed("server_age")  # [r + 1, l]: rounds for which the update of layer l applied in round r is old
score = _indexed("server_score")  # [r + 1, l]: score of layer l after round r
applied_update = _indexed("server_applied_update")  # [r + 1]: the displacement applied in round r

# hyper-parameters and constants
eta = sp.Symbol("eta", positive=True)  # the local step size at all times
recycled = sp.Symbol("recycled", integer=True, nonnegative=True)  # layers recycled per round
masks = _indexed("masks")  # [r, l]: the layers recycled in round r, where they are given
score_floor = sp.Symbol("score_floor", positive=True)  # least score of a layer
initial_update = sp.Symbol("initial_update", real=True)  # a vector: what is recycled in round 0, where anything is
kappa = sp.Symbol("kappa", nonnegative=True)  # share of the recycled layers
sigma_g_sq = sp.Symbol("sigma_g_sq", nonnegative=True)  # bound on the squared deviation of clients' gradients
sigma_g_max = sp.Symbol("sigma_g_max", nonnegative=True)  # sup over clients k and points v of |grad F_k(v) - grad F(v)|


class layer_part(PaperWord):
    """``layer_part(l, v)``: the vector v with every layer but l set to zero."""

    nargs = 2
    indices = 1
    unit_of = 1
    latex_form, text_form = r"\left[<1>\right]_{<0>}", "[<1>]_<0>"


class share(PaperWord):
    """``share(a, b)``: a / b, and 0 where both are 0; of rounds that have no ratio, which kappa skips."""

    nargs = 2
    unit_powers = ((0, 1), (1, -1))
    latex_form, text_form = r"\frac{<0>}{<1>}", "(<0>)/(<1>)"


class largest_sum(PaperWord):
    """``largest_sum(n, a, l, low, high)``: the sum of the n largest values that the number a takes for l = low .. high."""

    nargs = 5
    unit_of = 1
    latex_form = r"\max_{S \subseteq \{<3>,\ldots,<4>\},\, |S| = <0>} \sum_{<2> \in S} \left(<1>\right)"
    text_form = "max_{S⊆{<3>…<4>}, |S|=<0>} Σ_{<2>∈S} (<1>)"

    @property
    def free_symbols(self):
        """All but l, which the word binds."""
        number, value, index, low, high = self.args
        return number.free_symbols | low.free_symbols | high.free_symbols | (value.free_symbols - {index})
