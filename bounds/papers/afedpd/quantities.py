"""Quantities of A-FedPD's statements and proofs, each defined once by a formula (section 4.2, Table 8)."""

from bounds.language.definitions import define
from bounds.language.samples import E_data, F_pop, twin_x_before, twin_x_round
from bounds.language.words import (
    E,
    E_round,
    F_star,
    Sum,
    clients,
    grad,
    k,
    local_steps,
    norm,
    norm2,
    objective,
    objective_grad,
    participants,
    r,
    rounds,
    sampled,
    x_before,
    x_round,
)
from bounds.papers.afedpd.setting import each_client, rho_prox
from bounds.papers.afedpd.words import server_duals, server_x_bar, twin_server_duals

__all__ = [
    "GAPS",
    "GAPS_INACTIVE",
    "R0",
    "J_t",
    "R_t",
    "average_gradient_sq",
    "f1_gap",
    "gap_dual",
    "gap_x",
    "generalisation_gap",
    "local_error",
    "mean_dual",
    "mean_over_clients",
    "mean_over_sampled",
    "stored",
    "trained",
    "trained_inactive",
    "twin_trained",
    "twin_trained_inactive",
    "update_of",
]


def mean_over_clients(summand):
    """Mean over all clients of an expression in ``k``."""
    return Sum(summand, each_client) / clients


def mean_over_sampled(summand, round=r):
    """Mean over the sampled clients of an expression in ``k``."""
    return Sum(sampled[round, k] * summand, each_client) / participants


# local models --------------------------------------------------------------------------------------------------------
trained = x_before[(r + 1) * local_steps, k]  # theta_i^{t+1}, virtual
stored = x_before[r * local_steps, k]  # theta_i^t, virtual; theta^0 in the first round
trained_inactive = sampled[r, k] * trained + (1 - sampled[r, k]) * x_round[r]  # theta^t for those that are not sampled
twin_trained = twin_x_before[(r + 1) * local_steps, k]
twin_trained_inactive = sampled[r, k] * twin_trained + (1 - sampled[r, k]) * twin_x_round[r]

local_error = define(
    "local_error", [r, k], grad(k, trained) + server_duals[r, k] + rho_prox * (trained - x_round[r]), r"e_{k,r}",
    "loss/parameter", "gradient of client k's augmented Lagrangian after its training of round r", "B.2.1",
)

mean_dual = define(
    "mean_dual", [r], Sum(server_duals[r, k], each_client) / clients, r"\bar\lambda_{r}", "loss/parameter",
    "mean of all duals before round r",
)

R_t = define(
    "R_t", [r], mean_over_clients(E_round(norm2(trained - server_x_bar[r]), r)), "R_{r}", "parameter^2",
    "mean squared distance of the local models of round r to the average before it", "B.2.2",
)

J_t = define(
    "J_t", [r], mean_over_clients(E_round(norm2(stored - server_x_bar[r]), r)), "J_{r}", "parameter^2",
    "mean squared distance of the last local models to their average, before round r", "B.2.2",
)

R0 = define(
    "R0", [], mean_over_clients(E(norm2(x_before[local_steps, k] - x_round[0]))), "R_0", "parameter^2",
    "the first local training volumes", "Theorem 1",
)

f1_gap = define(
    "f1_gap", [], E(objective(server_x_bar[1])) - F_star, r"f(\bar\theta^1) - f^\star", "loss",
    "expected gap of the first average", "Theorem 1; expectation where the print has none",
)


def average_gradient_sq(model, first=1, last=rounds):
    """Mean over the rounds ``first`` .. ``last`` of E|grad f|^2 at ``model[round]``."""
    return Sum(E(norm2(objective_grad(model[r]))), (r, first, last)) / (last - first + 1)


# stability -----------------------------------------------------------------------------------------------------------
generalisation_gap = define(
    "generalisation_gap", [], E_data(F_pop(x_round[rounds]) - objective(x_round[rounds])), r"\varepsilon_G", "loss",
    "expected population risk minus training loss of the model that is sent", "Section 4.2",
)

gap_x = define(
    "gap_x", [r], E(norm(x_round[r] - twin_x_round[r])), r"\Delta_{r}", "parameter",
    "difference of the global parameters before round r", "Table 8",
)

gap_dual = define(
    "gap_dual", [r], mean_over_clients(E(norm(server_duals[r, k] - twin_server_duals[r, k]))), r"\sigma_{r}",
    "loss/parameter", "difference of the dual variables before round r", "Table 8",
)


def update_of(model, twin):
    """Difference of the local updates of round r in the two runs."""
    return (model - x_round[r]) - (twin - twin_x_round[r])


def _gaps(suffix, latex, model, twin, words):
    after_local = define(
        f"gap_local{suffix}", [r], mean_over_clients(E(norm(model - twin))), rf"\delta{latex}_{{r}}", "parameter",
        f"difference of the local parameters after round r, {words}", "Table 8",
    )
    after_update = define(
        f"gap_update{suffix}", [r], mean_over_clients(E(norm(update_of(model, twin)))), rf"\pi{latex}_{{r}}", "parameter",
        f"difference of the local updates of round r, {words}", "Table 8",
    )
    return after_local[r], after_update[r]


#: delta^{t+1} and pi^{t+1}: of all clients, those that are not sampled at theta^t; and of all clients trained virtually
GAPS_INACTIVE = _gaps(
    "_inactive", "'", trained_inactive, twin_trained_inactive,
    "clients that are not sampled keep the model they would receive")
GAPS = _gaps("", "", trained, twin_trained, "clients that are not sampled train virtually")
