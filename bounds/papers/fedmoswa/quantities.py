"""Quantities of FedSWA's and FedMoSWA's statements and proofs, each defined once by a formula.

The paper's round t of Appendices E, F and I is round r here; of Appendix G, where rounds count from 1, it is r + 1.
"""

from bounds.language.definitions import define
from bounds.language.samples import E_data, F_pop, twin_x_before, twin_x_local, twin_x_round
from bounds.language.words import (
    E,
    E_noise,
    E_round,
    F_star,
    L,
    Product,
    Sum,
    clients,
    eta_l,
    grad,
    i,
    j,
    k,
    local_steps,
    norm,
    norm2,
    objective,
    objective_grad,
    r,
    rounds,
    sampled,
    t,
    tau,
    x_before,
    x_local,
    x_round,
    x_star,
)
from bounds.papers.fedmoswa.setting import gamma, rho_decay
from bounds.papers.fedmoswa.words import client_variate, server_variate

__all__ = [
    "F_gap", "after", "distance_sq", "drift_E0", "drift_E1", "from_moving_points",
    "from_points", "generalisation_error", "gradient_norm", "gradient_sq",
    "mean_over_clients", "model", "move", "move_sq", "moving_lag", "point_lag", "server_lag", "start_distance_sq",
    "swa_length", "swa_rate", "swa_step_rate", "twin_after", "twin_distance", "twin_model", "twin_norm", "variate_lag",
    "variate_lag_after", "variate_lag_total",
]

every_client = (k, 0, clients - 1)


def mean_over_clients(summand):
    """Mean over the clients of an expression in ``k``."""
    return Sum(summand, every_client) / clients


def model(step):
    """Local model of client k after ``step`` < K local steps of round r."""
    return x_local[r * local_steps + step, k]


def after(step):
    """Local model of client k after ``step`` <= K local steps of round r, before the aggregation."""
    return x_before[r * local_steps + step, k]


def twin_model(step):
    """The same in the coupled run."""
    return twin_x_local[r * local_steps + step, k]


def twin_after(step):
    """The same in the coupled run."""
    return twin_x_before[r * local_steps + step, k]


# local rates ---------------------------------------------------------------------------------------------------------
swa_rate = define(
    "swa_rate", [t], eta_l[t] * (1 - (1 - rho_decay) * (t - tau(t)) / local_steps), r"\eta_{t}", "parameter^2/loss",
    "local rate of iteration t: falls linearly within every round", "Eq. (3)",
)

swa_step_rate = define(
    "swa_step_rate", [r, j], eta_l[r * local_steps] * (1 - (1 - rho_decay) * j / local_steps), r"\eta_{r,j}",
    "parameter^2/loss", "local rate at step j = 0, ..., K of round r; at K the rate to which local rates fall", "Eq. (3)",
)

swa_length = define(
    "swa_length", [r],
    Sum(eta_l[r * local_steps + i] * (1 - (1 - rho_decay) * i / local_steps), (i, 0, local_steps - 1)),
    r"\tilde\eta_{r}", "parameter^2/loss", "sum of the local rates of round r",
)

# stability -----------------------------------------------------------------------------------------------------------
generalisation_error = define(
    "generalisation_error", [], E_data(F_pop(x_round[rounds]) - objective(x_round[rounds])), r"\varepsilon_{\mathrm{gen}}",
    "loss", "expected population risk minus empirical risk of the output", "Section 4.1",
)


def gradient_norm(round):
    """E |grad F| at the server's model before this round."""
    return E(norm(objective_grad(x_round[round])))


def twin_distance(round):
    """Distance of the server's models of the coupled runs before this round."""
    return norm(x_round[round] - twin_x_round[round])


def twin_norm(step):
    """Distance of the local models of client k of the coupled runs after ``step`` local steps of round r."""
    return norm(after(step) - twin_after(step))


# optimisation --------------------------------------------------------------------------------------------------------
def F_gap(round):
    """f_{t-1}: expected gap of the server's model before this round."""
    return E(objective(x_round[round])) - F_star


def gradient_sq(round):
    """N_{t-1}: expected squared gradient norm at the server's model before this round."""
    return E(norm2(objective_grad(x_round[round])))


def distance_sq(round):
    """Expected squared distance of the server's model before this round to the optimum."""
    return E(norm2(x_round[round] - x_star))


move = x_round[r + 1] - x_round[r]
move_sq = E(norm2(move))

start_distance_sq = define(
    "start_distance_sq", [],
    norm2(x_round[0] - x_star)
    + Sum(E(norm2(client_variate[0, k] - grad(k, x_star))), every_client) / (2 * clients * L**2),
    "D^2", "parameter^2", "squared distance of the start, models and variates", "Theorem 5.2",
)

drift_E1 = define(
    "drift_E1", [r],
    Sum(E(norm2(x_before[r * local_steps + j, k] - x_round[r])), (j, 1, local_steps), every_client)
    / (local_steps * clients),
    r"\mathcal{E}_{r}", "parameter^2", "client drift of round r over all clients, after 1 to K local steps",
    "before Lemma G.9; local runs of clients that are not sampled are virtual",
)

drift_E0 = define(
    "drift_E0", [r],
    Sum(E(norm2(x_local[r * local_steps + j, k] - x_round[r])), (j, 0, local_steps - 1), every_client)
    / (local_steps * clients),
    r"\mathcal{E}^{0}_{r}", "parameter^2", "client drift of round r over all clients, after 0 to K - 1 local steps",
    "as used inside the proofs of Appendix G",
)

variate_lag = define(
    "variate_lag", [r], mean_over_clients(E(norm2(client_variate[r, k] - grad(k, x_star)))), r"\mathcal{C}_{r}",
    "(loss/parameter)^2", "control lag of the clients before round r, the variates given",
)

variate_lag_total = define(
    "variate_lag_total", [r], mean_over_clients(norm2(E(client_variate[r, k]) - grad(k, x_star))),
    r"\mathcal{C}^{\mathrm{tot}}_{r}", "(loss/parameter)^2", "control lag before round r, of the variates' expectations",
)

variate_lag_noise = define(
    "variate_lag_noise", [r], mean_over_clients(E(norm2(E_noise(client_variate[r, k]) - grad(k, x_star)))),
    r"\mathcal{C}^{\zeta}_{r}", "(loss/parameter)^2",
    "control lag before round r, of the variates' expectations over mini-batch noise",
)

variate_lag_after = define(
    "variate_lag_after", [r], mean_over_clients(E(norm2(E_round(client_variate[r + 1, k], r) - grad(k, x_star)))),
    r"\mathcal{C}^{+}_{r}", "(loss/parameter)^2",
    "control lag after round r, of the variates' expectations given the state at its start",
)

server_lag = define(
    "server_lag", [r], E(norm2(server_variate[r])), r"\mathcal{D}_{r}", "(loss/parameter)^2",
    "control lag of the server before round r; the gradient of F is zero at the optimum",
)

# non-convex lags -----------------------------------------------------------------------------------------------------
not_since = Product(1 - sampled[t, k], (t, i + 1, r - 1))  # whether client k was not sampled after round i, before r


def from_points(server):
    """(1/(Km)) sum over steps and clients of E |alpha - server|^2, alpha the points of the variates before round r."""
    return Sum(
        E(sampled[i, k] * not_since * norm2(x_local[i * local_steps + j, k] - server)),
        (i, 0, r - 1), (j, 0, local_steps - 1), every_client,
    ) / (local_steps * clients) + mean_over_clients(
        E(Product(1 - sampled[t, k], (t, 0, r - 1)) * norm2(x_round[0] - server)))


def from_moving_points(server):
    """The same for the points of the server's variate."""
    return Sum(
        gamma * (1 - gamma) ** (r - 1 - i) * E(norm2(x_local[i * local_steps + j, k] - server)),
        (i, 0, r - 1), (j, 0, local_steps - 1), every_client,
    ) / (local_steps * clients) + (1 - gamma) ** r * E(norm2(x_round[0] - server))


point_lag = define(
    "point_lag", [r], from_points(x_round[r]), r"\Xi_{r}",
    "parameter^2", "distance of the points of the clients' variates to the server's model before round r",
    "Appendix G.3; the points are the local models of the last round in which the client was sampled, or the start",
)

moving_lag = define(
    "moving_lag", [r], from_moving_points(x_round[r]), r"\mathcal{G}_{r}",
    "parameter^2", "distance of the points of the server's variate to its model before round r",
    "Appendix G.3; the expectation over the random lag, with the virtual local runs of clients that are not sampled",
)
