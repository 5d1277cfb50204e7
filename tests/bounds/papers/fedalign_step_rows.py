"""FedALIGN's proof steps and definitions in plain Python, written from the papers."""

from fractions import Fraction
from math import prod

from tests.bounds.arithmetic import ALL, FREE, P
from tests.bounds.chance import E, Min
from tests.bounds.claim_values import dot, sq, total

R, HALF = range, Fraction(1, 2)


def tau(w, t):
    return max(s for s in R(t + 1) if s % w.local_steps == 0)


def spread(w, t, k):
    return sq(w.x_local[t][k] - w.x[t])


def gap(w, t, k):
    return w.F(k, w.x_local[t][k]) - w.F_star_client[k]


def gap_of_average(w, t, k):
    return w.F(k, w.x[t]) - w.F_star_client[k]


def contracted(w, t):
    return (1 - w.eta_l[t] * w.mu) * sq(w.x[t] - w.x_star)


def after_step(w, t, steps=1):
    return sq(w.x[t] - steps * w.eta_l[t] * w.average_gradient[t] - w.x_star)


def eq_44(w, t):
    return contracted(w, t) + w.drift[t] + w.proof_A4[t] + w.proof_A5[t]


def eq_46_left(w, t, factor):
    inner = sum(
        w.weight[t][k] * (w.eta_l[t] * w.L * gap_of_average(w, t, k) + factor / w.eta_l[t] * spread(w, t, k)) for k in P
    )
    return -inner + sum(w.weight[t][k] * (w.F(k, w.x[t]) - w.F_star) for k in P)


def eq_46_right(w, t):
    return sum(w.weight[t][k] * (w.F(k, w.x_local[t][k]) - w.F_star) for k in P)


def eq_51_left(w, t, factor):
    inner = sum(
        w.aggregate_weight[t][k]
        * (w.eta_l[t] * w.L * gap_of_average(w, t, k) + factor / w.eta_l[t] * spread(w, t, k))
        for k in FREE
    )
    return -inner + sum(w.aggregate_weight[t][k] * gap_of_average(w, t, k) for k in FREE)


def eq_51_right(w, t):
    return sum(w.aggregate_weight[t][k] * gap(w, t, k) for k in FREE)


def averaged_variance(w, t):
    return E(sum(w.weight[t][k] ** 2 * w.included[t][k] * w.sigma_sq_client[k] for k in ALL))


def one_step(w, t, begin, sampling):
    """Right side of (54), and of (59) with this multiple of eta^2 E^2 G^2 / K."""
    eta, steps = w.eta_l[t], w.local_steps
    recursion = (1 - w.mu * eta) * begin + 8 * eta**2 * (steps - 1) ** 2 * w.G_sq + eta**2 * w.sigma_sq
    recursion += 6 * w.L * eta**2 * E(w.Gamma * w.chi[t]) + eta * w.bias_term[t]
    return recursion + sampling * eta**2 * steps**2 * w.G_sq / w.participants


def decaying(w, t):
    return 2 / (w.mu * (t + w.step_offset))


def v_over_t(w, t, noise, bias):
    gam = w.step_offset
    v = 4 / w.mu**2 * (noise / (t + gam - 2)) + 2 / w.mu * (bias / (t + gam - 2)) * (t + gam) + gam * w.Delta[0]
    return v / (t + gam)


def eq_36_left(w):
    T, gam, steps = w.iterations, w.step_offset, w.local_steps
    noise = sum(8 * (steps - 1) ** 2 * w.G_sq + 6 * w.L * w.Gamma * w.chi[i] + w.sigma_sq for i in R(1, T))
    bias = sum(2 * w.psi[i] for i in R(1, T))
    v = 4 / w.mu**2 * noise / (T + gam - 2) + 2 / w.mu * bias / (T + gam - 2) * (T + gam) + gam * w.D0_sq
    return w.L / 2 * v / (T + gam)


def eq_36_right(w):
    T, gam, steps = w.iterations, w.step_offset, w.local_steps
    C1 = 2 * w.L / w.mu**2 * (w.sigma_sq + 8 * (steps - 1) ** 2 * w.G_sq) + 4 * w.L**2 / w.mu * w.D0_sq
    theta = sum(w.chi[i] for i in R(1, T)) / (T + gam - 2)
    rho = 2 * w.L / (w.mu * (T + gam - 2)) * sum(w.psi[i] for i in R(1, T))
    return (C1 + 12 * w.L**2 / w.mu**2 * theta * w.Gamma) / (T + gam) + rho


def eq_36_printed_right(w):
    noise = w.sigma_sq + 8 * (w.local_steps - 1) ** 2 * w.G_sq
    C1 = 2 * w.L / w.mu**2 * noise + 4 * w.L**2 / w.mu * sq(w.x_sampled[0] - w.x_star)
    return C1 + 12 * w.L**2 / w.mu**2 * w.theta * w.Gamma + w.rho_bias


def half_v(w):
    return w.L / 2 * w.proof_v[w.iterations] / (w.iterations + w.step_offset)


def mean(w):
    return total([w.omega[j] * w.a[j] for j in R(w.terms)])


def noise_of_average(w, t):
    return w.average_gradient[t] - w.average_stochastic_gradient[t]


NUMBERS = {
    "step-T3": (
        lambda w, t, k: sum(w.omega[m] * sq(w.a[m] - mean(w)) for m in R(w.terms)),
        lambda w, t, k: sum(w.omega[m] * sq(w.a[m]) for m in R(w.terms))),
    "step-T3-as-printed": (
        lambda w, t, k: sum(sq(w.a[m] - mean(w)) for m in R(w.terms)),
        lambda w, t, k: sum(sq(w.a[m]) for m in R(w.terms))),
    "step-T4": (
        lambda w, t, k: 2 * dot(w.z_1, w.z_2),
        lambda w, t, k: w.factor**2 * sq(w.z_1) + 1 / w.factor**2 * sq(w.z_2)),
    "step-T9@core-algebra": (
        lambda w, t, k: 2 * w.eta * (1 - 2 * w.L * w.eta) * w.eta * w.L + 4 * w.L * w.eta**2,
        lambda w, t, k: 6 * w.L * w.eta**2),
    "step-T15-shift step-T15-shift@SCHED8": (
        lambda w, t, k: decaying(w, t), lambda w, t, k: 2 * decaying(w, t + w.local_steps)),
    "step-T15-shift@first-step step-T15-shift@first-step+SCHED8": (
        lambda w, t, k: decaying(w, 1), lambda w, t, k: Min(1 / (4 * w.L), 1 / w.mu)),
    "step-T17": (
        lambda w, t, k: w.Delta[t],
        lambda w, t, k: v_over_t(w, t, sum(w.B[i] for i in R(1, t)), sum(w.D[i] for i in R(1, t)))),
    "step-T17@32-literal": (
        lambda w, t, k: w.Delta[t],
        lambda w, t, k: v_over_t(w, t, sum(w.B[i] for i in R(1, t)), sum(w.D[t] for _ in R(1, t)))),
    "derived-recursion": (
        lambda w, t, k: w.Delta[t],
        lambda w, t, k: v_over_t(w, t, sum(w.B[i] for i in R(t)), sum(w.D[i] for i in R(t)))),
    "step-T18": (
        lambda w, t, k: prod(1 - 2 / (j + w.step_offset) for j in R(w.start, w.iterations)),
        lambda w, t, k: (w.start + w.step_offset - 2) * (w.start + w.step_offset - 1)
        / ((w.iterations + w.step_offset - 2) * (w.iterations + w.step_offset - 1))),
    "step-T19": (lambda w, t, k: (w.y - 1) / w.y**2, lambda w, t, k: 1 / (w.y + 1)),
    "step-T19@difference": (
        lambda w, t, k: 1 / (w.y + 1) - (w.y - 1) / w.y**2, lambda w, t, k: 1 / (w.y**2 * (w.y + 1))),
    "step-eq35-as-printed": (
        lambda w, t, k: (w.y - 1) / w.y**2, lambda w, t, k: (w.y**2 - 1) / (w.y * (w.y + 1))),
    "step-eq35-as-printed@last-inequality": (
        lambda w, t, k: (w.y**2 - 1) / (w.y * (w.y + 1)), lambda w, t, k: 1 / (w.y + 1)),
    "step-eq35-as-printed@first-inequality": (
        lambda w, t, k: (w.y - 2) / w.y**2, lambda w, t, k: (w.y - 1) / w.y**2),
    "step-eq36": (lambda w, t, k: eq_36_left(w), lambda w, t, k: eq_36_right(w)),
}
ONE_STEP = {
    "step-T4@text-substitution": (
        lambda w, t, k: 2 * dot(w.x_star - w.x[t], w.grad(k, w.x_local[t][k])),
        lambda w, t, k: w.eta_l[t] * sq(w.x_star - w.x[t]) + 1 / w.eta_l[t] * sq(w.grad(k, w.x_local[t][k]))),
    "step-T5": (
        lambda w, t, k: -2 * dot(w.x[t] - w.x_star, w.grad(k, w.x_local[t][k])),
        lambda w, t, k: 1 / w.eta_l[t] * spread(w, t, k) + w.eta_l[t] * sq(w.grad(k, w.x_local[t][k]))
        - 2 * (w.F(k, w.x_local[t][k]) - w.F(k, w.x_star)) - w.mu * sq(w.x_local[t][k] - w.x_star)),
    "step-T6": (
        lambda w, t, k: w.eta_l[t] ** 2 * sq(w.average_gradient[t]),
        lambda w, t, k: 2 * w.L * w.eta_l[t] ** 2 * sum(w.aggregate_weight[t][m] * gap(w, t, m) for m in ALL)),
    "step-T7": (lambda w, t, k: after_step(w, t), lambda w, t, k: eq_44(w, t)),
    "step-eq44-as-printed": (lambda w, t, k: after_step(w, t, 2), lambda w, t, k: eq_44(w, t)),
    "step-T8": (
        lambda w, t, k: w.proof_A4[t],
        lambda w, t, k: -w.proof_gamma[t] * eq_46_right(w, t) + 4 * w.L * w.eta_l[t] ** 2 * w.Gamma * w.chi[t]),
    "step-eq46": (lambda w, t, k: eq_46_left(w, t, 1), lambda w, t, k: eq_46_right(w, t)),
    "step-eq46@sharp": (lambda w, t, k: eq_46_left(w, t, HALF), lambda w, t, k: eq_46_right(w, t)),
    "step-eq46@free-clients": (lambda w, t, k: eq_51_left(w, t, 1), lambda w, t, k: eq_51_right(w, t)),
    "step-eq46@free-clients+sharp": (lambda w, t, k: eq_51_left(w, t, HALF), lambda w, t, k: eq_51_right(w, t)),
    "step-eq47-as-printed": (
        lambda w, t, k: w.proof_gamma[t] / (2 * w.eta_l[t]) * sum(w.weight[t][m] * spread(w, t, m) for m in ALL),
        lambda w, t, k: sum(w.weight[t][m] * spread(w, t, m) for m in P)),
    "step-eq47-as-printed@intended": (
        lambda w, t, k: w.proof_gamma[t] / (2 * w.eta_l[t]) * sum(w.weight[t][m] * spread(w, t, m) for m in P),
        lambda w, t, k: sum(w.weight[t][m] * spread(w, t, m) for m in P)),
    "step-T9": (
        lambda w, t, k: w.proof_A4[t],
        lambda w, t, k: sum(w.weight[t][m] * spread(w, t, m) for m in P)
        + 6 * w.L * w.Gamma * w.eta_l[t] ** 2 * w.chi[t]),
    "step-T10": (
        lambda w, t, k: w.proof_A5[t],
        lambda w, t, k: -w.proof_gamma[t] * eq_51_right(w, t) + 2 * w.eta_l[t] * w.psi[t]),
    "step-T11": (
        lambda w, t, k: w.proof_A5[t],
        lambda w, t, k: sum(w.aggregate_weight[t][m] * spread(w, t, m) for m in FREE) + 2 * w.eta_l[t] * w.psi[t]),
    "step-T12": (
        lambda w, t, k: after_step(w, t),
        lambda w, t, k: contracted(w, t) + 2 * w.drift[t] + 6 * w.L * w.Gamma * w.eta_l[t] ** 2 * w.chi[t]
        + 2 * w.eta_l[t] * w.psi[t]),
    "step-T20": (
        lambda w, t, k: w.objective(w.x[t]) - w.F_star, lambda w, t, k: w.L / 2 * sq(w.x[t] - w.x_star)),
}
RUNS = {
    "step-update-identity step-update-identity@local-at-aggregation step-update-identity@local-every-step": (
        lambda w, t, k: sq(w.x[t + 1] - (w.x[t] - w.eta_l[t] * w.average_stochastic_gradient[t])),
        lambda w, t, k: 0),
    "step-cross-term@local-at-aggregation": (
        lambda w, t, k: E(2 * dot(
            w.x[t] - w.x_star - w.eta_l[t] * w.ending_gradient[t], w.ending_gradient[t] - w.ending_stochastic_gradient[t])),
        lambda w, t, k: 0),
    "step-cross-term step-cross-term@local-at-aggregation+round-before step-cross-term@local-every-step": (
        lambda w, t, k: E(2 * dot(w.x[t] - w.x_star - w.eta_l[t] * w.average_gradient[t], noise_of_average(w, t))),
        lambda w, t, k: 0),
    "step-T13": (
        lambda w, t, k: E(sq(noise_of_average(w, t))),
        lambda w, t, k: E(sum(
            w.weight[t][m] ** 2 * w.included[t][m] * sq(w.g[t][m] - w.grad(m, w.x_local[t][m])) for m in ALL))),
    "step-T13@second-inequality": (lambda w, t, k: averaged_variance(w, t), lambda w, t, k: w.sigma_sq),
    "step-T14": (
        lambda w, t, k: E(w.drift[t]), lambda w, t, k: (t - tau(w, t)) ** 2 * w.eta_l[tau(w, t)] ** 2 * w.G_sq),
    "step-T14@second-inequality": (
        lambda w, t, k: (t - tau(w, t)) ** 2 * w.eta_l[tau(w, t)] ** 2 * w.G_sq,
        lambda w, t, k: 4 * w.eta_l[t] ** 2 * (w.local_steps - 1) ** 2 * w.G_sq),
    "step-T14@26d-as-printed": (
        lambda w, t, k: sum(
            (w.local_steps - 1) * w.eta_l[i] ** 2 * w.G_sq for i in R(tau(w, t), tau(w, t) + w.local_steps)),
        lambda w, t, k: (w.local_steps - 1) ** 2 * w.eta_l[tau(w, t)] ** 2 * w.G_sq),
    "step-T16 step-T16@as-printed": (lambda w, t, k: w.D_sq[t + 1], lambda w, t, k: one_step(w, t, w.D_sq[t], 0)),
    "step-T22": (
        lambda w, t, k: E(sq(w.x_sampled[t + 1] - w.x_star)),
        lambda w, t, k: E(sq(w.x[t + 1] - w.x_star)) + E(sq(w.x_sampled[t + 1] - w.x[t + 1]))),
    "step-T22@58a-as-printed": (
        lambda w, t, k: sq(w.x_sampled[t + 1] - w.x_star),
        lambda w, t, k: sq(w.x[t + 1] - w.x_star)
        + 4 * w.eta_l[t] ** 2 * w.local_steps**2 * w.G_sq / w.participants),
    "step-eq59": (lambda w, t, k: w.D_sq[t + 1], lambda w, t, k: one_step(w, t, w.D_sq[t], 4)),
    "step-eq59@line-1-as-printed": (
        lambda w, t, k: w.D_sq[t + 1], lambda w, t, k: one_step(w, t, E(sq(w.x[t] - w.x_star)), 4)),
    "step-eq59@line-2": (lambda w, t, k: w.D_sq[t + 1], lambda w, t, k: one_step(w, t, w.D_sq[t], 8)),
    "step-eq36-as-printed": (
        lambda w, t, k: E(w.objective(w.x_sampled[w.iterations])) - w.F_star, lambda w, t, k: half_v(w)),
    "step-eq36-as-printed@second-inequality": (lambda w, t, k: half_v(w), lambda w, t, k: eq_36_printed_right(w)),
}
#: statements over rounds i and steps j within them
BY_ROUND = {
    "step-T15 step-T15@SCHED8": (
        lambda w, i, j: decaying(w, i * w.local_steps), lambda w, i, j: 2 * decaying(w, i * w.local_steps + j)),
}
