"""Words of this paper's claims beyond the common language: the methods' states, and runs on two neighbouring data sets.

The coupled ("twin") run uses the data set in which one sample of one client is another; client and sample are any fixed
ones. It shares the start, the sampling of clients and the sample indices with the run itself. None of its names, nor the
words about samples, is measured yet.
"""

from __future__ import annotations

import sympy as sp

from bounds.language.words import PaperWord

__all__ = [
    "E_data", "E_unused", "F_pop", "G_lip", "H_loss", "client_dual", "differing", "samples", "server_duals",
    "server_x_bar", "twin_server_duals", "twin_server_x_bar", "twin_x_before", "twin_x_local", "twin_x_round",
    "worst_mean_gap", "worst_mean_signed_gap",
]


def _indexed(name):
    return sp.IndexedBase(name, real=True)


# states of the methods, before round r
server_duals = _indexed("server_duals")  # [r, k]: dual of client k, which the server of A-FedPD keeps
server_x_bar = _indexed("server_x_bar")  # [r]: A-FedPD's average of the active local models of the round before
client_dual = _indexed("client_dual")  # [r, k]: dual that client k of FedPD, FedADMM or FedDyn keeps

# data
samples = sp.Symbol("samples", integer=True, positive=True)  # samples per client
G_lip = sp.Symbol("G_lip", nonnegative=True)  # Lipschitz constant of every sample's loss
H_loss = sp.Symbol("H_loss", positive=True)  # supremum of the loss over all models and samples
differing = _indexed("differing")  # [k]: 1 for the client that has the differing sample, else 0

# the coupled run
twin_x_round = _indexed("twin_x_round")  # [r], as x_round
twin_x_local = _indexed("twin_x_local")  # [t, k], as x_local
twin_x_before = _indexed("twin_x_before")  # [t, k], as x_before
twin_server_duals = _indexed("twin_server_duals")  # [r, k], as server_duals
twin_server_x_bar = _indexed("twin_server_x_bar")  # [r], as server_x_bar


class E_data(PaperWord):
    """``E_data(a)``: expectation over data sets, and over all chance of the runs on them."""

    nargs = 1
    unit_of = 0
    latex_form, text_form = r"\mathbb{E}_{\mathcal{A},\mathcal{C}}\left[<0>\right]", "𝔼_{A,C}[<0>]"


class E_unused(PaperWord):
    """``E_unused(r, a)``: expectation given that the differing sample is not used in the rounds before round r."""

    nargs = 2
    indices = 1
    unit_of = 1
    latex_form, text_form = r"\mathbb{E}\left[<1> \mid \zeta_{<0>}\right]", "𝔼[<1> | ζ_<0>]"


class F_pop(PaperWord):
    """``F_pop(v)``: population risk at v, the mean over clients of the expected loss of a fresh sample."""

    nargs = 1
    latex_form, text_form = r"F_{\mathcal{D}}\left(<0>\right)", "F_D(<0>)"


class worst_mean_gap(PaperWord):
    """``worst_mean_gap(v, w)``: the supremum over samples z, and over neighbouring data sets, of E|l(v; z) - l(w; z)|."""

    nargs = 2
    latex_form = r"\sup_{\xi} \mathbb{E}\left[\left|f(<0>, \xi) - f(<1>, \xi)\right|\right]"
    text_form = "sup_ξ 𝔼[|f(<0>, ξ) − f(<1>, ξ)|]"


class worst_mean_signed_gap(PaperWord):
    """``worst_mean_signed_gap(v, w)``: the supremum over samples z, and over neighbouring data sets, of
    E(l(v; z) - l(w; z))."""

    nargs = 2
    latex_form = r"\sup_{\xi} \mathbb{E}\left[f(<0>, \xi) - f(<1>, \xi)\right]"
    text_form = "sup_ξ 𝔼[f(<0>, ξ) − f(<1>, ξ)]"
