"""Symbols of this paper's claims beyond the common language: states of its methods, hyper-parameters, constants.

Rounds are counted by ``r`` (the paper's t is r + 1), local steps by ``j`` and ``i`` (its k and k' are j + 1 and i + 1),
clients by ``k`` and ``other`` (its i).
"""

import sympy as sp

from bounds.language.names import symbol

__all__ = [
    "B", "C", "C_all", "C_beta", "G", "beta1", "beta2", "client_moment2", "client_moment2_max", "client_scalar_moment2",
    "client_variate", "eps", "eta", "eta_g", "factor", "of_last_round", "other", "server_variate", "sigma", "tracked",
    "trackers", "z_x_round",
]

other, of_last_round = symbol("l"), symbol("s")  # indices: a client; an earlier round

# states, before round r
client_variate = symbol("client_variate")  # [r, k]: y_k
server_variate = symbol("server_variate")  # [r]: y
client_moment2 = symbol("client_moment2")  # [r, k]: the second moment v_k that the client keeps
client_moment2_max = symbol("client_moment2_max")  # [r, k]: its running maximum, where that is kept
client_scalar_moment2 = symbol("client_scalar_moment2")  # [r, k]: v_k where moments are of norms, a number
tracked = sp.IndexedBase("tracked", real=True)  # [r, k]: 1 if client k renews y_k in round r, else 0
z_x_round = sp.IndexedBase("z_x_round", real=True)  # [r]: the server's model of FA-NT's z-form, run from the same start

# hyper-parameters and constants
eta = sp.Symbol("eta", positive=True)  # the local step size at all times
eta_g = sp.Symbol("eta_g", positive=True)
beta1, beta2 = sp.Symbol("beta1", nonnegative=True), sp.Symbol("beta2", nonnegative=True)
eps = sp.Symbol("eps", positive=True)
trackers = sp.Symbol("trackers", integer=True, positive=True)  # clients that renew y_k in a round
sigma, G = sp.Symbol("sigma", positive=True), symbol("G")
B = symbol("sigma_g_max")  # sup over clients k and points v of |grad F_k(v) - grad F(v)|
factor = sp.Symbol("factor", positive=True)  # any positive number

# constants hidden in O(.)
C = sp.Symbol("C", positive=True)  # a number
C_beta = sp.Symbol("C_beta", positive=True)  # may depend on beta1 and beta2
C_all = sp.Symbol("C_all", positive=True)  # may depend on everything but the number of rounds
