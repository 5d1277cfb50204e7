"""Measured quantities that several papers share, each defined once by a formula."""

from bounds.language.claim import Definition
from bounds.language.operators import (
    E,
    F,
    F_star,
    F_star_client,
    Sum,
    client_weight,
    clients,
    included,
    k,
    norm2,
    priority,
    t,
    x_local,
    x_sampled,
    x_star,
)

__all__ = ["DEFINITIONS", "SHARED", "define"]

DEFINITIONS: dict[str, Definition] = {}


def define(name, indices, formula, latex, unit, meaning, source=""):
    """Register a quantity and return its symbol. A second formula for the same name is an error."""
    definition = Definition(name, tuple(indices), formula, latex, unit, meaning, source)
    if name in DEFINITIONS and DEFINITIONS[name] != definition:
        raise ValueError(f"{name!r} is defined twice")
    DEFINITIONS[name] = definition
    return definition.symbol


every_client = (k, 0, clients - 1)

Gamma_client = define(
    "Gamma_client", [k], F(k, x_star) - F_star_client[k], r"\Gamma_k", "loss",
    "gap of client k at the optimum of the objective",
)

Gamma = define(
    "Gamma", [], F_star - Sum(priority[k] * client_weight[k] * F_star_client[k], every_client), r"\Gamma", "loss",
    "heterogeneity of the priority clients",
)

D_sq = define(
    "D_sq", [t], E(norm2(x_sampled[t] - x_star)), r"\Delta_t", "parameter^2", "mean squared distance to the optimum",
)

free_mass = define(
    "free_mass", [t], Sum((1 - priority[k]) * client_weight[k] * included[t, k], every_client), "S_t", "1",
    "total weight of the free clients that count",
)

chi = define("chi", [t], 1 / (1 + free_mass[t]), r"\chi_t", "1", "share of the priority clients in the average")

aggregate_weight = define(
    "aggregate_weight", [t, k], client_weight[k] * included[t, k] / (1 + free_mass[t]), r"\pi_{t,k}", "1",
    "weight of client k in the virtual average",
)

psi = define(
    "psi", [t],
    Sum((1 - priority[k]) * client_weight[k] * included[t, k] * Gamma_client[k], every_client) / (1 + free_mass[t]),
    r"\psi_t", "loss", "bias brought in by the free clients that count",
)

drift = define(
    "drift", [t], Sum(aggregate_weight[t, k] * norm2(x_local[t, k] - x_sampled[t]), every_client), "d_t", "parameter^2",
    "spread of the local models around their average",
)

#: those that every claim of a file may use, whichever papers are loaded
SHARED = dict(DEFINITIONS)
