"""Assumptions 1-3 of FedLUAR in each reading, and what its proofs use without a number."""

from bounds.language.claim import Assumption, Condition
from bounds.language.words import (
    E,
    L,
    L_client,
    clients,
    g,
    grad,
    iterations,
    k,
    norm,
    norm2,
    objective_grad,
    r,
    rounds,
    sigma_sq,
    sigma_sq_client,
    t,
    x_local,
    x_round,
)
from bounds.papers.fedluar.words import sigma_g_max, sigma_g_sq

__all__ = [
    "ASSUMPTIONS", "ASSUMPTIONS_1_TO_3", "all_clients", "all_rounds", "all_steps", "heterogeneity",
    "heterogeneity_along_run", "independent_noise", "smooth", "unbiased", "variance", "variance_squared_mean",
]

all_clients = (k, 0, clients - 1)
all_steps = (t, 0, iterations - 1)
all_rounds = (r, 0, rounds - 1)

smooth = Assumption(
    "fedluar/assumption-1", "the gradient of every client is Lipschitz with constant L",
    (Condition(L_client[k], "<=", L, (all_clients,)),),
    note="|grad F_k(u) - grad F_k(v)| <= L |u - v|; L is the least such constant of all clients or more",
)

unbiased = Assumption("fedluar/assumption-2", "stochastic gradients are unbiased")

variance = Assumption(
    "fedluar/assumption-3@second-moment", "stochastic gradients have a variance of at most sigma_L^2",
    (Condition(sigma_sq_client[k], "<=", sigma_sq, (all_clients,)),),
)

variance_squared_mean = Assumption(
    "fedluar/assumption-3@squared-mean",
    "as printed, the square outside: the mean norm of the gradient noise is at most sigma_L, along the run",
    (Condition(E(norm(g[t, k] - grad(k, x_local[t, k]))) ** 2, "<=", sigma_sq, (all_steps, all_clients)),),
)

heterogeneity = Assumption(
    "fedluar/assumption-3@pointwise", "the gradient of every client is within sigma_G of the objective's, at every point",
    (Condition(sigma_g_max**2, "<=", sigma_g_sq),),
)

heterogeneity_along_run = Assumption(
    "fedluar/assumption-3@along-run",
    "the gradient of every client is within sigma_G of the objective's in mean square, at the models of the run",
    (Condition(E(norm2(grad(k, x_round[r]) - objective_grad(x_round[r]))), "<=", sigma_g_sq, (all_rounds, all_clients)),),
)

independent_noise = Assumption(
    "fedluar/implicit-independence", "gradient noise is independent over clients, local steps and rounds, given the past"
)
ASSUMPTIONS_1_TO_3 = (smooth, unbiased, variance, heterogeneity)
ASSUMPTIONS = {a.id: a for a in (*ASSUMPTIONS_1_TO_3, variance_squared_mean, heterogeneity_along_run, independent_noise)}
