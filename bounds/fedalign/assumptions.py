"""Assumptions 1-4 of FedALIGN in each reading, shared with Li et al. 2020."""

from __future__ import annotations

from bounds.claim import Assumption, Condition
from bounds.definitions import aggregate_weight, every_client
from bounds.language import (
    E, G_sq, L, L_client, Sum, clients, g, included, iterations, k, mu, mu_client, norm2, sigma_sq, sigma_sq_client, t,
)

__all__ = ["G_READINGS", "G_max", "G_weighted", "smooth", "strongly_convex", "variance"]

all_clients = (k, 0, clients - 1)
all_steps = (t, 0, iterations - 1)

smooth = Assumption(
    "fedalign/assumption-1@as-used", "every client is L-smooth", (Condition(L_client[k], "<=", L, (all_clients,)),)
)
strongly_convex = Assumption(
    "fedalign/assumption-2@as-used", "every client is mu-strongly convex",
    (Condition(mu_client[k], ">=", mu, (all_clients,)),),
)
variance = Assumption(
    "fedalign/assumption-3", "unbiased stochastic gradients of variance at most sigma^2",
    (Condition(sigma_sq_client[k], "<=", sigma_sq, (all_clients,)),),
)
G_weighted = Assumption(
    "fedalign/assumption-4@G-trajectory-weighted",
    "second moment of stochastic gradients at most G^2, averaged with the aggregation weights, along the trajectory",
    (Condition(E(Sum(aggregate_weight[t, k] * norm2(g[t, k]), every_client)), "<=", G_sq, (all_steps,)),),
)
G_max = Assumption(
    "fedalign/assumption-4@G-trajectory-max",
    "second moment of stochastic gradients at most G^2, for every client that counts, along the trajectory",
    (Condition(E(included[t, k] * norm2(g[t, k])), "<=", G_sq, (all_steps, all_clients)),),
)
G_READINGS = {"G-trajectory-weighted": G_weighted, "G-trajectory-max": G_max}
