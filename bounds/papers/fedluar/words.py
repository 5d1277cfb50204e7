"""Symbols of FedLUAR's claims beyond the common language: the arrays of the method's state, hyper-parameters, constants."""

import sympy as sp

from bounds.language.names import symbol

__all__ = [
    "applied_update", "eta", "initial_update", "kappa", "layer", "masks", "recycled", "recycled_set", "score", "score_floor",
    "sigma_g_max", "sigma_g_sq", "source_round", "staleness",
]

layer, source_round = symbol("l"), symbol("s")  # indices: of layers; of earlier rounds

# state of the method, before round r (layers l count from 0)
recycled_set = symbol("server_recycle_set")  # [r, l]: 1 if layer l is recycled in round r, else 0
staleness = symbol("server_age")  # [r + 1, l]: rounds for which the update of layer l applied in round r is old
score = symbol("server_score")  # [r + 1, l]: score of layer l after round r
applied_update = symbol("server_applied_update")  # [r + 1]: the displacement applied in round r

# hyper-parameters and constants
eta = sp.Symbol("eta", positive=True)  # the local step size at all times
recycled = sp.Symbol("recycled", integer=True, nonnegative=True)  # layers recycled per round
masks = sp.IndexedBase("masks", real=True)  # [r, l]: the layers recycled in round r, where they are given
score_floor = sp.Symbol("score_floor", positive=True)  # least score of a layer
initial_update = sp.Symbol("initial_update", real=True)  # a vector: what is recycled in round 0, where anything is
kappa = sp.Symbol("kappa", nonnegative=True)  # share of the recycled layers
sigma_g_sq = symbol("sigma_g_sq")  # bound on the squared deviation of clients' gradients
sigma_g_max = symbol("sigma_g_max")  # sup over clients k and points v of |grad F_k(v) - grad F(v)|
