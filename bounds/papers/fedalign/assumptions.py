"""Assumptions 1-4 of FedALIGN in each reading, shared with Li et al. 2020."""

import sympy as sp

from bounds.language.claim import Assumption, Condition
from bounds.language.definitions import Gamma_client, aggregate_weight, every_client
from bounds.language.functions import f, f_grad, u, v
from bounds.language.words import (
    E,
    G_sq,
    L,
    L_client,
    Max,
    Sum,
    client_weight,
    clients,
    dot,
    eta_l,
    g,
    grad,
    included,
    iterations,
    k,
    mu,
    mu_client,
    noise_bound,
    norm,
    norm2,
    priority,
    sigma_sq,
    sigma_sq_client,
    t,
    x_local,
    x_sampled,
    x_star,
)

__all__ = [
    "ASSUMPTIONS", "G_READINGS", "G_a_priori", "G_everywhere", "G_max", "G_priority", "G_priority_sq", "G_weighted",
    "Gamma_max", "all_clients", "all_steps", "ball_radius", "convex_as_printed", "divisible", "independent_noise",
    "largest_gap", "nonanticipating", "smooth", "smooth_as_printed", "strongly_convex", "variance",
]

all_clients = (k, 0, clients - 1)
all_steps = (t, 0, iterations - 1)

# assumptions 1 and 2 -------------------------------------------------------------------------------------------------
smooth = Assumption(
    "fedalign/assumption-1@as-used", "every client is L-smooth", (Condition(L_client[k], "<=", L, (all_clients,)),),
    note="F_k(v) <= F_k(u) + <v - u, grad F_k(u)> + L/2 |v - u|^2; L is the least such constant of all clients or more",
)

strongly_convex = Assumption(
    "fedalign/assumption-2@as-used", "every client is mu-strongly convex",
    (Condition(mu_client[k], ">=", mu, (all_clients,)),),
    note="F_k(v) >= F_k(u) + <v - u, grad F_k(u)> + mu/2 |v - u|^2",
)

smooth_as_printed = Assumption(
    "fedalign/assumption-1", "smoothness, as printed: the gradient is taken at v and u - v stands for v - u",
    for_all_functions=Condition(f(v), "<=", f(u) + dot(u - v, f_grad(v)) + L / 2 * norm2(u - v)),
)

convex_as_printed = Assumption(
    "fedalign/assumption-2", "strong convexity, as printed: the gradient is taken at v and u - v stands for v - u",
    for_all_functions=Condition(f(v), ">=", f(u) + dot(u - v, f_grad(v)) + mu / 2 * norm2(u - v)),
)

# assumption 3 --------------------------------------------------------------------------------------------------------
variance = Assumption(
    "fedalign/assumption-3", "unbiased stochastic gradients of variance at most sigma^2",
    (Condition(sigma_sq_client[k], "<=", sigma_sq, (all_clients,)),),
)

# assumption 4 --------------------------------------------------------------------------------------------------------
G_weighted = Assumption(
    "fedalign/assumption-4@G-trajectory-weighted",
    "second moment of stochastic gradients at most G^2, averaged with the aggregation weights, along the trajectory",
    (Condition(E(Sum(aggregate_weight[t, k] * norm2(g[t, k]), every_client)), "<=", G_sq, (all_steps,)),),
)

priority_moment = E(Sum(priority[k] * client_weight[k] * norm2(g[t, k]), every_client))

G_priority = Assumption(
    "fedalign/assumption-4@G-priority",
    "second moment of stochastic gradients at most G^2, averaged over the priority clients, along the trajectory",
    (Condition(priority_moment, "<=", G_sq, (all_steps,)),),
    note="what sampling of the priority clients consumes: also those that are not drawn",
)

G_max = Assumption(
    "fedalign/assumption-4@G-trajectory-max",
    "second moment of stochastic gradients at most G^2, for every client that counts, along the trajectory",
    (Condition(E(included[t, k] * norm2(g[t, k])), "<=", G_sq, (all_steps, all_clients)),),
)

optimum_gradient_bound = sp.Symbol("optimum_gradient_bound", nonnegative=True)
ball_radius = sp.Symbol("ball_radius", nonnegative=True)

G_a_priori = Assumption(
    "fedalign/assumption-4@G-a-priori",
    "gradients bounded a priori: bounded noise and steps of at most 2/(L + mu) keep all iterates in a ball",
    (
        Condition(norm(g[t, k] - grad(k, x_local[t, k])), "<=", noise_bound, (all_steps, all_clients)),
        Condition(norm(grad(k, x_star)), "<=", optimum_gradient_bound, (all_clients,)),
        Condition(
            ball_radius, "==", Max(norm(x_sampled[0] - x_star), (optimum_gradient_bound + noise_bound) / mu)
        ),
        Condition(G_sq, "==", (optimum_gradient_bound + L * ball_radius + noise_bound) ** 2),
        Condition(eta_l[t], "<=", 2 / (L + mu), (all_steps,)),
    ),
    note="source none: G holds on the ball of radius ball_radius around x_star",
)

G_everywhere = Assumption(
    "fedalign/assumption-4", "gradients bounded by G on all of R^dim, as printed without saying where",
    everywhere=Condition(norm2(f_grad(u)), "<=", G_sq),
)

G_READINGS = {
    "G-trajectory-weighted": G_weighted, "G-trajectory-max": G_max, "G-a-priori": G_a_priori,
    "G-everywhere": G_everywhere,
}

#: the bound for the priority clients alone, where a statement is read with one constant per use
G_priority_sq = sp.Symbol("G_priority_sq", nonnegative=True)

G_priority_own = Assumption(
    "fedalign/assumption-4@G-where-used",
    "second moment of stochastic gradients, averaged over the priority clients, at most a constant of its own",
    (Condition(priority_moment, "<=", G_priority_sq, (all_steps,)),),
)

# used without a number -----------------------------------------------------------------------------------------------
nonanticipating = Assumption(
    "fedalign/implicit-nonanticipating",
    "a round's selection, participation and sampling are fixed before its mini-batches",
)

independent_noise = Assumption("fedalign/implicit-independence", "mini-batches are independent across clients")
divisible = Assumption("fedalign/implicit-divisible", "iterations is a multiple of local_steps")

# ours ----------------------------------------------------------------------------------------------------------------
Gamma_max = sp.Symbol("Gamma_max", nonnegative=True)

largest_gap = Assumption(
    "fedalign/largest-gap", "Gamma_max is the largest gap of a free client",
    (Condition((1 - priority[k]) * Gamma_client[k], "<=", Gamma_max, (all_clients,)),),
)

ASSUMPTIONS = {
    a.id: a
    for a in (
        smooth_as_printed, smooth, convex_as_printed, strongly_convex, variance, G_everywhere, G_weighted, G_priority,
        G_max, G_a_priori, G_priority_own, nonanticipating, independent_noise, divisible, largest_gap,
    )
}
