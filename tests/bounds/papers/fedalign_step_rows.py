"""FedALIGN's proof steps about numbers and whole runs in plain Python, written from the paper."""

from math import prod

from tests.bounds.arithmetic import ALL
from tests.bounds.chance import E, Min
from tests.bounds.claim_values import dot, sq, total
from tests.bounds.papers.fedalign_one_step_rows import ON_FREE, ON_P, distance, gradient, over

R = range


def tau(w, t):
    return max(s for s in R(t + 1) if s % w.local_steps == 0)


def aggregation_error(w, t, weights):
    """The square of w_t - (15), with p'_k and I_k of the time ``weights``."""
    return sq(w.x[t] - total([w.aggregate_weight[weights][k] * w.x_before[t][k] for k in ALL]))


def moved(w, t, k):
    """|w_t^k - w_tau(t)|^2."""
    return sq(w.x_local[t][k] - w.x[tau(w, t)])


def eq_26_sum(w, t, end, squared):
    """Sum of (E - 1) eta_i^2 times the squared gradient at time i, up to this end."""
    return sum((w.local_steps - 1) * w.eta_l[i] ** 2 * squared(i) for i in R(tau(w, t), end + 1))


def eq_26_b(w, t, squared):
    end = tau(w, t) + w.local_steps - 1
    return E(over(w, t, lambda k: eq_26_sum(w, t, end, lambda i: squared(i, k))))


def squared_weights(w, t, factor):
    return E(sum(w.weight[t][k] ** 2 * w.included[t][k] * factor(k) for k in ALL))


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


def v_from_one(w, t):
    """v_t / (t + gamma) with the averages from i = 1."""
    return v_over_t(w, t, sum(w.B[i] for i in R(1, t)), sum(w.D[i] for i in R(1, t)))


def eq_34_second(w, t):
    y = t + w.step_offset
    return (1 - 2 / y) * v_from_one(w, t) + 4 * w.B[t] / (w.mu * y) ** 2 + 2 * w.D[t] / (w.mu * y)


def eq_34_fourth(w, t):
    y, gam = t + w.step_offset, w.step_offset
    noise, bias = sum(w.B[i] for i in R(1, t)) + w.B[t], sum(w.D[i] for i in R(1, t)) + w.D[t]
    return 4 / (w.mu * y) ** 2 * noise + 2 / (w.mu * y) * bias + gam * (t + gam - 2) * w.Delta[0] / y**2


def eq_34_fifth(w, t):
    y, gam = t + w.step_offset, w.step_offset
    B_next, D_next = (sum(of[i] for i in R(1, t + 1)) / (t + 1 + gam - 2) for of in (w.B, w.D))
    first = 4 * (t + gam - 1) / (w.mu * y) ** 2 * B_next
    return first + 2 * (t + gam - 1) / (w.mu * y * (y + 1)) * D_next * (y + 1) + gam * w.Delta[0] / (y + 1)


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


def half_v(w, t):
    return w.L / 2 * w.proof_v[t] / (t + w.step_offset)


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
    "step-eq34": (lambda w, t, k: eq_34_second(w, t), lambda w, t, k: eq_34_fourth(w, t)),
    "step-eq34@b": (lambda w, t, k: eq_34_fourth(w, t), lambda w, t, k: eq_34_fifth(w, t)),
    "step-eq34@c": (lambda w, t, k: eq_34_fifth(w, t), lambda w, t, k: v_from_one(w, t + 1)),
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
RUNS = {
    "step-eq15 step-eq15@local-at-aggregation step-eq15@local-every-step": (
        lambda w, r, k: aggregation_error(w, r * w.local_steps, r * w.local_steps), lambda w, r, k: 0),
    # p'_k and I_k are those of the round before the aggregation
    "step-eq15@round-before": (
        lambda w, r, k: aggregation_error(w, r * w.local_steps, r * w.local_steps - 1), lambda w, r, k: 0),
    "step-eq16 step-eq16@local-at-aggregation step-eq16@local-every-step": (
        lambda w, t, k: sq(w.x[t] - total([w.aggregate_weight[t][m] * w.x_local[t][m] for m in ALL])), lambda w, t, k: 0),
    "step-T2": (
        lambda w, t, k: E(sq(w.x[t] - w.x_star)),
        lambda w, t, k: E(over(w, t, lambda m: w.included[t][m] * distance(w, t, m)))),
    "step-T2@a": (
        lambda w, t, k: E(sq(w.x[t] - w.x_star)),
        lambda w, t, k: E(sq(total([w.aggregate_weight[t][m] * (w.x_local[t][m] - w.x_star) for m in ALL])))),
    "step-T2@second-inequality": (
        lambda w, t, k: E(over(w, t, lambda m: w.included[t][m] * distance(w, t, m))),
        lambda w, t, k: E(over(w, t, lambda m: distance(w, t, m)))),
    "step-eq37 step-eq37@local-at-aggregation step-eq37@local-every-step": (
        lambda w, t, k: sq(w.x[t + 1] - w.x_star),
        lambda w, t, k: sq(w.x[t] - w.x_star - w.eta_l[t] * w.average_gradient[t])
        + 2 * dot(w.x[t] - w.x_star - w.eta_l[t] * w.average_gradient[t], noise_of_average(w, t))
        + w.eta_l[t] ** 2 * sq(w.average_stochastic_gradient[t] - w.average_gradient[t])),
    # B with the factor eta_t, which the print has lost
    "step-eq37@intended step-eq37@local-at-aggregation+intended step-eq37@local-every-step+intended": (
        lambda w, t, k: sq(w.x[t + 1] - w.x_star),
        lambda w, t, k: sq(w.x[t] - w.x_star - w.eta_l[t] * w.average_gradient[t])
        + 2 * w.eta_l[t] * dot(w.x[t] - w.x_star - w.eta_l[t] * w.average_gradient[t], noise_of_average(w, t))
        + w.eta_l[t] ** 2 * sq(w.average_stochastic_gradient[t] - w.average_gradient[t])),
    "step-T8@as-printed": (
        lambda w, t, k: w.proof_A4[t],
        lambda w, t, k: -w.proof_gamma[t] * ON_P.local(w, t) + 4 * w.L * w.eta_l[t] ** 2 * E(w.Gamma * w.chi[t])),
    "step-T9@as-printed": (
        lambda w, t, k: w.proof_A4[t],
        lambda w, t, k: ON_P.spreads(w, t) + 6 * w.L * w.Gamma * w.eta_l[t] ** 2 * E(w.chi[t])),
    "step-T10@as-printed": (
        lambda w, t, k: w.proof_A5[t],
        lambda w, t, k: -w.proof_gamma[t] * ON_FREE.local(w, t) + w.eta_l[t] * w.bias_term[t]),
    "step-T11@as-printed": (
        lambda w, t, k: w.proof_A5[t], lambda w, t, k: ON_FREE.spreads(w, t) + w.eta_l[t] * w.bias_term[t]),
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
    "step-T13 step-T13@equality": (
        lambda w, t, k: E(sq(noise_of_average(w, t))),
        lambda w, t, k: squared_weights(w, t, lambda m: sq(w.g[t][m] - gradient(w, t, m)))),
    "step-T13@a": (
        lambda w, t, k: squared_weights(w, t, lambda m: sq(w.g[t][m] - gradient(w, t, m))),
        lambda w, t, k: w.sigma_sq * squared_weights(w, t, lambda m: 1)),
    "step-T13@b": (lambda w, t, k: w.sigma_sq * squared_weights(w, t, lambda m: 1), lambda w, t, k: w.sigma_sq),
    "step-T13@second-inequality": (lambda w, t, k: averaged_variance(w, t), lambda w, t, k: w.sigma_sq),
    "step-T13@weights": (lambda w, t, k: w.weight[t][k], lambda w, t, k: 1),
    "step-T13@weights-that-count": (lambda w, t, k: w.weight[t][k] * w.included[t][k], lambda w, t, k: 1),
    "step-T13@sum-of-weights": (lambda w, t, k: sum(w.aggregate_weight[t][m] for m in ALL), lambda w, t, k: 1),
    "step-T14": (
        lambda w, t, k: E(over(w, t, lambda m: moved(w, t, m))),
        lambda w, t, k: eq_26_b(w, t, lambda i, m: sq(gradient(w, i, m)))),
    "step-T14@with-noise": (
        lambda w, t, k: E(over(w, t, lambda m: moved(w, t, m))),
        lambda w, t, k: eq_26_b(w, t, lambda i, m: sq(w.g[i][m]))),
    "step-T14@26a": (lambda w, t, k: E(w.drift[t]), lambda w, t, k: E(over(w, t, lambda m: moved(w, t, m)))),
    "step-T14@26b-equality": (
        lambda w, t, k: moved(w, t, k),
        lambda w, t, k: sq(total([w.objective_grad(w.x_local[i][k]) for i in R(tau(w, t), t + 1)]))),
    "step-T14@26b-bound": (
        lambda w, t, k: moved(w, t, k), lambda w, t, k: eq_26_sum(w, t, t, lambda i: sq(gradient(w, i, k)))),
    "step-T14@26c": (
        lambda w, t, k: eq_26_b(w, t, lambda i, m: sq(gradient(w, i, m))),
        lambda w, t, k: eq_26_b(w, t, lambda i, m: w.G_sq)),
    "step-T14@26e": (
        lambda w, t, k: (w.local_steps - 1) ** 2 * w.eta_l[tau(w, t)] ** 2 * w.G_sq,
        lambda w, t, k: 4 * w.eta_l[t] ** 2 * (w.local_steps - 1) ** 2 * w.G_sq),
    "step-T14@steps-so-far": (
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
    "step-T22@expansion": (
        lambda w, t, k: sq(w.x_sampled[t + 1] - w.x_star),
        lambda w, t, k: sq(w.x[t + 1] - w.x_star) + sq(w.x_sampled[t + 1] - w.x[t + 1])
        + 2 * dot(w.x_sampled[t + 1] - w.x[t + 1], w.x[t + 1] - w.x_star)),
    "step-eq59": (lambda w, t, k: w.D_sq[t + 1], lambda w, t, k: one_step(w, t, w.D_sq[t], 4)),
    "step-eq59@line-1-as-printed": (
        lambda w, t, k: w.D_sq[t + 1], lambda w, t, k: one_step(w, t, sq(w.x[t] - w.x_star), 4)),
    "step-eq59@line-1-in-expectation": (
        lambda w, t, k: w.D_sq[t + 1], lambda w, t, k: one_step(w, t, E(sq(w.x[t] - w.x_star)), 4)),
    "step-eq59@line-2": (lambda w, t, k: w.D_sq[t + 1], lambda w, t, k: one_step(w, t, w.D_sq[t], 8)),
    "step-eq36-as-printed": (
        lambda w, t, k: E(w.objective(w.x[t])) - w.F_star, lambda w, t, k: half_v(w, t)),
    "step-eq36-as-printed@second-inequality": (
        lambda w, t, k: half_v(w, w.iterations), lambda w, t, k: eq_36_printed_right(w)),
}
#: statements over rounds i and steps j within them
BY_ROUND = {
    "step-T15 step-T15@SCHED8": (
        lambda w, i, j: decaying(w, i * w.local_steps), lambda w, i, j: 2 * decaying(w, i * w.local_steps + j)),
}
