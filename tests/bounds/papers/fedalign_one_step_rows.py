"""FedALIGN's proof steps at one fixed time, (39)-(53), in plain Python, written from the paper."""

from fractions import Fraction

from tests.bounds.arithmetic import ALL, FREE, P
from tests.bounds.claim_values import dot, sq

HALF = Fraction(1, 2)


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
