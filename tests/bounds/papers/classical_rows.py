"""The textbooks' statements in plain Python, written from the books."""

import math
from fractions import Fraction as Q

from tests.bounds.arithmetic import ALL, E_unused, sides_of, values, world, worst_mean_gap
from tests.bounds.claim_values import sq, total

__all__ = ["ROWS", "sides", "values", "world"]


def gap(w, x):
    return w.objective(x) - w.F_star


def rate(w, t):
    """rho(gamma)^2 of Taylor, Hendrickx and Glineur."""
    a, b = 1 - w.eta_l[t] * w.mu, w.L * w.eta_l[t] - 1
    return a * a if a >= b else b * b


def slope(w, t):
    return sq(w.objective_grad(w.x_sampled[t]))


def moved_apart(w, k):
    """|G(v) - G(w)|^2 for G the gradient step of client k, at the models of clients k and 0."""
    one, two = (w.x_local[0][c] - w.grad(k, w.x_local[0][c]) * w.eta_l[0] for c in (k, 0))
    return sq(one - two)


def apart(w, k):
    return sq(w.x_local[0][k] - w.x_local[0][0])


def distance(w, t):
    return sq(w.x_sampled[t] - w.x_star)


def contraction(w):
    return 1 - w.eta_l[0] * w.L * w.mu / (w.L + w.mu)


# the world has three steps in each of two rounds, four clients and five samples
def first(t):
    return t // 3 * 3


def of_round(w, r, term):
    return total([term(i) for i in range(3 * r, 3 * r + 3)])


def weighted(w, term):
    return sum(w.client_weight[c] * term(c) for c in ALL)


def noise(w):
    return sum(w.client_weight[c] ** 2 * w.sigma_sq_client[c] for c in ALL)


def first_slope(w, t, k):
    return sq(w.grad(k, w.x_sampled[first(t)]))


def corrected(w, r, k):
    return sq(w.grad(k, w.x_round[r]) - w.client_variate[r][k] + w.server_variate[r])


def local_drift(w, r):
    return weighted(w, lambda c: of_round(w, r, lambda i: sq(w.x_local[i][c] - w.x_round[r])))


def descended(w, r):
    """Loss before a round, less half of 3 steps' squared gradient."""
    return w.objective(w.x_round[r]) - Q(3, 2) * w.eta * sq(w.objective_grad(w.x_round[r]))


def norm(v):
    return math.sqrt(sq(v))


def apart_now(w, t, k):
    return norm(w.x_local[t][k] - w.twin_x_local[t][k])


def apart_after(w, t, k):
    return norm(w.x_before[t + 1][k] - w.twin_x_before[t + 1][k])


def total_step(w):
    return sum(w.eta_l[t] for t in range(6))


def left_over(w):
    """What dissimilar clients add to a round: eta^3 L^2 G^2 / 4 (K-1) K (2K-1), at K = 3."""
    return w.eta * (w.eta * w.L) ** 2 * w.G_sq * 30 / 4


def mean_slope(w):
    return (sq(w.objective_grad(w.x_round[0])) + sq(w.objective_grad(w.x_round[1]))) / 2


def contracted(w):
    return 1 - 9 * w.mu * w.eta / 4


def lag(w):
    return weighted(w, lambda c: sq(w.grad(c, w.x_round[0]) - w.client_variate[0][c]))


def drawn(w):
    """What sampled clients and noise add to a round of 3 steps, divided by 3 eta."""
    short = 3 * w.eta * w.L
    return (w.G_sq + w.sigma_sq / 3) * Q(45, 32) * short**2 + (2 * w.G_sq + w.sigma_sq / 3) * short / w.participants


#: claim ids -> both sides as functions of (world, t or r, k)
ROWS = {
    "gd-convex": (
        lambda w, t, k: gap(w, w.x_sampled[w.iterations]),
        lambda w, t, k: w.L / 2 * distance(w, 0) / (2 * w.iterations + 1)),
    "gd-distance": (lambda w, t, k: distance(w, t + 1), lambda w, t, k: rate(w, t) * distance(w, t)),
    "gd-value": (
        lambda w, t, k: gap(w, w.x_sampled[t + 1]), lambda w, t, k: rate(w, t) * gap(w, w.x_sampled[t])),
    "gd-gradient": (lambda w, t, k: slope(w, t + 1), lambda w, t, k: rate(w, t) * slope(w, t)),
    "gd-nonconvex": (
        lambda w, t, k: sum(slope(w, i) for i in range(w.iterations)), lambda w, t, k: gap(w, w.x_sampled[0]) * 2 * w.L),
    "gd-descent": (
        lambda w, t, k: w.objective(w.x_sampled[t + 1]),
        lambda w, t, k: w.objective(w.x_sampled[t]) - w.eta_l[t] * slope(w, t) + w.L / 2 * w.eta_l[t] ** 2 * slope(w, t)),
    "sgd-distance": (
        lambda w, t, k: distance(w, t + 1),
        lambda w, t, k: distance(w, t) - w.mu * w.eta_l[t] * distance(w, t) + w.eta_l[t] ** 2 * w.sigma_sq),
    "sgd-value": (
        lambda w, t, k: gap(w, w.x_sampled[t + 1]),
        lambda w, t, k: gap(w, w.x_sampled[t]) * (1 - w.mu * w.eta_l[t]) + w.eta_l[t] ** 2 * w.L * w.sigma_sq / 2),
    "sgd-nonconvex": (
        lambda w, t, k: w.objective(w.x_sampled[t + 1]),
        lambda w, t, k: w.objective(w.x_sampled[t]) - slope(w, t) * w.eta_l[t] / 2 + w.eta_l[t] ** 2 * w.L * w.sigma_sq / 2),
    "sgd-expansive": (
        lambda w, t, k: moved_apart(w, k), lambda w, t, k: apart(w, k) * (1 + w.eta_l[0] * w.L) ** 2),
    "sgd-nonexpansive": (lambda w, t, k: moved_apart(w, k), lambda w, t, k: apart(w, k)),
    "sgd-contractive": (
        lambda w, t, k: moved_apart(w, k), lambda w, t, k: apart(w, k) * contraction(w) * contraction(w)),
    "scaffold-mean-variate": (
        lambda w, r, k: sq(total([w.client_variate[r][c] * w.client_weight[c] for c in ALL]) - w.server_variate[r]),
        lambda w, r, k: 0),
    "scaffold-one-step": (
        lambda w, r, k: sq(w.x_round[r + 1] - (w.x_round[r] - w.objective_grad(w.x_round[r]) * (w.eta_g * w.eta_l[r]))),
        lambda w, r, k: 0),
    "scaffold-new-variate": (
        lambda w, r, k: w.sampled[r][k] * sq(w.client_variate[r + 1][k] - of_round(w, r, lambda i: w.g[i][k]) * Q(1, 3)),
        lambda w, r, k: 0),
    "scaffold-old-variate": (
        lambda w, r, k: (1 - w.sampled[r][k]) * sq(w.client_variate[r + 1][k] - w.client_variate[r][k]), lambda w, r, k: 0),
    "scaffold-variate-lag": (
        lambda w, r, k: w.sampled[r][k] * sq(w.client_variate[r + 1][k] - w.grad(k, w.x_star)),
        lambda w, r, k: w.L * w.L / 3 * of_round(w, r, lambda i: sq(w.x_local[i][k] - w.x_star))),
    "scaffold-mean-step": (
        lambda w, r, k: sq(w.x_round[r + 1] - w.x_round[r] + total([
            of_round(w, r, lambda i, c=c: w.g[i][c]) * w.client_weight[c] for c in ALL]) * (w.eta * w.eta_g)),
        lambda w, r, k: 0),
    "scaffold-drift-smooth": (
        lambda w, t, k: w.L**2 * sq(w.x_before[t + 1][k] - w.x_sampled[first(t)]),
        lambda w, t, k: ((1 + w.eta * w.L) ** (t - first(t) + 1) - 1) ** 2 * corrected(w, t // 3, k)),
    "scaffold-drift-convex": (
        lambda w, t, k: sq(w.x_before[t + 1][k] - w.x_sampled[first(t)]),
        lambda w, t, k: (w.eta * (1 + t - first(t))) ** 2 * corrected(w, t // 3, k)),
    "scaffold-equal-curvature": (
        lambda w, r, k: sq(w.x_round[r + 1] - w.x_star - (w.x_round[r] - w.x_star) * (
            1 - w.eta_g + w.eta_g * (1 - w.L * w.eta) ** 3)),
        lambda w, r, k: 0),
    "fedavg-dissimilar-round": (
        lambda w, r, k: w.objective(w.x_round[r + 1]),
        lambda w, r, k: w.objective(w.x_round[r]) - 9 * w.eta / 8 * sq(w.objective_grad(w.x_round[r])) + left_over(w)),
    "fedavg-dissimilar-nonconvex": (
        lambda w, r, k: mean_slope(w),
        lambda w, r, k: 4 * gap(w, w.x_round[0]) / (9 * w.eta) + Q(20, 3) * (w.eta * w.L) ** 2 * w.G_sq),
    "fedavg-dissimilar-convex": (
        lambda w, r, k: gap(w, w.x_round[2]),
        lambda w, r, k: contracted(w) ** 2 * gap(w, w.x_round[0]) + left_over(w) * (1 + contracted(w))),
    "scaffold-nonconvex": (
        lambda w, r, k: mean_slope(w), lambda w, r, k: 3 * gap(w, w.x_round[0]) / (8 * w.eta) + 9 * lag(w) / 160),
    "scaffold-convex": (
        lambda w, r, k: gap(w, w.x_round[2]),
        lambda w, r, k: contracted(w) ** 2 * (gap(w, w.x_round[0]) + 3 * w.eta / 16 * lag(w))),
    "fedavg-sampled-round": (
        lambda w, r, k: w.objective(w.x_round[r + 1]),
        lambda w, r, k: w.objective(w.x_round[r]) - w.eta * sq(w.objective_grad(w.x_round[r])) + drawn(w) * w.eta * 3),
    "fedavg-sampled-nonconvex": (
        lambda w, r, k: mean_slope(w), lambda w, r, k: gap(w, w.x_round[0]) / (2 * w.eta) + 3 * drawn(w)),
    "fedavg-sampled-strongly-convex": (
        lambda w, r, k: gap(w, w.x_round[2]),
        lambda w, r, k: (1 - 2 * w.mu * w.eta) ** 2 * gap(w, w.x_round[0]) + drawn(w) * w.eta * 3 * (2 - 2 * w.mu * w.eta)),
    "fedavg-sampled-convex": (
        lambda w, r, k: (gap(w, w.x_round[0]) + gap(w, w.x_round[1])) / 2,
        lambda w, r, k: (
            sq(w.x_round[0] - w.x_star) / (6 * w.eta)
            + w.G_sq * (12 * w.eta / w.participants + Q(243, 8) * w.L * w.eta**2)
            + w.sigma_sq * (2 * w.eta / w.participants + Q(81, 8) * w.L * w.eta**2)) * 10 / 9),
    "scaffold-sampled-nonconvex": (
        lambda w, r, k: mean_slope(w),
        lambda w, r, k: gap(w, w.x_round[0]) * 5 / (12 * w.eta)
        + Q(75, 4) * w.eta * w.L * w.clients * lag(w) / w.participants
        + Q(5, 2) * w.L * w.eta * w.sigma_sq * (16 + Q(1, w.participants))),
    "scaffold-merely-convex": (
        lambda w, r, k: (gap(w, w.x_round[0]) + gap(w, w.x_round[1])) / 2,
        lambda w, r, k: sq(w.x_round[0] - w.x_star) / (4 * w.eta) + 3 * lag(w) / (32 * w.L)),
    "drift-smooth": (
        lambda w, t, k: w.L**2 * sq(w.x_before[t + 1][k] - w.x_sampled[first(t)]),
        lambda w, t, k: ((1 + w.eta * w.L) ** (t - first(t) + 1) - 1) ** 2 * first_slope(w, t, k)),
    "drift-convex": (
        lambda w, t, k: sq(w.x_before[t + 1][k] - w.x_sampled[first(t)]),
        lambda w, t, k: (w.eta * (1 + t - first(t))) ** 2 * first_slope(w, t, k)),
    "local-sgd-step": (
        lambda w, t, k: distance(w, t + 1),
        lambda w, t, k: distance(w, t) * (1 - w.mu * w.eta_l[t]) - w.eta_l[t] * 2 * gap(w, w.x_sampled[t])
        + 4 * w.L * w.eta_l[t] ** 2 * gap(w, w.x_sampled[t])
        + (w.L * w.eta_l[t] + 2 * (w.L * w.eta_l[t]) ** 2) * weighted(w, lambda c: sq(w.x_local[t][c] - w.x_sampled[t]))
        + w.eta_l[t] ** 2 * noise(w)),
    "local-gd-spread": (
        lambda w, t, k: weighted(w, lambda c: sq(w.x_local[t][c] - w.x_sampled[t])),
        lambda w, t, k: (w.eta * (t - first(t))) ** 2 * weighted(w, lambda c: first_slope(w, t, c))),
    "local-gd-step": (
        lambda w, t, k: distance(w, t + 1),
        lambda w, t, k: distance(w, t) * (1 - w.mu * w.eta) - (2 * w.eta - 4 * w.L * w.eta**2) * gap(w, w.x_sampled[t])
        + (w.L * w.eta + 2 * w.L**2 * w.eta**2) * (w.eta * (t - first(t))) ** 2
        * weighted(w, lambda c: first_slope(w, t, c))),
    "local-sgd-one-optimum": (
        lambda w, t, k: distance(w, 6),
        lambda w, t, k: (1 - w.mu * w.eta) ** 12 * distance(w, 0)
        + sum((w.eta * (1 - w.mu * w.eta) ** i) ** 2 for i in range(6)) * w.sigma_sq),
    "fedavg-round": (
        lambda w, r, k: w.objective(w.x_round[r + 1]),
        lambda w, r, k: descended(w, r) + w.L**2 * w.eta / 2 * local_drift(w, r)),
    "fedavg-round-noise": (
        lambda w, r, k: w.objective(w.x_round[r + 1]),
        lambda w, r, k: descended(w, r) + w.L**2 * w.eta / 2 * local_drift(w, r) + 3 * w.eta**2 * w.L * noise(w)),
    "fedavg-round-dissimilar": (
        lambda w, r, k: w.objective(w.x_round[r + 1]),
        lambda w, r, k: descended(w, r) + w.L**2 * w.eta / 2 * (0 + 1 + 4) * w.eta**2 * w.G_sq),
    "fedavg-equal-curvature": (
        lambda w, r, k: sq(w.x_round[r + 1] - w.x_star - (w.x_round[r] - w.x_star) * (1 - w.L * w.eta) ** 3),
        lambda w, r, k: 0),
    "sampling-variance": (
        lambda w, t, k: w.participants * (w.clients - 1) * sq(w.x_sampled[6] - w.x[6]),
        lambda w, t, k: (1 - Q(w.participants, w.clients)) * sum(sq(w.x_before[6][c] - w.x[6]) for c in ALL)),
    "coupled-step-convex": (lambda w, t, k: apart_after(w, t, k), lambda w, t, k: apart_now(w, t, k) + (
        2 * w.G_lip * w.eta_l[t] / 5 if k == 1 else 0)),
    "coupled-step-smooth": (lambda w, t, k: apart_after(w, t, k), lambda w, t, k: apart_now(w, t, k) * (
        1 + w.L * w.eta_l[t] * (Q(4, 5) if k == 1 else 1)) + (2 * w.G_lip * w.eta_l[t] / 5 if k == 1 else 0)),
    "sgd-stability-distance": (
        lambda w, t, k: norm(w.x_round[2] - w.twin_x_round[2]), lambda w, t, k: total_step(w) * w.G_lip * 2 / 5),
    "local-sgd-stability-distance": (
        lambda w, t, k: norm(w.x_round[2] - w.twin_x_round[2]), lambda w, t, k: total_step(w) * w.G_lip * 2 / 20),
    "sgd-stability-convex": (
        lambda w, t, k: worst_mean_gap(w.x_round[2], w.twin_x_round[2]), lambda w, t, k: total_step(w) * w.G_lip**2 * 2 / 5),
    "local-sgd-stability-convex": (
        lambda w, t, k: worst_mean_gap(w.x_round[2], w.twin_x_round[2]),
        lambda w, t, k: total_step(w) * w.G_lip**2 * 2 / 20),
    "sgd-stability-first-use": (
        lambda w, t, k: worst_mean_gap(w.x_round[2], w.twin_x_round[2]),
        lambda w, t, k: w.H_loss * 2 / 5 + w.G_lip * E_unused(2, norm(w.x_round[2] - w.twin_x_round[2]))),
    "sgd-stability-smooth": (
        lambda w, t, k: worst_mean_gap(w.x_round[2], w.twin_x_round[2]),
        lambda w, t, k: w.H_loss * Q(2, 5) + w.G_lip**2 / (2 * w.L) * math.pow(3, w.c_step * w.L)),
}
sides = sides_of(ROWS)
