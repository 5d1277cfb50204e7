"""Words of this paper's claims beyond the common language: states of its methods, and runs on two neighbouring data sets.

The coupled ("twin") run uses the data set in which one sample, drawn uniformly from all clients' samples, is replaced by a
fresh one; it shares the start, the sampling of clients and the sample indices with the run itself.
"""

from __future__ import annotations

import sympy as sp

from bounds.language.words import PaperWord

__all__ = [
    "E_client", "E_data", "E_noise", "F_pop", "G_lip", "client_variate", "loss_grad", "replaced", "samples",
    "server_variate", "sigma_g", "sigma_g_2", "sigma_g_client", "twin_g", "twin_x_before", "twin_x_local",
    "twin_x_round", "used_sample", "worst_mean_gap", "worst_pair_gap",
]


def _indexed(name):
    return sp.IndexedBase(name, real=True)


client_variate = _indexed("client_variate")  # client_variate[r, k]: control variate of client k before round r
server_variate = _indexed("server_variate")  # server_variate[r]: the server's variate before round r

# constants of the federation, over all of R^dim
G_lip = sp.Symbol("G_lip", nonnegative=True)  # Lipschitz constant of every sample's loss
sigma_g = sp.Symbol("sigma_g", nonnegative=True)  # sup over v of the clients' mean of |grad F_k(v) - grad F(v)|
sigma_g_2 = sp.Symbol("sigma_g_2", nonnegative=True)  # root of sup over v of the mean of its square
sigma_g_client = _indexed("sigma_g_client")  # [k]: sup over v of |grad F_k(v) - grad F(v)|
samples = sp.Symbol("samples", integer=True, positive=True)  # samples per client

# the coupled run
twin_x_round = _indexed("twin_x_round")  # [r], as x_round
twin_x_local = _indexed("twin_x_local")  # [t, k], as x_local
twin_x_before = _indexed("twin_x_before")  # [t, k], as x_before
twin_g = _indexed("twin_g")  # [t, k], as g: stochastic gradient of the twin's data at twin_x_local[t, k]
replaced = _indexed("replaced")  # [t, k]: 1 where iteration t of client k uses the sample that is replaced, else 0
used_sample = _indexed("used_sample")  # [t, k]: number of the sample that iteration t of client k uses, in both runs


class E_data(PaperWord):
    """``E_data(a)``: expectation over data sets, and over all chance of the runs on them."""

    nargs = 1
    unit_of = 0
    latex_form, text_form = r"\mathbb{E}_{\mathcal{A},\mathcal{S}}\left[<0>\right]", "𝔼_{A,S}[<0>]"


class E_client(PaperWord):
    """``E_client(k, a)``: expectation over all chance, given that the replaced sample is one of client k's."""

    nargs = 2
    indices = unit_of = 1
    latex_form, text_form = r"\mathbb{E}^{(<0>)}\left[<1>\right]", "𝔼^(<0>)[<1>]"


class E_noise(PaperWord):
    """``E_noise(a)``: expectation over gradient noise alone, the sampling of clients given."""

    nargs = 1
    unit_of = 0
    latex_form, text_form = r"\mathbb{E}_{\zeta}\left[<0>\right]", "𝔼_ζ[<0>]"


class F_pop(PaperWord):
    """``F_pop(v)``: population risk at v, the mean over clients of the expected loss of a fresh sample."""

    nargs = 1
    latex_form, text_form = r"F_{\mathcal{D}}\left(<0>\right)", "F_D(<0>)"


class loss_grad(PaperWord):
    """``loss_grad(k, j, v)``: gradient at v of the loss of sample j of client k, of the run's own data."""

    nargs = 3
    indices = 2
    latex_form, text_form = r"\nabla \ell_{<0>,<1>}\left(<2>\right)", "∇ℓ_{<0>,<1>}(<2>)"


class worst_mean_gap(PaperWord):
    """``worst_mean_gap(v, w)``: the supremum over samples z of E(l(v; z) - l(w; z)), the expectation inside."""

    nargs = 2
    latex_form = r"\sup_{z} \mathbb{E}\left[\ell\left(<0>; z\right) - \ell\left(<1>; z\right)\right]"
    text_form = "sup_z 𝔼[ℓ(<0>; z) − ℓ(<1>; z)]"


class worst_pair_gap(PaperWord):
    """``worst_pair_gap(v, w)``: the supremum over samples z, and over pairs of data sets that differ in one sample, of
    E(l(v; z) - l(w; z)), the expectation over the chance of the runs alone."""

    nargs = 2
    latex_form = r"\sup_{S, S', z} \mathbb{E}_{\mathcal{A}}\left[\ell\left(<0>; z\right) - \ell\left(<1>; z\right)\right]"
    text_form = "sup_{S,S′,z} 𝔼_A[ℓ(<0>; z) − ℓ(<1>; z)]"
