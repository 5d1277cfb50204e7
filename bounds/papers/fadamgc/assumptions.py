"""Assumptions 5.1, 5.3 and C.1, and conditions that the proofs print."""

import sympy as sp

from bounds.language.claim import Assumption, Condition
from bounds.language.words import L, L_client, clients, g, iterations, k, local_steps, norm, sigma_sq_client, t
from bounds.papers.fadamgc.words import B, G, beta1, eps, eta, eta_g, sigma

__all__ = [
    "A51",
    "A51_A53",
    "A51_AC1",
    "ASSUMPTIONS",
    "all_clients",
    "all_steps",
    "bounded",
    "heterogeneity",
    "independent",
    "lam",
    "product",
    "product_is",
    "proof_38",
    "proof_78",
    "proof_152",
    "smooth",
    "variance",
]

HALF = sp.Rational(1, 2)
all_clients, all_steps = (k, 0, clients - 1), (t, 0, iterations - 1)

#: the paper's lambda, and its product of the two steps
lam, product = (1 - beta1) * beta1 / (G + eps), eta_g * eta


def product_is(value) -> Condition:
    """The printed ``eta_g eta_l = value``, as what it says about the server's step."""
    return Condition(eta_g, "==", value / eta)


smooth = Assumption(
    "fadamgc/assumption-5.1-1", "every client is L-smooth", (Condition(L_client[k], "<=", L, (all_clients,)),),
    note="|grad F_k(u) - grad F_k(v)| <= L |u - v|; L is the least such constant of all clients or more",
)

variance = Assumption(
    "fadamgc/assumption-5.1-2", "stochastic gradients are unbiased, with a variance of at most sigma^2",
    (Condition(sigma_sq_client[k] ** HALF, "<=", sigma, (all_clients,)),),
)

independent = Assumption(
    "fadamgc/implicit-independence", "gradient noise is independent over clients, local steps and rounds, given the past"
)

bounded = Assumption(
    "fadamgc/assumption-5.3", "stochastic gradients have a norm of at most G at every local model of the run",
    (Condition(norm(g[t, k]), "<=", G, (all_steps, all_clients)),),
    note="worded as a bound on the loss; the formula is about the stochastic gradient",
)

heterogeneity = Assumption(
    "fadamgc/assumption-C.1", "the gradient of every client is within B of the objective's, at every point",
    note=f"B is {B.name}: the supremum over clients k and points v of |grad F_k(v) - grad F(v)|",
)

A51, A51_A53, A51_AC1 = (smooth, variance, independent), (smooth, variance, independent, bounded), (
    smooth, variance, independent, heterogeneity)
ASSUMPTIONS = {a.id: a for a in (*A51_A53, heterogeneity)}

# printed inside proofs -----------------------------------------------------------------------------------------------
proof_38 = (Condition(product, "<=", lam / (8 * local_steps * L)),)

proof_152 = (Condition(eta, "<=", eps * lam / (30 * local_steps * L)),)

proof_78 = (
    Condition(16 * local_steps * L**2 * (1 - beta1), "<", eps**2),
    Condition(eta, "<=", eps / (4 * (1 - beta1) ** HALF * local_steps * L)),
)
