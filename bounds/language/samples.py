"""Clients with samples, and runs on two neighbouring data sets.

The coupled ("twin") run uses the data set in which one sample of one client is another one. It shares the start, the
sampling of clients and the sample indices with the run itself.
"""

from bounds.language.names import symbol
from bounds.language.operators import FurtherOperator

__all__ = [
    "E_client", "E_data", "E_unused", "F_pop", "G_lip", "H_loss", "differing", "loss_grad", "replaced", "samples", "twin_g",
    "twin_x_before", "twin_x_local", "twin_x_round", "used_sample", "worst_mean_gap", "worst_mean_signed_gap",
    "worst_pair_gap", "worst_sample_gap",
]

samples = symbol("samples")  # samples per client
G_lip = symbol("G_lip")  # Lipschitz constant of every sample's loss
H_loss = symbol("H_loss")  # supremum of the loss over all models and samples
differing = symbol("differing")  # [k]: 1 for the client that has the differing sample, else 0
replaced = symbol("replaced")  # [t, k]: 1 where iteration t of client k uses the sample that is replaced, else 0
used_sample = symbol("used_sample")  # [t, k]: number of the sample that iteration t of client k uses, in both runs

# the coupled run
twin_x_round = symbol("twin_x_round")  # [r], as x_round
twin_x_local = symbol("twin_x_local")  # [t, k], as x_local
twin_x_before = symbol("twin_x_before")  # [t, k], as x_before
twin_g = symbol("twin_g")  # [t, k], as g: stochastic gradient of the twin's data at twin_x_local[t, k]

E_data = FurtherOperator.row(
    "E_data(a)", "expectation over data sets, and over all chance of the runs on them",
    r"\mathbb{E}_{\mathcal{A},\mathcal{S}}\left[<0>\right]", "𝔼_{A,S}[<0>]", unit_powers=((0, 1),))
E_client = FurtherOperator.row(
    "E_client(k, a)", "expectation over all chance, given that the replaced sample is one of client k's",
    r"\mathbb{E}^{(<0>)}\left[<1>\right]", "𝔼^(<0>)[<1>]", indices=(0,), unit_powers=((1, 1),), gives=1)
E_unused = FurtherOperator.row(
    "E_unused(r, a)", "expectation given that the differing sample is not used in the rounds before round r",
    r"\mathbb{E}\left[<1> \mid \zeta_{<0>}\right]", "𝔼[<1> | ζ_<0>]", indices=(0,), unit_powers=((1, 1),), gives=1)
F_pop = FurtherOperator.row(
    "F_pop(v)", "population risk at v, the mean over clients of the expected loss of a fresh sample",
    r"F_{\mathcal{D}}\left(<0>\right)", "F_D(<0>)", takes=("vector",), gives="number")
loss_grad = FurtherOperator.row(
    "loss_grad(k, j, v)", "gradient at v of the loss of sample j of client k, of the run's own data",
    r"\nabla \ell_{<0>,<1>}\left(<2>\right)", "∇ℓ_{<0>,<1>}(<2>)", indices=(0, 1),
    takes=("index", "number", "vector"), gives=2)
worst_sample_gap = FurtherOperator.row(
    "worst_sample_gap(v, w)", "the supremum over samples z of E(l(v; z) - l(w; z)), data sets part of the expectation",
    r"\sup_{z} \mathbb{E}\left[\ell\left(<0>; z\right) - \ell\left(<1>; z\right)\right]", "sup_z 𝔼[ℓ(<0>; z) − ℓ(<1>; z)]",
    takes=("vector", "vector"), gives="number")
worst_pair_gap = FurtherOperator.row(
    "worst_pair_gap(v, w)", "the supremum over samples z, and over pairs of data sets that differ in one sample, of "
    "E(l(v; z) - l(w; z)), the expectation over the chance of the runs alone",
    r"\sup_{S, S', z} \mathbb{E}_{\mathcal{A}}\left[\ell\left(<0>; z\right) - \ell\left(<1>; z\right)\right]",
    "sup_{S,S′,z} 𝔼_A[ℓ(<0>; z) − ℓ(<1>; z)]", takes=("vector", "vector"), gives="number")
worst_mean_gap = FurtherOperator.row(
    "worst_mean_gap(v, w)", "the supremum over samples z, and over neighbouring data sets, of E|l(v; z) - l(w; z)|",
    r"\sup_{\xi} \mathbb{E}\left[\left|f(<0>, \xi) - f(<1>, \xi)\right|\right]", "sup_ξ 𝔼[|f(<0>, ξ) − f(<1>, ξ)|]",
    takes=("vector", "vector"), gives="number")
worst_mean_signed_gap = FurtherOperator.row(
    "worst_mean_signed_gap(v, w)", "the supremum over samples z, and over neighbouring data sets, of E(l(v; z) - l(w; z))",
    r"\sup_{\xi} \mathbb{E}\left[f(<0>, \xi) - f(<1>, \xi)\right]", "sup_ξ 𝔼[f(<0>, ξ) − f(<1>, ξ)]",
    takes=("vector", "vector"), gives="number")
