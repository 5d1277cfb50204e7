"""FedALIGN's statements and definitions in plain Python, written from the paper."""

from fractions import Fraction

from tests.bounds.arithmetic import ALL, FREE, P, sides_of, values, world
from tests.bounds.chance import E
from tests.bounds.claim_values import sq, total
from tests.bounds.papers import fedalign_theorem_rows as theorems
from tests.bounds.papers.fedalign_hypotheses import SUPPOSED
from tests.bounds.papers.fedalign_one_step_rows import ONE_STEP
from tests.bounds.papers.fedalign_settings import DOMAINS, METHOD, SETTINGS
from tests.bounds.papers.fedalign_step_rows import BY_ROUND, NUMBERS, RUNS
from tests.bounds.rows import rows_by_id

__all__ = [
    "DOMAINS", "MEANINGS", "METHOD", "ROWS", "SUPPOSED", "TIMES", "WITHOUT_LETTER", "row", "sides", "values", "world"]

R = range
#: letters of their own: any numbers and vectors
WITHOUT_LETTER = {"B", "C", "D", "Delta", "a", "eta", "omega", "p", "theta_T", "y", "z_1", "z_2"}
#: times at which definitions are compared
TIMES = R(1, 6)
ROWS = theorems.ROWS | NUMBERS | ONE_STEP | RUNS | BY_ROUND
sides, row = sides_of(ROWS), rows_by_id(SETTINGS)


def _bars(w, t, of):
    return sum(of[i] for i in R(1, t)) / (t + w.step_offset - 2)


def ending(w, t, vectors):
    """Average with the indicators of the next communication time."""
    end = t - t % w.local_steps + w.local_steps
    shares = [w.client_weight[k] * w.included[end][k] for k in ALL]
    return total([shares[k] * vectors[k] for k in ALL]) * (1 / sum(shares))


def _A(w, t, who, weight):
    first = sum(weight[t][k] * (w.F(k, w.x_local[t][k]) - w.F_star_client[k]) for k in who)
    second = sum(weight[t][k] * (w.F(k, w.x_local[t][k]) - w.F(k, w.x_star)) for k in who)
    return 4 * w.L * w.eta_l[t] ** 2 * first - 2 * w.eta_l[t] * second


def _li_noise(w):
    variances = sum(w.client_weight[k] ** 2 * w.sigma_sq_client[k] for k in ALL)
    return variances + 6 * w.L * w.Gamma + 8 * (w.local_steps - 1) ** 2 * w.G_sq


#: name -> formula from the papers, a function of (world, its indices)
MEANINGS = {
    "Gamma_client": lambda w, k: w.F(k, w.x_star) - w.F_star_client[k],
    "Gamma": lambda w: w.F_star - sum(w.client_weight[k] * w.F_star_client[k] for k in P),
    "D_sq": lambda w, t: E(sq(w.x_sampled[t] - w.x_star)),
    "free_mass": lambda w, t: sum(w.client_weight[k] * w.included[t][k] for k in FREE),
    "chi": lambda w, t: 1 / (1 + w.free_mass[t]),
    "aggregate_weight": lambda w, t, k: w.client_weight[k] * w.included[t][k] / (1 + w.free_mass[t]),
    "psi": lambda w, t: sum(w.client_weight[k] * w.included[t][k] * w.Gamma_client[k] for k in FREE)
    / (1 + w.free_mass[t]),
    "drift": lambda w, t: sum(w.aggregate_weight[t][k] * sq(w.x_local[t][k] - w.x_sampled[t]) for k in ALL),
    "theta": lambda w: sum(E(w.chi[i]) for i in R(1, w.iterations)) / (w.iterations + w.step_offset - 2),
    "theta_hat": lambda w: sum(E(w.chi[i]) for i in R(w.iterations)) / (w.iterations + w.step_offset - 2),
    "rho_bias": lambda w: 2 * w.L / w.mu / (w.iterations + w.step_offset - 2)
    * sum(E(w.psi[i]) for i in R(1, w.iterations)),
    "rho_hat": lambda w: 2 * w.L / w.mu / (w.iterations + w.step_offset - 2) * sum(E(w.psi[i]) for i in R(w.iterations)),
    "weight": lambda w, t, k: w.client_weight[k] / (1 + w.free_mass[t]),
    "ending_gradient": lambda w, t: ending(w, t, [w.grad(k, w.x_local[t][k]) for k in ALL]),
    "ending_stochastic_gradient": lambda w, t: ending(w, t, w.g[t]),
    "average_stochastic_gradient": lambda w, t: total([w.aggregate_weight[t][k] * w.g[t][k] for k in ALL]),
    "average_gradient": lambda w, t: total([w.aggregate_weight[t][k] * w.grad(k, w.x_local[t][k]) for k in ALL]),
    # w'_{t+1} = 1/K sum over S_{t+1} of w_t^k / (1 + S_t) + sum over the others of p'_k w_t^k, at t + 1
    "x_eq_56": lambda w, t: total([
        w.sampled_weight[t][k] * w.x_local[t - 1][k] * (1 / (1 + w.free_mass[t - 1])) for k in P])
    + total([w.weight[t - 1][k] * w.x_local[t - 1][k] for k in FREE]),
    # the same of the models that the round ends with
    "x_every_free": lambda w, t: total([
        w.sampled_weight[t][k] * w.x_before[t][k] * (1 / (1 + w.free_mass[t - 1])) for k in P])
    + total([w.weight[t - 1][k] * w.x_before[t][k] for k in FREE]),
    "priority_clients": lambda w: len(P),
    "priority_models": lambda w, t: total([w.client_weight[k] * w.x_before[t][k] for k in P]),
    "noise_term": lambda w, t: 8 * (w.local_steps - 1) ** 2 * w.G_sq + 6 * w.L * w.Gamma * E(w.chi[t]) + w.sigma_sq,
    "bias_term": lambda w, t: 2 * E(w.psi[t]),
    "noise_average": lambda w, t: _bars(w, t, w.noise_term),
    "bias_average": lambda w, t: _bars(w, t, w.bias_term),
    "proof_v": lambda w, t: 4 / w.mu**2 * w.noise_average[t] + 2 / w.mu * w.bias_average[t] * (t + w.step_offset)
    + w.step_offset * w.D_sq[0],
    "proof_gamma": lambda w, t: 2 * w.eta_l[t] * (1 - 2 * w.L * w.eta_l[t]),
    "proof_A4": lambda w, t: _A(w, t, P, w.weight),
    "proof_A5": lambda w, t: _A(w, t, FREE, w.aggregate_weight),
    "base_noise": _li_noise,
    "scheme_1_noise": lambda w: 4 * w.local_steps**2 * w.G_sq / w.participants,
    "scheme_2_noise": lambda w: Fraction(w.clients - w.participants, w.clients - 1)
    * (4 * w.local_steps**2 * w.G_sq / w.participants),
}
