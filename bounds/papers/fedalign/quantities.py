"""Quantities of FedALIGN's statements and proofs, each defined once by a formula."""

from bounds.language.definitions import D_sq, Gamma, aggregate_weight, chi, define, every_client, free_mass, psi
from bounds.language.words import (
    E,
    F,
    F_star,
    F_star_client,
    G_sq,
    L,
    Sum,
    client_weight,
    clients,
    eta_l,
    g,
    grad,
    i,
    included,
    iterations,
    j,
    k,
    local_steps,
    mu,
    norm2,
    objective,
    priority,
    sampled_weight,
    sigma_sq,
    step_offset,
    t,
    tau,
    x_before,
    x_local,
    x_sampled,
    x_star,
)

__all__ = [
    "C_2", "D0_sq", "average_gradient", "average_stochastic_gradient", "bias_average", "bias_term", "ending_gradient",
    "ending_stochastic_gradient", "later_bound", "noise_and_drift", "noise_average", "noise_term", "older_bound",
    "over_free", "over_priority", "priority_clients", "priority_models", "proof_A4", "proof_A5", "proof_gamma", "proof_v",
    "rho_bias", "rho_hat", "suboptimality", "theta", "theta_hat", "weight", "x_eq_56",
]


def over_priority(summand):
    """Sum over the priority clients of an expression in ``k``."""
    return Sum(priority[k] * summand, every_client)


def over_free(summand):
    """Sum over the free (non-priority) clients of an expression in ``k``."""
    return Sum((1 - priority[k]) * summand, every_client)


# theorem 1 -----------------------------------------------------------------------------------------------------------
theta = define(
    "theta", [], Sum(E(chi[i]), (i, 1, iterations - 1)) / (iterations + step_offset - 2), r"\theta_T", "1",
    "alignment", "eq. (7)",
)

rho_bias = define(
    "rho_bias", [], 2 * L / (mu * (iterations + step_offset - 2)) * Sum(E(psi[i]), (i, 1, iterations - 1)), r"\rho_T",
    "loss", "tunable bias", "eq. (8)",
)

theta_hat = define(
    "theta_hat", [], Sum(E(chi[i]), (i, 0, iterations - 1)) / (iterations + step_offset - 2), r"\hat\theta_T", "1",
    "alignment with the first step counted",
)

rho_hat = define(
    "rho_hat", [], 2 * L / (mu * (iterations + step_offset - 2)) * Sum(E(psi[i]), (i, 0, iterations - 1)),
    r"\hat\rho_T", "loss", "tunable bias with the first step counted",
)

D0_sq = norm2(x_sampled[0] - x_star)
suboptimality = E(objective(x_sampled[iterations])) - F_star
noise_and_drift = 2 * L / mu**2 * (sigma_sq + 8 * (local_steps - 1) ** 2 * G_sq)
C_2 = 12 * L**2 / mu**2

# aggregation ---------------------------------------------------------------------------------------------------------
weight = define(
    "weight", [t, k], client_weight[k] / (1 + free_mass[t]), r"p'_{t,k}", "1", "re-normalised weight of client k",
    "eq. (14)",
)

average_stochastic_gradient = define(
    "average_stochastic_gradient", [t], Sum(aggregate_weight[t, k] * g[t, k], every_client), r"g_t", "loss/parameter",
    "weighted average of the stochastic gradients", "eq. (17)",
)

average_gradient = define(
    "average_gradient", [t], Sum(aggregate_weight[t, k] * grad(k, x_local[t, k]), every_client), r"\bar g_t",
    "loss/parameter", "weighted average of the gradients", "eq. (18)",
)

counts_at_the_end = included[tau(t) + local_steps, k]  # the indicator of the aggregation that ends the round of t

ending_gradient = define(
    "ending_gradient", [t],
    Sum(client_weight[k] * counts_at_the_end * grad(k, x_local[t, k]), every_client)
    / Sum(client_weight[k] * counts_at_the_end, every_client),
    r"\bar g^{+}_t", "loss/parameter", "average of the gradients, weighted as in the aggregation that ends the round",
    "eq. (18)",
)

ending_stochastic_gradient = define(
    "ending_stochastic_gradient", [t],
    Sum(client_weight[k] * counts_at_the_end * g[t, k], every_client)
    / Sum(client_weight[k] * counts_at_the_end, every_client),
    r"g^{+}_t", "loss/parameter", "average of the stochastic gradients, weighted as in the aggregation that ends the round",
    "eq. (17)",
)

x_eq_56 = define(
    "x_eq_56", [t],
    over_priority(sampled_weight[t, k] * x_before[t, k]) / (1 + free_mass[t - 1])
    + over_free(weight[t - 1, k] * x_before[t, k]),
    r"w''_t", "parameter", "aggregate with sampled priority clients and every free client, included or not",
    "eq. (56) as printed",
)

priority_clients = define(
    "priority_clients", [], Sum(priority[k], every_client), r"|\mathcal{P}|", "1", "number of priority clients"
)

priority_models = define(
    "priority_models", [t], Sum(priority[j] * client_weight[j] * x_before[t, j], (j, 0, clients - 1)),
    r"\bar w^{\mathcal{P}}_t", "parameter", "weighted average of the priority clients' models before aggregation",
)

# recursion -----------------------------------------------------------------------------------------------------------
noise_term = define(
    "noise_term", [t], 8 * (local_steps - 1) ** 2 * G_sq + 6 * L * Gamma * E(chi[t]) + sigma_sq, r"B_t",
    "(loss/parameter)^2", "drift, heterogeneity and noise of one step", "eq. (31)",
)

bias_term = define("bias_term", [t], 2 * E(psi[t]), r"D_t", "loss", "bias of one step", "eq. (31), (50)")

noise_average = define(
    "noise_average", [t], Sum(noise_term[i], (i, 1, t - 1)) / (t + step_offset - 2), r"\bar B_t",
    "(loss/parameter)^2", "average of the noise terms from time 1", "eq. (32)",
)

bias_average = define(
    "bias_average", [t], Sum(bias_term[i], (i, 1, t - 1)) / (t + step_offset - 2), r"\bar D_t", "loss",
    "average of the bias terms from time 1", "eq. (32), which prints D_t for D_i",
)

proof_v = define(
    "proof_v", [t],
    4 / mu**2 * noise_average[t] + 2 / mu * bias_average[t] * (t + step_offset) + step_offset * D_sq[0], r"v_t",
    "parameter^2", "the induction's bound on (t + step_offset) times the mean squared distance", "before eq. (32)",
)

# one step ------------------------------------------------------------------------------------------------------------
proof_gamma = define(
    "proof_gamma", [t], 2 * eta_l[t] * (1 - 2 * L * eta_l[t]), r"\gamma_t", "parameter^2/loss", "of the proof only",
    "eq. (45)",
)

_gap = F(k, x_local[t, k]) - F_star_client[k]
_excess = F(k, x_local[t, k]) - F(k, x_star)

proof_A4 = define(
    "proof_A4", [t],
    4 * L * eta_l[t] ** 2 * over_priority(weight[t, k] * _gap) - 2 * eta_l[t] * over_priority(weight[t, k] * _excess),
    r"A_{4,t}", "parameter^2", "the priority clients' part", "eq. (44)",
)

proof_A5 = define(
    "proof_A5", [t],
    4 * L * eta_l[t] ** 2 * over_free(aggregate_weight[t, k] * _gap)
    - 2 * eta_l[t] * over_free(aggregate_weight[t, k] * _excess),
    r"A_{5,t}", "parameter^2", "the free clients' part", "eq. (44)",
)


# Theorem 1 of Li et al. 2020, which FedALIGN's theorem gives without free clients ------------------------------------
def older_bound(noise):
    """Right side of the older printing, with this B."""
    return 2 * L / mu / (step_offset + iterations) * (noise / mu + 2 * L * D0_sq)


def later_bound(noise, time, start_sq):
    """Right side of the later printing, with this B, at this T, from this squared distance at the start."""
    return L / mu / (step_offset + time - 1) * (2 * noise / mu + mu * step_offset / 2 * start_sq)
