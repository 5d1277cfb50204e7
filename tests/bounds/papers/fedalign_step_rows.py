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


def over(w, t, summand):
    """Sum of p'_k I_k times the summand over all clients."""
    return sum(w.aggregate_weight[t][k] * summand(k) for k in ALL)


def distance(w, t, k):
    return sq(w.x_local[t][k] - w.x_star)


def gradient(w, t, k):
    return w.grad(k, w.x_local[t][k])


def eq_44_first(w, t):
    inner = over(w, t, lambda k: spread(w, t, k) / w.eta_l[t] + w.eta_l[t] * sq(gradient(w, t, k))
                 - 2 * (w.F(k, w.x_local[t][k]) - w.F(k, w.x_star)) - w.mu * distance(w, t, k))
    return sq(w.x[t] - w.x_star) + 2 * w.L * w.eta_l[t] ** 2 * over(w, t, lambda k: gap(w, t, k)) + w.eta_l[t] * inner


def eq_44_a(w, t):
    eta = w.eta_l[t]
    first = sq(w.x[t] - w.x_star) - w.mu * eta * over(w, t, lambda k: distance(w, t, k))
    second = over(w, t, lambda k: spread(w, t, k)) + 4 * w.L * eta**2 * over(w, t, lambda k: gap(w, t, k))
    return first + second - 2 * eta * over(w, t, lambda k: w.F(k, w.x_local[t][k]) - w.F(k, w.x_star))


class Chain:
    """The terms of (46), (47), and of (51), (52): sums over the priority clients with p'_k and F*, or over the others with
    p'_k I_k and F_k*."""

    def __init__(self, who, weight, lowest):
        self.who, self.weight, self.lowest = who, weight, lowest

    def sum(self, w, t, summand):
        return sum(getattr(w, self.weight)[t][k] * summand(k) for k in self.who)

    def local(self, w, t):
        return self.sum(w, t, lambda k: w.F(k, w.x_local[t][k]) - self.lowest(w, k))

    def average(self, w, t):
        return self.sum(w, t, lambda k: w.F(k, w.x[t]) - self.lowest(w, k))

    def after_convexity(self, w, t):
        return self.sum(w, t, lambda k: dot(w.grad(k, w.x[t]), w.x_local[t][k] - w.x[t])) + self.average(w, t)

    def after_a(self, w, t):
        eta = w.eta_l[t]
        squares = self.sum(w, t, lambda k: eta * sq(w.grad(k, w.x[t])) + 1 / eta * spread(w, t, k))
        return -HALF * squares + self.average(w, t)

    def after_b(self, w, t, factor=1):
        eta = w.eta_l[t]
        inner = self.sum(w, t, lambda k: eta * w.L * gap_of_average(w, t, k) + factor / eta * spread(w, t, k))
        return -inner + self.average(w, t)

    def bounded(self, w, t):
        """The first line of (47), (52)."""
        eta = w.eta_l[t]
        inner = self.sum(w, t, lambda k: eta * w.L * gap_of_average(w, t, k) + 1 / (2 * eta) * spread(w, t, k))
        return w.proof_gamma[t] * inner - w.proof_gamma[t] * self.average(w, t)

    def spreads(self, w, t):
        return self.sum(w, t, lambda k: spread(w, t, k))

    def half_spreads(self, w, t):
        return w.proof_gamma[t] / (2 * w.eta_l[t]) * self.spreads(w, t)


ON_P = Chain(P, "weight", lambda w, k: w.F_star)
ON_FREE = Chain(FREE, "aggregate_weight", lambda w, k: w.F_star_client[k])


def half_spreads_of_all(w, t):
    return w.proof_gamma[t] / (2 * w.eta_l[t]) * sum(w.weight[t][k] * spread(w, t, k) for k in ALL)


def eq_47_second(w, t):
    """With F for F_k, as printed, and Gamma/(1 + S) for E_t."""
    factor = w.proof_gamma[t] * (w.eta_l[t] * w.L - 1)
    shifted = factor * sum(w.weight[t][k] * (w.objective(w.x[t]) - w.F_star) for k in P)
    return shifted + eq_47_heterogeneity(w, t) + ON_P.half_spreads(w, t)


def eq_47_heterogeneity(w, t):
    return w.proof_gamma[t] * w.eta_l[t] * w.L * w.Gamma * w.chi[t]


def eq_52_second(w, t):
    return w.proof_gamma[t] * (w.eta_l[t] * w.L - 1) * ON_FREE.average(w, t) + ON_FREE.half_spreads(w, t)


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
ONE_STEP = {
    "step-T1@minimum": (
        lambda w, t, k: w.F_star_client[k],
        lambda w, t, k: w.F(k, w.x_local[t][k]) - 1 / (2 * w.L) * sq(gradient(w, t, k))),
    "step-T1@minimum-as-printed": (
        lambda w, t, k: w.F_star_client[k],
        lambda w, t, k: w.objective(w.x_local[t][k]) - 1 / w.L * dot(gradient(w, t, k), gradient(w, t, k))
        + 1 / (2 * w.L) * sq(gradient(w, t, k))),
    "step-T2@pathwise": (
        lambda w, t, k: sq(w.x[t] - w.x_star), lambda w, t, k: over(w, t, lambda m: distance(w, t, m))),
    "step-eq39": (
        lambda w, t, k: after_step(w, t),
        lambda w, t, k: sq(w.x[t] - w.x_star) - 2 * w.eta_l[t] * dot(w.x[t] - w.x_star, w.average_gradient[t])
        + w.eta_l[t] ** 2 * sq(w.average_gradient[t])),
    "step-eq41": (
        lambda w, t, k: -2 * w.eta_l[t] * dot(w.x[t] - w.x_star, w.average_gradient[t]),
        lambda w, t, k: -2 * w.eta_l[t] * over(w, t, lambda m: dot(w.x[t] - w.x_star, gradient(w, t, m)))),
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
    "step-T6@first-inequality": (
        lambda w, t, k: w.eta_l[t] ** 2 * sq(w.average_gradient[t]),
        lambda w, t, k: w.eta_l[t] ** 2 * over(w, t, lambda m: sq(gradient(w, t, m)))),
    "step-T6@second-inequality": (
        lambda w, t, k: w.eta_l[t] ** 2 * over(w, t, lambda m: sq(gradient(w, t, m))),
        lambda w, t, k: 2 * w.L * w.eta_l[t] ** 2 * over(w, t, lambda m: gap(w, t, m))),
    "step-T7": (lambda w, t, k: after_step(w, t), lambda w, t, k: eq_44(w, t)),
    "step-T7@first-inequality": (lambda w, t, k: after_step(w, t), lambda w, t, k: eq_44_first(w, t)),
    "step-T7@a": (lambda w, t, k: eq_44_first(w, t), lambda w, t, k: eq_44_a(w, t)),
    "step-T7@b": (lambda w, t, k: eq_44_a(w, t), lambda w, t, k: eq_44(w, t)),
    "step-eq44-as-printed": (lambda w, t, k: after_step(w, t, 2), lambda w, t, k: eq_44(w, t)),
    "step-T8": (
        lambda w, t, k: w.proof_A4[t],
        lambda w, t, k: -w.proof_gamma[t] * ON_P.local(w, t) + 4 * w.L * w.eta_l[t] ** 2 * w.Gamma * w.chi[t]),
    "step-T8@second-line": (
        lambda w, t, k: w.proof_A4[t],
        lambda w, t, k: -w.proof_gamma[t] * ON_P.sum(w, t, lambda m: gap(w, t, m))
        + 2 * w.eta_l[t] * ON_P.sum(w, t, lambda m: w.Gamma_client[m])),
    "step-T8@third-line": (
        lambda w, t, k: w.proof_A4[t],
        lambda w, t, k: -w.proof_gamma[t] * ON_P.local(w, t)
        + 4 * w.L * w.eta_l[t] ** 2 * ON_P.sum(w, t, lambda m: w.F_star - w.F_star_client[m])),
    **{f"step-eq46@{prefix}{reading}".removesuffix("@").removesuffix("+"): sides
       for prefix, chain in (("", ON_P), ("free-clients+", ON_FREE))
       for reading, sides in {
           "": (lambda w, t, k, c=chain: c.after_b(w, t), lambda w, t, k, c=chain: c.local(w, t)),
           "sharp": (lambda w, t, k, c=chain: c.after_b(w, t, HALF), lambda w, t, k, c=chain: c.local(w, t)),
           "convexity": (lambda w, t, k, c=chain: c.after_convexity(w, t), lambda w, t, k, c=chain: c.local(w, t)),
           "a": (lambda w, t, k, c=chain: c.after_a(w, t), lambda w, t, k, c=chain: c.after_convexity(w, t)),
           "b": (lambda w, t, k, c=chain: c.after_b(w, t), lambda w, t, k, c=chain: c.after_a(w, t))}.items()},
    "step-eq47-as-printed": (lambda w, t, k: half_spreads_of_all(w, t), lambda w, t, k: ON_P.spreads(w, t)),
    "step-eq47-as-printed@intended": (lambda w, t, k: ON_P.half_spreads(w, t), lambda w, t, k: ON_P.spreads(w, t)),
    "step-eq47-as-printed@first-inequality": (
        lambda w, t, k: -w.proof_gamma[t] * ON_P.local(w, t), lambda w, t, k: ON_P.bounded(w, t)),
    "step-eq47-as-printed@second-line": (lambda w, t, k: ON_P.bounded(w, t), lambda w, t, k: eq_47_second(w, t)),
    "step-eq47-as-printed@a": (
        lambda w, t, k: eq_47_second(w, t), lambda w, t, k: eq_47_heterogeneity(w, t) + half_spreads_of_all(w, t)),
    "step-T9": (
        lambda w, t, k: w.proof_A4[t],
        lambda w, t, k: sum(w.weight[t][m] * spread(w, t, m) for m in P)
        + 6 * w.L * w.Gamma * w.eta_l[t] ** 2 * w.chi[t]),
    "step-T9@first-inequality": (
        lambda w, t, k: w.proof_A4[t],
        lambda w, t, k: ON_P.spreads(w, t)
        + (w.proof_gamma[t] * w.eta_l[t] * w.L + 4 * w.L * w.eta_l[t] ** 2) * w.Gamma * w.chi[t]),
    "step-T10": (
        lambda w, t, k: w.proof_A5[t],
        lambda w, t, k: -w.proof_gamma[t] * ON_FREE.local(w, t) + 2 * w.eta_l[t] * w.psi[t]),
    "step-T10@second-line": (
        lambda w, t, k: w.proof_A5[t],
        lambda w, t, k: -w.proof_gamma[t] * ON_FREE.local(w, t)
        + 2 * w.eta_l[t] * ON_FREE.sum(w, t, lambda m: w.Gamma_client[m])),
    "step-T11@52-first-inequality": (
        lambda w, t, k: -w.proof_gamma[t] * ON_FREE.local(w, t), lambda w, t, k: ON_FREE.bounded(w, t)),
    "step-T11@52-second-line": (lambda w, t, k: ON_FREE.bounded(w, t), lambda w, t, k: eq_52_second(w, t)),
    "step-T11@52a": (lambda w, t, k: eq_52_second(w, t), lambda w, t, k: ON_FREE.half_spreads(w, t)),
    "step-T11@52b": (lambda w, t, k: ON_FREE.half_spreads(w, t), lambda w, t, k: ON_FREE.spreads(w, t)),
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
